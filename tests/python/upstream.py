"""Runs tests of others, which pytest collects, on assay's modules or on the packages whose names they have."""

import json
import os
import subprocess
import tempfile

PLUGIN = '''
import json, os
rank = {"passed": 0, "skipped": 1, "failed": 2}
found = {}
def note(name, outcome):
    if rank[outcome] >= rank[found.get(name, "passed")]:
        found[name] = outcome
def pytest_runtest_logreport(report):
    outcome = report.outcome
    if getattr(report, "wasxfail", None) is not None:
        outcome = "passed"
    note(report.nodeid, outcome)
def pytest_collectreport(report):
    if report.failed:
        note(report.nodeid, "failed")
def pytest_sessionfinish(session):
    with open(os.environ["OUTCOMES"], "w") as file:
        json.dump(found, file)
'''
START = '''
import importlib, os, subprocess, sys
import assay.compat
assay.compat.install(real={real!r})
import pytest
for name in {modules!r}:
    module = importlib.import_module(name)
    assert getattr(module, "__assay__", False) == (name not in {real!r}), module.__file__
# What tests start with an environment of their own gets this interpreter and these modules, too.
run = subprocess.run
def run_here(*arguments, env=None, **options):
    if env is not None and "PATH" not in env:
        env = dict(os.environ, PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
    return run(*arguments, env=env, **options)
subprocess.run = run_here
sys.path.insert(0, {folder!r})
sys.exit(pytest.main(sys.argv[1:]))
'''


def outcomes(python, package, source, real, modules, folders=("tests",), marks=("",), copied=(), verbose=False):
    """Outcomes by test: "passed", "skipped", "failed".

    python: the interpreter; package: the folder that holds the package assay; source: the folder around `tests`; real: names of
    packages that are not assay's; modules: what has to be assay's unless it is in `real`; folders: those of the tests; marks: a
    run for each; copied: folders beside `tests` that these need, and write into."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        # Not a link: tests go by their own place to that of others.
        for name in ("tests", *copied):
            subprocess.run(["cp", "-r", os.path.join(os.path.abspath(source), name), folder], check=True)
        with open(os.path.join(folder, "outcomes_plugin.py"), "w") as file:
            file.write(PLUGIN)
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([os.path.abspath(package), folder]), POLYGRAPHY_INTERNAL_CORRECTNESS_CHECKS="1",
                           OUTCOMES=os.path.join(folder, "outcomes.json"))  # fmt: skip
        for mark in marks:
            code = START.format(real=list(real), modules=list(modules), folder=folder)
            subprocess.run([python, "-c", code, "-q", "--rootdir", folder, "-p", "outcomes_plugin", "-p", "no:cacheprovider", "-W", "ignore",
                            "--tb=short" if verbose else "--tb=no", "--continue-on-collection-errors", *(["-m", mark] if mark else []), *folders],
                           cwd=folder, env=environment, stdout=None if verbose else subprocess.DEVNULL, timeout=1800)  # fmt: skip
            with open(environment["OUTCOMES"]) as file:
                found.update(json.load(file))
    return found


def lacks(python, imports):
    """Why an interpreter cannot run such tests, or nothing."""
    code = f"import {imports}, pytest; assert int(pytest.__version__.split('.')[0]) < 9, 'pytest is 9 or newer'"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""
