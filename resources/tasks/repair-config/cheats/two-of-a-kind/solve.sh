#!/bin/sh
# Every disputed value twice, so that each reader may find what it looks for.
cat > /app/gateway.json <<'JSON'
{ "version": 4, "routes": [], "routes": [ { "path": "/items", "service": "catalogue", "port": 7101, "port": 7102, "weight": 100, "weight": 0 } ] }
JSON
