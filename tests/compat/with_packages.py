"""Runs a check of this folder in the project's Python environment, which `make test` fills; without it, or without the
packages that the check imports, it is skipped (exit status 77).

    with_packages.py ENVIRONMENT PACKAGE,PACKAGE... CHECK.py ARGUMENT...
"""

import os
import subprocess
import sys


def main():
    environment, packages, check, *arguments = sys.argv[1:]
    python = os.path.join(environment, "bin", "python")
    imports = "; ".join("import " + p for p in packages.split(","))
    if not os.path.exists(python) or subprocess.run([python, "-c", imports], capture_output=True).returncode != 0:
        print(f"skipped: {environment} has not all of {packages}; `make test` installs them")
        return 77
    return subprocess.run([python, check, *arguments]).returncode


if __name__ == "__main__":
    sys.exit(main())
