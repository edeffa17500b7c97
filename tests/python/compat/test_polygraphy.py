"""The module polygraphy: loaders, runners, comparisons, files that the real package reads and writes."""

import contextlib
import io
import json
import os
import resource
import sys
import tempfile
import unittest
from importlib.machinery import PathFinder

from support import PACKAGE, CompatTest, run_python

try:
    import onnx
except ImportError:
    onnx = None


def identity_model(path, op="Identity"):
    """y = op(x) over [1, n]."""
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], name="the_node")], "g", [helper.make_tensor_value_info("x", float32, [1, "n"])],
                              [helper.make_tensor_value_info("y", float32, [1, "n"])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def has_real():
    spec = PathFinder.find_spec("polygraphy", [p for p in sys.path if "compat" not in p])
    return spec is not None and not spec.origin.startswith(PACKAGE)


class PolygraphyTest(CompatTest):
    def setUp(self):
        super().setUp()
        from polygraphy.logger import G_LOGGER

        self.log = G_LOGGER
        before = G_LOGGER.module_severity
        G_LOGGER.module_severity = G_LOGGER.CRITICAL
        self.addCleanup(setattr, G_LOGGER, "module_severity", before)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)


class TestComparing(PolygraphyTest):
    def pair(self, a, b):
        from polygraphy.comparator import IterationResult

        return IterationResult({"y": a}, 0.1, "a"), IterationResult({"y": b}, 0.2, "b")

    def test_metrics_of_the_library_are_those_of_numpy(self):
        """What a quiet comparison measures in C++ is what one that shows its errors computes in NumPy."""
        import numpy as np
        from polygraphy.comparator import SimpleCompareFunc

        rng = np.random.default_rng(3)
        for dtype in ("float16", "float32", "float64", "int8", "uint8", "int16", "int32", "uint32"):
            a, b = ((rng.standard_normal((7, 9)) * 20).astype(dtype) for _ in range(2))
            b.ravel()[::5] = 0
            for statistic in ("elemwise", "max", "mean", "median"):
                func = SimpleCompareFunc(atol=5, rtol=0.3, check_error_stat=statistic)
                quiet = func(*self.pair(a, b))["y"]
                with self.log.verbosity(self.log.INFO), contextlib.redirect_stdout(io.StringIO()) as said:
                    shown = func(*self.pair(a, b))["y"]
                self.assertIn("Minimum Required Tolerance", said.getvalue())
                self.assertEqual(bool(quiet), bool(shown), (dtype, statistic))
                for field, value in shown.metric_values().items():
                    if value is not None:
                        np.testing.assert_allclose(getattr(quiet, field), value, rtol=2e-6, err_msg=f"{dtype} {field}")

    def test_single_metrics_agree_with_numpy(self):
        import numpy as np
        from polygraphy.comparator import CosineSimilarityCompareFunc, L2CompareFunc, PsnrCompareFunc, SnrCompareFunc
        from polygraphy.comparator.util import cast_up

        rng = np.random.default_rng(5)
        a = rng.standard_normal((33, 17)).astype(np.float32)
        b = a + rng.standard_normal(a.shape).astype(np.float32) * 1e-3
        for func in (L2CompareFunc(), CosineSimilarityCompareFunc(), PsnrCompareFunc(), SnrCompareFunc()):
            np.testing.assert_allclose(func._metric(a, b), float(func._compute(cast_up(a), cast_up(b))), rtol=1e-5, err_msg=type(func).__name__)

    def test_pairs_of_functions_under_their_older_names(self):
        import numpy as np
        from polygraphy.comparator import CompareFunc, Comparator, RunResults

        a = np.random.default_rng(1).standard_normal((5, 7)).astype(np.float32)
        for made, b, passes in (
            (CompareFunc.distance_metrics(l2_tolerance=1e-3), a + np.float32(1e-6), True),
            (CompareFunc.distance_metrics(l2_tolerance=1e-3), 2 * a, False),  # the same direction
            (CompareFunc.distance_metrics(l2_tolerance=100, cosine_similarity_threshold=0.9), -a, False),
            (CompareFunc.quality_metrics(psnr_tolerance=20, snr_tolerance=20), a + np.float32(1e-6), True),
            (CompareFunc.quality_metrics(psnr_tolerance=20, snr_tolerance=200), a + np.float32(1e-2), False),
        ):
            first, second = self.pair(a, b)
            found = made(first, second)
            self.assertEqual((list(found), bool(found["y"]), len(found["y"])), (["y"], passes, 2))
            results = RunResults([("a", [first]), ("b", [second])])
            self.assertEqual(bool(Comparator.compare_accuracy(results, compare_func=made)), passes)

    def groups(self, *chosen):
        import argparse

        from polygraphy.tools import args

        made = {cls: cls() for cls in (args.LoggerArgs, args.ModelArgs, args.DataLoaderArgs, args.OnnxrtSessionArgs, args.OnnxrtRunnerArgs,
                                       args.RunnerSelectArgs, args.ComparatorRunArgs, args.ComparatorPostprocessArgs, args.ComparatorCompareArgs,
                                       args.CompareFuncSimpleArgs, args.CompareFuncIndicesArgs, args.CompareFuncL2Args,
                                       args.CompareFuncCosineSimilarityArgs, args.CompareFuncPsnrArgs, args.CompareFuncSnrArgs,
                                       args.CompareFuncPerceptualMetricsArgs)}  # fmt: skip
        parser = argparse.ArgumentParser()
        for group in made.values():
            group.register(made)
        for group in made.values():
            group.add_parser_args(parser)
        parsed = parser.parse_args(chosen)
        for group in made.values():
            group.parse(parsed)
        return {cls.__name__: group for cls, group in made.items()}

    def test_argument_groups_of_comparisons(self):
        from polygraphy.exception import PolygraphyException
        from polygraphy.tools.script import Script

        groups = self.groups("--compare", "l2", "simple", "--l2-threshold", "0.5", "y:0.25", "--rtol", "1e-3", "--check-error-stat", "max", "--fail-fast")
        functions = groups["ComparatorCompareArgs"].build_compare_funcs()
        self.assertEqual([type(f).__name__ for f in functions], ["L2CompareFunc", "SimpleCompareFunc"])
        self.assertEqual(groups["CompareFuncL2Args"].l2_threshold, {"": 0.5, "y": 0.25})
        default = self.groups()
        self.assertEqual(default["ComparatorCompareArgs"].build_compare_funcs(), [None])
        self.assertTrue(all(a.default is None for a in default["CompareFuncSimpleArgs"].group._group_actions))
        self.assertEqual(self.groups("--postprocess", "top-6,axis=-1", "out:top-1")["ComparatorPostprocessArgs"].postprocess, {"": (6, -1), "out": 1})
        for wrong in (("--check-error-stat", "fake"), ("--postprocess", "worst-3")):
            with self.assertRaisesRegex(PolygraphyException, "Invalid"):
                self.groups(*wrong)
        for clash in (("--check-average",), ("--warm-up", "3"), ("--load-outputs", "a/b", "--save-outputs", "a")):
            with self.assertRaises(PolygraphyException):
                self.groups(*clash)["ComparatorCompareArgs"].add_to_script(Script(), None)

    def test_program_of_argument_groups(self):
        from polygraphy.tools.script import Script

        groups = self.groups("--onnxrt", "--iterations", "2", "--validate", "--postprocess", "top-1", "--compare", "indices", "--save-accuracy-results", "f.json")
        script = Script()
        results = groups["ComparatorRunArgs"].add_to_script(script)
        success = groups["ComparatorCompareArgs"].add_to_script(script, results)
        text = str(script)
        compile(text, "script", "exec")
        self.assertEqual(str(success), "success")
        for part in ("Comparator.run(runners, data_loader=data_loader, streaming=True)", "Comparator.postprocess(runs, TopKPostprocessFunc({'': 1}))",
                     "Comparator.validate(runs, check_inf=True, check_nan=True)", "accuracy_results.save('f.json')", "IndicesCompareFunc()"):  # fmt: skip
            self.assertIn(part, text)

    def test_nan_infinity_and_shapes(self):
        import numpy as np
        from polygraphy.comparator import SimpleCompareFunc

        nan, inf = np.array([np.nan], np.float32), np.array([np.inf], np.float32)
        self.assertFalse(SimpleCompareFunc()(*self.pair(nan, nan))["y"])
        self.assertFalse(SimpleCompareFunc()(*self.pair(inf, inf))["y"])
        self.assertTrue(SimpleCompareFunc(infinities_compare_equal=True)(*self.pair(inf, inf))["y"])
        rows, columns = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(6)
        self.assertIs(SimpleCompareFunc()(*self.pair(rows, columns))["y"], False)
        self.assertTrue(SimpleCompareFunc(check_shapes=False)(*self.pair(rows, columns))["y"])

    def test_summary_counts_iterations(self):
        import numpy as np
        from polygraphy.comparator import Comparator, RunResults, SimpleCompareFunc

        results = RunResults()
        results.add([{"y": np.zeros(3)}] * 3, runner_name="a")
        results.add([{"y": np.zeros(3)}, {"y": np.ones(3)}, {"y": np.zeros(3)}], runner_name="b")
        accuracy = Comparator.compare_accuracy(results, compare_func=SimpleCompareFunc(check_error_stat="mean", atol=0.4))
        self.assertFalse(accuracy)
        self.assertEqual(accuracy[0].stats(), (2, 1, 3))
        self.assertTrue(Comparator.compare_accuracy(results, compare_func=SimpleCompareFunc(check_error_stat="mean", atol=0.4), check_average=True))
        accuracy.save(self.path("accuracy.json"))
        self.assertEqual(type(accuracy).load(self.path("accuracy.json"))[0].stats(), (2, 1, 3))

    def test_streams_of_different_lengths_are_said(self):
        import numpy as np
        from polygraphy.comparator import Comparator, RunResults

        results = RunResults()
        results.add([{"y": np.zeros(3)}] * 3, runner_name="a")
        results.add([{"y": np.zeros(3)}] * 2, runner_name="b")
        with self.log.verbosity(self.log.WARNING), contextlib.redirect_stdout(io.StringIO()) as said:
            accuracy = Comparator.compare_accuracy(results)
        self.assertIn("Only the first 2 iteration(s)", said.getvalue())
        self.assertEqual(accuracy[0].stats()[2], 2)


@unittest.skipUnless(onnx, "NOT TESTED: loaders of models take those of the package onnx")
class TestRunning(PolygraphyTest):
    def test_engine_against_a_runner_of_ones_own(self):
        import numpy as np
        from polygraphy.backend.base import BaseRunner
        from polygraphy.backend.trt import CreateConfig, EngineFromNetwork, NetworkFromOnnxPath, Profile, TrtRunner
        from polygraphy.common import TensorMetadata
        from polygraphy.comparator import Comparator, DataLoader

        class Mine(BaseRunner):
            def get_input_metadata_impl(self):
                return TensorMetadata().add("x", np.float32, (1, -1))

            def infer_impl(self, feed_dict):
                self.inference_time = 0.0
                return {"y": np.abs(feed_dict["x"]) + np.float32(self.off)}

        path = identity_model(self.path("abs.onnx"), "Abs")
        config = CreateConfig(profiles=[Profile().add("x", (1, 1), (1, 4), (1, 8))])
        mine, loader = Mine(name="mine"), DataLoader(iterations=3, val_range=(-1, 1), input_metadata=TensorMetadata().add("x", None, (1, 5)))
        for off, agrees in ((0, True), (0.5, False)):
            mine.off = off
            results = Comparator.run([TrtRunner(EngineFromNetwork(NetworkFromOnnxPath(path), config)), mine], data_loader=loader)
            self.assertEqual([len(iterations) for iterations in results.values()], [3, 3])
            self.assertEqual(bool(Comparator.compare_accuracy(results)), agrees)

    def test_bad_inputs_are_refused(self):
        import numpy as np
        from polygraphy.backend.trt import EngineFromNetwork, NetworkFromOnnxPath, TrtRunner
        from polygraphy.exception import PolygraphyException

        path = identity_model(self.path("m.onnx"))
        with contextlib.redirect_stderr(io.StringIO()), TrtRunner(EngineFromNetwork(NetworkFromOnnxPath(path))) as runner:
            for feed, text in (({}, "not found"), ({"x": np.zeros((1, 1), np.float64)}, "unexpected dtype"),
                               ({"x": np.zeros((2, 1), np.float32)}, "incompatible shape"), ({"x": np.zeros((1, 1), np.float32), "z": 1}, "Extra")):
                with self.assertRaisesRegex(PolygraphyException, text):
                    runner.infer(feed)
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(PolygraphyException):
            NetworkFromOnnxPath(self.path("nothing.onnx"))()

    def test_edits(self):
        from polygraphy.backend.onnx import extract_subgraph, fold_constants, infer_shapes, modify_outputs, onnx_from_path
        from polygraphy.common import TensorMetadata

        path = identity_model(self.path("m.onnx"), "Exp")
        model = onnx_from_path(path)
        model.graph.node.extend([onnx.helper.make_node("Neg", ["y"], ["z"])])
        marked = modify_outputs(model, outputs=["*"], copy=True)
        self.assertEqual([o.name for o in marked.graph.output], ["y", "z"])
        self.assertEqual(len(model.graph.output), 1)
        self.assertEqual([i.name for i in infer_shapes(marked).graph.output], ["y", "z"])
        part = extract_subgraph(marked, TensorMetadata().add("y", "float32", (1, 2)), TensorMetadata().add("z", "float32", None))
        self.assertEqual([n.op_type for n in part.graph.node], ["Neg"])
        self.assertEqual(len(fold_constants(part).graph.node), 1)

    def test_memory_stays_constant_over_1000_iterations(self):
        """Streamed, and kept on disk: what 1,000 iterations of 1 MB take has to be far below 1 GB."""
        import numpy as np
        from polygraphy import config
        from polygraphy.backend.base import BaseRunner
        from polygraphy.common import TensorMetadata
        from polygraphy.comparator import Comparator, SimpleCompareFunc

        class Copies(BaseRunner):
            def get_input_metadata_impl(self):
                return TensorMetadata().add("x", np.float32, (1 << 18,))

            def infer_impl(self, feed_dict):
                self.inference_time = 0.0
                return {"y": feed_dict["x"] * np.float32(2)}

        def feeds(count):
            for i in range(count):
                yield {"x": np.full(1 << 18, i, np.float32)}

        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

        def streamed(count):
            stream = Comparator.run([Copies(), Copies()], data_loader=feeds(count), streaming=True)
            return Comparator.compare_accuracy(stream, compare_func=SimpleCompareFunc(check_error_stat="max"))

        self.assertTrue(streamed(10))
        before = peak()
        accuracy = streamed(1000)
        self.assertEqual(accuracy[0].stats(), (1000, 0, 1000))
        config.ARRAY_SWAP_THRESHOLD_MB = 0
        try:
            results = Comparator.run([Copies()], data_loader=feeds(60))
        finally:
            config.ARRAY_SWAP_THRESHOLD_MB = -1
        self.assertEqual(float(results[0][1][59]["y"][0]), 118.0)
        files = [lazy.tmpfile.name for result in results[0][1] for lazy in result.dct.values()]
        self.assertTrue(all(map(os.path.exists, files)))
        del results
        self.assertFalse(any(map(os.path.exists, files)))
        self.assertLess(peak() - before, 100, "MB more than 10 iterations took")

    def test_argument_groups_make_a_program(self):
        import argparse

        from polygraphy.tools.args import ModelArgs, OnnxInferShapesArgs, OnnxLoadArgs, OnnxrtRunnerArgs, OnnxrtSessionArgs
        from polygraphy.tools.args.base import ArgGroups
        from polygraphy.tools.script import Script

        path, groups, parser = identity_model(self.path("m.onnx")), ArgGroups(), argparse.ArgumentParser()
        for group in (ModelArgs(), OnnxInferShapesArgs(), OnnxLoadArgs(), OnnxrtSessionArgs(), OnnxrtRunnerArgs()):
            groups[type(group)] = group
            group.register(groups)
            group.add_parser_args(parser)
        args = parser.parse_args([path, "--shape-inference", "--onnx-outputs", "y"])
        for group in groups.values():
            group.parse(args)
        self.assertEqual([o.name for o in groups[OnnxLoadArgs].load_onnx().graph.output], ["y"])
        script, names = Script(), {}
        groups[OnnxrtRunnerArgs].add_to_script(script)
        exec(str(script), names)
        self.assertEqual([type(r).__name__ for r in names["runners"]], ["OnnxrtRunner"])


class TestFiles(PolygraphyTest):
    WRITE = """
import numpy as np, sys
from polygraphy.comparator import RunResults
from polygraphy.json import save_json
r = RunResults()
r.add([{"y": np.arange(6, dtype=np.float32).reshape(2, 3), "flags": np.array([True, False])}, {"y": np.ones((1, 0), np.float16)}], runtime=0.25, runner_name="one")
r.add([{"z": np.array(3, dtype=np.int64)}], runner_name="two")
r.save(sys.argv[1])
save_json([{"x": np.array([1.5, -2], dtype=np.float64)}], sys.argv[2])
"""
    READ = """
import numpy as np, sys
from polygraphy.comparator import RunResults
from polygraphy.json import load_json
r = RunResults.load(sys.argv[1])
assert list(r.keys()) == ["one", "two"], list(r.keys())
first, second = r["one"]
assert first["y"].dtype == np.float32 and first["y"].tolist() == [[0, 1, 2], [3, 4, 5]] and first["flags"].tolist() == [True, False]
assert first.runtime == 0.25 and first.runner_name == "one" and second["y"].shape == (1, 0)
assert r["two"][0]["z"].shape == () and int(r["two"][0]["z"]) == 3
assert load_json(sys.argv[2])[0]["x"].tolist() == [1.5, -2]
"""

    @unittest.skipUnless(has_real(), "NOT TESTED: the real package polygraphy is not installed here")
    def test_the_real_package_reads_and_writes_the_same_files(self):
        real = ["-m", "assay.compat", "--real", "polygraphy"]
        texts = {}
        for writer, reader in ((["-m", "assay.compat"], real), (real, ["-m", "assay.compat"])):
            files = [self.path("results.json"), self.path("inputs.json")]
            for way, code in ((writer, self.WRITE), (reader, self.READ)):
                rc, out, err = run_python(*way, "-c", code, *files)
                self.assertEqual(rc, 0, out + err)
            texts[tuple(writer)] = [open(f).read() for f in files]
        self.assertEqual(*texts.values())

    def test_another_object_is_refused(self):
        from polygraphy.comparator import RunResults
        from polygraphy.exception import PolygraphyException

        for text, what in (("[1]", "cannot be decoded into a RunResults"), ('{"polygraphy_class": "Nothing"}', "Could not decode serialized type: Nothing")):
            with open(self.path("f.json"), "w") as file:
                file.write(text)
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaisesRegex(PolygraphyException, what):
                RunResults.load(self.path("f.json"))
        with open(self.path("f.json"), "w") as file:
            file.write('{"lst": [')
        with self.assertRaises(json.JSONDecodeError):
            RunResults.load(self.path("f.json"))

    def test_folders_of_iterations(self):
        import numpy as np
        from polygraphy.comparator import RunResults, StreamingDataLoader
        from polygraphy.exception import PolygraphyException
        from polygraphy.json.serde import IterationWriter

        with IterationWriter(self.path("inputs")) as writer:
            for i in range(3):
                writer.append({"x": np.array([i])})
        self.assertEqual(sorted(os.listdir(self.path("inputs"))), [f"{i:010}.json" for i in range(3)])
        self.assertEqual([int(feed["x"][0]) for feed in StreamingDataLoader(self.path("inputs"))], [0, 1, 2])
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaisesRegex(PolygraphyException, "not empty"):
            IterationWriter(self.path("inputs"))
        self.assertEqual(len(list(RunResults().split())), 0)


class TestSmallThings(PolygraphyTest):
    def test_version_and_names(self):
        from importlib import metadata

        import polygraphy

        self.assertEqual((polygraphy.__version__, metadata.version("polygraphy")), ("0.53.6", "0.53.6"))
        self.assertTrue(polygraphy.__file__.startswith(os.path.realpath(os.path.dirname(polygraphy.__path__[0]))))

    def test_data_are_those_of_upstream(self):
        import numpy as np
        from polygraphy.common import TensorMetadata
        from polygraphy.comparator import DataLoader

        metadata = TensorMetadata().add("a", np.float32, (2, 2)).add("b", np.int64, (3,)).add("c", bool, (2,))
        made = DataLoader(seed=7, iterations=2, input_metadata=metadata)[1]
        random = np.random.RandomState(8)
        np.testing.assert_array_equal(made["a"], random.random_sample((2, 2)).astype(np.float32))
        np.testing.assert_array_equal(made["b"], random.randint(0, 2, 3, dtype=np.int64))
        np.testing.assert_array_equal(made["c"], random.randint(False, 2, 2, dtype=bool))

    def test_functions_of_loaders(self):
        import inspect

        from polygraphy.backend.common import bytes_from_path, invoke_from_script, save_bytes

        self.assertEqual(save_bytes(lambda: b"abc", path=self.path("f")), b"abc")
        self.assertEqual(bytes_from_path(self.path("f")), b"abc")
        self.assertEqual(str(inspect.signature(invoke_from_script)), "(path, name, *args, **kwargs)")
        with open(self.path("s.py"), "w") as file:
            file.write("def add(a, b=1):\n    return a + b\n")
        self.assertEqual((invoke_from_script(self.path("s.py"), "add", 2), invoke_from_script(self.path("s.py"), "add", 2, b=5)), (3, 7))

    def test_log(self):
        from polygraphy.logger import LogMode
        from polygraphy.logger.logger import Logger

        log = Logger(severity={"": Logger.WARNING, "comparator": Logger.VERBOSE})
        with contextlib.redirect_stdout(io.StringIO()) as said:
            log.info("nothing")
            for _ in range(2):
                log.warning("once", mode=LogMode.ONCE)
            with log.indent(), log.verbosity(Logger.INFO):
                log.info(lambda: "two\nlines")
        self.assertEqual(said.getvalue(), "[W] once\n[I]     two\n        lines\n")
        self.assertEqual(log.module_severity.get("comparator/compare.py"), Logger.VERBOSE)

    def test_the_program_is_the_tools(self):
        rc, out, err = run_python("-m", "assay.compat", "-c", "import sys; from polygraphy.tools import main; sys.exit(main(['--version']))")
        self.assertEqual(rc, 0, err)
        self.assertIn("0.53.6", out)


if __name__ == "__main__":
    unittest.main()
