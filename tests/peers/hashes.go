package main

// Karpenter's hashes of pool templates, by which it tells whether claims have drifted from their pools.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

func runHashes(arguments []string) error {
	flags := flag.NewFlagSet("hashes", flag.ExitOnError)
	drawn := flags.Int("drawn", 0, "templates to draw after those of the files")
	seed := flags.Int64("seed", 1, "seed of the random draws; the same seed gives the same templates")
	_ = flags.Parse(arguments)
	// Times are hashed in local time, which is UTC in Karpenter's image.
	if err := os.Setenv("TZ", "UTC"); err != nil {
		return err
	}
	output := bufio.NewWriter(os.Stdout)
	for _, path := range flags.Args() {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for at, line := range bytes.Split(bytes.TrimSpace(content), []byte("\n")) {
			if err := writeHash(output, line); err != nil {
				return fmt.Errorf("%s: line %d: %w", path, at+1, err)
			}
		}
	}
	draw := rand.New(rand.NewSource(*seed))
	for range *drawn {
		template, err := json.Marshal(drawTemplate(draw))
		if err != nil {
			return err
		}
		if err := writeHash(output, template); err != nil {
			return err
		}
	}
	return output.Flush()
}

// writeHash writes a line with the hash of a template and the template. It is hashed as the API server would hand it out: with the
// default of expireAfter.
func writeHash(output *bufio.Writer, written []byte) error {
	var pool v1.NodePool
	if err := json.Unmarshal(written, &pool.Spec.Template); err != nil {
		return err
	}
	var said struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(written, &said); err != nil {
		return err
	}
	if _, found := said.Spec["expireAfter"]; !found {
		pool.Spec.Template.Spec.ExpireAfter = v1.MustParseNillableDuration("720h")
	}
	_, err := fmt.Fprintf(output, "%s %s\n", pool.Hash(), written)
	return err
}

var (
	names     = []string{"a", "team", "example.com/team", "node.kubernetes.io/instance-type", "x.y/z-1", "größe", ""}
	texts     = []string{"", "a", "b", "true", "0", "Never", "web shop", "ß☃", "a-rather-long-text-of-more-than-eight-bytes"}
	effects   = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}
	durations = []string{"0s", "1s", "90s", "5m", "1h30m", "720h", "2160h0m0s", "100000h"}
	times     = []string{"2026-01-31T09:00:00Z", "2026-01-31T09:00:00.25Z", "1969-12-31T23:59:59.5+02:00"}
)

func one(draw *rand.Rand, of []string) string { return of[draw.Intn(len(of))] }

// drawTemplate draws a template in which every field may be left out, be empty or have a value, but for the class.
func drawTemplate(draw *rand.Rand) map[string]any {
	spec := map[string]any{
		"nodeClassRef": map[string]any{
			"group": one(draw, []string{"karpenter.k8s.aws", "karpenter.kwok.sh"}),
			"kind":  one(draw, []string{"EC2NodeClass", "KWOKNodeClass"}),
			"name":  one(draw, []string{"default", "gpu", "a"}),
		},
		"requirements": drawRequirements(draw),
	}
	for _, field := range []string{"taints", "startupTaints"} {
		if draw.Intn(3) > 0 {
			spec[field] = drawTaints(draw)
		}
	}
	if draw.Intn(2) == 0 {
		spec["terminationGracePeriod"] = one(draw, durations)
	}
	if draw.Intn(4) > 0 {
		spec["expireAfter"] = one(draw, append([]string{v1.Never}, durations...))
	}
	template := map[string]any{"spec": spec}
	metadata := map[string]any{}
	for _, field := range []string{"labels", "annotations"} {
		if draw.Intn(3) > 0 {
			metadata[field] = drawMap(draw)
		}
	}
	if len(metadata) > 0 || draw.Intn(2) == 0 {
		template["metadata"] = metadata
	}
	return template
}

func drawMap(draw *rand.Rand) map[string]any {
	result := map[string]any{}
	for range draw.Intn(4) {
		result[one(draw, names)] = one(draw, texts)
	}
	return result
}

func drawTaints(draw *rand.Rand) []any {
	result := []any{}
	for range draw.Intn(5) {
		taint := map[string]any{"key": one(draw, names), "effect": one(draw, effects)}
		if draw.Intn(3) > 0 {
			taint["value"] = one(draw, texts)
		}
		if draw.Intn(6) == 0 {
			taint["timeAdded"] = one(draw, times)
		}
		result = append(result, taint)
	}
	return result
}

func drawRequirements(draw *rand.Rand) []any {
	result := []any{}
	for range draw.Intn(3) {
		requirement := map[string]any{"key": one(draw, names[:4]), "operator": "In", "values": []string{one(draw, texts), "x"}}
		if draw.Intn(2) == 0 {
			requirement["minValues"] = 1 + draw.Intn(2)
		}
		result = append(result, requirement)
	}
	return result
}
