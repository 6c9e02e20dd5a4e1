// The scheduler as a judge: JSON lines in on standard input, one answer a line on standard output.
//
// A line of kind "load" hands over a cluster; the lines after it ask about that cluster. The scheduler is the real one of the Kubernetes
// version that the module file pins, with its default configuration, wired up by its own constructor; only the watches are replaced, by
// informers that are written to directly. No API server, no clock, no preemption: what a question changes is written into the state
// that was loaded, and `reset` goes back to it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"
)

// question is one line of input. The fields after Ask belong to the kinds of questions that name them.
type question struct {
	Ask string `json:"ask"`
	// load: the objects of a cluster, as an API server would list them.
	Objects []json.RawMessage `json:"objects"`
	// fresh: nodes that are tried one at a time, each with objects that come with it (its CSINode).
	Nodes []freshNode `json:"nodes"`
	// place: pods and their nodes, in the order in which they are bound.
	Placements []placement `json:"placements"`
	// fresh: which pods are tried on the nodes.
	Pods []string `json:"pods"`
	// bind: the order in which the queue hands waiting pods out, as `namespace/name`.
	Order []string `json:"order"`
	// bind: node by pod that is nominated before the first one is scheduled; the others are not.
	Nominations map[string]string `json:"nominations"`
}

// placement is a pod, `namespace/name`, and a node; in answers with why the node does not take it.
type placement struct {
	Pod     string   `json:"pod"`
	Node    string   `json:"node"`
	Reasons []string `json:"reasons,omitempty"`
}

// answer is one line of output; Error alone is set where a question could not be answered.
type answer struct {
	Error      string      `json:"error,omitempty"`
	Version    string      `json:"version,omitempty"`
	Placements []placement `json:"placements,omitempty"`
	Daemons    []placement `json:"daemons,omitempty"`
}

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	bench := &bench{}
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			write(out, bench.answer(line))
		}
		if err != nil {
			return
		}
	}
}

func write(out *bufio.Writer, said answer) {
	text, err := json.Marshal(said)
	if err != nil {
		text = fmt.Appendf(nil, `{"error":%q}`, err.Error())
	}
	out.Write(text)
	out.WriteByte('\n')
	out.Flush()
}

// bench keeps the cluster that was loaded last.
type bench struct {
	loaded  []loadedObject
	cluster *cluster
}

// answer never fails: what goes wrong, a panic of a plugin included, is told in the answer.
func (b *bench) answer(line []byte) (said answer) {
	defer func() {
		if broken := recover(); broken != nil {
			said = answer{Error: fmt.Sprintf("the scheduler panicked: %v", broken)}
		}
	}()
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: fmt.Sprintf("the question is no JSON object of the expected form: %v", err)}
	}
	said, err := b.reply(&asked)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return said
}

func (b *bench) reply(asked *question) (answer, error) {
	switch asked.Ask {
	case "version":
		return answer{Version: version()}, nil
	case "load":
		loaded, err := decode(asked.Objects)
		if err != nil {
			return answer{}, err
		}
		b.loaded = loaded
		return answer{}, b.reset()
	case "reset":
		return answer{}, b.reset()
	}
	if b.cluster == nil {
		return answer{}, fmt.Errorf("%q was asked before any cluster was loaded", asked.Ask)
	}
	switch asked.Ask {
	case "daemons":
		daemons, err := b.cluster.startDaemons(asked.Pods)
		return answer{Daemons: daemons}, err
	case "place":
		return placed(b.cluster.place(asked.Placements))
	case "fresh":
		return placed(b.cluster.fresh(asked.Pods, asked.Nodes))
	case "fits":
		return placed(b.cluster.fits(asked.Pods))
	case "bind":
		return placed(b.cluster.bind(asked.Order, asked.Nominations))
	}
	return answer{}, fmt.Errorf("%q is no kind of question: one of version, load, reset, daemons, place, fresh, fits, bind", asked.Ask)
}

func placed(placements []placement, err error) (answer, error) {
	return answer{Placements: placements}, err
}

func (b *bench) reset() error {
	if b.cluster != nil {
		b.cluster.stop()
	}
	fresh, err := newCluster(b.loaded)
	b.cluster = fresh
	return err
}
