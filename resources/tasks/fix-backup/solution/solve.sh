#!/bin/sh
set -eu
mkdir -p /app/documents
tar -x -f /app/documents.tar -C /app/documents --no-same-owner
cat > /app/backup.sh <<'SCRIPT'
#!/bin/bash
# Copies every document to /app/backup and lists what was copied; no name is read but as bytes up to a zero.
set -euo pipefail
export LC_ALL=C
rm -rf /app/backup
mkdir /app/backup
cp -a /app/documents/. /app/backup/
cd /app/documents
find . -type f -print0 | while IFS= read -r -d '' file; do
  sum=$(sha256sum < "$file")
  path=${file#./}
  path=${path//\\/\\\\}
  printf '%s  %s\n' "${sum%% *}" "${path//$'\n'/\\n}"
done | sort > /app/backup.list
SCRIPT
/app/backup.sh
