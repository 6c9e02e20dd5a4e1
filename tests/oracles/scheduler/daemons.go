// Daemons' pods, made and placed as their controller and the scheduler would, and fresh nodes that are tried one at a time.
package main

import (
	"encoding/json"
	"fmt"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	defaults "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/daemon/util"
)

// freshNode is a node that might be bought, with what comes with it.
type freshNode struct {
	Node json.RawMessage   `json:"node"`
	With []json.RawMessage `json:"with"`
}

// startDaemons starts the pods that daemons want on the named nodes and answers with those that their node refuses, which stay pending.
func (c *cluster) startDaemons(nodes []string) ([]placement, error) {
	told := []placement{}
	for _, name := range nodes {
		info, err := c.snapshot.Get(name)
		if err != nil {
			return nil, err
		}
		_, refused, err := c.daemonsOn(info.Node())
		if err != nil {
			return nil, err
		}
		told = append(told, refused...)
	}
	return told, nil
}

// daemonsOn starts the daemons' pods of a node: the pods that run, and those that the node refuses.
func (c *cluster) daemonsOn(node *v1.Node) ([]*v1.Pod, []placement, error) {
	running, refused := []*v1.Pod{}, []placement{}
	for _, set := range c.daemons {
		if wanted, _ := daemon.NodeShouldRunDaemonPod(klog.FromContext(c.ctx), node, set); !wanted {
			continue
		}
		template := util.CreatePodTemplate(set.Spec.Template, nil, "")
		pod := &v1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		pod.Namespace, pod.Name = set.Namespace, set.Name+"-"+node.Name
		pod.UID = types.UID("daemon/" + pod.Namespace + "/" + pod.Name)
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, apps.SchemeGroupVersion.WithKind("DaemonSet"))}
		pod.Spec.Affinity = util.ReplaceDaemonSetPodNodeNameNodeAffinity(pod.Spec.Affinity, node.Name)
		defaults.SetObjectDefaults_Pod(pod)
		cycle, err := c.cycle(pod)
		if err != nil {
			return nil, nil, err
		}
		why, err := cycle.on(node.Name)
		if err != nil {
			return nil, nil, err
		}
		if why != nil {
			refused = append(refused, placement{Pod: pod.Namespace + "/" + pod.Name, Node: node.Name, Reasons: why})
			continue
		}
		if err := c.put(pod, node.Name); err != nil {
			return nil, nil, err
		}
		running = append(running, pod)
	}
	return running, refused, nil
}

// fresh tries the pods on each of the nodes, one node at a time as if it alone had been bought, with its daemons' pods on it.
func (c *cluster) fresh(pods []string, nodes []freshNode) ([]placement, error) {
	told := []placement{}
	for position, one := range nodes {
		objects, err := decode(append([]json.RawMessage{one.Node}, one.With...))
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", position, err)
		}
		some, err := c.freshNode(pods, objects)
		if err != nil {
			return nil, err
		}
		told = append(told, some...)
	}
	return told, nil
}

func (c *cluster) freshNode(pods []string, objects []loadedObject) ([]placement, error) {
	node, ours := objects[0].(*v1.Node)
	if !ours {
		return nil, fmt.Errorf("%s is no node", objects[0].GetName())
	}
	for _, object := range objects {
		if err := c.write(object); err != nil {
			return nil, err
		}
	}
	if err := c.refresh(); err != nil {
		return nil, err
	}
	daemons, _, err := c.daemonsOn(node)
	if err != nil {
		return nil, err
	}
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
		refused, err := cycle.on(node.Name)
		if err != nil {
			return nil, err
		}
		told = append(told, placement{Pod: name, Node: node.Name, Reasons: refused})
	}
	return told, c.remove(daemons, objects)
}

// remove takes a tried node away again with all that came with it.
func (c *cluster) remove(pods []*v1.Pod, objects []loadedObject) error {
	for _, pod := range pods {
		bound, err := c.pod(pod.Namespace + "/" + pod.Name)
		if err != nil {
			return err
		}
		if err := c.informer(bound).drop(bound); err != nil {
			return err
		}
	}
	for _, object := range objects {
		if err := c.informer(object).drop(object); err != nil {
			return err
		}
	}
	return c.refresh()
}
