"""Cases of the fused floating operators, except attention."""

import math

import numpy as np

from case import Case, int4

F = np.float32
CLOSE = {"rtol": 2e-5, "atol": 2e-6}


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(F)


def activations(rng):
    x, b = 3 * normal(rng, 2, 5, 8), normal(rng, 8)
    yield Case("float", "Gelu", [x], **CLOSE)
    yield Case("float", "FastGelu", [x], **CLOSE)
    yield Case("bias", "FastGelu", [x, b], **CLOSE)
    yield Case("float", "BiasGelu", [x, b], **CLOSE)
    yield Case("float", "QuickGelu", [x], **CLOSE)
    yield Case("alpha", "QuickGelu", [x], {"alpha": 0.7}, **CLOSE)


def norms(rng):
    x, skip, gamma, beta, bias = normal(rng, 2, 3, 16), normal(rng, 2, 3, 16), normal(rng, 16), normal(rng, 16), normal(rng, 16)
    yield Case("all", "SkipLayerNormalization", [x, skip, gamma, beta, bias], {"epsilon": 1e-5}, (True, False, False, True), **CLOSE)
    yield Case("plain", "SkipLayerNormalization", [x, skip, gamma], **CLOSE)
    yield Case("broadcast", "SkipLayerNormalization", [x, skip[:1], gamma, beta], **CLOSE)
    yield Case("matrix", "SkipLayerNormalization", [x[0], skip[0], gamma, beta], **CLOSE)
    yield Case("half", "SkipLayerNormalization", [v.astype(np.float16) for v in (x, skip, gamma, beta)], rtol=4e-3, atol=4e-3)
    yield Case("all", "SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], {"epsilon": 1e-6}, (True, False, False, True), **CLOSE)
    yield Case("plain", "SkipSimplifiedLayerNormalization", [x, skip, gamma], **CLOSE)
    yield Case("last", "SimplifiedLayerNormalization", [x, gamma], {"axis": -1, "epsilon": 1e-6}, domain="", **CLOSE)
    yield Case("axis", "SimplifiedLayerNormalization", [x, normal(rng, 3, 16)], {"axis": 1}, (True, True), domain="", **CLOSE)


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def group_norm(x, gamma, beta, groups, epsilon, silu):
    """Of [N, H, W, C] in float64."""
    n, h, w, c = x.shape
    parts = x.astype(np.float64).reshape(n, h * w, groups, c // groups)
    parts = (parts - parts.mean((1, 3), keepdims=True)) / np.sqrt(parts.var((1, 3), keepdims=True) + epsilon)
    y = parts.reshape(x.shape) * gamma + beta
    return (y / (1 + np.exp(-y)) if silu else y).astype(F)


def diffusion(rng):
    """Operators without a CPU kernel: their descriptions in NumPy."""
    x, bias, skip = normal(rng, 2, 5, 8), normal(rng, 8), normal(rng, 2, 5, 8)
    yield Case("float", "BiasAdd", [x, bias, skip], expected=[x + bias + skip], **CLOSE)
    left, right = np.split((x + bias).astype(np.float64), 2, -1)
    yield Case("float", "BiasSplitGelu", [x, bias], expected=[(left * gelu(right)).astype(F)], **CLOSE)
    x, skip, gamma, beta, bias = normal(rng, 2, 3, 4, 8), normal(rng, 2, 8), normal(rng, 8), normal(rng, 8), normal(rng, 8)
    sums = x + skip[:, None, None, :] + bias
    for silu in (0, 1):
        attributes = {"groups": 4, "epsilon": 1e-4, "activation": silu}
        y = group_norm(x, gamma, beta, 4, 1e-4, silu)
        yield Case(f"last_activation{silu}", "GroupNorm", [x, gamma, beta], attributes, expected=[y], **CLOSE)
        yield Case(f"second_activation{silu}", "GroupNorm", [x.transpose(0, 3, 1, 2).copy(), gamma, beta],
                   {**attributes, "channels_last": 0}, expected=[y.transpose(0, 3, 1, 2)], **CLOSE)
        yield Case(f"activation{silu}", "SkipGroupNorm", [x, gamma, beta, skip, bias], attributes, (True, True),
                   expected=[group_norm(sums, gamma, beta, 4, 1e-4, silu), sums], **CLOSE)


def embeddings(rng):
    ids, segments = rng.integers(0, 10, (2, 4), dtype=np.int32), rng.integers(0, 2, (2, 4), dtype=np.int32)
    mask = np.array([[1, 1, 1, 0], [1, 1, 1, 1]], np.int32)
    words, places, kinds, gamma, beta = normal(rng, 10, 8), normal(rng, 6, 8), normal(rng, 2, 8), normal(rng, 8), normal(rng, 8)
    yield Case("mask", "EmbedLayerNormalization", [ids, segments, words, places, kinds, gamma, beta, mask], outputs=(True, True), **CLOSE)
    yield Case("sum", "EmbedLayerNormalization", [ids, segments, words, places, kinds, gamma, beta], {"epsilon": 1e-5},
               (True, True, True), **CLOSE)
    yield Case("no_segments", "EmbedLayerNormalization", [ids, None, words, places, None, gamma, beta], outputs=(True, True), **CLOSE)
    positions = rng.integers(0, 6, (2, 4), dtype=np.int32)
    yield Case("positions", "EmbedLayerNormalization", [ids, segments, words, places, kinds, gamma, beta, mask, positions],
               outputs=(True, True), **CLOSE)
    for dtype in (np.uint8, np.int8):
        info = np.iinfo(dtype)
        tables = [rng.integers(info.min, info.max, s, dtype=dtype) for s in ((10, 8), (6, 8), (2, 8), (8,), (8,))]
        scales = [F(v) for v in (0.02, 0.01, 0.03, 0.02, 0.01)]
        zeros = [np.array(v, dtype) for v in (100, 90, 80, 3, 110)]
        yield Case(dtype.__name__, "QEmbedLayerNormalization", [ids, segments, *tables, mask, *scales, *zeros], outputs=(True, True),
                   **CLOSE)


def products(rng):
    a, b = normal(rng, 3, 5), normal(rng, 5, 4)
    yield Case("plain", "FusedMatMul", [a, b], {"alpha": 0.5}, **CLOSE)
    yield Case("turned", "FusedMatMul", [a.T.copy(), b.T.copy()], {"transA": 1, "transB": 1}, **CLOSE)
    yield Case("batch", "FusedMatMul", [normal(rng, 2, 3, 4, 5), normal(rng, 3, 6, 5)], {"transB": 1, "alpha": -2.0}, **CLOSE)
    yield Case("trans_batch_a", "FusedMatMul", [normal(rng, 4, 2, 3, 5), normal(rng, 2, 3, 5, 6)], {"transBatchA": 1}, **CLOSE)
    yield Case("trans_batch_both", "FusedMatMul", [normal(rng, 5, 2, 3, 4), normal(rng, 6, 2, 3, 5)],
               {"transBatchA": 1, "transBatchB": 1, "transA": 1, "transB": 1}, **CLOSE)
    yield Case("vector", "FusedMatMul", [normal(rng, 5), b], **CLOSE)
    yield Case("plain", "TransposeMatMul", [normal(rng, 2, 5, 3), normal(rng, 5, 4)], {"transA": 1, "alpha": 3.0}, **CLOSE)
    c = normal(rng, 4)
    for activation, extra in (("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.3}), ("Sigmoid", {}), ("Tanh", {}),
                              ("Elu", {"activation_alpha": 0.5}), ("Softplus", {}), ("Softsign", {}),
                              ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4}),
                              ("ThresholdedRelu", {"activation_alpha": 0.7})):
        yield Case(activation, "FusedGemm", [a, b, c], {"activation": activation, "alpha": 0.8, "beta": 0.5, **extra}, **CLOSE)
    yield Case("turned", "FusedGemm", [a.T.copy(), b.T.copy()], {"activation": "Relu", "transA": 1, "transB": 1}, **CLOSE)


def convolutions(rng):
    x, w, bias = normal(rng, 2, 4, 6, 7), normal(rng, 6, 2, 3, 3), normal(rng, 6)
    z = normal(rng, 2, 6, 6, 7)
    common = {"group": 2, "pads": [1, 1, 1, 1]}
    for activation, parameters in (("Relu", None), ("LeakyRelu", [0.2]), ("Sigmoid", None), ("Tanh", None), ("Clip", [-0.5, 0.8]),
                                   ("HardSigmoid", [0.2, 0.5])):
        extra = {"activation_params": parameters} if parameters else {}
        yield Case(activation, "FusedConv", [x, w, bias], {"activation": activation, **common, **extra}, **CLOSE)
    yield Case("sum", "FusedConv", [x, w, bias, z], {"activation": "Relu", **common}, **CLOSE)


def pack(levels, bits):
    """Levels along the last axis in bytes, low bits first."""
    per_byte = 8 // bits
    padded = np.pad(levels, [(0, 0)] * (levels.ndim - 1) + [(0, -levels.shape[-1] % per_byte)])
    parts = padded.reshape(*levels.shape[:-1], -1, per_byte).astype(np.uint16) << (np.arange(per_byte, dtype=np.uint16) * bits)
    return parts.sum(-1).astype(np.uint8)


def weight_only(rng):
    n = 5
    for bits, block, k in ((4, 16, 40), (4, 32, 64), (8, 32, 48), (2, 32, 64)):
        blocks = -(-k // block)
        levels = rng.integers(0, 1 << bits, (n, blocks, block))
        zeros = rng.integers(0, 1 << bits, (n, blocks))
        a, scales = normal(rng, 3, k), rng.uniform(0.02, 0.1, (n, blocks)).astype(F)
        attributes = {"N": n, "K": k, "bits": bits, "block_size": block}
        inputs = [a, pack(levels, bits), scales]
        tolerance = {"rtol": 1e-4, "atol": 1e-4}
        for constant in ((1, 2, 3, 5), ()):
            tag = f"{bits}bits_block{block}_{'constant' if constant else 'fed'}"
            yield Case(tag, "MatMulNBits", inputs, attributes, constant=constant, **tolerance)
            yield Case(f"{tag}_zeros", "MatMulNBits", inputs + [pack(zeros, bits)], attributes, constant=constant, **tolerance)
        yield Case(f"{bits}bits_block{block}_bias", "MatMulNBits", inputs + [pack(zeros, bits), None, normal(rng, n)], attributes,
                   constant=(1, 2, 3, 5), **tolerance)
        if bits != 8:  # no kernel
            yield Case(f"{bits}bits_block{block}_float_zeros", "MatMulNBits", inputs + [zeros.astype(F)], attributes, **tolerance)
    k, block = 64, 16
    levels, a = rng.integers(0, 16, (n, 4, block)), normal(rng, 2, 2, k)
    scales = rng.uniform(0.02, 0.1, (n * 4,)).astype(F)
    yield Case("groups", "MatMulNBits", [a, pack(levels, 4), scales, None, rng.integers(0, 4, k, dtype=np.int32)],
               {"N": n, "K": k, "bits": 4, "block_size": block}, rtol=1e-4, atol=1e-4)
    for kind in (0, 1):
        yield Case(f"type{kind}", "MatMulBnb4", [normal(rng, 3, 64), rng.integers(0, 256, (n * 64 // 2,), dtype=np.uint8),
                                                 rng.uniform(0.5, 2, (n * 64 // 16,)).astype(F)],
                   {"N": n, "K": 64, "block_size": 16, "quant_type": kind}, rtol=1e-4, atol=1e-4)
    indices = rng.integers(-4, 6, (2, 3))
    for bits in (2, 4, 8):
        levels = rng.integers(0, 1 << bits, (6, 2, 48))
        scales, zeros = rng.uniform(0.1, 1, (6, 2, 3)).astype(F), rng.integers(0, 1 << bits, (6, 2, 3))
        attributes = {"bits": bits, "block_size": 16, "quantize_axis": 2, "gather_axis": 0}
        indices0 = rng.integers(0, 6, (2, 3))
        yield Case(f"{bits}bits", "GatherBlockQuantized", [pack(levels, bits), indices0, scales], attributes, constant=(0, 2))
        yield Case(f"{bits}bits_zeros", "GatherBlockQuantized", [pack(levels, bits), indices0, scales, pack(zeros, bits)], attributes,
                   constant=(0, 2, 3))
    for signed in (False, True):
        low = -8 if signed else 0
        data, zeros = rng.integers(low, low + 16, (6, 4, 20)), rng.integers(low, low + 16, (6, 4, 2))
        scales = rng.uniform(0.1, 1, (6, 4, 2)).astype(F)
        attributes = {"block_size": 16, "quantize_axis": 2, "gather_axis": 1}
        yield Case(f"int4_{signed}", "GatherBlockQuantized", [int4(data, signed), indices % 4, scales, int4(zeros, signed)],
                   attributes, constant=(0, 2, 3))


def shapes(rng):
    x = normal(rng, 2, 3, 4)
    yield Case("constant", "Pad", [x, np.array([0, 1, 2, 1, 0, -1], np.int64), np.array([7], F)], {"mode": "constant"})
    yield Case("reflect", "Pad", [x, np.array([0, 1, 2, 0, 1, 1], np.int64)], {"mode": "reflect"})
    yield Case("edge", "Pad", [x, np.array([0, 1, 2, 0, 1, 1], np.int64)], {"mode": "edge"})
    yield Case("float", "Unique", [np.array([2, 1, 1, 3, 4, 3], F)], outputs=(True, True, True))
    yield Case("ints", "Range", [np.array(2, np.int64), np.array(11, np.int64), np.array(3, np.int64)])
    yield Case("no_delta", "Range", [np.array(2, F), np.array(6.5, F)])
    yield Case("down", "Range", [np.array(2, F), np.array(-1, F), np.array(-0.3, F)], atol=1e-5)
    yield Case("upper", "Trilu", [normal(rng, 2, 4, 3), np.array(1, np.int64)])
    yield Case("lower", "Trilu", [normal(rng, 4, 5)], {"upper": 0})
    for mode in ("bilinear", "nearest", "bicubic"):
        yield Case(mode, "GridSample", [normal(rng, 2, 3, 5, 4), rng.uniform(-1.2, 1.2, (2, 3, 2, 2)).astype(F)],
                   {"mode": mode, "padding_mode": "border", "align_corners": 1}, rtol=1e-4, atol=1e-5)
    for axis in (0, 1, 2, -1, -2):
        yield Case(f"axis{axis}", "ExpandDims", [normal(rng, 2, 3), np.array(axis, np.int32)])
    yield Case("batch", "Inverse", [normal(rng, 2, 3, 3) + 3 * np.eye(3, dtype=F)], rtol=1e-4, atol=1e-5)
    for metric in ("euclidean", "sqeuclidean"):
        yield Case(metric, "CDist", [normal(rng, 5, 4), normal(rng, 3, 4)], {"metric": metric}, rtol=1e-4, atol=1e-5)
    ids = np.array([[1, 2, 3, 1, 2], [4, 4, 4, 4, 4]], np.int64)
    for n in (1, 2, 3):
        yield Case(f"n{n}", "NGramRepeatBlock", [ids, normal(rng, 2, 6)], {"ngram_size": n})
    for i, x in enumerate((np.array([3, -4], np.int32), np.array([3, 4], np.uint32), np.array([3, -4], np.int64),
                           np.array([1.5, -2], F), np.array([1.5, -2], np.float64), np.array(["hello", "", "murmur3"], object))):
        yield Case(f"type{i}", "MurmurHash3", [x], {"positive": i % 2, "seed": 5})


def cases():
    for index, make in enumerate((activations, norms, diffusion, embeddings, products, convolutions, weight_only, shapes)):
        yield from make(np.random.default_rng(200 + index))
