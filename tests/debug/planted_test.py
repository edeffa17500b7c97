#!/usr/bin/env python3
"""Planted causes, and whether the right command of `debug` names each:

    planted_test.py ASSAY MODULE [--long] [--only TEXT] [--csv FILE] [--polygraphy PROGRAM]

Without --long a few of them. --polygraphy runs the real tool with the same check, where it has the command, and compares what is left.
"""

import argparse
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

try:
    from planted import compilers, harness, networks, versions  # noqa: F401  (they fill the table)
except ImportError as e:
    print(f"skipped: {e}; `make test` installs it")
    sys.exit(77)

COLUMNS = {"cause": "planted cause", "kind": "of", "command": "command", "named": "named", "checks": "checks", "seconds": "CPU seconds", "own": "without the checks", "nodes": "nodes left",
           "polygraphy_checks": "Polygraphy's checks", "polygraphy_seconds": "CPU seconds",
           "polygraphy_own": "without the checks", "polygraphy_nodes": "nodes left", "ratio": "its time / this"}


def rival(polygraphy, outcome):
    """(checks, what it spent, nodes) of the real tool; nodes are 0 where none are left or none are asked for."""
    if outcome.command == "repeat":
        pathlib.Path("count").unlink(missing_ok=True)  # of the check's runs
        code, text, spent = harness.execute([polygraphy, "debug", "repeat", "--hide-fail-output", *outcome.rival])
        return text.count("Running check command"), spent, 0
    pathlib.Path("theirs.onnx").unlink(missing_ok=True)
    at = outcome.rival.index("--check")
    code, text, spent = harness.execute([polygraphy, "debug", "reduce", *outcome.rival[:at], "-o", "theirs.onnx", *outcome.rival[at:]])
    checks = len(re.findall(r"Running check command", text))
    return checks, spent, len(harness.layers("theirs.onnx")) if os.path.exists("theirs.onnx") else 0


def run(cause, polygraphy):
    """Its row of the table, and what is wrong with it."""
    outcome = cause.search()
    row = {"cause": cause.name, "kind": cause.kind, "command": f"debug {outcome.command}", "named": "yes" if outcome.named else "no",
           "checks": outcome.found.checks, "seconds": f"{outcome.found.spent.all:.2f}", "own": f"{outcome.found.spent.own:.2f}",
           "nodes": outcome.nodes or ""}
    problems = [] if outcome.named else [f"it named {outcome.said}", outcome.found.text[-1500:]]
    if polygraphy and outcome.rival:
        checks, spent, nodes = rival(polygraphy, outcome)
        row |= {"polygraphy_checks": checks, "polygraphy_seconds": f"{spent.all:.2f}", "polygraphy_own": f"{spent.own:.2f}", "polygraphy_nodes": nodes or "",
                "ratio": f"{spent.all / outcome.found.spent.all:.1f}"}
        if nodes and outcome.nodes > nodes:
            problems.append(f"Polygraphy leaves {nodes} node(s), this {outcome.nodes}")
    return row, problems


def write(table, rows):
    """The rows, below the facts that the file has."""
    facts = [line for line in table.read_text().splitlines() if line.startswith("#")] if table.exists() else []
    with open(table, "w", newline="") as file:
        file.writelines(line + "\n" for line in facts)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS.values())
        writer.writerows([row.get(column, "") for column in COLUMNS] for row in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("module")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--csv")
    parser.add_argument("--polygraphy")
    args = parser.parse_args()
    os.environ.setdefault("ASSAY_PYTHON", sys.executable)  # of runners
    harness.ASSAY, harness.PLANTED = os.path.abspath(args.assay), os.path.abspath(args.module)
    table = pathlib.Path(args.csv).resolve() if args.csv else None
    chosen = [c for c in harness.CAUSES if args.only in c.name and (args.long or args.only or c.is_quick)]
    rows, failed = [], 0
    for cause in chosen:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            start = time.monotonic()
            try:
                row, problems = run(cause, args.polygraphy)
            except harness.NotHere as e:
                print(f"skipped in part: {cause.name}: {e}", flush=True)
                os.chdir("/")
                continue
            except (AssertionError, OSError, subprocess.TimeoutExpired) as e:  # the cause could not be planted
                row, problems = {"cause": cause.name, "kind": cause.kind, "named": "no"}, [str(e)[-1500:]]
            rows.append(row)
            print("FAILED:" if problems else "ok:", *(f"{k}={v}" for k, v in row.items() if v != ""), f"({time.monotonic() - start:.1f} s)", *problems, flush=True)
            failed += bool(problems)
            os.chdir("/")
    print(f"{len(rows) - failed} of {len(rows)} causes are named; the table has {len(harness.CAUSES)}.")
    ratios = sorted(float(row["ratio"]) for row in rows if "ratio" in row)
    if ratios:
        print(f"Polygraphy takes {ratios[0]} to {ratios[-1]} times as long, in the middle {ratios[len(ratios) // 2]}; at least 10 times for {sum(r >= 10 for r in ratios)} of {len(ratios)}.")
        own, theirs = (sum(float(row[c]) for row in rows if "ratio" in row) for c in ("own", "polygraphy_own"))
        print(f"Without the checks all of these take {own:.2f} s, Polygraphy {theirs:.2f} s.")
    if table:
        write(table, rows)
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
