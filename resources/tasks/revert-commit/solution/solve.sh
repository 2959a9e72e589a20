#!/bin/sh
set -eu
git clone -q /app/station.bundle /app/station
cd /app/station
git log --reverse --format=%H -S 'retry_limit = 50' -- config.ini | head -n 1 > /app/culprit.txt
git -c user.name=Agent -c user.email=agent@station.example revert --no-edit "$(cat /app/culprit.txt)"
