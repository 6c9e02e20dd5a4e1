package main

// The objects of a problem behind the reading half of a Kubernetes client, as an informer's cache would offer them: lookups
// by name, pods by namespace and label or by node. Nothing is copied on a list, which favours Karpenter.

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// store implements what a scheduling round calls of a client; the embedded interface is empty, so that a call that no code
// foresaw ends the program instead of answering wrongly.
type store struct {
	client.Client
	objects map[key]client.Object
	spaces  map[string][]*corev1.Pod
	nodes   map[string][]*corev1.Pod
	names   []*corev1.Namespace
}

type key struct {
	kind reflect.Type
	name client.ObjectKey
}

func newStore(objects []client.Object) *store {
	result := &store{objects: map[key]client.Object{}, spaces: map[string][]*corev1.Pod{}, nodes: map[string][]*corev1.Pod{}}
	for _, object := range objects {
		result.objects[key{reflect.TypeOf(object), client.ObjectKeyFromObject(object)}] = object
		switch object := object.(type) {
		case *corev1.Pod:
			result.spaces[object.Namespace] = append(result.spaces[object.Namespace], object)
			result.nodes[object.Spec.NodeName] = append(result.nodes[object.Spec.NodeName], object)
		case *corev1.Namespace:
			result.names = append(result.names, object)
		}
	}
	return result
}

func (s *store) Get(_ context.Context, name client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	found, ok := s.objects[key{reflect.TypeOf(into), name}]
	if !ok {
		// Objects of the whole cluster are asked for with a pod's namespace too, which a server does not look at.
		found, ok = s.objects[key{reflect.TypeOf(into), client.ObjectKey{Name: name.Name}}]
	}
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: fmt.Sprintf("%T", into)}, name.String())
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
	return nil
}

func (s *store) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	var wanted client.ListOptions
	wanted.ApplyOptions(options)
	selector := wanted.LabelSelector
	if selector == nil {
		selector = labels.Everything()
	}
	switch into := into.(type) {
	case *corev1.PodList:
		for _, pod := range s.podsOf(wanted.Namespace, wanted.FieldSelector) {
			if selector.Matches(labels.Set(pod.Labels)) {
				into.Items = append(into.Items, *pod)
			}
		}
	case *corev1.NamespaceList:
		for _, namespace := range s.names {
			if selector.Matches(labels.Set(namespace.Labels)) {
				into.Items = append(into.Items, *namespace)
			}
		}
	default:
		return fmt.Errorf("the scheduler lists %T, which a problem does not hold", into)
	}
	return nil
}

func (s *store) podsOf(namespace string, field fields.Selector) []*corev1.Pod {
	if field != nil {
		if node, ok := field.RequiresExactMatch("spec.nodeName"); ok {
			return s.nodes[node]
		}
	}
	if namespace != "" {
		return s.spaces[namespace]
	}
	var all []*corev1.Pod
	for _, pods := range s.spaces {
		all = append(all, pods...)
	}
	return all
}
