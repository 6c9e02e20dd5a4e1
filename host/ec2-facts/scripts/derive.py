#!/usr/bin/env python3
"""Derive the tables of plimsoll-ec2-facts from published lists of EC2 facts.

usage: derive.py DATA_DIR [OUTPUT_DIR]

DATA_DIR holds `instance-types/` and `prices/` (see README.md for the files). OUTPUT_DIR defaults to
`tables/` beside this script's folder. The output depends on the input alone: rows are sorted by name.

What can be told from a type's name or from another column is left out of the tables; this script
refuses input for which that would lose something, so that the crate may rely on it.
"""

import json
import re
import sys
from pathlib import Path

PREFIX = "karpenter.k8s.aws/instance-"
NAME_PATTERN = re.compile(r"(^[a-z]+)(-[0-9]+tb)?([0-9]+).*\.")
ABSENT = "-"

TYPE_COLUMNS = [
    "name", "cpu", "memory_mib", "architecture", "cpu_manufacturer", "clock_mhz", "hypervisor",
    "encryption_in_transit", "ebs_mbps", "network_mbps", "local_nvme_gb",
    "gpu_manufacturer", "gpu_name", "gpu_count", "gpu_memory_mib",
    "accelerator_manufacturer", "accelerator_name", "accelerator_count", "cores_per_accelerator",
    "interfaces_per_card", "ipv4_per_interface", "branch_interfaces", "efa",
]  # fmt: skip
ALLOCATABLE_COLUMNS = {
    "cpu": "cpu_milli",
    "memory": "memory_mib",
    "ephemeral-storage": "ephemeral_gib",
    "pods": "pods",
    "vpc.amazonaws.com/pod-eni": "vpc.amazonaws.com/pod-eni",
    "vpc.amazonaws.com/efa": "vpc.amazonaws.com/efa",
    "nvidia.com/gpu": "nvidia.com/gpu",
    "amd.com/gpu": "amd.com/gpu",
    "aws.amazon.com/neuron": "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore": "aws.amazon.com/neuroncore",
}
# Labels that a column of the table holds as it is.
COLUMN_OF_LABEL = {
    PREFIX + "cpu": "cpu",
    PREFIX + "memory": "memory_mib",
    "kubernetes.io/arch": "architecture",
    PREFIX + "cpu-manufacturer": "cpu_manufacturer",
    PREFIX + "cpu-sustained-clock-speed-mhz": "clock_mhz",
    PREFIX + "hypervisor": "hypervisor",
    PREFIX + "encryption-in-transit-supported": "encryption_in_transit",
    PREFIX + "ebs-bandwidth": "ebs_mbps",
    PREFIX + "network-bandwidth": "network_mbps",
    PREFIX + "local-nvme": "local_nvme_gb",
    PREFIX + "gpu-manufacturer": "gpu_manufacturer",
    PREFIX + "gpu-name": "gpu_name",
    PREFIX + "gpu-count": "gpu_count",
    PREFIX + "gpu-memory": "gpu_memory_mib",
    PREFIX + "accelerator-manufacturer": "accelerator_manufacturer",
    PREFIX + "accelerator-name": "accelerator_name",
    PREFIX + "accelerator-count": "accelerator_count",
}


def require(condition, type_name, what):
    """Stop with a sentence when the input breaks an assumption of the tables."""
    if not condition:
        sys.exit(f"error: {type_name}: {what}")


def labels_told_by_name(name):
    """The labels that follow from a type's name alone."""
    family, size = name.split(".", 1)
    match = NAME_PATTERN.match(name)
    require(match, name, "the name has no category and generation")
    return {
        "node.kubernetes.io/instance-type": name,
        "kubernetes.io/os": "linux",
        PREFIX + "family": family,
        PREFIX + "size": size,
        PREFIX + "category": match[1],
        PREFIX + "generation": match[3],
        PREFIX + "capability-flex": "true" if "-flex" in family else "false",
    }


def network_columns(name, limits):
    """Cards, addresses and branch interfaces; all absent for a type without documented limits."""
    if limits is None:
        return {}
    cards = limits["networkCards"]
    require(limits["defaultNetworkCard"] == 0, name, "the default network card is not card 0")
    require(sum(cards) == limits["interfaces"], name, "the cards' interfaces do not add up")
    require(limits["bareMetal"] == (".metal" in name), name, "bare metal, but the name does not say so")
    require(limits["trunking"] == (limits["branchInterfaces"] > 0), name, "trunking without branch interfaces")
    return {
        "interfaces_per_card": ",".join(str(count) for count in cards),
        "ipv4_per_interface": limits["ipv4PerInterface"],
        "branch_interfaces": limits["branchInterfaces"],
    }


def cores_per_accelerator(labels, allocatable):
    """Neuron cores of one device by device name, told from the types whose allocatable is documented."""
    cores = {}
    for name, resources in allocatable.items():
        if "aws.amazon.com/neuroncore" not in resources:
            continue
        device = labels[name][PREFIX + "accelerator-name"]
        each, rest = divmod(int(resources["aws.amazon.com/neuroncore"]), int(resources["aws.amazon.com/neuron"]))
        require(rest == 0 and cores.setdefault(device, each) == each, name, f"cores of {device} differ between types")
    return cores


def type_rows(labels, allocatable, limits):
    """One row per documented type."""
    cores = cores_per_accelerator(labels, allocatable)
    for name in sorted(labels):
        told = labels_told_by_name(name)
        row = {"name": name}
        for key, value in labels[name].items():
            if key in COLUMN_OF_LABEL:
                row[COLUMN_OF_LABEL[key]] = value
            else:
                require(told.pop(key, None) == value, name, f"label {key}={value} does not follow from the name")
        require(not told, name, f"labels are missing: {sorted(told)}")
        network = network_columns(name, limits.get(name))
        require(
            not network or limits[name]["hypervisor"] == row.get("hypervisor", ""), name, "two hypervisors are named"
        )
        row.update(network)
        row["cores_per_accelerator"] = cores.get(row.get("accelerator_name"), ABSENT)
        if name in allocatable:
            row["efa"] = allocatable[name].get("vpc.amazonaws.com/efa", 0)
        yield [str(row.get(column, ABSENT)) for column in TYPE_COLUMNS]


def allocatable_rows(allocatable):
    """The documented allocatable, units moved from the values to the column names."""
    units = {"cpu": "m", "memory": "Mi", "ephemeral-storage": "Gi"}
    for name in sorted(allocatable):
        resources = allocatable[name]
        require(set(resources) <= set(ALLOCATABLE_COLUMNS), name, "an unknown resource is documented")
        row = [name]
        for resource in ALLOCATABLE_COLUMNS:
            value, unit = resources.get(resource, "0"), units.get(resource, "")
            require(value.endswith(unit), name, f"{resource} {value} is not in {unit}")
            row.append(value.removesuffix(unit))
        yield row


def price_rows(prices):
    """One row per type that has a price anywhere; prices as written in the source."""
    for name in sorted({name for region in prices.values() for name in region}):
        yield [name] + [prices[region].get(name, ABSENT) for region in sorted(prices)]


def write_table(path, source, columns, rows):
    """A header line that names the source, a line of column names, then the rows. A table that is right already is not written again, since
    Cargo goes by the time of the last write."""
    lines = [f"# {source}", "\t".join(columns)]
    lines += ["\t".join(row) for row in rows]
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8", newline="\n")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    data = Path(sys.argv[1])
    output = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).resolve().parent.parent / "tables"

    def load(path, **options):
        return json.loads((data / path).read_text(encoding="utf-8"), **options)

    labels = load("instance-types/documented-labels.json")
    allocatable = load("instance-types/documented-allocatable.json")
    limits = load("instance-types/vpc-limits.json")
    prices, currencies = {}, {}
    for suffix, currency in (("", "USD"), ("-cn", "CNY"), ("-us-gov", "USD")):
        # A price stays the text it was: no detour through binary fractions.
        for region, by_type in load(f"prices/on-demand-aws{suffix}.json", parse_float=str, parse_int=str).items():
            prices[region], currencies[region] = by_type, currency

    write_table(
        output / "instance-types.tsv",
        "EC2 types: labels and EFA from the Karpenter reference page of instance types, "
        "network limits from the AWS VPC limits; derived by scripts/derive.py, not edited by hand",
        TYPE_COLUMNS,
        type_rows(labels, allocatable, limits),
    )
    write_table(
        output / "on-demand-prices.tsv",
        "on-demand list prices per hour, Linux, shared tenancy: as baked into aws/karpenter-provider-aws, "
        "August 2026; derived by scripts/derive.py, not edited by hand",
        ["name"] + [f"{region}/{currencies[region]}" for region in sorted(prices)],
        price_rows(prices),
    )
    write_table(
        output / "documented-allocatable.tsv",
        "allocatable as documented (AL2023, default settings) by the Karpenter reference page of instance types; "
        "derived by scripts/derive.py, not edited by hand",
        ["name"] + list(ALLOCATABLE_COLUMNS.values()),
        allocatable_rows(allocatable),
    )


if __name__ == "__main__":
    main()
