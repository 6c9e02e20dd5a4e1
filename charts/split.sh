#!/usr/bin/env bash
# Splits YAML documents on standard input into one file each, named after metadata.name: FOLDER. What was in the folder before goes, once
# there is something to take its place.
set -euo pipefail
folder=$1
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
awk -v folder="$made" '
    function keep() {
        if (text == "") return
        if (name == "") { print "error: a document has no metadata.name" > "/dev/stderr"; exit 1 }
        printf "%s", text > (folder "/" name ".yaml")
        text = name = ""
    }
    /^---$/ { keep(); next }
    /^[^ ]/ { inside = ($0 == "metadata:") }
    inside && /^  name: / { name = $2 }
    { text = text $0 "\n" }
    END { keep() }
'
[ -n "$(ls "$made")" ] || { echo "error: there are no documents on standard input" >&2; exit 1; }
mkdir -p "$folder"
rm -f "$folder"/*.yaml
cp "$made"/*.yaml "$folder"
