"""Models to shard, and an evaluation that runs all ranks of a sharded model in step."""

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

FLOAT = TensorProto.FLOAT
node = helper.make_node


def info(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name, *shape, scale=0.5):
    """Numbers that follow from the name."""
    seed = sum(map(ord, name)) + len(shape)
    return numpy_helper.from_array((np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32), name)


def model(nodes, inputs, outputs, constants=(), values=(), opset=17):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants), value_info=list(values))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("trt", 1)], ir_version=10)


SEQUENCE = ["batch", "sequence_length", 8]


def layer(i, q, k, v, out):
    """Attention whose k is transposed before it."""
    return [node("Transpose", [k], [f"kt{i}"], name=f"tr{i}", perm=[0, 2, 1]), node("MatMul", [q, f"kt{i}"], [f"s{i}"], name=f"mm{i}a"),
            node("Softmax", [f"s{i}"], [f"p{i}"], name=f"sm{i}", axis=-1), node("MatMul", [f"p{i}", v], [out], name=f"mm{i}b")]


def plain():
    return model([*layer(0, "q", "k", "v", "o"), node("Relu", ["o"], ["y"], name="act")], [info(x, SEQUENCE) for x in "qkv"],
                 [info("y", SEQUENCE)])


def static():
    """With the shapes of everything declared."""
    m = plain()
    for v in [*m.graph.input, *m.graph.output]:
        v.type.tensor_type.shape.dim[0].dim_value, v.type.tensor_type.shape.dim[1].dim_value = 2, 4
    m.graph.value_info.extend([info("kt0", [2, 8, 4]), info("s0", [2, 4, 4]), info("p0", [2, 4, 4]), info("o", [2, 4, 8])])
    return m


def projections(i, x):
    return [node("MatMul", [x, f"w{n}{i}"], [f"{n}{i}"], name=f"{n}_proj{i}") for n in "qkv"]


def weights(i):
    return [constant(f"w{n}{i}", 8, 8) for n in "qkv"]


def two_layers():
    """With residual connections, and the first layer's result as an output, too."""
    return model([*projections(0, "x"), *layer(0, "q0", "k0", "v0", "o0"), node("Add", ["o0", "x"], ["y0"], name="add0"),
                  *projections(1, "y0"), *layer(1, "q1", "k1", "v1", "o1"), node("Add", ["o1", "y0"], ["y1"], name="add1")],
                 [info("x", SEQUENCE)], [info("y0", SEQUENCE), info("y1", SEQUENCE)], weights(0) + weights(1))


def one_output():
    m = two_layers()
    del m.graph.output[0]
    return m


def same_qkv():
    """q, k and v are one tensor; k is not transposed, so that the sequence is as long as a vector."""
    nodes = [node("MatMul", ["x", "x"], ["s"], name="a"), node("Softmax", ["s"], ["p"], name="sm", axis=-1),
             node("MatMul", ["p", "x"], ["y"], name="b")]
    return model(nodes, [info("x", ["sequence_length", "sequence_length"])], [info("y", ["sequence_length", "sequence_length"])])


def shared_kv():
    """Two layers read one k and one v, and k is used elsewhere, too."""
    nodes = [node("Transpose", ["k"], ["kt"], name="tr", perm=[0, 2, 1])]
    for i, q in enumerate(("q", "r")):
        nodes += layer(i, q, "k", "v", f"o{i}")[1:]
        nodes[-3].input[1] = "kt"
    nodes += [node("Add", ["o0", "o1"], ["o"], name="sum"), node("Add", ["o", "k"], ["y"], name="last")]
    return model(nodes, [info(x, SEQUENCE) for x in "qrkv"], [info("y", SEQUENCE)])


def shared_q():
    """Two layers of one q."""
    return model([*layer(0, "q", "k", "v", "o0"), *layer(1, "q", "r", "v", "o1"), node("Sub", ["o0", "o1"], ["y"], name="difference")],
                 [info(x, SEQUENCE) for x in "qkrv"], [info("y", SEQUENCE)])


def mixed():
    """q and v are one tensor, which a residual connection passes on, and another input is a part where it ends."""
    return model([*layer(0, "x", "k", "x", "o"), node("Add", ["o", "x"], ["r"], name="add"), node("Mul", ["r", "k"], ["y"], name="mul")],
                 [info("x", SEQUENCE), info("k", SEQUENCE)], [info("y", SEQUENCE)])


def unsorted_without_names():
    m = plain()
    nodes = list(reversed(m.graph.node))
    for n in nodes[1:]:
        n.name = ""
    del m.graph.node[:]
    m.graph.node.extend(nodes)
    return m


def scaled():
    """The second pattern."""
    nodes = [node("Shape", ["q"], ["shape"], name="shape"), node("Slice", ["shape", "first", "last"], ["extent"], name="slice"),
             node("Cast", ["extent"], ["c1"], name="c1", to=FLOAT), node("Sqrt", ["c1"], ["r1"], name="r1"),
             node("Cast", ["r1"], ["c2"], name="c2", to=FLOAT), node("Div", ["one", "c2"], ["d"], name="div"),
             node("Cast", ["d"], ["c3"], name="c3", to=FLOAT), node("Sqrt", ["c3"], ["fq"], name="fq"), node("Sqrt", ["c3"], ["fk"], name="fk"),
             node("Mul", ["q", "fq"], ["qs"], name="scale_q"), node("Transpose", ["k"], ["kt"], name="tr", perm=[0, 2, 1]),
             node("Mul", ["kt", "fk"], ["ks"], name="scale_k"), node("MatMul", ["qs", "ks"], ["s"], name="a"),
             node("Softmax", ["s"], ["p"], name="sm", axis=-1), node("MatMul", ["p", "v"], ["y"], name="b")]
    numbers = [numpy_helper.from_array(np.int64([-1]), "first"), numpy_helper.from_array(np.int64([2**62]), "last"),
               numpy_helper.from_array(np.float32([1]), "one")]
    return model(nodes, [info(x, SEQUENCE) for x in "qkv"], [info("y", SEQUENCE)], numbers)


# ---- tensor parallelism

def matmul(x, w, out, name):
    return node("MatMul", [x, w], [out], name=name)


def transformer_block(i, x, out, linear=matmul, swapped=False):
    past, present = f"past{i}", f"present{i}"
    product = [f"up{i}", f"silu{i}"] if swapped else [f"silu{i}", f"up{i}"]
    flat = lambda n: n if isinstance(n, list) else [n]
    steps = [linear(x, f"wq{i}", f"q{i}", f"q_proj{i}"), linear(x, f"wk{i}", f"k{i}", f"k_proj{i}"), linear(x, f"wv{i}", f"v{i}", f"v_proj{i}"),
             node("AttentionPlugin", [f"q{i}", f"k{i}", f"v{i}", past, "len"], [f"att{i}", present], name=f"att{i}", domain="trt", num_q_heads=4,
                  num_kv_heads=2), linear(f"att{i}", f"wo{i}", f"o{i}", f"o_proj{i}"), node("Add", [f"o{i}", x], [f"r{i}"], name=f"res{i}"),
             linear(f"r{i}", f"wg{i}", f"gate{i}", f"gate_proj{i}"), node("Sigmoid", [f"gate{i}"], [f"sig{i}"], name=f"sig{i}"),
             node("Mul", [f"gate{i}", f"sig{i}"], [f"silu{i}"], name=f"m{i}a"), linear(f"r{i}", f"wu{i}", f"up{i}", f"up_proj{i}"),
             node("Mul", product, [f"h{i}"], name=f"m{i}b"), linear(f"h{i}", f"wd{i}", out, f"down_proj{i}")]
    return [n for step in steps for n in flat(step)]


def block_weights(i):
    return [constant(f"wq{i}", 8, 8), constant(f"wk{i}", 8, 4), constant(f"wv{i}", 8, 4), constant(f"wo{i}", 8, 8), constant(f"wg{i}", 8, 16),
            constant(f"wu{i}", 8, 16), constant(f"wd{i}", 16, 8)]


def cache(name):
    return info(name, [1, 2, 2, 5, 2])


LENGTH = info("len", [1], TensorProto.INT32)


def blocks(count=2, swapped=False):
    nodes, constants = [], []
    for i in range(count):
        nodes += transformer_block(i, f"x{i}", f"x{i + 1}", swapped=swapped)
        constants += block_weights(i)
    return model(nodes, [info("x0", [1, 3, 8]), *(cache(f"past{i}") for i in range(count)), LENGTH],
                 [info(f"x{count}", [1, 3, 8]), *(cache(f"present{i}") for i in range(count))], constants)


def swapped_product():
    return blocks(1, swapped=True)


def biased():
    """Every MatMul has a bias; those behind partial sums are added once."""
    def linear(x, w, out, name):
        return [node("MatMul", [x, w], [out + "_product"], name=name), node("Add", [out + "_product", "b" + w], [out], name=name + "_bias")]
    biases = [constant("b" + w.name, w.dims[1]) for w in block_weights(0)]
    return model(transformer_block(0, "x", "y", linear), [info("x", [1, 3, 8]), cache("past0"), LENGTH], [info("y", [1, 3, 8]), cache("present0")],
                 block_weights(0) + biases)


def tied():
    """Two blocks share their weights, and one of them is used as a whole, too."""
    m = blocks(2)
    for n in m.graph.node:
        for k, name in enumerate(n.input):
            if name.startswith("w") and name.endswith("1"):
                n.input[k] = name[:-1] + "0"
    kept = [t for t in m.graph.initializer if t.name.endswith("0")]
    del m.graph.initializer[:]
    m.graph.initializer.extend(kept)
    m.graph.node.append(node("MatMul", ["x2", "wq0"], ["z"], name="head"))
    m.graph.output.append(info("z", [1, 3, 8]))
    return m


def other_sigmoid():
    """A gate that is no MLP stays whole."""
    m = blocks(1)
    m.graph.node.extend([node("MatMul", ["x1", "wgate"], ["g"], name="gate"), node("Sigmoid", ["g"], ["gs"], name="gate_sigmoid"),
                         node("Mul", ["gs", "x1"], ["z"], name="gated")])
    m.graph.initializer.append(constant("wgate", 8, 8))
    m.graph.output.append(info("z", [1, 3, 8]))
    return m


def quantized(kind):
    """Weights of few bits as [columns, rows], in blocks of two rows, with scales that are quantized themselves; kind int8: a scale for each column."""
    def linear(x, w, out, name):
        if kind == "int8":
            first = node("DequantizeLinear", [w, w + "_scale", w + "_zero"], [w + "_f"], name=w + "_dq", axis=0)
            steps = [first]
        else:
            steps = [node("DequantizeLinear", [w + "_scale8", w + "_scale32"], [w + "_scale"], name=w + "_dq_scale"),
                     node("DequantizeLinear", [w, w + "_scale"], [w + "_f"], name=w + "_dq", axis=1, block_size=2)]
        return [*steps, node("Transpose", [w + "_f"], [w + "_t"], name=w + "_tr", perm=[1, 0]), matmul(x, w + "_t", out, name)]
    constants = []
    for w in block_weights(0):
        whole = numpy_helper.to_array(w).T
        if kind == "int8":
            scale = np.abs(whole).max(axis=1) / 127
            constants += [numpy_helper.from_array(np.round(whole / scale[:, None]).astype(np.int8), w.name),
                          numpy_helper.from_array(scale.astype(np.float32), w.name + "_scale"),
                          numpy_helper.from_array(np.zeros(len(scale), np.int8), w.name + "_zero")]
            continue
        scale8 = (np.abs(whole).reshape(whole.shape[0], -1, 2).max(axis=2) / 6 * 4).astype(ml_dtypes.float8_e4m3fn)
        narrow = (whole / np.repeat(scale8.astype(np.float32) / 4, 2, axis=1)).astype(ml_dtypes.float4_e2m1fn)
        codes = narrow.view(np.uint8).reshape(-1)
        packed = (codes[0::2] | (codes[1::2] << 4)).astype(np.uint8).tobytes()
        weight = helper.make_tensor(w.name, TensorProto.FLOAT4E2M1, whole.shape, packed, raw=True)
        scale = helper.make_tensor(w.name + "_scale8", TensorProto.FLOAT8E4M3FN, scale8.shape, scale8.view(np.uint8).tobytes(), raw=True)
        constants += [weight, scale, numpy_helper.from_array(np.float32(0.25), w.name + "_scale32")]
    return model(transformer_block(0, "x", "y", linear), [info("x", [1, 3, 8]), cache("past0"), LENGTH], [info("y", [1, 3, 8]), cache("present0")],
                 constants, opset=23)


def float4():
    return quantized("float4")


def int8():
    return quantized("int8")


# ---- evaluation

def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention_plugin(n, q, k, v, past, _):
    """Grouped attention of heads that lie behind each other; the cache gets k and v in front."""
    heads = {a.name: a.i for a in n.attribute}
    split = lambda x, count: x.reshape(*x.shape[:2], count, -1).transpose(0, 2, 1, 3)
    q, k, v = split(q, heads["num_q_heads"]), split(k, heads["num_kv_heads"]), split(v, heads["num_kv_heads"])
    present = past.copy()
    present[:, 0, :, :k.shape[2]], present[:, 1, :, :k.shape[2]] = k, v
    times = heads["num_q_heads"] // heads["num_kv_heads"]
    k, v = np.repeat(k, times, axis=1), np.repeat(v, times, axis=1)
    out = softmax(q @ k.transpose(0, 1, 3, 2)) @ v
    return [out.transpose(0, 2, 1, 3).reshape(out.shape[0], out.shape[2], -1), present]


def fused_attention(n, q, k, v):
    """What a rank's part of q gives with all of k and v, which lie as [batch, sequence, vector]."""
    return [softmax(q @ k.transpose(0, 2, 1)) @ v]


def collective(n, parts):
    """One DistCollective, on what all ranks have."""
    a = {x.name: helper.get_attribute_value(x) for x in n.attribute}
    kind, reduce = a["collective_operation"].decode(), a["reduce_op"].decode()
    if kind == "all_gather":
        return [np.concatenate(parts)] * len(parts)
    total = {"sum": np.sum, "max": np.max, "min": np.min, "avg": np.mean, "prod": np.prod}[reduce](parts, axis=0)
    if kind == "all_reduce":
        return [total] * len(parts)
    return np.split(total, len(parts))


class Plain:
    """Single nodes of the ONNX standard, by the onnx package."""

    def __init__(self, opset):
        self.opset, self.cache = opset, {}

    def __call__(self, n, inputs):
        key = n.SerializeToString(), tuple(x.dtype.str for x in inputs)
        if key not in self.cache:
            kinds = [helper.np_dtype_to_tensor_dtype(x.dtype) for x in inputs]
            g = helper.make_graph([n], "n", [info(i, None, k) for i, k in dict(zip(n.input, kinds)).items()], [info(o, None) for o in n.output])
            self.cache[key] = ReferenceEvaluator(helper.make_model(g, opset_imports=[helper.make_opsetid("", self.opset)]))
        return self.cache[key].run(None, dict(zip(n.input, inputs)))


def in_order(m):
    """The nodes of a model, each after those it needs."""
    known, left, order = {i.name for i in m.graph.input} | {t.name for t in m.graph.initializer} | {""}, list(m.graph.node), []
    while left:
        ready = [n for n in left if known.issuperset(n.input)]
        order += ready
        known.update(o for n in ready for o in n.output)
        left = [n for n in left if not known.issuperset(n.input) or n not in ready]
    return order


def evaluate(models, feeds):
    """The outputs of every rank: a model and a feed for each, whose nodes are the same."""
    plain = Plain(models[0].opset_import[0].version)
    values = [{**{t.name: numpy_helper.to_array(t) for t in m.graph.initializer}, **f} for m, f in zip(models, feeds)]
    for step in zip(*map(in_order, models)):
        assert len({(n.op_type, n.name) for n in step}) == 1
        inputs = [[v[i] for i in n.input] for n, v in zip(step, values)]
        n = step[0]
        if n.op_type == "DistCollective":
            results = [[x] for x in collective(n, [i[0] for i in inputs])]
        elif n.op_type == "AttentionPlugin":
            results = [attention_plugin(s, *i) for s, i in zip(step, inputs)]
        elif n.op_type == "Attention":
            k, v = (np.concatenate([i[j] for i in inputs], axis=1) for j in (1, 2))
            results = [fused_attention(n, i[0], k, v) for i in inputs]
        else:
            results = [plain(s, i) for s, i in zip(step, inputs)]
        for s, v, r in zip(step, values, results):
            v.update(zip(s.output, r))
    return [[v[o.name] for o in m.graph.output] for m, v in zip(models, values)]


def expressions(m):
    """What each output is computed by, without the names of tensors and nodes, and without dead nodes."""
    made = {t.name: (t.data_type, tuple(t.dims), numpy_helper.to_array(t).tobytes()) for t in m.graph.initializer}
    made.update({i.name: i.name for i in m.graph.input if i.name not in made})
    producers = {o: (n, k) for n in m.graph.node for k, o in enumerate(n.output)}

    def of(name):
        if name not in made:
            n, k = producers[name]
            attributes = tuple(sorted((a.name, repr(helper.get_attribute_value(a))) for a in n.attribute))
            made[name] = hash((n.op_type, n.domain, attributes, k, tuple(of(i) for i in n.input)))
        return made[name]

    return [of(o.name) for o in m.graph.output]
