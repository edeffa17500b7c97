#!/usr/bin/env python3
"""Every generated model in its default form: ONNX's checker with strict shape inference accepts it, its activations
neither die nor explode, and `assay run --engine --onnxrt --ref` says of both that they differ by rounding only.

    tests/templates/templates_test.py build/assay [MODEL...] [--dynamic]

`--dynamic` takes the form with an open batch, run with a batch of 2. Exit status 0 when everything holds.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

# Operators whose results carry the signal from layer to layer, and the standard deviations that they may have.
SIGNAL_OPERATORS = {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "BatchNormalization", "LayerNormalization"}
LEAST_DEVIATION, LARGEST_DEVIATION = 0.005, 30.0
# Tensors that are constant by design.
CONSTANT = {"/transformer/decoder/layers.0/self_attn/v_proj/MatMul_output_0"}  # DETR's decoder starts from zeros
NUMPY_TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}
# Extents of the open dimensions that are no batch; a cache with the new token is longer by one.
OPEN_EXTENT = 32
OPEN_EXTENTS = {"total_sequence": OPEN_EXTENT + 1}
SEED = 1


def listed(assay):
    text = subprocess.run([assay, "template", "model", "--list"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0 if number else 1] for number, line in enumerate(text.splitlines())][1:]


def open_session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def shape_of(info, batch):
    return [d if isinstance(d, int) else batch if d == "batch" else OPEN_EXTENTS.get(d, OPEN_EXTENT)
            for d in info.shape]


def feed(session, batch):
    """What `assay run` feeds: floats in [0, 1), integers 0 and 1."""
    random = np.random.default_rng(SEED)
    values = {}
    for info in session.get_inputs():
        shape, dtype = shape_of(info, batch), NUMPY_TYPES[info.type]
        values[info.name] = (random.random(shape, dtype=np.float32) if dtype is np.float32
                             else random.integers(0, 2, shape).astype(dtype))
    return values


def deviations(path, batch):
    """(standard deviation, name) of the signal's tensors; raises ValueError at one that is not finite."""
    model = onnx.shape_inference.infer_shapes(onnx.load(path))
    operators = {o: n.op_type for n in model.graph.node for o in n.output}
    known = {o.name for o in model.graph.output}
    model.graph.output.extend(v for v in model.graph.value_info if v.name not in known
                              and operators.get(v.name) in SIGNAL_OPERATORS
                              and v.type.tensor_type.elem_type == onnx.TensorProto.FLOAT)
    session = open_session(model.SerializeToString() if model.ByteSize() < 2**31 else path)
    names = [o.name for o in session.get_outputs()]
    found = []
    for name, array in zip(names, session.run(names, feed(session, batch))):
        if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.size < 64:
            continue
        if not np.isfinite(array).all():
            raise ValueError(f"{name} is not finite")
        if operators[name] in SIGNAL_OPERATORS:
            found.append((float(array.std(dtype=np.float64)), name))
    return found


def verdicts(assay, path, batch):
    """Problems of the verdict over both backends; none when all is well."""
    inputs = open_session(path).get_inputs()
    shapes = [f"{i.name}:[{','.join(map(str, shape_of(i, batch)))}]" for i in inputs
              if not all(isinstance(d, int) for d in i.shape)]
    command = [assay, "run", path, "--engine", "--onnxrt", "--ref", "--seed", str(SEED),
               *(["--input-shapes", *shapes] if shapes else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    text = done.stdout + done.stderr
    verdict = text[text.find("Float64 Verdict"):] if "Float64 Verdict" in text else ""
    problems = []
    for runner in ("engine", "onnxrt"):
        if not re.search(rf"{runner}-runner\S* \| \d+ output\(s\) agree, \d+ differ by rounding only, 0 wrong", verdict):
            problems.append(f"{runner} is not \"rounding only\" (exit status {done.returncode}): "
                            + " / ".join(line for line in verdict.splitlines() if runner in line
                                         and "rounding only |" not in line)[:600] + text[-300:] * (not verdict))
    return problems


def check(assay, name, folder, dynamic):
    path, batch = os.path.join(folder, name + ".onnx"), 2 if dynamic else 1
    subprocess.run([assay, "template", "model", name, "-o", path, *(["--batch", "dynamic"] if dynamic else [])],
                   check=True, stdout=subprocess.DEVNULL)
    problems, spread = [], []
    try:
        onnx.checker.check_model(path, full_check=True)
        spread = deviations(path, batch)
        problems += [f"{n} has standard deviation {d:.3g}" for d, n in spread
                     if not LEAST_DEVIATION <= d <= LARGEST_DEVIATION and n not in CONSTANT]
        problems += verdicts(assay, path, batch)
    except Exception as error:  # the packages' exception types are not public
        problems.append(f"{type(error).__name__}: {error}"[:1000])
    os.remove(path)
    low, high = (min(spread), max(spread)) if spread else ((0, "-"), (0, "-"))
    print(f"{name:20} standard deviations {low[0]:.3g} to {high[0]:.3g}; {'FAILED' if problems else 'passed'}", flush=True)
    for problem in problems[:6]:
        print(f"    {problem}")
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assay", help="the program to test")
    parser.add_argument("models", nargs="*", help="default: all")
    parser.add_argument("--dynamic", action="store_true")
    arguments = parser.parse_intermixed_args()
    os.environ.setdefault("ASSAY_ONNXRUNTIME", sys.prefix)  # the one that this script uses, too
    with tempfile.TemporaryDirectory() as folder:
        results = [check(arguments.assay, name, folder, arguments.dynamic)
                   for name in arguments.models or listed(arguments.assay)]
    print(f"{sum(results)} of {len(results)} models passed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
