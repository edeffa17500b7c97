#!/usr/bin/env python3
"""The table of docs/internals/growth.md: time and memory of commands on models of 10,000 to 1,000,000 nodes.

usage: growth_table.py ASSAY [--sizes N...] [--case NAME...] [--command NAME...]
"""

import argparse
import tempfile

import growth
import models

CASES = ["chain", "wide", "initializers", "constants", "identity", "wide_ifs", "layers"]
COMMANDS = ["inspect", "simplify", "lint", "extract", "up", "run-ref", "run-engine"]
LIMIT_S = 600


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--case", nargs="+", choices=models.ALL, default=CASES)
    parser.add_argument("--command", nargs="+", choices=growth.COMMANDS, default=COMMANDS)
    arguments = parser.parse_args()
    print("| model | command |" + "".join(f" {n:,} |" for n in arguments.sizes))
    print("|---|---|" + "---:|" * len(arguments.sizes))
    with tempfile.TemporaryDirectory() as folder:
        workshop = growth.Workshop(arguments.assay, folder)
        for case in arguments.case:
            for command in arguments.command:
                cells = []
                for n in arguments.sizes:
                    m = workshop.measure(case, command, n, LIMIT_S)
                    note = "" if m.status == 0 else f" (status {m.status})"
                    cells.append(f" {m.seconds:.2f} s, {m.megabytes:,.0f} MB{note} |")
                print(f"| {case} | {command} |" + "".join(cells), flush=True)
            workshop.forget(case)


if __name__ == "__main__":
    main()
