#!/usr/bin/env python3
"""Brings the facts of the tables of fields up to those of the CRD files in the folders given; descriptions in the tables stay.

usage: derive.py FOLDER_WITH_CRDS...

A row is a path, a type, words about what the field may hold, and what it means. The first three are read from the CRD files, the last
is ours: no text of the CRDs is taken over, and a row that has no description yet ends with the third column, which a test refuses.
Policy.tsv is of a kind of ours and is not touched.
"""
import json
import pathlib
import re
import sys

import yaml

HERE = pathlib.Path(__file__).parent
NAMES = HERE.parent / "src/schema/pattern.rs"
ORDERED_RULES = [
    ("minimum", "min="), ("maximum", "max="), ("minItems", "items>="), ("maxItems", "items<="),
    ("minLength", "length>="), ("maxLength", "length<="), ("maxProperties", "keys<="),
]

# Fields that one published definition requires and another fills in: as the latter has them, since that takes more objects.
FILLED_IN = {"spec.disruption.consolidateAfter": "0s"}


def pattern_names():
    found = re.findall(r'name: "([^"]+)",\s*expression: r"([^"]+)"', NAMES.read_text())
    return {expression: name for name, expression in found}


def rules(field, required, names):
    words = ["required"] if required else []
    # The CRDs put some rules for the items of a list on the list, where they have no effect.
    is_list = field.get("type") == "array"
    for key, word in ORDERED_RULES:
        if key in field and not (is_list and key.endswith("Length")):
            words.append(f"{word}{field[key]}")
    if "enum" in field:
        words.append("one-of=" + ",".join(map(str, field["enum"])))
    if "pattern" in field and not is_list:
        words.append("as=" + names[field["pattern"]])
    if "format" in field:
        words.append(field["format"])
    if field.get("x-kubernetes-list-type") == "map":
        words.append("by=" + ",".join(field["x-kubernetes-list-map-keys"]))
    elif "x-kubernetes-list-type" in field:
        words.append({"set": "unique"}.get(field["x-kubernetes-list-type"], field["x-kubernetes-list-type"]))
    if "x-kubernetes-map-type" in field:
        words.append(field["x-kubernetes-map-type"])
    if field.get("x-kubernetes-preserve-unknown-fields"):
        words.append("open")
    if "default" in field:
        words.append("default=" + json.dumps(field["default"], separators=(",", ":")))
    return " ".join(words)


def walk(path, field, required, names, rows):
    kind = "int-or-string" if field.get("x-kubernetes-int-or-string") else field.get("type", "any")
    if path in FILLED_IN:
        field = {"default": FILLED_IN[path], **field}
    rows.append((path or ".", kind, rules(field, required, names)))
    for name, child in sorted(field.get("properties", {}).items()):
        if path or name in ("spec", "status"):
            inner = f"{path}.{name}" if path else name
            must = name in field.get("required", []) and "default" not in child
            walk(inner, child, must and inner not in FILLED_IN, names, rows)
    if isinstance(field.get("items"), dict):
        walk(path + "[]", field["items"], False, names, rows)
    if isinstance(field.get("additionalProperties"), dict):
        walk(path + "{}", field["additionalProperties"], False, names, rows)


def descriptions(table):
    rows = [line.split("\t") for line in table.read_text().splitlines()] if table.exists() else []
    return {row[0]: row[3] for row in rows if len(row) == 4}


def main(folders):
    names = pattern_names()
    for path in (path for folder in folders for path in sorted(pathlib.Path(folder).glob("*.yaml"))):
        definition = yaml.safe_load(path.read_text())["spec"]
        version = next(version for version in definition["versions"] if version["storage"])
        rows = []
        walk("", version["schema"]["openAPIV3Schema"], False, names, rows)
        table = HERE / f"{definition['names']['kind']}.tsv"
        ours = descriptions(table)
        lines = ["\t".join((*row, ours.get(row[0], ""))).rstrip() for row in rows]
        table.write_text("".join(line + "\n" for line in lines))


main(sys.argv[1:])
