"""Classes of false alarms and of silent passes that the verdict once had, each in a small model.

usage: classes_test.py ASSAY
"""
import base64
import io
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def npy(shape, values, descr="<f4", code="f"):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values)
    return {"array": base64.b64encode(data).decode(), "polygraphy_class": "ndarray"}


def results(*iterations):
    """A result file: each iteration maps names to (shape, values)."""
    list_ = [{"outputs": {n: {"values": npy(*v), "polygraphy_class": "LazyArray"} for n, v in it.items()}, "runtime": 0.1,
              "runner_name": "other", "polygraphy_class": "IterationResult"} for it in iterations]
    return json.dumps({"lst": [["other", list_]], "polygraphy_class": "RunResults"})


class Classes:
    head = HEAD

    def __init__(self, assay, folder):
        self.assay, self.folder = Path(assay).resolve(), Path(folder)

    def attempt(self, model, *options):
        path = self.folder / "model.onnxtxt"
        path.write_text(self.head + model)
        return subprocess.run([self.assay, "run", path, *options], capture_output=True, text=True, timeout=60)

    def run(self, model, *options, code):
        done = self.attempt(model, *options)
        text = done.stdout + done.stderr
        assert done.returncode == code, (model, options, done.returncode, text[-3000:])
        return text

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def equal_addends(self):
        model = "g (float[1,8,112,112] x) => (float[1,8,1,1] y) {\n  y = GlobalAveragePool (x)\n}\n"
        self.run(model, "--engine", "--arbiter", "--val-range", "[0.1,0.1]", code=0)
        model = "g (float[1,8,320,320] x) => (float[1,8,1,1] y) {\n  y = ReduceMean <axes = [2, 3], keepdims = 1> (x)\n}\n"
        self.run(model, "--engine", "--arbiter", "--val-range", "[0.3,0.30001]", code=0)

    def verdict_on(self, model, feed, outputs, *options, code):
        """Of results of a run that gave `outputs`; both map names to npy arguments."""
        feed = self.file("in.json", json.dumps([{n: npy(*v) for n, v in feed.items()}]))
        return self.run(model, "--arbiter", "--load-inputs", feed, "--load-outputs", self.file("out.json", results(outputs)), *options,
                        code=code)

    def overflow_is_no_licence(self):
        model = "g (float[4] x) => (float[4] y) {\n  h = Add (x, x)\n  y = Add (h, h)\n}\n"
        x, inf = [3e38, 1.0, -3e38, 2e38], float("inf")
        judged = lambda y, code: self.verdict_on(model, {"x": ((4,), x)}, {"y": ((4,), y)}, code=code)
        text = judged([inf, 4.0, -inf, inf], 0)
        assert "3 element(s) are infinite because float32 cannot hold the exact value" in text, text
        for wrong in ([5.0, 4.0, 3.0, 2.0], [-inf, 4.0, -inf, inf], [inf, 4.0, inf, inf], [inf, inf, -inf, inf]):
            assert "WRONG" in judged(wrong, 1)
        layers = {"h": ((4,), [inf, 2.0, -inf, inf]), "y": ((4,), [inf, 4.0, -inf, inf])}
        every = ("--onnx-outputs", "mark", "all")
        text = self.verdict_on(model, {"x": ((4,), x)}, layers, *every, code=0)
        assert "because results before overflowed" in text, text
        layers["y"] = ((4,), [5.0, 4.0, -inf, inf])
        assert "Error made by 1 node(s)" in self.verdict_on(model, {"x": ((4,), x)}, layers, *every, code=1)

    def quantised_steps(self):
        """A softmax between levels, of which one element is ten steps off."""
        model = """g (float[4,16] x) => (float[4,16] y) <float s = {0.05}, float t = {0.003921569}, int8 z = {0}> {
  a = QuantizeLinear (x, s, z)
  b = DequantizeLinear (a, s, z)
  c = Softmax <axis = -1> (b)
  d = QuantizeLinear (c, t, z)
  y = DequantizeLinear (d, t, z)
}
"""
        x = [((7 * i) % 31) / 5 - 3 for i in range(64)]
        feed = {"x": ((4, 16), x)}
        inputs = self.file("q_in.json", json.dumps([{"x": npy((4, 16), x)}]))
        self.run(model, "--engine", "--arbiter", "--load-inputs", inputs, "--save-outputs", self.folder / "right.json", code=0)
        node = json.loads((self.folder / "right.json").read_text())["lst"][0][1][0]["outputs"]["y"]["values"]
        raw = base64.b64decode(node["array"])
        right = list(struct.unpack("<64f", raw[-256:]))
        self.verdict_on(model, feed, {"y": ((4, 16), right)}, code=0)
        for at in (3, 40):
            wrong = list(right)
            wrong[at] += 10 * 0.003921569
            self.verdict_on(model, feed, {"y": ((4, 16), wrong)}, code=1)

    def nothing_is_determined(self):
        """A network of whose result no digit is determined: results cannot be told from garbage, unless layers are known."""
        model = """g (float[4] x) => (float[4] y) <float k = {10000000.0}> {
  h = Add (x, k)
  y = Sub (h, k)
}
"""
        feed = {"x": ((4,), [0.25, 0.5, 0.75, 0.1])}
        text = self.verdict_on(model, feed, {"y": ((4,), [0.9, 0.1, 0.0, 0.4])}, code=3)
        assert "cannot tell" in text and "digit(s) are checked" in text, text
        layers = {"h": ((4,), [10000000.0, 10000000.0, 10000001.0, 10000000.0]), "y": ((4,), [0.9, 0.1, 0.0, 0.4])}
        self.verdict_on(model, feed, layers, "--onnx-outputs", "mark", "all", code=1)
        text = self.run(model, "--engine", "--arbiter", "--load-inputs", self.folder / "in.json", code=0)
        assert "again with every layer marked" in text and "each node is right on its own inputs" in text, text
        self.run(model, "--engine", "--arbiter", "--no-trace", "--load-inputs", self.folder / "in.json", code=3)

    def dropout_in_training(self):
        model = """g (float[8,8] x) => (float[8,8] y) <float r = {0.5}, bool t = {1}> {
  y = Dropout <seed = 3> (x, r, t)
}
"""
        feed = {"x": ((8, 8), [1.0] * 64)}
        self.verdict_on(model, feed, {"y": ((8, 8), [0.0, 2.0] * 32)}, code=0)
        off = model.replace("bool t = {1}", "bool t = {0}")
        self.verdict_on(off, feed, {"y": ((8, 8), [0.0, 2.0] * 32)}, code=1)

    def shape_by_whole_numbers(self):
        model = """g (float[1,N] x) => (float[1,M] y) {
  one = Constant <value_int = 1> ()
  s = Shape (x)
  n = Gather (s, one)
  f = Cast <to = 1> (n)
  z = Constant <value_float = 0.0> ()
  st = Constant <value_float = 1.0> ()
  r = Range (z, f, st)
  y = Add (x, r)
}
"""
        self.run(model, "--ref", "--arbiter-samples", "16", "--input-shapes", "x:[1,40]", code=0)

    def garbage_behind_a_shape(self):
        model = """g (float[40] x) => (float[M] y) {
  c = Ceil (x)
  s = ReduceSum <keepdims = 0> (c)
  n = Cast <to = 7> (s)
  z = Constant <value_int = 0> ()
  st = Constant <value_int = 1> ()
  r = Range (z, n, st)
  y = Cast <to = 1> (r)
}
"""
        inputs = self.file("in.json", json.dumps([{"x": npy((40,), [0.5 + i / 50 for i in range(40)])}]))
        length = sum(1 if 0.5 + i / 50 <= 1 else 2 for i in range(40))
        for values, code in ([float(i) for i in range(length)], 0), ([-1e6] * length, 1), ([0.0] * (length + 1), 1):
            bad = self.file("bad.json", results({"y": ((len(values),), values)}))
            self.run(model, "--arbiter", "--load-inputs", inputs, "--load-outputs", bad, code=code)

    def overflow_of_the_model(self):
        model = "g (float16[1] x) => (float16[1] s, float16[1] y) {\n  s = Mul (x, x)\n  y = Sqrt (s)\n}\n"
        text = self.run(model, "--engine", "--ref", "--val-range", "[300,300]", code=0)
        assert "cannot hold the exact value" in text, text[-2000:]

    def local_functions(self):
        model = """g (float[3] x) => (float[3] y) {
  a = local.Twice (x)
  y = Neg (a)
}
<domain: "local", opset_import: ["" : 17]>
Twice (v) => (w)
{
  h = Exp (v)
  w = Add (h, h)
}
""".replace("local.", "local.")
        path = self.folder / "model.onnxtxt"
        text = '<ir_version: 8, opset_import: ["" : 17, "local" : 1]>\n' + model
        path.write_text(text)
        done = subprocess.run([self.assay, "run", path, "--engine", "--ref", "--onnx-outputs", "mark", "all"],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        assert "4 output(s)" in done.stdout or "agree" in done.stdout, done.stdout[-2000:]

    def results_of_something_else(self):
        model = "g (float[2] x) => (float[2] y) {\n  h = Exp (x)\n  y = Neg (h)\n}\n"
        inputs = self.file("in.json", json.dumps([{"x": npy((2,), [0.0, 0.0])}]))
        right, other = {"y": ((2,), [-1.0, -1.0])}, {"z": ((2,), [-1.0, -1.0])}
        for what, code, word in (
                (results(right), 0, ""),
                (results(other), 1, "which the model has not"),
                (results({"h": ((2,), [1.0, 1.0])}), 1, "lack the output 'y'"),
                (results(), 1, "no iteration"),
                (results(right, right), 1, "2 iteration(s)"),
                (results({"y": ((2,), [-1.0, -1.5])}), 1, "WRONG"),
                (results({"y": ((1, 2), [-1.0, -1.0])}), 1, "shape"),
                (results({"y": ((2,), [-1.0, -1.0], "<f8", "d")}), 1, "type"),
                (results({"y": ((2,), [float("nan")] * 2)}), 1, "NaN"),
        ):
            text = self.run(model, "--arbiter", "--load-inputs", inputs, "--load-outputs", self.file("r.json", what), code=code)
            assert word in text, (word, text[-2000:])
        text = self.run(model, "--arbiter", code=1)
        assert "No runner is given, so nothing is run." in text, text[-2000:]
        partial = ["--arbiter", "--partial", "--load-inputs", inputs, "--load-outputs"]
        self.run(model, *partial, self.file("r.json", results({"h": ((2,), [1.0, 1.0])})), code=0)
        text = self.run(model, *partial, self.file("r.json", results(other)), code=3)
        assert "Not all is judged: the results of other hold 'z'" in text, text[-2000:]
        text = self.run(model, *partial, self.file("r.json", results(right, right)), code=0)
        assert "1 iteration(s) of the saved results were not judged" in text, text[-2000:]

    def several_iterations(self):
        """The one that is wrong is named at the end, however many come after it."""
        model = "g (float[1] x) => (float[1] y) {\n  h = Exp (x)\n  y = Neg (h)\n}\n"
        feeds = self.file("in.json", json.dumps([{"x": npy((1,), [0.0])} for _ in range(6)]))
        right, wrong = {"y": ((1,), [-1.0])}, {"y": ((1,), [-1.5])}
        judged = ["--arbiter", "--load-inputs", feeds, "--load-outputs"]
        text = self.run(model, *judged, self.file("r.json", results(right, right, wrong, right, wrong, right)), code=1)
        assert "Verdict Summary | WRONG in 2 of 6 iterations, the first time in iteration 2: other, output 'y'" in text, text[-2000:]
        text = self.run(model, *judged, self.file("r.json", results(*[right] * 6)), code=0)
        assert "Verdict Summary | Nothing is wrong in 6 iterations" in text, text[-2000:]
        text = self.run(model, *judged, self.file("r.json", results(*[right] * 5)), code=1)
        assert "there are inputs for more" in text, text[-2000:]

    def nan_everywhere(self):
        model = "g (float[2] x) => (float[2] y) {\n  h = Exp (x)\n  k = Relu (h)\n  s = Add (k, h)\n  y = Neg (s)\n}\n"
        inputs = self.file("in.json", json.dumps([{"x": npy((2,), [0.0, 0.0])}]))
        nan = ((2,), [float("nan")] * 2)
        text = self.run(model, "--arbiter", "--onnx-outputs", "*", "--load-inputs", inputs, "--load-outputs",
                        self.file("r.json", results({n: nan for n in "hksy"})), "--save-verdict", self.folder / "v.json", code=1)
        assert "result=nan, which no rounding explains" in text, text[-3000:]
        verdicts = {o["output"]: o["verdict"] for o in json.loads((self.folder / "v.json").read_text())["iterations"][0]["outputs"]}
        assert verdicts == {"h": "WRONG", "k": "inherited", "s": "inherited", "y": "inherited"}, verdicts
        # NaN that was fed is not the runner's.
        inputs = self.file("in.json", json.dumps([{"x": npy((2,), [float("nan")] * 2)}]))
        self.run(model, "--arbiter", "--onnx-outputs", "*", "--load-inputs", inputs, "--load-outputs", self.folder / "r.json", code=0)

    def no_floats(self):
        model = "g (int64[3] x) => (int64[3] y) {\n  h = Add (x, x)\n  y = Mul (h, x)\n}\n"
        inputs = self.file("in.json", json.dumps([{"x": npy((3,), [1, 2, 3], "<i8", "q")}]))
        for values, code, word in (([2, 8, 18], 0, "1 output(s) agree"), ([2, 8, 19], 1, "1 of 3 values differ first at (2,)")):
            bad = self.file("r.json", results({"y": ((3,), values, "<i8", "q")}))
            text = self.run(model, "--arbiter", "--load-inputs", inputs, "--load-outputs", bad, code=code)
            assert word in text, text[-2000:]

    def an_unknown_operator(self):
        """What lies before it is judged, and what lies behind it where the layers are known."""
        self.head = HEAD.replace('"" : 17', '"" : 17, "my.ops" : 1')
        model = """g (float[2] x) => (float[2] y, float[2] z) {
  a = Exp (x)
  b = my.ops.Magic (a)
  y = Neg (b)
  z = Sqrt (a)
}
"""
        inputs = self.file("in.json", json.dumps([{"x": npy((2,), [0.0, 0.0])}]))
        one, minus = ((2,), [1.0, 1.0]), ((2,), [-1.0, -1.0])
        for marks, outputs, code, word in (
                ([], {"y": one, "z": one}, 3, "Not judged | other | 'y': the reference does not know the operator of node (my.ops::Magic)"),
                ([], {"y": one, "z": minus}, 1, "'z' is wrong"),
                (["--onnx-outputs", "*"], {"a": one, "b": one, "y": minus, "z": one}, 3, "3 output(s) agree, 0 differ by rounding only, 0 wrong, 1 not judged"),
                (["--onnx-outputs", "*"], {"a": one, "b": one, "y": one, "z": one}, 1, "First Divergence | other | Node (Neg)")):
            text = self.run(model, "--arbiter", *marks, "--load-inputs", inputs, "--load-outputs", self.file("r.json", results(outputs)), code=code)
            assert word in text, (word, text[-3000:])
        self.head = HEAD

    def maps(self):
        """What a ZipMap gives is saved, loaded and judged, a tensor of keys and one of values each."""
        self.head = HEAD.replace('"" : 17', '"" : 17, "ai.onnx.ml" : 3')
        model = """g (float[2,2] x) => (seq(map(string, float)) y) {
  h = Exp (x)
  y = ai.onnx.ml.ZipMap <classlabels_strings = ["a", "b"]> (h)
}
"""
        saved = [self.folder / "maps.json", "--load-inputs", self.folder / "maps_in.json"]
        self.run(model, "--engine", "--ref", "--save-outputs", saved[0], "--save-inputs", saved[2], code=0)
        text = self.run(model, "--arbiter", "--load-outputs", *saved, code=0)
        assert "5 output(s) agree" in text, text[-3000:]
        document = json.loads(saved[0].read_text())
        outputs = document["lst"][0][1][0]["outputs"]
        outputs["y[1].values"]["values"] = npy((2,), [1.0, 1.0])
        saved[0].write_text(json.dumps(document))
        text = self.run(model, "--arbiter", "--load-outputs", *saved, code=1)
        assert "'y[1].values'" in text and "1 wrong" in text, text[-3000:]
        self.head = HEAD

    def inputs_that_nobody_knows(self):
        """Results that do not say what they were fed may have been fed something else."""
        model = "g (float[2] x) => (float[2] y) {\n  h = Exp (x)\n  y = Neg (h)\n}\n"
        inputs = self.file("in.json", json.dumps([{"x": npy((2,), [0.0, 0.0])}]))
        doubt = "these results do not say which inputs they were made with"
        for marks, outputs, expected in (
                ([], {"y": ((2,), [-2.0, -3.0])}, True),
                (["--onnx-outputs", "*"], {"h": ((2,), [2.0, 3.0]), "y": ((2,), [-2.0, -3.0])}, True),
                (["--onnx-outputs", "*"], {"h": ((2,), [1.0, 1.0]), "y": ((2,), [-2.0, -3.0])}, False)):
            text = self.run(model, "--arbiter", *marks, "--load-inputs", inputs, "--load-outputs", self.file("r.json", results(outputs)), code=1)
            assert (doubt in text) == expected, text[-3000:]

    def the_printed_commands_work(self):
        """The node that is cut out, with its inputs, shows the same error; and the JSON says what the text says."""
        model = "g (float[2] x) => (float[2] y) {\n  h = Exp (x)\n  y = Sqrt (h)\n}\n"
        inputs = self.file("it's in.json", json.dumps([{"x": npy((2,), [0.0, 0.0])}]))
        bad = self.file("bad.json", results({"h": ((2,), [1.0, 1.0]), "y": ((2,), [1.0, 1.5])}))
        text = self.run(model, "--arbiter", "--onnx-outputs", "*", "--load-inputs", inputs, "--load-outputs", bad,
                        "--save-verdict", self.folder / "v.json", code=1)
        wrong = next(o for o in json.loads((self.folder / "v.json").read_text())["iterations"][0]["outputs"] if o["verdict"] == "WRONG")
        assert wrong["output"] == "y" and wrong["likely_cause"] in text, wrong
        assert "To cut it out: " + wrong["extract"] in text and "Its inputs: " + wrong["extracted_inputs"] in text, (wrong, text[-3000:])
        for command in (wrong["extract"], wrong["extracted_inputs"]):
            assert command.startswith("assay "), command
            subprocess.run(f"{self.assay}{command[len('assay'):]} -q", shell=True, check=True, cwd=self.folder)
        only_y = self.file("y.json", results({"y": ((2,), [1.0, 1.5])}))
        done = subprocess.run([self.assay, "run", self.folder / "node.onnx", "--arbiter", "--load-inputs", self.folder / "node_inputs.json",
                               "--load-outputs", only_y], capture_output=True, text=True, timeout=60)
        text = done.stdout + done.stderr
        assert done.returncode == 1 and "Node (Sqrt) producing 'y' | Output: 'y'" in text and "result=1.5" in text, text[-3000:]
        # The first node is fed by the inputs alone.
        bad = self.file("bad.json", results({"h": ((2,), [1.0, 1.5]), "y": ((2,), [1.0, 1.5 ** 0.5])}))
        text = self.run(model, "--arbiter", "--onnx-outputs", "*", "--load-inputs", inputs, "--load-outputs", bad, code=1)
        assert "Its inputs: --load-inputs '" in text, text[-3000:]


def main():
    with tempfile.TemporaryDirectory() as folder:
        classes = Classes(sys.argv[1], folder)
        for name in ("equal_addends", "overflow_is_no_licence", "quantised_steps", "nothing_is_determined", "dropout_in_training",
                     "shape_by_whole_numbers", "garbage_behind_a_shape", "overflow_of_the_model",
                     "local_functions", "results_of_something_else", "several_iterations", "nan_everywhere", "no_floats", "an_unknown_operator",
                     "maps", "inputs_that_nobody_knows", "the_printed_commands_work"):
            getattr(classes, name)()
            print(name, "ok", flush=True)


if __name__ == "__main__":
    main()
