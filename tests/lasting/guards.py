#!/usr/bin/env python3
"""The price of each guard, and what it buys: clusters of the families played with all guards and without one after the other.

PROGRAM is the command line's program. A line holds a family, a guard, its price (the bill with it above the bill without it, medians
over the seeds), and the losses that it keeps small, with and without it: the share of a workload's replicas that goes with the node
that has most of them, the share of all pods that goes with one zone, and with the spot capacity of one instance type and zone.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# The checkout stays as it is.
sys.dont_write_bytecode = True
import families  # noqa: E402
from lasting import Failed, parsed, parser, written  # noqa: E402

GUARDS = ("pods-per-node", "replicas-per-node", "node-share", "exotic-types", "unrequested-spot", "spot-share", "least-saving", "lost-work")
LOSSES = ("node", "zone", "spotPool")


def played(program, family, seed, guards):
    """The runs with all guards, and without each of some."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording.json"
        path.write_text(written(family, seed), encoding="utf-8")
        what_ifs = [word for guard in guards for word in ("--what-if", f"{guard}=off")]
        command = [program, "simulate", str(path), *what_ifs, "--threads", "1", "-o", "json"]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise Failed(f"{family} {seed}: {ended.stderr.strip()}")
    return json.loads(ended.stdout)["runs"]


def median(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def loss(runs, kind):
    return median([run["losses"].get(kind, {}).get("meanPercent") for run in runs])


def line(family, guard, withs, withouts):
    price = statistics.median(ours["cost"]["dollars"] / other["cost"]["dollars"] - 1 for ours, other in zip(withs, withouts))
    cells = f"{family:<10}{guard:<20}{price:+8.2%}"
    for kind in LOSSES:
        for runs in (withs, withouts):
            share = loss(runs, kind)
            cells += f"{'-':>9}" if share is None else f"{share:8.1f}%"
    return cells


def asked():
    known = parser(__doc__, list(families.FAMILIES), 3)
    known.add_argument("--guards", nargs="+", choices=GUARDS, default=GUARDS, metavar="RULE", help=", ".join(GUARDS))
    return parsed(known, "bench-guards")


def play(options):
    heads = ("price", "node", "without", "zone", "without", "spot", "without")
    print(f"{'':<30}" + "".join(f"{head:>{8 if at == 0 else 9}}" for at, head in enumerate(heads)), flush=True)
    work = [(family, seed) for family in options.families for seed in range(1, options.seeds + 1)]
    by_family = {}
    with ThreadPoolExecutor(options.runs) as pool:
        for (family, _), runs in zip(work, pool.map(lambda one: played(options.program, *one, options.guards), work)):
            own = by_family.setdefault(family, [])
            own.append(runs)
            if len(own) == options.seeds:
                for at, guard in enumerate(options.guards, 1):
                    print(line(family, guard, [runs[0] for runs in own], [runs[at] for runs in own]), flush=True)
    return 0


def main():
    try:
        return play(asked())
    except (Failed, OSError) as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
