"""Backends side by side, comparisons, verdicts, whole runs, the program."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import small_models as small

import assay


class Doubling:
    """A runner of one's own that makes an error."""

    name = "doubling"

    def __init__(self, session):
        self.session = session

    def infer(self, feed):
        y = self.session.infer(feed)["y"].copy()
        y[0, :4] *= 2
        return {"y": y}


class Sessions(unittest.TestCase):
    def test_backends(self):
        found = {b.name: b for b in assay.backends()}
        self.assertTrue({"engine", "onnxrt", "reference"} <= set(found))
        self.assertEqual(found["engine"].problem, "")

    def test_engine_and_reference(self):
        data = small.product(2, 16)
        feed = assay.random_inputs(data, seed=3)
        results = {b: assay.Session(data, b).infer(feed)["y"] for b in ("engine", "reference")}
        np.testing.assert_allclose(*results.values(), rtol=1e-5)

    def test_wrong_feeds(self):
        session = assay.Session(small.identity(), "reference")
        for feed in ({}, {"x": np.zeros((2, 3))}, {"x": np.zeros(3, np.float32)}, {"x": None}):
            with self.assertRaises(assay.InvalidArgument):
                session.infer(feed)
        with self.assertRaises(assay.NotFound):
            session.infer({"x": np.zeros((2, 3), np.float32), "z": np.zeros(1)})
        with self.assertRaises(assay.NotFound):
            assay.Session(small.identity(), "no such backend")

    def test_random_inputs_that_cannot_be(self):
        for kwargs in ({"ranges": {"x": 3}}, {"ranges": {"x": (3,)}}, {"ranges": {"x": ("a", "b")}}, {"shapes": {"x": ("a", 3)}},
                       {"shapes": {"x": 3}}, {"shapes": {"x": (1 << 70, 3)}}, {"seed": -1}):  # fmt: skip
            with self.subTest(kwargs), self.assertRaises(assay.InvalidArgument):
                assay.random_inputs(small.identity(), **kwargs)

    def test_random_inputs_are_numpys(self):
        data = small.model([small.node("Relu", ["x"], ["y"])], [("x", "float32", ("n", 3))], [("y", "float32", ("n", 3))])
        x = assay.random_inputs(data, seed=5, shapes={"x": (4, 3)}, ranges={"x": (-1, 1)})["x"]
        self.assertEqual((x.shape, x.dtype), ((4, 3), np.float32))
        self.assertTrue((x < 0).any() and (x > 0).any())
        plain = assay.random_inputs(small.identity(), seed=5)["x"]
        np.testing.assert_array_equal(plain, np.random.RandomState(5).random_sample((2, 3)).astype(np.float32))


class Comparing(unittest.TestCase):
    def setUp(self):
        self.data = small.product(2, 16)

    def test_agreement(self):
        c = assay.compare(self.data, ["engine", "reference"], data=3)
        self.assertTrue(c)
        self.assertEqual((c.pairs[0].iterations, c.pairs[0].passed), (3, 3))
        self.assertIn("PASSED", repr(c))
        self.assertIn("<table", c._repr_html_())

    def test_runners_of_ones_own(self):
        wrong = Doubling(assay.Session(self.data, "reference"))
        engine = assay.build(self.data, optimization_level=0)
        c = assay.compare(self.data, ["reference", wrong, engine.run, lambda feed: engine(feed)])
        self.assertFalse(c)
        self.assertIn("doubling", c.results)
        self.assertEqual(len(c.pairs), 3)

    def test_functions(self):
        results = assay.infer(self.data, ["engine", Doubling(assay.Session(self.data, "reference"))])
        f = assay.functions
        for function, passes in (
            (f.simple(atol=1e-5), False),
            (f.simple(atol={"y": 1e3}), True),
            (f.cosine_similarity(0.1), True),
            (f.snr(200), False),
            (f.l2(1e-9), False),
            (f.custom(lambda name, a, b: a.shape == b.shape), True),
            (f.custom(lambda name, a, b: False), False),
        ):
            with self.subTest(function):
                self.assertEqual(bool(assay.compare(None, results, functions=function)), passes)
        with self.assertRaisesRegex(KeyError, "mine"):
            assay.compare(None, results, functions=f.custom(lambda *a: {}["mine"]))

    def test_results_as_files(self):
        results = assay.infer(self.data, ["engine", "reference"], data=2)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "outputs.json")
            results.save(path)
            again = assay.Results.load(path)
        self.assertEqual(list(again), list(results))
        np.testing.assert_array_equal(again["engine"][1].outputs["y"], results["engine"][1].outputs["y"])


class Verdicts(unittest.TestCase):
    def test_who_is_wrong(self):
        data = small.product(2, 16)
        wrong = Doubling(assay.Session(data, "reference"))
        v = assay.verdict(data, ["engine", wrong])
        self.assertFalse(v)
        self.assertEqual(set(v.makers), {"doubling"})
        self.assertTrue(v["doubling", "y"].is_wrong)
        self.assertFalse(v["engine", "y"].is_wrong)
        self.assertGreater(v["doubling", "y"].beyond, 0)
        self.assertIn("doubling", repr(v))
        self.assertIn("<table", v._repr_html_())

    def test_all_right(self):
        v = assay.verdict(small.product(2, 16, times=2), ["engine"], trace=True)
        self.assertTrue(v)
        self.assertGreater(len(v.outputs), 1)

    def test_judging_results_of_ones_own(self):
        data = small.identity()
        x = np.ones((2, 3), np.float32)
        self.assertTrue(assay.judge(data, {"x": x}, {"mine": {"y": x}}))
        self.assertFalse(assay.judge(data, {"x": x}, {"mine": {"y": x + 1}}))
        with self.assertRaisesRegex(assay.InvalidArgument, "no results"):
            assay.judge(data, {"x": x}, {})
        for nothing in ({}, {"z": x}):
            with self.assertRaisesRegex(assay.NotFound, "'mine' hold no tensor"):
                assay.judge(data, {"x": x}, {"mine": nothing})


class Runs(unittest.TestCase):
    def test_scales_are_found_on_data_that_the_run_reads_too(self):
        data = small.product(2, 16)
        feeds = [assay.random_inputs(data, iteration=i) for i in range(3)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            assay.Model(data).save(path)
            found = assay.run(path, ["trt", "reference"], data=feeds, build={"int8": True, "optimization_level": 0},
                              functions=assay.functions.simple(atol=0.5))
        self.assertEqual((found.iterations, found.outcome), (3, "passed"))

    def test_whole_run(self):
        with tempfile.TemporaryDirectory() as folder:
            path, saved = os.path.join(folder, "m.onnx"), os.path.join(folder, "out.json")
            assay.Model(small.product(2, 16)).save(path)
            s = assay.run(path, ["engine", "reference"], iterations=2, seed=7, save_outputs=saved, verdict=True)
            self.assertTrue(s)
            self.assertEqual((s.outcome, s.exit_status, s.iterations), ("passed", 0, 2))
            self.assertEqual(len(assay.Results.load(saved)), 2)
            self.assertIn("PASSED", repr(s))
            wrong = Doubling(assay.Session(path, "reference"))
            self.assertEqual(assay.run(path, ["engine", wrong]).outcome, "failed")
            for wrong in ({"no_such_setting": 1}, {"ranges": {"x": 3}}, {"ranges": {"x": (3,)}}, {"shapes": 3},
                          {"functions": [{"kind": "none"}]}, {"functions": [{}]}, {"top_k": "x"}):  # fmt: skip
                with self.subTest(wrong), self.assertRaises(assay.InvalidArgument):
                    assay.run(path, ["engine"], **wrong)

            class Failing:
                def infer(self, feed):
                    raise KeyError("runner")

            with self.assertRaisesRegex(KeyError, "runner"):
                assay.run(path, [Failing()])

            def feeds():
                yield {"x": np.zeros((2, 16), np.float32)}
                raise KeyError("loader")

            with self.assertRaisesRegex(KeyError, "loader"):
                assay.run(path, ["engine"], data=feeds())

    def test_files_are_paths_of_any_kind(self):
        with tempfile.TemporaryDirectory() as folder:
            path, inputs, outputs = (pathlib.Path(folder, name) for name in ("m.onnx", "in.json", "out.json"))
            assay.Model(small.product(2, 16)).save(path)
            assay.run(path, ["engine"], save_inputs=inputs, save_outputs=outputs)
            for files in (inputs, str(inputs), os.fsencode(inputs), [inputs], (str(inputs),)):
                summary = assay.run(path, ["reference"], load_inputs=files, load_outputs=[outputs])
                self.assertEqual((summary.outcome, len(summary.runners)), ("passed", 2), files)
            for wrong in (3, [3], {"x": inputs}.values):
                with self.assertRaisesRegex(assay.InvalidArgument, "load_inputs.*path"):
                    assay.run(path, ["reference"], load_inputs=wrong)
            with self.assertRaisesRegex(assay.Error, "gone"):
                assay.run(path, ["reference"], extensions=[pathlib.Path(folder, "gone.so")])

    def test_the_program_that_a_reduction_leaves(self):
        with tempfile.TemporaryDirectory() as folder:
            assay.Model(small.product(2, 16)).save(os.path.join(folder, "m.onnx"))
            reduce = "debug reduce m.onnx -o small.onnx --programs shown --fail-regex MatMul --check".split()
            check = "assay inspect model polygraphy_debug.onnx --show layers".split()
            program = [sys.executable, "-m"]
            done = subprocess.run([*program, "assay", *reduce, *program, *check], capture_output=True, text=True, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            done = subprocess.run([sys.executable, os.path.join("shown", "show.py")], capture_output=True, text=True, cwd=folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("PASSED", done.stdout)

    def test_settings_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path, file, again = (os.path.join(folder, name) for name in ("m.onnx", "run.json", "again.json"))
            assay.Model(small.product(2, 16)).save(path)
            assay.run(path, ["engine", "reference"], iterations=2, seed=7, ranges={"x": (0, 2)}, save_settings=file)
            self.assertEqual(assay.run(settings=file).iterations, 2)
            changed = assay.run(runners=["engine", "engine", "reference"], settings=file, iterations=3, save_settings=again)
            self.assertEqual((changed.iterations, len(changed.runners)), (3, 3))
            with open(again) as text:
                settings = json.load(text)["settings"]
            self.assertEqual((settings["data.seed"], settings["data.iterations"]), (7, 3))
            self.assertEqual(settings["data.ranges"], {"x": {"low": 0, "high": 2}})
            with self.assertRaisesRegex(assay.Unsupported, "runners.*open"):
                assay.run(path, [Doubling(assay.Session(path, "reference"))], save_settings=file)
            with self.assertRaises(assay.NotFound):
                assay.run(settings=os.path.join(folder, "gone.json"))


class Program(unittest.TestCase):
    def test_python_m_assay(self):
        done = subprocess.run([sys.executable, "-m", "assay", "--version"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(assay.__version__, done.stdout)


class Package(unittest.TestCase):
    def test_every_name_is_there(self):
        for name in assay.__all__:
            getattr(assay, name)
        self.assertLessEqual(set(assay.__all__), set(dir(assay)))
        with self.assertRaises(AttributeError):
            assay.no_such_name

    def test_types_of_the_native_module(self):
        try:
            import nanobind.stubgen
        except ImportError:
            self.skipTest("nanobind is not installed")
        import native_stub

        with open(native_stub.FILE) as file:
            self.assertEqual(file.read(), native_stub.text(), "tests/python/native_stub.py --write renews it")

    def test_types_of_the_package(self):
        try:
            import mypy
        except ImportError:
            self.skipTest("mypy is not installed")
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", os.devnull]
            + [os.path.join("python/assay", f) for f in os.listdir(os.path.join(root, "python/assay")) if f.endswith(".py")],
            capture_output=True, text=True, cwd=root)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_only_the_init_is_shown(self):
        from assay import _native

        try:
            symbols = subprocess.run(["nm", "-D", "--defined-only", _native.__file__], capture_output=True, text=True)
        except FileNotFoundError:
            self.skipTest("nm is not installed")
        self.assertEqual([line.split()[2] for line in symbols.stdout.splitlines()], ["PyInit__native"])


if __name__ == "__main__":
    unittest.main()
