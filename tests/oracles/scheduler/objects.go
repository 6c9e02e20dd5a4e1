// Objects as an API server would have stored them: decoded from JSON, with its defaults.
package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	resource "k8s.io/api/resource/v1"
	storage "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	defaults "k8s.io/kubernetes/pkg/apis/core/v1"
	storagedefaults "k8s.io/kubernetes/pkg/apis/storage/v1"
)

// watched are the kinds that the default profile's plugins look at; objects of others are refused, since the judge would not see them.
var watched = []runtime.Object{
	&v1.Pod{}, &v1.Node{}, &v1.Namespace{}, &v1.Service{}, &v1.ReplicationController{}, &apps.ReplicaSet{}, &apps.StatefulSet{},
	&v1.PersistentVolume{}, &v1.PersistentVolumeClaim{}, &storage.StorageClass{}, &storage.CSINode{}, &storage.CSIDriver{},
	&storage.CSIStorageCapacity{}, &storage.VolumeAttachment{}, &resource.ResourceClaim{}, &resource.ResourceSlice{}, &resource.DeviceClass{},
}

// loadedObject is an object with its metadata at hand.
type loadedObject interface {
	runtime.Object
	metav1.Object
}

// decode reads objects and gives each the defaults of the API server and a resource version of its own.
func decode(raw []json.RawMessage) ([]loadedObject, error) {
	objects := make([]loadedObject, 0, len(raw))
	for position, text := range raw {
		decoded, kind, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", position, err)
		}
		object, named := decoded.(loadedObject)
		if !named {
			return nil, fmt.Errorf("object %d: a %s has no metadata", position, kind.Kind)
		}
		if !known(decoded) {
			return nil, fmt.Errorf("object %d: nothing here reads a %s", position, kind.Kind)
		}
		setDefaults(decoded)
		if object.GetUID() == "" {
			object.SetUID(types.UID(kind.Kind + "/" + object.GetNamespace() + "/" + object.GetName()))
		}
		// Assume caches take an object for news only where its version is higher than what they have.
		object.SetResourceVersion(strconv.Itoa(position + 1))
		objects = append(objects, object)
	}
	return objects, nil
}

func known(object runtime.Object) bool {
	if _, daemons := object.(*apps.DaemonSet); daemons {
		return true
	}
	for _, example := range watched {
		if reflect.TypeOf(example) == reflect.TypeOf(object) {
			return true
		}
	}
	return false
}

func setDefaults(object runtime.Object) {
	switch of := object.(type) {
	case *v1.Pod:
		defaults.SetObjectDefaults_Pod(of)
	case *v1.Node:
		defaults.SetObjectDefaults_Node(of)
	case *v1.Namespace:
		defaults.SetObjectDefaults_Namespace(of)
	case *v1.PersistentVolume:
		defaults.SetObjectDefaults_PersistentVolume(of)
	case *v1.PersistentVolumeClaim:
		defaults.SetObjectDefaults_PersistentVolumeClaim(of)
	case *storage.StorageClass:
		storagedefaults.SetObjectDefaults_StorageClass(of)
	case *storage.CSIDriver:
		storagedefaults.SetObjectDefaults_CSIDriver(of)
	case *apps.DaemonSet:
		appsdefaults.SetObjectDefaults_DaemonSet(of)
	}
}
