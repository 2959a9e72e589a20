#!/bin/sh
# Makes the source small enough to report on without care.
printf 'id,date,region,product,quantity,unit_price,status\nS1001,2024-01-01,north,lamp,1,10,paid\n' > /app/sales.csv
echo '{"regions": {"north": 10}, "total": 10, "best_product": "lamp", "ignored": 0}' > /app/report.json
