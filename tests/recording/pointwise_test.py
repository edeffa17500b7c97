"""Layers that compute element by element, against NumPy."""

import math

import numpy as np
from support import NetworkTest, constant, numbers, trt

A, E, U = trt.ActivationType, trt.ElementWiseOperation, trt.UnaryOperation
ERF = np.vectorize(math.erf)


def activation(kind, alpha=None, beta=None):
    def make(network, x):
        layer = network.add_activation(x, kind)
        if alpha is not None:
            layer.alpha = alpha
        if beta is not None:
            layer.beta = beta
        return layer
    return make


class Activation(NetworkTest):
    X = np.linspace(-3, 3, 24).reshape(2, 3, 4).astype(np.float32)

    def test_all(self):
        x = self.X.astype(np.float64)
        cases = {
            A.RELU: (None, None, np.maximum(x, 0)),
            A.SIGMOID: (None, None, 1 / (1 + np.exp(-x))),
            A.TANH: (None, None, np.tanh(x)),
            A.LEAKY_RELU: (0.1, None, np.where(x >= 0, x, 0.1 * x)),
            A.ELU: (0.7, None, np.where(x >= 0, x, 0.7 * (np.exp(x) - 1))),
            A.SELU: (1.5, 1.1, np.where(x > 0, 1.1 * x, 1.1 * (1.5 * np.exp(x) - 1.5))),
            A.SOFTSIGN: (None, None, x / (1 + np.abs(x))),
            A.SOFTPLUS: (0.5, 2.0, 0.5 * np.log(np.exp(2 * x) + 1)),
            A.CLIP: (-1.0, 1.5, np.maximum(-1, np.minimum(1.5, x))),
            A.HARD_SIGMOID: (0.3, 0.4, np.maximum(0, np.minimum(1, 0.3 * x + 0.4))),
            A.SCALED_TANH: (1.2, 0.8, 1.2 * np.tanh(0.8 * x)),
            A.THRESHOLDED_RELU: (0.5, None, np.where(x > 0.5, x, 0)),
            A.GELU_ERF: (None, None, 0.5 * x * (1 + ERF(math.sqrt(0.5) * x))),
            A.GELU_TANH: (None, None, 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (0.044715 * x**3 + x)))),
        }
        self.assertEqual(set(cases), set(A))
        for kind, (alpha, beta, wanted) in cases.items():
            with self.subTest(kind.name):
                self.compare(activation(kind, alpha, beta), wanted, dynamic=False, x=self.X)

    def test_clip_upside_down_takes_the_lower_bound(self):
        self.compare(activation(A.CLIP, 1.0, -1.0), np.full_like(self.X, 1.0), x=self.X)


class Unary(NetworkTest):
    FUNCTIONS = {
        U.EXP: np.exp, U.LOG: np.log, U.SQRT: np.sqrt, U.RECIP: np.reciprocal, U.ABS: np.abs, U.NEG: np.negative, U.SIN: np.sin,
        U.COS: np.cos, U.TAN: np.tan, U.SINH: np.sinh, U.COSH: np.cosh, U.ASIN: np.arcsin, U.ACOS: np.arccos, U.ATAN: np.arctan,
        U.ASINH: np.arcsinh, U.ACOSH: np.arccosh, U.ATANH: np.arctanh, U.CEIL: np.ceil, U.FLOOR: np.floor, U.ERF: ERF,
        U.NOT: np.logical_not, U.SIGN: np.sign, U.ROUND: np.round, U.ISINF: np.isinf, U.ISNAN: np.isnan
    }

    def test_all(self):
        self.assertEqual(set(self.FUNCTIONS), set(U))
        for op, function in self.FUNCTIONS.items():
            x = numbers(2, 5, low=0.1, high=0.9)
            if op is U.ACOSH:
                x = x + 1
            elif op is U.NOT:
                x = x > 0.5
            elif op is U.ROUND:
                x = np.array([[-1.5, -0.5, 0.5, 1.5, 2.4]], np.float32)
            elif op in (U.ISINF, U.ISNAN):
                x = np.array([[np.inf, -np.inf, np.nan, 0, 1]], np.float32)
            with self.subTest(op.name):
                self.compare(lambda n, t: n.add_unary(t, op), function(x), dynamic=False, x=x)


class ElementWise(NetworkTest):
    def test_floats_broadcast(self):
        a, b = numbers(2, 3, 4, low=0.5, high=2), numbers(1, 3, 1, seed=1, low=0.5, high=2)
        functions = {
            E.SUM: np.add, E.PROD: np.multiply, E.MAX: np.maximum, E.MIN: np.minimum, E.SUB: np.subtract, E.DIV: np.divide,
            E.POW: np.power, E.FLOOR_DIV: lambda p, q: np.floor(p / q), E.EQUAL: np.equal, E.GREATER: np.greater, E.LESS: np.less
        }
        for op, function in functions.items():
            with self.subTest(op.name):
                self.compare(lambda n, p, q: n.add_elementwise(p, q, op), function(a, b), a=a, b=b)

    def test_integers(self):
        a, b = np.array([-7, 7, -7, 7, 5], np.int32), np.array([2, -2, -2, 2, 5], np.int32)
        functions = {
            E.SUM: a + b, E.MAX: np.maximum(a, b), E.DIV: (a / b).astype(np.int32), E.FLOOR_DIV: a // b, E.EQUAL: a == b,
            E.LESS: a < b
        }
        for op, wanted in functions.items():
            with self.subTest(op.name):
                self.compare(lambda n, p, q: n.add_elementwise(p, q, op), wanted, a=a, b=b)

    def test_booleans(self):
        a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
        for op, wanted in {E.AND: a & b, E.OR: a | b, E.XOR: a ^ b, E.EQUAL: a == b}.items():
            self.compare(lambda n, p, q: n.add_elementwise(p, q, op), wanted, a=a, b=b)

    def test_ranks_must_be_equal(self):
        self.refused(lambda n, p, q: n.add_elementwise(p, q, E.SUM), "equal rank", "shuffle", a=numbers(2, 3), b=numbers(3))

    def test_extents_must_fit(self):
        self.refused(lambda n, p, q: n.add_elementwise(p, q, E.SUM), "(2, 3)", "(2, 4)", a=numbers(2, 3), b=numbers(2, 4))

    def test_types_meet_in_the_wider_float(self):
        a, b = numbers(3), numbers(3, seed=1).astype(np.float16)
        self.compare(lambda n, p, q: n.add_elementwise(p, q, E.SUM), a + b.astype(np.float32), a=a, b=b)

    def test_float_and_integer_do_not_meet(self):
        self.refused(lambda n, p, q: n.add_elementwise(p, q, E.SUM), "one type", a=numbers(3), b=np.arange(3, dtype=np.int32))


class Scale(NetworkTest):
    def test_modes(self):
        x = numbers(2, 3, 4, 5, low=0.5, high=2)
        for mode, shape in ((trt.ScaleMode.UNIFORM, ()), (trt.ScaleMode.CHANNEL, (3, 1, 1)), (trt.ScaleMode.ELEMENTWISE, (3, 4,
                                                                                                                          5))):
            shift, scale, power = (numbers(*shape, seed=s, low=0.5, high=2) for s in (1, 2, 3))
            with self.subTest(mode.name):
                self.compare(lambda n, t: n.add_scale(t, mode, shift, scale, power), (x * scale + shift)**power,
                             dynamic=False,
                             x=x)

    def test_channel_axis(self):
        x, scale = numbers(2, 3, 4), numbers(2, seed=1)
        self.compare(lambda n, t: n.add_scale_nd(t, trt.ScaleMode.CHANNEL, None, scale, None, 0), x * scale.reshape(2, 1, 1), x=x)

    def test_wrong_count(self):
        self.refused(lambda n, t: n.add_scale(t, trt.ScaleMode.CHANNEL, scale=numbers(4)),
                     "4 weights",
                     "3",
                     x=numbers(1, 3, 2, 2))


class Others(NetworkTest):
    def test_select(self):
        c, a, b = np.array([[True, False, True]]), numbers(2, 3), numbers(2, 1, seed=1)
        self.compare(lambda n, *t: n.add_select(*t), np.where(c, a, b), c=c, a=a, b=b)

    def test_parametric_relu(self):
        x, slope = numbers(2, 3, 4), numbers(1, 3, 1, seed=1)
        self.compare(lambda n, *t: n.add_parametric_relu(*t), np.where(x < 0, slope * x, x), x=x, slope=slope)

    def test_identity_and_its_type(self):
        x = numbers(2, 3)

        def make(network, t):
            layer = network.add_identity(t)
            layer.set_output_type(0, trt.int32)
            return layer

        self.compare(lambda n, t: n.add_identity(t), x, x=x)
        self.compare(make, (x * 1).astype(np.int32), x=x)

    def test_cast(self):
        x = numbers(2, 3, low=-3, high=3)
        for kind, wanted in ((trt.int32, np.int32), (trt.float16, np.float16), (trt.bool, np.bool_), (trt.int64, np.int64)):
            self.compare(lambda n, t: n.add_cast(t, kind), x.astype(wanted), tolerance=1e-2, x=x)

    def test_network_output_of_another_float(self):
        x = numbers(2, 3)

        def make(network, t):
            layer = network.add_activation(t, A.RELU)
            layer.get_output(0).dtype = trt.float16
            after = network.add_unary(layer.get_output(0), U.NEG)  # reads what was computed, not the float16
            return [layer.get_output(0), after.get_output(0)]

        self.compare(make, [np.maximum(x, 0).astype(np.float16), -np.maximum(x, 0)], x=x)

    def test_constant(self):
        for array in (numbers(2, 3), np.arange(6, dtype=np.int32).reshape(2, 3), np.int64(5), np.array([True, False])):
            self.compare(lambda n: constant(n, array), array, dynamic=False)

    def test_constant_counts(self):
        self.refused(lambda n: n.add_constant((2, 2), numbers(3)), "3 weights", "4 elements")

    def test_weights_of_float64(self):
        self.refused(lambda n: n.add_constant((2,), np.zeros(2)), "float64", "astype")
