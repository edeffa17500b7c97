"""Layers that are like no other."""

from .. import dtypes, shapes
from ..enums import (BoundingBoxFormat, DataType, FillOperation, InterpolationMode, LayerType, ResizeCoordinateTransformation,
                     ResizeRoundMode, ResizeSelector, SampleMode)
from ..errors import RecordingError
from ..layer import ILayer, Setting
from ..values import Dims


class IResizeLayer(ILayer):
    """A tensor of other extents, by the nearest elements or by interpolation. Input 1 replaces shape."""
    _TYPE = LayerType.RESIZE
    shape = Setting(None, Dims)
    _scales = Setting(None)
    resize_mode = Setting(InterpolationMode.NEAREST, InterpolationMode)
    coordinate_transformation = Setting(ResizeCoordinateTransformation.ASYMMETRIC, ResizeCoordinateTransformation)
    selector_for_single_pixel = Setting(ResizeSelector.FORMULA, ResizeSelector)
    nearest_rounding = Setting(ResizeRoundMode.FLOOR, ResizeRoundMode)
    exclude_outside = Setting(False, bool)
    cubic_coeff = Setting(-0.75, float)

    @property
    def scales(self):
        return list(self._scales or [])

    @scales.setter
    def scales(self, value):
        self._scales = [float(v) for v in value]

    @property
    def align_corners(self):
        return self.coordinate_transformation is ResizeCoordinateTransformation.ALIGN_CORNERS

    @align_corners.setter
    def align_corners(self, value):
        mode = ResizeCoordinateTransformation
        self.coordinate_transformation = mode.ALIGN_CORNERS if value else mode.ASYMMETRIC

    def _infer(self):
        x = self._inputs[0]
        if len(self._inputs) > 1 and self._inputs[1] is not None:
            values = self._inputs[1]._values()
            shape = [-1 if v is None else v for v in values] if values else None if x._shape is None else [-1] * len(x._shape)
        elif self.shape is not None and len(self.shape):
            shape = list(self.shape)
        elif self._scales and x._shape is not None:
            self._check_rank(self._scales, "scales")
            shape = [-1 if d < 0 else int(d * s) for d, s in zip(x._shape, self._scales)]
        else:
            shape = x._shape
        return [(x._onnx_type, shape)]

    def _check_rank(self, values, what):
        if len(values) != self._inputs[0]._rank:
            raise RecordingError(
                f"{what} of resize layer '{self.name}' has {len(values)} numbers, and its input {self._inputs[0]._rank} axes.")

    def _sizes(self, w, inputs):
        if len(inputs) > 1 and inputs[1] is not None:
            return w.to_int64(inputs[1], self._inputs[1])
        shape = self._infer()[0][1]
        if self.shape is not None and len(self.shape):
            self._check_rank(self.shape, "shape")
        elif not self._scales:
            raise RecordingError(f"Resize layer '{self.name}' lacks its new size: set shape, scales, or input 1.")
        if all(d >= 0 for d in shape):
            return w.ints(shape)
        factors = w.op("Concat", [w.reshape(w.number(s, dtypes.FLOAT), [1]) for s in self._scales], axis=0)
        extents = w.cast(w.op("Shape", [inputs[0]]), dtypes.FLOAT)
        return w.cast(w.op("Floor", [w.op("Mul", [extents, factors])]), dtypes.INT64)

    def _emit(self, w, inputs):
        T, single = ResizeCoordinateTransformation, self.selector_for_single_pixel is ResizeSelector.UPPER
        transformation = {T.ALIGN_CORNERS: "align_corners", T.ASYMMETRIC: "asymmetric",
                          T.HALF_PIXEL: "pytorch_half_pixel" if single else "half_pixel"}[self.coordinate_transformation]
        mode = self.resize_mode
        rounding = {"HALF_UP": "round_prefer_ceil", "HALF_DOWN": "round_prefer_floor", "FLOOR": "floor", "CEIL": "ceil"}
        cubic = mode is InterpolationMode.CUBIC
        return [
            w.op("Resize", [inputs[0], None, None, self._sizes(w, inputs)],
                 since=13,
                 mode=mode.name.lower(),
                 coordinate_transformation_mode=transformation,
                 nearest_mode=rounding[self.nearest_rounding.name] if mode is InterpolationMode.NEAREST else None,
                 cubic_coeff_a=self.cubic_coeff if cubic else None,
                 exclude_outside=int(self.exclude_outside) if cubic else None)
        ]


class IFillLayer(ILayer):
    """Numbers that rise evenly, or random ones. Inputs 0, 1, 2 replace shape, alpha and beta."""
    _TYPE = LayerType.FILL
    shape = Setting(None, Dims)
    operation = Setting(FillOperation.LINSPACE, FillOperation)
    alpha = Setting(None)
    beta = Setting(None)
    to_type = Setting(DataType.FLOAT, DataType)

    def _count_outputs(self):
        return 1

    def is_alpha_beta_int64(self):
        return self.to_type is DataType.INT64

    def _given(self, at):
        return self._inputs[at] if at < len(self._inputs) else None

    def _infer(self):
        kind = dtypes.to_onnx(self.to_type)
        if self._given(0) is None:
            return [(kind, tuple(self.shape or ()))]
        values = self._inputs[0]._values()
        if values is not None:
            return [(kind, tuple(-1 if v is None else v for v in values))]
        known = self._inputs[0]._shape
        return [(kind, (-1,) * known[0] if known and known[0] >= 0 else None)]

    def _bound(self, w, inputs, at, value, default, kind):
        if self._given(at) is None:
            return w.number(default if value is None else value, kind)
        return inputs[at] if self._inputs[at]._onnx_type == kind else w.cast(inputs[at], kind)

    def _emit(self, w, inputs):
        kind, (_, shape) = dtypes.to_onnx(self.to_type), self._infer()[0]
        if shape is None:
            raise RecordingError(f"Fill layer '{self.name}': how many axes its shape has is not known.")
        alpha = self._bound(w, inputs, 1, self.alpha, 0, kind)
        beta = self._bound(w, inputs, 2, self.beta, 1, kind)
        sizes = w.to_int64(inputs[0], self._inputs[0]) if self._given(0) is not None else w.ints(list(shape))
        if self.operation is FillOperation.LINSPACE:
            return [self._rising(w, shape, sizes, alpha, beta, kind)]
        return [self._random(w, shape, sizes, alpha, beta, kind)]

    def _rising(self, w, shape, sizes, alpha, beta, kind):
        rank = len(shape)
        if rank > 1 and self._given(2) is None:
            raise RecordingError(
                f"Fill layer '{self.name}' rises along {rank} axes: give alpha (input 1) without axes and beta (input 2) "
                f"with {rank} elements, one an axis.")
        y = alpha if self._given(1) is None else w.scalar(alpha, self._inputs[1])
        if rank == 0:
            return w.op("Identity", [y])
        for axis in range(rank):
            count = w.op("Gather", [sizes, w.ints(axis)], axis=0)
            steps = w.op("Range", [w.ints(0), count, w.ints(1)], since=11)
            step = w.op("Gather", [w.reshape(beta, [-1]), w.ints(axis)], axis=0)
            risen = w.op("Mul", [steps if kind == dtypes.INT64 else w.cast(steps, kind), step])
            y = w.op("Add", [y, w.reshape(risen, [-1] + [1] * (rank - 1 - axis))])
        return y

    def _random(self, w, shape, sizes, alpha, beta, kind):
        like = w.op("ConstantOfShape", [sizes], since=9) if -1 in shape else None
        uniform = self.operation is FillOperation.RANDOM_UNIFORM
        op = "RandomUniform" if uniform else "RandomNormal"
        bounds = {"low": 0.0, "high": 1.0} if uniform else {"mean": 0.0, "scale": 1.0}
        y = w.op(op, [], shape=list(shape), dtype=kind, **bounds) if like is None else w.op(
            op + "Like", [like], dtype=kind, **bounds)
        width = w.op("Sub", [beta, alpha]) if uniform else beta
        return w.op("Add", [w.op("Mul", [y, width]), alpha])


class _Quantizing(ILayer):
    axis = Setting(-1, int)

    def _operands(self, w, inputs, kind):
        """Scale and zero point; both with one axis where there is a scale for each element of an axis."""
        scale = self._inputs[1]
        if scale._rank > 1:
            raise RecordingError(
                f"Layer '{self.name}' has a scale of {shapes.text(scale._shape)}; only one scale, or one for each "
                "element of an axis, is served.")
        if scale._rank == 1 and scale._shape[0] != 1 and self.axis < 0:
            raise RecordingError(f"Layer '{self.name}' has {scale._shape[0]} scales: set its axis.")
        single = scale._rank == 1 and scale._shape[0] == 1
        named = w.reshape(inputs[1], []) if single else inputs[1]
        if len(inputs) > 2 and inputs[2] is not None:
            return [named, w.reshape(inputs[2], []) if single else inputs[2]], scale._rank == 1 and not single
        dims = [] if scale._rank == 0 or single else [scale._shape[0]]
        count = dims[0] if dims else 1
        zero = w.raw(kind, dims, bytes((count * dtypes.bits(kind) + 7) // 8), "zero_point")
        return [named, zero], bool(dims)

    def _require(self, w, kind):
        since = {dtypes.FP8: 19, dtypes.INT4: 21, dtypes.FP4: 23}.get(kind, 13)
        w.require(since, f"Layer '{self.name}' ({dtypes.ONNX_NAMES[kind]})")


class IQuantizeLayer(_Quantizing):
    """round(x / scale), halves to the even number, within the bounds of the type."""
    _TYPE = LayerType.QUANTIZE
    to_type = Setting(DataType.INT8, DataType)

    def _infer(self):
        given = self._outputs[0]._given_type
        return [(given or dtypes.to_onnx(self.to_type), self._inputs[0]._shape)]

    def _emit(self, w, inputs):
        kind = self._infer()[0][0]
        self._require(w, kind)
        operands, per_axis = self._operands(w, inputs, kind)
        return [w.op("QuantizeLinear", [inputs[0]] + operands, axis=self.axis if per_axis else None)]


class IDequantizeLayer(_Quantizing):
    """(q - zero point) * scale."""
    _TYPE = LayerType.DEQUANTIZE
    to_type = Setting(DataType.FLOAT, DataType)

    def _infer(self):
        return [(dtypes.to_onnx(self.to_type), self._inputs[0]._shape)]

    def _emit(self, w, inputs):
        self._require(w, self._inputs[0]._onnx_type)
        operands, per_axis = self._operands(w, inputs, self._inputs[0]._onnx_type)
        y = w.op("DequantizeLinear", [inputs[0]] + operands, axis=self.axis if per_axis else None)
        kind = dtypes.to_onnx(self.to_type)
        return [y if self._inputs[1]._onnx_type == kind else w.cast(y, kind)]


class IOneHotLayer(ILayer):
    """Vectors with one element that differs, where an index says. Inputs: indices, [off, on], depth."""
    _TYPE = LayerType.ONE_HOT
    axis = Setting(-1, int)

    def _infer(self):
        indices, values, depth = self._inputs
        if indices._shape is None:
            return [(values._onnx_type, None)]
        known = depth._values()
        shape = list(indices._shape)
        at = shapes.axis_of(self.axis, len(shape) + 1, f"axis of layer '{self.name}'")
        shape.insert(at, known[0] if known and known[0] is not None else -1)
        return [(values._onnx_type, shape)]

    def _emit(self, w, inputs):
        indices, values, depth = inputs
        return [w.op("OneHot", [indices, depth, values], since=11 if self.axis < 0 else 9, axis=self.axis)]


class INonZeroLayer(ILayer):
    """Where the elements are that are not zero: [axes, count]."""
    _TYPE = LayerType.NON_ZERO
    indices_type = Setting(DataType.INT32, DataType)

    def _infer(self):
        shape = self._inputs[0]._shape
        return [(dtypes.to_onnx(self.indices_type), (-1 if shape is None else len(shape), -1))]

    def _emit(self, w, inputs):
        y = w.op("NonZero", inputs, since=9)
        return [y if self.indices_type is DataType.INT64 else w.cast(y, dtypes.to_onnx(self.indices_type))]


class IGridSampleLayer(ILayer):
    """An image read at the places of a grid, whose coordinates go from -1 to 1."""
    _TYPE = LayerType.GRID_SAMPLE
    interpolation_mode = Setting(InterpolationMode.LINEAR, InterpolationMode)
    align_corners = Setting(False, bool)
    sample_mode = Setting(SampleMode.FILL, SampleMode)

    def _infer(self):
        x, grid = (t._shape for t in self._inputs)
        shape = None if x is None or grid is None else tuple(x[:2]) + tuple(grid[1:-1])
        return [(self._inputs[0]._onnx_type, shape)]

    def _emit(self, w, inputs):
        padding = {"FILL": "zeros", "CLAMP": "border", "REFLECT": "reflection"}.get(self.sample_mode.name)
        if padding is None:
            raise RecordingError(
                f"sample_mode of grid sample layer '{self.name}' is {self.sample_mode}; it must be FILL, CLAMP or REFLECT.")
        if self._inputs[0]._rank > 4:
            w.require(20, f"Grid sample layer '{self.name}' of more than 4 axes")
        old = {"NEAREST": "nearest", "LINEAR": "bilinear", "CUBIC": "bicubic"}
        new = {"NEAREST": "nearest", "LINEAR": "linear", "CUBIC": "cubic"}
        mode = (new if w.opset >= 20 else old)[self.interpolation_mode.name]
        return [w.op("GridSample", inputs, since=16, mode=mode, padding_mode=padding, align_corners=int(self.align_corners))]


class INMSLayer(ILayer):
    """Boxes that do not overlap better ones: [count, (batch, class, box)], by batch and falling score, and their count.
    Inputs: boxes [batch, boxes, 4], scores [batch, boxes, classes], the greatest count a class, and perhaps the
    greatest overlap and the least score."""
    _TYPE = LayerType.NMS
    _OUTPUTS = 2
    bounding_box_format = Setting(BoundingBoxFormat.CORNER_PAIRS, BoundingBoxFormat)
    topk_box_limit = Setting(None, int)
    indices_type = Setting(DataType.INT32, DataType)

    def _infer(self):
        kind = dtypes.to_onnx(self.indices_type)
        return [(kind, (-1, 3)), (dtypes.INT32, ())]

    def _emit(self, w, inputs):
        boxes = self._boxes(w, inputs[0])
        scores = w.transpose(inputs[1], [0, 2, 1])
        if self._inputs[0]._onnx_type != dtypes.FLOAT:
            boxes, scores = w.cast(boxes, dtypes.FLOAT), w.cast(scores, dtypes.FLOAT)
        limit = w.reshape(w.to_int64(inputs[2], self._inputs[2]), [1])
        bounds = [w.reshape(inputs[at], [1]) if at < len(inputs) and inputs[at] else w.reshape(w.number(0, dtypes.FLOAT), [1])
                  for at in (3, 4)]
        found = w.op("NonMaxSuppression", [boxes, scores, limit] + bounds, since=11,
                     center_point_box=int(self.bounding_box_format is BoundingBoxFormat.CENTER_SIZES))
        if self.topk_box_limit is not None:
            w.notes.append(f"topk_box_limit {self.topk_box_limit} of layer '{self.name}': all boxes are candidates")
        # By score, then by batch: of equal elements TopK takes the one that comes first.
        count = w.op("Gather", [w.op("Shape", [found]), w.ints([0])], axis=0)
        best = w.top_k(w.op("GatherND", [scores, found], since=12), count, 0, True)[1]
        found = w.op("Gather", [found, best], axis=0)
        batch = w.op("Gather", [found, w.ints(0)], axis=1)
        found = w.op("Gather", [found, w.top_k(batch, count, 0, False)[1]], axis=0)
        kind = dtypes.to_onnx(self.indices_type)
        return [found if kind == dtypes.INT64 else w.cast(found, kind), w.cast(w.reshape(count, []), dtypes.INT32)]

    def _boxes(self, w, boxes):
        shape = self._inputs[0]._shape
        if shape is None or len(shape) == 3:
            return boxes
        if shape[2] != 1:
            raise RecordingError(
                f"NMS layer '{self.name}' has boxes of their own for each class, {shapes.text(shape)}; ONNX has no such "
                "operator. Make a layer for each class.")
        return w.squeeze(boxes, [2])
