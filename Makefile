# What a person types; `make` alone lists it. Two targets do everything on a fresh machine: `make demo` and `make test`.
#
# The toolchain is the one that rust-toolchain.toml pins. Nothing is kept outside the checkout but the control plane and the peer,
# which are built from Go modules once per machine, in ${PLIMSOLL_CACHE:-$HOME/.cache/plimsoll}.

SHELL := bash
.ONESHELL:
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help test check fmt guests generated bench-peers toolchain

CARGO ?= cargo
wasm := wasm32-unknown-unknown
policies := $(patsubst policies/%/Cargo.toml,-p %,$(wildcard policies/*/Cargo.toml))
# Modules are built beside the host's target directory, so that neither build waits for the other or undoes it.
guest_target := $(or $(CARGO_TARGET_DIR),target)-guests

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

test: toolchain guests ## every test, the documentation's examples included
	$(CARGO) test --locked --workspace --no-fail-fast

check: toolchain ## format, lints and house rules, without the other tests
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) test --locked -p plimsoll-tidy

fmt: ## formats every Rust source
	$(CARGO) fmt --all

guests: toolchain ## the policies, as WebAssembly
	$(CARGO) build --locked --target $(wasm) --target-dir $(guest_target) $(policies)

generated: ## makes the committed tables anew; PLIMSOLL_DATA names the folder of the published lists
	@test -n "$${PLIMSOLL_DATA:-}" || { echo "error: PLIMSOLL_DATA does not name the folder of the published lists" >&2; exit 2; }
	python3 host/ec2-facts/scripts/derive.py "$$PLIMSOLL_DATA"

bench-peers: ## the incumbent's scheduler on its own benchmark, 10,000 pods
	peers=$$(tests/peers/build.sh)/plimsoll-peers
	problem=$$(mktemp --suffix=.json)
	trap 'rm -f "$$problem"' EXIT
	"$$peers" generate -pods 10000 > "$$problem"
	"$$peers" solve "$$problem"

toolchain:
	@test -d "$$(rustc --print target-libdir --target $(wasm))" || rustup target add $(wasm)
