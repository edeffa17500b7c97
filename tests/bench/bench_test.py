#!/usr/bin/env python3
"""`assay bench` and the name `trtexec`: what users type (scenarios C1 to C3), what comes out, and wrong input.

    bench_test.py build/assay
"""

import json
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "errors"))
from onnx_bytes import ints_attribute, model, node, tensor, value_info  # noqa: E402

ASSAY = pathlib.Path(sys.argv.pop(1)).resolve()
QUICK = "--warmUp=0 --duration=0 --iterations=3 --builderOptimizationLevel=0"
NUMBER = r"(\d+(?:\.\d+)?(?:e[-+]?\d+)?)"


def floats(count):
    return struct.pack(f"<{count}f", *((i % 7 - 3) / 8 for i in range(count)))


def write_models():
    """A small network for images of 28x28, whose input has a colon in its name; an Add of known shape; a Reshape whose target
    is an input."""
    weights = [tensor("k", [4, 1, 5, 5], floats(100)), tensor("w", [4 * 14 * 14, 10], floats(7840))]
    nodes = [node("Conv", ["x:0", "k"], ["c"], "conv", attributes=[ints_attribute("pads", [2, 2, 2, 2])]),
             node("Relu", ["c"], ["r"], "relu"),
             node("MaxPool", ["r"], ["p"], "pool", attributes=[ints_attribute("kernel_shape", [2, 2]),
                                                                 ints_attribute("strides", [2, 2])]),
             node("Flatten", ["p"], ["f"], "flatten"),
             node("MatMul", ["f", "w"], ["m"], "dense"),
             node("Softmax", ["m"], ["y:0"], "soft")]
    image = value_info("x:0", ["n", 1, 28, 28])
    pathlib.Path("model.onnx").write_bytes(model(nodes, [image], [value_info("y:0", ["n", 10])], weights))
    pathlib.Path("add.onnx").write_bytes(model([node("Add", ["a", "b"], ["c"], "sum")],
                                               [value_info("a", [2, 2]), value_info("b", [2, 2])], [value_info("c", [2, 2])]))
    pathlib.Path("reshape.onnx").write_bytes(
        model([node("Reshape", ["x", "target"], ["r"], "reshape"), node("Neg", ["r"], ["y"], "neg")],
              [value_info("x", [2, 6]), value_info("target", [2], 7)], [value_info("y", ["a", "b"])]))


def run(line, name="trtexec", **environment):
    """Status, standard output and standard error of `name line`."""
    words = ["./" + name] + (["bench"] if name == "assay" else []) + line.split()
    result = subprocess.run(words, capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
    return result.returncode, result.stdout, result.stderr


class BenchTest(unittest.TestCase):
    maxDiff = None

    def passes(self, line, name="trtexec", **environment):
        status, out, err = run(line, name, **environment)
        self.assertEqual(status, 0, f"{name} {line}\n{out}{err}")
        return out

    def fails(self, line, sentence, name="trtexec", status=1):
        got, out, err = run(line, name)
        self.assertEqual(got, status, f"{name} {line}\n{out}{err}")
        self.assertIn(sentence, out + err, f"{name} {line}")
        self.assertNotIn("PASSED", out)
        return out

    def check_summary(self, out, queries=3):
        self.assertIn("[I] === Performance summary ===", out)
        for pattern in (rf"\[I\] Throughput: {NUMBER} qps", rf"\[I\] Total Host Walltime: {NUMBER} s",
                        rf"\[I\] Total GPU Compute Time: {NUMBER} s"):
            self.assertRegex(out, pattern)
        times = rf"min = {NUMBER} ms, max = {NUMBER} ms, mean = {NUMBER} ms, median = {NUMBER} ms"
        for line in ("Latency", "Enqueue Time", "H2D Latency", "GPU Compute Time", "D2H Latency"):
            match = re.search(rf"\[I\] {line}: {times}, percentile\(90%\) = {NUMBER} ms, percentile\(95%\) = {NUMBER} ms, "
                              rf"percentile\(99%\) = {NUMBER} ms\n", out)
            self.assertIsNotNone(match, line + "\n" + out)
            least, most, mean, median, *percentiles = map(float, match.groups())
            self.assertLessEqual(least, median)
            self.assertLessEqual(median, most)
            for p in percentiles:
                self.assertTrue(least <= p <= most)
            self.assertEqual(most > 0, line not in ("H2D Latency", "D2H Latency"), line)
        self.assertRegex(out, rf"Timing trace has {queries} queries over")

    # ---- What users type

    def test_c1_build_with_a_profile_then_load(self):
        shapes = "--minShapes=x:0:1x1x28x28 --optShapes=x:0:4x1x28x28 --maxShapes=x:0:16x1x28x28"
        out = self.passes(f"--onnx=model.onnx {shapes} --workspace=1024 --saveEngine=model-fp32.plan "
                          f"--shapes=x:0:4x1x28x28 --verbose {QUICK}")
        self.assertTrue(out.startswith("&&&& RUNNING TensorRT.trtexec [assay v"), out[:100])
        self.assertRegex(out.splitlines()[-1], r"^&&&& PASSED TensorRT.trtexec \[assay v[\d.]+\] # \./trtexec --onnx=model.onnx ")
        self.assertIn("[I] Engine built in", out)
        self.assertIn("[I] Input inference shape: x:0:4x1x28x28", out)
        self.check_summary(out)
        out = self.passes(f"--loadEngine=./model-fp32.plan --shapes=x:0:4x1x28x28 --verbose {QUICK}")
        self.assertIn("[I] Engine deserialized in", out)
        self.assertNotIn("Engine built", out)
        self.check_summary(out)
        # Without shapes the best ones of the profile.
        self.assertIn("Input inference shape: x:0:4x1x28x28", self.passes(f"--loadEngine=model-fp32.plan {QUICK}"))
        self.fails(f"--loadEngine=model-fp32.plan --shapes=x:0:17x1x28x28 {QUICK}", "outside of profile 0: from (1, 1, 28, 28) to "
                   "(16, 1, 28, 28)")

    def test_c1_in_the_spelling_of_assay(self):
        out = self.passes("model.onnx --min-shapes x:0:[1,1,28,28] --opt-shapes x:0:[4,1,28,28] --max-shapes x:0:[16,1,28,28] "
                          "--workspace 1G --save-engine house.plan --shapes x:0:[4,1,28,28] --warm-up 0 --duration 0 "
                          "--iterations 3 --builder-optimization-level 0 --threads 1 -v", "assay")
        self.check_summary(out)
        self.assertNotIn("&&&&", out)
        self.check_summary(self.passes("house.plan --shapes x:0:[2,1,28,28] --warm-up 0 --duration 0 --iterations 3 -v", "assay"))

    def test_c2_flags_without_effect_say_so_in_one_line_each(self):
        flags = {"--int4": "no products of such numbers",
                 "--noTF32": "no TF32", "--sparsity=enable": "no kernels for sparse weights", "--device=0": "runs on the CPU",
                 "--noDataTransfers": "nothing is transferred", "--safe": "one mode only", "--threads": "thread of its own",
                 "--separateProfileRun": "runs of their own"}
        out = self.passes(f"--onnx=add.onnx {' '.join(flags)} {QUICK}")
        for flag, reason in flags.items():
            lines = [line for line in out.splitlines() if line.startswith(f"[W] {flag.split('=')[0]} has no effect: ")]
            self.assertEqual(len(lines), 1, flag)
            self.assertIn(reason, lines[0])
        self.assertEqual(out.count("[W]"), len(flags), out)
        self.check_summary(out)

    def test_int8_by_the_scales_of_a_cache(self):
        self.assertIn("results mean nothing", self.passes(f"--onnx=model.onnx --int8 --shapes=x:0:1x1x28x28 {QUICK}"))
        out = self.passes(f"--onnx=model.onnx --calib=scales.cache --shapes=x:0:1x1x28x28 {QUICK}")
        self.assertIn("[W] --calib has no effect: nothing is computed in 8-bit integers without --int8.", out)
        pathlib.Path("scales.cache").write_text("TRT-8501-EntropyCalibration2\nx:0: 3c010204\n")
        layers = "--profilingVerbosity=detailed --dumpLayerInfo"
        out = self.passes(f"--onnx=model.onnx --int8 --calib=scales.cache {layers} --shapes=x:0:1x1x28x28 {QUICK}")
        self.assertIn("int8_", out)
        self.check_summary(out)

    def test_c2_build_only_with_timing_cache_and_layers(self):
        line = ("--onnx=model.onnx --shapes=x:0:1x1x28x28 --memPoolSize=workspace:64M --buildOnly --timingCacheFile=t.cache "
                "--builderOptimizationLevel=1 --profilingVerbosity=detailed --dumpLayerInfo --exportLayerInfo=layers.txt "
                "--saveEngine={}")
        out = self.passes(line.format("first.plan"))
        self.assertIn("The timing cache t.cache does not exist yet", out)
        self.assertIn("Skipped inference phase since --skipInference is added.", out)
        self.assertNotIn("Performance summary", out)
        self.assertRegex(out, r"Timing cache: 0 times were known before, [1-9]\d* were measured")
        self.assertIn("[I] Layer Information:", out)
        layers = json.loads(pathlib.Path("layers.txt").read_text())
        self.assertEqual(layers["Bindings"], ["x:0", "y:0"])
        self.assertTrue(any("conv" in layer["Name"] for layer in layers["Layers"]), layers)
        out = self.passes(line.format("second.plan") + " --errorOnTimingCacheMiss")
        self.assertRegex(out, r"Timing cache: [1-9]\d* times were known before, 0 were measured")
        self.assertEqual(pathlib.Path("first.plan").read_bytes(), pathlib.Path("second.plan").read_bytes())
        self.passes("--loadEngine=first.plan --buildOnly --profilingVerbosity=layer_names_only --exportLayerInfo=names.txt")
        names = json.loads(pathlib.Path("names.txt").read_text())
        self.assertEqual(names["Layers"], [layer["Name"] for layer in layers["Layers"]])

    def test_c2_c3_streams_recording_profile_and_exports(self):
        out = self.passes("--onnx=model.onnx --shapes=x:0:2x1x28x28 --warmUp=1 --duration=0.05 --iterations=20 --avgRuns=5 "
                          "--builderOptimizationLevel=0 --useCudaGraph --noDataTransfers --streams=2 --dumpProfile "
                          "--exportProfile=profile.json --exportTimeline=timeline.json --exportTimes=times.json --exportOutput=output.json --dumpOutput "
                          "--percentile=50,100 --json=all.json")
        self.assertRegex(out, r"Average on 5 runs - GPU latency: [\d.e-]+ ms - Host latency: [\d.e-]+ ms \(enqueue [\d.e-]+ ms\)")
        self.assertRegex(out, r"percentile\(50%\) = [\d.e-]+ ms, percentile\(100%\) = ")
        self.assertIn("[I] 2 streams share the processor", out)
        self.assertRegex(out, r"=== Profile \(\d+ iterations \) ===\n\[I\] +Time\(ms\) +Avg.\(ms\) +Median\(ms\) +Time\(%\)   Layer\n")
        self.assertIn("[I] y:0: (2x10)", out)
        queries = int(re.search(r"Timing trace has (\d+) queries", out).group(1))
        times = json.loads(pathlib.Path("times.json").read_text())
        self.assertEqual(len(times), queries)
        self.assertGreaterEqual(queries, 40)
        self.assertEqual(list(times[0]), ["startEnqMs", "endEnqMs", "startH2dMs", "endH2dMs", "startComputeMs", "endComputeMs",
                                          "startD2hMs", "endD2hMs", "h2dMs", "computeMs", "d2hMs", "latencyMs"])
        for t in times:
            self.assertTrue(0 <= t["startEnqMs"] <= t["startComputeMs"] <= t["endComputeMs"], t)
            self.assertLessEqual(t["computeMs"], t["latencyMs"])
        profile = json.loads(pathlib.Path("profile.json").read_text())
        self.assertGreaterEqual(profile[0]["count"], 20)
        self.assertEqual(list(profile[1]), ["name", "timeMs", "averageMs", "medianMs", "percentage"])
        self.assertAlmostEqual(sum(layer["percentage"] for layer in profile[1:]), 100, places=3)
        self.assertTrue(any("conv" in layer["name"] for layer in profile[1:]), profile)
        events = [e for e in json.loads(pathlib.Path("timeline.json").read_text())["traceEvents"] if e["ph"] == "X"]
        self.assertEqual(sum(e["tid"] == 1 for e in events), queries)
        self.assertEqual({e["name"] for e in events if e["tid"] == 2}, {layer["name"] for layer in profile[1:]})
        self.assertTrue(all(e["ts"] >= 0 and e["dur"] >= 0 for e in events))
        output = json.loads(pathlib.Path("output.json").read_text())
        self.assertEqual([(o["name"], o["dimensions"], len(o["values"])) for o in output], [("y:0", "2x10", 20)])
        self.assertAlmostEqual(sum(output[0]["values"]), 2, places=5)
        everything = json.loads(pathlib.Path("all.json").read_text())
        self.assertEqual(everything["rows"][0]["runs"], queries)
        self.assertEqual(list(everything["rows"][0]["latency_ms"]["percentiles"]), ["50", "100"])
        self.assertEqual(len(everything["profiles"][0]["layers"]), len(profile) - 1)
        self.assertGreater(everything["rows"][0]["peak_memory_bytes"], 1 << 20)

    def test_iterations_and_durations_are_least(self):
        begin = time.monotonic()
        out = self.passes("--onnx=add.onnx --warmUp=20 --duration=0.1 --iterations=1 --builderOptimizationLevel=0")
        warm_up, queries, seconds = re.search(r"Warmup completed (\d+) queries over \d+ ms\n\[I\] Timing trace has (\d+) queries "
                                              rf"over {NUMBER} s", out).groups()
        self.assertGreater(int(warm_up), 1)
        self.assertGreater(int(queries), 10)
        self.assertGreater(float(seconds), 0)
        self.assertGreaterEqual(time.monotonic() - begin, 0.12)

    # ---- What assay adds

    def test_several_shapes_and_backends_have_a_row_each(self):
        out = self.passes("model.onnx --shapes x:0:1x1x28x28,x:0:3x1x28x28 --shapes x:0:2x1x28x28 --backends engine,engine:0 "
                          f"reference {QUICK} --json rows.json", "assay")
        rows = json.loads(pathlib.Path("rows.json").read_text())["rows"]
        self.assertEqual([(r["shapes"], r["backend"]) for r in rows],
                         [(f"x:0:{n}x1x28x28", b) for n in (1, 3, 2) for b in ("engine", "engine:0", "reference")])
        for r in rows:
            first = next(f for f in rows if f["shapes"] == r["shapes"])
            self.assertAlmostEqual(r["ratio"], r["latency_ms"]["median"] / first["latency_ms"]["median"], places=6)
            self.assertLess(r["difference"], 1e-5)
            self.assertGreaterEqual(r["runs"], 3)
        table = out[out.index("[I] Backend "):]
        self.assertEqual(len(re.findall(r"(?:engine|reference)\S* +x:0:\dx1x28x28", table)), 9, table)

    def test_a_summary_fits_a_screen(self):
        out = self.passes(f"add.onnx {QUICK} --fail-if median>10s throughput<1e-9 --junit times.xml", "assay")
        self.assertNotIn("=== Performance summary ===", out)
        for title in ("Model:", "Prepared:", "Processor:", "Runs:", "Memory:", "Steady:", "Backend "):
            self.assertEqual(out.count(f"[I] {title}"), 1, out)
        self.assertLess(len(out.splitlines()), 14, out)
        self.assertIn('failures="0"', pathlib.Path("times.xml").read_text())
        out = self.fails(f"add.onnx {QUICK} --fail-if median>0.000001us --junit times.xml", "and median>0.000001us fails", "assay")
        self.assertIn("FAILED | Runtime", out)
        self.assertIn('failures="1"', pathlib.Path("times.xml").read_text())
        self.fails(f"add.onnx {QUICK} --fail-if medain>1", "did you mean 'median'?", "assay")

    def test_inputs_from_files(self):
        pathlib.Path("a.bin").write_bytes(struct.pack("<4f", 1, 2, 3, 4))
        pathlib.Path("b.bin").write_bytes(struct.pack("<4f", 10, 20, 30, 40))
        self.assertIn("[I] c: (2x2)\n[I] 11 22 33 44\n",
                      self.passes(f"--onnx=add.onnx --loadInputs=a:a.bin,'b':b.bin --dumpOutput {QUICK}"))
        pathlib.Path("short.bin").write_bytes(bytes(12))
        self.fails(f"--onnx=add.onnx --loadInputs=a:short.bin {QUICK}", "short.bin has 12 bytes, but the input 'a' of type float32 "
                   "and shape (2, 2) takes 16")
        self.fails(f"--onnx=add.onnx --loadInputs=d:a.bin {QUICK}", "'d', which is not an input of the model")
        self.fails(f"--onnx=add.onnx --loadInputs=a:gone.bin {QUICK}", "gone.bin")

    def test_elements_of_a_shape_tensor(self):
        out = self.passes("reshape.onnx --min-shapes target:1x1 --opt-shapes target:3x4 --max-shapes target:12x12 --shapes "
                          f"target:3x4 target:6x2 --dump-output --dump-optimization-profile {QUICK}", "assay")
        self.assertIn("[I] y: (3x4)", out)
        self.assertIn("[I] y: (6x2)", out)
        self.assertIn("Input build shape (profile 0): target=1x1+3x4+12x12", out)
        pathlib.Path("target.bin").write_bytes(struct.pack("<2q", 4, 3))
        out = self.passes(f"reshape.onnx --load-inputs target:target.bin --dump-output {QUICK}", "assay")
        self.assertIn("[I] y: (4x3)", out)

    def test_elements_that_nobody_gave(self):
        """0 or 1 are no target for 12 elements."""
        self.fails(f"reshape.onnx {QUICK}", "Nothing was given for the input 'target'", "assay")

    def test_several_profiles(self):
        line = ("--onnx=model.onnx --profile=0 --minShapes=x:0:1x1x28x28 --maxShapes=x:0:2x1x28x28 --profile=1 "
                "--minShapes=x:0:8x1x28x28 --maxShapes=x:0:9x1x28x28 --saveEngine=two.plan --buildOnly --builderOptimizationLevel=0")
        self.passes(line)
        self.assertIn("shape: x:0:9x1x28x28", self.passes(f"--loadEngine=two.plan --useProfile=1 {QUICK}"))
        self.fails(f"--loadEngine=two.plan --useProfile=2 {QUICK}", "there are 2 profiles, so there is no profile 2")
        self.fails(line.replace("--profile=1 ", ""), "is given twice for profile 0")

    def test_open_extents_become_one(self):
        out = self.passes(f"--onnx=model.onnx {QUICK}")
        self.assertIn("[W] The input 'x:0' has open extents and no shape was given for it; it becomes 1x1x28x28.", out)
        self.assertIn("Input inference shape: x:0:1x1x28x28", out)

    def test_explained_choices_and_weights(self):
        out = self.passes(f"--onnx=model.onnx --shapes=x:0:1x1x28x28 --refit --dumpRefit --explain {QUICK}")
        self.assertIn("[I] Refittable weights:\n[I] k\n[I] w\n", out)
        self.assertIn("conv", out)

    def test_weights_from_the_onnx_model(self):
        shapes = "--shapes=x:0:1x1x28x28"
        full = self.passes(f"--onnx=model.onnx {shapes} --saveEngine=full.plan --exportOutput=full.json {QUICK}")
        self.check_summary(full)
        self.passes(f"--onnx=model.onnx {shapes} --stripWeights --skipInference --saveEngine=stripped.plan --builderOptimizationLevel=0")
        self.fails(f"--loadEngine=stripped.plan {shapes}", "has been stripped of its weights: give its ONNX model with --refitFromOnnx=FILE")
        out = self.passes(f"--loadEngine=stripped.plan --onnx=model.onnx --refitFromOnnx --timeRefit {shapes} --exportOutput=refit.json "
                          "--saveEngine=again.plan --warmUp=0 --duration=0 --iterations=3")
        self.assertIn("Refitted 2 weights from model.onnx.", out)
        self.assertIn("Engine refitted in ", out)
        self.check_summary(out)
        values = [json.loads(pathlib.Path(name).read_text())[0]["values"] for name in ("full.json", "refit.json")]
        for a, b in zip(*values):
            self.assertAlmostEqual(a, b, places=5)
        # The plan that was saved has its weights.
        self.check_summary(self.passes(f"again.plan {shapes.replace('=', ' ')} --warm-up 0 --duration 0 --iterations 3 -v", "assay"))
        self.check_summary(self.passes(f"--onnx=model.onnx --stripWeights --refitFromOnnx {shapes} {QUICK}"))
        # What is run has the model's weights, what is saved has none.
        out = self.passes(f"--onnx=model.onnx --refit --stripWeights --timeRefit --saveEngine=built.plan {shapes} --exportOutput=built.json {QUICK}")
        self.check_summary(out)
        self.assertIn("Engine refitted in ", out)
        for a, b in zip(values[0], json.loads(pathlib.Path("built.json").read_text())[0]["values"]):
            self.assertAlmostEqual(a, b, places=5)
        self.fails(f"--loadEngine=built.plan {shapes}", "has been stripped of its weights")
        # The file may stand behind the option, in a build beside another model's.
        out = self.passes(f"--loadEngine=built.plan --refitFromOnnx=model.onnx {shapes} {QUICK}")
        self.assertIn("Refitted 2 weights from model.onnx.", out)
        self.check_summary(out)
        self.fails(f"--loadEngine=built.plan --refitFromOnnx=missing.onnx {shapes}", "missing.onnx")
        for line, sentence in ((f"--loadEngine=stripped.plan --onnx=add.onnx --refitFromOnnx {shapes}", "add.onnx lacks 2 weight(s) that the engine"),
                               (f"--loadEngine=stripped.plan --refitFromOnnx {shapes}", "none is given: name it with --onnx"),
                               (f"--onnx=model.onnx --refitFromOnnx {shapes}", "needs an engine that can be refitted"),
                               (f"--loadEngine=full.plan --onnx=model.onnx --refitFromOnnx {shapes}", "was not built to be refitted")):
            self.fails(line, sentence)

    def test_formats_attention_and_verbose(self):
        line = f"--onnx=model.onnx --shapes=x:0:1x1x28x28 {QUICK}"
        self.check_summary(self.passes(f"{line} --inputIOFormats=fp32:chw --outputIOFormats=fp32:chw"))
        self.fails(f"{line} --inputIOFormats=fp16:chw", "'fp16:chw' is not how the engine has 'x:0'")
        self.fails(f"{line} --outputIOFormats=fp32:hwc8", "row-major (chw)")
        self.fails(f"{line} --inputIOFormats=fp32", "Expected TYPE:LAYOUT")
        self.assertIn("[W] --explicitBatch has no effect", self.passes(f"{line} --explicitBatch"))
        self.assertIn("[W] --decomposableAttentions has no effect", self.passes(f"{line} --decomposableAttentions=a"))
        self.fails(f"{line} --distributiveIndependence", "--distributiveIndependence is not available yet")
        self.fails(f"{line} --dumpKernelText", "--dumpKernelText is not available yet")
        quiet, verbose = self.passes(line), self.passes(f"{line} --verbose")
        for words in ("Passes that changed the network:", "Memory plan", "bytes for the values of a run", "region "):
            self.assertIn(words, verbose)
            self.assertNotIn(words, quiet)

    # ---- Wrong input

    def test_files_that_cannot_be_read(self):
        self.fails("--onnx=gone.onnx", "gone.onnx: No such file")
        self.fails("--loadEngine=gone.plan", "gone.plan: No such file")
        self.passes(f"--onnx=add.onnx --saveEngine=good.plan --buildOnly {QUICK}")
        plan = pathlib.Path("good.plan").read_bytes()
        for name, damaged in {"short.plan": plan[:-100], "flipped.plan": plan[:300] + bytes([plan[300] ^ 1]) + plan[301:],
                              "empty.plan": b"", "text.plan": b"this is not a plan\n"}.items():
            pathlib.Path(name).write_bytes(damaged)
            out = self.fails(f"--loadEngine={name}", name)
            self.assertTrue(out.splitlines()[-1].startswith("&&&& FAILED TensorRT.trtexec [assay v"), out)
            self.fails(f"{name}", name, "assay")
        pathlib.Path("bad.cache").write_text("{")
        self.fails("--onnx=add.onnx --timingCacheFile=bad.cache --buildOnly", "bad.cache")

    def test_models_and_plans_at_once(self):
        self.passes(f"--onnx=add.onnx --saveEngine=add.plan --buildOnly {QUICK}")
        self.fails(f"--onnx=add.onnx --loadEngine=add.plan {QUICK}", "both the ONNX model add.onnx and the plan add.plan are given")
        self.assertIn("=== reference ===", self.passes(f"--onnx=add.onnx --loadEngine=add.plan --backends=engine,reference {QUICK}"))
        self.fails(f"--loadEngine=add.plan --backends=engine,reference {QUICK}", "only the engine runs plans")
        self.fails(f"add.onnx --onnx add.onnx {QUICK}", "two models are given", "assay")
        self.fails(QUICK, "no model is given")

    def test_shapes_that_do_not_fit(self):
        self.fails(f"--onnx=model.onnx --shapes=x:1x1x28x28 {QUICK}", "'x', which is not an input of the model; its inputs are: x:0")
        self.fails(f"--onnx=model.onnx --shapes=x:0:1x2x28x28 {QUICK}", "cannot have the shape 1x2x28x28")
        self.fails(f"--onnx=add.onnx --shapes=a:3x2 {QUICK}", "the input 'a' of shape (2, 2) cannot have the shape 3x2")
        self.fails(f"--onnx=model.onnx --minShapes=x:0:4x1x28x28 --maxShapes=x:0:2x1x28x28 {QUICK}", "min <= opt <= max")
        self.fails(f"--onnx=model.onnx --maxShapes=x:0:2x1x28x28 --shapes=x:0:3x1x28x28 {QUICK}", "outside of profile 0")
        self.fails(f"--onnx=model.onnx --shapes=x:0:1xax28 {QUICK}", "--shapes: could not parse 'x:0:1xax28'")

    def test_options_that_are_wrong(self):
        self.fails("--onnx=add.onnx --warmup=0", "--warmup=0 is not an option; did you mean --warmUp?")
        self.fails("--onnx=add.onnx --nonsense", "Unrecognized Options: ['--nonsense']")
        self.fails("--onnx=add.onnx --duration=long", "invalid float value: 'long'")
        self.fails("--onnx=add.onnx --duration=long", "invalid float value: 'long'", "assay", status=2)
        self.fails("--onnx=add.onnx --duration=-1", "--duration: -1 is not a time")
        self.fails("--onnx=add.onnx --duration=nan", "--duration: nan is not a time")
        self.fails("--onnx=add.onnx --iterations=1.5", "invalid int value: '1.5'")
        self.fails("--onnx=add.onnx --streams=0", "--streams/--infStreams: 0 does not lie between 1 and 1024")
        self.fails("--onnx=add.onnx --percentile=101", "--percentile: '101' is not a number from 0 to 100")
        self.fails("--onnx=add.onnx --builderOptimizationLevel=6", "6 does not lie between 0 and 5")
        self.fails("--onnx=add.onnx --memPoolSize=workspace:1Q", "'1Q' is not a size")
        self.fails("--onnx=add.onnx --memPoolSize=64", "'64' is not of the form POOL:SIZE")
        self.fails("--onnx=add.onnx --profilingVerbosity=all", "invalid choice: 'all'")
        self.fails("--onnx=add.onnx --backends=enigne", "'enigne' is not a backend of this build")
        self.fails("--onnx=add.onnx --backends=reference --dumpProfile", "only the engine tells times of layers")
        self.fails("--onnx=add.onnx --loadRefOutputs=c:c.bin", "--loadRefOutputs is not available yet")

    def test_places_that_cannot_be_written_to(self):
        for option in ("exportTimes", "exportProfile", "exportLayerInfo", "exportOutput", "exportTimeline", "json", "saveEngine", "timingCacheFile"):
            pathlib.Path("taken").write_text("")
            self.fails(f"--onnx=add.onnx --{option}=taken/file {QUICK}", "taken")

    def test_help(self):
        self.assertIn("--minShapes", self.passes("--help"))
        self.assertIn("--minShapes", self.passes(""))
        self.assertIn("--min-shapes", self.passes("--help", "assay"))

    # ---- Progress

    def on_terminal(self, line, **environment):
        master, slave = pty.openpty()
        process = subprocess.Popen(["./trtexec", *line.split()], stdout=slave, stderr=slave, stdin=slave,
                                   env={**os.environ, "TERM": "xterm", **environment})
        os.close(slave)
        text = b""
        while True:
            if select.select([master], [], [], 60)[0]:
                try:
                    piece = os.read(master, 65536)
                except OSError:
                    break
                if not piece:
                    break
                text += piece
        os.close(master)
        self.assertEqual(process.wait(), 0, text)
        return text.decode()

    def test_progress_is_for_terminals(self):
        line = "--onnx=model.onnx --warmUp=0 --duration=0.5 --iterations=1 --builderOptimizationLevel=1"
        self.assertNotIn("\r", self.passes(line, TERM="xterm"))
        shown = self.on_terminal(line)
        self.assertRegex(shown, r"\r\x1b\[2mtiming tactics: \d+ of \d+")
        self.assertRegex(shown, r"\r\x1b\[2m[^\n]*% of the runs")
        plain = self.on_terminal(line, NO_COLOR="1")
        self.assertRegex(plain, r"\rtiming tactics: \d+ of \d+")
        self.assertNotIn("\x1b", plain)
        self.assertNotIn("% of the runs", self.on_terminal(line, TERM="dumb"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("trtexec", "assay"):
            os.symlink(ASSAY, name)
        write_models()
        unittest.main()
