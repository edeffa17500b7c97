"""Searches for the cause of a failure."""

import concurrent.futures
import itertools
import time
import unittest

import numpy as np
import small_models as small

import assay


def logarithm():
    nodes = [small.node("Log", ["x"], ["l"]), small.node("Mul", ["l", "l"], ["y"])]
    return small.model(nodes, [("x", "float32", (2, 3))], [("y", "float32", (2, 3))])


FEED = {"x": np.array([[0, 1, 2], [3, 4, -1]], np.float32)}


def has(operator):
    return lambda model: any(n["op_type"] == operator for n in model.nodes)


class NotNumbers(unittest.TestCase):
    def test_where_they_come_from(self):
        found = assay.debug.nan(logarithm(), data=[FEED])
        self.assertTrue(found)
        self.assertEqual((found.cause.tensor, found.cause.op_type, found.cause.kind, found.cause.outputs), ("l", "Log", "made", ["y"]))
        self.assertEqual((found.cause.nan, found.cause.infinite, found.cause.size), (1, 1, 6))
        element = found.cause.elements[0]
        self.assertEqual((element.at, element.reason), ((1, 2), "logarithm of a negative number"))
        self.assertEqual((element.operands[0].tensor, element.operands[0].at, element.operands[0].least), ("x", (1, 2), -1.0))
        self.assertIn("negative number", repr(found))
        self.assertIn("negative number", found._repr_html_())

    def test_nothing(self):
        for backend in ("reference", "engine"):
            found = assay.debug.nan(logarithm(), backend, 2, ranges={"x": (1, 2)})
            self.assertFalse(found)
            self.assertEqual((found.cause, found.origins, found.iterations, found.tensors), (None, [], 2, 3))
            self.assertIn("no node", repr(found))

    def test_what_is_given(self):
        found = assay.debug.nan(small.identity(), data=[{"x": np.full((2, 3), np.nan, np.float32)}])
        self.assertEqual((found.cause, [o.kind for o in found.origins]), (None, ["given"]))

    def test_overflow_in_the_models_types(self):
        nodes = [small.node("Mul", ["x", "x"], ["s"]), small.node("Div", ["s", "x"], ["y"])]
        data = small.model(nodes, [("x", "float16", (1,))], [("y", "float16", (1,))])
        feed = {"x": np.array([300], np.float16)}
        found = assay.debug.nan(data, data=[feed])
        self.assertEqual((found.cause.tensor, found.cause.infinite, bool(found)), ("s", 1, True))
        self.assertFalse(assay.debug.nan(data, data=[feed], stored_types=False))


class Ranges(unittest.TestCase):
    def test_what_leaves_a_type(self):
        found = assay.debug.range(logarithm(), data=[{"x": np.array([[1, 1e30, 2], [3, 4, 1]], np.float32)}])
        self.assertEqual([t.tensor for t in found.overflowing("float16")], ["x"])
        self.assertEqual(found.overflowing("bfloat16"), [])
        self.assertEqual((found.ranked_by, found.tensors[0].tensor, found["x"].kind, found["l"].zeros), ("float16", "x", "input", 2))
        self.assertAlmostEqual(found["x"].largest / 1e30, 1, places=6)
        self.assertIn("1 overflow in float16", repr(found))
        self.assertIn("overflow", found._repr_html_())
        with self.assertRaises(KeyError):
            found["no such tensor"]

    def test_types_and_weights(self):
        data = small.product(2, 16)
        with_weights = assay.debug.range(data, "engine", types=["bfloat16"])
        self.assertEqual({t.kind for t in with_weights.tensors}, {"input", "weight", "result"})
        without = assay.debug.range(data, types=["float8_e4m3fn"], weights=False)
        self.assertEqual(({t.kind for t in without.tensors}, list(without["x"].formats)), ({"input", "result"}, ["float8_e4m3fn"]))
        for types in (["float32"], ["no type"], []):
            with self.subTest(types), self.assertRaises(assay.InvalidArgument):
                assay.debug.range(data, types=types)


class Divergence(unittest.TestCase):
    def test_backends_that_agree(self):
        found = assay.debug.diverge(small.product(2, 16, 3), data=2)
        self.assertFalse(found)
        self.assertEqual((found.iterations, found.compared, found.differing), (2, 7, 0))
        self.assertIn("none", repr(found))

    def test_before_and_after_an_edit(self):
        before = small.model(
            [small.node("Relu", ["x"], ["a"]), small.node("Sigmoid", ["a"], ["b"]), small.node("Neg", ["b"], ["y"])],
            [("x", "float32", (2, 3))], [("y", "float32", (2, 3))],
        )  # fmt: skip
        after = small.model(
            [small.node("Relu", ["x"], ["a"]), small.node("Tanh", ["a"], ["b"]), small.node("Neg", ["b"], ["y"])],
            [("x", "float32", (2, 3))], [("y", "float32", (2, 3))],
        )  # fmt: skip
        found = assay.debug.diverge(before, "reference", against=after)
        self.assertTrue(found)
        (first,) = found.divergences
        self.assertEqual((first.first_tensor, first.errs, list(first.outputs), first.followers), ("b", "neither", ["y"], 1))
        self.assertEqual(first.first_nodes, ["'b_node' (Sigmoid)"])
        self.assertGreater(first.difference.error, 0.1)
        self.assertIn("'b_node' (Sigmoid)", repr(found))
        self.assertIn("b_node", found._repr_html_())
        self.assertFalse(assay.debug.diverge(before, "reference", against=after, atol=10))

    def test_what_cannot_be(self):
        data = small.identity()
        for kwargs in (
            {"backends": "reference"}, {"backends": ["engine", "engine"]}, {"backends": []}, {"backends": ["engine"] * 3},
            {"atol": -1.0}, {"rtol": float("nan")}, {"data": []}, {"data": 0},
            {"data": [{"x": np.zeros((4, 4, 4), np.float32)}]},
        ):  # fmt: skip
            with self.subTest(kwargs), self.assertRaises(assay.InvalidArgument):
                assay.debug.diverge(data, **kwargs)
        with self.assertRaises(assay.NotFound):
            assay.debug.diverge(data, "no such backend")


class Reduction(unittest.TestCase):
    def test_the_smallest_part(self):
        seen = []

        def check(model):
            seen.append(model.node_count)
            return has("Relu")(model)

        found = assay.debug.reduce(small.product(2, 16, 4), check)
        self.assertEqual([n["op_type"] for n in found.model.nodes], ["Relu"])
        self.assertEqual((found.nodes, seen[0], found.checks, found.is_flaky), (8, 8, len(seen), False))
        self.assertIn("1 of 8 node(s)", repr(found))

    def test_only_the_same_failure_counts(self):
        def check(model):
            if has("MatMul")(model) and has("Relu")(model):
                return "both"
            return "one" if has("Relu")(model) else None

        data = small.product(2, 16, 2)
        found = assay.debug.reduce(data, check)
        self.assertEqual((sorted(n["op_type"] for n in found.model.nodes), found.failure), (["MatMul", "Relu"], "both"))
        found = assay.debug.reduce(data, check, any_failure=True)
        self.assertEqual([n["op_type"] for n in found.model.nodes], ["Relu"])

    def test_failures_that_come_and_go(self):
        count = 0

        def check(model):
            nonlocal count
            count += 1
            return has("Relu")(model) and count % 2 == 0

        found = assay.debug.reduce(small.product(2, 16, 2), check, repeat=4)
        self.assertTrue(found.is_flaky)
        self.assertEqual([n["op_type"] for n in found.model.nodes], ["Relu"])

    def test_side_by_side(self):
        data = small.product(2, 16, 4)
        alone = assay.debug.reduce(data, has("Relu"))
        running, most = set(), []

        def slowly(model, number):
            running.add(number)
            most.append(len(running))
            time.sleep(0.02)
            running.discard(number)
            return has("Relu")(model)

        numbers = itertools.count()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = assay.debug.reduce(data, lambda m: pool.submit(slowly, m, next(numbers)), jobs=3)
            self.assertEqual(found.model.to_bytes(), alone.model.to_bytes())
            self.assertGreater(max(most), 1)  # what is given up may still run beside three

            def fails(model):
                raise ZeroDivisionError("the check")

            with self.assertRaisesRegex(ZeroDivisionError, "the check"):
                assay.debug.reduce(data, lambda m: pool.submit(fails, m), jobs=3)
        with self.assertRaisesRegex(assay.InvalidArgument, "0 checks cannot run"):
            assay.debug.reduce(data, has("Relu"), jobs=0)

    def test_anonymous(self):
        found = assay.debug.reduce(small.product(2, 16), has("MatMul"), anonymise=True)
        self.assertFalse(found.has_own_names)
        self.assertEqual(found.own_weights, 0)
        names = {n["name"] for n in found.model.nodes} | {i.name for i in found.model.inputs} | set(found.model.initializers)
        self.assertFalse(names & {"p0_node", "x", "w0", "p0", "y"}, names)

    def test_shapes(self):
        data = small.model([small.node("Relu", ["x"], ["y"])], [("x", "float32", ("n", 3))], [("y", "float32", ("n", 3))])
        shapes = []
        assay.debug.reduce(data, lambda m: (shapes.append(m.inputs[0].shape), True)[1], shapes={"x": (4, 3)})
        self.assertEqual(shapes[0], (4, 3))

    def test_exceptions_and_models_that_pass(self):
        def fails(model):
            raise ZeroDivisionError("the check")

        with self.assertRaisesRegex(ZeroDivisionError, "the check"):
            assay.debug.reduce(small.product(2, 16), fails)
        with self.assertRaisesRegex(assay.InvalidArgument, "passes on the whole model") as caught:
            assay.debug.reduce(small.product(2, 16), lambda m: False)
        self.assertNotIn("option", str(caught.exception))
        with self.assertRaises(assay.InvalidArgument):
            assay.debug.reduce(small.product(2, 16), lambda m: True, repeat=0)
        with self.assertRaises(TypeError):
            assay.debug.reduce(small.product(2, 16), None)


class Precision(unittest.TestCase):
    def test_what_stays_in_float32(self):
        data = small.product(2, 32, 3)
        found = assay.debug.precision(data, "float16", "120dB")
        self.assertEqual((found.layers, len(found.held), found.lowered), (6, 6, "float16"))
        engine = assay.build(data, optimization_level=0, **found.build)
        feed = assay.random_inputs(data)
        exact = assay.evaluate(data, feed, ["y"])[0]
        np.testing.assert_allclose(engine(**feed)["y"], exact, rtol=1e-6, atol=1e-7)
        self.assertIn("6 of 6", repr(found))
        self.assertIn("<table", found._repr_html_())

    def test_nothing_has_to(self):
        feeds = [assay.random_inputs(small.product(2, 32, 2), iteration=i) for i in range(2)]
        found = assay.debug.precision(small.product(2, 32, 2), "float16", "rel:0.1", feeds)
        self.assertEqual(found.held, [])
        lowered = assay.build(small.product(2, 32, 2), optimization_level=0, **found.build)
        self.assertIn("float16", lowered.type_summary)

    def test_open_extents(self):
        data = small.model(
            [small.node("MatMul", ["x", "w"], ["y"])], [("x", "float32", ("n", 8))], [("y", "float32", ("n", 8))],
            [small.initializer("w", np.eye(8, dtype=np.float32))],
        )  # fmt: skip
        self.assertEqual(assay.debug.precision(data, "float16", "20dB", shapes={"x": (3, 8)}).held, [])

    def test_what_cannot_be(self):
        data = small.product(2, 16)
        for args, what in (
            (("float32", "40dB"), "float16, bfloat16 or int8"), (("float16", "40"), "no accuracy"), (("float16", "40dB", []), "no iteration"),
        ):  # fmt: skip
            with self.subTest(args), self.assertRaisesRegex(assay.InvalidArgument, what):
                assay.debug.precision(data, *args)


if __name__ == "__main__":
    unittest.main()
