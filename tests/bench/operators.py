"""Times single operators, at sizes that networks have, on the engine and on ONNX Runtime in turns, by `assay bench`.

usage: operators.py ASSAY [--only PATTERN...] [--backends NAME...] [--duration S] [--threads N] [--below R] [--json FILE]

Prints a line for each case, the slowest beside ONNX Runtime first: the ratio (its time divided by the engine's: above 1
the engine is faster), both times in milliseconds, the case. `--below 1` leaves out what is faster. `--only` takes patterns of
the shell for the names. Inputs are drawn from one seed; indices, grids and boxes are such as the operator means.
"""
import argparse
import fnmatch
import itertools
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(16)
TYPES = {"f": np.float32, "d": np.float64, "h": np.float16, "i8": np.int8, "u8": np.uint8, "i16": np.int16,
         "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "b": np.bool_}


def normal(*shape, type="f"):
    """Numbers about zero; of narrow integers the whole range, of others -100 to 100."""
    dtype = TYPES[type]
    if dtype == np.bool_:
        return RANDOM.random(shape) < 0.5
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        low, high = max(limits.min, -100 if limits.bits > 8 else -128), min(limits.max, 100 if limits.bits > 8 else 255)
        return RANDOM.integers(low, high + 1, shape).astype(dtype)
    return RANDOM.standard_normal(shape).astype(dtype)


def below(high, *shape, type="i64"):
    return RANDOM.integers(0, high, shape).astype(TYPES[type])


def uniform(low, high, *shape):
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def boxes(count, size):
    corner, extent = uniform(0, size * 0.8, count, 2), uniform(size * 0.02, size * 0.2, count, 2)
    return np.concatenate([corner, corner + extent], axis=1)


class Const:
    """An input that networks have as a constant."""

    def __init__(self, values, dtype=np.int64):
        self.array = np.asarray(values, dtype)


def labels():
    keys = RANDOM.permutation(5000)
    return dict(keys_int64s=[int(k) for k in keys], values_int64s=[int(k) * 3 for k in keys], domain="ai.onnx.ml")


def cases():
    """(name, operator, attributes, inputs, number of outputs)."""
    image, deep = (1, 64, 112, 112), (1, 256, 28, 28)
    floats = ["Add", "Mul", "Sub", "Div", "Max", "Min", "Pow"]
    for op in floats:
        yield f"{op} f", op, {}, [uniform(0.1, 2, *image), uniform(0.1, 2, *image)], 1
    for op in ["Relu", "Sigmoid", "Tanh", "Exp", "Erf", "Sqrt", "Neg", "Abs", "Floor", "Round", "Softplus", "Gelu", "Mish",
               "HardSwish", "Sign", "Sin", "Log", "Elu", "IsNaN", "Ceil", "Reciprocal", "HardSigmoid", "LeakyRelu",
               "Selu", "Softsign", "Atan", "Cos", "ThresholdedRelu", "IsInf", "Celu", "Shrink", "Acosh", "Tan"]:
        yield f"{op} f", op, {}, [uniform(0.1, 2, *image)], 1
    for type in ["i8", "u8", "i32", "i64"]:
        for op in ["Add", "Mul", "Sub", "Max", "Min"]:
            yield f"{op} {type}", op, {}, [normal(*image, type=type), normal(*image, type=type)], 1
        yield f"Equal {type}", "Equal", {}, [normal(*image, type=type), normal(*image, type=type)], 1
        yield f"Less {type}", "Less", {}, [normal(*image, type=type), normal(*image, type=type)], 1
        yield f"Where {type}", "Where", {}, [normal(*image, type="b")] + [normal(*image, type=type)] * 2, 1
        yield f"Cast {type} f", "Cast", {"to": 1}, [normal(*image, type=type)], 1
        yield f"Cast f {type}", "Cast", {"to": helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[type]))}, [
            uniform(0, 100, *image)], 1
    for type in ["i32", "i64"]:
        yield f"Div {type}", "Div", {}, [normal(*image, type=type), below(50, *image, type=type) + TYPES[type](1)], 1
        yield f"Mod {type}", "Mod", {}, [normal(*image, type=type), below(50, *image, type=type) + TYPES[type](1)], 1
        yield f"Abs {type}", "Abs", {}, [normal(*image, type=type)], 1
        yield f"ReduceSum {type}", "ReduceSum", {}, [normal(*image, type=type), Const([3])], 1
        yield f"ReduceMax {type}", "ReduceMax", {}, [normal(*image, type=type), Const([1])], 1
        yield f"Clip {type}", "Clip", {}, [normal(*image, type=type), Const(-5, TYPES[type]), Const(7, TYPES[type])], 1
        yield f"Relu {type}", "Relu", {}, [normal(*image, type="i32")], 1
    yield "Where f", "Where", {}, [normal(*image, type="b"), normal(*image), normal(*image)], 1
    yield "Equal f", "Equal", {}, [normal(*image), normal(*image)], 1
    yield "GreaterOrEqual f", "GreaterOrEqual", {}, [normal(*image), normal(*image)], 1
    for op in ["And", "Or", "Xor"]:
        yield f"{op} b", op, {}, [normal(*image, type="b"), normal(*image, type="b")], 1
    yield "Not b", "Not", {}, [normal(*image, type="b")], 1
    yield "Cast b f", "Cast", {"to": 1}, [normal(*image, type="b")], 1
    yield "Cast f b", "Cast", {"to": 9}, [normal(*image)], 1
    yield "Cast i64 i32", "Cast", {"to": 6}, [normal(*image, type="i64")], 1
    yield "Cast i32 i64", "Cast", {"to": 7}, [normal(*image, type="i32")], 1
    yield "Cast h f", "Cast", {"to": 1}, [normal(*image, type="h")], 1
    yield "Cast f h", "Cast", {"to": 10}, [normal(*image)], 1
    for type in ["u8", "i32"]:
        for op in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
            yield f"{op} {type}", op, {}, [normal(*image, type=type), normal(*image, type=type)], 1
        yield f"BitwiseNot {type}", "BitwiseNot", {}, [normal(*image, type=type)], 1
    for type in ["u8", "u32", "u64"]:
        yield f"BitShift {type}", "BitShift", {"direction": "LEFT"}, [
            normal(*image, type=type), below(8, *image, type=type)], 1
    # Along an axis.
    for type in ["f", "i32", "i64", "d"]:
        yield f"CumSum last {type}", "CumSum", {}, [normal(64, 4096, type=type), Const(1)], 1
        yield f"CumSum first {type}", "CumSum", {}, [normal(4096, 64, type=type), Const(0)], 1
    for type in ["f", "i64", "i32", "u8", "i8"]:
        if type != "i64":
            yield f"ArgMax last {type}", "ArgMax", {"axis": -1, "keepdims": 0}, [normal(128, 8192, type=type)], 1
            yield f"ArgMax channels {type}", "ArgMax", {"axis": 1}, [normal(1, 21, 256, 256, type=type)], 1
    yield "ArgMin last f", "ArgMin", {"axis": -1}, [normal(128, 8192)], 1
    for type in ["f", "i64", "i32"]:
        yield f"TopK 1000 of 24576 {type}", "TopK", {}, [normal(1, 24576, type=type), Const([1000])], 2
        yield f"TopK rows {type}", "TopK", {}, [normal(1024, 512, type=type), Const([8])], 2
        yield f"TopK sampling {type}", "TopK", {}, [normal(1, 50257, type=type), Const([50])], 2
        yield f"TopK axis 1 {type}", "TopK", {"axis": 1}, [normal(1, 128, 4096, type=type), Const([4])], 2
    yield "TopK sort f", "TopK", {}, [normal(64, 1024), Const([1024])], 2
    yield "Hardmax f", "Hardmax", {"axis": -1}, [normal(256, 1024)], 1
    yield "LpNormalization f", "LpNormalization", {"axis": -1}, [normal(256, 1024)], 1
    # Selections and moves.
    for type in ["f", "i64", "u8"]:
        yield f"ReverseSequence {type}", "ReverseSequence", {"batch_axis": 1, "time_axis": 0}, [
            normal(256, 16, 256, type=type), below(256, 16) + 1], 1
        if type != "i32":
            yield f"Trilu {type}", "Trilu", {}, [normal(8, 1024, 1024, type=type), Const(1)], 1
        yield f"NonZero {type}", "NonZero", {}, [below(2, 8, 128, 128).astype(TYPES[type])], 1
        yield f"Compress {type}", "Compress", {"axis": 0}, [normal(8192, 64, type=type), normal(8192, type="b")], 1
        yield f"Compress flat {type}", "Compress", {}, [normal(8192, 64, type=type), normal(8192 * 64, type="b")], 1
        yield f"Tile {type}", "Tile", {}, [normal(1, 64, 56, 56, type=type), Const([1, 2, 2, 1])], 1
        yield f"Expand {type}", "Expand", {}, [normal(64, 1, 1024, type=type), Const([64, 64, 1024])], 1
        yield f"Slice {type}", "Slice", {}, [normal(*image, type=type), Const([0]), Const([112]), Const([3]), Const([2])], 1
        yield f"Slice back {type}", "Slice", {}, [
            normal(*image, type=type), Const([-1]), Const([-1000]), Const([3]), Const([-1])], 1
        yield f"Pad constant {type}", "Pad", {}, [normal(*image, type=type), Const([0, 0, 3, 3, 0, 0, 3, 3])], 1
        if type != "i64":
            yield f"Transpose {type}", "Transpose", {"perm": [0, 2, 3, 1]}, [normal(*image, type=type)], 1
        yield f"Concat {type}", "Concat", {"axis": 1}, [normal(*image, type=type), normal(*image, type=type)], 1
        yield f"Gather rows {type}", "Gather", {}, [normal(30000, 128, type=type), below(30000, 512)], 1
        yield f"Gather last {type}", "Gather", {"axis": 1}, [normal(512, 1024, type=type), below(1024, 512)], 1
        yield f"GatherElements {type}", "GatherElements", {"axis": 1}, [normal(512, 1024, type=type), below(1024, 512, 512)], 1
        yield f"GatherND {type}", "GatherND", {}, [normal(512, 512, 16, type=type), below(512, 16384, 2)], 1
        yield f"ScatterElements {type}", "ScatterElements", {"axis": 1}, [
            normal(512, 1024, type=type), below(1024, 512, 256), normal(512, 256, type=type)], 1
        yield f"ScatterND {type}", "ScatterND", {}, [
            normal(512, 512, 16, type=type), below(512, 4096, 2), normal(4096, 16, type=type)], 1
        yield f"DepthToSpace {type}", "DepthToSpace", {"blocksize": 2}, [normal(*deep, type=type)], 1 if type == "f" else 1
    for mode in ["reflect", "edge", "wrap"]:
        yield f"Pad {mode} f", "Pad", {"mode": mode}, [normal(*image), Const([0, 0, 3, 3, 0, 0, 3, 3])], 1
    yield "Pad reflect signal f", "Pad", {"mode": "reflect"}, [normal(1, 1, 160000), Const([0, 0, 200, 0, 0, 200])], 1
    yield "ScatterElements add f", "ScatterElements", {"axis": 0, "reduction": "add"}, [
        normal(1024, 256), below(1024, 4096, 256), normal(4096, 256)], 1
    yield "ScatterND add f", "ScatterND", {"reduction": "add"}, [normal(1024, 256), below(1024, 4096, 1), normal(4096, 256)], 1
    yield "OneHot f", "OneHot", {}, [below(1000, 512), Const(1000), Const([0, 1], np.float32)], 1
    yield "OneHot i64", "OneHot", {}, [below(1000, 512), Const(1000), Const([0, 1])], 1
    yield "OneHot axis 1 f", "OneHot", {"axis": 1}, [below(21, 1, 256, 256), Const(21), Const([0, 1], np.float32)], 1
    yield "Unique i64", "Unique", {}, [below(1000, 16384)], 4
    yield "Unique f", "Unique", {}, [below(1000, 16384).astype(np.float32)], 4
    yield "Range i64", "Range", {}, [np.array(0, np.int64), np.array(100000, np.int64), np.array(1, np.int64)], 1
    yield "EyeLike f", "EyeLike", {}, [normal(512, 512)], 1
    yield "Det f", "Det", {}, [normal(256, 4, 4)], 1
    yield "TensorScatter f", "TensorScatter", {"axis": 2}, [
        normal(1, 8, 1024, 64), normal(1, 8, 1, 64), np.array([700])], 1
    # Images.
    for mode in ["linear", "nearest", "cubic"]:
        for edge in ["zeros", "border", "reflection"]:
            yield f"GridSample {mode} {edge}", "GridSample", {"mode": mode, "padding_mode": edge}, [
                normal(1, 32, 64, 64), uniform(-1.1, 1.1, 1, 64, 64, 2)], 1
    yield "GridSample few channels", "GridSample", {}, [normal(1, 3, 256, 256), uniform(-1.1, 1.1, 1, 256, 256, 2)], 1
    yield "GridSample 3-D", "GridSample", {}, [normal(1, 8, 16, 32, 32), uniform(-1.1, 1.1, 1, 16, 32, 32, 3)], 1
    yield "AffineGrid", "AffineGrid", {}, [normal(1, 2, 3), Const([1, 3, 256, 256])], 1
    for mode in ["avg", "max"]:
        yield f"RoiAlign {mode}", "RoiAlign", {"output_height": 7, "output_width": 7, "sampling_ratio": 2,
                                             "spatial_scale": 0.25, "mode": mode}, [
            normal(1, 256, 50, 50), boxes(100, 200), np.zeros(100, np.int64)], 1
    yield "MaxRoiPool", "MaxRoiPool", {"pooled_shape": [7, 7], "spatial_scale": 0.25}, [
        normal(1, 256, 50, 50), np.concatenate([np.zeros((100, 1), np.float32), boxes(100, 200)], axis=1)], 1
    yield "NonMaxSuppression few", "NonMaxSuppression", {}, [
        boxes(8400, 640)[None], uniform(0, 1, 1, 1, 8400), Const(300), Const(0.45, np.float32), Const(0.25, np.float32)], 1
    yield "NonMaxSuppression classes", "NonMaxSuppression", {}, [
        boxes(2000, 640)[None], uniform(0, 1, 1, 80, 2000), Const(100), Const(0.5, np.float32), Const(0.9, np.float32)], 1
    yield "MaxPool indices", "MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}, [normal(*image)], 2
    yield "MaxPool u8", "MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}, [
        normal(*image, type="u8")], 1
    yield "MaxPool stem", "MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}, [normal(1, 64, 112, 112)], 1
    yield "MaxPool spp", "MaxPool", {"kernel_shape": [5, 5], "pads": [2] * 4}, [normal(1, 256, 20, 20)], 1
    yield "AveragePool small", "AveragePool", {"kernel_shape": [3, 3], "pads": [1] * 4}, [normal(1, 256, 28, 28)], 1
    yield "AveragePool large", "AveragePool", {"kernel_shape": [40, 40], "strides": [20, 20]}, [normal(1, 64, 160, 160)], 1
    yield "GlobalAveragePool small", "GlobalAveragePool", {}, [normal(1, 1280, 7, 7)], 1
    yield "GlobalAveragePool large", "GlobalAveragePool", {}, [normal(1, 64, 160, 160)], 1
    yield "MaxUnpool", "MaxUnpool", {"kernel_shape": [2, 2], "strides": [2, 2]}, [
        normal(1, 64, 56, 56), RANDOM.permutation(64 * 112 * 112)[:64 * 56 * 56].reshape(1, 64, 56, 56)], 1
    yield "LpPool", "LpPool", {"kernel_shape": [3, 3], "strides": [2, 2]}, [normal(*image)], 1
    yield "GlobalLpPool", "GlobalLpPool", {}, [normal(*image)], 1
    yield "GlobalMaxPool", "GlobalMaxPool", {}, [normal(*image)], 1
    yield "Col2Im", "Col2Im", {"pads": [1] * 4}, [normal(1, 64 * 9, 56 * 56), Const([56, 56]), Const([3, 3])], 1
    yield "DeformConv", "DeformConv", {"pads": [1] * 4, "kernel_shape": [3, 3]}, [
        normal(1, 64, 28, 28), Const(normal(64, 64, 3, 3), np.float32), normal(1, 18, 28, 28),
        Const(normal(64), np.float32), uniform(0, 1, 1, 9, 28, 28)], 1
    for type in ["f", "u8", "i8"]:
        yield f"Resize nearest {type}", "Resize", {"mode": "nearest"}, [
            normal(1, 64, 64, 64, type=type), None, Const([1, 1, 2, 2], np.float32)], 1
        yield f"Resize linear {type}", "Resize", {"mode": "linear"}, [
            normal(1, 3, 480, 640, type=type), None, None, Const([1, 3, 224, 224])], 1
    yield "Resize cubic f", "Resize", {"mode": "cubic"}, [normal(1, 3, 240, 320), None, None, Const([1, 3, 480, 640])], 1
    yield "Resize antialias f", "Resize", {"mode": "linear", "antialias": 1}, [
        normal(1, 3, 480, 640), None, None, Const([1, 3, 224, 224])], 1
    yield "LRN", "LRN", {"size": 5}, [normal(*deep)], 1
    yield "InstanceNormalization", "InstanceNormalization", {}, [normal(*image), Const(normal(64), np.float32), Const(normal(64), np.float32)], 1
    # Signals.
    for size in [512, 400]:
        yield f"DFT {size}", "DFT", {"onesided": 1}, [normal(100, size, 1), None, Const(1)], 1
        yield f"DFT complex {size}", "DFT", {}, [normal(100, size, 2), None, Const(1)], 1
        yield f"DFT inverse {size}", "DFT", {"inverse": 1}, [normal(100, size, 2), None, Const(1)], 1
    yield "STFT 400", "STFT", {"onesided": 1}, [
        normal(1, 48000, 1), Const(160), Const(np.hanning(400), np.float32), Const(400)], 1
    yield "STFT 512", "STFT", {"onesided": 1}, [
        normal(1, 48000, 1), Const(128), Const(np.hanning(512), np.float32), Const(512)], 1
    yield "MelWeightMatrix", "MelWeightMatrix", {}, [
        np.array(80), np.array(512), np.array(16000), np.array(0, np.float32), np.array(8000, np.float32)], 1
    # Products and quantization.
    yield "Einsum bij,bjk", "Einsum", {"equation": "bij,bjk->bik"}, [normal(8, 128, 64), normal(8, 64, 128)], 1
    yield "Einsum bhid,bhjd", "Einsum", {"equation": "bhid,bhjd->bhij"}, [normal(1, 12, 128, 64), normal(1, 12, 128, 64)], 1
    yield "Einsum bnhd,hde", "Einsum", {"equation": "bnhd,hde->bne"}, [
        normal(1, 128, 12, 64), Const(normal(12, 64, 256), np.float32)], 1
    yield "DynamicQuantizeLinear", "DynamicQuantizeLinear", {}, [normal(128, 768)], 3
    yield "DynamicQuantizeLinear row", "DynamicQuantizeLinear", {}, [normal(1, 768)], 3
    yield "MatMulInteger", "MatMulInteger", {}, [
        below(256, 128, 768, type="u8"), Const(normal(768, 768, type="i8"), np.int8), np.array(128, np.uint8), Const(0, np.int8)], 1
    yield "MatMulInteger row", "MatMulInteger", {}, [
        below(256, 1, 768, type="u8"), Const(normal(768, 768, type="i8"), np.int8), np.array(128, np.uint8), Const(0, np.int8)], 1
    yield "ConvInteger", "ConvInteger", {"pads": [1] * 4}, [
        below(256, 1, 64, 56, 56, type="u8"), Const(below(256, 64, 64, 3, 3, type="u8"), np.uint8), np.array(128, np.uint8),
        Const(127, np.uint8)], 1
    yield "ConvInteger 1x1", "ConvInteger", {}, [
        below(256, 1, 64, 56, 56, type="u8"), Const(below(256, 128, 64, 1, 1, type="u8"), np.uint8), np.array(128, np.uint8),
        Const(127, np.uint8)], 1
    yield "QuantizeLinear u8", "QuantizeLinear", {}, [normal(*image), Const(0.02, np.float32), Const(128, np.uint8)], 1
    yield "DequantizeLinear u8", "DequantizeLinear", {}, [
        normal(*image, type="u8"), Const(0.02, np.float32), Const(128, np.uint8)], 1
    yield "MatMul i32", "MatMul", {}, [normal(64, 128, type="i32"), normal(128, 64, type="i32")], 1
    # Random numbers, losses, tables.
    yield "RandomNormalLike", "RandomNormalLike", {"seed": 1.0}, [normal(1, 192, 512)], 1
    yield "RandomUniformLike", "RandomUniformLike", {"seed": 1.0}, [normal(1, 192, 512)], 1
    yield "Bernoulli", "Bernoulli", {"seed": 1.0}, [uniform(0, 1, 1, 192, 512)], 1
    yield "LabelEncoder i64", "LabelEncoder", labels(), [below(5000, 100, 64)], 1
    ml = {"domain": "ai.onnx.ml"}
    yield "Normalizer", "Normalizer", ml | {"norm": "L2"}, [normal(1000, 64)], 1
    yield "Scaler", "Scaler", ml | {"offset": [0.5] * 64, "scale": [2.0] * 64}, [normal(1000, 64)], 1
    yield "Imputer", "Imputer", ml | {"imputed_value_floats": [0.5] * 64, "replaced_value_float": math.nan}, [
        normal(1000, 64)], 1
    yield "OneHotEncoder", "OneHotEncoder", ml | {"cats_int64s": list(range(32))}, [below(32, 1000, 8)], 1
    yield "Binarizer", "Binarizer", ml | {"threshold": 0.1}, [normal(1000, 64)], 1
    yield "ArrayFeatureExtractor", "ArrayFeatureExtractor", ml, [normal(1000, 64), below(64, 16)], 1
    for rows in [1, 1000]:
        yield f"LinearClassifier {rows}", "LinearClassifier", ml | {
            "coefficients": [float(c) for c in normal(10 * 64)], "intercepts": [0.1] * 10,
            "classlabels_ints": list(range(10)), "post_transform": "SOFTMAX"}, [normal(rows, 64)], 2


def runtime_cases():
    """What ONNX Runtime's optimiser and quantisers write."""
    own, relu = {"domain": "com.microsoft"}, {"activation": "Relu"}

    def levels(*shape, type="u8"):
        return Const(below(256, *shape) - (128 if type == "i8" else 0), TYPES[type])

    def real(*shape):
        return Const(normal(*shape), np.float32)

    def number(x, dtype=np.float32):
        return Const(x, dtype)

    window = own | relu | {"kernel_shape": [3, 3], "pads": [1] * 4}
    yield "FusedConv", "FusedConv", window, [normal(1, 64, 56, 56), real(64, 64, 3, 3), real(64)], 1
    yield "FusedConv sum", "FusedConv", window, [
        normal(1, 64, 56, 56), real(64, 64, 3, 3), real(64), normal(1, 64, 56, 56)], 1
    yield "FusedGemm", "FusedGemm", own | relu | {"transB": 1}, [normal(32, 1024), real(1024, 1024), real(1024)], 1
    yield "FusedMatMul", "FusedMatMul", own | {"transB": 1, "alpha": 0.125}, [normal(12, 128, 64), normal(12, 128, 64)], 1
    yield "BiasGelu", "BiasGelu", own, [normal(128, 3072), real(3072)], 1
    yield "QuickGelu", "QuickGelu", own, [normal(128, 3072)], 1
    yield "SkipLayerNormalization", "SkipLayerNormalization", own, [
        normal(1, 128, 768), normal(1, 128, 768), real(768), real(768), real(768)], 1
    yield "SkipSimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", own, [
        normal(1, 128, 768), normal(1, 128, 768), real(768)], 1
    yield "EmbedLayerNormalization", "EmbedLayerNormalization", own, [
        below(1000, 1, 128, type="i32"), below(2, 1, 128, type="i32"), real(1000, 768), real(512, 768), real(2, 768), real(768),
        real(768)], 2
    yield "Attention (own)", "Attention", own | {"num_heads": 12}, [normal(1, 128, 768), real(768, 2304), real(2304)], 1
    yield "MultiHeadAttention", "MultiHeadAttention", own | {"num_heads": 12}, [normal(1, 128, 768)] * 3, 1
    yield "RotaryEmbedding (own)", "RotaryEmbedding", own, [
        normal(1, 12, 128, 64), np.zeros((1, 128), np.int64), real(128, 32), real(128, 32)], 1
    yield "DynamicQuantizeMatMul", "DynamicQuantizeMatMul", own, [
        normal(128, 768), levels(768, 768), number(0.01), number(128, np.uint8), real(768)], 1
    yield "MatMulIntegerToFloat", "MatMulIntegerToFloat", own, [
        below(256, 128, 768, type="u8"), levels(768, 768), number(0.01), number(0.02), number(128, np.uint8),
        number(128, np.uint8), real(768)], 1
    yield "QAttention", "QAttention", own | {"num_heads": 12}, [
        below(256, 1, 128, 768, type="u8"), levels(768, 2304, type="i8"), real(2304), number(0.01), number(0.001), None,
        number(128, np.uint8), number(0, np.int8)], 1
    yield "QLinearSoftmax", "QLinearSoftmax", own | {"axis": -1, "opset": 21}, [
        below(256, 12, 128, 128, type="u8"), number(0.1), number(128, np.uint8), number(1 / 256), number(0, np.uint8)], 1
    for rows, n, k, block in [(1, 1024, 1024, 32), (1, 8192, 2048, 32), (1, 2048, 8192, 128), (16, 2048, 2048, 32),
                              (128, 2048, 2048, 32), (512, 1024, 1024, 32)]:
        yield f"MatMulNBits {rows} {n}x{k}", "MatMulNBits", own | {"N": n, "K": k, "bits": 4, "block_size": block}, [
            normal(1, rows, k), levels(n, k // block, block // 2), real(n * (k // block)), levels(n * (k // block) // 2)], 1
    yield "GatherBlockQuantized", "GatherBlockQuantized", own | {"block_size": 32, "bits": 4, "quantize_axis": 1}, [
        levels(32000, 1024), below(32000, 1, 16), real(32000, 64)], 1
    yield "CDist", "CDist", own | {"metric": "euclidean"}, [normal(512, 64), normal(512, 64)], 1


def model_of(op, attributes, inputs, outputs, folder):
    """Writes the model; returns its path and what bench is told of its inputs."""
    domain = attributes.get("domain", "")
    values, constants, names, loads = [], [], [], []
    for i, given in enumerate(inputs):
        name = f"x{i}"
        if given is None:
            names.append("")
            continue
        names.append(name)
        if isinstance(given, Const):
            constants.append(numpy_helper.from_array(given.array, name))
            continue
        values.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(given.dtype), given.shape))
        given.tofile(Path(folder, name))
        loads.append(f"{name}:{Path(folder, name)}")
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], **attributes)
    opsets = [helper.make_opsetid("", 24 if op == "TensorScatter" else 21), helper.make_opsetid("ai.onnx.ml", 4),
              helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph([node], op, values, [], constants)
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    inferred = {v.name: v for v in onnx.shape_inference.infer_shapes(model).graph.value_info}
    for output in node.output:
        graph.output.append(inferred.get(output) or helper.make_empty_tensor_value_info(output))
    path = Path(folder, "model.onnx")
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    return path, loads


def measure(options, op, attributes, inputs, outputs):
    with tempfile.TemporaryDirectory() as folder:
        path, loads = model_of(op, attributes, inputs, outputs, folder)
        report = Path(folder, "report.json")
        command = [options.assay, "bench", path, "--backends", *options.backends, "--duration", options.duration,
                   "--warm-up", 20, "--json", report]
        command += ["--load-inputs", *loads] if loads else []
        command += ["--threads", options.threads] if options.threads else []
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError((done.stdout + done.stderr).strip().splitlines()[-1][-160:])
        rows = json.loads(report.read_text())["rows"]
        return [row["latency_ms"]["median"] for row in rows], rows[-1].get("difference")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("--only", nargs="*", default=["*"])
    parser.add_argument("--backends", nargs=2, default=["engine", "onnxrt"])
    parser.add_argument("--duration", type=float, default=0.2)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--below", type=float, default=math.inf)
    parser.add_argument("--json")
    options = parser.parse_args()
    results, failed = {}, 0
    for name, op, *rest in itertools.chain(cases(), runtime_cases()):
        if not any(fnmatch.fnmatch(name, pattern) for pattern in options.only):
            continue
        try:
            times, _ = measure(options, op, *rest)
            results[name] = {"ratio": times[1] / times[0], options.backends[0]: times[0], options.backends[1]: times[1]}
        except RuntimeError as error:
            failed += 1
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    for name, r in sorted(results.items(), key=lambda item: item[1]["ratio"]):
        if r["ratio"] < options.below:
            print(f"{r['ratio']:7.3f}  {r[options.backends[0]]:9.4f}  {r[options.backends[1]]:9.4f}  {name}")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    slower = sum(r["ratio"] < 1 for r in results.values())
    print(f"{len(results)} cases, {slower} below 1, {failed} failed")


if __name__ == "__main__":
    main()
