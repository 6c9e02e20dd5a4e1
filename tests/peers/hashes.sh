#!/usr/bin/env bash
# Writes the table that holds our hash of a pool's template to Karpenter's: the templates of `templates.txt`, and 96 that are drawn.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
peers=$("$here/build.sh")/plimsoll-peers
"$peers" hashes -drawn 96 -seed 1 "$here/templates.txt" >"$here/../../host/api/tests/data/template-hashes.txt"
