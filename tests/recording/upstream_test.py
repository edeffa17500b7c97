"""The real Polygraphy over our tensorrt: its loaders must find what they call, and make the same as ours."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import onnx
from parser_test import classifier
from support import RECORDING

# Expressions of a configuration, with the names of both packages.
CONFIGS = [
    "CreateConfig()",
    "CreateConfig(fp16=True, tf32=True)",
    "CreateConfig(True, True, True)",
    "CreateConfig(int8=True, bf16=True, fp8=True)",
    "CreateConfig(precision_constraints='obey')",
    "CreateConfig(precision_constraints='prefer')",
    "CreateConfig(precision_constraints='none')",
    "CreateConfig(refittable=True, strip_plan=True, sparse_weights=True, restricted=True, direct_io=True)",
    "CreateConfig(memory_pool_limits={trt.MemoryPoolType.WORKSPACE: 1 << 24, trt.MemoryPoolType.TACTIC_DRAM: 5})",
    "CreateConfig(builder_optimization_level=4, max_aux_streams=2, profiling_verbosity=trt.ProfilingVerbosity.NONE)",
    "CreateConfig(tactic_sources=[trt.TacticSource.CUDNN])",
    "CreateConfig(tactic_sources=[])",
    "CreateConfig(hardware_compatibility_level=trt.HardwareCompatibilityLevel.AMPERE_PLUS, version_compatible=True, exclude_lean_runtime=True)",
    "CreateConfig(engine_capability=trt.EngineCapability.SAFETY, error_on_timing_cache_miss=True, disable_compilation_cache=True)",
    "CreateConfig(quantization_flags=[trt.QuantizationFlag.CALIBRATE_BEFORE_FUSION], weight_streaming=True)",
    "CreateConfig(profiles=[Profile().add('x', (1, 3, 6, 6), (2, 3, 6, 6), (4, 3, 6, 6))])",
    "CreateConfig(profiles=[Profile(), Profile().add('x', [2, 3, 6, 6], [2, 3, 6, 6], [9, 3, 6, 6])])",
    "PostprocessConfig(CreateConfig(fp16=True), lambda builder, network, config: config.set_flag(trt.BuilderFlag.DEBUG))",
]
NETWORKS = [
    "NetworkFromOnnxPath(MODEL)",
    "NetworkFromOnnxBytes(BytesFromPath(MODEL))",
    "NetworkFromOnnxPath(MODEL, plugin_instancenorm=True)",
    "ModifyNetworkOutputs(NetworkFromOnnxPath(MODEL), outputs=['r', 'p'])",
    "ModifyNetworkOutputs(NetworkFromOnnxPath(MODEL), outputs=constants.MARK_ALL)",
    "ModifyNetworkOutputs(NetworkFromOnnxPath(MODEL), outputs=constants.MARK_ALL, exclude_outputs=['c'])",
    "SetLayerPrecisions(NetworkFromOnnxPath(MODEL), {'conv': trt.float16})",
    "SetTensorDatatypes(NetworkFromOnnxPath(MODEL), {'x': trt.float16, 'y': trt.float16})",
    "SetTensorFormats(NetworkFromOnnxPath(MODEL), {'x': [trt.TensorFormat.HWC]})",
    "MarkDebug(NetworkFromOnnxPath(MODEL), ['r'])",
    "PostprocessNetwork(NetworkFromOnnxPath(MODEL), lambda network: setattr(network, 'name', 'other'))",
]
PROGRAM = """
import sys, json, hashlib
REAL, RECORDING, MODEL, CONFIGS, NETWORKS = json.loads(sys.argv[1])
sys.path.insert(0, RECORDING)
if REAL:
    import importlib.util
    folder = REAL
    spec = importlib.util.spec_from_file_location("polygraphy", folder + "/__init__.py", submodule_search_locations=[folder])
    module = importlib.util.module_from_spec(spec)
    sys.modules["polygraphy"] = module
    spec.loader.exec_module(module)
import tensorrt as trt
import recorded
from polygraphy import constants
from polygraphy.backend.common import BytesFromPath
from polygraphy.backend.trt import *
from polygraphy.logger import G_LOGGER
G_LOGGER.module_severity = 50
import polygraphy.backend.trt.loader as loader
assert loader.__file__.startswith(REAL or RECORDING), loader.__file__
results = []
for text in CONFIGS:
    loaded = NetworkFromOnnxPath(MODEL)()
    values = recorded.config_to_json(eval(text)(loaded[0], loaded[1]))
    values["unused"].sort()
    results.append(values)
for text in NETWORKS:
    loaded = eval(text)()
    results.append([hashlib.sha256(recorded.to_onnx(loaded[1])).hexdigest(), recorded.settings(loaded[1])])
print(json.dumps(results))
"""


def real_polygraphy():
    """The folder of the installed package."""
    before = sys.path[:]
    sys.path[:] = [p for p in sys.path if p != RECORDING]
    kept = {n: sys.modules.pop(n) for n in list(sys.modules) if n.split(".")[0] == "polygraphy"}
    try:
        spec = importlib.util.find_spec("polygraphy")
        return os.path.dirname(spec.origin) if spec else None
    finally:
        sys.path[:] = before
        sys.modules.update(kept)


class Upstream(unittest.TestCase):
    def test_loaders(self):
        folder = real_polygraphy()
        if folder is None:
            self.skipTest("the package polygraphy is not installed, so its loaders were not run")
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "model.onnx")
            onnx.save(classifier(), path)
            found = []
            for real in (folder, None):
                arguments = json.dumps([real, RECORDING, path, CONFIGS, NETWORKS])
                done = subprocess.run([sys.executable, "-c", textwrap.dedent(PROGRAM), arguments], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr[-3000:])
                found.append(json.loads(done.stdout.splitlines()[-1]))
        for text, theirs, ours in zip(CONFIGS + NETWORKS, *found):
            with self.subTest(text):
                self.assertEqual(ours, theirs)


class Files(unittest.TestCase):
    """What is saved, byte for byte."""

    PROGRAM = """
import sys, json, collections
REAL, RECORDING, folder = json.loads(sys.argv[1])
if not REAL:
    sys.path.insert(0, RECORDING)
import numpy as np
import polygraphy.json
assert polygraphy.json.__file__.startswith(RECORDING) != bool(REAL)
from polygraphy.comparator import IterationResult, RunResults
from polygraphy.json import load_json, save_json, to_json
rng = np.random.default_rng(0)
feeds = [collections.OrderedDict([("x", rng.random((2, 3), np.float32)), ("i", np.arange(3))]), {"x": np.float16([[1]]), "i": np.array(True)}]
save_json(feeds, folder + "/inputs.json", description="input data")
results = RunResults()
results.add([{"y": rng.random(4), "z": np.zeros((0, 2), np.int8)}], runner_name="custom_runner")
results.append(("second", [IterationResult({"y": np.float32(3).reshape(1)}, runtime=0.25, runner_name="second")]))
results.save(folder + "/outputs.json")
for name in sys.argv[2:]:
    again = RunResults.load(name + "/outputs.json")
    assert list(again["second"][0]["y"]) == [3.0] and again["second"][0].runtime == 0.25
    assert load_json(name + "/inputs.json")[0]["i"].tolist() == [0, 1, 2]
"""

    def test_bytes(self):
        if real_polygraphy() is None:
            self.skipTest("the package polygraphy is not installed, so its files were not compared")
        with tempfile.TemporaryDirectory() as work:
            folders = [os.path.join(work, n) for n in ("real", "ours")]
            for real, folder in zip((True, False), folders):
                os.mkdir(folder)
                others = folders[:1] if real else folders
                done = subprocess.run([sys.executable, "-c", self.PROGRAM, json.dumps([real, RECORDING, folder]), *others],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            for name in ("inputs.json", "outputs.json"):
                texts = []
                for folder in folders:
                    with open(os.path.join(folder, name)) as file:
                        texts.append(file.read())
                self.assertEqual(texts[1], texts[0])


class Extending(unittest.TestCase):
    """func.extend as upstream's."""

    def test_arguments(self):
        from polygraphy import func
        from polygraphy.exception import PolygraphyException

        seen = []

        def extended(base, function, *args):
            seen.clear()
            return func.extend(base)(function)(*args)

        def pair(a, b):
            return a, b, "net"

        def one(a, b):
            return "config"

        self.assertEqual(extended(pair, lambda x, y, z: seen.append((x, y, z)), 1, 2), (1, 2, "net"))
        self.assertEqual(seen, [(1, 2, "net")])
        self.assertEqual(extended(one, lambda c: seen.append(c), 1, 2), "config")
        self.assertEqual(extended(one, lambda a, b, c: seen.append((a, b, c)), 1, 2), "config")
        self.assertEqual(seen, [(1, 2, "config")])
        self.assertEqual(extended(one, lambda c: "other", 1, 2), "other")
        self.assertIsNone(extended(lambda: None, lambda: None))
        with self.assertRaisesRegex(PolygraphyException, "takes 2 arguments"):
            extended(one, lambda a, b: None, 1, 2)

    def test_immediate_forms(self):
        from polygraphy import mod
        from polygraphy.backend import trt as loaders
        builder, network = loaders.create_network(strongly_typed=True)
        self.assertTrue(network.get_flag(__import__("tensorrt").NetworkDefinitionCreationFlag.STRONGLY_TYPED))
        self.assertTrue(loaders.create_config(builder, network, fp16=True).get_flag(__import__("tensorrt").BuilderFlag.FP16))
        for name in ("network_from_onnx_path", "network_from_onnx_bytes", "modify_network_outputs", "postprocess_network",
                     "postprocess_config", "set_layer_precisions", "set_tensor_datatypes", "set_tensor_formats", "mark_debug"):
            self.assertTrue(callable(getattr(loaders, name)), name)
        self.assertEqual(mod.lazy_import("json>=1").dumps(1), "1")
        self.assertGreater(mod.version("10.16.1"), mod.version("8.5"))
