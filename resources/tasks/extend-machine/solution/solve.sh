#!/bin/sh
cp /solution/machine.mjs /app/machine.mjs
