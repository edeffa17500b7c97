"""Healthy comparisons: backends that are right, on data of every kind. Whoever is called WRONG is a false alarm."""
import collections
import itertools

import numpy as np
from onnx import TensorProto as T

import backends
import models


#: What a backend really computes wrong, so that it is no false alarm: (suspect, operator, type).
DEFECTS = {
    ("onnxrt", "ReduceLogSumExp", T.FLOAT16): "exponentials overflow: the largest element is not subtracted",
    ("onnxrt", "Softplus", T.FLOAT16): "the exponential overflows",
    ("onnx", "LRN", T.FLOAT): "onnx's evaluator goes through as many channels as there are images",
    ("onnx", "LpNormalization", T.FLOAT): "behind that LRN, where only outputs are known",
    ("onnx", "LogSoftmax", T.FLOAT): "onnx's evaluator takes the logarithm of a Softmax that underflows",
}


def is_defect(suspect, dtype, outputs):
    return bool(outputs) and all((suspect.name.split("-")[0], o["op_type"], dtype) in DEFECTS for o in outputs)


def cases(seed_list, kinds, names):
    for seed, kind, name in itertools.product(seed_list, kinds, names):
        yield name, kind, seed


def run(judge, names, kinds, seeds, suspects, marks=(True, False), dtypes=(T.FLOAT,), show=print):
    """Counts of verdicts per class (suspect, data, what was given out)."""
    counts = collections.defaultdict(collections.Counter)
    alarms = []
    built = {(n, d): models.to_type(models.MODELS[n]().model(), d) for n in names for d in dtypes}
    for (name, kind, seed), suspect, dtype in itertools.product(list(cases(seeds, kinds, names)), suspects, dtypes):
        model = built[name, dtype]
        feed = models.feed(model, kind, seed)
        defect = False
        for marked in sorted(marks, reverse=True):
            shown = backends.mark_all(model) if marked else model
            key = (suspect.name, T.DataType.Name(dtype), kind, "layers" if marked else "outputs")
            try:
                results = suspect.run(shown, feed)
            except Exception:  # the suspect does not take the model
                counts[key]["refused"] += 1
                continue
            options = ["--onnx-outputs", "mark", "all"] if marked else []
            verdict = judge.judge(model, feed, results, *options)
            word = ("WRONG" if verdict.of("WRONG") else "unclear" if verdict.of("unclear") else
                    "not judged" if verdict.of("not judged") else "error" if not verdict.outputs else "right")
            if word == "WRONG" and marked:
                defect = is_defect(suspect, dtype, verdict.makers())
            if word == "WRONG" and defect:
                word = "defect"
            counts[key][word] += 1
            if word not in ("right", "defect"):
                worst = [f"{o['node']} {o['output']} {o['ratio']} {o['problem']} {o['note']}" for o in verdict.outputs
                         if o["verdict"] in ("WRONG", "unclear", "not judged")]
                alarms.append((word, name, *key, seed, worst[:3] or verdict.text[-300:]))
                show(*alarms[-1])
    return counts, alarms


def table(counts, by):
    """One line for each value of the key's field `by`."""
    sums = collections.defaultdict(collections.Counter)
    for key, c in counts.items():
        sums[key[by]].update(c)
    words = ("right", "unclear", "WRONG", "not judged", "error", "refused", "defect")
    lines = [f"{'':22}" + "".join(f"{w:>12}" for w in words)]
    for key, c in sums.items():
        lines.append(f"{key:22}" + "".join(f"{c[w]:12}" for w in words))
    return "\n".join(lines)
