"""Layers that combine elements along axes, against NumPy."""

import numpy as np
from support import NetworkTest, constant, numbers, trt

R, O = trt.ReduceOperation, trt.MatrixOperation


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


class Softmax(NetworkTest):
    def test_axes(self):
        x = numbers(2, 3, 4, 5)
        for axis in range(4):
            def make(network, t):
                layer = network.add_softmax(t)
                layer.axes = 1 << axis
                return layer
            self.compare(make, softmax(x, axis), x=x)

    def test_default_axis(self):
        for shape, axis in (((2, 3, 4, 5), 1), ((2, 3, 4), 0), ((2, 3), 0), ((2, 2, 3, 4, 5), 2)):
            x = numbers(*shape)
            self.compare(lambda n, t: n.add_softmax(t), softmax(x, axis), x=x)

    def test_refusals(self):
        def make(mask):
            def build(network, t):
                layer = network.add_softmax(t)
                layer.axes = mask
                return layer
            return build

        for mask, word in ((0, "no axis"), (3, "one axis"), (1 << 5, "names axis 5")):
            self.refused(make(mask), word, x=numbers(2, 3))


class Reduce(NetworkTest):
    def test_all(self):
        x = numbers(2, 3, 4, low=0.5, high=1.5)
        functions = {R.SUM: np.sum, R.PROD: np.prod, R.MAX: np.max, R.MIN: np.min, R.AVG: np.mean}
        self.assertEqual(set(functions), set(R) - {R.NONE})
        for op, function in functions.items():
            for mask, axes in ((1 << 1, 1), (1 << 0 | 1 << 2, (0, 2)), (7, (0, 1, 2))):
                for keep in (False, True):
                    with self.subTest(f"{op.name} {axes} {keep}"):
                        self.compare(lambda n, t: n.add_reduce(t, op, mask, keep), function(x, axes, keepdims=keep), x=x)


class TopK(NetworkTest):
    def test_both_ways(self):
        x = np.random.default_rng(0).permutation(24).reshape(2, 4, 3).astype(np.float32)
        for op, order in ((trt.TopKOperation.MAX, np.argsort(-x, 1)), (trt.TopKOperation.MIN, np.argsort(x, 1))):
            at = order[:, :2]
            self.compare(lambda n, t: n.add_topk(t, op, 2, 1 << 1), [np.take_along_axis(x, at, 1), at.astype(np.int32)], x=x)

    def test_k_from_a_tensor(self):
        x = np.array([[3, 1, 2]], np.float32)

        def make(network, t):
            layer = network.add_topk(t, trt.TopKOperation.MAX, 1, 1 << 1)
            layer.set_input(1, constant(network, np.int32(2)))
            return layer

        self.compare(make, [[[3, 2]], np.array([[0, 2]], np.int32)], x=x)

    def test_too_many(self):
        self.refused(lambda n, t: n.add_topk(t, trt.TopKOperation.MAX, 4, 1 << 1), "4 of 3", x=numbers(1, 3))


class Products(NetworkTest):
    def test_matrix_multiply(self):
        a, b = numbers(2, 3, 4), numbers(2, 4, 5, seed=1)
        v, u = numbers(2, 4, seed=2), numbers(2, 3, seed=3)
        cases = [
            (a, O.NONE, b, O.NONE, a @ b),
            (a.transpose(0, 2, 1).copy(), O.TRANSPOSE, b.transpose(0, 2, 1).copy(), O.TRANSPOSE, a @ b),
            (v, O.VECTOR, b, O.NONE, np.einsum("bk,bkn->bn", v, b)),
            (a, O.NONE, v, O.VECTOR, np.einsum("bmk,bk->bm", a, v)),
            (u, O.VECTOR, u, O.VECTOR, np.einsum("bk,bk->b", u, u)),
            (a, O.TRANSPOSE, u, O.VECTOR, np.einsum("bmk,bm->bk", a, u)),
            (a, O.NONE, b[:1], O.NONE, a @ b[:1]),
        ]
        for i, (p, op0, q, op1, wanted) in enumerate(cases):
            with self.subTest(i):
                self.compare(lambda n, s, t: n.add_matrix_multiply(s, op0, t, op1), wanted, p=p, q=q)

    def test_refusals(self):
        self.refused(lambda n, s, t: n.add_matrix_multiply(s, O.NONE, t, O.NONE),
                     "4 columns by 3 rows",
                     p=numbers(2, 4),
                     q=numbers(3, 4))
        self.refused(lambda n, s, t: n.add_matrix_multiply(s, O.NONE, t, O.NONE),
                     "equal rank",
                     p=numbers(2, 3, 4),
                     q=numbers(4, 5))

    def test_einsum(self):
        a, b, c = numbers(2, 3, 4), numbers(4, 3, 5, seed=1), numbers(5, seed=2)
        for equation in ("ijk,kjl,l->il", "ijk,kjl,l->lji", "ijk,kjl,l"):
            self.compare(lambda n, *t: n.add_einsum(list(t), equation),
                         np.einsum(equation, a, b, c),
                         dynamic=equation.endswith("il"),
                         a=a,
                         b=b,
                         c=c)
        self.refused(lambda n, t: n.add_einsum([t], "ii->i"), "diagonal", t=numbers(3, 3))
        self.refused(lambda n, t: n.add_einsum([t], "ij,jk"), "2 operands", t=numbers(3, 3))


class Normalizations(NetworkTest):
    def check(self, shape, axes, scale_shape, groups=1, v2=False, epsilon=1e-3):
        x, scale, bias = numbers(*shape), numbers(*scale_shape, seed=1), numbers(*scale_shape, seed=2)
        grouped = x.reshape(shape[0], groups, -1) if groups > 1 else x
        over = (2,) if groups > 1 else tuple(axes)
        mean, variance = grouped.mean(over, keepdims=True), grouped.var(over, keepdims=True)
        y = (grouped - mean) / np.sqrt(variance + epsilon)
        if groups > 1 and not v2:
            wanted = (y * scale.reshape(1, groups, 1) + bias.reshape(1, groups, 1)).reshape(shape)
        else:
            wanted = y.reshape(shape) * scale + bias

        def make(network, t, s, b):
            layer = (network.add_normalization_v2 if v2 else network.add_normalization)(t, s, b, sum(1 << a for a in axes))
            layer.epsilon, layer.num_groups = epsilon, groups
            return layer

        self.compare(make, wanted, tolerance=1e-4, dynamic=groups == 1, x=x, s=scale, b=bias)

    def test_layer_norm(self):
        self.check((2, 3, 4), [2], (1, 1, 4))
        self.check((2, 3, 4), [1, 2], (1, 3, 4))

    def test_instance_and_batch_norm(self):
        self.check((2, 3, 4, 5), [2, 3], (1, 3, 1, 1))
        self.check((2, 3, 4, 5), [0, 2, 3], (1, 3, 1, 1))
        self.check((2, 3, 4, 5), [1], (1, 3, 4, 1))

    def test_groups(self):
        self.check((2, 6, 4, 5), [2, 3], (1, 2, 1, 1), groups=2)
        self.check((2, 6, 4, 5), [2, 3], (1, 6, 1, 1), groups=2, v2=True)

    def test_lrn(self):
        x, size, alpha, beta, k = numbers(1, 6, 2, 2), 3, 0.3, 0.75, 2.0
        wanted = np.empty_like(x)
        for c in range(6):
            wanted[:, c] = x[:, c] / (k + alpha / size * (x[:, max(c - 1, 0):c + 2]**2).sum(1))**beta
        self.compare(lambda n, t: n.add_lrn(t, size, alpha, beta, k), wanted, x=x)
        self.refused(lambda n, t: n.add_lrn(t, 4, alpha, beta, k), "odd", x=x)

    def test_cumulative(self):
        x = numbers(3, 4)
        for exclusive in (False, True):
            for reverse in (False, True):
                base = x[:, ::-1] if reverse else x
                wanted = np.cumsum(base, 1) - (base if exclusive else 0)
                self.compare(
                    lambda n, t: n.add_cumulative(t, constant(n, np.int32(1)), trt.CumulativeOperation.SUM, exclusive, reverse),
                    wanted[:, ::-1] if reverse else wanted,
                    x=x)
