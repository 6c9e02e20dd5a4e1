#!/usr/bin/env bash
# Builds Karpenter's AWS controller from its pinned module, once and unmodified, and prints the folder that holds `karpenter-aws`.
# It serves metrics and probes on every address of the machine: run it in a network namespace that has loopback alone.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../go-cache.sh"

build_cached "$here/programs/karpenter-aws" lab-karpenter-aws "-X sigs.k8s.io/karpenter/pkg/operator.Version=1.14.1" \
    github.com/aws/karpenter-provider-aws/cmd/controller karpenter-aws
