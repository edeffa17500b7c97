#!/usr/bin/env python3
"""`assay inspect` against the real `polygraphy inspect` of the running Python environment: the same text for generated
models, for the models of the onnx package's wheel, and for saved data.

    tests/compat/inspect_check.py build/assay

Exit status 0 when everything agrees.
"""

import difflib
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import upstream
from onnx import TensorProto, helper, numpy_helper
from polygraphy.comparator import IterationResult, RunResults
from polygraphy.json import save_json
from polygraphy.logger import G_LOGGER

TEMPLATES = ["mlp", "lstm", "resnet-18", "mobilenet-v2", "yolov8n"]
EVERYTHING = ["--show", "layers", "attrs", "weights"]


def lines(tool, arguments):
    done = upstream.run(arguments) if tool == upstream.NAME else subprocess.run(
        [upstream.NAME, *arguments], executable=tool, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{tool} {' '.join(arguments)}\n{done.stdout}{done.stderr}\nended with {done.returncode}")
    return [line for line in done.stdout.splitlines() if "'colored' module" not in line and "| Command:" not in line]


def with_type_names(line):
    """From 0.50 on, attributes that hold an element type show its name, as ours do."""
    match = re.fullmatch(r"((?:.*\.|\s*)(?:to|dtype|target_type)) = (\d+)", line)
    if not match or int(match[2]) not in TensorProto.DataType.values():
        return line
    name = TensorProto.DataType.Name(int(match[2]))
    return f"{match[1]} = {({'FLOAT': 'float32', 'DOUBLE': 'float64'}).get(name, name.lower())}"


def check(assay, arguments):
    theirs = [with_type_names(line) for line in lines(upstream.NAME, ["inspect", *arguments, "--log-format", "no-colors"])]
    ours = lines(assay, ["inspect", *arguments])
    if theirs != ours:
        difference = difflib.unified_diff(theirs, ours, "polygraphy", "assay", lineterm="", n=2)
        sys.exit(f"inspect {' '.join(arguments)}\n" + "\n".join(list(difference)[:60]))


def make_odd(path):
    """What generated models do not have: subgraphs, gaps, attributes of every kind that upstream shows."""
    def floats(name, values):
        return numpy_helper.from_array(np.array(values, np.float32), name)

    def info(name, shape, dtype=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, dtype, shape)

    inner = helper.make_node("Add", ["x", "w2"], ["then_out"], name="inner")
    deepest = [helper.make_graph([helper.make_node("Neg", ["x"], [f"{name}_out"])], name, [], [info(f"{name}_out", [1, 2])])
               for name in ("deep_then", "deep_else")]
    deeper = [helper.make_graph([helper.make_node("If", ["c"], [f"{name}_out"], name=f"if_{name}", then_branch=deepest[0], else_branch=deepest[1])],
                                name, [], [info(f"{name}_out", [1, 2])]) for name in ("inner_then", "inner_else")]
    then = helper.make_graph([inner], "then", [], [info("then_out", [1, 2])], [floats("w2", [[1, 1]])], doc_string="sub doc")
    other = helper.make_graph([helper.make_node("Sub", ["x", "w"], ["else_out"])], "else", [], [info("else_out", None)])
    nodes = [
        helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other, name="if0"),
        helper.make_node("Resize", ["image", "", "scales"], ["resized"], mode="linear", name="resize"),
        helper.make_node("Foo", [], ["foo", "foo2"], domain="my.dom", name="foo", f=0.1, i=-3, s="a'b\n\xe9", fs=[0.1, 1.0, 1e-7],
                         ints=[1, 2], strs=["a", "b'"], t=numpy_helper.from_array(np.array([1, 2]))),
        helper.make_node("Bar", ["foo"], [], domain="my.dom"),
        helper.make_node("Dropout", ["y"], ["d", ""]),
        helper.make_node("Add", ["d", "d"], ["twice"]),
        helper.make_node("If", ["c"], ["nested"], then_branch=deeper[0], else_branch=deeper[1], name="if1"),
        helper.make_node("Cast", ["x"], ["brain"], to=TensorProto.BFLOAT16, name="cast"),
        helper.make_node("EyeLike", ["w"], ["eye"], dtype=TensorProto.DOUBLE, k=1, name="eye_like"),
    ]
    inputs = [info("x", [1, 2]), info("w", [1, 2]), info("c", [], TensorProto.BOOL), info("image", [1, None, "h", -1])]
    outputs = [info("d", ["N", 2]), info("twice", None), info("resized", ["a", "b", "c", "d"])]
    weights = [floats("scales", [1, 1, 2, 2]), floats("w", [[0.5, 2]]), floats("empty", []), floats("scalar", 3),
               floats("large", np.arange(5000).reshape(50, 100) / 7), helper.make_tensor("s", TensorProto.STRING, [2], [b"a", b"b'c"]),
               helper.make_tensor("half", TensorProto.FLOAT16, [2], [1.0, 2.5]), helper.make_tensor("e4m3", TensorProto.BFLOAT16, [0], []),
               helper.make_tensor("bf", TensorProto.BFLOAT16, [2, 3], [0.1, -2, 1e-7, 3e38, float("nan"), -0.0]),
               helper.make_tensor("bf_large", TensorProto.BFLOAT16, [1500], [i / 7 for i in range(1500)]),
               helper.make_tensor("bf_scalar", TensorProto.BFLOAT16, [], [3.5]),
               helper.make_tensor("nibbles", TensorProto.INT4, [3], [7, -8, 1])]
    graph = helper.make_graph(nodes, "odd", inputs, outputs, weights, doc_string="Top doc\nline 2", value_info=[info("y", [1, 2])])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.dom", 1), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets), path)


def make_sparse(path):
    rng = np.random.RandomState(0)

    def weight(name, shape, axis, dtype=np.float32, is_sparse=True):
        array = np.moveaxis(rng.standard_normal(shape), axis, -1).copy()
        groups = array.reshape(-1, 4) if is_sparse else array.reshape(-1)
        if is_sparse:
            groups[:, [1, 3]] = 0
        return numpy_helper.from_array(np.ascontiguousarray(np.moveaxis(groups.reshape(array.shape), -1, axis)).astype(dtype), name)

    weights = [weight("conv", (16, 8, 3, 3), 1), weight("dense", (8, 8, 1, 1), 1, is_sparse=False), weight("right", (8, 12), 0),
               weight("transposed", (12, 8), 1), weight("gemm", (12, 8), 1), weight("odd", (6, 7), 0, is_sparse=False),
               weight("half", (8, 8), 0, np.float16), numpy_helper.from_array(np.zeros((8, 8), np.int8), "bytes"),
               numpy_helper.from_array(np.float32(1), "scale")]
    nodes = [helper.make_node("Conv", ["x", "conv"], ["c1"]), helper.make_node("Conv", ["x", "dense"], ["c2"]),
             helper.make_node("MatMul", ["y", "right"], ["m1"]), helper.make_node("Transpose", ["transposed"], ["t"], perm=[1, 0]),
             helper.make_node("MatMul", ["y", "t"], ["m2"]), helper.make_node("Gemm", ["y", "gemm"], ["g"], transB=1),
             helper.make_node("MatMul", ["z", "odd"], ["o1"]), helper.make_node("Cast", ["half"], ["single"], to=1),
             helper.make_node("MatMul", ["y", "single"], ["o2"]), helper.make_node("DequantizeLinear", ["bytes", "scale"], ["dq"]),
             helper.make_node("MatMul", ["y", "dq"], ["o3"]), helper.make_node("Sigmoid", ["y"], ["sigmoid"], name="sigmoid_node"),
             helper.make_node("MatMul", ["sigmoid", "right"], ["o4"])]
    shapes = {"x": [1, 8, 9, 9], "y": ["b", 8], "z": [2, 6]}
    inputs = [helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()]
    outputs = [helper.make_tensor_value_info(name, 1, None) for name in ["c1", "c2", "m1", "m2", "g", "o1", "o2", "o3", "o4"]]
    onnx.save(helper.make_model(helper.make_graph(nodes, "sparse", inputs, outputs, weights), opset_imports=[helper.make_opsetid("", 17)]), path)


def make_data(folder):
    rng = np.random.RandomState(0)
    first = {"a": rng.standard_normal((3, 4)).astype(np.float32), "b": rng.randint(0, 9, 2000), "c": np.array(3.5),
             "t": np.array([True, False]), "e": np.zeros((0, 3), np.float32)}
    second = {"a": rng.standard_normal((20, 100)).astype(np.float32), "n": np.float32([1, np.nan, 3])}
    save_json([first, second], f"{folder}/inputs.json")
    save_json([], f"{folder}/nothing.json")
    results = RunResults()
    results.append(("a-long-name", [IterationResult(x, 0.1, "a-long-name") for x in (first, second)]))
    results.append(("b", [IterationResult(first, 0.1, "b")]))
    results.save(f"{folder}/outputs.json")


def check_models(assay, folder):
    make_odd(f"{folder}/odd.onnx")
    make_sparse(f"{folder}/sparse.onnx")
    paths = [f"{folder}/odd.onnx", f"{folder}/sparse.onnx"]
    for name in TEMPLATES:
        paths.append(f"{folder}/{name}.onnx")
        lines(assay, ["template", "model", name, "--batch", "dynamic", "-o", paths[-1]])
    light = glob.glob(os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/light/*.onnx"))
    assert light, "the onnx package has lost its light models"
    for path in paths + light:
        for options in ([], ["--show", "layers"], EVERYTHING, ["--show", "weights"]):
            check(assay, ["model", path, *options])
    for path in paths:
        check(assay, ["sparsity", path])
    print(f"{len(paths) + len(light)} models: the same text")


def check_data(assay, folder):
    make_data(folder)
    for name in ("inputs", "outputs", "nothing"):
        for options in ([], ["--all"], ["-a", "-s", "--histogram"], ["-s", "-n", "1", "--line-width", "40"], ["-s", "-n", "-1", "--line-width", "-1"]):
            check(assay, ["data", f"{folder}/{name}.json", *options])
    print("saved data: the same text")


def main():
    assay = os.path.abspath(sys.argv[1])
    G_LOGGER.module_severity = G_LOGGER.ERROR
    with tempfile.TemporaryDirectory() as folder:
        check_data(assay, folder)
        check_models(assay, folder)


if __name__ == "__main__":
    main()
