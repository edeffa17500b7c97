#!/usr/bin/env python3
"""Feeds every fuzz target so many inputs, and prints a table of what came of it.

usage: fuzz_table.py FUZZ_TARGETS [--executions N] [--rounds N] [--seed N] [--faults FOLDER]

The executions (default: 20 million) go to the targets in shares: those that read bytes get more than those that run a whole
model. They come in rounds, each with seeds of its own, so that an early end has something of every target. The table is printed after every
round. Exit code 1 when there was a fault; its input is in the folder --faults.
"""

import argparse
import os
import re
import subprocess
import sys

# Parts of all executions; a target that is not here has 1.
SHARES = {"base64": 12, "npy": 12, "image": 8, "plan_bytes": 8, "npz": 5, "selector": 5, "replay": 4, "timing_cache": 4, "results": 3, "plan_structure": 3}
RESULT = re.compile(r"(\d+) executions in [\d.]+ s \(([\d.]+) s of processor time\), (\d+) accepted, slowest ([\d.]+) s, (\d+) MB at most")


class Row:
    def __init__(self):
        self.executions = self.accepted = self.faults = self.megabytes = 0
        self.slowest = self.seconds = 0.0

    def add(self, output, status):
        self.faults += status != 0
        for executions, seconds, accepted, slowest, megabytes in RESULT.findall(output):
            self.executions += int(executions)
            self.seconds += float(seconds)
            self.accepted += int(accepted)
            self.slowest = max(self.slowest, float(slowest))
            self.megabytes = max(self.megabytes, int(megabytes))


def print_table(rows):
    print("| target | executions | accepted | faults | slowest | memory | processor time |\n|---|---:|---:|---:|---:|---:|---:|")
    for name, r in rows.items():
        print(f"| {name} | {r.executions:,} | {r.accepted:,} | {r.faults} | {r.slowest:.2f} s | {r.megabytes} MB | {r.seconds:,.0f} s |")
    total = list(rows.values())
    print(f"| all | {sum(r.executions for r in total):,} | {sum(r.accepted for r in total):,} | {sum(r.faults for r in total)} | "
          f"{max(r.slowest for r in total):.2f} s | {max(r.megabytes for r in total)} MB | {sum(r.seconds for r in total):,.0f} s |\n", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fuzz_targets")
    parser.add_argument("--executions", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", default="fuzz-faults")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.fuzz_targets)
    names = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    rows = {name: Row() for name in names}
    shares = {name: SHARES.get(name, 1) for name in names}
    for number in range(arguments.rounds):
        for name in names:
            runs = -(-arguments.executions * shares[name] // (sum(shares.values()) * arguments.rounds))
            seed = arguments.seed * 1000 + number
            result = subprocess.run([program, "--only", name, "--runs", str(runs), "--seed", str(seed), "--faults", arguments.faults],
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
            rows[name].add(result.stdout, result.returncode)
            if result.returncode != 0:
                print(f"FAULT in {name} with --seed {seed} --runs {runs}:\n{result.stdout[-3000:]}", flush=True)
        print_table(rows)
    return 1 if any(r.faults for r in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
