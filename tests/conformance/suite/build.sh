#!/usr/bin/env bash
# Builds Karpenter's regression suite from its pinned module, once and unmodified, and prints the folder that holds `regression`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../go-cache.sh"

go_command=(test -vet=off -c)
build_cached "$here/module" conformance-suite "" sigs.k8s.io/karpenter/test/suites/regression regression
