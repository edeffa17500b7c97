"""How large a fault really is: its node evaluated in float64 by onnx's own evaluator, on the inputs that the backend had. The verdict
has no part in it."""
import ml_dtypes
import numpy as np
import onnx
import onnx.reference
from onnx import TensorProto as T
from onnx import helper, numpy_helper

import loops

FLOATS = ("float32", "float16", "bfloat16")
NARROW = {T.FLOAT16: np.float16, T.BFLOAT16: ml_dtypes.bfloat16}
#: Operators whose float64 is not to be had.
UNKNOWN = {"If", "Loop", "Scan", "NonMaxSuppression"}


def wide(array):
    return array.astype(np.float64) if array.dtype.name in FLOATS else array


def evaluate(model, node, values):
    """Outputs of a node in float64 by name, or None where onnx's evaluator has nothing."""
    if node.op_type in UNKNOWN or node.domain not in ("", "ai.onnx") or any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute):
        return None
    if any(i and i not in values for i in node.input):
        return None
    n = onnx.NodeProto()
    n.CopyFrom(node)
    for a in n.attribute:
        if n.op_type == "Cast" and a.name == "to":
            if a.i in NARROW:
                return None  # the rounding is the node's work: judged by what the healthy backend gives
            a.i = T.DOUBLE if a.i == T.FLOAT else a.i
    feed = {i: wide(values[i]) for i in n.input if i}
    as_value = lambda name, v: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)  # noqa: E731
    graph = helper.make_graph([n], "node", [as_value(i, v) for i, v in feed.items()], [onnx.ValueInfoProto(name=o) for o in n.output if o])
    single = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    try:
        session = onnx.reference.ReferenceEvaluator(single)
        with np.errstate(all="ignore"):
            found = dict(zip(session.output_names, session.run(None, feed)))
    except Exception:
        return None
    return {k: np.asarray(v) for k, v in found.items() if isinstance(v, np.ndarray) or np.isscalar(v)}


def loops_err(node, values, exact):
    """The largest error of plain, pairwise, blocked and vectorised loops in float32 on these inputs: a backend may be luckier than that."""
    compute = loops.OPERATORS.get(node.op_type)
    inputs = [values.get(i) if i else None for i in node.input]
    if compute is None or any(i and i not in values for i in node.input) or not all(v is None or v.dtype.name in FLOATS + ("int64",) for v in inputs):
        return 0.0
    inputs = [v.astype(np.float32) if v is not None and v.dtype.name in FLOATS else v for v in inputs]
    largest = 0.0
    for add in loops.ORDERS.values():
        try:
            with np.errstate(all="ignore"):
                y = np.float64(compute(loops.Node(node, add), *inputs))
        except (NotImplementedError, ValueError, TypeError):
            return largest
        if y.shape != exact.shape:
            return largest
        finite = np.isfinite(y) & np.isfinite(exact)
        largest = max(largest, float(np.abs(np.where(finite, y, 0) - np.where(finite, exact, 0)).max(initial=0)))
    return largest


def spacing(y):
    """Distance to the next number of the type."""
    if y.dtype.name != "bfloat16":
        return np.spacing(np.abs(np.where(np.isfinite(y), y, y.dtype.type(0)))).astype(np.float64)
    return np.exp2(np.floor(np.log2(np.maximum(np.abs(y.astype(np.float64)), 2.0 ** -126))) - 7)


def unit_of(node, y, values):
    """Distance to the next number. What is cast from a narrow type, or quantised from such a cast, is a number of that, and a correct backend may
    leave out the rounding to it."""
    given = values.get(node.input[0]) if node.op_type == "Cast" else None
    if given is None or given.dtype.name not in FLOATS or given.dtype.itemsize >= y.dtype.itemsize:
        return spacing(y)
    return spacing(given.reshape(y.shape))


class Sizes:
    """Of faults at the nodes of a model, against a healthy backend's results. The real error is the larger one of that backend and of plain
    loops on the same inputs; where onnx's evaluator has no float64 of a node it is taken to be half the distance to the next number, and the
    healthy result to be exact."""

    def __init__(self, model, feed, results):
        self.model, self.results = model, results
        self.values = dict(results) | feed | {w.name: numpy_helper.to_array(w) for w in model.graph.initializer}
        for node in model.graph.node:
            if node.op_type == "Constant":
                value = next((a.t for a in node.attribute if a.name == "value"), None)
                if value is not None:
                    self.values[node.output[0]] = numpy_helper.to_array(value)
        self.exact, self.real = {}, {}

    def know(self, node):
        found = evaluate(self.model, node, self.values) or {}
        for name in node.output:
            if name not in self.results or name in self.exact:
                continue
            y = np.asarray(self.results[name])
            if y.dtype.name not in FLOATS:
                continue
            e = found.get(name)
            error, top = None, 0.0
            if e is not None and e.shape == y.shape and y.size:
                finite = np.isfinite(e) & np.isfinite(wide(y))
                e = np.where(finite, e, wide(y))
                error = float(np.abs(np.where(finite, wide(y), 0) - np.where(finite, e, 0)).max(initial=0))
                top = float(np.abs(e)[finite].max(initial=0))
                unit = {"float32": 2.0 ** -24, "float16": 2.0 ** -11, "bfloat16": 2.0 ** -8}[y.dtype.name]
                # A healthy backend that is so far off shows an evaluator that computes something else.
                if error > 1e5 * unit * top and error > 0:
                    error = None
            self.exact[name] = e if error is not None else wide(y)
            self.real[name] = max(error, loops_err(node, self.values, e)) if error is not None and name == node.output[0] else error or 0.0

    def of(self, node, faulty):
        """By how many times the real error the node's results are off: infinite for whole numbers, shapes, NaN."""
        self.know(node)
        largest = 0.0
        for name in node.output:
            if name not in self.results or name not in faulty:
                continue
            y, z = np.asarray(self.results[name]), np.asarray(faulty[name])
            if y.shape != z.shape or y.dtype != z.dtype:
                return np.inf
            if y.dtype.name not in FLOATS:
                if (y != z).any():
                    return np.inf
                continue
            if (y == z).all():
                continue
            a, b, e = wide(y), wide(z), self.exact[name]
            if (np.isfinite(a) != np.isfinite(b)).any() or (np.isinf(a) & (a != b)).any():
                return np.inf
            finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(e)
            real = np.maximum(self.real[name], unit_of(node, y, self.values) / 2)
            off = np.abs(np.where(finite, b, 0) - np.where(finite, e, 0))
            largest = max(largest, float((off / np.where(finite, real, 1))[finite & (a != b)].max(initial=0)))
        return largest


def moved(before, after):
    """By which share of the largest number outputs changed."""
    largest = 0.0
    for name, y in before.items():
        y, z = np.asarray(y), np.asarray(after[name])
        if y.shape != z.shape:
            return np.inf
        if y.size == 0:
            continue
        if y.dtype.name not in FLOATS:
            largest = max(largest, np.inf if (y != z).any() else 0.0)
            continue
        a, b = wide(y), wide(z)
        if (np.isfinite(a) != np.isfinite(b)).any():
            return np.inf
        finite = np.isfinite(a) & np.isfinite(b)
        top = float(np.abs(a)[finite].max(initial=0))
        change = float(np.abs(np.where(finite, a, 0) - np.where(finite, b, 0)).max(initial=0))
        largest = max(largest, change / top if top else (np.inf if change else 0.0))
    return largest
