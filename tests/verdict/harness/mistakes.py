"""Faults as people make them: a mask that is off by one, a cache that is stale, a rotation the wrong way, a weight that lost a bit. Each
entry of MISTAKES belongs to operators (`on`) and perhaps to networks (`only`); its function takes (model, node, rng, values), where
`values` are what the healthy backend gave, weights and inputs included, and returns a faulty model or None where it does not apply."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

import faults
from faults import attribute, copy_of, find, set_attribute

FLOATS = ("float32", "float16", "bfloat16")
MISTAKES = []


def mistake(name, on, only=None):
    def add(function):
        MISTAKES.append((name, on.split(), only.split() if only else None, function))
        return function
    return add


def constant(model, name, array):
    model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
    return name


def before(model, node, i, make):
    """Nodes between input i of this node alone and what gives it. make(m, name) -> nodes, name of the last one's output."""
    m = copy_of(model)
    n = find(m, node.name)
    nodes, name = make(m, n.input[i])
    n.input[i] = name
    at = list(m.graph.node).index(n)
    for k, extra in enumerate(nodes):
        m.graph.node.insert(at + k, extra)
    return m


def instead(model, node, i, array):
    """Another constant as input i."""
    m = copy_of(model)
    n = find(m, node.name)
    n.input[i] = constant(m, f"{node.name}__wrong{i}", array)
    return m


def replaced(model, node, make):
    """Other nodes in the place of this one. make(m, inputs, output) -> nodes."""
    m = copy_of(model)
    n = find(m, node.name)
    at = list(m.graph.node).index(n)
    nodes = make(m, list(n.input), n.output[0])
    m.graph.node.remove(n)
    for k, extra in enumerate(nodes):
        m.graph.node.insert(at + k, extra)
    return m


def as_constant(model, node, array):
    """The node's value as folding would have it."""
    return replaced(model, node, lambda m, inputs, output: [h.make_node("Identity", [constant(m, output + "__folded", array)], [output], node.name)])


def picked(model, node, i, order, axis):
    """Input i with the places along an axis in another order."""
    return before(model, node, i, lambda m, name: ([h.make_node("Gather", [name, constant(m, f"{node.name}__order", np.asarray(order, np.int64))],
                                                                [f"{node.name}__picked"], f"{node.name}__gather", axis=axis)], f"{node.name}__picked"))


def scaled(model, node, i, factor, values):
    array = np.asarray(factor).astype(values[node.input[i]].dtype)
    return before(model, node, i, lambda m, name: ([h.make_node("Mul", [name, constant(m, f"{node.name}__factor", array)], [f"{node.name}__scaled"],
                                                                f"{node.name}__mul")], f"{node.name}__scaled"))


def is_weight(model, name):
    return any(w.name == name for w in model.graph.initializer)


def is_float(values, name):
    return name in values and values[name].dtype.name in FLOATS


# --- masks --------------------------------------------------------------------------------------------------------------


@mistake("mask_shifted", "Add Where And Greater Equal", "padded_attention causal_window text_encoder static_cache gqa alibi")
def _(model, node, rng, values):
    i = 1 if node.op_type == "Add" else 0
    v = values.get(node.input[i])
    if v is None or v.ndim < 1 or v.shape[-1] < 2 or (node.op_type == "Add" and (v.ndim < 2 or (v == v.reshape(-1)[0]).all())):
        return None
    return picked(model, node, i, np.roll(np.arange(v.shape[-1]), 1), v.ndim - 1)


@mistake("mask_dropped", "Add", "padded_attention gqa alibi")
def _(model, node, rng, values):
    return scaled(model, node, 1, 0.0, values) if is_float(values, node.input[1]) else None


@mistake("mask_weak", "Mul Where", "padded_attention causal_window text_encoder static_cache")
def _(model, node, rng, values):
    for i, name in enumerate(node.input):
        if is_weight(model, name) and values[name].size == 1 and is_float(values, name) and values[name] < -1000:
            return instead(model, node, i, np.full_like(values[name], -2))
    return None


@mistake("mask_inverted", "Where")
def _(model, node, rng, values):
    m = copy_of(model)
    n = find(m, node.name)
    n.input[1], n.input[2] = n.input[2], n.input[1]
    return m


@mistake("strict_comparison", "LessOrEqual Less Greater GreaterOrEqual")
def _(model, node, rng, values):
    m = copy_of(model)
    n = find(m, node.name)
    n.op_type = {"LessOrEqual": "Less", "Less": "LessOrEqual", "Greater": "GreaterOrEqual", "GreaterOrEqual": "Greater"}[n.op_type]
    return m


@mistake("wrong_scale", "Mul Div", "padded_attention causal_window alibi text_encoder kv_cache static_cache rope gqa qdq_attention vision_transformer exported")
def _(model, node, rng, values):
    for i, name in enumerate(node.input):
        if is_weight(model, name) and values[name].size == 1 and is_float(values, name):
            return instead(model, node, i, (values[name].astype(np.float64) * rng.choice([0.5, 1.002, 0.9998])).astype(values[name].dtype))
    return None


@mistake("softmax_axis", "Softmax LogSoftmax")
def _(model, node, rng, values):
    rank = values[node.input[0]].ndim
    if rank < 2:
        return None
    m = copy_of(model)
    set_attribute(find(m, node.name), "axis", rank - 2)
    return m


@mistake("softmax_without_maximum_in_float16", "Softmax")
def _(model, node, rng, values):
    if values[node.input[0]].dtype != np.float32:
        return None

    def make(m, inputs, output):
        o = lambda s: output + "__" + s
        return [h.make_node("Exp", inputs, [o("e")]), h.make_node("Cast", [o("e")], [o("n")], to=T.FLOAT16), h.make_node("Cast", [o("n")], [o("w")], to=T.FLOAT),
                h.make_node("ReduceSum", [o("w"), constant(m, o("axis"), np.array([attribute(node, "axis") or -1]))], [o("s")]),
                h.make_node("Div", [o("w"), o("s")], [output])]
    return replaced(model, node, make)


# --- caches -------------------------------------------------------------------------------------------------------------


@mistake("cache_stale", "Concat ScatterND MatMul Attention", "kv_cache static_cache gqa_op")
def _(model, node, rng, values):
    """The newest entry is the one before."""
    i = {"Concat": 1, "ScatterND": 2, "MatMul": 1, "Attention": 4}[node.op_type]
    if len(node.input) <= i or not node.input[i] or is_weight(model, node.input[i]):
        return None
    v = values[node.input[i]]
    axis = max(range(v.ndim), key=lambda a: v.shape[a])
    order = np.arange(v.shape[axis])
    order[-1] = max(0, order[-1] - 1)
    return picked(model, node, i, order, axis)


@mistake("cache_rolled", "Concat ScatterND Attention", "kv_cache static_cache gqa_op")
def _(model, node, rng, values):
    i = {"Concat": 0, "ScatterND": 0, "Attention": 4}[node.op_type]
    v = values[node.input[i]]
    axis = 0 if node.op_type == "ScatterND" else 2
    return picked(model, node, i, np.roll(np.arange(v.shape[axis]), 1), axis)


@mistake("cache_in_front", "Concat", "kv_cache rope gqa")
def _(model, node, rng, values):
    if len(node.input) != 2 or node.input[0] == node.input[1]:
        return None
    m = copy_of(model)
    n = find(m, node.name)
    n.input[0], n.input[1] = n.input[1], n.input[0]
    return m


@mistake("keys_for_values", "Concat MatMul Attention Reshape", "kv_cache gqa gqa_op")
def _(model, node, rng, values):
    """Another input or value of the same shape in the place of the last one."""
    i = {"Attention": 5}.get(node.op_type, len(node.input) - 1 if node.op_type != "Reshape" else 0)
    if len(node.input) <= i or is_weight(model, node.input[i]):
        return None
    v = values[node.input[i]]
    order = [*[x.name for x in model.graph.input], *[o for n in model.graph.node for o in n.output]]
    earlier = order[:order.index(node.output[0])]
    others = [o for o in earlier if o != node.input[i] and o in values and values[o].shape == v.shape and values[o].dtype == v.dtype]
    if not others:
        return None
    m = copy_of(model)
    find(m, node.name).input[i] = others[rng.integers(len(others))]
    return m


@mistake("position_off_by_one", "ScatterND Greater RotaryEmbedding Cast Unsqueeze", "static_cache rope_op rope gqa")
def _(model, node, rng, values):
    i = {"ScatterND": 1, "Greater": 1, "RotaryEmbedding": 3}.get(node.op_type, 0)
    v = values[node.input[i]]
    if v.dtype.kind not in "iu":
        return None
    one = np.array(1 if v.max() < 8 else -1, v.dtype)
    if v.min() + one < 0:
        one = np.array(1, v.dtype)
    return before(model, node, i, lambda m, name: ([h.make_node("Add", [name, constant(m, f"{node.name}__one", one)], [f"{node.name}__next"])], f"{node.name}__next"))


# --- rotary positions ---------------------------------------------------------------------------------------------------


@mistake("rope_other_base", "Mul", "rope gqa")
def _(model, node, rng, values):
    v = values[node.input[1]]
    if not is_weight(model, node.input[1]) or v.shape != (8,) or v[0] != 1:
        return None
    return instead(model, node, 1, (float(rng.choice([10010.0, 500000.0])) ** -(np.arange(8) / 8)).astype(v.dtype))


@mistake("rope_turned_back", "Neg Sin Slice", "rope gqa")
def _(model, node, rng, values):
    if node.op_type == "Neg":
        return replaced(model, node, lambda m, inputs, output: [h.make_node("Identity", inputs, [output], node.name)])
    if node.op_type == "Sin":
        return scaled(model, node, 0, -1.0, values)
    v = values[node.input[0]]
    return picked(model, node, 0, np.arange(v.shape[3]).reshape(-1, 2).T.reshape(-1), 3)


@mistake("rope_cosine_for_sine", "Cos Sin")
def _(model, node, rng, values):
    m = copy_of(model)
    n = find(m, node.name)
    n.op_type = {"Cos": "Sin", "Sin": "Cos"}[n.op_type]
    return m


@mistake("rope_in_float16", "Cos Sin RotaryEmbedding", "rope gqa rope_op folded exported")
def _(model, node, rng, values):
    i = 0 if node.op_type != "RotaryEmbedding" else 1
    if values[node.input[i]].dtype != np.float32:
        return None
    return before(model, node, i, lambda m, name: ([h.make_node("Cast", [name], [f"{node.name}__n"], to=T.FLOAT16),
                                                    h.make_node("Cast", [f"{node.name}__n"], [f"{node.name}__w"], to=T.FLOAT)], f"{node.name}__w"))


@mistake("rope_interleaved", "RotaryEmbedding")
def _(model, node, rng, values):
    m = copy_of(model)
    set_attribute(find(m, node.name), "interleaved", 1)
    return m


# --- heads that share keys ----------------------------------------------------------------------------------------------


@mistake("heads_in_another_order", "Reshape MatMul Expand", "gqa padded_attention qdq_attention kv_cache")
def _(model, node, rng, values):
    """A query asks the keys of another group."""
    v = values[node.output[0]]
    if node.op_type == "MatMul" or v.ndim not in (4, 5) or is_weight(model, node.input[0]):
        if node.op_type != "MatMul" or values[node.input[1]].ndim != 4:
            return None
        heads = values[node.input[1]].shape[1]
        return picked(model, node, 1, np.arange(heads).reshape(2, -1).T.reshape(-1), 1)
    axis = 1
    source = values[node.input[0]]
    if source.ndim < 4 or source.shape[axis] < 2:
        return None
    return picked(model, node, 0, np.roll(np.arange(source.shape[axis]), 1), axis)


@mistake("attention_attribute", "Attention")
def _(model, node, rng, values):
    m = copy_of(model)
    n = find(m, node.name)
    name, value = [("scale", 0.26), ("is_causal", 0), ("softcap", 5.0), ("scale", 0.2501)][rng.integers(4)]
    if attribute(node, name) == value:
        return None
    set_attribute(n, name, value)
    return m


# --- folding ------------------------------------------------------------------------------------------------------------


def depends_on_inputs(model, node):
    made = {o: n for n in model.graph.node for o in n.output}
    inputs = {i.name for i in model.graph.input}
    ahead, seen = list(node.input), set()
    while ahead:
        name = ahead.pop()
        if name in inputs:
            return True
        if name in seen or name not in made:
            continue
        seen.add(name)
        ahead.extend(made[name].input)
    return False


def folding(change):
    def edit(model, node, rng, values):
        y = values.get(node.output[0])
        if y is None or len(node.output) > 1 or depends_on_inputs(model, node) and node.op_type not in ("Shape", "Gather"):
            return None
        changed = change(y, rng)
        return None if changed is None else as_constant(model, node, np.asarray(changed).astype(y.dtype).reshape(y.shape))
    return edit


FOLDED = "Mul Div Sqrt ReduceSum Add Cast Tanh Transpose MatMul Cos Range Unsqueeze Concat Reshape Sub And LessOrEqual Less"
mistake("folded_in_float16", FOLDED)(folding(lambda y, r: y.astype(np.float16) if y.dtype == np.float32 else None))
mistake("folded_in_bfloat16", FOLDED)(folding(lambda y, r: ((y.view(np.uint32) + 0x8000) & 0xFFFF0000).view(np.float32) if y.dtype == np.float32 else None))
mistake("folded_with_another_order", FOLDED)(folding(lambda y, r: np.flip(y, -1) if y.ndim and y.shape[-1] > 1 else None))
mistake("folded_with_a_zero", FOLDED)(folding(lambda y, r: np.where(np.arange(y.size).reshape(y.shape) == y.size // 2, 0, y) if y.dtype.kind in "fi" and y.ndim else None))
mistake("folded_off_by_a_thousandth", FOLDED)(folding(lambda y, r: y * 1.001 if y.dtype.kind == "f" else None))


# --- resizing -----------------------------------------------------------------------------------------------------------


@mistake("resize_attribute", "Resize")
def _(model, node, rng, values):
    mode = attribute(node, "mode")
    where = attribute(node, "coordinate_transformation_mode") or b"half_pixel"
    options = [("coordinate_transformation_mode", c) for c in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel") if c.encode() != where]
    if mode == b"nearest":
        options += [("nearest_mode", c) for c in ("floor", "ceil", "round_prefer_ceil") if c.encode() != attribute(node, "nearest_mode")]
    if mode == b"cubic":
        options += [("cubic_coeff_a", c) for c in (-0.5, -0.75, -0.6) if abs(c - (attribute(node, "cubic_coeff_a") or -0.75)) > 1e-3]
        options += [("exclude_outside", 1 - (attribute(node, "exclude_outside") or 0))]
    if mode != b"nearest" and next(o.version for o in model.opset_import if o.domain == "") >= 18:
        options += [("antialias", 1 - (attribute(node, "antialias") or 0))]
    options += [("mode", c) for c in ("linear", "cubic", "nearest") if c.encode() != mode and not attribute(node, "antialias")]
    m = copy_of(model)
    set_attribute(find(m, node.name), *options[rng.integers(len(options))])
    return m


# --- boxes and choices --------------------------------------------------------------------------------------------------


@mistake("suppression_threshold", "NonMaxSuppression")
def _(model, node, rng, values):
    i = int(rng.integers(2, 5))
    v = values[node.input[i]]
    return instead(model, node, i, v + 1 if v.dtype.kind == "i" else v * v.dtype.type([0.7, 1.4][rng.integers(2)]))


@mistake("box_format", "NonMaxSuppression")
def _(model, node, rng, values):
    m = copy_of(model)
    set_attribute(find(m, node.name), "center_point_box", 1 - (attribute(node, "center_point_box") or 0))
    return m


@mistake("boxes_swapped", "NonMaxSuppression GatherElements")
def _(model, node, rng, values):
    v = values[node.input[0]]
    return picked(model, node, 0, np.roll(np.arange(v.shape[1]), 1), 1)


@mistake("smallest_for_largest", "TopK ReduceMax")
def _(model, node, rng, values):
    m = copy_of(model)
    n = find(m, node.name)
    if n.op_type == "ReduceMax":
        n.op_type = "ReduceMin"
    else:
        set_attribute(n, "largest", 0)
    return m


@mistake("index_off_by_one", "GatherElements Gather")
def _(model, node, rng, values):
    v = values[node.input[1]]
    size = values[node.input[0]].shape[attribute(node, "axis") or 0]
    if v.size == 0 or size < 2:
        return None
    changed = v.copy()
    at = tuple(rng.integers(s) for s in v.shape)
    changed[at] = (changed[at] + 1) % size
    return instead(model, node, 1, changed)


# --- quantized arithmetic -----------------------------------------------------------------------------------------------

#: Operator -> (places of scales, of zero points, of quantized weights).
QUANTISED = {"QuantizeLinear": ((1,), (2,), ()), "DequantizeLinear": ((1,), (2,), (0,)), "QLinearConv": ((1, 4, 6), (2, 5, 7), (3,)),
             "QLinearMatMul": ((1, 4, 6), (2, 5, 7), (3,)), "ConvInteger": ((), (2, 3), (1,)), "MatMulInteger": ((), (2, 3), (1,))}


def quantised(places, change):
    def edit(model, node, rng, values):
        found = [i for i in QUANTISED[node.op_type][places] if i < len(node.input) and node.input[i] in values]
        rng.shuffle(found)
        for i in found:
            v = values[node.input[i]]
            changed = change(v, rng)
            if changed is not None:
                return instead(model, node, i, np.asarray(changed).astype(v.dtype).reshape(v.shape))
        return None
    return edit


mistake("scale_off", " ".join(QUANTISED))(quantised(0, lambda v, r: v * r.choice([1.03, 0.5])))
mistake("scale_of_next_channel", " ".join(QUANTISED))(quantised(0, lambda v, r: np.roll(v, 1) if v.size > 1 else None))
mistake("zero_point_off", " ".join(QUANTISED))(quantised(1, lambda v, r: np.where(v > 100, v - 1, v + 1)))
mistake("weight_bit_7", " ".join(QUANTISED))(quantised(2, lambda v, r: one_bit(v, r, 0x80)))
mistake("weight_bit_4", " ".join(QUANTISED))(quantised(2, lambda v, r: one_bit(v, r, 0x10)))


def one_bit(v, rng, bit):
    if v.dtype.itemsize != 1 or v.size < 8:
        return None
    w = v.copy()
    w.view(np.uint8).reshape(-1)[rng.integers(v.size)] ^= bit
    return w


@mistake("rounded_down", "QuantizeLinear")
def _(model, node, rng, values):
    y = values[node.output[0]]

    def make(m, inputs, output):
        o = lambda s: output + "__" + s
        low, high = np.iinfo(y.dtype).min, np.iinfo(y.dtype).max
        return [h.make_node("Div", inputs[:2], [o("q")]), h.make_node("Floor", [o("q")], [o("f")]),
                h.make_node("Cast", [inputs[2]], [o("z")], to=T.FLOAT), h.make_node("Add", [o("f"), o("z")], [o("s")]),
                h.make_node("Clip", [o("s"), constant(m, o("low"), np.float32(low)), constant(m, o("high"), np.float32(high))], [o("c")]),
                h.make_node("Cast", [o("c")], [output], to=h.np_dtype_to_tensor_dtype(y.dtype))]
    return replaced(model, node, make) if values[node.input[1]].ndim == 0 and values[node.input[0]].dtype == np.float32 else None


@mistake("saturated_at_127", "QuantizeLinear")
def _(model, node, rng, values):
    y = values[node.output[0]]
    if y.dtype != np.uint8 or y.max() <= 127:
        return None
    return faults.after(model, node, lambda raw, final: ([h.make_node("Min", [raw, final + "__127"], [final])],
                                                         [numpy_helper.from_array(np.uint8(127), final + "__127")]), y.dtype)


@mistake("range_without_zero", "DynamicQuantizeLinear")
def _(model, node, rng, values):
    """The range doubled, as by a calibration on other data."""
    m = copy_of(model)
    n = find(m, node.name)
    at = list(m.graph.node).index(n)
    names = list(n.output)
    s = names[1]
    n.output[1] = s + "__raw"
    n.output[0] = names[0] + "__raw"
    m.graph.node.insert(at + 1, h.make_node("Mul", [s + "__raw", constant(m, s + "__two", np.float32(2))], [s], s + "__mul"))
    m.graph.node.insert(at + 2, h.make_node("QuantizeLinear", [n.input[0], s, names[2]], [names[0]], s + "__again"))
    return m


@mistake("bias_lost", "Conv Gemm QLinearConv LayerNormalization")
def _(model, node, rng, values):
    i = 8 if node.op_type == "QLinearConv" else 2
    if len(node.input) <= i or not node.input[i]:
        return None
    v = values[node.input[i]].copy()
    v.reshape(-1)[rng.integers(v.size)] = 0
    return instead(model, node, i, v)


# --- arithmetic of narrow types, and what exporters and compilers do ------------------------------------------------------


@mistake("gelu_by_tanh", "Gelu")
def _(model, node, rng, values):
    m = copy_of(model)
    set_attribute(find(m, node.name), "approximate", "tanh" if attribute(node, "approximate") in (None, b"none") else "none")
    return m


@mistake("epsilon_outside_the_root", "LayerNormalization")
def _(model, node, rng, values):
    x = values[node.input[0]]
    axis = attribute(node, "axis") or -1
    if axis not in (-1, x.ndim - 1) or x.dtype.name not in ("float32", "float16"):
        return None
    kind, old = h.np_dtype_to_tensor_dtype(x.dtype), next(o.version for o in model.opset_import if o.domain == "") < 18

    def make(m, inputs, output):
        o = lambda s: output + "__" + s
        axes = [] if old else [constant(m, o("axes"), np.array([-1]))]
        mean = lambda a, b: h.make_node("ReduceMean", [a, *axes], [b], **({"axes": [-1]} if old else {}))
        epsilon = constant(m, o("epsilon"), np.float32(1e-3 if x.dtype == np.float32 else 1e-2))
        nodes = [h.make_node("Cast", [inputs[0]], [o("x")], to=T.FLOAT), mean(o("x"), o("mean")), h.make_node("Sub", [o("x"), o("mean")], [o("d")]),
                 h.make_node("Mul", [o("d"), o("d")], [o("square")]), mean(o("square"), o("variance")), h.make_node("Sqrt", [o("variance")], [o("root")]),
                 h.make_node("Add", [o("root"), epsilon], [o("below")]), h.make_node("Div", [o("d"), o("below")], [o("n")])]
        nodes += [h.make_node("Cast", [i], [o(f"w{k}")], to=T.FLOAT) for k, i in enumerate(inputs[1:])]
        nodes += [h.make_node("Mul", [o("n"), o("w0")], [o("m")])]
        nodes += [h.make_node("Add", [o("m"), o("w1")], [o("y")])] if len(inputs) > 2 else [h.make_node("Identity", [o("m")], [o("y")])]
        return [*nodes, h.make_node("Cast", [o("y")], [output], to=kind)]
    return replaced(model, node, make)


@mistake("factor_in_all_elements", "MatMul Conv Softmax Mul Gelu LayerNormalization Gemm Attention")
def _(model, node, rng, values):
    y = values[node.output[0]]
    if y.dtype.name not in FLOATS:
        return None
    return faults.after(model, node, lambda raw, final: ([h.make_node("Mul", [raw, final + "__factor"], [final])],
                                                         [numpy_helper.from_array(np.asarray(1.002).astype(y.dtype), final + "__factor")])
                        if y.dtype == np.float32 else
                        ([h.make_node("Cast", [raw], [final + "__w"], to=T.FLOAT), h.make_node("Mul", [final + "__w", final + "__factor"], [final + "__s"]),
                          h.make_node("Cast", [final + "__s"], [final], to=h.np_dtype_to_tensor_dtype(y.dtype))],
                         [numpy_helper.from_array(np.float32(1.008 if y.dtype == np.float16 else 1.06), final + "__factor")]), y.dtype)


@mistake("cut_off_instead_of_rounded", "MatMul Conv Mul Add Gemm LayerNormalization Softmax Tanh Sigmoid")
def _(model, node, rng, values):
    """All results one step towards zero, as when a narrower type cuts bits off (float32: the last eight of them)."""
    y = values[node.output[0]]
    step = {"float32": 2.0 ** -16, "float16": 2.0 ** -8, "bfloat16": 2.0 ** -5}.get(y.dtype.name)
    if step is None or not np.isfinite(y.astype(np.float64)).all():
        return None
    e = -np.abs(np.asarray(rng.uniform(0, step, y.shape))) * y.astype(np.float64)
    return faults.add_error(model, node, e.astype(y.dtype))


@mistake("one_weight_lost", "MatMul Gemm Conv ConvTranspose GRU LSTM Einsum")
def _(model, node, rng, values):
    for i in range(1, len(node.input)):
        if is_weight(model, node.input[i]) and is_float(values, node.input[i]) and values[node.input[i]].size > 3:
            v = values[node.input[i]].copy()
            v.reshape(-1)[int(np.argmax(np.abs(v.astype(np.float64))))] = 0
            return instead(model, node, i, v)
    return None


@mistake("channels_swapped", "Conv BatchNormalization Gemm MatMul ConvTranspose")
def _(model, node, rng, values):
    if not is_weight(model, node.input[1]):
        return None
    v = values[node.input[1]].copy()
    if v.shape[0] < 2:
        return None
    v[[0, 1]] = v[[1, 0]]
    return instead(model, node, 1, v)


@mistake("other_padding", "Conv AveragePool ConvTranspose")
def _(model, node, rng, values):
    pads = attribute(node, "pads")
    if not pads or len(pads) != 4 or len(set(pads)) > 1 or not pads[0]:
        return None
    m = copy_of(model)
    set_attribute(find(m, node.name), "pads", [pads[0] - 1, pads[1], pads[2] + 1, pads[3]])
    return m


@mistake("mean_of_one_less", "ReduceMean GlobalAveragePool")
def _(model, node, rng, values):
    x, y = values[node.input[0]], values[node.output[0]]
    n = x.size / max(1, y.size)
    if n < 2 or y.dtype != np.float32:
        return None
    return faults.after(model, node, lambda raw, final: ([h.make_node("Mul", [raw, final + "__factor"], [final])],
                                                         [numpy_helper.from_array(np.float32(n / (n - 1)), final + "__factor")]), y.dtype)


@mistake("one_row_left_out", "ReduceSum ReduceL2 ReduceLogSumExp GlobalAveragePool GlobalLpPool Einsum")
def _(model, node, rng, values):
    v = values[node.input[0]]
    if v.ndim < 2 or v.dtype != np.float32 or v.shape[-1] < 2:
        return None
    keep = np.ones(v.shape[-1], np.float32)
    keep[-1] = 0
    return scaled(model, node, 0, keep, values)
