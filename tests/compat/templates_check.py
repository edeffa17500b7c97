#!/usr/bin/env python3
"""Checks generated models with the `onnx` and `onnxruntime` packages of the running Python environment.

For every model, opset and batch: the ONNX checker with strict shape inference; ONNX Runtime runs it; all forms of a
model give the same outputs for the same input; declared output shapes hold; the number of parameters is the published
one. For one form of each model: the spread of its activations.

    tests/compat/templates_check.py build/assay [MODEL...]

Exit status 0 when everything holds.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

# Published numbers of parameters (torchvision, timm, Ultralytics after fusing, Hugging Face); for unet, lstm and mlp
# the sums over their layers.
PARAMETERS = {
    "resnet-18": 11689512,
    "resnet-50": 25557032,
    "mobilenet-v2": 3504872,
    "efficientnet-b0": 5288548,
    "yolov8n": 3151904,
    "unet": 31037698,
    "vit-b-16": 86567656,
    "bert-base": 109482240,
    "gpt2": 124439808,
    "gpt2-decode": 124439808,
    "lstm": 8762397,
    "mlp": 2913290,
}
OPSETS = [11, 12, 13, 14, 16, 17, 18, 20, 21, 22, 23]
DEFAULT_OPSET = 17
# Operators whose results carry the signal from layer to layer, and the standard deviations that they may have.
SIGNAL_OPERATORS = {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "BatchNormalization", "LayerNormalization",
                    "Relu", "Clip"}
LEAST_DEVIATION, LARGEST_DEVIATION = 0.02, 10.0
# Integer inputs: exclusive upper bounds of the random values.
INTEGER_RANGES = {"input_ids": 30000, "token_type_ids": 2, "attention_mask": 2}


def newest_runtime_opset():
    """The newest opset that the installed ONNX Runtime accepts."""
    for opset in range(onnx.defs.onnx_opset_version(), DEFAULT_OPSET, -1):
        x, y = (onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1]) for n in "xy")
        graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "probe", [x], [y])
        imports = [onnx.helper.make_opsetid("", opset)]
        oldest_ir = onnx.helper.find_min_ir_version_for(imports)
        model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=oldest_ir)
        try:
            open_session(model)
            return opset
        except Exception:  # its exception types are not public
            continue
    return DEFAULT_OPSET


def open_session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    data = model if isinstance(model, str) else model.SerializeToString()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def generate(assay, name, path, opset, batch, seed=0):
    command = [assay, "template", "model", name, "-o", path, "--opset", str(opset), "--batch", str(batch),
               "--seed", str(seed)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def make_inputs(infos, batch, sequence, seed=1):
    """Random inputs whose first dimension is `batch`; items do not depend on how many there are."""
    feed = {}
    for number, info in enumerate(infos):
        dims = [d if isinstance(d, int) else sequence for d in info.shape[1:]]
        items = []
        for item in range(batch):
            random = np.random.default_rng((seed, number, item))
            if info.type == "tensor(int64)":
                items.append(random.integers(0, INTEGER_RANGES[info.name], dims))
            else:
                items.append(random.random(dims, dtype=np.float32))
        feed[info.name] = np.stack(items)
    return feed


def parameter_count(model):
    statistics = (".running_mean", ".running_var")
    return sum(int(np.prod(t.dims)) for t in model.graph.initializer
               if t.data_type == onnx.TensorProto.FLOAT and not t.name.startswith("/")
               and not t.name.endswith(statistics))


def declared_shape_holds(value, array, batch):
    """A symbolic first dimension is the batch; other symbols may be anything."""
    dims = value.type.tensor_type.shape.dim
    expected = [d.dim_value if d.HasField("dim_value") else None for d in dims]
    if expected and expected[0] is None:
        expected[0] = batch
    return len(expected) == array.ndim and all(e in (None, n) for e, n in zip(expected, array.shape))


class ModelCheck:
    """All forms of one model, compared with its default form."""

    def __init__(self, assay, name, folder):
        self.assay, self.name = assay, name
        self.path = os.path.join(folder, name + ".onnx")
        self.problems = []
        self.reference = None
        self.worst = 0.0

    def expect(self, condition, problem):
        if not condition:
            self.problems.append(problem)

    def form(self, opset, batch, run=True):
        """Generates, checks and runs one form; `run` is False where ONNX Runtime does not know the opset."""
        label = f"opset {opset}, batch {batch}"
        generate(self.assay, self.name, self.path, opset, batch)
        try:
            onnx.checker.check_model(self.path, full_check=True)
        except Exception as error:
            self.problems.append(f"{label}: {error}")
            return
        if not run:
            return
        model = onnx.load(self.path)
        self.expect(parameter_count(model) == PARAMETERS[self.name], f"{label}: {parameter_count(model)} parameters")
        session = open_session(self.path)
        for size in [1, 3] if batch == "dynamic" else [batch]:
            self.compare(model, session, size, f"{label}, run with {size}")
        if batch == "dynamic":
            self.other_length(session, label)

    def compare(self, model, session, size, label):
        length = self.sequence_length(session)
        outputs = session.run(None, make_inputs(session.get_inputs(), size, length))
        for value, array in zip(model.graph.output, outputs):
            self.expect(declared_shape_holds(value, array, size), f"{label}: {value.name} has shape {array.shape}")
            self.expect(np.isfinite(array).all(), f"{label}: {value.name} is not finite")
        first = [a[:1] for a in outputs]
        if self.reference is None:
            self.reference = first
        for value, array, expected in zip(model.graph.output, first, self.reference):
            self.expect(array.shape == expected.shape, f"{label}: {value.name} is {array.shape}, not {expected.shape}")
            if array.shape == expected.shape:
                error = float(np.abs(array - expected).max() / np.abs(expected).max())
                self.worst = max(self.worst, error)
                self.expect(error < 1e-4, f"{label}: {value.name} differs by {error:.2g} of its largest value")

    @staticmethod
    def sequence_length(session):
        """The fixed length of the static form, which the dynamic form is compared at."""
        names = {i.name for i in session.get_inputs()}
        return 128 if "attention_mask" in names else 64

    def other_length(self, session, label):
        """A dynamic language model takes another length too."""
        if all(isinstance(d, int) for i in session.get_inputs() for d in i.shape[1:]):
            return
        outputs = session.run(None, make_inputs(session.get_inputs(), 2, 17))
        self.expect(all(np.isfinite(a).all() for a in outputs), f"{label}, length 17: an output is not finite")

    def activations(self):
        """Runs the default form with all tensors as outputs; returns the range of their standard deviations."""
        generate(self.assay, self.name, self.path, DEFAULT_OPSET, 1)
        model = onnx.shape_inference.infer_shapes(onnx.load(self.path))
        operators = {o: n.op_type for n in model.graph.node for o in n.output}
        known = {o.name for o in model.graph.output}
        floats = [v for v in model.graph.value_info
                  if v.name not in known and v.type.tensor_type.elem_type == onnx.TensorProto.FLOAT]
        model.graph.output.extend(floats)
        session = open_session(model)
        names = [o.name for o in session.get_outputs()]
        arrays = session.run(names, make_inputs(session.get_inputs(), 1, self.sequence_length(session)))
        deviations = []
        for name, array in zip(names, arrays):
            self.expect(np.isfinite(array).all(), f"activation {name} is not finite")
            if operators[name] not in SIGNAL_OPERATORS:
                continue
            deviation = float(array.std(dtype=np.float64))
            deviations.append((deviation, name))
            self.expect(LEAST_DEVIATION <= deviation <= LARGEST_DEVIATION,
                        f"activation {name} has standard deviation {deviation:.3g}")
        return min(deviations), max(deviations), float(np.median([d for d, _ in deviations]))


def same_seed_same_bytes(assay, name, folder):
    paths = [os.path.join(folder, f"seed{i}.onnx") for i in range(3)]
    for path, seed in zip(paths, [7, 7, 8]):
        generate(assay, name, path, DEFAULT_OPSET, 1, seed)
    first, second, third = (open(p, "rb").read() for p in paths)
    for path in paths:
        os.remove(path)
    return first == second and first != third


def check(assay, name, folder, runtime_opset):
    c = ModelCheck(assay, name, folder)
    c.form(DEFAULT_OPSET, 1)
    for opset in OPSETS:
        if opset != DEFAULT_OPSET and opset <= runtime_opset:
            c.form(opset, 1)
    c.form(runtime_opset, 1)
    c.form(onnx.defs.onnx_opset_version(), 1, run=False)
    c.form(onnx.defs.onnx_opset_version(), "dynamic", run=False)
    for opset in [11, DEFAULT_OPSET, runtime_opset]:
        c.form(opset, "dynamic")
    c.form(DEFAULT_OPSET, 2)
    least, largest, median = c.activations()
    c.expect(same_seed_same_bytes(assay, name, folder), "the seed does not decide the bytes")
    print(f"{name:16} forms differ by at most {c.worst:.1e}; standard deviations {least[0]:.3g} ({least[1]}) "
          f"to {largest[0]:.3g} ({largest[1]}), median {median:.3g}; {'FAILED' if c.problems else 'passed'}", flush=True)
    for problem in c.problems:
        print(f"    {problem}")
    os.remove(c.path)
    return not c.problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assay", help="the program to test")
    parser.add_argument("models", nargs="*", choices=[[], *PARAMETERS], help="default: all")
    arguments = parser.parse_args()
    runtime_opset = newest_runtime_opset()
    print(f"onnx {onnx.__version__}, opset {onnx.defs.onnx_opset_version()}; "
          f"onnxruntime {onnxruntime.__version__}, opset {runtime_opset}")
    with tempfile.TemporaryDirectory() as folder:
        results = [check(arguments.assay, name, folder, runtime_opset) for name in arguments.models or PARAMETERS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
