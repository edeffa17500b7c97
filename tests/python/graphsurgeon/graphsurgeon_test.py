#!/usr/bin/env python3
"""Runs the tests of onnx_graphsurgeon that lie beside this file; says what was left out, and why.

    graphsurgeon_test.py PACKAGE    the folder that holds the package assay
    graphsurgeon_test.py --skip REASON
"""

import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

if sys.argv[1] == "--skip":
    print("skipped:", sys.argv[2])
    sys.exit(77)
os.environ["ASSAY_PACKAGE"] = os.path.abspath(sys.argv[1])
try:
    import onnx  # noqa: F401
except ImportError:
    print("skipped: onnx_graphsurgeon takes models of the package onnx, which is not installed")
    sys.exit(77)


def main():
    suite = unittest.defaultTestLoader.discover(str(HERE), pattern="test_*.py")
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    reasons = {}
    for _, reason in result.skipped:
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in reasons.items():
        print("skipped in part: {:} tests of onnx_graphsurgeon: {:}".format(count, reason))
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
