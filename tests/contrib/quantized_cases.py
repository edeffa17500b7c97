"""Cases of the quantised operators. Scales are drawn so that no quotient is a tie; integers must come out equal."""

import numpy as np

from case import Case, int4

F = np.float32


def levels(rng, shape, dtype):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape, dtype=dtype)


def weights(rng, shape, dtype):
    """Those of type int8 have 7 bits (the quantiser's reduce_range): sums of two products of uint8 with larger ones saturate in ONNX
    Runtime's kernels on CPUs without VNNI."""
    return levels(rng, shape, dtype) // dtype(2 if dtype == np.int8 else 1)


def scale(rng, about):
    return F(about * rng.uniform(0.8, 1.25))


def zero(rng, dtype):
    return levels(rng, (), dtype)


def binary(rng):
    shapes = [((3, 4), (3, 4)), ((2, 3, 4), (4,)), ((1, 5), (3, 1)), ((7,), ())]
    for op, about in (("QLinearAdd", 0.04), ("QLinearMul", 0.6)):
        for dtype in (np.uint8, np.int8):
            for i, (a, b) in enumerate(shapes):
                yield Case(f"{dtype.__name__}_{i}", op,
                           [levels(rng, a, dtype), scale(rng, 0.02), zero(rng, dtype), levels(rng, b, dtype), scale(rng, 0.03),
                            zero(rng, dtype), scale(rng, about), zero(rng, dtype)])
        yield Case("no_zero_point", op, [levels(rng, (6,), np.uint8), scale(rng, 0.02), zero(rng, np.uint8),
                                         levels(rng, (6,), np.uint8), scale(rng, 0.02), zero(rng, np.uint8), scale(rng, about)])
    for dtype in (np.uint8, np.int8):
        a, za, b, zb = levels(rng, (3, 4), dtype), zero(rng, dtype), levels(rng, (4,), dtype), zero(rng, dtype)
        product = (a.astype(np.int32) - za.astype(np.int32)) * (b.astype(np.int32) - zb.astype(np.int32))
        yield Case(dtype.__name__, "MulInteger", [a, za, b, zb], expected=[product])


def unary(rng):
    for dtype in (np.uint8, np.int8):
        name = dtype.__name__
        x = [levels(rng, (4, 9), dtype), scale(rng, 0.05), zero(rng, dtype)]
        yield Case(name, "QLinearSigmoid", x + [F(1 / 256), np.array(np.iinfo(dtype).min, dtype)])
        yield Case(name, "QLinearLeakyRelu", x + [scale(rng, 0.04), zero(rng, dtype)], {"alpha": 0.2})
        yield Case(f"{name}_default", "QLinearLeakyRelu", x + [scale(rng, 0.04), zero(rng, dtype)])
        for opset, axis in ((13, -1), (13, 1), (12, 1)):
            yield Case(f"{name}_opset{opset}_axis{axis}", "QLinearSoftmax",
                       [levels(rng, (2, 3, 5), dtype), scale(rng, 0.02), zero(rng, dtype), F(1 / 256),
                        np.array(np.iinfo(dtype).min, dtype)], {"axis": axis, "opset": opset})
        for axes, keep in (((1,), 1), ((0, -1), 0)):
            data, sx, zx, sy, zy = levels(rng, (3, 4, 5), dtype), scale(rng, 0.05), zero(rng, dtype), scale(rng, 0.02), zero(rng, dtype)
            mean = ((data.astype(np.float64) - zx) * sx).mean(axes, keepdims=bool(keep))
            reduced = np.clip(np.rint(mean / sy) + zy, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
            yield Case(f"{name}_{len(axes)}", "QLinearReduceMean", [data, sx, zx, sy, zy], {"axes": axes, "keepdims": keep},
                       expected=[reduced])
        x, y = levels(rng, (3, 4), dtype), levels(rng, (4,), dtype)
        yield Case(name, "QLinearWhere", [rng.random((3, 1)) < 0.5, x, scale(rng, 0.03), zero(rng, dtype), y, scale(rng, 0.02),
                                          zero(rng, dtype), scale(rng, 0.04), zero(rng, dtype)], constant=(2, 3, 5, 6, 7, 8))
        yield Case(name, "QLinearConcat", [scale(rng, 0.04), zero(rng, dtype), levels(rng, (2, 3), dtype), scale(rng, 0.03),
                                           zero(rng, dtype), levels(rng, (2, 5), dtype), scale(rng, 0.06), zero(rng, dtype)],
                   {"axis": 1})


def pools(rng):
    for dtype in (np.uint8, np.int8):
        name = dtype.__name__
        for last in (0, 1):
            x = levels(rng, (2, 7, 6, 3) if last else (2, 3, 7, 6), dtype)
            parameters = [scale(rng, 0.05), zero(rng, dtype), scale(rng, 0.03), zero(rng, dtype)]
            for padded in (0, 1):
                yield Case(f"{name}_last{last}_count{padded}", "QLinearAveragePool", [x] + parameters,
                           {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1], "channels_last": last,
                            "count_include_pad": padded})
            yield Case(f"{name}_last{last}", "QLinearGlobalAveragePool", [x] + parameters, {"channels_last": last})
        yield Case(name, "NhwcMaxPool", [levels(rng, (1, 6, 5, 4), dtype)],
                   {"kernel_shape": [2, 3], "strides": [2, 2], "pads": [0, 1, 1, 1]})
        yield Case(f"{name}_same", "QLinearAveragePool", [levels(rng, (1, 2, 9), dtype), scale(rng, 0.05), zero(rng, dtype),
                                                         scale(rng, 0.03), zero(rng, dtype)],
                   {"kernel_shape": [4], "strides": [3], "auto_pad": "SAME_UPPER"})


def products(rng):
    for a_type, b_type in ((np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)):
        name = f"{a_type.__name__}_{b_type.__name__}"
        a, b = levels(rng, (5, 7), a_type), weights(rng, (7, 4), b_type)
        common = [a, scale(rng, 0.02), zero(rng, a_type)]
        per_column = [b, scale(rng, np.full(4, 0.01)).astype(F), levels(rng, (4,), b_type)]
        per_tensor = [b, scale(rng, 0.01), zero(rng, b_type)]
        bias = rng.integers(-5000, 5000, (4,), dtype=np.int32)
        yield Case(f"{name}_requantized", "QGemm", common + per_tensor + [bias, scale(rng, 0.3), zero(rng, a_type)])
        yield Case(f"{name}_columns", "QGemm", common + per_column + [bias, scale(rng, 0.3), zero(rng, a_type)])
        yield Case(f"{name}_float", "QGemm", [a.T.copy(), *common[1:], b.T.copy(), *per_column[1:], bias.reshape(1, 4)],
                   {"transA": 1, "transB": 1, "alpha": 0.5}, rtol=1e-5)
        yield Case(f"{name}_float_no_bias", "QGemm", common + per_tensor, rtol=1e-5)
        yield Case(name, "MatMulIntegerToFloat", [a, b, common[1], per_column[1], common[2], per_column[2],
                                                  rng.standard_normal(4).astype(F)], rtol=1e-5, atol=1e-5)
        yield Case(f"{name}_batch", "MatMulIntegerToFloat",
                   [levels(rng, (2, 3, 5), a_type), weights(rng, (2, 5, 4), b_type), scale(rng, 0.02), scale(rng, 0.01)],
                   rtol=1e-5, atol=1e-5)
    for b_type in (np.uint8, np.int8):
        a, b = rng.standard_normal((2, 5, 8)).astype(F), weights(rng, (8, 6), b_type)
        yield Case(b_type.__name__, "DynamicQuantizeMatMul", [a, b, scale(rng, 0.01), zero(rng, b_type)], rtol=1e-5, atol=1e-5)
        yield Case(f"{b_type.__name__}_bias_columns", "DynamicQuantizeMatMul",
                   [a, b, scale(rng, np.full(6, 0.01)).astype(F), levels(rng, (6,), b_type), rng.standard_normal(6).astype(F)],
                   constant=(1, 2, 3), rtol=1e-5, atol=1e-5)
    yield Case("int16", "MatMulInteger16", [rng.integers(-300, 300, (3, 5), dtype=np.int16),
                                            rng.integers(-300, 300, (5, 4), dtype=np.int16)])


def lstm(rng):
    """Weights stand in columns here. One element of the batch: of more, ONNX Runtime gives each thread its own range of levels."""
    for dtype in (np.uint8, np.int8):
        for direction, directions in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            for by_column in (False, True):
                steps, inputs, hidden = 5, 6, 4
                gates = 4 * hidden
                parameters = (directions, gates) if by_column else (directions,)

                def quantized(rows):
                    point = np.zeros(parameters, dtype) if by_column else levels(rng, parameters, dtype)
                    return weights(rng, (directions, rows, gates), dtype), (0.004 * rng.uniform(0.8, 1.25, parameters)).astype(F), point

                (w, w_scale, w_zero), (r, r_scale, r_zero) = quantized(inputs), quantized(hidden)
                x = rng.standard_normal((steps, 1, inputs)).astype(F)
                bias = rng.standard_normal((directions, 2 * gates)).astype(F)
                state = rng.standard_normal((2, directions, 1, hidden)).astype(F)
                peephole = rng.standard_normal((directions, 3 * hidden)).astype(F) if direction == "forward" else None
                yield Case(f"{dtype.__name__}_{direction}_{'columns' if by_column else 'whole'}", "DynamicQuantizeLSTM",
                           [x, w, r, bias, None, state[0], state[1], peephole, w_scale, w_zero, r_scale, r_zero],
                           {"direction": direction, "hidden_size": hidden}, outputs=(True,) * 3, constant=(1, 2, 3, 7, 8, 9, 10, 11),
                           rtol=1e-4, atol=1e-5)
    w, r = levels(rng, (1, 3, 8), np.uint8), levels(rng, (1, 2, 8), np.uint8)
    yield Case("plain", "DynamicQuantizeLSTM",
               [rng.standard_normal((4, 1, 3)).astype(F), w, r, None, None, None, None, None, F([0.01]), np.array([120], np.uint8),
                F([0.01]), np.array([130], np.uint8)], {"hidden_size": 2}, outputs=(True, False, True), constant=(1, 2, 8, 9, 10, 11),
               rtol=1e-4, atol=1e-5)


def conv(rng):
    for x_type, w_type in ((np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)):
        for last in (0, 1):
            x = levels(rng, (1, 6, 7, 4) if last else (1, 4, 6, 7), x_type)
            w = weights(rng, (6, 2, 3, 3), w_type)
            yield Case(f"{x_type.__name__}_{w_type.__name__}_last{last}", "QLinearConv",
                       [x, scale(rng, 0.02), zero(rng, x_type), w, scale(rng, np.full(6, 0.01)).astype(F),
                        np.zeros((6,), w_type), scale(rng, 0.1), zero(rng, x_type), rng.integers(-900, 900, (6,), dtype=np.int32)],
                       {"group": 2, "pads": [1, 1, 1, 0], "strides": [2, 1], "channels_last": last}, constant=(3, 4, 5))


def linear(rng):
    x = (rng.standard_normal((3, 4, 5)) * 3).astype(F)
    for dtype in (np.int8, np.uint8, np.int16, np.uint16):
        about = 0.03 if np.dtype(dtype).itemsize == 1 else 0.0002
        yield Case(dtype.__name__, "QuantizeLinear", [x, scale(rng, about), zero(rng, dtype)])
        yield Case(f"{dtype.__name__}_axis", "QuantizeLinear", [x, scale(rng, np.full(4, about)).astype(F), levels(rng, (4,), dtype)],
                   {"axis": -2})
        yield Case(dtype.__name__, "DequantizeLinear", [levels(rng, (3, 4), dtype), scale(rng, 0.03), zero(rng, dtype)])
    yield Case("int32", "DequantizeLinear", [levels(rng, (3, 4), np.int32), scale(rng, 0.03)])
    yield Case("axis", "DequantizeLinear", [levels(rng, (3, 4), np.uint8), scale(rng, np.full(3, 0.1)).astype(F),
                                            levels(rng, (3,), np.uint8)], {"axis": 0})
    for signed in (False, True):
        low = -8 if signed else 0
        values = rng.integers(low, low + 16, (3, 5))
        yield Case(f"int4_{signed}", "DequantizeLinear", [int4(values, signed), scale(rng, 0.1), int4(values[0, 0], signed)],
                   constant=(0, 2))
    yield Case("half", "DequantizeLinear", [levels(rng, (6,), np.uint8), np.float16(0.05), zero(rng, np.uint8)])


def cases():
    for index, make in enumerate((binary, unary, pools, products, conv, linear, lstm)):
        yield from make(np.random.default_rng(100 + index))
