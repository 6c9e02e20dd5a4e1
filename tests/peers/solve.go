package main

// One scheduling round of Karpenter: set up as its provisioner and its own benchmark do, timed from the construction of topology and
// scheduler to the end of Solve. Reading the file and filling the cluster state come before the clock, pricing the result after it.

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sort"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/test"
	"sigs.k8s.io/karpenter/pkg/utils/daemonset"
)

type settings struct {
	ignorePreferences bool
	workers           int
	placements        bool
}

func solve(p *problem, s settings) (*figures, error) {
	ctx := options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), test.Options())
	pending := make([]client.Object, 0, len(p.pending))
	for _, pod := range p.pending {
		pending = append(pending, pod)
	}
	reader := newStore(append(pending, p.others...))
	cluster, nodes, err := fillCluster(ctx, p, reader)
	if err != nil {
		return nil, err
	}
	pods, volumes := volumeRequirements(ctx, p, reader)
	catalogues := map[string][]*cloudprovider.InstanceType{}
	for _, pool := range p.pools {
		catalogues[pool.Name] = p.catalogue
	}
	daemons := daemonPods(p.daemonSets)
	choices := []scheduling.Options{scheduling.DisableReservedCapacityFallback, scheduling.NumConcurrentReconciles(s.workers)}
	if s.ignorePreferences {
		choices = append(choices, scheduling.IgnorePreferences)
	}

	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, processorStart := time.Now(), processorSeconds()
	topology, err := scheduling.NewTopology(ctx, reader, cluster, nodes, p.pools, catalogues, pods, choices...)
	if err != nil {
		return nil, fmt.Errorf("building the topology: %w", err)
	}
	scheduler := scheduling.NewScheduler(ctx, reader, p.pools, cluster, nodes, topology, catalogues, daemons,
		events.NewRecorder(&record.FakeRecorder{}), clock.RealClock{}, volumes, nil, choices...)
	results, err := scheduler.Solve(ctx, pods)
	spent := effort{seconds: time.Since(start).Seconds(), processorSeconds: processorSeconds() - processorStart}
	runtime.ReadMemStats(&after)
	if err != nil {
		return nil, fmt.Errorf("solving: %w", err)
	}
	spent.allocatedBytes = after.TotalAlloc - before.TotalAlloc
	return report(p, results, s, spent)
}

// fillCluster tells the cluster state what its informers would have: claims, then nodes, which bring their bound pods, then pods.
func fillCluster(ctx context.Context, p *problem, reader client.Client) (*state.Cluster, []*state.StateNode, error) {
	cluster := state.NewCluster(clock.RealClock{}, reader, fake.NewCloudProvider())
	for _, claim := range p.claims {
		cluster.UpdateNodeClaim(claim)
	}
	known := map[string]bool{}
	for _, node := range p.nodes {
		// A node of a pool without a provider id would be waited for; a file means it to be there.
		if node.Spec.ProviderID == "" {
			node.Spec.ProviderID = node.Name
		}
		if err := cluster.UpdateNode(ctx, node); err != nil {
			return nil, nil, fmt.Errorf("node %s: %w", node.Name, err)
		}
		known[node.Name] = true
	}
	for _, object := range p.others {
		pod, ok := object.(*corev1.Pod)
		if !ok || !known[pod.Spec.NodeName] {
			continue
		}
		if err := cluster.UpdatePod(ctx, pod); err != nil {
			return nil, nil, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	nodes := cluster.DeepCopyNodes().Active()
	sort.Slice(nodes, func(i, j int) bool { return nodes[i].Name() < nodes[j].Name() })
	return cluster, nodes, nil
}

// volumeRequirements leaves out pods whose volumes cannot be resolved, as the provisioner does; they count as unscheduled.
func volumeRequirements(ctx context.Context, p *problem, reader client.Client) ([]*corev1.Pod, map[types.UID][]requirements.Requirements) {
	lookup := scheduling.NewVolumeTopology(reader)
	found := map[types.UID][]requirements.Requirements{}
	var pods []*corev1.Pod
	for _, pod := range p.pending {
		alternatives, err := lookup.GetRequirements(ctx, pod)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s/%s: %v\n", pod.Namespace, pod.Name, err)
			continue
		}
		if len(alternatives) > 0 {
			found[pod.UID] = alternatives
		}
		pods = append(pods, pod)
	}
	return pods, found
}

func daemonPods(sets []*appsv1.DaemonSet) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, set := range sets {
		pods = append(pods, daemonset.PodForDaemonSet(set))
	}
	return pods
}
