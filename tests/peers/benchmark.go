package main

// Karpenter's own benchmark as a problem file: its fake instance types, its one pool without an effective limit, and pods drawn from
// the distributions of its scheduling_benchmark_test.go, with a seed of ours so that both solvers get the same pods.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
)

// The distributions: each value as likely as any other of its row.
var (
	milliCPUs   = []int{100, 250, 500, 1000, 1500}
	mebibytes   = []int{100, 256, 512, 1024, 2048, 4096}
	labelValues = []string{"a", "b", "c", "d", "e", "f", "g"}
)

type benchmark struct {
	draw *rand.Rand
	pods []any
}

func writeBenchmark(output io.Writer, mix string, pods, instanceTypes int, seed int64) error {
	b := &benchmark{draw: rand.New(rand.NewSource(seed))}
	if mix == "preferences" {
		b.addPreferring(pods)
	} else {
		b.addDiverse(pods)
	}
	items := make([]any, 0, len(b.pods)+1)
	for _, object := range append([]any{benchmarkPool()}, b.pods...) {
		plain, err := withoutNulls(object)
		if err != nil {
			return err
		}
		items = append(items, plain)
	}
	buffered := bufio.NewWriter(output)
	err := json.NewEncoder(buffered).Encode(map[string]any{
		"apiVersion": "v1", "kind": "List", "items": items,
		"plimsoll": map[string]any{
			"apiVersion": "plimsoll.dev/v1alpha1", "kind": "Snapshot", "time": "2026-01-01T00:00:00Z", "seed": seed,
			"catalogue": describe(fake.InstanceTypes(instanceTypes)),
		},
	})
	if err != nil {
		return err
	}
	return buffered.Flush()
}

// addDiverse makes a fifth of each kind; what is left over by the division is generic.
func (b *benchmark) addDiverse(count int) {
	share := count / 5
	b.add(share, b.plain)
	b.add(share, func(pod *corev1.Pod) { b.spread(pod, corev1.LabelTopologyZone) })
	b.add(share, func(pod *corev1.Pod) { b.spread(pod, corev1.LabelHostname) })
	b.add(share, b.zonalAffinity)
	b.add(share, b.hostAntiAffinity)
	b.add(count-5*share, b.plain)
}

func (b *benchmark) add(count int, shape func(*corev1.Pod)) {
	for range count {
		pod := b.pod(b.requests())
		shape(pod)
	}
}

func (b *benchmark) plain(pod *corev1.Pod) { pod.Labels = b.label("my-label") }

// spread carries a label and selects by another draw of it: a pod need not count for its own constraint.
func (b *benchmark) spread(pod *corev1.Pod, topologyKey string) {
	pod.Labels = b.label("my-label")
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: topologyKey, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: b.label("my-label")},
	}}
}

// zonalAffinity is to the pod's own label (spelled as upstream spells it), so that the first of a kind may go anywhere.
func (b *benchmark) zonalAffinity(pod *corev1.Pod) {
	pod.Labels = b.label("my-affininity")
	pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term(pod.Labels, corev1.LabelTopologyZone)},
	}}
}

func (b *benchmark) hostAntiAffinity(pod *corev1.Pod) {
	pod.Labels = map[string]string{"app": "nginx"}
	pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term(pod.Labels, corev1.LabelHostname)},
	}}
}

// addPreferring makes pods of one size that prefer a zone, to be alone in a zone (more pods than zones: it cannot be), and to be alone on a node.
func (b *benchmark) addPreferring(count int) {
	size := b.requests()
	labels := map[string]string{"app": "nginx"}
	for range count {
		pod := b.pod(size)
		pod.Labels = labels
		pod.Spec.Affinity = &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
				Weight: 1,
				Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"test-zone-1"}},
				}},
			}}},
			PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 10, PodAffinityTerm: term(labels, corev1.LabelTopologyZone)},
				{Weight: 1, PodAffinityTerm: term(labels, corev1.LabelHostname)},
			}},
		}
	}
}

func term(labels map[string]string, topologyKey string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchLabels: labels}, TopologyKey: topologyKey}
}

// pod as kube-scheduler leaves one that it could not place.
func (b *benchmark) pod(requests corev1.ResourceList) *corev1.Pod {
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceDefault, Name: fmt.Sprintf("pod-%06d", len(b.pods)), UID: b.uid()},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "pause", Resources: corev1.ResourceRequirements{Requests: requests},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		}}},
	}
	b.pods = append(b.pods, pod)
	return pod
}

// uid is drawn, as upstream's are: the queue breaks ties of size by it, so equal sizes of different kinds come mixed.
func (b *benchmark) uid() types.UID {
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x",
		b.draw.Uint32(), b.draw.Intn(1<<16), b.draw.Intn(1<<12), b.draw.Intn(1<<12), b.draw.Int63n(1<<48)))
}

func (b *benchmark) requests() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(fmt.Sprintf("%dm", milliCPUs[b.draw.Intn(len(milliCPUs))])),
		corev1.ResourceMemory: resource.MustParse(fmt.Sprintf("%dMi", mebibytes[b.draw.Intn(len(mebibytes))])),
	}
}

func (b *benchmark) label(key string) map[string]string {
	return map[string]string{key: labelValues[b.draw.Intn(len(labelValues))]}
}

// withoutNulls drops what Go's types print for absent fields, which a strict reader would take for a mistake.
func withoutNulls(object any) (map[string]any, error) {
	content, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var plain map[string]any
	if err := json.Unmarshal(content, &plain); err != nil {
		return nil, err
	}
	dropNulls(plain)
	return plain, nil
}

func dropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if inner == nil {
				delete(value, key)
			}
			dropNulls(inner)
		}
	case []any:
		for _, inner := range value {
			dropNulls(inner)
		}
	}
}

func benchmarkPool() *v1.NodePool {
	pool := defaultPool()
	pool.TypeMeta = metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodePool"}
	// An empty list, since a definition of the API requires one.
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	pool.Spec.Limits = v1.Limits{
		corev1.ResourceCPU:    resource.MustParse("10000000"),
		corev1.ResourceMemory: resource.MustParse("10000000Gi"),
	}
	return pool
}
