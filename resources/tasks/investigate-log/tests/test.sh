#!/bin/sh
# One answer a line, each key once and nothing else: a file that tries several answers has none.
root="${OPENFORGE_ROOT:-}"
answers="$root/app/answers.txt"
keys="first_error restarts lost_order slowest_request fullest_volume"

right() {
  case $1 in
    first_error) echo "2026-03-14T07:16:10.838Z" ;;
    restarts) echo 7 ;;
    lost_order) echo 48782 ;;
    slowest_request) echo r-e47cf ;;
    fullest_volume) echo /data3 ;;
  esac
}

plain() {
  [ -f "$answers" ] && [ ! -L "$answers" ] && [ "$(wc -c < "$answers")" -le 1000 ] || return 1
  [ -z "$(cut -d : -f 1 "$answers" | sort | uniq -d)" ] || return 1
  for word in $(cut -d : -f 1 "$answers"); do
    case " $keys " in *" $word "*) ;; *) return 1 ;; esac
  done
}

count=0
parts=""
for key in $keys; do
  earned=0
  if plain && [ "$(sed -n "s/^$key: *//p" "$answers" | tr -d '\r' | sed 's/ *$//')" = "$(right "$key")" ]; then earned=1; fi
  [ "$earned" = 1 ] || echo "$key is not answered rightly"
  count=$((count + earned))
  parts="$parts, \"$key\": $earned"
done
if [ "$count" = 5 ]; then reward=1; else reward=0.$((count * 2)); fi
echo "{\"reward\": $reward$parts}" > "$root/logs/verifier/reward.json"
