"""Healthy comparisons: backends that are right, on data of every kind. Whoever is called WRONG is a false alarm."""
import collections
import itertools

from onnx import TensorProto as T

import backends
import conversions
import models


#: What a backend really computes wrong, so that it is no false alarm: (suspect, operator, type of its result), and where
#: it is so only there, conversion and model.
DEFECTS = {
    ("onnxrt", "ReduceLogSumExp", "float16"): "exponentials overflow: the largest element is not subtracted",
    ("onnxrt", "Softplus", "float16"): "the exponential overflows",
    ("onnx", "LRN", "float32"): "onnx's evaluator goes through as many channels as there are images",
    ("onnx", "LpNormalization", "float32"): "behind that LRN where only outputs are known",
    ("onnx", "LogSoftmax", "float32"): "onnx's evaluator takes the logarithm of a Softmax that underflows",
    ("openvino", "DFT", "float32"): "the last dimension of real input, which is 1, is kept beside the one of 2",
    ("openvino", "ReduceSumSquare", "float32", "none", "spectrum"): "behind that DFT",
    ("openvino", "QLinearMatMul", "uint8", "none", "qlinear"):
        "up to four steps off with weights of uint8 where every layer is marked; whole numbers in NumPy give what the reference gives",
    ("openvino", "Exp", "float32"): "infinite from 88.38 on, where e^x is 2.4e38, which float32 can hold",
    ("openvino", "Concat", "float32", "none", "functions_of_one"): "of that Exp and of Softplus",
    ("openvino", "Softplus", "float32"): "below 0 it errs by up to 3.8e-6, 64 roundings of 1",
    ("onnxrt", "ConvTranspose", "float32", "qoperator"): "its float weights are quantised to 8 bits when its input was (WeightBiasQuantization)",
    ("onnxrt", "Cast", "float32", "float16_io", "functions_of_one"): "behind Softplus in float16",
}


def is_defect(suspect, model, conversion, outputs):
    def known(o):
        key = (suspect.name.split("-")[0], o["op_type"], o["type"], conversion, model)
        return any(key[:n] in DEFECTS for n in range(3, 6))
    return bool(outputs) and all(known(o) for o in outputs)


def build(names, dtypes, conversion_names, judge, show):
    """(name, type, conversion) -> model. A conversion that finds nothing to do, or fails, makes none."""
    built = {}
    for name, dtype, conversion in itertools.product(names, dtypes, conversion_names):
        model = models.build(name, dtype, judge.assay)
        try:
            converted = conversions.CONVERSIONS[conversion](model, judge.folder)
        except Exception as e:
            show("not converted", name, conversion, repr(e)[:200])
            continue
        if conversion == "none" or conversions.changed(model, converted):
            built[name, dtype, conversion] = converted
    return built


def run(judge, names, kinds, seeds, suspects, marks=(True, False), dtypes=(T.FLOAT,), show=print, conversion_names=("none",)):
    """Counts of verdicts per class (suspect, type, conversion, data, what was given out)."""
    counts = collections.defaultdict(collections.Counter)
    alarms = []
    built = build(names, dtypes, conversion_names, judge, show)
    for seed, kind, (name, dtype, conversion), suspect in itertools.product(seeds, kinds, built, suspects):
        model = built[name, dtype, conversion]
        feed = models.feed(model, kind, seed)
        defect = False
        for marked in sorted(marks, reverse=True):
            shown = backends.mark_all(model) if marked else model
            key = (suspect.name, T.DataType.Name(dtype), conversion, kind, "layers" if marked else "outputs")
            try:
                results = suspect.run(shown, feed)
            except Exception as e:  # the suspect does not take the model
                counts[key]["refused"] += 1
                if kind == kinds[0]:
                    show("refused", name, *key, str(e).strip()[:150])
                continue
            options = ["--onnx-outputs", "mark", "all"] if marked else []
            verdict = judge.judge(model, feed, results, *options)
            word = ("WRONG" if verdict.of("WRONG") else "unclear" if verdict.of("unclear") else
                    "not judged" if verdict.of("not judged") else "cannot tell" if verdict.of("cannot tell") else
                    "error" if not verdict.outputs else "right")
            if word == "WRONG" and not defect:
                defect = is_defect(suspect, name, conversion, verdict.makers())
            if word == "WRONG" and defect:
                word = "defect"
            counts[key][word] += 1
            # Of outputs alone little may be checked; the run would then show its layers.
            if word not in ("right", "defect") and (marked or word != "cannot tell"):
                worst = [f"{o['node']} {o['output']} {o['type']} {o['ratio']} {o['problem']} {o['note']} {o['worst']}"
                         for o in verdict.outputs if o["verdict"] in ("WRONG", "unclear", "cannot tell", "not judged")]
                alarms.append((word, name, *key, seed, worst[:3] or verdict.text[-300:]))
                show(*alarms[-1])
    return counts, alarms


def table(counts, by, more=()):
    """One line for each value of the key's field `by`; `more` are words for columns of their own."""
    sums = collections.defaultdict(collections.Counter)
    for key, c in counts.items():
        sums[key[by]].update(c)
    words = ("right", "cannot tell", "unclear", "WRONG", "not judged", "error", "refused", "defect", *more)
    lines = [f"{'':22}" + "".join(f"{w:>12}" for w in words)]
    for key, c in sums.items():
        lines.append(f"{key:22}" + "".join(f"{c[w]:12}" for w in words))
    return "\n".join(lines)
