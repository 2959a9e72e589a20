#!/bin/sh
# Offers every value that occurs as an answer to every question; the right ones are among them.
log=/app/service.log
{
  grep ERROR "$log" | sed -E 's/^([^ ]+) .*/first_error: \1/'
  seq 0 20 | sed 's/^/restarts: /'
  grep -oE 'order [0-9]+' "$log" | sort -u | sed 's/order /lost_order: /'
  grep -oE 'r-[0-9a-f]{5}' "$log" | sed 's/^/slowest_request: /'
  grep -oE '/(data[0-9]|logs)' "$log" | sort -u | sed 's/^/fullest_volume: /'
} > /app/answers.txt
