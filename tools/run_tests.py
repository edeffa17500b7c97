#!/usr/bin/env python3
"""Runs ctest and closes with what was left out: every skipped test, and every part of a test that was, with the reason.

    tools/run_tests.py ARGUMENTS OF CTEST...

A test says why it skips in a line that begins with `skipped` (a whole test with exit status 77, or GTEST_SKIP), or, when only
a part of it is left out, in a line of its output that begins with `skipped in part`. The exit status is ctest's.
"""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml


def reason_of(output):
    """The reason in the output of a test that was skipped as a whole."""
    for line in output.splitlines():
        if line.startswith("skipped"):
            return line
    gtest = re.search(r": Skipped\n(.*?)\n\n?\[  SKIPPED \]", output, re.DOTALL)
    return gtest.group(1).strip() if gtest else "no reason given"


def left_out(case):
    """Lines about one test; none where all of it ran."""
    output = case.findtext("system-out") or ""
    if case.find("skipped") is not None:
        return [reason_of(output)]
    return sorted({line for line in output.splitlines() if line.startswith("skipped in part")})


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tests.xml")
        # Of what passes, ctest would keep 1 KB.
        options = ["--output-junit", path, "--test-output-size-passed", "1000000"]
        status = subprocess.run(["ctest", *options, *sys.argv[1:]]).returncode
        if not os.path.exists(path):
            return status
        cases = list(xml.parse(path).getroot().iter("testcase"))
    skipped = sum(case.find("skipped") is not None for case in cases)
    failed = sum(case.find("failure") is not None for case in cases)
    lines = [f"  {case.get('name')}: {reason}" for case in cases for reason in left_out(case)]
    if lines:
        print(f"\nLeft out of {len(cases)} tests:")
        print("\n".join(lines))
    print(f"\n{len(cases) - skipped - failed} passed, {failed} failed, {skipped} skipped")
    return status


if __name__ == "__main__":
    sys.exit(main())
