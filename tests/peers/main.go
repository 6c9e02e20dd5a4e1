// Command plimsoll-peers lets Karpenter's scheduler, taken as a library at a pinned version, solve the problem files that
// Plimsoll solves, writes Karpenter's own benchmark as such a file, and hashes the templates of pools.
//
//	plimsoll-peers solve [-preferences respect|ignore] [-workers N] [-placements] FILE...
//	plimsoll-peers generate [-mix diverse|preferences] [-pods N] [-types N] [-seed N] > FILE
//	plimsoll-peers hashes [-drawn N] [-seed N] [FILE]...
//
// A problem file is a snapshot of Plimsoll's: a Kubernetes List, plus a section `plimsoll` that holds the catalogue. One line of
// JSON per file goes to standard output, reasons for pods left over go to standard error. Status 1: a file could not be read or solved; 2: usage.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
)

const usage = "usage: plimsoll-peers solve [flags] FILE... | plimsoll-peers generate [flags] | plimsoll-peers hashes [flags]"

func main() {
	log.SetLogger(logging.NopLogger)
	if len(os.Args) < 2 {
		fail(2, usage)
	}
	var err error
	switch command, arguments := os.Args[1], os.Args[2:]; command {
	case "solve":
		err = runSolve(arguments)
	case "generate":
		err = runGenerate(arguments)
	case "hashes":
		err = runHashes(arguments)
	default:
		fail(2, fmt.Sprintf("unknown command %q; %s", command, usage))
	}
	if err != nil {
		fail(1, err.Error())
	}
}

func runSolve(arguments []string) error {
	flags := flag.NewFlagSet("solve", flag.ExitOnError)
	preferences := flags.String("preferences", "respect", "what preferred terms count for: respect or ignore")
	workers := flags.Int("workers", 5, "goroutines that evaluate candidates; Karpenter's benchmark uses 5")
	placements := flags.Bool("placements", false, "also print which pods go where")
	_ = flags.Parse(arguments) // ExitOnError: a mistake ends the program with status 2
	if *preferences != "respect" && *preferences != "ignore" {
		fail(2, fmt.Sprintf("-preferences is %q; expected respect or ignore", *preferences))
	}
	if flags.NArg() == 0 {
		fail(2, usage)
	}
	lines := json.NewEncoder(os.Stdout)
	for _, path := range flags.Args() {
		problem, err := readProblem(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		figures, err := solve(problem, settings{
			ignorePreferences: *preferences == "ignore", workers: *workers, placements: *placements,
		})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		figures.Problem = path
		if err := lines.Encode(figures); err != nil {
			return err
		}
	}
	return nil
}

func runGenerate(arguments []string) error {
	flags := flag.NewFlagSet("generate", flag.ExitOnError)
	mix := flags.String("mix", "diverse", "diverse: a fifth each of the benchmark's five kinds; preferences: one kind, three preferences")
	pods := flags.Int("pods", 10_000, "pending pods")
	types := flags.Int("types", 400, "instance types")
	seed := flags.Int64("seed", 42, "seed of the random draws; the same seed gives the same bytes")
	_ = flags.Parse(arguments)
	if *mix != "diverse" && *mix != "preferences" {
		fail(2, fmt.Sprintf("-mix is %q; expected diverse or preferences", *mix))
	}
	if *pods < 0 || *types < 1 {
		fail(2, fmt.Sprintf("-pods is %d and -types is %d; expected at least 0 and 1", *pods, *types))
	}
	return writeBenchmark(os.Stdout, *mix, *pods, *types, *seed)
}

func fail(status int, sentence string) {
	fmt.Fprintln(os.Stderr, "error:", sentence)
	os.Exit(status)
}
