"""What the tests of runners share."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

RUNNERS = pathlib.Path(__file__).resolve().parents[2] / "python" / "embedded" / "runners"


def load(name):
    """A shipped runner as a module, for what needs no process."""
    spec = importlib.util.spec_from_file_location("runner_" + name, RUNNERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def child_values():
    """The module that gives form to what scripts make."""
    sys.path.insert(0, str(RUNNERS.parent))
    from assay_child import values

    return values


class RunnerTest(unittest.TestCase):
    """`tool`: runner_tool. Files are in `folder`."""

    tool = None

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = self._folder.name

    def tearDown(self):
        self._folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_tool(self, runner, model, feed, /, **options):
        """Names and types as the tool prints them, and the outputs."""
        np.savez(self.path("in.npz"), **feed)
        arguments = [f"{name}={value}" for name, value in options.items()]
        done = subprocess.run([self.tool, runner, model, self.path("in.npz"), self.path("out.npz"), *arguments],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with np.load(self.path("out.npz")) as outputs:
            return done.stdout.splitlines(), dict(outputs)

    def failure(self, runner, model, /, **options):
        np.savez(self.path("in.npz"), none=np.zeros(1))
        arguments = [f"{name}={value}" for name, value in options.items()]
        done = subprocess.run([self.tool, runner, model, self.path("in.npz"), self.path("out.npz"), *arguments],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def assert_mentions(self, text, *parts):
        for part in parts:
            self.assertIn(part, text)


def main():
    RunnerTest.tool = sys.argv.pop(1)
    unittest.main()
