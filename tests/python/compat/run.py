"""The tests of assay.compat: run.py FOLDER [ARGUMENTS OF UNITTEST], with the package in FOLDER; run.py --skip REASON."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    if sys.argv[1] == "--skip":
        print("skipped:", sys.argv[2])
        return 77
    os.environ["ASSAY_PACKAGE"] = os.path.abspath(sys.argv[1])
    sys.path[:0] = [HERE]
    import support

    if support.REASON:
        print("skipped:", support.REASON)
        return 77
    names = sys.argv[2:]
    loader = unittest.defaultTestLoader
    tests = loader.loadTestsFromNames(names) if names else loader.discover(HERE, top_level_dir=HERE)
    result = unittest.TextTestRunner().run(tests)
    for test, reason in result.skipped:
        print(f"skipped in part: {test}: {reason}")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
