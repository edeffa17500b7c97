"""Convolution, deconvolution, pooling and padding, against NumPy after TensorRT's formulas for padding."""

import itertools
import math

import numpy as np
from support import NetworkTest, constant, numbers, trt

M, P = trt.PaddingMode, trt.PoolingType


def pads_of(mode, extent, kernel, stride, before, behind):
    """(before, behind, places) of one axis, as TensorRT's documentation of PaddingMode gives them."""
    if mode in (M.SAME_UPPER, M.SAME_LOWER):
        total = max((extent - 1) // stride * stride + kernel - extent, 0)
        small = total // 2
        places = math.ceil(extent / stride)
        return (small, total - small, places) if mode is M.SAME_UPPER else (total - small, small, places)
    if mode in (M.CAFFE_ROUND_DOWN, M.CAFFE_ROUND_UP):
        behind = before
    room = (extent + before + behind - kernel) / stride
    up = mode in (M.EXPLICIT_ROUND_UP, M.CAFFE_ROUND_UP)
    return before, behind, (math.ceil(room) if up else math.floor(room)) + 1


def windows(x, mode, window, strides, before, behind, dilation=1, fill=0.0):
    """Yields (place, values, how many are of the input, how many of the input with its padding) for a 2-d window."""
    axes = [
        pads_of(mode, e, 1 + dilation * (k - 1), s, b, a) for e, k, s, b, a in zip(x.shape[-2:], window, strides, before, behind)
    ]
    grown = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(b, a + 64) for b, a, _ in axes], constant_values=fill)
    for place in itertools.product(*(range(n) for _, _, n in axes)):
        index = [np.arange(k) * dilation + p * s for p, s, k in zip(place, strides, window)]
        inside = [[b <= i < b + e for i in at] for at, e, (b, _, _) in zip(index, x.shape[-2:], axes)]
        padded = [[i < b + e + a for i in at] for at, e, (b, a, _) in zip(index, x.shape[-2:], axes)]
        counts = [sum(r) * sum(c) for r, c in (inside, padded)]
        yield place, grown[..., index[0][:, None], index[1][None, :]], counts[0], counts[1]


def convolved(x, kernel, bias, mode, strides, before, behind, dilation=1, groups=1):
    maps, inner = kernel.shape[0] // groups, kernel.shape[1]
    result = {}
    for place, values, _, _ in windows(x, mode, kernel.shape[2:], strides, before, behind, dilation):
        parts = [
            np.einsum("nchw,mchw->nm", values[:, g * inner:(g + 1) * inner], kernel[g * maps:(g + 1) * maps])
            for g in range(groups)
        ]
        result[place] = np.concatenate(parts, 1) + bias
    rows, columns = (max(p[i] for p in result) + 1 for i in (0, 1))
    return np.stack([np.stack([result[r, c] for c in range(columns)], -1) for r in range(rows)], -2)


def pooled(x, kind, mode, window, strides, before, behind, excludes=True, blend=0.0):
    result = {}
    for place, values, inside, padded in windows(x, mode, window, strides, before, behind):
        with np.errstate(invalid="ignore"):  # of no elements, where only the largest is asked for
            average = values.sum((-2, -1)) / (inside if excludes else padded)
        result[place] = average
    for place, values, _, _ in windows(x, mode, window, strides, before, behind, fill=-np.inf):
        largest = values.max((-2, -1))
        result[place] = {
            P.MAX: largest, P.AVERAGE: result[place], P.MAX_AVERAGE_BLEND: (1 - blend) * largest + blend * result[place]
        }[kind]
    rows, columns = (max(p[i] for p in result) + 1 for i in (0, 1))
    return np.stack([np.stack([result[r, c] for c in range(columns)], -1) for r in range(rows)], -2)


class Convolution(NetworkTest):
    def check(self, mode=M.EXPLICIT_ROUND_DOWN, strides=(1, 1), before=(0, 0), behind=(0, 0), dilation=1, groups=1, size=(7, 8)):
        x, kernel, bias = numbers(2, 4, *size), numbers(6, 4 // groups, 3, 2, seed=1), numbers(6, seed=2)

        def make(network, t):
            layer = network.add_convolution_nd(t, 6, (3, 2), kernel, bias)
            layer.stride_nd, layer.pre_padding, layer.post_padding = strides, before, behind
            layer.dilation_nd, layer.num_groups, layer.padding_mode = (dilation, dilation), groups, mode
            return layer

        self.compare(make, convolved(x, kernel, bias, mode, strides, before, behind, dilation, groups), x=x)

    def test_padding_modes(self):
        for mode in M:
            for strides in ((1, 1), (2, 3)):
                with self.subTest(f"{mode.name} {strides}"):
                    self.check(mode, strides, (1, 0), (0, 1))

    def test_dilation_and_groups(self):
        self.check(dilation=2, before=(1, 1), behind=(1, 1))
        self.check(groups=2, strides=(2, 1))

    def test_kernel_from_a_tensor(self):
        x, kernel = numbers(1, 2, 5, 5), numbers(3, 2, 3, 3, seed=1)

        def make(network, t, k):
            layer = network.add_convolution_nd(t, 3, (3, 3), trt.Weights())
            layer.set_input(1, k)
            return layer

        self.compare(make, convolved(x, kernel, 0, M.EXPLICIT_ROUND_DOWN, (1, 1), (0, 0), (0, 0)), dynamic=False, x=x, k=kernel)

    def test_three_axes(self):
        x, kernel = numbers(1, 2, 3, 4, 5), numbers(2, 2, 1, 2, 2, seed=1)
        wanted = np.zeros((1, 2, 3, 3, 4), np.float32)
        for d, h, w in np.ndindex(3, 3, 4):
            wanted[:, :, d, h, w] = np.einsum("ncdhw,mcdhw->nm", x[:, :, d:d + 1, h:h + 2, w:w + 2], kernel)
        self.compare(lambda n, t: n.add_convolution_nd(t, 2, trt.Dims([1, 2, 2]), kernel), wanted, x=x)

    def test_wrong_kernel(self):
        self.refused(lambda n, t: n.add_convolution_nd(t, 6, (3, 3), numbers(10)), "10 weights", "(6, 4, 3, 3)", "window_test.py",
                     x=numbers(1, 4, 8, 8))


class Deconvolution(NetworkTest):
    def test_modes(self):
        x, kernel, bias = numbers(1, 4, 3, 4), numbers(4, 3, 3, 4, seed=1), numbers(6, seed=2)
        for mode, (strides, before, behind, dilation) in itertools.product(
                (M.EXPLICIT_ROUND_DOWN, M.EXPLICIT_ROUND_UP, M.SAME_UPPER, M.SAME_LOWER),
                (((1, 1), (0, 0), (0, 0), 1), ((2, 3), (1, 0), (0, 2), 1), ((2, 2), (0, 0), (0, 0), 2))):
            long = [1 + dilation * (k - 1) for k in (3, 4)]
            whole = np.zeros((1, 6, *((e - 1) * s + k for e, s, k in zip((3, 4), strides, long))), np.float32)
            for g, h, w in itertools.product(range(2), range(3), range(4)):  # two groups
                values = np.einsum("nc,cmhw->nmhw", x[:, 2 * g:2 * g + 2, h, w], kernel[2 * g:2 * g + 2])
                top, left = h * strides[0], w * strides[1]
                whole[:, 3 * g:3 * g + 3, top:top + long[0]:dilation, left:left + long[1]:dilation] += values
            cut = list(zip(before, behind))
            if mode in (M.SAME_UPPER, M.SAME_LOWER):
                totals = [max(k - s, 0) for k, s in zip(long, strides)]
                cut = [(t // 2, t - t // 2) if mode is M.SAME_UPPER else (t - t // 2, t // 2) for t in totals]
            wanted = whole[:, :, cut[0][0]:whole.shape[2] - cut[0][1], cut[1][0]:whole.shape[3] - cut[1][1]] + bias.reshape(
                1, 6, 1, 1)

            def make(network, t):
                layer = network.add_deconvolution_nd(t, 6, (3, 4), kernel, bias)
                layer.stride_nd, layer.pre_padding, layer.post_padding, layer.num_groups = strides, before, behind, 2
                layer.dilation_nd, layer.padding_mode = (dilation, dilation), mode
                return layer

            with self.subTest(f"{mode.name} {strides} {dilation}"):
                self.compare(make, wanted, x=x)


class Pooling(NetworkTest):
    def check(self, kind, mode, window, strides, before, behind, excludes=True, blend=0.0, size=(7, 7)):
        x = numbers(1, 2, *size)

        def make(network, t):
            layer = network.add_pooling_nd(t, kind, window)
            layer.stride_nd, layer.pre_padding, layer.post_padding, layer.padding_mode = strides, before, behind, mode
            layer.average_count_excludes_padding, layer.blend_factor = excludes, blend
            return layer

        self.compare(make, pooled(x, kind, mode, window, strides, before, behind, excludes, blend), x=x)

    def test_padding_modes(self):
        for kind, mode, strides in itertools.product((P.MAX, P.AVERAGE), M, ((1, 1), (2, 2), (2, 3))):
            with self.subTest(f"{kind.name} {mode.name} {strides}"):
                self.check(kind, mode, (3, 3), strides, (1, 0), (0, 1))

    def test_average_with_padding(self):
        for mode, strides in itertools.product(M, ((1, 1), (2, 2), (3, 2))):
            with self.subTest(f"{mode.name} {strides}"):
                self.check(P.AVERAGE, mode, (3, 3), strides, (1, 1), (1, 0), excludes=False)

    def test_blend(self):
        self.check(P.MAX_AVERAGE_BLEND, M.EXPLICIT_ROUND_UP, (2, 3), (2, 2), (0, 1), (1, 1), blend=0.3)

    def test_padding_as_wide_as_the_window(self):
        self.check(P.MAX, M.EXPLICIT_ROUND_DOWN, (2, 2), (1, 1), (1, 2), (0, 1), size=(4, 4))

    def test_window_that_does_not_fit(self):
        self.refused(lambda n, t: n.add_pooling_nd(t, P.MAX, (5, 5)), "does not fit", x=numbers(1, 1, 4, 8))


class Padding(NetworkTest):
    def test_grows_and_cuts(self):
        x = numbers(1, 2, 4, 5)
        wanted = np.pad(x[:, :, :, 1:], [(0, 0), (0, 0), (1, 2), (0, 1)])
        self.compare(lambda n, t: n.add_padding_nd(t, (1, -1), (2, 1)), wanted, x=x)


class OldNames(NetworkTest):
    def test_names_of_version_8(self):
        x, kernel = numbers(1, 2, 5, 5), numbers(3, 2, 3, 3, seed=1)

        def make(network, t):
            layer = network.add_convolution(t, 3, trt.DimsHW(3, 3), kernel)
            layer.stride, layer.padding = (2, 2), (1, 1)
            pool = network.add_pooling(layer.get_output(0), P.MAX, trt.DimsHW(2, 2))
            pool.stride = (1, 1)
            return network.add_fully_connected(pool.get_output(0), 2, numbers(2, 12, seed=3), numbers(2, seed=4))

        mid = pooled(convolved(x, kernel, 0, M.EXPLICIT_ROUND_DOWN, (2, 2), (1, 1), (1, 1)), P.MAX, M.EXPLICIT_ROUND_DOWN, (2, 2),
                     (1, 1), (0, 0), (0, 0))
        wanted = (mid.reshape(1, 12) @ numbers(2, 12, seed=3).T + numbers(2, seed=4)).reshape(1, 2, 1, 1)
        self.compare(make, wanted, dynamic=False, x=x)
