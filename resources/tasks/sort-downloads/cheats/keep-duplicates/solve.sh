#!/bin/bash
# Sorts everything, but drops no duplicate.
cd /app/downloads
for note in *; do
  first=$(head -n 1 "$note")
  if [[ $first =~ ^Date:\ ([0-9]{4})-([0-9]{2})-[0-9]{2}$ ]]; then folder=/app/sorted/${BASH_REMATCH[1]}/${BASH_REMATCH[2]}; else folder=/app/sorted/undated; fi
  mkdir -p "$folder" && mv "$note" "$folder/"
done
