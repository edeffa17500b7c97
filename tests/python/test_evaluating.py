"""Evaluations over data sets: `assay.eval` and `assay.merge`."""

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

BACKENDS = ["reference", "engine"]


class Evaluations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "model.onnx")
        model = small.product(1, 16)
        assay.save(model, cls.path)
        (cls.input,) = assay.load(cls.path).inputs
        shape = [1 if not isinstance(d, int) else d for d in cls.input.shape]
        random = np.random.default_rng(2)
        cls.x = random.standard_normal((30, *shape)).astype(np.float32)
        cls.labels = random.integers(0, 3, 30)
        cls.data = os.path.join(cls.folder.name, "data")
        os.mkdir(cls.data)
        for i, (x, label) in enumerate(zip(cls.x, cls.labels)):
            np.savez(os.path.join(cls.data, f"{i:03}.npz"), **{cls.input.name: x, "labels": label})

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def evaluate(self, **settings):
        return assay.eval(self.path, BACKENDS, self.data, labels="labels", metrics=["top1", "sqnr"], **settings)

    def test_same_bytes_as_the_program(self):
        output = os.path.join(self.folder.name, "result.json")
        words = [self.path, "--ref", "--engine", "--data", self.data, "--labels", "labels", "--metric", "top1,sqnr", "-o", output]
        subprocess.run([sys.executable, "-m", "assay", "eval", *words], check=True, stdout=subprocess.DEVNULL)
        whole = self.evaluate()
        self.assertEqual(whole.text, pathlib.Path(output).read_text())
        parts = [self.evaluate(shard=f"{i}/4") for i in range(4)]
        self.assertEqual(assay.merge(parts[::-1]).text, whole.text)
        self.assertEqual(assay.merge([assay.merge(parts[2:], incomplete=True), *parts[:2]]).text, whole.text)
        self.assertEqual(assay.Evaluation.load(output).text, whole.text)
        with self.assertRaises(assay.InvalidArgument) as caught:
            assay.merge(parts[:3])
        self.assertIn("22:30", str(caught.exception))
        self.assertEqual(assay.merge(parts[:3], incomplete=True).missing, [(22, 30)])
        with self.assertRaises(assay.InvalidArgument):
            assay.merge([parts[0], parts[0]])

    def test_parts_of_one_that_stays_open(self):
        from assay import _evaluate, _native

        whole = self.evaluate(judge=2, threads=1)
        words = {"labels": "labels", "metrics": ["top1", "sqnr"], "judge": 2, "threads": 1}
        parts = _native.OpenEvaluation(_evaluate.evaluation_settings(self.path, BACKENDS, self.data, dict(words)))
        texts = [parts.of_range("20:30"), parts.of_range("0:7")]
        with self.assertRaisesRegex(assay.InvalidArgument, "there are 30 samples"):
            parts.of_range("25:31")
        texts.append(parts.of_range("7:20"))  # opened again
        self.assertEqual(_native.merge_evaluations(texts, False), whole.text)

        samples = [({self.input.name: x}, label) for x, label in zip(self.x, self.labels)]
        whole = assay.eval(self.path, BACKENDS, iter(samples), **{k: v for k, v in words.items() if k != "labels"})
        settings = _evaluate.evaluation_settings(self.path, BACKENDS, None, dict(words))
        settings["data_identity"] = [("kind", "iterable"), ("name", "iterable")]
        parts = _native.OpenEvaluation(settings)
        texts = [parts.of_items(_evaluate.feeds(samples[first : first + 11]), first) for first in (11, 0, 22)]
        self.assertEqual(_native.merge_evaluations(texts, False, 30), whole.text)

    def test_options_that_decide(self):
        output = os.path.join(self.folder.name, "options.json")
        words = [self.path, "--ref", "--engine", "--data", self.data, "--labels", "labels", "--metric", "top1,sqnr", "--threads", "1", "--bf16",
                 "--builder-optimization-level", "1", "-o", output]  # fmt: skip
        subprocess.run([sys.executable, "-m", "assay", "eval", *words], check=True, stdout=subprocess.DEVNULL)
        build = {"bf16": True, "optimization_level": 1}
        self.assertEqual(self.evaluate(threads=1, build=build).text, pathlib.Path(output).read_text())
        first = self.evaluate(threads=1, build=build, shard="0/2")
        for settings, part in (({"threads": 2, "build": build}, "--threads"), ({"threads": 1, "build": {"optimization_level": 1}}, "--bf16"),
                               ({"threads": 1, "build": build, "ranges": {self.input.name: (0, 1)}}, "--val-range")):  # fmt: skip
            with self.subTest(part), self.assertRaisesRegex(assay.InvalidArgument, part):
                assay.merge([first, self.evaluate(**settings, shard="1/2")])

    def test_figures(self):
        whole = self.evaluate()
        found = whole.metric("top1", "engine")
        self.assertEqual(found.count, 30)
        self.assertTrue(found.low <= found.value <= found.high)
        self.assertEqual(whole.samples, 30)
        self.assertEqual(whole.covered, [(0, 30)])
        self.assertEqual((whole.bad_samples, whole.judged, whole.timing, whole.missing), (0, [], [], []))
        self.assertIn("top1 of engine", repr(whole))
        with self.assertRaises(KeyError):
            whole.metric("top5")

    def test_iterables(self):
        pairs = (({self.input.name: x}, label) for x, label in zip(self.x, self.labels))
        found = assay.eval(self.path, BACKENDS, pairs, metrics=["top1"], data_name="mine")
        self.assertEqual(found.metric("top1", "ref").value, self.evaluate().metric("top1", "ref").value)
        self.assertEqual(json.loads(found.text)["data"]["name"], "mine")
        feeds = ({self.input.name: x} for x in self.x)
        self.assertEqual(assay.eval(self.path, BACKENDS, feeds).metric("sqnr").backend, "engine")
        with self.assertRaises(assay.InvalidArgument):
            assay.eval(self.path, BACKENDS, iter(()))

    def test_errors(self):
        bad = ({self.input.name: x if i != 5 else x[..., :3]} for i, x in enumerate(self.x))
        with self.assertRaises(assay.InvalidArgument) as caught:
            assay.eval(self.path, BACKENDS, bad)
        self.assertIn("in sample 5", str(caught.exception))
        self.assertIn("skip_bad_samples=True", str(caught.exception))
        bad = ({self.input.name: x if i != 5 else x[..., :3]} for i, x in enumerate(self.x))
        found = assay.eval(self.path, BACKENDS, bad, skip_bad_samples=True)
        self.assertEqual([sample for sample, _ in found.first_bad_samples], [5])

        def dies():
            yield {self.input.name: self.x[0]}
            raise ValueError("no more")

        with self.assertRaises(ValueError):
            assay.eval(self.path, BACKENDS, dies())
        with self.assertRaises(assay.InvalidArgument):
            assay.eval(self.path, BACKENDS, self.data, nonsense=1)
        with self.assertRaises(assay.InvalidArgument):
            assay.eval(self.path, BACKENDS, self.data, metrics=3)

    def test_files(self):
        path = os.path.join(self.folder.name, "saved.json")
        whole = self.evaluate(judge=1)
        whole.save(path)
        self.assertEqual(assay.Evaluation.load(path).text, whole.text)
        self.assertEqual({j["verdict"] for j in whole.judged} - {"agrees", "rounding only"}, set())
        pathlib.Path(path).write_text(whole.text.replace('"count"', '"kount"', 1))
        with self.assertRaises(assay.InvalidArgument) as caught:
            assay.Evaluation.load(path)
        self.assertIn("saved.json is damaged", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
