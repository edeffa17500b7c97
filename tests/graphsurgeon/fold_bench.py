#!/usr/bin/env python3
"""Times constant folding against the real ONNX-GraphSurgeon: fold_constants().cleanup() from file to file, each in a
process of its own, in turns.

    tests/graphsurgeon/fold_bench.py build/tests/fold_tool [MODEL.onnx...]

Without models: a generated graph of 20,000 nodes, half of them foldable. Prints medians of elapsed and of processor
time (which depends less on what else the machine does), and how many nodes are left.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

REFERENCE = """
import sys, onnx, onnx_graphsurgeon as gs
graph = gs.import_onnx(onnx.load(sys.argv[1]))
graph.fold_constants().cleanup()
onnx.save(gs.export_onnx(graph), sys.argv[2])
"""


def half_foldable(nodes):
    """A chain of `nodes` / 2 Adds on the input; each adds a constant that a foldable node computes: groups of eight
    operators on constants, one of which all groups share."""
    steps = ["Add", "Mul", "Sub", "Max", "Relu", "Neg", "Abs", "Identity"]
    rng = np.random.default_rng(0)
    shared = numpy_helper.from_array(np.full(8, 0.5, np.float32), "shared")
    initializers, folded, chain = [shared], [], []
    value = "x"
    for i in range(nodes // 2):
        op = steps[i % len(steps)]
        if i % len(steps) == 0:
            initializers.append(numpy_helper.from_array(rng.random(8, np.float32), f"constant_{i}"))
            source = f"constant_{i}"
        inputs = [source, "shared"] if op in ("Add", "Mul", "Sub", "Max") else [source]
        source = f"folded_{i}"
        folded.append(helper.make_node(op, inputs, [source], name=f"fold_{i}"))
        chain.append(helper.make_node("Add", [value, source], [f"sum_{i}"], name=f"add_{i}"))
        value = f"sum_{i}"
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [8]) for n in ("x", value)]
    graph = helper.make_graph(folded + chain, "half_foldable", ends[:1], ends[1:], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def seconds(command):
    """Elapsed and processor time."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    elapsed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(tool, model, folder, rounds):
    outputs = [os.path.join(folder, name) for name in ("assay.onnx", "reference.onnx")]
    commands = [[tool, model, outputs[0]], [sys.executable, "-c", REFERENCE, model, outputs[1]]]
    times = [[], []]
    for _ in range(rounds):
        for command, measured in zip(commands, times):
            measured.append(seconds(command))
    ours, theirs = ([statistics.median(column) for column in zip(*measured)] for measured in times)
    left = [len(onnx.load(path).graph.node) for path in outputs]
    print(os.path.basename(model))
    for i, what in enumerate(("elapsed", "processor")):
        print(f"    {what:10} assay {ours[i] * 1e3:7.1f} ms   GraphSurgeon {theirs[i] * 1e3:7.0f} ms   "
              f"{theirs[i] / ours[i]:6.1f}x")
    print(f"    nodes left: assay {left[0]}, GraphSurgeon {left[1]}", flush=True)


def main():
    tool, *models = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        if not models:
            models = [os.path.join(folder, "half_foldable.onnx")]
            onnx.save(half_foldable(20000), models[0])
        for model in models:
            compare(tool, model, folder, rounds=5)


if __name__ == "__main__":
    main()
