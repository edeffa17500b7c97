"""What TensorRT calls the nodes of a parsed model, and what of their attributes a script can read as a layer's."""

from . import enums
from .errors import NotServedError
from .layers import attention, control, pointwise, reducing, shaping, special, window
from .layer import ILayer
from .values import Dims, Permutation, Weights

_T = enums.ActivationType
_ACTIVATIONS = {
    "Relu": _T.RELU, "Sigmoid": _T.SIGMOID, "Tanh": _T.TANH, "LeakyRelu": _T.LEAKY_RELU, "Elu": _T.ELU, "Selu": _T.SELU,
    "Softsign": _T.SOFTSIGN, "Softplus": _T.SOFTPLUS, "Clip": _T.CLIP, "HardSigmoid": _T.HARD_SIGMOID,
    "ThresholdedRelu": _T.THRESHOLDED_RELU, "Gelu": _T.GELU_ERF
}
_ALPHA = {"LeakyRelu": 0.01, "Elu": 1.0, "Selu": 1.6732632423543772, "HardSigmoid": 0.2, "ThresholdedRelu": 1.0}
_BINARY = {v: enums.ElementWiseOperation[k] for k, v in pointwise._BINARY.items()}
_UNARY = {v: enums.UnaryOperation[k] for k, v in pointwise._UNARY.items()}
_REDUCE = {"ReduceSum": "SUM", "ReduceProd": "PROD", "ReduceMax": "MAX", "ReduceMin": "MIN", "ReduceMean": "AVG"}

_CLASSES = {
    "Conv": window.IConvolutionLayer,
    "ConvTranspose": window.IDeconvolutionLayer,
    "Softmax": reducing.ISoftMaxLayer,
    "LRN": reducing.ILRNLayer,
    "Concat": shaping.IConcatenationLayer,
    "MatMul": reducing.IMatrixMultiplyLayer,
    "Gemm": reducing.IMatrixMultiplyLayer,
    "Einsum": reducing.IEinsumLayer,
    "TopK": reducing.ITopKLayer,
    "ArgMax": reducing.ITopKLayer,
    "ArgMin": reducing.ITopKLayer,
    "CumSum": reducing.ICumulativeLayer,
    "BatchNormalization": pointwise.IScaleLayer,
    "PRelu": pointwise.IParametricReLULayer,
    "Where": pointwise.ISelectLayer,
    "Identity": pointwise.IIdentityLayer,
    "Dropout": pointwise.IIdentityLayer,
    "Cast": pointwise.ICastLayer,
    "CastLike": pointwise.ICastLayer,
    "Constant": shaping.IConstantLayer,
    "Shape": shaping.IShapeLayer,
    "Squeeze": shaping.ISqueezeLayer,
    "Unsqueeze": shaping.IUnsqueezeLayer,
    "Pad": shaping.ISliceLayer,
    "ReverseSequence": shaping.IReverseSequenceLayer,
    "Resize": special.IResizeLayer,
    "Upsample": special.IResizeLayer,
    "QuantizeLinear": special.IQuantizeLayer,
    "DequantizeLinear": special.IDequantizeLayer,
    "OneHot": special.IOneHotLayer,
    "NonZero": special.INonZeroLayer,
    "GridSample": special.IGridSampleLayer,
    "NonMaxSuppression": special.INMSLayer,
    "RotaryEmbedding": attention.IRotaryEmbeddingLayer,
    "Attention": attention.IAttentionOutputLayer,
    "Loop": control.ILoopOutputLayer,
    "Scan": control.ILoopOutputLayer,
    "If": control.IIfConditionalOutputLayer,
    "LSTM": control.ILoopOutputLayer,
    "GRU": control.ILoopOutputLayer,
    "RNN": control.ILoopOutputLayer,
}
_CLASSES.update({op: window.IPoolingLayer for op in ("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool")})
_CLASSES.update({op: pointwise.IActivationLayer for op in _ACTIVATIONS})
_CLASSES.update({op: pointwise.IElementWiseLayer for op in [*_BINARY, "Mod", "Sum", "GreaterOrEqual", "LessOrEqual"]})
_CLASSES.update({op: pointwise.IUnaryLayer for op in _UNARY})
_CLASSES.update({
    op: reducing.IReduceLayer
    for op in [*_REDUCE, "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"]
})
_CLASSES.update({op: shaping.IShuffleLayer for op in ("Reshape", "Transpose", "Flatten", "DepthToSpace", "SpaceToDepth")})
_CLASSES.update({op: shaping.ISliceLayer for op in ("Slice", "Split", "Expand", "Tile")})
_CLASSES.update({op: shaping.IGatherLayer for op in ("Gather", "GatherElements", "GatherND")})
_CLASSES.update({op: shaping.IScatterLayer for op in ("ScatterElements", "ScatterND")})
_CLASSES.update({
    op: special.IFillLayer
    for op in ("Range", "ConstantOfShape", "RandomUniform", "RandomNormal", "RandomUniformLike", "RandomNormalLike")
})
_CLASSES.update(
    {op: reducing.INormalizationLayer
     for op in ("LayerNormalization", "InstanceNormalization", "GroupNormalization")})


class IPluginLayer(ILayer):
    """A node that TensorRT would look for among its plugins."""
    _TYPE = enums.LayerType.PLUGIN_V2


def layer_class(node):
    """The class of layer that a node's operator comes nearest to."""
    return _CLASSES.get(node.op_type, IPluginLayer) if node.domain == "" else IPluginLayer


def setting(layer, name):
    """A layer's setting, read from the node. Throws NotServedError where the node does not say it."""
    node = layer._node
    reader = _READERS.get(name)
    value = reader(layer, node, node.attributes) if reader else None
    if value is None:
        raise NotServedError(
            f"{name} of the parsed layer '{layer.name}' cannot be read: its node {node.op_type} does not say it in this "
            "form.")
    return value


def _window(layer, attributes):
    shape = attributes.get("kernel_shape")
    if shape is None and layer._node.op_type in ("Conv", "ConvTranspose") and layer._inputs[1]._shape is not None:
        shape = layer._inputs[1]._shape[2:]
    return shape


def _pads(layer, attributes, end):
    window = _window(layer, attributes)
    if window is None:
        return None
    pads = attributes.get("pads") or [0] * (2 * len(window))
    half = len(pads) // 2
    return Dims(pads[half:] if end else pads[:half])


def _per_axis(name):
    def read(layer, node, attributes):
        window = _window(layer, attributes)
        return None if window is None else Dims(attributes.get(name) or [1] * len(window))
    return read


def _weights_of(layer, at):
    if at >= len(layer._inputs) or layer._inputs[at] is None:
        return Weights()
    view = layer._inputs[at]._initializer
    array = view.array() if view is not None else None
    return None if array is None else Weights(array)


def _kernel(layer, node, _):
    return _weights_of(layer, 1) if node.op_type in ("Conv", "ConvTranspose") else None


def _constant(layer, node, attributes):
    value = attributes.get("value")
    array = value.array() if value is not None and hasattr(value, "array") else None
    return None if array is None else Weights(array)


def _type(layer, node, _):
    if node.op_type in _ACTIVATIONS:
        gelu_tanh = node.op_type == "Gelu" and node.attributes.get("approximate") == "tanh"
        return _T.GELU_TANH if gelu_tanh else _ACTIVATIONS[node.op_type]
    return enums.PoolingType.MAX if "Max" in node.op_type else enums.PoolingType.AVERAGE if "Average" in node.op_type else None


def _op(layer, node, _):
    if node.op_type in _REDUCE:
        return enums.ReduceOperation[_REDUCE[node.op_type]]
    if node.op_type in ("TopK", "ArgMax", "ArgMin"):
        smallest = node.op_type == "ArgMin" or node.attributes.get("largest") == 0
        return enums.TopKOperation.MIN if smallest else enums.TopKOperation.MAX
    return _BINARY.get(node.op_type) or _UNARY.get(node.op_type)


def _axis(layer, node, attributes):
    axis = attributes.get("axis", -1 if node.op_type in ("Softmax", "TopK", "OneHot") else 0)
    rank = len(layer._outputs[0]._shape) if layer._outputs[0]._shape is not None else None
    return axis % rank if rank else axis


def _axes(layer, node, attributes):
    if node.op_type in ("Softmax", "TopK", "ArgMax", "ArgMin"):
        if layer._inputs[0]._shape is None:
            return None
        return 1 << _axis(layer, node, attributes) % len(layer._inputs[0]._shape)
    if node.op_type not in _REDUCE or layer._inputs[0]._shape is None:
        return None
    rank = len(layer._inputs[0]._shape)
    axes = attributes.get("axes")
    if axes is None and len(layer._inputs) > 1 and layer._inputs[1] is not None:
        axes = layer._inputs[1]._values()
    return sum(1 << a % rank for a in (axes if axes else range(rank)))


def _clip_bound(at, name, default):
    def read(layer, node, attributes):
        if name in attributes:
            return attributes[name]
        if at >= len(layer._inputs) or layer._inputs[at] is None:
            return default
        view = layer._inputs[at]._initializer
        return float(view.array()) if view is not None and view.array() is not None else None
    return read


def _alpha(layer, node, attributes):
    if node.op_type == "Clip":
        return _clip_bound(1, "min", float("-inf"))(layer, node, attributes)
    return attributes.get("alpha", _ALPHA.get(node.op_type, 0.0))


def _beta(layer, node, attributes):
    if node.op_type == "Clip":
        return _clip_bound(2, "max", float("inf"))(layer, node, attributes)
    if node.op_type == "Selu":
        return attributes.get("gamma", 1.0507009873554805)
    return attributes.get("beta", 0.5 if node.op_type == "HardSigmoid" else 0.0)


def _reshape_dims(layer, node, _):
    values = layer._inputs[1]._values() if node.op_type == "Reshape" else None
    return Dims(values) if values is not None and None not in values else None


def _maps(layer, node, _):
    shape = layer._outputs[0]._shape
    return shape[1] if node.op_type in ("Conv", "ConvTranspose") and shape is not None else None


_READERS = {
    "type": _type,
    "op": _op,
    "alpha": _alpha,
    "beta": _beta,
    "axis": _axis,
    "axes": _axes,
    "kernel": _kernel,
    "bias": lambda layer, node, a: _weights_of(layer, 2) if node.op_type in ("Conv", "ConvTranspose") else None,
    "num_output_maps": _maps,
    "num_groups": lambda layer, node, a: a.get("group", 1),
    "kernel_size_nd": lambda layer, node, a: Dims(_window(layer, a)) if _window(layer, a) is not None else None,
    "window_size_nd": lambda layer, node, a: Dims(_window(layer, a)) if _window(layer, a) is not None else None,
    "stride_nd": _per_axis("strides"),
    "dilation_nd": _per_axis("dilations"),
    "pre_padding": lambda layer, node, a: _pads(layer, a, False),
    "post_padding": lambda layer, node, a: _pads(layer, a, True),
    "padding_mode": lambda layer, node, a: {
        "SAME_UPPER": enums.PaddingMode.SAME_UPPER, "SAME_LOWER": enums.PaddingMode.SAME_LOWER
    }.get(a.get("auto_pad"), enums.PaddingMode.EXPLICIT_ROUND_UP
          if a.get("ceil_mode") else enums.PaddingMode.EXPLICIT_ROUND_DOWN),
    "average_count_excludes_padding": lambda layer, node, a: not a.get("count_include_pad", 0),
    "keep_dims": lambda layer, node, a: bool(a.get("keepdims", 1)),
    "equation": lambda layer, node, a: a.get("equation"),
    "to_type": lambda layer, node, a: layer._outputs[0].dtype,
    "weights": _constant,
    "shape": lambda layer, node, a: Dims(layer._outputs[0]._shape) if node.op_type == "Constant" else None,
    "first_transpose": lambda layer, node, a: Permutation(a["perm"]) if node.op_type == "Transpose" and "perm" in a else None,
    "reshape_dims": _reshape_dims,
    "_axis_given": _axis,
    "_mask": _axes,
    "epsilon": lambda layer, node, a: a.get("epsilon", 1e-5),
    "window_size": lambda layer, node, a: a.get("size"),
    "k": lambda layer, node, a: a.get("bias", 1.0) if node.op_type == "LRN" else None,
}
