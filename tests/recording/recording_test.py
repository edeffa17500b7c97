#!/usr/bin/env python3
"""Network and configuration scripts: what they record, as ONNX against NumPy, and as JSON.

    tests/recording/recording_test.py [build/assay] [unittest's arguments, as pointwise_test.Scale]
"""

import os
import sys
import unittest

if __name__ == "__main__":
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, folder)
    arguments = sys.argv[1:]
    if arguments and os.path.exists(arguments[0]):
        os.environ["ASSAY_PROGRAM"] = os.path.abspath(arguments.pop(0))
    if arguments:
        unittest.main(module=None, argv=[sys.argv[0], *arguments])
    suite = unittest.defaultTestLoader.discover(folder, pattern="*_test.py")
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    for _, reason in result.skipped:
        print(f"skipped in part: {reason}")
    sys.exit(not result.wasSuccessful())
