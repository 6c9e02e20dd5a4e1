#!/usr/bin/env bash
# Builds the program that hashes classes with Karpenter's hashing module, once, and prints the folder that holds `plimsoll-class-hashes`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../go-cache.sh"
build_cached "$here" class-hashes "" . plimsoll-class-hashes
