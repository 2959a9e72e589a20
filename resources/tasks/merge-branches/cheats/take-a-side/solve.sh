#!/bin/sh
# Merges by taking the side of main wherever the branches disagree.
git clone -q -b main /app/station.bundle /app/station
cd /app/station
git config user.name Agent
git config user.email agent@station.example
git merge -q -X ours origin/units -m "Merge units"
git rm -q -f legacy.md
git commit -q -m "Merge units"
