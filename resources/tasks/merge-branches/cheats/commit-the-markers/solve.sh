#!/bin/sh
# Commits the conflicts as git leaves them.
git clone -q -b main /app/station.bundle /app/station
cd /app/station
git config user.name Agent
git config user.email agent@station.example
git merge -q origin/units
git add -A
git commit -q -m "Merge units"
