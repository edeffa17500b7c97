#!/usr/bin/env python3
"""The page of `inspect model --save-visual` against that of the real `polygraphy inspect model --visual --save-visual` of the
running Python environment: the same nodes, with the same ids, in the same order.

    tests/compat/viewer_check.py build/assay

What differs on purpose (docs/reference/compatibility.md) is brought into one form first. Exit status 0 when everything agrees.
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile

import inspect_check
import numpy as np
import onnx
import upstream
from onnx import TensorProto, helper, numpy_helper

DTYPES = [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
INFO = helper.make_tensor_value_info
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1), helper.make_opsetid("other", 1)]


def save(path, graph, functions=()):
    onnx.save(helper.make_model(graph, functions=functions, opset_imports=OPSETS), path)


def make_types(path):
    """Weights of every type that the real tool can show, as initializers and as attributes."""
    weights = [numpy_helper.from_array(np.arange(20, dtype=d).reshape(4, 5), f"w_{np.dtype(d).name}") for d in DTYPES]
    weights += [numpy_helper.from_array(np.arange(n, dtype=np.float32), f"count_{n}") for n in (15, 16, 17, 1000)]
    weights += [
        helper.make_tensor("bf16", TensorProto.BFLOAT16, [20], [i / 7 for i in range(20)]),
        helper.make_tensor("bf16_nan", TensorProto.BFLOAT16, [2], [0.1, float("nan")]),
        helper.make_tensor("int4", TensorProto.INT4, [19], [i % 16 - 8 for i in range(19)]),
        helper.make_tensor("uint4", TensorProto.UINT4, [3], [1, 2, 3]),
        helper.make_tensor("f8", TensorProto.FLOAT8E4M3FN, [4], [1, 2, 3, 0.3]),
        helper.make_tensor("f8_e5m2", TensorProto.FLOAT8E5M2, [20], [i / 4 for i in range(20)]),
        helper.make_tensor("strings", TensorProto.STRING, [2], [b"a", "b'ü".encode()]),
        helper.make_tensor("many_strings", TensorProto.STRING, [20], [b"s%d" % i for i in range(20)]),
        numpy_helper.from_array(np.array([np.nan, np.inf, -np.inf, 1e30, 0.1], np.float32), "not_finite"),
        numpy_helper.from_array(np.zeros((0, 3), np.float32), "empty"),
        numpy_helper.from_array(np.array([True, False]), "bools"),
        numpy_helper.from_array(np.array(2.5, np.float32), "scalar"),
        numpy_helper.from_array(np.array([2**53 + 1, -(2**63), 2**53]), "large_integers"),
    ]
    nodes = [helper.make_node("Bar", [w.name], [f"o_{w.name}"], domain="other", t=w) for w in weights]
    save(path, helper.make_graph(nodes, "types", [INFO("x", 1, [None, "b", -1])], [], weights))


def make_nested(path):
    """A local function, a loop that takes values and weights from outside, long attributes, names that are markup."""
    function = helper.make_function("my", "Fn", ["a", "b"], ["c"], [helper.make_node("Add", ["a", "b"], ["t"]), helper.make_node("Mul", ["t", "t"], ["c"])],
                                    [helper.make_opsetid("", 17)], ["alpha"])
    body = helper.make_graph([helper.make_node("Identity", ["cin"], ["cout"]), helper.make_node("Add", ["s", "outer"], ["so"], name="loopadd"),
                              helper.make_node("Add", ["s", "own"], ["scan"])], "body",
                             [INFO("i", TensorProto.INT64, []), INFO("cin", TensorProto.BOOL, []), INFO("s", 1, [2])],
                             [INFO("cout", TensorProto.BOOL, []), INFO("so", 1, [2]), INFO("scan", 1, [2])],
                             [numpy_helper.from_array(np.array([3, 4], np.float32), "own")])
    nodes = [helper.make_node("Fn", ["x", "x"], ["y"], domain="my", name="call", alpha=1.5),
             helper.make_node("Loop", ["n", "", "y"], ["z", "zz"], body=body, name="loop")]
    nodes += [helper.make_node("Constant", [], [f"text_{n}"], value_string="ü" * n) for n in (137, 138, 139, 140, 141, 200)]
    nodes += [helper.make_node("Constant", [], [f"ints_{n}"], value_ints=list(range(n))) for n in (46, 47, 48, 49, 50, 100, 5000)]
    nodes += [helper.make_node("Constant", [], ["strings"], value_strings=["a'b"] * 100),
              helper.make_node("Foo", ["seq"], ["q"], domain="other", empty="", name="</script><b>\n'\"&", to=99),
              helper.make_node("Cast", ["y"], ["yc"], to=TensorProto.DOUBLE)]
    sequence = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    graph = helper.make_graph(nodes, "nested", [INFO("x", 1, [2]), INFO("n", TensorProto.INT64, []), helper.make_value_info("seq", sequence)],
                              [INFO("z", 1, [2]), INFO("zz", 1, None), INFO("x", 1, [2])], [numpy_helper.from_array(np.array([1, 2], np.float32), "outer")],
                              doc_string="a graph")
    graph.input[0].doc_string = "an input"
    save(path, graph, [function])


def their_nodes(page):
    """The dictionary of nodes with their attributes, wherever it stands in the page."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r'\{"(?:input_|node_|output_)', page):
        nodes, _ = decoder.raw_decode(page, match.start())
        if isinstance(nodes, dict) and all(isinstance(n, dict) and "attrs" in n for n in nodes.values()):
            return nodes
    sys.exit("the real tool's page holds no nodes")


def our_nodes(page):
    match = re.search(r'<script type="application/json" id="model">(.*?)</script>', page, re.DOTALL)
    return json.loads(match[1], parse_constant=lambda word: sys.exit(f"{word} is no JSON"))["nodes"]


def plain(value):
    """Numbers that JavaScript has not, as ours shows them."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int) and abs(value) > 2**53:
        return str(value)
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value


def graphs_of(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graphs_of(attribute.g)


def infos_of(model):
    for graph in graphs_of(model.graph):
        yield from [*graph.input, *graph.output, *graph.value_info]


def expected_nodes(nodes, model):
    """The real tool's nodes as ours are: unknown ranks are null and not [], types that it has no name for have one, and
    documentation is shown."""
    without_rank = {i.name for i in infos_of(model) if i.type.HasField("tensor_type") and not i.type.tensor_type.HasField("shape")}
    sequences = {i.name for i in infos_of(model) if i.type.HasField("sequence_type")}
    docs = {i.name: i.doc_string for i in infos_of(model) if i.doc_string}
    nodes = plain(nodes)
    for node in nodes.values():
        for value in node["inputs"] + node["outputs"]:
            name = value["name"]
            if name in without_rank:
                assert value["shape"] == [], value
                value["shape"] = None
            if name in sequences:
                assert (value["dtype"], value["shape"]) == ("0", []), value
                value.update(dtype="seq(float32)", shape=None)
            if value["dtype"] == str(int(TensorProto.UINT4)):
                value["dtype"] = "uint4"
            value["docstring"] = docs.get(name, value["docstring"])
        for attribute in node["attrs"]:
            attribute["val"] = attribute["val"].replace(f"dtype={int(TensorProto.UINT4)}", "dtype=uint4")
    return nodes


def check(assay, path):
    theirs, ours = path + ".theirs.html", path + ".ours.html"
    for tool, options, page in ((upstream.NAME, ["--visual"], theirs), (assay, ["--visual"], ours), (assay, [], ours + "2")):
        words = ["inspect", "model", path, *options, "--save-visual", page]
        done = upstream.run(words) if tool == upstream.NAME else subprocess.run([tool, *words], capture_output=True, text=True)
        if done.returncode != 0 or f"[I] Viewer HTML saved to {page}" not in done.stdout or "====" in done.stdout:
            sys.exit(f"{tool} {' '.join(words)}\n{done.stdout}{done.stderr}")
    with open(theirs) as their_page, open(ours) as our_page, open(ours + "2") as our_other:
        text = our_page.read()
        assert text == our_other.read(), "the page differs without --visual"
        expected, actual = expected_nodes(their_nodes(their_page.read()), onnx.load(path)), our_nodes(text)
    # What only ours has: the bodies of functions, and who calls them.
    actual = {key: {k: v for k, v in node.items() if k not in ("domain", "docstring", "calls")}
              for key, node in actual.items() if not key.startswith("function_")}
    if list(expected) != list(actual):
        sys.exit(f"{path}: the nodes are\n{list(expected)}\nthere, and here\n{list(actual)}")
    for key, node in expected.items():
        if node != actual[key]:
            sys.exit(f"{path}: {key} is\n{json.dumps(node)}\nthere, and here\n{json.dumps(actual[key])}")
    return len(expected)


def main():
    assay = os.path.abspath(sys.argv[1])
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, f"{name}.onnx") for name in ("types", "nested", "odd", "sparse")}
        make_types(paths["types"])
        make_nested(paths["nested"])
        inspect_check.make_odd(paths["odd"])
        inspect_check.make_sparse(paths["sparse"])
        for name in ("mlp", "lstm", "mobilenet-v2"):
            paths[name] = os.path.join(folder, f"{name}.onnx")
            subprocess.run([assay, "template", "model", name, "-o", paths[name]], check=True, capture_output=True)
        for path in paths.values():
            count += check(assay, path)
    print(f"{count} nodes of {len(paths)} models agree")


if __name__ == "__main__":
    main()
