#!/usr/bin/env python3
"""Compares the com.microsoft operators with the CPU kernels of the installed onnxruntime package, case by case.

usage: values_test.py ASSAY FOLDER

FOLDER is where the cases are made, as ONNX's backend tests. What is known to differ stands in expected.txt. Exit status 77
when there are no packages to compare with.
"""

import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
try:
    import attention_cases
    import case
    import float_cases
    import quantized_cases
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)


def main():
    assay, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    for cases in (quantized_cases, float_cases, attention_cases):
        case.write_all(cases.cases(), folder)
    command = [assay, "check", "conformance", str(folder), "--expected", str(HERE / "expected.txt")]
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
