"""More networks that the verdict is tried with, by family: attention with masks and caches, rotary positions, heads that share keys, folding,
resizing, boxes, quantised arithmetic, and what sees whole pictures. As in models.py each makes a Net."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper as h

from models import Net, F


def linear(n, x, rows, columns):
    return n.op("Add", n.op("MatMul", x, n.weight([rows, columns], rows ** -0.5)), n.weight([columns], 0.1))


def heads(n, x, shape):
    """[batch, length, heads * size] as [batch, heads, length, size]."""
    return n.op("Transpose", n.op("Reshape", x, n.const(np.array(shape))), perm=[0, 2, 1, 3])


def merged(n, x, shape):
    return n.op("Reshape", n.op("Transpose", x, perm=[0, 2, 1, 3]), n.const(np.array(shape)))


def scores(n, q, k, size):
    return n.op("Mul", n.op("MatMul", q, n.op("Transpose", k, perm=[0, 1, 3, 2])), n.const(np.float32(size ** -0.5)))


def padded_attention():
    n = Net(17, 101)
    x, mask = n.input("x", [2, 12, 32]), n.input("attention_mask", [2, 12], T.INT64)
    bias = n.op("Mul", n.op("Sub", n.const(np.float32(1)), n.op("Cast", mask, to=F)), n.const(np.float32(-10000)))
    bias = n.op("Unsqueeze", bias, n.const(np.array([1, 2])))
    q, k, v = (heads(n, linear(n, x, 32, 32), [2, 12, 4, 8]) for _ in range(3))
    p = n.op("Softmax", n.op("Add", scores(n, q, k, 8), bias), axis=-1)
    y = n.op("Add", x, linear(n, merged(n, n.op("MatMul", p, v), [2, 12, 32]), 32, 32))
    n.output(n.op("LayerNormalization", y, n.positive([32]), n.weight([32]), axis=-1))
    return n


def causal_window():
    n = Net(17, 102)
    x = n.input("x", [1, 16, 32])
    at = n.op("Range", n.const(np.int64(0)), n.const(np.int64(16)), n.const(np.int64(1)))
    row, column = n.op("Unsqueeze", at, n.const(np.array([1]))), n.op("Unsqueeze", at, n.const(np.array([0])))
    seen = n.op("And", n.op("LessOrEqual", column, row), n.op("Less", n.op("Sub", row, column), n.const(np.int64(6))))
    q, k, v = (heads(n, linear(n, x, 32, 32), [1, 16, 2, 16]) for _ in range(3))
    s = n.op("Where", seen, scores(n, q, k, 16), n.const(np.float32(-3e38)))
    y = n.op("MatMul", n.op("Softmax", s, axis=-1), v)
    n.output(linear(n, merged(n, y, [1, 16, 32]), 32, 24))
    return n


def alibi():
    n = Net(17, 103)
    x, memory = n.input("x", [1, 6, 32]), n.input("memory", [1, 20, 32])
    q = heads(n, linear(n, x, 32, 32), [1, 6, 4, 8])
    k, v = (heads(n, linear(n, memory, 32, 32), [1, 20, 4, 8]) for _ in range(2))
    slopes = n.const(np.float32([0.25, 0.0625, 1 / 64, 1 / 256]).reshape(4, 1, 1))
    far = n.const(-np.abs(np.subtract.outer(np.arange(6.0), np.arange(20.0))).astype(np.float32))
    p = n.op("Softmax", n.op("Add", scores(n, q, k, 8), n.op("Mul", slopes, far)), axis=-1)
    n.output(n.op("Add", linear(n, merged(n, n.op("MatMul", p, v), [1, 6, 32]), 32, 32), x))
    return n


def kv_cache():
    n = Net(17, 104)
    x = n.input("x", [1, 1, 32])
    past = [n.input(name, [1, 4, 15, 8]) for name in ("past_key", "past_value")]
    q, k, v = (heads(n, linear(n, x, 32, 32), [1, 1, 4, 8]) for _ in range(3))
    k, v = (n.op("Concat", old, new, axis=2) for old, new in zip(past, (k, v)))
    p = n.op("Softmax", scores(n, q, k, 8), axis=-1)
    n.output(linear(n, merged(n, n.op("MatMul", p, v), [1, 1, 32]), 32, 32), k, v)
    return n


def static_cache():
    n = Net(17, 105)
    x, position = n.input("x", [1, 4, 1, 8]), n.input("position", [1], T.INT64)
    keys, values = n.input("keys", [16, 4, 8]), n.input("values", [16, 4, 8])
    new = n.op("Transpose", n.op("Squeeze", x, n.const(np.array([0]))), perm=[1, 0, 2])
    at = n.op("Unsqueeze", position, n.const(np.array([1])))
    keys = n.op("ScatterND", keys, at, n.op("Mul", new, n.weight([4, 8], 1.0)))
    values = n.op("ScatterND", values, at, n.op("Tanh", new))
    k, v = (n.op("Unsqueeze", n.op("Transpose", c, perm=[1, 0, 2]), n.const(np.array([0]))) for c in (keys, values))
    late = n.op("Greater", n.const(np.arange(16)), position)
    s = n.op("Where", late, n.const(np.float32(-1e9)), scores(n, x, k, 8))
    n.output(n.op("MatMul", n.op("Softmax", s, axis=-1), v), keys)
    return n


def rotary(n, q, cos, sin):
    half = n.const(np.array([8])), n.const(np.array([0])), n.const(np.array([16])), n.const(np.array([3]))
    first = n.op("Slice", q, half[1], half[0], half[3])
    second = n.op("Slice", q, half[0], half[2], half[3])
    turned = n.op("Concat", n.op("Neg", second), first, axis=3)
    return n.op("Add", n.op("Mul", q, cos), n.op("Mul", turned, sin))


def angles(n, length=10, size=16):
    position = n.input("position_ids", [1, length], T.INT64)
    steps = n.op("Unsqueeze", n.op("Cast", position, to=F), n.const(np.array([1, 3])))
    turns = n.const((10000.0 ** -(np.arange(0, size, 2) / size)).astype(np.float32))
    both = n.op("Mul", steps, turns)
    both = n.op("Concat", both, both, axis=3)
    return n.op("Cos", both), n.op("Sin", both)


def rope():
    n = Net(17, 106)
    x = n.input("x", [1, 10, 32])
    cos, sin = angles(n)
    q, k, v = (heads(n, n.op("MatMul", x, n.weight([32, 32], 0.2)), [1, 10, 2, 16]) for _ in range(3))
    q, k = rotary(n, q, cos, sin), rotary(n, k, cos, sin)
    p = n.op("Softmax", scores(n, q, k, 16), axis=-1)
    n.output(merged(n, n.op("MatMul", p, v), [1, 10, 32]), q)
    return n


def rope_op():
    n = Net(23, 107)
    x = n.input("x", [1, 2, 10, 16])
    position = n.input("position_ids", [1, 10], T.INT64)
    turn = np.outer(np.arange(32), 10000.0 ** -(np.arange(8) / 8))
    y = n.op("RotaryEmbedding", x, n.const(np.cos(turn).astype(np.float32)), n.const(np.sin(turn).astype(np.float32)), position)
    n.output(n.op("MatMul", y, n.weight([16, 8])))
    return n


def gqa():
    n = Net(17, 108)
    x = n.input("x", [1, 10, 64])
    norm = n.op("Mul", x, n.op("Reciprocal", n.op("Sqrt", n.op("Add", n.op("ReduceMean", n.op("Mul", x, x), axes=[2]), n.const(np.float32(1e-5))))))
    norm = n.op("Mul", norm, n.positive([64]))
    cos, sin = angles(n)
    q = heads(n, n.op("MatMul", norm, n.weight([64, 64], 0.125)), [1, 10, 4, 16])
    k, v = (heads(n, n.op("MatMul", norm, n.weight([64, 32], 0.125)), [1, 10, 2, 16]) for _ in range(2))
    q, k = rotary(n, q, cos, sin), rotary(n, k, cos, sin)
    wide = n.const(np.array([1, 2, 2, 10, 16]))
    shared = n.const(np.array([1, 4, 10, 16]))
    k, v = (n.op("Reshape", n.op("Expand", n.op("Unsqueeze", t, n.const(np.array([2]))), wide), shared) for t in (k, v))
    causal = n.const(np.triu(np.full((10, 10), -1e9, np.float32), 1))
    p = n.op("Softmax", n.op("Add", scores(n, q, k, 16), causal), axis=-1)
    y = n.op("Add", x, n.op("MatMul", merged(n, n.op("MatMul", p, v), [1, 10, 64]), n.weight([64, 64], 0.125)))
    gate = n.op("MatMul", y, n.weight([64, 96], 0.125))
    gate = n.op("Mul", n.op("Mul", gate, n.op("Sigmoid", gate)), n.op("MatMul", y, n.weight([64, 96], 0.125)))
    n.output(n.op("Add", y, n.op("MatMul", gate, n.weight([96, 64], 0.1))))
    return n


def gqa_op():
    n = Net(23, 109)
    x = n.input("x", [1, 5, 64])
    past = [n.input(name, [1, 2, 7, 16]) for name in ("past_key", "past_value")]
    norm = n.op("RMSNormalization", x, n.positive([64]), axis=-1)
    q, k, v = (n.op("MatMul", norm, n.weight([64, c], 0.125)) for c in (64, 32, 32))
    y, present_key, present_value = n.op("Attention", q, k, v, "", *past, outputs=3, q_num_heads=4, kv_num_heads=2, is_causal=1)
    n.output(n.op("MatMul", y, n.weight([64, 16], 0.125)), present_key, present_value)
    return n


def folded():
    """Much that depends on weights and shapes alone."""
    n = Net(17, 110)
    x = n.input("x", [2, 6, 8, 8])
    w = n.weight([8, 6, 3, 3], 1.0)
    length = n.op("Sqrt", n.op("ReduceSum", n.op("Mul", w, w), n.const(np.array([1, 2, 3]))))
    c = n.op("Conv", x, n.op("Mul", n.op("Div", w, length), n.positive([8, 1, 1, 1])), pads=[1, 1, 1, 1])
    spread = n.op("Sqrt", n.op("Add", n.positive([8]), n.const(np.float32(1e-3))))
    factor = n.op("Reshape", n.op("Div", n.positive([8]), spread), n.const(np.array([1, 8, 1, 1])))
    c = n.op("Relu", n.op("Mul", c, factor))
    size = n.op("Gather", n.op("Shape", c), n.const(np.array([0, 1])))
    c = n.op("Reshape", c, n.op("Concat", size, n.const(np.array([-1])), axis=0))
    table = n.op("Transpose", n.op("Tanh", n.op("MatMul", n.weight([10, 16]), n.weight([16, 64]))), perm=[1, 0])
    steps = n.op("Cast", n.op("Range", n.const(np.int64(0)), n.const(np.int64(10)), n.const(np.int64(1))), to=F)
    n.output(n.op("Add", n.op("MatMul", c, table), n.op("Cos", n.op("Mul", steps, n.const(np.float32(0.3))))))
    return n


def resize_modes():
    n = Net(19, 111)
    x = n.input("x", [1, 2, 12, 14])
    up, down = n.const(np.float32([1, 1, 1.7, 2.3])), n.const(np.float32([1, 1, 0.45, 0.6]))
    size = n.const(np.array([1, 2, 17, 23]))
    ys = [n.op("Resize", x, "", up, mode="linear"), n.op("Resize", x, "", "", size, mode="linear", coordinate_transformation_mode="align_corners"),
          n.op("Resize", x, "", up, mode="cubic", cubic_coeff_a=-0.75, exclude_outside=1),
          n.op("Resize", x, "", "", size, mode="cubic", coordinate_transformation_mode="pytorch_half_pixel", cubic_coeff_a=-0.5),
          n.op("Resize", x, "", down, mode="linear", antialias=1), n.op("Resize", x, "", down, mode="cubic", antialias=1, cubic_coeff_a=-0.5),
          n.op("Resize", x, "", up, mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric"),
          n.op("Resize", x, "", down, mode="nearest", nearest_mode="round_prefer_floor")]
    n.output(*[n.op("ReduceSum", n.op("Mul", y, y), n.const(np.array([2, 3])), keepdims=0) for y in ys], ys[0], ys[2], ys[6])
    return n


def pyramid():
    n = Net(17, 112)
    x = n.input("x", [1, 3, 32, 32])
    a = n.op("Relu", n.op("Conv", x, n.weight([8, 3, 3, 3]), n.weight([8]), strides=[2, 2], pads=[1, 1, 1, 1]))
    b = n.op("Relu", n.op("Conv", a, n.weight([16, 8, 3, 3]), n.weight([16]), strides=[2, 2], pads=[1, 1, 1, 1]))
    up = n.op("Resize", n.op("Conv", b, n.weight([8, 16, 1, 1])), "", n.const(np.float32([1, 1, 2, 2])), mode="nearest",
              coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    c = n.op("Add", up, n.op("Conv", a, n.weight([8, 8, 1, 1])))
    n.output(n.op("Resize", n.op("Conv", c, n.weight([2, 8, 3, 3]), pads=[1, 1, 1, 1]), "", n.const(np.float32([1, 1, 2, 2])), mode="linear"))
    return n


def boxes():
    n = Net(17, 113)
    x = n.input("x", [1, 8, 6, 6])
    offset = n.op("Reshape", n.op("Conv", x, n.weight([4, 8, 1, 1], 0.2)), n.const(np.array([1, 4, 36])))
    offset = n.op("Transpose", offset, perm=[0, 2, 1])
    grid = np.stack(np.meshgrid(np.arange(6), np.arange(6), indexing="ij"), -1).reshape(1, 36, 2)[..., ::-1] * 16.0 + 8
    middle, wide = n.op("Split", offset, n.const(np.array([2, 2])), outputs=2, axis=2)
    middle = n.op("Add", n.op("Mul", n.op("Tanh", middle), n.const(np.float32(12))), n.const(grid.astype(np.float32)))
    wide = n.op("Mul", n.op("Exp", n.op("Clip", wide, n.const(np.float32(-2)), n.const(np.float32(2)))), n.const(np.float32(20)))
    box = n.op("Concat", middle, wide, axis=2)
    cls = n.op("Sigmoid", n.op("Reshape", n.op("Conv", x, n.weight([3, 8, 1, 1])), n.const(np.array([1, 3, 36]))))
    keep = n.op("NonMaxSuppression", box, cls, n.const(np.array([6])), n.const(np.float32([0.45])), n.const(np.float32([0.4])), center_point_box=1)
    top, at = n.op("TopK", n.op("ReduceMax", cls, axes=[1], keepdims=0), n.const(np.array([5])), outputs=2, axis=1)
    n.output(keep, box, top, n.op("GatherElements", n.op("ReduceSum", box, n.const(np.array([2])), keepdims=0), at, axis=1))
    return n


def quantised(n, x, scale, zero):
    s, z = n.const(np.float32(scale)), n.const(np.uint8(zero))
    return n.op("DequantizeLinear", n.op("QuantizeLinear", x, s, z), s, z)


def quantised_weight(n, shape, axis=0, scale=None):
    """Of 7 bits and a scale for each channel, or one for all; models.py says why not 8."""
    scales = n.const(np.full(shape[axis], scale, np.float32) if scale else n.rng.uniform(0.004, 0.012, shape[axis]).astype(np.float32))
    return n.op("DequantizeLinear", n.const(n.rng.integers(-63, 64, shape, np.int8)), scales, n.const(np.zeros(shape[axis], np.int8)), axis=axis)


def quantised_bias(n, count, scale):
    """In whole numbers of the product of the scales: ONNX Runtime makes such of others."""
    scales = n.const((scale * np.full(count, 0.008)).astype(np.float32))
    return n.op("DequantizeLinear", n.const(n.rng.integers(-800, 800, count, np.int32)), scales, n.const(np.zeros(count, np.int32)), axis=0)


def qdq_net():
    n = Net(21, 114)
    x = n.input("x", [2, 3, 16, 16])
    c = n.op("Conv", quantised(n, x, 0.03, 120), quantised_weight(n, [8, 3, 3, 3], scale=0.008), quantised_bias(n, 8, 0.03), pads=[1, 1, 1, 1])
    c = quantised(n, n.op("Relu", c), 0.02, 0)
    d = quantised(n, n.op("Conv", c, quantised_weight(n, [8, 1, 3, 3]), group=8, pads=[1, 1, 1, 1]), 0.02, 128)
    d = quantised(n, n.op("HardSwish", n.op("Add", d, c)), 0.02, 20)
    d = quantised(n, n.op("GlobalAveragePool", d), 0.006, 16)
    y = n.op("Gemm", n.op("Flatten", d), quantised_weight(n, [8, 5], 1, 0.008), quantised_bias(n, 5, 0.006))
    n.output(quantised(n, n.op("Softmax", quantised(n, y, 0.01, 100), axis=-1), 1 / 256, 0))
    return n


def qdq_attention():
    n = Net(21, 115)
    x = quantised(n, n.input("x", [1, 8, 32]), 0.03, 128)
    q, k, v = (quantised(n, n.op("MatMul", x, quantised_weight(n, [32, 32], 1)), 0.08, 128) for _ in range(3))
    s = quantised(n, scores(n, heads(n, q, [1, 8, 2, 16]), heads(n, k, [1, 8, 2, 16]), 16), 0.15, 128)
    p = quantised(n, n.op("Softmax", s, axis=-1), 1 / 255, 0)
    y = merged(n, quantised(n, n.op("MatMul", p, heads(n, v, [1, 8, 2, 16])), 0.06, 128), [1, 8, 32])
    n.output(quantised(n, n.op("MatMul", y, quantised_weight(n, [32, 16], 1)), 0.1, 128))
    return n


def qlinear_net():
    n = Net(21, 116)
    x = n.input("x", [1, 4, 9, 9])
    scale = lambda v: n.const(np.float32(v))
    zero = lambda v: n.const(np.uint8(v))
    a, az = scale(0.04), zero(120)
    b, bz = scale(0.03), zero(0)
    weights = lambda *s: n.const(n.rng.integers(-63, 64, s, np.int8))
    y = n.op("QuantizeLinear", x, a, az)
    y = n.op("QLinearConv", y, a, az, weights(8, 4, 3, 3), n.const(n.rng.uniform(0.004, 0.01, 8).astype(np.float32)), n.const(np.zeros(8, np.int8)),
             b, bz, n.const(n.rng.integers(-900, 900, 8, np.int32)), pads=[1, 1, 1, 1], strides=[2, 2])
    y = n.op("QLinearConv", y, b, bz, weights(6, 8, 1, 1), scale(0.01), n.const(np.int8(0)), scale(0.03), zero(110))
    y = n.op("Reshape", y, n.const(np.array([6, 25])))
    y = n.op("QLinearMatMul", y, scale(0.03), zero(110), n.const(n.rng.integers(64, 192, (25, 7), np.uint8)), scale(0.02), zero(127), scale(0.09), zero(128))
    n.output(n.op("DequantizeLinear", y, scale(0.09), zero(128)))
    return n


def integer_net():
    n = Net(17, 117)
    x = n.input("x", [2, 3, 10, 10])
    q, s, z = n.op("DynamicQuantizeLinear", x, outputs=3)
    c = n.op("Cast", n.op("ConvInteger", q, n.const(n.rng.integers(-60, 61, (6, 3, 3, 3), np.int8)), z, pads=[1, 1, 1, 1]), to=F)
    c = n.op("Relu", n.op("Mul", c, n.op("Mul", s, n.const(np.float32(0.01)))))
    c = n.op("Reshape", c, n.const(np.array([12, 100])))
    q, s, z = n.op("DynamicQuantizeLinear", c, outputs=3)
    y = n.op("Cast", n.op("MatMulInteger", q, n.const(n.rng.integers(-60, 61, (100, 8), np.int8)), z, n.const(np.int8(3))), to=F)
    n.output(n.op("Add", n.op("Mul", n.op("Mul", y, s), n.const(np.float32(0.008))), n.weight([8])))
    return n


def norm_maps():
    n = Net(21, 118)
    x = n.input("x", [1, 8, 40, 40])
    a = n.op("InstanceNormalization", x, n.positive([8]), n.weight([8]))
    b = n.op("GroupNormalization", x, n.positive([8]), n.weight([8]), num_groups=2)
    t = n.op("Transpose", n.op("Reshape", n.op("Add", a, b), n.const(np.array([1, 8, 1600]))), perm=[0, 2, 1])
    t = n.op("LayerNormalization", t, n.positive([8]), n.weight([8]), axis=-1)
    n.output(n.op("LayerNormalization", n.op("Reshape", t, n.const(np.array([1, -1]))), n.positive([12800]), axis=-1), a)
    return n


def efficient():
    n = Net(17, 119)
    x = n.input("x", [1, 3, 48, 48])
    swish = lambda t: n.op("Mul", t, n.op("Sigmoid", t))
    c = swish(n.op("Conv", x, n.weight([16, 3, 3, 3]), n.weight([16]), strides=[2, 2], pads=[1, 1, 1, 1]))
    c = swish(n.op("Conv", c, n.weight([16, 1, 3, 3]), n.weight([16]), group=16, pads=[1, 1, 1, 1]))
    s = swish(n.op("Conv", n.op("GlobalAveragePool", c), n.weight([4, 16, 1, 1]), n.weight([4])))
    c = n.op("Mul", c, n.op("Sigmoid", n.op("Conv", s, n.weight([16, 4, 1, 1]), n.weight([16]))))
    c = swish(n.op("Conv", c, n.weight([24, 16, 1, 1])))
    n.output(n.op("Gemm", n.op("Flatten", n.op("GlobalAveragePool", c)), n.weight([24, 10]), n.weight([10])))
    return n


def maps():
    """Sums over whole pictures."""
    n = Net(18, 120)
    x = n.input("x", [1, 3, 40, 40])
    flat = n.op("Reshape", x, n.const(np.array([1, 3, 1600])))
    p = n.op("Softmax", flat, axis=-1)
    middle = n.op("MatMul", p, n.const(np.stack(np.meshgrid(np.linspace(-1, 1, 40), np.linspace(-1, 1, 40)), -1).reshape(1, 1600, 2).astype(np.float32)))
    last = n.const(np.array([2]))
    n.output(middle, n.op("ReduceLogSumExp", flat, last), n.op("LogSoftmax", flat, axis=-1), n.op("ReduceMean", x, n.const(np.array([2, 3]))),
             n.op("ReduceL2", flat, last), n.op("GlobalLpPool", x, p=2))
    return n


def einsums():
    n = Net(17, 121)
    a = n.input("a", [1, 2, 24, 32])
    y = n.op("Einsum", a, n.weight([12, 32]), equation="bcxy,ky->bcxk")
    z = n.op("Einsum", a, n.weight([2, 24], 1.0), equation="bcxy,cx->by")
    n.output(y, n.op("Einsum", y, y, equation="bcxk,bcyk->bcxy"), z)
    return n


def table():
    n = Net(17, 122)
    x, ids = n.input("x", [16, 12]), n.input("ids", [16], T.INT64)
    y = n.op("Div", n.op("Sub", x, n.const(n.rng.normal(0, 1, 12).astype(np.float32))), n.positive([12]))
    y = n.op("Concat", y, n.op("Gather", n.weight([50, 6], 1.0), ids), axis=1)
    y = n.op("Gemm", y, n.weight([18, 32]), n.weight([32]))
    y = n.op("BatchNormalization", y, n.positive([32]), n.weight([32]), n.weight([32]), n.positive([32]))
    y = n.op("Gemm", n.op("Elu", y), n.weight([32, 16]), n.weight([16]))
    n.output(n.op("Softmax", y, axis=-1), n.op("Sigmoid", n.op("ReduceSum", y, n.const(np.array([1])), keepdims=0)))
    return n


def text_cnn():
    n = Net(17, 123)
    ids = n.input("ids", [2, 20], T.INT64)
    e = n.op("Transpose", n.op("Gather", n.weight([50, 16], 1.0), ids), perm=[0, 2, 1])
    ys = [n.op("ReduceMax", n.op("Relu", n.op("Conv", e, n.weight([8, 16, k]), n.weight([8]))), axes=[2], keepdims=0) for k in (2, 3, 5)]
    y, last = n.op("GRU", n.op("Transpose", e, perm=[2, 0, 1]), n.weight([1, 24, 16]), n.weight([1, 24, 8]), n.weight([1, 48], 0.2), outputs=2,
                   hidden_size=8, linear_before_reset=1)
    ys.append(n.op("Squeeze", last, n.const(np.array([0]))))
    n.output(n.op("Gemm", n.op("Concat", *ys, axis=1), n.weight([32, 4]), n.weight([4])), y)
    return n


def experts():
    n = Net(17, 124)
    x = n.input("x", [6, 16])
    route = n.op("Softmax", n.op("MatMul", x, n.weight([16, 4], 0.3)), axis=-1)
    share, which = n.op("TopK", route, n.const(np.array([2])), outputs=2, axis=-1)
    share = n.op("Div", share, n.op("ReduceSum", share, n.const(np.array([1]))))
    each = n.op("Relu", n.op("MatMul", n.op("Unsqueeze", x, n.const(np.array([0]))), n.weight([4, 16, 16], 0.25)))
    each = n.op("Transpose", each, perm=[1, 0, 2])
    at = n.op("Expand", n.op("Unsqueeze", which, n.const(np.array([2]))), n.const(np.array([6, 2, 16])))
    y = n.op("Mul", n.op("GatherElements", each, at, axis=1), n.op("Unsqueeze", share, n.const(np.array([2]))))
    n.output(n.op("ReduceSum", y, n.const(np.array([1])), keepdims=0), which)
    return n


def vision_transformer():
    n = Net(17, 125)
    x = n.input("x", [1, 3, 32, 32])
    t = n.op("Conv", x, n.weight([32, 3, 8, 8]), n.weight([32]), strides=[8, 8])
    t = n.op("Transpose", n.op("Reshape", t, n.const(np.array([1, 32, 16]))), perm=[0, 2, 1])
    t = n.op("Add", n.op("Concat", n.weight([1, 1, 32]), t, axis=1), n.weight([1, 17, 32]))
    norm = n.op("LayerNormalization", t, n.positive([32]), n.weight([32]), axis=-1)
    q, k, v = (heads(n, linear(n, norm, 32, 32), [1, 17, 2, 16]) for _ in range(3))
    y = merged(n, n.op("MatMul", n.op("Softmax", scores(n, q, k, 16), axis=-1), v), [1, 17, 32])
    t = n.op("Add", t, linear(n, y, 32, 32))
    y = linear(n, n.op("LayerNormalization", t, n.positive([32]), n.weight([32]), axis=-1), 32, 64)
    y = n.op("Mul", n.op("Mul", y, n.op("Add", n.op("Erf", n.op("Div", y, n.const(np.float32(2 ** 0.5)))), n.const(np.float32(1)))), n.const(np.float32(0.5)))
    t = n.op("Add", t, linear(n, y, 64, 32))
    n.output(linear(n, n.op("Gather", n.op("LayerNormalization", t, n.positive([32]), n.weight([32]), axis=-1), n.const(np.int64(0)), axis=1), 32, 10))
    return n


def text_encoder():
    n = Net(20, 126)
    ids, mask = n.input("ids", [1, 14], T.INT64), n.input("attention_mask", [1, 14], T.INT64)
    t = n.op("Add", n.op("Gather", n.weight([50, 32], 1.0), ids), n.weight([14, 32], 0.3))
    t = n.op("LayerNormalization", t, n.positive([32]), n.weight([32]), axis=-1)
    off = n.op("Equal", n.op("Unsqueeze", mask, n.const(np.array([1, 2]))), n.const(np.int64(0)))
    q, k, v = (heads(n, linear(n, t, 32, 32), [1, 14, 4, 8]) for _ in range(3))
    s = n.op("Where", off, n.const(np.float32(-10000)), scores(n, q, k, 8))
    y = merged(n, n.op("MatMul", n.op("Softmax", s, axis=-1), v), [1, 14, 32])
    t = n.op("LayerNormalization", n.op("Add", t, linear(n, y, 32, 32)), n.positive([32]), n.weight([32]), axis=-1)
    t = n.op("Add", t, linear(n, n.op("Gelu", linear(n, t, 32, 64)), 64, 32))
    kept = n.op("Unsqueeze", n.op("Cast", mask, to=F), n.const(np.array([2])))
    n.output(n.op("Div", n.op("ReduceSum", n.op("Mul", t, kept), n.const(np.array([1])), keepdims=0), n.op("ReduceSum", kept, n.const(np.array([1])), keepdims=0)))
    return n


def generator():
    n = Net(17, 127)
    x = n.input("x", [1, 16, 4, 4])
    y = n.op("ConvTranspose", x, n.weight([16, 8, 4, 4], 0.1), n.weight([8]), strides=[2, 2], pads=[1, 1, 1, 1])
    y = n.op("LeakyRelu", n.op("InstanceNormalization", y, n.positive([8]), n.weight([8])), alpha=0.2)
    y = n.op("ConvTranspose", y, n.weight([8, 3, 4, 4], 0.15), n.weight([3]), strides=[2, 2], pads=[1, 1, 1, 1])
    n.output(n.op("Tanh", y))
    return n


def speech():
    n = Net(17, 128)
    x = n.input("x", [1, 1, 160])
    y = n.op("Relu", n.op("Conv", x, n.weight([8, 1, 9]), n.weight([8]), strides=[4], pads=[4, 4]))
    y = n.op("Transpose", y, perm=[2, 0, 1])
    y, last, cell = n.op("LSTM", y, n.weight([1, 32, 8]), n.weight([1, 32, 8]), n.weight([1, 64], 0.2), outputs=3, hidden_size=8)
    y = n.op("Squeeze", y, n.const(np.array([1])))
    n.output(n.op("LogSoftmax", linear(n, y, 8, 12), axis=-1), last)
    return n


#: Family -> networks.
FAMILIES = {
    "masks": {"padded_attention": padded_attention, "causal_window": causal_window, "alibi": alibi, "text_encoder": text_encoder},
    "caches": {"kv_cache": kv_cache, "static_cache": static_cache},
    "rope": {"rope": rope, "rope_op": rope_op},
    "gqa": {"gqa": gqa, "gqa_op": gqa_op},
    "folding": {"folded": folded},
    "resize": {"resize_modes": resize_modes, "pyramid": pyramid},
    "nms": {"boxes": boxes, "experts": experts},
    "quantised": {"qdq_net": qdq_net, "qdq_attention": qdq_attention, "qlinear_net": qlinear_net, "integer_net": integer_net},
    "pictures": {"norm_maps": norm_maps, "efficient": efficient, "maps": maps, "einsums": einsums, "vision_transformer": vision_transformer,
                 "generator": generator},
    "tables": {"table": table, "text_cnn": text_cnn, "speech": speech},
}
NETWORKS = {name: make for family in FAMILIES.values() for name, make in family.items()}


def family_of(name):
    return next((f for f, of in FAMILIES.items() if name in of), "exported" if name.startswith("exported") else "others")
