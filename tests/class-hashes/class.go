package main

// Classes as Karpenter declares them, as far as they are hashed: names of types and fields, their order and their types decide the
// hash. A pointer tells what is written and empty from what is not written; other fields count only if they have a value.

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mitchellh/hashstructure/v2"
	"k8s.io/apimachinery/pkg/api/resource"
)

type EC2NodeClassSpec struct {
	PlacementGroupSelector   *PlacementGroupSelector    `json:"placementGroupSelector"`
	AssociatePublicIPAddress *bool                      `json:"associatePublicIPAddress"`
	AMISelectorTerms         []ImageTerm                `json:"amiSelectorTerms" hash:"ignore"`
	AMIFamily                *string                    `json:"amiFamily" hash:"ignore"`
	UserData                 *string                    `json:"userData"`
	Role                     string                     `json:"role"`
	InstanceProfile          *string                    `json:"instanceProfile"`
	Tags                     map[string]string          `json:"tags"`
	Kubelet                  map[string]json.RawMessage `json:"kubelet" hash:"ignore"`
	BlockDeviceMappings      []*BlockDeviceMapping      `json:"blockDeviceMappings"`
	InstanceStorePolicy      *string                    `json:"instanceStorePolicy"`
	NetworkInterfaces        []*NetworkInterface        `json:"networkInterfaces"`
	DetailedMonitoring       *bool                      `json:"detailedMonitoring"`
	MetadataOptions          *MetadataOptions           `json:"metadataOptions"`
	EnclaveOptions           *EnclaveOptions            `json:"enclaveOptions"`
	ConnectionTracking       *ConnectionTracking        `json:"connectionTracking"`
	Context                  *string                    `json:"context"`
	CPUOptions               *CPUOptions                `json:"cpuOptions"`
}

type ImageTerm struct {
	Alias string `json:"alias"`
}

type PlacementGroupSelector struct {
	Name *string `json:"name"`
	ID   *string `json:"id"`
}

type BlockDeviceMapping struct {
	DeviceName *string      `json:"deviceName"`
	EBS        *BlockDevice `json:"ebs"`
	RootVolume bool         `json:"rootVolume"`
}

type BlockDevice struct {
	DeleteOnTermination      *bool              `json:"deleteOnTermination"`
	Encrypted                *bool              `json:"encrypted"`
	IOPS                     *int64             `json:"iops"`
	KMSKeyID                 *string            `json:"kmsKeyID"`
	SnapshotID               *string            `json:"snapshotID"`
	Throughput               *int64             `json:"throughput"`
	VolumeInitializationRate *int32             `json:"volumeInitializationRate"`
	VolumeSize               *resource.Quantity `json:"volumeSize" hash:"string"`
	VolumeType               *string            `json:"volumeType"`
}

type NetworkInterface struct {
	NetworkCardIndex int32  `json:"networkCardIndex"`
	DeviceIndex      int32  `json:"deviceIndex"`
	InterfaceType    string `json:"interfaceType"`
}

type MetadataOptions struct {
	HTTPEndpoint            *string `json:"httpEndpoint"`
	HTTPProtocolIPv6        *string `json:"httpProtocolIPv6"`
	HTTPPutResponseHopLimit *int64  `json:"httpPutResponseHopLimit"`
	HTTPTokens              *string `json:"httpTokens"`
}

type ConnectionTracking struct {
	TCPEstablishedTimeout *int32 `json:"tcpEstablishedTimeout"`
	UDPStreamTimeout      *int32 `json:"udpStreamTimeout"`
	UDPTimeout            *int32 `json:"udpTimeout"`
}

type CPUOptions struct {
	NestedVirtualization *string `json:"nestedVirtualization"`
}

type EnclaveOptions struct {
	Enabled bool `json:"enabled"`
}

var families = []string{"AL2", "AL2023", "Bottlerocket", "Windows2019", "Windows2022", "Windows2025"}

// hashed is the hash of a class where nodes trust that certificate authority. Its parts are a list, and lists are hashed as sets.
func hashed(spec EC2NodeClassSpec, authority string) (uint64, error) {
	family, err := familyOf(spec)
	if err != nil {
		return 0, err
	}
	kubelet := []byte("null")
	if len(spec.Kubelet) > 0 {
		if kubelet, err = json.Marshal(spec.Kubelet); err != nil {
			return 0, err
		}
	}
	options := hashstructure.HashOptions{SlicesAsSets: true, IgnoreZeroValue: true, ZeroNil: true}
	return hashstructure.Hash([]any{spec, family, authority, string(kubelet)}, hashstructure.FormatV2, &options)
}

// familyOf is the family that a class names, or else that of its alias, or else Custom.
func familyOf(spec EC2NodeClassSpec) (string, error) {
	if spec.AMIFamily != nil {
		return *spec.AMIFamily, nil
	}
	for _, term := range spec.AMISelectorTerms {
		if term.Alias == "" {
			continue
		}
		name, _, _ := strings.Cut(term.Alias, "@")
		for _, family := range families {
			if strings.ToLower(family) == name {
				return family, nil
			}
		}
		return "", fmt.Errorf("alias %q is of no family that is known", term.Alias)
	}
	return "Custom", nil
}
