#!/usr/bin/env bash
# Builds Karpenter's controller with its KWOK provider from its pinned module, once, and prints the folder that holds `karpenter`.
# As released it serves metrics and probes on every address of the machine; this build serves them on loopback, and differs in nothing else.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../go-cache.sh"

# adapted SCRATCH: a copy of the module whose one file that says where it listens has another address in it.
adapted() {
    local file=$1/karpenter/pkg/operator/operator.go
    go mod download sigs.k8s.io/karpenter >&2
    cp -r "$(go list -m -f '{{.Dir}}' sigs.k8s.io/karpenter)" "$1/karpenter"
    chmod -R u+w "$1/karpenter"
    sed -i 's/fmt\.Sprintf(":%d", options/fmt.Sprintf("127.0.0.1:%d", options/' "$file"
    [ "$(grep -c '"127.0.0.1:%d"' "$file")" -eq 2 ] || { echo "error: $file does not say twice where it listens" >&2; return 1; }
    cp go.mod go.sum "$1"
    go mod edit -replace "sigs.k8s.io/karpenter=$1/karpenter" "$1/go.mod"
    echo "-modfile=$1/go.mod"
}

build_cached "$here/programs/karpenter" lab-karpenter "-X sigs.k8s.io/karpenter/pkg/operator.Version=1.14.1" sigs.k8s.io/karpenter/kwok karpenter
