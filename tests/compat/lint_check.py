"""`check lint` against the real polygraphy: the same exit code, summary and findings for models with one kind of fault each.

usage: lint_check.py ASSAY

The summary's lists are sets in Python. What onnx.checker says of a model is compared by level and source only, since our
rules say it in sentences of their own; warnings about schemas come from the onnx package in the recorded process.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper


# Where only the exit code and the lists of nodes are compared: whose message it is depends on who looks first.
SUMMARY_ONLY = {"stripped"}


def value(name, shape=(2, 3), dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, None if shape is None else list(shape))


def model(nodes, inputs, outputs, opsets=(("", 17),), name="g"):
    graph = helper.make_graph(nodes, name, inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets], ir_version=8)


def branches(node, value_of_then):
    then = helper.make_graph([node("Relu", ["x"], ["h"], "r")], "t", [], [value_of_then])
    other = helper.make_graph([node("Neg", ["x"], ["b"], "g")], "e", [], [value("b")])
    return {"then_branch": then, "else_branch": other}


def weights(name, shape):
    return numpy_helper.from_array(np.ones(shape, np.float32), name)


def models():
    node = helper.make_node
    c = value("c", (), TensorProto.BOOL)
    x, y = value("x"), value("y")
    yield "good", model([node("Relu", ["x"], ["y"], "n")], [x], [y])
    yield "unnamed", model([node("Relu", ["x"], ["h"]), node("Neg", ["h"], ["y"], "polygraphy_unnamed_node_0")], [x], [y])
    yield "unused", model([node("Relu", ["x"], ["y"], "n"), node("Neg", ["x"], ["z"], "b"), node("Abs", ["z"], ["w"], "a")],
                          [x, value("v"), value("u")], [y])
    yield "empty", model([], [x], [x])
    yield "parallel", model([node("Add", ["x", "v"], ["p"], "add"), node("MatMul", ["x", "x"], ["q"], "mul"),
                             node("Sum", ["p", "q"], ["s"], "sum"), node("Relu", ["x"], ["r"], "relu"),
                             node("Sum", ["s", "r"], ["y"], "last")], [x, value("v", (4, 5))], [value("y", ())])
    yield "custom", model([node("Mine", ["x"], ["h"], "mine", domain="my.own"), node("Relu", ["h"], ["y"], "n"),
                           node("Neg", ["x"], ["z"], "other")], [x], [y, value("z")], (("", 17), ("my.own", 1)))
    yield "attribute", model([node("Relu", ["x"], ["y"], "n", wrong=1)], [x], [y])
    # A declared rank that is wrong: ONNX Runtime only warns of it.
    yield "output_rank", model([node("Relu", ["x"], ["y"], "n")], [x], [value("y", (2, 3, 4))])
    yield "branch_rank", model([node("If", ["c"], ["y"], "if", **branches(node, value("h", (3,))))], [c, x], [value("y", None)])
    # What onnx.checker refuses, and what ONNX Runtime does not know besides.
    yield "no_shape", model([node("Relu", ["x"], ["y"], "n")], [value("x", None)], [y])
    yield "no_shape_unknown", model([node("Frobnicate", ["x"], ["h"], "odd"), node("Relu", ["h"], ["y"], "n")], [value("x", None)], [y])
    yield "unknown", model([node("Frobnicate", ["x"], ["y"], "odd")], [x], [y])
    yield "open_extents", model([node("Relu", ["x"], ["y"], "n")], [value("x", ("batch", 3))], [value("y", ("batch", 3))])
    lstm = model([node("LSTM", ["x", "W", "R"], ["y"], "lstm", hidden_size=4)], [x], [value("y", None)])
    lstm.graph.initializer.extend([weights("W", (1, 16, 3)), weights("R", (1, 16, 4))])
    yield "rank_of_lstm", lstm
    stripped = model([node("MatMul", ["x", "w"], ["h"], "mm"), node("Relu", ["h"], ["y"], "r"), node("Neg", ["x"], ["z"], "beside")],
                     [x], [value("y", (2, 40)), value("z")])
    stripped.graph.initializer.extend([weights("w", (3, 40))])
    stripped.graph.initializer[0].raw_data = b""
    stripped.graph.initializer[0].doc_string = "TRT_WEIGHTLESS/"
    yield "stripped", stripped
    yield "graph_name", model([node("Relu", ["x"], ["y"], "n")], [x], [y], name="")


def comparable(path):
    if not path.exists():
        return None
    report = json.loads(path.read_text())
    entries = []
    for e in report["lint_entries"]:
        if not e["message"].startswith("Schema error: "):
            message = "" if e["source"] == "onnx_checker" else e["message"]
            entries.append((e["level"], e["source"], message, e.get("nodes")))
    return {key: sorted(names) for key, names in report["summary"].items()}, entries


def about_data(text):
    """What is said of the data that are made, with the lines that follow each."""
    found = []
    for line in text.splitlines():
        if line[:4] in ("[I] ", "[W] ", "[E] "):
            follows = "Input tensor: " in line or "Will generate" in line
        if follows and "'colored' module" not in line:
            found.append(line.rstrip())
    return found


def lint(program, words, folder, name):
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    command = [*words, "check", "lint", f"{name}.onnx", "-o", "report.json"]
    environment = {**os.environ, "ASSAY_ONNXRUNTIME": sys.prefix}
    result = subprocess.run(command, executable=program, cwd=folder, env=environment, capture_output=True, text=True)
    return result.returncode, comparable(report), about_data(result.stdout)


def deadly_model():
    """ONNX Runtime 1.31 divides by zero in an Einsum whose inputs have no elements."""
    node = helper.make_node
    nodes = [node("Relu", ["x"], ["r"], "before"), node("Einsum", ["r", "x"], ["q"], "einsum", equation="ij,kj->ik"),
             node("Relu", ["q"], ["y"], "after"), node("Neg", ["x"], ["w"], "beside")]
    return model(nodes, [value("x", (2, 0))], [value("y", (2, 2)), value("w", (2, 0))])


def kills_runtime(path):
    code = ("import sys, numpy, onnxruntime\n"
            "onnxruntime.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider'])"
            ".run(None, {'x': numpy.zeros((2, 0), numpy.float32)})")
    return subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True).returncode < 0


def check_deadly(assay, folder):
    """A model that ends ONNX Runtime does not end the check: the node is named, the others are run. What is wrong, if anything."""
    path = folder / "deadly.onnx"
    path.write_bytes(deadly_model().SerializeToString())
    status, found, _ = lint(assay, ["assay"], folder, "deadly")
    if not kills_runtime(path):
        return None if status == 0 else f"ONNX Runtime runs it, but exit code {status}, {found}"
    summary, entries = found or ({}, [])
    if status != 1 or summary.get("failing") != ["einsum"] or summary.get("passing") != ["before", "beside"]:
        return f"exit code {status}, {summary}"
    if [e[3] for e in entries] != [["einsum"]] or not entries[0][2].endswith("while it ran this node"):
        return f"{entries}"
    # `run` cannot go on, but its last words say who died of what, and how to find the node.
    environment = {**os.environ, "ASSAY_ONNXRUNTIME": sys.prefix}
    result = subprocess.run([assay, "run", str(path), "--onnxrt", "-v"], cwd=folder, env=environment, capture_output=True, text=True)
    last = result.stderr.strip().splitlines()[-1:] or [""]
    words = ["[!] onnxrt-runner-N0-", f"ONNX-Runtime, while it ran the model {path}, crashed (arithmetic exception).", "`assay check lint "]
    if result.returncode != -signal.SIGFPE or not all(w in last[0] for w in words) or "Activating and starting inference" not in result.stdout:
        return f"run: exit code {result.returncode}, {result.stdout}{result.stderr}"
    return None


def main():
    assay = os.path.abspath(sys.argv[1])
    upstream = pathlib.Path(sys.executable).parent / "polygraphy"
    failed, count = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for name, proto in models():
            (folder / f"{name}.onnx").write_bytes(proto.SerializeToString())
            theirs = lint(None, [sys.executable, str(upstream)], folder, name)
            ours = lint(assay, ["polygraphy"], folder, name)
            if name in SUMMARY_ONLY:
                theirs, ours = ((status, found and found[0], data) for status, found, data in (theirs, ours))
            count += 1
            print(f"{'passed' if ours == theirs else 'FAILED'}  {name}")
            if ours != theirs:
                failed += 1
                print(f"  upstream   {theirs}\n  this build {ours}")
        problem = check_deadly(assay, folder)
        count += 1
        failed += 1 if problem else 0
        print(f"{'FAILED' if problem else 'passed'}  deadly {problem or ''}")
    print(f"{count - failed} of {count} models have the same report")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
