#!/usr/bin/env bash
# Builds the programs of the lab's control plane from their pinned modules, once, and prints the folders that hold them, one a line.
# Cold this takes some six minutes on two cores; after that nothing, also in a fresh checkout.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../go-cache.sh"

kubernetes=v1.36.3
# A server that is not stamped calls itself v0.0.0, and clients then believe that it supports nothing.
stamp=k8s.io/component-base/version
build_cached "$here/programs/kubernetes" lab-kubernetes \
    "-X $stamp.gitVersion=$kubernetes -X $stamp.gitMajor=1 -X $stamp.gitMinor=36 -X $stamp.gitTreeState=clean -X $stamp.gitCommit=$kubernetes" \
    k8s.io/kubernetes/cmd/kube-apiserver kube-apiserver \
    k8s.io/kubernetes/cmd/kube-scheduler kube-scheduler \
    k8s.io/kubernetes/cmd/kube-controller-manager kube-controller-manager
build_cached "$here/programs/etcd" lab-etcd "" go.etcd.io/etcd/server/v3 etcd
build_cached "$here/programs/kwok" lab-kwok "-X sigs.k8s.io/kwok/pkg/consts.Version=v0.8.0" sigs.k8s.io/kwok/cmd/kwok kwok
