#!/usr/bin/env python3
"""Writes one table of fields per kind out of the CRD files in the folder given.

usage: derive.py FOLDER_WITH_CRDS

A row is a path, a type and words about what the field may hold. Texts of the CRDs are left out: what a field means stands at
the types in `src/kinds`, and what is said when it is wrong in `src/validate`.
"""
import pathlib
import re
import sys

import yaml

HERE = pathlib.Path(__file__).parent
NAMES = HERE.parent / "src/validate/pattern.rs"
ORDERED_RULES = [
    ("minimum", "min="), ("maximum", "max="), ("minItems", "items>="), ("maxItems", "items<="),
    ("minLength", "length>="), ("maxLength", "length<="), ("maxProperties", "keys<="),
]


# Fields that one published definition requires and another fills in.
FILLED_IN = {"spec.disruption.consolidateAfter"}


def pattern_names():
    found = re.findall(r'name: "([^"]+)",\s*expression: r"([^"]+)"', NAMES.read_text())
    return {expression: name for name, expression in found}


def rules(field, required, names):
    words = ["required"] if required else []
    for key, word in ORDERED_RULES:
        if key in field:
            words.append(f"{word}{field[key]}")
    if "enum" in field:
        words.append("one-of=" + ",".join(map(str, field["enum"])))
    if "pattern" in field and field["type" if "type" in field else "pattern"] != "array":
        words.append("as=" + names[field["pattern"]])
    if field.get("x-kubernetes-list-type") == "set":
        words.append("unique")
    if field.get("x-kubernetes-preserve-unknown-fields"):
        words.append("open")
    return " ".join(words)


def walk(path, field, required, names, rows):
    kind = "int-or-string" if field.get("x-kubernetes-int-or-string") else field.get("type", "any")
    if path:
        rows.append((path, kind, rules(field, required, names)))
    for name, child in sorted(field.get("properties", {}).items()):
        if path or name == "spec":
            inner = f"{path}.{name}" if path else name
            must = name in field.get("required", []) and "default" not in child
            walk(inner, child, must and inner not in FILLED_IN, names, rows)
    if isinstance(field.get("items"), dict):
        walk(path + "[]", field["items"], False, names, rows)
    if isinstance(field.get("additionalProperties"), dict):
        walk(path + "{}", field["additionalProperties"], False, names, rows)


def main(folder):
    names = pattern_names()
    for path in sorted(pathlib.Path(folder).glob("*.yaml")):
        definition = yaml.safe_load(path.read_text())["spec"]
        version = next(version for version in definition["versions"] if version["storage"])
        rows = []
        walk("", version["schema"]["openAPIV3Schema"], True, names, rows)
        text = "".join("\t".join(row).rstrip() + "\n" for row in rows)
        (HERE / f"{definition['names']['kind']}.tsv").write_text(text)


main(sys.argv[1])
