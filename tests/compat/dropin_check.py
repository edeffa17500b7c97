#!/usr/bin/env python3
"""Lines of Polygraphy's users that went wrong once, beside the real tool of the running Python environment.

    tests/compat/dropin_check.py build/assay
"""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def save(path, nodes, inputs, outputs, initializers=()):
    info = lambda name, dims: helper.make_tensor_value_info(name, FLOAT, dims)
    graph = helper.make_graph(nodes, "g", [info(*i) for i in inputs], [info(*o) for o in outputs],
                              initializer=[numpy_helper.from_array(a, n) for n, a in initializers])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


class Case(unittest.TestCase):
    """Each in a folder of its own, with assay as the program `polygraphy`."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = os.path.realpath(holder.name)
        os.symlink(ASSAY, self.path("polygraphy"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as file:
            file.write(text)
        return name

    def run_as(self, program, *words, python=sys.executable):
        return subprocess.run([program, *map(str, words)], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "ASSAY_PYTHON": python, "NO_COLOR": "1"})

    def ours(self, *words, **kwargs):
        """What is printed; it must end well."""
        done = self.run_as(self.path("polygraphy"), *words, **kwargs)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def fails(self, *words, **kwargs):
        done = self.run_as(self.path("polygraphy"), *words, **kwargs)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def theirs(self, *words):
        done = self.run_as(os.path.join(os.path.dirname(sys.executable), "polygraphy"), *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def identity(self, name="dynamic.onnx", dims=(1, 2, "h", "w")):
        save(self.path(name), [helper.make_node("Identity", ["X"], ["Y"])], [("X", dims)], [("Y", dims)])
        return name

    def without_polygraphy(self):
        """An interpreter that has NumPy and no other package."""
        packages = self.path("packages")
        os.mkdir(packages)
        site = os.path.dirname(os.path.dirname(np.__file__))
        for name in os.listdir(site):
            if name.startswith("numpy"):
                os.symlink(os.path.join(site, name), os.path.join(packages, name))
        wrapper = self.path("python3")
        with open(wrapper, "w") as file:
            file.write(f'#!/bin/sh\nPYTHONPATH={packages} exec {os.path.realpath(sys.executable)} -S "$@"\n')
        os.chmod(wrapper, os.stat(wrapper).st_mode | stat.S_IXUSR)
        probe = subprocess.run([wrapper, "-c", "import numpy\nimport polygraphy"], capture_output=True, text=True)
        self.assertIn("No module named 'polygraphy'", probe.stderr)
        return wrapper


class Profiles(Case):
    """A profile with one shape decides which data are made."""

    def shapes(self, out):
        return out.split("Inference Input(s) ----")[1].split("}")[0].strip()

    def test_from_options(self):
        model = self.identity()
        fixed = "X:[1,2,5,4]"
        out = self.ours("run", model, "--trt", "--trt-min-shapes", fixed, "--trt-opt-shapes", fixed, "--trt-max-shapes", fixed)
        self.assertIn("shape=(1, 2, 5, 4)", self.shapes(out))
        # One extent alone is fixed; the other is 1, as the profile allows.
        out = self.ours("run", model, "--trt", "--trt-min-shapes", "X:[1,2,5,1]", "--trt-opt-shapes", "X:[1,2,5,2]",
                        "--trt-max-shapes", "X:[1,2,5,9]")
        self.assertIn("shape=(1, 2, 5, 1)", self.shapes(out))
        # Of two profiles the one that is used counts.
        two = [w for name, low in (("X:[1,2,3,3]", "X:[1,2,1,1]"), ("X:[1,2,7,7]", "X:[1,2,7,7]"))
               for w in ("--trt-min-shapes", low, "--trt-opt-shapes", name, "--trt-max-shapes", name)]
        self.assertIn("shape=(1, 2, 7, 7)", self.shapes(self.ours("run", model, "--trt", *two, "--optimization-profile", 1)))

    def test_of_open_shapes(self):
        out = self.ours("run", self.identity(), "--trt", "--input-shapes", "X:[1,2,-1,4]")
        self.assertIn("shape=(1, 2, 1, 4)", self.shapes(out))

    def test_from_a_plan(self):
        model = self.identity()
        fixed = "X:[1,2,5,4]"
        self.ours("convert", model, "-o", "fixed.engine", "--trt-min-shapes", fixed, "--trt-opt-shapes", fixed, "--trt-max-shapes", fixed)
        self.assertIn("shape=(1, 2, 5, 4)", self.shapes(self.ours("run", "fixed.engine", "--trt")))
        self.assertIn("shape=(1, 2, 5, 4)", self.shapes(self.ours("run", "fixed.engine", "--engine")))


class HeldFiles(Case):
    """A file of Python's tempfile is written so that its handle reads it."""

    def test_every_kind_of_output(self):
        self.identity("m.onnx", (1, 2, 3, 4))
        self.ours("run", "m.onnx", "--onnxrt", "--save-inputs", "in.json", "--save-outputs", "out.json")
        for suffix, words in ((".onnx", ("surgeon", "sanitize", "m.onnx", "-o")), (".engine", ("convert", "m.onnx", "-o")),
                              ("", ("convert", "m.onnx", "--convert-to", "onnx", "-o")),
                              (".json", ("run", "m.onnx", "--onnxrt", "--save-outputs")),
                              (".json", ("data", "merge", "in.json", "out.json", "-o")), (".json", ("check", "lint", "m.onnx", "-o")),
                              (".py", ("template", "trt-network", "m.onnx", "-o")), ("", ("run", "m.onnx", "--onnxrt", "--gen-script")),
                              (".html", ("inspect", "model", "m.onnx", "--save-visual"))):
            with self.subTest(command=" ".join(words)), tempfile.NamedTemporaryFile(suffix=suffix, dir=self.folder) as file:
                self.ours(*words, file.name)
                through_handle = file.read()
                with open(file.name, "rb") as again:
                    self.assertEqual(again.read(), through_handle)
                self.assertGreater(len(through_handle), 50)
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("assay-")], [])

    def test_with_external_data(self):
        weights = np.arange(4096, dtype=np.float32)
        save(self.path("m.onnx"), [helper.make_node("Add", ["x", "w"], ["y"])], [("x", [4096])], [("y", [4096])], [("w", weights)])
        with tempfile.NamedTemporaryFile(suffix=".onnx", dir=self.folder) as file:
            self.ours("surgeon", "sanitize", "m.onnx", "-o", file.name, "--save-external-data", "w.data")
            model = onnx.load_from_string(file.read())
            onnx.load_external_data_for_model(model, self.folder)
            self.assertEqual(numpy_helper.to_array(model.graph.initializer[0]).tolist(), weights.tolist())


NETWORK = """
import tensorrt as trt
from polygraphy import func
from polygraphy.backend.trt import CreateNetwork

@func.extend(CreateNetwork())
def load_network(builder, network):
    x = network.add_input("x", trt.float32, (2, 3))
    layer = network.add_activation(x, trt.ActivationType.RELU)
    layer.name = "relu"
    layer.get_output(0).name = "y"
    network.mark_output(layer.get_output(0))

def other():
    return load_network()
"""


class NetworkScripts(Case):
    def test_are_inspected(self):
        self.write("net.py", NETWORK)
        out = self.ours("inspect", "model", "net.py", "--show", "layers")
        self.assertIn("==== TensorRT Network ====", out)
        self.assertIn("{x [dtype=float32, shape=(2, 3)]}", out)
        self.assertIn("relu [Op: LayerType.ACTIVATION]", out)
        self.assertIn("1 Layer(s)", self.ours("inspect", "model", "net.py", "--model-type", "trt-network-script", "--display-as", "trt"))
        self.assertIn("1 Layer(s)", self.ours("inspect", "model", "net.py:other"))
        self.assertIn("1 Layer(s)", self.ours("inspect", "model", "net.py", "--trt-network-func-name", "other"))
        self.assertIn("there is no function 'nothing' in it; it has load_network, other", self.fails("inspect", "model", "net.py:nothing"))


ACCURACY = {"simple": ["--compare", "simple", "--check-error-stat", "max", "--atol", "1"], "l2": ["--compare", "l2", "--l2-threshold", "10"]}


class AccuracyScripts(Case):
    def saved(self, kind):
        self.identity("m.onnx", (1, 2, 3, 4))
        if not os.path.exists(self.path("other.json")):
            self.ours("run", "m.onnx", "--onnxrt", "--seed", 5, "--save-outputs", "other.json")
        self.ours("run", "m.onnx", "--onnxrt", "--load-outputs", "other.json", *ACCURACY[kind], "--save-accuracy-results", kind + ".json")
        return kind + ".json"

    def test_thresholds_of_a_script(self):
        scripts = {
            "simple": ("CompareFunc.simple(check_error_stat='{}', atol={})", ("max", 1.0), ("max", 1e-9)),
            "l2": ("{1}({0})", (10.0, "L2CompareFunc"), (1e-9, "L2CompareFunc")),
        }
        for kind, (text, good, bad) in scripts.items():
            file = self.saved(kind)
            for python in (sys.executable, None):
                python = python or self.without_polygraphy() if not os.path.exists(self.path("python3")) else self.path("python3")
                for values, passes in ((good, True), (bad, False)):
                    self.write("s.py", "from polygraphy.comparator import *\nfrom polygraphy.comparator import CompareFunc, L2CompareFunc\n"
                               f"compare_outputs = {text.format(*values)}\n")
                    done = self.run_as(self.path("polygraphy"), "check", "accuracy", file, "--compare-func-script", "s.py", python=python)
                    self.assertEqual(done.returncode, 0 if passes else 1, done.stdout + done.stderr)
                    self.assertIn("PASSED |" if passes else "FAILED |", done.stdout.splitlines()[-1])
                    real = self.run_as(os.path.join(os.path.dirname(sys.executable), "polygraphy"), "check", "accuracy", file,
                                       "--compare-func-script", "s.py")
                    summary = lambda o: [line for line in o.splitlines() if "Accuracy Summary" in line]
                    self.assertEqual(summary(done.stdout), summary(real.stdout))

    def test_a_threshold_of_its_own(self):
        file = self.saved("l2")
        self.write("s.py", """
from polygraphy.comparator import BaseCompareFunc, L2Threshold
class Odd(L2Threshold):
    def passed(self, metrics):
        return metrics["l2_norm"] > self.threshold
class compare_outputs(BaseCompareFunc):
    def thresholds_for(self, output_name):
        return Odd(1e-9)
class less(compare_outputs):
    def thresholds_for(self, output_name):
        return Odd(1e9)
""")
        self.ours("check", "accuracy", file, "--compare-func-script", "s.py")
        self.fails("check", "accuracy", file, "--compare-func-script", "s.py:less")
        self.assertIn("judge by a method of their own",
                      self.fails("check", "accuracy", file, "--compare-func-script", "s.py", "--check-average"))

    def test_what_has_no_thresholds(self):
        file = self.saved("l2")
        self.write("s.py", "def compare_outputs(a, b):\n    return {}\n")
        self.assertIn("has no method thresholds_for()", self.fails("check", "accuracy", file, "--compare-func-script", "s.py"))
        self.write("t.py", "from polygraphy.comparator import CompareFunc\ncompare_outputs = CompareFunc.simple(check_error_stat='max')\n")
        self.assertIn("No saved comparison results match", self.fails("check", "accuracy", file, "--compare-func-script", "t.py"))


class Imports(Case):
    """Scripts of every role import polygraphy, whether or not it is installed."""

    def test_every_role(self):
        self.identity("m.onnx", (1, 2, 3, 4))
        self.write("data.py", """
import numpy as np
import tensorrt as trt
from polygraphy import constants, func, mod, util
from polygraphy.comparator import RunResults
from polygraphy.json import load_json, save_json
from polygraphy.logger import G_LOGGER
def load_data():
    G_LOGGER.info("loading")
    assert trt.float32 is not None
    yield {"X": np.full(util.override_dynamic_shape((1, 2, 3, 4)), constants.DEFAULT_SHAPE_VALUE, np.float32)}
""")
        self.write("hooks.py", """
from polygraphy.comparator import CompareFunc, PostprocessFunc
postprocess_outputs = PostprocessFunc.top_k(2)
def compare_outputs(a, b):
    assert a["Y"].shape == (1, 2, 3, 2)
    return CompareFunc.simple(atol=1e-3, check_error_stat="max")(a, b)
""")
        self.write("runner.py", """
import importlib.util
from polygraphy.logger import G_LOGGER
class Double:
    def __init__(self, path):
        G_LOGGER.verbose(path)
        assert importlib.util.find_spec("tensorrt") is None
    def infer(self, feed):
        return {"Y": feed["X"]}
""")
        for python in (sys.executable, self.without_polygraphy()):
            out = self.ours("run", "m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script", "data.py", "--postprocess-func-script",
                            "hooks.py", "--compare-func-script", "hooks.py", python=python)
            self.assertIn("Pass Rate: 100.00%", out)
            out = self.ours("run", "m.onnx", "--onnxrt", "--runner-script", "runner.py", "--data-loader-script", "data.py", python=python)
            self.assertIn("Pass Rate: 100.00%", out)

    def test_comparisons_as_the_real_ones(self):
        recording = os.path.join(os.path.dirname(__file__), "..", "..", "python", "embedded", "recording")
        program = """
import sys, json
sys.path.insert(0, {path!r}) if {path!r} else None
import numpy as np
from polygraphy.comparator import *
from polygraphy.comparator import CompareFunc, IterationResult
from polygraphy.logger import G_LOGGER
G_LOGGER.module_severity = 50
rng = np.random.RandomState(0)
a = {{"f": rng.rand(3, 40).astype(np.float32), "h": rng.rand(50).astype(np.float16), "i": rng.randint(0, 9, 30), "e": np.zeros((0, 3), np.float32),
     "z": np.zeros(4, np.float32), "s": np.array([2.0], np.float32), "n": np.array([1, np.nan, np.inf], np.float32)}}
b = {{k: (v + v.dtype.type(0.01) if v.dtype.kind == "f" else v) for k, v in a.items()}}
b["n"] = a["n"]
found = {{}}
for name, function in {{
        "elemwise": SimpleCompareFunc(atol=0.02), "strict": SimpleCompareFunc(), "mean": SimpleCompareFunc(check_error_stat="mean", atol={{"f": 1e-9, "": 0.02}}),
        "median": SimpleCompareFunc(check_error_stat={{"f": "median"}}, rtol=0.5), "quantile": SimpleCompareFunc(check_error_stat="quantile", atol=0.011),
        "infinite": SimpleCompareFunc(infinities_compare_equal=True), "l2": L2CompareFunc(0.2), "cosine": CosineSimilarityCompareFunc(),
        "psnr": PsnrCompareFunc(), "snr": SnrCompareFunc(25.0)}}.items():
    # Without elements a mean is NaN there, and fails.
    keys = ["f", "h", "z", "s"] if name in ("l2", "cosine", "psnr", "snr") else [k for k in a if k != "e" or name == "elemwise"]
    for key in keys:
        with np.errstate(all="ignore"):
            result = function(IterationResult({{key: a[key]}}, runner_name="a"), IterationResult({{key: b[key]}}, runner_name="b"))[key]
        figures = sorted((k, None if v is None else float("%.4g" % v)) for k, v in vars(result).items() if isinstance(v, (float, np.floating))) if result.__class__ is not bool else []
        found[name + " " + key] = [bool(result), [f for f in figures if not f[0].startswith("_")]]
print(json.dumps(found))
"""
        results = []
        for path in ("", os.path.abspath(recording)):
            done = subprocess.run([sys.executable, "-c", program.format(path=path)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            results.append(json.loads(done.stdout.splitlines()[-1]))
        for key, real in results[0].items():
            ours = results[1][key]
            if key.split()[1] in "ie":  # NaN there, of integers over zero and of means without elements
                ours, real = ours[0], real[0]
            self.assertEqual(repr(ours), repr(real), key)


class Weights(Case):
    def test_reconstructed_in_float16(self):
        rng = np.random.RandomState(0)
        save(self.path("m.onnx"), [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Add", ["h", "b"], ["y"])],
             [("x", [4, 64])], [("y", [4, 64])], [("w", rng.rand(64, 64).astype(np.float32)), ("b", rng.rand(64).astype(np.float32))])
        self.ours("surgeon", "weight-strip", "m.onnx", "-o", "stripped.onnx")
        self.ours("surgeon", "weight-reconstruct", "stripped.onnx", "-o", "new.onnx", "--fp-to-fp16")
        model = onnx.load(self.path("new.onnx"))
        onnx.checker.check_model(model, full_check=True)
        weights = {i.name: i for i in model.graph.initializer}
        self.assertEqual([i.data_type for i in model.graph.initializer], [TensorProto.FLOAT16] * len(weights))
        self.assertTrue(all("WEIGHTLESS" not in i.doc_string for i in model.graph.initializer))
        self.assertGreater(np.std(numpy_helper.to_array(next(i for i in model.graph.initializer if list(i.dims) == [64, 64]))), 0.01)
        self.ours("run", "new.onnx", "--onnxrt")


class GeneratedScripts(Case):
    def test_any_name_is_python(self):
        self.identity("m.onnx", (1, 2))
        for name in ("check", "check.txt", "run.sh"):
            self.ours("run", "m.onnx", "--onnxrt", "--gen-script", name)
            self.assertTrue(os.access(self.path(name), os.X_OK))
            done = subprocess.run([sys.executable, name], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.ours("run", "m.onnx", "--onnxrt", "--gen-script", "check.cpp")
        with open(self.path("check.cpp")) as file:
            self.assertIn("int main", file.read())


PATTERN = """
from polygraphy import mod
gs = mod.lazy_import("onnx_graphsurgeon>=0.5.0")

def get_plugin_metadata():
    return {"name": "pair", "op": "Pair"}

def get_matching_subgraphs(graph):
    found = []
    for node in graph.nodes:
        if node.op == "Relu" and node.i().op == "Neg":
            found.append({"inputs": [node.i().inputs[0].name], "outputs": [node.outputs[0].name],
                          "attributes": {"number": 3, "scale": 0.5, "names": ["a", "b"]}})
    return found
"""
OWN = PATTERN + """
def replace_with_plugin(graph, input_tensors, output_tensors, attrs, op):
    for t in output_tensors:
        t.inputs.clear()
    graph.layer(op=op, name="mine_" + output_tensors[0].name, inputs=input_tensors, outputs=output_tensors, attrs={"number": attrs["number"]})
    graph.cleanup().toposort()
    return True
"""


class Plugins(Case):
    def model(self):
        save(self.path("m.onnx"), [helper.make_node(op, [i], [o], name=o + "_node") for op, i, o in
                                   (("Neg", "x", "a"), ("Relu", "a", "b"), ("Abs", "b", "c"), ("Neg", "c", "d"), ("Relu", "d", "y"))],
             [("x", [2, 3])], [("y", [2, 3])])
        return "m.onnx"

    def nodes(self, name):
        return [(n.op_type, list(n.input), list(n.output), sorted((a.name, str(helper.get_attribute_value(a))) for a in n.attribute))
                for n in onnx.load(self.path(name)).graph.node]

    def test_a_pattern_in_python(self):
        model = self.model()
        for text in (PATTERN, OWN):
            self.write("plugins/pair/pattern.py", text)
            results, texts, lines = [], [], []
            for run in (self.ours, self.theirs):
                chosen = lambda out: [line for line in out.splitlines() if "pair" in line or "matched" in line]
                lines.append(chosen(run("plugin", "list", model, "--plugin-dir", "plugins")))
                run("plugin", "match", model, "--plugin-dir", "plugins", "-o", "config.yaml")
                with open(self.path("config.yaml")) as file:
                    texts.append(file.read())
                lines.append(chosen(run("plugin", "replace", model, "--plugin-dir", "plugins", "--config", "config.yaml", "-o", "new.onnx")))
                results.append(self.nodes("new.onnx"))
            self.assertEqual(texts[0], texts[1])
            self.assertEqual(results[0], results[1])
            self.assertEqual(lines[:2], lines[2:])
            self.assertEqual([n[0] for n in results[0]], ["Pair", "Abs", "Pair"])

    def test_autotune_asks_the_plugin_to_replace(self):
        # Two stretches that come to nothing; each is replaced by one node.
        nodes, at = [], "x"
        for stretch in ("a", "b"):
            for i in range(12):
                nodes.append(helper.make_node(("Sinh", "Asinh")[i % 2], [at], [f"{stretch}{i}"], name=f"{stretch}{i}_node"))
                at = f"{stretch}{i}"
            nodes.append(helper.make_node("Neg", [at], [f"{stretch}_end"], name=f"{stretch}_neg"))
            at = f"{stretch}_end"
        save(self.path("m.onnx"), nodes, [("x", [64, 4096])], [("b_end", [64, 4096])])
        self.write("plugins/stretch/pattern.py", """
def get_plugin_metadata():
    return {"name": "stretch", "op": "Identity"}

def get_matching_subgraphs(graph):
    return [{"inputs": [first], "outputs": [last], "attributes": {}} for first, last in (("x", "a11"), ("a_end", "b11"))]

def replace_with_plugin(graph, input_tensors, output_tensors, attrs, op):
    for t in output_tensors:
        t.inputs.clear()
    graph.layer(op=op, name="mine_" + output_tensors[0].name, inputs=input_tensors, outputs=output_tensors)
    graph.cleanup().toposort()
    return True
""")
        said = self.ours("plugin", "autotune", "m.onnx", "--plugin-dir", "plugins", "-o", "tuned.onnx")
        self.assertIn("Best strategy: 2 replacements", said)
        self.assertEqual([(n[0], n[1], n[2]) for n in self.nodes("tuned.onnx")],
                         [("Identity", ["x"], ["a11"]), ("Neg", ["a11"], ["a_end"]), ("Identity", ["a_end"], ["b11"]), ("Neg", ["b11"], ["b_end"])])
        self.write("plugins/stretch/pattern.py", pathlib.Path(self.path("plugins/stretch/pattern.py")).read_text().replace("return True", "return False"))
        self.assertIn("replaced 0 of 1 instances", self.fails("plugin", "autotune", "m.onnx", "--plugin-dir", "plugins", "-o", "tuned.onnx"))

    def test_what_goes_wrong(self):
        model = self.model()
        match = lambda: self.fails("plugin", "match", model, "--plugin-dir", "plugins", "-o", "config.yaml")
        self.write("plugins/pair/pattern.py", "def get_plugin_metadata(): pass\n")
        self.assertIn("the script has no function 'get_matching_subgraphs'", match())
        self.write("plugins/pair/pattern.py", PATTERN.replace('"inputs": [node', '"input": [node'))
        self.assertIn("has no list of names under 'inputs'", match())
        self.write("plugins/pair/pattern.py", PATTERN.replace("for node in", "1 / 0\n    for node in"))
        self.assertIn("ZeroDivisionError: division by zero [at line", match())
        self.write("plugins/pair/pattern.py", PATTERN)
        said = self.fails("plugin", "match", model, "--plugin-dir", "plugins", python=self.without_polygraphy())
        self.assertIn("a pattern.py works on the graphs of onnx_graphsurgeon, which", said)
        self.assertIn("-m pip install onnx onnx_graphsurgeon", said)


class Lines(Case):
    def test_lint_tells_of_shapes(self):
        model = self.identity()
        for shape in ("X:[1,2,3,3]", "X:[1,2,h,3]"):
            ours, theirs = (run("check", "lint", model, "--input-shapes", shape) for run in (self.ours, self.theirs))
            part = lambda out: out.split("Overriding")[1].split("[I]")[0]
            self.assertEqual(part(ours), part(theirs))

    def test_the_average_names_every_output(self):
        self.identity("m.onnx", (1, 2))
        for words in (("--check-error-stat", "max"), ("--compare", "simple", "l2", "--check-error-stat", "mean")):
            words = ("run", "m.onnx", "--onnxrt", "--onnxrt", "--iterations", 2, "--check-average", *words)
            ours, theirs = (run(*words).split("Accuracy Summary")[1] for run in (self.ours, self.theirs))
            part = lambda out: [line for line in out.splitlines()[1:] if "Runtime" not in line]
            self.assertEqual(part(ours), part(theirs))

    def test_an_identity_names_both_its_tensors(self):
        self.identity("m.onnx", (1, 2))
        self.ours("convert", "m.onnx", "-o", "m.engine")
        out = self.ours("inspect", "model", "m.engine", "--show", "layers")
        layer = out.split("Layer 0")[1]
        self.assertRegex(layer, r"\{X [^}]*\}\s*->\s*\{Y ")


if __name__ == "__main__":
    ASSAY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
