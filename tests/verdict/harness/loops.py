"""A backend in NumPy: whole networks in float32, every sum in them by a loop of a kind. What is not listed here computes onnx's own
evaluator. A loop in float32 is right, in whatever order it adds up."""
import numpy as np
import onnx.reference
from onnx import helper
from onnx.reference.op_run import OpRun

F = np.float32


def plain(t):
    total = np.zeros(t.shape[:-1], F)
    for k in range(t.shape[-1]):
        total = total + t[..., k]
    return total


def pairwise(t):
    if t.shape[-1] == 0:
        return np.zeros(t.shape[:-1], F)
    while t.shape[-1] > 1:
        odd = t[..., -1:] if t.shape[-1] % 2 else None
        t = t[..., 0:t.shape[-1] // 2 * 2:2] + t[..., 1::2]
        if odd is not None:
            t = np.concatenate([t, odd], -1)
    return t[..., 0]


def blocked(t, size=32):
    parts = [plain(t[..., k:k + size]) for k in range(0, t.shape[-1], size)]
    return plain(np.stack(parts, -1)) if parts else plain(t)


def vectorised(t, lanes=8):
    rest = t.shape[-1] % lanes
    body = t[..., :t.shape[-1] - rest]
    sums = plain(np.swapaxes(body.reshape(*body.shape[:-1], -1, lanes), -1, -2)) if body.shape[-1] else np.zeros((*t.shape[:-1], lanes), F)
    return plain(np.concatenate([sums, t[..., t.shape[-1] - rest:]], -1))


ORDERS = {"plain": plain, "pairwise": pairwise, "blocked": blocked, "vectorised": vectorised}


class Node:
    """Attributes of a node with defaults, and what it is to add up with."""

    def __init__(self, node, add):
        self.given, self.add = {a.name: helper.get_attribute_value(a) for a in node.attribute}, add

    def __call__(self, name, default=None):
        value = self.given.get(name, default)
        return value.decode() if isinstance(value, bytes) else value


def last(t, axes):
    """The axes moved to the end as one, and the shape with ones in their place."""
    axes = sorted(a % t.ndim for a in axes)
    kept = [a for a in range(t.ndim) if a not in axes]
    shape = [1 if a in axes else s for a, s in enumerate(t.shape)]
    return t.transpose(kept + axes).reshape([t.shape[a] for a in kept] + [-1]), shape


def reduced(make):
    def run(a, x, axes=None):
        axes = a("axes") if axes is None else [int(v) for v in np.reshape(axes, -1)]
        if not axes and a("noop_with_empty_axes"):
            return x
        terms, shape = last(x, axes or range(x.ndim))
        y = make(a.add, terms)
        return y.reshape(shape) if a("keepdims", 1) else y
    return run


def log_sum_exp(add, t):
    top = t.max(-1)
    return top + np.log(add(np.exp(t - top[..., None])))


def product(add, a, b):
    vector_a, vector_b = a.ndim == 1, b.ndim == 1
    a, b = a[None] if vector_a else a, b[:, None] if vector_b else b
    y = add(a[..., :, None, :] * np.swapaxes(b, -1, -2)[..., None, :, :])
    return y[..., 0, :] if vector_a and not vector_b else y[..., 0] if vector_b and not vector_a else y[..., 0, 0] if vector_a else y


def gemm(a, x, w, c=None):
    y = product(a.add, x.T if a("transA", 0) else x, w.T if a("transB", 0) else w)
    y = y if a("alpha", 1.0) == 1 else F(a("alpha")) * y
    return y if c is None else y + (c if a("beta", 1.0) == 1 else F(a("beta")) * c)


def padded(x, pads, fill=0):
    n = x.ndim - 2
    return np.pad(x, [(0, 0), (0, 0)] + [(pads[i], pads[i + n]) for i in range(n)], constant_values=fill)


def windows(x, kernel, strides, dilations):
    """[batch, channels, *outputs, *kernel]"""
    n = len(kernel)
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    v = np.lib.stride_tricks.sliding_window_view(x, span, tuple(range(2, 2 + n)))
    return v[(slice(None), slice(None), *[slice(None, None, s) for s in strides], *[slice(None, None, d) for d in dilations])]


def conv(a, x, w, b=None):
    n = x.ndim - 2
    if a("auto_pad", "NOTSET") != "NOTSET":
        raise NotImplementedError("auto_pad")
    v = windows(padded(x, a("pads", [0] * 2 * n)), w.shape[2:], a("strides", [1] * n), a("dilations", [1] * n))
    groups, per = a("group", 1), w.shape[0] // a("group", 1)
    ys = []
    for g in range(groups):
        part = v[:, g * w.shape[1]:(g + 1) * w.shape[1]]
        part = np.moveaxis(part, 1, 1 + n)  # batch, outputs, channels, kernel
        part = part.reshape(*part.shape[:1 + n], -1)
        for k in range(g * per, (g + 1) * per):
            ys.append(a.add(part * w[k].reshape(-1)))
    y = np.stack(ys, 1)
    return y if b is None else y + b.reshape(-1, *[1] * n)


def global_average(a, x):
    terms, shape = last(x, range(2, x.ndim))
    return (a.add(terms) / F(terms.shape[-1])).reshape(shape)


def global_lp(a, x):
    terms, shape = last(x, range(2, x.ndim))
    p = a("p", 2)
    total = a.add(terms * terms if p == 2 else np.abs(terms) ** F(p))
    return (np.sqrt(total) if p == 2 else total ** F(1 / p)).reshape(shape)


def softmax(a, x, logarithm=False):
    axis = a("axis", -1)
    t = np.moveaxis(x, axis, -1)
    d = t - t.max(-1, keepdims=True)
    powers = np.exp(d)
    total = a.add(powers)[..., None]
    return np.moveaxis(d - np.log(total) if logarithm else powers / total, -1, axis)


def centred(add, rows, epsilon):
    n = F(rows.shape[-1])
    d = rows - (add(rows) / n)[..., None]
    return d / np.sqrt(add(d * d) / n + F(epsilon))[..., None]


def layer_normalization(a, x, scale, bias=None):
    shape = x.shape[a("axis", -1) % x.ndim:]
    y = centred(a.add, x.reshape(-1, int(np.prod(shape))), a("epsilon", 1e-5)).reshape(x.shape) * scale
    return y if bias is None else y + bias


def rms_normalization(a, x, scale):
    shape = x.shape[a("axis", -1) % x.ndim:]
    rows = x.reshape(-1, int(np.prod(shape)))
    root = np.sqrt(a.add(rows * rows) / F(rows.shape[-1]) + F(a("epsilon", 1e-5)))
    return (rows / root[:, None]).reshape(x.shape) * scale


def instance_normalization(a, x, scale, bias):
    c = lambda v: v.reshape(-1, *[1] * (x.ndim - 2))
    y = centred(a.add, x.reshape(*x.shape[:2], -1), a("epsilon", 1e-5)).reshape(x.shape)
    return y * c(scale) + c(bias)


def group_normalization(a, x, scale, bias):
    groups = a("num_groups")
    if len(scale) == groups:
        scale, bias = (np.repeat(v, x.shape[1] // groups) for v in (scale, bias))
    c = lambda v: v.reshape(-1, *[1] * (x.ndim - 2))
    return centred(a.add, x.reshape(x.shape[0], groups, -1), a("epsilon", 1e-5)).reshape(x.shape) * c(scale) + c(bias)


def einsum(a, *xs):
    """All operands spread over all indices, multiplied, and added up over those that go."""
    left, right = a("equation").replace(" ", "").split("->")
    terms = left.split(",")
    if "." in left or any(len(set(t)) < len(t) for t in terms):
        raise NotImplementedError("an ellipsis or a diagonal")
    gone = [c for c in dict.fromkeys("".join(terms)) if c not in right]
    order = right + "".join(gone)
    y = None
    for t, x in zip(terms, xs):
        x = x.transpose([t.index(c) for c in sorted(t, key=order.index)]).reshape([x.shape[t.index(c)] if c in t else 1 for c in order])
        y = x if y is None else y * x
    return a.add(y.reshape(*y.shape[:len(right)], -1)) if gone else y


OPERATORS = {
    "MatMul": lambda a, x, y: product(a.add, x, y), "Gemm": gemm, "Conv": conv, "GlobalAveragePool": global_average, "GlobalLpPool": global_lp, "Einsum": einsum,
    "ReduceMean": reduced(lambda add, t: add(t) / F(t.shape[-1])), "ReduceSum": reduced(lambda add, t: add(t)),
    "ReduceL1": reduced(lambda add, t: add(np.abs(t))), "ReduceL2": reduced(lambda add, t: np.sqrt(add(t * t))),
    "ReduceSumSquare": reduced(lambda add, t: add(t * t)), "ReduceLogSumExp": reduced(log_sum_exp),
    "Softmax": softmax, "LogSoftmax": lambda a, x: softmax(a, x, True), "LayerNormalization": layer_normalization,
    "RMSNormalization": rms_normalization, "InstanceNormalization": instance_normalization, "GroupNormalization": group_normalization,
}


def classes(add):
    """OPERATORS as onnx's evaluator takes them."""
    made = []
    for name, compute in OPERATORS.items():
        def run(self, *inputs, compute=compute, **attributes):
            x = next(i for i in inputs if i is not None)
            if x.dtype != F:
                raise NotImplementedError(f"{self.onnx_node.op_type} of {x.dtype}")
            with np.errstate(all="ignore"):
                return (np.asarray(compute(Node(self.onnx_node, add), *inputs), F),)
        made.append(type(name, (OpRun,), {"op_domain": "", "_run": run}))
    return made


class Loops:
    def __init__(self, order):
        self.name, self.operators = f"loops-{order}", classes(ORDERS[order])

    def run(self, model, feed):
        session = onnx.reference.ReferenceEvaluator(model, new_ops=self.operators)
        with np.errstate(all="ignore"):
            return dict(zip(session.output_names, session.run(None, feed)))
