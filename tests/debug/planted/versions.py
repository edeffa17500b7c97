"""Faults of one of two versions, and of models that generate from some step on."""

import os
import pathlib
import sys

import onnx

from . import harness as h
from .compilers import name_in
from .harness import cause, causes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "generate"))
import models  # noqa: E402


def first_nodes(report, side="first"):
    divergences = report.get("divergences") or [{}]
    return [name_in(n) for n in divergences[0].get(f"{side}_nodes", [])]


def plain(name="model.onnx", activation="LeakyRelu <alpha = 0.3> (p)"):
    return h.model(name, f"""g (float[4,8] x) => (float[4,8] y) <float[8,8] w = {h.floats(h.drawn(64))}> {{
  [first] t = Tanh (x)
  [product] p = MatMul (t, w)
  [guilty] r = {activation}
  [last] y = Sigmoid (r)
}}
""")


# A runner that loses a slope in these opsets, to which opset the model is converted, and the step.
OPSETS = [("runner_wrong_from_an_opset_on", "opset >= 19", 22, (18, 19)), ("runner_wrong_before_an_opset", "opset < 15", 13, (15, 14))]


@causes("version", OPSETS)
def runner_of_opsets(wrong, to, step):
    pathlib.Path("runner.py").write_text(f"""
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
        self.evaluator = ReferenceEvaluator(model, new_ops=[LeakyRelu] if {wrong} else [])

    def infer(self, feed):
        names = self.evaluator.output_names
        return dict(zip(names, self.evaluator.run(names, feed)))
""")
    found = h.search("versions", plain(), "--runner-script", "runner.py:Runner", "--to-opset", str(to), "--val-range", "[-1,1]")
    result = h.outcome("versions", found, first_nodes(found.json.get("divergence", {})), ["guilty"])
    result.named = result.named and (found.json.get("from_opset"), found.json.get("to_opset")) == step
    return result


@cause("version")
def newer_export():
    """An update of the exporter that renames everything and loses a slope."""
    after = h.model("after.onnx", f"""main (float[4,8] input) => (float[4,8] output) <float[8,8] onnx_1 = {h.floats(h.drawn(64))}> {{
  [node_0] v0 = Tanh (input)
  [node_1] v1 = MatMul (v0, onnx_1)
  [node_2] v2 = Relu (v1)
  [node_3] output = Sigmoid (v2)
}}
""")
    found = h.search("versions", plain(), "--against", after, "--val-range", "[-1,1]")
    return h.outcome("versions", found, first_nodes(found.json.get("divergence", {}), "second"), ["node_2"])


@cause("version", quick=True)
def newer_build():
    """A build of the program that computes another operator: a wrapper that runs another model."""
    wrong = h.script(f"""for word; do model=$word; test "$word" != run && break; done
{h.ASSAY} surgeon sanitize "$model" -o text.onnxtxt > /dev/null && sed 's/ LeakyRelu/ Elu/' text.onnxtxt > wrong.onnxtxt
shift 2
exec {h.ASSAY} run wrong.onnxtxt "$@"
""", "newer.sh")
    found = h.search("versions", plain(), "--engine", "--builds", h.ASSAY, wrong, "--val-range", "[-1,1]")
    result = h.outcome("versions", found, first_nodes(found.json.get("divergence", {})), ["guilty"])
    result.named = result.named and found.json["divergence"]["divergences"][0].get("errs") == "second"
    return result


@cause("version")
def newer_library():
    """An ONNX Runtime with a fault."""
    runtime = os.environ.get("ASSAY_ONNXRUNTIME")
    if not runtime:
        raise h.NotHere("it needs ASSAY_ONNXRUNTIME")
    path = plain()
    os.environ["WRONG_ONNXRUNTIME_OF"] = str(max(pathlib.Path(runtime).glob("lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so*")))
    os.environ["WRONG_ONNXRUNTIME_TENSOR"] = "r"
    found = h.search("versions", path, "--onnxrt", "--libraries", runtime, pathlib.Path(h.PLANTED).with_name("wrong_onnxruntime.so"))
    result = h.outcome("versions", found, first_nodes(found.json.get("divergence", {})), ["guilty"])
    result.named = result.named and found.json["divergence"]["divergences"][0].get("errs") == "second"
    return result


# --- Models that generate


def gate(model):
    return [n for n in model.graph.node if n.op_type == "Sigmoid"][1].output[0]


def new_value(model):
    return next(n.input[1] for n in model.graph.node if n.op_type == "Concat" and n.input[0] == "past_key_values.0.value")


# The tensor, when it is spoiled, by which factor, and the positions before the step that shows it.
STEPS = [("long_cache", gate, "Greater", 20, 1.5, 20), ("one_step_of_the_cache", new_value, "Equal", 12, -3, 11)]


@causes("generating", STEPS, quick=["long_cache"])
def wrong_step(tensor, condition, length, by, positions):
    onnx.save(models.decoder(), "right.onnx")
    onnx.save(models.spoil(models.decoder(), tensor(models.decoder()), condition, length, by), "model.onnx")
    found = h.search("diverge", "right.onnx", "--against", "model.onnx", "--prompt-ids", "5,17,42,3,80", "--max-tokens", "60")
    step = (found.json.get("steps") or [{"layers": {}}])[0]
    named = "guilty" in first_nodes(step["layers"], "second")
    result = h.outcome("diverge", found, ["guilty"] if named else first_nodes(step["layers"], "second"), ["guilty"])
    result.named = result.named and step.get("positions") == positions and bool(found.json["partings"])
    return result
