#!/bin/sh
exec node /solution/restock.mjs
