"""Healthy comparisons on data as people have them (data.py), with backends of several makers, versions and numbers of threads and with plain
loops. Whoever is called WRONG is a false alarm."""
import collections
import hashlib
import itertools
import sys

from onnx import TensorProto as T

import backends
import data
import elsewhere
import exported
import healthy
import loops
import models
import networks

#: Networks of models.py that belong here, too.
OLDER = ("mlp", "cnn", "mobile", "residual", "unet", "attention", "attention_op", "gelu_block", "lstm", "gru", "norms", "pools", "reductions",
         "sampling", "transformer", "classes", "embedding", "functions", "loop", "scan")

#: What a backend really computes wrong, as in healthy.DEFECTS: (suspect, network, operator).
DEFECTS = {}


def suspects(judge, show=print):
    """Each with the number of threads it uses. Those that are not here are named."""
    found = [loops.Loops(order) for order in loops.ORDERS]
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


def run(judge, built, kinds, seeds, all_suspects, per=2, marks=(True, False), show=print, seen=None):
    """Counts of verdicts per (suspect, network, data, what was given out), false alarms, and runs that end in 0 although something could not
    be told. Each network gets `per` of the suspects on each kind of data, others the next time. seen(case, verdict) is told of all."""
    counts = collections.defaultdict(collections.Counter)
    alarms, silent = [], []
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
                if word == "WRONG" and is_defect(suspect, name, verdict.makers()):
                    word = "defect"
                counts[suspect.name, name, kind, shown][word] += 1
                if verdict.code == 0 and word not in ("right", "defect"):
                    silent.append((name, suspect.name, kind, shown, word))
                if seen is not None:
                    seen((name, model, feed, results[marked], marked, suspect.name, kind), verdict)
                if word in ("WRONG", "error", "not judged") or (word in ("unclear", "cannot tell") and marked):
                    worst = [f"{o['node']} {o['op_type']} {o['ratio']} {o['problem']} {o['note']} {o['worst']}" for o in verdict.outputs if o["verdict"] == word]
                    alarms.append((word, name, suspect.name, kind, shown, seed, worst[:2] or verdict.text[-300:]))
                    show(*alarms[-1])
    return counts, alarms, silent


def close(all_suspects):
    for s in all_suspects:
        if isinstance(s, elsewhere.Elsewhere):
            s.close()


def main(judge, args, show):
    built = all_networks(judge, only=args.models, show=show)
    found = suspects(judge, show)
    try:
        counts, alarms, silent = run(judge, built, args.kinds or list(data.KINDS), args.seeds, found, args.per, show=show)
    finally:
        close(found)
    for by in (0, 2, 3):
        print(healthy.table(counts, by), "\n")
    wrong = [a for a in alarms if a[0] in ("WRONG", "error")]
    for s in silent:
        print("exit status 0 although it is", *s)
    total = sum(n for c in counts.values() for w, n in c.items() if w != "refused")
    print(f"{total} comparisons of {len(built)} networks on {len(args.kinds or data.KINDS)} kinds of data: {len(wrong)} false alarms, "
          f"{sum(a[0] == 'unclear' for a in alarms)} unclear with layers shown, {len(silent)} ended in 0 untold", file=sys.stdout)
    return 1 if wrong or silent else 0
