#!/usr/bin/env python3
"""Compares the classification of steps between operator versions with the documents of the installed onnx package.

usage: steps_test.py CONVERT_BATCH

Every step of the package must be listed. A step that is listed as `same` leaves all to the schemas: then inputs and
outputs may only come optionally at the end, attributes may only come or go with a default (or be optional), and where
the package's text changed, reviewed.txt must say why the meaning did not. Exit status 77 when there is no onnx package.
"""

import collections
import fnmatch
import pathlib
import re
import subprocess
import sys

try:
    from onnx import defs
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
DOMAINS = {"": "ai.onnx", "ai.onnx.ml": "ai.onnx.ml"}


def listed_steps(program):
    """(domain, operator, version) -> adapter."""
    text = subprocess.run([program, "--steps"], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return {(d, op, int(v)): adapter for d, op, v, adapter in rows if v != "expansion"}


def steps_of_package():
    """(domain, operator, version) -> schemas before and after."""
    versions = collections.defaultdict(dict)
    for s in defs.get_all_schemas_with_history():
        if s.domain in DOMAINS:
            versions[DOMAINS[s.domain], s.name][s.since_version] = s
    steps = {}
    for (domain, name), by_version in versions.items():
        order = sorted(by_version)
        for a, b in zip(order, order[1:]):
            steps[domain, name, b] = by_version[a], by_version[b]
    return steps


def parameters(formals):
    return [(str(p.option), p.is_homogeneous) for p in formals]


def formal_changes(before, after):
    """What the schemas alone do not carry over."""
    problems = []
    for what in ("inputs", "outputs"):
        a, b = parameters(getattr(before, what)), parameters(getattr(after, what))
        extra = b[len(a):]
        if b[:len(a)] != a or any("Optional" not in option for option, _ in extra):
            problems.append(what)
    for name in before.attributes.keys() | after.attributes.keys():
        a, b = before.attributes.get(name), after.attributes.get(name)
        if a is None and b.required or b is None and a.required:
            problems.append(f"the required attribute {name}")
        if a is not None and b is not None and a.type != b.type:
            problems.append(f"the kind of {name}")
    if after.deprecated and not before.deprecated:
        problems.append("deprecated")
    return problems


def text_of(schema):
    parts = [schema.doc, *(f"{a.name} {a.description}" for a in schema.attributes.values())]
    parts += [p.description for p in (*schema.inputs, *schema.outputs)]
    return re.sub(r"[^\w.<>=+/-]+", " ", " ".join(parts)).strip()


def read_reviewed():
    """(operator pattern, version) -> reason, from lines `OPERATOR VERSION: REASON`."""
    out = {}
    for line in (HERE / "reviewed.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            operator, version, reason = re.fullmatch(r"(\S+) (\d+): (.+)", line).groups()
            out[operator, int(version)] = reason
    return out


def main():
    listed, package, reviewed = listed_steps(sys.argv[1]), steps_of_package(), read_reviewed()
    lines, used = [], set()
    lines += [f"{' '.join(map(str, s))} is not listed" for s in sorted(package.keys() - listed.keys())]
    lines += [f"{' '.join(map(str, s))} is not a step of the package" for s in sorted(listed.keys() - package.keys())
              if s[0] in DOMAINS.values()]
    counts = collections.Counter()
    for step, (before, after) in sorted(package.items()):
        if listed.get(step) != "same":
            counts["adapter"] += 1
            continue
        counts["same"] += 1
        _, operator, version = step
        lines += [f"{operator} {version} is listed as same, but changes {p}" for p in formal_changes(before, after)]
        if text_of(before) == text_of(after):
            continue
        keys = [k for k in reviewed if k[1] == version and fnmatch.fnmatchcase(operator, k[0])]
        used.update(keys)
        counts["text changed"] += 1
        if not keys:
            lines.append(f"{operator} {version}: the text changed, and reviewed.txt does not say that the meaning did not")
    lines += [f"reviewed.txt: nothing needs {k[0]} {k[1]}" for k in reviewed.keys() - used]
    for line in lines:
        print(line)
    print(f"{len(package)} steps: {counts['same']} leave all to the schemas ({counts['text changed']} of them with another "
          f"text), {counts['adapter']} have an adapter; {len(lines)} problems")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
