#!/bin/bash
set -eu
cd /app/downloads
declare -A seen
for note in *; do
  sum=$(sha256sum < "$note")
  if [ -n "${seen[$sum]:-}" ]; then rm "$note"; continue; fi
  seen[$sum]=1
  first=$(head -n 1 "$note")
  if [[ $first =~ ^Date:\ ([0-9]{4})-([0-9]{2})-[0-9]{2}$ ]]; then
    folder=/app/sorted/${BASH_REMATCH[1]}/${BASH_REMATCH[2]}
  else
    folder=/app/sorted/undated
  fi
  mkdir -p "$folder"
  mv "$note" "$folder/"
done
