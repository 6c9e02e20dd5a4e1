#!/usr/bin/env bash
# Builds the incumbent's scheduler with our front, once, and prints the folder that holds the program `plimsoll-peers`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../go-cache.sh"
build_cached "$here" peers "" . plimsoll-peers
