#!/usr/bin/env python3
"""Compares the programs of examples/graph with the same examples on the real ONNX-GraphSurgeon, and both with the graphs
that tests/graphsurgeon/examples.txt states: nodes in order, operators, names, attributes, types, shapes, constants.

    tests/compat/graphsurgeon_check.py examples.txt FOLDER_OF_THE_PROGRAMS [--write]

--write replaces examples.txt by what GraphSurgeon gives. Skipped (exit status 77) where the programs are not built.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx_graphsurgeon as gs

SKIPPED = 77
IMAGE = ["B", 3, 64, 64]
ONE = np.ones([1, 1, 1, 1], np.float32)


def variable(name, shape=None, dtype=np.float32):
    return gs.Variable(name, dtype, shape)


def new_graph(nodes, inputs, outputs):
    """With an IR version that ONNX Runtime, which GraphSurgeon folds with, is sure to know."""
    return gs.Graph(nodes, inputs, outputs, ir_version=8)


def save(graph, folder, name):
    onnx.save(gs.export_onnx(graph), os.path.join(folder, name))


def create(folder):
    x, conv, add, y = (variable("tensor0", IMAGE), variable("tensor1", ["B", 1, 64, 64]), variable("tensor2"),
                       variable("tensor3"))
    w, b = gs.Constant("constant0", np.ones([1, 3, 3, 3], np.float32)), gs.Constant("constant1", np.ones(1, np.float32))
    attrs = {"dilations": [1, 1], "kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1]}
    nodes = [gs.Node("Conv", "myConv", attrs, [x, w], [conv]), gs.Node("Add", "myAdd", {}, [conv, b], [add]),
             gs.Node("Relu", "myRelu", {}, [add], [y])]
    save(new_graph(nodes, [x], [y]), folder, "model-01.onnx")


def insert(folder):
    x, same, y = variable("tensor0", IMAGE), variable("tensor1", IMAGE), variable("tensor2")
    graph = new_graph([gs.Node("Identity", "myIdentity0", {}, [x], [same]),
                       gs.Node("Identity", "myIdentity1", {}, [same], [y])], [x], [y])
    save(graph, folder, "model-02-01.onnx")
    first = graph.nodes[0]
    added = variable("tensor3")
    graph.nodes.append(gs.Node("Add", "myAdd", {}, [same, gs.Constant("constant0", ONE)], [added]))
    first.o().inputs[0] = added
    save(graph.cleanup().toposort(), folder, "model-02-02.onnx")


def chain(output_shape=None):
    x, same, total, y = (variable(f"tensor{i}", IMAGE) for i in range(4))
    y.shape = output_shape
    return new_graph([gs.Node("Identity", "myIdentity0", {}, [x], [same]),
                      gs.Node("Add", "myAdd", {}, [same, gs.Constant("constant0", ONE)], [total]),
                      gs.Node("Identity", "myIdentity1", {}, [total], [y])], [x], [y])


def delete(folder):
    graph = chain()
    save(graph, folder, "model-03-01.onnx")
    add = graph.nodes[1]
    add.o().inputs[0] = add.inputs[0]
    add.outputs.clear()
    save(graph.cleanup(), folder, "model-03-02.onnx")


def replace(folder):
    graph = chain()
    save(graph, folder, "model-04-01.onnx")
    renamed = graph.copy()
    renamed.nodes[1].op, renamed.nodes[1].name = "Sub", "mySub"
    save(renamed, folder, "model-04-02.onnx")
    replaced = graph.copy()
    add = replaced.nodes[1]
    replaced.nodes.insert(1, gs.Node("Sub", "mySub", {}, list(add.inputs), list(add.outputs)))
    add.outputs.clear()
    save(replaced.cleanup(), folder, "model-04-03.onnx")
    save(graph, folder, "model-04-04.onnx")


def traverse(folder):
    def names(things):
        return ",".join(t.name for t in things)

    graph = chain()
    lines = []
    for node in graph.nodes:
        before = [p for t in node.inputs for p in t.inputs]
        lines.append(f"node {node.name}: {names(before)} | {names(c for t in node.outputs for c in t.outputs)}")
    for t in graph.tensors().values():
        before = [v for p in t.inputs for v in p.inputs]
        behind = [v for c in t.outputs for v in c.outputs]
        lines.append(f"tensor {t.name}: {names(t.inputs)} | {names(t.outputs)} | {names(before)} | {names(behind)}")
    with open(os.path.join(folder, "neighbours.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")


def fold(folder):
    small = ["B", 1, 64, 64]
    shapes = [IMAGE, IMAGE, IMAGE, small, small, small, small, None, None]
    t = [variable(f"tensor{i}", shape) for i, shape in enumerate(shapes)]
    w = gs.Constant("w", ONE)
    edges = [(t[5], w, t[6]), (t[1], w, t[2]), (t[0], t[8], t[1]), (t[7], w, t[8]), (w, w, t[7])]
    nodes = [gs.Node("Add", f"myAdd{4 - i}", {}, [a, b], [y]) for i, (a, b, y) in enumerate(edges)]
    graph = new_graph(nodes, [t[0], t[3]], [t[2], t[4]])
    save(graph, folder, "model-06-01.onnx")
    graph.fold_constants()
    save(graph, folder, "model-06-02.onnx")
    save(graph.cleanup(), folder, "model-06-03.onnx")
    graph.outputs = [t[2]]
    save(graph.cleanup(remove_unused_graph_inputs=True).toposort(), folder, "model-06-04.onnx")


def shapes(folder):
    def build():
        x = variable("tensor0", ["A", 3, "B", 5])
        t = {i: variable(f"tensor{i}", None, np.int64) for i in (1, 2, 4, 5, 6, 7)}
        flat, partly = variable("tensor3"), variable("tensor8")
        front, back = (gs.Constant(f"constant{i}", np.array(v, np.int32)) for i, v in enumerate([[0, 1], [2, 3]]))
        product = {"axes": [0], "keepdims": 1}
        nodes = [gs.Node("Shape", "myShape", {}, [x], [t[1]]),
                 gs.Node("ReduceProd", "myReduceProd0", dict(product), [t[1]], [t[2]]),
                 gs.Node("Reshape", "myReshape0", {}, [x, t[2]], [flat]),
                 gs.Node("Gather", "myGather0", {}, [t[1], front], [t[4]]),
                 gs.Node("Gather", "myGather1", {}, [t[1], back], [t[5]]),
                 gs.Node("ReduceProd", "myReduceProd1", dict(product), [t[5]], [t[6]]),
                 gs.Node("Concat", "myConcat", {"axis": 0}, [t[4], t[6]], [t[7]]),
                 gs.Node("Reshape", "myReshape1", {}, [x, t[7]], [partly])]
        return new_graph(nodes, [x], [flat, partly]).toposort()

    save(build(), folder, "model-07-01.onnx")
    for number, shape in ((2, [2, 3, 4, 5]), (3, ["A", 3, 4, 5])):
        graph = build()
        graph.inputs[0].shape = shape
        save(graph.fold_constants().cleanup(), folder, f"model-07-0{number}.onnx")


def isolate(folder):
    graph = chain(IMAGE)
    save(graph, folder, "model-08-01.onnx")
    add = graph.nodes[1]
    graph.inputs, graph.outputs = [add.inputs[0]], add.outputs
    save(graph.cleanup(), folder, "model-08-02.onnx")


def layers(folder):
    class Layers(gs.Graph):
        """Methods instead of GraphSurgeon's registration, which holds for the whole process."""

        def one(self, op, output, *inputs, **attrs):
            return self.layer(op=op, inputs=inputs, outputs=[output], attrs=attrs)[0]

    graph = Layers(opset=11)
    x = variable("tensor0", [64, 64])
    values = [np.full([64, 64], v, np.float32) for v in (1, 0.5, 1)] + [np.array([v], np.float32) for v in (3, -3)]
    w, bias, scale, high, low = (gs.Constant(f"tensor{i + 1}", v) for i, v in enumerate(values))
    y = graph.one("Add", "myAdd", graph.one("Gemm", "myGgemm", w, x, transA=0, transB=1), bias)
    scaled = graph.one("Mul", "myMul", graph.one("Relu", "myReLU", y), scale)
    least = graph.one("Min", "myMin", scaled, high)
    clipped = graph.one("Max", "myMax", least, low)
    clipped.dtype = np.float32
    graph.inputs, graph.outputs = [x], [clipped]
    save(graph, folder, "model-09-01.onnx")
    least.inputs[0].inputs.clear()
    clipped.inputs.clear()
    graph.layer(op="Clip", inputs=[scaled, low, high], outputs=[clipped])
    save(graph.cleanup(), folder, "model-09-02.onnx")


EXAMPLES = {"ex01_create": create, "ex02_insert": insert, "ex03_delete": delete, "ex04_replace": replace,
            "ex05_traverse": traverse, "ex06_fold": fold, "ex07_shapes": shapes, "ex08_isolate": isolate,
            "ex09_layers": layers}


def type_text(value):
    t = value.type.tensor_type
    shape = "?"
    if t.HasField("shape"):
        dims = [d.dim_param if d.HasField("dim_param") else d.dim_value if d.HasField("dim_value") else "?"
                for d in t.shape.dim]
        shape = "[" + ",".join(map(str, dims)) + "]"
    return f"{value.name} {onnx.TensorProto.DataType.Name(t.elem_type)} {shape}"


def constant_text(tensor):
    array = onnx.numpy_helper.to_array(tensor)
    values = array.ravel()[:1] if (array == array.ravel()[0]).all() else array.ravel()
    dims = ",".join(map(str, array.shape))
    return (f"{tensor.name} {onnx.TensorProto.DataType.Name(tensor.data_type)} [{dims}] "
            f"{','.join(f'{v:g}' for v in values)}")


def attribute_text(attribute):
    value = onnx.helper.get_attribute_value(attribute)
    return f"{attribute.name}={','.join(map(str, value)) if hasattr(value, '__iter__') else value}"


def model_text(path):
    """One line for each thing; where order has no meaning, in the order of names."""
    model = onnx.load(path)
    g = model.graph
    lines = [f"graph {g.name} opset {','.join(f'{o.domain}:{o.version}' for o in model.opset_import)}"]
    lines += ["in " + type_text(v) for v in g.input] + ["out " + type_text(v) for v in g.output]
    lines += sorted("init " + constant_text(t) for t in g.initializer)
    # GraphSurgeon also writes types of values that nothing computes, which assay leaves out.
    computed = {name for n in g.node for name in n.output}
    lines += sorted("info " + type_text(v) for v in g.value_info if v.name in computed)
    for n in g.node:
        attributes = "".join(" " + a for a in sorted(map(attribute_text, n.attribute)))
        lines.append(f"node {n.op_type} {n.name}({', '.join(n.input)} -> {', '.join(n.output)}){attributes}")
    return lines


def folder_text(folder):
    text = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        text[name] = model_text(path) if name.endswith(".onnx") else open(path).read().splitlines()
    return text


def read_stated(path):
    stated = {}
    for line in open(path).read().splitlines():
        if line.startswith("== "):
            lines = stated.setdefault(line[3:], [])
        else:
            lines.append(line)
    return stated


def compare(what, found, expected):
    problems = 0
    for name in sorted(found.keys() | expected.keys()):
        ours, theirs = found.get(name, ["no such file"]), expected.get(name, ["no such file"])
        if ours != theirs:
            problems += 1
            print(f"{what}: {name} differs")
            print("".join(f"    - {line}\n" for line in theirs if line not in ours), end="")
            print("".join(f"    + {line}\n" for line in ours if line not in theirs), end="")
            if sorted(ours) == sorted(theirs):
                print("    the order differs: " + " / ".join(ours))
    return problems


def main():
    stated_path, programs, *options = sys.argv[1:]
    if missing := [name for name in EXAMPLES if not os.access(os.path.join(programs, name), os.X_OK)]:
        print(f"skipped: {programs} lacks {', '.join(missing)}: `cmake --build build` without a target builds the examples, too")
        return SKIPPED
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        for name, example in EXAMPLES.items():
            subprocess.run([os.path.join(programs, name), ours], check=True)
            example(theirs)
        found, reference = folder_text(ours), folder_text(theirs)
    if options == ["--write"]:
        with open(stated_path, "w") as file:
            for name, lines in reference.items():
                file.write("\n".join([f"== {name}", *lines]) + "\n")
        return 0
    stated = read_stated(stated_path)
    problems = compare("examples", found, stated) + compare("GraphSurgeon", reference, stated)
    print(f"{len(found)} files of {len(EXAMPLES)} examples, GraphSurgeon {gs.__version__}: {problems} differ")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
