"""Healthy comparisons on data as people have them (data.py), with backends of several makers, versions and numbers of threads and with plain
loops. Whoever is called WRONG is a false alarm."""
import collections
import hashlib
import itertools

from onnx import TensorProto as T

import backends
import data
import elsewhere
import exported
import healthy
import loops
import models
import networks
import verdicts

#: Networks of models.py that belong here, too.
OLDER = ("mlp", "cnn", "mobile", "residual", "unet", "attention", "attention_op", "gelu_block", "lstm", "gru", "norms", "pools", "reductions",
         "sampling", "transformer", "classes", "embedding", "functions", "loop", "scan")

#: What a backend really computes otherwise, as in healthy.DEFECTS: (suspect, network, operator), "*" for any network.
DEFECTS = {
    ("loops", "norms", "LRN"): "onnx's evaluator goes through as many channels as there are images",
    ("loops", "norms", "LpNormalization"): "behind that LRN where only outputs are known",
    ("openvino", "resize_modes", "Resize"): "neither exclude_outside nor antialias as ONNX has them: off by up to a third of the picture's range",
    ("openvino", "resize_modes", "ReduceSum"): "behind that Resize where only outputs are known",
    ("openvino", "*", "Unsqueeze"): "64-bit integers are cut to 32 bits: 2147483647 for the largest",
    ("openvino", "*", "TopK"): "of equal numbers it does not take the first",
    ("older", "exported_encoder_dynamo", "LayerNormalization"): "version 1.22 has the variance as a difference of squares: 3 % off where the mean is 114 "
                                                                "and the deviation 0.17",
    ("older", "exported_encoder_dynamo", "Add"): "behind that LayerNormalization where only outputs are known: NaN on a flat picture",
    ("older", "transformer", "LayerNormalization"): "the same in float16: NaN where the difference is below zero, on a flat picture of 0 to 255",
    ("older", "*", "ReduceLogSumExp"): "of float16: exponentials overflow, as in the newer version",
    ("onnxrt", "reductions", "Einsum"): "behind that ReduceLogSumExp of float16 where only outputs are known",
    ("onnxrt", "reductions", "LogSoftmax"): "the same",
    ("onnxrt", "reductions", "CumSum"): "the same",
    ("older", "reductions", "Einsum"): "the same",
    ("older", "reductions", "LogSoftmax"): "the same",
    ("older", "reductions", "CumSum"): "the same",
}

#: Right results that the verdict calls WRONG today: (suspect's maker, network, operator, shown, type), "*" for any -> why. A complete run with
#: float32 and two backends for each network fails where one of those of float32 does not occur any more.
FALSE_ALARMS = {}


def false_alarm(suspect, name, shown, dtype, outputs):
    """The entries of FALSE_ALARMS that these wrong outputs are, or None where one is not listed."""
    found = set()
    for o in outputs:
        given = (suspect.name.split("-")[0], name, o["op_type"], shown, T.DataType.Name(dtype).lower())
        key = next((k for k in FALSE_ALARMS if all(a in ("*", b) for a, b in zip(k, given))), None)
        if key is None:
            return None
        found.add(key)
    return found


def suspects(judge, show=print):
    """Each with the number of threads it uses. Those that are not here are named."""
    found = [*(loops.Loops(order) for order in loops.ORDERS), verdicts.Assay(judge.assay, judge.folder, "engine")]
    found += [Threads(level, threads) for level, threads in (("all", 1), ("all", 2), ("basic", 3), ("none", 4), ("extended", 2))]
    older = elsewhere.python_of("ASSAY_OLDER_ONNXRUNTIME")
    if older:
        found += [elsewhere.Elsewhere(f"older-{level}-{threads}", older, "onnxruntime", level=level, threads=threads) for level, threads in (("all", 2), ("none", 1))]
        show(f"older ONNX Runtime: {found[-1].version}")
    else:
        show("skipped in part: ASSAY_OLDER_ONNXRUNTIME names no environment with another version of ONNX Runtime")
    openvino = elsewhere.python_of("ASSAY_OPENVINO")
    if openvino:
        found += [elsewhere.Elsewhere(f"openvino-{threads}", openvino, "openvino", precision="f32", threads=threads) for threads in (1, 3)]
        show(f"OpenVINO: {found[-1].version}")
    else:
        show("skipped in part: ASSAY_OPENVINO names no environment with OpenVINO")
    return found


class Threads(backends.Onnxruntime):
    def __init__(self, level, threads):
        super().__init__(level)
        self.name, self.threads = f"onnxrt-{level}-{threads}", threads

    def session(self, model):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = self.threads, 4
        options.graph_optimization_level = backends.LEVELS[self.level]
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def all_networks(judge, dtype=T.FLOAT, only=None, show=print):
    names = [*networks.NETWORKS, *OLDER]
    built = {name: models.build(name, dtype, judge.assay) for name in names if only is None or name in only}
    if dtype == T.FLOAT:
        built |= {name: m for name, m in exported.networks(show).items() if only is None or name in only}
    return built


def is_defect(suspect, name, outputs):
    prefix = suspect.name.split("-")[0]
    known = lambda o: any((prefix, of, o["op_type"]) in DEFECTS for of in (name, "*"))  # noqa: E731
    return bool(outputs) and all(known(o) or healthy.is_defect(suspect, name, "none", [o]) for o in outputs)


def word_of(verdict):
    order = ("WRONG", "unclear", "not judged", "cannot tell")
    return next((w for w in order if verdict.of(w)), "right" if verdict.outputs else "error")


def run(judge, built, kinds, seeds, all_suspects, per=2, marks=(True, False), show=print, seen=None, dtype=T.FLOAT):
    """Counts of verdicts per (suspect, network, data, what was given out), false alarms, runs that end in 0 although something could not be told,
    and the entries of FALSE_ALARMS that were seen. Each network gets `per` of the suspects on each kind of data, others the next time. seen(case, verdict) is told of all."""
    counts = collections.defaultdict(collections.Counter)
    alarms, silent, used = [], [], set()
    for seed, (name, model), kind in itertools.product(seeds, built.items(), kinds):
        first = int.from_bytes(hashlib.sha256(f"{seed} {name} {kind}".encode()).digest()[:4], "little")
        feed = data.feed(model, kind, seed)
        done = 0
        for k in range(len(all_suspects)):
            if done >= per:
                break
            suspect = all_suspects[(first + k * 5) % len(all_suspects)] if len(all_suspects) % 5 else all_suspects[(first + k) % len(all_suspects)]
            results = {}
            try:
                for marked in marks:
                    results[marked] = suspect.run(backends.mark_all(model) if marked else model, feed)
            except Exception as e:
                counts[suspect.name, name, kind, "-"]["refused"] += 1
                if kind == kinds[0]:
                    show("refused", name, suspect.name, str(e).strip()[:150])
                continue
            done += 1
            for marked in marks:
                shown = "layers" if marked else "outputs"
                verdict = judge.judge(model, feed, results[marked], *(["--onnx-outputs", "mark", "all"] if marked else []))
                word = word_of(verdict)
                if word == "WRONG":
                    known = [o for o in verdict.makers() if not is_defect(suspect, name, [o])]
                    listed = false_alarm(suspect, name, shown, dtype, known)
                    if not known:
                        word = "defect"
                    elif listed is not None:
                        word = "known alarm"
                        used.update(listed)
                counts[suspect.name, name, kind, shown][word] += 1
                if verdict.code == 0 and word not in ("right", "defect", "known alarm"):
                    silent.append((name, suspect.name, kind, shown, word))
                if seen is not None:
                    seen((name, model, feed, results[marked], marked, suspect.name, kind), verdict)
                if word in ("WRONG", "error", "not judged") or (word in ("unclear", "cannot tell") and marked):
                    worst = [f"{o['node']} {o['op_type']} {o['ratio']} {o['problem']} {o['note']} {o['worst']}" for o in verdict.outputs if o["verdict"] == word]
                    alarms.append((word, name, suspect.name, kind, shown, seed, worst[:2] or verdict.text[-300:]))
                    show(*alarms[-1])
    return counts, alarms, silent, used


def close(all_suspects):
    for s in all_suspects:
        if isinstance(s, elsewhere.Elsewhere):
            s.close()


def main(judge, args, show):
    found = suspects(judge, show)
    kinds = args.kinds or list(data.KINDS)
    total, wrong, silent, used, unclear = 0, [], [], set(), 0
    try:
        for dtype in args.types:
            built = all_networks(judge, dtype, args.models, show)
            # Loops are float32's, and ONNX Runtime has no bfloat16 on processors.
            able = [s for s in found if dtype == T.FLOAT or s.name.startswith("assay") or (dtype == T.FLOAT16 and s.name.startswith(("onnxrt", "older")))]
            counts, alarms, s, u = run(judge, built, kinds, args.seeds, able, min(args.per, len(able)), show=show, dtype=dtype)
            print(T.DataType.Name(dtype).lower())
            for by in (0, 2, 3):
                print(healthy.table(counts, by, EXTRA), "\n")
            wrong += [a for a in alarms if a[0] in ("WRONG", "error")]
            unclear += sum(a[0] == "unclear" for a in alarms)
            silent += s
            used |= u
            total += sum(n for c in counts.values() for w, n in c.items() if w != "refused")
            show(f"{len(built)} networks, {len(kinds)} kinds of data")
    finally:
        close(found)
    for s in silent:
        print("exit status 0 although it is", *s)
    complete = not args.models and not args.kinds and T.FLOAT in args.types and {"older", "openvino"} <= {s.name.split("-")[0] for s in found}
    idle = {k for k in FALSE_ALARMS if k[4] == "float"} - used if complete and args.per > 1 and exported.networks() else set()
    for k in idle:
        print("listed as a false alarm, but it is none any more:", *k)
    print(f"{total} comparisons: {len(wrong)} false alarms beside those listed, {unclear} unclear with layers shown, {len(silent)} ended in 0 untold")
    return 1 if wrong or silent or idle else 0


EXTRA = ("known alarm",)
