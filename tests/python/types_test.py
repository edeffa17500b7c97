#!/usr/bin/env python3
"""Whether all that the package assay shows has types: types_test.py, with pyright of this Python. The stand-ins in compat/site are not
a part of it: no import of assay's finds them, and their types are as far as those of the packages whose names they have."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "python", "assay")


def main():
    if importlib.util.find_spec("pyright") is None:
        print("skipped: the package pyright is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PACKAGE, os.path.join(folder, "assay"), ignore=lambda at, names: [n for n in names if n in ("site", "bin", "__pycache__")])
        done = subprocess.run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--verifytypes", "assay", "--ignoreexternal"], cwd=folder,
                              env=dict(os.environ, PYTHONPATH=folder), capture_output=True, text=True, timeout=600)
    score = re.search(r"Type completeness score: ([0-9.]+)%", done.stdout)
    if score is None:
        print("skipped: pyright does not run here:", (done.stdout + done.stderr).strip()[-300:])
        return 77
    for line in re.findall(r".*error:.*", done.stdout):
        print(line.strip())
    print(f"{score.group(1)} % of what assay shows has types")
    return 0 if score.group(1) == "100" else 1


if __name__ == "__main__":
    sys.exit(main())
