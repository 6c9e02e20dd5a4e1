// A cluster as the scheduler sees it, and what may be asked about it.
package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// cluster is a scheduler over objects in memory.
type cluster struct {
	ctx       context.Context
	stop      context.CancelFunc
	scheduler *scheduler.Scheduler
	framework framework.Framework
	snapshot  *internalcache.Snapshot
	informers map[reflect.Type]*direct
	binder    *binder
	daemons   []*apps.DaemonSet
	version   int
}

// newCluster wires up a scheduler and hands it the objects. The objects are shared with other clusters: nothing writes to them.
func newCluster(objects []loadedObject) (*cluster, error) {
	ctx, stop := context.WithCancel(context.Background())
	c := &cluster{ctx: ctx, stop: stop, informers: map[reflect.Type]*direct{}, version: len(objects)}
	client := &fake.Clientset{}
	factory := informers.NewSharedInformerFactory(client, 0)
	for _, example := range watched {
		informer := newDirect(example)
		c.informers[reflect.TypeOf(example)] = informer
		// The factory's own accessors find ours, since they ask for it by the type of its objects.
		factory.InformerFor(example, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return informer })
	}
	recorders := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	made, err := scheduler.New(ctx, client, factory, nil, recorders)
	if err != nil {
		return nil, fmt.Errorf("making a scheduler: %w", err)
	}
	c.scheduler, c.framework = made, made.Profiles[v1.DefaultSchedulerName]
	snapshot, ours := c.framework.SnapshotSharedLister().(*internalcache.Snapshot)
	if !ours {
		return nil, errors.New("the scheduler keeps its snapshot in an unknown form")
	}
	c.snapshot = snapshot
	if c.binder, err = newBinder(c, client, factory); err != nil {
		return nil, err
	}
	for _, object := range objects {
		if daemons, ours := object.(*apps.DaemonSet); ours {
			c.daemons = append(c.daemons, daemons)
			continue
		}
		if err := c.informer(object).put(object); err != nil {
			return nil, err
		}
	}
	return c, c.refresh()
}

func (c *cluster) informer(object runtime.Object) *direct { return c.informers[reflect.TypeOf(object)] }

// write puts a changed object in the place of its predecessor.
func (c *cluster) write(object loadedObject) error {
	c.version++
	object.SetResourceVersion(strconv.Itoa(c.version))
	return c.informer(object).put(object)
}

// refresh brings what plugins read up to date with all that was written.
func (c *cluster) refresh() error {
	return c.scheduler.Cache.UpdateSnapshot(klog.FromContext(c.ctx), c.snapshot)
}

// pod is the pod of that `namespace/name`.
func (c *cluster) pod(name string) (*v1.Pod, error) {
	found, exists, err := c.informer(&v1.Pod{}).GetIndexer().GetByKey(name)
	if err != nil || !exists {
		return nil, fmt.Errorf("there is no pod %s", name)
	}
	return found.(*v1.Pod), nil
}

// cycle is one pod's way through the filters: what PreFilter left behind, and on which nodes Filter may be asked.
type cycle struct {
	cluster *cluster
	pod     *v1.Pod
	state   fwk.CycleState
	nodes   *fwk.PreFilterResult
	refused []string
}

func (c *cluster) cycle(pod *v1.Pod) (*cycle, error) {
	made := &cycle{cluster: c, pod: pod, state: framework.NewCycleState()}
	nodes, status, _ := c.framework.RunPreFilterPlugins(c.ctx, made.state, pod)
	if !status.IsSuccess() && !status.IsRejected() {
		return nil, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, status.AsError())
	}
	made.nodes, made.refused = nodes, reasons(status)
	return made, nil
}

// on is why the node refuses the pod; empty where it takes it.
func (c *cycle) on(node string) ([]string, error) {
	if c.refused != nil {
		return c.refused, nil
	}
	if !c.nodes.AllNodes() && !c.nodes.NodeNames.Has(node) {
		return []string{"a filter before the filters leaves the node out"}, nil
	}
	info, err := c.cluster.snapshot.Get(node)
	if err != nil {
		return nil, err
	}
	status := c.cluster.framework.RunFilterPlugins(c.cluster.ctx, c.state, c.pod, info)
	if !status.IsSuccess() && !status.IsRejected() {
		return nil, fmt.Errorf("pod %s/%s on %s: %w", c.pod.Namespace, c.pod.Name, node, status.AsError())
	}
	return reasons(status), nil
}

// reasons is nil for a success; a refusal without words is told by its plugin.
func reasons(status *fwk.Status) []string {
	if status.IsSuccess() {
		return nil
	}
	if said := status.Reasons(); len(said) > 0 {
		return said
	}
	return []string{"refused by " + status.Plugin()}
}

// place binds pods in the given order and tells of each why its node refuses it; one that is refused is put there all the same.
func (c *cluster) place(wanted []placement) ([]placement, error) {
	told := make([]placement, 0, len(wanted))
	for _, one := range wanted {
		pod, err := c.pod(one.Pod)
		if err != nil {
			return nil, err
		}
		cycle, err := c.cycle(pod)
		if err != nil {
			return nil, err
		}
		refused, err := cycle.on(one.Node)
		if err != nil {
			return nil, err
		}
		told = append(told, placement{Pod: one.Pod, Node: one.Node, Reasons: refused})
		if err := c.put(pod, one.Node); err != nil {
			return nil, err
		}
	}
	return told, nil
}

// put writes the pod to the node, as a binding would, its volumes first.
func (c *cluster) put(pod *v1.Pod, node string) error {
	if err := c.binder.bind(pod, node); err != nil {
		return err
	}
	bound := pod.DeepCopy()
	bound.Spec.NodeName, bound.Status.NominatedNodeName = node, ""
	if err := c.write(bound); err != nil {
		return err
	}
	return c.refresh()
}

// fits tells of every pair of a pod and a node that is there why the node refuses the pod.
func (c *cluster) fits(pods []string) ([]placement, error) {
	told := []placement{}
	for _, name := range pods {
		pod, err := c.pod(name)
		if err != nil {
			return nil, err
		}
		cycle, err := c.cycle(pod)
		if err != nil {
			return nil, err
		}
		nodes, err := c.snapshot.List()
		if err != nil {
			return nil, err
		}
		for _, node := range nodes {
			refused, err := cycle.on(node.Node().Name)
			if err != nil {
				return nil, err
			}
			told = append(told, placement{Pod: name, Node: node.Node().Name, Reasons: refused})
		}
	}
	return told, nil
}

// bind lets the scheduler choose for each pod once, in the given order, with nominations as they are given and no others.
// A pod that finds no place loses its nomination, as preemption that finds no victim takes it off; it is answered with the reason. One
// that may not preempt keeps it.
func (c *cluster) bind(order []string, nominations map[string]string) ([]placement, error) {
	for _, name := range order {
		pod, err := c.pod(name)
		if err != nil {
			return nil, err
		}
		nominated := pod.DeepCopy()
		nominated.Status.NominatedNodeName = nominations[name]
		if err := c.write(nominated); err != nil {
			return nil, err
		}
	}
	told := make([]placement, 0, len(order))
	for _, name := range order {
		node, why, err := c.schedule(name)
		if err != nil {
			return nil, err
		}
		told = append(told, placement{Pod: name, Node: node, Reasons: why})
	}
	return told, nil
}

func (c *cluster) schedule(name string) (string, []string, error) {
	pod, err := c.pod(name)
	if err != nil {
		return "", nil, err
	}
	podInfo, err := framework.NewPodInfo(pod)
	if err != nil {
		return "", nil, fmt.Errorf("pod %s: %w", name, err)
	}
	queued := &framework.QueuedPodInfo{PodInfo: podInfo}
	found, err := c.scheduler.SchedulePod(c.ctx, c.framework, framework.NewCycleState(), queued)
	var unfit *framework.FitError
	if errors.As(err, &unfit) || errors.Is(err, scheduler.ErrNoNodesAvailable) {
		return "", []string{err.Error()}, c.dropNomination(pod)
	}
	if err != nil {
		return "", nil, fmt.Errorf("pod %s: %w", name, err)
	}
	return found.SuggestedHost, nil, c.put(pod, found.SuggestedHost)
}

// dropNomination takes the nomination off a pod that waits; one that may not preempt keeps it, since preemption never looks at it.
func (c *cluster) dropNomination(pod *v1.Pod) error {
	policy := pod.Spec.PreemptionPolicy
	if pod.Status.NominatedNodeName == "" || policy != nil && *policy == v1.PreemptNever {
		return nil
	}
	waiting := pod.DeepCopy()
	waiting.Status.NominatedNodeName = ""
	return c.write(waiting)
}
