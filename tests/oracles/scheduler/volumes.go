// Claims are bound when their pod is: to the volumes that the scheduler's own binder chose, and, where it asks a driver for a new
// one, to a volume made as the driver's provisioner would, tied to the node's segment of the driver's topology.
package main

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
)

const (
	selectedNode  = "volume.kubernetes.io/selected-node"
	bindCompleted = "pv.kubernetes.io/bind-completed"
)

type binder struct {
	cluster *cluster
	volumes volumebinding.SchedulerVolumeBinder
	// An ended context: the binder writes its decisions and does not wait for a controller to confirm them.
	ended context.Context
}

func newBinder(c *cluster, client *fake.Clientset, factory informers.SharedInformerFactory) (*binder, error) {
	ended, end := context.WithCancel(c.ctx)
	end()
	core, stored := factory.Core().V1(), factory.Storage().V1()
	volumes, err := volumebinding.NewVolumeBinder(klog.FromContext(c.ctx), client, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate),
		core.Pods(), core.Nodes(), stored.CSINodes(), core.PersistentVolumeClaims(), core.PersistentVolumes(), stored.StorageClasses(),
		volumebinding.CapacityCheck{CSIDriverInformer: stored.CSIDrivers(), CSIStorageCapacityInformer: stored.CSIStorageCapacities()}, time.Second)
	if err != nil {
		return nil, fmt.Errorf("making a volume binder: %w", err)
	}
	b := &binder{cluster: c, volumes: volumes, ended: ended}
	client.AddReactor("update", "persistentvolumes", func(action clienttesting.Action) (bool, runtime.Object, error) {
		volume := action.(clienttesting.UpdateAction).GetObject().(*v1.PersistentVolume)
		return true, volume, b.bound(volume)
	})
	client.AddReactor("update", "persistentvolumeclaims", func(action clienttesting.Action) (bool, runtime.Object, error) {
		claim := action.(clienttesting.UpdateAction).GetObject().(*v1.PersistentVolumeClaim)
		return true, claim, b.provisioned(claim)
	})
	return b, nil
}

// bind binds the claims of a pod that goes to the node. A pod that the node does not take may leave claims unbound.
func (b *binder) bind(pod *v1.Pod, nodeName string) error {
	logger := klog.FromContext(b.cluster.ctx)
	claims, err := b.volumes.GetPodVolumeClaims(logger, pod)
	if err != nil {
		return nil
	}
	info, err := b.cluster.snapshot.Get(nodeName)
	if err != nil {
		return err
	}
	found, conflicts, err := b.volumes.FindPodVolumes(logger, pod, claims, info.Node())
	if err != nil || len(conflicts) > 0 || len(found.StaticBindings)+len(found.DynamicProvisions) == 0 {
		return nil
	}
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = nodeName
	if _, err := b.volumes.AssumePodVolumes(logger, assumed, nodeName, found); err != nil {
		return fmt.Errorf("volumes of %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	// It writes through the client and then finds that its context has ended.
	_ = b.volumes.BindPodVolumes(b.ended, assumed, found)
	return nil
}

// bound completes what the binder wrote on a volume: the claim that it names is bound to it.
func (b *binder) bound(volume *v1.PersistentVolume) error {
	volume = volume.DeepCopy()
	volume.Status.Phase = v1.VolumeBound
	if err := b.cluster.write(volume); err != nil {
		return err
	}
	key := volume.Spec.ClaimRef.Namespace + "/" + volume.Spec.ClaimRef.Name
	found, exists, err := b.cluster.informer(&v1.PersistentVolumeClaim{}).GetIndexer().GetByKey(key)
	if err != nil || !exists {
		return fmt.Errorf("volume %s is bound to %s, which does not exist", volume.Name, key)
	}
	return b.complete(found.(*v1.PersistentVolumeClaim), volume)
}

func (b *binder) complete(claim *v1.PersistentVolumeClaim, volume *v1.PersistentVolume) error {
	claim = claim.DeepCopy()
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	claim.Annotations[bindCompleted] = "yes"
	claim.Spec.VolumeName, claim.Status.Phase = volume.Name, v1.ClaimBound
	return b.cluster.write(claim)
}

// provisioned makes the volume that a claim with a selected node asks for.
func (b *binder) provisioned(claim *v1.PersistentVolumeClaim) error {
	info, err := b.cluster.snapshot.Get(claim.Annotations[selectedNode])
	if err != nil {
		return err
	}
	found, exists, err := b.cluster.informer(&storage.StorageClass{}).GetIndexer().GetByKey(*claim.Spec.StorageClassName)
	if err != nil || !exists {
		return fmt.Errorf("claim %s/%s: there is no class %s", claim.Namespace, claim.Name, *claim.Spec.StorageClassName)
	}
	driver := found.(*storage.StorageClass).Provisioner
	name := "pvc-" + claim.Namespace + "-" + claim.Name
	volume := &v1.PersistentVolume{}
	volume.Name, volume.UID = name, claim.UID+"-volume"
	volume.Spec = v1.PersistentVolumeSpec{
		AccessModes: claim.Spec.AccessModes, StorageClassName: *claim.Spec.StorageClassName, VolumeMode: claim.Spec.VolumeMode,
		Capacity:               v1.ResourceList{v1.ResourceStorage: claim.Spec.Resources.Requests[v1.ResourceStorage]},
		PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}},
		ClaimRef:               &v1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
		NodeAffinity:           b.segment(info.Node(), driver),
	}
	volume.Status.Phase = v1.VolumeBound
	if err := b.cluster.write(volume); err != nil {
		return err
	}
	return b.complete(claim, volume)
}

// segment is the node's part of the driver's topology; nil where the driver has none.
func (b *binder) segment(node *v1.Node, driver string) *v1.VolumeNodeAffinity {
	found, exists, err := b.cluster.informer(&storage.CSINode{}).GetIndexer().GetByKey(node.Name)
	if err != nil || !exists {
		return nil
	}
	term := v1.NodeSelectorTerm{}
	for _, one := range found.(*storage.CSINode).Spec.Drivers {
		if one.Name != driver {
			continue
		}
		for _, key := range one.TopologyKeys {
			if value, labelled := node.Labels[key]; labelled {
				term.MatchExpressions = append(term.MatchExpressions, v1.NodeSelectorRequirement{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{value}})
			}
		}
	}
	if len(term.MatchExpressions) == 0 {
		return nil
	}
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{term}}}
}
