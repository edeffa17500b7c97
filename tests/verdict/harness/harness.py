"""Tries the verdict: faults that are planted must be found and pinned on their node, healthy backends must pass.

usage: harness.py ASSAY healthy [--models a,b] [--kinds a,b] [--seeds 1,2] [--suspects a,b] [--types float,float16]
                          [--conversions none,float16,qdq]
       harness.py ASSAY planted [--models a,b] [--faults a,b] [--seeds 1,2] [--types float]
       harness.py ASSAY sample      a little of both
       harness.py ASSAY alike [--models a,b] [--kinds a,b] [--seeds 1,2] [--per 2]
                          healthy backends of several makers, and plain loops, on images, texts and tables (alike.py)
       harness.py ASSAY mistakes [--models a,b] [--faults a,b] [--seeds 1,2] [--types float,float16] [--per 1] [--limit 40] [--csv FILE]
                          masks, caches, rotations, folding, quantisation and the like done wrong (trials.py)
       harness.py ASSAY excuses [--csv FILE]
                          how often each excuse is needed, and which faults it hides (excuses.py)
       harness.py ASSAY small       a little of `alike` and `mistakes`

OpenVINO (suspects openvino and openvino-f32) and converted models need the packages of tools/requirements-verdict.txt. `alike` takes
OpenVINO from the environment that ASSAY_OPENVINO names, another ONNX Runtime from ASSAY_OLDER_ONNXRUNTIME; `alike` and `mistakes` export
networks where ASSAY_TORCH names an environment with PyTorch.
"""
import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import alike
import backends
import conversions
import excuses
import healthy
import models
import planted
import trials
import verdicts
from onnx import TensorProto as T

TYPES = {"float": T.FLOAT, "float16": T.FLOAT16, "bfloat16": T.BFLOAT16}


def suspects(names, judge):
    known = {f"onnxrt-{level}": lambda level=level: backends.Onnxruntime(level) for level in backends.LEVELS}
    known |= {"onnx-evaluator": backends.Evaluator, "openvino": backends.Openvino,
              "openvino-f32": lambda: backends.Openvino("f32")}
    known |= {f"assay-{name}": lambda name=name: verdicts.Assay(judge.assay, judge.folder, name) for name in ("engine", "stored")}
    return [known[n]() for n in names]


def sample(assay):
    """What `make test` runs."""
    with tempfile.TemporaryDirectory() as folder:
        judge = verdicts.Judge(assay, folder)
        names = ["cnn", "attention", "lstm", "loop", "qdq", "sequences"]
        counts, alarms = healthy.run(judge, names, ["normal", "constant", "denormal"], [1], suspects(["onnxrt-all"], judge))
        missed = planted.run(judge, ["cnn", "attention", "dynamic_quant"], ["element", "channel", "nan", "weight", "attribute", "off_by_one"],
                             [1], [T.FLOAT], per_fault=1)
    wrong = [a for a in alarms if a[0] != "unclear"]
    return 1 if wrong or missed else 0


def small(assay):
    """Of the newer suites what `make test` runs."""
    with tempfile.TemporaryDirectory() as folder:
        judge = verdicts.Judge(assay, folder)
        built = alike.all_networks(judge, only=("efficient", "norm_maps", "padded_attention", "gqa", "einsums", "maps", "table", "qdq_net"),
                                   show=lambda *a: None)
        found = [*(alike.loops.Loops(order) for order in ("plain", "vectorised")), alike.Threads("all", 2)]
        kinds = ["letterbox", "logo_normalised", "flat_255", "silu_map", "padded_text", "heavy_tailed"]
        counts, alarms, silent, _ = alike.run(judge, built, kinds, [7], found, per=1)
        wrong = [a for a in alarms if a[0] in ("WRONG", "error")]
        rows = trials.run(judge, ["padded_attention", "static_cache", "gqa", "folded", "resize_modes", "qdq_net"], [7], [T.FLOAT], limit=6)
        rows += trials.run(judge, ["text_encoder"], [7], [T.FLOAT16], limit=6)
        failures = trials.report(rows)
    print(healthy.table(counts, 0))
    for f in (*wrong, *silent, *failures):
        print(*f)
    return 1 if wrong or silent or failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("what", choices=["healthy", "planted", "sample", "alike", "mistakes", "excuses", "small"])
    words = lambda text: text.split(",")
    parser.add_argument("--models", type=words)
    parser.add_argument("--kinds", type=words)
    parser.add_argument("--faults", type=words)
    parser.add_argument("--seeds", type=lambda t: [int(s) for s in t.split(",")], default=[1])
    parser.add_argument("--suspects", type=words, default=["onnxrt-all"])
    parser.add_argument("--types", type=lambda t: [TYPES[s] for s in t.split(",")], default=[T.FLOAT])
    parser.add_argument("--conversions", type=words, default=["none"])
    parser.add_argument("--marks", type=words, default=["layers", "outputs"])
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--per", type=int, default=None, help="backends for each network and kind of data, or nodes for each mistake")
    parser.add_argument("--limit", type=int, default=40, help="mistakes in each network")
    parser.add_argument("--csv", type=Path)
    args = parser.parse_args()
    if args.what in ("sample", "small"):
        return {"sample": sample, "small": small}[args.what](args.assay)
    show = (lambda *a: None) if args.quiet else lambda *a: print(*a, flush=True)
    start = time.time()
    with tempfile.TemporaryDirectory() as folder:
        judge = verdicts.Judge(args.assay, folder)
        newer = {"alike": alike.main, "mistakes": trials.main, "excuses": excuses.main}.get(args.what)
        if newer is not None:
            args.per = args.per or (2 if args.what == "alike" else 1)
            code = newer(judge, args, show)
            print(f"{time.time() - start:.0f} s")
            return code
        args.models = args.models or list(models.MODELS)
        args.kinds = args.kinds or list(models.RANGES)
        args.faults = args.faults or list(planted.FAULTS)
        if args.what == "healthy":
            counts, alarms = healthy.run(judge, args.models, args.kinds, args.seeds, suspects(args.suspects, judge),
                                         [m == "layers" for m in args.marks], args.types, show, args.conversions)
            for by in range(5):
                print(healthy.table(counts, by), "\n")
            wrong = [a for a in alarms if a[0] in ("WRONG", "error")]
            print(f"{sum(sum(c.values()) for c in counts.values())} comparisons in {time.time() - start:.0f} s, "
                  f"{len(wrong)} false alarms")
            return 1 if wrong else 0
        missed = planted.run(judge, args.models, args.faults, args.seeds, args.types, show)
        print(f"{time.time() - start:.0f} s")
        return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
