"""Memory after many calls of each binding of the native module is that after a few."""

import ctypes
import inspect
import os
import sys
import tempfile
import time
import unittest

import numpy as np
import small_models as small

import assay
from assay import _native
from engine_support import X, built

LONG = bool(os.environ.get("ASSAY_LONG_TESTS"))
CALLS = 100_000 if LONG else 300
# Calls that take long are made for so long at most, each time that they are counted.
SECONDS = 30 if LONG else 0.2
LEAST = 60
# What stays may be a cache's, but not something for each call: even the smallest block of the heap has 32 bytes.
SLACK, EACH = 48 << 10, 8

# Of these one call for the whole process is meant.
ONCE = {"set_error_maker", "set_words", "set_log_receiver", "prefer_onnxruntime"}


class Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def heap_bytes():
    """In use, of C and C++; None where the C library does not say."""
    try:
        tell = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return None
    tell.restype = Heap
    heap = tell()
    return heap.uordblks + heap.hblkhd


def bindings():
    """The names of all functions, methods and properties."""
    found = set()
    for name, item in vars(_native).items():
        if inspect.isclass(item):
            for member in vars(item):
                if not member.startswith("_") or member == "__len__":
                    found.add(f"{name}.{member}")
        elif callable(item) and not name.startswith("_"):
            found.add(name)
    return found


class Work:
    """A call for each binding; what they work on is made once."""

    def __init__(self, folder):
        self.folder = folder
        data = small.product(2, 16)
        self.model = assay.Model(data)
        self.runtime = assay.Runtime(threads=1)
        self.engine = self.runtime.build(data, optimization_level=0, refittable=True)
        self.fast = self.runtime.build(small.identity(), optimization_level=0)
        self.context, self.bound = (self.fast._native.create_context() for _ in range(2))
        self.bound.bind("x", X)
        self.y = assay.zeros((2, 3))
        self.bound.bind("y", self.y)
        self.feed, self.x = {"x": X}, np.ones((2, 16), np.float32)
        self.plan = self.fast.to_bytes()
        self.file = os.path.join(folder, "model.onnx")
        self.model.save(self.file)
        self.session = _native.open_session(self.model._native, "reference")
        self.cache = _native.TimingCache(self.runtime._native)
        self.stream, self.event = _native.Stream(), _native.Event()
        self.refitter = _native.Refitter(self.engine._native)
        self.w = np.ones((16, 16), np.float32)
        self.tokens = small.model(
            [small.node("Gather", ["t", "input_ids"], ["logits"])], [("input_ids", "int64", (1, "n"))],
            [("logits", "float32", (1, "n", 16))], [small.initializer("t", np.eye(16, dtype=np.float32)[::-1])],
        )  # fmt: skip

    def path(self, name):
        return os.path.join(self.folder, name)

    def recorded(self):
        self.stream.begin_capture()
        self.stream.enqueue(self.bound)
        return self.stream.end_capture()

    def refit(self):
        refitter = _native.Refitter(self.engine._native)
        refitter.set_weights("w0", self.w)
        refitter.refit()

    def both_events(self):
        first, second = _native.Event(), _native.Event()
        for event in (first, second):
            event.record(self.stream)
            event.synchronize()
        return _native.Event.elapsed_milliseconds(first, second)

    def tapped(self):
        self.context.set_tap(lambda name, value: None)
        self.context.run(self.feed)
        self.context.set_tap(None)

    def profiled(self):
        self.context.set_profiler(lambda name, ms: None)
        self.context.run(self.feed)
        self.context.set_profiler(None)

    def memory(self):
        """Device memory that nothing else uses."""
        context, size = self.engine._native.create_context(), max(64, self.engine._native.device_memory_size)
        block = assay.zeros((size,), "uint8")
        context.set_device_memory(block.ctypes.data, size, block)
        context.run({"x": self.x})

    def settings(self):
        return {"model": self.file, "runners": ["reference"], "iterations": 1}

    def calls(self):
        model, engine, fast, context = self.model._native, self.engine._native, self.fast._native, self.context
        read = lambda thing, *names: {f"{type(thing).__name__}.{n}": lambda n=n: getattr(thing, n) for n in names}  # noqa: E731
        return {
            "wording_keys": _native.wording_keys,
            "drain_log": _native.drain_log,
            **read(model, "inputs", "outputs", "name", "doc_string", "producer_name", "producer_version", "ir_version", "path",
                   "node_count", "opsets", "metadata", "initializer_names"),
            "Model.initializer": lambda: model.initializer("w0").sum(),
            "Model.save": lambda: model.save(self.path("saved.onnx")),
            "Model.to_bytes": model.to_bytes,
            "Model.copy": model.copy,
            "Model.fold_constants": lambda: model.copy().fold_constants(),
            "Model.simplify": lambda: model.copy().simplify(),
            "Model.convert_opset": lambda: model.copy().convert_opset(17),
            "Model.extract": lambda: model.extract(outputs=["p0"]),
            "Model.with_outputs": lambda: model.with_outputs(mark_all=True),
            "Model.infer_shapes": model.infer_shapes,
            "Model.to_float16": model.to_float16,
            "Model.toposort": model.toposort,
            "Model.inspect": model.inspect,
            "Model.text": lambda: model.text(layers=True),
            "Model.stats_json": model.stats_json,
            "Model.stats_text": model.stats_text,
            "Model.unsupported": model.unsupported,
            "diff_models": lambda: _native.diff_models(model, model),
            "load_model": lambda: _native.load_model(self.file),
            "parse_model": lambda: _native.parse_model(small.identity()),
            "lint": lambda: _native.lint(self.file),
            "evaluate": lambda: _native.evaluate(model, {"x": self.x}, ["y"]),
            "runtime": lambda: _native.runtime(1),
            **read(self.runtime._native, "threads", "environment"),
            "Runtime.load": lambda: self.runtime._native.load(self.saved_plan()),
            "Runtime.deserialize": lambda: self.runtime._native.deserialize(self.plan),
            "Runtime.build": lambda: self.runtime.build(small.identity(), optimization_level=0),
            **read(engine, "name", "inputs", "outputs", "profiles", "is_refittable", "lacks_weights", "device_memory_size"),
            "Engine.create_context": engine.create_context,
            "Engine.save": lambda: fast.save(self.path("saved.plan")),
            "Engine.serialize": fast.serialize,
            "Engine.information": fast.information,
            "Engine.layers": fast.layers,
            "Engine.text": lambda: fast.text(True),
            "Context.run": lambda: context.run(self.feed),
            "Context.bind": lambda: self.bound.bind("x", X),
            "Context.bind_address": lambda: self.bound.bind_address("y", self.y.ctypes.data, self.y.nbytes, self.y),
            "Context.execute": self.bound.execute,
            "Context.cancel": context.cancel,
            "Context.set_profile": lambda: context.set_profile(0),
            **read(context, "profile", "has_all_input_shapes"),
            "Context.set_input_shape": lambda: context.set_input_shape("x", (2, 3)),
            "Context.tensor_shape": lambda: context.tensor_shape("y"),
            "Context.set_profiler": self.profiled,
            "Context.set_tap": self.tapped,
            "Context.set_device_memory": self.memory,
            "Refitter()": lambda: _native.Refitter(engine),
            "Refitter.all_weights": self.refitter.all_weights,
            "Refitter.missing_weights": self.refitter.missing_weights,
            "Refitter.set_weights": lambda: self.refitter.set_weights("w0", self.w),
            "Refitter.refit": self.refit,
            "TimingCache()": lambda: _native.TimingCache(self.runtime._native),
            "TimingCache.__len__": self.cache.__len__,
            "TimingCache.foreign_size": lambda: self.cache.foreign_size,
            "TimingCache.merge": lambda: self.cache.merge(_native.TimingCache(self.runtime._native)),
            "TimingCache.save": lambda: self.cache.save(self.path("times")),
            "TimingCache.load": lambda: self.cache.load(self.path("times")),
            "TimingCache.to_bytes": self.cache.to_bytes,
            "TimingCache.read": lambda: self.cache.read(self.cache.to_bytes()),
            "zeros": lambda: _native.zeros((2, 3), "float32"),
            "Stream()": _native.Stream,
            "Stream.enqueue": lambda: (self.stream.enqueue(self.bound), self.stream.enqueue(lambda: None), self.stream.synchronize()),
            "Stream.synchronize": self.stream.synchronize,
            "Stream.query": self.stream.query,
            "Stream.begin_capture": self.recorded,
            "Stream.end_capture": self.recorded,
            "Recording.launch": lambda: (self.recorded().launch(self.stream), self.stream.synchronize()),
            "Recording.__len__": lambda: len(self.recorded()),
            "Event()": _native.Event,
            "Event.record": lambda: (self.event.record(self.stream), self.stream.synchronize()),
            "Event.wait": lambda: (self.event.record(self.stream), self.event.wait(self.stream), self.stream.synchronize()),
            "Event.synchronize": self.event.synchronize,
            "Event.query": self.event.query,
            "Event.elapsed_milliseconds": self.both_events,
            **read(self.session, "inputs", "outputs", "last_run_seconds"),
            "Session.run": lambda: self.session.run({"x": self.x}),
            "open_session": lambda: _native.open_session(model, "reference"),
            "backends": _native.backends,
            "random_inputs": lambda: _native.random_inputs(model),
            "judge": lambda: assay.judge(self.model, {"x": self.x}, {"a": {"y": self.x}, "b": {"y": self.x}}),
            "compare": lambda: assay.compare(self.model, ["reference", "reference"], data=1),
            "save_results": lambda: self.saved_results(),
            "load_results": lambda: _native.load_results(self.saved_results()),
            "run": lambda: assay.run(self.file, ["reference"], iterations=1),
            "generate": lambda: assay.generate(self.tokens, [3], ["engine", "reference"], max_tokens=2, on_token=lambda *_: None),
            "quantize": lambda: assay.quantize(self.model, 1, runtime=self.runtime, measure_cost=True, optimization_level=0),
            "quantize_weights": lambda: assay.quantize_weights(self.model),
            "calibration_part": self.calibration_part,
            "merge_calibration_parts": lambda: _native.merge_calibration_parts(self.runtime._native, [self.calibration_part()], 1),
            "type_name": lambda: _native.type_name("float16"),
            "find_non_finite": lambda: assay.debug.nan(self.model, data=[{"x": self.x}]),
            "measure_ranges": lambda: assay.debug.range(self.model, data=[{"x": self.x}]),
            "find_divergence": lambda: assay.debug.diverge(self.model, data=[{"x": self.x}]),
            "reduce_model": lambda: assay.debug.reduce(self.model, lambda m: m.node_count > 1),
            "save_inputs": lambda: _native.save_inputs([{"x": self.x}], self.path("inputs.json")),
            "OpenEvaluation.of_range": lambda: self.open_evaluation(iterations=2).of_range("0:1"),
            "OpenEvaluation.of_items": lambda: self.open_evaluation().of_items([{"x": self.x}], 0),
            "run_evaluation": self.evaluation,
            "merge_evaluations": lambda: assay.merge([self.evaluation()]),
            "merge_evaluation_files": lambda: assay.Evaluation.load(self.saved_evaluation()),
            "count_samples": lambda: _native.count_samples({"run": {"model": self.file, "runners": ["reference"], "iterations": 3}}),
            "leave_out_sample": lambda: _native.leave_out_sample(self.evaluation(only="0:1").text, 1, "bad"),
        }

    def calibration_part(self):
        return _native.calibration_part(self.runtime._native, self.model._native, {"optimization_level": 0}, {"iterations": 1},
                                        ("entropy2", 0.9999, None), 0, "digest")  # fmt: skip

    def evaluation(self, **settings):
        return assay.eval(self.file, ["reference", "reference"], iterations=2, metrics=["max-error"], **settings)

    def open_evaluation(self, **run):
        run = {"model": self.file, "runners": ["reference", "reference"], **run}
        return _native.OpenEvaluation({"run": run, "metrics": ["max-error"], "data_identity": [("kind", "iterable"), ("name", "x")]})

    def saved_evaluation(self):
        path = self.path("evaluation.json")
        if not os.path.exists(path):
            self.evaluation().save(path)
        return path

    def saved_plan(self):
        path = self.path("kept.plan")
        if not os.path.exists(path):
            self.fast.save(path)
        return path

    def saved_results(self):
        path = self.path("results.json")
        assay.run(self.file, ["reference"], iterations=1, save_outputs=path)
        return path


class Leaks(unittest.TestCase):
    def repeat(self, work, calls):
        end = time.monotonic() + SECONDS
        done = 0
        while done < calls and (done < LEAST or time.monotonic() < end):
            work()
            done += 1
        return done

    def steady(self, name, work):
        self.repeat(work, max(20, CALLS // 10))
        heap, blocks = heap_bytes(), sys.getallocatedblocks()
        calls = self.repeat(work, CALLS)
        grown = (heap_bytes() or 0) - (heap or 0)
        self.assertLess(grown, SLACK + calls * EACH, f"{name}: {grown} bytes of the heap in {calls} calls")
        grown = sys.getallocatedblocks() - blocks
        self.assertLess(grown, 500 + calls // 4, f"{name}: {grown} of Python's blocks in {calls} calls")
        return calls

    def test_every_binding(self):
        with tempfile.TemporaryDirectory() as folder:
            calls = Work(folder).calls()
            self.assertEqual(bindings() - ONCE, {name for name in calls if not name.endswith("()")}, "bindings without a call here, or calls of none")
            calls["TimingCache.save"]()
            counts = {}
            for name, work in calls.items():
                with self.subTest(name):
                    counts[name] = self.steady(name, work)
            few = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count < CALLS)
            print(f"{len(counts)} bindings, {CALLS:,} calls each" + (f", of slow ones what {SECONDS} s allow: {few}" if few else ""))

    def test_arrays_that_are_copied(self):
        context = built(small.identity(shape=(64, 64))).create_context()
        feed, crooked = {"x": np.zeros((64, 64), np.float32)}, {"x": np.zeros((64, 128), np.float32)[:, ::2]}
        self.steady("run", lambda: context.run(feed))
        self.steady("run of a view", lambda: context.run(crooked))

    def test_texts(self):
        engine = built(small.identity("string", (2,)))
        self.steady("texts", lambda: engine(x=["a" * 100, "b" * 100]))

    def test_errors(self):
        context = built(small.identity()).create_context()

        def work():
            for call in (lambda: context.run({"x": X.astype(np.float64)}), lambda: context.run({"z": X}), lambda: assay.Model(b"no model"),
                         lambda: context._native.tensor_shape("no such tensor"), lambda: context._native.bind("x", object())):
                with self.assertRaises((assay.Error, TypeError)):
                    call()

        self.steady("errors", work)


if __name__ == "__main__":
    unittest.main()
