"""Scripts as users write them: those of introductions to these tools, those of `assay template`, and wrong ones."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import numpy as np
import onnx
from parser_test import classifier
from support import RECORDING, evaluate, numbers, recorded

ASSAY = os.environ.get("ASSAY_PROGRAM")


class ScriptTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = self._folder.name
        self.model = os.path.join(self.folder, "model.onnx")
        onnx.save(classifier(), self.model)
        self.onnx = classifier().SerializeToString()
        self.before = list(sys.path)

    def tearDown(self):
        sys.path[:] = self.before
        self._folder.cleanup()

    def script(self, text, name="script.py"):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(textwrap.dedent(text).replace("MODEL", repr(self.model)))
        return path


class Networks(ScriptTest):
    def test_rename_and_softmax_behind_the_last_output(self):
        path = self.script("""
            import tensorrt as trt
            from polygraphy import func
            from polygraphy.backend.trt import NetworkFromOnnxPath

            @func.extend(NetworkFromOnnxPath(MODEL))
            def load_network(builder, network, parser):
                network.name = "MyNetwork"
                output = network.get_output(0)
                network.unmark_output(output)
                softmax = network.add_softmax(output)
                softmax.axes = 1 << 1
                softmax.get_output(0).name = "probabilities"
                network.mark_output(softmax.get_output(0))
            """)
        made = recorded.run_network_script(path)
        self.assertEqual((made.settings["name"], made.settings["unused"], made.external_data_dir), ("MyNetwork", [], self.folder))
        x = numbers(2, 3, 6, 6)
        logits = evaluate(self.onnx, {"x": x})[0]
        e = np.exp(logits)
        np.testing.assert_allclose(evaluate(bytes(made), {"x": x})[0], e / e.sum(1, keepdims=True), rtol=1e-5)

    def test_network_layer_by_layer(self):
        path = self.script("""
            import numpy as np
            import tensorrt as trt
            from polygraphy import func
            from polygraphy.backend.trt import CreateConfig, CreateNetwork, Profile

            @func.extend(CreateNetwork())
            def custom_network(builder, network):
                x = network.add_input("tensor-0", trt.float32, (-1, 1, 28, 28))
                rng = np.random.default_rng(0)
                def weights(*shape):
                    return np.ascontiguousarray(rng.standard_normal(shape).astype(np.float32) / 10)
                conv = network.add_convolution_nd(x, 8, [5, 5], weights(8, 1, 5, 5), weights(8))
                conv.padding_nd = [2, 2]
                relu = network.add_activation(conv.get_output(0), trt.ActivationType.RELU)
                pool = network.add_pooling_nd(relu.get_output(0), trt.PoolingType.MAX, [2, 2])
                pool.stride_nd = [2, 2]
                shuffle = network.add_shuffle(pool.get_output(0))
                shuffle.first_transpose = (0, 2, 3, 1)
                shuffle.reshape_dims = (-1, 14 * 14 * 8)
                dense = network.add_constant([14 * 14 * 8, 10], weights(14 * 14 * 8, 10))
                product = network.add_matrix_multiply(shuffle.get_output(0), trt.MatrixOperation.NONE, dense.get_output(0),
                                                      trt.MatrixOperation.NONE)
                softmax = network.add_softmax(product.get_output(0))
                softmax.axes = 1 << 1
                topk = network.add_topk(softmax.get_output(0), trt.TopKOperation.MAX, 1, 1 << 1)
                network.mark_output(softmax.get_output(0))
                network.mark_output(topk.get_output(1))
                topk.get_output(1).name = "best"

            @func.extend(CreateConfig(profiles=[Profile().add("tensor-0", min=(1, 1, 28, 28), opt=(4, 1, 28, 28), max=(16, 1, 28, 28))]))
            def custom_config(builder, network, config):
                config.set_flag(trt.BuilderFlag.FP16)
                config.max_workspace_size = 1 << 30
            """)
        made = recorded.run_network_script(path, "custom_network")
        probabilities, best = evaluate(bytes(made), {"tensor-0": numbers(3, 1, 28, 28)})
        self.assertEqual((probabilities.shape, best.shape, best.dtype), ((3, 10), (3, 1), np.int32))
        np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-5)
        np.testing.assert_array_equal(best[:, 0], probabilities.argmax(1))
        config = recorded.run_config_script(path, "custom_config", made)
        self.assertTrue(config["precisions"]["fp16"])
        self.assertEqual(config["workspace_limit"], 1 << 30)
        self.assertEqual(
            config["profiles"],
            [{"shapes": {"tensor-0": {"min": [1, 1, 28, 28], "opt": [4, 1, 28, 28], "max": [16, 1, 28, 28]}}, "values": {}}])
        json.dumps(config)

    def test_without_polygraphy(self):
        path = self.script("""
            import tensorrt as trt

            def load_network():
                logger = trt.Logger(trt.Logger.ERROR)
                builder = trt.Builder(logger)
                network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
                parser = trt.OnnxParser(network, logger)
                with open(MODEL, "rb") as model:
                    if not parser.parse(model.read()):
                        raise RuntimeError(parser.get_error(0))
                for i in range(network.num_layers):
                    layer = network.get_layer(i)
                    if layer.type == trt.LayerType.CONVOLUTION:
                        layer.precision = trt.DataType.FLOAT
                        layer.set_output_type(0, trt.DataType.FLOAT)
                return builder, network, parser
            """)
        made = recorded.run_network_script(path)
        self.assertEqual(made.settings["layer_precisions"], {"conv": {"dtype": "float32", "nodes": ["conv"]}})

    def test_post_processing(self):
        path = self.script("""
            import tensorrt as trt

            def postprocess(network):
                for layer in network:
                    if layer.name == "relu":
                        network.mark_output(layer.get_output(0))

            def postprocess_config(builder, network, config):
                config.set_flag(trt.BuilderFlag.BF16)
                config.builder_optimization_level = 5
            """)
        made = recorded.run_network_postprocess_script(path, network_onnx=self.onnx)
        self.assertEqual([o.name for o in onnx.load_from_string(made).graph.output], ["y", "r"])
        config = recorded.run_config_postprocess_script(
            path,
            network_onnx=self.onnx,
            config={
                "version": 1, "precisions": {"fp16": True, "tf32": False}, "workspace_limit": 12, "timing_cache": {"path": "/t"},
                "unused": ["before"],
                "profiles": [{"shapes": {"x": {"min": [1, 3, 6, 6], "opt": [1, 3, 6, 6], "max": [2, 3, 6, 6]}}, "values": {}}]
            })
        self.assertEqual({p for p, on in config["precisions"].items() if on}, {"fp16", "bf16"})
        self.assertEqual((config["optimization_level"], config["workspace_limit"], config["unused"], config["timing_cache"]),
                         (5, 12, ["before"], {"path": "/t"}))
        self.assertEqual(config["profiles"][0]["shapes"]["x"]["max"], [2, 3, 6, 6])


class Configurations(ScriptTest):
    def test_extended(self):
        path = self.script("""
            import tensorrt as trt
            from polygraphy import func
            from polygraphy.backend.trt import CreateConfig

            @func.extend(CreateConfig())
            def load_config(config):
                config.set_flag(trt.BuilderFlag.FP16)

            @func.extend(CreateConfig())
            def with_all(builder, network, config):
                assert network.get_layer(0).name == "conv"
                config.set_flag(trt.BuilderFlag.FP16)
            """)
        for name in ("load_config", "with_all"):
            config = recorded.run_config_script(path, name, self.onnx)
            self.assertTrue(config["precisions"]["fp16"])
            self.assertEqual(config["profiles"][0]["shapes"]["x"]["opt"], [1, 3, 6, 6])

    def test_everything_of_a_configuration(self):
        path = self.script("""
            import tensorrt as trt

            class Calibrator(trt.IInt8EntropyCalibrator2):
                def get_batch_size(self):
                    return 1
                def get_batch(self, names):
                    return None
                def read_calibration_cache(self):
                    return b"TRT-8601-EntropyCalibration2"
                def write_calibration_cache(self, cache):
                    pass

            def load_config(builder, network):
                config = builder.create_builder_config()
                config.flags = 1 << int(trt.BuilderFlag.INT8) | 1 << int(trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS)
                config.set_flag(trt.BuilderFlag.REFIT)
                config.set_flag(trt.BuilderFlag.GPU_FALLBACK)
                assert config.get_flag(trt.BuilderFlag.REFIT) and not config.get_flag(trt.BuilderFlag.TF32)
                config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 20)
                config.set_memory_pool_limit(trt.MemoryPoolType.TACTIC_DRAM, 1 << 20)
                config.builder_optimization_level = 1
                config.profiling_verbosity = trt.ProfilingVerbosity.NONE
                config.hardware_compatibility_level = trt.HardwareCompatibilityLevel.AMPERE_PLUS
                config.set_tactic_sources(1 << int(trt.TacticSource.CUBLAS))
                config.set_timing_cache(config.create_timing_cache(b"times"), ignore_mismatch=False)
                config.int8_calibrator = Calibrator()
                class Selector(trt.IAlgorithmSelector):
                    pass
                config.algorithm_selector = Selector()
                profile = builder.create_optimization_profile()
                profile.set_shape("x", (1, 3, 6, 6), (2, 3, 6, 6), (4, 3, 6, 6))
                profile.set_shape_input("s", [1], [2], [3])
                assert config.add_optimization_profile(profile) == 0
                assert config.add_optimization_profile(builder.create_optimization_profile()) == -1
                return config
            """)
        config = recorded.run_config_script(path, network_onnx=self.onnx)
        unused = config.pop("unused")
        for words in ("GPU_FALLBACK", "TACTIC_DRAM", "hardware_compatibility_level AMPERE_PLUS", "tactic sources",
                      "algorithm_selector", "int8_calibrator"):
            self.assertEqual(len([n for n in unused if words in n]), 1, words)
        self.assertEqual(len(unused), 6)
        self.assertEqual(
            config, {
                "version": 1, "precision_constraints": "obey", "optimization_level": 1, "workspace_limit": 1 << 20,
                "is_refittable": True, "precisions": {
                    "tf32": False, "fp16": False, "bf16": False, "int8": True, "fp8": False, "int4": False, "fp4": False
                }, "strips_weights": False, "use_timing_cache_only": False, "disables_timing_cache": False,
                "profiling_verbosity": "none", "timing_cache": {"base64": "dGltZXM="}, "calibration": {
                    "calibrator": "Calibrator", "algorithm": "ENTROPY_CALIBRATION_2",
                    "cache": "VFJULTg2MDEtRW50cm9weUNhbGlicmF0aW9uMg=="
                }, "profiles": [{
                    "shapes": {"x": {"min": [1, 3, 6, 6], "opt": [2, 3, 6, 6], "max": [4, 3, 6, 6]}},
                    "values": {"s": {"min": [1], "opt": [2], "max": [3]}}
                }]
            })

    def test_profiles_that_fall(self):
        path = self.script("""
            def load_config(builder, network):
                profile = builder.create_optimization_profile()
                profile.set_shape("x", (2, 3), (1, 3), (4, 3))
            """)
        with self.assertRaisesRegex(recorded.ScriptError, "script.py:4.*must not fall"):
            recorded.run_config_script(path, network_onnx=self.onnx)


class Wrong(ScriptTest):
    CASES = [
        ("def other(): pass\ndef another(): pass", "no function 'load_network' in it; it has other, another"),
        ("x = 1", "it has none"),
        ("load_network = 3", "'load_network' is int"),
        ("def load_network(:", "script.py:1: .*SyntaxError"),
        ("import no_such_module", "script.py:1: ModuleNotFoundError"),
        ("def load_network():\n    return 5", "returned a value of type int"),
        ("def load_network():\n    pass", "returned nothing.*@func.extend"),
        ("def helper():\n    raise ValueError('bad')\n\ndef load_network():\n    helper()",
         "script.py:2, in helper: ValueError: bad"),
        ("import sys\ndef load_network():\n    sys.exit(3)", "script.py:3, in load_network: it ended by sys.exit"),
        ("def load_network(builder):\n    pass", "load_network.*TypeError"),
        ("from tensorrt import Runtime", "script.py:1: ImportError: tensorrt.Runtime is not served"),
        ("import polygraphy.tools.args", "polygraphy.tools is not served by assay"),
        ("from polygraphy import cuda", "polygraphy.cuda is not served"),
        ("from polygraphy.backend.trt import TrtRunner", "TrtRunner is not served"),
        ("import tensorrt as trt\ndef load_network():\n    return trt.Builder(None).create_network()", "no outputs"),
        ("class load_network:\n    def __call__(self):\n        return (1, 2)", r"returned \(int, int\)"),
    ]

    def test_sentences(self):
        for text, words in self.CASES:
            with self.subTest(words), self.assertRaisesRegex(recorded.ScriptError, words) as caught:
                recorded.run_network_script(self.script(text))
            self.assertIn("script.py", str(caught.exception))
        with self.assertRaisesRegex(recorded.ScriptError, "no such script"):
            recorded.run_network_script(os.path.join(self.folder, "none.py"))
        with self.assertRaisesRegex(recorded.ScriptError, "IBuilderConfig"):
            recorded.run_config_script(self.script("def load_config(builder, network):\n    return None"), network_onnx=self.onnx)

    def test_line_of_a_wrong_layer(self):
        path = self.script("""
            import numpy as np
            import tensorrt as trt
            from polygraphy import func
            from polygraphy.backend.trt import CreateNetwork

            @func.extend(CreateNetwork())
            def load_network(builder, network):
                x = network.add_input("x", trt.float32, (1, 3))
                layer = network.add_constant((4,), np.zeros(3, np.float32))
                network.mark_output(layer.get_output(0))
            """)
        with self.assertRaisesRegex(recorded.ScriptError, r"script.py:10: .*3 weights"):
            recorded.run_network_script(path)

    def test_helpers_beside_the_script(self):
        self.script("def outputs(network):\n    return [network.get_layer(0).get_output(0)]", "beside.py")
        path = self.script("import beside\n\ndef postprocess(network):\n    network.mark_output(beside.outputs(network)[0])")
        self.assertEqual(
            len(onnx.load_from_string(recorded.run_network_postprocess_script(path, network_onnx=self.onnx)).graph.output), 2)


class Isolation(ScriptTest):
    def test_ours_comes_before_what_is_installed(self):
        for package in ("tensorrt", "polygraphy"):
            os.makedirs(os.path.join(self.folder, package))
            with open(os.path.join(self.folder, package, "__init__.py"), "w") as file:
                file.write("raise RuntimeError('the wrong one')")
        path = self.script("import tensorrt, polygraphy\ndef postprocess(network):\n    pass")
        recorded.run_network_postprocess_script(path, network_onnx=self.onnx)

    def test_from_a_zip_without_numpy_or_onnx(self):
        """Where NumPy is not there, networks without arrays are still made; and the packages run from a zip."""
        import zipfile
        archive = os.path.join(self.folder, "recording.zip")
        with zipfile.ZipFile(archive, "w") as file:
            for root, _, names in os.walk(RECORDING):
                for name in names:
                    if name.endswith(".py"):
                        full = os.path.join(root, name)
                        file.write(full, os.path.join("recording", os.path.relpath(full, RECORDING)))
        packages = os.path.join(archive, "recording")
        path = self.script("""
            import tensorrt as trt
            from polygraphy import func
            from polygraphy.backend.trt import NetworkFromOnnxPath

            @func.extend(NetworkFromOnnxPath(MODEL))
            def load_network(builder, network, parser):
                soft = network.add_softmax(network.get_output(0))
                network.mark_output(soft.get_output(0))
            """)
        program = (
            f"import sys; sys.path.insert(0, {packages!r}); sys.modules['numpy'] = None; sys.modules['onnx'] = None; import recorded; "
            f"sys.stdout.buffer.write(recorded.run_network_script({path!r}))")
        done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(len(onnx.load_from_string(done.stdout).graph.output), 2)


@unittest.skipUnless(ASSAY, "no program assay was given, so its templates were not run")
class Templates(ScriptTest):
    def template(self, *words):
        path = os.path.join(self.folder, "template.py")
        subprocess.run([ASSAY, "template", *words, "-o", path, "-q"], check=True)
        return path

    def test_networks(self):
        with self.assertRaisesRegex(recorded.ScriptError, "no outputs"):  # an empty network, for the user to fill
            recorded.run_network_script(
                self.template("trt-network", "--strongly-typed", "--mark-unfused-tensors-as-debug-tensors"))
        x = numbers(1, 3, 6, 6)
        plain = evaluate(self.onnx, {"x": x})[0]
        made = recorded.run_network_script(self.template("trt-network", self.model, "--plugin-instancenorm"))
        np.testing.assert_array_equal(evaluate(bytes(made), {"x": x})[0], plain)
        made = recorded.run_network_script(
            self.template("trt-network", self.model, "--onnx-outputs", "mark", "all", "--onnx-exclude-outputs", "c"))
        self.assertEqual([o.name for o in onnx.load_from_string(made).graph.output], ["r", "p", "y"])
        made = recorded.run_network_script(self.template("trt-network", self.model, "--onnx-outputs", "r", "--fp-to-fp16"))
        found = onnx.load_from_string(made)
        self.assertEqual(found.graph.initializer[0].data_type, onnx.TensorProto.FLOAT16)
        self.assertEqual(evaluate(bytes(made), {"x": x})[0].shape, (1, 5, 6, 6))

    def test_configurations(self):
        config = recorded.run_config_script(self.template("trt-config"), network_onnx=self.onnx)
        self.assertEqual((config["unused"], config["precisions"]["tf32"]), ([], False))
        config = recorded.run_config_script(self.template(
            "trt-config", "--fp16", "--tf32", "--refittable", "--builder-optimization-level", "2", "--precision-constraints",
            "prefer", "--trt-min-shapes", "x:[1,3,6,6]", "--trt-opt-shapes", "x:[2,3,6,6]", "--trt-max-shapes", "x:[8,3,6,6]"),
                                            network_onnx=self.onnx)
        self.assertEqual({p for p, on in config["precisions"].items() if on}, {"fp16", "tf32"})
        self.assertEqual(
            (config["optimization_level"], config["is_refittable"], config["precision_constraints"], config["unused"]),
            (2, True, "prefer", []))
        self.assertEqual(config["profiles"][0]["shapes"]["x"]["max"], [8, 3, 6, 6])
