# Builds a pinned Go module once and keeps its programs outside the checkout.
#
# Sourced by the build scripts beside it. The cache key is a digest of everything that decides the bytes of a program, as far as it
# is known without a Go toolchain: the module's own files, the linker flags, the machine's kind. A fresh checkout
# therefore finds what an earlier one built, and a machine with a filled cache needs no Go at all.
# Programs reach their place by a rename, so that a build cut short leaves nothing that looks finished.

cache_root() { echo "${PLIMSOLL_CACHE:-$HOME/.cache/plimsoll}"; }

# require_go WHAT: ends the script with status 3 where there is no Go toolchain.
require_go() {
    command -v go >/dev/null && return
    echo "error: building $1 needs the Go toolchain, 1.26 or later, and there is no 'go' in PATH" >&2
    echo "hint: install it from https://go.dev/dl/ or your distribution's package, then run this again" >&2
    exit 3
}

# build_cached MODULE_FOLDER CACHE_NAME LINKER_FLAGS (PACKAGE PROGRAM)...
# Prints the folder that holds the programs. Builds run at low priority and one at a time, since two at once would each compile what they
# have in common; who comes while another builds waits for it. Programs have no symbols for debuggers, nor do compilers make them first.
# A script that defines a function `adapted` has it called in the module with a scratch folder, and builds with the flags that it prints.
# One that sets an array `go_command` builds by that command of Go and its flags instead of `build`, such as tests as a program.
build_cached() {
    local module=$1 name=$2 flags=$3 digest target
    shift 3
    digest=$( { cd "$module" && find . -type f \( -name '*.go' -o -name 'go*.mod' -o -name 'go*.sum' \) ! -name '*_test.go' -print0 \
        | LC_ALL=C sort -z | xargs -0 cat; echo "$flags $*"; uname -sm; declare -f adapted || true; declare -p go_command 2>/dev/null || true; } | sha256sum | cut -c1-16)
    target=$(cache_root)/$name/$digest
    if [ ! -d "$target" ]; then
        require_go "$name"
        mkdir -p "$(cache_root)/$name"
        exec 8>"$(cache_root)/go.lock"
        flock 8
        [ -d "$target" ] || build_into "$target" "$module" "$flags" "$@"
        exec 8>&-
    fi
    echo "$target"
}

build_into() {
    local target=$1 module=$2 flags=$3 scratch
    shift 3
    scratch=$(mktemp -d "$target.XXXXXX")
    local adaptation=$scratch.adapted flags_of_go=()
    if declare -F adapted >/dev/null; then
        mkdir "$adaptation"
        mapfile -t flags_of_go < <(cd "$module" && adapted "$adaptation")
        [ ${#flags_of_go[@]} -gt 0 ] || { rm -rf "$scratch" "$adaptation"; return 1; }
    fi
    while [ $# -gt 0 ]; do
        echo "building $2 from $1 (kept in $target)" >&2
        (cd "$module" && GOFLAGS=-mod=readonly CGO_ENABLED=0 nice -n 10 go "${go_command[@]:-build}" -trimpath -buildvcs=false -gcflags=all=-dwarf=false "${flags_of_go[@]}" -ldflags "-s -w $flags" -o "$scratch/$2" "$1") >&2 \
            || { rm -rf "$scratch" "$adaptation"; return 1; }
        shift 2
    done
    rm -rf "$adaptation"
    mv -T "$scratch" "$target"
}
