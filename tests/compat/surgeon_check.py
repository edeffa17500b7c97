#!/usr/bin/env python3
"""`assay surgeon` against the real `polygraphy surgeon`: the same graphs, accepted by onnx.checker and ONNX Runtime, with the same
outputs.

    tests/compat/surgeon_check.py build/assay

Exit status 0 when everything holds.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import upstream
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def info(name, shape):
    return helper.make_tensor_value_info(name, FLOAT, shape)


def save(path, nodes, inputs, outputs, initializers=(), opset=13):
    graph = helper.make_graph(nodes, os.path.basename(path), inputs, outputs, list(initializers))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)


def branches(path):
    """Two branches behind one tensor, one behind a constant."""
    node = helper.make_node
    save(path,
         [node("Identity", ["X"], ["a"], name="n_a"), node("Relu", ["a"], ["b"], name="n_b"), node("Neg", ["a"], ["c"], name="n_c"),
          node("Add", ["b", "w"], ["d"], name="n_d"), node("Mul", ["d", "c"], ["Y"], name="n_y"), node("Abs", ["c"], ["Z"], name="n_z")],
         [info("X", [1, 4])], [info("Y", [1, 4]), info("Z", [1, 4])],
         [numpy_helper.from_array(np.arange(4, dtype=np.float32).reshape(1, 4), "w")])


def foldable(path):
    """Constant arithmetic, shapes that are known, and an If whose condition is one."""
    node = helper.make_node
    then_graph = helper.make_graph([node("Neg", ["X"], ["t"])], "then", [], [info("t", [2, 3])])
    else_graph = helper.make_graph([node("Abs", ["X"], ["e"])], "else", [], [info("e", [2, 3])])
    save(path,
         [node("Add", ["p", "p"], ["k"], name="add_constants"), node("Shape", ["X"], ["s"], name="shape"),
          node("Gather", ["s", "one"], ["g"], name="gather"), node("Unsqueeze", ["g", "axes"], ["u"], name="unsqueeze"),
          node("Concat", ["two", "u"], ["target"], name="concat", axis=0),
          node("If", ["true"], ["i"], name="choice", then_branch=then_graph, else_branch=else_graph),
          node("Add", ["i", "k"], ["j"], name="add"), node("Reshape", ["j", "target"], ["Y"], name="reshape")],
         [info("X", [2, 3])], [info("Y", [2, 3])],
         [numpy_helper.from_array(np.float32([[1, 2, 3]]), "p"), numpy_helper.from_array(np.int64(1), "one"),
          numpy_helper.from_array(np.int64([0]), "axes"), numpy_helper.from_array(np.int64([2]), "two"),
          numpy_helper.from_array(np.bool_(True), "true")])


def unsorted_with_dead_ends(path):
    node = helper.make_node
    save(path,
         [node("Relu", ["X"], ["a"], name="first"), node("Neg", ["a"], ["dead"], name="dead_end"), node("Abs", ["X"], ["b"], name="second"),
          node("Add", ["a", "b"], ["Y"], name="sum")], [info("X", [1, 4])], [info("Y", [1, 4])])


def listed(path):
    """Initializers that are inputs, too, where a caller may replace them."""
    weight = numpy_helper.from_array(np.arange(4, dtype=np.float32).reshape(1, 4), "w")
    save(path, [helper.make_node("Add", ["X", "w"], ["a"], name="n_a"), helper.make_node("Relu", ["a"], ["Y"], name="n_y")],
         [info("X", [1, 4]), info("w", [1, 4])], [info("Y", [1, 4])], [weight])


MODELS = {"branches": branches, "foldable": foldable, "dead_ends": unsorted_with_dead_ends, "listed": listed}

# model, arguments of `surgeon` after the file's name
CASES = [
    ("branches", "extract", ["--inputs", "a:[1,4]:float32", "--outputs", "Y:float32"]),
    ("branches", "extract", ["--inputs", "a:auto:auto", "--outputs", "c:auto"]),
    ("branches", "extract", ["--outputs", "Z:auto"]),
    ("branches", "extract", ["--inputs", "d:[1,4]:float32", "c:['n',4]:float32"]),
    ("branches", "insert", ["--inputs", "a", "--outputs", "a", "--op", "FakeOp"]),
    ("branches", "insert", ["--inputs", "X", "--outputs", "X", "--op", "FakeOp", "--name", "new"]),
    ("branches", "insert", ["--inputs", "Y", "--outputs", "Y", "--op", "FakeOp"]),
    ("branches", "insert", ["--inputs", "a", "--outputs", "d", "--op", "FakeOp", "--attrs", "i=1", "f=2.5", "s='0'", "t=name", "l=[1,2]"]),
    ("branches", "sanitize", ["--outputs", "c", "--cleanup"]),
    ("branches", "sanitize", ["--override-input-shapes", "X:['n',4]"]),
    ("branches", "sanitize", ["--exclude-outputs", "Z", "--cleanup", "--toposort"]),
    ("foldable", "sanitize", ["--fold-constants"]),
    ("foldable", "sanitize", ["--fold-constants", "--no-fold-shapes"]),
    ("foldable", "sanitize", ["--fold-constants", "--fold-size-threshold", "8"]),
    ("foldable", "sanitize", ["--fold-constants", "--num-passes", "1", "--partitioning", "recursive"]),
    ("dead_ends", "sanitize", ["--cleanup"]),
    ("dead_ends", "sanitize", ["--toposort"]),
    ("listed", "sanitize", ["--cleanup"]),
]


def attributes(node):
    return {a.name: (a.type, helper.get_attribute_value(a)) for a in node.attribute if a.type != onnx.AttributeProto.GRAPH}


def shape_of(value):
    if not value.type.tensor_type.HasField("shape"):
        return None
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


def describe(model):
    """What of a graph must be the same: nodes in order, inputs and outputs, the values of constants that are used."""
    g = model.graph
    used = {name for n in g.node for name in n.input}
    return {
        "nodes": [(n.op_type, n.name, list(n.input), list(n.output), attributes(n)) for n in g.node],
        "inputs": [(v.name, v.type.tensor_type.elem_type, shape_of(v)) for v in g.input],
        "outputs": [(v.name, v.type.tensor_type.elem_type) for v in g.output],
        "constants": sorted((t.name, t.data_type, numpy_helper.to_array(t).tolist()) for t in g.initializer if t.name in used),
    }


def outputs_of(path):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    feed = {i.name: random.random([d if isinstance(d, int) else 2 for d in i.shape], dtype=np.float32) for i in session.get_inputs()}
    return [o.name for o in session.get_outputs()], session.run(None, feed)


def check(assay, folder, number, case):
    model, tool, arguments = case
    source = os.path.join(folder, model + ".onnx")
    ours, theirs = os.path.join(folder, f"{number}.ours.onnx"), os.path.join(folder, f"{number}.theirs.onnx")
    for command, out in ((upstream.NAME, theirs), (assay, ours)):
        words = ["surgeon", tool, source, "-o", out, *arguments]
        done = upstream.run(words) if command == upstream.NAME else subprocess.run([command, *words], capture_output=True, text=True)
        if done.returncode != 0:
            return [f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}"]
    a, b = onnx.load(ours), onnx.load(theirs)
    problems = [f"{key}: {x}\n      upstream: {y}" for key, x, y in
                ((k, describe(a)[k], describe(b)[k]) for k in describe(a)) if x != y]
    if not any(n.op_type == "FakeOp" for n in a.graph.node):
        onnx.checker.check_model(a, full_check=True)
        (names, x), (their_names, y) = outputs_of(ours), outputs_of(theirs)
        if names != their_names or not all(np.array_equal(u, v) for u, v in zip(x, y)):
            problems.append("ONNX Runtime gives other outputs")
    return problems


def main():
    assay, failed = os.path.abspath(sys.argv[1]), 0
    with tempfile.TemporaryDirectory() as folder:
        for name, make in MODELS.items():
            make(os.path.join(folder, name + ".onnx"))
        for number, case in enumerate(CASES):
            problems = check(assay, folder, number, case)
            failed += bool(problems)
            print(f"{'FAILED' if problems else 'passed'}  surgeon {case[1]} {case[0]} {' '.join(case[2])}")
            for p in problems:
                print("   ", p)
    print(f"{len(CASES) - failed} of {len(CASES)} agree with polygraphy")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
