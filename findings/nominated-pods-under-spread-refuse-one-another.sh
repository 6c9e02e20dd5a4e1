#!/usr/bin/env bash
# Pods that are nominated to the nodes of a placement which satisfies their hard spread refuse one another.
#
# Two nodes in two zones, four pods of one workload that spread over zones (`DoNotSchedule`, `maxSkew: 1`), two nominated to each node.
#
# The guess of a good engineer: each pod binds where it is nominated, since two pods in each zone satisfy the constraint.
#
# What happens: every pod is refused on both nodes while the nominations stand. The filter of a node counts the other pods that are
# nominated to this node, and none of those that are nominated to the other. Without nominations all four bind, one after another.
# With nominations the scheduler gets out by itself where it takes the nomination off a pod that it could not place: at least the first
# pod of the queue pays with a failed attempt and its nomination, the others bind, and it follows. A pod with `preemptionPolicy: Never`
# keeps its nomination after a failed attempt. Four such pods stay pending on account of one another, with two empty nodes.
#
# Version: Kubernetes v1.36.3, default configuration of the scheduler.
#
# Where: `RunFilterPluginsWithNominatedPods` and `addGENominatedPods` (pkg/scheduler/framework/runtime/framework.go) add what is
# nominated to the one node at hand, pods of the same or a higher priority. `updateWithPod` and `Filter`
# (pkg/scheduler/framework/plugins/podtopologyspread/filtering.go) count and compare. `Evaluator.Preempt`
# (pkg/scheduler/framework/preemption/preemption.go) takes the nomination off where it finds no victim, but leaves it alone where
# `PodEligibleToPreemptOthers` (pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go) says no, as for
# `preemptionPolicy: Never`; see also `handleSchedulingFailure` (pkg/scheduler/schedule_one.go).
#
# Why it matters: an autoscaler that sets `status.nominatedNodeName` for a whole plan blocks the plan, or loses part of its nominations
# in failed attempts. It should nominate such pods in turn, no more to one node at once than the node's domain can take before pods
# come to the other domains, and take nominations back itself from pods that may not preempt.
#
# There is no API server here: a client in memory keeps the objects and the script carries out bindings. Everything else is the scheduler.
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
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const namespace = "shop"

var (
	nodes = []string{"node-1", "node-2"}
	names = []string{"a", "b", "c", "d"}
	plan  = map[string]string{"a": "node-1", "b": "node-1", "c": "node-2", "d": "node-2"}
)

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	fmt.Println("kubernetes", version())

	fmt.Println("a and b nominated to node-1, c and d to node-2; the verdicts:")
	nominated := newCluster()
	nominated.create(plan, v1.PreemptLowerPriority)
	nominated.verdicts()
	nominated.stop()

	fmt.Println("no nominations, scheduled one after another:")
	plain := newCluster()
	stopPlain := plain.run()
	for i, name := range names {
		plain.create(nil, v1.PreemptLowerPriority, name)
		plain.await(func() bool { return plain.bound() == i+1 })
		fmt.Printf("  %s is bound\n", name)
	}
	plain.outcome()
	stopPlain()
	plain.stop()

	fmt.Println("the same nominations, scheduled:")
	running := newCluster()
	running.create(plan, v1.PreemptLowerPriority)
	stopRunning := running.run()
	running.await(func() bool { return running.bound() == 4 })
	running.outcome()
	stopRunning()
	running.stop()

	fmt.Println("the same nominations of pods with preemptionPolicy Never, scheduled:")
	stuck := newCluster()
	stuck.create(plan, v1.PreemptNever)
	stopStuck := stuck.run()
	stuck.await(func() bool { return len(stuck.refused()) == 4 })
	stopStuck()
	stuck.outcome()
	for _, name := range names {
		fmt.Printf("  %s is still nominated to %q\n", name, stuck.pod(name).Status.NominatedNodeName)
	}
	fmt.Println("and the verdicts after that:")
	stuck.verdicts()
	stuck.stop()
}

// cluster is a scheduler over objects in memory.
type cluster struct {
	ctx       context.Context
	stop      context.CancelFunc
	client    *fake.Clientset
	scheduler *scheduler.Scheduler
	recorder  *recorder
}

func newCluster() *cluster {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	objects := []runtime.Object{}
	for i, name := range nodes {
		room := v1.ResourceList{v1.ResourceCPU: resource.MustParse("8"), v1.ResourcePods: resource.MustParse("110")}
		objects = append(objects, &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{
				v1.LabelHostname: name, v1.LabelTopologyZone: fmt.Sprint("zone-", i+1),
			}},
			Status: v1.NodeStatus{Capacity: room, Allocatable: room},
		})
	}
	c := &cluster{ctx: ctx, stop: stop, client: fake.NewClientset(objects...), recorder: &recorder{failed: map[string]bool{}}}
	c.client.PrependReactor("create", "pods", c.bind)
	factory := scheduler.NewInformerFactory(c.client, 0)
	made, err := scheduler.New(ctx, c.client, factory, nil, func(string) events.EventRecorderLogger { return c.recorder })
	must(err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	must(made.WaitForHandlersSync(ctx))
	c.scheduler = made
	return c
}

// run lets the scheduler schedule until the function that it returns is called.
func (c *cluster) run() func() {
	ctx, stop := context.WithCancel(c.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.scheduler.Run(ctx)
	}()
	return func() {
		stop()
		<-ended
	}
}

// bind does what the API server does with a binding.
func (c *cluster) bind(action clienttesting.Action) (bool, runtime.Object, error) {
	if action.GetSubresource() != "binding" {
		return false, nil, nil
	}
	binding := action.(clienttesting.CreateAction).GetObject().(*v1.Binding)
	pods := v1.SchemeGroupVersion.WithResource("pods")
	stored, err := c.client.Tracker().Get(pods, binding.Namespace, binding.Name)
	if err != nil {
		return true, nil, err
	}
	pod := stored.DeepCopyObject().(*v1.Pod)
	pod.Spec.NodeName, pod.Status.NominatedNodeName = binding.Target.Name, ""
	return true, binding, c.client.Tracker().Update(pods, pod, binding.Namespace)
}

// create makes pods, all four unless some are named, and returns when the scheduler has them in its queue, in this order, or has taken them.
func (c *cluster) create(nominations map[string]string, preemption v1.PreemptionPolicy, some ...string) {
	if len(some) == 0 {
		some = names
	}
	for i, name := range some {
		_, err := c.client.CoreV1().Pods(namespace).Create(c.ctx, &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID(name), Labels: map[string]string{"app": "web"}},
			Spec: v1.PodSpec{
				SchedulerName:    v1.DefaultSchedulerName,
				PreemptionPolicy: &preemption,
				Containers:       []v1.Container{{Name: "main", Image: "web:1"}},
				TopologySpreadConstraints: []v1.TopologySpreadConstraint{{
					TopologyKey: v1.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: v1.DoNotSchedule,
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
				}},
			},
			Status: v1.PodStatus{Phase: v1.PodPending, NominatedNodeName: nominations[name]},
		}, metav1.CreateOptions{})
		must(err)
		if len(some) > 1 {
			c.await(func() bool { waiting, _ := c.scheduler.SchedulingQueue.PendingPods(); return len(waiting) == i+1 })
		}
	}
}

// verdicts tells of every pod and node what the filters of the scheduler say, with the nominations that stand.
func (c *cluster) verdicts() {
	profile := c.scheduler.Profiles[v1.DefaultSchedulerName]
	snapshot := profile.SnapshotSharedLister().(*internalcache.Snapshot)
	must(c.scheduler.Cache.UpdateSnapshot(klog.FromContext(c.ctx), snapshot))
	for _, name := range names {
		pod := c.pod(name)
		state := framework.NewCycleState()
		_, status, _ := profile.RunPreFilterPlugins(c.ctx, state, pod)
		must(status.AsError())
		for _, node := range nodes {
			info, err := snapshot.Get(node)
			must(err)
			said := "fits"
			if status := profile.RunFilterPluginsWithNominatedPods(c.ctx, state, pod, info); !status.IsSuccess() {
				said = "refused by " + status.Plugin() + ": " + status.Message()
			}
			fmt.Printf("  %s on %s: %s\n", name, node, said)
		}
	}
}

// outcome tells which pods failed at least once or lost their nomination, and how many are bound where.
func (c *cluster) outcome() {
	count := map[string]int{}
	for _, name := range names {
		count[c.pod(name).Spec.NodeName]++
	}
	fmt.Printf("  failed attempts: [%s]; nominations taken off: [%s]\n", strings.Join(c.refused(), " "), strings.Join(c.bereft(), " "))
	fmt.Printf("  bound: %d to node-1, %d to node-2; pending: %d\n", count["node-1"], count["node-2"], count[""])
}

// bereft are the pods whose nomination the scheduler has taken off.
func (c *cluster) bereft() []string {
	bereft := []string{}
	for _, action := range c.client.Actions() {
		if patch, ours := action.(clienttesting.PatchAction); ours && strings.Contains(string(patch.GetPatch()), `"nominatedNodeName":null`) {
			bereft = append(bereft, patch.GetName())
		}
	}
	return bereft
}

func (c *cluster) pod(name string) *v1.Pod {
	pod, err := c.client.CoreV1().Pods(namespace).Get(c.ctx, name, metav1.GetOptions{})
	must(err)
	return pod
}

func (c *cluster) bound() int {
	pods, err := c.client.CoreV1().Pods(namespace).List(c.ctx, metav1.ListOptions{})
	must(err)
	return len(slices.DeleteFunc(pods.Items, func(pod v1.Pod) bool { return pod.Spec.NodeName == "" }))
}

// refused are the pods with a failed attempt.
func (c *cluster) refused() []string {
	refused := []string{}
	for _, name := range names {
		if c.recorder.has(name) {
			refused = append(refused, name)
		}
	}
	return refused
}

func (c *cluster) await(done func() bool) {
	for !done() {
		if c.ctx.Err() != nil {
			log.Fatal("the scheduler did not get there within a minute")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// recorder remembers the pods with a failed attempt.
type recorder struct {
	events.FakeRecorder
	lock   sync.Mutex
	failed map[string]bool
}

func (r *recorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

func (r *recorder) Eventf(regarding, _ runtime.Object, _, reason, _, _ string, _ ...any) {
	if pod, ours := regarding.(*v1.Pod); ours && reason == "FailedScheduling" {
		r.lock.Lock()
		defer r.lock.Unlock()
		r.failed[pod.Name] = true
	}
}

func (r *recorder) has(name string) bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.failed[name]
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
a and b nominated to node-1, c and d to node-2; the verdicts:
  a on node-1: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  a on node-2: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  b on node-1: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  b on node-2: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  c on node-1: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  c on node-2: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  d on node-1: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  d on node-2: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
no nominations, scheduled one after another:
  a is bound
  b is bound
  c is bound
  d is bound
  failed attempts: []; nominations taken off: []
  bound: 2 to node-1, 2 to node-2; pending: 0
the same nominations, scheduled:
  failed attempts: [a]; nominations taken off: [a]
  bound: 2 to node-1, 2 to node-2; pending: 0
the same nominations of pods with preemptionPolicy Never, scheduled:
  failed attempts: [a b c d]; nominations taken off: []
  bound: 0 to node-1, 0 to node-2; pending: 4
  a is still nominated to "node-1"
  b is still nominated to "node-1"
  c is still nominated to "node-2"
  d is still nominated to "node-2"
and the verdicts after that:
  a on node-1: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  a on node-2: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  b on node-1: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  b on node-2: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  c on node-1: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  c on node-2: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  d on node-1: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
  d on node-2: refused by PodTopologySpread: node(s) didn't match pod topology spread constraints
TEXT

go version
CGO_ENABLED=0 GOWORK=off GOFLAGS=-mod=mod go build -trimpath -gcflags=all=-dwarf=false -ldflags='-s -w' -o finding .
./finding | tee seen
if ! diff -u expected seen; then
    echo 'The behaviour is not the one that this script was written for.' >&2
    exit 1
fi
echo 'As expected: pods under a hard spread refuse one another while they are nominated.'
