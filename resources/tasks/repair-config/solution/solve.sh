#!/bin/sh
exec node /solution/repair.mjs
