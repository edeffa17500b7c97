#!/usr/bin/env python3
"""Runs op_fuzz against the ONNX Runtime of the Python that runs this. usage: onnxrt_test.py OP_FUZZ ARGUMENT..."""

import os
import subprocess
import sys

if __name__ == "__main__":
    program, *arguments = sys.argv[1:]
    environment = {**os.environ, "ASSAY_ONNXRUNTIME": sys.prefix}
    sys.exit(subprocess.run([program, "--against", "onnxrt", *arguments], env=environment).returncode)
