#!/bin/sh
cp /solution/duration.mjs /app/duration.mjs
