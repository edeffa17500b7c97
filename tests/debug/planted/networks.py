"""Faults of the network itself: types, weights, exporters, bodies, and nodes that fail together only."""

import pathlib
import struct

import onnx

from . import harness as h
from .compilers import first_nodes, module, name_in
from .harness import cause, causes


def products(count=6, special=None):
    """MatMul and Tanh; `special`: weights of one of them, by its number."""
    nodes, weights = [], []
    for i in range(count):
        nodes += [("MatMul", f"product{i}", "", [f"w{i}"]), ("Tanh", f"tanh{i}", "", [])]
        weights.append((f"w{i}", (8, 8), (special or {}).get(i) or h.drawn(64, seed=i)))
    return nodes, weights


# --- Precision

COOL = ("cool", (1,), [1 / 131072])


@cause("precision", quick=True)
def weights_beyond_float16():
    nodes, weights = products(6, {3: h.drawn(64, -1e5, 1e5)})
    nodes.insert(6, ("Mul", "cool", "", ["cool"]))
    found = h.search("precision", h.chain("model.onnx", nodes, [*weights, COOL]), "--fp16", "--accuracy", "40dB", "--builder-optimization-level", "0")
    return h.outcome("precision", found, found.json.get("answer", {}).get("float32", []), ["product3"])


@cause("precision")
def one_layer_too_coarse_in_int8():
    """One channel a thousand times larger than the others takes the whole scale; its weights make up for it."""
    special = h.drawn(64, seed=2)
    special[:8] = [w / 1000 for w in special[:8]]
    nodes, weights = products(6, {2: special})
    nodes.insert(4, ("Mul", "grow", "", ["outlier"]))
    path = h.chain("model.onnx", nodes, [*weights, ("outlier", (8,), [1000] + [1] * 7)])
    found = h.search("precision", path, "--int8", "--accuracy", "20dB", "--builder-optimization-level", "0", "--val-range", "[-1,1]")
    return h.outcome("precision", found, found.json.get("answer", {}).get("float32", []), ["product2"])


@cause("precision", quick=True)
def overflow_in_float16():
    nodes, weights = products(4)
    nodes[4:4] = [("Mul", "grow", "", ["large"]), ("Mul", "shrink", "", ["small"])]
    path = h.chain("model.onnx", nodes, [*weights, ("large", (1,), [1e6]), ("small", (1,), [1e-6])])
    found = h.search("range", path, "--types", "float16", "--no-weights", "--iterations", "3", "--val-range", "[3,4]")
    return h.outcome("range", found, [t["tensor"] for t in found.json.get("tensors", []) if t["formats"]["float16"]["overflow"] > 0], ["v4"])


@cause("precision", quick=True)
def square_beyond_float16():
    path = h.model("model.onnx", """g (float[4,8] x) => (float[4,8] y) <float[1] scale = {300}, float[1] back = {0.00001}> {
  [scale] s = Mul (x, scale)
  [square] q = Mul (s, s)
  [back] y = Mul (q, back)
}
""")
    found = h.search("nan", path, "--fp-to-fp16", "--val-range", "[1,2]")
    return h.outcome("nan", found, causes_of(found), ["square"])


def causes_of(found):
    """The node that `debug nan` names."""
    return [name_in(o["node"]) for o in found.json.get("origins", []) if o["tensor"] == found.json.get("cause")]


UNSTABLE = {
    # E[x^2] - E[x]^2 of numbers far from 0 loses all digits; the root of what is left is not a number.
    "variance_by_cancellation": ("root", """g (float[4,256] x) => (float[4,1] y) <int64[1] axis = {1}> {
  [mean] m = ReduceMean <axes = [1]> (x)
  [mean_square] mm = Mul (m, m)
  [square] xx = Mul (x, x)
  [square_mean] q = ReduceMean <axes = [1]> (xx)
  [difference] d = Sub (mm, q)
  [root] y = Sqrt (d)
}
""", "[3000,3001]"),
    "softmax_without_maximum": ("exponential", """g (float[4,8] x) => (float[4,8] y) {
  [exponential] e = Exp (x)
  [sum] s = ReduceSum <keepdims = 1> (e)
  [share] y = Div (e, s)
}
""", "[80,100]"),
    "logarithm_of_rounded_zero": ("logarithm", """g (float[4,8] x) => (float[4,8] y) {
  [sigmoid] s = Sigmoid (x)
  [logarithm] l = Log (s)
  [last] y = Neg (l)
}
""", "[-200,-150]"),
    "zero_norm": ("share", """g (float[4,8] x) => (float[4,8] y) {
  [rectify] r = Relu (x)
  [norm] n = ReduceL2 <axes = [1]> (r)
  [share] y = Div (r, n)
}
""", "[-2,-1]"),
}


@causes("precision", [(name, *row) for name, row in UNSTABLE.items()], quick=["zero_norm"])
def unstable(node, graph, data):
    found = h.search("nan", h.model("model.onnx", graph), "--engine", "--val-range", data)
    return h.outcome("nan", found, causes_of(found), [node])


def quantized(scale):
    """A product with its operand in int8, before and after with a scale that saturates."""
    return f"""g (float[4,8] x) => (float[4,8] y)
<float[8,8] w = {h.floats(h.drawn(64))}, float scale = {{{scale}}}, int8 zero = {{0}}> {{
  [first] a = Tanh (x)
  [quantize] q = QuantizeLinear (a, scale, zero)
  [dequantize] d = DequantizeLinear (q, scale, zero)
  [product] p = MatMul (d, w)
  [last] y = Tanh (p)
}}
"""


@cause("precision")
def saturated_scale():
    found = h.search("diverge", h.model("right.onnx", quantized(1 / 127)), "--against", h.model("model.onnx", quantized(1 / 512)), "--val-range", "[-3,3]")
    return h.outcome("diverge", found, first_nodes(found, "second"), ["quantize"])


# --- Weights


def flipped(value, bit):
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return struct.unpack("<f", struct.pack("<I", bits ^ (1 << bit)))[0]


def damaged(kind):
    right = h.drawn(64, seed=3)
    wrong = list(right)
    if kind == "sign":
        wrong[20] = flipped(wrong[20], 31)
    elif kind == "exponent":
        wrong[20] = flipped(wrong[20], 27)
    elif kind == "transposed":
        wrong = [right[8 * (i % 8) + i // 8] for i in range(64)]
    elif kind == "zeros":
        wrong = [0.0] * 64
    elif kind == "shifted":
        wrong = right[1:] + right[:1]
    elif kind == "byte_order":
        wrong = [struct.unpack(">f", struct.pack("<f", round(v * 8) / 8))[0] for v in right]
    return wrong


@causes("weight", [(f"weight_{k}", k) for k in ("sign", "exponent", "transposed", "zeros", "shifted", "byte_order")], quick=["weight_sign"])
def wrong_weight(kind):
    right = h.chain("right.onnx", *products(6, {3: h.drawn(64, seed=3)}))
    wrong = h.chain("model.onnx", *products(6, {3: damaged(kind)}))
    found = h.search("diverge", right, "--against", wrong, "--val-range", "[-1,1]")
    return h.outcome("diverge", found, first_nodes(found), ["product3"])


@causes("weight", [("weight_nan", "nan"), ("weight_infinity", "inf")])
def not_finite(value):
    path = h.chain("model.onnx", *products(6))
    m = onnx.load(path)  # the text form has no such numbers
    for t in m.graph.initializer:
        if t.name == "w3":
            array = onnx.numpy_helper.to_array(t).copy()
            array.flat[9] = float(value)
            t.CopyFrom(onnx.numpy_helper.from_array(array, "w3"))
    onnx.save(m, path)
    found = h.search("nan", path, "--val-range", "[-1,1]")
    return h.outcome("nan", found, [o["tensor"] for o in found.json.get("origins", [])], ["w3"])


# --- Exporters: the node that is exported wrongly, and its operator as it should be, and as it is.

IMAGE = """g (float[1,4,8,8] x) => (float[a,b,c,d] y) <float[4,4,3,3] w = %s, float[4] s = {0.5, 1, 1.5, 2}, float[4] o = {0.1, 0.2, 0.3, 0.4},
 float[4] mean = {0.3, 0.2, 0.1, 0.4}, float[4] var = {0.001, 0.002, 0.004, 0.003}, int64[4] bigger = {1, 4, 16, 16}, float[8,8] g = %s, float low = {-0.2},
 float high = {0.2}, float higher = {0.6}, int64[4] shape = {1, 8, 4, 8}, int64[3] begin = {0, 0, 1}, int64 one = {1}, int64 two = {2}> {
  [before] b1 = Sin (x)
  [first] b2 = Add (b1, x)
  [guilty] t = %s
  [after] y = Tanh (t)
  }
"""
EXPORTS = [
    ("export_softmax_axis", "Softmax <axis = 1> (b2)", "Softmax <axis = 3> (b2)"),
    ("export_softmax_last_axis", "Softmax <axis = -1> (b2)", "Softmax <axis = 2> (b2)"),
    ("export_conv_pads", "Conv <pads = [1, 1, 1, 1]> (b2, w)", "Conv <pads = [0, 0, 2, 2]> (b2, w)"),
    ("export_conv_dilation", "Conv <pads = [2, 2, 2, 2], dilations = [2, 2]> (b2, w)", "Conv <pads = [1, 1, 1, 1]> (b2, w)"),
    ("export_counted_pads", "AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (b2)",
     "AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1> (b2)"),
    ("export_epsilon", "BatchNormalization <epsilon = 0.001> (b2, s, o, mean, var)", "BatchNormalization <epsilon = 0.00001> (b2, s, o, mean, var)"),
    ("export_layout", "Transpose <perm = [0, 1, 3, 2]> (b2)", "Transpose <perm = [0, 1, 2, 3]> (b2)"),
    ("export_resize_coordinates", 'Resize <mode = "linear", coordinate_transformation_mode = "half_pixel"> (b2, , , bigger)',
     'Resize <mode = "linear", coordinate_transformation_mode = "align_corners"> (b2, , , bigger)'),
    ("export_resize_rounding", 'Resize <mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"> (b2, , , bigger)',
     'Resize <mode = "nearest", nearest_mode = "ceil", coordinate_transformation_mode = "asymmetric"> (b2, , , bigger)'),
    ("export_missing_transpose", "MatMul (b2, g)", "MatMul (g, b2)"),
    ("export_clip", "Clip (b2, low, higher)", "Clip (b2, low, high)"),
    ("export_slope", "LeakyRelu <alpha = 0.2> (b2)", "LeakyRelu <alpha = 0.01> (b2)"),
    ("export_cumsum_direction", "CumSum (b2, one)", "CumSum <reverse = 1> (b2, one)"),
    ("export_wrong_axis", "CumSum (b2, two)", "CumSum (b2, one)"),
    ("export_group_epsilon", "InstanceNormalization <epsilon = 0.05> (b2, s, o)", "InstanceNormalization <epsilon = 0.00001> (b2, s, o)"),
    ("export_transposed_conv", "ConvTranspose <pads = [1, 1, 1, 1]> (b2, w)", "Conv <pads = [1, 1, 1, 1]> (b2, w)"),
    ("export_pool_kind", "AveragePool <kernel_shape = [2, 2]> (b2)", "MaxPool <kernel_shape = [2, 2]> (b2)"),
    ("export_rounding", "Round (b2)", "Floor (b2)"),
    ("export_concat_order", "Concat <axis = 1> (b1, b2)", "Concat <axis = 1> (b2, b1)"),
]


@causes("exporter", EXPORTS, quick=["export_conv_pads", "export_softmax_axis"])
def wrongly_exported(right, wrong):
    paths = [h.model(path, IMAGE % (h.floats(h.drawn(144)), h.floats(h.drawn(64)), node)) for path, node in (("right.onnx", right), ("model.onnx", wrong))]
    found = h.search("diverge", paths[0], "--against", paths[1], "--val-range", "[-2,2]")
    return h.outcome("diverge", found, first_nodes(found, "second"), ["guilty"])


# --- Bodies

LOOP = """g (float[4] x) => (float[4] y) <int64 n = {3}, bool go = {1}, float[4] one = {1, 1, 1, 1}> {
  [before] b = Sin (x)
  [loop] l = Loop (n, go, b) <body = body (int64 i, bool c, float[4] at) => (bool more, float[4] next) {
    [same] more = Identity (c)
    [grow] a = Mul (at, one)
    [%s] r = %s (a)
    [turn] next = Neg (r)
  }>
  [after] y = Tanh (l)
}
"""


def engine_check():
    return [h.ASSAY, "run", "polygraphy_debug.onnx", "--trt", "--ref", "--val-range", "[-1,1]", *module()]


@cause("body", quick=True)
def fault_in_a_loop():
    path = h.model("model.onnx", LOOP % ("guilty", "Relu"))
    return h.reduced(path, engine_check(), ["guilty"], "--val-range", "[-1,1]")


@cause("body")
def fault_in_a_branch():
    path = h.model("model.onnx", """g (float[4] x) => (float[4] y) <float[4] low = {-5, -5, -5, -5}> {
  [before] b = Sin (x)
  [compare] g = Greater (b, low)
  [cast] i = Cast <to = 1> (g)
  [least] m = ReduceMin <keepdims = 0> (i)
  [decide] c = Cast <to = 9> (m)
  [choose] y = If (c) <
    then_branch = t () => (float[4] p) { [twice] d = Add (b, b) [guilty] r = Relu (d) [more] p = Neg (r) },
    else_branch = e () => (float[4] q) { [other] q = Abs (b) }>
}
""")
    return h.reduced(path, engine_check(), ["guilty"], "--val-range", "[-1,1]")


@cause("body")
def fault_in_a_function():
    text = pathlib.Path("model.onnxtxt")
    text.write_text("""<ir_version: 10, opset_import: ["" : 17, "own" : 1]>
g (float[4] x) => (float[4] y) { [before] b = Sin (x) [call] m = own.Block (b) [after] y = Tanh (m) }
<domain: "own", opset_import: ["" : 17]>
Block (i) => (o) { [turn] s = Neg (i) [guilty] r = Relu (s) [last] o = Abs (r) }
""")
    found = h.search("reduce", text, "-o", "small.onnx", "--hide-fail-output", "--val-range", "[-1,1]", "--check", *engine_check())
    left = h.assay("inspect", "model", "small.onnx", "--show", "layers") if found.code == 0 else ""
    return h.outcome("reduce", found, [op for op in ("Sin", "Neg", "Relu", "Abs", "Tanh", "Block") if f"Op: {op}" in left], ["Relu"])


@causes("body", [("nan_in_a_loop", "Sqrt"), ("nan_in_a_loop_by_logarithm", "Log")])
def nan_in_a_body(op):
    found = h.search("nan", h.model("model.onnx", LOOP % ("guilty", op)), "--val-range", "[-2,-1]")
    origin = (found.json.get("origins") or [{}])[0]
    return h.outcome("nan", found, [origin.get("in_body", {}).get("op_type", "")], [op])


# --- Two nodes together


def both(*names):
    tests = " && ".join(f'grep -q "| {n} " layers.txt' for n in names)
    return [h.script(f'{h.ASSAY} inspect model "$1" --show layers > layers.txt; {tests} && exit 3; exit 0'), "polygraphy_debug.onnx"]


@causes("two", [("two_apart", 30, 4, 21), ("two_neighbours", 30, 13, 14), ("two_ends", 24, 0, 23)], quick=["two_neighbours"])
def two_nodes(count, first, second):
    path = h.chain("model.onnx", [("Abs" if i % 2 else "Neg", f"n{i}", "", []) for i in range(count)])
    return h.reduced(path, both(f"n{first}", f"n{second}"), [f"n{first}", f"n{second}"])


# --- Networks as they are: one node of many.


@causes("network", [("node_of_resnet_50", "resnet-50", "Relu"), ("node_of_gpt2", "gpt2", "Tanh")])
def one_of_many(template, op):
    h.assay("template", "model", template, "-o", "model.onnx")
    m = onnx.load("model.onnx")
    nodes = [n for n in m.graph.node if n.op_type == op]
    nodes[len(nodes) // 2].name = "guilty"
    onnx.save(m, "model.onnx")
    return h.reduced("model.onnx", both("guilty"), ["guilty"])


@cause("two")
def scale_and_square():
    """Neither overflows alone."""
    nodes = [("Sin", f"sin{i}", "", []) for i in range(20)]
    nodes[11:11] = [("Mul", "scale", "", ["large"]), ("Pow", "square", "", ["eight"])]
    path = h.chain("model.onnx", nodes, [("large", (1,), [1e6]), ("eight", (1,), [8])])
    check = [h.ASSAY, "debug", "nan", "polygraphy_debug.onnx", "--engine", "--val-range", "[0.5,1]"]
    return h.reduced(path, check, ["scale", "square"], "--val-range", "[0.5,1]")
