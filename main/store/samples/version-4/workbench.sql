BEGIN TRANSACTION;
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
INSERT INTO artifact VALUES(1,1,1,'verifier-output','stdout.txt',4,16);
CREATE TABLE attachment (
    call INTEGER NOT NULL REFERENCES call (key) ON DELETE CASCADE,
    body INTEGER NOT NULL,
    PRIMARY KEY (call, body)
  ) STRICT, WITHOUT ROWID;
INSERT INTO attachment VALUES(1,3);
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
INSERT INTO body VALUES(1,X'e935749ea9683a14e7e3031174aea179dffe8fa509e0bc33a660c06e01b0d2ec',77,1,1,'[{"start":50,"end":66,"name":"upstream-key"}]',NULL,NULL,X'0201');
INSERT INTO body VALUES(2,X'd4a534e3d5ab43de5b09ee16dedc6eec035cf179b072195f128d15ac87be79f0',14,1,1,NULL,NULL,NULL,X'0401');
INSERT INTO body VALUES(3,X'a5df3fde7b200c3fa2791144c7e05c5c2bced4c6ad863d3a4cf76c972c1712f9',8,1,1,NULL,NULL,NULL,X'0601');
INSERT INTO body VALUES(4,X'99b7d2d7507ea1930e1486740f6ba42eeee68fac8d6ac7521e5093f5cae16691',16,1,1,NULL,NULL,NULL,X'0801');
INSERT INTO body VALUES(5,X'66f8af5c78b4c16809fa899801a83313fe476f14cc9eac1cec533cd0bca08905',63,1,1,NULL,2,0,NULL);
INSERT INTO body VALUES(6,X'3db98b114485a8404eab9768d19a66ee857cdb07af0959810a94d46612d7cd68',15,1,1,NULL,2,127,NULL);
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
  , side TEXT) STRICT;
INSERT INTO call VALUES(1,'first-1-0',1,1,0,'chat','POST','/v1/chat/completions','ok',200,1700000001000.0,1700000001500.0,412.5,0,0,0,0,NULL,'{"content-type":"application/json","user-agent":"react/1.0"}',1,2,NULL,NULL,'key-0','policy',1,'ids+logprobs','as-sampled','scripted','stop',5,3,0,NULL,'{}',NULL,'title');
INSERT INTO call VALUES(2,'first-1-1',1,1,1,'chat','POST','/v1/chat/completions','ok',200,1700000002000.0,1700000002500.0,412.5,0,1,0,0,NULL,'{"content-type":"application/json","user-agent":"react/1.0"}',5,6,NULL,NULL,'key-1','policy',1,'ids+logprobs','as-sampled','scripted','tool-calls',5,3,0,NULL,'{"thread":"t1"}',NULL,NULL);
CREATE TABLE chunk (
    key INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    frame INTEGER NOT NULL REFERENCES frame (key),
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    refs INTEGER NOT NULL
  ) STRICT;
INSERT INTO chunk VALUES(1,X'e935749ea9683a14e7e3031174aea179dffe8fa5',1,0,77,1);
INSERT INTO chunk VALUES(2,X'd4a534e3d5ab43de5b09ee16dedc6eec035cf179',1,77,14,1);
INSERT INTO chunk VALUES(3,X'a5df3fde7b200c3fa2791144c7e05c5c2bced4c6',1,91,8,1);
INSERT INTO chunk VALUES(4,X'99b7d2d7507ea1930e1486740f6ba42eeee68fac',1,99,16,1);
CREATE TABLE event (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    experiment INTEGER REFERENCES experiment (key) ON DELETE CASCADE,
    rollout INTEGER REFERENCES rollout (key) ON DELETE CASCADE,
    type TEXT NOT NULL,
    payload TEXT NOT NULL
  ) STRICT;
INSERT INTO event VALUES(1,1700000001500.0,1,1,'call.recorded','{"call":"first-1-0","attempt":1,"index":0,"status":"ok","promptTokens":5,"completionTokens":3}');
INSERT INTO event VALUES(2,1700000002500.0,1,1,'call.recorded','{"call":"first-1-1","attempt":1,"index":1,"status":"ok","promptTokens":5,"completionTokens":3}');
INSERT INTO event VALUES(3,1700000060000.0,1,NULL,'experiment.ended','{}');
CREATE TABLE experiment (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at REAL NOT NULL,
    ended_at REAL,
    spec TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'ended', 'cancelled', 'recording'))
  , kind TEXT NOT NULL DEFAULT 'experiment' CHECK (kind IN ('experiment', 'training'))) STRICT;
INSERT INTO experiment VALUES(1,'sample','Experiment sample',1700000000000.0,1700000060000.0,'{"tasks":["starter"]}','ended','experiment');
CREATE TABLE frame (
    key INTEGER PRIMARY KEY,
    pack INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    length INTEGER NOT NULL
  ) STRICT;
INSERT INTO frame VALUES(1,1,0,117,115);
CREATE TABLE node (
    call INTEGER PRIMARY KEY REFERENCES call (key) ON DELETE CASCADE,
    parent INTEGER,
    added_prompt_ids BLOB NOT NULL,
    sampled_ids BLOB NOT NULL,
    logprobs BLOB NOT NULL,
    prompt_length INTEGER NOT NULL
  ) STRICT;
INSERT INTO node VALUES(1,NULL,X'0100000002000000030000005c500200ffffffff',X'0a0000000b0000000c000000',X'000000bf0000c07f000000c0',5);
INSERT INTO node VALUES(2,1,X'0100000002000000030000005c500200ffffffff',X'0a0000000b0000000c000000',X'000000bf0000c07f000000c0',13);
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
  , labels TEXT NOT NULL DEFAULT '{}', policy_wait_seconds REAL, steps TEXT NOT NULL DEFAULT '[]') STRICT;
INSERT INTO rollout VALUES(1,'first',1,'rename-files','sha256:0123','/tasks/rename-files','react','1.0.0','scripted',NULL,'local',0,7,'ended','succeeded',NULL,'train',NULL,1.0,'{"reward":1}',1,'[{"name":"queued","startedAt":1700000000000,"seconds":0.5}]','{"files":"own root","network":"none","processes":"own namespace","limits":"none"}','{"kernel":"6.1","node":"20.20.2"}',1,NULL,1700000000000.0,1700000000500.0,1700000050000.0,'{"step":3,"split":"train"}',1.5,'[{"name":"one","outcome":{"status":"succeeded","cause":null,"detail":null},"reward":1,"rewards":{"reward":1},"minReward":{"reward":0.5},"firstCall":0,"calls":2,"startedAt":1700000000500,"agentSeconds":1.5,"verifierSeconds":0.5}]');
INSERT INTO rollout VALUES(2,'second',1,'rename-files','sha256:0123','/tasks/rename-files','codex','0.171.0','scripted',NULL,'local',1,7,'ended','environment-failure','sandbox-lost','mask','The box was lost.',NULL,NULL,1,'[{"name":"queued","startedAt":1700000000000,"seconds":0.5}]','{"files":"own root","network":"none","processes":"own namespace","limits":"none"}','{"kernel":"6.1","node":"20.20.2"}',NULL,NULL,1700000000000.0,1700000000500.0,NULL,'{}',NULL,'[]');
CREATE TABLE setting (key TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO setting VALUES('window','{"width":1200}');
CREATE TABLE tally (
    rollout INTEGER PRIMARY KEY REFERENCES rollout (key) ON DELETE CASCADE,
    calls INTEGER NOT NULL,
    chains INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL
  ) STRICT;
INSERT INTO tally VALUES(1,2,1,10,6);
INSERT INTO tally VALUES(2,0,0,0,0);
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
INSERT INTO grade VALUES(1,1,1,1700000070000.0,'failed',NULL,NULL,0.0,'{"reward":0}','[]',0.25,'workspace','/tasks/rename-files','sha256:0123','sha256:4567');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('event',3);
CREATE INDEX rollout_of_experiment ON rollout (experiment);
CREATE INDEX rollout_unfinished ON rollout (key) WHERE phase <> 'ended';
CREATE INDEX call_of_rollout ON call (rollout, attempt, position);
CREATE INDEX event_of_experiment ON event (experiment);
CREATE INDEX event_of_rollout ON event (rollout);
CREATE UNIQUE INDEX body_in_packs ON body (hash) WHERE journal IS NULL;
CREATE INDEX body_in_journal ON body (journal) WHERE journal IS NOT NULL;
CREATE INDEX body_unreferenced ON body (key) WHERE refs <= 0;
CREATE INDEX frame_of_pack ON frame (pack, offset);
CREATE INDEX chunk_of_frame ON chunk (frame);
CREATE INDEX grade_of_rollout ON grade (rollout);
COMMIT;
PRAGMA user_version = 4;
