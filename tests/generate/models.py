"""Small decoders in the forms in which exporters write them: how positions are computed, where the cache is, what inputs
are called. All forms of one seed compute the same."""

from __future__ import annotations

import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclasses.dataclass(frozen=True)
class Form:
    """One way to write a decoder."""

    positions: str = "input"
    """Where positions come from: ``input`` (position_ids), ``mask`` (the running sum of the attention mask), ``shape``
    (the length of the cache), ``table`` (as shape, and looked up in a learned table)."""
    cache: str = "separate"
    """``separate`` keys and values, ``stacked`` in one tensor, ``none`` at all, ``merged`` (an input says whether it is
    to be used)."""
    mask: str = "expanded"
    """What is added to scores: ``expanded`` from the attention mask and positions, ``none`` (no attention mask)."""
    prefix: str = "past_key_values.{}.{}"
    renamed: bool = False
    """Inputs and outputs that nobody else calls so."""
    layers: int = 2
    width: int = 32
    heads: int = 4
    key_heads: int = 2
    vocabulary: int = 97
    places: int = 4096
    """Of a learned table of positions."""
    seed: int = 7
    nan_at: int | None = None
    """A token whose logits are not numbers."""


class Decoder:
    """Writes one form."""

    def __init__(self, form: Form):
        self.form = form
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.random = np.random.default_rng(form.seed)
        self.head = form.width // form.heads
        self.count = 0

    def weight(self, name, *shape, scale=0.3):
        data = (self.random.standard_normal(shape) * scale / np.sqrt(shape[0])).astype(np.float32)
        return self.constant(name, data)

    def constant(self, name, data):
        self.initializers.append(numpy_helper.from_array(np.asarray(data), name))
        return name

    def ints(self, *values):
        self.count += 1
        return self.constant(f"ints_{self.count}", np.array(values, np.int64))

    def scalar(self, value, dtype=np.int64):
        self.count += 1
        return self.constant(f"scalar_{self.count}", np.array(value, dtype))

    def op(self, kind, *inputs, name=None, **attributes):
        self.count += 1
        out = name or f"{kind}_{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=f"n{self.count}_{kind}", **attributes))
        return out

    def extent(self, value, axis):
        """One extent, [1]."""
        return self.op("Gather", self.op("Shape", value), self.ints(axis), axis=0)

    def name(self, usual):
        return {"input_ids": "tokens", "attention_mask": "seen", "position_ids": "places", "logits": "scores"}.get(
            usual, "x_" + usual.replace(".", "_")
        ) if self.form.renamed else usual

    def feed(self, name, dtype, dims):
        self.inputs.append(helper.make_tensor_value_info(self.name(name), dtype, dims))
        return self.name(name)

    def give(self, value, name, dtype, dims):
        self.op("Identity", value, name=self.name(name))
        self.outputs.append(helper.make_tensor_value_info(self.name(name), dtype, dims))

    def norm(self, x, name):
        square = self.op("Pow", x, self.scalar(2, np.float32))
        mean = self.op("ReduceMean", square, self.ints(-1), keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.scalar(1e-5, np.float32)))
        return self.op("Mul", self.op("Div", x, root), self.constant(name, np.ones(self.form.width, np.float32)))

    def pasts(self):
        f = self.form
        dims = ["batch", f.key_heads, "past", self.head]
        self.past = []
        for i in range(f.layers):
            if f.cache == "none":
                self.past.append(None)
            elif f.cache == "stacked":
                both = self.feed(f"past_{i}", TensorProto.FLOAT, [2, *dims])
                self.past.append([self.op("Gather", both, self.scalar(n), axis=0) for n in (0, 1)])
            else:
                self.past.append([self.feed(f.prefix.format(i, n), TensorProto.FLOAT, dims) for n in ("key", "value")])

    def positions(self):
        """[batch, tokens] of int64, and the length of everything, [1]."""
        f = self.form
        tokens = self.extent(self.ids, 1)
        before = self.extent(self.past[0][0], 2) if f.cache != "none" else self.ints(0)
        if f.cache == "merged":
            before = self.op("Mul", before, self.op("Cast", self.branch, to=TensorProto.INT64))
        total = self.op("Add", before, tokens)
        if f.positions == "input":
            return self.position_ids, total
        if f.positions == "mask":
            running = self.op("Sub", self.op("CumSum", self.mask, self.scalar(1)), self.scalar(1))
            start = self.op("Sub", self.extent(self.mask, 1), tokens)
            end = self.extent(self.mask, 1)
            return self.op("Slice", running, start, end, self.ints(1)), total
        first, last = self.op("Squeeze", before, self.ints(0)), self.op("Squeeze", total, self.ints(0))
        return self.op("Unsqueeze", self.op("Range", first, last, self.scalar(1)), self.ints(0)), total

    def bias(self, total):
        """What is added to scores: [batch, 1, tokens, total]."""
        f = self.form
        zero, low = self.scalar(0, np.float32), self.scalar(-3.0e38, np.float32)
        end = self.op("Squeeze", total, self.ints(0))
        keys = self.op("Range", self.scalar(0), end, self.scalar(1))
        start = self.op("Sub", end, self.op("Squeeze", self.extent(self.ids, 1), self.ints(0)))
        queries = self.op("Unsqueeze", self.op("Range", start, end, self.scalar(1)), self.ints(1))
        seen = self.op("LessOrEqual", self.op("Unsqueeze", keys, self.ints(0)), queries)
        seen = self.op("Unsqueeze", seen, self.ints(0, 1))
        if f.mask == "expanded":
            held = self.op("Cast", self.op("Unsqueeze", self.mask, self.ints(1, 2)), to=TensorProto.BOOL)
            seen = self.op("And", seen, held)
        return self.op("Where", seen, zero, low)

    def rotate(self, x):
        half = self.head // 2
        first = self.op("Slice", x, self.ints(0), self.ints(half), self.ints(3))
        second = self.op("Neg", self.op("Slice", x, self.ints(half), self.ints(2**31), self.ints(3)))
        turned = self.op("Concat", second, first, axis=3)
        return self.op("Add", self.op("Mul", x, self.cosine), self.op("Mul", turned, self.sine))

    def rotation(self, positions):
        half = self.head // 2
        row = self.op("Cast", self.op("Unsqueeze", positions, self.ints(2)), to=TensorProto.FLOAT)
        rates = self.constant("rates", (10000.0 ** (-np.arange(half) / half)).astype(np.float32)[None, None])
        angles = self.op("Mul", row, rates)
        both = self.op("Unsqueeze", self.op("Concat", angles, angles, axis=2), self.ints(1))
        self.cosine, self.sine = self.op("Cos", both), self.op("Sin", both)

    def heads(self, x, name, heads):
        y = self.op("MatMul", x, self.weight(name, self.form.width, heads * self.head, scale=1.0))
        y = self.op("Reshape", y, self.ints(0, 0, heads, self.head))
        return self.op("Transpose", y, perm=[0, 2, 1, 3])

    def repeat(self, x):
        f = self.form
        times = f.heads // f.key_heads
        if times == 1:
            return x
        shape = self.op("Concat", self.extent(x, 0), self.ints(f.key_heads, times), self.extent(x, 2),
                        self.ints(self.head), axis=0)
        y = self.op("Expand", self.op("Unsqueeze", x, self.ints(2)), shape)
        shape = self.op("Concat", self.extent(x, 0), self.ints(f.heads), self.extent(x, 2), self.ints(self.head), axis=0)
        return self.op("Reshape", y, shape)

    def joined(self, past, new):
        if self.form.cache == "merged":
            # What is there is used only where the input says so.
            length = self.op("Mul", self.extent(past, 2), self.op("Cast", self.branch, to=TensorProto.INT64))
            past = self.op("Slice", past, self.ints(0), length, self.ints(2))
        return self.op("Concat", past, new, axis=2)

    def attention(self, x, i):
        f = self.form
        q = self.heads(x, f"q{i}", f.heads)
        k = self.heads(x, f"k{i}", f.key_heads)
        v = self.heads(x, f"v{i}", f.key_heads)
        if f.positions != "table":
            q, k = self.rotate(q), self.rotate(k)
        if f.cache != "none":
            k, v = self.joined(self.past[i][0], k), self.joined(self.past[i][1], v)
        self.present.append((k, v))
        scores = self.op("MatMul", q, self.op("Transpose", self.repeat(k), perm=[0, 1, 3, 2]))
        scores = self.op("Mul", scores, self.scalar(self.head**-0.5, np.float32))
        weights = self.op("Softmax", self.op("Add", scores, self.added), axis=-1)
        y = self.op("Transpose", self.op("MatMul", weights, self.repeat(v)), perm=[0, 2, 1, 3])
        y = self.op("Reshape", y, self.ints(0, 0, f.width))
        return self.op("MatMul", y, self.weight(f"o{i}", f.width, f.width, scale=1.0))

    def layer(self, x, i):
        f = self.form
        x = self.op("Add", x, self.attention(self.norm(x, f"norm{i}"), i))
        y = self.norm(x, f"post_norm{i}")
        gate = self.op("MatMul", y, self.weight(f"gate{i}", f.width, 2 * f.width, scale=1.0))
        up = self.op("MatMul", y, self.weight(f"up{i}", f.width, 2 * f.width, scale=1.0))
        y = self.op("Mul", self.op("Mul", gate, self.op("Sigmoid", gate)), up)
        return self.op("Add", x, self.op("MatMul", y, self.weight(f"down{i}", 2 * f.width, f.width, scale=1.0)))

    def model(self):
        f = self.form
        self.ids = self.feed("input_ids", TensorProto.INT64, ["batch", "tokens"])
        if f.mask != "none" or f.positions == "mask":
            self.mask = self.feed("attention_mask", TensorProto.INT64, ["batch", "total"])
        if f.positions == "input":
            self.position_ids = self.feed("position_ids", TensorProto.INT64, ["batch", "tokens"])
        self.pasts()
        if f.cache == "merged":
            self.branch = self.feed("use_cache_branch", TensorProto.BOOL, [1])
        embedding = self.weight("embedding", f.vocabulary, f.width, scale=6.0)
        x = self.op("Gather", embedding, self.ids, axis=0)
        positions, total = self.positions()
        if f.positions == "table":
            x = self.op("Add", x, self.op("Gather", self.weight("places", f.places, f.width, scale=6.0), positions, axis=0))
        else:
            self.rotation(positions)
        self.added, self.present = self.bias(total), []
        for i in range(f.layers):
            x = self.layer(x, i)
        head = self.weight("head", f.width, f.vocabulary, scale=4.0)
        logits = self.op("MatMul", self.norm(x, "norm"), head)
        if f.nan_at is not None:
            hit = self.op("Equal", self.op("Unsqueeze", self.ids, self.ints(2)), self.scalar(f.nan_at))
            logits = self.op("Where", hit, self.scalar(np.nan, np.float32), logits)
        self.give(logits, "logits", TensorProto.FLOAT, ["batch", "tokens", f.vocabulary])
        self.presents()
        graph = helper.make_graph(self.nodes, "decoder", self.inputs, self.outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        onnx.checker.check_model(model)
        return model

    def presents(self):
        f = self.form
        dims = ["batch", f.key_heads, "all", self.head]
        for i, (k, v) in enumerate(self.present):
            if f.cache == "stacked":
                both = self.op("Concat", self.op("Unsqueeze", k, self.ints(0)), self.op("Unsqueeze", v, self.ints(0)), axis=0)
                self.give(both, f"present_{i}", TensorProto.FLOAT, [2, *dims])
            elif f.cache != "none":
                self.give(k, f"present.{i}.key", TensorProto.FLOAT, dims)
                self.give(v, f"present.{i}.value", TensorProto.FLOAT, dims)


def decoder(**form) -> onnx.ModelProto:
    """The decoder of a form."""
    return Decoder(Form(**form)).model()


def spoil(model, tensor, condition, length, by=1.5):
    """Multiplies a tensor where the length of the sequence compares with `length` by this operator; the node is called `guilty`."""
    maker = next(n for n in model.graph.node if tensor in n.output)
    at = list(model.graph.node).index(maker)
    maker.output[list(maker.output).index(tensor)] = "right"
    for name, value in (("limit", np.array(length, np.int64)), ("by", np.array(by, np.float32)), ("one", np.array(1, np.int64))):
        model.graph.initializer.append(numpy_helper.from_array(value, name))
    nodes = list(model.graph.node)
    nodes[at + 1:at + 1] = [
        helper.make_node("Shape", ["attention_mask"], ["extents"]),
        helper.make_node("Gather", ["extents", "one"], ["length"]),
        helper.make_node(condition, ["length", "limit"], ["is_on"]),
        helper.make_node("Mul", ["right", "by"], ["spoiled"]),
        helper.make_node("Where", ["is_on", "spoiled", "right"], [tensor], name="guilty"),
    ]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


FORMS = {
    "input": {},
    "mask": {"positions": "mask"},
    "shape": {"positions": "shape"},
    "table": {"positions": "table"},
    "no_mask": {"positions": "shape", "mask": "none"},
    "stacked": {"positions": "mask", "cache": "stacked"},
    "merged": {"positions": "mask", "cache": "merged"},
    "none": {"positions": "shape", "cache": "none"},
    "renamed": {"positions": "input", "renamed": True},
}
