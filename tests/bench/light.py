"""Writes the networks that the package onnx carries without weights (light_*.onnx), with weights that are drawn.

usage: light.py FOLDER

A weight of the package's files is a ConstantOfShape; here it is an initializer: of a convolution or a product normal numbers that keep
the size of what passes through, variances about 1, factors about 1, the rest about 0. From one seed, so each file is always the same.
"""
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"


def drawn(shape, node, place, random):
    """A weight that `node` has as its input of that place."""
    if node.op_type in ("Conv", "Gemm") and place == 1:
        fan_in = np.prod(shape[1:])  # Gemm: these networks have transB
        return random.standard_normal(shape) * np.sqrt(1 / fan_in)
    if node.op_type == "BatchNormalization" and place == 4:
        return random.uniform(0.5, 1.5, shape)
    is_factor = (node.op_type, place) == ("BatchNormalization", 1) or node.op_type == "Mul"
    return (1.0 if is_factor else 0.0) + 0.1 * random.standard_normal(shape)


def user_of(graph, name):
    """Who computes with a value: the node behind an Unsqueeze of it, and the place it has there."""
    for node in graph.node:
        if name in node.input:
            return user_of(graph, node.output[0]) if node.op_type == "Unsqueeze" else (node, list(node.input).index(name))
    raise ValueError(f"nobody uses {name}")


def with_weights(model, random):
    model.ir_version = max(model.ir_version, 4)  # weights need not be inputs
    graph = model.graph
    shapes = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    made = [n for n in graph.node if n.op_type == "ConstantOfShape"]
    for node in made:
        weight = drawn(tuple(map(int, shapes[node.input[0]])), *user_of(graph, node.output[0]), random)
        graph.initializer.append(numpy_helper.from_array(weight.astype(np.float32), node.output[0]))
        graph.node.remove(node)
    used = {name for node in graph.node for name in node.input}
    for values in (graph.initializer, graph.input):
        for value in [v for v in values if v.name not in used]:
            values.remove(value)
    constants = {t.name for t in graph.initializer}
    for value in [v for v in graph.input if v.name in constants]:
        graph.input.remove(value)
    return model


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(LIGHT.glob("light_*.onnx")):
        model = with_weights(onnx.load(path), np.random.default_rng(16))
        onnx.checker.check_model(model)
        onnx.save(model, folder / path.name)
        print(folder / path.name)


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) == 2 else __doc__)
