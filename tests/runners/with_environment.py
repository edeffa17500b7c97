"""Runs a test of this folder in the Python environment that a variable names, in which it and the runner find their package;
without it the test is skipped (exit status 77).

    with_environment.py VARIABLE PACKAGE TEST.py ARGUMENT...
"""

import os
import subprocess
import sys


def main():
    variable, package, test, *arguments = sys.argv[1:]
    environment = os.environ.get(variable, "")
    python = os.path.join(environment, "bin", "python3") if os.path.isdir(environment) else environment
    if not environment:
        print(f"skipped: {variable} names no Python environment with {package}")
        return 77
    if subprocess.run([python, "-c", f"import importlib.util as u, sys; sys.exit(not u.find_spec({package!r}))"]).returncode != 0:
        print(f"skipped: {environment}, which {variable} names, has no package {package}")
        return 77
    return subprocess.run([python, test, *arguments]).returncode


if __name__ == "__main__":
    sys.exit(main())
