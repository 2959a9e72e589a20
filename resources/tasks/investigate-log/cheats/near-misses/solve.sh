#!/bin/sh
# What a careless search finds: the word ERROR, every "started", the first order that was declined, a large number, the loudest volume.
log=/app/service.log
{
  echo "first_error: $(grep -m 1 ERROR "$log" | cut -d ' ' -f 1)"
  echo "restarts: $(grep -c started "$log")"
  echo "lost_order: $(sed -nE 's/.* order ([0-9]+) attempt 1 declined$/\1/p' "$log" | head -n 1)"
  echo "slowest_request: $(grep 'budget 9000' "$log" | sed -nE '1s/.* request (r-[0-9a-f]+) .*/\1/p')"
  echo "fullest_volume: /logs"
} > /app/answers.txt
