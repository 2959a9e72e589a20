#!/bin/bash
# Downloads are empty, and so is what was sorted.
rm -f /app/downloads/*
mkdir -p /app/sorted/undated
