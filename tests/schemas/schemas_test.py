#!/usr/bin/env python3
"""Compares every schema of this build with those of the installed onnx package, version by version.

usage: schemas_test.py SCHEMA_DUMP

SCHEMA_DUMP is the program that prints ours. Exit status 0 when all are equal apart from what exceptions.txt explains,
1 when something differs or an entry of exceptions.txt is not needed, 77 when there is no onnx package.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))

SKIPPED = 77
try:
    import onnx
    from onnx import defs
    import schema_text
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)

# Domains of the onnx package. Other domains of ours have nothing to be compared with.
DOMAINS = {s.domain for s in defs.get_all_schemas_with_history()}
# Every operator must have the version that holds in this opset of its domain, and all later ones.
OLDEST_OPSET = collections.defaultdict(lambda: 1, {"": 7})


def parameter(p):
    option = p.option.name.lower()
    out = {"name": p.name, "type": schema_text.type_text(p.type_str), "option": option}
    if option == "variadic":
        out |= {"homogeneous": p.is_homogeneous, "min_arity": p.min_arity}
    return out


def attribute(a):
    out = {"name": a.name, "kind": schema_text.KINDS[a.type.name], "required": a.required}
    if a.default_value is not None and a.default_value.type != onnx.AttributeProto.UNDEFINED:
        value = onnx.helper.get_attribute_value(a.default_value)
        text = lambda v: v.decode() if isinstance(v, bytes) else v
        out["default"] = [text(v) for v in value] if isinstance(value, list) else text(value)
    return out


def theirs():
    """Version tables by (domain, name): since -> schema."""
    table = collections.defaultdict(dict)
    for s in defs.get_all_schemas_with_history():
        table[s.domain, s.name][s.since_version] = {
            "inputs": [parameter(p) for p in s.inputs],
            "outputs": [parameter(p) for p in s.outputs],
            "attributes": {a.name: attribute(a) for a in s.attributes.values()},
            "constraints": {c.type_param_str: sorted(map(schema_text.type_text, c.allowed_type_strs))
                            for c in s.type_constraints},
            "deprecated": s.deprecated,
        }
    return table


def ours(dump):
    table = collections.defaultdict(dict)
    for s in json.loads(subprocess.run([dump], capture_output=True, check=True, text=True).stdout):
        table[s["domain"], s["name"]][s["since"]] = {
            "inputs": s["inputs"],
            "outputs": s["outputs"],
            "attributes": {a["name"]: a for a in s["attributes"]},
            "constraints": {c["name"]: sorted(c["types"]) for c in s["constraints"]},
        }
    return table


def differences(expected, actual):
    """Lines that say where two schemas differ."""
    if expected["deprecated"]:
        return  # the package keeps no parameters for most of these
    for part in ("inputs", "outputs"):
        for i in range(max(len(expected[part]), len(actual[part]))):
            e, a = (s[part][i] if i < len(s[part]) else None for s in (expected, actual))
            if e != a:
                yield f"{part[:-1]} {i} is {a} instead of {e}"
    for name in sorted(expected["attributes"].keys() | actual["attributes"].keys()):
        e, a = (s["attributes"].get(name) for s in (expected, actual))
        if e != a:
            yield f"attribute {name} is {a} instead of {e}"
    for name in sorted(expected["constraints"].keys() | actual["constraints"].keys()):
        e, a = (s["constraints"].get(name) for s in (expected, actual))
        if e is None or a is None:
            yield f"type constraint {name} is {a} instead of {e}"
        elif e != a:
            yield f"type {name} lacks {sorted(set(e) - set(a))} and has {sorted(set(a) - set(e))} too much"


def problems(expected, actual):
    """(subject, line) for everything that differs; the subject is OP or OP-VERSION, with its domain if it has one."""
    for key in sorted(expected.keys() | {k for k in actual if k[0] in DOMAINS}):
        domain, name = key
        subject = f"{domain}.{name}" if domain else name
        if key not in actual:
            yield subject, "is missing"
            continue
        if key not in expected:
            yield subject, "is not an operator of the onnx package"
            continue
        in_force = [v for v in expected[key] if v <= OLDEST_OPSET[domain]]
        first = max(in_force, default=0)
        for version in sorted(expected[key].keys() | actual[key].keys()):
            if version not in expected[key]:
                yield f"{subject}-{version}", "is not a version of the onnx package"
            elif version in actual[key]:
                for line in differences(expected[key][version], actual[key][version]):
                    yield f"{subject}-{version}", line
            elif version >= first:
                yield f"{subject}-{version}", "is missing"


def older_versions(expected, actual):
    """(there, all) versions that ended before the oldest opset that must be complete."""
    there, every = 0, []
    for key, versions in expected.items():
        in_force = [v for v in versions if v <= OLDEST_OPSET[key[0]]]
        older = [v for v in in_force if v != max(in_force)]
        there += sum(v in actual[key] for v in older if key in actual)
        every += [f"{key[1]}-{v}" for v in older if v not in actual.get(key, {})]
    return there, every


def read_exceptions(path):
    """Subject -> reason, from lines `SUBJECT: reason`."""
    out = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            subject, reason = re.fullmatch(r"(\S+): (.+)", line).groups()
            out[subject] = reason
    return out


def main():
    expected, actual = theirs(), ours(sys.argv[1])
    exceptions = read_exceptions(HERE / "exceptions.txt")
    used, wrong = set(), 0
    for subject, line in problems(expected, actual):
        if subject in exceptions:
            used.add(subject)
        else:
            wrong += 1
            print(f"{subject} {line}")
    for subject in exceptions.keys() - used:
        wrong += 1
        print(f"{subject} is in exceptions.txt, but nothing differs")
    there, older = older_versions(expected, actual)
    compared = sum(v in versions for k, versions in expected.items() for v in actual.get(k, {}))
    print(f"onnx {onnx.__version__}: {compared} schemas of {len(expected.keys() & actual.keys())} operators compared, "
          f"{wrong} problems, {len(used)} exceptions")
    print(f"versions that ended before opset {OLDEST_OPSET['']}: {there} here, {len(older)} left out: {' '.join(sorted(older))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
