#!/usr/bin/env python3
"""Prints the schema text (src/ops/op_def.h) of an operator, every version, as the installed onnx package defines it.

Usage: schema_text.py OP [DOMAIN] [--min-opset N]
The text is a starting point for a new operator file and the oracle of tests/schema_check.
"""
import argparse

import onnx
from onnx import defs

KINDS = {
    "INT": "int", "FLOAT": "float", "STRING": "string", "TENSOR": "tensor", "GRAPH": "graph", "TYPE_PROTO": "type",
    "SPARSE_TENSOR": "sparse", "INTS": "ints", "FLOATS": "floats", "STRINGS": "strings", "TENSORS": "tensors",
    "GRAPHS": "graphs", "TYPE_PROTOS": "types", "SPARSE_TENSORS": "sparses",
}


GROUPS = {"@float": ["float16", "float", "double"]}
GROUPS["@numeric"] = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"] + GROUPS["@float"]
GROUPS["@all"] = GROUPS["@numeric"] + ["string", "bool", "complex64", "complex128"]
for group in ("@float", "@numeric", "@all"):
    GROUPS[group + "_ir4"] = GROUPS[group] + ["bfloat16"]
GROUPS["@all_ir9"] = GROUPS["@all_ir4"] + ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"]
GROUPS["@all_ir10"] = GROUPS["@all_ir9"] + ["uint4", "int4"]
GROUPS["@all_ir11"] = GROUPS["@all_ir10"] + ["float4e2m1"]
GROUPS["@all_ir12"] = GROUPS["@all_ir11"] + ["float8e8m0"]
GROUPS["@all_ir13"] = GROUPS["@all_ir12"] + ["uint2", "int2"]


def grouped(types):
    """The types with the largest groups that they contain written as one word."""
    left, words = list(types), []
    for pattern in ("{}", "seq(tensor({}))", "optional(tensor({}))", "optional(seq(tensor({})))"):
        for group in sorted(GROUPS, key=lambda g: -len(GROUPS[g])):
            members = [pattern.format(t) for t in GROUPS[group]]
            if all(m in left for m in members):
                words.append(pattern.format(group))
                left = [t for t in left if t not in members]
                break
    return words + left


def type_text(t):
    t = t.strip()
    return t[len("tensor("):-1] if t.startswith("tensor(") else t


def parameter(p):
    option = ""
    if p.option == defs.OpSchema.FormalParameterOption.Optional:
        option = " ?"
    elif p.option == defs.OpSchema.FormalParameterOption.Variadic:
        option = " ..." + ("" if p.is_homogeneous else "any") + ("" if p.min_arity == 1 else str(p.min_arity))
    return f"{p.name}: {type_text(p.type_str)}{option}"


def number(x):
    return repr(x) if isinstance(x, int) else f"{x:.9g}"


def default_text(attribute):
    d = attribute.default_value
    if d is None or d.type == onnx.AttributeProto.UNDEFINED:
        return ""
    value = onnx.helper.get_attribute_value(d)
    if isinstance(value, bytes):
        return f' = "{value.decode()}"'
    if isinstance(value, (list, tuple)) or hasattr(value, "__len__"):
        items = [f'"{v.decode()}"' if isinstance(v, bytes) else number(v) for v in value]
        return " = [" + ", ".join(items) + "]"
    return " = " + number(value)


def schema_text(s):
    lines = [f"in  {parameter(p)}" for p in s.inputs] + [f"out {parameter(p)}" for p in s.outputs]
    for name in s.attributes:
        a = s.attributes[name]
        mark = " required" if a.required else default_text(a)
        lines.append(f"attr {name}: {KINDS[a.type.name]}{mark}")
    for c in s.type_constraints:
        lines.append(f"type {c.type_param_str}: " + " ".join(grouped([type_text(t) for t in c.allowed_type_strs])))
    return "\n".join(lines)


def versions(op, domain=""):
    """All schemas of an operator, oldest first."""
    found = [s for s in defs.get_all_schemas_with_history() if s.name == op and s.domain == domain]
    return sorted(found, key=lambda s: s.since_version)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("op")
    parser.add_argument("domain", nargs="?", default="")
    parser.add_argument("--min-opset", type=int, default=1)
    args = parser.parse_args()
    schemas = versions(args.op, args.domain)
    # The version in force at min_opset is older than it; keep from there on.
    in_force = [s.since_version for s in schemas if s.since_version <= args.min_opset]
    first = max(in_force) if in_force else 0
    printed = {}
    for s in schemas:
        if s.since_version >= first:
            print(f"# since {s.since_version}{' (deprecated)' if s.deprecated else ''}")
            text = schema_text(s)
            print(f"same as {printed[text]}" if text in printed else text)
            printed.setdefault(text, f"{s.domain + '.' if s.domain else ''}{s.name}-{s.since_version}")
            print()


if __name__ == "__main__":
    main()
