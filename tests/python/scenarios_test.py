#!/usr/bin/env python3
"""Scripts as users type them, for polygraphy, onnx_graphsurgeon and tensorrt, under `assay python`: with assay's modules, then with the
real polygraphy and onnx_graphsurgeon on assay's tensorrt.

    scenarios_test.py PACKAGE --source FOLDER [--python PYTHON]

PACKAGE: the folder that holds the package assay; FOLDER: has the folders polygraphy, graphsurgeon and tensorrt, whose scripts run in
the order of their names in one folder, where `identity.onnx` (x of 1x1x2x2 to y) lies; their first argument is a small
model with one input. PYTHON: an interpreter with numpy, onnx, onnxruntime, nanobind-backend, polygraphy and onnx-graphsurgeon.
The models that scripts of graphsurgeon write have to be the same with either."""

import argparse
import glob
import os
import subprocess
import sys
import tempfile

FOLDERS = ["graphsurgeon", "polygraphy", "tensorrt"]
REAL = ["polygraphy", "onnx_graphsurgeon"]
MODELS = """
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
def write(name, nodes, ends, weights=()):
    graph = helper.make_graph(nodes, name, ends[:1], ends[1:], [numpy_helper.from_array(w, n) for n, w in weights])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), name + ".onnx")
write("identity", [helper.make_node("Identity", ["x"], ["y"])], [value("x", [1, 1, 2, 2]), value("y", [1, 1, 2, 2])])
random = np.random.default_rng(0)
nodes = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4), helper.make_node("Relu", ["c"], ["r"]),
         helper.make_node("Flatten", ["r"], ["f"]), helper.make_node("Gemm", ["f", "m"], ["y"])]
weights = [("w", random.standard_normal((4, 3, 3, 3), np.float32)), ("m", random.standard_normal((256, 10), np.float32))]
write("small", nodes, [value("x", [1, 3, 8, 8]), value("y", [1, 10])], weights)
"""
# Their graphs, weights, opsets and functions; the name of the program that wrote it differs.
COMPARE = """
import sys, onnx
first, second = (onnx.load(path) for path in sys.argv[1:])
assert first.graph == second.graph, "their graphs differ"
for field in ("opset_import", "functions"):
    assert list(getattr(first, field)) == list(getattr(second, field)), f"{field} differs"
"""


class Runner:
    def __init__(self, options):
        self.options = options
        self.assay = os.path.join(os.path.abspath(options.package), "assay", "bin", "assay")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_COMPAT", "PYTHON"))}
        self.environment.update(ASSAY_PYTHON=options.python, PYTHONPATH=os.path.abspath(options.package), PYTHONDONTWRITEBYTECODE="1")

    def python(self, code, *arguments, folder=None):
        return subprocess.run([self.options.python, "-c", code, *arguments], capture_output=True, text=True, cwd=folder)

    def run(self, kind, real, folder):
        """How many scripts of a kind end with 0, and what is wrong with the others."""
        done = self.python(MODELS, folder=folder)
        if done.returncode:
            sys.exit(done.stderr)
        passed, problems = 0, []
        for script in sorted(glob.glob(os.path.join(os.path.abspath(self.options.source), kind, "*.py"))):
            command = [self.assay, "python", *(a for name in real for a in ("--real", name)), script, "small.onnx"]
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=self.environment, timeout=600)
            passed += done.returncode == 0
            if done.returncode:
                problems.append(f"{kind}/{os.path.basename(script)} ends with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
        return passed, problems


def differences(runner, first, second):
    """(models of both folders, what is wrong with them)."""
    names, others = ({os.path.basename(p) for p in glob.glob(os.path.join(folder, "model-*.onnx"))} for folder in (first, second))
    problems = [f"{name} is written with one of the two alone" for name in sorted(names ^ others)]
    for name in sorted(names & others):
        done = runner.python(COMPARE, os.path.join(first, name), os.path.join(second, name))
        if done.returncode:
            problems.append(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    return len(names), problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--source", default=os.environ.get("ASSAY_SCENARIOS"))
    parser.add_argument("--python", default=os.environ.get("ASSAY_POLYGRAPHY_PYTHON", sys.executable))
    options = parser.parse_args()
    if not options.source:
        print("skipped: there are no scripts; --source or ASSAY_SCENARIOS says where they are")
        return 77
    runner, bad, total = Runner(options), [], 0
    missing = runner.python("import numpy, onnx, onnxruntime, nanobind_backend, polygraphy, onnx_graphsurgeon")
    if missing.returncode:
        print(f"skipped: {options.python} (--python, ASSAY_POLYGRAPHY_PYTHON) lacks something: {missing.stderr.strip().splitlines()[-1]}")
        return 77
    with tempfile.TemporaryDirectory() as top:
        for kind in FOLDERS:
            folders = [os.path.join(top, kind + which) for which in ("-ours", "-real")]
            for folder, real in zip(folders, ([], REAL)):
                os.mkdir(folder)
                passed, problems = runner.run(kind, real, folder)
                total += passed
                bad += problems
                print(f"{kind}, {'the real ' + ' and '.join(real) if real else 'assay'}: {passed} of {passed + len(problems)} end with 0", flush=True)
            if kind == "graphsurgeon":
                count, problems = differences(runner, *folders)
                bad += problems
                print(f"{count - len(problems)} of {count} models are the same")
    for problem in bad:
        print(problem)
    return 1 if bad or not total else 0


if __name__ == "__main__":
    sys.exit(main())
