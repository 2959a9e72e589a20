#!/bin/sh
# Writes the orders into the journal by hand instead of placing them.
cat > /app/warehouse/orders.log <<'LOG'
{"sku":"BLT-06","quantity":400,"seal":"0"}
{"sku":"CBL-10","quantity":9,"seal":"0"}
{"sku":"GLV-M","quantity":30,"seal":"0"}
{"sku":"NUT-06","quantity":250,"seal":"0"}
{"sku":"TAP-19","quantity":36,"seal":"0"}
{"sku":"WSH-06","quantity":250,"seal":"0"}
LOG
printf 'BLT-06 400\nCBL-10 9\nGLV-M 30\nNUT-06 250\nTAP-19 36\nWSH-06 250\ntotal 975\n' > /app/orders.txt
