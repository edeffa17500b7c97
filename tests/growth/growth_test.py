#!/usr/bin/env python3
"""Time and memory grow no faster than models: four times the nodes, less than eight times either.

Eight is the middle between what is linear and what grows with the square, 16 times. Caches and other programs on the
machine make some of the small commands take five times.

usage: growth_test.py ASSAY [--all] [--case NAME...] [--command NAME...] [--nodes N] [--rounds N]

By default a few commands that were slow once, on small models; with --all every command on every model.
"""

import argparse
import sys
import tempfile
import time

import growth
import models

TIMES = 4
MOST = 8
# What takes less cannot be measured.
LEAST_SECONDS, LEAST_MEGABYTES = 0.1, 64
# Rounds without a pause between them.
AT_ONCE = 3
# Of the small test: models whose size made a command slow once, with so many nodes that it shows: half of them and twice of them are measured.
SMALL = [
    ("wide", "simplify", 4000), ("constants", "run-engine", 4000), ("identity", "simplify", 10000), ("constant_identity", "up", 4000),
    ("constant_nodes", "run-engine", 8000), ("wide_ifs", "up", 9000), ("distinct", "run-engine", 4000), ("outputs", "diff", 4000),
    ("functions", "lint", 4000), ("calls", "run-engine", 4000), ("layers", "run-engine", 3000), ("casts", "float16", 6000),
    ("wide_ifs", "extract", 9000), ("nested", "fold", 4000), ("appended", "run-ref", 4000), ("appended", "run-engine", 4000),
    ("queue", "run-ref", 4000), ("queue", "run-engine", 4000), ("optional_appended", "run-ref", 4000), ("optional_appended", "run-engine", 4000),
    ("prime_transform", "run-ref", 20000), ("prime_transform", "run-engine", 20000), ("prime_frames", "run-engine", 20000),
    ("triangles", "match", 8000), ("functions", "match", 6000), ("functions", "capability", 6000), ("functions", "diff", 6000),
]


class Tester:
    def __init__(self, workshop, rounds):
        self.workshop, self.rounds = workshop, rounds
        self.failures, self.measured = [], 0

    def best(self, case, command, n, known=None):
        """The least of what was measured so far and once more."""
        m = self.workshop.measure(case, command, n)
        if known is not None:
            m.seconds, m.megabytes = min(m.seconds, known.seconds), min(m.megabytes, known.megabytes)
        return m

    def check(self, case, command, n):
        small = large = None
        for round in range(self.rounds):
            if round >= AT_ONCE:
                time.sleep(round)  # other programs may slow the machine down for seconds
            large = self.best(case, command, n // 2 * TIMES, large)
            small = self.best(case, command, n // 2, small)
            if self.problems(small, large) == []:
                break
        self.measured += 1
        found = self.problems(small, large)
        print(f"{'FAILED' if found else 'ok':6}  {case:20} {command:12} {n:7} nodes: {small.seconds:7.2f} s, then {large.seconds:7.2f} s"
              f" {large.megabytes:6.0f} MB, status {large.status}  {', '.join(found)}", flush=True)
        if found:
            self.failures.append(f"{case} {command}: {', '.join(found)}")

    @staticmethod
    def problems(small, large):
        found = []
        for m in (small, large):
            if m.status not in (0, 1):
                found.append(f"ended with {m.status}: {m.output}")
        if small.status != large.status:
            found.append(f"status {small.status}, then {large.status}: {large.output}")
        if large.seconds > LEAST_SECONDS and large.seconds > MOST * small.seconds:
            found.append(f"{large.seconds / small.seconds:.1f} times the time")
        if large.megabytes > LEAST_MEGABYTES and large.megabytes > MOST * small.megabytes:
            found.append(f"{large.megabytes / small.megabytes:.1f} times the memory")
        return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--case", nargs="+", choices=models.ALL)
    parser.add_argument("--command", nargs="+", choices=growth.COMMANDS)
    parser.add_argument("--nodes", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=8)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workshop = growth.Workshop(arguments.assay, folder)
        tester = Tester(workshop, arguments.rounds)
        if arguments.all or arguments.case or arguments.command:
            for case in arguments.case or models.ALL:
                for command in arguments.command or growth.COMMANDS:
                    tester.check(case, command, arguments.nodes)
                workshop.forget(case)
        else:
            for case, command, n in SMALL:
                tester.check(case, command, n)
        print(f"{tester.measured} measured, {len(tester.failures)} grow too fast or fail")
        for failure in tester.failures:
            print(f"  {failure}")
        return 1 if tester.failures else 0


if __name__ == "__main__":
    sys.exit(main())
