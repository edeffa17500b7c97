#!/usr/bin/env python3
"""`debug versions` with versions as they are: versions_test.py ASSAY WRONG_ONNXRUNTIME

Two ONNX Runtimes (ASSAY_ONNXRUNTIME, ASSAY_OLDER_ONNXRUNTIME), one with a planted fault, OpenVINO (ASSAY_OPENVINO), two of PyTorch's exporters
(ASSAY_TORCH), and a runner that computes otherwise from an opset on.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import onnx
from onnx import TensorProto, helper

ASSAY, WRONG = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
problems = 0


def run(*words, **environment):
    """(exit code, what it printed)"""
    done = subprocess.run([ASSAY, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=600,
                          env=os.environ | environment)
    return done.returncode, done.stdout


def expect(condition, what, shown=""):
    global problems
    if not condition:
        problems += 1
        print(f"FAILED: {what}\n{shown}")


def found(*words, status, **environment):
    """What --json says, and the text."""
    pathlib.Path("found.json").unlink(missing_ok=True)
    code, text = run("debug", "versions", *words, "--json", "found.json", **environment)
    expect(code == status, f"{words}: exit code {code}, not {status}", text)
    if not os.path.exists("found.json"):
        expect(False, f"{words}: no JSON", text)
        return {"divergence": {"divergences": [], "compared": 0}}, text
    return json.loads(pathlib.Path("found.json").read_text()), text


def named(result):
    """The node of the first divergence, and which side errs."""
    divergences = result["divergence"]["divergences"]
    return (" ".join(divergences[0]["first_nodes"]), divergences[0].get("errs")) if divergences else ("", "")


def environments(*variables):
    """Nothing, and a line that says so, unless all are there."""
    missing = [v for v in variables if not os.environ.get(v)]
    if missing:
        print(f"skipped in part: versions of libraries need {' and '.join(missing)}")
        return None
    return [os.environ[v] for v in variables]


def library_of(environment):
    """The file of ONNX Runtime in a Python environment."""
    return str(max(pathlib.Path(environment).glob("lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so*")))


def onnx_runtimes():
    places = environments("ASSAY_OLDER_ONNXRUNTIME", "ASSAY_ONNXRUNTIME")
    if not places:
        return
    older, newer = places
    run("template", "model", "mnist-cnn", "-o", "digits.onnx")
    result, text = found("digits.onnx", "--onnxrt", "--libraries", older, newer, "--iterations", "3", status=0)
    expect(result["versions"] == "libraries" and result["divergence"]["compared"] >= 12, "two right ONNX Runtimes", text)
    expect(result["divergence"]["first"].endswith(older) and result["divergence"]["second"].endswith(newer), "their names", text)
    # An operator that only one of them has.
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 2, 4, 8]) for n in "qkvy"]
    attention = helper.make_graph([helper.make_node("Attention", list("qkv"), ["y"], name="attention")], "g", values[:3], values[3:])
    onnx.save(helper.make_model(attention, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), "attention.onnx")
    code, text = run("debug", "versions", "attention.onnx", "--onnxrt", "--libraries", newer, older)
    expect(code == 1 and f"of {older} cannot run the model" in text and "opset 2" in text, "a version that cannot run the model", text)
    # One with a fault.
    pool = next(n for n in onnx.load("digits.onnx").graph.node if n.op_type == "MaxPool")
    wrong = {"WRONG_ONNXRUNTIME_OF": library_of(newer), "WRONG_ONNXRUNTIME_TENSOR": pool.output[0]}
    for libraries, errs in (([older, WRONG], "second"), ([WRONG, newer], "first")):
        result, text = found("digits.onnx", "--onnxrt", "--libraries", *libraries, status=1, **wrong)
        node, side = named(result)
        expect(pool.name in node and side == errs and f"the {errs} errs" in text, f"a wrong ONNX Runtime, the {errs}", text)


def openvino():
    places = environments("ASSAY_OPENVINO")
    module = next(pathlib.Path(ASSAY).parent.glob("extensions/**/*openvino*.so"), None)
    if not places or module is None:
        return
    run("template", "model", "mnist-cnn", "-o", "digits.onnx")
    words = ["digits.onnx", "--openvino", "--extension", str(module)]
    result, text = found(*words, "--libraries", places[0], places[0], status=0)
    expect(result["divergence"]["compared"] >= 5, "OpenVINO", text)


NETWORK = """
import sys
import torch


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.GroupNorm(2, 8, eps=float(sys.argv[3]))
        self.last = torch.nn.Linear(8, 4)

    def forward(self, x):
        y = torch.nn.functional.gelu(self.norm(self.first(x)))
        return torch.softmax(self.last(y.mean((2, 3))), -1)


torch.onnx.export(Network().eval(), (torch.ones(1, 3, 8, 8),), sys.argv[1], dynamo=sys.argv[2] == "dynamo")
"""


def exporters():
    places = environments("ASSAY_TORCH")
    if not places:
        return
    pathlib.Path("network.py").write_text(NETWORK)

    def export(path, exporter, epsilon):
        done = subprocess.run([f"{places[0]}/bin/python", "network.py", path, exporter, epsilon], capture_output=True, text=True)
        expect(done.returncode == 0, f"{exporter} exports", done.stderr)

    export("script.onnx", "torchscript", "1e-5")
    export("dynamo.onnx", "dynamo", "1e-5")
    export("wrong.onnx", "dynamo", "0.05")
    result, text = found("script.onnx", "--against", "dynamo.onnx", status=0)
    expect(result["versions"] == "exports" and result["divergence"]["compared"] >= 5, "two exporters", text)
    result, text = found("script.onnx", "--against", "wrong.onnx", status=1)
    node, side = named(result)
    expect("InstanceNormalization" in node or "GroupNorm" in node or "norm" in node, "an exporter with another epsilon", text)
    expect(len(result["divergence"]["divergences"]) == 1, "one cause", text)


RUNNER = """
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun


class LeakyRelu(OpRun):
    op_domain = ""

    def _run(self, x, alpha=None):
        return ((x * (x > 0)).astype(x.dtype),)


class Runner:
    def __init__(self, path):
        model = onnx.load(path)
        opset = next(o.version for o in model.opset_import if not o.domain)
        self.evaluator = ReferenceEvaluator(model, new_ops=[LeakyRelu] if WRONG(opset) else [])

    def infer(self, feed):
        names = self.evaluator.output_names
        return dict(zip(names, self.evaluator.run(names, feed)))
"""


def opsets():
    """A runner that loses a slope in some opsets: the step is named, and the node."""
    text = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2,4] x) => (float[2,4] y) {
  [first] t = Tanh (x)
  [act] r = LeakyRelu <alpha = 0.3> (t)
  [last] y = Neg (r)
}
"""
    pathlib.Path("model.onnxtxt").write_text(text)
    pathlib.Path("newer.onnxtxt").write_text(text.replace("17", "21"))
    python = {"ASSAY_PYTHON": sys.executable}
    for model, to, wrong, step in (("model.onnxtxt", 22, "opset >= 19", (18, 19)), ("newer.onnxtxt", 13, "opset < 16", (16, 15))):
        pathlib.Path("runner.py").write_text(RUNNER.replace("WRONG(opset)", wrong))
        result, text = found(model, "--runner-script", "runner.py:Runner", "--to-opset", str(to), "--val-range", "[-1,1]", status=1, **python)
        expect((result.get("from_opset"), result.get("to_opset")) == step, f"the step of {wrong}", text)
        expect(f"The step from opset {step[0]} to {step[1]} changes results" in text, f"the step of {wrong}, in words", text)
        node, errs = named(result)
        expect("'act'" in node and errs == "second", f"the node of {wrong}", text)
    pathlib.Path("runner.py").write_text(RUNNER.replace("WRONG(opset)", "False"))
    result, text = found("model.onnxtxt", "--runner-script", "runner.py:Runner", "--to-opset", "22", status=0, **python)
    expect("from_opset" not in result, "no step", text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in (opsets, onnx_runtimes, openvino, exporters):
            start = time.monotonic()
            test()
            print(f"{test.__name__}: {time.monotonic() - start:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
