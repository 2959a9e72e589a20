#!/bin/sh
exec node /solution/report.mjs
