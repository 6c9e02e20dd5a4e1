#!/usr/bin/env bash
# Installs what makes components of JavaScript, once, outside the checkout, and prints the folder that holds it.
#
# The folder is named by the digest of the lock file, which pins every package by its digest. Scripts of packages are not run.
# With --look nothing is installed: the folder is printed where it is there, and status 1 says that it is not.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${PLIMSOLL_CACHE:-$HOME/.cache/plimsoll}
tools=$cache/javascript-$(cat "$here/package.json" "$here/package-lock.json" | sha256sum | cut -c 1-12)

if [ ! -d "$tools" ]; then
    [ "${1:-}" != --look ] || exit 1
    mkdir -p "$cache"
    exec 9>"$cache/javascript.lock"
    flock 9
fi
if [ ! -d "$tools" ]; then
    draft=$(mktemp -d "$cache/javascript.XXXXXX")
    trap 'rm -rf "$draft"' EXIT
    cp "$here/package.json" "$here/package-lock.json" "$draft"
    npm ci --prefix "$draft" --ignore-scripts --no-audit --no-fund >&2
    mv "$draft" "$tools"
fi
printf '%s\n' "$tools"
