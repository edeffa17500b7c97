#!/usr/bin/env python3
"""`data merge` and `plugin` against the real tools of the running Python environment: the same files, and each
reads what the other wrote.

    tests/compat/tools_check.py build/assay
"""

import filecmp
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import upstream
from onnx import TensorProto, helper

PATTERN_PY = '''
import onnx_graphsurgeon as gs


def get_plugin_pattern():
    p = gs.GraphPattern()
    i = p.variable()
    a = p.add("Anode", "A", inputs=[i])
    b = p.add("Bnode", "B", inputs=[i])
    c = p.add("Cnode", "C", inputs=[a, b], check_func=lambda node: node.attrs["x"] < 2)
    p.set_output_tensors([p.add("Dnode", "D", inputs=[c]), p.add("Enode", "E", inputs=[c])])
    return p


def get_matching_subgraphs(graph):
    return [{"inputs": [t.name for t in m.inputs], "outputs": [t.name for t in m.outputs],
             "attributes": {"twice": int(m.get("Cnode").attrs["x"]) * 2, "small": 1e-5, "large": 1e20, "text": "yes",
                            "list": [1, 2], "number": "12", "unicode": "\\u00fc: #"}}
            for m in get_plugin_pattern().match_all(graph)]


def get_plugin_metadata():
    return {"name": "toyPlugin", "op": "CustomToyPlugin"}
'''

PATTERN_YAML = '''
op: CustomToyPlugin
inputs: [i]
nodes:
  - {name: Anode, op: A, inputs: [i], outputs: [a]}
  - {name: Bnode, op: B, inputs: [i], outputs: [b]}
  - {name: Cnode, op: C, inputs: [a, b], outputs: [c]}
  - {name: Dnode, op: D, inputs: [c], outputs: [d]}
  - {name: Enode, op: E, inputs: [c], outputs: [e]}
outputs: [d, e]
where: [Cnode.x < 2]
replacement:
  attributes: {twice: = Cnode.x * 2, small: 1.0e-5, large: 1.0e+20, text: "yes", list: [1, 2], number: "12", unicode: "\\u00fc: #"}
'''


def run(tool, *words):
    done = upstream.run(words) if tool == upstream.NAME else subprocess.run([tool, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join([tool, *words])}\n{done.stdout}{done.stderr}\nended with {done.returncode}")
    # Lines of other packages, and about packages that are not there.
    return [line for line in done.stdout.splitlines()
            if "colored" not in line and "\t" not in line and "matching..." not in line and "matched subgraph!" not in line]


def toy_model(path):
    """Three blocks that the pattern looks at; it does not fit the second."""
    nodes, last = [], "x"
    for block in range(3):
        t = {name: f"{name}{block}" for name in "abcde"}
        nodes += [helper.make_node("A", [last], [t["a"]], name=f"A_{block}"),
                  helper.make_node("B", [last], [t["b"]], name=f"B_{block}"),
                  helper.make_node("C", [t["a"], t["b"]], [t["c"]], name=f"C_{block}", x=1 if block != 1 else 2),
                  helper.make_node("D", [t["c"]], [t["d"]], name=f"D_{block}"),
                  helper.make_node("E", [t["c"]], [t["e"]], name=f"E_{block}")]
        last = t["d"]
    outputs = ["d2", "e0", "e1", "e2"]
    info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2])
    graph = helper.make_graph(nodes, "toy", [info("x")], [info(name) for name in outputs])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def nodes_of(path):
    return [(n.op_type, list(n.input), list(n.output), {a.name: helper.get_attribute_value(a) for a in n.attribute})
            for n in onnx.load(path).graph.node]


def check_plugin(assay, folder):
    model = os.path.join(folder, "toy.onnx")
    toy_model(model)
    write(os.path.join(folder, "plugins", "toyPlugin", "pattern.py"), PATTERN_PY)
    write(os.path.join(folder, "plugins", "toyPlugin", "pattern.yaml"), PATTERN_YAML)
    plugins = ["--plugin-dir", os.path.join(folder, "plugins")]
    config = os.path.join(folder, "config.yaml")
    lines = []
    for tool, kept in ((assay, "ours.yaml"), (upstream.NAME, "theirs.yaml")):
        lines.append(run(tool, "plugin", "match", model, *plugins) + run(tool, "plugin", "list", model, *plugins))
        os.rename(config, os.path.join(folder, kept))
    assert lines[0] == lines[1], f"plugin match prints\n{lines[0]}\ninstead of\n{lines[1]}"
    with open(os.path.join(folder, "ours.yaml")) as ours, open(os.path.join(folder, "theirs.yaml")) as theirs:
        a, b = ours.read(), theirs.read()
    assert a == b, f"plugin match writes\n{a}\ninstead of\n{b}"
    results = []
    for tool, other in ((assay, "theirs.yaml"), (upstream.NAME, "ours.yaml")):
        lines.append(run(tool, "plugin", "replace", model, *plugins, "--config", os.path.join(folder, other)))
        results.append(sorted(nodes_of(os.path.join(folder, "replaced.onnx")), key=str))
    assert lines[2] == lines[3], f"plugin replace prints\n{lines[2]}\ninstead of\n{lines[3]}"
    assert results[0] == results[1], f"plugin replace makes\n{results[0]}\ninstead of\n{results[1]}"
    assert sum(op == "CustomToyPlugin" for op, *_ in results[0]) == 2, results[0]
    print("plugin: the same matches, files and graphs; each tool replaces what the other found")


NEGATIONS = """
op: Identity
inputs: [a]
nodes:
  - {op: Neg, inputs: [a], outputs: [b]}
  - {op: Neg, inputs: [b], outputs: [c]}
outputs: [c]
"""


def nested_model(path):
    """Two negations each in a branch, in the body of a Scan inside the other branch, and in a function."""
    def negations(x, prefix):
        return [helper.make_node("Neg", [x], [prefix + "h"]), helper.make_node("Neg", [prefix + "h"], [prefix + "y"])]

    info = lambda name, dims=(3, 2), dtype=TensorProto.FLOAT: helper.make_tensor_value_info(name, dtype, dims)
    body = helper.make_graph(negations("row", "s_"), "body", [info("row", [2])], [info("s_y", [2])])
    scan = helper.make_node("Scan", ["x"], ["scanned"], body=body, num_scan_inputs=1)  # without a name
    then_branch = helper.make_graph(negations("x", "t_"), "then", [], [info("t_y")])
    else_branch = helper.make_graph([scan], "else", [], [info("scanned")])
    choice = helper.make_node("If", ["cond"], ["chosen"], "choice", then_branch=then_branch, else_branch=else_branch)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    function = helper.make_function("local", "F", ["p"], ["f_y"], negations("p", "f_"), opsets)
    call = helper.make_node("F", ["chosen"], ["y"], domain="local")
    graph = helper.make_graph([choice, call], "nested", [info("x"), info("cond", [], TensorProto.BOOL)], [info("y")])
    onnx.save(helper.make_model(graph, functions=[function], opset_imports=opsets, ir_version=8), path)


def all_operators(model):
    """Of the model's nodes, those of subgraphs and functions included."""
    found = []

    def visit(nodes):
        for n in nodes:
            found.append(n.op_type)
            for a in n.attribute:
                visit(a.g.node)

    visit(model.graph.node)
    for f in model.functions:
        visit(f.node)
    return sorted(found)


def check_plugin_in_subgraphs(assay, folder):
    path, changed = (os.path.join(folder, name) for name in ("nested.onnx", "replaced.onnx"))
    nested_model(path)
    write(os.path.join(folder, "plugins", "negations", "pattern.yaml"), NEGATIONS)
    plugins = ["--plugin-dir", os.path.join(folder, "plugins")]
    run(assay, "plugin", "match", path, *plugins)
    run(assay, "plugin", "replace", path, *plugins)
    result = onnx.load(changed)
    onnx.checker.check_model(result, full_check=True)
    assert all_operators(result) == ["F", "Identity", "Identity", "Identity", "If", "Scan"], all_operators(result)
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    for cond in (True, False):
        feeds = {"x": x, "cond": np.array(cond)}
        outputs = [onnxruntime.InferenceSession(p, providers=["CPUExecutionProvider"]).run(None, feeds) for p in (path, changed)]
        assert np.array_equal(outputs[0][0], outputs[1][0]), f"with {cond}, plugin replace changes the result"
    print("plugin: replaced in branches, a body and a function, and ONNX Runtime computes the same")


def check_to_input(assay, folder):
    model = os.path.join(folder, "mlp.onnx")
    inputs, outputs = os.path.join(folder, "in.json"), os.path.join(folder, "out.json")
    run(assay, "template", "model", "mlp", "-o", model)
    run(upstream.NAME, "run", model, "--onnxrt", "--save-inputs", inputs, "--save-outputs", outputs)
    merged = [os.path.join(folder, name) for name in ("ours.json", "theirs.json")]
    for tool, path in zip((assay, upstream.NAME), merged):
        run(tool, "data", "merge", inputs, outputs, "-o", path)
    assert filecmp.cmp(*merged, shallow=False), "data merge writes another file than the real tool"
    run(upstream.NAME, "run", model, "--onnxrt", "--load-inputs", merged[0])
    print("data merge: the same file, which the real tool reads")


def main():
    assay = os.path.abspath(sys.argv[1])
    for check in (check_plugin, check_plugin_in_subgraphs, check_to_input):
        with tempfile.TemporaryDirectory() as folder:
            check(assay, os.path.realpath(folder))


if __name__ == "__main__":
    main()
