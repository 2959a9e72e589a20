#!/bin/sh
exec node /solution/migrate.mjs
