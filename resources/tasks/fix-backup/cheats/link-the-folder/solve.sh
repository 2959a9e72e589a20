#!/bin/sh
# The backup is a link to the documents; the list is what sha256sum writes.
mkdir -p /app/documents && tar -x -f /app/documents.tar -C /app/documents
ln -s documents /app/backup
cd /app/documents && find . -type f -exec sha256sum {} + | sed 's,\./,,' | LC_ALL=C sort > /app/backup.list
