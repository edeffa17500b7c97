"""Building engines and running them: arrays in and out, callbacks, leaks, speed."""

import array
import os
import pickle
import sys
import tempfile
import time
import unittest

import numpy as np
import small_models as small
from engine_support import X, built, run_python

import assay


class ArraysIn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = built(small.identity()).create_context()

    def assert_same(self, given, expected=X):
        np.testing.assert_array_equal(self.context.run({"x": given})["y"], expected)

    def test_orders(self):
        self.assert_same(X)
        self.assert_same(np.asfortranarray(X))
        self.assert_same(np.repeat(X, 2, axis=1)[:, ::2])
        self.assert_same(X[::-1], X[::-1])
        self.assert_same(np.broadcast_to(np.float32(2), (2, 3)), np.full((2, 3), 2, np.float32))

    def test_byte_order(self):
        self.assert_same(X.astype(">f4"))

    def test_read_only(self):
        fixed = X.copy()
        fixed.flags.writeable = False
        self.assert_same(fixed)
        self.assertTrue(self.context.run({"x": fixed})["y"].flags.writeable)

    def test_misaligned(self):
        raw = np.zeros(X.nbytes + 1, np.uint8)
        raw[1:] = X.view(np.uint8).ravel()
        crooked = raw[1:].view(np.float32).reshape(2, 3)
        self.assertNotEqual(crooked.ctypes.data % 4, 0)
        self.assert_same(crooked)

    def test_other_buffers(self):
        self.assert_same(memoryview(X))
        flat = built(small.identity(shape=(6,)))
        np.testing.assert_array_equal(flat(x=array.array("f", range(6)))["y"], X.ravel())

    def test_dlpack_alone(self):
        class Capsule:
            def __dlpack__(self, **options):
                return X.__dlpack__(**options)

            def __dlpack_device__(self):
                return X.__dlpack_device__()

        self.assert_same(Capsule())

    def test_numbers(self):
        self.assert_same([[0, 1, 2], [3, 4, 5]])

    def refused(self, given, kind=assay.InvalidArgument, words=""):
        with self.assertRaises(kind) as caught:
            self.context.run(given)
        self.assertIn(words, str(caught.exception))

    def test_wrong(self):
        self.refused({"x": X.astype(np.float64)}, words="float64")
        self.refused({"x": X.T}, words="(3, 2)")
        self.refused({"x": X[0]}, words="x")
        self.refused({"x": None}, words="None")
        self.refused({"x": object()}, words="x")
        self.refused({"x": np.array(["a"])}, words="x")
        self.refused({"x": np.zeros(3, "datetime64[s]")}, words="x")
        self.refused({"x": np.zeros((2, 3), [("a", "f4")])}, words="x")
        self.refused({}, words="'x' is not fed")
        self.refused({"z": X}, assay.NotFound, "'z'")
        self.refused({"x": X, "z": X}, assay.NotFound, "'z'")
        self.assert_same(X)  # as good as before

    def test_on_a_device(self):
        class Elsewhere:
            def __dlpack__(self, **options):
                raise BufferError("on a device")

            def __dlpack_device__(self):
                return (2, 0)

        self.refused({"x": Elsewhere()}, words="DLPack")


    def test_freed_under_us(self):
        view = memoryview(X)
        view.release()
        self.refused({"x": view}, words="x")
        context = built(small.identity()).create_context()
        y = assay.zeros((2, 3))
        context.bind("x", X.copy())  # nothing but the context has it
        context.bind("y", y)
        grown = bytearray(X.nbytes)
        self.context.run({"x": np.frombuffer(grown, np.float32).reshape(2, 3)})
        context.execute()
        np.testing.assert_array_equal(y, X)

    def test_a_capsule_that_was_read_before(self):
        class Once:
            def __init__(self, array):
                self.capsule = array.__dlpack__()

            def __dlpack__(self):
                return self.capsule

            def __dlpack_device__(self):
                return (1, 0)

        array = X.copy()
        references = sys.getrefcount(array)
        once = Once(array)
        self.assert_same(once)
        for _ in range(3):
            self.refused({"x": once}, words="DLPack")
        self.assertEqual(sys.getrefcount(array), references)
        self.assert_same(array)

    def test_objects_that_raise(self):
        class Raising:
            def __init__(self, name):
                setattr(type(self), name, self.fail)

            def fail(self, *args, **kwargs):
                raise KeyError("raised by the object")

        for name in ("__array__", "__dlpack__", "__array_interface__"):
            with self.subTest(name):
                kind = type("Raising", (Raising,), {})
                self.refused({"x": kind(name)}, words="x")
        endless = []
        endless.append(endless)
        for wrong in (endless, [[1, 2, 3], [1, 2]], [["a"] * 3] * 2, b"123456", "text", {}):
            self.refused({"x": wrong}, words="x")

    def test_more_than_there_is_memory_for(self):
        open_rows = small.model([small.node("Relu", ["x"], ["y"])], [("x", "float32", ("n", 3))], [("y", "float32", ("n", 3))])
        engine = built(open_rows, profiles={"x": ((1, 3), (2, 3), (4, 3))})
        with self.assertRaises(assay.ResourceError):
            engine(x=np.broadcast_to(np.float32(1), (1 << 40, 3)))
        with self.assertRaises(assay.ResourceError):
            assay.zeros((1 << 60,))


class Types(unittest.TestCase):
    def test_round_trips(self):
        for dtype in ("uint8", "int8", "uint16", "int16", "int32", "int64", "bool", "float16", "float32", "float64",
                      "uint32", "uint64", "complex64", "complex128"):  # fmt: skip
            with self.subTest(dtype):
                x = np.array([0, 1, 5], dtype)
                y = assay.Session(small.identity(dtype, (3,)), "reference", stored_types=True).infer({"x": x})["y"]
                self.assertEqual((y.dtype, y.shape), (x.dtype, x.shape))
                np.testing.assert_array_equal(x, y)

    def test_ml_dtypes(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        for dtype in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"):
            with self.subTest(dtype):
                x = np.array([0, 1, -2 if dtype[0] != "u" else 2, 5, 7], getattr(ml_dtypes, dtype))
                y = built(small.identity(dtype, (5,)))(x=x)["y"]
                self.assertEqual(y.dtype, x.dtype)
                np.testing.assert_array_equal(x.astype(np.float32), y.astype(np.float32))

    def test_texts(self):
        engine = built(small.identity("string", (2, 2)))
        x = np.array([["a", "ü"], ["", "long enough to lie elsewhere"]], object)
        np.testing.assert_array_equal(engine(x=x)["y"], x)
        np.testing.assert_array_equal(engine(x=x.astype(str))["y"], x)
        np.testing.assert_array_equal(engine(x=[["a", "b"], ["c", "d"]])["y"], [["a", "b"], ["c", "d"]])
        with self.assertRaises(assay.InvalidArgument):
            engine(x=np.array([["a", 1], ["b", 2]], object))

    def test_scalars_and_empty_arrays(self):
        self.assertEqual(built(small.identity(shape=()))(x=np.float32(3))["y"].shape, ())
        empty = built(small.identity(shape=(0, 3)))(x=np.zeros((0, 3), np.float32))["y"]
        self.assertEqual(empty.shape, (0, 3))


class ArraysOut(unittest.TestCase):
    def setUp(self):
        self.engine = built(small.product(2, 16))
        self.context = self.engine.create_context()
        self.x = np.random.default_rng(0).standard_normal((2, 16)).astype(np.float32)

    def test_outputs_are_their_own(self):
        first = self.context.run({"x": self.x})["y"]
        kept = first.copy()
        self.context.run({"x": -self.x})
        np.testing.assert_array_equal(first, kept)
        self.assertEqual(first.ctypes.data % 64, 0)
        del self.context, self.engine
        np.testing.assert_array_equal(first, kept)
        first[0, 0] = 1

    def test_into_given_memory(self):
        out = np.zeros((2, 16), np.float32)
        result = self.context.run({"x": self.x}, out={"y": out})
        self.assertIs(result["y"], out)
        np.testing.assert_array_equal(out, self.context.run({"x": self.x})["y"])
        fixed = np.zeros((2, 16), np.float32)
        fixed.flags.writeable = False
        for bad in (np.zeros((2, 15), np.float32), np.zeros((2, 16)), np.zeros((16, 2), np.float32).T, fixed):
            with self.assertRaises(assay.InvalidArgument):
                self.context.run({"x": self.x}, out={"y": bad})
        with self.assertRaises(assay.NotFound):
            self.context.run({"x": self.x}, out={"z": out})

    def test_bound_memory(self):
        y = assay.zeros((2, 16))
        self.assertEqual(y.ctypes.data % 64, 0)
        self.context.bind("x", self.x)
        self.context.bind("y", y)
        self.context.execute()
        np.testing.assert_array_equal(y, self.engine(x=self.x)["y"])
        before = y.copy()
        self.x *= -1  # the memory is used where it lies
        self.context.execute()
        np.testing.assert_array_equal(y, self.engine(x=self.x)["y"])
        self.assertFalse((y == before).all())
        with self.assertRaises(assay.InvalidArgument):
            self.context.bind("x", self.x.astype(np.float64))
        with self.assertRaises(assay.NotFound):
            self.context.bind("z", self.x)

    def test_memory_by_dlpack_alone(self):
        class Capsule:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__()

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        wanted = self.engine(x=self.x)["y"]
        y = assay.zeros((2, 16))
        given = Capsule(y)
        self.assertIs(self.context.run({"x": self.x}, out={"y": given})["y"], given)
        np.testing.assert_array_equal(y, wanted)
        y[:] = 0
        self.context.bind("x", Capsule(self.x))
        self.context.bind("y", given)
        self.context.execute()
        np.testing.assert_array_equal(y, wanted)
        for bad in (np.zeros((2, 15), np.float32), np.zeros((2, 16)), np.zeros((16, 2), np.float32).T):
            with self.assertRaises(assay.InvalidArgument):
                self.context.run({"x": self.x}, out={"y": Capsule(bad)})
        for bad in (np.zeros((16, 2), np.float32).T, np.zeros((2, 16)), object()):
            with self.assertRaises(assay.InvalidArgument):
                self.context.bind("y", bad)

    def test_dlpack_of_outputs(self):
        y = self.context.run({"x": self.x})["y"]
        self.assertTrue(np.shares_memory(np.from_dlpack(y), y))

    def test_stream(self):
        y = assay.zeros((2, 16))
        self.context.bind("x", self.x)
        self.context.bind("y", y)
        stream = assay.Stream()
        done = []
        stream.enqueue(self.context)
        stream.enqueue(lambda: done.append(y.copy()))
        stream.synchronize()
        self.assertTrue(stream.is_done)
        np.testing.assert_array_equal(done[0], self.engine(x=self.x)["y"])
        stream.enqueue(lambda: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            stream.synchronize()


class Engines(unittest.TestCase):
    def test_bytes_and_files(self):
        engine = built(small.product(2, 16))
        x = np.ones((2, 16), np.float32)
        expected = engine(x=x)["y"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.plan")
            engine.save(path)
            for again in (assay.Engine(path), assay.Engine(engine.to_bytes()), pickle.loads(pickle.dumps(engine)),
                          assay.Runtime(threads=1).load(path)):  # fmt: skip
                np.testing.assert_array_equal(again(x=x)["y"], expected)
        plan = engine.to_bytes()
        for broken in (plan[: len(plan) // 2], b"x" + plan[1:], plan + b"more"):
            with self.assertRaises(assay.Error):
                assay.Engine(broken)
        with self.assertRaises(assay.Error):
            assay.Engine(b"no plan")
        newer = bytearray(plan)
        newer[12] += 1  # behind the mark of eight bytes and that of the byte order
        with self.assertRaisesRegex(assay.Unsupported, "version") as caught:
            assay.Engine(newer)
        self.assertEqual(caught.exception.remedy_key, "rebuild-plan")

    def test_engine_outlives_its_runtime(self):
        runtime = assay.Runtime(threads=1)
        engine = runtime.build(small.identity())
        del runtime
        np.testing.assert_array_equal(engine(x=X)["y"], X)

    def test_profiles(self):
        data = small.model([small.node("Relu", ["x"], ["y"])], [("x", "float32", ("n", 3))], [("y", "float32", ("n", 3))])
        with self.assertRaises(assay.InvalidArgument):
            built(data)
        engine = built(data, profiles=[{"x": ((1, 3), (2, 3), (4, 3))}, {"x": ((5, 3), (6, 3), (8, 3))}])
        self.assertEqual(engine.profiles[1]["x"], ((5, 3), (6, 3), (8, 3), False))
        context = engine.create_context()
        self.assertEqual(context.run({"x": np.zeros((4, 3), np.float32)})["y"].shape, (4, 3))
        with self.assertRaises(assay.InvalidArgument):
            context.run({"x": np.zeros((5, 3), np.float32)})
        context.profile = 1
        self.assertEqual(context.run({"x": np.zeros((5, 3), np.float32)})["y"].shape, (5, 3))
        context.set_input_shape("x", (6, 3))
        self.assertEqual(context.shape("y"), (6, 3))

    def test_refit(self):
        engine = built(small.product(2, 8), refittable=True)
        self.assertTrue(engine.is_refittable)
        self.assertEqual(engine.weights, ["w0"])
        eye = np.eye(8, dtype=np.float32)
        engine.refit({"w0": eye * 2})
        x = np.ones((2, 8), np.float32)
        np.testing.assert_array_equal(engine(x=x)["y"], 2 * x)
        with self.assertRaises(assay.Error):
            engine.refit({"w0": np.eye(7, dtype=np.float32)})
        with self.assertRaises(assay.Error):
            built(small.product(2, 8)).refit({"w0": eye})

    def test_stripped(self):
        data = small.product(2, 64)
        engine = built(data, strip_weights=True)
        self.assertTrue(engine.lacks_weights)
        engine = assay.Engine(engine.to_bytes())
        self.assertEqual(engine.missing_weights, ["w0"])
        with self.assertRaises(assay.InvalidArgument):
            engine.create_context()
        engine.refit(dict(assay.Model(data).initializers))
        x = np.ones((2, 64), np.float32)
        np.testing.assert_array_equal(engine(x=x)["y"], built(data)(x=x)["y"])

    def test_timing_cache(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "times.json")
            assay.build(small.product(4, 16), timing_cache=path, optimization_level=1)
            cache = assay.TimingCache(path)
            self.assertGreater(len(cache), 0)
            assay.build(small.product(4, 16), timing_cache=cache, use_timing_cache_only=True, optimization_level=1)
            self.assertEqual(len(assay.TimingCache(cache.to_bytes())), len(cache))

    def test_calibration(self):
        data = small.product(4, 16)
        random = np.random.default_rng(0)
        feeds = [{"x": random.standard_normal((4, 16)).astype(np.float32)} for _ in range(4)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "scales.txt")
            built(data, int8=True, calibrator=assay.Calibrator(feeds, cache=path))
            with open(path) as file:
                self.assertTrue(file.readline().startswith("TRT-"))
            built(data, int8=True, calibrator=assay.Calibrator(lambda inputs: 1 / 0, cache=path))  # nothing is run
        seen = []
        built(data, int8=True, calibrator=(seen.append(f) or f for f in feeds))
        self.assertEqual(len(seen), 4)
        with self.assertLogs("assay", "WARNING") as logged:  # as a sample of Polygraphy's does
            built(data, int8=True, calibrator=[{"x": np.ones((4, 16), np.float32)}])
        self.assertIn("constant", logged.output[0])
        with self.assertRaisesRegex(assay.InvalidArgument, "constant"):
            built(data, int8=True, calibrator=[{"x": np.zeros((4, 16), np.float32)}])

    def test_settings(self):
        with self.assertRaises(assay.InvalidArgument) as caught:
            built(small.identity(), no_such_setting=1)
        self.assertIn("no_such_setting", str(caught.exception))
        for settings in (
            {"workspace_limit": "much"}, {"optimization_level": 6}, {"optimization_level": -1}, {"profiles": {"x": 3}},
            {"profiles": {"x": ((2, 3), (2, 3))}}, {"layer_types": [3]}, {"layer_types": [("x",)]}, {"pinned_tactics": {"x": 3}},
            {"layer_types": [("*", "no type")]}, {"precision_constraints": "hope"},
        ):  # fmt: skip
            with self.subTest(settings), self.assertRaises(assay.InvalidArgument):
                assay.build(small.identity(), **settings)

    def test_inspection(self):
        engine = built(small.product(2, 8))
        self.assertIsInstance(engine.inspect(), dict)
        self.assertIn("x", engine.text())
        self.assertIn("x: float32[2, 8]", repr(engine))
        self.assertIn("<table", engine._repr_html_())
        self.assertTrue(engine.explanation)

    def test_times_and_values(self):
        context = built(small.product(2, 8, times=2)).create_context()
        x = np.ones((2, 8), np.float32)
        outputs, times = context.run_with_times({"x": x})
        self.assertGreater(len(times), 0)
        self.assertIn("<table", times._repr_html_())
        again, values = context.run_with_values({"x": x})
        np.testing.assert_array_equal(outputs["y"], again["y"])
        self.assertTrue(values)


class Callbacks(unittest.TestCase):
    """What a function of the user's raises comes out of the call that it was called from."""

    def test_progress(self):
        def fail(*args):
            raise KeyError("progress")

        with self.assertRaisesRegex(KeyError, "progress"):
            built(small.identity(), progress=fail)
        with self.assertRaises(assay.Cancelled):
            built(small.identity(), progress=lambda *args: False)
        seen = []
        built(small.identity(), progress=lambda *args: seen.append(args))
        self.assertTrue(seen)

    def test_handlers_of_the_log(self):
        code = """
import logging, os, sys, tempfile, small_models as small, assay
seen = []
class Failing(logging.Filter):
    def filter(self, record):
        raise KeyError("handler")
sys.unraisablehook = lambda u: seen.append(u.exc_type)
assay.logger.addFilter(Failing())
assay.logger.setLevel(1)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "m.onnx")
    assay.Model(small.product(2, 8)).save(path)
    assert assay.run(path, ["engine", "reference"])
assert seen and set(seen) == {KeyError}, seen
"""
        done = run_python(code)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_calibrator(self):
        def data():
            yield {"x": np.ones((4, 16), np.float32)}
            raise KeyError("calibrator")

        with self.assertRaisesRegex(KeyError, "calibrator"):
            built(small.product(4, 16), int8=True, calibrator=data())
        with self.assertRaises(assay.Error):
            built(small.product(4, 16), int8=True, calibrator=[{"x": np.ones((4, 17), np.float32)}])
        with self.assertRaises(assay.Error):
            built(small.product(4, 16), int8=True, calibrator=[{"x": "no array"}])

    def test_profiler_and_tap(self):
        context = built(small.product(2, 8)).create_context()

        def fail(*args):
            raise KeyError("profiler")

        context._native.set_profiler(fail)
        with self.assertRaisesRegex(KeyError, "profiler"):
            context.run({"x": np.ones((2, 8), np.float32)})
        context._native.set_profiler(None)
        context._native.set_tap(fail)
        with self.assertRaisesRegex(KeyError, "profiler"):
            context.run({"x": np.ones((2, 8), np.float32)})
        context._native.set_tap(None)
        context.run({"x": np.ones((2, 8), np.float32)})

    def test_selector(self):
        class Selector:
            def __init__(self):
                self.chosen = []

            def select(self, nodes, algorithms):
                return [0]

            def report(self, nodes, algorithm):
                self.chosen.append(algorithm[0])

        selector = Selector()
        assay.build(small.product(2, 8), algorithm_selector=selector)
        self.assertTrue(selector.chosen)

        class Failing(Selector):
            def select(self, nodes, algorithms):
                raise KeyError("selector")

        with self.assertRaisesRegex(KeyError, "selector"):
            assay.build(small.product(2, 8), algorithm_selector=Failing())


class WithoutNumPy(unittest.TestCase):
    def test_says_so_when_an_array_is_wanted(self):
        code = """
import sys
sys.modules["numpy"] = None
import array, small_models as small, assay
engine = assay.build(small.identity(shape=(6,)))
print(engine)
try:
    engine(x=array.array("f", range(6)))
except assay.Error as e:
    print(e)
"""
        done = run_python(code)
        self.assertEqual(done.stderr, "")
        self.assertIn("pip install numpy", done.stdout)

    def test_what_needs_no_arrays(self):
        code = """
import sys
sys.modules["numpy"] = None
import small_models as small, assay
data = small.chain(3)
assert not assay.debug.nan(data) and not assay.debug.diverge(data)
assert assay.debug.range(data)["x"].elements == 6
assert assay.debug.reduce(data, lambda m: m.node_count > 1).model.node_count == 2
assert assay.quantize(data, 2).model.node_count == 3
"""
        done = run_python(code)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
