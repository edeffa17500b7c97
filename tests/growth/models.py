"""Models of any number of nodes, each of a shape that some algorithm could take badly."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "errors"))
from onnx_bytes import chunk, int_attribute, ints_attribute, model, node, number, tensor, tensor_attribute, value_info, varint  # noqa: E402

BOOL, INT64 = 9, 7
X, Y = value_info("x", [2]), value_info("y", [2])
MAX_NESTING = 32  # of graphs, the main one not counted


def floats(name, values):
    return tensor(name, [len(values)], struct.pack(f"<{len(values)}f", *values))


def integers(name, values, is_scalar=False):
    return tensor(name, [] if is_scalar else [len(values)], struct.pack(f"<{len(values)}q", *values), INT64)


def names(n, end="y"):
    """Of the values in a chain of n nodes, its input first."""
    return ["x", *(f"v{i}" for i in range(1, n)), end]


def chain(n):
    """Nodes one after the other."""
    v = names(n)
    ops = ["Relu", "Neg", "Abs"]
    return model([node(ops[i % 3], [v[i]], [v[i + 1]], f"n{i}") for i in range(n)], [X], [Y])


def unsorted_chain(n):
    """The same, its last node first."""
    v = names(n)
    return model([node("Neg", [v[i]], [v[i + 1]], f"n{i}") for i in reversed(range(n))], [X], [Y])


def unnamed(n):
    """Nodes without names, and values with all that a file can say of them."""
    v = names(n)
    infos = [value_info(name, [2]) for name in v[1:-1]]
    return model([node("Neg", [v[i]], [v[i + 1]]) for i in range(n)], [X], [Y], values=infos)


def equal_names(n):
    """Nodes that all have one name."""
    v = names(n)
    return model([node("Clip", [v[i], "low"], [v[i + 1]], "clip") for i in range(n)], [X], [Y], [tensor("low", [], struct.pack("<f", -1))])


def long_names(n):
    """Few nodes with names as long as other models have nodes."""
    v = ["x", *(f"v{i}" * (n // 3) for i in range(1, 10)), "y"]
    return model([node("Neg", [v[i]], [v[i + 1]], f"n{i}" * (n // 3)) for i in range(10)], [X], [Y])


def wide(n):
    """Equal nodes side by side, and one that reads them all."""
    nodes = [node("Relu", ["x"], [f"v{i}"], f"n{i}") for i in range(n)]
    return model([*nodes, node("Sum", [f"v{i}" for i in range(n)], ["y"], "sum")], [X], [Y])


def wide_chains(n):
    """Equal chains of three nodes side by side, all their first nodes first."""
    count = n // 4
    nodes = [node(op, [f"{last}{i}" if last else "x"], [f"{op}{i}"], f"{op}_{i}")
             for last, op in (("", "Exp"), ("Exp", "Neg"), ("Neg", "Abs")) for i in range(count)]
    return model([*nodes, node("Sum", [f"Abs{i}" for i in range(count)], ["y"], "sum")], [X], [Y])


def distinct(n):
    """Nodes side by side that differ, joined two by two."""
    nodes = [node("Add", ["x", f"w{i}"], [f"v{i}"], f"n{i}") for i in range(n // 2)]
    last = "v0"
    for i in range(1, n // 2):
        result = f"s{i}" if i + 1 < n // 2 else "y"
        nodes.append(node("Mul", [last, f"v{i}"], [result], f"m{i}"))
        last = result
    return model(nodes, [X], [Y], [floats(f"w{i}", [i, 1]) for i in range(n // 2)])


def fan(n):
    """Pairs of nodes that differ, side by side, which all read the result of one node."""
    nodes = [node("Relu", ["x"], ["r"], "first")]
    for i in range(n // 3):
        nodes += [node("Add", ["r", f"w{i}"], [f"a{i}"], f"a{i}"), node("Abs", [f"a{i}"], [f"b{i}"], f"b{i}")]
    last = "b0"
    for i in range(1, n // 3):
        result = f"s{i}" if i + 1 < n // 3 else "y"
        nodes.append(node("Mul", [last, f"b{i}"], [result], f"m{i}"))
        last = result
    return model(nodes, [X], [Y], [floats(f"w{i}", [i, 1]) for i in range(n // 3)])


def outputs(n):
    """Every node gives an output of the model."""
    nodes = [node("Add", ["x", f"w{i}"], [f"y{i}"], f"n{i}") for i in range(n)]
    return model(nodes, [X], [value_info(f"y{i}", [2]) for i in range(n)], [floats(f"w{i}", [i, 1]) for i in range(n)])


def inputs(n):
    """Every node reads an input of the model of its own."""
    nodes = [node("Add", [f"v{i - 1}" if i else "x", f"x{i}"], [f"v{i}" if i + 1 < n else "y"], f"n{i}") for i in range(n)]
    return model(nodes, [X, *(value_info(f"x{i}", [2]) for i in range(n))], [Y])


def initializers(n):
    """A chain in which every node has a constant of its own."""
    v = names(n)
    nodes = [node("Add", [v[i], f"w{i}"], [v[i + 1]], f"n{i}") for i in range(n)]
    return model(nodes, [X], [Y], [floats(f"w{i}", [i, 1]) for i in range(n)])


def unused_initializers(n):
    nodes = [node("Relu", ["x"], ["y"], "n")]
    return model(nodes, [X], [Y], [floats(f"w{i}", [i, 1]) for i in range(n)])


def shared_initializer(n):
    """A chain in which every node reads the same constant."""
    v = names(n)
    return model([node("Add", [v[i], "w"], [v[i + 1]], f"n{i}") for i in range(n)], [X], [Y], [floats("w", [1, 2])])


def constants(n):
    """A chain that depends on constants alone."""
    v = ["w", *names(n)[1:-1], "c"]
    nodes = [node("Add", [v[i], "w"], [v[i + 1]], f"n{i}") for i in range(n)]
    return model([*nodes, node("Add", ["x", "c"], ["y"], "last")], [X], [Y], [floats("w", [0, 0])])


def constant_nodes(n):
    """Every second node is a Constant."""
    v = names(n // 2)
    nodes = []
    for i in range(n // 2):
        nodes.append(node("Constant", [], [f"c{i}"], f"c{i}", attributes=[tensor_attribute("value", floats("", [i, 1]))]))
        nodes.append(node("Add", [v[i], f"c{i}"], [v[i + 1]], f"n{i}"))
    return model(nodes, [X], [Y])


def identity(n):
    v = names(n)
    return model([node("Identity", [v[i]], [v[i + 1]], f"n{i}") for i in range(n)], [X], [Y])


def wide_identity(n):
    nodes = [node("Identity", ["x"], [f"v{i}"], f"n{i}") for i in range(n)]
    return model([*nodes, node("Sum", [f"v{i}" for i in range(n)], ["y"], "sum")], [X], [Y])


def constant_identity(n):
    """A constant behind as many Identity nodes as there are nodes that ask for its value."""
    v = ["shape", *(f"s{i}" for i in range(1, n // 2 + 1))]
    nodes = [node("Identity", [v[i]], [v[i + 1]], f"i{i}") for i in range(n // 2)]
    w = names(n // 2)
    nodes += [node("Unsqueeze" if i % 2 == 0 else "Squeeze", [w[i], v[i + 1]], [w[i + 1]], f"n{i}") for i in range(n // 2 // 2 * 2)]
    result = w[n // 2 // 2 * 2]
    nodes.append(node("Relu", [result], ["y" if result != "y" else "z"], "last"))
    return model(nodes, [X], [Y], [integers("shape", [0])])


def views(n):
    """Reshape after Reshape, Transpose after Transpose."""
    kinds = [("Reshape", ["to_row"], []), ("Transpose", [], [ints_attribute("perm", [1, 0])]),
             ("Reshape", ["to_row"], []), ("Reshape", ["to_vector"], [])]
    n = n // 4 * 4
    v = names(n)
    nodes = [node(kinds[i % 4][0], [v[i], *kinds[i % 4][1]], [v[i + 1]], f"n{i}", attributes=kinds[i % 4][2]) for i in range(n)]
    return model(nodes, [X], [Y], [integers("to_row", [1, 2]), integers("to_vector", [2])])


def shapes(n):
    """Arithmetic of shapes: what exporters write around a Reshape."""
    count = n // 4
    v = names(count)
    nodes = []
    for i in range(count):
        nodes += [node("Shape", [v[i]], [f"shape{i}"], f"shape_{i}"), node("Gather", [f"shape{i}", "zero"], [f"extent{i}"], f"gather_{i}"),
                  node("Unsqueeze", [f"extent{i}", "axes"], [f"target{i}"], f"unsqueeze_{i}"),
                  node("Reshape", [v[i], f"target{i}"], [v[i + 1]], f"reshape_{i}")]
    return model(nodes, [value_info("x", ["batch"])], [value_info("y", ["batch"])],
                 [integers("zero", [0], is_scalar=True), integers("axes", [0])])


def casts(n):
    """Integers that go through floats and back."""
    count = n // 3
    v = names(count)
    nodes = []
    for i in range(count):
        nodes += [node("Cast", [v[i]], [f"f{i}"], f"to_float_{i}", attributes=[int_attribute("to", 1)]),
                  node("Mul", [f"f{i}", "one"], [f"g{i}"], f"mul_{i}"),
                  node("Cast", [f"g{i}"], [v[i + 1]], f"to_int_{i}", attributes=[int_attribute("to", INT64)])]
    return model(nodes, [value_info("x", [2], INT64)], [value_info("y", [2], INT64)], [floats("one", [1])])


def layers(n):
    """MatMul, Add, Relu, again and again."""
    count = n // 3
    v = names(count)
    nodes = []
    for i in range(count):
        nodes += [node("MatMul", [v[i], "w"], [f"p{i}"], f"product_{i}"), node("Add", [f"p{i}", f"b{i}"], [f"s{i}"], f"bias_{i}"),
                  node("Relu", [f"s{i}"], [v[i + 1]], f"relu_{i}")]
    return model(nodes, [value_info("x", [1, 2])], [value_info("y", [1, 2])],
                 [tensor("w", [2, 2], struct.pack("<4f", 1, 0, 0, 1)), *(floats(f"b{i}", [i, 1]) for i in range(count))])


def convolutions(n):
    """Pad, Conv, BatchNormalization, again and again."""
    count = n // 3
    v = names(count)
    nodes, weights = [], []
    for i in range(count):
        nodes += [node("Pad", [v[i], "pads"], [f"p{i}"], f"pad_{i}"), node("Conv", [f"p{i}", f"w{i}"], [f"c{i}"], f"conv_{i}"),
                  node("BatchNormalization", [f"c{i}", "one", "zero", "zero", "one"], [v[i + 1]], f"norm_{i}")]
        weights.append(tensor(f"w{i}", [1, 1, 3], struct.pack("<3f", 0, 1, i)))
    return model(nodes, [value_info("x", [1, 1, 4])], [value_info("y", [1, 1, 4])],
                 [integers("pads", [0, 0, 1, 0, 0, 1]), floats("one", [1]), floats("zero", [0]), *weights])


def old_operators(n):
    """What an opset of today writes otherwise."""
    count = n // 2
    v = names(count)
    nodes = []
    for i in range(count):
        nodes += [node("Clip", [v[i]], [f"c{i}"], f"clip_{i}", attributes=[float_attribute("min", -1), float_attribute("max", 1)]),
                  node("Softmax", [f"c{i}"], [v[i + 1]], f"softmax_{i}")]
    return model(nodes, [value_info("x", [1, 2, 2])], [value_info("y", [1, 2, 2])], opset=9)


def new_operators(n):
    """What older opsets say with several nodes."""
    v = names(n)
    return model([node("Gelu" if i % 2 else "Mish", [v[i]], [v[i + 1]], f"n{i}") for i in range(n)], [X], [Y], opset=20)


def float_attribute(name, value):
    return chunk(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)


def body(nodes, outputs, inputs=(), initializers=()):
    graph = b"".join(chunk(1, n) for n in nodes) + chunk(2, "body") + b"".join(chunk(5, i) for i in initializers)
    return graph + b"".join(chunk(11, i) for i in inputs) + b"".join(chunk(12, o) for o in outputs)


def graph_attribute(name, graph):
    return chunk(1, name) + chunk(6, graph) + number(20, 5)


def choice(condition, value, result, name, i=0):
    """An If that negates a value of the enclosing graph or takes its absolute value."""
    branch = [graph_attribute(b, body([node(op, [value], [f"{result}_{b}"], f"{op}{i}")], [value_info(f"{result}_{b}", [2])]))
              for b, op in (("then_branch", "Neg"), ("else_branch", "Abs"))]
    return node("If", [condition], [result], name, attributes=branch)


CONDITION = value_info("condition", [], BOOL)


def ifs(n):
    """A chain of If nodes; those in their branches count, too."""
    count = n // 3
    v = names(count)
    return model([choice("condition", v[i], v[i + 1], f"n{i}", i) for i in range(count)], [X, CONDITION], [Y])


def wide_ifs(n):
    """If nodes side by side, which all read one value of the graph around them."""
    count = n // 3
    nodes = [choice("condition", "x", f"v{i}", f"n{i}", i) for i in range(count)]
    return model([*nodes, node("Sum", [f"v{i}" for i in range(count)], ["y"], "sum")], [X, CONDITION], [Y])


def constant_ifs(n):
    """If nodes whose branch is known."""
    count = n // 3
    v = names(count)
    return model([choice("condition", v[i], v[i + 1], f"n{i}", i) for i in range(count)], [X], [Y],
                 [tensor("condition", [], b"\1", BOOL)])


def nested(n, condition=CONDITION, constants=()):
    """Bodies in bodies, as deep as may be, with nodes in each that read values from around them."""
    depth = MAX_NESTING
    count = max(1, n // depth)

    def level(d):
        outer = ["x"] if d == 0 else [f"d{d - 1}_v{i}" for i in range(count)]
        nodes = [node("Neg" if i % 2 else "Abs", [outer[i % len(outer)] if i % 3 == 0 else f"d{d}_v{i - 1}"], [f"d{d}_v{i}"], f"d{d}_n{i}")
                 for i in range(count)]
        last = f"d{d}_v{count - 1}"
        if d == depth:
            return nodes, last
        inner, given = level(d + 1)
        branches = [graph_attribute("then_branch", body(inner, [value_info(given, [2])])),
                    graph_attribute("else_branch", body([node("Neg", [last], [f"d{d}_else"], f"d{d}_other")], [value_info(f"d{d}_else", [2])]))]
        result = "y" if d == 0 else f"d{d}_result"
        return [*nodes, node("If", ["condition"], [result], f"d{d}_if", attributes=branches)], result

    nodes, _ = level(0)
    return model(nodes, [X, condition] if condition else [X], [Y], constants)


def constant_nested(n):
    return nested(n, None, [tensor("condition", [], b"\1", BOOL)])


def loop(n):
    """A body that runs twice."""
    v = ["state_in", *(f"v{i}" for i in range(1, n)), "state_out"]
    nodes = [node("Relu" if i % 2 else "Neg", [v[i]], [v[i + 1]], f"n{i}") for i in range(n)]
    nodes.append(node("Identity", ["go_in"], ["go_out"], "go"))
    graph = body(nodes, [value_info("go_out", [], BOOL), value_info("state_out", [2])],
                 [value_info("turn", [], INT64), value_info("go_in", [], BOOL), value_info("state_in", [2])])
    return model([node("Loop", ["turns", "", "x"], ["y"], "loop", attributes=[graph_attribute("body", graph)])], [X], [Y],
                 [integers("turns", [2], is_scalar=True)])


def sequence_info(name):
    element = chunk(1, number(1, 1) + chunk(2, chunk(1, b"")))
    return chunk(1, name) + chunk(2, chunk(4, chunk(1, element)))


def sequence_loop(n, nodes, result, outputs, extra=()):
    """A Loop of n turns that carries a sequence."""
    graph = body([*nodes, node("Identity", ["go_in"], ["go_out"], "go")], [value_info("go_out", [], BOOL), sequence_info(result), *outputs],
                 [value_info("turn", [], INT64), value_info("go_in", [], BOOL), sequence_info("s_in")])
    results = ["s", *(f"out{i}" for i in range(len(outputs)))]
    return [node("SequenceConstruct", ["x"], ["start"], "start"),
            node("Loop", ["turns", "", "start"], results, "loop", attributes=[graph_attribute("body", graph)]),
            *extra], [integers("turns", [n], is_scalar=True)]


def appended(n):
    """A sequence to which every turn of a Loop adds what it has computed."""
    turn = [node("Neg", ["x"], ["e"], "neg"), node("SequenceInsert", ["s_in", "e"], ["s_out"], "insert")]
    nodes, constants = sequence_loop(n, turn, "s_out", [], [node("ConcatFromSequence", ["s"], ["y"], "join", attributes=[int_attribute("axis", 0)])])
    return model(nodes, [X], [value_info("y", ["n"])], constants)


def queue(n):
    """A sequence that gets one at its end and loses one at its beginning, when it has grown."""
    turn = [node("SequenceInsert", ["s_in", "x"], ["t"], "first"), node("SequenceInsert", ["t", "x"], ["u"], "second"),
            node("SequenceErase", ["u", "zero"], ["s_out"], "erase")]
    nodes, constants = sequence_loop(n, turn, "s_out", [], [node("SequenceLength", ["s"], ["y"], "length")])
    return model(nodes, [X], [value_info("y", [], INT64)], [*constants, integers("zero", [0], is_scalar=True)])


def optional_appended(n):
    """The same sequence in an optional, which every turn of the Loop opens and closes."""
    element = number(1, 1) + chunk(2, chunk(1, b""))
    sequence = chunk(4, chunk(1, chunk(1, element)))

    def optional(name):
        return chunk(1, name) + chunk(2, chunk(9, chunk(1, sequence)))

    graph = body([node("OptionalGetElement", ["o_in"], ["s"], "open"), node("Neg", ["x"], ["e"], "neg"),
                  node("SequenceInsert", ["s", "e"], ["t"], "insert"), node("Optional", ["t"], ["o_out"], "close"),
                  node("Identity", ["go_in"], ["go_out"], "go")], [value_info("go_out", [], BOOL), optional("o_out")],
                 [value_info("turn", [], INT64), value_info("go_in", [], BOOL), optional("o_in")])
    nodes = [node("SequenceConstruct", ["x"], ["start"], "start"), node("Optional", ["start"], ["first"], "first"),
             node("Loop", ["turns", "", "first"], ["last"], "loop", attributes=[graph_attribute("body", graph)]),
             node("OptionalGetElement", ["last"], ["all"], "all"),
             node("ConcatFromSequence", ["all"], ["y"], "join", attributes=[int_attribute("axis", 0)])]
    return model(nodes, [X], [value_info("y", ["n"])], [integers("turns", [n], is_scalar=True)], opset=18)


def stacked(n):
    """A Loop that stacks up what every turn gives."""
    graph = body([node("Identity", ["go_in"], ["go_out"], "go"), node("Neg", ["state_in"], ["state_out"], "neg"),
                  node("Abs", ["state_in"], ["each"], "abs")],
                 [value_info("go_out", [], BOOL), value_info("state_out", [2]), value_info("each", [2])],
                 [value_info("turn", [], INT64), value_info("go_in", [], BOOL), value_info("state_in", [2])])
    return model([node("Loop", ["turns", "", "x"], ["last", "y"], "loop", attributes=[graph_attribute("body", graph)])], [X],
                 [value_info("y", ["n", 2])], [integers("turns", [n], is_scalar=True)])


def prime(least):
    while any(least % d == 0 for d in range(2, int(least ** 0.5) + 1)):
        least += 1
    return least


def prime_transform(n):
    """A Fourier transform whose length is a prime."""
    return model([node("DFT", ["x", "length"], ["y"], "transform", attributes=[int_attribute("axis", 1)])], [value_info("x", [1, 8, 1])],
                 [value_info("y", [1, "n", 2])], [integers("length", [prime(4 * n)], is_scalar=True)], opset=17)


def prime_frames(n):
    """Frames whose length is a prime."""
    length = prime(n)
    return model([node("STFT", ["x", "step", "", "length"], ["y"], "frames")], [value_info("x", [1, 4 * length, 1])],
                 [value_info("y", [1, "f", "b", 2])],
                 [integers("step", [length], is_scalar=True), integers("length", [length], is_scalar=True)], opset=17)


def triangles(n):
    """Pairs of nodes that read the result of one node and are joined again: two of the pattern's three nodes read what all read."""
    count = n // 4
    nodes = [node("Relu", ["x"], ["r"], "first")]
    for op in ("Neg", "Abs"):
        nodes += [node(op, ["r"], [f"{op}{i}"], f"{op}_{i}") for i in range(count)]
    nodes += [node("Add", [f"Neg{i}", f"Abs{i}"], [f"sum{i}"], f"add_{i}") for i in range(count)]
    return model([*nodes, node("Sum", [f"sum{i}" for i in range(count)], ["y"], "sum")], [X], [Y])


def function(name, nodes, result="b"):
    return (chunk(1, name) + chunk(4, "a") + chunk(5, result) + b"".join(chunk(7, n) for n in nodes)
            + chunk(9, number(2, 13)) + chunk(10, "local"))


def with_functions(message, functions):
    return message + b"".join(chunk(25, f) for f in functions) + chunk(8, chunk(1, "local") + number(2, 1))


def functions(n):
    """Every node calls a function of its own."""
    v = names(n)
    nodes = [node(f"f{i}", [v[i]], [v[i + 1]], f"n{i}", domain="local") for i in range(n)]
    return with_functions(model(nodes, [X], [Y]), [function(f"f{i}", [node("Neg", ["a"], ["b"])]) for i in range(n)])


def calls(n):
    """Every node calls the same function."""
    v = names(n)
    nodes = [node("f", [v[i]], [v[i + 1]], f"n{i}", domain="local") for i in range(n)]
    return with_functions(model(nodes, [X], [Y]), [function("f", [node("Neg", ["a"], ["t"]), node("Abs", ["t"], ["b"])])])


def long_function(n):
    """One function that holds all nodes, and calls it twice."""
    v = ["a", *(f"v{i}" for i in range(1, n)), "b"]
    nodes = [node("f", ["x"], ["z"], "first", domain="local"), node("f", ["z"], ["y"], "second", domain="local")]
    return with_functions(model(nodes, [X], [Y]), [function("f", [node("Neg", [v[i]], [v[i + 1]], f"n{i}") for i in range(n)])])


ALL = {f.__name__: f for f in (
    chain, unsorted_chain, unnamed, equal_names, long_names, wide, wide_chains, distinct, fan, outputs, inputs, initializers,
    unused_initializers, shared_initializer, constants, constant_nodes, identity, wide_identity, constant_identity, views, shapes, casts,
    layers, convolutions, old_operators, new_operators, ifs, wide_ifs, constant_ifs, nested, constant_nested, loop, appended, queue,
    optional_appended, stacked,
    prime_transform, prime_frames, triangles, functions, calls, long_function)}
