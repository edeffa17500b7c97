"""Types and shapes of what parsed nodes give, where the file does not say them: the operators that models are made of, as
far as ONNX's rules give them without values that are not known."""

from . import dtypes, shapes
from .errors import RecordingError

_SAME = set(
    """Relu Sigmoid Tanh LeakyRelu Elu Selu Softsign Softplus Clip HardSigmoid HardSwish ThresholdedRelu Gelu Mish Celu Softmax
LogSoftmax Hardmax Identity Dropout Exp Log Sqrt Reciprocal Abs Neg Sin Cos Tan Sinh Cosh Asin Acos Atan Asinh Acosh Atanh Ceil Floor Erf
Sign Round LRN BatchNormalization InstanceNormalization GroupNormalization LayerNormalization PRelu CumSum Not ScatterElements ScatterND
ReverseSequence LpNormalization MeanVarianceNormalization Swish RMSNormalization Trilu""".split())
_BINARY = set("Add Sub Mul Div Pow Mod And Or Xor BitShift Sum Max Min Mean".split())
_COMPARE = set("Equal Greater Less GreaterOrEqual LessOrEqual".split())


def infer(layer):
    """[(type, shape)] of the outputs; (None, None) for what is not known."""
    node = layer._node
    if node.domain != "":
        return []
    try:
        return _infer(layer, node, node.attributes)
    except (RecordingError, IndexError, TypeError, ValueError, KeyError, ZeroDivisionError):
        return []  # not known; whoever builds the network says what is wrong with it


def merged(declared, found):
    """A shape from two sources of which neither need know all."""
    if declared is None or found is None or len(declared) != len(found):
        return tuple(declared) if declared is not None else found
    return tuple(d if d >= 0 else f for d, f in zip(declared, found))


def _infer(layer, node, attributes):
    op = node.op_type
    inputs = layer._inputs
    kind = inputs[0]._onnx_type if inputs and inputs[0] is not None else None
    shape = inputs[0]._shape if inputs and inputs[0] is not None else None
    if op in _SAME:
        return [(kind, shape)]
    if op in ("IsInf", "IsNaN"):
        return [(dtypes.BOOL, shape)]
    if op in _BINARY or op in _COMPARE:
        result = shape
        for other in inputs[1:]:
            result = shapes.onnx_broadcast(result, other._shape)
        return [(dtypes.BOOL if op in _COMPARE else kind, result)]
    handler = _HANDLERS.get(op)
    return handler(layer, node, attributes, kind, shape) if handler else []


def _numbers(layer, at, attributes=None, name=None):
    """Numbers of an attribute or of a constant input."""
    if attributes is not None and name in attributes:
        return attributes[name]
    if at < len(layer._inputs) and layer._inputs[at] is not None:
        values = layer._inputs[at]._values()
        return None if values is None or None in values else values
    return []


def _where(layer, node, a, kind, shape):
    rest = shapes.onnx_broadcast(layer._inputs[1]._shape, layer._inputs[2]._shape)
    return [(layer._inputs[1]._onnx_type, shapes.onnx_broadcast(shape, rest))]


def _constant(layer, node, a, kind, shape):
    for name, value in a.items():
        if name == "value" and value is not None:
            return [(value.type, tuple(value.dims))]
        one = {"value_float": dtypes.FLOAT, "value_int": dtypes.INT64, "value_string": dtypes.STRING}
        if name in one:
            return [(one[name], ())]
        if name[:-1] in one:
            return [(one[name[:-1]], (len(value),))]
    return []


def _reshape(layer, node, a, kind, shape):
    values = layer._inputs[1]._values()
    if values is None:
        count = layer._inputs[1]._shape
        return [(kind, (-1,) * count[0] if count and count[0] >= 0 else None)]
    if None in values:
        return [(kind, tuple(-1 if v is None else v for v in values))]
    return [(kind, shapes.reshaped(shape, values, not a.get("allowzero", 0)))]


def _transpose(layer, node, a, kind, shape):
    if shape is None:
        return [(kind, None)]
    return [(kind, tuple(shape[i] for i in a.get("perm", range(len(shape) - 1, -1, -1))))]


def _concat(layer, node, a, kind, shape):
    parts = [t._shape for t in layer._inputs]
    if any(p is None for p in parts):
        return [(kind, None)]
    axis = a["axis"] % len(parts[0])
    result = list(merged(parts[0], parts[-1]))
    along = [p[axis] for p in parts]
    result[axis] = -1 if -1 in along else sum(along)
    return [(kind, tuple(result))]


def _flatten(layer, node, a, kind, shape):
    if shape is None:
        return [(kind, (-1, -1))]
    axis = a.get("axis", 1)
    axis += len(shape) if axis < 0 else 0
    sides = [shapes.volume(shape[:axis]), shapes.volume(shape[axis:])]
    return [(kind, tuple(-1 if v is None else v for v in sides))]


def _matmul(layer, node, a, kind, shape):
    other = layer._inputs[1]._shape
    if shape is None or other is None or len(shape) < 2 or len(other) < 2:
        return [(kind, None)]
    lead = shapes.onnx_broadcast(shape[:-2], other[:-2])
    return [(kind, None if lead is None else lead + (shape[-2], other[-1]))]


def _gemm(layer, node, a, kind, shape):
    other = layer._inputs[1]._shape
    rows = -1 if shape is None else shape[1 if a.get("transA") else 0]
    columns = -1 if other is None else other[0 if a.get("transB") else 1]
    return [(kind, (rows, columns))]


def _slid(layer, a, shape, window):
    count = len(window)
    strides, dilations = a.get("strides") or [1] * count, a.get("dilations") or [1] * count
    pads, auto = a.get("pads") or [0] * (2 * count), a.get("auto_pad", "NOTSET")
    result = []
    for i, extent in enumerate(shape[-count:]):
        long = 1 + dilations[i] * (window[i] - 1)
        room = extent + (pads[i] + pads[i + count] if auto == "NOTSET" else 0) - long
        if extent < 0:
            result.append(-1)
        elif auto.startswith("SAME"):
            result.append(shapes.ceil_div(extent, strides[i]))
        else:
            places = (shapes.ceil_div(room, strides[i]) if a.get("ceil_mode") else room // strides[i]) + 1
            if a.get("ceil_mode") and (places - 1) * strides[i] >= extent + pads[i]:
                places -= 1
            result.append(places)
    return tuple(result)


def _conv(layer, node, a, kind, shape):
    kernel = layer._inputs[1]._shape
    if shape is None or kernel is None:
        return [(kind, None if shape is None else (shape[0],) + (-1,) * (len(shape) - 1))]
    return [(kind, (shape[0], kernel[0]) + _slid(layer, a, shape, a.get("kernel_shape") or kernel[2:]))]


def _conv_transpose(layer, node, a, kind, shape):
    kernel = layer._inputs[1]._shape
    if shape is None or kernel is None:
        return [(kind, None)]
    count, window = len(kernel) - 2, kernel[2:]
    strides, dilations = a.get("strides") or [1] * count, a.get("dilations") or [1] * count
    pads, more = a.get("pads") or [0] * (2 * count), a.get("output_padding") or [0] * count
    grown = [-1 if shape[2 + i] < 0 else (shape[2 + i] - 1) * strides[i] + more[i] + 1 + dilations[i] * (window[i] - 1) - pads[i]
             - pads[i + count] for i in range(count)]
    if a.get("output_shape"):
        grown = a["output_shape"][-count:]
    elif a.get("auto_pad", "NOTSET").startswith("SAME"):
        grown = [-1 if e < 0 else e * s for e, s in zip(shape[2:], strides)]
    return [(kind, (shape[0], kernel[1] * a.get("group", 1)) + tuple(grown))]


def _pool(layer, node, a, kind, shape):
    return [(kind, None if shape is None else tuple(shape[:2]) + _slid(layer, a, shape, a["kernel_shape"])), (dtypes.INT64, None)]


def _global_pool(layer, node, a, kind, shape):
    return [(kind, None if shape is None else tuple(shape[:2]) + (1,) * (len(shape) - 2))]


def _reduce(layer, node, a, kind, shape):
    axes = _numbers(layer, 1, a, "axes")
    if shape is None or axes is None:
        return [(kind, shape and (-1,) * len(shape) if a.get("keepdims", 1) else None)]
    gone = {x % len(shape) for x in axes} if axes else set() if a.get("noop_with_empty_axes") else set(range(len(shape)))
    keep = a.get("keepdims", 1)
    return [(kind, tuple(1 if i in gone else d for i, d in enumerate(shape) if keep or i not in gone))]


def _arg(layer, node, a, kind, shape):
    if shape is None:
        return [(dtypes.INT64, None)]
    axis = a.get("axis", 0) % len(shape)
    keep = a.get("keepdims", 1)
    return [(dtypes.INT64, tuple(1 if i == axis else d for i, d in enumerate(shape) if keep or i != axis))]


def _squeeze(layer, node, a, kind, shape):
    axes = _numbers(layer, 1, a, "axes")
    if shape is None or axes is None or (not axes and -1 in shape):
        return [(kind, None)]
    gone = {x % len(shape) for x in axes} if axes else {i for i, d in enumerate(shape) if d == 1}
    return [(kind, tuple(d for i, d in enumerate(shape) if i not in gone))]


def _unsqueeze(layer, node, a, kind, shape):
    axes = _numbers(layer, 1, a, "axes")
    if shape is None or axes is None:
        return [(kind, None)]
    result, rank = list(shape), len(shape) + len(axes)
    for x in sorted(x % rank for x in axes):
        result.insert(x, 1)
    return [(kind, tuple(result))]


def _gather(layer, node, a, kind, shape):
    at = layer._inputs[1]._shape
    if shape is None or at is None:
        return [(kind, None)]
    axis = a.get("axis", 0) % len(shape)
    return [(kind, tuple(shape[:axis]) + tuple(at) + tuple(shape[axis + 1:]))]


def _slice(layer, node, a, kind, shape):
    if shape is None:
        return [(kind, None)]
    starts, ends = _numbers(layer, 1, a, "starts"), _numbers(layer, 2, a, "ends")
    axes, steps = _numbers(layer, 3, a, "axes"), _numbers(layer, 4)
    if None in (starts, ends, axes, steps):
        return [(kind, (-1,) * len(shape))]
    result = list(shape)
    for i, axis in enumerate(axes or range(len(starts))):
        axis %= len(shape)
        if shape[axis] >= 0:
            result[axis] = len(range(shape[axis])[starts[i]:ends[i] if ends[i] > -2**31 else None:steps[i] if steps else 1])
    return [(kind, tuple(result))]


def _split(layer, node, a, kind, shape):
    if shape is None:
        return [(kind, None)] * len(layer._outputs)
    axis, sizes = a.get("axis", 0) % len(shape), _numbers(layer, 1, a, "split")
    count = len(layer._outputs)
    if not sizes:
        size = shapes.ceil_div(shape[axis], count) if shape[axis] >= 0 else -1
        sizes = [-1] * count if size < 0 else [min(size, shape[axis] - size * i) for i in range(count)]
    return [(kind, tuple(sizes[i] if j == axis else d for j, d in enumerate(shape))) for i in range(count)]


def _pad(layer, node, a, kind, shape):
    pads, axes = _numbers(layer, 1, a, "pads"), _numbers(layer, 3)
    if shape is None or not pads or axes is None:
        return [(kind, shape and (-1,) * len(shape))]
    axes = [x % len(shape) for x in axes] or list(range(len(shape)))
    result = list(shape)
    for i, axis in enumerate(axes):
        result[axis] = -1 if shape[axis] < 0 else shape[axis] + pads[i] + pads[i + len(axes)]
    return [(kind, tuple(result))]


def _resize(layer, node, a, kind, shape):
    sizes = _numbers(layer, 3)
    if sizes:
        return [(kind, tuple(sizes))]
    view = layer._inputs[-1]._initializer if layer._inputs[-1] is not None else None
    if shape is None or view is None or view.type != dtypes.FLOAT:
        return [(kind, shape and (-1,) * len(shape))]
    return [(kind, tuple(-1 if d < 0 else int(d * float(s)) for d, s in zip(shape, view.array())))]


def _top_k(layer, node, a, kind, shape):
    count = _numbers(layer, 1, a, "k")
    result = None
    if shape is not None:
        result = list(shape)
        result[a.get("axis", -1)] = count if isinstance(count, int) else count[0] if count else -1
    return [(kind, result), (dtypes.INT64, result)]


def _expand(layer, node, a, kind, shape):
    values = layer._inputs[1]._values()
    return [(kind, None if values is None else shapes.onnx_broadcast(shape, tuple(-1 if v is None else v for v in values)))]


def _of_shape(layer, node, a, kind, shape):
    values = layer._inputs[0]._values()
    found = a["value"].type if a.get("value") is not None else dtypes.FLOAT
    return [(found, None if values is None else tuple(-1 if v is None else v for v in values))]


def _quantize(layer, node, a, kind, shape):
    if a.get("output_dtype"):
        return [(a["output_dtype"], shape)]
    zero = layer._inputs[2] if len(layer._inputs) > 2 else None
    return [(zero._onnx_type if zero is not None else dtypes.UINT8, shape)]


_HANDLERS = {
    "Cast": lambda layer, node, a, kind, shape: [(a["to"], shape)],
    "CastLike": lambda layer, node, a, kind, shape: [(layer._inputs[1]._onnx_type, shape)],
    "Shape": lambda layer, node, a, kind, shape: [(dtypes.INT64, (
        -1 if shape is None else len(shape[a.get("start", 0):a.get("end", len(shape))]),))],
    "Size": lambda layer, node, a, kind, shape: [(dtypes.INT64, ())],
    "NonZero": lambda layer, node, a, kind, shape: [(dtypes.INT64, (-1 if shape is None else len(shape), -1))],
    "GatherElements": lambda layer, node, a, kind, shape: [(kind, layer._inputs[1]._shape)],
    "GatherND": lambda layer, node, a, kind, shape: [(kind, None)],
    "Range": lambda layer, node, a, kind, shape: [(kind, (-1,))],
    "Tile": lambda layer, node, a, kind, shape: [(kind, shape and (-1,) * len(shape))],
    "NonMaxSuppression": lambda layer, node, a, kind, shape: [(dtypes.INT64, (-1, 3))],
    "DequantizeLinear": lambda layer, node, a, kind, shape: [(layer._inputs[1]._onnx_type, shape)],
    "Where": _where, "Constant": _constant, "Reshape": _reshape, "Transpose": _transpose, "Concat": _concat, "Flatten": _flatten,
    "MatMul": _matmul, "Gemm": _gemm, "Conv": _conv, "ConvTranspose": _conv_transpose, "MaxPool": _pool, "AveragePool": _pool,
    "GlobalAveragePool": _global_pool, "GlobalMaxPool": _global_pool, "ArgMax": _arg, "ArgMin": _arg, "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze, "Gather": _gather, "Slice": _slice, "Split": _split, "Pad": _pad, "Resize": _resize, "TopK": _top_k,
    "Expand": _expand, "ConstantOfShape": _of_shape, "QuantizeLinear": _quantize,
}
_HANDLERS.update({f"Reduce{kind}": _reduce for kind in
                  ("Sum", "Prod", "Max", "Min", "Mean", "L1", "L2", "SumSquare", "LogSum", "LogSumExp")})


_ON_VALUES = set("Identity Unsqueeze Squeeze Reshape Flatten Cast Concat Gather Slice Add Sub Mul Div".split())


def values(layer, index):
    """The elements of a small tensor of integers as a flat list; None where they are not known."""
    node = layer._node
    op, a = node.op_type, node.attributes
    if node.domain != "":
        return None
    if op == "Constant":
        value = a.get("value")
        if value is None:
            return [a["value_int"]] if "value_int" in a else a.get("value_ints")
        small = value.type in (dtypes.INT32, dtypes.INT64) and (shapes.volume(value.dims) or 0) <= 64
        array = value.array() if small else None
        return None if array is None else [int(v) for v in array.reshape(-1)]
    if op == "Shape":
        shape = layer._inputs[0]._shape
        return None if shape is None else [d if d >= 0 else None for d in shape][a.get("start", 0):a.get("end", len(shape))]
    if op not in _ON_VALUES:
        return None
    one = [t._values() if t is not None else None for t in layer._inputs]
    if op in ("Identity", "Unsqueeze", "Squeeze", "Reshape", "Flatten") or (op == "Cast"
                                                                            and a["to"] in (dtypes.INT32, dtypes.INT64)):
        return one[0]
    if None in one:
        return None
    if op == "Concat":
        return [v for part in one for v in part]
    if op == "Gather" and len(layer._inputs[0]._shape) == 1:
        return [one[0][i] if i is not None and -len(one[0]) <= i < len(one[0]) else None for i in one[1]]
    if op == "Slice" and len(one) >= 3 and len(layer._inputs[0]._shape) == 1 and all(None not in v for v in one[1:]):
        return one[0][one[1][0]:one[2][0]:one[4][0] if len(one) > 4 else 1]
    compute = {"Add": lambda x, y: x + y, "Sub": lambda x, y: x - y, "Mul": lambda x, y: x * y,
               "Div": lambda x, y: int(x / y) if y else None}.get(op)
    if compute is None or (len(one[0]) != len(one[1]) and 1 not in (len(one[0]), len(one[1]))):
        return None
    size = max(len(one[0]), len(one[1]))
    pairs = zip(*(v * (size if len(v) == 1 else 1) for v in one))
    return [None if x is None or y is None else compute(x, y) for x, y in pairs]
