#!/usr/bin/env python3
"""Every option of trtexec 8.6 to 11.1, by name: served, or without effect with a warning, or refused with a sentence. None is unknown.

usage: trtexec_options_test.py ASSAY
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import small_model

# Names alone. FLAGS take no value; the others one, of which an example follows.
FLAGS = """adjustForDLA allowGPUFallback allowWeightStreaming asyncFileReader best bf16 buildDLAStandalone buildOnly consistency cpuOnly
    directIO distributiveIndependence dumpKernelText dumpLayerInfo dumpOptimizationProfile dumpOutput dumpProfile
    dumpRawBindingsToFile dumpRefit enablePluginOverride errorOnTimingCacheMiss excludeLeanRuntime explicitBatch explicitPrecision
    exposeDMA fp16 fp8 getPlanVersionOnly heuristic ignoreParsedPluginLibs includeDataTransfers int4 int8 markUnfusedTensorsAsDebugTensors
    monitorMemory nativeInstanceNorm ni noBuilderCache noCompilationCache noCudaGraph noDataTransfers noSpinWait noTF32 pi
    pluginInstanceNorm profilingVerbosity=detailed refit reportCapabilityDLA restricted safe separateProfileRun skipInference std
    stripAllWeights stripWeights stronglyTyped threads timeDeserialize timeRefit uint8AsymmetricQuantizationDLA useCudaGraph
    useManagedMemory useSpinWait vc verbose versionCompatible weightless refitFromOnnx uffNHWC""".split()
VALUES = {
    "accuracyAlgorithm": "l0", "accuracyThreshold": "0.1", "allocationStrategy": "static", "atol": "1", "avgRuns": "2",
    "avgTiming": "2", "batch": "1", "builderOptimizationLevel": "0", "calib": "c.cache", "calibProfile": "0", "decomposableAttentions": "a,b", "deploy": "d",
    "device": "0", "duration": "0", "dynamicPlugins": "p.so", "exportLayerInfo": "l.json", "exportOutput": "o.json",
    "exportProfile": "p.json", "exportTimes": "t.json", "hardwareCompatibilityLevel": "none", "helpBuildRoute": "",
    "idleTime": "0", "infStreams": "1", "inputIOFormats": "fp32:chw", "iterations": "1", "l2LimitForTiling": "1",
    "layerDeviceTypes": "a:GPU", "layerOutputTypes": "a:fp32", "layerPrecisions": "a:fp32", "leanDLLPath": "x.so",
    "loadEngine": "missing.plan", "loadInputs": "x:missing.bin", "loadRefOutputs": "y:ref.bin", "markDebug": "y", "maxAuxStreams": "1",
    "maxBatch": "1", "maxShapes": "x:1x4", "maxShapesCalib": "x:1x4", "maxTactics": "1", "memPoolSize": "workspace:16", "minShapes": "x:1x4",
    "minShapesCalib": "x:1x4", "minTiming": "1", "model": "m", "nvtxMode": "verbose", "optShapes": "x:1x4", "optShapesCalib": "x:1x4",
    "output": "y", "outputIOFormats": "fp32:chw", "percentile": "99", "persistentCacheRatio": "0", "plugins": "p.so",
    "precisionConstraints": "none", "preview": "x", "profile": "0", "profilingVerbosity": "detailed", "refPair": "0",
    "remoteAutoTuningConfig": "x", "rtol": "1", "runtimePlatform": "sameAsBuild", "saveAllDebugTensors": "numpy",
    "saveDebugTensors": "y:y.bin", "saveEngine": "s.plan", "serialized": "s.bin", "setBuildRoute": "-optimization_level=0 -tactic:gemv=on",
    "setPluginsToSerialize": "p.so", "shapes": "x:1x4", "sleepTime": "0", "sparsity": "enable", "staticPlugins": "p.so", "streams": "1",
    "tacticSources": "-CUDNN", "tempdir": "/tmp", "tempfileControls": "in_memory:allow", "tilingOptimizationLevel": "0",
    "timingCacheFile": "t.cache", "tuneBuildRouteFile": "missing.txt", "tuneBuildRoutes": "-optimization_level=[0|1]",
    "tuningCacheFile": "tune.jsonl", "tuningResultFile": "r.json", "tuningSearch": "fast", "tuningTimeOut": "1", "uff": "m.uff",
    "uffInput": "x,1,1,1", "useDLACore": "0", "useOptProfile": "0", "useProfile": "0", "useRuntime": "full", "safetyPlugins": "p.so",
    "warmUp": "0", "weightStreamingBudget": "0", "workspace": "16",
}
# With what each needs beside it.
NEEDS = {"continue": [], "dryRun": ["--tuneBuildRoutes=-optimization_level=[0|1]"],
         "saveAllEngines": ["--saveEngine=all.plan", "--tuneBuildRoutes=-optimization_level=[0|1]"]}
QUICK = ["--duration=0", "--warmUp=0", "--iterations=1", "--builderOptimizationLevel=0"]


class Program(unittest.TestCase):
    """trtexec on a small model."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.folder.name, "trtexec")
        os.symlink(ASSAY, cls.program)
        small_model.write(os.path.join(cls.folder.name, "m.onnxtxt"))
        done = cls.run_with("--duration=0", "--warmUp=0", "--iterations=1", "--builderOptimizationLevel=0")
        assert done.returncode == 0, done.stdout + done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_with(cls, *words):
        return subprocess.run([cls.program, "--onnx=m.onnxtxt", *words], cwd=cls.folder.name, capture_output=True, text=True, timeout=300)


class Options(Program):
    def check(self, name, word, others=()):
        quick = [w for w in QUICK if not w.startswith(f"--{name}=")]
        done = self.run_with(word, *others, *quick)
        said = done.stdout + done.stderr
        self.assertNotIn("Unrecognized Options", said)
        self.assertNotIn("unrecognized", said)
        self.assertNotIn("Internal error", said)
        self.assertNotIn("two models", said)
        if done.returncode != 0:  # refused, with a sentence
            self.assertRegex(said, r"\[!\] .{15,}|error: argument .{15,}", word)
        return done, said

    def test_no_flag_is_unknown(self):
        for name in FLAGS:
            with self.subTest(option=name):
                self.check(name.split("=")[0], "--" + name)

    def test_no_option_with_a_value_is_unknown(self):
        for name, value in VALUES.items():
            with self.subTest(option=name):
                self.check(name, f"--{name}={value}" if value else f"--{name}")

    def test_those_that_need_others(self):
        for name, others in NEEDS.items():
            with self.subTest(option=name):
                self.check(name, "--" + name, others)

    def test_without_effect_is_said(self):
        for name in ("explicitBatch", "explicitPrecision", "adjustForDLA", "nativeInstanceNorm", "cpuOnly", "std"):
            done, said = self.check(name, "--" + name)
            self.assertEqual(done.returncode, 0, said)
            self.assertRegex(said, rf"\[W\] --{name}\S* has no effect: \w")

    def test_an_unknown_option_is_named_whatever_its_value(self):
        for value in ("a", "-a=on -b=off", "two words", ""):
            done = self.run_with(f"--noSuchOption={value}")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"Unrecognized Options: ['--noSuchOption={value}']", done.stdout + done.stderr)


class Routes(Program):
    def route(self, *words):
        done = self.run_with(*words, *QUICK)
        return done, done.stdout + done.stderr

    def test_knobs_are_listed(self):
        import json
        done = subprocess.run([self.program, "--helpBuildRoute"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        knobs = {k["option"]: k for k in json.loads(done.stdout)["tuner_options"]}
        self.assertEqual(knobs["-optimization_level"]["default_value"], "3")
        self.assertEqual(knobs["-tactic:gemv"]["allowed_values"], "-tactic:gemv=[on|off]")
        one = subprocess.run([self.program, "--helpBuildRoute=tactic:gemv"], capture_output=True, text=True)
        self.assertEqual([k["option"] for k in json.loads(one.stdout)["tuner_options"]], ["-tactic:gemv"])
        none = subprocess.run([self.program, "--helpBuildRoute=kgen:tiling"], capture_output=True, text=True)
        self.assertEqual(none.returncode, 1)
        self.assertIn("the builder of this program has no knob '-kgen:tiling'", none.stdout + none.stderr)

    def test_a_route_is_built(self):
        listed, _ = self.route("--dumpLayerInfo")
        tactic = re.search(r"\b(onednn|dnnl|gemm|gemv|matmul|chain|pointwise|elementwise|dense)\w*", listed.stdout)
        self.assertIsNotNone(tactic, listed.stdout)
        done, said = self.route(f"--setBuildRoute=-tactic:{tactic.group()}=off -optimization_level=0", "--dumpLayerInfo")
        self.assertEqual(done.returncode, 0, said)
        self.assertNotIn(tactic.group(), said.split("Layer Information")[1].split("Starting inference")[0])
        for route, sentence in (("-tactic:nosuch=off", "has no knob '-tactic:nosuch'"), ("-tactic:gemv=maybe", "cannot be 'maybe'"),
                                ("-tactic:gemv=[on|off]", "has 2 values; --tuneBuildRoutes tries several"), ("gemv", "is not of the form"),
                                ("-tactic:gemv=on -tactic:gemv=off", "is given twice"), ("-tactic:gemv=[on| off]", "closing bracket")):
            done, said = self.route(f"--setBuildRoute={route}")
            self.assertEqual(done.returncode, 1, said)
            self.assertIn(sentence, said)

    def test_routes_are_listed(self):
        expression = "-tactic:gemv=[on|off] -optimization_level=[0|1] -pass:fuse_pad=on"
        for search, count in (("fast", 4), ("full", 4)):
            done, said = self.route(f"--tuneBuildRoutes={expression}", f"--tuningSearch={search}", "--dryRun")
            self.assertEqual(done.returncode, 0, said)
            self.assertEqual(len(re.findall(r"^\[\d+\] -tactic", done.stdout, re.M)), count, done.stdout)
        done, said = self.route(f"--tuneBuildRoutes={expression}", "--tuningSearch=mixed", "--dryRun")
        self.assertEqual(done.returncode, 1)

    def test_the_fastest_route_is_kept_and_a_tuning_goes_on(self):
        import json
        expression = "-tactic:gemv=[on|off] -pass:fuse_pad=[on|off]"
        done, said = self.route(f"--tuneBuildRoutes={expression}", "--saveEngine=best.plan", "--saveAllEngines",
                                "--tuningCacheFile=tune.jsonl", "--tuningTimeOut=0")
        self.assertEqual(done.returncode, 0, said)
        self.assertIn("the time is over; 1 of 3 routes were tried", said)
        path = lambda name: os.path.join(self.folder.name, name)
        lines = [json.loads(line) for line in open(path("tune.jsonl"))]
        self.assertIn("--save-engine=best.plan", lines[0]["command"])
        self.assertEqual([x["route"] for x in lines[1:]], ["-tactic:gemv=on -pass:fuse_pad=on"])
        for name in ("best.plan", "best.plan.iter0"):
            self.assertGreater(os.path.getsize(path(name)), 0)
        # What the cache says of the time is changed, so that all can be tried.
        lines[0]["command"] = [w for w in lines[0]["command"] if "time-out" not in w]
        with open(path("tune.jsonl"), "w") as file:
            file.writelines(json.dumps(x) + "\n" for x in lines)
        again = subprocess.run([self.program, "--continue", "--tuningCacheFile=tune.jsonl"], cwd=self.folder.name, capture_output=True,
                               text=True)
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertIn("1 routes are in tune.jsonl already.", again.stdout)
        self.assertIn("The best route: -tactic:gemv=", again.stdout)
        self.assertEqual(len(open(path("tune.jsonl")).readlines()), 4)
        self.assertFalse(os.path.exists(path("best.plan.iter3")))

    def test_what_cannot_be_tuned(self):
        for words, sentence in (
                (["--tuneBuildRoutes=-optimization_level=[0|1]", "--skipInference"], "compared by their times"),
                (["--tuneBuildRoutes=-optimization_level=[0|1]", "--tuneBuildRouteFile=m.onnxtxt"], "are both given"),
                (["--saveAllEngines", "--tuneBuildRoutes=-optimization_level=[0|1]"], "needs --saveEngine"),
                (["--continue"], "name it with --tuningCacheFile"),
                (["--continue", "--tuningCacheFile=x.jsonl"], "takes everything from x.jsonl"),
                (["--tuneBuildRouteFile=missing.txt"], "missing.txt")):
            done, said = self.route(*words)
            self.assertEqual(done.returncode, 1, said)
            self.assertIn(sentence, said)


if __name__ == "__main__":
    ASSAY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
