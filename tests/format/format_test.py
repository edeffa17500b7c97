#!/usr/bin/env python3
"""Checks that every C++ file has the form that .clang-format gives it. Usage: format_test.py ROOT

`make format` writes it. Versions of clang-format break lines differently; the project's is the one in VERSION.
"""
import pathlib
import shutil
import subprocess
import sys

VERSION = 14
FOLDERS = ("src", "include", "tests", "examples", "extensions")


def files(root):
    return sorted(f for folder in FOLDERS for ending in ("*.h", "*.cpp") for f in (root / folder).rglob(ending))


def main():
    root = pathlib.Path(sys.argv[1])
    program = shutil.which(f"clang-format-{VERSION}")
    if not program:
        print(f"skipped: clang-format-{VERSION} is not installed")
        return 77
    found = files(root)
    if "--write" in sys.argv[2:]:
        return subprocess.run([program, "-i", *map(str, found)]).returncode
    checked = subprocess.run([program, "--dry-run", *map(str, found)], stderr=subprocess.PIPE, text=True)
    wrong = sorted({line.split(":")[0] for line in checked.stderr.splitlines() if "[-Wclang-format-violations]" in line})
    for file in wrong:
        print(f"{pathlib.Path(file).relative_to(root)}: not in the form of .clang-format (make format)")
    print(f"{len(found)} files checked, {len(wrong)} differ")
    return 1 if wrong or checked.returncode or len(found) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
