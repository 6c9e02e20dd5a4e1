// Command plimsoll-class-hashes prints Karpenter's static hash of EC2NodeClasses: a line of digits for each class on standard input.
//
// A class there is a JSON object with its `spec`, and with `caBundle` where nodes are told a certificate authority. It is hashed as an
// API server would hand it out. Status 1: a class could not be read.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(input io.Reader, output io.Writer) error {
	classes, hashes := json.NewDecoder(input), bufio.NewWriter(output)
	classes.UseNumber()
	for number := 1; ; number++ {
		var written any
		if err := classes.Decode(&written); errors.Is(err, io.EOF) {
			return hashes.Flush()
		} else if err != nil {
			return fmt.Errorf("class %d: %w", number, err)
		}
		hash, err := hashOf(written)
		if err != nil {
			return fmt.Errorf("class %d: %w", number, err)
		}
		if _, err := fmt.Fprintln(hashes, hash); err != nil {
			return err
		}
	}
}

func hashOf(written any) (uint64, error) {
	counted, err := counted(written)
	if err != nil {
		return 0, err
	}
	served, err := json.Marshal(counted)
	if err != nil {
		return 0, err
	}
	var class struct {
		CABundle string           `json:"caBundle"`
		Spec     EC2NodeClassSpec `json:"spec"`
	}
	if err := json.Unmarshal(served, &class); err != nil {
		return 0, err
	}
	return hashed(class.Spec, class.CABundle)
}

// counted has numbers as an API server reads them: as int64 where they are integers that fit, as float64 elsewhere.
func counted(value any) (any, error) {
	var err error
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if value[key], err = counted(inner); err != nil {
				return nil, err
			}
		}
	case []any:
		for at, inner := range value {
			if value[at], err = counted(inner); err != nil {
				return nil, err
			}
		}
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole, nil
		}
		return value.Float64()
	}
	return value, nil
}
