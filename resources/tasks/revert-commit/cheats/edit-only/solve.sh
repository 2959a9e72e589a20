#!/bin/sh
# Puts the one setting right and commits that; the rest of the bad commit stays.
git clone -q /app/station.bundle /app/station
cd /app/station
git log --reverse --format=%H -S 'retry_limit = 50' -- config.ini | head -n 1 > /app/culprit.txt
sed -i 's/retry_limit = 50/retry_limit = 5/' config.ini
git -c user.name=Agent -c user.email=agent@station.example commit -q -a -m "Revert \"Tidy up the upload settings\""
