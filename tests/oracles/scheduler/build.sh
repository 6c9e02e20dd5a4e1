#!/usr/bin/env bash
# Builds the scheduler of one minor of Kubernetes as a judge, 1.36 unless another is named, once, and prints the folder that holds the
# program `plimsoll-scheduler`. The sources are the same for every minor; its module file pins the versions.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../go-cache.sh"
minor=${1:-1.36}
case $minor in
    1.36) go_command=(build -modfile=go.mod) ;;
    1.37) go_command=(build -modfile=go.1.37.mod) ;;
    *) echo "error: there is no scheduler of Kubernetes $minor; expected 1.36 or 1.37" >&2; exit 2 ;;
esac
build_cached "$here" "scheduler-$minor" "" . plimsoll-scheduler
