"""What Polygraphy's tests need of pytest and of packages, where assay is what they test: a pytest plugin."""

import json
import os
import subprocess
import sys
import types

import pytest

# The tests look at names of `tensorrt`; assay's recording package has them. The real one, if there is one, comes first.
sys.path.append(os.environ["ASSAY_RECORDING"])
try:
    import torch  # noqa: F401
except ImportError:
    sys.modules["torch"] = types.ModuleType("torch")
    sys.modules["torch"].Tensor = type("Tensor", (), {})  # Polygraphy asks whether arrays are some
OUTCOMES = {}


class Finished:
    """A program that has ended."""

    def __init__(self, done):
        self.returncode, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.success = done.returncode == 0


class Runner:
    """Programs, each in a process of its own."""

    def run(self, *words, cwd=None, env=None, stdin=None, **unused):
        if len(words) == 1 and not isinstance(words[0], str):
            words = words[0]
        words = [str(w) for w in words]
        answers = stdin.read() if stdin is not None else None
        done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, input=answers)
        print(f"$ {' '.join(words)}\n{done.stdout}\n{done.stderr}")
        return Finished(done)


@pytest.fixture()
def script_runner():
    return Runner()


class Environment:
    """In place of a virtual environment: nothing is installed."""

    def __init__(self, folder):
        self.virtualenv = folder

    def run(self, command, cwd=None):
        pytest.skip(f"would run {' '.join(command)}")


@pytest.fixture()
def virtualenv(tmp_path):
    (tmp_path / "lib" / "python3" / "site-packages").mkdir(parents=True)
    return Environment(str(tmp_path))


def pytest_configure(config):
    for marker in ("serial", "slow", "flaky", "script_launch_mode"):
        config.addinivalue_line("markers", f"{marker}: of Polygraphy's tests")


def pytest_runtest_logreport(report):
    name = report.nodeid
    if report.failed:
        OUTCOMES[name] = "failed"
    elif report.skipped:
        OUTCOMES.setdefault(name, "skipped")
    elif report.when == "call":
        OUTCOMES.setdefault(name, "passed")


def pytest_sessionfinish():
    with open(os.environ["ASSAY_UPSTREAM_REPORT"], "w") as file:
        json.dump(OUTCOMES, file)
