// The version of Kubernetes, as the linker recorded it.
package main

import "runtime/debug"

// version is the version of Kubernetes that this program was built from.
func version() string {
	if info, known := debug.ReadBuildInfo(); known {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/kubernetes" {
				return module.Version
			}
		}
	}
	return "unknown"
}
