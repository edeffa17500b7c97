"""Layers that compute each element from the elements at the same place."""

import math

from .. import dtypes, shapes
from ..enums import ActivationType, DataType, ElementWiseOperation, LayerType, ScaleMode, UnaryOperation
from ..errors import RecordingError
from ..layer import ILayer, Setting
from ..values import Weights


class IActivationLayer(ILayer):
    """An activation; alpha and beta as TensorRT's ActivationType says."""
    _TYPE = LayerType.ACTIVATION
    type = Setting(ActivationType.RELU, ActivationType)  # hides ILayer.type, as TensorRT's does
    alpha = Setting(0.0, float)
    beta = Setting(0.0, float)

    def _emit(self, w, inputs):
        x, kind = inputs[0], self._inputs[0]._onnx_type
        a, b, T = self.alpha, self.beta, ActivationType
        plain = {T.SIGMOID: "Sigmoid", T.TANH: "Tanh", T.SOFTSIGN: "Softsign"}
        if self.type is T.RELU:
            return [w.op("Relu", [x], since=14 if kind in dtypes.INTEGERS else 1)]
        if self.type in plain:
            return [w.op(plain[self.type], [x])]
        if self.type is T.LEAKY_RELU:
            return [w.op("LeakyRelu", [x], alpha=a)]
        if self.type is T.ELU:
            return [w.op("Elu", [x], alpha=a)]
        if self.type is T.SELU:
            return [w.op("Selu", [x], alpha=a, gamma=b)]
        if self.type is T.HARD_SIGMOID:
            return [w.op("HardSigmoid", [x], alpha=a, beta=b)]
        if self.type is T.THRESHOLDED_RELU:
            return [w.op("ThresholdedRelu", [x], since=10, alpha=a)]
        if self.type is T.CLIP:
            if a <= b:
                return [w.clip(x, a, b, kind)]
            return [w.op("Max", [w.op("Min", [x, w.number(b, kind)], since=8), w.number(a, kind)], since=8)]

        def scaled(factor, y):
            return w.op("Mul", [w.number(factor, kind), y])

        if self.type is T.SOFTPLUS:
            return [scaled(a, w.op("Softplus", [scaled(b, x)]))]
        if self.type is T.SCALED_TANH:
            return [scaled(a, w.op("Tanh", [scaled(b, x)]))]
        if self.type is T.GELU_ERF:
            inner = w.op("Erf", [scaled(math.sqrt(0.5), x)], since=9)
        else:  # GELU_TANH
            cube = w.op("Mul", [w.op("Mul", [x, x]), x])
            inner = w.op("Tanh", [scaled(math.sqrt(2 / math.pi), w.op("Add", [scaled(0.044715, cube), x]))])
        return [w.op("Mul", [scaled(0.5, x), w.op("Add", [w.number(1, kind), inner])])]


_UNARY = {"EXP": "Exp", "LOG": "Log", "SQRT": "Sqrt", "RECIP": "Reciprocal", "ABS": "Abs", "NEG": "Neg", "SIN": "Sin",
          "COS": "Cos", "TAN": "Tan", "SINH": "Sinh", "COSH": "Cosh", "ASIN": "Asin", "ACOS": "Acos", "ATAN": "Atan",
          "ASINH": "Asinh", "ACOSH": "Acosh", "ATANH": "Atanh", "CEIL": "Ceil", "FLOOR": "Floor", "ERF": "Erf", "NOT": "Not",
          "SIGN": "Sign", "ROUND": "Round", "ISINF": "IsInf", "ISNAN": "IsNaN"}
_UNARY_SINCE = {"ROUND": 11, "ISINF": 10, "ISNAN": 9, "ERF": 9, "SIGN": 9, "SINH": 9, "COSH": 9, "ASINH": 9, "ACOSH": 9,
                "ATANH": 9}


class IUnaryLayer(ILayer):
    """A function of one operand. ROUND takes halves to the even number."""
    _TYPE = LayerType.UNARY
    op = Setting(UnaryOperation.EXP, UnaryOperation)

    def _infer(self):
        x = self._inputs[0]
        return [(dtypes.BOOL if self.op.name in ("NOT", "ISINF", "ISNAN") else x._onnx_type, x._shape)]

    def _emit(self, w, inputs):
        return [w.op(_UNARY[self.op.name], inputs, since=_UNARY_SINCE.get(self.op.name, 7))]


_BINARY = {"SUM": "Add", "PROD": "Mul", "MAX": "Max", "MIN": "Min", "SUB": "Sub", "DIV": "Div", "POW": "Pow", "AND": "And",
           "OR": "Or", "XOR": "Xor", "EQUAL": "Equal", "GREATER": "Greater", "LESS": "Less"}
_ON_VALUES = {"SUM": lambda a, b: a + b, "PROD": lambda a, b: a * b, "MAX": max, "MIN": min, "SUB": lambda a, b: a - b,
              "DIV": lambda a, b: int(a / b) if b else None, "FLOOR_DIV": lambda a, b: a // b if b else None}


class IElementWiseLayer(ILayer):
    """A function of two operands of equal rank, whose extents are equal or 1."""
    _TYPE = LayerType.ELEMENTWISE
    op = Setting(ElementWiseOperation.SUM, ElementWiseOperation)

    def _infer(self):
        a, b = self._inputs
        kind = dtypes.BOOL if self.op.name in ("AND", "OR", "XOR", "EQUAL", "GREATER", "LESS") else a._onnx_type
        if kind in dtypes.FLOATS and b._onnx_type == dtypes.FLOAT and kind in (dtypes.HALF, dtypes.BF16):
            kind = dtypes.FLOAT
        return [(kind, shapes.broadcast([a._shape, b._shape], f"Elementwise layer '{self.name}'"))]

    def _emit(self, w, inputs):
        operands, kind = w.unified(inputs, self._inputs)
        integer = kind in dtypes.INTEGERS
        if self.op is ElementWiseOperation.FLOOR_DIV:
            if not integer:
                return [w.op("Floor", [w.op("Div", operands)])]
            rest = w.op("Mod", operands, since=10)
            return [w.op("Div", [w.op("Sub", [operands[0], rest]), operands[1]])]
        since = 12 if integer and self.op.name in ("MAX", "MIN") else 8 if self.op.name in ("MAX", "MIN") else 7
        if self.op.name == "EQUAL":
            since = 7 if integer or kind == dtypes.BOOL else 11
        if self.op.name in ("GREATER", "LESS"):
            since = 9
        return [w.op(_BINARY[self.op.name], operands, since=since)]

    def _values(self, index):
        a, b = (t._values() for t in self._inputs)
        compute = _ON_VALUES.get(self.op.name)
        if a is None or b is None or compute is None or (len(a) != len(b) and 1 not in (len(a), len(b))):
            return None
        size = max(len(a), len(b))
        a, b = a * (size if len(a) == 1 else 1), b * (size if len(b) == 1 else 1)
        return [None if x is None or y is None else compute(x, y) for x, y in zip(a, b)]


class IScaleLayer(ILayer):
    """(x * scale + shift) ^ power, with one coefficient, one a channel, or one an element."""
    _TYPE = LayerType.SCALE
    mode = Setting(ScaleMode.UNIFORM, ScaleMode)
    shift = Setting(None, Weights)
    scale = Setting(None, Weights)
    power = Setting(None, Weights)
    channel_axis = Setting(None, int)

    def _dims(self, weights, role):
        shape = self._inputs[0]._shape
        rank = self._inputs[0]._rank
        axis = self.channel_axis if self.channel_axis is not None else max(rank - 3, 0)
        axis = shapes.axis_of(axis, rank, f"channel_axis of layer '{self.name}'")
        if self.mode is ScaleMode.UNIFORM:
            wanted, dims = 1, []
        elif self.mode is ScaleMode.CHANNEL:
            wanted, dims = shape[axis], [len(weights)] + [1] * (rank - 1 - axis)
        else:
            inner = shapes.volume(shape[axis:])
            whole = shapes.volume(shape)
            start = 0 if whole == len(weights) else axis
            wanted, dims = whole if start == 0 else inner, list(shape[start:])
            if wanted is None:
                raise RecordingError(f"Scale layer '{self.name}' has a weight for each element, and its input "
                                     f"{shapes.text(shape)} has open extents there.")
        if wanted >= 0 and wanted != len(weights):
            raise RecordingError(f"Scale layer '{self.name}': {role} has {len(weights)} weights, and {self.mode} needs {wanted} "
                                 f"for an input {shapes.text(shape)}.")
        return dims

    def _emit(self, w, inputs):
        y, kind = inputs[0], self._inputs[0]._onnx_type
        for op, role in (("Mul", "scale"), ("Add", "shift"), ("Pow", "power")):
            weights = getattr(self, role)
            if weights is not None and len(weights):
                y = w.op(op, [y, w.weights(weights, self._dims(weights, role), kind, role)])
        return [y]


class ISelectLayer(ILayer):
    """The second operand where the first is true, else the third."""
    _TYPE = LayerType.SELECT

    def _infer(self):
        shape = shapes.broadcast([t._shape for t in self._inputs], f"Select layer '{self.name}'")
        return [(self._inputs[1]._onnx_type, shape)]

    def _emit(self, w, inputs):
        chosen, _ = w.unified(inputs[1:], self._inputs[1:])
        return [w.op("Where", [inputs[0]] + chosen, since=9)]


class IParametricReLULayer(ILayer):
    """x where it is positive, else slope * x."""
    _TYPE = LayerType.PARAMETRIC_RELU

    def _emit(self, w, inputs):
        shapes.broadcast([t._shape for t in self._inputs], f"Parametric ReLU layer '{self.name}'")
        return [w.op("PRelu", w.unified(inputs, self._inputs)[0], since=7)]


class IIdentityLayer(ILayer):
    """A copy; of another type where set_output_type() asks for one."""
    _TYPE = LayerType.IDENTITY

    def _emit(self, w, inputs):
        return [w.op("Identity", inputs)]

    def _values(self, index):
        return self._inputs[0]._values()


class ICastLayer(ILayer):
    """Elements of another type."""
    _TYPE = LayerType.CAST
    to_type = Setting(DataType.FLOAT, DataType)

    def _infer(self):
        return [(dtypes.to_onnx(self.to_type), self._inputs[0]._shape)]

    def _emit(self, w, inputs):
        return [w.cast(inputs[0], dtypes.to_onnx(self.to_type))]

    def _values(self, index):
        return self._inputs[0]._values() if self.to_type in (DataType.INT32, DataType.INT64) and \
            self._inputs[0]._onnx_type in (dtypes.INT32, dtypes.INT64) else None


class IAssertionLayer(ILayer):
    """A condition that must hold. ONNX has no such operator: a condition that does not follow from constants is not
    checked, which the network's settings say."""
    _TYPE = LayerType.ASSERTION
    _OUTPUTS = 0
    message = Setting("", str)

    def _infer(self):
        return []

    def _emit(self, w, inputs):
        w.notes.append(f"assertion '{self.message}' of layer '{self.name}': not checked")
        return []
