#!/usr/bin/env python3
"""Compares the schemas of the com.microsoft operators, and of those that ONNX Runtime adds to the domain of the standard,
with the registry of the installed onnxruntime package.

usage: schemas_test.py SCHEMA_DUMP [--write]

SCHEMA_DUMP is the program that prints ours. The list of the CPU provider's kernels in docs/reference/contrib-operators.md must be that of the
package, too; --write puts it there. Exit status 0 when all are equal apart from what exceptions.txt explains, 1 when something
differs or an entry of exceptions.txt is not needed, 77 when there are no packages to compare with.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "schemas"), str(HERE.parent.parent / "tools")]
SKIPPED = 77
try:
    import onnx
    import onnxruntime
    from onnx import defs
    from onnxruntime.capi import onnxruntime_pybind11_state as state
    import listing
    import schema_text
    import schemas_test as standard
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)


def parameter(p):
    option = p.option.name.lower()
    out = {"name": p.name, "type": schema_text.type_text(p.typeStr), "option": option}
    return out | {"homogeneous": p.isHomogeneous} if option == "variadic" else out


def attribute(a):
    out = {"name": a.name, "kind": a.type.name.lower(), "required": a.required}
    default = onnx.AttributeProto.FromString(a._default_value)
    if default.type != onnx.AttributeProto.UNDEFINED:
        value = onnx.helper.get_attribute_value(default)
        out["default"] = value.decode() if isinstance(value, bytes) else value
    return out


def theirs():
    """Schemas by (domain, name, since)."""
    return {(s.domain, s.name, s.since_version): {
        "inputs": [parameter(p) for p in s.inputs],
        "outputs": [parameter(p) for p in s.outputs],
        "attributes": {a.name: attribute(a) for a in s.attributes.values()},
        "constraints": {c.type_param_str: sorted(map(schema_text.type_text, c.allowed_type_strs)) for c in s.type_constraints},
        "deprecated": False,
    } for s in state.get_all_operator_schema()}


def ours(dump):
    """Those that the onnx package does not have."""
    known = {s.domain for s in defs.get_all_schemas_with_history()} - {""}
    names = {s.name for s in defs.get_all_schemas_with_history() if s.domain == ""}
    for (domain, name), versions in standard.ours(dump).items():
        if domain in known or (domain == "" and name in names):
            continue
        for since, schema in versions.items():
            for p in schema["inputs"] + schema["outputs"]:
                p.pop("min_arity", None)  # the registry does not tell
            yield (domain, name, since), schema


def check_document(here, write):
    """1 when the list in the document is not what the package and we have."""
    path = HERE.parents[1] / "docs" / "reference" / "contrib-operators.md"
    document = path.read_text()
    kernels = {(k.domain, k.op_name) for k in state.get_all_opkernel_def()
               if k.provider == "CPUExecutionProvider" and k.domain in listing.DOMAINS}
    try:
        wanted = listing.replaced(document, listing.table(onnxruntime.__version__, kernels, here))
    except ValueError as problem:
        print(problem)
        return 1
    if write:
        path.write_text(wanted)
    elif wanted != document or listing.BEGIN not in document:
        print(f"{path} is not up to date: run schemas_test.py with --write")
        return 1
    return 0


def main():
    expected, actual = theirs(), dict(ours(sys.argv[1]))
    exceptions = standard.read_exceptions(HERE / "exceptions.txt")
    used, wrong = set(), 0
    for (domain, name, since), schema in sorted(actual.items()):
        key = (domain, name, since)
        lines = list(standard.differences(expected[key], schema)) if key in expected else ["is not an operator of ONNX Runtime"]
        if lines and name in exceptions:
            used.add(name)
            continue
        wrong += len(lines)
        for line in lines:
            print(f"{domain}.{name}-{since} {line}")
    for name in exceptions.keys() - used:
        wrong += 1
        print(f"{name} is in exceptions.txt, but nothing differs")
    wrong += check_document({(d, n) for d, n, _ in actual}, write="--write" in sys.argv[2:])
    print(f"onnxruntime {onnxruntime.__version__}: {len(actual)} schemas compared, {wrong} problems, {len(used)} exceptions")
    return 1 if wrong or not actual else 0


if __name__ == "__main__":
    sys.exit(main())
