"""Models as exporters write them: decomposed operators, shape arithmetic, weights that nobody folded.

`models()` gives (name, ModelProto) pairs. Weights are random with a fixed seed; extents are small, since simplifiers
look at structure.
"""
import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, shape_inference

I64_MAX = 2**63 - 1


class Net:
    """A graph under construction; operators are methods by name: net.Conv(x, w, strides=[2, 2])."""

    def __init__(self, opset=17, constants_as_nodes=True, seed=0):
        self.opset, self.constants_as_nodes = opset, constants_as_nodes
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers, self.inputs, self.outputs, self.functions = [], [], [], [], []
        self.count = 0

    def name(self, hint):
        self.count += 1
        return f"{hint}_{self.count}"

    def input(self, name, shape, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, value, shape=None, dtype=TensorProto.FLOAT, name="output"):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=self.name("/out")))
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def weight(self, *shape, scale=0.2, offset=0.0, dtype=np.float32):
        return self.initializer((self.random.standard_normal(shape) * scale + offset).astype(dtype))

    def initializer(self, array, name=None):
        name = name or self.name("weight")
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def constant(self, value, dtype=np.int64):
        """As exporters write it: a Constant node of its own for each use."""
        array = np.asarray(value, dtype)
        if not self.constants_as_nodes:
            return self.initializer(array)
        out = self.name("/Constant_output")
        self.nodes.append(helper.make_node("Constant", [], [out], name=self.name("/Constant"),
                                           value=numpy_helper.from_array(array)))
        return out

    def f(self, value):
        return self.constant(value, np.float32)

    def multi(self, op, inputs, count, domain="", **attributes):
        outs = [self.name(f"/{op}_output") for _ in range(count)]
        self.nodes.append(helper.make_node(op, list(inputs), outs, name=self.name("/" + op), domain=domain, **attributes))
        return outs

    def __getattr__(self, op):
        return lambda *inputs, **attributes: self.multi(op, inputs, 1, **attributes)[0]

    def axes_op(self, op, x, axes, keepdims=None):
        """Squeeze, Unsqueeze, Reduce*: axes are an attribute or an input."""
        extra = {} if keepdims is None else {"keepdims": keepdims}
        newer = 13 if op in ("Squeeze", "Unsqueeze", "ReduceSum") else 18
        if self.opset < newer:
            return self.multi(op, [x], 1, axes=axes, **extra)[0]
        return self.multi(op, [x, self.constant(axes)], 1, **extra)[0]

    def extent(self, x, axis):
        """x.shape[axis] as PyTorch's exporter writes it."""
        return self.Gather(self.Shape(x), self.constant(axis), axis=0)

    def shape_list(self, *entries):
        """A shape out of numbers and scalars: Unsqueeze of each, then Concat."""
        parts = [self.constant([e]) if isinstance(e, int) else self.axes_op("Unsqueeze", e, [0]) for e in entries]
        return self.Concat(*parts, axis=0)

    def view(self, x, *entries):
        return self.Reshape(x, self.shape_list(*entries))

    def slice(self, x, axis, start, end, step=1):
        return self.Slice(x, self.constant([start]), self.constant([end]), self.constant([axis]), self.constant([step]))

    # Blocks.
    def bn(self, x, channels):
        return self.BatchNormalization(x, self.weight(channels, offset=1), self.weight(channels), self.weight(channels),
                                       self.initializer(self.random.uniform(0.5, 1.5, channels).astype(np.float32)),
                                       epsilon=1e-5, momentum=0.9)

    def conv(self, x, cin, cout, kernel=3, stride=1, group=1, bias=False, pads=None, rank=2):
        k = [kernel] * rank
        inputs = [x, self.weight(cout, cin // group, *k)] + ([self.weight(cout)] if bias else [])
        return self.Conv(*inputs, kernel_shape=k, strides=[stride] * rank, group=group, dilations=[1] * rank,
                         pads=pads if pads is not None else [kernel // 2] * (2 * rank))

    def linear(self, x, cin, cout):
        """nn.Linear on a value of rank 3: MatMul with the transposed weight, Add."""
        return self.Add(self.weight(cout), self.MatMul(x, self.weight(cin, cout)))

    def layer_norm(self, x, width):
        mean = self.axes_op("ReduceMean", x, [-1], 1)
        centred = self.Sub(x, mean)
        variance = self.axes_op("ReduceMean", self.Pow(centred, self.f(2)), [-1], 1)
        y = self.Div(centred, self.Sqrt(self.Add(variance, self.f(1e-5))))
        return self.Add(self.Mul(y, self.weight(width, offset=1)), self.weight(width))

    def rms_norm(self, x, width):
        mean = self.axes_op("ReduceMean", self.Pow(x, self.f(2)), [-1], 1)
        return self.Mul(self.weight(width, offset=1), self.Mul(x, self.Div(self.f(1), self.Sqrt(self.Add(mean, self.f(1e-6))))))

    def gelu(self, x):
        erf = self.Add(self.Erf(self.Div(x, self.f(np.sqrt(2)))), self.f(1))
        return self.Mul(self.Mul(x, erf), self.f(0.5))

    def gelu_tanh(self, x):
        inner = self.Add(x, self.Mul(self.Pow(x, self.f(3)), self.f(0.044715)))
        t = self.Add(self.Tanh(self.Mul(inner, self.f(np.sqrt(2 / np.pi)))), self.f(1))
        return self.Mul(self.Mul(x, self.f(0.5)), t)

    def silu(self, x):
        return self.Mul(x, self.Sigmoid(x))

    def hard_swish(self, x):
        return self.Div(self.Mul(x, self.Clip(self.Add(x, self.f(3)), self.f(0), self.f(6))), self.f(6))

    def attention(self, x, width, heads):
        """Multi-head attention with every extent read from the value."""
        batch, length = self.extent(x, 0), self.extent(x, 1)
        q, k, v = (self.Transpose(self.view(self.linear(x, width, width), batch, length, heads, width // heads), perm=[0, 2, 1, 3])
                   for _ in range(3))
        scores = self.Div(self.MatMul(q, self.Transpose(k, perm=[0, 1, 3, 2])), self.f(np.sqrt(width / heads)))
        mixed = self.Transpose(self.MatMul(self.Softmax(scores, axis=-1), v), perm=[0, 2, 1, 3])
        return self.linear(self.view(mixed, self.extent(mixed, 0), self.extent(mixed, 1), width), width, width)

    def model(self, ir_version=8):
        graph = helper.make_graph(self.nodes, "main_graph", self.inputs, self.outputs, self.initializers)
        imports = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid(f.domain, 1) for f in self.functions[:1]]
        model = helper.make_model(graph, producer_name="pytorch", opset_imports=imports, ir_version=ir_version,
                                  functions=self.functions)
        # Exporters declare what they know of their outputs.
        inferred = shape_inference.infer_shapes(model)
        for declared, known in zip(model.graph.output, inferred.graph.output):
            if known.type.tensor_type.HasField("shape"):
                declared.CopyFrom(known)
        checker.check_model(model, full_check=True)
        return model


def conv_bn(opset=13):
    """Residual blocks with batch normalisations; weights shared through Identity nodes; dynamic batch."""
    n = Net(opset)
    x = n.Relu(n.bn(n.conv(n.input("x", ["batch", 3, 16, 16]), 3, 8, 7, 2), 8))
    for _ in range(2):
        y = n.Relu(n.bn(n.conv(x, 8, 8), 8))
        x = n.Relu(n.Add(n.bn(n.conv(y, 8, 8), 8), x))
    n.output(n.Gemm(n.Flatten(n.GlobalAveragePool(x), axis=1), n.weight(5, 8), n.weight(5), transB=1), ["batch", 5])
    return n.model()


def conv_variants():
    """1-D, 3-D, grouped and transposed convolutions with what is folded into them."""
    n = Net(14)
    a = n.Relu(n.bn(n.conv(n.input("a", [1, 4, 20]), 4, 8, 3, 2, rank=1), 8))
    n.output(a, name="one")
    b = n.bn(n.conv(n.input("b", [1, 4, 6, 6, 6]), 4, 8, 3, group=2, rank=3, bias=True), 8)
    n.output(n.Clip(b, n.f(0), n.f(6)), name="three")
    t = n.ConvTranspose(n.input("t", [1, 4, 5, 5]), n.weight(4, 6, 2, 2), strides=[2, 2], kernel_shape=[2, 2])
    t = n.bn(t, 6)
    t = n.Add(n.Mul(n.conv(t, 6, 6, 1), n.weight(1, 6, 1, 1)), n.weight(6, 1, 1))
    n.output(t, name="up")
    return n.model()


def bn_before_conv():
    """Pre-activation blocks (DenseNet): a batch normalisation that no convolution precedes."""
    n = Net(12)
    x = n.conv(n.input("x", ["N", 3, 8, 8]), 3, 6)
    parts = [x]
    for i in range(3):
        y = n.Concat(*parts, axis=1) if len(parts) > 1 else parts[0]
        y = n.conv(n.Relu(n.bn(y, 6 + 4 * i)), 6 + 4 * i, 8, 1)
        parts.append(n.conv(n.Relu(n.bn(y, 8)), 8, 4))
    n.output(n.Concat(*parts, axis=1))
    return n.model()


def transformer(opset, gelu, norm):
    n = Net(opset)
    x = n.input("x", ["batch", "length", 16])
    for _ in range(2):
        x = n.Add(x, n.attention(getattr(n, norm)(x, 16), 16, 4))
        x = n.Add(x, n.linear(getattr(n, gelu)(n.linear(getattr(n, norm)(x, 16), 16, 32)), 32, 16))
    n.output(getattr(n, norm)(x, 16), ["batch", "length", 16])
    return n.model()


def static_transformer():
    """The same where every extent is known: all the shape arithmetic folds."""
    n = Net(16)
    x = n.input("x", [1, 6, 16])
    for _ in range(2):
        x = n.Add(x, n.attention(n.layer_norm(x, 16), 16, 2))
        x = n.Add(x, n.linear(n.gelu(n.linear(n.layer_norm(x, 16), 16, 32)), 32, 16))
    n.output(x)
    return n.model()


def masked_attention(opset, layer_norm):
    """Attention with a mask and extents that are known: queries, keys and values are products of one value."""
    n = Net(opset)
    x, mask = n.input("x", [2, 6, 16]), n.input("mask", [2, 1, 1, 6])
    for _ in range(2):
        y = layer_norm(n, x)
        q, k, v = (n.Transpose(n.Reshape(n.linear(y, 16, 16), n.constant([2, 6, 2, 8])), perm=[0, 2, 1, 3]) for _ in range(3))
        scores = n.Add(n.Div(n.MatMul(q, n.Transpose(k, perm=[0, 1, 3, 2])), n.f(np.sqrt(8))), mask)
        y = n.Transpose(n.MatMul(n.Softmax(scores, axis=-1), v), perm=[0, 2, 1, 3])
        x = n.Add(x, n.linear(n.Reshape(y, n.constant([2, 6, 16])), 16, 16))
        x = n.Add(x, n.linear(n.gelu(n.linear(layer_norm(n, x), 16, 32)), 32, 16))
    n.output(x)
    return n.model()


def window_attention():
    """Shifted windows (Swin): a product between two Reshapes, one weight for queries, keys and values."""
    n = Net(16)
    x = n.input("x", [1, 8, 8, 16])
    y = n.layer_norm(x, 16)
    for axis in (1, 2):
        y = n.Concat(n.slice(y, axis, 2, I64_MAX), n.slice(y, axis, 0, 2), axis=axis)
    y = n.Transpose(n.Reshape(y, n.constant([1, 2, 4, 2, 4, 16])), perm=[0, 1, 3, 2, 4, 5])
    y = n.linear(n.Reshape(y, n.constant([4, 16, 16])), 16, 48)
    y = n.Transpose(n.Reshape(y, n.constant([4, 16, 3, 2, 8])), perm=[2, 0, 3, 1, 4])
    q, k, v = (n.axes_op("Squeeze", part, [0]) for part in n.multi("Split", [y, n.constant([1, 1, 1])], 3, axis=0))
    scores = n.Add(n.MatMul(n.Mul(q, n.f(0.35)), n.Transpose(k, perm=[0, 1, 3, 2])), n.weight(1, 2, 16, 16))
    y = n.Transpose(n.MatMul(n.Softmax(scores, axis=-1), v), perm=[0, 2, 1, 3])
    y = n.linear(n.Reshape(y, n.constant([4, 16, 16])), 16, 16)
    y = n.Transpose(n.Reshape(y, n.constant([1, 2, 2, 4, 4, 16])), perm=[0, 1, 3, 2, 4, 5])
    n.output(n.Add(x, n.Reshape(y, n.constant([1, 8, 8, 16]))))
    return n.model()


def activations(opset):
    n = Net(opset)
    x = n.conv(n.input("x", ["batch", 3, 8, 8]), 3, 8, bias=True)
    x = n.hard_swish(n.bn(n.conv(n.silu(x), 8, 8), 8))
    y = n.Mul(x, n.Tanh(n.Softplus(x)))
    y = n.Mul(y, n.HardSigmoid(n.conv(n.GlobalAveragePool(y), 8, 8, 1, bias=True), alpha=1 / 6))
    n.output(n.Relu(n.Relu(n.LeakyRelu(y, alpha=0.1))))
    return n.model()


def tf_layout():
    """What a converter from NHWC leaves: transpositions around every layer, explicit paddings, bias as Add."""
    n = Net(11, constants_as_nodes=False)
    x = n.input("x", ["unk", 9, 9, 3])
    for cin, cout in ((3, 8), (8, 8)):
        x = n.Pad(x, n.constant([0, 0, 0, 0, 0, 1, 1, 0]), mode="constant")
        x = n.Conv(n.Transpose(x, perm=[0, 3, 1, 2]), n.weight(cout, cin, 3, 3), strides=[2, 2], kernel_shape=[3, 3])
        x = n.Add(n.Transpose(x, perm=[0, 2, 3, 1]), n.weight(cout))
        x = n.Clip(x, n.f(0), n.f(6))
    pooled = n.GlobalAveragePool(n.Transpose(x, perm=[0, 3, 1, 2]))
    x = n.Squeeze(n.Transpose(pooled, perm=[0, 2, 3, 1]), axes=[1, 2])
    n.output(n.Softmax(n.Add(n.MatMul(x, n.weight(8, 5)), n.weight(5)), axis=1))
    return n.model(ir_version=6)


def padded_pools():
    n = Net(13)
    x = n.Pad(n.input("x", [1, 4, 9, 9]), n.constant([0, 0, 1, 1, 0, 0, 1, 1]), n.f(0), mode="constant")
    y = n.conv(x, 4, 4, pads=[0, 0, 0, 0])
    y = n.Pad(n.Relu(y), n.constant([0, 0, 0, 1, 0, 0, 1, 0]), n.f(-np.inf))
    y = n.MaxPool(y, kernel_shape=[3, 3], strides=[2, 2])
    y = n.Pad(y, n.constant([0] * 8))
    y = n.Pad(y, n.constant([0, 0, 1, 1, 0, 0, 1, 1]), n.f(0))
    n.output(n.AveragePool(y, kernel_shape=[2, 2], strides=[2, 2], count_include_pad=1))
    return n.model()


def lstm():
    """Initial states made from the batch's extent."""
    n = Net(14)
    x = n.Transpose(n.input("x", ["batch", "time", 6]), perm=[1, 0, 2])
    batch = n.extent(x, 1)
    zeros = n.Expand(n.f(np.zeros((1, 1, 8))), n.shape_list(1, batch, 8))
    for _ in range(2):
        y = n.multi("LSTM", [x, n.weight(1, 32, 6 if _ == 0 else 8), n.weight(1, 32, 8), n.weight(1, 64), "", zeros, zeros], 3,
                    hidden_size=8)
        x = n.axes_op("Squeeze", y[0], [1])
    n.output(n.LogSoftmax(n.linear(n.Transpose(x, perm=[1, 0, 2]), 8, 5), axis=-1))
    return n.model()


def detection():
    """A head with split boxes, anchor grids out of Range, and concatenations of concatenations."""
    n = Net(12)
    x = n.input("x", [1, 3, 16, 16])
    f = n.silu(n.bn(n.conv(x, 3, 8, 3, 2), 8))
    outputs = []
    for stride in (2, 4):
        if stride == 4:
            f = n.silu(n.bn(n.conv(f, 8, 8, 3, 2), 8))
        side = 16 // stride
        y = n.conv(f, 8, 14, 1, bias=True)
        y = n.Transpose(n.view(y, n.extent(y, 0), 2, 7, n.extent(y, 2), n.extent(y, 3)), perm=[0, 1, 3, 4, 2])
        xy, wh, conf = n.multi("Split", [n.Sigmoid(y)], 3, axis=4, split=[2, 2, 3])
        r = n.Range(n.constant(0), n.extent(f, 2), n.constant(1))
        shape = n.shape_list(side, side)
        gx, gy = n.Expand(n.axes_op("Unsqueeze", r, [0]), shape), n.Expand(n.axes_op("Unsqueeze", r, [1]), shape)
        grid = n.Cast(n.Concat(n.axes_op("Unsqueeze", gx, [2]), n.axes_op("Unsqueeze", gy, [2]), axis=2), to=1)
        xy = n.Mul(n.Add(n.Mul(xy, n.f(2)), n.Sub(grid, n.f(0.5))), n.f(stride))
        wh = n.Mul(n.Pow(n.Mul(wh, n.f(2)), n.f(2)), n.f(np.ones((1, 2, 1, 1, 2)) * 3))
        boxes = n.Concat(n.Concat(xy, wh, axis=4), conf, axis=4)
        outputs.append(n.view(boxes, 1, -1, 7))
    n.output(n.Concat(*outputs, axis=1), [1, 160, 7])
    return n.model()


def pixel_shuffle_and_resize():
    n = Net(13)
    x = n.conv(n.input("x", ["batch", 3, "height", "width"]), 3, 16)
    b, h, w = (n.extent(x, i) for i in (0, 2, 3))
    y = n.Transpose(n.view(x, b, 4, 2, 2, h, w), perm=[0, 1, 4, 2, 5, 3])
    y = n.view(y, b, 4, n.Mul(h, n.constant(2)), n.Mul(w, n.constant(2)))
    size = n.Concat(n.slice(n.Shape(y), 0, 0, 2),
                    n.Cast(n.Floor(n.Mul(n.Cast(n.slice(n.Shape(y), 0, 2, 4), to=1), n.f([2, 2]))), to=7), axis=0)
    n.output(n.Resize(y, "", "", size, mode="linear", coordinate_transformation_mode="half_pixel"),
             ["batch", 4, "height_out", "width_out"])
    return n.model()


def channel_shuffle():
    """ShuffleNet's, and a chain of views of known extents."""
    n = Net(11)
    x = n.conv(n.input("x", [1, 4, 6, 6]), 4, 8, 1)
    y = n.Reshape(n.Transpose(n.Reshape(x, n.constant([1, 2, 4, 6, 6])), perm=[0, 2, 1, 3, 4]), n.constant([1, 8, 6, 6]))
    y = n.axes_op("Unsqueeze", n.axes_op("Unsqueeze", n.Flatten(y, axis=2), [0]), [3])
    y = n.axes_op("Squeeze", y, [0, 3])
    n.output(n.Transpose(n.Transpose(n.Reshape(y, n.constant([1, 8, 2, 18])), perm=[0, 2, 1, 3]), perm=[0, 2, 1, 3]), [1, 8, 2, 18])
    return n.model()


def slices():
    """x[:, 1:, 2:-1] as one Slice for each axis, a split by slices, and pieces put together again."""
    n = Net(13)
    x = n.input("x", ["batch", 8, 10])
    y = n.slice(n.slice(n.slice(x, 0, 0, I64_MAX), 1, 1, I64_MAX), 2, 2, -1)
    y = n.slice(y, 2, 0, 4)
    halves = [n.slice(x, 2, 0, 5), n.slice(x, 2, 5, I64_MAX)]
    z = n.Concat(n.Neg(halves[1]), halves[0], axis=-1)
    n.output(y, name="first")
    n.output(n.Add(z, n.Concat(n.slice(x, 2, 0, 5), n.slice(x, 2, 5, 10), axis=2)), name="second")
    return n.model()


def conditional():
    """An If with a condition that folds, one that does not, and a loop; with work in the bodies."""
    n = Net(16)
    x = n.input("x", [2, 3])
    flag = n.input("flag", [], TensorProto.BOOL)

    def branch(name, *nodes):
        out = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)
        return helper.make_graph(list(nodes), name, [], [out])

    def number(name, value):
        return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.float32(value)))

    squeezed = branch("then", helper.make_node("Squeeze", [x], ["t0"]))
    same = branch("else", helper.make_node("Identity", [x], ["e0"]))
    known = n.Equal(n.extent(x, 0), n.constant(1))
    y = n.If(known, then_branch=squeezed, else_branch=same)
    one = branch("one", number("c", 2), helper.make_node("Mul", [y, "c"], ["m"]), helper.make_node("Identity", ["m"], ["i"]),
                 helper.make_node("Relu", ["i"], ["r"]))
    two = branch("two", number("d", 3), number("e", 4), helper.make_node("Add", ["d", "e"], ["de"]),
                 helper.make_node("Add", [y, "de"], ["s"]))
    y = n.If(flag, then_branch=one, else_branch=two)
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["cond_in"], ["cond_out"]), number("h", 0.5), number("k", 0.25),
         helper.make_node("Add", ["h", "k"], ["hk"]), helper.make_node("Identity", ["state"], ["state_2"]),
         helper.make_node("Mul", ["state_2", "hk"], ["state_out"])],
        "body", [info("it", TensorProto.INT64, []), info("cond_in", TensorProto.BOOL, []), info("state", TensorProto.FLOAT, [2, 3])],
        [info("cond_out", TensorProto.BOOL, []), info("state_out", TensorProto.FLOAT, [2, 3])])
    turns = n.input("turns", [], TensorProto.INT64)
    n.output(n.Loop(turns, n.constant(True, np.bool_), y, body=body), [2, 3])
    return n.model()


def quantized():
    """QuantizeLinear and DequantizeLinear around convolutions, as a quantiser writes them."""
    n = Net(13, constants_as_nodes=False)
    scale, zero = n.initializer(np.float32(0.02)), n.initializer(np.uint8(128))

    def qdq(x):
        return n.DequantizeLinear(n.QuantizeLinear(x, scale, zero), scale, zero)

    x = n.input("x", [1, 3, 8, 8])
    for cin, cout in ((3, 4), (4, 4)):
        w = n.DequantizeLinear(n.initializer(n.random.integers(-127, 127, (cout, cin, 3, 3)).astype(np.int8)),
                               n.initializer(np.float32(0.01)), n.initializer(np.int8(0)))
        b = n.DequantizeLinear(n.initializer(n.random.integers(-999, 999, cout).astype(np.int32)),
                               n.initializer(np.float32(0.0002)), n.initializer(np.int32(0)))
        x = n.Relu(n.Conv(qdq(x), w, b, pads=[1, 1, 1, 1]))
    n.output(qdq(n.Flatten(qdq(n.GlobalAveragePool(qdq(x))))))
    return n.model()


def dynamic_quantized():
    """What dynamic quantisation makes of a linear layer; three of them read the same value."""
    n = Net(11, constants_as_nodes=False)
    x = n.input("x", ["batch", "length", 8])
    outs = []
    for _ in range(3):
        q, s, z = n.multi("DynamicQuantizeLinear", [x], 3)
        y = n.MatMulInteger(q, n.initializer(n.random.integers(0, 255, (8, 8)).astype(np.uint8)), z, n.initializer(np.uint8(127)))
        y = n.Mul(n.Cast(y, to=1), n.Mul(s, n.initializer(np.float32(0.01))))
        outs.append(n.Add(y, n.weight(8)))
    n.output(n.Add(n.Add(outs[0], outs[1]), outs[2]))
    return n.model()


def mlp(opset=13):
    """MatMul and Add of rank 2, transposed weights, Dropout."""
    n = Net(opset)
    x = n.Flatten(n.input("x", ["batch", 2, 8]), axis=1)
    for cin, cout in ((16, 12), (12, 12)):
        x = n.Relu(n.Add(n.MatMul(x, n.Transpose(n.weight(cout, cin), perm=[1, 0])), n.weight(cout)))
        x = n.multi("Dropout", [x, n.f(0.5), n.constant(False, np.bool_)], 1)[0]
    x = n.bn(n.Gemm(x, n.weight(6, 12), n.weight(6), transB=1), 6)
    n.output(n.Softmax(n.Gemm(x, n.Transpose(n.weight(4, 6), perm=[1, 0]), n.weight(4)), axis=1))
    return n.model()


def expand_where():
    """x.expand(-1, n, -1) as it is exported: ConstantOfShape, Mul, Equal, Where, Expand; masks out of Where."""
    n = Net(13)
    x = n.input("x", ["batch", 1, 6])
    wanted = n.constant([-1, 4, -1])
    ones = n.ConstantOfShape(n.constant([3]), value=helper.make_tensor("v", TensorProto.INT64, [1], [1]))
    shape = n.Where(n.Equal(wanted, n.Mul(ones, n.constant(-1))), ones, wanted)
    y = n.Expand(x, shape)
    mask = n.Cast(n.input("mask", ["batch", 4], TensorProto.INT64), to=1)
    mask = n.Mul(n.Sub(n.f(1), n.axes_op("Unsqueeze", mask, [2])), n.f(-10000))
    y = n.Add(y, mask)
    tri = n.Trilu(n.Expand(n.f(1), n.constant([4, 4])), upper=0) if n.opset >= 14 else n.f(np.tril(np.ones((4, 4))))
    y = n.MatMul(n.Cast(n.Cast(tri, to=9), to=1), y)
    n.output(n.Expand(y, n.constant([1, 1, 1])))
    return n.model()


def rotary():
    """Rotary positions: tables out of Range, halves turned by Slice, Neg and Concat; RMS norms; a causal mask."""
    n = Net(17)
    x = n.input("x", ["batch", "length", 16])
    length = n.extent(x, 1)
    positions = n.Cast(n.Range(n.constant(0), length, n.constant(1)), to=1)
    angles = n.MatMul(n.axes_op("Unsqueeze", positions, [1]), n.f(10000.0 ** -(np.arange(4)[None] / 4)))
    table = n.Concat(angles, angles, axis=-1)
    cos, sin = n.Cos(table), n.Sin(table)
    x = n.rms_norm(x, 16)

    def turn(v):
        low = n.slice(v, 3, 0, 4)
        high = n.slice(v, 3, 4, I64_MAX)
        return n.Add(n.Mul(v, cos), n.Mul(n.Concat(n.Neg(high), low, axis=-1), sin))

    batch = n.extent(x, 0)
    q, k, v = (n.Transpose(n.view(n.MatMul(x, n.weight(16, 16)), batch, length, 2, 8), perm=[0, 2, 1, 3]) for _ in range(3))
    scores = n.Mul(n.MatMul(turn(q), n.Transpose(turn(k), perm=[0, 1, 3, 2])), n.f(8**-0.5))
    mask = n.Trilu(n.ConstantOfShape(n.shape_list(length, length), value=helper.make_tensor("v", TensorProto.FLOAT, [1], [-1e4])),
                   n.constant(1), upper=1)
    y = n.Transpose(n.MatMul(n.Softmax(n.Add(scores, mask), axis=-1), v), perm=[0, 2, 1, 3])
    n.output(n.MatMul(n.view(y, batch, length, 16), n.weight(16, 16)))
    return n.model()


def duplicates():
    """The same weights stored twice, the same value computed twice."""
    n = Net(15)
    x = n.input("x", ["batch", 8, 8])
    w = n.random.standard_normal((8, 8)).astype(np.float32)
    a, b = (n.Sigmoid(n.MatMul(x, n.initializer(w))) for _ in range(2))
    n.initializer(n.random.standard_normal((64, 64)).astype(np.float32), "unused")
    n.output(n.Add(n.Add(a, b), n.Mul(n.Identity(x), n.f(1))))
    return n.model()


def squeeze_excite():
    n = Net(16)
    x = n.silu(n.bn(n.conv(n.input("x", [1, 3, 12, 12]), 3, 8, 3, 2), 8))
    for _ in range(2):
        y = n.silu(n.bn(n.conv(n.silu(n.bn(n.conv(x, 8, 16, 1), 16)), 16, 16, 3, group=16), 16))
        s = n.axes_op("ReduceMean", y, [2, 3], 1)
        s = n.Sigmoid(n.conv(n.silu(n.conv(s, 16, 4, 1, bias=True)), 4, 16, 1, bias=True))
        x = n.Add(n.bn(n.conv(n.Mul(s, y), 16, 8, 1), 8), x)
    n.output(n.axes_op("Squeeze", n.axes_op("ReduceMean", x, [2, 3], 1), [2, 3]))
    return n.model()


def text_recognition():
    """Convolutions, a sequence out of a feature map, a recurrent layer, a classifier."""
    n = Net(11)
    x = n.Relu(n.bn(n.conv(n.input("x", ["batch", 1, 8, "width"]), 1, 6, 3, bias=True), 6))
    x = n.MaxPool(x, kernel_shape=[8, 1], strides=[8, 1])
    x = n.Transpose(n.Squeeze(x, axes=[2]), perm=[2, 0, 1])
    batch = n.extent(x, 1)
    state = n.ConstantOfShape(n.shape_list(2, batch, 5), value=helper.make_tensor("v", TensorProto.FLOAT, [1], [0]))
    y = n.multi("LSTM", [x, n.weight(2, 20, 6), n.weight(2, 20, 5), n.weight(2, 40), "", state, state], 1, hidden_size=5,
                direction="bidirectional")[0]
    y = n.Transpose(y, perm=[0, 2, 1, 3])
    y = n.Reshape(y, n.constant([0, 0, -1]))
    time, b = n.extent(y, 0), n.extent(y, 1)
    flat = n.view(y, n.Mul(time, b), 10)
    z = n.Gemm(flat, n.weight(7, 10), n.weight(7), transB=1)
    n.output(n.Transpose(n.view(z, time, b, -1), perm=[1, 0, 2]), ["batch", "time", 7])
    return n.model()


def functions():
    """Local functions, called twice, with constants in them."""
    n = Net(18)
    parse = [helper.make_node("Constant", [], ["half"], value_float=0.5), helper.make_node("Constant", [], ["two"], value_float=2.0),
             helper.make_node("Mul", ["half", "two"], ["one"]), helper.make_node("Identity", ["a"], ["b"]),
             helper.make_node("Sigmoid", ["b"], ["s"]), helper.make_node("Mul", ["s", "b"], ["p"]),
             helper.make_node("Add", ["p", "one"], ["q"])]
    n.functions.append(helper.make_function("local", "Swish", ["a"], ["q"], parse, [helper.make_opsetid("", 18)]))
    x = n.input("x", ["batch", 4])
    for _ in range(2):
        x = n.multi("Swish", [n.linear(x, 4, 4)], 1, domain="local")[0]
    n.output(x)
    return n.model()


def reduce_chains():
    n = Net(13)
    x = n.input("x", ["batch", 4, 6, 6])
    y = n.axes_op("Unsqueeze", n.axes_op("ReduceMean", n.axes_op("ReduceMean", x, [3], 0), [2], 0), [2])
    z = n.axes_op("Unsqueeze", n.axes_op("ReduceSum", x, [1], 0), [1])
    n.output(n.axes_op("Unsqueeze", y, [3]), name="mean")
    n.output(z, name="sum")
    n.output(n.Cast(n.Cast(x, to=1), to=1), name="same")
    return n.model()


def models():
    yield "conv_bn", conv_bn()
    yield "conv_bn_opset9", conv_bn(9)
    yield "conv_variants", conv_variants()
    yield "bn_before_conv", bn_before_conv()
    yield "transformer_opset12", transformer(12, "gelu", "layer_norm")
    yield "transformer_opset17", transformer(17, "gelu", "layer_norm")
    yield "transformer_opset20", transformer(20, "gelu_tanh", "layer_norm")
    yield "transformer_opset20_erf", transformer(20, "gelu", "layer_norm")
    yield "transformer_opset23", transformer(23, "silu", "rms_norm")
    yield "static_transformer", static_transformer()
    yield "masked_attention", masked_attention(13, lambda n, x: n.layer_norm(x, 16))
    yield "masked_attention_opset17", masked_attention(
        17, lambda n, x: n.LayerNormalization(x, n.weight(16, offset=1), n.weight(16), axis=-1))
    yield "window_attention", window_attention()
    yield "activations_opset13", activations(13)
    yield "activations_opset18", activations(18)
    yield "tf_layout", tf_layout()
    yield "padded_pools", padded_pools()
    yield "lstm", lstm()
    yield "detection", detection()
    yield "pixel_shuffle_and_resize", pixel_shuffle_and_resize()
    yield "channel_shuffle", channel_shuffle()
    yield "slices", slices()
    yield "conditional", conditional()
    yield "quantized", quantized()
    yield "dynamic_quantized", dynamic_quantized()
    yield "mlp", mlp()
    yield "mlp_opset18", mlp(18)
    yield "expand_where", expand_where()
    yield "rotary", rotary()
    yield "duplicates", duplicates()
    yield "squeeze_excite", squeeze_excite()
    yield "text_recognition", text_recognition()
    yield "functions", functions()
    yield "reduce_chains", reduce_chains()
