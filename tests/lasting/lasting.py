#!/usr/bin/env python3
"""The bill of days and months: families of clusters, and the published trace from several days on, under our default and under
Karpenter's rules, side by side.

PROGRAM is the command line's program. PLIMSOLL_DATA names the folder of the published lists; without it the trace is left out, which is
said. What Karpenter's rules come to is played once, kept in compatible.tsv beside this script, and may not move: --again plays them
once more, and a bill that differs by more than a hundredth fails the run.
"""

import argparse
import hashlib
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# The checkout stays as it is.
sys.dont_write_bytecode = True
import families  # noqa: E402

KEPT = Path(__file__).with_name("compatible.tsv")
COLUMNS = ("dollars", "bound", "evicted", "p50", "launches")
SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 0.001}
# How far a bill under Karpenter's rules may move.
FROZEN = 0.01


class Failed(Exception):
    """A run that did not come to its end."""


def seconds(text):
    """Seconds of a duration as the program writes it, such as 1m32.5s."""
    return sum(float(number) * SECONDS[unit] for number, unit in re.findall(r"([0-9.]+)(ms|[dhms])", text))


def figures(run):
    """What is compared of the document of a run."""
    return {"dollars": run["cost"]["dollars"], "bound": run["cost"].get("lpBoundDollars", 0), "evicted": run["pods"]["evicted"],
            "p50": seconds(run["pending"]["p50"]), "launches": run["nodes"]["launches"]}


def written(family, seed, settings=None):
    """The text of a recording."""
    if family == "trace":
        return json.dumps(families.trace(os.environ["PLIMSOLL_DATA"], seed, settings))
    return json.dumps(families.drawn(family, seed, settings))


def simulated(program, family, seed, policy, settings):
    """Figures of one run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording.json"
        path.write_text(written(family, seed, settings), encoding="utf-8")
        command = [program, "simulate", str(path), "--policy", policy, "--threads", "1", "-o", "json"]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise Failed(f"{family} {seed}: {ended.stderr.strip()}")
    return figures(json.loads(ended.stdout)["runs"][0])


def digest(family, seed):
    return hashlib.sha256(written(family, seed).encode()).hexdigest()[:12]


def kept():
    """Figures under Karpenter's rules, by family and seed, with the digest of the recording that they are of."""
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {(family, int(seed)): dict(zip(COLUMNS, map(float, values)), of=of) for family, seed, of, *values in rows}


def keep(rows):
    lines = ["# Runs under Karpenter's rules, played by lasting.py where they were not yet here.", "\t".join(["# family", "seed", "recording", *COLUMNS])]
    for (family, seed), row in sorted(rows.items()):
        lines.append("\t".join([family, str(seed), row["of"], *(f"{row[column]:.12g}" for column in COLUMNS)]))
    KEPT.write_text("\n".join(lines) + "\n", encoding="utf-8")


def line(name, ours, theirs):
    cells = f"{name:<14}{ours['dollars']:12.2f}{theirs['dollars']:12.2f}{ours['dollars'] / theirs['dollars']:9.4f}"
    for row in ours, theirs:
        cells += f"{row['dollars'] / row['bound']:9.3f}" if row["bound"] else f"{'-':>9}"
    return cells + "".join(f"{row[column]:9.{digits}f}" for column, digits in (("evicted", 0), ("p50", 1)) for row in (ours, theirs))


def summary(pairs):
    """A family in one line, and its median."""
    ratios = sorted(ours["dollars"] / theirs["dollars"] for ours, theirs in pairs)
    evicted = sum(ours["evicted"] for ours, _ in pairs) / max(1, sum(theirs["evicted"] for _, theirs in pairs))
    median = statistics.median(ratios)
    below = sum(ratio < 1 for ratio in ratios)
    return f"median {median:.4f}, {ratios[0]:.4f} to {ratios[-1]:.4f}, {below} of {len(ratios)} below 1; evictions {evicted:.2f} x", median


def picture(by_family):
    """The bills of each family above and below those of Karpenter's rules: a line from the least to the most, and a mark at the median."""
    width, left, line, top = 900, 150, 44, 70
    spread = max(0.05, *(abs(ratio - 1) for ratios in by_family.values() for ratio in ratios))
    step = 0.1 if spread <= 0.3 else 0.2
    edge = math.ceil(spread / step) * step
    place = lambda ratio: left + (ratio - 1 + edge) / (2 * edge) * (width - left - 40)
    bottom = top + line * len(by_family)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 40}" font-family="system-ui, sans-serif" font-size="16">',
             "<style>:root{--ink:#1d2530;--paper:#fff;--less:#0a7d55;--more:#b4431b}@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--paper:#12161c;--less:#3ecf97;--more:#f08a5d}}"
             "rect{fill:var(--paper)}text{fill:var(--ink)}.grid{stroke:var(--ink);opacity:.2}.one{stroke:var(--ink)}.less{stroke:var(--less);fill:var(--less)}.more{stroke:var(--more);fill:var(--more)}</style>",
             f'<rect width="{width}" height="{bottom + 40}"/>', '<text x="20" y="30" font-weight="bold">The bill over time, beside that of Karpenter\'s rules (less is to the left)</text>']
    for number in range(-round(edge / step), round(edge / step) + 1):
        at = place(1 + number * step)
        parts.append(f'<line class="{"grid" if number else "one"}" x1="{at:.1f}" x2="{at:.1f}" y1="{top - 12}" y2="{bottom}"/>')
        label = f"{number * step:+.0%}" if number else "Karpenter's"
        parts.append(f'<text x="{at:.1f}" y="{bottom + 24}" text-anchor="middle">{label}</text>')
    for row, (family, ratios) in enumerate(by_family.items()):
        down, median = top + line * row + 12, statistics.median(ratios)
        side = "less" if median < 1 else "more"
        parts.append(f'<text x="20" y="{down + 5}">{family}</text><line class="{side}" stroke-width="4" x1="{place(min(ratios)):.1f}" x2="{place(max(ratios)):.1f}" y1="{down}" y2="{down}"/>'
                     f'<circle class="{side}" cx="{place(median):.1f}" cy="{down}" r="8"/>')
    return "\n".join([*parts, "</svg>", ""])


def moved(pool, program, work, theirs):
    """Plays Karpenter's rules once more; how many bills are not what they were."""
    count = 0
    for (family, seed), row in zip(work, pool.map(lambda one: simulated(program, *one, "compatible", None), work)):
        was = theirs[family, seed]["dollars"]
        if abs(row["dollars"] / was - 1) > FROZEN:
            count += 1
            print(f"error: {family} {seed} under Karpenter's rules: {row['dollars']:.2f} dollars; expected {was:.2f}, within a hundredth", flush=True)
    return count


def parser(words, every, seeds):
    """The arguments of a script that plays families, SEEDS clusters of each by default."""
    result = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("program", metavar="PROGRAM")
    result.add_argument("--families", nargs="+", choices=every, default=every, metavar="NAME", help=", ".join(every) + "; all by default")
    result.add_argument("--seeds", type=int, default=seeds, help=f"clusters of each family ({seeds}); the trace has its own days")
    result.add_argument("--runs", type=int, default=os.cpu_count(), help="runs at a time (one a processor)")
    return result


def parsed(known, target):
    """The arguments that were typed; TARGET of `make` builds the program."""
    options = known.parse_args()
    if not os.access(options.program, os.X_OK):
        known.error(f"PROGRAM is {options.program!r}; expected the program plimsoll, which `make {target}` builds")
    for name in "seeds", "runs":
        if getattr(options, name) < 1:
            known.error(f"--{name} is {getattr(options, name)}; expected at least 1")
    return options


def asked():
    known = parser(__doc__, ["trace", *families.FAMILIES], 5)
    known.add_argument("--settings", type=json.loads, metavar="JSON", help="settings of a snapshot for our runs alone, to try a change")
    known.add_argument("--picture", type=Path, metavar="FILE.svg", help="draws the families' bills")
    known.add_argument("--again", action="store_true", help="plays Karpenter's rules once more")
    return parsed(known, "bench-lasting")


def play(options):
    chosen = list(options.families)
    if "trace" in chosen and not os.environ.get("PLIMSOLL_DATA"):
        print("the trace is left out: PLIMSOLL_DATA does not name the folder of the published lists")
        chosen.remove("trace")
    seeds = range(1, options.seeds + 1)
    work = [(family, seed) for family in chosen for seed in (families.FIRST_DAYS if family == "trace" else seeds)]
    theirs, by_family = kept(), {}
    with ThreadPoolExecutor(options.runs) as pool:
        missing = [one for one in work if theirs.get(one, {}).get("of") != digest(*one)]
        for one, row in zip(missing, pool.map(lambda one: simulated(options.program, *one, "compatible", None), missing)):
            theirs[one] = dict(row, of=digest(*one))
            keep(theirs)
        if options.again and moved(pool, options.program, work, theirs):
            return 1
        heads = ("ours $", "theirs $", "ratio", "/ bound", "/ bound", "evicted", "theirs", "p50 s", "theirs")
        print(f"{'':<14}" + "".join(f"{head:>{12 if at < 2 else 9}}" for at, head in enumerate(heads)), flush=True)
        for (family, seed), row in zip(work, pool.map(lambda one: simulated(options.program, *one, "rank=list-price", options.settings), work)):
            print(line(f"{family} {seed}", row, theirs[family, seed]), flush=True)
            by_family.setdefault(family, []).append((row, theirs[family, seed]))
    if options.picture and by_family:
        options.picture.write_text(picture({family: [ours["dollars"] / theirs["dollars"] for ours, theirs in pairs] for family, pairs in by_family.items()}), encoding="utf-8")
    print()
    medians = []
    for family, pairs in by_family.items():
        text, median = summary(pairs)
        medians.append(median)
        print(f"{family:<14}{text}")
    print(f"geometric mean of the medians {math.exp(statistics.fmean(map(math.log, medians))):.4f}" if medians else "nothing was played")
    return 0


def main():
    try:
        return play(asked())
    except (Failed, OSError) as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
