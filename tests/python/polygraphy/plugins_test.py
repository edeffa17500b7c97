#!/usr/bin/env python3
"""Options and runners that a package adds to `run` by the entry points polygraphy.run.plugins: plugins_test.py ASSAY [PACKAGE].

A made-up package is run on the module polygraphy of this interpreter, where it is installed, and on assay's, where PACKAGE (the folder
that holds the package assay) is given."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

ASSAY, PACKAGE = None, None
CODE = '''
from polygraphy.backend.base import BaseRunner
from polygraphy.common import TensorMetadata
from polygraphy.tools.args import ModelArgs, OnnxLoadArgs
from polygraphy.tools.args import util as args_util
from polygraphy.tools.args.base import BaseArgs, BaseRunnerArgs
from polygraphy.tools.script import make_invocable


class Adding(BaseRunner):
    def __init__(self, graph, amount=None, name=None):
        super().__init__(name=name, prefix="adding")
        self.load, self.amount = graph, amount or 0

    def activate_impl(self):
        self.graph = self.load()

    def get_input_metadata_impl(self):
        return TensorMetadata().add("x", "float32", tuple(d.dim_value for d in self.graph.graph.input[0].type.tensor_type.shape.dim))

    def infer_impl(self, feed_dict):
        self.inference_time = 0.125
        return {"y": feed_dict["x"] + type(feed_dict["x"][0, 0])(self.amount)}

    def deactivate_impl(self):
        del self.graph


class AmountArgs(BaseArgs):
    """
    Amounts: how much is added
    """

    def add_parser_args_impl(self):
        self.group.add_argument("--made-up-amount", help="How much is added", type=float, default=None)
        self.group.add_argument("--made-up-kind", choices=["plain", "fancy"], default=None)
        self.group.add_argument("--engine", action="store_true", help="A name that the program has")

    def parse_impl(self, args):
        self.amount = args_util.get(args, "made_up_amount")


class AddingArgs(BaseRunnerArgs):
    """
    Adding Runner: adding
    """

    def get_name_opt_impl(self):
        return "Adding", "made-up"

    def add_to_script_impl(self, script):
        loader = self.arg_groups[OnnxLoadArgs].add_to_script(script)
        script.add_import(["Adding"], frm="made_up_plugin")
        script.add_runner(make_invocable("Adding", loader, amount=self.arg_groups[AmountArgs].amount))


def export():
    return [AmountArgs(), AddingArgs()]


def fail():
    raise RuntimeError("this package does not work")
'''
ENTRY_POINTS = "[polygraphy.run.plugins]\nadding = made_up_plugin:export\nbroken = made_up_plugin:fail\n"


def write_package(folder):
    with open(os.path.join(folder, "made_up_plugin.py"), "w") as file:
        file.write(CODE)
    info = os.path.join(folder, "made_up-1.5.dist-info")
    os.mkdir(info)
    for name, text in (("METADATA", "Metadata-Version: 2.1\nName: made-up\nVersion: 1.5\n"), ("entry_points.txt", ENTRY_POINTS)):
        with open(os.path.join(info, name), "w") as file:
            file.write(text)


class Plugins:
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        write_package(self.folder)
        self.model = os.path.join(self.folder, "m.onnx")
        import onnx

        helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
        graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", float32, [2, 3])],
                                  [helper.make_tensor_value_info("y", float32, [2, 3])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), self.model)

    def run_assay(self, *words):
        environment = dict(os.environ, ASSAY_PYTHON=sys.executable, PYTHONPATH=os.pathsep.join([self.folder, *self.paths()]))
        done = subprocess.run([ASSAY, "run", *words], capture_output=True, text=True, env=environment, cwd=self.folder, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def test_help_lists_them(self):
        rc, out, err = self.run_assay("-h")
        self.assertEqual(rc, 0, err)
        for text in ("--made-up ", "Adding, of the package made-up 1.5", "Amounts\n", "--made-up-amount", "{plain,fancy}"):
            self.assertTrue(text in out, text)
        self.assertEqual(out.count("  --engine "), 1)

    def test_the_runner_is_compared(self):
        rc, out, err = self.run_assay(self.model, "--made-up", "--engine")
        self.assertEqual(rc, 0, out + err)
        self.assertIn("Accuracy Summary", out)
        rc, out, err = self.run_assay(self.model, "--made-up", "--engine", "--made-up-amount", "0.5", "--made-up-kind=fancy", "-v")
        self.assertEqual(rc, 1, out + err)
        self.assertIn("[abs=0.5]", out)

    def test_bad_words_are_refused(self):
        rc, _, err = self.run_assay(self.model, "--made-up", "--made-up-kind", "other")
        self.assertEqual(rc, 2)
        self.assertIn("invalid choice: 'other'", err)
        rc, out, _ = self.run_assay(self.model, "--made-up-nothing")
        self.assertEqual((rc, out), (1, "[E] Unrecognized Options: ['--made-up-nothing']\n"))

    def test_without_the_module_that_is_said(self):
        os.mkdir(os.path.join(self.folder, "polygraphy"))  # first on the path, and empty
        with open(os.path.join(self.folder, "polygraphy", "__init__.py"), "w") as file:
            file.write("raise ImportError('not here')\n")
        os.mkdir(os.path.join(self.folder, "assay"))
        with open(os.path.join(self.folder, "assay", "__init__.py"), "w") as file:
            file.write("raise ImportError('not here')\n")
        rc, out, err = self.run_assay(self.model, "--made-up")
        self.assertEqual(rc, 1)
        self.assertIn("Unrecognized Options: ['--made-up']", out)
        self.assertIn("classes of the module polygraphy", err)

    def test_what_does_not_work_is_said(self):
        _, out, err = self.run_assay(self.model, "--made-up")
        self.assertIn("the options that the package made-up adds (made_up_plugin:fail) cannot be used: this package does not work", out + err)


class OnTheInstalledOne(Plugins, unittest.TestCase):
    def setUp(self):
        if importlib.util.find_spec("polygraphy") is None:
            self.skipTest("NOT TESTED: the package polygraphy is not installed for this interpreter")
        super().setUp()

    def paths(self):
        return []


class OnAssays(Plugins, unittest.TestCase):
    def setUp(self):
        if PACKAGE is None:
            self.skipTest("NOT TESTED: the package assay is not built")
        super().setUp()

    def paths(self):
        # First on the path: what is installed besides is not found.
        return [os.path.join(PACKAGE, "assay", "compat", "site"), PACKAGE]


if __name__ == "__main__":
    ASSAY, PACKAGE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
    if importlib.util.find_spec("onnx") is None or importlib.util.find_spec("numpy") is None:
        print("skipped: the packages onnx and numpy are not installed; `make test` installs them")
        sys.exit(77)
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__]))
    for test, reason in result.skipped:
        print(f"skipped in part: {test}: {reason}")
    sys.exit(0 if result.wasSuccessful() else 1)
