package main

// What a round cost: figures for one line of output, and where the pods went if that was asked for.

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
)

// figures of one solved problem. Costs are dollars per hour of new nodes; bytes and seconds say so.
type figures struct {
	Solver      string  `json:"solver"`
	Problem     string  `json:"problem"`
	Preferences string  `json:"preferences"`
	Pods        int     `json:"pods"`
	Scheduled   int     `json:"scheduled"`
	Unscheduled int     `json:"unscheduled"`
	Nodes       int     `json:"nodes"`
	CostPerHour float64 `json:"costPerHour"`
	Seconds     float64 `json:"seconds"`
	// ProcessorSeconds sums over cores, and says what Seconds would be like on a machine that does nothing else.
	ProcessorSeconds float64     `json:"processorSeconds"`
	PeakBytes        uint64      `json:"peakBytes"`
	AllocatedBytes   uint64      `json:"allocatedBytes"`
	Claims           []placement `json:"claims,omitempty"`
	Existing         []placement `json:"existing,omitempty"`
}

// effort of the timed part of a round.
type effort struct {
	seconds, processorSeconds float64
	allocatedBytes            uint64
}

// placement is a new claim with what it would launch, or an existing node by its name.
type placement struct {
	Node         string   `json:"node,omitempty"`
	Pool         string   `json:"pool,omitempty"`
	InstanceType string   `json:"instanceType,omitempty"`
	Zone         string   `json:"zone,omitempty"`
	CapacityType string   `json:"capacityType,omitempty"`
	Price        float64  `json:"price,omitempty"`
	Pods         []string `json:"pods"`
}

func report(p *problem, results scheduling.Results, s settings, spent effort) (*figures, error) {
	line := &figures{
		Solver: "karpenter " + libraryVersion(), Preferences: "respect", Pods: len(p.pending),
		Seconds: spent.seconds, ProcessorSeconds: spent.processorSeconds, AllocatedBytes: spent.allocatedBytes, PeakBytes: peakResidentBytes(),
	}
	if s.ignorePreferences {
		line.Preferences = "ignore"
	}
	for _, claim := range results.NewNodeClaims {
		placement, err := launch(claim)
		if err != nil {
			return nil, err
		}
		line.Nodes++
		line.Scheduled += len(claim.Pods)
		line.CostPerHour += placement.Price
		line.Claims = append(line.Claims, placement)
	}
	for _, node := range results.ExistingNodes {
		line.Scheduled += len(node.Pods)
		if len(node.Pods) > 0 {
			line.Existing = append(line.Existing, placement{Node: node.Name(), Pods: podNames(node.Pods)})
		}
	}
	line.Unscheduled = line.Pods - line.Scheduled
	explainFirst(results.PodErrors, 3)
	if !s.placements {
		line.Claims, line.Existing = nil, nil
	}
	return line, nil
}

// launch picks what a provider would buy for a claim: of the types left to it, the cheapest offering that is available and
// agrees with the claim's final requirements. Ties go to the first by name.
func launch(claim *scheduling.NodeClaim) (placement, error) {
	var best *cloudprovider.Offering
	var name string
	for _, option := range claim.InstanceTypeOptions {
		offering := option.Offerings.Available().Compatible(claim.Requirements).Cheapest()
		if offering == nil {
			continue
		}
		if best == nil || offering.Price < best.Price || (offering.Price == best.Price && option.Name < name) {
			best, name = offering, option.Name
		}
	}
	if best == nil {
		return placement{}, fmt.Errorf("a claim of pool %s for %d pods has no offering that it could launch", claim.NodePoolName, len(claim.Pods))
	}
	return placement{
		Pool: claim.NodePoolName, InstanceType: name, Price: best.Price, Pods: podNames(claim.Pods),
		Zone: best.Requirements.Get(corev1.LabelTopologyZone).Any(), CapacityType: best.Requirements.Get(v1.CapacityTypeLabelKey).Any(),
	}, nil
}

func podNames(pods []*corev1.Pod) []string {
	names := make([]string, 0, len(pods))
	for _, pod := range pods {
		names = append(names, pod.Namespace+"/"+pod.Name)
	}
	slices.Sort(names)
	return names
}

func explainFirst(reasons map[*corev1.Pod]error, limit int) {
	var lines []string
	for pod, reason := range reasons {
		lines = append(lines, fmt.Sprintf("%s/%s: %v", pod.Namespace, pod.Name, reason))
	}
	slices.Sort(lines)
	for _, line := range lines[:min(limit, len(lines))] {
		fmt.Fprintln(os.Stderr, line)
	}
}

// libraryVersion of Karpenter, as the build recorded it.
func libraryVersion() string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == "sigs.k8s.io/karpenter" {
				return module.Version
			}
		}
	}
	return "unknown"
}

// processorSeconds that this process has used so far, its collector included.
func processorSeconds() float64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return (time.Duration(usage.Utime.Nano()) + time.Duration(usage.Stime.Nano())).Seconds()
}

// peakResidentBytes is the high water mark of the whole process, reading included; 0 where the system does not say.
func peakResidentBytes() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if rest, ok := strings.CutPrefix(string(line), "VmHWM:"); ok {
			kibibytes, err := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
			if err == nil {
				return kibibytes * 1024
			}
		}
	}
	return 0
}
