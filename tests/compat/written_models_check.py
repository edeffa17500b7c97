#!/usr/bin/env python3
"""What `assay surgeon` writes is accepted by onnx.checker and ONNX Runtime, and computes what the original does.

    tests/compat/written_models_check.py build/assay [MODELS] [--all]

For every generated model (without --all the small ones) and every model below MODELS: sanitize --fold-constants, --simplify,
--cleanup --toposort, --override-input-shapes; extract of an inner part; insert of an Identity; convert-opset up; the text form and
back. Exit status 0 when everything holds.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

SMALL = ["mlp", "lstm", "mobilenet-v2"]
ALL = SMALL + ["resnet-18", "resnet-50", "efficientnet-b0", "yolov8n", "unet", "vit-b-16", "bert-base", "gpt2", "gpt2-decode"]
# Made to be wrong, or of operators that ONNX Runtime does not have.
SKIPPED = {"bad_graph.onnx", "cyclic.onnx"}
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(int32)": np.int32,
         "tensor(bool)": np.bool_, "tensor(float16)": np.float16}


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # So that equal graphs give equal bits.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def feed_for(session):
    random = np.random.default_rng(3)
    feed = {}
    for i in session.get_inputs():
        shape = [d if isinstance(d, int) and d > 0 else 2 for d in i.shape]
        dtype = TYPES[i.type]
        feed[i.name] = random.integers(0, 2, shape).astype(dtype) if dtype in (np.int64, np.int32, np.bool_) else random.random(shape).astype(dtype)
    return feed


def inner_part(path):
    """An input and an output of a part in the middle of the graph: results of two nodes of which one needs the other, with nothing else
    but constants in between; nothing when there is no such pair."""
    graph = onnx.load(path, load_external_data=False).graph
    constants = {t.name for t in graph.initializer}
    for i, n in enumerate(graph.node[1:], 1):
        used = [name for name in n.input if name and name not in constants]
        if len(used) == 1 and any(used[0] in p.output for p in graph.node[:i]):
            return used[0], n.output[0]
    return None


class Checker:
    def __init__(self, assay, folder):
        self.assay, self.folder, self.failed, self.count = assay, folder, 0, 0

    def tool(self, words):
        done = subprocess.run([self.assay, *words], capture_output=True, text=True)
        return None if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr or done.stdout}"

    def expect(self, what, problem):
        self.count += 1
        if problem:
            self.failed += 1
            print(f"FAILED  {what}: {problem}")

    def written(self, what, words, out, feed, expected, exact):
        """Runs a tool, checks the file, and compares outputs by name."""
        problem = self.tool(words)
        if not problem:
            try:
                onnx.checker.check_model(str(out))
                session = session_of(out)
                names = [o.name for o in session.get_outputs()]
                if expected is not None:
                    for name, value in zip(names, session.run(None, {i.name: feed[i.name] for i in session.get_inputs()})):
                        problem = problem or difference(name, value, expected[name], exact)
            except Exception as e:  # noqa: BLE001  whatever the packages say is the finding
                problem = str(e)
        self.expect(what, problem)

    def model(self, path):
        name, out = path.name, self.folder / "out.onnx"
        session = session_of(path)
        feed = feed_for(session)
        expected = dict(zip([o.name for o in session.get_outputs()], session.run(None, feed)))
        runs = [("sanitize", ["--fold-constants"], False), ("sanitize", ["--simplify"], False), ("sanitize", ["--cleanup", "--toposort"], True)]
        first = session.get_inputs()[0]
        shape = ",".join(str(d) for d in feed[first.name].shape)
        runs.append(("sanitize", ["--override-input-shapes", f"{first.name}:[{shape}]"], True))
        runs.append(("insert", ["--inputs", first.name, "--outputs", first.name, "--op", "Identity"], True))
        for tool, options, exact in runs:
            self.written(f"{tool} {' '.join(options)} {name}", ["surgeon", tool, str(path), "-o", str(out), *options], out, feed, expected, exact)
        newest = min(onnx.defs.onnx_opset_version(), 21)
        self.written(f"convert-opset {name}", ["surgeon", "convert-opset", str(path), "--to", str(newest), "-o", str(out)], out, feed, expected, False)
        part = inner_part(path)
        if part:
            words = ["surgeon", "extract", str(path), "--inputs", f"{part[0]}:auto:auto", "--outputs", f"{part[1]}:auto", "-o", str(out)]
            self.written(f"extract {part[0]} {part[1]} {name}", words, out, feed, None, True)
        text = self.folder / "out.onnxtxt"
        if path.stat().st_size < 2_000_000:
            self.expect(f"text of {name}", self.tool(["surgeon", "sanitize", str(path), "--no-shape-inference", "-o", str(text)]))
            self.written(f"text form of {name}", ["surgeon", "sanitize", str(text), "--no-shape-inference", "-o", str(out)], out, feed, expected, True)


def difference(name, value, expected, exact):
    if value.shape != expected.shape or value.dtype != expected.dtype:
        return f"output {name} is {value.dtype}{value.shape} instead of {expected.dtype}{expected.shape}"
    if exact or value.dtype.kind not in "fc":
        return None if np.array_equal(value, expected, equal_nan=value.dtype.kind in "fc") else f"output {name} differs"
    scale = np.abs(expected).max() if expected.size else 0
    worst = np.abs(value - expected).max() if expected.size else 0
    # Folded and fused weights are rounded once more: a few units in the last place of the largest output.
    return None if worst <= 1e-4 * max(scale, 1e-6) else f"output {name} differs by {worst:.3g} of {scale:.3g}"


def main():
    words = [w for w in sys.argv[1:] if w != "--all"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        check = Checker(os.path.abspath(words[0]), folder)
        for name in ALL if "--all" in sys.argv else SMALL:
            path = folder / f"{name}.onnx"
            check.expect(f"template {name}", check.tool(["template", "model", name, "-o", str(path)]))
            check.model(path)
            path.unlink()
        for path in sorted(p for root in words[1:] for p in pathlib.Path(root).glob("*.onnx") if p.name not in SKIPPED):
            try:
                session_of(path)
            except Exception as e:  # noqa: BLE001
                print(f"left out: ONNX Runtime does not take {path.name} itself: {str(e).splitlines()[0][:100]}")
                continue
            check.model(path)
    print(f"{check.count - check.failed} of {check.count} hold")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
