"""Makes the table of narrow types: every model on the engine in float32, in bfloat16, in 8 bits by calibration, and as ONNX Runtime's
quantizer writes it (Q/DQ), against ONNX Runtime on the same files.

usage: precisions.py ASSAY MODEL... [--runs N] [--duration S] [--threads N] [--cache DIR] [--only WORD...] [--json FILE]

A MODEL is a file, or the name of one of the generator's models. Each figure comes from `assay bench`, in which the engine and ONNX Runtime
run in turns in one process: the gain of a type is its ratio to ONNX Runtime in float32 by that of the engine in float32, so that a machine
whose speed changes between two calls does not count. All models once, then all again; the median of the runs counts.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from table import bench, generated, geometric_mean, medians

WORDS = {"float32": [], "bf16": ["--bf16"], "int8": ["--int8"]}
QUANTIZE = """
import sys
import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
source, target = sys.argv[1:]
quant_pre_process(source, source + ".pre", skip_symbolic_shape=True)
graph = onnx.load(source + ".pre").graph
weights = {w.name for w in graph.initializer}
TYPES = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_}
class Reader(CalibrationDataReader):
    def __init__(self):
        self.left = 4
        self.random = np.random.default_rng(5)
    def get_next(self):
        self.left -= 1
        if self.left < 0:
            return None
        feed = {}
        for value in graph.input:
            if value.name in weights:
                continue
            tensor = value.type.tensor_type
            shape, dtype = [d.dim_value or 1 for d in tensor.shape.dim], TYPES[tensor.elem_type]
            drawn = self.random.standard_normal(shape) if dtype == np.float32 else np.ones(shape) if "mask" in value.name else self.random.integers(0, 2 if "type" in value.name else 100, shape)
            feed[value.name] = drawn.astype(dtype)
        return feed
quantize_static(source + ".pre", target, Reader(), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8)
"""


def quantized(model, folder, python):
    """ONNX Runtime's Q/DQ form of the model."""
    target = Path(folder, Path(model).stem + ".qdq.onnx")
    if not target.exists():
        done = subprocess.run([python, "-c", QUANTIZE, model, str(target)], capture_output=True, text=True, timeout=1800)
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-300:])
    return str(target)


def ratio(assay, model, cache, options, words):
    """The time of ONNX Runtime by that of the engine, and what the engine takes."""
    threads = ["--threads", options.threads] if options.threads else []
    times = medians(bench(assay, model, "--backends", "engine", "onnxrt", "--timing-cache", cache, "--duration", options.duration, "--warm-up", 100,
                          *threads, *words))
    return {"ratio": times["onnxrt"] / times["engine"], "ms": times["engine"]}


def measure(assay, model, folder, caches, options):
    name = Path(model).stem
    found = {}
    for kind in options.only:
        file = quantized(model, folder, options.python) if kind == "qdq" else model
        found[kind] = ratio(assay, file, caches / f"{name}.{kind}.{options.threads}.json", options, WORDS.get(kind, []))
    return found


def middle(runs, kind):
    return statistics.median(run[kind]["ratio"] for run in runs)


def gains(runs, kind):
    """Of each run: a narrow type by float32; Q/DQ by ONNX Runtime on the same file."""
    return [run[kind]["ratio"] / (1 if kind in ("qdq", "float32") else run["float32"]["ratio"]) for run in runs]


HEADS = {"float32": "float32 / ONNX Runtime", "bf16": "bf16 / float32", "int8": "int8 / float32", "qdq": "Q/DQ / ONNX Runtime's"}


def report(rows, failed, options):
    columns = ["model", "float32, ms"] + [HEADS[kind] for kind in options.only]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    middles = {kind: [] for kind in options.only}
    for name, runs in rows.items():
        cells = [f"{statistics.median(run['float32']['ms'] for run in runs):.2f}"]
        for kind in options.only:
            each = gains(runs, kind)
            middles[kind].append(statistics.median(each))
            cells.append(f"{statistics.median(each):.2f} ({' '.join(f'{g:.2f}' for g in each)})")
        print(f"| {name} | {' | '.join(cells)} |")
    for name, reason in failed.items():
        print(f"| {name} | FAILED: {reason} |")
    for kind, values in middles.items():
        if values:
            print(f"\n{HEADS[kind]}: geometric mean of {len(values)}: {geometric_mean(values):.2f}, least {min(values):.2f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--duration", type=float, default=2)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--cache", type=Path, help="keeps timing caches and quantized models from call to call")
    parser.add_argument("--only", nargs="+", choices=list(HEADS), default=list(HEADS), help="float32 is always measured")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with onnx and onnxruntime")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.only = ["float32", *(kind for kind in HEADS if kind in options.only and kind != "float32")]
    assay, rows, failed = os.path.abspath(options.assay), {}, {}
    with tempfile.TemporaryDirectory() as folder:
        caches = options.cache or Path(folder)
        caches.mkdir(exist_ok=True)
        for run in range(options.runs):
            for model in generated(assay, folder, options.models, 1):
                name = Path(model).stem
                try:
                    measured = measure(assay, model, caches, caches, options)
                    rows.setdefault(name, []).append(measured)
                    print(f"run {run + 1}: {name} " + " ".join(f"{kind} {m['ratio']:.2f}" for kind, m in measured.items()), file=sys.stderr, flush=True)
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    failed[name] = f"{str(error)[:300]!r}"
    return report(rows, failed, options)


if __name__ == "__main__":
    sys.exit(main())
