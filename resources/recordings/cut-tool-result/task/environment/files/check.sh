#!/bin/sh
# Names every row of prices.csv whose price is not of the form 12.50.
row='^[A-Z]{2}-[0-9]{4},"[^"]*",[0-9]+,[0-9]+\.[0-9]{2}$'
tail -n +2 prices.csv | grep -nvE "$row" | while IFS=: read -r number text; do
  printf 'prices.csv:%s: the price of this row must have a point and two digits, as in 12.50: %s\n' "$((number + 1))" "$text"
done
