#!/bin/sh
# Copies every document to /app/backup and lists what was copied.
mkdir -p /app/backup
cd /app/documents
for file in `find . -type f -name "*.*"`; do
  mkdir -p /app/backup/`dirname $file`
  cp $file /app/backup/$file
  sha256sum $file >> /app/backup.list
done
