#!/bin/sh
# The agent's repository is not trusted: its objects are fetched into a fresh one, where they are checked, and looked at there.
main=1f556397e4c0f0897752b59faf49f5f3932a9ccd
units=9e9904ee4d96864ae3038a652c24429ce284dbb4
tree=3804251f9f5147733e4170b60827d9ce1becd2d4
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
  [ "$(git -C "$fresh" rev-list --parents -n 1 main | cut -d ' ' -f 2-)" = "$main $units" ] || { echo "main is no merge of the old main and units"; return 1; }
  [ "$(git -C "$fresh" rev-parse 'main^{tree}')" = "$tree" ] || { echo "the files of the merge are not as asked"; return 1; }
  # The working files against the commit, without asking the agent's repository.
  mkdir "$scratch/main" && git -C "$fresh" --work-tree="$scratch/main" checkout -q -f main -- . || return 1
  node /tests/same-files.mjs "$scratch/main" "$repository" || { echo "the working files are not those of main"; return 1; }
}

if check; then reward=1; else reward=0; fi
echo "$reward" > /logs/verifier/reward.txt
