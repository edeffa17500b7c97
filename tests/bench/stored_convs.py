"""Makes the table of convolutions with weights of few bits: plans and times of networks whose convolutions have them behind a
DequantizeLinear, against the same networks in float32, with folded weights, and on ONNX Runtime.

usage: stored_convs.py ASSAY MODEL... [--runs N] [--loops N] [--threads N] [--bf16]

A MODEL is a file, or the name of one of the generator's models, whose batch normalizations are folded first. 4 bits are in blocks of 32
input channels, 8 bits have a scale for each channel. Times against float32 are user CPU time of plans that run in turns; those against
ONNX Runtime come from `assay bench`, in which both run in turns. Medians of the runs.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from table import bench, generated, medians

FORMS = {"4 bits, blocks of 32": (4, 32), "8 bits, channels": (8, 0)}


def packed(name, levels, bits):
    """Signed integers of 4 or 8 bits as an initializer."""
    flat = levels.reshape(-1).astype(np.int64) & ((1 << bits) - 1)
    if bits == 4:
        flat = np.pad(flat, (0, len(flat) % 2))
        flat = flat[::2] | flat[1::2] << 4
    kind = TensorProto.INT4 if bits == 4 else TensorProto.INT8
    return TensorProto(name=name, data_type=kind, dims=levels.shape, raw_data=flat.astype(np.uint8).tobytes())


def levels_of(weights, bits, block):
    """Symmetric quantization: integers, and scales for each output channel or each block of input channels."""
    top, outputs, inputs = (1 << (bits - 1)) - 1, weights.shape[0], weights.shape[1]
    if block == 0:
        scales = np.maximum(np.abs(weights).reshape(outputs, -1).max(axis=1), 1e-9) / top
        spread = scales.reshape(-1, *[1] * (weights.ndim - 1))
    else:
        parts = [np.abs(weights[:, first : first + block]).max(axis=1) for first in range(0, inputs, block)]
        scales = np.maximum(np.stack(parts, axis=1), 1e-9) / top
        spread = np.repeat(scales, block, axis=1)[:, :inputs]
    return np.rint(weights / spread).clip(-top, top), scales.astype(np.float32)


def quantized(source, target, bits, block):
    """The model with the constant weights of its convolutions behind DequantizeLinear."""
    model = onnx.load(source)
    graph, nodes = model.graph, []
    constants = {c.name: c for c in graph.initializer}
    for node in graph.node:
        constant = constants.pop(node.input[1], None) if node.op_type == "Conv" else None
        if constant is not None:
            levels, scales = levels_of(numpy_helper.to_array(constant).astype(np.float32), bits, block)
            name = constant.name
            graph.initializer.remove(constant)
            graph.initializer.extend([packed(name + "/levels", levels, bits), numpy_helper.from_array(scales, name + "/scales")])
            axis = {"axis": 1, "block_size": block} if block else {"axis": 0}
            nodes.append(helper.make_node("DequantizeLinear", [name + "/levels", name + "/scales"], [name], **axis))
        nodes.append(node)
    del graph.node[:], model.opset_import[:]
    graph.node.extend(nodes)
    model.opset_import.append(helper.make_opsetid("", 21))
    model.ir_version = 10
    onnx.save(model, target)


def called(assay, *words):
    done = subprocess.run([assay, *map(str, words)], capture_output=True, text=True, timeout=1800)
    if done.returncode != 0:
        raise RuntimeError(done.stdout[-300:] + done.stderr[-300:])


def cpu_seconds(assay, plan, loops, threads):
    """User time of a process that runs a plan so often."""
    words = [assay, "bench", "--load-engine", plan, "--threads", threads, "--iterations", loops, "--duration", 0, "--warm-up", 0]
    child = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"{plan} ended with {child.returncode}")
    return usage.ru_utime


def run_seconds(assay, plan, options):
    """Of one run: what more of them take."""
    few, many = 2, 2 + options.loops
    return (cpu_seconds(assay, plan, many, options.threads) - cpu_seconds(assay, plan, few, options.threads)) / options.loops


def plan_of(assay, model, target, options, *words):
    called(assay, "convert", model, "-o", target, *(["--bf16"] if options.bf16 else []), *words)
    return target


def rows_of(assay, model, folder, options):
    name = Path(model).stem
    plain = folder / f"{name}.plain.onnx"
    called(assay, "surgeon", "sanitize", model, "--simplify", "-o", plain)
    floats = plan_of(assay, plain, folder / f"{name}.float.plan", options)
    for form, (bits, block) in FORMS.items():
        file = folder / f"{name}.{bits}.onnx"
        quantized(plain, file, bits, block)
        stored = plan_of(assay, file, folder / f"{name}.{bits}.plan", options)
        folded = plan_of(assay, file, folder / f"{name}.folded.plan", options, "--disable-tactics", "nbits_conv")
        times = {plan: [] for plan in (floats, stored)}
        others = []
        for _ in range(options.runs):
            for plan, seconds in times.items():
                seconds.append(run_seconds(assay, plan, options))
            report = medians(bench(assay, file, "--backends", "engine", "onnxrt", "--threads", options.threads, "--duration", 2))
            others.append(report["onnxrt"] / report["engine"])
        sizes = [f"{os.path.getsize(path) / 1e6:.1f}" for path in (file, stored, folded)]
        gain = statistics.median(times[stored]) / statistics.median(times[floats])
        yield [name, form, *sizes, f"{gain:.2f}", f"{statistics.median(others):.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--loops", type=int, default=20, help="runs of a plan that are measured together")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--bf16", action="store_true", help="allow bfloat16 to all plans")
    options = parser.parse_args()
    assay = os.path.abspath(options.assay)
    print("| model | weights | model, MB | plan, MB | folded, MB | time / float32's | ONNX Runtime's / the engine's |")
    print("|---|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for model in generated(assay, folder, options.models, 1):
            for row in rows_of(assay, model, Path(folder), options):
                print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
