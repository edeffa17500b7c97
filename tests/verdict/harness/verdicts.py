"""Asks the program for its verdict on results of another backend."""
import base64
import io
import json
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx

import backends

NARROW = ("bfloat16",)


def array(value):
    value = np.asarray(value)
    if value.dtype.name in NARROW:
        return {"type": value.dtype.name, "shape": list(value.shape), "bytes": array(np.frombuffer(value.tobytes(), np.uint8)),
                "polygraphy_class": "NarrowArray"}
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value))
    return {"array": base64.b64encode(stream.getvalue()).decode(), "polygraphy_class": "ndarray"}


def read_array(node):
    if node["polygraphy_class"] == "NarrowArray":
        return read_array(node["bytes"]).view(getattr(ml_dtypes, node["type"])).reshape(node["shape"])
    return np.load(io.BytesIO(base64.b64decode(node["array"])))


def load_results(path):
    """Of the first runner's first iteration."""
    outputs = json.loads(path.read_text())["lst"][0][1][0]["outputs"]
    return {name: read_array(node["values"]) for name, node in outputs.items()}


def save_results(path, results):
    outputs = {n: {"values": array(v), "polygraphy_class": "LazyArray"} for n, v in backends.tensors(results).items()}
    iteration = {"outputs": outputs, "runtime": 0.0, "runner_name": "suspect", "polygraphy_class": "IterationResult"}
    path.write_text(json.dumps({"lst": [["suspect", [iteration]]], "polygraphy_class": "RunResults"}))


def save_feed(path, *feeds):
    """One for each iteration."""
    path.write_text(json.dumps([{n: array(v) for n, v in feed.items()} for feed in feeds]))


class Verdict:
    def __init__(self, code, data, text):
        self.code, self.text = code, text
        self.outputs = [o for i in (data or {"iterations": []})["iterations"] for o in i["outputs"]]

    def of(self, word):
        return [o for o in self.outputs if o["verdict"] == word]

    def makers(self):
        """With all layers known, who is wrong made the error: a node on its own inputs, or the call of a function whose inner
        values are not known."""
        return self.of("WRONG")


class Assay:
    """A backend of the program itself: its engine, or the reference rounding after every node."""

    def __init__(self, assay, folder, name):
        self.name, self.assay, self.folder = f"assay-{name}", assay, Path(folder)
        self.options = {"engine": ["--engine"], "stored": ["--ref", "--ref-precision", "stored"]}[name]

    def run(self, model, feed):
        paths = {n: self.folder / n for n in ("run.onnx", "run_feed.json", "run_results.json")}
        onnx.save(model, paths["run.onnx"])
        save_feed(paths["run_feed.json"], feed)
        command = [self.assay, "run", paths["run.onnx"], *self.options, "--load-inputs", paths["run_feed.json"],
                   "--save-outputs", paths["run_results.json"], "--no-trace"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if not paths["run_results.json"].exists():
            raise RuntimeError(done.stderr[-300:])
        results = load_results(paths["run_results.json"])
        paths["run_results.json"].unlink()
        return results


class Judge:
    def __init__(self, assay, folder):
        self.assay, self.folder = assay, Path(folder)

    def judge(self, model, feed, results, *options):
        """The verdict on `results` as those of a run of `model` on `feed`."""
        paths = {n: self.folder / n for n in ("model.onnx", "feed.json", "results.json", "verdict.json")}
        onnx.save(model, paths["model.onnx"])
        save_feed(paths["feed.json"], feed)
        save_results(paths["results.json"], results)
        paths["verdict.json"].unlink(missing_ok=True)
        command = [self.assay, "run", paths["model.onnx"], "--load-inputs", paths["feed.json"], "--load-outputs",
                   paths["results.json"], "--save-verdict", paths["verdict.json"], *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        data = json.loads(paths["verdict.json"].read_text()) if paths["verdict.json"].exists() else None
        return Verdict(done.returncode, data, done.stdout + done.stderr)
