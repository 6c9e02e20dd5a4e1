#!/usr/bin/env bash
# Builds helm, which the chart tests render with, from its pinned module, once, and prints the folder that holds it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../go-cache.sh"

# One that is not stamped calls itself v4.3, whatever its module's version.
build_cached "$here/programs/helm" lab-helm "-X helm.sh/helm/v4/internal/version.version=v4.3.1" helm.sh/helm/v4/cmd/helm helm
