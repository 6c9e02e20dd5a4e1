#!/usr/bin/env python3
"""Builds every test program and runs them all, two at a time; `make test` calls it.

Cargo runs test programs one after the other, and in each of them the last slow test has the machine to itself. Here a second
program runs beside the first. Those that wait for a live control plane have two lanes of their own, so that no worker waits with
them, and what they need of others is built or installed while Rust compiles.

A test that cannot run here (no compiler for C, no published lists) writes a line `NOT RUN: <test>: <reason>` to standard error.
It counts as skipped, not as passed. The last line is `N passed, N failed, N skipped`; the exit code is 1 where anything failed.
"""

import json
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO = os.environ.get("CARGO", "cargo")
# All of the program, which leaves the SDK of AWS out unless asked.
FEATURES = ["--features", "plimsoll/aws"]
# Packages whose tests start servers and mostly wait for them.
LIVE = {"plimsoll-conformance", "plimsoll-lab"}
# Programs of other packages that do the same.
LIVE_PROGRAMS = {"live", "lab_aws"}
# Programs of others that tests start, built from Go modules once per machine, and the SDK of Python, installed as often; those for which
# most tests wait come first.
OTHERS = ["tests/lab/build.sh", "tests/cloud/check/install.sh", "tests/lab/helm.sh", "tests/lab/karpenter.sh", "tests/peers/build.sh",
          "tests/conformance/suite/build.sh", "tests/oracles/scheduler/all.sh"]
LANES = 2
# The one of them that takes as long as all others together has a lane of its own.
LONG = "live"
# Tests of one such program that run at the same time, of the long one and of others: they leave most of a processor to what runs beside.
LIVE_THREADS = (6, 3)
# Seconds after which a program counts as hung; the longest takes a fifth of it on a busy machine.
LONGEST = 2400

RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed;", re.M)
SKIPPED = re.compile(r"NOT RUN: (.*)")


class Tally:
    """What ran so far, shared by all lanes; prints a program's output when the program has ended."""

    def __init__(self):
        self.lock = threading.Lock()
        self.passed = self.failed = 0
        self.skipped, self.broken, self.seconds = [], [], []

    def add(self, name, output, status, seconds):
        results = RESULT.findall(output)
        failed = sum(int(result[1]) for result in results)
        skipped = SKIPPED.findall(output)
        if status != 0 and failed == 0:
            failed = 1  # It was killed, or did not come to its end.
        with self.lock:
            self.passed += sum(int(result[0]) for result in results) - len(skipped)
            self.failed += failed
            self.skipped += skipped
            self.seconds.append((seconds, name))
            if failed:
                self.broken.append(name)
            print(f"\n== {name}: {seconds:.0f} s\n{output.strip()}", flush=True)


def built():
    """Compiles all test programs; a list of (package, program's name, executable, folder of the package)."""
    command = [CARGO, "test", "--locked", "--workspace", *FEATURES, "--no-run", "--message-format", "json-render-diagnostics"]
    programs = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as cargo:
        for line in cargo.stdout:
            message = json.loads(line) if line.startswith("{") else {}
            if message.get("reason") == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
                folder = Path(message["manifest_path"]).parent
                package = re.search(r"^name = \"(.*)\"", (folder / "Cargo.toml").read_text(), re.M).group(1)
                programs.append((package, message["target"]["name"], message["executable"], folder))
    return programs, cargo.returncode


def run(tally, name, command, folder, environment):
    """One program to its end."""
    started = time.monotonic()
    try:
        ended = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", check=False, timeout=LONGEST)
        tally.add(name, ended.stdout, ended.returncode, time.monotonic() - started)
    except subprocess.TimeoutExpired as hung:
        said = hung.stdout or b""
        said = said if isinstance(said, str) else said.decode(errors="replace")
        tally.add(name, f"{said}\nit did not end within {LONGEST} s", 1, time.monotonic() - started)


def settle(tally, name, future):
    """A program that could not be run to its end counts as failed."""
    if future.exception() is not None:
        tally.add(name, f"it could not be run: {future.exception()}", 1, 0)


def main():
    started = time.monotonic()
    # One after the other, whatever fails.
    others = subprocess.Popen(["nice", "-n", "10", "bash", "-c", 'for script; do "$script"; done', "bash", *OTHERS], cwd=ROOT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    programs, status = built()
    compiled = time.monotonic() - started
    print(f"\n== {len(programs)} test programs built in {compiled:.0f} s", flush=True)
    if status != 0 or not programs:
        others.terminate()
        print("\nfailed: the tests do not compile\n\n0 passed, 1 failed, 0 skipped")
        return 1

    tally = Tally()
    libraries = subprocess.run(["rustc", "--print", "target-libdir"], cwd=ROOT, capture_output=True, text=True, check=True)
    environment = dict(os.environ, CARGO=CARGO)
    known = [libraries.stdout.strip(), os.environ.get("LD_LIBRARY_PATH", "")]
    environment["LD_LIBRARY_PATH"] = ":".join(filter(None, known))
    futures = {}
    with ThreadPoolExecutor(LANES) as lanes, ThreadPoolExecutor(1) as live, ThreadPoolExecutor(1) as longest:
        for package, name, executable, folder in programs:
            lane, command = lanes, [executable]
            if package in LIVE or name in LIVE_PROGRAMS:
                is_long = package == "plimsoll" and name == LONG
                lane = longest if is_long else live
                command += ["--test-threads", str(LIVE_THREADS[0 if is_long else 1])]
            own = dict(environment, CARGO_MANIFEST_DIR=str(folder), CARGO_PKG_NAME=package)
            futures[f"{package} {name}"] = lane.submit(run, tally, f"{package} {name}", command, folder, own)
        examples = [CARGO, "test", "--locked", "--workspace", *FEATURES, "--doc", "--no-fail-fast"]
        name = "examples in the documentation"
        futures[name] = lanes.submit(run, tally, name, examples, ROOT, None)
    for name, future in futures.items():
        settle(tally, name, future)
    others.wait()

    print(f"\nbuilt in {compiled:.0f} s, all in {time.monotonic() - started:.0f} s; the longest:")
    for seconds, name in sorted(tally.seconds, reverse=True)[:8]:
        print(f"{seconds:7.0f} s  {name}")
    for line in tally.skipped:
        print(f"skipped: {line}")
    if tally.broken:
        print(f"failed: {', '.join(tally.broken)}")
    print(f"\n{tally.passed} passed, {tally.failed} failed, {len(tally.skipped)} skipped")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
