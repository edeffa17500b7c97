#!/usr/bin/env python3
"""ONNX-GraphSurgeon's own tests, with assay's module `onnx_graphsurgeon` and with the real one: what passes with that has to pass with assay's.

    upstream_cases.py PACKAGE --source FOLDER [--python PYTHON] [--verbose]

PACKAGE: the folder that holds the package assay; FOLDER: tools/onnx-graphsurgeon of a checkout of NVIDIA/TensorRT, which is not fetched
here; PYTHON: an interpreter with pytest before 9, numpy, onnx, onnxruntime, ml_dtypes, nanobind-backend and onnx-graphsurgeon."""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import upstream  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--source", default=os.environ.get("ASSAY_GRAPHSURGEON_SOURCE"))
    parser.add_argument("--python", default=os.environ.get("ASSAY_POLYGRAPHY_PYTHON", sys.executable))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not options.source:
        print("skipped: GraphSurgeon's sources are not here; --source or ASSAY_GRAPHSURGEON_SOURCE says where tools/onnx-graphsurgeon of a checkout is")
        return 77
    missing = upstream.lacks(options.python, "numpy, onnx, onnxruntime, ml_dtypes, onnx_graphsurgeon, nanobind_backend")
    if missing:
        print(f"skipped: {options.python} (--python, ASSAY_POLYGRAPHY_PYTHON) lacks something: {missing}")
        return 77
    name = "onnx_graphsurgeon"
    found = {}
    for which, real in (("assay's", []), ("the real one", [name])):
        found[which] = upstream.outcomes(options.python, options.package, options.source, real, [name], copied=["examples"], verbose=options.verbose)
        counts = [sum(o == outcome for o in found[which].values()) for outcome in ("passed", "failed", "skipped")]
        print("{}: {} pass, {} fail, {} skipped".format(which, *counts))
    ours, theirs = found.values()
    for test, outcome in sorted(theirs.items()):
        if outcome != "passed" and ours.get(test) == "passed":
            print(f"{test} passes with assay's alone")
    missed = sorted(test for test, outcome in theirs.items() if outcome == "passed" and ours.get(test) != "passed")
    for test in missed:
        print(f"{test} passes with the real one alone")
    return 1 if missed or not any(outcome == "passed" for outcome in theirs.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
