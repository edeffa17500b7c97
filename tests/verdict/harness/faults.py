"""Faults that are planted in a model. A fault makes a copy that computes something else at one node (or several); what the
nodes give keeps its name. Each entry of EDITS takes (model, node, rng) and returns the changed model, or None where it
does not apply; STRENGTHS take the size of the error, too."""
import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper


def copy_of(model):
    m = onnx.ModelProto()
    m.CopyFrom(model)
    return m


def find(model, name):
    return next(n for n in model.graph.node if n.name == name)


def attribute(node, name):
    return next((h.get_attribute_value(a) for a in node.attribute if a.name == name), None)


def set_attribute(node, name, value):
    kept = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, h.make_attribute(name, value)])


def after(model, node, make, dtype):
    """Nodes between a node and what uses its first output. make(raw, final) gives nodes and initializers."""
    m = copy_of(model)
    n = find(m, node.name)
    final, raw = n.output[0], n.output[0] + "__raw"
    n.output[0] = raw
    nodes, weights = make(raw, final)
    at = list(m.graph.node).index(n) + 1
    for i, extra in enumerate(nodes):
        m.graph.node.insert(at + i, extra)
    m.graph.initializer.extend(weights)
    return m


def add_error(model, node, error):
    """The first output plus an array."""
    def make(raw, final):
        return ([h.make_node("Add", [raw, final + "__error"], [final], final + "__add")],
                [numpy_helper.from_array(error, final + "__error")])
    return after(model, node, make, error.dtype)


# --- errors of a given size ---------------------------------------------------------------------------------------------


def element(y, size, rng):
    e = np.zeros(y.shape, np.float64)
    e.reshape(-1)[rng.integers(e.size)] = size * rng.choice([-1, 1])
    return e


def channel(y, size, rng):
    if y.ndim < 2 or y.shape[1] < 2:
        return None
    e = np.zeros(y.shape, np.float64)
    e[:, rng.integers(y.shape[1])] = size
    return e


def offset(y, size, rng):
    return np.full(y.shape, size, np.float64)


def factor(y, size, rng):
    top = np.abs(y.astype(np.float64)).max()
    return y.astype(np.float64) * (size / top) if top > 0 and np.isfinite(top) else None


def tail(y, size, rng):
    if y.size < 5:
        return None
    e = np.zeros(y.shape, np.float64)
    e.reshape(-1)[-3:] = size
    return e


STRENGTHS = {"element": element, "channel": channel, "offset": offset, "factor": factor, "tail": tail}


# --- changes of a node --------------------------------------------------------------------------------------------------


def through(dtype):
    def edit(model, node, rng, y):
        kind = T.FLOAT if y.dtype == np.float32 else T.FLOAT16
        if kind == dtype or y.dtype not in (np.float32, np.float16):
            return None
        def make(raw, final):
            return ([h.make_node("Cast", [raw], [final + "__narrow"], to=dtype),
                     h.make_node("Cast", [final + "__narrow"], [final], to=kind)], [])
        return after(model, node, make, y.dtype)
    return edit


def through_int8(model, node, rng, y):
    if y.dtype != np.float32 or not np.isfinite(y).all() or np.abs(y).max() == 0:
        return None
    def make(raw, final):
        s, q = final + "__scale", final + "__q"
        return ([h.make_node("QuantizeLinear", [raw, s, s + "z"], [q]), h.make_node("DequantizeLinear", [q, s, s + "z"], [final])],
                [numpy_helper.from_array(np.float32(np.abs(y).max() / 127), s), numpy_helper.from_array(np.int8(0), s + "z")])
    return after(model, node, make, y.dtype)


def not_a_number(model, node, rng, y):
    if y.dtype.name not in ("float32", "float16", "bfloat16"):
        return None
    e = np.zeros(y.shape, y.dtype)
    e.reshape(-1)[rng.integers(e.size)] = np.nan
    return add_error(model, node, e)


def off_by_one(model, node, rng, y):
    if not np.issubdtype(y.dtype, np.integer) or y.dtype not in (np.int64, np.int32, np.uint8, np.int8):
        return None
    e = np.zeros(y.shape, y.dtype)
    e.reshape(-1)[rng.integers(e.size)] = 1
    if y.dtype in (np.uint8, np.int8):
        def make(raw, final):
            up = "__wide"
            return ([h.make_node("Cast", [raw], [final + up], to=T.INT32),
                     h.make_node("Add", [final + up, final + "__one"], [final + "__sum"]),
                     h.make_node("Cast", [final + "__sum"], [final], to=T.UINT8 if y.dtype == np.uint8 else T.INT8)],
                    [numpy_helper.from_array(e.astype(np.int32), final + "__one")])
        return after(model, node, make, y.dtype)
    return add_error(model, node, e)


def weight_edit(change):
    def edit(model, node, rng, y):
        m = copy_of(model)
        n = find(m, node.name)
        for name in n.input[1:] if n.op_type != "Gather" else n.input[:1]:
            w = next((w for w in m.graph.initializer if w.name == name), None)
            if w is None or w.data_type not in (T.FLOAT, T.FLOAT16, T.INT8, T.UINT8):
                continue
            # Others may share the weight: they keep theirs.
            new = onnx.TensorProto()
            new.CopyFrom(numpy_helper.from_array(w_changed, name + "__changed")) if (
                w_changed := change(numpy_helper.to_array(w).copy(), rng)) is not None else None
            if not new.name:
                continue
            m.graph.initializer.append(new)
            n.input[list(n.input).index(name)] = new.name
            return m
        return None
    return edit


def one_weight(w, rng):
    at = rng.integers(w.size)
    w.reshape(-1)[at] = -w.reshape(-1)[at] if w.dtype != np.uint8 else w.reshape(-1)[at] ^ 0x40
    return w


def weight_channel(w, rng):
    if w.ndim < 2:
        return None
    w[rng.integers(w.shape[0])] = w[0] * 2 if w.dtype.kind == "f" else w[::-1][0]
    return w


def transposed(w, rng):
    return w.T.copy() if w.ndim == 2 and w.shape[0] == w.shape[1] else None


def flipped(w, rng):
    return w[..., ::-1].copy() if w.ndim >= 2 and w.shape[-1] > 1 else None


#: operator -> attribute -> other values, or a function of the old one.
ATTRIBUTES = {
    "Conv": {"dilations": lambda v: [1] * len(v) if v and max(v) > 1 else None,
             "pads": lambda v: [2, 0, *v[2:]][:4] if v == [1, 1, 1, 1] else None},
    "BatchNormalization": {"epsilon": lambda v: 0.1},
    "LayerNormalization": {"epsilon": lambda v: 1e-2},
    "RMSNormalization": {"epsilon": lambda v: 1e-1},
    "InstanceNormalization": {"epsilon": lambda v: 1e-2},
    "GroupNormalization": {"epsilon": lambda v: 1e-2},
    "LRN": {"beta": lambda v: 0.5, "alpha": lambda v: 1e-1, "size": lambda v: 5},
    "Softmax": {"axis": lambda v: 0},
    "LogSoftmax": {"axis": lambda v: 0},
    "LeakyRelu": {"alpha": lambda v: 0.2},
    "HardSigmoid": {"alpha": lambda v: 0.2},
    "AveragePool": {"count_include_pad": lambda v: 1 - (v or 0)},
    "LpPool": {"p": lambda v: 1},
    "LpNormalization": {"axis": lambda v: 2, "p": lambda v: 1},
    "Gelu": {"approximate": lambda v: "tanh" if v in (None, b"none") else "none"},
    "Gemm": {"alpha": lambda v: 1.001, "beta": lambda v: 0.5},
    "Resize": {"mode": lambda v: {b"linear": "cubic", b"cubic": "linear", b"nearest": "linear"}[v],
               "coordinate_transformation_mode": lambda v: "asymmetric" if v != b"asymmetric" else "half_pixel",
               "nearest_mode": lambda v: "ceil" if v == b"floor" else None, "cubic_coeff_a": lambda v: -0.5},
    "LSTM": {"activations": lambda v: ["Sigmoid", "Tanh", "Sigmoid"] * 2},
    "GRU": {"linear_before_reset": lambda v: 1 - (v or 0)},
    "RNN": {"direction": lambda v: "forward", "activations": lambda v: ["Sigmoid"]},
    "Attention": {"scale": lambda v: 0.3, "is_causal": lambda v: 1, "softcap": lambda v: 1.0},
    "Transpose": {"perm": lambda v: [1, 0, *v[2:]] if v[:2] == [0, 1] else None},
    "DepthToSpace": {"mode": lambda v: "CRD"},
    "CumSum": {"exclusive": lambda v: 1, "reverse": lambda v: 1},
    "Trilu": {"upper": lambda v: 1},
    "GridSample": {"align_corners": lambda v: 1, "padding_mode": lambda v: "zeros"},
    "RoiAlign": {"sampling_ratio": lambda v: 3},
    "TopK": {"largest": lambda v: 0},
    "ArgMax": {"select_last_index": lambda v: 1},
    "Mod": {"fmod": lambda v: 1},
    "DequantizeLinear": {}, "Selu": {"alpha": lambda v: 1.5}, "Elu": {"alpha": lambda v: 0.9},
}


def attribute_edit(model, node, rng, y):
    options = ATTRIBUTES.get(node.op_type, {})
    names = [n for n in options if options[n](attribute(node, n)) is not None] if options else []
    if not names:
        return None
    name = names[rng.integers(len(names))]
    m = copy_of(model)
    set_attribute(find(m, node.name), name, options[name](attribute(node, name)))
    return m


#: operator -> one that computes nearly the same.
REPLACEMENTS = {"Tanh": "Softsign", "Sigmoid": "HardSigmoid", "Floor": "Round", "Erf": "Tanh", "ReduceMax": "ReduceMean",
                "MaxPool": "AveragePool", "Sin": "Tanh", "Selu": "Elu", "Mish": "Softplus", "Greater": "GreaterOrEqual",
                "GlobalMaxPool": "GlobalAveragePool", "ReduceL2": "ReduceL1", "Gelu": "Relu"}


def replaced(model, node, rng, y):
    other = REPLACEMENTS.get(node.op_type)
    if other is None:
        return None
    m = copy_of(model)
    n = find(m, node.name)
    n.op_type = other
    for gone in ("dilations",) if other == "AveragePool" else ():
        kept = [a for a in n.attribute if a.name != gone]
        del n.attribute[:]
        n.attribute.extend(kept)
    return m


def order_of_inputs(model, node, rng, y):
    if node.op_type not in ("Concat", "Sub", "Div", "MatMul") or len(set(node.input)) < 2:
        return None
    m = copy_of(model)
    n = find(m, node.name)
    n.input[0], n.input[1] = n.input[1], n.input[0]
    return m


def in_body(model, node, rng, y):
    """A weight in a body of If, Loop or Scan, or a node of a local function."""
    m = copy_of(model)
    n = find(m, node.name)
    for a in n.attribute:
        if a.type != onnx.AttributeProto.GRAPH:
            continue
        for w in a.g.initializer:
            if w.data_type in (T.FLOAT, T.FLOAT16) and len(w.dims):
                w.CopyFrom(numpy_helper.from_array(one_weight(numpy_helper.to_array(w).copy(), rng), w.name))
                return m
    f = next((f for f in m.functions if f.name == n.op_type and f.domain == n.domain), None)
    if f is None:
        return None
    other = onnx.FunctionProto()
    other.CopyFrom(f)
    other.name = n.op_type = f.name + "Wrong"
    inner = next((k for k in other.node if k.op_type in REPLACEMENTS), None)
    if inner is None:
        return None
    inner.op_type = REPLACEMENTS[inner.op_type]
    m.functions.append(other)
    return m


EDITS = {
    "to_float16": through(T.FLOAT16), "to_bfloat16": through(T.BFLOAT16), "to_int8": through_int8, "nan": not_a_number,
    "off_by_one": off_by_one, "weight": weight_edit(one_weight), "weight_channel": weight_edit(weight_channel),
    "weight_transposed": weight_edit(transposed), "weight_flipped": weight_edit(flipped), "attribute": attribute_edit,
    "replaced": replaced, "inputs_swapped": order_of_inputs, "in_body": in_body,
}
