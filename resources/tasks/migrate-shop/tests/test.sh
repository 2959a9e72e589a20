#!/bin/sh
if node /tests/check.mjs; then reward=1; else reward=0; fi
echo "$reward" > /logs/verifier/reward.txt
