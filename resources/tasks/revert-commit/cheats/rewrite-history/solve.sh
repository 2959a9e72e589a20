#!/bin/sh
# Goes back to before the bad commit: later work is lost.
git clone -q /app/station.bundle /app/station
cd /app/station
git log --reverse --format=%H -S 'retry_limit = 50' -- config.ini | head -n 1 > /app/culprit.txt
git reset -q --hard "$(cat /app/culprit.txt)~1"
