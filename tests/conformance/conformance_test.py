#!/usr/bin/env python3
"""Runs the test cases of the installed onnx package through `assay check conformance` and prints its table.

usage: conformance_test.py ASSAY FOLDER

FOLDER is where the cases are made, once for each version of the package. What is known not to pass stands in
expected.txt. Exit status 77 when there is no onnx package.
"""

import pathlib
import subprocess
import sys

import generate

HERE = pathlib.Path(__file__).resolve().parent


def main():
    assay, folder = sys.argv[1:]
    generate.make_cases(pathlib.Path(folder))
    command = [assay, "check", "conformance", folder, "--expected", str(HERE / "expected.txt")]
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
