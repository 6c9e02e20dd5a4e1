#!/usr/bin/env python3
"""Make the table of EBS volumes that instance types attach from the limits of the EBS driver itself.

usage: attach_limits.py [FOLDER [OUTPUT]]

FOLDER is `pkg/cloud/limits` of the driver's sources; without it the module of the version below is fetched by `go mod download`.
OUTPUT defaults to `tables/attach-limits.tsv` beside this script's folder. The output depends on the input alone: rows are sorted by name.

The driver's own function is followed (`GetVolumeLimits`): types without Nitro have one limit, others that of its table, and types that it
does not know one that they share with network interfaces. What it states in code is looked for there, and a driver that states something
else is refused, since the crate relies on it.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MODULE = "github.com/kubernetes-sigs/aws-ebs-csi-driver"
VERSION = "v1.63.1"

# Limits that stand in the driver's code: of types without Nitro, and of types that it does not know.
STATED = ["return 39, util.AttachmentDedicated", "return 27, util.AttachmentShared"]
WITHOUT_NITRO = (39, "dedicated")
HEADER = (
    f"# EBS volumes that types attach, those of the node itself among them: from pkg/cloud/limits of {MODULE} {VERSION}; "
    "derived by scripts/attach_limits.py, not edited by hand"
)


def fetched():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "go.mod").write_text("module limits\n")
        ask = ["go", "mod", "download", "-json", f"{MODULE}@{VERSION}"]
        told = json.loads(subprocess.run(ask, cwd=folder, check=True, stdout=subprocess.PIPE).stdout)
    return Path(told["Dir"], "pkg/cloud/limits")


def block(text, name):
    found = re.search(rf"^var {name} = map\[string\]\S+( ?\{{\}})?\{{$(.*?)^\}}$", text, re.M | re.S)
    if not found:
        sys.exit(f"error: the driver has no map {name}")
    return found[2].strip().splitlines()


def names(lines):
    return {re.fullmatch(r'\s*"([^"]+)":\s*\{\},', line)[1] for line in lines}


def main(folder, output):
    code, tables = (folder.joinpath(name).read_text() for name in ("volume_limits.go", "volume_limits_table.go"))
    for stated in STATED:
        if stated not in code:
            sys.exit(f"error: the driver does not say `{stated}`")
    limits = {name: WITHOUT_NITRO for name in names(block(tables, "nonNitroInstanceTypes"))}
    dedicated = names(block(code, "dedicatedInstances"))
    for line in block(tables, "volumeLimits"):
        name, most, kind = re.fullmatch(r'\s*"([^"]+)":\s*\{(\d+), "(shared|dedicated)"\},', line).groups()
        limits.setdefault(name, (int(most), "dedicated" if name in dedicated else kind))
    rows = [HEADER, "name\tvolumes\tattachment"]
    rows += [f"{name}\t{most}\t{kind}" for name, (most, kind) in sorted(limits.items())]
    output.write_text("".join(row + "\n" for row in rows))


if __name__ == "__main__":
    here = Path(__file__).resolve().parent.parent
    given = [Path(argument) for argument in sys.argv[1:]]
    main(given[0] if given else fetched(), given[1] if len(given) > 1 else here / "tables/attach-limits.tsv")
