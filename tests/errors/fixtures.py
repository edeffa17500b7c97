"""Makes the files that the error cases refer to, in the folder where they run."""

import base64
import io
import json
import os
import random
import struct
import zipfile
import zlib

from onnx_bytes import chunk, int_attribute, ints_attribute, model, node, tensor, tensor_attribute, value_info
from shard_fixtures import write_sharding

X, Y = value_info("x", [1, 2]), value_info("y", [1, 2])
IDENTITY = model([node("Identity", ["x"], ["y"], "id")], [X], [Y])


def write(path, data):
    with open(path, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def write_models():
    write("identity.onnx", IDENTITY)
    write("dynamic.onnx", model([node("Identity", ["x"], ["y"])], [value_info("x", ["n", 2])], [value_info("y", ["n", 2])]))
    write("two.onnx", model([node("Relu", ["x"], ["h"], "first"), node("Neg", ["h"], ["y"], "second")], [X], [Y]))
    write("cast.onnx", model([node("Identity", ["i"], ["j"])], [value_info("i", [3], 6)], [value_info("j", [3], 6)]))
    write("no_extension", IDENTITY)
    evil = "\x1b[2J\n[I] PASSED\r\a\u009b\u202e"
    write("escapes.onnx", model([node("Identity", ["x"], [evil], evil)], [X], [value_info(evil, [1, 2])]))
    write("twin_inputs.onnx", model([node("Add", ["x", "x"], ["y"], "add")], [X, X], [Y]))
    weights = [tensor("w", [4, 1], struct.pack("<4f", 1, 0, 0, 2)), tensor("shape", [2], struct.pack("<2q", 1, 4), 7)]
    nodes = [node("Constant", [], ["k"], "constant", attributes=[tensor_attribute("value", tensor("", [1, 2], bytes(8)))]),
             node("Concat", ["x", "k"], ["c"], "concat", attributes=[int_attribute("axis", 1)]),
             node("Reshape", ["c", "shape"], ["r"], "reshape"), node("MatMul", ["r", "w"], ["m"], "product"),
             node("Transpose", ["m"], ["y"], "transpose", attributes=[ints_attribute("perm", [1, 0])])]
    write("typed.onnx", model(nodes, [X], [value_info("y", [1, 1])], weights))
    write("model.engine", b"\0")


NEGATED = """ir_version: 8
opset_import { version: 17 }
graph { name: "g" node { input: "x" output: "y" op_type: "Neg" } input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } } }
"""
FLOATS = {"tensorType": {"elemType": 1, "shape": {"dim": [{"dimValue": "3"}]}}}
NEGATED_JSON = {"irVersion": "8", "opsetImport": [{"domain": "", "version": "17"}],
                "graph": {"name": "g", "node": [{"input": ["x"], "output": ["y"], "opType": "Neg"}],
                          "input": [{"name": "x", "type": FLOATS}], "output": [{"name": "y", "type": FLOATS}]}}
OUTSIDE = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float[2] w = ["location": "pointer.bin", "offset": "0", "length": "8"]> { y = Add (x, w) }
"""


def write_stand_ins():
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 46747062\n"
    for name in ("pointer.onnx", "pointer.plan", "pointer.json", "pointer.bin"):
        write(name, pointer)
    write("pointer_outside.onnxtxt", OUTSIDE)
    write("page.onnx", "\n<!DOCTYPE html>\n<html><head><title>resnet18.onnx at main</title></head></html>\n")
    write("packed.onnx", b"\x1f\x8b\x08\x00" + bytes(20))
    write("torch.onnx", b"PK\x03\x04" + bytes(60))
    for name in ("negated.textproto", "negated.prototxt"):
        write(name, NEGATED)
    write("negated.json", json.dumps(NEGATED_JSON))
    write("caffe.prototxt", 'name: "net"\nlayer { name: "data" type: "Input" }\n')
    write("misspelt.textproto", 'ir_version: 8\ngraph { nodes { op_type: "Neg" } }\n')
    write("misspelt.json", '{"graph": {"node": [{"opTyp": "Neg"}]}}')
    write("empty.cache", "")
    write("foreign.cache", b"\x93\x00\x01ptrt" + bytes(40))
    write("np_class.json", json.dumps([{"x": {"array": "k05VTVBZ", "polygraphy_class": "np.ndarray"}}]))


MISUSED = """<ir_version: 8, opset_import: ["" : 17, "l" : 1]>
g () => (float[2] y) <float[2] c = {1, 2}, bool t = {1}> { y = NODE }
"""
FUNCTION = """<opset_import: ["" : 17, "l" : 1], domain: "l">
f (a) => (b) { b = Neg() }
"""
BRANCHES = """If <then_branch: graph = a () => (float[2] p) { p = Add(c) },
  else_branch: graph = b () => (float[2] q) { q = Add(c, "") }>(t)"""
# A gigabyte out of a megabyte, in strings.
REPEATED = """<ir_version: 8, opset_import: ["" : 17]>
g () => (string[1024] y) <string[1] s = {"LONG"}, int64[1] count = {1024}> { y = Expand(s, count) }
"""
KEY_HEADS = """<ir_version: 10, opset_import: ["" : 23]>
g (float[1,2,3,4] q, float[1,4,3,4] k, float[1,4,3,4] v) => (float[1,2,3,4] y) { y = Attention(q, k, v) }
"""
LIST_OF_LISTS = """<ir_version: 8, opset_import: ["" : 18]>
g () => (bfloat16[a, b, c, d] y) <bfloat16[0, 4, 3, 2] x = {}, int64[0, 4, 3, 2] s = {}> { y = CenterCropPad(x, s) }
"""
# It stacks up a tensor for ever.
GROWING = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1000] x) => (float[n, 1000] y) <int64 turns = {4611686018427387904}> {
  y = Loop <body: graph = b (int64 i, bool go) => (bool again, float[1000] s) { again = Identity(go) s = Neg(x) }>(turns, "")
}
"""

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
two (float[1, 2] x) => (float[1, 2] y)
<float[2] w = {1, 2}>
{
  [first] h = Relu (x)
  [second] y = Mul (h, w)
}
"""


CHOICE = """<ir_version: 8, opset_import: ["" : 17]>
g (bool c, float[1, 2] x) => (float[1, 2] y)
{
  [choice] y = If (c) <then_branch: graph = t () => (float[1, 2] a) { h = Relu (x) a = Neg (h) },
                       else_branch: graph = e () => (float[1, 2] b) { b = Abs (x) }>
}
"""


def nested_choices(depth):
    body = "y = Identity (c)"
    for _ in range(depth):
        body = f"y = If (c) <then_branch = t () => (bool y) {{ {body} }}, else_branch = e () => (bool y) {{ y = Identity (c) }}>"
    return f'<ir_version: 10, opset_import: ["" : 20]> g (bool c) => (bool y) {{ {body} }}'


def absurd_picture():
    """The head of a PNG file of 2^31 - 1 pixels in both directions."""
    def part(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    side = 0x7FFFFFFF
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + part(b"IEND", b"")


def one_blob_twice():
    """A .npz archive whose second entry is said to lie where the first does."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in "ab":
            archive.writestr(f"{name}.npy", npy("<f4", (1000,), bytes(4000)))
    raw = bytearray(file.getvalue())
    struct.pack_into("<I", raw, raw.rfind(b"PK\1\2") + 42, 0)
    return bytes(raw)


def write_texts():
    write("two.onnxtxt", TEXT)
    write("text_in.onnx", TEXT)
    write("any_rank.onnxtxt", '<ir_version: 8, opset_import: ["" : 17]> g (float[] x) => (float[] y) { [n] y = Relu (x) }')
    write("branches.onnxtxt", CHOICE)
    write("text_syntax.onnxtxt", TEXT.replace("(h, w)", "(h w)"))
    write("text_elements.onnxtxt", TEXT.replace("{1, 2}", "{1, 2, 3}"))
    write("text_dangling.onnxtxt", TEXT.replace("(h, w)", "(h, v)"))
    write("text_left_out.txt", TEXT.replace("{1, 2}", "{1, ...}"))
    write("text_external.onnxtxt", TEXT.replace("{1, 2}", '["location": "../outside.bin"]'))
    write("text_empty.onnxtxt", "")
    write("missing_input.onnxtxt", MISUSED.replace("NODE", "Add(c)"))
    write("missing_in_function.onnxtxt", MISUSED.replace("NODE", "l.f(c)") + FUNCTION)
    write("missing_in_branch.onnxtxt", MISUSED.replace("NODE", BRANCHES))
    write("repeated_string.onnxtxt", REPEATED.replace("LONG", "a" * 1_000_000))
    write("deep.onnxtxt", nested_choices(40))
    axes = '<ir_version: 8, opset_import: ["" : 13]> g (float[1, 2, 3] x) => (float[1, 2, 3] y) { y = NODE (x) }'
    write("wrong_perm.onnxtxt", axes.replace("NODE", "Transpose <perm = [-1, 0, 1]>"))
    write("wrong_axes.onnxtxt", axes.replace("NODE", "ReduceMean <axes = [3, 0, 3]>"))
    write("left_out.onnxtxt", MISUSED.replace("NODE", 'Unique("")'))
    write("list_of_lists.onnxtxt", LIST_OF_LISTS)
    write("more_outputs.onnxtxt", MISUSED.replace("NODE", "l.f(c)") + FUNCTION.replace("=> (b)", "=> ()"))
    write("missing_attribute.onnxtxt", MISUSED.replace("NODE", "Cast(c)"))
    write("foreign_node.onnxtxt", MISUSED.replace("NODE", "l.f()"))
    write("too_many_key_heads.onnxtxt", KEY_HEADS)
    write("growing_loop.onnxtxt", GROWING)


def write_damaged_models():
    picture = absurd_picture()
    write("picture.onnx", model([node("ImageDecoder", ["p"], ["y"], "n0")], [], [value_info("y", ["h", "w", "c"], 2)],
                                [tensor("p", [len(picture)], picture, 2)], opset=20))
    write("empty.onnx", b"")
    write("truncated.onnx", IDENTITY[: len(IDENTITY) // 2])
    write("text.onnx", "this is not a model\n")
    random.seed(1)
    write("random.onnx", bytes(random.randrange(256) for _ in range(500)))
    write("long_length.onnx", chunk(7, b"abc")[:1] + b"\xff\xff\xff\xff\x7f" + b"abc")
    write("cycle.onnx", model([node("Relu", ["b"], ["a"], "n0"), node("Relu", ["a"], ["b"], "n1")], [X], [value_info("b", [1, 2])]))
    write("duplicate.onnx", model([node("Relu", ["x"], ["y"], "n0"), node("Neg", ["x"], ["y"], "n1")], [X], [Y]))
    write("dangling.onnx", model([node("Relu", ["nowhere"], ["y"], "n0")], [X], [Y]))
    write("unknown_op.onnx", model([node("Frobnicate", ["x"], ["y"], "n0")], [X], [Y]))
    write("unknown_domain.onnx", model([node("Relu", ["x"], ["y"], "n0", "com.nobody")], [X], [Y]))
    write("unknown_opset.onnx", model([node("Relu", ["x"], ["y"], "n0")], [X], [Y], opset=9999))
    write("unknown_type.onnx", model([node("Relu", ["x"], ["y"])], [value_info("x", [1], 99)], [value_info("y", [1], 99)]))
    add = [node("Add", ["x", "w"], ["y"], "n0")]
    write("short_weight.onnx", model(add, [X], [Y], [tensor("w", [1, 2], b"\0\0\0\0")]))

    def stripped(dims):
        """A weight whose data weight-strip has taken away."""
        return model(add, [X], [Y], [tensor("w", dims, b"") + chunk(12, "TRT_WEIGHTLESS/")])

    write("stripped.onnx", stripped([1, 2]))
    write("stripped_absurd.onnx", stripped([1 << 40, 1 << 40]))
    write("stripped_half.onnx", model(add, [X], [Y], [tensor("w", [1, 2], b"\0\0\0\0") + chunk(12, "TRT_WEIGHTLESS/")]))
    write("keep.txt", "w\n\nnowhere  \n")

    def external(location, **more):
        entries = [("location", location)] + list(more.items())
        return model(add, [X], [Y], [tensor("w", [1, 2], b"", external=entries)])

    write("external_missing.onnx", external("gone.bin"))
    write("external_short.onnx", external("short.bin"))
    write("short.bin", b"\0\0\0\0")
    write("external_parent.onnx", external("../outside.bin"))
    write("external_absolute.onnx", external("/etc/hostname"))
    write("external_link.onnx", external("link.bin"))
    os.symlink("/etc/hostname", "link.bin")
    # What would be waited for, or read for ever, and a file that has a second name elsewhere.
    write("external_pipe.onnx", external("pipe.bin"))
    write("external_hard.onnx", external("hard.bin"))
    write("external_folder.onnx", external("folder.bin"))
    for pipe in ("pipe.bin", "pipe.onnx", "pipe.json", "pipe.yaml", "pipe.so"):
        os.mkfifo(pipe)
    os.symlink("/dev/zero", "device.onnx")
    write("second_name", bytes(8))
    os.link("second_name", "hard.bin")
    os.mkdir("folder.bin")


def npy(descr, shape, raw):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + raw


def write_array(path, name, encoded):
    """A file for --load-inputs with one array, of bytes as in a .npy or .npz file."""
    array = {"array": base64.b64encode(encoded).decode(), "polygraphy_class": "ndarray"}
    write(path, json.dumps([{name: array}]))


def write_inputs(path, name, descr, shape, raw):
    write_array(path, name, npy(descr, shape, raw))


def npz(content):
    """An archive of one deflated entry."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", content)
    return file.getvalue()


def write_data():
    write_inputs("name.json", "z", "<f4", (1, 2), struct.pack("<2f", 1, 2))
    write_inputs("type.json", "x", "<i8", (1, 2), struct.pack("<2q", 1, 2))
    write_inputs("shape.json", "x", "<f4", (2, 1), struct.pack("<2f", 1, 2))
    write_inputs("rank.json", "x", "<f4", (3,), struct.pack("<3f", 1, 2, 3))
    write_inputs("nan.json", "x", "<f4", (1, 2), struct.pack("<2f", 1, float("nan")))
    write_inputs("inf.json", "x", "<f4", (1, 2), struct.pack("<2f", 1, float("inf")))
    write_inputs("range.json", "i", "<f8", (3,), struct.pack("<3d", 1, 1e12, 2))
    write("not.json", "{ this is not JSON")
    write("other.json", json.dumps({"a": 1}))
    write("empty_list.json", "[]")
    # Strings of 4 GB each, but none of them.
    write_inputs("wide.json", "x", "<U1073741824", (0,), b"")
    write_inputs("words.json", "x", "<U1", (0,), b"")
    # A header that ends before its first 12 bytes.
    write_array("short_header.json", "x", npz(b"\x93NUMPY\x01\x00\x01\x00{" + b"A" * 4096))
    write_array("one_blob_twice.json", "x", one_blob_twice())
    write("no_array.json", json.dumps([{"x": {"array": "!!!", "polygraphy_class": "ndarray"}}]))
    os.mkdir("folder")
    os.mkdir("read_only", 0o555)


PATTERN = """op: Both
inputs: [a]
nodes:
- {op: Relu, inputs: [a], outputs: [b]}
- {op: Neg, inputs: [b], outputs: [c]}
outputs: [c]
"""


def write_plugins():
    def plugin(folder, name, file, text):
        os.makedirs(f"{folder}/{name}", exist_ok=True)
        write(f"{folder}/{name}/{file}", text)

    plugin("plugins", "both", "pattern.yaml", PATTERN)
    plugin("overlapping", "both", "pattern.yaml", PATTERN)
    plugin("overlapping", "neg", "pattern.yaml", "op: N\ninputs: [a]\nnodes:\n- {op: Neg, inputs: [a], outputs: [b]}\noutputs: [b]\n")
    plugin("damaged_plugins", "broken", "pattern.yaml", "op: [\n")
    plugin("wrong_plugins", "wrong", "pattern.yaml", PATTERN.replace("outputs: [c]\n", "outputs: [z]\n"))
    config = "name: both\nop: Both\ninstances:\n- inputs:\n  - {}\n  outputs:\n  - {}\n"
    write("good.yaml", config.format("x", "y"))
    write("twice.yaml", config.format("x", "y") + "- inputs: [x]\n  outputs: [h]\n")
    write("unknown_tensor.yaml", config.format("X", "y"))
    write("no_output.yaml", config.format("h", "x"))
    write("no_plugin.yaml", "- 1\n")
    write("no_yaml.yaml", "a: 'b\n")
    write("chain.onnx", model([node("Relu", ["x"], ["a"], "n0"), node("Neg", ["a"], ["b"], "n1"), node("Neg", ["b"], ["c"], "n2")],
                              [X], [value_info("c", [1, 2])]))
    write("cycle.yaml", "name: both\nop: Both\ninstances:\n- inputs: [x, b]\n  outputs: [a, c]\n")


NESTED = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
nested (float[1, 2] x, bool cond) => (float[1, 2] y, float[1, 2] z)
{
  [choice] y = If (cond) <
    then_branch = then_graph () => (float[1, 2] t) { [t_relu] a = Relu (x) [t_neg] t = Neg (a) },
    else_branch = else_graph () => (float[1, 2] e) { [e_abs] e = Abs (x) }
  >
  [call] z = local.F (x)
}
<domain: "local", opset_import: ["" : 17]>
F (p) => (q)
{
  [f_relu] h = Relu (p)
  [f_neg] q = Neg (h)
}
"""


def write_nested():
    write("nested.onnxtxt", NESTED)
    config = "name: both\nop: Both\ninstances:\n- graph: {}\n  inputs: [{}]\n  outputs: [{}]\n"
    write("in_branch.yaml", config.format("choice::then_branch", "x", "t") + "- graph: function:F\n  inputs: [p]\n  outputs: [q]\n")
    write("in_no_graph.yaml", config.format("choise::then_branch", "x", "t"))
    write("in_two_graphs.yaml", config.format("choice", "x", "t"))
    write("in_graph_unknown.yaml", config.format("choice::then_branch", "x", "tt"))
    write("in_graph_outside.yaml", config.format("choice::then_branch", "x", "z"))
    write("in_graph_cycle.yaml", config.format("choice::then_branch", "y, a", "t"))
    write("in_replaced.yaml", "name: both\nop: Both\ninstances:\n- inputs: [cond]\n  outputs: [y]\n"
                              "- graph: choice::then_branch\n  inputs: [x]\n  outputs: [t]\n")


def write_all():
    write_models()
    write_stand_ins()
    write_texts()
    write_damaged_models()
    write_data()
    write_plugins()
    write_nested()
    write_sharding(write)
