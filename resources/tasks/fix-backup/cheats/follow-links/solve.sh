#!/bin/sh
# Copies what the links point to, and leaves out what is empty.
mkdir -p /app/documents && tar -x -f /app/documents.tar -C /app/documents
cp -rL /app/documents /app/backup 2> /dev/null
find /app/backup -type d -empty -delete
cd /app/documents && find . -type f -exec sha256sum {} + | sed 's,\./,,' | LC_ALL=C sort > /app/backup.list
