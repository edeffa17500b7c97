"""Small networks that the verdict is tried with: every family of operators, with control flow, functions, sequences,
recurrence, attention and quantised arithmetic. Each entry of MODELS makes one; weights are random and the same each time.

What a backend really computes wrong is kept out, since it is no false alarm: weights of 8 bits beyond 63 make ONNX
Runtime's products saturate on processors without VNNI."""
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

F = T.FLOAT


class Net:
    """A graph under construction. op() names nodes op_type_N and their outputs after them."""

    def __init__(self, opset=17, seed=0):
        self.opset, self.rng = opset, np.random.default_rng(seed)
        self.nodes, self.inputs, self.outputs, self.weights, self.functions, self.count = [], [], [], [], [], 0
        self.domains = {"": opset}

    def input(self, name, shape, dtype=F):
        self.inputs.append(h.make_tensor_value_info(name, dtype, shape))
        return name

    def const(self, value, dtype=None):
        array = np.asarray(value) if dtype is None else np.asarray(value, dtype)
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, shape, scale=None):
        fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        scale = scale or 1 / np.sqrt(max(fan_in, 1))
        return self.const(self.rng.normal(0, scale, shape).astype(np.float32))

    def positive(self, shape):
        return self.const(self.rng.uniform(0.5, 1.5, shape).astype(np.float32))

    def op(self, op_type, *inputs, outputs=1, domain="", **attributes):
        name = f"{op_type}_{self.count}"
        self.count += 1
        names = [f"{name}_y{i}" if outputs > 1 else f"{name}_y" for i in range(outputs)]
        self.nodes.append(h.make_node(op_type, list(inputs), names, name, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def output(self, *names):
        self.outputs += names

    def graph(self, name="g"):
        out = [onnx.ValueInfoProto(name=n) for n in self.outputs]
        return h.make_graph(self.nodes, name, self.inputs, out, self.weights)

    def model(self):
        opsets = [h.make_opsetid(d, v) for d, v in self.domains.items()]
        g = self.graph()
        m = h.make_model(g, opset_imports=opsets, ir_version=9, functions=self.functions)
        known = {v.name: v for v in onnx.shape_inference.infer_shapes(m, strict_mode=False).graph.value_info}
        known |= {v.name: v for v in onnx.shape_inference.infer_shapes(m).graph.output}
        for o in m.graph.output:
            if known[o.name].type.WhichOneof("value"):
                o.CopyFrom(known[o.name])
        return m


def body(seed=0, opset=17):
    return Net(opset, seed)


def mlp():
    n = Net()
    x = n.input("x", [4, 32])
    a = n.op("Relu", n.op("Gemm", x, n.weight([48, 32]), n.weight([48]), transB=1))
    b = n.op("Relu", n.op("Add", n.op("MatMul", a, n.weight([48, 64])), n.weight([64])))
    n.output(n.op("Softmax", n.op("Gemm", b, n.weight([64, 10])), axis=-1))
    return n


def cnn():
    n = Net(seed=1)
    x = n.input("x", [2, 3, 16, 16])
    c = n.op("Conv", x, n.weight([8, 3, 3, 3]), n.weight([8]), pads=[1, 1, 1, 1])
    c = n.op("BatchNormalization", c, n.positive([8]), n.weight([8]), n.weight([8]), n.positive([8]), epsilon=1e-3)
    c = n.op("MaxPool", n.op("Relu", c), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    c = n.op("Relu", n.op("Conv", c, n.weight([16, 8, 3, 3]), dilations=[2, 2], pads=[2, 2, 2, 2]))
    c = n.op("AveragePool", c, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, count_include_pad=0)
    c = n.op("Flatten", n.op("GlobalAveragePool", c))
    n.output(n.op("Gemm", c, n.weight([16, 5]), n.weight([5])))
    return n


def mobile():
    n = Net(seed=2)
    x = n.input("x", [1, 8, 14, 14])
    c = n.op("Conv", x, n.weight([16, 8, 1, 1]))
    c = n.op("HardSwish", c)
    c = n.op("Conv", c, n.weight([16, 1, 3, 3]), group=16, pads=[1, 1, 1, 1], strides=[2, 2])
    s = n.op("Relu", n.op("Conv", n.op("GlobalAveragePool", c), n.weight([4, 16, 1, 1])))
    s = n.op("HardSigmoid", n.op("Conv", s, n.weight([16, 4, 1, 1])), alpha=1 / 6)
    c = n.op("Clip", n.op("Mul", c, s), n.const(np.float32(-0.8)), n.const(np.float32(0.8)))
    n.output(n.op("Conv", c, n.weight([8, 16, 1, 1])))
    return n


def residual():
    n = Net(seed=3)
    x = n.input("x", [1, 8, 10, 10])
    for _ in range(4):
        y = n.op("Relu", n.op("Conv", x, n.weight([8, 8, 3, 3]), pads=[1, 1, 1, 1]))
        y = n.op("Conv", y, n.weight([8, 8, 3, 3]), n.weight([8]), pads=[1, 1, 1, 1])
        x = n.op("Relu", n.op("Add", y, x if isinstance(x, str) else x))
    n.output(n.op("ReduceMean", x, axes=[2, 3], keepdims=0))
    return n


def unet():
    n = Net(seed=4)
    x = n.input("x", [1, 4, 12, 12])
    a = n.op("LeakyRelu", n.op("Conv", x, n.weight([8, 4, 3, 3]), pads=[1, 1, 1, 1]), alpha=0.1)
    b = n.op("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2])
    b = n.op("LeakyRelu", n.op("Conv", b, n.weight([16, 8, 3, 3]), pads=[1, 1, 1, 1]), alpha=0.1)
    up = n.op("ConvTranspose", b, n.weight([16, 8, 2, 2]), n.weight([8]), strides=[2, 2])
    up2 = n.op("Resize", b, "", n.const(np.array([1, 1, 2, 2], np.float32)), mode="linear",
               coordinate_transformation_mode="half_pixel")
    c = n.op("Concat", a, up, up2, axis=1)
    n.output(n.op("Sigmoid", n.op("Conv", c, n.weight([2, 32, 3, 3]), pads=[1, 1, 1, 1])))
    return n


def attention():
    n = Net(seed=5)
    x = n.input("x", [2, 8, 32])
    mask = n.input("mask", [1, 1, 8, 8])
    heads = []
    for _ in range(3):
        y = n.op("Add", n.op("MatMul", x, n.weight([32, 32])), n.weight([32]))
        y = n.op("Reshape", y, n.const(np.array([2, 8, 4, 8])))
        heads.append(n.op("Transpose", y, perm=[0, 2, 1, 3]))
    q, k, v = heads
    s = n.op("MatMul", q, n.op("Transpose", k, perm=[0, 1, 3, 2]))
    s = n.op("Add", n.op("Div", s, n.const(np.float32(np.sqrt(8)))), mask)
    p = n.op("Softmax", s, axis=-1)
    y = n.op("Transpose", n.op("MatMul", p, v), perm=[0, 2, 1, 3])
    y = n.op("Reshape", y, n.const(np.array([2, 8, 32])))
    y = n.op("Add", n.op("MatMul", y, n.weight([32, 32])), x)
    n.output(n.op("LayerNormalization", y, n.positive([32]), n.weight([32]), axis=-1, epsilon=1e-5))
    return n


def attention_op():
    n = Net(23, 6)
    q, k, v = n.input("q", [1, 4, 6, 16]), n.input("k", [1, 4, 9, 16]), n.input("v", [1, 4, 9, 16])
    m = n.input("m", [6, 9])
    y = n.op("Attention", n.op("RMSNormalization", q, n.positive([16]), axis=-1), k, v, m)
    n.output(n.op("Mul", y, n.positive([16])))
    return n


def gelu_block():
    n = Net(20, 7)
    x = n.input("x", [1, 6, 24])
    y = n.op("LayerNormalization", x, n.positive([24]), n.weight([24]), axis=-1)
    y = n.op("Gelu", n.op("MatMul", y, n.weight([24, 64])))
    y = n.op("Gelu", n.op("MatMul", y, n.weight([64, 48])), approximate="tanh")
    n.output(n.op("Add", n.op("MatMul", y, n.weight([48, 24])), x))
    return n


def recurrent(op, gates, seed, **attributes):
    def make():
        n = Net(seed=seed)
        x = n.input("x", [7, 2, 8])
        d = 2 if attributes.get("direction") == "bidirectional" else 1
        w, r, b = n.weight([d, gates * 6, 8]), n.weight([d, gates * 6, 6]), n.weight([d, 2 * gates * 6], 0.3)
        y, h_n = n.op(op, x, w, r, b, outputs=2, hidden_size=6, **attributes)
        y = n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3]), n.const(np.array([7, 2, -1])))
        n.output(n.op("MatMul", y, n.weight([6 * d, 4])), n.op("Squeeze", h_n, n.const(np.array([1]))) if d == 9 else h_n)
        return n

    return make


def norms():
    n = Net(18, 8)
    x = n.input("x", [2, 8, 6, 6])
    y = n.op("InstanceNormalization", x, n.positive([8]), n.weight([8]))
    y = n.op("GroupNormalization", y, n.positive([4]), n.weight([4]), num_groups=4)
    y = n.op("LRN", y, size=3, alpha=1e-2, beta=0.75)
    n.output(n.op("LpNormalization", y, axis=1, p=2))
    return n


def mean_variance():
    # On constant data ONNX Runtime gives NaN: it has the variance as a difference of squares.
    n = Net(18, 33)
    x = n.input("x", [2, 8, 6, 6])
    n.output(n.op("MeanVarianceNormalization", n.op("Add", x, n.weight([8, 6, 6]))))
    return n


def pools():
    n = Net(19, 9)
    x = n.input("x", [1, 4, 13, 13])
    a = n.op("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1)
    b = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], dilations=[2, 2], pads=[2, 2, 2, 2])
    c = n.op("LpPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], p=2)
    d = n.op("Concat", a, b, c, axis=1)
    n.output(n.op("GlobalMaxPool", d), n.op("GlobalLpPool", d, p=2), n.op("GlobalAveragePool", d))
    return n


def resizes():
    n = Net(19, 10)
    x = n.input("x", [1, 2, 7, 9])
    up = n.const(np.array([1, 1, 1.7, 2.3], np.float32))
    a = n.op("Resize", x, "", "", n.const(np.array([1, 2, 11, 20])), mode="linear",
             coordinate_transformation_mode="align_corners")
    b = n.op("Resize", x, "", up, mode="cubic", cubic_coeff_a=-0.75)
    c = n.op("Resize", x, "", up, mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    d = n.op("Resize", x, "", n.const(np.array([1, 1, 0.6, 0.5], np.float32)), mode="linear")
    n.output(n.op("Add", n.op("Mul", a, b), c), d)
    return n


def reductions():
    n = Net(18, 11)
    x = n.input("x", [3, 16, 40])
    ax = n.const(np.array([2]))
    parts = [n.op(o, x, ax, keepdims=1) for o in
             ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
              "ReduceLogSumExp")]
    y = n.op("Concat", *parts, axis=2)
    e = n.op("Einsum", y, n.weight([8, 5]), equation="bik,kj->bij")
    n.output(e, n.op("CumSum", y, n.const(np.int64(2))), n.op("LogSoftmax", y, axis=1))
    return n


def branches():
    n = Net(seed=12)
    x = n.input("x", [2, 12])
    c = n.op("Greater", n.op("ReduceSum", x, keepdims=0), n.const(np.float32(-1e30)))
    then, other = body(1), body(2)
    then.output(then.op("Sigmoid", then.op("MatMul", n.op("Tanh", x), then.weight([12, 12]))))
    other.output(other.op("Mul", x, other.weight([12])))
    y = n.op("If", c, then_branch=named(then, "then_"), else_branch=named(other, "else_"))
    n.output(n.op("MatMul", y, n.weight([12, 3])))
    return n


def named(net, prefix):
    """The graph of a body with names of its own."""
    g = net.graph(prefix + "body")
    own = {o for node in g.node for o in node.output} | {w.name for w in g.initializer}
    rename = lambda s: prefix + s if s in own else s
    for node in g.node:
        node.name = prefix + node.name
        for field in (node.input, node.output):
            for i, s in enumerate(field):
                field[i] = rename(s)
    for w in g.initializer:
        w.name = rename(w.name)
    for o in g.output:
        o.name = rename(o.name)
        if not o.type.WhichOneof("value"):
            o.type.tensor_type.elem_type = getattr(net, "types", {}).get(o.name, F)
    return g


def loop():
    n = Net(seed=13)
    x = n.input("x", [4, 10])
    b = body(3)
    b.input("i", [], T.INT64), b.input("c", [], T.BOOL), b.input("s", [4, 10])
    y = b.op("Tanh", b.op("MatMul", "s", b.weight([10, 10])))
    y = b.op("Add", y, b.op("Mul", "s", b.const(np.float32(0.5))))
    b.output(b.op("Identity", "c"), y, b.op("ReduceMean", y, axes=[1], keepdims=0))
    b.types = {"loop_Identity_4_y": T.BOOL}
    final, scan = n.op("Loop", n.const(np.int64(5)), n.const(True), x, outputs=2, body=named(b, "loop_"))
    n.output(n.op("Exp", final), n.op("Neg", scan))
    return n


def scan():
    n = Net(seed=14)
    x, s0 = n.input("x", [6, 8]), n.input("s", [8])
    b = body(4)
    b.input("state", [8]), b.input("step", [8])
    s = b.op("Sigmoid", b.op("Add", b.op("Mul", "state", b.weight([8])), "step"))
    b.output(s, b.op("Mul", s, "step"))
    final, ys = n.op("Scan", s0, x, outputs=2, body=named(b, "scan_"), num_scan_inputs=1)
    n.output(n.op("MatMul", ys, n.weight([8, 3])), final)
    return n


def functions():
    n = Net(seed=15)
    n.domains["local"] = 1
    f = h.make_function("local", "SwishScale", ["a", "k"], ["y"],
                        [h.make_node("Sigmoid", ["a"], ["s"], "sig"), h.make_node("Mul", ["a", "s"], ["t"], "gate"),
                         h.make_node("MatMul", ["t", "k"], ["y"], "mix")], [h.make_opsetid("", 17)])
    n.functions.append(f)
    x = n.input("x", [3, 16])
    y = n.op("SwishScale", x, n.weight([16, 16]), domain="local")
    y = n.op("SwishScale", n.op("Add", y, x), n.weight([16, 8]), domain="local")
    n.output(n.op("Tanh", y))
    return n


def sequences():
    n = Net(seed=16)
    x = n.input("x", [6, 8])
    s = n.op("SplitToSequence", n.op("MatMul", x, n.weight([8, 8])), n.const(np.array([2, 2, 2])), axis=0)
    a = n.op("SequenceAt", s, n.const(np.int64(1)))
    s2 = n.op("SequenceInsert", s, n.op("Exp", a))
    y = n.op("ConcatFromSequence", s2, axis=0)
    n.output(n.op("MatMul", y, n.weight([8, 4])))
    return n


def qdq():
    n = Net(13, 17)
    x = n.input("x", [1, 4, 10, 10])
    scale, zero = n.const(np.float32(0.05)), n.const(np.uint8(128))
    w = n.const(n.rng.integers(-63, 64, (8, 4, 3, 3), np.int8))
    ws, wz = n.const(n.rng.uniform(0.002, 0.01, 8).astype(np.float32)), n.const(np.zeros(8, np.int8))
    for _ in range(1):
        q = n.op("DequantizeLinear", n.op("QuantizeLinear", x, scale, zero), scale, zero)
        c = n.op("Conv", q, n.op("DequantizeLinear", w, ws, wz, axis=0), pads=[1, 1, 1, 1])
        c = n.op("Relu", c)
        c = n.op("DequantizeLinear", n.op("QuantizeLinear", c, scale, zero), scale, zero)
    y = n.op("GlobalAveragePool", c)
    n.output(n.op("QuantizeLinear", y, n.const(np.float32(0.01)), n.const(np.uint8(0))), y)
    return n


def qlinear():
    n = Net(13, 18)
    x = n.input("x", [1, 4, 8, 8])
    s, z = n.const(np.float32(0.04)), n.const(np.uint8(120))
    q = n.op("QuantizeLinear", x, s, z)
    w = n.const(n.rng.integers(-63, 64, (6, 4, 3, 3), np.int8))
    c = n.op("QLinearConv", q, s, z, w, n.const(np.float32(0.01)), n.const(np.int8(0)), n.const(np.float32(0.06)),
             n.const(np.uint8(110)), pads=[1, 1, 1, 1])
    m = n.op("Reshape", c, n.const(np.array([6, 64])))
    k = n.const(n.rng.integers(0, 255, (64, 5), np.uint8))
    y = n.op("QLinearMatMul", m, n.const(np.float32(0.06)), n.const(np.uint8(110)), k, n.const(np.float32(0.02)),
             n.const(np.uint8(127)), n.const(np.float32(0.1)), n.const(np.uint8(128)))
    n.output(n.op("DequantizeLinear", y, n.const(np.float32(0.1)), n.const(np.uint8(128))))
    return n


def dynamic_quant():
    n = Net(13, 19)
    x = n.input("x", [5, 24])
    q, s, z = n.op("DynamicQuantizeLinear", x, outputs=3)
    w = n.const(n.rng.integers(-60, 61, (24, 12), np.int8))
    acc = n.op("Cast", n.op("MatMulInteger", q, w, z, n.const(np.int8(3))), to=F)
    n.output(n.op("Relu", n.op("Mul", n.op("Mul", acc, s), n.const(np.float32(0.013)))))
    return n


def detector():
    n = Net(seed=20)
    x = n.input("x", [1, 8, 6, 6])
    box = n.op("Sigmoid", n.op("Conv", x, n.weight([4, 8, 1, 1])))
    cls = n.op("Sigmoid", n.op("Conv", x, n.weight([3, 8, 1, 1])))
    box = n.op("Reshape", box, n.const(np.array([1, 4, 36])))
    cls = n.op("Reshape", cls, n.const(np.array([1, 3, 36])))
    wide = n.op("Mul", box, n.const(np.float32(320)))
    boxes = n.op("Transpose", wide, perm=[0, 2, 1])
    keep = n.op("NonMaxSuppression", boxes, cls, n.const(np.array([5])), n.const(np.array([0.5], np.float32)),
                n.const(np.array([0.1], np.float32)))
    top, at = n.op("TopK", cls, n.const(np.array([4])), outputs=2, axis=-1)
    n.output(n.op("Concat", wide, cls, axis=1), keep, top, at)
    return n


def choices():
    n = Net(seed=21)
    x = n.input("x", [6, 20])
    y = n.op("MatMul", x, n.weight([20, 15]))
    best = n.op("ArgMax", y, axis=1, keepdims=0)
    hot = n.op("OneHot", best, n.const(np.array(15)), n.const(np.array([0, 1], np.float32)))
    big = n.op("Greater", y, n.const(np.float32(0.1)))
    w = n.op("Where", big, y, n.op("Neg", hot))
    n.output(n.op("ReduceSum", w, keepdims=0), best, n.op("Cast", n.op("Floor", n.op("Mul", y, n.const(np.float32(7)))), to=T.INT32))
    return n


def deep_tanh(depth=24):
    n = Net(seed=22)
    x = n.input("x", [2, 24])
    for _ in range(depth):
        x = n.op("Tanh", n.op("MatMul", x, n.weight([24, 24], 0.35)))
    n.output(x)
    return n


def chain(length=60):
    n = Net(seed=23)
    x = n.input("x", [40])
    for i in range(length // 2):
        x = n.op("Mul", x, n.const(np.float32(1 + 1e-2 * (-1) ** i)))
        x = n.op("Add", x, n.const(np.float32(0.1 * (-1) ** i)))
    n.output(x)
    return n


def cancellation():
    n = Net(18, 24)
    x = n.input("x", [3, 50])
    m = n.op("ReduceMean", x, n.const(np.array([1])), keepdims=1)
    d = n.op("Sub", x, m)
    v = n.op("ReduceMean", n.op("Pow", d, n.const(np.float32(2))), n.const(np.array([1])), keepdims=1)
    v2 = n.op("Sub", n.op("ReduceMean", n.op("Mul", x, x), n.const(np.array([1])), keepdims=1), n.op("Mul", m, m))
    y = n.op("Div", d, n.op("Sqrt", n.op("Add", v, n.const(np.float32(1e-6)))))
    n.output(y, n.op("Sub", v, v2), n.op("Sub", n.op("Add", x, n.const(np.float32(1000))), n.const(np.float32(1000))))
    return n


def classes(count=3000):
    n = Net(seed=25)
    x = n.input("x", [1, 16])
    n.output(n.op("Softmax", n.op("MatMul", x, n.weight([16, count], 1.0)), axis=-1))
    return n


def functions_of_one():
    n = Net(18, 26)
    x = n.input("x", [4, 30])
    s = n.op("Abs", x)
    p = n.op("Add", s, n.const(np.float32(0.1)))
    ys = [n.op(o, x) for o in ("Exp", "Sigmoid", "Tanh", "Erf", "Sin", "Cos", "Softplus", "Softsign", "Elu", "Selu",
                               "Mish", "Atan", "HardSigmoid", "ThresholdedRelu")]
    ys += [n.op(o, p) for o in ("Log", "Sqrt", "Reciprocal")]
    ys += [n.op("Pow", p, n.const(np.float32(1.7))), n.op("PRelu", x, n.weight([30])), n.op("Asinh", x)]
    n.output(n.op("Concat", *ys, axis=0))
    return n


def movers():
    n = Net(18, 27)
    x = n.input("x", [2, 4, 6, 6])
    y = n.op("Pad", x, n.const(np.array([0, 0, 1, 1, 0, 0, 1, 1])), mode="reflect")
    y = n.op("Slice", y, n.const(np.array([0, 1])), n.const(np.array([8, 7])), n.const(np.array([2, 3])), n.const(np.array([1, 2])))
    y = n.op("DepthToSpace", n.op("Transpose", n.op("Tile", y, n.const(np.array([1, 1, 1, 2]))), perm=[0, 1, 3, 2]), blocksize=2)
    y = n.op("ScatterElements", y, n.const(np.array([[[[1, 0, 2]]]])), n.weight([1, 1, 1, 3]), axis=3)
    n.output(n.op("Trilu", y, upper=0), n.op("GatherND", x, n.const(np.array([[0, 1], [1, 3]]))),
             n.op("ReduceProd", x, n.const(np.array([1]))))
    return n


def embedding():
    n = Net(seed=28)
    ids = n.input("ids", [2, 6], T.INT64)
    e = n.op("Add", n.op("Gather", n.weight([50, 16]), ids), n.weight([6, 16]))
    e = n.op("LayerNormalization", e, n.positive([16]), n.weight([16]))
    n.output(n.op("MatMul", e, n.weight([16, 50])))
    return n


def integers():
    n = Net(seed=29)
    a, b = n.input("a", [5, 6], T.INT32), n.input("b", [5, 6], T.INT32)
    s = n.op("Add", n.op("Mul", a, b), n.const(np.int32(7)))
    d = n.op("Div", s, n.const(np.int32(3)))
    m = n.op("Mod", d, n.const(np.int32(11)))
    f = n.op("Cast", m, to=F)
    n.output(d, n.op("ReduceSum", f, keepdims=0), n.op("Equal", m, n.const(np.int32(4))))
    return n


def sampling():
    n = Net(16, 30)
    x, grid = n.input("x", [1, 3, 8, 8]), n.input("grid", [1, 5, 5, 2])
    a = n.op("GridSample", x, n.op("Tanh", grid), mode="bilinear", padding_mode="border")
    r = n.op("RoiAlign", x, n.const(np.array([[0, 0, 5, 5], [1, 2, 6.5, 7]], np.float32)), n.const(np.array([0, 0])),
             output_height=3, output_width=3, sampling_ratio=2, spatial_scale=1.0)
    n.output(a, n.op("ReduceMean", r, axes=[2, 3]))
    return n


def spectrum():
    n = Net(17, 31)
    x = n.input("x", [1, 64, 1])
    s = n.op("DFT", x, axis=1, onesided=1)
    w = n.op("HannWindow", n.const(np.array(16)))
    t = n.op("STFT", x, n.const(np.array(8)), w, n.const(np.array(16)))
    n.output(n.op("ReduceSumSquare", s, axes=[2]), t)
    return n


def transformer(layers=2):
    n = Net(seed=32)
    x = n.input("x", [1, 10, 32])
    for _ in range(layers):
        y = n.op("LayerNormalization", x, n.positive([32]), n.weight([32]))
        q, k, v = n.op("Split", n.op("MatMul", y, n.weight([32, 96])), n.const(np.array([32, 32, 32])), outputs=3, axis=2)
        p = n.op("Softmax", n.op("Mul", n.op("MatMul", q, n.op("Transpose", k, perm=[0, 2, 1])), n.const(np.float32(0.177))))
        x = n.op("Add", x, n.op("MatMul", n.op("MatMul", p, v), n.weight([32, 32])))
        y = n.op("MatMul", n.op("LayerNormalization", x, n.positive([32]), n.weight([32])), n.weight([32, 64]))
        y = n.op("Mul", y, n.op("Mul", n.op("Add", n.op("Erf", n.op("Div", y, n.const(np.float32(1.4142135)))),
                                            n.const(np.float32(1))), n.const(np.float32(0.5))))
        x = n.op("Add", x, n.op("MatMul", y, n.weight([64, 32])))
    n.output(x)
    return n


MODELS = {
    "mlp": mlp, "cnn": cnn, "mobile": mobile, "residual": residual, "unet": unet, "attention": attention,
    "attention_op": attention_op, "gelu_block": gelu_block,
    "lstm": recurrent("LSTM", 4, 40, direction="bidirectional"), "gru": recurrent("GRU", 3, 41, linear_before_reset=1),
    "rnn": recurrent("RNN", 1, 42, direction="reverse"), "norms": norms, "mean_variance": mean_variance, "pools": pools, "resizes": resizes,
    "reductions": reductions, "if": branches, "loop": loop, "scan": scan, "functions": functions,
    "sequences": sequences, "qdq": qdq, "qlinear": qlinear, "dynamic_quant": dynamic_quant, "detector": detector,
    "choices": choices, "deep_tanh": deep_tanh, "chain": chain, "cancellation": cancellation, "classes": classes,
    "functions_of_one": functions_of_one, "movers": movers, "embedding": embedding, "integers": integers,
    "sampling": sampling, "spectrum": spectrum, "transformer": transformer,
}


#: Nodes whose floats are float32 in every opset: their inputs and outputs that are cast from and to a narrower type.
FLOAT32_ONLY = {"NonMaxSuppression": ((0, 1), ()), "DynamicQuantizeLinear": ((0,), (1,)), "QuantizeLinear": ((0,), ()),
                "DequantizeLinear": ((), (0,))}
#: What is float32 beside data of any type: from which input on.
FLOAT32_INPUTS = {"Resize": 1, "NonMaxSuppression": 1, "QuantizeLinear": 1, "DequantizeLinear": 1, "QLinearConv": 1,
                  "QLinearMatMul": 1}
WINDOWS = ("HannWindow", "HammingWindow", "BlackmanWindow")


def in_newest_opset(model, assay):
    """As the program converts it: there nearly all operators take bfloat16."""
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder) / "old.onnx", Path(folder) / "new.onnx"
        onnx.save(model, old)
        command = [assay, "surgeon", "convert-opset", old, "--to", str(onnx.defs.onnx_opset_version()), "-o", new]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr[-300:])
        return onnx.load(new)


def build(name, dtype, assay):
    """A network of MODELS, or of networks.py, with floats of this type."""
    import networks
    model = (MODELS | networks.NETWORKS)[name]().model()
    return to_type(in_newest_opset(model, assay) if dtype == T.BFLOAT16 else model, dtype)


def cast_around(g, dtype):
    """Casts from and to float32 around the nodes that take nothing else."""
    kept = list(g.node)
    del g.node[:]
    for n in kept:
        inputs, outputs = FLOAT32_ONLY.get(n.op_type, ((), ()))
        for i in inputs:
            wide = f"{n.name}_wide{i}"
            g.node.append(h.make_node("Cast", [n.input[i]], [wide], wide, to=F))
            n.input[i] = wide
        casts = []
        for i in outputs:
            narrow, raw = n.output[i], f"{n.name}_raw{i}"
            n.output[i] = raw
            casts.append(h.make_node("Cast", [raw], [narrow], f"{n.name}_narrow{i}", to=dtype))
        g.node.extend([n, *casts])


def to_type(model, dtype):
    """The model with every float32 in it as another floating type."""
    m = onnx.ModelProto()
    m.CopyFrom(model)
    if dtype == F:
        return m

    def tensor(t):
        if t.data_type == F:
            t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(t).astype(h.tensor_dtype_to_np_dtype(dtype)), t.name))

    def type_of(v):
        kind = v.type.WhichOneof("value")
        if kind == "sequence_type":
            tt = v.type.sequence_type.elem_type.tensor_type
        elif kind == "tensor_type":
            tt = v.type.tensor_type
        else:
            return
        if tt.elem_type == F:
            tt.elem_type = dtype

    def graph(g):
        kept = {i for n in g.node for i in n.input[FLOAT32_INPUTS.get(n.op_type, len(n.input)):]}
        for w in g.initializer:
            if w.name not in kept:
                tensor(w)
        for v in [*g.input, *g.output, *g.value_info]:
            type_of(v)
        nodes(g.node)

    def nodes(list_):
        for n in list_:
            for a in n.attribute:
                if a.type == onnx.AttributeProto.GRAPH:
                    graph(a.g)
                elif a.type == onnx.AttributeProto.TENSOR:
                    tensor(a.t)
                elif n.op_type == "Cast" and a.name == "to" and a.i == F:
                    a.i = dtype
            if n.op_type in WINDOWS:
                n.attribute.append(h.make_attribute("output_datatype", dtype))

    graph(m.graph)
    cast_around(m.graph, dtype)
    for f in m.functions:
        nodes(f.node)
    return m


#: What the input data look like: name -> function of a generator and a shape.
RANGES = {
    "uniform": lambda r, s: r.uniform(0, 1, s),
    "normal": lambda r, s: r.normal(0, 1, s),
    "signed": lambda r, s: r.uniform(-1, 1, s),
    "constant": lambda r, s: np.full(s, 0.1),
    "constant3": lambda r, s: np.full(s, 0.3),
    "blank": lambda r, s: np.zeros(s),
    "nearly_constant": lambda r, s: r.uniform(0.3, 0.30001, s),
    "saturated": lambda r, s: r.choice([0.0, 255.0], s),
    "large": lambda r, s: r.uniform(-1e3, 1e3, s),
    "huge": lambda r, s: r.uniform(-1e6, 1e6, s),
    "small": lambda r, s: r.uniform(-1e-6, 1e-6, s),
    "tiny": lambda r, s: r.uniform(-1e-30, 1e-30, s),
    "denormal": lambda r, s: r.uniform(-1e-38, 1e-38, s),
    "wide": lambda r, s: np.exp(r.uniform(-12, 12, s)) * r.choice([-1, 1], s),
    "whole": lambda r, s: r.integers(-8, 9, s).astype(float),
}


def feed(model, kind, seed):
    """Inputs for a model, by name."""
    rng = np.random.default_rng(seed)
    data = {}
    weights = {w.name for w in model.graph.initializer}
    for v in model.graph.input:
        if v.name in weights:
            continue
        shape = [d.dim_value for d in v.type.tensor_type.shape.dim]
        dtype = h.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type)
        if np.issubdtype(dtype, np.integer):
            data[v.name] = rng.integers(0, 40, shape).astype(dtype)
        else:
            with np.errstate(over="ignore"):
                data[v.name] = np.asarray(RANGES[kind](rng, shape)).astype(dtype)
    return data
