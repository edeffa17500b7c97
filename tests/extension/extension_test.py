"""Extension modules as users meet them: everything that one can add works, and nothing that one does wrong goes unnamed.

usage: extension_test.py ASSAY FOLDER_OF_MODULES
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ASSAY, MODULES = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()

MODEL = """<ir_version: 8, opset_import: ["" : 17%s]>
g (float[1,3,4] x) => (float[%s] y) {
%s
}
"""


def everything(body, shape="1,3,4"):
    return MODEL % (', "test.everything" : 1', shape, body)


def hostile(body):
    return MODEL % (', "test.hostile" : 1', "1,3,4", body)


MODELS = {
    "identity.onnxtxt": MODEL % ("", "1,3,4", "  a = Identity (x)\n  y = Identity (a)"),
    "scale.onnxtxt": everything("  y = test.everything.Scale <factor: float = 3.0> (x)"),
    "default.onnxtxt": everything("  y = test.everything.Scale (x)"),
    "two.onnxtxt": everything("  a = test.everything.Scale <factor: float = 3.0> (x)\n  y = test.everything.Scale (a)"),
    "zero.onnxtxt": everything("  y = test.everything.Scale <factor: float = 0.0> (x)"),
    "sum.onnxtxt": everything("  y = test.everything.Sum (x)", shape=""),
    "conv.onnxtxt": """<ir_version: 8, opset_import: ["" : 17, "test.everything" : 1]>
g (float[1,8,6,6] x) => (float[1,8,6,6] y) <float[8,8,1,1] w = {%s}> {
  a = Conv (x, w)
  b = test.everything.Scale (a)
  y = Relu (b)
}
""" % ", ".join(str(i % 7 - 3) for i in range(64)),
    "soften.onnxtxt": """<ir_version: 8, opset_import: ["" : 17, "test.everything" : 1]>
g (float[1,8,6,6] x) => (float[1,8,6,6] y) <float[8,8,1,1] w = {%s}> {
  a = Conv (x, w)
  y = test.everything.Soften (a)
}
""" % ", ".join(str(i % 7 - 3) for i in range(64)),
    "turned.onnxtxt": everything("  a = Transpose <perm: ints = [0, 2, 1]> (x)\n  b = test.everything.Soften (a)\n"
                                 "  y = Transpose <perm: ints = [0, 2, 1]> (b)"),
    "lengthen.onnxtxt": everything("  a = Neg (x)\n  b = test.everything.Lengthen (a)\n  y = Abs (b)", shape="1,12"),
    "outer.onnxtxt": """<ir_version: 8, opset_import: ["" : 17, "test.everything" : 1]>
g (float[5] x, float[7] z) => (float[5,7] y) { y = test.everything.Outer (x, z) }
""",
    "odd.onnxtxt": hostile("  y = test.hostile.Odd (x)"),
}


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in MODELS.items():
            (self.folder / name).write_text(text)

    def run_assay(self, *words, path=None, timeout=60, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_EXTENSION")}
        env |= {"HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / "data")} | variables
        if path is not None:
            env["ASSAY_EXTENSION_PATH"] = str(path)
        return subprocess.run([ASSAY, *map(str, words)], cwd=self.folder, env=env, capture_output=True, text=True, timeout=timeout)

    def check(self, result, code, *texts, stream="both"):
        output = {"both": result.stdout + result.stderr, "stdout": result.stdout, "stderr": result.stderr}[stream]
        self.assertEqual(result.returncode, code, output)
        for text in texts:
            self.assertIn(text, output)
        return output

    def outputs(self, *words, **variables):
        """Inputs and outputs by name, lists of numbers."""
        result = self.run_assay("run", *words, "--extension", MODULES / "everything.so", "--save-outputs", "out.json", "--save-inputs", "in.json",
                                **variables)
        self.check(result, 0)
        return read_arrays(self.folder / "in.json"), read_arrays(self.folder / "out.json")


def read_arrays(path):
    """All arrays of a file of results or inputs, without NumPy: lists of floats by name."""
    import base64
    import io
    import struct
    found = {}

    def array(text):
        raw = io.BytesIO(base64.b64decode(text))
        raw.seek(8)
        length = struct.unpack("<H", raw.read(2))[0]
        header = raw.read(length).decode()
        assert "'<f4'" in header, header
        data = raw.read()
        return list(struct.unpack(f"<{len(data) // 4}f", data))

    def walk(node, name):
        if isinstance(node, dict):
            if isinstance(node.get("array"), str):
                found[name] = array(node["array"])
                return
            for key, value in node.items():
                walk(value, name if key == "values" else key)
        elif isinstance(node, list):
            for value in node:
                walk(value, name)
    walk(json.loads(Path(path).read_text()), "")
    return found


class Everything(Test):
    def test_an_operator_is_inferred_and_evaluated(self):
        for model, factor in [("scale", 3), ("default", 2), ("two", 6), ("zero", 0)]:
            for runner in ["--ref", "--engine"]:
                given, got = self.outputs(f"{model}.onnxtxt", runner)
                want = [factor * v for v in given["x"]]
                self.assertTrue(all(abs(a - b) < 1e-6 for a, b in zip(got["y"], want)), (model, runner))
        self.check(self.run_assay("run", "scale.onnxtxt", "--ref"), 1, "Scale")

    def test_its_error_model_decides_the_verdict(self):
        result = self.run_assay("run", "sum.onnxtxt", "--engine", "--ref", "--extension", MODULES / "everything.so")
        self.check(result, 0, "Float64 Verdict", "PASSED")

    def test_a_plugin_runs_in_the_engine_and_in_a_plan(self):
        _, plain = self.outputs("scale.onnxtxt", "--engine")
        _, extra = self.outputs("scale.onnxtxt", "--engine", EVERYTHING_EXTRA="10")
        self.assertTrue(all(abs(b - a - 10) < 1e-5 for a, b in zip(plain["y"], extra["y"])))
        self.check(self.run_assay("convert", "scale.onnxtxt", "-o", "scale.plan", "--extension", MODULES / "everything.so"), 0)
        _, loaded = self.outputs("scale.plan", "--model-type", "engine", "--engine", EVERYTHING_EXTRA="10")
        self.assertTrue(all(abs(a - b) < 1e-5 for a, b in zip(loaded["y"], extra["y"])))
        self.check(self.run_assay("run", "scale.plan", "--model-type", "engine", "--engine"), 1, "everything_scale")
        # The tactic refuses this node; the plain evaluation runs it.
        _, zero = self.outputs("zero.onnxtxt", "--engine", EVERYTHING_EXTRA="10")
        self.assertEqual(set(zero["y"]), {0.0})

    def test_facts_let_passes_and_tactics_treat_it_as_one_of_the_standard(self):
        module = ["--extension", MODULES / "everything.so"]
        # The activation has no plugin, and is a pointwise program all the same, of its own or behind the convolution, whichever is
        # faster, not the plain evaluation.
        result = self.run_assay("run", "soften.onnxtxt", "--engine", "--ref", *module)
        self.check(result, 0, "PASSED")
        shown = self.check(self.run_assay("convert", "soften.onnxtxt", "-o", "s.plan", "--explain", *module), 0)
        self.assertRegex(shown, r"pointwise:|region a, y")
        self.assertNotIn("* evaluate", shown)
        # Transpositions go through it, and are gone.
        self.check(self.run_assay("surgeon", "sanitize", "turned.onnxtxt", "--simplify", "-o", "turned.onnx", *module), 0)
        shown = self.check(self.run_assay("inspect", "model", "turned.onnx", "--show", "layers", *module), 0, "Soften")
        self.assertNotIn("Transpose", shown)
        # For a view nothing runs: of three nodes two are computed.
        result = self.run_assay("run", "lengthen.onnxtxt", "--engine", "--ref", *module)
        self.check(result, 0, "PASSED")
        shown = self.check(self.run_assay("convert", "lengthen.onnxtxt", "-o", "l.plan", "--explain", *module), 0)
        self.assertNotIn("* evaluate", shown)
        # Its multiplications are counted; of one that says nothing they are not known.
        self.check(self.run_assay("inspect", "model", "outer.onnxtxt", "--stats", "--json", "o.json", *module), 0)
        self.assertEqual(json.loads((self.folder / "o.json").read_text())["macs"], 35)
        self.check(self.run_assay("inspect", "model", "sum.onnxtxt", "--stats", *module), 0, "?")

    def test_a_plugin_works_in_a_blocked_layout(self):
        result = self.run_assay("run", "conv.onnxtxt", "--engine", "--ref", "--extension", MODULES / "everything.so")
        self.check(result, 0, "PASSED")
        result = self.run_assay("convert", "conv.onnxtxt", "-o", "c.plan", "--explain", "--extension", MODULES / "everything.so")
        self.check(result, 0, "everything_scale:row", "everything_scale:blocked")

    def test_a_pass_changes_the_network(self):
        result = self.run_assay("convert", "two.onnxtxt", "-o", "two.onnxtxt.out.onnx", "--convert-to", "onnx-like-trt-network",
                                "--extension", MODULES / "everything.so")
        self.check(result, 0)
        shown = self.run_assay("inspect", "model", "two.onnxtxt.out.onnx", "--show", "layers", "--extension", MODULES / "everything.so")
        self.check(shown, 0)
        self.assertEqual(shown.stdout.count("[Op: test.everything.Scale]") + shown.stdout.count("[Op: Scale]"), 1, shown.stdout)

    def test_a_loader_changes_the_model_for_every_runner(self):
        for runner in ["--ref", "--engine"]:
            given, got = self.outputs("identity.onnxtxt", runner, "--append-scale", "--factor", "5")
            self.assertTrue(all(abs(a - 5 * b) < 1e-6 for a, b in zip(got["scaled"], given["x"])))

    def test_options_are_in_the_help_and_checked(self):
        help_text = self.check(self.run_assay("run", "--extension", MODULES / "everything.so", "-h"), 0, "Everything", "--scale-factor", "--append-scale")
        self.assertLess(help_text.index("Everything"), help_text.index("--scale-factor"))
        words = ["run", "identity.onnxtxt", "--ref", "--extension", MODULES / "everything.so"]
        self.check(self.run_assay(*words, "--scale-factor", "-1"), 1, "--scale-factor must not be negative", "extension 'everything'")
        self.check(self.run_assay(*words, "--scale-factor", "x"), 2, "invalid")

    def test_a_command(self):
        self.check(self.run_assay("hello", "you", "--times", "2", path=MODULES / "everything.so"), 0, "Hello you")
        self.check(self.run_assay("hello", "nobody", path=MODULES / "everything.so"), 1)
        self.check(self.run_assay("-h", path=MODULES / "everything.so"), 0, "Greet somebody.")
        self.check(self.run_assay("hello", "you"), 2, "invalid choice")

    def test_where_modules_are_found(self):
        user = self.folder / "data/assay/extensions"
        user.mkdir(parents=True)
        shutil.copy(MODULES / "everything.so", user)
        self.check(self.run_assay("hello", "you"), 0, "Hello you")
        self.check(self.run_assay("hello", "you", "--no-extensions"), 2)
        self.check(self.run_assay("inspect", "extensions"), 0, "everything 1.2", "the user's folder", "Operator")
        # The same module again is one too many, and said so; the first stays.
        other = self.folder / "other"
        other.mkdir()
        shutil.copy(MODULES / "everything.so", other)
        self.check(self.run_assay("hello", "you", path=other), 0, "Hello you", "left out", "there is an extension of that name already")

    def test_modules_that_say_when_they_are_needed(self):
        user = self.folder / "data/assay/extensions"
        user.mkdir(parents=True)
        (user / "broken.so").write_text("no library")
        words = ["inspect", "model", "identity.onnxtxt"]
        self.check(self.run_assay(*words), 0, "An extension is left out")
        (user / "broken.words").write_text("special\n")
        self.assertNotIn("left out", self.check(self.run_assay(*words), 0))
        (self.folder / "special.onnxtxt").write_text(MODELS["identity.onnxtxt"])
        self.check(self.run_assay("inspect", "model", "special.onnxtxt"), 0, "An extension is left out")
        # What cannot be read without it, and help, load it all the same.
        shutil.copy(MODULES / "everything.so", user)
        (user / "everything.words").write_text("no command line has this\n")
        self.check(self.run_assay("hello", "you"), 0, "Hello you")
        self.check(self.run_assay("run", "-h"), 0, "--scale-factor")
        self.check(self.run_assay("run", "identity.onnxtxt", "--ref", "--scale-factor", "2"), 0)
        (user / "broken.so").unlink()
        self.check(self.run_assay("inspect", "extensions"), 0, "everything 1.2")

    def test_inspect_shows_what_there_is(self):
        self.check(self.run_assay("inspect", "extensions", "--no-extensions"), 0, "None.")
        self.check(self.run_assay("inspect", "extensions", path=MODULES / "everything.so"), 0, "everything 1.2", "Operator: test.everything.Scale",
                   "Tactic: everything_scale", "Pass: merge_scales", "Loader: --append-scale", "Options: Everything", "Command: hello",
                   "Postprocessing: negate", "Comparison: same_sign")


class Hostile(Test):
    def hostile(self, what, *words, code=1, texts=(), **more):
        words = words or ("run", "identity.onnxtxt", "--hostile")
        result = self.run_assay(*words, "--extension", MODULES / "hostile.so", HOSTILE=what, **more)
        output = self.check(result, code, *texts)
        self.assertIn("hostile", output)
        return output

    def test_without_orders_it_is_right(self):
        self.hostile("", code=0)

    def test_functions_of_a_run(self):
        words = ["run", "identity.onnxtxt", "--engine", "--ref", "-v", "--extension", MODULES / "everything.so"]
        self.check(self.run_assay(*words, "--compare", "same_sign"), 0, "same_sign | Comparing Output: 'y'", "0 element(s) of another sign | PASSED",
                   "PASSED | same_sign | All outputs matched")
        self.check(self.run_assay(*words, "--compare", "l2", "same_sign", "--l2-threshold", "1"), 0, "L2 Norm | Comparing", "same_sign | Comparing")
        # What runs is negated in both; against results saved before it shows.
        self.check(self.run_assay("run", "identity.onnxtxt", "--ref", "--save-outputs", "before.json"), 0)
        result = self.run_assay("run", "identity.onnxtxt", "--ref", "--postprocess", "negate", "--save-outputs", "negated.json", "--extension", MODULES / "everything.so")
        self.check(result, 0)
        result = self.run_assay("run", "--load-outputs", "before.json", "before.json", "-v", "--postprocess", "negate", "--compare", "same_sign", "--extension", MODULES / "everything.so")
        self.check(result, 0, "PASSED | same_sign")
        self.check(self.run_assay(*words, "--postprocess", "negate", "y:top-2"), 1, "negate is a function of an extension, which gets all outputs")
        self.check(self.run_assay(*words, "--postprocess", "y:negate"), 1, "Name it alone")
        self.check(self.run_assay(*words, "--check-average", "--compare", "same_sign"), 1, "averageable")
        self.check(self.run_assay("run", "identity.onnxtxt", "--ref", "--compare", "same_sign"), 2, "invalid choice: 'same_sign'")
        self.hostile("none", "run", "identity.onnxtxt", "--ref", "--engine", "--postprocess", "odd_outputs", texts=["it gave no output"])

    def test_a_module_of_an_older_interface(self):
        self.check(self.run_assay("inspect", "extensions", path=MODULES / "older.so"), 0, "older 1", "of the first interface")
        self.check(self.run_assay("run", "identity.onnxtxt", "--ref", "--extension", MODULES / "older.so"), 0)

    def test_files_that_are_no_modules(self):
        (self.folder / "text.so").write_text("no library" * 100)
        (self.folder / "arm.so").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\xb7\x00\x01\x00\x00\x00" + bytes(40))
        for file, text in [("text.so", "invalid ELF header"), ("arm.so", "cannot be loaded"), ("missing.so", "there is no such file"),
                           (MODULES / "nothing.so", "does not export the symbol assay_extension_info"),
                           (MODULES / "newer.so", "it was built for version 1000 of the interface")]:
            self.check(self.run_assay("run", "identity.onnxtxt", "--ref", "--extension", file), 1, text, str(file), stream="stderr")
            # Found by itself, it is left out with a warning.
            found = self.run_assay("run", "identity.onnxtxt", "--ref", path=self.folder / file)
            self.check(found, 0, text, "An extension is left out")
            self.check(self.run_assay("inspect", "extensions", path=self.folder / file), 1, "Cannot be used", text)

    def test_registration_that_cannot_be(self):
        for what, text in [("register-throws", "thrown in register"), ("register-throws-int", "no std::exception"), ("bad-name", "is no name for a runner"),
                           ("null-name", "a runner has no name"), ("bad-option", "is no name for an option"), ("known-option", "the option onnxrt of the backend"),
                           ("known-runner", "there is a backend 'onnxrt' already"), ("known-group-option", "--atol is there already"),
                           ("standard-domain", "standard's domain"), ("bad-schema", "inn X: T"), ("bad-instruction", "the pointwise instruction 'Misbehave', and there is none of that name"),
                           ("bad-arity", "'Relu' of 1 operand(s), but 2 element-wise input(s)"), ("bad-moves", "a fact of no known kind"), ("known-command", "there is a command 'run' already"),
                           ("known-comparison", "its comparison function l2 is there already"), ("known-postprocess", "post-processing function top-3")]:
            with self.subTest(what):
                self.hostile(what, texts=[text, "hostile.so"])
                # Nothing of it is there, and the rest works.
                result = self.run_assay("run", "identity.onnxtxt", "--ref", path=MODULES / "hostile.so", HOSTILE=what)
                self.check(result, 0, "An extension is left out", text)

    def test_callbacks_that_throw(self):
        cases = {"probe": [], "open": [], "describe": [], "infer": [], "validate": [],
                 "loader": ["run", "identity.onnxtxt", "--ref", "--break-model"], "command": ["misbehave"],
                 "compare": ["run", "identity.onnxtxt", "--ref", "--engine", "--compare", "odd_comparison"],
                 "postprocess": ["run", "identity.onnxtxt", "--ref", "--engine", "--postprocess", "odd_outputs"],
                 "op-infer": ["run", "odd.onnxtxt", "--ref"], "op-eval": ["run", "odd.onnxtxt", "--ref"],
                 "op-bound": ["run", "odd.onnxtxt", "--engine", "--ref"]}
        for place, words in cases.items():
            for how, text in [("throws", f"thrown in {place}"), ("throws-int", "no std::exception")]:
                with self.subTest(f"{place}-{how}"):
                    self.hostile(f"{place}-{how}", *words, texts=[text])

    def test_callbacks_that_crash(self):
        for what, words in [("crash-at-load", []), ("register-crashes", []), ("open-crashes", []), ("infer-crashes", []), ("close-crashes", []),
                            ("command-crashes", ["misbehave"]), ("op-eval-crashes", ["run", "odd.onnxtxt", "--ref"]),
                            ("compare-crashes", ["run", "identity.onnxtxt", "--ref", "--engine", "--compare", "odd_comparison"])]:
            with self.subTest(what):
                output = self.hostile(what, *words, code=-11, texts=["crashed (segmentation fault)", "The extension", "hostile.so"])
                self.assertIn("--no-extensions", output)

    def test_inspect_survives_a_module_that_crashes_or_never_returns(self):
        shown = self.run_assay("inspect", "extensions", path=f"{MODULES}/hostile.so:{MODULES}/everything.so", HOSTILE="crash-at-load")
        self.check(shown, 1, "everything 1.2", "Segmentation fault", "hostile.so")

    def test_one_that_never_returns_is_named(self):
        process = subprocess.Popen([ASSAY, "run", "identity.onnxtxt", "--ref", "--extension", MODULES / "hostile.so"], cwd=self.folder,
                                   env=os.environ | {"HOSTILE": "hang-at-load"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line = process.stdout.readline()
        process.send_signal(2)
        process.wait(10)
        process.stdout.close()
        self.assertIn("hostile.so takes long to load", line)
        self.assertNotEqual(process.returncode, 0)

    def test_nonsense(self):
        odd = ["run", "odd.onnxtxt", "--ref"]
        for what, text, words in [("gives-nothing", "it gave nothing for the output 'y'", []), ("gives-too-much", "there is no output 7", []),
                                  ("gives-huge", "hostile", []), ("gives-negative", "-5 is no extent", []), ("bad-dtype", "77 is no element type", []),
                                  ("bad-rank", "1000 is no rank", []), ("unknown-option", "no option --no-such-option", []),
                                  ("probe-refuses", "it needs a machine that nobody has", []), ("infer-no-output", "there is no output 3", odd),
                                  ("eval-gives-nothing", "gave nothing for output 0", odd),
                                  ("negative-bound", "negative", ["run", "odd.onnxtxt", "--engine", "--ref"]),
                                  ("", "broken graph", ["run", "identity.onnxtxt", "--ref", "--break-model"])]:
            with self.subTest(what or "breaks the model"):
                self.hostile(what, *words, texts=[text])


if __name__ == "__main__":
    unittest.main()
