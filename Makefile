# Targets that a person types; `make` alone lists it. Two targets do everything on a fresh machine: `make demo` and `make test`.
#
# The toolchain is the one that rust-toolchain.toml pins. Nothing is kept outside the checkout but the control plane and the peer,
# which are built from Go modules once per machine, and packages of npm and Python, in ${PLIMSOLL_CACHE:-$HOME/.cache/plimsoll}.

SHELL := bash
.ONESHELL:
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo picture test check bench bench-trace bench-lasting bench-guards bench-peers bench-live bench-rest bench-aws bench-interruption bench-buckets conformance explained fuzz judge lab lab-aws javascript fmt guests generated attach-limits columns definitions class-hashes record toolchain components

CARGO ?= cargo
# From nothing a build is quicker when it keeps nothing for the next one.
export CARGO_INCREMENTAL ?= 0
wasm := wasm32-unknown-unknown
# Without its feature `live` the command line needs no client of an API server and no runtime, and builds sooner.
plimsoll := $(CARGO) run --locked --quiet -p plimsoll --no-default-features --
# Programs that tests build too are chosen by their name, not by `-p`: then their dependencies have the features that the whole workspace
# gives them, and are not compiled a second time with fewer.
program := $(CARGO) run --locked --quiet --bin
bench_folder := $(or $(CARGO_TARGET_DIR),target)/bench
built := $(or $(CARGO_TARGET_DIR),target)/debug
# The program leaves the SDK of AWS out unless asked: it takes minutes and gigabytes to compile.
all := --features plimsoll/aws
# As tests are built: an example beside makes Cargo give every dependency the features that tests have it with, so that what is built after
# `make test`, or before it, compiles no dependency once more.
as_tests := --locked --quiet --workspace $(all) --example drawn_classes
demo_folder := $(or $(CARGO_TARGET_DIR),target)/demo

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: toolchain ## a generated cluster under three strategies: a table, and a report with charts
	mkdir -p "$(demo_folder)"
	@echo "building plimsoll, which takes some ten minutes the first time"
	$(CARGO) build --locked -p plimsoll --no-default-features
	$(plimsoll) generate --seed 1 --scale 60 --services 40 --hours 2 --to "$(demo_folder)/recording.json"
	$(plimsoll) simulate "$(demo_folder)/recording.json" --policy rank=list-price --compare rank=spot-diversified+consolidate=gentle --compare compatible \
		--report "$(demo_folder)/report.html" --picture "$(demo_folder)/cost.svg"

picture: demo ## the demo's chart of costs, as README.md shows it
	cp "$(demo_folder)/cost.svg" host/report/demo.svg

test: toolchain ## every test, the documentation's examples included
	@tests/run.py

check: components ## format, lints and house rules, without the other tests
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace $(all) --all-targets -- -D warnings
	$(CARGO) test --locked --workspace $(all) --test house

fmt: components ## formats every Rust source
	$(CARGO) fmt --all

guests: toolchain ## the policies we ship, as WebAssembly components
	$(CARGO) build --locked -p plimsoll-policies

generated: ## makes generated code and the committed tables anew; PLIMSOLL_DATA names the folder of the published lists
	@test -n "$${PLIMSOLL_DATA:-}" || { echo "error: PLIMSOLL_DATA does not name the folder of the published lists" >&2; exit 2; }
	@$(MAKE) --no-print-directory columns definitions
	python3 host/ec2-facts/scripts/derive.py "$$PLIMSOLL_DATA"

attach-limits: ## makes the table of EBS volumes that types attach anew from the limits of the EBS driver, out of its Go module; needs Go
	python3 host/ec2-facts/scripts/attach_limits.py

columns: components ## makes the code that reads the columns of policies anew from their lists
	$(program) plimsoll-columns

definitions: toolchain ## makes the CRD chart's definitions anew from what the program prints
	$(CARGO) build $(as_tests) --bin plimsoll
	"$(built)/plimsoll" schema crds | charts/split.sh charts/plimsoll-crd/definitions

class-hashes: toolchain ## makes the table anew that holds our static hash of EC2NodeClasses to Karpenter's hashing module, on 1,000 classes that are drawn; needs Go
	hasher=$$(tests/class-hashes/build.sh)/plimsoll-class-hashes
	$(CARGO) run --locked --quiet $(all) --example drawn_classes | "$$hasher" > host/aws/tests/static_hash/hashes.txt

record: toolchain ## answers and fuel of the shipped policies, kept anew beside them
	for folder in policies/{rank,consolidate,budget}-*; do
		$(plimsoll) policy test "$${folder##*/}" --suite "$$folder" --update
		$(plimsoll) policy bench "$${folder##*/}" --suite "$$folder" --update --calls 0
	done

bench: toolchain ## cost of packing against its bound, time of planning and how it grows with pods and with pools, time of small decisions, what inputs cost the engine in small and large clusters, how soon it has acted on pods, what consolidation comes to and takes, peak memory, what asking a policy module costs, and 10,000 recorded decisions made again
	$(program) plimsoll-packing-bench
	$(program) mix
	mkdir -p "$(bench_folder)"
	$(program) growth -- "$(bench_folder)/growth.svg"
	$(program) many_pools
	$(program) decisions
	$(program) engine
	$(program) reaction
	$(program) consolidation
	$(program) cluster -- "$(bench_folder)/cluster.json"
	$(plimsoll) plan "$(bench_folder)/cluster.json" --timings -o json > /dev/null
	$(CARGO) bench --locked --quiet --profile dev --bench price
	$(CARGO) bench --locked --quiet --profile dev --bench disruption
	$(CARGO) bench --locked --quiet --profile dev --bench threads
	$(CARGO) bench --locked --quiet --profile dev --bench refusals
	$(CARGO) bench --locked --quiet --profile dev --bench replay

javascript: ## what makes components of JavaScript, for the guest of the tests in that language; kept in the cache
	@tests/guests/javascript/install.sh

fuzz: toolchain ## modules and their vectors, answers of guests, snapshots and schedules changed at random, each for FUZZ_SECONDS (ten minutes)
	$(CARGO) build $(as_tests) --bin plimsoll-fuzz
	"$(built)/plimsoll-fuzz" all $(or $(FUZZ_SECONDS),600) $(or $(FUZZ_SEED),1)

judge: toolchain ## plans of COUNT random clusters (20,000) from SEED on before the scheduler of Kubernetes in process: every placement, every refusal, and on a twentieth every order of binding; MINOR is 1.36 or 1.37; needs Go
	$(program) plimsoll-judge -- $(or $(COUNT),20000) $(or $(SEED),1) $(or $(MINOR),1.36)

bench-trace: toolchain ## the whole published trace under three policies, with the time of each; PLIMSOLL_DATA names its folder
	@test -n "$${PLIMSOLL_DATA:-}" || { echo "error: PLIMSOLL_DATA does not name the folder of the published lists" >&2; exit 2; }
	$(plimsoll) simulate "$$PLIMSOLL_DATA/traces/openb_pod_list_default.csv" --compare rank=spot-diversified --compare compatible --timings

# Days of many clusters: hours on two processors. FAMILIES and SEEDS choose fewer.
bench-lasting: toolchain ## the bill of days and months, ours beside Karpenter's rules: clusters of seven families, five of each, and the published trace from fifteen days on; FAMILIES names some, SEEDS is how many of each; PLIMSOLL_DATA names the folder of the trace
	$(CARGO) build --locked -p plimsoll --no-default-features
	python3 tests/lasting/lasting.py "$(built)/plimsoll" $(if $(FAMILIES),--families $(FAMILIES)) $(if $(SEEDS),--seeds $(SEEDS))

bench-guards: toolchain ## the price of each guard over days, and the losses that it keeps small; FAMILIES names some, SEEDS is how many of each
	$(CARGO) build --locked -p plimsoll --no-default-features
	python3 tests/lasting/guards.py "$(built)/plimsoll" $(if $(FAMILIES),--families $(FAMILIES)) $(if $(SEEDS),--seeds $(SEEDS))

lab: toolchain ## a real control plane with fake nodes, on loopback, served by plimsoll, until standard input closes
	$(CARGO) build --locked --bin plimsoll --bin plimsoll-lab
	"$(built)/plimsoll-lab" --serve "$(built)/plimsoll"

lab-aws: toolchain ## a control plane and a cloud on loopback whose instances become its nodes some seconds after their launch, with what `plimsoll run --provider aws` needs to serve them, until Ctrl-C
	$(CARGO) build $(as_tests) --bin plimsoll --bin plimsoll-lab --bin plimsoll-lab-aws
	exec "$(built)/plimsoll-lab-aws" "$(built)/plimsoll-lab" charts/plimsoll-crd/definitions "$(built)/plimsoll"

bench-peers: toolchain ## Karpenter's scheduler and ours on the very same files, side by side
	$(program) side_by_side

bench-live: toolchain ## Karpenter's controller and ours at the same work in the lab: time, price, memory and processor time, against the bars; how soon claims are made, and a change of policies is planned for; SCENARIO is shapes, by-host or mixed, all by default
	$(CARGO) build --locked --quiet --bin plimsoll --bin live --bin just_in_time --bin policy_change
	"$(built)/live" $(SCENARIO)
	"$(built)/just_in_time"
	"$(built)/policy_change"

bench-rest: toolchain ## 2,000 nodes and 20,000 pods in the lab to which nothing happens: memory and processors of the controller
	$(CARGO) build --locked --quiet --bin plimsoll --bin rest
	"$(built)/rest"

bench-aws: toolchain ## Karpenter's AWS controller, unmodified, and ours at the same scripts on the same cloud on loopback: objects, tags, launch templates, fleets, doubles and prices; SCRIPT names some, SEED draws one of those that are short, all by default; SCRIPT=large fills 1,000 nodes within the rates of an account, or NODES of them
	$(CARGO) build $(as_tests) --bin plimsoll --bin same_cloud
	$(if $(NODES),PLIMSOLL_BENCH_NODES="$(NODES)") "$(built)/same_cloud" $(SCRIPT) $(if $(SEED),--seed $(SEED))

bench-interruption: toolchain ## 1,000 nodes on a cloud on loopback: time from the message that a spot instance is taken back to the taint of its node, one by one and among thousands of others
	$(CARGO) build $(as_tests) --bin plimsoll --bin interruption
	"$(built)/interruption"

bench-buckets: toolchain ## 1,000 instances launched, tagged and ended on a cloud on loopback with the default buckets of an account: seconds, calls and throttled ones; INSTANCES and LAUNCHES say how many
	$(CARGO) build $(as_tests) --example buckets
	"$(built)/examples/buckets" $(or $(INSTANCES),1000) $(or $(LAUNCHES),20)

conformance: toolchain ## Karpenter's regression suite against plimsoll in the lab, spec by spec; SPECS is all, 'some COUNT SEED', 'short COUNT SEED' or 'focus PATTERN'
	$(CARGO) build $(as_tests) --bin plimsoll --bin conformance
	"$(built)/conformance" --serve "$(built)/plimsoll" $(or $(SPECS),all)

explained: toolchain ## what `plimsoll explain` says of COUNT random situations (200) in the lab, beside what the controller then does; SEED draws others
	PLIMSOLL_SITUATIONS=$(or $(COUNT),200) PROPTEST_RNG_SEED=$(or $(SEED),1) $(CARGO) test --locked --workspace $(all) --test live -- --nocapture what_is_explained

# rust-toolchain.toml names version, target and components; a rustup that installs nothing by itself is asked to.
toolchain:
	@rustc --version > /dev/null 2>&1 || rustup toolchain install
	@test -d "$$(rustc --print target-libdir --target $(wasm))" || rustup target add $(wasm)

components: toolchain
	@$(CARGO) fmt --version > /dev/null 2>&1 || rustup component add rustfmt
	@$(CARGO) clippy --version > /dev/null 2>&1 || rustup component add clippy
