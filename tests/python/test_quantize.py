"""Models in 8 and 4 bits."""

import os
import tempfile
import unittest

import numpy as np
import small_models as small

import assay


def feeds(count=4, rows=2, columns=32):
    random = np.random.default_rng(5)
    return [{"x": random.standard_normal((rows, columns)).astype(np.float32)} for _ in range(count)]


def operators(model):
    return [n["op_type"] for n in model.nodes]


def decibels(own, exact):
    return 10 * np.log10((exact**2).sum() / ((own - exact) ** 2).sum())


class EightBits(unittest.TestCase):
    def setUp(self):
        self.data = small.product(2, 32, times=3)
        self.model = assay.Model(self.data)
        self.exact = [assay.evaluate(self.model, feed, ["y"])[0] for feed in feeds()]

    def worst(self, model):
        session = assay.Session(model, "reference")
        return min(decibels(session.infer(feed)["y"], exact) for feed, exact in zip(feeds(), self.exact))

    def test_a_model_for_other_runtimes(self):
        made = assay.quantize(self.data, iter(feeds()))
        self.assertEqual(operators(made.model).count("QuantizeLinear"), 3)
        self.assertEqual(sum(made.model.initializers[n].dtype == np.int8 and made.model.initializers[n].size == 1024 for n in made.model.initializers), 3)
        self.assertGreater(self.worst(made.model), 20)
        self.assertIn("3 of 3", made.summary)
        self.assertIsNone(made.cost)
        self.assertEqual(operators(self.model).count("QuantizeLinear"), 0)

    def test_what_stays(self):
        made = assay.quantize(self.data, feeds(), float_nodes=["p1_node"])
        self.assertEqual(operators(made.model).count("QuantizeLinear"), 2)
        with self.assertRaises(assay.NotFound):
            assay.quantize(self.data, feeds(), float_nodes=["no such node"])

    def test_what_each_layer_costs(self):
        said = []
        cost = assay.quantize(self.data, feeds(), measure_cost=True, progress=said.append, optimization_level=0).cost
        self.assertEqual((len(cost.layers), cost.sets, cost.float_nodes), (3, 4, []))
        self.assertEqual({c.layer for c in cost.layers}, {"p0_node", "p1_node", "p2_node"})
        self.assertAlmostEqual(sum(c.error_share for c in cost.layers), 1, places=6)
        self.assertEqual([c.error_share for c in cost.layers], sorted((c.error_share for c in cost.layers), reverse=True))
        self.assertEqual({c.multiply_adds for c in cost.layers}, {2 * 32 * 32})
        self.assertFalse(cost.is_timed)
        self.assertTrue(any("layer 2 of 3" in s for s in said), said)
        self.assertIn("3 layer(s)", repr(cost))
        self.assertIn("p1_node", cost._repr_html_())

    def test_an_accuracy(self):
        least = self.worst(assay.quantize(self.data, feeds()).model)
        wanted = least + 3
        made = assay.quantize(self.data, feeds(), accuracy=f"{wanted}dB", optimization_level=0)
        held = made.cost.float_nodes
        self.assertTrue(0 < len(held) < 3, held)
        self.assertGreaterEqual(self.worst(made.model), wanted - 0.1)
        self.assertGreaterEqual(made.cost.answer["decibels"], wanted)
        # The same for an engine, by the scales that were found.
        with tempfile.TemporaryDirectory() as folder:
            cache = os.path.join(folder, "scales")
            with open(cache, "wb") as file:
                file.write(made.scales)
            engine = assay.build(self.model, int8=True, calibrator=assay.Calibrator([], cache=cache), float_nodes=held, optimization_level=0)
            self.assertIn(f"{3 - len(held)} in int8 of 3", engine.type_summary)
            self.assertGreaterEqual(min(decibels(engine(x=f["x"])["y"], e) for f, e in zip(feeds(), self.exact)), wanted - 0.1)

    def test_caches_of_scales(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = os.path.join(folder, "scales")
            first = assay.quantize(self.data, feeds(), cache=cache, algorithm="minmax")
            self.assertTrue(os.path.getsize(cache))
            again = assay.quantize(self.data, feeds(1), cache=cache, algorithm="minmax")
            self.assertFalse(first.model.diff(again.model))

    def test_open_extents(self):
        data = small.model(
            [small.node("MatMul", ["x", "w"], ["y"])], [("x", "float32", ("n", 32))], [("y", "float32", ("n", 32))],
            [small.initializer("w", np.eye(32, dtype=np.float32))],
        )  # fmt: skip
        made = assay.quantize(data, feeds(rows=5), profiles={"x": ((1, 32), (5, 32), (8, 32))})
        self.assertEqual(made.model.inputs[0].shape, ("n", 32))
        self.assertEqual(operators(made.model).count("QuantizeLinear"), 1)
        made = assay.quantize(data, 2, shapes={"x": (3, 32)})
        self.assertEqual(operators(made.model).count("QuantizeLinear"), 1)

    def test_exceptions_of_progress_and_data(self):
        def fails(what):
            raise KeyError("no more")

        with self.assertRaisesRegex(KeyError, "no more"):
            assay.quantize(self.data, feeds(), measure_cost=True, progress=fails)

        def broken():
            yield from feeds(1)
            raise ZeroDivisionError("data")

        with self.assertRaisesRegex(ZeroDivisionError, "data"):
            assay.quantize(self.data, broken())

    def test_what_cannot_be(self):
        for kwargs, what in (
            ({"data": 0}, "at least one"), ({"data": []}, "data"), ({"data": feeds(), "accuracy": "30"}, "no accuracy"),
            ({"data": feeds(), "algorithm": "guess"}, "algorithm"), ({"data": feeds(), "no_such": 1}, "no_such"),
            ({"data": [{"x": np.zeros((2, 3), np.float32)}]}, "x"),
        ):  # fmt: skip
            with self.subTest(kwargs), self.assertRaisesRegex(assay.InvalidArgument, what):
                assay.quantize(self.data, **kwargs)
        with self.assertRaises(assay.InvalidArgument):
            assay.quantize(assay.quantize(self.data, feeds()).model, feeds())


class FourBits(unittest.TestCase):
    def setUp(self):
        self.data = small.product(2, 32, times=2)

    def test_both_formats_hold_the_same_numbers(self):
        plain = assay.quantize_weights(self.data)
        narrow = assay.quantize_weights(self.data, format="matmul-nbits")
        self.assertEqual((plain.quantized, plain.kept, narrow.quantized), (2, [], 2))
        self.assertEqual(operators(plain.model).count("DequantizeLinear"), 2)
        self.assertEqual(operators(narrow.model).count("MatMulNBits"), 2)
        feed = feeds(1)[0]
        exact = assay.evaluate(self.data, feed, ["y"])[0]
        a, b = (assay.Session(m, "reference").infer(feed)["y"] for m in (plain.model, narrow.model))
        np.testing.assert_allclose(a, b, atol=1e-6)
        self.assertGreater(decibels(a, exact), 15)
        self.assertLess(decibels(a, exact), 60)
        np.testing.assert_allclose(narrow.model.build(optimization_level=0)(**feed)["y"], a, atol=1e-5)

    def test_what_stays(self):
        made = assay.quantize_weights(self.data, float_nodes="p0_node", block=16)
        self.assertEqual((made.quantized, [node for node, _ in made.kept]), (1, ["'p0_node' (MatMul)"]))

    def test_what_cannot_be(self):
        for kwargs in ({"block": 17}, {"block": 8}, {"format": "int3"}):
            with self.subTest(kwargs), self.assertRaises(assay.InvalidArgument):
                assay.quantize_weights(self.data, **kwargs)
        with self.assertRaises(assay.NotFound):
            assay.quantize_weights(self.data, float_nodes=["no such node"])


if __name__ == "__main__":
    unittest.main()
