"""The add_ methods of a network, with TensorRT's names and orders of arguments."""

from ..enums import AttentionNormalizationOp, CausalMaskKind, DataType, FillOperation
from ..errors import RecordingError
from ..layer import ITensor
from ..values import as_dims, as_weights
from . import attention, control, pointwise, reducing, shaping, special, window

# Why some methods that TensorRT has are not served.
REASONS = {
    "add_ragged_softmax": " ONNX has no such operator; use a softmax over a masked tensor.",
    "add_rnn_v2": " Write the recurrence as a loop, or parse an ONNX model with RNN, LSTM or GRU.",
    "add_plugin": " Plugins of TensorRT run on its devices only.",
    "add_plugin_v2": " Plugins of TensorRT run on its devices only.",
    "add_plugin_v3": " Plugins of TensorRT run on its devices only.",
    "add_plugin_ext": " Plugins of TensorRT run on its devices only.",
    "add_dynamic_quantize": " Use add_quantize with a scale that the script computes.",
    "add_kv_cache_update": " A network here keeps no state between runs; make the cache an input and an output.",
    "add_moe": " Write the experts as layers.",
    "add_dist_collective": " A network here runs on one device.",
}


def _tensor(value, what):
    if not isinstance(value, ITensor):
        raise RecordingError(f"{what} takes a tensorrt.ITensor, not {value!r}."
                             + (" Use layer.get_output(0)." if hasattr(value, "get_output") else ""))
    return value


class Adders:
    """What INetworkDefinition has to add layers by."""

    # ---- element by element

    def add_activation(self, input, type):
        return pointwise.IActivationLayer(self, [_tensor(input, "add_activation")], type=type)

    def add_unary(self, input, op):
        return pointwise.IUnaryLayer(self, [_tensor(input, "add_unary")], op=op)

    def add_elementwise(self, input1, input2, op):
        tensors = [_tensor(t, "add_elementwise") for t in (input1, input2)]
        return pointwise.IElementWiseLayer(self, tensors, op=op)

    def add_scale(self, input, mode, shift=None, scale=None, power=None):
        return pointwise.IScaleLayer(self, [_tensor(input, "add_scale")], mode=mode, shift=shift, scale=scale, power=power)

    def add_scale_nd(self, input, mode, shift=None, scale=None, power=None, channel_axis=None):
        return pointwise.IScaleLayer(self, [_tensor(input, "add_scale_nd")], mode=mode, shift=shift, scale=scale, power=power,
                                     channel_axis=channel_axis)

    def add_select(self, condition, then_input, else_input):
        return pointwise.ISelectLayer(self, [_tensor(t, "add_select") for t in (condition, then_input, else_input)])

    def add_parametric_relu(self, input, slopes):
        return pointwise.IParametricReLULayer(self, [_tensor(t, "add_parametric_relu") for t in (input, slopes)])

    def add_identity(self, input):
        return pointwise.IIdentityLayer(self, [_tensor(input, "add_identity")])

    def add_cast(self, input, to_type):
        return pointwise.ICastLayer(self, [_tensor(input, "add_cast")], to_type=to_type)

    def add_assertion(self, condition, message):
        return pointwise.IAssertionLayer(self, [_tensor(condition, "add_assertion")], message=message)

    # ---- with a window

    def add_convolution_nd(self, input, num_output_maps, kernel_shape, kernel=None, bias=None):
        return window.IConvolutionLayer(self, [_tensor(input, "add_convolution_nd")], num_output_maps=num_output_maps,
                                        kernel_size_nd=kernel_shape, kernel=kernel, bias=bias)

    def add_deconvolution_nd(self, input, num_output_maps, kernel_shape, kernel=None, bias=None):
        return window.IDeconvolutionLayer(self, [_tensor(input, "add_deconvolution_nd")], num_output_maps=num_output_maps,
                                          kernel_size_nd=kernel_shape, kernel=kernel, bias=bias)

    def add_pooling_nd(self, input, type, window_size):
        return window.IPoolingLayer(self, [_tensor(input, "add_pooling_nd")], type=type, window_size_nd=window_size)

    def add_padding_nd(self, input, pre_padding, post_padding):
        return window.IPaddingLayer(self, [_tensor(input, "add_padding_nd")],
                                    pre_padding_nd=pre_padding,
                                    post_padding_nd=post_padding)

    add_convolution, add_deconvolution, add_pooling, add_padding = (
        add_convolution_nd, add_deconvolution_nd, add_pooling_nd, add_padding_nd)

    # ---- along axes

    def add_softmax(self, input):
        return reducing.ISoftMaxLayer(self, [_tensor(input, "add_softmax")])

    def add_reduce(self, input, op, axes, keep_dims):
        return reducing.IReduceLayer(self, [_tensor(input, "add_reduce")], op=op, axes=axes, keep_dims=keep_dims)

    def add_topk(self, input, op, k, axes):
        return reducing.ITopKLayer(self, [_tensor(input, "add_topk")], op=op, k=k, axes=axes)

    def add_lrn(self, input, window, alpha, beta, k):
        return reducing.ILRNLayer(self, [_tensor(input, "add_lrn")], window_size=window, alpha=alpha, beta=beta, k=k)

    def add_cumulative(self, input, axis, op, exclusive, reverse):
        return reducing.ICumulativeLayer(self, [_tensor(t, "add_cumulative") for t in (input, axis)], op=op, exclusive=exclusive,
                                         reverse=reverse)

    def add_normalization(self, input, scale, bias, axesMask):
        tensors = [_tensor(t, "add_normalization") for t in (input, scale, bias)]
        return reducing.INormalizationLayer(self, tensors, axes=axesMask)

    def add_normalization_v2(self, input, scale, bias, axesMask):
        tensors = [_tensor(t, "add_normalization_v2") for t in (input, scale, bias)]
        return reducing.INormalizationLayer(self, tensors, axes=axesMask, is_v2=True)

    def add_matrix_multiply(self, input0, op0, input1, op1):
        return reducing.IMatrixMultiplyLayer(self, [_tensor(t, "add_matrix_multiply") for t in (input0, input1)],
                                             op0=op0,
                                             op1=op1)

    def add_fully_connected(self, input, num_outputs, kernel, bias=None):
        return reducing.IFullyConnectedLayer(self, [_tensor(input, "add_fully_connected")], num_output_channels=num_outputs,
                                             kernel=kernel, bias=bias)

    def add_einsum(self, inputs, equation):
        return reducing.IEinsumLayer(self, [_tensor(t, "add_einsum") for t in inputs], equation=equation)

    # ---- that move elements

    def add_constant(self, shape, weights):
        return shaping.IConstantLayer(self, [], shape=as_dims(shape), weights=as_weights(weights))

    def add_shuffle(self, input):
        return shaping.IShuffleLayer(self, [_tensor(input, "add_shuffle")])

    def add_concatenation(self, inputs):
        tensors = [_tensor(t, "add_concatenation") for t in inputs]
        if not tensors:
            raise RecordingError("add_concatenation: there are no tensors to join.")
        return shaping.IConcatenationLayer(self, tensors)

    def add_shape(self, input):
        return shaping.IShapeLayer(self, [_tensor(input, "add_shape")])

    def add_slice(self, input, start, shape, stride):
        return shaping.ISliceLayer(self, [_tensor(input, "add_slice")], start=start, shape=shape, stride=stride)

    def add_gather(self, input, indices, axis):
        return shaping.IGatherLayer(self, [_tensor(t, "add_gather") for t in (input, indices)], axis=axis)

    def add_gather_v2(self, input, indices, mode):
        return shaping.IGatherLayer(self, [_tensor(t, "add_gather_v2") for t in (input, indices)], mode=mode)

    def add_scatter(self, data, indices, updates, mode):
        return shaping.IScatterLayer(self, [_tensor(t, "add_scatter") for t in (data, indices, updates)], mode=mode)

    def add_squeeze(self, input, axes):
        return shaping.ISqueezeLayer(self, [_tensor(t, "add_squeeze") for t in (input, axes)])

    def add_unsqueeze(self, input, axes):
        return shaping.IUnsqueezeLayer(self, [_tensor(t, "add_unsqueeze") for t in (input, axes)])

    def add_reverse_sequence(self, input, sequence_lens):
        return shaping.IReverseSequenceLayer(self, [_tensor(t, "add_reverse_sequence") for t in (input, sequence_lens)])

    # ---- others

    def add_resize(self, input):
        return special.IResizeLayer(self, [_tensor(input, "add_resize")])

    def add_fill(self, shape, op=FillOperation.LINSPACE, output_type=DataType.FLOAT):
        return special.IFillLayer(self, [], shape=shape, operation=op, to_type=output_type)

    def add_quantize(self, input, scale, output_type=DataType.INT8):
        return special.IQuantizeLayer(self, [_tensor(t, "add_quantize") for t in (input, scale)], to_type=output_type)

    def add_dequantize(self, input, scale, output_type=DataType.FLOAT):
        return special.IDequantizeLayer(self, [_tensor(t, "add_dequantize") for t in (input, scale)], to_type=output_type)

    def add_one_hot(self, indices, values, depth, axis):
        return special.IOneHotLayer(self, [_tensor(t, "add_one_hot") for t in (indices, values, depth)], axis=axis)

    def add_non_zero(self, input, indices_type=DataType.INT32):
        return special.INonZeroLayer(self, [_tensor(input, "add_non_zero")], indices_type=indices_type)

    def add_grid_sample(self, input, grid):
        return special.IGridSampleLayer(self, [_tensor(t, "add_grid_sample") for t in (input, grid)])

    def add_nms(self, boxes, scores, max_output_boxes_per_class, indices_type=DataType.INT32):
        tensors = [_tensor(t, "add_nms") for t in (boxes, scores, max_output_boxes_per_class)]
        return special.INMSLayer(self, tensors, indices_type=indices_type)

    def add_attention(self, query, key, value, norm_op=AttentionNormalizationOp.SOFTMAX, causal=False):
        kind = CausalMaskKind.UPPER_LEFT if causal else CausalMaskKind.NONE
        return attention.IAttention(self, query, key, value, norm_op, kind)

    def add_attention_v2(self, query, key, value, norm_op=AttentionNormalizationOp.SOFTMAX, causal_kind=CausalMaskKind.NONE):
        return attention.IAttention(self, query, key, value, norm_op, causal_kind)

    def add_rotary_embedding(self, input, cos_cache, sin_cache, interleaved, rotary_embedding_dim):
        tensors = [_tensor(t, "add_rotary_embedding") for t in (input, cos_cache, sin_cache)]
        return attention.IRotaryEmbeddingLayer(self, tensors, interleaved=interleaved, rotary_embedding_dim=rotary_embedding_dim)

    def add_loop(self):
        return control.ILoop(self)

    def add_if_conditional(self):
        return control.IIfConditional(self)
