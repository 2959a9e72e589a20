#!/bin/sh
# Unpacks, and runs the script as it is.
mkdir -p /app/documents && tar -x -f /app/documents.tar -C /app/documents
sh /app/backup.sh 2> /dev/null
