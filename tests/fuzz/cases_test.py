#!/usr/bin/env python3
"""Makes the conformance cases of the installed onnx package wrong and runs them. usage: cases_test.py OP_FUZZ FOLDER"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "conformance"))
import generate  # noqa: E402  exits with 77 when there is no onnx package

if __name__ == "__main__":
    program, folder = sys.argv[1:]
    generate.make_cases(pathlib.Path(folder))
    sys.exit(subprocess.run([program, "--rounds", "200", folder]).returncode)
