"""Layers that combine elements along axes."""

from .. import dtypes, shapes
from ..enums import CumulativeOperation, DataType, LayerType, MatrixOperation, ReduceOperation, TopKOperation
from ..errors import RecordingError
from ..layer import ILayer, Setting
from ..values import Weights


class ISoftMaxLayer(ILayer):
    """Softmax along one axis, a bit mask; by default the third last, or the first where there are fewer."""
    _TYPE = LayerType.SOFTMAX
    _mask = Setting(None, int)

    @property
    def axes(self):
        if self._node is not None:
            return self._parsed_setting("axes")
        return self._mask if self._mask is not None else 1 << max(self._inputs[0]._rank - 3, 0)

    @axes.setter
    def axes(self, value):
        self._mask = value

    def _emit(self, w, inputs):
        rank = self._inputs[0]._rank
        axes = shapes.axes_of_mask(self.axes, rank, f"axes of softmax layer '{self.name}'")
        if len(axes) != 1:
            raise RecordingError(f"axes of softmax layer '{self.name}' is {self.axes:#b}; it must name one axis.")
        return [w.softmax(inputs[0], axes[0], rank)]


class IReduceLayer(ILayer):
    """A sum, product, extremum or mean over axes, a bit mask."""
    _TYPE = LayerType.REDUCE
    op = Setting(ReduceOperation.SUM, ReduceOperation)
    axes = Setting(0, int)
    keep_dims = Setting(False, bool)

    def _infer(self):
        x = self._inputs[0]
        if x._shape is None:
            return [(x._onnx_type, None)]
        gone = shapes.axes_of_mask(self.axes, len(x._shape), f"axes of reduce layer '{self.name}'")
        return [(x._onnx_type, tuple(1 if i in gone else d for i, d in enumerate(x._shape) if self.keep_dims or i not in gone))]

    def _emit(self, w, inputs):
        op = {"SUM": "Sum", "PROD": "Prod", "MAX": "Max", "MIN": "Min", "AVG": "Mean"}[self.op.name]
        axes = shapes.axes_of_mask(self.axes, self._inputs[0]._rank, f"axes of reduce layer '{self.name}'")
        return [w.reduce(op, inputs[0], axes, self.keep_dims)]


class ITopKLayer(ILayer):
    """The k largest or smallest elements along one axis, a bit mask, in order, and their places as int32. Input 1
    replaces k."""
    _TYPE = LayerType.TOPK
    _OUTPUTS = 2
    op = Setting(TopKOperation.MAX, TopKOperation)
    k = Setting(1, int)
    axes = Setting(0, int)

    def _axis(self):
        axes = shapes.axes_of_mask(self.axes, self._inputs[0]._rank, f"axes of top-k layer '{self.name}'")
        if len(axes) != 1:
            raise RecordingError(f"axes of top-k layer '{self.name}' is {self.axes:#b}; it must name one axis.")
        return axes[0]

    def _count(self):
        if len(self._inputs) < 2:
            return self.k
        values = self._inputs[1]._values()
        return -1 if values is None or values[0] is None else values[0]

    def _infer(self):
        x = self._inputs[0]
        shape = None
        if x._shape is not None:
            shape = list(x._shape)
            shape[self._axis()] = self._count()
        return [(x._onnx_type, shape), (dtypes.INT32, shape)]

    def _emit(self, w, inputs):
        extent, count = self._inputs[0]._shape[self._axis()], self._count()
        if 0 <= extent < count:
            raise RecordingError(f"Top-k layer '{self.name}' asks for {count} of {extent} elements.")
        k = w.ints([count]) if len(inputs) < 2 else w.reshape(w.to_int64(inputs[1], self._inputs[1]), [1])
        values, places = w.top_k(inputs[0], k, self._axis(), self.op is TopKOperation.MAX)
        return [values, w.cast(places, dtypes.INT32)]


class ILRNLayer(ILayer):
    """Local response normalisation across channels; alpha is divided by the window's size."""
    _TYPE = LayerType.LRN
    window_size = Setting(5, int)
    alpha = Setting(1e-4, float)
    beta = Setting(0.75, float)
    k = Setting(1.0, float)

    def _emit(self, w, inputs):
        if self.window_size % 2 == 0 or not 1 <= self.window_size <= 15:
            raise RecordingError(
                f"window_size of LRN layer '{self.name}' is {self.window_size}; it must be odd and from 1 to 15.")
        return [w.op("LRN", inputs, size=self.window_size, alpha=self.alpha, beta=self.beta, bias=self.k)]


class ICumulativeLayer(ILayer):
    """Sums of all elements up to each along an axis, which is the second input, a constant without axes."""
    _TYPE = LayerType.CUMULATIVE
    op = Setting(CumulativeOperation.SUM, CumulativeOperation)
    exclusive = Setting(False, bool)
    reverse = Setting(False, bool)

    def _emit(self, w, inputs):
        return [w.op("CumSum", inputs, since=11, exclusive=int(self.exclusive), reverse=int(self.reverse))]


class INormalizationLayer(ILayer):
    """(x - mean) / sqrt(variance + epsilon) * scale + bias, over axes, a bit mask; with groups over those and the channels
    of a group."""
    _TYPE = LayerType.NORMALIZATION
    axes = Setting(0, int)
    epsilon = Setting(1e-5, float)
    num_groups = Setting(1, int)
    compute_precision = Setting(DataType.FLOAT, DataType)
    is_v2 = Setting(False, bool)

    def _emit(self, w, inputs):
        x, scale, bias = self._inputs
        rank = x._rank
        axes = shapes.axes_of_mask(self.axes, rank, f"axes of normalization layer '{self.name}'")
        names, kind = w.unified(inputs, self._inputs)
        if self.num_groups != 1:
            return [self._grouped(w, names, axes, kind)]
        for t in (scale, bias):
            shapes.broadcast([x._shape, t._shape], f"Normalization layer '{self.name}'")
        if axes == list(range(2, rank)) and self._is_channel(scale) and self._is_channel(bias):
            flat = [w.reshape(n, [-1]) for n in names[1:]]
            return [w.op("InstanceNormalization", [names[0]] + flat, epsilon=self.epsilon)]
        tail = axes == list(range(axes[0], rank)) and axes[0] > 0
        if tail and w.opset >= 17 and all(self._is_tail(t, axes[0]) for t in (scale, bias)):
            flat = [w.squeeze(n, list(range(axes[0]))) for n in names[1:]]
            return [w.op("LayerNormalization", [names[0]] + flat, axis=axes[0], epsilon=self.epsilon)]
        y = self._normalized(w, names[0], axes, kind)
        return [w.op("Add", [w.op("Mul", [y, names[1]]), names[2]])]

    def _is_channel(self, t):
        """[1, C, 1 ...] with the channels of the input."""
        channels = self._inputs[0]._shape[1]
        return t._shape == (1, channels) + (1,) * (len(t._shape) - 2) and channels >= 0

    def _is_tail(self, t, first):
        tail = self._inputs[0]._shape[first:]
        return t._shape == (1,) * first + tuple(tail) and -1 not in tail

    def _normalized(self, w, x, axes, kind):
        centred = w.op("Sub", [x, w.reduce("Mean", x, axes, True)])
        variance = w.reduce("Mean", w.op("Mul", [centred, centred]), axes, True)
        return w.op("Div", [centred, w.op("Sqrt", [w.op("Add", [variance, w.number(self.epsilon, kind)])])])

    def _grouped(self, w, names, axes, kind):
        x, scale, _ = self._inputs
        rank, groups = x._rank, self.num_groups
        if axes != list(range(2, rank)):
            raise RecordingError(
                f"Normalization layer '{self.name}' has {groups} groups, so that axes must be those behind the channels, "
                f"{[1 << i for i in range(2, rank)]} summed, not {self.axes}.")
        if x._shape[1] >= 0 and x._shape[1] % groups:
            raise RecordingError(f"Normalization layer '{self.name}': {groups} groups do not divide {x._shape[1]} channels.")
        y = self._normalized(w, w.reshape(names[0], [0, groups, -1]), [2], kind)
        if not self.is_v2 and scale._shape is not None and scale._shape[1] == groups:
            flat = [w.reshape(n, [1, groups, 1]) for n in names[1:]]
            return w.reshape(w.op("Add", [w.op("Mul", [y, flat[0]]), flat[1]]), w.op("Shape", [names[0]]))
        y = w.reshape(y, w.op("Shape", [names[0]]))
        return w.op("Add", [w.op("Mul", [y, names[1]]), names[2]])


class IMatrixMultiplyLayer(ILayer):
    """The product of matrices, each as it is, transposed, or a vector; the axes before them broadcast."""
    _TYPE = LayerType.MATRIX_MULTIPLY
    op0 = Setting(MatrixOperation.NONE, MatrixOperation)
    op1 = Setting(MatrixOperation.NONE, MatrixOperation)

    def _parts(self, i, op):
        """(axes before, rows, columns); a vector is a row on the left and a column on the right."""
        shape = self._inputs[i]._shape
        needed = 1 if op is MatrixOperation.VECTOR else 2
        if len(shape) < needed:
            raise RecordingError(f"Operand {i} of matrix multiply layer '{self.name}' is {shapes.text(shape)}, and {op} needs "
                                 f"{needed} axes or more.")
        if op is MatrixOperation.VECTOR:
            return (shape[:-1], *((1, shape[-1]) if i == 0 else (shape[-1], 1)))
        rows, columns = shape[-2:]
        return (shape[:-2], *((columns, rows) if op is MatrixOperation.TRANSPOSE else (rows, columns)))

    def _infer(self):
        kind = self._inputs[0]._onnx_type
        if any(t._shape is None for t in self._inputs):
            return [(kind, None)]
        lead0, rows, inner0 = self._parts(0, self.op0)
        lead1, inner1, columns = self._parts(1, self.op1)
        if inner0 != inner1 and min(inner0, inner1) >= 0:
            raise RecordingError(
                f"Matrix multiply layer '{self.name}' multiplies {shapes.text(self._inputs[0]._shape)} ({self.op0}) by "
                f"{shapes.text(self._inputs[1]._shape)} ({self.op1}): {inner0} columns by {inner1} rows.")
        shape = shapes.broadcast([tuple(lead0), tuple(lead1)], f"Matrix multiply layer '{self.name}', before the last axes,")
        shape += () if self.op0 is MatrixOperation.VECTOR else (rows,)
        return [(kind, shape + (() if self.op1 is MatrixOperation.VECTOR else (columns,)))]

    def _operand(self, w, name, i, op):
        rank = self._inputs[i]._rank
        if op is MatrixOperation.VECTOR:
            return w.unsqueeze(name, [rank - 1 if i == 0 else rank])
        if op is MatrixOperation.TRANSPOSE:
            return w.transpose(name, list(range(rank - 2)) + [rank - 1, rank - 2])
        return name

    def _emit(self, w, inputs):
        self._infer()
        names, _ = w.unified(inputs, self._inputs)
        operands = [self._operand(w, n, i, op) for i, (n, op) in enumerate(zip(names, (self.op0, self.op1)))]
        y = w.op("MatMul", operands)
        rank = self._inputs[0]._rank + (1 if self.op0 is MatrixOperation.VECTOR else 0)
        gone = [rank - 2] * (self.op0 is MatrixOperation.VECTOR) + [rank - 1] * (self.op1 is MatrixOperation.VECTOR)
        return [w.squeeze(y, gone) if gone else y]


class IFullyConnectedLayer(ILayer):
    """All elements of the last three axes by a matrix [outputs, elements], plus a bias; two axes of 1 follow."""
    _TYPE = LayerType.FULLY_CONNECTED
    num_output_channels = Setting(0, int)
    kernel = Setting(None, Weights)
    bias = Setting(None, Weights)

    def _infer(self):
        x = self._inputs[0]
        return [(x._onnx_type, None if x._shape is None else tuple(x._shape[:-3]) + (self.num_output_channels, 1, 1))]

    def _emit(self, w, inputs):
        x, maps = self._inputs[0], self.num_output_channels
        if x._rank < 3:
            raise RecordingError(
                f"Fully connected layer '{self.name}' needs 3 axes or more, and its input is {shapes.text(x._shape)}.")
        lead = x._rank - 3
        inner = len(self.kernel) // max(maps, 1)
        if inner * maps != len(self.kernel) or shapes.volume(x._shape[-3:]) not in (None, inner):
            raise RecordingError(f"Fully connected layer '{self.name}' has {len(self.kernel)} weights for {maps} outputs of "
                                 f"{shapes.volume(x._shape[-3:])} elements.")
        kernel = w.weights(self.kernel, [maps, inner], x._onnx_type, "kernel")
        y = w.op("MatMul", [w.reshape(inputs[0], [0] * lead + [inner]), w.transpose(kernel, [1, 0])])
        if self.bias is not None and len(self.bias):
            y = w.op("Add", [y, w.weights(self.bias, [maps], x._onnx_type, "bias")])
        return [w.reshape(y, [0] * lead + [maps, 1, 1])]


class IEinsumLayer(ILayer):
    """A sum over products, as an equation says."""
    _TYPE = LayerType.EINSUM
    equation = Setting("", str)

    def _terms(self):
        left, _, right = self.equation.replace(" ", "").partition("->")
        terms = left.split(",")
        if "->" not in self.equation:
            joined = "".join(terms)
            right = "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
        return terms, right

    def _infer(self):
        kind = self._inputs[0]._onnx_type
        terms, right = self._terms()
        if len(terms) != len(self._inputs):
            raise RecordingError(
                f"The equation '{self.equation}' of einsum layer '{self.name}' has {len(terms)} operands, and the layer "
                f"{len(self._inputs)}.")
        if any(t._shape is None for t in self._inputs):
            return [(kind, None)]
        extents = {}
        for term, tensor in zip(terms, self._inputs):
            if "." in term or len(set(term)) != len(term):
                raise RecordingError(
                    f"The equation '{self.equation}' of einsum layer '{self.name}' has an ellipsis or a diagonal, which "
                    "TensorRT does not take.")
            if len(term) != len(tensor._shape):
                raise RecordingError(
                    f"The equation '{self.equation}' of einsum layer '{self.name}' gives '{term}' for {shapes.text(tensor._shape)}."
                )
            for label, extent in zip(term, tensor._shape):
                if extents.get(label, 1) in (1, -1):
                    extents[label] = extent if extent != 1 else extents.get(label, 1)
        missing = [c for c in right if c not in extents]
        if missing:
            raise RecordingError(
                f"The equation '{self.equation}' of einsum layer '{self.name}' has '{missing[0]}' only behind '->'.")
        return [(kind, tuple(extents[c] for c in right))]

    def _emit(self, w, inputs):
        self._infer()
        return [w.op("Einsum", w.unified(inputs, self._inputs)[0], since=12, equation=self.equation)]
