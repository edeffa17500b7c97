#!/usr/bin/env python3
"""How much faster assay's onnx_graphsurgeon is than the real one: import, fold_constants(), cleanup().toposort(), export.

    speed.py PACKAGE [--python PYTHON] [--pairs N] [--least RATIO] [MODEL.onnx ...]

PACKAGE: the folder that holds the package assay; PYTHON: an interpreter with numpy, onnx, onnxruntime, ml_dtypes, nanobind-backend and
onnx-graphsurgeon. Without models: DenseNet-121 with random weights, and a graph of 20,000 nodes, half of which can be folded.
Processes of the two take turns; times are of the processor (all threads), which depend less on what else the machine does.
Exits with 1 where a ratio of all four together is below --least. Not part of the tests: times vary."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "graphsurgeon"))
from fold_bench import half_foldable  # noqa: E402

STAGES = ["import", "fold", "cleanup", "export"]
RUN = """
import json, sys, time
import assay.compat
assay.compat.install(real={real!r})
import onnx, onnx_graphsurgeon as gs
assert getattr(gs, "__assay__", False) == (not {real!r}), gs.__file__
# What the first fold alone has to load is not what is compared.
x = gs.Variable("x", "float32", (1,))
g = gs.Graph(opset=13, ir_version=8)
c = gs.Constant("c", __import__("numpy").ones(1, "float32"))
y = gs.Variable("y", "float32", (1,))
g.nodes.append(gs.Node("Neg", "n", inputs=[c], outputs=[y])); g.outputs = [y]
g.fold_constants().cleanup()
model = onnx.load(sys.argv[1])
times, last = [], time.process_time()
def note():
    global last
    now = time.process_time()
    times.append(now - last)
    last = now
graph = gs.import_onnx(model); note()
graph.fold_constants(); note()
graph.cleanup().toposort(); note()
result = gs.export_onnx(graph); note()
print(json.dumps([times, len(result.graph.node)]))
"""


def densenet_121():
    """As PyTorch exports it: growth 32, blocks of 6, 12, 24, 16 layers; the classifier's input is flattened by computed shapes."""
    rng = np.random.default_rng(0)
    nodes, weights = [], []

    def constant(name, array):
        weights.append(numpy_helper.from_array(array, name))
        return name

    def op(kind, inputs, **attributes):
        name = f"{kind}_{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [name + "_out"], name=name, **attributes))
        return name + "_out"

    def conv(x, into, outof, kernel, stride=1):
        w = constant(f"w{len(nodes)}", rng.standard_normal((outof, into, kernel, kernel), np.float32) / (into * kernel**2) ** 0.5)
        return op("Conv", [x, w], kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4, strides=[stride] * 2)

    def norm(x, channels):
        names = [constant(f"{part}{len(nodes)}", rng.random(channels, np.float32) + 0.5) for part in ("scale", "bias", "mean", "variance")]
        return op("Relu", [op("BatchNormalization", [x, *names])])

    x = op("MaxPool", [norm(conv("x", 3, 64, 7, 2), 64)], kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    channels = 64
    for block, layers in enumerate((6, 12, 24, 16)):
        parts = [x]
        for _ in range(layers):
            joined = op("Concat", list(parts), axis=1)
            wide = conv(norm(joined, channels), channels, 128, 1)
            parts.append(conv(norm(wide, 128), 128, 32, 3))
            channels += 32
        x = norm(op("Concat", parts, axis=1), channels)
        if block < 3:
            x = op("AveragePool", [conv(x, channels, channels // 2, 1)], kernel_shape=[2, 2], strides=[2, 2])
            channels //= 2
    x = op("GlobalAveragePool", [x])
    rows = op("Gather", [op("Shape", [x]), constant("zero", np.array([0], np.int64))], axis=0)
    x = op("Reshape", [x, op("Concat", [rows, constant("rest", np.array([-1], np.int64))], axis=0)])
    y = op("Gemm", [x, constant("classes", rng.standard_normal((channels, 1000), np.float32)), constant("shift", np.zeros(1000, np.float32))])
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", ["n", 3, 224, 224]), (y, ["n", 1000]))]
    graph = helper.make_graph(nodes, "densenet_121", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def times_of(options, real, path):
    code = RUN.format(real=["onnx_graphsurgeon"] if real else [])
    done = subprocess.run([options.python, "-c", code, path], capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=os.path.abspath(options.package)))
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--least", type=float, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not options.models:
            for model in (densenet_121(), half_foldable(20_000)):
                options.models.append(os.path.join(folder, model.graph.name + ".onnx"))
                onnx.save(model, options.models[-1])
        slow = False
        print(f"| model | | {' | '.join(STAGES)} | all | nodes left |\n|---|---|{'---|' * (len(STAGES) + 2)}")
        for path in options.models:
            runs = {False: [], True: []}
            for _ in range(options.pairs):
                for real in (True, False):
                    runs[real].append(times_of(options, real, path))
            medians = {}
            for real in (True, False):
                columns = list(zip(*(times for times, _ in runs[real])))
                medians[real] = [statistics.median(c) for c in columns] + [statistics.median(map(sum, zip(*columns)))]
                shown = " | ".join(f"{1e3 * t:.1f} ms" for t in medians[real])
                print(f"| {os.path.basename(path)} | {'real' if real else 'assay'} | {shown} | {runs[real][0][1]} |")
            ratios = [theirs / max(ours, 1e-9) for theirs, ours in zip(medians[True], medians[False])]
            print(f"| {os.path.basename(path)} | ratio | {' | '.join(f'{r:.1f}' for r in ratios)} | |", flush=True)
            slow = slow or ratios[-1] < options.least
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
