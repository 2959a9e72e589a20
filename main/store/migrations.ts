/**
 * The schema, one step a version. A released step never changes; a new version appends one, and a sample of the version before it
 * joins `samples/`. `user_version` of the database counts the steps taken.
 *
 * Shape: integer keys inside, text ids at the edge. Token ids and log-probabilities are one blob a node, never a row a token.
 * `body` is a stored byte string: first in a journal (`journal`, `offset`), later a recipe of chunks. Only bodies in packs are in the
 * index by hash: the bodies of a journal are few and known in memory, and a random index page a body would double the cost of a call.
 * `tally` holds what every call changes: a rollout's own row is wide and would be written again each time.
 * `refs` counts the records that refer to a body, and the times a chunk stands in recipes.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE setting (key TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE experiment (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at REAL NOT NULL,
    ended_at REAL,
    spec TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'ended', 'cancelled', 'recording'))
  ) STRICT;

  CREATE TABLE rollout (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    experiment INTEGER NOT NULL REFERENCES experiment (key) ON DELETE CASCADE,
    task_name TEXT NOT NULL,
    task_digest TEXT NOT NULL,
    task_path TEXT NOT NULL,
    harness TEXT NOT NULL,
    harness_version TEXT NOT NULL,
    policy TEXT NOT NULL,
    policy_version TEXT,
    sandbox TEXT NOT NULL,
    group_index INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    phase TEXT NOT NULL,
    outcome_status TEXT,
    outcome_cause TEXT,
    outcome_action TEXT,
    outcome_detail TEXT,
    reward REAL,
    rewards TEXT,
    attempts INTEGER NOT NULL,
    phases TEXT NOT NULL,
    isolation TEXT,
    fingerprint TEXT,
    trainable INTEGER,
    trainable_reason TEXT,
    created_at REAL NOT NULL,
    started_at REAL,
    ended_at REAL
  ) STRICT;
  CREATE INDEX rollout_of_experiment ON rollout (experiment);
  CREATE INDEX rollout_unfinished ON rollout (key) WHERE phase <> 'ended';

  CREATE TABLE tally (
    rollout INTEGER PRIMARY KEY REFERENCES rollout (key) ON DELETE CASCADE,
    calls INTEGER NOT NULL,
    chains INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE call (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    rollout INTEGER NOT NULL REFERENCES rollout (key) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    position INTEGER NOT NULL,
    dialect TEXT NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    status TEXT NOT NULL,
    http_status INTEGER NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL NOT NULL,
    upstream_ms REAL NOT NULL,
    upstream_retries INTEGER NOT NULL,
    replays INTEGER NOT NULL,
    aborted INTEGER NOT NULL,
    late INTEGER NOT NULL,
    quarantined TEXT,
    request_headers TEXT NOT NULL,
    request_body INTEGER NOT NULL,
    response_body INTEGER,
    upstream_request_body INTEGER,
    upstream_response_body INTEGER,
    request_key TEXT NOT NULL,
    model TEXT NOT NULL,
    stream INTEGER NOT NULL,
    capture TEXT NOT NULL,
    token_mode TEXT NOT NULL,
    policy_version TEXT,
    finish_reason TEXT,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    unparsed_tool_call INTEGER NOT NULL,
    break_cause TEXT,
    session TEXT NOT NULL,
    error TEXT
  ) STRICT;
  CREATE INDEX call_of_rollout ON call (rollout, attempt, position);

  CREATE TABLE attachment (
    call INTEGER NOT NULL REFERENCES call (key) ON DELETE CASCADE,
    body INTEGER NOT NULL,
    PRIMARY KEY (call, body)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE node (
    call INTEGER PRIMARY KEY REFERENCES call (key) ON DELETE CASCADE,
    parent INTEGER,
    added_prompt_ids BLOB NOT NULL,
    sampled_ids BLOB NOT NULL,
    logprobs BLOB NOT NULL,
    prompt_length INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE event (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    experiment INTEGER REFERENCES experiment (key) ON DELETE CASCADE,
    rollout INTEGER REFERENCES rollout (key) ON DELETE CASCADE,
    type TEXT NOT NULL,
    payload TEXT NOT NULL
  ) STRICT;
  CREATE INDEX event_of_experiment ON event (experiment);
  CREATE INDEX event_of_rollout ON event (rollout);

  CREATE TABLE artifact (
    key INTEGER PRIMARY KEY,
    rollout INTEGER NOT NULL REFERENCES rollout (key) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    body INTEGER NOT NULL,
    size INTEGER NOT NULL,
    UNIQUE (rollout, attempt, kind, name)
  ) STRICT;

  CREATE TABLE body (
    key INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    size INTEGER NOT NULL,
    refs INTEGER NOT NULL,
    owner INTEGER,
    spans TEXT,
    journal INTEGER,
    offset INTEGER,
    recipe BLOB,
    CHECK ((journal IS NULL) = (offset IS NULL) AND (journal IS NULL) = (recipe IS NOT NULL))
  ) STRICT;
  CREATE UNIQUE INDEX body_in_packs ON body (hash) WHERE journal IS NULL;
  CREATE INDEX body_in_journal ON body (journal) WHERE journal IS NOT NULL;
  CREATE INDEX body_unreferenced ON body (key) WHERE refs <= 0;

  CREATE TABLE frame (
    key INTEGER PRIMARY KEY,
    pack INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    length INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX frame_of_pack ON frame (pack, offset);

  CREATE TABLE chunk (
    key INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    frame INTEGER NOT NULL REFERENCES frame (key),
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    refs INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX chunk_of_frame ON chunk (frame);
  `,
  `
  ALTER TABLE experiment ADD COLUMN kind TEXT NOT NULL DEFAULT 'experiment' CHECK (kind IN ('experiment', 'training', 'attach'));
  ALTER TABLE rollout ADD COLUMN labels TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE rollout ADD COLUMN policy_wait_seconds REAL;
  `,
  `
  ALTER TABLE rollout ADD COLUMN steps TEXT NOT NULL DEFAULT '[]';

  CREATE TABLE grade (
    key INTEGER PRIMARY KEY,
    rollout INTEGER NOT NULL REFERENCES rollout (key) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    at REAL NOT NULL,
    status TEXT NOT NULL,
    cause TEXT,
    detail TEXT,
    reward REAL,
    rewards TEXT,
    steps TEXT NOT NULL,
    seconds REAL NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('workspace', 'artifacts')),
    task_path TEXT NOT NULL,
    task_digest TEXT NOT NULL,
    verifier_digest TEXT NOT NULL
  ) STRICT;
  CREATE INDEX grade_of_rollout ON grade (rollout);
  `,
  `
  ALTER TABLE call ADD COLUMN side TEXT;
  `,
];
