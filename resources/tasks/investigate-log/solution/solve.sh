#!/bin/sh
set -eu
log=/app/service.log
{
  echo "first_error: $(grep -m 1 -E '^[^ ]+ ERROR ' "$log" | cut -d ' ' -f 1)"
  echo "restarts: $(grep -cE ' supervisor +worker-[0-9]+ started again ' "$log")"
  echo "lost_order: $(sed -nE 's/.* order ([0-9]+) attempt 3 declined$/\1/p' "$log")"
  echo "slowest_request: $(sed -nE 's/.* request (r-[0-9a-f]+) .* took ([0-9]+) ms.*/\2 \1/p' "$log" | sort -n | tail -n 1 | cut -d ' ' -f 2)"
  echo "fullest_volume: $(sed -nE 's/.* volume ([^ ]+) used ([0-9]+)%$/\2 \1/p' "$log" | sort -n | tail -n 1 | cut -d ' ' -f 2)"
} > /app/answers.txt
