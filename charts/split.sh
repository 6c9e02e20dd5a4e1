#!/usr/bin/env bash
# Splits YAML documents on standard input into one file each, named after metadata.name: FOLDER. What was in the folder before goes.
set -euo pipefail
folder=$1
rm -f "$folder"/*.yaml
mkdir -p "$folder"
awk -v folder="$folder" '
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
