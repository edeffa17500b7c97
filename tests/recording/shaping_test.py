"""Layers that move elements, against NumPy."""

import itertools

import numpy as np
from support import NetworkTest, constant, numbers, trt


class Shuffle(NetworkTest):
    def shuffled(self, first=None, dims=None, second=None, zero=True):
        def make(network, t):
            layer = network.add_shuffle(t)
            if first is not None:
                layer.first_transpose = first
            if dims is not None:
                layer.reshape_dims = dims
            if second is not None:
                layer.second_transpose = trt.Permutation(second)
            layer.zero_is_placeholder = zero
            return layer
        return make

    def test_parts(self):
        x = numbers(2, 3, 4)
        self.compare(self.shuffled((2, 0, 1)), x.transpose(2, 0, 1), x=x)
        self.compare(self.shuffled(dims=(0, -1)), x.reshape(2, 12), x=x)
        self.compare(self.shuffled(dims=(-1, 4)), x.reshape(6, 4), x=x)
        self.compare(self.shuffled((1, 0, 2), (0, 2, -1), (2, 1, 0)),
                     x.transpose(1, 0, 2).reshape(3, 2, 4).transpose(2, 1, 0),
                     x=x)
        self.compare(self.shuffled(), x, x=x)

    def test_zero_is_an_extent(self):
        x = numbers(0, 3)
        self.compare(self.shuffled(dims=(3, 0), zero=False), x.reshape(3, 0), x=x)

    def test_shape_from_a_tensor(self):
        x, dims = numbers(2, 3, 4), np.array([0, -1], np.int32)

        def make(network, t, d):
            layer = network.add_shuffle(t)
            layer.set_input(1, d)
            return layer

        network, feeds = self.network(make, False, x=x, d=dims)
        self.assertEqual(list(network.get_output(0).shape), [-1, -1])
        self.compare(lambda n, t: make(n, t, constant(n, dims)), x.reshape(2, 12), x=x)

    def test_shape_of_another_tensor(self):
        x, y = numbers(6, 4), numbers(2, 3, 4, seed=1)

        def make(network, a, b):
            layer = network.add_shuffle(a)
            layer.set_input(1, network.add_shape(b).get_output(0))
            return layer

        self.compare(make, x.reshape(2, 3, 4), x=x, y=y)

    def test_refusals(self):
        self.refused(self.shuffled(dims=(5, -1)), "(5, -1)", "(2, 3, 4)", x=numbers(2, 3, 4))
        self.refused(self.shuffled(dims=(-1, -1)), "more than one", x=numbers(2, 3, 4))
        self.refused(self.shuffled(first=(0, 0, 1)), "first_transpose", "order", x=numbers(2, 3, 4))


class Joining(NetworkTest):
    def test_concatenation(self):
        a, b = numbers(2, 3, 4), numbers(2, 3, 4, seed=1)

        def make(network, p, q):
            layer = network.add_concatenation([p, q])
            layer.axis = 2
            return layer

        self.compare(lambda n, p, q: n.add_concatenation([p, q]), np.concatenate([a, b], 0), a=a, b=b)
        self.compare(make, np.concatenate([a, b], 2), a=a, b=b)
        c, d = numbers(1, 2, 3, 4), numbers(1, 5, 3, 4)
        self.compare(lambda n, p, q: n.add_concatenation([p, q]), np.concatenate([c, d], 1), c=c, d=d)
        self.refused(lambda n, p, q: n.add_concatenation([p, q]), "axis 0", "axis 2 differs", a=a, b=numbers(2, 3, 5))

    def test_shape(self):
        self.compare(lambda n, t: n.add_shape(t), np.array([2, 3, 4], np.int64), x=numbers(2, 3, 4))

    def test_squeeze_and_unsqueeze(self):
        x = numbers(2, 1, 3, 1)
        axes = np.array([-1, 1], np.int32)
        self.compare(lambda n, t: n.add_squeeze(t, constant(n, axes)), x.reshape(2, 3), x=x)
        self.compare(lambda n, t: n.add_unsqueeze(t, constant(n, np.array([0, -1], np.int64))), x.reshape(1, 2, 1, 3, 1, 1), x=x)

    def test_reverse_sequence(self):
        x, lengths = numbers(4, 3, 2), np.array([2, 4, 1], np.int32)
        wanted = x.copy()
        for b, n in enumerate(lengths):
            wanted[:n, b] = x[:n, b][::-1]
        self.compare(lambda n, *t: n.add_reverse_sequence(*t), wanted, x=x, lengths=lengths)


class Gathering(NetworkTest):
    def test_default(self):
        x, at = numbers(3, 4, 5), np.array([[0, 2], [3, 1]], np.int32)
        self.compare(lambda n, t, i: n.add_gather(t, i, 1), np.take(x, at, 1), x=x, at=at)

    def test_elementwise_axis(self):
        for axis, shape in ((1, (2, 4, 3)), (2, (2, 4, 3)), (2, (2, 3, 4, 5)), (3, (2, 3, 4, 5))):
            x = numbers(*shape)
            for at in (np.array([[0, 2, 1], [1, 0, 2]], np.int32), np.array([2, 0], np.int64)):
                def make(network, t, i):
                    layer = network.add_gather(t, i, axis)
                    layer.num_elementwise_dims = 1
                    return layer

                with self.subTest(f"{axis} {shape} {at.shape}"):
                    self.compare(make, np.stack([np.take(x[b], at[b], axis - 1) for b in range(2)]), x=x, at=at)

    def test_element_and_nd(self):
        x, at = numbers(3, 4), np.array([[0, 2, 1, 0], [2, 2, 0, 1]], np.int32)

        def element(network, t, i):
            layer = network.add_gather_v2(t, i, trt.GatherMode.ELEMENT)
            layer.axis = 0
            return layer

        self.compare(element, np.take_along_axis(x, at, 0), x=x, at=at)
        nd = np.array([[0, 2], [2, 3]], np.int32)
        self.compare(lambda n, t, i: n.add_gather_v2(t, i, trt.GatherMode.ND), x[nd[:, 0], nd[:, 1]], dynamic=False, x=x, at=nd)

        def batched(network, t, i):
            layer = network.add_gather_v2(t, i, trt.GatherMode.ND)
            layer.num_elementwise_dims = 1
            return layer

        one = np.array([[1], [0], [3]], np.int32)
        self.compare(batched, x[np.arange(3), one[:, 0]], dynamic=False, x=x, at=one)

    def test_scatter(self):
        x, at, new = numbers(3, 4), np.array([[0, 2, 1, 0]], np.int32), numbers(1, 4, seed=1)
        wanted = x.copy()
        np.put_along_axis(wanted, at, new, 0)
        self.compare(lambda n, *t: n.add_scatter(*t, trt.ScatterMode.ELEMENT), wanted, x=x, at=at, new=new)
        nd, rows = np.array([[2], [0]], np.int32), numbers(2, 4, seed=2)
        wanted = x.copy()
        wanted[nd[:, 0]] = rows
        self.compare(lambda n, *t: n.add_scatter(*t, trt.ScatterMode.ND), wanted, x=x, at=nd, new=rows)


def reflect(i, n):
    period = max(2 * (n - 1), 1)
    return min(i % period, period - i % period) if n > 1 else 0


class Slicing(NetworkTest):
    X = numbers(4, 5)

    def wanted(self, start, size, stride, mode, fill=0.0):
        result = np.empty(size, np.float32)
        for place in itertools.product(*map(range, size)):
            at = [s + p * d for s, p, d in zip(start, place, stride)]
            inside = all(0 <= a < n for a, n in zip(at, self.X.shape))
            how = {"WRAP": lambda a, n: a % n, "CLAMP": lambda a, n: min(max(a, 0), n - 1), "REFLECT": reflect}.get(mode.name)
            if how:
                at = [how(a, n) for a, n in zip(at, self.X.shape)]
            result[place] = self.X[tuple(at)] if inside or how else fill
        return result

    CASES = {
        "STRICT_BOUNDS": [((1, 0), (2, 3), (1, 2)), ((3, 4), (4, 3), (-1, -2)), ((1, 2), (3, 2), (0, 1)),
                          ((0, 0), (4, 5), (1, 1)), ((2, 2), (0, 2), (2, 1))], "WRAP": [((-1, 3), (6, 4), (1, 2)),
                                                                                        ((5, 0), (3, 5), (-3, 1))],
        "CLAMP": [((-2, 3), (7, 4), (1, 1)), ((3, 9), (4, 6), (-1, -2))], "REFLECT": [((-3, 2), (9, 6), (1, 1)),
                                                                                      ((6, 0), (4, 5), (-2, 1))],
        "FILL": [((-1, 2), (5, 5), (1, 1)), ((0, 0), (4, 7), (1, 1))]
    }

    def test_fixed(self):
        for name, cases in self.CASES.items():
            mode = trt.SampleMode[name]
            for start, size, stride in cases:
                def make(network, t):
                    layer = network.add_slice(t, start, size, stride)
                    layer.mode = mode
                    return layer

                with self.subTest(f"{name} {start} {size} {stride}"):
                    self.compare(make, self.wanted(start, size, stride, mode), x=self.X)

    def test_from_tensors(self):
        for name, cases in self.CASES.items():
            mode = trt.SampleMode[name]
            for start, size, stride in cases:
                def make(network, t, a, n, s):
                    layer = network.add_slice(t, (), (), ())
                    for i, tensor in enumerate((a, n, s)):
                        layer.set_input(i + 1, tensor)
                    layer.mode = mode
                    if name == "FILL":
                        layer.set_input(4, constant(network, np.float32(7)))
                    return layer

                feeds = {k: np.array(v, np.int32) for k, v in (("start", start), ("size", size), ("stride", stride))}
                with self.subTest(f"{name} {start} {size} {stride}"):
                    network, given = self.network(make, False, x=self.X, **feeds)
                    self.assertEqual(list(network.get_output(0).shape), [-1, -1])
                    from support import evaluate, recorded
                    result = evaluate(recorded.to_onnx(network), given)[0]
                    np.testing.assert_array_equal(result, self.wanted(start, size, stride, mode, 7.0))

    def test_size_from_a_tensor_with_fixed_strides(self):
        def make(network, t, like):
            layer = network.add_slice(t, (1, 0), (), (1, 2))
            layer.set_input(2, network.add_shape(like).get_output(0))
            return layer

        self.compare(make, self.X[1:3, ::2][:, :3], x=self.X, like=numbers(2, 3))
        self.compare(make, self.X[1:1, 0:0], x=self.X, like=numbers(0, 0))

    def test_axes(self):
        def make(network, t):
            layer = network.add_slice(t, (1,), (2,), (1,))
            layer.axes = (1,)
            return layer

        self.compare(make, self.X[:, 1:3], x=self.X)

    def test_out_of_bounds(self):
        self.refused(lambda n, t: n.add_slice(t, (0, 0), (5, 5), (1, 1)), "axis 0", "STRICT_BOUNDS", x=self.X)
        self.refused(lambda n, t: n.add_slice(t, (0,), (2,), (1,)), "1 sizes for 2 axes", x=self.X)
