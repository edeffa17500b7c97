"""What each excuse is worth: how often healthy backends need it, and which faults it hides. With --csv a table for docs/measurements.

Needed: values, with all layers shown, that would have been judged otherwise without it. Hidden faults: in a node to which the excuse
applies an error is added to one element (to whole numbers: steps), doubled until the node is called WRONG, once as it is and once with
`--no-excuse`. Sizes are in units of the healthy backend's real error in float64 (exact.py), or steps."""
import collections
import csv
import re
from pathlib import Path

import numpy as np
from onnx import TensorProto as T

import alike
import backends
import data
import exact
import models
import verdicts

SOURCE = Path(__file__).resolve().parents[3] / "src" / "arbiter" / "excuses.def"

#: Where an excuse may be asked: operators, types of the network, networks.
APPLIES = {
    "decided-shape": (("NonMaxSuppression",), ("float",), ("boxes", "detector")),
    "flushed-inputs": (("Mul", "Add", "Conv", "MatMul"), ("float",), ("gqa", "efficient", "cnn")),
    "sums": (("MatMul", "Conv", "ReduceMean", "GlobalAveragePool", "Softmax", "LayerNormalization", "Einsum", "InstanceNormalization"), ("float",),
             ("norm_maps", "maps", "einsums", "efficient", "gqa", "text_encoder")),
    "winograd": (("Conv",), ("float",), ("cnn", "residual", "unet", "pyramid")),
    "reciprocal": (("Div",), ("float",), ("table", "vision_transformer", "attention", "experts")),
    "computed-at-once": (("Mul", "Div"), ("float",), ("gqa", "efficient", "vision_transformer", "transformer", "cancellation")),
    "unrounded-softmax": (("Softmax", "LogSoftmax"), ("float16",), ("text_encoder", "padded_attention", "maps", "classes")),
    "half-step": (("QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul"), ("float",), ("qdq_net", "qlinear_net", "integer_net")),
    "own-scale": (("DynamicQuantizeLinear",), ("float",), ("integer_net", "dynamic_quant")),
    "zero-range": (("DynamicQuantizeLinear",), ("float",), ("integer_net", "dynamic_quant")),
    "unrounded-inputs": (("MatMul", "Conv", "Softmax", "LayerNormalization", "Gelu", "Mul"), ("float16", "bfloat16"), ("text_encoder", "gqa", "efficient")),
    "overflown-inputs": (("MatMul", "Softmax", "LayerNormalization"), ("float16",), ("text_encoder", "gqa")),
    "choices": (("TopK", "ArgMax"), ("float16",), ("experts", "boxes", "choices")),
    "jumps": (("Greater", "Floor", "Cast", "LessOrEqual"), ("float16",), ("choices", "integers")),
    "specials": (("ReduceMax", "MaxPool", "Clip", "TopK"), ("float",), ("cnn", "boxes", "text_cnn")),
    "unsorted": (("TopK",), ("float",), ("experts", "boxes")),
    "integer-overflow": (("Add", "Mul"), ("float",), ("integers",)),
    "cast-beyond": (("Cast",), ("float",), ("choices", "integers")),
}
#: The largest fault that is tried.
DOUBLINGS = 24


def names():
    return re.findall(r'ASSAY_EXCUSE\(\w+, "([^"]+)"', SOURCE.read_text())


def added(y, at, size):
    """y with an error in one element; None where it changes nothing."""
    z = y.copy().reshape(-1)
    if y.dtype.name in exact.FLOATS:
        z[at] = np.asarray(float(z[at]) + size).astype(y.dtype)
    elif y.dtype == bool:
        z[at] = not z[at]
    else:
        info = np.iinfo(y.dtype)
        z[at] = int(z[at]) + int(size) if int(z[at]) + int(size) <= info.max else max(info.min, int(z[at]) - int(size))
    return None if (z.view(np.uint8) == y.reshape(-1).view(np.uint8)).all() else z.reshape(y.shape)


class Site:
    """A node of a network with what a healthy backend gave."""

    def __init__(self, judge, name, model, node, feed, results, sizes):
        self.judge, self.name, self.model, self.node, self.feed, self.results = judge, name, model, node, feed, results
        self.output = node.output[0]
        y = results[self.output]
        self.whole = y.dtype.name not in exact.FLOATS
        if not self.whole:
            sizes.know(node)
        self.unit = 1.0 if self.whole else max(sizes.real[self.output], float(exact.spacing(y).max()) / 2)
        self.at = 0 if self.whole and y.dtype == bool else int(np.argmax(np.abs(y.astype(np.float64))))

    def smallest(self, *options):
        """In units of the real error: the smallest fault, by doubling, that is called WRONG at its node."""
        for k in range(DOUBLINGS):
            z = added(self.results[self.output], self.at, self.unit * 2.0 ** k)
            if z is None:
                continue
            verdict = self.judge.judge(self.model, self.feed, self.results | {self.output: z}, "--onnx-outputs", "mark", "all", *options)
            if any(o["output"] == self.output for o in verdict.of("WRONG")):
                return 2.0 ** k
        return float("inf")


def sites(judge, excuse, dtype_names, count=6):
    """Nodes to which an excuse may apply, on data where it is not needed."""
    found = []
    if excuse not in APPLIES:
        return found
    operators, types, of = APPLIES[excuse]
    for dtype_name in types:
        dtype = {"float": T.FLOAT, "float16": T.FLOAT16, "bfloat16": T.BFLOAT16}[dtype_name]
        for name in of:
            try:
                model = models.build(name, dtype, judge.assay)
                feed = data.feed(model, "photo", 5)
                suspect = verdicts.Assay(judge.assay, judge.folder, "engine") if dtype == T.BFLOAT16 else backends.Onnxruntime("none")
                results = backends.tensors(suspect.run(backends.mark_all(model), feed))
            except Exception:
                continue
            sizes = exact.Sizes(model, feed, results)
            nodes = [n for n in model.graph.node if n.op_type in operators and n.output[0] in results and results[n.output[0]].size]
            found += [Site(judge, name, model, n, feed, results, sizes) for n in nodes[:2]]
    np.random.default_rng(1).shuffle(found)
    return found[:count]


def median(values):
    values = sorted(values)
    return values[len(values) // 2] if values else None


def shown(value):
    return "" if value is None else "never" if value == float("inf") else f"{value:g}"


def main(judge, args, show):
    needed, runs, where = collections.Counter(), collections.Counter(), collections.defaultdict(collections.Counter)
    values = comparisons = 0

    def seen(case, verdict):
        nonlocal values, comparisons
        comparisons += 1
        values += len(verdict.outputs)
        of_run = set()
        for o in verdict.outputs:
            for excuse in o["excuses"]:
                needed[excuse] += 1
                of_run.add(excuse)
                where[excuse][o["op_type"]] += 1
        runs.update(of_run)

    found = alike.suspects(judge, show)
    try:
        for dtype in (T.FLOAT, T.FLOAT16):
            built = alike.all_networks(judge, dtype, args.models, show)
            able = [s for s in found if dtype == T.FLOAT or s.name.startswith(("onnxrt", "assay"))]
            alike.run(judge, built, args.kinds or list(data.KINDS), args.seeds, able, 1, (True,), show=lambda *a: None, seen=seen)
    finally:
        alike.close(found)
    show(f"{comparisons} comparisons, {values} values")
    rows = []
    for name in names():
        pairs = [(s.smallest(), s.smallest("--no-excuse", name)) for s in sites(judge, name, None)]
        with_it, without = median([p[0] for p in pairs]), median([p[1] for p in pairs])
        cost = [a / b for a, b in pairs if np.isfinite(a) and np.isfinite(b)]
        row = [f"`{name}`", needed[name], runs[name], " ".join(f"{op}" for op, _ in where[name].most_common(3)), len(pairs), shown(with_it), shown(without),
               f"{max(cost):g}" if cost else ""]
        rows.append(row)
        show(*row)
    header = ["excuse", "values that needed it", "runs", "mostly in", "nodes tried", "smallest fault found", "without the excuse", "worst ratio"]
    if args.csv:
        facts = [line for line in args.csv.read_text().splitlines() if line.startswith("#")] if args.csv.exists() else [
            "# title: ?", "# machine: ?", "# recorded: ?"]
        with open(args.csv, "w", newline="") as file:
            file.write("".join(line + "\n" for line in facts))
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return 0
