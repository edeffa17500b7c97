"""Convolution, deconvolution, pooling and padding of the last axes."""

import struct

from .. import dtypes, onnx_messages, shapes
from ..enums import LayerType, PaddingMode, PoolingType
from ..errors import RecordingError
from ..layer import ILayer, Setting
from ..values import Dims, Weights
from ..writer import check_rank


def _alias(name):
    return property(lambda self: getattr(self, name), lambda self, value: setattr(self, name, value))


class _WindowLayer(ILayer):
    """What layers with a window have in common; its extents are the last ones of the input."""
    stride_nd = Setting(None, Dims)
    padding_mode = Setting(PaddingMode.EXPLICIT_ROUND_DOWN, PaddingMode)
    pre_padding = Setting(None, Dims)
    post_padding = Setting(None, Dims)
    stride = _alias("stride_nd")
    padding = _alias("padding_nd")

    @property
    def padding_nd(self):
        return self.pre_padding

    @padding_nd.setter
    def padding_nd(self, value):
        self.pre_padding = value
        self.post_padding = value

    def _window(self):
        raise NotImplementedError

    def _dilated(self):
        return list(self._window())

    def _per_axis(self, name, default):
        """A setting for each axis of the window."""
        value, count = getattr(self, name), len(self._window())
        if value is None or len(value) == 0:
            return [default] * count
        if len(value) != count:
            raise RecordingError(f"{name} of layer '{self.name}' has {len(value)} numbers, and the window "
                                 f"{shapes.text(self._window())} has {count} axes.")
        if default == 1 and any(v < 1 for v in value):
            raise RecordingError(f"{name} of layer '{self.name}' is {shapes.text(value)}; each must be 1 or more.")
        return list(value)

    def _begin_end(self):
        """Explicit padding before and behind."""
        begin = self._per_axis("pre_padding", 0)
        if self.padding_mode in (PaddingMode.CAFFE_ROUND_DOWN, PaddingMode.CAFFE_ROUND_UP):
            return begin, begin
        return begin, self._per_axis("post_padding", 0)

    def _rounds_up(self):
        return self.padding_mode in (PaddingMode.EXPLICIT_ROUND_UP, PaddingMode.CAFFE_ROUND_UP)

    def _is_same(self):
        return self.padding_mode in (PaddingMode.SAME_UPPER, PaddingMode.SAME_LOWER)

    def _halves(self, total):
        """SAME padding of one axis before and behind."""
        small = total // 2
        return (small, total - small) if self.padding_mode is PaddingMode.SAME_UPPER else (total - small, small)

    def _slid(self, extents):
        """How many places the window takes along each axis, -1 where the extent is open."""
        begin, end = self._begin_end()
        result = []
        for i, (extent, stride, window) in enumerate(zip(extents, self._per_axis("stride_nd", 1), self._dilated())):
            if extent < 0:
                result.append(-1)
            elif self._is_same():
                result.append(shapes.ceil_div(extent, stride))
            else:
                room = extent + begin[i] + end[i] - window
                if room < 0:
                    raise RecordingError(f"Layer '{self.name}': the window, {window} long, does not fit into axis {i} of the "
                                         f"window, {extent} long and {extent + begin[i] + end[i]} with padding.")
                result.append((shapes.ceil_div(room, stride) if self._rounds_up() else room // stride) + 1)
        return result

    def _pads(self, extents):
        """(before, behind, how much of behind is there only because the size is rounded up, auto_pad or None)."""
        count, strides = len(self._window()), self._per_axis("stride_nd", 1)
        if self._is_same():
            if any(e < 0 for e in extents):
                return [0] * count, [0] * count, [0] * count, self.padding_mode.name
            halves = [self._halves(max((e - 1) // s * s + k - e, 0))
                      for e, s, k in zip(extents, strides, self._dilated())]
            return [h[0] for h in halves], [h[1] for h in halves], [0] * count, None
        begin, end = self._begin_end()
        extra = [0] * count
        if self._rounds_up():
            for i, (e, s, k) in enumerate(zip(extents, strides, self._dilated())):
                extra[i] = s - 1 if e < 0 else -(e + begin[i] + end[i] - k) % s
        return begin, [e + x for e, x in zip(end, extra)], extra, None

    def _extents(self):
        x = self._inputs[0]
        count = len(self._window())
        rank = check_rank(x, count + 2, f"Layer '{self.name}' with a window of {count} axes")
        return [x._shape[i] for i in range(rank - count, rank)]


class _Weighted(_WindowLayer):
    """Convolution and deconvolution."""
    num_output_maps = Setting(0, int)
    kernel_size_nd = Setting(None, Dims)
    num_groups = Setting(1, int)
    dilation_nd = Setting(None, Dims)
    kernel = Setting(None, Weights)
    bias = Setting(None, Weights)
    kernel_size = _alias("kernel_size_nd")
    dilation = _alias("dilation_nd")

    def _window(self):
        return self.kernel_size_nd

    def _dilated(self):
        return [1 + d * (k - 1) for d, k in zip(self._per_axis("dilation_nd", 1), self.kernel_size_nd)]

    def _channels(self):
        extents = self._extents()
        return self._inputs[0]._shape[self._inputs[0]._rank - len(extents) - 1]

    def _operands(self, w, inputs, dims, outputs):
        """The input, the kernel and perhaps the bias, from weights or from tensors."""
        kind = self._inputs[0]._onnx_type
        operands = [inputs[0]]
        for at, role, shape in ((1, "kernel", dims), (2, "bias", [outputs])):
            weights = getattr(self, role)
            if at < len(inputs) and inputs[at] is not None:
                other = self._inputs[at]._onnx_type
                operands.append(inputs[at] if other == kind else w.cast(inputs[at], kind))
            elif weights is not None and len(weights):
                if len(weights) != shapes.volume(shape):
                    raise RecordingError(f"Layer '{self.name}': the {role} has {len(weights)} weights, and {shapes.text(shape)} "
                                         f"has {shapes.volume(shape)}.")
                operands.append(w.weights(weights, shape, kind, role))
            elif role == "kernel":
                raise RecordingError(f"Layer '{self.name}' has no kernel: give weights, or a tensor by set_input(1, tensor).")
        return operands

    def _check_groups(self, number, what):
        if self.num_groups < 1 or number % self.num_groups:
            raise RecordingError(f"Layer '{self.name}' has {number} {what}, which {self.num_groups} groups do not divide.")

    def _emit_window(self, w, op, operands, begin, end, auto_pad, **attributes):
        plain = auto_pad is None
        return w.op(op, operands, kernel_shape=list(self.kernel_size_nd), strides=self._per_axis("stride_nd", 1),
                    dilations=self._per_axis("dilation_nd", 1), group=self.num_groups,
                    pads=begin + end if plain else None, auto_pad=auto_pad, **attributes)


class IConvolutionLayer(_Weighted):
    """Correlation with a kernel [maps, channels / groups, window...] and a bias a map."""
    _TYPE = LayerType.CONVOLUTION

    def _infer(self):
        x = self._inputs[0]
        if x._shape is None:
            return [(x._onnx_type, None)]
        extents = self._extents()
        lead = x._shape[:len(x._shape) - len(extents) - 1]
        return [(x._onnx_type, tuple(lead) + (self.num_output_maps,) + tuple(self._slid(extents)))]

    def _emit(self, w, inputs):
        begin, end, _, auto = self._pads(self._extents())
        channels, maps = self._channels(), self.num_output_maps
        self._check_groups(maps, "output maps")
        if channels < 0 and self.kernel is not None:
            channels = len(self.kernel) * self.num_groups // max(maps * shapes.volume(self.kernel_size_nd), 1)
        self._check_groups(channels, "channels")
        dims = [maps, channels // self.num_groups] + list(self.kernel_size_nd)
        return [self._emit_window(w, "Conv", self._operands(w, inputs, dims, maps), begin, end, auto)]


class IDeconvolutionLayer(_Weighted):
    """Transposed convolution with a kernel [channels, maps / groups, window...]; padding is cut off the result."""
    _TYPE = LayerType.DECONVOLUTION

    def _cut(self):
        if not self._is_same():
            return self._begin_end()
        halves = [self._halves(max(k - s, 0)) for k, s in zip(self._dilated(), self._per_axis("stride_nd", 1))]
        return [h[0] for h in halves], [h[1] for h in halves]

    def _infer(self):
        x = self._inputs[0]
        if x._shape is None:
            return [(x._onnx_type, None)]
        begin, end = self._cut()
        window = zip(self._extents(), self._per_axis("stride_nd", 1), self._dilated(), begin, end)
        grown = [-1 if e < 0 else (e - 1) * s + k - b - a for e, s, k, b, a in window]
        return [(x._onnx_type, tuple(x._shape[:len(x._shape) - len(grown) - 1]) + (self.num_output_maps,) + tuple(grown))]

    def _emit(self, w, inputs):
        begin, end = self._cut()
        channels, maps = self._channels(), self.num_output_maps
        self._check_groups(maps, "output maps")
        if channels < 0 and self.kernel is not None:
            channels = len(self.kernel) * self.num_groups // max(maps * shapes.volume(self.kernel_size_nd), 1)
        dims = [channels, maps // self.num_groups] + list(self.kernel_size_nd)
        return [self._emit_window(w, "ConvTranspose", self._operands(w, inputs, dims, maps), begin, end, None)]


class IPoolingLayer(_WindowLayer):
    """The largest element of a window, the average, or a blend of both."""
    _TYPE = LayerType.POOLING
    type = Setting(PoolingType.MAX, PoolingType)
    window_size_nd = Setting(None, Dims)
    blend_factor = Setting(0.0, float)
    average_count_excludes_padding = Setting(True, bool)
    window_size = _alias("window_size_nd")

    def _window(self):
        return self.window_size_nd

    def _infer(self):
        x = self._inputs[0]
        if x._shape is None:
            return [(x._onnx_type, None)]
        extents = self._extents()
        return [(x._onnx_type, tuple(x._shape[:len(x._shape) - len(extents)]) + tuple(self._slid(extents)))]

    def _emit(self, w, inputs):
        kind = self._inputs[0]._onnx_type
        if self.type is PoolingType.MAX:
            return [self._largest(w, inputs[0], kind)]
        if self.type is PoolingType.AVERAGE:
            return [self._average(w, inputs[0], kind)]
        parts = [w.op("Mul", [w.number(factor, kind), part]) for factor, part in (
            (1 - self.blend_factor, self._largest(w, inputs[0], kind)), (self.blend_factor, self._average(w, inputs[0], kind)))]
        return [w.op("Add", parts)]

    def _padded(self, w, x, begin, end, kind, value):
        lead = [0] * (self._inputs[0]._rank - len(begin))
        return w.pad(x, lead + begin, lead + end, kind, value)

    def _slide(self, w, op, x, begin, end, auto, **attributes):
        return w.op(op, [x], kernel_shape=list(self.window_size_nd), strides=self._per_axis("stride_nd", 1),
                    pads=begin + end if auto is None else None, auto_pad=auto, **attributes)

    def _largest(self, w, x, kind):
        begin, end, _, auto = self._pads(self._extents())
        if any(p >= k for p, k in zip(begin + end, list(self.window_size_nd) * 2)):  # ONNX has no such padding
            lowest = -128 if kind == dtypes.INT8 else 0 if kind == dtypes.UINT8 else float("-inf")
            x, begin, end = self._padded(w, x, begin, end, kind, lowest), [0] * len(begin), [0] * len(end)
        return self._slide(w, "MaxPool", x, begin, end, auto)

    def _average(self, w, x, kind):
        """Padding counts, where it does, only as far as it was asked for, not what rounding up adds."""
        begin, end, extra, auto = self._pads(self._extents())
        if auto is not None:
            return self._slide(w, "AveragePool", x, begin, end, auto, since=7,
                               count_include_pad=int(not self.average_count_excludes_padding))
        asked = [e - x_ for e, x_ in zip(end, extra)]
        if not self.average_count_excludes_padding and any(begin + asked):
            x, begin, end = self._padded(w, x, begin, asked, kind, 0), [0] * len(begin), extra
        if any(p >= k for p, k in zip(begin + end, list(self.window_size_nd) * 2)):
            return self._average_by_counts(w, x, begin, end, kind)
        return self._slide(w, "AveragePool", x, begin, end, None, since=7, count_include_pad=0)

    def _average_by_counts(self, w, x, begin, end, kind):
        """Where padding is as wide as the window, which ONNX does not take: sums by the share of each window that counts."""
        rest = [0] * len(begin)
        one = onnx_messages.TensorBytes(b"".join(onnx_messages.tensor("", dtypes.FLOAT, [1], struct.pack("<f", 1))))
        ones = w.op("ConstantOfShape", [w.op("Shape", [x])], since=9, value=one)
        share = self._slide(w, "AveragePool", self._padded(w, ones, begin, end, dtypes.FLOAT, 0), rest, rest, None, since=7)
        sums = self._slide(w, "AveragePool", self._padded(w, x, begin, end, kind, 0), rest, rest, None, since=7)
        return w.op("Div", [sums, share if kind == dtypes.FLOAT else w.cast(share, kind)])


class IPaddingLayer(ILayer):
    """Zeros around the last axes; what is negative is cut off."""
    _TYPE = LayerType.PADDING
    pre_padding_nd = Setting(None, Dims)
    post_padding_nd = Setting(None, Dims)
    pre_padding = _alias("pre_padding_nd")
    post_padding = _alias("post_padding_nd")

    def _infer(self):
        x = self._inputs[0]
        if x._shape is None:
            return [(x._onnx_type, None)]
        shape, count = list(x._shape), len(self.pre_padding_nd)
        for i, (b, a) in enumerate(zip(self.pre_padding_nd, self.post_padding_nd)):
            at = len(shape) - count + i
            shape[at] = -1 if shape[at] < 0 else shape[at] + b + a
        return [(x._onnx_type, shape)]

    def _emit(self, w, inputs):
        begin, end = list(self.pre_padding_nd), list(self.post_padding_nd)
        rank = check_rank(self._inputs[0], len(begin), f"Padding layer '{self.name}'")
        if len(begin) != len(end):
            raise RecordingError(f"Padding layer '{self.name}' has {len(begin)} numbers before and {len(end)} behind.")
        lead = [0] * (rank - len(begin))
        return [w.pad(inputs[0], lead + begin, lead + end, self._inputs[0]._onnx_type)]
