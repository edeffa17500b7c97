"""Reading, looking at, editing and saving models."""

import json
import logging
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import small_models as small

import assay


class Reading(unittest.TestCase):
    def test_forms_of_source(self):
        data = small.identity()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            with open(path, "wb") as file:
                file.write(data)
            for source in (data, bytearray(data), memoryview(data), path):
                with self.subTest(type(source).__name__):
                    self.assertEqual(assay.Model(source).inputs[0].name, "x")
            self.assertEqual(assay.load(path).path, path)

    def test_facts(self):
        m = assay.Model(small.model([small.node("Relu", ["x"], ["y"])], [("x", "float32", ("n", 3))],
                                    [("y", "float32", ("n", 3))]))  # fmt: skip
        self.assertEqual(m.inputs, [("x", "float32[n, 3]", "float32", ("n", 3))])
        self.assertEqual((m.opset, m.ir_version, m.node_count, m.name), (21, 10, 1, "small"))
        self.assertIn("x: float32[n, 3]", repr(m))
        self.assertIn("<table", m._repr_html_())
        node = m.nodes[0]
        self.assertEqual((node["op_type"], node["inputs"], node["outputs"]), ("Relu", ["x"], ["y"]))

    def test_round_trip(self):
        data = small.product(2, 8)
        m = assay.Model(data)
        self.assertEqual(assay.Model(m.to_bytes()).to_bytes(), m.to_bytes())
        self.assertFalse(m.diff(pickle.loads(pickle.dumps(m))))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            m.save(path, external_data="weights.bin", external_data_threshold=1)
            self.assertTrue(os.path.exists(os.path.join(folder, "weights.bin")))
            self.assertFalse(m.diff(path))

    def test_initializers_are_views(self):
        data = small.product(2, 8)
        w = assay.Model(data).initializers["w0"]
        self.assertEqual((w.shape, w.dtype), ((8, 8), np.float32))
        self.assertFalse(w.flags.writeable)
        self.assertEqual(list(assay.Model(data).initializers), ["w0"])
        with self.assertRaises(KeyError):
            assay.Model(data).initializers["w1"]
        # The view outlives the model that it came from.
        again = assay.Model(data).initializers["w0"]
        np.testing.assert_array_equal(w, again)

    def test_bytes_are_not_copied(self):
        for before in range(4):  # the weight begins at every address modulo 4
            padded = small.model(
                [small.node("MatMul", ["x", "w0"], ["y"], name="n" * (before + 1))],
                [("x", "float32", (1, 512))], [("y", "float32", (1, 512))],
                [small.initializer("w0", np.arange(512 * 512, dtype=np.float32).reshape(512, 512))],
            )  # fmt: skip
            w = assay.Model(padded).initializers["w0"]
            self.assertTrue(np.shares_memory(w, np.frombuffer(padded, np.uint8)))
            np.testing.assert_array_equal(w.ravel(), np.arange(512 * 512))

    def test_onnx(self):
        try:
            import onnx
        except ImportError:
            self.skipTest("the package onnx is not installed")
        proto = onnx.load_model_from_string(small.product(2, 4))
        m = assay.Model(proto)
        self.assertEqual(m.to_onnx(), assay.Model.from_onnx(m.to_onnx()).to_onnx())
        onnx.checker.check_model(m.to_onnx())


class Editing(unittest.TestCase):
    def setUp(self):
        one = np.ones((2, 3), np.float32)
        self.model = assay.Model(
            small.model(
                [
                    small.node("Add", ["a", "a"], ["two"]),
                    small.node("Mul", ["x", "two"], ["scaled"]),
                    small.node("Identity", ["scaled"], ["same"]),
                    small.node("Relu", ["same"], ["y"]),
                ],
                [("x", "float32", (2, 3))],
                [("y", "float32", (2, 3))],
                [small.initializer("a", one)],
            )
        )

    def test_fold(self):
        folded = self.model.fold_constants()
        self.assertEqual([n["op_type"] for n in folded.nodes], ["Mul", "Identity", "Relu"])
        self.assertEqual(self.model.node_count, 4)

    def test_simplify_with_proof(self):
        small_one, report = self.model.simplify_with_report(prove=True, trials=3)
        self.assertLess(small_one.node_count, 4)
        self.assertTrue(report.is_proved)
        self.assertGreaterEqual(report.trials, 1)
        self.assertEqual(report.refused, [])
        x = np.arange(-3, 3, dtype=np.float32).reshape(2, 3)
        for m in (self.model, small_one):
            np.testing.assert_array_equal(assay.build(m, optimization_level=0)(x=x)["y"], np.maximum(2 * x, 0))
        self.assertEqual(self.model.simplify().node_count, small_one.node_count)

    def test_extract(self):
        part = self.model.extract([("two", (2, 3), "float32"), ("x", None, None)], ["scaled"])
        self.assertEqual({i.name for i in part.inputs}, {"two", "x"})
        self.assertEqual([o.name for o in part.outputs], ["scaled"])
        with self.assertRaises(assay.Error):
            self.model.extract(None, ["nothing"])

    def test_outputs(self):
        marked = self.model.with_outputs(["scaled", "y"])
        self.assertEqual([o.name for o in marked.outputs], ["scaled", "y"])
        self.assertEqual(len(self.model.with_outputs(mark_all=True).outputs), 4)

    def test_convert_opset(self):
        self.assertEqual(self.model.convert_opset(13).opset, 13)
        self.assertEqual(self.model.opset, 21)
        with self.assertRaises(assay.Error):
            self.model.convert_opset(1000)

    def test_infer_shapes_and_float16(self):
        self.assertEqual(self.model.to_float16().initializers["a"].dtype, np.float16)
        self.assertEqual(self.model.infer_shapes().node_count, 4)

    def test_diff(self):
        d = self.model.diff(self.model.simplify())
        self.assertTrue(d)
        self.assertGreater(len(d), 0)
        self.assertIn("<table", d._repr_html_())
        self.assertFalse(self.model.diff(self.model))

    def test_stats_and_text(self):
        self.assertEqual(self.model.stats()["nodes"], 4)
        self.assertIn("Relu", self.model.text(layers=True))
        self.assertEqual(self.model.unsupported(), [])
        json.dumps(self.model.stats())

    def test_check(self):
        self.assertTrue(self.model.check().is_valid)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "broken.onnx")
            with open(path, "wb") as file:
                file.write(small.identity()[:-7])
            found = assay.check(path)
        self.assertFalse(found.is_valid)
        self.assertIn("INVALID", repr(found))
        self.assertIn("<table", found._repr_html_())


class Evaluating(unittest.TestCase):
    def test_only_what_is_asked_for(self):
        data = small.model(
            [
                small.node("Add", ["a", "b"], ["sum"]),
                small.node("NoSuchOperator", ["a"], ["odd"]),
                small.node("Cast", ["sum"], ["halves"], to=10),
            ],
            [],
            [("sum", "float32", (2,))],
            [small.initializer("a", np.array([1, 2], np.float32)), small.initializer("b", np.array([3, 4.5], np.float32))],
        )
        halves, total = assay.evaluate(data, None, ["halves", "sum"])
        np.testing.assert_array_equal(total, [4, 6.5])
        self.assertEqual(halves.dtype, np.float16)
        with self.assertRaises(assay.Error):
            assay.evaluate(data, None, ["odd"])
        with self.assertRaises(assay.NotFound):
            assay.evaluate(data, None, ["nothing"])

    def test_feeds_and_rounding(self):
        data = small.model([small.node("Add", ["x", "x"], ["y"])], [("x", "float16", (1,))], [("y", "float16", (1,))])
        (y,) = assay.evaluate(data, {"x": np.array([1.001], np.float16)}, ["y"])
        self.assertEqual(y, np.float16(1.001) + np.float16(1.001))

    def test_many_small_nodes_at_once(self):
        import time

        n = 3000
        names = ["a", *(f"v{i}" for i in range(n))]
        nodes = [small.node("Add", [p, "a"], [q]) for p, q in zip(names, names[1:])]
        data = small.model(nodes, [], [(names[-1], "int64", (1,))], [small.initializer("a", np.array([1], np.int64))])
        start = time.process_time()
        (last,) = assay.evaluate(data, None, [names[-1]])
        seconds = time.process_time() - start
        self.assertEqual(last, n + 1)
        self.assertLess(seconds, 2)


class Errors(unittest.TestCase):
    def test_file_that_is_not_there(self):
        with self.assertRaises(assay.NotFound) as caught:
            assay.load("/no/such/model.onnx")
        self.assertIsInstance(caught.exception, LookupError)
        self.assertEqual(caught.exception.code, "not_found")

    def test_parts(self):
        data = small.model([small.node("Relu", ["x"], ["y"], name="act")], [("x", "string", (1,))],
                           [("y", "string", (1,))])  # fmt: skip
        with self.assertRaises(assay.Error) as caught:
            assay.build(data)
        e = caught.exception
        self.assertEqual(e.node, "act")
        self.assertTrue(e.rule and e.rule in str(e))
        again = pickle.loads(pickle.dumps(e))
        self.assertEqual((type(again), str(again), again.context), (type(e), str(e), e.context))

    def test_subject(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            weight = np.arange(4096, dtype=np.float32)
            data = small.model([small.node("Add", ["x", "w"], ["y"])], [("x", "float32", (4096,))],
                               [("y", "float32", (4096,))], [small.initializer("w", weight)])  # fmt: skip
            assay.Model(data).save(path, external_data="w.bin")
            os.remove(os.path.join(folder, "w.bin"))
            with self.assertRaises(assay.NotFound) as caught:
                assay.load(path)
        e = caught.exception
        self.assertEqual((e.file, e.node, e.tensor), (path, None, "w"))
        self.assertEqual(e.remedy_key, "external-data-dir")
        self.assertEqual(e.remedy, "Name the folder that holds it: external_data=FOLDER.")
        again = pickle.loads(pickle.dumps(e))
        self.assertEqual((again.file, again.tensor, again.remedy_key), (e.file, e.tensor, e.remedy_key))

    def test_words(self):
        from assay import _library, _words

        keys = _library.native.wording_keys()
        self.assertIn("memory-limit", keys)
        for key, words in _words.WORDS.items():
            self.assertIn(key, keys)
            self.assertNotIn("--", words)

    def test_memory(self):
        with self.assertRaises(assay.ResourceError) as caught:
            assay.random_inputs(small.model([small.node("Relu", ["x"], ["y"])], [("x", "float32", ("n",))],
                                            [("y", "float32", ("n",))]), shapes={"x": (1 << 44,)})  # fmt: skip
        self.assertIsInstance(caught.exception, MemoryError)
        self.assertEqual(caught.exception.remedy_key, "memory-limit")
        self.assertIn("memory_limit", caught.exception.remedy)

    def test_model_in_memory(self):
        with self.assertRaises(assay.InvalidModel):
            assay.Model(b"nothing of the sort")
        with self.assertRaises(assay.Error):
            assay.Model(b"")
        with self.assertRaises(TypeError):
            assay.Model(3)

    def test_unwritable(self):
        with self.assertRaises((assay.FileError, assay.NotFound)):
            assay.Model(small.identity()).save("/proc/no/such/m.onnx")


class Log(unittest.TestCase):
    def test_goes_to_logging_alone(self):
        code = (
            "import assay, logging, small_models as small\n"
            "assay.run(assay_path, ['engine', 'reference'])\n"
            "for wrong in ({'load_inputs': ['nowhere.json']}, {'outputs': ['nowhere*']}, {'memory_limit': 1}):\n"
            "    try:\n"
            "        assay.run(assay_path, ['engine', 'reference'], **wrong)\n"
            "    except assay.Error:\n"
            "        continue\n"
            "    raise SystemExit(3)\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            with open(path, "wb") as file:
                file.write(small.product(2, 8))
            silent = subprocess.run([sys.executable, "-c", f"assay_path = {path!r}\n" + code], capture_output=True,
                                    text=True, cwd=os.path.dirname(__file__))  # fmt: skip
            self.assertEqual((silent.stdout, silent.stderr, silent.returncode), ("", "", 0))
            with self.assertLogs("assay", logging.INFO) as logs:
                assay.run(path, ["engine", "reference"])
        self.assertTrue(any("engine" in line for line in logs.output))


if __name__ == "__main__":
    unittest.main()
