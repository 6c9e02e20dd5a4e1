#!/usr/bin/env python3
"""Derives the cases of Karpenter's kinds from manifests that its API takes and refuses: what they change in a smallest object.

usage: derive.py FOLDER_WITH_VALID_AND_INVALID_MANIFESTS

In FOLDER/valid every object is taken. In FOLDER/invalid each object follows a comment "# CASE id | LAYER layer | ...", and updates.yaml
lists pairs with the fields case, expect, before and after. Ours, and kept, are where a refusal points (`at`) and its words, by the id of the
case, the status of a kind, and cases whose id none of the manifests has. Policy.yaml is of a kind of ours and is not touched.
"""
import json
import pathlib
import re
import sys

import yaml

HERE = pathlib.Path(__file__).parent / "cases"
REFERENCE = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
TAGS = [{"tags": {"karpenter.sh/discovery": "demo"}}]
BASES = {
    "NodePool": {"template": {"spec": {"nodeClassRef": REFERENCE, "requirements": []}}},
    "NodeClaim": {"nodeClassRef": REFERENCE, "requirements": []},
    "NodeOverlay": {"requirements": []},
    "CapacityBuffer": {},
    "KWOKNodeClass": {},
    "EC2NodeClass": {
        "role": "node", "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "subnetSelectorTerms": TAGS, "securityGroupSelectorTerms": TAGS,
    },
}
VERSIONS = {
    "NodePool": "karpenter.sh/v1", "NodeClaim": "karpenter.sh/v1", "NodeOverlay": "karpenter.sh/v1alpha1",
    "CapacityBuffer": "autoscaling.x-k8s.io/v1beta1", "KWOKNodeClass": "karpenter.kwok.sh/v1alpha1",
    "EC2NodeClass": "karpenter.k8s.aws/v1",
}
# Fields whose value in the manifests is any that is allowed: those of the smallest object are kept.
ANY = {("nodeClassRef", "name"), ("role",)}
PLAIN = re.compile("[A-Za-z][A-Za-z0-9_./@-]*")
RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
# Items of a list from which on they are written as one, with # for their number.
MANY = 12
# Kinds that are not served any more stand beside their successors.
SUCCESSORS = {"Provisioner": "NodePool", "AWSNodeTemplate": "EC2NodeClass"}


def filled(item, number):
    """The item with # as a number."""
    if isinstance(item, dict):
        return {key: filled(value, number) for key, value in item.items()}
    return item.replace("#", str(number)) if isinstance(item, str) else item


def numbered(item, number):
    """The item with # in the place of a number."""
    if isinstance(item, dict):
        return {key: numbered(value, number) for key, value in item.items()}
    return item.replace(str(number), "#") if isinstance(item, str) else item


def shortened(value):
    """Long lists of items that differ in their number alone, and the first line of long texts."""
    if isinstance(value, list) and len(value) >= MANY:
        item = numbered(value[-1], len(value) - 1)
        if value == [filled(item, at) for at in range(len(value))]:
            return {"times": len(value), "item": item}
    if isinstance(value, dict):
        return {key: shortened(inner) for key, inner in value.items()}
    return value.split("\n")[0] if isinstance(value, str) else value


def differences(base, value, path, found):
    for key in [*base, *(key for key in value if key not in base)]:
        before, after = base.get(key), value.get(key)
        where = (*path, key)
        if before == after and key in value:
            continue
        if before and after and (where[-2:] in ANY or where[-1:] in ANY):
            continue
        if isinstance(before, dict) and isinstance(after, dict) and before:
            differences(before, after, where, found)
        else:
            found[".".join(where)] = shortened(after)


def change(document, kind):
    found = {}
    if document["apiVersion"] != VERSIONS[kind]:
        found["apiVersion"] = document["apiVersion"]
    if document["kind"] != kind:
        found["kind"] = document["kind"]
        found["spec"] = document.get("spec")
        return found
    base = {"metadata": {}, "spec": BASES[kind]}
    named = {key: value for key, value in document["metadata"].items() if key not in ("name", "namespace", "generateName")}
    differences(base, {"metadata": named, "spec": document["spec"]}, (), found)
    return found


def documents(path):
    for part in path.read_text().split("\n---\n"):
        document = yaml.safe_load(part)
        if document:
            comment = re.search(r"# CASE (\S+) \| LAYER (\S+) ", part)
            yield comment, document


def collect(folder):
    cases = {kind: [] for kind in BASES}
    for path in sorted((folder / "valid").glob("*.yaml")):
        for _, document in documents(path):
            if document.get("kind") in BASES:
                case = {"id": document["metadata"]["name"], "layer": "accepted", "set": change(document, document["kind"])}
                cases[document["kind"]].append(case)
    for path in sorted((folder / "invalid").glob("*.yaml")):
        if path.name == "updates.yaml":
            continue
        for comment, document in documents(path):
            if not comment or "kind" not in document:
                continue
            kind = SUCCESSORS.get(document["kind"], document["kind"])
            case = {"id": comment[1], "layer": comment[2], "set": change(document, kind)}
            if case["set"]:
                cases[kind].append(case)
    for pair in yaml.safe_load((folder / "invalid" / "updates.yaml").read_text()):
        kind = pair["before"]["kind"]
        layer = {"rejected": "update", "accepted": "updated"}[pair["expect"]]
        case = {"id": pair["case"], "layer": layer, "from": change(pair["before"], kind), "set": change(pair["after"], kind)}
        cases[kind].append(case)
    return cases


def flow(value):
    """YAML on one line in which every version of YAML reads the same."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    is_plain = isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in RESERVED
    return value if is_plain else json.dumps(value)


def main(folder):
    for kind, cases in collect(folder).items():
        table = HERE / f"{kind}.yaml"
        before = yaml.safe_load(table.read_text()) if table.exists() else {"cases": []}
        known = {case["id"]: case for case in before["cases"]}
        for case in cases:
            ours = known.pop(case["id"], {})
            case.update({key: ours[key] for key in ("at", "words") if key in ours})
        head = [f"apiVersion: {VERSIONS[kind]}", f"kind: {kind}", f"spec: {flow(BASES[kind])}"]
        if "status" in before:
            head.append(f"status: {flow(before['status'])}")
        rows = ["- " + flow(case) for case in [*cases, *known.values()]]
        table.write_text("\n".join([*head, "cases:", *rows]) + "\n")


main(pathlib.Path(sys.argv[1]))
