"""Writes layers as ONNX nodes, in the opset that the network has."""

from . import dtypes, onnx_messages, shapes
from .errors import RecordingError
from .values import weights_key

DEFAULT_OPSET = 17


class NeedsOpset(Exception):
    """A node that the opset lacks; the network is then written again in a newer one."""

    def __init__(self, opset):
        self.opset = opset


class Node:
    """A node that is being written."""

    def __init__(self, op, inputs, outputs, name, domain, attributes):
        self.op, self.inputs, self.outputs, self.name = op, inputs, outputs, name
        self.domain, self.attributes = domain, attributes

    def bytes(self):
        return onnx_messages.node(self.op, self.inputs, self.outputs, self.name, self.domain, self.attributes)


class Writer:
    """Nodes and initializers. Operands are names of tensors; None is one that is left out."""

    def __init__(self, opset, is_fixed, taken):
        self.opset, self.is_fixed = opset, is_fixed  # fixed: a parsed model's
        self.nodes, self.initializers, self.notes = [], [], []
        self.layer = None  # whose nodes are written
        self._taken, self._constants, self._named = set(taken), {}, {}

    # ---- names, nodes

    def fresh(self, hint):
        name, count = hint, 1
        while name in self._taken:
            count += 1
            name = f"{hint}_{count}"
        self._taken.add(name)
        return name

    def require(self, since, what):
        if self.opset >= since:
            return
        if self.is_fixed:
            raise RecordingError(
                f"{what} needs opset {since}, and the model that the parser read has opset {self.opset}. Raise it "
                f"first: assay surgeon convert-opset MODEL --opset {since} -o NEW_MODEL.")
        raise NeedsOpset(since)

    def op(self, op, inputs, since=1, outputs=1, domain="", **attributes):
        """A node; its output's name, or a list of those where there are several."""
        self.require(since, f"Layer '{self.layer.name}' ({op})")
        prefix = self.layer.name
        names = [self.fresh(f"{prefix}/{op}_output") for _ in range(outputs)]
        self.nodes.append(Node(op, list(inputs), names, self.fresh(f"{prefix}/{op}"), domain,
                               {k: v for k, v in attributes.items() if v is not None}))
        return names[0] if outputs == 1 else names

    # ---- constants

    def raw(self, kind, dims, data, hint="constant"):
        key = (kind, tuple(dims), data) if len(data) <= 64 else None
        if key is not None and key in self._constants:
            return self._constants[key]
        name = self.fresh(f"{self.layer.name}/{hint}")
        self.initializers.append(onnx_messages.tensor(name, kind, list(dims), data))
        if key is not None:
            self._constants[key] = name
        return name

    def initializer(self, name, kind, dims, data):
        """A constant under the name that its tensor has."""
        self.initializers.append(onnx_messages.tensor(name, kind, dims, data))
        return name

    def ints(self, values, kind=dtypes.INT64):
        """A constant of one axis; of none where `values` is a number."""
        size = 8 if kind == dtypes.INT64 else 4
        dims = [] if isinstance(values, int) else [len(values)]
        values = [values] if isinstance(values, int) else values
        return self.raw(kind, dims, b"".join(int(v).to_bytes(size, "little", signed=True) for v in values))

    def number(self, value, kind):
        """A scalar of an element type."""
        import struct
        if kind in (dtypes.INT32, dtypes.INT64):
            return self.ints(int(value), kind)
        if kind == dtypes.FLOAT:
            return self.raw(kind, [], struct.pack("<f", value))
        if kind == dtypes.HALF:
            return self.raw(kind, [], struct.pack("<e", value))
        if kind == dtypes.DOUBLE:
            return self.raw(kind, [], struct.pack("<d", value))
        if kind in (dtypes.INT8, dtypes.UINT8, dtypes.BOOL):
            return self.raw(kind, [], struct.pack("<b" if kind == dtypes.INT8 else "<B", int(value)))
        return self.cast(self.raw(dtypes.FLOAT, [], struct.pack("<f", value)), kind)

    def weights(self, weights, dims, kind, hint):
        """Weights with a shape; of another type of float they are converted. `kind` None: as they are."""
        named = self.layer._network._weights_names.get(weights_key(weights)) if len(weights) else None
        if named is not None and (kind is None or weights._type == kind):
            if named not in self._named:
                self._named[named] = self.fresh(named)
                self.initializers.append(onnx_messages.tensor(self._named[named], weights._type, list(dims), weights.raw()))
            return self._named[named]
        if kind is None or weights._type == kind:
            return self.raw(weights._type, dims, weights.raw(), hint)
        target = dtypes.numpy_dtype(kind)
        if target is not None and dtypes.numpy_dtype(weights._type) is not None:
            import numpy
            values = numpy.asarray(weights.numpy(), dtype=target)
            return self.raw(kind, dims, values.tobytes(), hint)
        return self.cast(self.raw(weights._type, dims, weights.raw(), hint), kind)

    # ---- nodes whose form depends on the opset

    def cast(self, x, kind):
        if kind == dtypes.BF16:
            self.require(13, "bfloat16")
        if kind == dtypes.FP8:
            self.require(19, "float8")
        if kind == dtypes.INT4:
            self.require(21, "int4")
        return self.op("Cast", [x], to=kind)

    def transpose(self, x, order):
        return x if list(order) == sorted(order) else self.op("Transpose", [x], perm=list(order))

    def reshape(self, x, dims, zero_is_placeholder=True):
        """`dims`: numbers, or the name of a tensor of int64."""
        dims = dims if isinstance(dims, str) else self.ints(list(dims))
        if zero_is_placeholder:
            return self.op("Reshape", [x, dims])
        return self.op("Reshape", [x, dims], since=14, allowzero=1)

    def _with_axes(self, op, x, axes, since, **attributes):
        if self.opset >= since:
            return self.op(op, [x, self.ints(axes)], **attributes)
        return self.op(op, [x], axes=list(axes), **attributes)

    def squeeze(self, x, axes):
        return self._with_axes("Squeeze", x, axes, 13)

    def unsqueeze(self, x, axes):
        return self._with_axes("Unsqueeze", x, axes, 13)

    def reduce(self, op, x, axes, keep_dims):
        return self._with_axes("Reduce" + op, x, axes, 13 if op == "Sum" else 18, keepdims=int(keep_dims))

    def softmax(self, x, axis, rank):
        if self.opset >= 13 or axis == rank - 1:
            return self.op("Softmax", [x], axis=axis)
        order = [i for i in range(rank) if i != axis] + [axis]
        back = [order.index(i) for i in range(rank)]
        return self.transpose(self.op("Softmax", [self.transpose(x, order)], axis=rank - 1), back)

    def clip(self, x, low, high, kind):
        if self.opset >= 11:
            return self.op("Clip", [x, self.number(low, kind), self.number(high, kind)])
        return self.op("Clip", [x], min=float(low), max=float(high))

    def pad(self, x, begin, end, kind, value=0.0):
        """Pads all axes."""
        if self.opset >= 11:
            return self.op("Pad", [x, self.ints(list(begin) + list(end)), self.number(value, kind)])
        return self.op("Pad", [x], pads=list(begin) + list(end), value=float(value), mode="constant")

    def slice(self, x, starts, ends, axes, steps):
        """Each a list of numbers, or the name of a tensor."""
        if self.opset >= 10:
            named = [v if isinstance(v, str) else self.ints(v) for v in (starts, ends, axes, steps)]
            return self.op("Slice", [x] + named)
        if any(isinstance(v, str) for v in (starts, ends)) or any(s != 1 for s in steps):
            self.require(10, f"Layer '{self.layer.name}' (a slice with strides or tensors)")
        return self.op("Slice", [x], starts=starts, ends=ends, axes=axes)

    def top_k(self, x, k, axis, largest):
        """[values, indices of int64]; `k` is the name of a tensor with one axis and one element."""
        return self.op("TopK", [x, k], since=11, outputs=2, axis=axis, largest=int(largest), sorted=1)

    # ---- small things that many layers need

    def to_int64(self, x, tensor):
        return x if tensor._onnx_type == dtypes.INT64 else self.cast(x, dtypes.INT64)

    def unified(self, names, tensors):
        """Operands of one type: floats become the widest of theirs, unless the network is strongly typed. (names, type)"""
        kinds = [t._onnx_type for t in tensors]
        if len(set(kinds)) == 1 or None in kinds:
            return list(names), kinds[0]
        rule = f"Layer '{self.layer.name}' has operands of {' and '.join(dtypes.ONNX_NAMES.get(k, '?') for k in kinds)}"
        wider = [dtypes.DOUBLE, dtypes.FLOAT, dtypes.HALF, dtypes.BF16] if all(k in dtypes.FLOATS for k in kinds) else \
            [dtypes.INT64, dtypes.INT32] if all(k in (dtypes.INT32, dtypes.INT64) for k in kinds) else []
        if self.layer._network._is_strongly_typed or not any(k in kinds for k in wider):
            raise RecordingError(f"{rule}; they must be of one type. Add a cast layer.")
        kind = dtypes.FLOAT if {dtypes.HALF, dtypes.BF16} <= set(kinds) else next(k for k in wider if k in kinds)
        return [n if t == kind else self.cast(n, kind) for n, t in zip(names, kinds)], kind

    def scalar(self, x, tensor):
        """A tensor of one element as one without axes."""
        return x if tensor._shape == () else self.reshape(x, [])

    def arithmetic(self, op, a, b):
        """An operation on int64, each operand a NumPy array (or number) or the name of a tensor; an array where both are."""
        import numpy
        if not isinstance(a, str) and not isinstance(b, str):
            return {"Add": numpy.add, "Sub": numpy.subtract, "Mul": numpy.multiply, "Div": numpy.floor_divide,
                    "Mod": numpy.mod, "Max": numpy.maximum, "Min": numpy.minimum}[op](a, b)
        return self.op(op, [self.named(a), self.named(b)], since=12 if op in ("Max", "Min") else 10 if op == "Mod" else 7)

    def named(self, value):
        """The name of a tensor of int64 that holds the numbers."""
        import numpy
        if isinstance(value, str):
            return value
        array = numpy.asarray(value, dtype="<i8")
        return self.raw(dtypes.INT64, array.shape, array.tobytes())

    def extent(self, x, tensor, axis):
        """An extent: a number where it is known, else the name of a tensor without axes."""
        if tensor._shape is not None and tensor._shape[axis] >= 0:
            return tensor._shape[axis]
        return self.op("Gather", [self.op("Shape", [x]), self.ints(axis)], axis=0)


def check_rank(tensor, at_least, what):
    rank = tensor._rank
    if rank < at_least:
        raise RecordingError(f"{what} needs {at_least} axes or more, and '{tensor.name}' is {shapes.text(tensor._shape)}.")
    return rank
