#!/bin/sh
set -eu
git clone -q -b main /app/station.bundle /app/station
cd /app/station
export GIT_AUTHOR_NAME=Agent GIT_AUTHOR_EMAIL=agent@station.example GIT_COMMITTER_NAME=Agent GIT_COMMITTER_EMAIL=agent@station.example
# Stops at the conflicts.
git merge -q origin/units && exit 1
git rm -q legacy.md
for file in config.ini CHANGES.md readings.mjs; do cp "/solution/merged/$file" "$file"; done
git add -A
git commit -q --no-edit
