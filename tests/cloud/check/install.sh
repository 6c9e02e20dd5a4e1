#!/usr/bin/env bash
# Installs the official SDK of AWS for Python, once, outside the checkout, and prints the Python that has it.
#
# The folder is named by the digest of the list of packages, which pins each by its version. They come as wheels: nothing of theirs is run
# while they are installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${PLIMSOLL_CACHE:-$HOME/.cache/plimsoll}
environment=$cache/boto3-$(sha256sum < "$here/requirements.txt" | cut -c 1-12)

if [ ! -e "$environment/complete" ]; then
    mkdir -p "$cache"
    exec 9>"$cache/boto3.lock"
    flock 9
fi
if [ ! -e "$environment/complete" ]; then
    # An environment knows its own path, so that it is made where it stays.
    python3 -m venv --clear "$environment" >&2
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --requirement "$here/requirements.txt" >&2
    touch "$environment/complete"
fi
printf '%s\n' "$environment/bin/python"
