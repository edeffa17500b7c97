"""Resizing, filling, quantisation, detection, sampling, attention: against NumPy."""

import itertools
import math

import numpy as np
from support import NetworkTest, constant, evaluate, new_network, numbers, recorded, trt

C, I, S = trt.ResizeCoordinateTransformation, trt.InterpolationMode, trt.SampleMode


def source(x, old, new, how, single):
    """Where an element of the result lies in the input, by TensorRT's formulas."""
    if single and new < 2:
        return 0.0
    if how is C.ALIGN_CORNERS:
        return x * (old - 1) / (new - 1) if new > 1 else 0.0
    return x * old / new if how is C.ASYMMETRIC else (x + 0.5) * old / new - 0.5


def resized(x, sizes, mode, how, rounding="FLOOR", single=False):
    result = x.astype(np.float64)
    for axis, new in enumerate(sizes):
        old, parts = x.shape[axis], []
        for i in range(new):
            at = source(i, old, new, how, single)
            if mode is I.NEAREST:
                to = {"FLOOR": math.floor, "CEIL": math.ceil, "HALF_UP": lambda v: math.floor(v + 0.5),
                      "HALF_DOWN": lambda v: math.ceil(v - 0.5)}[rounding]
                parts.append(np.take(result, min(max(to(at), 0), old - 1), axis))
                continue
            low = math.floor(at)
            near = [np.take(result, min(max(low + d, 0), old - 1), axis) for d in (0, 1)]
            parts.append(near[0] * (1 - (at - low)) + near[1] * (at - low))
        result = np.stack(parts, axis)
    return result


class Resize(NetworkTest):
    X = numbers(1, 2, 4, 6)

    def make(self, mode, how, rounding="FLOOR", shape=None, scales=None, single=False):
        def build(network, t):
            layer = network.add_resize(t)
            layer.resize_mode, layer.coordinate_transformation = mode, how
            layer.nearest_rounding = trt.ResizeRoundMode[rounding]
            if single:
                layer.selector_for_single_pixel = trt.ResizeSelector.UPPER
            if shape is not None:
                layer.shape = shape
            else:
                layer.scales = scales
            return layer
        return build

    def test_nearest(self):
        for how, rounding in itertools.product(C, ("FLOOR", "CEIL", "HALF_UP", "HALF_DOWN")):
            for sizes in ((1, 2, 8, 9), (1, 2, 3, 4)):
                with self.subTest(f"{how.name} {rounding} {sizes}"):
                    self.compare(self.make(I.NEAREST, how, rounding, sizes),
                                 resized(self.X, sizes, I.NEAREST, how, rounding),
                                 x=self.X)

    def test_linear(self):
        for how in C:
            self.compare(self.make(I.LINEAR, how, shape=(1, 2, 7, 5)), resized(self.X, (1, 2, 7, 5), I.LINEAR, how), x=self.X)
        self.compare(self.make(I.LINEAR, C.HALF_PIXEL, shape=(1, 2, 1, 5), single=True),
                     resized(self.X, (1, 2, 1, 5), I.LINEAR, C.HALF_PIXEL, single=True), x=self.X)

    def test_scales(self):
        sizes = (1, 2, 6, 10)  # floor(4 * 1.6), floor(6 * 1.7)
        self.compare(self.make(I.LINEAR, C.HALF_PIXEL, scales=[1, 1, 1.6, 1.7]),
                     resized(self.X, sizes, I.LINEAR, C.HALF_PIXEL),
                     x=self.X)

    def test_shape_from_a_tensor(self):
        def make(network, t):
            layer = network.add_resize(t)
            layer.set_input(1, constant(network, np.array([1, 2, 8, 3], np.int32)))
            return layer

        self.compare(make, resized(self.X, (1, 2, 8, 3), I.NEAREST, C.ASYMMETRIC), x=self.X)

    def test_cubic_keeps_what_it_interpolates(self):
        wanted = self.X  # the same size: cubic interpolation goes through its points
        self.compare(self.make(I.CUBIC, C.HALF_PIXEL, shape=(1, 2, 4, 6)), wanted, x=self.X)

    def test_without_size(self):
        self.refused(lambda n, t: n.add_resize(t), "set shape, scales", x=self.X)


class Fill(NetworkTest):
    def test_rising(self):
        def make(network):
            layer = network.add_fill((5,), trt.FillOperation.LINSPACE, trt.float32)
            layer.alpha, layer.beta = 2.0, 0.5
            return layer

        self.compare(make, 2 + 0.5 * np.arange(5, dtype=np.float32), dynamic=False)

    def test_rising_along_axes(self):
        def make(network, like):
            layer = network.add_fill((), trt.FillOperation.LINSPACE, trt.int32)
            layer.set_input(0, network.add_shape(like).get_output(0))
            layer.set_input(1, constant(network, np.int32(3)))
            layer.set_input(2, constant(network, np.array([10, 1], np.int32)))
            return layer

        self.compare(make, (3 + 10 * np.arange(2)[:, None] + np.arange(4)).astype(np.int32), like=numbers(2, 4))

    def test_random(self):
        for op, low, high in ((trt.FillOperation.RANDOM_UNIFORM, 2.0, 3.0), (trt.FillOperation.RANDOM_NORMAL, 5.0, 0.1)):
            for shape in ((300, 4), None):
                network = new_network()
                like = network.add_input("like", trt.float32, (-1, 4))
                layer = network.add_fill(shape or (), op)
                layer.alpha, layer.beta = low, high
                if shape is None:
                    layer.set_input(0, network.add_shape(like).get_output(0))
                network.mark_output(layer.get_output(0))
                result = evaluate(recorded.to_onnx(network),
                                  {"like": numbers(300, 4)} if shape is None else {"like": numbers(1, 4)})[0]
                self.assertEqual(result.shape, (300, 4))
                if op is trt.FillOperation.RANDOM_UNIFORM:
                    self.assertTrue(low <= result.min() < 2.1 and 2.9 < result.max() <= high)
                else:
                    self.assertTrue(abs(result.mean() - low) < 0.05 and abs(result.std() - high) < 0.02)


class Quantisation(NetworkTest):
    def test_one_scale(self):
        x = np.array([[-300, -1.5, -0.5, 0.5, 1.5, 300]], np.float32)
        q = np.clip(np.round(x / 0.5), -128, 127).astype(np.int8)
        self.compare(lambda n, t: n.add_quantize(t, constant(n, np.float32(0.5))), q, x=x)
        self.compare(lambda n, t: n.add_dequantize(t, constant(n, np.float32(0.5))), q.astype(np.float32) * 0.5, q=q)

    def test_scales_of_an_axis(self):
        x, scales = numbers(2, 3, 4), np.array([0.1, 0.02, 0.3], np.float32)

        def make(network, t):
            s = constant(network, scales)
            q = network.add_quantize(t, s)
            q.axis = 1
            d = network.add_dequantize(q.get_output(0), s)
            d.axis = 1
            return [q.get_output(0), d.get_output(0)]

        q = np.clip(np.round(x / scales.reshape(1, 3, 1)), -128, 127)
        self.compare(make, [q.astype(np.int8), q * scales.reshape(1, 3, 1)], x=x)
        self.refused(lambda n, t: n.add_quantize(t, constant(n, scales)), "set its axis", x=x)

    def test_float8_needs_a_newer_opset(self):
        network = new_network()
        x = network.add_input("x", trt.float32, (4,))
        layer = network.add_quantize(x, constant(network, np.float32(0.5)), trt.fp8)
        network.mark_output(network.add_dequantize(layer.get_output(0), constant(network, np.float32(0.5))).get_output(0))
        result = evaluate(recorded.to_onnx(network), {"x": np.array([0, 1, -2, 300], np.float32)})[0]
        np.testing.assert_array_equal(result, [0, 1, -2, 224])


class Finding(NetworkTest):
    def test_one_hot(self):
        at = np.array([[0, 2], [1, 0]], np.int32)
        wanted = np.where(np.eye(3, dtype=bool)[at], 5, -1).astype(np.float32)

        def make(axis):
            return lambda n, t: n.add_one_hot(t, constant(n, np.array([-1, 5], np.float32)), constant(n, np.int32(3)), axis)

        self.compare(make(-1), wanted, at=at)
        self.compare(make(0), np.moveaxis(wanted, -1, 0), at=at)

    def test_non_zero(self):
        x = np.array([[0, 1, 0], [2, 0, 3]], np.float32)
        network, feeds = self.network(lambda n, t: n.add_non_zero(t), False, x=x)
        result = evaluate(recorded.to_onnx(network), feeds)[0]
        np.testing.assert_array_equal(result, np.stack(np.nonzero(x)))
        self.assertEqual((result.dtype, list(network.get_output(0).shape)), (np.int32, [2, -1]))

    def test_boxes_in_order_of_batch_and_score(self):
        boxes = np.array([[[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3], [5, 5, 6, 6]],
                          [[0, 0, 1, 1], [4, 4, 5, 5], [4, 4, 5, 5.1], [8, 8, 9, 9]]], np.float32)
        scores = np.array(
            [[[0.6, 0.2], [0.9, 0.1], [0.3, 0.8], [0.05, 0.04]], [[0.1, 0.7], [0.2, 0.3], [0.5, 0.25], [0.05, 0.0]]], np.float32)

        def make(network, b, s):
            layer = network.add_nms(b, s, constant(network, np.int32(3)))
            layer.set_input(3, constant(network, np.float32(0.5)))
            layer.set_input(4, constant(network, np.float32(0.1)))
            return layer

        network, feeds = self.network(make, False, b=boxes, s=scores)
        found, count = evaluate(recorded.to_onnx(network), feeds)
        wanted = []
        for b in range(2):
            kept = []
            for c in range(2):
                chosen = []
                for i in np.argsort(-scores[b, :, c]):
                    overlaps = [self.overlap(boxes[b, i], boxes[b, j]) for j in chosen]
                    if scores[b, i, c] > 0.1 and all(o <= 0.5 for o in overlaps) and len(chosen) < 3:
                        chosen.append(i)
                kept += [(b, c, i) for i in chosen]
            wanted += sorted(kept, key=lambda k: -scores[k[0], k[2], k[1]])
        np.testing.assert_array_equal(found, wanted)
        self.assertEqual((int(count), found.dtype, count.shape), (len(wanted), np.int32, ()))

    @staticmethod
    def overlap(a, b):
        sides = [max(0, min(a[i + 2], b[i + 2]) - max(a[i], b[i])) for i in (0, 1)]
        area = sides[0] * sides[1]
        return area / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - area)

    def test_grid_sample(self):
        x = numbers(1, 1, 3, 4)
        grid = np.array([[[[-1, -1], [1, 1], [0, 0], [0.5, -0.2], [1.7, 0]]]], np.float32)

        def value(r, c, mode):
            rows, columns = x.shape[2:]
            if mode is S.CLAMP:
                r, c = min(max(r, 0), rows - 1), min(max(c, 0), columns - 1)
            return x[0, 0, r, c] if 0 <= r < rows and 0 <= c < columns else 0.0

        for mode in (S.FILL, S.CLAMP):
            for corners in (False, True):
                wanted = []
                for gx, gy in grid[0, 0]:
                    c, r = (((g + 1) * (n - 1) / 2) if corners else ((g + 1) * n - 1) / 2 for g, n in ((gx, 4), (gy, 3)))
                    if mode is S.CLAMP:
                        c, r = min(max(c, 0), 3), min(max(r, 0), 2)
                    r0, c0 = math.floor(r), math.floor(c)
                    wanted.append(
                        sum(
                            value(r0 + i, c0 + j, mode) * (1 - abs(r - r0 - i)) * (1 - abs(c - c0 - j)) for i in (0, 1)
                            for j in (0, 1)))

                def make(network, t, g):
                    layer = network.add_grid_sample(t, g)
                    layer.sample_mode, layer.align_corners = mode, corners
                    return layer

                self.compare(make, np.array(wanted, np.float32).reshape(1, 1, 1, 5), x=x, grid=grid)


def attended(q, k, v, mask=None):
    scores = q @ k.transpose(0, 1, 3, 2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


class Attention(NetworkTest):
    Q, K, V = numbers(2, 4, 3, 8), numbers(2, 4, 5, 8, seed=1), numbers(2, 4, 5, 8, seed=2)

    def test_masks(self):
        for mask in (None, numbers(1, 4, 3, 5, seed=3), numbers(2, 1, 3, 5, seed=4) > -0.5):
            def make(network, q, k, v, *m):
                attention = network.add_attention(q, k, v, trt.AttentionNormalizationOp.SOFTMAX, False)
                if m:
                    attention.mask = m[0]
                return attention.get_output(0)

            feeds = {"q": self.Q, "k": self.K, "v": self.V, **({} if mask is None else {"m": mask})}
            self.compare(make, attended(self.Q, self.K, self.V, mask), dynamic=False, **feeds)

    def test_causal(self):
        lower = np.arange(5)[None, :] <= np.arange(3)[:, None] + 2
        upper = np.arange(5)[None, :] <= np.arange(3)[:, None]
        for kind, mask in ((trt.CausalMaskKind.UPPER_LEFT, upper), (trt.CausalMaskKind.LOWER_RIGHT, lower)):
            self.compare(lambda n, q, k, v: n.add_attention_v2(q, k, v, causal_kind=kind).get_output(0),
                         attended(self.Q, self.K, self.V, mask[None, None]), dynamic=False, q=self.Q, k=self.K, v=self.V)

    def test_shared_heads(self):
        k, v = self.K[:, :2], self.V[:, :2]
        wanted = attended(self.Q, np.repeat(k, 2, 1), np.repeat(v, 2, 1))
        self.compare(lambda n, *t: n.add_attention(*t).get_output(0), wanted, dynamic=False, q=self.Q, k=k, v=v)

    def test_its_layers(self):
        network, _ = self.network(lambda n, *t: n.add_attention(*t).get_output(0), False, q=self.Q, k=self.K, v=self.V)
        self.assertEqual([layer.type.name for layer in network], ["ATTENTION_INPUT", "ATTENTION_OUTPUT"])

    def test_rotary_embedding(self):
        x, angles = numbers(2, 3, 5, 8), numbers(5, 3, seed=1)
        a, b = x[..., :3], x[..., 3:6]
        cos, sin = np.cos(angles), np.sin(angles)
        halves = np.concatenate([a * cos - b * sin, a * sin + b * cos, x[..., 6:]], -1)
        c, d = x[..., 0:6:2], x[..., 1:6:2]
        pairs = np.concatenate([np.stack([c * cos - d * sin, c * sin + d * cos], -1).reshape(2, 3, 5, 6), x[..., 6:]], -1)
        at = np.tile(np.arange(5), (2, 1))
        for interleaved, wanted in ((False, halves), (True, pairs)):
            def make(network, t, c, s, p):
                layer = network.add_rotary_embedding(t, c, s, interleaved, 6)
                layer.set_input(3, p)
                return layer
            self.compare(make, wanted, dynamic=False, x=x, cos=cos, sin=sin, at=at)
