"""Layers that move elements and compute none."""

from .. import dtypes, shapes
from ..enums import GatherMode, LayerType, SampleMode, ScatterMode
from ..errors import RecordingError
from ..layer import ILayer, Setting
from ..values import Dims, Permutation, Weights, weights_key


def _fits_values(tensor):
    return tensor._onnx_type in (dtypes.INT32, dtypes.INT64) and tensor._shape is not None and len(tensor._shape) <= 1


class IConstantLayer(ILayer):
    """Weights as a tensor."""
    _TYPE = LayerType.CONSTANT
    weights = Setting(None, Weights)
    shape = Setting((), Dims)

    def _infer(self):
        return [(self.weights._type, tuple(self.shape))]

    def _emit(self, w, inputs):
        if shapes.volume(self.shape) != len(self.weights):
            raise RecordingError(f"Constant layer '{self.name}' has {len(self.weights)} weights, and its shape {self.shape} has "
                                 f"{shapes.volume(self.shape)} elements.")
        tensor = self._outputs[0]
        if tensor.is_network_output or weights_key(self.weights) in self._network._weights_names:
            return [w.op("Identity", [w.weights(self.weights, list(self.shape), None, "weights")])]
        return [w.initializer(tensor.name, self.weights._type, list(self.shape), self.weights.raw())]

    def _values(self, index):
        if len(self.weights) > 64 or self.weights._type not in (dtypes.INT32, dtypes.INT64):
            return None
        return [int(v) for v in self.weights.numpy()]


class IShuffleLayer(ILayer):
    """A transposition, a reshape, a transposition; each only where it is set. A second input gives the shape."""
    _TYPE = LayerType.SHUFFLE
    first_transpose = Setting(None, Permutation)
    reshape_dims = Setting(None, Dims)
    second_transpose = Setting(None, Permutation)
    zero_is_placeholder = Setting(True, bool)

    def _order(self, name, shape):
        order = getattr(self, name)
        if order is None or shape is None:
            return order
        if sorted(order) != list(range(len(shape))):
            raise RecordingError(
                f"{name} of layer '{self.name}' is {shapes.text(order)}, which is no order of the {len(shape)} axes "
                f"of {shapes.text(shape)}.")
        return order

    def _transposed(self, name, shape):
        order = self._order(name, shape)
        return shape if order is None or shape is None else tuple(shape[i] for i in order)

    def _target(self):
        return self._inputs[1] if len(self._inputs) > 1 else None

    def _middle(self):
        shape = self._transposed("first_transpose", self._inputs[0]._shape)
        target = self._target()
        if target is None:
            return shape if self.reshape_dims is None else shapes.reshaped(shape, list(self.reshape_dims),
                                                                           self.zero_is_placeholder)
        values = target._values()
        if values is not None and None not in values:
            return shapes.reshaped(shape, values, self.zero_is_placeholder)
        if values is not None:
            return tuple(-1 if v is None else v for v in values)
        known = target._shape is not None and len(target._shape) == 1 and target._shape[0] >= 0
        return (-1,) * target._shape[0] if known else None

    def _infer(self):
        return [(self._inputs[0]._onnx_type, self._transposed("second_transpose", self._middle()))]

    def _emit(self, w, inputs):
        x = inputs[0]
        first = self._order("first_transpose", self._inputs[0]._shape)
        if first is not None:
            x = w.transpose(x, first)
        middle, target = self._middle(), self._target()
        if target is not None:
            x = w.reshape(x, w.to_int64(inputs[1], target), self.zero_is_placeholder)
        elif self.reshape_dims is not None:
            x = w.reshape(x, list(self.reshape_dims), self.zero_is_placeholder or 0 not in self.reshape_dims)
        second = self._order("second_transpose", middle)
        return [x if second is None else w.transpose(x, second)]

    def _values(self, index):
        return self._inputs[0]._values() if self.first_transpose is None and self.second_transpose is None else None


class IConcatenationLayer(ILayer):
    """Tensors one behind the other along an axis."""
    _TYPE = LayerType.CONCATENATION
    _axis_given = Setting(None, int)

    @property
    def axis(self):
        if self._node is not None:
            return self._parsed_setting("axis")
        return self._axis_given if self._axis_given is not None else max(self._inputs[0]._rank - 3, 0)

    @axis.setter
    def axis(self, value):
        self._axis_given = value

    def _infer(self):
        kind = self._inputs[0]._onnx_type
        all_shapes = [t._shape for t in self._inputs]
        if any(s is None for s in all_shapes):
            return [(kind, None)]
        rank = len(all_shapes[0])
        axis = shapes.axis_of(self.axis, rank, f"axis of layer '{self.name}'")
        listed = ", ".join(map(shapes.text, all_shapes))
        if any(len(s) != rank for s in all_shapes):
            raise RecordingError(f"Concatenation layer '{self.name}' needs tensors of equal rank, and these are {listed}.")
        result = []
        for i, extents in enumerate(zip(*all_shapes)):
            known = {d for d in extents if d >= 0}
            if i == axis:
                result.append(-1 if -1 in extents else sum(extents))
            elif len(known) > 1:
                raise RecordingError(
                    f"Concatenation layer '{self.name}' joins along axis {axis}, and axis {i} differs: {listed}.")
            else:
                result.append(known.pop() if known else -1)
        return [(kind, result)]

    def _emit(self, w, inputs):
        self._infer()
        return [w.op("Concat", w.unified(inputs, self._inputs)[0], axis=self.axis)]

    def _values(self, index):
        parts = [t._values() if _fits_values(t) else None for t in self._inputs]
        if any(p is None for p in parts):
            return None
        return [v for p in parts for v in p]


class IShapeLayer(ILayer):
    """The extents, as int64."""
    _TYPE = LayerType.SHAPE

    def _infer(self):
        shape = self._inputs[0]._shape
        return [(dtypes.INT64, (-1,) if shape is None else (len(shape),))]

    def _emit(self, w, inputs):
        return [w.op("Shape", inputs)]

    def _values(self, index):
        shape = self._inputs[0]._shape
        return None if shape is None else [d if d >= 0 else None for d in shape]


class IGatherLayer(ILayer):
    """Elements of the first operand at the places that the second names: as ONNX's Gather, GatherElements, GatherND."""
    _TYPE = LayerType.GATHER
    axis = Setting(0, int)
    mode = Setting(GatherMode.DEFAULT, GatherMode)
    num_elementwise_dims = Setting(0, int)

    def _infer(self):
        data, indices = self._inputs[0]._shape, self._inputs[1]._shape
        kind, common = self._inputs[0]._onnx_type, self.num_elementwise_dims
        if self.mode is GatherMode.ELEMENT:
            return [(kind, indices)]
        if data is None or indices is None:
            return [(kind, None)]
        if self.mode is GatherMode.ND:
            if not indices or indices[-1] < 0:
                return [(kind, None)]
            return [(kind, indices[:-1] + data[common + indices[-1]:])]
        axis = shapes.axis_of(self.axis, len(data), f"axis of layer '{self.name}'")
        return [(kind, data[:axis] + indices[common:] + data[axis + 1:])]

    def _emit(self, w, inputs):
        data, indices = inputs
        if self.mode is GatherMode.ELEMENT:
            return [w.op("GatherElements", inputs, since=11, axis=self.axis)]
        if self.mode is GatherMode.ND:
            return [
                w.op("GatherND", [data, w.to_int64(indices, self._inputs[1])], since=12, batch_dims=self.num_elementwise_dims)
            ]
        if self.num_elementwise_dims == 0:
            return [w.op("Gather", inputs, axis=self.axis)]
        if self.num_elementwise_dims != 1:
            raise RecordingError(
                f"num_elementwise_dims of layer '{self.name}' is {self.num_elementwise_dims}; a gather of mode DEFAULT "
                "takes 0 or 1.")
        return [self._batched(w, data, indices)]

    def _batched(self, w, data, indices):
        """One axis is common to both: the gathered axis is moved behind it, and back."""
        rank, more = self._inputs[0]._rank, self._inputs[1]._rank - 1
        axis = shapes.axis_of(self.axis, rank, f"axis of layer '{self.name}'")
        if axis == 0:
            raise RecordingError(f"axis of layer '{self.name}' is 0, which is the axis that num_elementwise_dims makes common.")
        between = list(range(1, axis))
        x = w.transpose(data, [0, axis] + between + list(range(axis + 1, rank)))
        at = w.unsqueeze(w.to_int64(indices, self._inputs[1]), [more + 1])
        y = w.op("GatherND", [x, at], since=12, batch_dims=1)
        moved = list(range(1 + more, 1 + more + len(between)))
        return w.transpose(y, [0] + moved + list(range(1, 1 + more)) + list(range(1 + more + len(between), rank + more - 1)))

    def _values(self, index):
        data, at = self._inputs[0]._values(), self._inputs[1]._values()
        one = _fits_values(self._inputs[0]) and len(self._inputs[0]._shape) == 1
        if data is None or at is None or not one or self.mode is not GatherMode.DEFAULT:
            return None
        return [data[i] if i is not None and -len(data) <= i < len(data) else None for i in at]


class IScatterLayer(ILayer):
    """A copy of the first operand with updates at places: as ONNX's ScatterElements and ScatterND."""
    _TYPE = LayerType.SCATTER
    axis = Setting(0, int)
    mode = Setting(ScatterMode.ELEMENT, ScatterMode)

    def _emit(self, w, inputs):
        if self.mode is ScatterMode.ELEMENT:
            return [w.op("ScatterElements", inputs, since=11, axis=self.axis)]
        return [w.op("ScatterND", [inputs[0], w.to_int64(inputs[1], self._inputs[1]), inputs[2]], since=11)]


class _AxesLayer(ILayer):
    """Squeeze and unsqueeze: the second input is constant and names axes."""

    def _axes(self):
        values = self._inputs[1]._values()
        if values is None or None in values:
            raise RecordingError(f"The axes of layer '{self.name}' must follow from constants.")
        return values


class ISqueezeLayer(_AxesLayer):
    """Without axes whose extent is 1."""
    _TYPE = LayerType.SQUEEZE

    def _infer(self):
        x = self._inputs[0]
        if x._shape is None:
            return [(x._onnx_type, None)]
        axes = {shapes.axis_of(a, len(x._shape), f"An axis of layer '{self.name}'") for a in self._axes()}
        return [(x._onnx_type, tuple(d for i, d in enumerate(x._shape) if i not in axes))]

    def _emit(self, w, inputs):
        rank = self._inputs[0]._rank
        return [w.squeeze(inputs[0], sorted(a % rank for a in self._axes()))]

    def _values(self, index):
        return self._inputs[0]._values()


class IUnsqueezeLayer(_AxesLayer):
    """With more axes whose extent is 1."""
    _TYPE = LayerType.UNSQUEEZE

    def _infer(self):
        x = self._inputs[0]
        if x._shape is None:
            return [(x._onnx_type, None)]
        shape, rank = list(x._shape), len(x._shape) + len(self._axes())
        for a in sorted(shapes.axis_of(a, rank, f"An axis of layer '{self.name}'") for a in self._axes()):
            shape.insert(a, 1)
        return [(x._onnx_type, shape)]

    def _emit(self, w, inputs):
        rank = self._inputs[0]._rank + len(self._axes())
        return [w.unsqueeze(inputs[0], sorted(a % rank for a in self._axes()))]

    def _values(self, index):
        return self._inputs[0]._values()


class IReverseSequenceLayer(ILayer):
    """The first elements of each batch item in reverse order, as many as its length says."""
    _TYPE = LayerType.REVERSE_SEQUENCE
    batch_axis = Setting(1, int)
    sequence_axis = Setting(0, int)

    def _emit(self, w, inputs):
        return [w.op("ReverseSequence", [inputs[0], w.to_int64(inputs[1], self._inputs[1])], since=10, batch_axis=self.batch_axis,
                     time_axis=self.sequence_axis)]


class ISliceLayer(ILayer):
    """Elements from a start on, so many, by a stride. Inputs 1, 2, 3 replace start, shape and stride; 4 is what FILL
    fills with, 5 replaces axes."""
    _TYPE = LayerType.SLICE
    start = Setting(None, Dims)
    shape = Setting(None, Dims)
    stride = Setting(None, Dims)
    axes = Setting(None, Dims)
    mode = Setting(SampleMode.STRICT_BOUNDS, SampleMode)

    def _given(self, at):
        return self._inputs[at] if at < len(self._inputs) else None

    def _known(self, at, value):
        """A parameter as numbers, None for one that is not known; None where not even their count is."""
        tensor = self._given(at)
        if tensor is None:
            return None if value is None else list(value)
        if tensor._values() is not None:
            return tensor._values()
        fixed = tensor._shape is not None and len(tensor._shape) == 1 and tensor._shape[0] >= 0
        return [None] * tensor._shape[0] if fixed else None

    def _axes(self):
        rank = self._inputs[0]._rank
        known = self._known(5, self.axes)
        if known is None:
            return list(range(rank))
        if None in known:
            raise RecordingError(f"The axes of slice layer '{self.name}' must follow from constants.")
        return [shapes.axis_of(a, rank, f"An axis of slice layer '{self.name}'") for a in known]

    def _infer(self):
        x = self._inputs[0]
        sizes = self._known(2, self.shape)
        if x._shape is None or sizes is None:
            return [(x._onnx_type, None)]
        shape = list(x._shape)
        if len(sizes) != len(self._axes()):
            raise RecordingError(
                f"Slice layer '{self.name}' has {len(sizes)} sizes for {len(self._axes())} axes of {shapes.text(x._shape)}.")
        for axis, size in zip(self._axes(), sizes):
            shape[axis] = -1 if size is None else size
        return [(x._onnx_type, shape)]

    def _parameter(self, w, inputs, at, value, i):
        """Of one axis: a number, or the name of a tensor without axes."""
        known = self._known(at, value)
        if known is not None and i < len(known) and known[i] is not None:
            return known[i]
        tensor = self._given(at)
        if tensor is None:
            raise RecordingError(f"Slice layer '{self.name}' lacks its {('', 'start', 'shape', 'stride')[at]} for axis {i}.")
        return w.op("Gather", [w.to_int64(inputs[at], tensor), w.ints(i)], axis=0)

    def _emit(self, w, inputs):
        x, axes = inputs[0], self._axes()
        parts = [[self._parameter(w, inputs, at, value, i) for i in range(len(axes))]
                 for at, value in ((1, self.start), (2, self.shape), (3, self.stride))]
        if self.mode is SampleMode.STRICT_BOUNDS:
            self._check_bounds(axes, *parts)
            if all(isinstance(s, int) and s > 0 for s in parts[2]):
                return [self._plain(w, x, axes, *parts)]
        mask = None
        for axis, start, size, stride in zip(axes, *parts):
            extent = w.extent(inputs[0], self._inputs[0], axis)
            if self.mode in (SampleMode.STRICT_BOUNDS, SampleMode.FILL) and (start, stride) == (0, 1) and size == extent \
                    and isinstance(size, int):
                continue
            at = self._places(w, start, size, stride)
            inside, legal = self._legal(w, at, extent)
            x = w.op("Gather", [x, w.named(inside)], axis=axis)
            if legal is not None:
                shaped = w.reshape(legal, [-1] + [1] * (self._inputs[0]._rank - 1 - axis))
                mask = shaped if mask is None else w.op("And", [mask, shaped])
        return [x if mask is None else w.op("Where", [mask, x, self._filling(w, inputs)], since=9)]

    def _check_bounds(self, axes, starts, sizes, strides):
        for axis, start, size, stride in zip(axes, starts, sizes, strides):
            extent = self._inputs[0]._shape[axis]
            if extent < 0 or not all(isinstance(v, int) for v in (start, size, stride)) or size == 0:
                continue
            last = start + (size - 1) * stride
            if not (0 <= start < extent and 0 <= last < extent):
                raise RecordingError(
                    f"Slice layer '{self.name}' reads axis {axis} from {start} to {last}, and the axis has {extent} "
                    "elements. Another mode than STRICT_BOUNDS says what lies outside.")

    def _plain(self, w, x, axes, starts, sizes, strides):
        if all(isinstance(v, int) for v in starts + sizes):
            ends = [a + n * s for a, n, s in zip(starts, sizes, strides)]
            return w.slice(x, starts, ends, axes, strides)
        ends = [w.arithmetic("Add", a, w.arithmetic("Mul", n, s)) for a, n, s in zip(starts, sizes, strides)]
        joined = [w.op("Concat", [w.reshape(w.named(v), [1]) for v in values], axis=0) for values in (starts, ends)]
        return w.slice(x, joined[0], joined[1], axes, strides)

    @staticmethod
    def _places(w, start, size, stride):
        """start, start + stride, ...: an array, or the name of a tensor."""
        import numpy
        steps = numpy.arange(size) if isinstance(size, int) else w.op("Range", [w.ints(0), size, w.ints(1)], since=11)
        return w.arithmetic("Add", w.arithmetic("Mul", steps, stride), start)

    def _legal(self, w, at, extent):
        """(places within the axis, and for FILL the name of a mask that says where they were)"""
        last = w.arithmetic("Sub", extent, 1)
        if self.mode is SampleMode.STRICT_BOUNDS:
            return at, None
        if self.mode is SampleMode.WRAP:
            return w.arithmetic("Mod", at, extent), None
        if self.mode is SampleMode.REFLECT:
            period = w.arithmetic("Max", w.arithmetic("Mul", last, 2), 1)
            there = w.arithmetic("Mod", at, period)
            return w.arithmetic("Min", there, w.arithmetic("Sub", period, there)) if not (isinstance(extent, int) and extent == 1) \
                else w.arithmetic("Mul", at, 0), None
        inside = w.arithmetic("Max", w.arithmetic("Min", at, last), 0)
        if self.mode is SampleMode.CLAMP:
            return inside, None
        return inside, w.op("Equal", [w.named(at), w.named(inside)], since=7)

    def _filling(self, w, inputs):
        kind = self._inputs[0]._onnx_type
        if self._given(4) is None:
            return w.number(0, kind)
        given = w.scalar(inputs[4], self._inputs[4])
        return given if self._inputs[4]._onnx_type == kind else w.cast(given, kind)

    def _values(self, index):
        values = self._inputs[0]._values()
        numbers = [self._known(1, self.start), self._known(2, self.shape), self._known(3, self.stride)]
        if values is None or not _fits_values(self._inputs[0]) or any(n is None or len(n) != 1 or n[0] is None for n in numbers):
            return None
        places = [numbers[0][0] + k * numbers[2][0] for k in range(numbers[1][0])]
        return [values[p] for p in places] if all(0 <= p < len(values) for p in places) else None
