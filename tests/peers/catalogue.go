package main

// The catalogue section of a problem file, to and from Karpenter's instance types.

import (
	"encoding/json"
	"fmt"
	"sort"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

type catalogue struct {
	InstanceTypes []instanceType `json:"instanceTypes"`
}

type instanceType struct {
	Name      string              `json:"name"`
	Labels    map[string]values   `json:"labels,omitempty"`
	Capacity  corev1.ResourceList `json:"capacity"`
	Overhead  corev1.ResourceList `json:"overhead,omitempty"`
	Offerings []offering          `json:"offerings"`
}

type offering struct {
	Zone                string            `json:"zone"`
	CapacityType        string            `json:"capacityType"`
	Price               float64           `json:"price"`
	Available           bool              `json:"available"`
	ReservationCapacity int               `json:"reservationCapacity,omitempty"`
	Labels              map[string]values `json:"labels,omitempty"`
}

// values of one label: a string in the file where there is one, a list where there are several.
type values []string

func (v *values) UnmarshalJSON(content []byte) error {
	var one string
	if json.Unmarshal(content, &one) == nil {
		*v = values{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(content, &many); err != nil {
		return fmt.Errorf("label values are %s; expected a string or a list of strings", content)
	}
	*v = many
	return nil
}

func (v values) MarshalJSON() ([]byte, error) {
	if len(v) == 1 {
		return json.Marshal(v[0])
	}
	return json.Marshal([]string(v))
}

// Zones and capacity types come from the offerings, the name is a label of its own.
var derivedLabels = sets.New(corev1.LabelInstanceTypeStable, corev1.LabelTopologyZone, v1.CapacityTypeLabelKey)

// instanceTypes makes every label of the catalogue well known, as a provider does at start, and has each type without
// a label say so: otherwise an undefined well-known label would agree with any requirement.
func (c catalogue) instanceTypes() ([]*cloudprovider.InstanceType, error) {
	keys := sets.New[string]()
	for _, description := range c.InstanceTypes {
		for key := range description.Labels {
			keys.Insert(key)
		}
		for _, offering := range description.Offerings {
			for key := range offering.Labels {
				keys.Insert(key)
			}
		}
	}
	keys = keys.Difference(derivedLabels)
	v1.WellKnownLabels.Insert(keys.UnsortedList()...)
	var result []*cloudprovider.InstanceType
	for _, description := range c.InstanceTypes {
		if description.Name == "" || len(description.Capacity) == 0 {
			return nil, fmt.Errorf("catalogue: instance type %q: expected a name and a capacity", description.Name)
		}
		result = append(result, description.build(sets.List(keys)))
	}
	return result, nil
}

func (d instanceType) build(keys []string) *cloudprovider.InstanceType {
	requirements := scheduling.NewRequirements(oneOf(corev1.LabelInstanceTypeStable, values{d.Name}))
	for _, key := range keys {
		requirements.Add(oneOf(key, d.labelValues(key)))
	}
	zones, capacityTypes := sets.New[string](), sets.New[string]()
	var offerings cloudprovider.Offerings
	for _, description := range d.Offerings {
		offerings = append(offerings, description.build())
		if description.Available {
			zones.Insert(description.Zone)
			capacityTypes.Insert(description.CapacityType)
		}
	}
	requirements.Add(oneOf(corev1.LabelTopologyZone, sets.List(zones)), oneOf(v1.CapacityTypeLabelKey, sets.List(capacityTypes)))
	return &cloudprovider.InstanceType{
		Name: d.Name, Requirements: requirements, Offerings: offerings, Capacity: d.Capacity,
		Overhead: &cloudprovider.InstanceTypeOverhead{KubeReserved: d.Overhead},
	}
}

// labelValues are the type's own, and those of its offerings.
func (d instanceType) labelValues(key string) values {
	found := sets.New(d.Labels[key]...)
	for _, offering := range d.Offerings {
		found.Insert(offering.Labels[key]...)
	}
	return sets.List(found)
}

func (o offering) build() *cloudprovider.Offering {
	requirements := scheduling.NewRequirements(oneOf(corev1.LabelTopologyZone, values{o.Zone}), oneOf(v1.CapacityTypeLabelKey, values{o.CapacityType}))
	for key, values := range o.Labels {
		requirements.Add(oneOf(key, values))
	}
	return &cloudprovider.Offering{
		Requirements: requirements, Price: o.Price, Available: o.Available, ReservationCapacity: o.ReservationCapacity,
	}
}

func oneOf(key string, values values) *scheduling.Requirement {
	if len(values) == 0 {
		return scheduling.NewRequirement(key, corev1.NodeSelectorOpDoesNotExist)
	}
	return scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, values...)
}

// describe is the way back: Karpenter's types as a section of a problem file.
func describe(types []*cloudprovider.InstanceType) catalogue {
	var result catalogue
	for _, source := range types {
		description := instanceType{
			Name: source.Name, Labels: map[string]values{}, Capacity: source.Capacity, Overhead: source.Overhead.Total(),
		}
		for key, requirement := range source.Requirements {
			if found := requirement.Values(); !derivedLabels.Has(key) && len(found) > 0 {
				sort.Strings(found)
				description.Labels[key] = found
			}
		}
		for _, source := range source.Offerings {
			description.Offerings = append(description.Offerings, offering{
				Zone:         source.Requirements.Get(corev1.LabelTopologyZone).Any(),
				CapacityType: source.Requirements.Get(v1.CapacityTypeLabelKey).Any(),
				Price:        source.Price, Available: source.Available,
			})
		}
		result.InstanceTypes = append(result.InstanceTypes, description)
	}
	return result
}
