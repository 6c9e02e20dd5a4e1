package main

// A problem: what the scheduler is given, read from a file and completed as an API server would have completed it.

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	nodepoolutils "sigs.k8s.io/karpenter/pkg/utils/nodepool"
)

// problem holds pending pods in the order of the file, pools by weight, and everything else as objects to look up.
type problem struct {
	pending    []*corev1.Pod
	pools      []*v1.NodePool
	claims     []*v1.NodeClaim
	nodes      []*corev1.Node
	daemonSets []*appsv1.DaemonSet
	others     []client.Object
	catalogue  []*cloudprovider.InstanceType
}

type problemFile struct {
	Items    []json.RawMessage `json:"items"`
	Plimsoll struct {
		Catalogue catalogue `json:"catalogue"`
	} `json:"plimsoll"`
}

func readProblem(path string) (*problem, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if extension := filepath.Ext(path); extension == ".yaml" || extension == ".yml" {
		if content, err = yaml.YAMLToJSON(content); err != nil {
			return nil, err
		}
	}
	return parseProblem(content)
}

func parseProblem(content []byte) (*problem, error) {
	var file problemFile
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, err
	}
	result := &problem{}
	for index, item := range file.Items {
		if err := result.add(item); err != nil {
			return nil, fmt.Errorf("items[%d]: %w", index, err)
		}
	}
	var err error
	if result.catalogue, err = file.Plimsoll.Catalogue.instanceTypes(); err != nil {
		return nil, err
	}
	if len(result.pools) == 0 {
		result.pools = []*v1.NodePool{defaultPool()}
	}
	nodepoolutils.OrderByWeight(result.pools)
	return result, nil
}

// add sorts one object into its place; kinds that a scheduling round does not look at are left out.
func (p *problem) add(item json.RawMessage) error {
	var kind struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(item, &kind); err != nil {
		return err
	}
	object := newObject(kind.Kind)
	if object == nil {
		return nil
	}
	if err := json.Unmarshal(item, object); err != nil {
		return fmt.Errorf("%s: %w", kind.Kind, err)
	}
	switch object.(type) {
	case *corev1.Pod, *corev1.PersistentVolumeClaim, *appsv1.DaemonSet:
		if object.GetNamespace() == "" {
			object.SetNamespace(corev1.NamespaceDefault)
		}
	}
	// What follows looks pods up by uid; hand-written files have none.
	if object.GetUID() == "" {
		object.SetUID(types.UID(kind.Kind + "/" + object.GetNamespace() + "/" + object.GetName()))
	}
	switch object := object.(type) {
	case *corev1.Pod:
		if isPending(object) {
			p.pending = append(p.pending, object)
		} else {
			p.others = append(p.others, object)
		}
	case *v1.NodePool:
		if object.Spec.Template.Spec.NodeClassRef == nil {
			object.Spec.Template.Spec.NodeClassRef = defaultClass()
		}
		if object.Spec.Replicas == nil && object.DeletionTimestamp.IsZero() {
			p.pools = append(p.pools, object)
		}
	case *v1.NodeClaim:
		p.claims = append(p.claims, object)
	case *corev1.Node:
		p.nodes = append(p.nodes, object)
		p.others = append(p.others, object)
	case *appsv1.DaemonSet:
		p.daemonSets = append(p.daemonSets, object)
	default:
		p.others = append(p.others, object)
	}
	return nil
}

// empty is an object of each kind that is read, to be decoded into.
var empty = map[string]func() client.Object{
	"Pod":                   func() client.Object { return &corev1.Pod{} },
	"Node":                  func() client.Object { return &corev1.Node{} },
	"NodePool":              func() client.Object { return &v1.NodePool{} },
	"NodeClaim":             func() client.Object { return &v1.NodeClaim{} },
	"DaemonSet":             func() client.Object { return &appsv1.DaemonSet{} },
	"Namespace":             func() client.Object { return &corev1.Namespace{} },
	"PersistentVolumeClaim": func() client.Object { return &corev1.PersistentVolumeClaim{} },
	"PersistentVolume":      func() client.Object { return &corev1.PersistentVolume{} },
	"StorageClass":          func() client.Object { return &storagev1.StorageClass{} },
	"CSINode":               func() client.Object { return &storagev1.CSINode{} },
}

func newObject(kind string) client.Object {
	if create, found := empty[kind]; found {
		return create()
	}
	return nil
}

// isPending says whether a pod asks for a node. The controller also waits for kube-scheduler's verdict; a file may leave that out.
func isPending(pod *corev1.Pod) bool {
	if pod.Spec.NodeName != "" || !pod.DeletionTimestamp.IsZero() || len(pod.Spec.SchedulingGates) > 0 ||
		pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return false
	}
	for _, owner := range pod.OwnerReferences {
		if owner.Kind == "DaemonSet" || owner.Kind == "Node" {
			return false
		}
	}
	return true
}

func defaultPool() *v1.NodePool {
	pool := &v1.NodePool{}
	pool.Name = "default"
	pool.UID = "NodePool//default"
	pool.Spec.Template.Spec.NodeClassRef = defaultClass()
	return pool
}

func defaultClass() *v1.NodeClassReference {
	return &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
}
