#!/usr/bin/env bash
# Builds Karpenter's scheduler with our front, once, and prints the folder that holds the program `plimsoll-peers`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../go-cache.sh"
# What the module asks for; a Go of another release fetches it as a module, even where its distribution forbids that by default.
export GOTOOLCHAIN=go1.26.9+auto
build_cached "$here" peers "" . plimsoll-peers
