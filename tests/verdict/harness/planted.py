"""Planted faults: each must be found, pinned on its node alone, and nobody else called a maker."""
import collections
import zlib

import numpy as np

from onnx import TensorProto as T

import backends
import faults
import models
import verdicts

FLOATS = ("float32", "float16", "bfloat16")

FAULTS = [*faults.STRENGTHS, *faults.EDITS, "two"]
#: Sizes of the errors, in units of what the backend really errs at the node.
SIZES = (4, 8, 16, 64, 1024, 1e6)


#: Up to which size, in units of the real error, faults are missed, and why: by operator, and for all others. What is missed beyond fails.
ALLOWED_MISSES = {
    "": (17, "the backend happened to err less than usual there: the bound is that of any order of its operations"),
    "HannWindow": (40, "near its ends a window is small, and the argument of its cosine is rounded all the same"),
    "Resize": (20, "coordinates may be rounded at every step of their computation, which the backend did not"),
    "If": (20, "judged by noise on its own inputs"),
    "Scan": (25, "as If: the errors of its steps add up as they come"),
    "GlobalAveragePool": (80, "behind DequantizeLinear the scale may be applied afterwards"),
    "Div": (80, "the last step of a normalisation may be computed at once with the others"),
    "Mul": (80, "as Div"),
}

#: The same in single networks, in every type.
ALLOWED_IN_NETWORKS = {
    ("classes", "Softmax"): (85, "a factor of all 3,000 classes is an error of their sum, and a plain loop in float32 over these exponentials, "
                                 "in 200 orders, is off by up to 85 units"),
}

#: The same in float16 and bfloat16, network by network and operator by operator, where it is more.
ALLOWED_IN_NARROW_TYPES = {
    ("resizes", "Resize"): (143, "another cubic_coeff_a moves all elements by different amounts, as weights would that are computed in the type"),
    ("sampling", "GridSample"): (77, "another align_corners moves all elements, as coordinates would that are computed in the type of the grid"),
    ("if", "MatMul"): (40, "seven elements of numbers that may not have been rounded yet, which here they were"),
    ("if", "ReduceSum"): (23, "as MatMul: a small sum of large numbers"),
    ("if", "Tanh"): (41, "its argument may not have been rounded yet"),
    ("if", "If"): (31, "judged by noise, and the network is too small to show what sums are computed in"),
    ("loop", "Loop"): (21, "as If"),
    ("scan", "Scan"): (33, "as If"),
    ("scan", "MatMul"): (33, "as its Scan: no other result is large enough to show what sums are computed in"),
    ("functions", "SwishScale"): (36, "the call of a local function, judged by noise: inner values are not among the results"),
    ("cancellation", "Sub"): (1030, "a difference of equal numbers that may not have been rounded yet: their rounding is all there is"),
    ("cancellation", "Div"): (31, "as Sub, which it divides"),
    ("cancellation", "ReduceMean"): (31, "as Sub, of which it is the mean"),
    ("sampling", "Tanh"): (21, "its argument may not have been rounded yet"),
    ("attention_op", "Attention"): (18, "probabilities may be rounded to the type between the two products"),
    ("norms", "InstanceNormalization"): (18, "another epsilon moves what lies between the bias and the result, in each row by another factor"),
    ("gelu_block", "LayerNormalization"): (23, "as InstanceNormalization"),
}


def is_allowed(name, op_type, size, dtype):
    limit = max(ALLOWED_MISSES.get(op_type, ALLOWED_MISSES[""])[0], ALLOWED_IN_NETWORKS.get((name, op_type), (0, ""))[0])
    if dtype != T.FLOAT:
        limit = max(limit, ALLOWED_IN_NARROW_TYPES.get((name, op_type), (0, ""))[0])
    return size <= limit


def spacing(y):
    """Distance to the next number of the type."""
    if y.dtype.name != "bfloat16":
        return np.spacing(np.abs(y)).astype(np.float64)
    return np.exp2(np.floor(np.log2(np.maximum(np.abs(y.astype(np.float64)), 2.0 ** -126))) - 7)


class Trial:
    """One model on one set of data, with what a healthy backend gives and really errs."""

    def __init__(self, judge, name, dtype, kind, seed):
        self.judge, self.name = judge, name
        self.model = models.build(name, dtype, judge.assay)
        self.feed = models.feed(self.model, kind, seed)
        # ONNX Runtime has no bfloat16 on processors, and some operators not in float16.
        engine = verdicts.Assay(judge.assay, judge.folder, "engine")
        self.suspect = engine if dtype == T.BFLOAT16 else backends.Onnxruntime("none")
        try:
            self.results = self.run(self.model)
        except Exception:
            if self.suspect is engine:
                raise
            self.suspect = engine
            self.results = self.run(self.model)
        healthy = judge.judge(self.model, self.feed, self.results, "--onnx-outputs", "mark", "all")
        self.alarm = [o["node"] for o in healthy.of("WRONG")]
        self.real = {o["output"]: o["error"] for o in healthy.outputs}

    def run(self, model):
        own = backends.mark_all(self.model)
        marked = faults.copy_of(model)
        del marked.graph.output[:]
        marked.graph.output.extend(own.graph.output)
        return backends.tensors(self.suspect.run(marked, self.feed))

    def targets(self):
        """Nodes whose first output is a tensor that is not empty."""
        return [n for n in self.model.graph.node
                if n.output[0] in self.results and self.results[n.output[0]].size > 0]

    def unit_of(self, node, y):
        """Distance to the next number. What is cast from a narrow type is a number of that, and a correct backend may leave out
        the rounding to it."""
        given = self.results.get(node.input[0]) if node.op_type == "Cast" else None
        if given is None or given.dtype.name not in FLOATS or given.dtype.itemsize >= y.dtype.itemsize:
            return spacing(y)
        return spacing(given).astype(np.float64)

    def size_of_error(self, node, results):
        """By how many times its real error the node's value changed: infinite where it errs nothing."""
        largest = 0.0
        for name in node.output:
            if name not in self.results:
                continue
            a, b = np.asarray(self.results[name]), np.asarray(results[name])
            if a.shape != b.shape or a.dtype != b.dtype:
                return np.inf
            if a.dtype.name not in FLOATS:
                if (a != b).any():
                    return np.inf
                continue
            x, y = a.astype(np.float64), b.astype(np.float64)
            if (np.isfinite(x) != np.isfinite(y)).any():
                return np.inf
            same = np.isfinite(x) & np.isfinite(y)
            delta = np.abs(x - y) * same
            half = self.unit_of(node, a) / 2
            real = np.maximum(self.real.get(name, 0) if np.isfinite(float(self.real.get(name, 0))) else 0, half)
            ratio = np.where(delta > 0, delta / np.where(real > 0, real, 1e-300), 0)
            largest = max(largest, float(np.nan_to_num(ratio).max(initial=0)))
        return largest


def plant(trial, fault, node, rng):
    """Yields (what, faulty model, nodes that are wrong)."""
    y = trial.results[node.output[0]]
    floats = y.dtype.name in FLOATS
    if fault in faults.STRENGTHS:
        if not floats or not np.isfinite(y.astype(np.float64)).all():
            return
        real = float(trial.real.get(node.output[0], 0))
        real = max(real, float(trial.unit_of(node, y).max()) / 2)
        for size in SIZES:
            e = faults.STRENGTHS[fault](y, size * real, rng)
            if e is not None:
                yield f"{fault} x{size:g}", faults.add_error(trial.model, node, e.astype(y.dtype)), [node]
    elif fault == "two":
        others = [n for n in trial.targets() if n.name != node.name and
                  trial.results[n.output[0]].dtype.name in FLOATS]
        if not floats or not others:
            return
        other = others[rng.integers(len(others))]
        model = trial.model
        for n in (node, other):
            v = trial.results[n.output[0]]
            wide = v.astype(np.float64)
            top = float(np.abs(wide[np.isfinite(wide)]).max(initial=0)) or 1.0
            model = faults.add_error(model, n, faults.element(v, 0.01 * top, rng).astype(v.dtype))
        yield fault, model, [node, other]
    else:
        model = faults.EDITS[fault](trial.model, node, rng, y)
        if model is not None:
            yield fault, model, [node]


def judge_one(trial, model, wrong):
    """Those that were missed with their sizes, false makers, the smallest size and the verdict; None where the fault changes nothing
    or cannot be run."""
    try:
        results = trial.run(model)
    except Exception:
        return None
    sizes = [trial.size_of_error(n, results) for n in wrong]
    if min(sizes) == 0:
        return None
    verdict = trial.judge.judge(trial.model, trial.feed, results, "--onnx-outputs", "mark", "all")
    makers = {o["output"].split(".length")[0].split("[")[0] for o in verdict.makers()}
    expected = [set(n.output) for n in wrong]
    missed = [(n, size) for n, size, e in zip(wrong, sizes, expected) if not makers & e]
    strangers = makers - set().union(*expected)
    return missed, strangers, min(sizes), verdict


def run(judge, names, kinds_of_fault, seeds, dtypes, show=print, per_fault=2):
    """The faults that should have been found and were not, but for ALLOWED_MISSES, and the false makers."""
    tally = collections.defaultdict(collections.Counter)
    curve = collections.defaultdict(list)
    missed = []
    for name in names:
        for dtype in dtypes:
            for seed in seeds:
                try:
                    trial = Trial(judge, name, dtype, "normal", seed)
                except Exception as e:
                    show("refused", name, str(e)[:100])
                    continue
                show("on", name, T.DataType.Name(dtype), trial.suspect.name)
                if trial.alarm:
                    show("ALARM", name, trial.alarm)
                for fault in kinds_of_fault:
                    rng = np.random.default_rng([seed, zlib.crc32(f"{name} {fault}".encode())])
                    targets = trial.targets()
                    rng.shuffle(targets)
                    done = 0
                    for node in targets:
                        if done >= per_fault:
                            break
                        for what, model, wrong in plant(trial, fault, node, rng):
                            one = judge_one(trial, model, wrong)
                            if one is None:
                                continue
                            done += 1
                            gone, strangers, size, verdict = one
                            found = not gone
                            due = size > 8
                            word = "found" if found else "missed" if due else "below"
                            tally[fault][word] += 1
                            tally[fault]["due"] += due
                            tally[fault]["strangers"] += bool(strangers)
                            if found and fault in faults.STRENGTHS:
                                curve[node.op_type].append((size, node.name))
                            if (due and not found) or strangers:
                                allowed = not strangers and all(
                                    is_allowed(name, n.op_type, s, dtype) for n, s in gone)
                                tally[fault]["allowed"] += allowed
                                first = gone[0][0] if gone else wrong[0]
                                at = [o for o in verdict.outputs if o["output"] in first.output]
                                if not allowed:
                                    missed.append((name, what, wrong[0].name))
                                show("STRANGER" if strangers else "allowed" if allowed else "MISSED", name, what, [n.name for n in wrong], f"size {size:.3g}",
                                     sorted(strangers), [(o["verdict"], o["ratio"], o["note"]) for o in at][:1] or verdict.text[-200:])
    words = ("due", "found", "missed", "allowed", "below", "strangers")
    show(f"{'':20}" + "".join(f"{w:>10}" for w in words))
    for fault, c in tally.items():
        show(f"{fault:20}" + "".join(f"{c[w]:10}" for w in words))
    total = collections.Counter()
    for c in tally.values():
        total.update(c)
    show(f"{'all':20}" + "".join(f"{total[w]:10}" for w in words))
    if curve:
        show("smallest error found, in units of the real one:")
        smallest = {op: min(s for s, _ in list_) for op, list_ in curve.items()}
        for op, s in sorted(smallest.items()):
            show(f"  {op:22} {s:8.3g}")
        show(f"  median {np.median(list(smallest.values())):.3g}")
    return missed
