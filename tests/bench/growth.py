"""Draws how time grows with sequence length, image size, batch and depth, beside other backends.

usage: growth.py ASSAY PICTURE [--openvino] [--duration S] [--json FILE] [--only NAME...]

Needs the Python packages onnx, numpy and matplotlib. Makes networks of its own: transformer layers (width 256, 4 heads, exact
Gelu, LayerNormalization) and residual convolutions (64 channels, 3x3). Each size is a model with fixed shapes, run by
`assay bench` in turns. A kink of the engine's that no other backend has is told: a step where its time grows 1.3 times as
much as that of any other one.
"""
import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from table import bench, medians


class Network:
    """Nodes, weights of a fixed seed, and the value that comes last."""

    def __init__(self, shape):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(0)
        self.shape, self.last = shape, "x"

    def weight(self, *shape, scale=None):
        fan = int(np.prod(shape[1:])) if len(shape) > 2 else shape[0]
        values = self.random.standard_normal(shape) * (scale if scale is not None else fan**-0.5)
        self.weights.append(numpy_helper.from_array(values.astype(np.float32), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def integers(self, *values):
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def add(self, operator, *inputs, **attributes):
        self.nodes.append(helper.make_node(operator, list(inputs), [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def model(self):
        self.nodes.append(helper.make_node("Identity", [self.last], ["y"]))
        graph = helper.make_graph(self.nodes, "growth", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def transformer(sequence=128, batch=1, depth=2, width=256, heads=4):
    net = Network([batch, sequence, width])
    for _ in range(depth):
        x = net.last
        normal = net.add("LayerNormalization", x, net.weight(width, scale=1), net.weight(width))
        parts = []
        for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
            part = net.add("Add", net.add("MatMul", normal, net.weight(width, width)), net.weight(width))
            part = net.add("Reshape", part, net.integers(batch, sequence, heads, width // heads))
            parts.append(net.add("Transpose", part, perm=order))
        scores = net.add("Mul", net.add("MatMul", parts[0], parts[1]), net.weight(1, scale=(width / heads) ** -0.5))
        mixed = net.add("MatMul", net.add("Softmax", scores, axis=-1), parts[2])
        mixed = net.add("Reshape", net.add("Transpose", mixed, perm=[0, 2, 1, 3]), net.integers(batch, sequence, width))
        x = net.add("Add", x, net.add("Add", net.add("MatMul", mixed, net.weight(width, width)), net.weight(width)))
        normal = net.add("LayerNormalization", x, net.weight(width, scale=1), net.weight(width))
        hidden = net.add("Gelu", net.add("Add", net.add("MatMul", normal, net.weight(width, 4 * width)), net.weight(4 * width)))
        net.last = net.add("Add", x, net.add("Add", net.add("MatMul", hidden, net.weight(4 * width, width)), net.weight(width)))
    return net.model()


def convolutions(image=56, batch=1, depth=4, channels=64):
    net = Network([batch, channels, image, image])
    for _ in range(depth):
        x = net.last
        for _ in range(2):
            y = net.add("Conv", net.last, net.weight(channels, channels, 3, 3), net.weight(channels), pads=[1, 1, 1, 1])
            net.last = net.add("Relu", y)
        net.last = net.add("Add", x, net.last)
    return net.model()


CASES = {
    "sequence length": (transformer, "sequence", [1, 2, 4, 8, 15, 16, 17, 32, 64, 100, 128, 192, 256, 384, 512, 768, 1024]),
    "image size": (convolutions, "image", [1, 2, 4, 7, 8, 14, 16, 28, 32, 48, 56, 64, 96, 112, 128, 160, 224, 256, 320]),
    "batch of images": (convolutions, "batch", [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32]),
    "batch of sequences": (transformer, "batch", [1, 2, 3, 4, 5, 6, 8, 10, 12, 16]),
    "depth of convolutions": (convolutions, "depth", [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]),
    "depth of transformers": (transformer, "depth", [1, 2, 3, 4, 6, 8, 12, 16]),
}
KINK = 1.3


def measure(assay, case, options):
    """By backend: milliseconds at each size."""
    make, what, sizes = CASES[case]
    extra = ["--extension", Path(assay).parent / "extensions/openvino/openvino.so"] if options.openvino else []
    others = ["onnxrt"] + ["openvino"] * options.openvino
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder, "model.onnx")
            onnx.save(make(**{what: size}), path)
            report = bench(assay, path, "--backends", "engine", *others, "--duration", options.duration, "--warm-up", 50, *extra)
            for backend, time in medians(report).items():
                times.setdefault(backend, []).append(time)
            print(f"{case} {size}: " + ", ".join(f"{b} {t[-1]:.3f} ms" for b, t in times.items()), file=sys.stderr, flush=True)
    return {"sizes": sizes, "times": times}


def kinks(result):
    """Steps of size at which the engine's time grows KINK times as much as any other's."""
    found = []
    times, sizes = result["times"], result["sizes"]
    for i in range(1, len(sizes)):
        growth = {b: t[i] / t[i - 1] for b, t in times.items()}
        others = [g for b, g in growth.items() if b != "engine"]
        if growth["engine"] > KINK * max(1, *others):
            found.append((sizes[i - 1], sizes[i], growth["engine"], max(others)))
    return found


def draw(results, picture):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    colours = {"engine": "#d62728", "onnxrt": "#1f77b4", "openvino": "#7f7f7f"}
    figure, axes = pyplot.subplots((len(results) + 1) // 2, 2, figsize=(11, 3.6 * ((len(results) + 1) // 2)), squeeze=False)
    for place, (case, result) in zip(axes.flat, results.items()):
        for backend, times in result["times"].items():
            place.plot(result["sizes"], times, marker="o", markersize=3, linewidth=1.2, label=backend, color=colours.get(backend))
        place.set(xscale="log", yscale="log", xlabel=case, ylabel="median ms")
        place.xaxis.set_major_formatter(matplotlib.ticker.ScalarFormatter())
        place.grid(True, which="major", linewidth=0.3)
        place.legend(frameon=False)
    for place in axes.flat[len(results):]:
        place.axis("off")
    figure.tight_layout()
    figure.savefig(picture)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("picture", help="an .svg or .png")
    parser.add_argument("--openvino", action="store_true")
    parser.add_argument("--duration", type=float, default=0.3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    options = parser.parse_args()
    results = {case: measure(os.path.abspath(options.assay), case, options) for case in options.only}
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    for case, result in results.items():
        for before, behind, engine, other in kinks(result):
            print(f"{case}: from {before} to {behind} the engine's time grows {engine:.2f} times, the others' at most {other:.2f}")
    draw(results, options.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
