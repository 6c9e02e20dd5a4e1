#!/usr/bin/env bash
# An empty labelSelector of a hard topology spread counts no pod that is bound, but every pod that is nominated.
#
# The guess of a good engineer: `labelSelector: {}` selects every pod of the namespace, as in pod affinity, NetworkPolicies and
# PodDisruptionBudgets. Or, knowing that PodTopologySpread counts nothing for it: the constraint never refuses a node of its topology.
#
# What happens: pods that are bound to the node are not counted, however many there are. Pods of the namespace that are nominated to the
# node are counted. A pod with `maxSkew: 1` fits the node that runs five pods, while another domain is empty. Nominate a single pod to
# that node, and it no longer fits. Bind the nominated pod, and it fits again.
#
# Version: Kubernetes v1.36.3, default configuration of the scheduler.
#
# Where: pkg/scheduler/framework/plugins/podtopologyspread. `countPodsMatchSelector` (common.go) has a special case for an empty selector;
# `calPreFilterState` (filtering.go) counts bound pods with it. `AddPod` calls `updateWithPod` (filtering.go), which asks the selector
# itself, and that matches. `RunFilterPluginsWithNominatedPods` (pkg/scheduler/framework/runtime/framework.go) calls `AddPod` for pods
# of the same or a higher priority that are nominated to the node, before it filters.
#
# Why it matters: an autoscaler that sets `status.nominatedNodeName` makes such pods refuse nodes that they fit. It must not nominate
# several of them to one node at once. A simulation that treats nominated pods as bound pods does not see the refusal.
# The count is compared with the domain that has the fewest pods, so it takes a second domain to see this.
#
# There is no API server here: a client in memory keeps the objects. Everything else is the scheduler.
# Needs Go 1.26 and its module mirror or a filled module cache. Exits non-zero where the behaviour is another.
set -euo pipefail

kubernetes=1.36.3
staging=0.36.3

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

{
    printf 'module example.com/finding\n\ngo 1.26.0\n\n'
    printf 'require k8s.io/kubernetes v%s\n\n' "$kubernetes"
    # k8s.io/kubernetes asks for its own parts as v0.0.0.
    for part in api apiextensions-apiserver apimachinery apiserver cli-runtime client-go cloud-provider cluster-bootstrap code-generator \
        component-base component-helpers controller-manager cri-api cri-client cri-streaming csi-translation-lib \
        dynamic-resource-allocation endpointslice externaljwt kms kube-aggregator kube-controller-manager kube-proxy kube-scheduler \
        kubectl kubelet metrics mount-utils pod-security-admission sample-apiserver sample-cli-plugin sample-controller streaming; do
        printf 'replace k8s.io/%s => k8s.io/%s v%s\n' "$part" "$part" "$staging"
    done
} >go.mod

cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"runtime/debug"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	fmt.Println("kubernetes", version())
	everything := &metav1.LabelSelector{}
	byLabel := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	fmt.Println("labelSelector {}:")
	row(everything, 5, 0, "empty")
	row(everything, 5, 1, "empty")
	row(everything, 5, 2, "empty")
	row(everything, 7, 0, "empty")
	row(everything, 5, 2)
	fmt.Println("labelSelector app=web, which all of these pods have:")
	row(byLabel, 0, 0, "empty")
	row(byLabel, 5, 0, "empty")
	row(byLabel, 0, 2, "empty")
}

// row tells whether one more pod fits the node that has so many pods bound and nominated to it. Other nodes run nothing.
func row(selector *metav1.LabelSelector, bound, nominated int, others ...string) {
	objects := []runtime.Object{node("busy")}
	for _, other := range others {
		objects = append(objects, node(other))
	}
	for i := range bound {
		one := pod(fmt.Sprint("bound-", i))
		one.Spec.NodeName, one.Status.Phase = "busy", v1.PodRunning
		objects = append(objects, one)
	}
	for i := range nominated {
		one := pod(fmt.Sprint("nominated-", i))
		one.Status.NominatedNodeName = "busy"
		objects = append(objects, one)
	}
	asked := pod("asked")
	asked.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
		TopologyKey: v1.LabelHostname, MaxSkew: 1, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: selector,
	}}
	fmt.Printf("  %d bound, %d nominated, other nodes %d: %s\n", bound, nominated, len(others), verdict(asked, "busy", append(objects, asked)))
}

// verdict is what the filters of the scheduler say of the pod and the node.
func verdict(asked *v1.Pod, on string, objects []runtime.Object) string {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	client := fake.NewClientset(objects...)
	factory := scheduler.NewInformerFactory(client, 0)
	made, err := scheduler.New(ctx, client, factory, nil, func(string) events.EventRecorderLogger { return &events.FakeRecorder{} })
	must(err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	must(made.WaitForHandlersSync(ctx))
	profile := made.Profiles[v1.DefaultSchedulerName]
	snapshot := profile.SnapshotSharedLister().(*internalcache.Snapshot)
	must(made.Cache.UpdateSnapshot(klog.FromContext(ctx), snapshot))
	state := framework.NewCycleState()
	_, status, _ := profile.RunPreFilterPlugins(ctx, state, asked)
	must(status.AsError())
	info, err := snapshot.Get(on)
	must(err)
	status = profile.RunFilterPluginsWithNominatedPods(ctx, state, asked, info)
	if status.IsSuccess() {
		return "fits"
	}
	return "refused by " + status.Plugin() + ": " + status.Message()
}

func node(name string) *v1.Node {
	room := v1.ResourceList{v1.ResourceCPU: resource.MustParse("8"), v1.ResourcePods: resource.MustParse("110")}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{v1.LabelHostname: name}},
		Status:     v1.NodeStatus{Capacity: room, Allocatable: room},
	}
}

func pod(name string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", UID: types.UID(name), Labels: map[string]string{"app": "web"}},
		Spec:       v1.PodSpec{SchedulerName: v1.DefaultSchedulerName, Containers: []v1.Container{{Name: "main", Image: "web:1"}}},
		Status:     v1.PodStatus{Phase: v1.PodPending},
	}
}

func version() string {
	if info, known := debug.ReadBuildInfo(); known {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/kubernetes" {
				return module.Version
			}
		}
	}
	return "unknown"
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
GO

cat >expected <<'TEXT'
kubernetes v1.36.3
labelSelector {}:
  5 bound, 0 nominated, other nodes 1: fits
  5 bound, 1 nominated, other nodes 1: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  5 bound, 2 nominated, other nodes 1: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  7 bound, 0 nominated, other nodes 1: fits
  5 bound, 2 nominated, other nodes 0: fits
labelSelector app=web, which all of these pods have:
  0 bound, 0 nominated, other nodes 1: fits
  5 bound, 0 nominated, other nodes 1: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  0 bound, 2 nominated, other nodes 1: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
TEXT

go version
CGO_ENABLED=0 GOWORK=off GOFLAGS=-mod=mod go build -trimpath -gcflags=all=-dwarf=false -ldflags='-s -w' -o finding .
./finding | tee seen
if ! diff -u expected seen; then
    echo 'The behaviour is not the one that this script was written for.' >&2
    exit 1
fi
echo 'As expected: with an empty selector, nominated pods count and bound pods do not.'
