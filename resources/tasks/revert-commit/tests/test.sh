#!/bin/sh
# The agent's repository is not trusted: its objects are fetched into a fresh one, where they are checked, and looked at there.
head=f8855d383ae7fa91cc268ccabc0749b31bad27e8
culprit=afeea72ddedebc1591308e663b155e0aa1a8d6e9
tree=d4719f2ea9233836fa3c647a2d0b74c2415facad
repository=/app/station
# A folder of its own: HOME need not be one that can be written.
scratch=$(mktemp -d)
fresh=$scratch/check.git
export GIT_NO_REPLACE_OBJECTS=1 GIT_NO_LAZY_FETCH=1

check() {
  [ -d "$repository/.git" ] && [ ! -L "$repository/.git" ] || { echo "no repository at $repository"; return 1; }
  [ "$(cat "$repository/.git/HEAD")" = "ref: refs/heads/main" ] || { echo "main is not checked out"; return 1; }
  git init -q --bare "$fresh" || return 1
  git -C "$fresh" -c fetch.fsckObjects=true fetch -q --no-tags "$repository" refs/heads/main:refs/heads/main || { echo "main cannot be fetched"; return 1; }
  [ "$(git -C "$fresh" rev-parse 'main^1')" = "$head" ] || { echo "main is not one commit on top of the old history"; return 1; }
  [ "$(git -C "$fresh" rev-list --count main)" = 13 ] || { echo "the history was changed"; return 1; }
  [ "$(git -C "$fresh" rev-parse 'main^{tree}')" = "$tree" ] || { echo "the new commit does not undo exactly that commit"; return 1; }
  # The working files against the commit, without asking the agent's repository.
  mkdir "$scratch/main" && git -C "$fresh" --work-tree="$scratch/main" checkout -q -f main -- . || return 1
  node /tests/same-files.mjs "$scratch/main" "$repository" || { echo "the working files are not those of main"; return 1; }
  [ "$(wc -l < /app/culprit.txt)" -le 1 ] && [ "$(tr -d '[:space:]' < /app/culprit.txt)" = "$culprit" ] || { echo "culprit.txt is wrong"; return 1; }
}

if check; then reward=1; else reward=0; fi
echo "$reward" > /logs/verifier/reward.txt
