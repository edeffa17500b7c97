"""Wrong passes, tactics, kernels and races: planted by a module (../planted.cpp), or by a runner."""

import pathlib

from . import harness as h
from .harness import cause, causes

MODULE_OPTIONS = ["--builder-optimization-level", "0"]


def module():
    return ["--extension", h.PLANTED, *MODULE_OPTIONS]


# The pass, the operator that it spoils, attributes, further inputs, and a constant.
PASSES = [
    ("pass_slope", "planted_slope", "LeakyRelu", "<alpha = 0.1>", [], ()),
    ("pass_swapped_operands", "planted_swap", "Sub", "", ["c"], [("c", (8,), h.drawn(8, seed=7))]),
    ("pass_wrong_axis", "planted_axis", "Softmax", "<axis = 1>", [], ()),
    ("pass_left_out_element", "planted_order", "CumSum", "", ["axis"], ()),
    ("pass_epsilon", "planted_epsilon", "LayerNormalization", "<epsilon = 0.00001>", ["c"], [("c", (8,), h.drawn(8, 0.5, 1.5))]),
    ("pass_scale", "planted_scale", "Elu", "<alpha = 1.0>", [], ()),
    ("pass_lost_constant", "planted_constant", "Add", "", ["c"], [("c", (8,), h.drawn(8, seed=5))]),
    ("pass_dropped_clip", "planted_drop", "Clip", "", ["low", "high"], [("low", (), [0.01]), ("high", (), [0.05])]),
    ("pass_offset", "planted_function", "HardSigmoid", "", [], ()),
]


@causes("pass", PASSES, quick=["pass_slope"])
def wrong_pass(name, op, attributes, inputs, weights):
    # Behind it are others, which do not normalize what it does.
    def block(i):
        return ("Tanh", f"tanh{i}", "", []) if i > 5 else (op, "guilty5" if i == 5 else f"block{i}", attributes, inputs)

    nodes, own = h.blocks(8, block, reach=0.1 if op == "CumSum" else 0.3)  # sums of sums would saturate the others
    path = h.chain("model.onnx", nodes, [*own, *weights])
    found = h.search("passes", path, *module())
    said = [found.json.get("pass", "")]
    result = h.outcome("passes", found, said, [name])
    result.named = result.named and any("guilty5" in n for n in found.json["nodes"]) and found.json["options"] == ["--disable-passes", name]
    return result


def faulty(fault, count=8, op="Tanh", at=5):
    nodes, weights = h.blocks(count, lambda i: (op, f"{fault}{i}" if i == at else f"block{i}", "", []))
    return h.chain("model.onnx", nodes, weights)


FAULTS = ["wrong", "tail", "shift", "saturate", "coarse", "sign", "invalid", "first"]


@causes("tactic", [(f"tactic_{f}", f) for f in FAULTS], quick=["tactic_tail"])
def wrong_tactic(fault):
    found = h.search("tactics", faulty(fault), *module())
    return h.outcome("tactics", found, [n for g in found.json.get("guilty", []) for n in g["nodes"]], [f"{fault}5"])


@cause("tactic")
def tactic_of_a_replay():
    """Of a build that failed, in a replay."""
    path = faulty("wrong")
    h.assay("convert", path, "-o", "model.plan", "--save-tactics", "replay.json", *module())
    found = h.search("tactics", path, "--load-tactics", "replay.json", *module())
    return h.outcome("tactics", found, [n for g in found.json.get("guilty", []) for n in g["nodes"]], ["wrong5"])


@cause("tactic")
def two_tactics_of_one_kind():
    nodes, weights = h.blocks(10, lambda i: ("Tanh", f"wrong{i}" if i in (2, 7) else f"block{i}", "", []))
    found = h.search("tactics", h.chain("model.onnx", nodes, weights), *module())
    named = {n for g in found.json.get("guilty", []) for n in g["nodes"]}
    # Either is enough for the failure; the option leaves out both.
    result = h.outcome("tactics", found, named & {"wrong2", "wrong7"}, named)
    result.named = result.named and found.json["options"] == ["--disable-tactics", "planted_kernel:plain"]
    return result


def kernel_check():
    return [h.ASSAY, "run", "polygraphy_debug.onnx", "--trt", "--ref", "--val-range", "[-1,1]", *module()]


@causes("kernel", [(f"kernel_{f}", f, op) for f, op in
                   (("wrong", "Relu"), ("tail", "Sigmoid"), ("shift", "Abs"), ("saturate", "Neg"), ("coarse", "Tanh"), ("invalid", "Tanh"))],
        quick=["kernel_shift"])
def wrong_kernel(fault, op):
    return h.reduced(faulty(fault, op=op), kernel_check(), [f"{fault}5"])


@cause("kernel", quick=True)
def kernel_of_a_runner():
    """A backend of one's own, of which only results are known, against the reference."""
    nodes, weights = h.blocks(6, lambda i: ("Softsign" if i == 4 else "Tanh", f"block{i}", "", []))
    path = h.chain("model.onnx", nodes, weights)
    pathlib.Path("runner.py").write_text('''
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun


class Softsign(OpRun):
    op_domain = ""

    def _run(self, x):
        return ((x / (1 + x * x)).astype(x.dtype),)


class Wrong:
    def __init__(self, model_path):
        self.evaluator = ReferenceEvaluator(onnx.load(model_path), new_ops=[Softsign])

    def infer(self, feed_dict):
        names = self.evaluator.output_names
        return dict(zip(names, self.evaluator.run(names, feed_dict)))
''')
    found = h.search("diverge", path, "--runner-script", "runner.py", "--ref")
    return h.outcome("diverge", found, first_nodes(found), ["block4"])


def name_in(label):
    """Of a node's label, such as 'conv1' (Conv)."""
    return label.split("'")[1] if "'" in label else label


def first_nodes(found, side="first"):
    divergences = found.json.get("divergences") or [{}]
    return [name_in(n) for n in divergences[0].get(f"{side}_nodes", [])][:1]


@cause("race", quick=True)
def race_of_a_tactic():
    found = h.search("tactics", faulty("flaky"), "--runs", "6", *module())
    return h.outcome("tactics", found, [n for g in found.json.get("guilty", []) for n in g["nodes"]], ["flaky5"])


@cause("race")
def stale_buffer():
    found = h.search("tactics", faulty("stale"), "--runs", "4", *module())
    return h.outcome("tactics", found, [n for g in found.json.get("guilty", []) for n in g["nodes"]], ["stale5"])


def repeated(until, passed, count, check):
    code, text, spent = h.execute([h.ASSAY, "debug", "repeat", "--hide-fail-output", "--until", until, "--check", *check])
    found = h.Found(code, text, {"checks": text.count("Running check command")}, spent)
    said = f"Passed: {passed}/{count}"
    return h.Outcome("repeat", code == 0 and said in text, said if said in text else text[-300:], found, 0, ["--until", until, "--check", *check])


def flipping():
    return [h.script('n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) > count; test $((n % 5)) -ne 3')]


@cause("race", quick=True)
def race_in_one_run_of_five():
    """The rate of a check that flips."""
    return repeated("20", 16, 20, flipping())


@cause("race")
def first_run_that_a_race_loses():
    return repeated("bad", 3, 4, flipping())


@cause("race")
def race_in_a_node():
    """The check of a model that holds the node fails in one run of five."""
    path = h.chain("model.onnx", [("Abs" if i % 2 else "Neg", "guilty" if i == 13 else f"n{i}", "", []) for i in range(24)])
    check = [h.script(f'{h.ASSAY} inspect model "$1" --show layers | grep -q "| guilty " || exit 0\n'
                      'n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) > count; test $((n % 5)) -ne 3'), "{}"]
    result = h.reduced(path, check, ["guilty"], "--repeat", "8")
    result.named = result.named and "of 8 runs" in result.found.text
    result.rival = []  # Polygraphy runs a check once
    return result


@cause("race")
def runner_that_flips():
    """A backend of one's own whose result is another in one run of five, against the reference."""
    path = h.chain("model.onnx", [("Tanh", "only", "", [])])
    pathlib.Path("runner.py").write_text('''
import pathlib

import numpy as np


class Flips:
    def __init__(self, model_path):
        pass

    def infer(self, feed_dict):
        count = pathlib.Path("count")
        n = int(count.read_text()) if count.exists() else 0
        count.write_text(str(n + 1))
        return {"y": np.tanh(feed_dict["x"]) + np.float32(n % 5 == 3)}
''')
    return repeated("bad", 3, 4, [h.ASSAY, "run", path, "--runner-script", "runner.py", "--ref"])
