#!/usr/bin/env python3
"""Derives the statistics that `plimsoll generate` draws from.

usage: derive_statistics.py DATA_DIR > host/cli/src/generate/statistics.tsv

Reads traces/openb_pod_list_default.csv (production tasks of a GPU cluster, Alibaba openb 2023) and prints, instead of
its rows, what they look like together: request shapes with weights, arrivals by hour of the day, lifetimes by quantile.
"""

import csv
import sys
from collections import Counter
from pathlib import Path

QUANTILES = [0, 5, 10, 25, 50, 75, 90, 95, 99]


def main() -> None:
    table = Path(sys.argv[1]) / "traces" / "openb_pod_list_default.csv"
    shapes: Counter = Counter()
    hours: Counter = Counter()
    lifetimes: dict = {"cpu": [], "gpu": []}
    with table.open(newline="") as source:
        for row in csv.DictReader(source):
            gpus = int(row["num_gpu"])
            shapes[(gpus, int(row["cpu_milli"]), int(row["memory_mib"]))] += 1
            created, deleted = int(row["creation_time"]), int(row["deletion_time"])
            hours[created // 3600 % 24] += 1
            lifetimes["gpu" if gpus else "cpu"].append(deleted - created)
    print("# Statistics of the Alibaba openb 2023 trace, made by host/cli/scripts/derive_statistics.py.")
    print("# shape\tgpus\tcpu_milli\tmemory_mib\ttasks")
    for (gpus, cpu, memory), count in sorted(shapes.items()):
        print(f"shape\t{gpus}\t{cpu}\t{memory}\t{count}")
    print("# hour\thour of day\tarrivals")
    for hour in range(24):
        print(f"hour\t{hour}\t{hours[hour]}")
    print("# lifetime\tkind\tpercent\tseconds")
    for kind, values in sorted(lifetimes.items()):
        values.sort()
        for percent in QUANTILES:
            print(f"lifetime\t{kind}\t{percent}\t{values[(len(values) - 1) * percent // 100]}")


if __name__ == "__main__":
    main()
