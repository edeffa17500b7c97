#!/usr/bin/env python3
"""Polygraphy's own tests of its command line, and the command lines of its examples, with `assay` in its place.

    upstream_test.py ASSAY [--source FOLDER] [--only TEXT] [--jobs N] [PYTEST_OPTION...]

FOLDER (or ASSAY_POLYGRAPHY_SOURCE) is tools/Polygraphy of a checkout of NVIDIA's TensorRT repository (Apache-2.0), or a folder that
holds tools/Polygraphy. Nothing of it is part of this project; a copy is made for each run. Without it the test is skipped (77). The
Python that runs this needs pytest and the packages of tools/requirements-test.txt: the tests import the real Polygraphy, and what they
start as `polygraphy` is assay. It must not have pytest-console-scripts, which would start the real Polygraphy instead.

What does not pass is listed in exceptions.txt with its reason; an entry that passes, or that no test has, is an error, too.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VARIABLE = "ASSAY_POLYGRAPHY_SOURCE"
FILES = ["tests/tools/test_check.py", "tests/tools/test_convert.py", "tests/tools/test_data.py", "tests/tools/test_debug.py", "tests/tools/test_inspect.py",
         "tests/tools/test_plugin.py", "tests/tools/test_polygraphy.py", "tests/tools/test_run.py", "tests/tools/test_shard.py",
         "tests/tools/test_surgeon.py", "tests/tools/test_template.py", "examples"]
PACKAGES = ["pytest", "polygraphy", "onnx", "onnx_graphsurgeon", "onnxruntime", "yaml"]


def find_source(given):
    """The folder that has `tests` and `examples`, or None."""
    for folder in filter(None, [given, os.environ.get(VARIABLE)]):
        for place in (pathlib.Path(folder), pathlib.Path(folder) / "tools" / "Polygraphy"):
            if (place / "tests" / "tools").is_dir() and (place / "examples" / "cli").is_dir():
                return place
        sys.exit(f"{folder} holds no tests of Polygraphy: tests/tools and examples/cli are missing")
    return None


def prepare(source, folder, assay):
    """A copy of tests and examples, with assay as the program `polygraphy` in bin/."""
    for name in ("tests", "examples"):
        shutil.copytree(source / name, folder / name)
    # Their settings of pytest name options of plugins that are not needed here.
    (folder / "tests" / "pytest.ini").unlink(missing_ok=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "polygraphy").symlink_to(assay)
    shutil.copy(HERE / "plugin.py", folder / "assay_upstream_plugin.py")
    shutil.copy(HERE / "example_lines.py", folder / "examples" / "test_lines.py")
    return folder


def read_exceptions():
    """[(pattern, reason)]"""
    found = []
    for line in (HERE / "exceptions.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, reason = line.split(" | ", 1)
            found.append((pattern, reason))
    return found


def run(folder, options):
    report = folder / "report.json"
    environment = {
        **os.environ,
        "ASSAY_UPSTREAM_REPORT": str(report),
        "ASSAY_PYTHON": sys.executable,
        "ASSAY_RECORDING": str(ROOT / "python" / "embedded" / "recording"),
        "PATH": os.pathsep.join([str(folder / "bin"), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(folder),
    }
    command = [sys.executable, "-m", "pytest", "-p", "assay_upstream_plugin", "-q", "--tb=short", "-p", "no:cacheprovider",
               "--rootdir", str(folder), *options]
    subprocess.run(command, cwd=folder, env=environment)
    return json.loads(report.read_text()) if report.exists() else {}


def judge(outcomes, exceptions, is_part):
    """Prints what is not as it should be; the number of such cases."""
    used, problems = set(), 0
    for name, outcome in sorted(outcomes.items()):
        entry = next((e for e in exceptions if name == e[0] or fnmatch.fnmatchcase(name, e[0].replace("[", "[[]"))), None)
        if entry:
            used.add(entry)
        if outcome == "failed" and entry is None:
            print(f"FAILED: {name}")
            problems += 1
        elif outcome == "passed" and entry is not None and "*" not in entry[0]:
            print(f"passes, but exceptions.txt has it: {name}")
            problems += 1
    for entry in exceptions:
        if not is_part and entry not in used:
            print(f"exceptions.txt: no test is called {entry[0]}")
            problems += 1
    count = lambda outcome: sum(o == outcome for o in outcomes.values())
    print(f"{len(outcomes)} tests and lines: {count('passed')} pass, {count('failed')} fail, {count('skipped')} are skipped by "
          f"Polygraphy's own conditions; {len(exceptions)} exceptions are listed")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("--source")
    parser.add_argument("--only", help="pytest's -k")
    args, options = parser.parse_known_args()
    source = find_source(args.source)
    if source is None:
        print(f"skipped: {VARIABLE} does not name tools/Polygraphy of a checkout of NVIDIA's TensorRT repository")
        return 77
    missing = subprocess.run([sys.executable, "-c", "; ".join("import " + p for p in PACKAGES)], capture_output=True, text=True)
    if missing.returncode != 0:
        print(f"skipped: {sys.executable} has not all of {', '.join(PACKAGES)}: {missing.stderr.splitlines()[-1]}")
        return 77
    if subprocess.run([sys.executable, "-c", "import pytest_console_scripts"], capture_output=True).returncode == 0:
        sys.exit(f"{sys.executable} has pytest-console-scripts, which starts the real Polygraphy in place of assay: uninstall it there")
    with tempfile.TemporaryDirectory() as temporary:
        folder = prepare(source, pathlib.Path(temporary), os.path.abspath(args.assay))
        files = [o for o in options if not o.startswith("-")] or FILES
        chosen = [o for o in options if o.startswith("-")] + (["-k", args.only] if args.only else [])
        outcomes = run(folder, [*files, *chosen])
    return 1 if judge(outcomes, read_exceptions(), files is not FILES or bool(args.only)) or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
