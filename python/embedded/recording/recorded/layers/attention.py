"""Attention and rotary embedding."""

import math

from .. import dtypes, shapes
from ..enums import AttentionIOForm, AttentionNormalizationOp, CausalMaskKind, DataType, LayerType
from ..errors import NotServedError, RecordingError
from ..layer import ILayer, ITensor, Served, Setting


class IAttentionBoundaryLayer(ILayer):
    """Where tensors enter or leave an attention."""
    _attention = None

    @property
    def attention(self):
        return self._attention


class IAttentionInputLayer(IAttentionBoundaryLayer):
    """Query, key and value on their way into an attention."""
    _TYPE = LayerType.ATTENTION_INPUT
    _OUTPUTS = 3

    def _infer(self):
        return [(t._onnx_type, t._shape) for t in self._inputs[:3]]

    def _emit(self, w, inputs):
        return [w.op("Identity", [name]) for name in inputs[:3]]


class IAttentionOutputLayer(IAttentionBoundaryLayer):
    """softmax(query key^T, masked) value. Inputs: query, key, value, perhaps a mask."""
    _TYPE = LayerType.ATTENTION_OUTPUT

    def _infer(self):
        query, _, value = (t._shape for t in self._inputs[:3])
        shape = None if query is None or value is None else tuple(query[:3]) + (value[3],)
        return [(self._inputs[0]._onnx_type, shape)]

    def _emit(self, w, inputs):
        a = self._attention
        names, kind = w.unified(inputs[:3], self._inputs[:3])
        query, key, value = self._repeated(w, names)
        scores = w.op("MatMul", [query, w.transpose(key, [0, 1, 3, 2])])
        if len(inputs) > 3 and inputs[3]:
            scores = self._masked(w, scores, inputs[3], self._inputs[3], kind)
        if a.causal_kind is not CausalMaskKind.NONE:
            scores = w.op("Where", [self._triangle(w, scores, a.causal_kind), scores, w.number(-math.inf, kind)], since=9)
        if a.norm_op is AttentionNormalizationOp.SOFTMAX:
            scores = w.softmax(scores, 3, 4)
        return [w.op("MatMul", [scores, value])]

    def _repeated(self, w, names):
        """Each head of key and value for the heads of the query that share it."""
        heads, shared = self._inputs[0]._shape[1], self._inputs[1]._shape[1]
        if heads == shared or shared == 1:
            return names
        if heads < 0 or shared < 1 or heads % shared:
            raise RecordingError(
                f"Attention '{self._attention.name}' has {heads} heads of queries and {shared} of keys; the latter must "
                "be known and divide the former.")
        order = [h // (heads // shared) for h in range(heads)]
        return [names[0]] + [w.op("Gather", [n, w.ints(order)], axis=1) for n in names[1:]]

    @staticmethod
    def _masked(w, scores, mask, tensor, kind):
        if tensor._onnx_type == dtypes.BOOL:
            return w.op("Where", [mask, scores, w.number(-math.inf, kind)], since=9)
        return w.op("Add", [scores, mask if tensor._onnx_type == kind else w.cast(mask, kind)])

    @staticmethod
    def _triangle(w, scores, kind):
        """True where a query may look at a key."""
        extents = w.op("Shape", [scores])
        queries, keys = (w.op("Gather", [extents, w.ints(axis)], axis=0) for axis in (2, 3))
        rows, columns = (w.op("Range", [w.ints(0), n, w.ints(1)], since=11) for n in (queries, keys))
        if kind is CausalMaskKind.LOWER_RIGHT:
            rows = w.op("Add", [rows, w.op("Sub", [keys, queries])])
        return w.op("Not", [w.op("Greater", [columns, w.unsqueeze(rows, [1])], since=9)])


class IAttention(Served):
    """An attention: query [batch, heads, queries, size], key and value [batch, heads, keys, size]. Nothing scales the
    products: the script does."""

    def __init__(self, network, query, key, value, norm_op, causal_kind):
        for what, tensor in (("query", query), ("key", key), ("value", value)):
            if not isinstance(tensor, ITensor) or (tensor._shape is not None and len(tensor._shape) != 4):
                raise RecordingError(f"add_attention: the {what} must be a tensor of 4 axes, not {tensor!r}.")
        self._network = network
        self._norm_op, self._causal_kind, self._decomposable = norm_op, causal_kind, False
        self._entry = IAttentionInputLayer(network, [query, key, value])
        self._exit = IAttentionOutputLayer(network, self._entry._outputs)
        self._entry._attention = self._exit._attention = self
        self._name, self._metadata = f"(Unnamed Attention* {self._entry._index})", ""

    num_inputs = property(lambda self: 4 if self.mask is not None else 3)
    num_outputs = property(lambda self: 1)
    name = property(lambda self: self._name, lambda self, v: setattr(self, "_name", str(v)))
    metadata = property(lambda self: self._metadata, lambda self, v: setattr(self, "_metadata", str(v)))
    decomposable = property(lambda self: self._decomposable, lambda self, v: setattr(self, "_decomposable", bool(v)))
    norm_op = property(lambda self: self._norm_op, lambda self, v: setattr(self, "_norm_op", v))
    causal_kind = property(lambda self: self._causal_kind, lambda self, v: setattr(self, "_causal_kind", v))
    num_ranks = property(lambda self: 1)
    query_form = property(lambda self: AttentionIOForm.PADDED_BHND)
    key_value_form = property(lambda self: AttentionIOForm.PADDED_BHND)

    @query_form.setter
    def query_form(self, value):
        self._refuse_packed(value)

    @key_value_form.setter
    def key_value_form(self, value):
        self._refuse_packed(value)

    @staticmethod
    def _refuse_packed(form):
        if form is not AttentionIOForm.PADDED_BHND:
            raise NotServedError(f"Attention on {form} is not served by assay; only on AttentionIOForm.PADDED_BHND.")

    @property
    def causal(self):
        return self._causal_kind is not CausalMaskKind.NONE

    @causal.setter
    def causal(self, value):
        self._causal_kind = CausalMaskKind.UPPER_LEFT if value else CausalMaskKind.NONE

    @property
    def mask(self):
        return self._exit.get_input(3)

    @mask.setter
    def mask(self, tensor):
        self._exit.set_input(3, tensor)

    def get_input(self, index):
        return self.mask if index == 3 else self._entry.get_input(index)

    def set_input(self, index, tensor):
        if index == 3:
            self.mask = tensor
        else:
            self._entry.set_input(index, tensor)
        return True

    def get_output(self, index):
        return self._exit.get_output(index)


class IRotaryEmbeddingLayer(ILayer):
    """Pairs of elements of [batch, heads, sequence, size] turned by angles whose cosines and sines lie in caches
    [positions, half] (with input 3, the positions [batch, sequence]) or [batch, sequence, half]."""
    _TYPE = LayerType.ROTARY_EMBEDDING
    interleaved = Setting(False, bool)
    rotary_embedding_dim = Setting(0, int)

    def _emit(self, w, inputs):
        x = self._inputs[0]
        size = self.rotary_embedding_dim or (x._shape[3] if x._rank == 4 else -1)
        if x._rank != 4 or size < 2 or size % 2:
            raise RecordingError(
                f"Rotary embedding layer '{self.name}' needs an input of 4 axes and an even size that is known, not "
                f"{shapes.text(x._shape)}.")
        half = size // 2
        cos, sin = (self._angles(w, inputs, at) for at in (1, 2))
        step, begin = (2, (0, 1)) if self.interleaved else (1, (0, half))
        a, b = (w.slice(inputs[0], [s], [size if self.interleaved else s + half], [3], [step]) for s in begin)
        real = w.op("Sub", [w.op("Mul", [a, cos]), w.op("Mul", [b, sin])])
        imaginary = w.op("Add", [w.op("Mul", [a, sin]), w.op("Mul", [b, cos])])
        if self.interleaved:
            pairs = w.op("Concat", [w.unsqueeze(real, [4]), w.unsqueeze(imaginary, [4])], axis=4)
            turned = w.reshape(pairs, [0, 0, 0, size])
        else:
            turned = w.op("Concat", [real, imaginary], axis=3)
        if x._shape[3] == size:
            return [turned]
        return [w.op("Concat", [turned, w.slice(inputs[0], [size], [2**31 - 1], [3], [1])], axis=3)]

    def _angles(self, w, inputs, at):
        cache = inputs[at]
        if len(inputs) > 3 and inputs[3]:
            cache = w.op("Gather", [cache, inputs[3]], axis=0)
        return w.unsqueeze(cache, [1])
