#!/usr/bin/env python3
"""`assay surgeon prune`, `weight-strip` and `weight-reconstruct` against the real `polygraphy surgeon`: the same weights stripped,
the same numbers pruned, and each tool fills what the other has stripped.

    tests/compat/weights_check.py build/assay

Exit status 0 when everything holds.
"""

import copy
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import upstream
from onnx import TensorProto, helper, numpy_helper

FLOAT, HALF, BF16 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16
RANDOM = np.random.default_rng(0)


def info(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def normal(*shape, dtype=np.float32):
    return RANDOM.standard_normal(shape).astype(dtype)


def sparse(array, axis):
    """The array with the first two of every four neighbours along the axis set to zero."""
    array = array.copy()
    rows = np.moveaxis(array, axis, 0)
    rows[0::4] = 0
    rows[1::4] = 0
    return array


def bf16(name, array, typed):
    """bfloat16 bits, in raw_data or in int32_data."""
    bits = (array.view(np.uint32) >> 16).astype(np.uint16)
    t = TensorProto(name=name, data_type=BF16, dims=array.shape)
    if typed:
        t.int32_data.extend(int(b) for b in bits.ravel())
    else:
        t.raw_data = bits.tobytes()
    return t


def model(nodes, inputs, outputs, initializers, opset=13, ir_version=8):
    initializers = [numpy_helper.from_array(v, k) for k, v in initializers.items()] if isinstance(initializers, dict) else initializers
    graph = helper.make_graph(nodes, "weights", inputs, outputs, initializers, doc_string="a graph")
    made = helper.make_model(graph, ir_version=ir_version, producer_name="weights_check",
                             opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 2)])
    helper.set_model_props(made, {"owner": "nobody"})
    return made


def product(weight, axis_from=(1, 8), dtype=FLOAT, opset=13):
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    return model([node], [info("x", axis_from, dtype)], [info("y", None, dtype)], [weight], opset)


def conv(weights):
    return model([helper.make_node("Conv", ["x", "w", "b"], ["y"])], [info("x", [1, 16, 8, 8])], [info("y", None)],
                 {"w": weights, "b": normal(8)})


def gemm_chain():
    """Both forms of Gemm, a Transpose before a MatMul, a bias that stays, an unused weight."""
    node = helper.make_node
    return model([node("Gemm", ["x", "g", "c"], ["a"], transB=1), node("Transpose", ["t"], ["u"], perm=[1, 0]),
                  node("MatMul", ["a", "u"], ["m"]), node("Add", ["m", "kept"], ["y"])],
                 [info("x", [2, 8])], [info("y", None)],
                 {"g": normal(12, 8), "c": normal(12), "t": normal(16, 12), "kept": normal(16), "unused": normal(4, 4)})


def tables():
    """Gather and Slice of large and of small constants."""
    node = helper.make_node
    return model([node("Gather", ["large", "x"], ["a"]), node("Gather", ["small", "x"], ["b"]),
                  node("Slice", ["sliced", "from", "to"], ["c"])],
                 [info("x", [1], TensorProto.INT64)], [info(n, None) for n in "abc"],
                 {"large": normal(64, 16), "small": normal(8, 16), "sliced": normal(32, 32), "from": np.int64([0]), "to": np.int64([4])})


def old_inputs():
    """Initializers that are graph inputs, too, as before IR version 4."""
    made = conv(normal(8, 16, 1, 1))
    made.ir_version = 3
    made.graph.input.extend([info("w", [8, 16, 1, 1]), info("b", [8])])
    return made


def quantized_input():
    """Q and DQ between a constant and the first operand of a Conv."""
    node = helper.make_node
    scale = {"s": np.float32(0.1), "z": np.int8(0)}
    return model([node("QuantizeLinear", ["d", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["x"]),
                  node("Conv", ["x", "w"], ["y"])], [], [info("y", None)],
                 {"d": normal(1, 16, 8, 8), "w": normal(8, 16, 1, 1), **scale})


MODELS = {
    "conv": lambda: conv(normal(8, 16, 3, 3)),
    "sparse_conv": lambda: conv(sparse(normal(8, 16, 3, 3), 1)),
    "matmul": lambda: product(numpy_helper.from_array(normal(8, 6), "w")),
    "sparse_matmul": lambda: product(numpy_helper.from_array(sparse(normal(8, 6), 0), "w")),
    "half": lambda: product(numpy_helper.from_array(normal(8, 6, dtype=np.float16), "w"), dtype=HALF),
    "bf16": lambda: product(bf16("w", normal(8, 6), typed=False), dtype=BF16),
    "bf16_typed": lambda: product(bf16("w", normal(8, 6), typed=True), dtype=BF16, opset=18),
    "gemm_chain": gemm_chain,
    "tables": tables,
    "old_inputs": old_inputs,
    "quantized_input": quantized_input,
}
# What the real tool does to bfloat16 follows from no magnitude; filling it needs another package.
BFLOAT16 = {"bf16", "bf16_typed"}
class Tools:
    def __init__(self, assay, folder):
        self.assay, self.folder = assay, folder

    def path(self, name):
        return os.path.join(self.folder, name + ".onnx")

    def run(self, command, tool, source, out, *options):
        words = ["surgeon", tool, self.path(source), "-o", self.path(out), *options]
        done = upstream.run(words) if command == upstream.NAME else subprocess.run([command, *words], capture_output=True, text=True)
        assert done.returncode == 0, f"{command} surgeon {tool} {source} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return onnx.load(self.path(out))


def weights(model):
    return {t.name: t for t in model.graph.initializer}


def numbers(tensor):
    """Elements as float32."""
    if tensor.data_type != BF16:
        return numpy_helper.to_array(tensor).astype(np.float32)
    bits = np.array(tensor.int32_data, np.uint16) if len(tensor.int32_data) else np.frombuffer(tensor.raw_data, np.uint16)
    return (bits.astype(np.uint32) << 16).view(np.float32).reshape(tensor.dims)


def expect_equal_but(names, changed, original, doc_changes=False):
    """Everything but the data (and doc strings) of these initializers is what it was."""
    a, b = copy.deepcopy(changed), copy.deepcopy(original)
    for m in (a, b):
        for t in m.graph.initializer:
            if t.name in names:
                for field in ("raw_data", "float_data", "int32_data"):
                    t.ClearField(field)
                if doc_changes:
                    t.ClearField("doc_string")
        if doc_changes:
            m.ClearField("doc_string")
    assert a.SerializeToString(deterministic=True) == b.SerializeToString(deterministic=True), "more than the weights changed"


def expect_runs(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    types = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int64)": np.int64}
    session.run(None, {i.name: np.ones(i.shape, types[i.type]) for i in session.get_inputs()})


def check_prune(tools, name):
    original = onnx.load(tools.path(name))
    ours = tools.run(tools.assay, "prune", name, name + ".pruned")
    changed = {n for n, t in weights(ours).items() if t != weights(original)[n]}
    expect_equal_but(changed, ours, original)
    if name in BFLOAT16:
        before, after = numbers(weights(original)["w"]), numbers(weights(ours)["w"])
        order = np.argsort(np.abs(before.reshape(-1, 4, before.shape[1])), axis=1, kind="stable")
        expected = before.reshape(-1, 4, before.shape[1]).copy()
        np.put_along_axis(expected, order[:, :2], 0, axis=1)
        assert np.array_equal(after, expected.reshape(before.shape)), "not the two smallest of four"
        return
    theirs = tools.run(upstream.NAME, "prune", name, name + ".theirs")
    for n, t in weights(theirs).items():
        assert np.array_equal(numbers(weights(ours)[n]), numbers(t)), f"{n} is pruned in another way"


def check_strip(tools, name):
    original = onnx.load(tools.path(name))
    ours = tools.run(tools.assay, "weight-strip", name, name + ".stripped")
    stripped = {n: t.doc_string for n, t in weights(ours).items() if not t.raw_data and not t.int32_data}
    assert stripped, "nothing was stripped"
    expect_equal_but(stripped, ours, original, doc_changes=True)
    theirs = tools.run(upstream.NAME, "weight-strip", name, name + ".stripped_by_upstream")
    assert ours.doc_string == theirs.doc_string, "the model's marks differ"
    marks = {n: t.doc_string for n, t in weights(theirs).items() if t.doc_string}
    if name == "bf16_typed":  # its sparsity check reads the wrong bytes
        marks = {n: "TRT_WEIGHTLESS/" for n in marks}
    assert stripped == marks, f"stripped {stripped}, upstream {marks}"
    return stripped


def expect_filled(path, stripped, original):
    filled = onnx.load(path)
    assert {n: list(t.dims) for n, t in weights(filled).items()} == {n: list(t.dims) for n, t in weights(original).items()}
    for n, t in weights(filled).items():
        values = numbers(t)
        if n not in stripped:
            assert np.array_equal(values, numbers(weights(original)[n])), f"{n} changed"
            continue
        assert values.size == 0 or np.any(values), f"{n} is empty"
        if "SPARSE_2_4" in stripped[n]:
            axis = 1 if values.ndim == 4 else 0
            rows = np.moveaxis(values, axis, -1).reshape(-1, 4)
            assert np.all((rows == 0).sum(axis=1) >= 2), f"{n} lost its pattern"


def check_fill(tools, name, stripped):
    original = onnx.load(tools.path(name))
    for source in (name + ".stripped", name + ".stripped_by_upstream"):
        tools.run(tools.assay, "weight-reconstruct", source, source + ".filled")
        expect_filled(tools.path(source + ".filled"), stripped, original)
        if name not in BFLOAT16:
            expect_runs(tools.path(source + ".filled"))
    if name not in BFLOAT16:
        tools.run(upstream.NAME, "weight-reconstruct", name + ".stripped", name + ".filled_by_upstream")
        expect_filled(tools.path(name + ".filled_by_upstream"), stripped, original)
        expect_runs(tools.path(name + ".filled_by_upstream"))


def check_seeds(tools):
    fill = lambda out, *options: tools.run(tools.assay, "weight-reconstruct", "conv.stripped", out, *options).SerializeToString()
    first, again, other = fill("a"), fill("b"), fill("c", "--seed", "2")
    assert first == again and first != other, "the seed does not decide the bytes"


def check_excluded(tools):
    """The real tool forgets a name once it has met it, so one that it meets twice is ours to check alone."""
    names = os.path.join(tools.folder, "names.txt")
    for model, excluded, expected, commands in (("conv", "b  \n", {"w"}, (tools.assay, upstream.NAME)),
                                                ("gemm_chain", "g\n\nt\n", {"c"}, (tools.assay,))):
        with open(names, "w") as file:
            file.write(excluded)
        for command in commands:
            left = tools.run(command, "weight-strip", model, "excluded", "--exclude-list", names)
            stripped = {n for n, t in weights(left).items() if not t.raw_data}
            assert stripped == expected, f"{command} stripped {stripped} of {model}"


def check_external_data(tools):
    """Stripping leaves the data file alone; the stripped model needs it only for what is kept."""
    original = onnx.load(tools.path("gemm_chain"))
    onnx.save(copy.deepcopy(original), tools.path("external"), save_as_external_data=True, location="external.data", size_threshold=0)
    data = os.path.join(tools.folder, "external.data")
    before = os.stat(data).st_mtime_ns, open(data, "rb").read()
    stripped = tools.run(tools.assay, "weight-strip", "external", "external_stripped")
    assert before == (os.stat(data).st_mtime_ns, open(data, "rb").read()), "the data file changed"
    assert {n for n, t in weights(stripped).items() if not t.raw_data} == {"g", "c", "t"}
    references = {t.name for t in onnx.load(tools.path("external_stripped"), load_external_data=False).graph.initializer if t.external_data}
    assert references == {"kept", "unused"}, f"references of {references}"
    tools.run(upstream.NAME, "weight-reconstruct", "external_stripped", "external_filled_by_upstream")
    tools.run(tools.assay, "weight-reconstruct", "external_stripped", "external_filled", "--save-external-data", "filled.data",
              "--external-data-size-threshold", "0")
    expect_runs(tools.path("external_filled"))


def main():
    assay = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(assay, folder)
        for name, make in MODELS.items():
            onnx.save(make(), tools.path(name))
            check_prune(tools, name)
            stripped = check_strip(tools, name)
            check_fill(tools, name, stripped)
            print(f"{name}: pruned, stripped ({', '.join(stripped)}) and filled again as the real tool does", flush=True)
        for check in (check_seeds, check_excluded, check_external_data):
            check(tools)
            print(f"{check.__name__} holds", flush=True)


if __name__ == "__main__":
    main()
