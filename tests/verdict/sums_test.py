"""The gate of the rule for sums: every operator with a sum inside, computed in float32 by a plain loop, pairwise, in blocks and
in the lanes of a vector, over twenty kinds of data as images, texts and tables have them. None of these is a fault; a factor
in one element of a few times their error is one.

usage: sums_test.py ASSAY
"""
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).parent / "harness"))
from verdicts import Judge  # noqa: E402

F = np.float32
SIDE, ROWS, COLUMNS = 56, 24, 392  # 3 planes of SIDE * SIDE are as many numbers as ROWS of COLUMNS


def plain(t):
    total = np.zeros(t.shape[:-1], F)
    for k in range(t.shape[-1]):
        total = total + t[..., k]
    return total


def pairwise(t):
    while t.shape[-1] > 1:
        odd = t[..., -1:] if t.shape[-1] % 2 else None
        t = t[..., 0:t.shape[-1] // 2 * 2:2] + t[..., 1::2]
        if odd is not None:
            t = np.concatenate([t, odd], -1)
    return t[..., 0]


def blocked(t, size=32):
    parts = [plain(t[..., k:k + size]) for k in range(0, t.shape[-1], size)]
    return plain(np.stack(parts, -1))


def vectorised(t, lanes=8):
    rest = t.shape[-1] % lanes
    body = t[..., :t.shape[-1] - rest]
    sums = plain(np.swapaxes(body.reshape(*body.shape[:-1], -1, lanes), -1, -2)) if body.shape[-1] else np.zeros((*t.shape[:-1], lanes), F)
    return plain(np.concatenate([sums, t[..., t.shape[-1] - rest:]], -1))


LOOPS = {"plain": plain, "pairwise": pairwise, "blocked": blocked, "vectorised": vectorised}


def kinds():
    """Three planes of numbers each, as the network gets them."""
    rng = np.random.default_rng(45)
    shape = (3, SIDE, SIDE)
    x = np.linspace(0, 1, SIDE)
    photo = np.clip(np.add.outer(np.sin(7 * x), np.cos(5 * x)) / 4 + 0.5 + 0.05 * rng.standard_normal(shape), 0, 1)

    def boxed(inside, border):
        out = np.full(shape, border)
        out[:, 10:46] = inside[:, 10:46]
        return out

    def logo():
        out = np.ones(shape)
        out[:, 20:30, 15:40] = np.array([0.9, 0.1, 0.05]).reshape(3, 1, 1)
        return out

    normal = rng.standard_normal(shape)
    tokens = rng.standard_normal((8, COLUMNS))[rng.integers(0, 8, ROWS)]
    mask = (np.arange(COLUMNS) < 100).astype(float)
    angles = np.outer(np.arange(ROWS), 10000 ** (-np.arange(COLUMNS) / COLUMNS))
    table = rng.integers(0, 12, (ROWS, COLUMNS)) * np.array([1, 0.25, 1000, 0.1] * (COLUMNS // 4))
    found = {
        "flat_tenth": np.full(shape, 0.1), "flat_third": np.full(shape, 1 / 3), "flat_255": np.full(shape, 237.3),
        "letterbox": boxed(photo, 114 / 255), "letterbox_255": boxed(photo * 255, 114.0), "logo_on_white": logo(),
        "logo_normalised": (logo() - 0.456) / 0.224, "photo": photo, "photo_255": np.round(photo * 255),
        "gradient": np.broadcast_to(x, shape), "stripes": np.broadcast_to(np.where(np.arange(SIDE) % 8 < 4, 0.2, 0.7), shape),
        "saturated": np.where(photo > 0.5, 1.0, 0.0) * 0.9, "nearly_flat": 0.3 + 1e-5 * normal, "noise": normal,
        "silu": normal / (1 + np.exp(-normal)) + 0.0, "relu": np.maximum(normal, 0), "repeated_tokens": tokens,
        "padded_text": rng.standard_normal((ROWS, COLUMNS)) * mask, "positions": np.sin(angles), "table": table,
    }
    return {name: np.ascontiguousarray(v, F).reshape(shape) for name, v in found.items()}


class Operators:
    """The nodes, and what float32 gives for them with a way to add up."""

    def __init__(self, data, add):
        self.x = data.reshape(1, 3, SIDE, SIDE)
        self.t = data.reshape(ROWS, COLUMNS)
        self.add = add
        rng = np.random.default_rng(1)
        self.weights = {
            "w_mat": rng.standard_normal((COLUMNS, 4)).astype(F), "w_mean": np.full((COLUMNS, 2), 1 / COLUMNS, F),
            "w_conv": np.concatenate([rng.standard_normal((2, 3, 14, 14)), np.full((1, 3, 14, 14), 1 / 588)]).astype(F),
            "w_back": rng.standard_normal((COLUMNS, 2, 1, 1)).astype(F), "w_row": rng.standard_normal(COLUMNS).astype(F),
            "scale": rng.uniform(0.5, 1.5, COLUMNS).astype(F), "bias": rng.standard_normal(COLUMNS).astype(F),
            "scale3": F([0.7, 1, 1.3]), "bias3": F([0.1, 0, -0.2]), "last": np.array([-1], np.int64), "axis": np.array(1, np.int64),
            "planes": np.array([2, 3], np.int64), "bias4": F([0.3, -0.1, 0, 2]),
        }
        self.nodes, self.results = [], {}
        for method in [m for m in dir(self) if m.startswith("op_")]:
            getattr(self, method)()

    def node(self, op, inputs, value, **attributes):
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        self.results[name] = np.asarray(value, F)

    def op_pools(self):
        add, x = self.add, self.x
        planes, n = x.reshape(1, 3, -1), F(SIDE * SIDE)
        self.node("GlobalAveragePool", ["x"], (add(planes) / n).reshape(1, 3, 1, 1))
        self.node("GlobalLpPool", ["x"], np.sqrt(add(planes * planes)).reshape(1, 3, 1, 1))
        windows = x.reshape(1, 3, 4, 14, 4, 14).transpose(0, 1, 2, 4, 3, 5).reshape(1, 3, 4, 4, 196)
        self.node("AveragePool", ["x"], add(windows) / F(196), kernel_shape=[14, 14], strides=[14, 14])
        self.node("LpPool", ["x"], np.sqrt(add(windows * windows)), kernel_shape=[14, 14], strides=[14, 14], p=2)

    def op_reductions(self):
        add, t = self.add, self.t
        keep = {"keepdims": 0}
        self.node("ReduceMean", ["t", "last"], add(t) / F(COLUMNS), **keep)
        self.node("ReduceSum", ["t", "last"], add(t), **keep)
        self.node("ReduceL1", ["t", "last"], add(np.abs(t)), **keep)
        self.node("ReduceL2", ["t", "last"], np.sqrt(add(t * t)), **keep)
        self.node("ReduceSumSquare", ["t", "last"], add(t * t), **keep)
        largest = t.max(-1)
        self.node("ReduceLogSumExp", ["t", "last"], largest + np.log(add(np.exp(t - largest[:, None]))), **keep)
        self.node("ReduceMean", ["x", "planes"], (add(self.x.reshape(1, 3, -1)) / F(SIDE * SIDE)).reshape(1, 3, 1, 1))
        if self.add is plain:
            self.node("CumSum", ["t", "axis"], np.stack([plain(t[:, :k + 1]) for k in range(COLUMNS)], -1))

    def centred(self, rows, epsilon):
        n = F(rows.shape[-1])
        d = rows - (self.add(rows) / n)[..., None]
        return d / np.sqrt(self.add(d * d) / n + F(epsilon))[..., None]

    def op_normalisations(self):
        add, t, w = self.add, self.t, self.weights
        self.node("LayerNormalization", ["t", "scale", "bias"], self.centred(t, 1e-5) * w["scale"] + w["bias"], axis=-1)
        self.node("RMSNormalization", ["t", "scale"],
                  t / np.sqrt(add(t * t) / F(COLUMNS) + F(1e-5))[:, None] * w["scale"], axis=-1)
        planes = self.centred(self.x.reshape(1, 3, -1), 1e-5) * w["scale3"][:, None] + w["bias3"][:, None]
        self.node("InstanceNormalization", ["x", "scale3", "bias3"], planes.reshape(self.x.shape))
        group = self.centred(self.x.reshape(1, 1, -1), 1e-5).reshape(1, 3, -1) * w["scale3"][:, None] + w["bias3"][:, None]
        self.node("GroupNormalization", ["x", "scale3", "bias3"], group.reshape(self.x.shape), num_groups=1)
        norm = np.sqrt(add(t * t))[:, None]
        self.node("LpNormalization", ["t"], np.divide(t, norm, out=np.zeros_like(t), where=norm != 0), axis=-1, p=2)

    def op_softmax(self):
        t = self.t
        d = t - t.max(-1, keepdims=True)
        powers = np.exp(d)
        total = self.add(powers)[:, None]
        self.node("Softmax", ["t"], powers / total, axis=-1)
        self.node("LogSoftmax", ["t"], d - np.log(total), axis=-1)

    def product(self, a, b):
        return self.add(a[..., :, None, :] * np.swapaxes(b, -1, -2)[..., None, :, :])

    def op_products(self):
        t, w, x = self.t, self.weights, self.x
        self.node("MatMul", ["t", "w_mat"], self.product(t, w["w_mat"]))
        self.node("MatMul", ["t", "w_mean"], self.product(t, w["w_mean"]))
        self.node("Gemm", ["t", "w_mat", "bias4"], self.product(t, w["w_mat"]) + w["bias4"])
        self.node("Einsum", ["t", "w_mat"], self.product(t, w["w_mat"]), equation="ij,jk->ik")
        self.node("Einsum", ["t", "w_row"], self.add(t * w["w_row"]), equation="ij,j->i")
        windows = x.reshape(3, 4, 14, 4, 14).transpose(1, 3, 0, 2, 4).reshape(4, 4, 1, -1)
        conv = self.add(windows * w["w_conv"].reshape(3, -1)).transpose(2, 0, 1)[None]
        self.node("Conv", ["x", "w_conv"], conv, strides=[14, 14])
        image = t.T.reshape(1, COLUMNS, 4, 6)
        self.node("Transpose", ["t"], t.T, perm=[1, 0])
        shape = f"Reshape_{len(self.nodes)}"
        self.weights["image_shape"] = np.array([1, COLUMNS, 4, 6], np.int64)
        self.node("Reshape", [self.nodes[-1].output[0], "image_shape"], image)
        back = self.product(t, w["w_back"].reshape(COLUMNS, 2)).T.reshape(1, 2, 4, 6)
        self.node("ConvTranspose", [shape, "w_back"], back)

    def op_scattered(self):
        self.weights["nothing"] = np.zeros((ROWS, 1), F)
        self.weights["first"] = np.zeros((ROWS, COLUMNS), np.int64)
        self.node("ScatterElements", ["nothing", "first", "t"], self.add(self.t)[:, None], axis=1, reduction="add")

    def op_transforms(self):
        angles = np.outer(np.arange(COLUMNS), np.arange(COLUMNS)) % COLUMNS * (2 * np.pi / COLUMNS)
        parts = [self.product(self.t, F(root)) for root in (np.cos(angles), -np.sin(angles))]
        self.weights["signal_shape"] = np.array([ROWS, COLUMNS, 1], np.int64)
        self.node("Reshape", ["t", "signal_shape"], self.t[..., None])
        self.node("DFT", [self.nodes[-1].output[0], "", "axis"], np.stack(parts, -1))

    def op_inputs(self):
        rows = [self.t[k:k + 3].copy() for k in range(ROWS - 3)]
        names = [f"row{k}" for k in range(len(rows))]
        self.weights.update(zip(names, rows))
        total = self.add(np.stack(rows, -1))
        self.node("Sum", names, total)
        self.node("Mean", names, total / F(len(rows)))

    def op_attention(self):
        q = self.t.reshape(1, 2, ROWS // 2, COLUMNS)
        scores = self.product(q, np.swapaxes(q, -1, -2)) * F(1 / np.sqrt(COLUMNS))
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        self.weights["heads"] = np.array([1, 2, ROWS // 2, COLUMNS], np.int64)
        self.node("Reshape", ["t", "heads"], q)
        name = self.nodes[-1].output[0]
        self.node("Attention", [name, name, name], self.product(powers / self.add(powers)[..., None], q))

    def model(self):
        value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)  # noqa: E731
        graph = helper.make_graph(self.nodes, "sums", [value("x", self.x.shape), value("t", self.t.shape)],
                                  [value(n, v.shape) for n, v in self.results.items()],
                                  [numpy_helper.from_array(v, n) for n, v in self.weights.items()])
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 23)])


# A fault is looked for that is so many times the largest error of any of the loops at that node.
FAULTS = (8, 16, 64)
NOTHING = 2.0**-24  # of an element: a loop that makes no error at all


def with_faults(results, errors, times):
    """The largest element of each result off by so many times the error."""
    out = {}
    for name, r in results.items():
        y = np.float64(r).reshape(-1)
        at = int(np.argmax(np.abs(y)))
        y[at] += times * max(errors[name], NOTHING * abs(y[at]))
        out[name] = np.float32(y.reshape(r.shape))
    return out


def main():
    wrong, judged, planted, found = [], 0, 0, dict.fromkeys(FAULTS, 0)
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(sys.argv[1], folder)
        for kind, data in kinds().items():
            feed = {"x": data.reshape(1, 3, SIDE, SIDE), "t": data.reshape(ROWS, COLUMNS)}
            errors = {}
            for loop, add in LOOPS.items():
                operators = Operators(data, add)
                verdict = judge.judge(operators.model(), feed, operators.results)
                assert verdict.outputs, verdict.text[-2000:]
                judged += len(operators.results)
                for o in verdict.outputs:
                    errors[o["output"]] = max(errors.get(o["output"], 0), o["error"])
                    if o["verdict"] not in ("agrees", "rounding only"):
                        wrong.append((kind, loop, o["output"], o["ratio"], o["verdict"]))
            operators = Operators(data, plain)
            sums = {n.output[0] for n in operators.nodes if n.op_type not in ("Reshape", "Transpose")}
            for times in FAULTS:
                makers = {o["output"] for o in judge.judge(operators.model(), feed, with_faults(operators.results, errors, times)).makers()}
                found[times] += len(makers & sums)
            planted += len(sums)
    for line in wrong:
        print(*line)
    shares = ", ".join(f"{n / planted:.1%} of {times} times that error" for times, n in found.items())
    print(f"{judged} results of loops in float32, {len(wrong)} not right; of {planted} faults found: {shares}")
    return 1 if wrong or found[64] < 0.95 * planted else 0


if __name__ == "__main__":
    sys.exit(main())
