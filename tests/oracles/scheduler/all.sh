#!/usr/bin/env bash
# Builds the scheduler of every minor, and prints their folders one a line.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for minor in 1.36 1.37; do "$here/build.sh" "$minor"; done
