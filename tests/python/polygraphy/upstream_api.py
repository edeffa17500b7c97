#!/usr/bin/env python3
"""Polygraphy's own tests of its Python API, on assay's stand-in for TensorRT: with assay's module `polygraphy` and with the real one.

    upstream_api.py PACKAGE --source FOLDER [--python PYTHON] [--which ours|real] [--write FILE]

PACKAGE: the folder that holds the package assay; FOLDER: tools/Polygraphy of a checkout of NVIDIA/TensorRT, which is not fetched here;
PYTHON: an interpreter with pytest before 9, numpy before 2, onnx, onnxruntime, nanobind-backend, for --which real also
polygraphy and onnx_graphsurgeon, perhaps torch. What does not pass has to be in exceptions.txt, and the other way round; of the
tests that can run on a CPU at least 95 % have to pass. --write: the page of the documents about it."""

import argparse
import fnmatch
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import upstream  # noqa: E402

EXCEPTIONS = os.path.join(HERE, "exceptions.txt")
FOLDERS = ["util", "func", "logger", "common", "mod", "backend/base", "backend/common", "backend/onnx", "backend/onnxrt", "backend/pluginref",
           "backend/trt", "comparator", "cuda"]
LEAST = 0.95


def exceptions():
    """(pattern, who, reason) in their order."""
    rows = []
    with open(EXCEPTIONS) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                rows.append(tuple(part.strip() for part in line.split(" | ", 2)))
    return rows


def outcomes(options, which):
    """Outcomes by test."""
    real = ["polygraphy", "onnx_graphsurgeon"] if which == "real" else []
    # As upstream does: those that need a process of their own first.
    return upstream.outcomes(options.python, options.package, options.source, real, ["polygraphy"], [f"tests/{f}" for f in options.folders],
                             ("serial", "not serial"), verbose=options.verbose)  # fmt: skip


def judge(which, found, rows):
    """(lines about what is not as it should be, passed, of how many)."""
    problems, used, passed, total = [], set(), 0, 0
    for name, outcome in sorted(found.items()):
        row = next((r for r in rows if fnmatch.fnmatchcase(name, r[0].replace("[", "[[]"))), None)
        uncounted = row is not None and row[1] in ("none", f"none-{which}")
        applies = uncounted or row is not None and row[1] in (which, "both")
        if row is not None:
            used.add(row)
        if outcome == "skipped" or uncounted:
            if applies and outcome == "passed" and "*" not in row[0]:
                problems.append(f"{name} passes, and is in the list")
            continue
        total += 1
        passed += outcome == "passed"
        if outcome == "failed" and not applies:
            problems.append(f"{name} does not pass")
        if outcome == "passed" and applies and "*" not in row[0]:
            problems.append(f"{name} passes, and is in the list")
    problems += [f"there is no test {r[0]}" for r in rows if r not in used]
    return problems, passed, total


def page(results, rows):
    lines = ["# Polygraphy's tests of its Python API", "",
             "[Written by `tests/python/polygraphy/upstream_api.py --write` from its exceptions; do not edit it.]: #", "",
             "Release 0.49.27 is the newest whose tests are published; `polygraphy` answers as 0.53.6. Run on assay's `tensorrt`, on a CPU:", "",
             "| `polygraphy` | pass | of those that can run |", "|---|---|---|"]
    for which, (passed, total) in results.items():
        lines.append(f"| {'assay' if which == 'ours' else 'the real one, 0.53.6'} | {passed} of {total} | {100 * passed / total:.1f} % |")
    titles = {"none": "Cannot run", "none-real": "Cannot run with the real one", "both": "Pass with neither", "ours": "Pass with the real one alone", "real": "Pass with assay's alone"}
    for which, title in titles.items():
        chosen = [r for r in rows if r[1] == which]
        if chosen:
            lines += ["", f"## {title}", "", "| test | why |", "|---|---|"]
            lines += [f"| `{r[0].removeprefix('tests/').replace('|', chr(92) + '|')}` | {r[2]} |" for r in chosen]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--source", default=os.environ.get("ASSAY_POLYGRAPHY_SOURCE"))
    parser.add_argument("--python", default=os.environ.get("ASSAY_POLYGRAPHY_PYTHON", sys.executable))
    parser.add_argument("--which", choices=["ours", "real"], action="append")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--folders", nargs="+", default=FOLDERS)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not options.source:
        print("skipped: Polygraphy's sources are not here; --source or ASSAY_POLYGRAPHY_SOURCE says where tools/Polygraphy of a checkout is")
        return 77
    missing = upstream.lacks(options.python, "numpy, onnx, onnxruntime, nanobind_backend")
    if missing:
        print(f"skipped: {options.python} (--python, ASSAY_POLYGRAPHY_PYTHON) lacks something: {missing}")
        return 77
    rows, results, bad = exceptions(), {}, False
    for which in options.which or ["ours", "real"]:
        problems, passed, total = judge(which, outcomes(options, which), rows)
        results[which] = passed, total
        print(f"{which}: {passed} of {total} pass ({100 * passed / max(total, 1):.1f} %)")
        for line in problems:
            print(f"{which}: {line}")
        bad = bad or bool(problems) or passed < LEAST * total
    if options.write:
        with open(options.write, "w") as file:
            file.write(page(results, rows))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
