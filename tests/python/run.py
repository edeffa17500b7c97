"""The tests of the Python package.

    run.py FOLDER [--long] [ARGUMENTS OF UNITTEST]   with the package in FOLDER
    run.py --skip REASON
"""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    if sys.argv[1] == "--skip":
        print("skipped:", sys.argv[2])
        return 77
    folder, *arguments = sys.argv[1:]
    if "--long" in arguments:
        arguments.remove("--long")
        os.environ["ASSAY_LONG_TESTS"] = "1"
    try:
        import numpy
        import nanobind_backend
    except ImportError as e:
        print(f"skipped: {e}; `make test` installs it")
        return 77
    sys.path[:0] = [os.path.abspath(folder), HERE]
    os.environ["PYTHONPATH"] = os.path.abspath(folder)
    if arguments:
        tests = unittest.defaultTestLoader.loadTestsFromNames(arguments)
    else:
        tests = unittest.defaultTestLoader.discover(HERE, top_level_dir=HERE)
    result = unittest.TextTestRunner().run(tests)
    for test, reason in result.skipped:
        print(f"skipped in part: {test}: {reason}")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
