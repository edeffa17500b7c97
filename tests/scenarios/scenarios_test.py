#!/usr/bin/env python3
"""What users type, word for word but for the names of files, under the name `polygraphy`: the command lines of introductions to
inference engines.

    scenarios_test.py build/assay
"""

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

ASSAY = pathlib.Path(sys.argv.pop(1)).resolve()
SHAPES = ("--trt-min-shapes 'tensor-0:[1,1,28,28]' --trt-opt-shapes 'tensor-0:[4,1,28,28]' --trt-max-shapes 'tensor-0:[16,1,28,28]' "
          "--input-shapes 'tensor-0:[4,1,28,28]'")


def run(line):
    """Status and both outputs of `polygraphy line`."""
    result = subprocess.run(["./polygraphy", *shlex.split(line)], capture_output=True, text=True, timeout=300)
    return result.returncode, result.stdout + result.stderr


def has_onnxruntime():
    return run("run mnist.onnx --onnxrt --input-shapes 'tensor-0:[1,1,28,28]'")[0] == 0


class Scenarios(unittest.TestCase):
    maxDiff = None

    def passes(self, line):
        code, out = run(line)
        self.assertEqual(code, 0, f"{line}\n{out[-3000:]}")
        return out

    def needs_onnxruntime(self):
        if not has_onnxruntime():
            print(f"SKIPPED {self.id()}: ONNX Runtime is not installed", flush=True)
            self.skipTest("ONNX Runtime is not installed")

    def test_a1_fp16_beside_onnxrt(self):
        self.needs_onnxruntime()
        out = self.passes("run mnist.onnx --onnxrt --trt --workspace 1000000000 --save-engine=model-FP16.plan --atol 1e-3 "
                          f"--rtol 1e-3 --fp16 --verbose {SHAPES}")
        self.assertIn("Pass Rate: 100.00%", out)
        self.assertIn("float16", out)
        self.assertIn("Allowed: float32, float16\n", self.passes("inspect model model-FP16.plan"))

    def test_a2_all_layers(self):
        self.needs_onnxruntime()
        out = self.passes("run mnist.onnx --onnxrt --trt --workspace 1000000000 --save-engine=model-FP32.plan --atol 1e-3 --rtol 1e-3 "
                          f"--verbose {SHAPES} --onnx-outputs mark all --trt-outputs mark all")
        self.assertIn("Pass Rate: 100.00%", out)
        for name in ("/conv1/Conv_output_0", "/relu1/Relu_output_0", "/fc2/Gemm_output_0"):
            self.assertIn(f"PASSED | Output: '{name}'", out)
        self.assertNotIn("dtype=float16", self.passes("inspect model model-FP32.plan --show layers"))

    def test_a3_everything_saved(self):
        out = self.passes("run mnist.onnx --trt --workspace 1000000000 --save-engine=./model.plan --save-tactics=./model.tactic "
                          f"--save-inputs=./model-input.txt --save-outputs=./model-output.txt --silent {SHAPES}")
        self.assertEqual(out, "")
        # B2
        self.assertRegex(self.passes("inspect tactics model.tactic"), r"Layer: .*\n +Algorithm: \(Implementation: ")
        shown = self.passes("inspect data model-input.txt --show-values")
        self.assertIn("tensor-0 [dtype=float32, shape=(4, 1, 28, 28)]", shown)
        shown = self.passes("inspect data model-output.txt")
        self.assertIn("y [dtype=float32, shape=(4, 10)]", shown)
        self.assertIn("z [dtype=int64, shape=(4,)]", shown)
        # B1 of a plan
        shown = self.passes("inspect model model.plan --show layers")
        self.assertIn("==== TensorRT Engine ====\n    Name: mnist_cnn | Explicit Batch Engine", shown)
        self.assertIn("---- Memory ----\n    Device Memory: ", shown)
        self.assertRegex(shown, r"Tensor: tensor-0 +\(Input\), Index: 0 \| Shapes: min=\(1, 1, 28, 28\), opt=\(4, 1, 28, 28\), max=\(16, 1, 28, 28\)")
        self.assertTrue(any("softmax" in line.lower() for line in shown.splitlines()))
        # The tactics of the replay again.
        self.passes(f"run mnist.onnx --trt --load-tactics model.tactic --save-engine again.plan {SHAPES}")
        self.assertEqual(self.passes("inspect model again.plan --show layers").split("Loading")[1].split("====")[2],
                         shown.split("Loading")[1].split("====")[2])

    def test_a4_options_without_a_meaning_here_say_so(self):
        out = self.passes("run mnist.onnx --trt --model-type onnx --save-onnx ./saved.onnx --shape-inference --int8 --tf32 --sparse-weights "
                          f"--workspace 1G --rtol 1e-6 --atol 1e-6 --validate {SHAPES}")
        self.assertIn("[W] Int8 Calibration is using randomly generated input data.", out)
        for option in ("--tf32", "--sparse-weights"):
            lines = [line for line in out.splitlines() if line.startswith(f"[W] {option} has no effect: ")]
            self.assertEqual(len(lines), 1, out)
        self.assertIn("ONNX Model", self.passes("inspect model saved.onnx"))
        self.passes(f"run mnist.onnx --trt --save-engine typed.plan {SHAPES}")
        self.assertIn("PASSED", self.passes("run typed.plan --trt --model-type engine --input-shapes 'tensor-0:[4,1,28,28]'"))

    def test_a5_two_engines_through_files(self):
        fixed = "--input-shapes 'tensor-0:[4,1,28,28]'"
        self.passes(f"convert mnist.onnx -o resnet_fp32.engine {SHAPES.split('--input-shapes')[0]}")
        self.passes(f"convert mnist.onnx -o resnet_fp16.engine --fp16 {SHAPES.split('--input-shapes')[0]}")
        self.passes(f"run resnet_fp32.engine --trt --save-inputs input.json --save-outputs output.json {fixed}")
        out = self.passes("run resnet_fp16.engine --trt --load-inputs input.json --load-outputs output.json --atol 1e-3 --rtol 1e-3")
        self.assertIn("Pass Rate: 100.00%", out)
        # float16 is not float32.
        code, out = run("run resnet_fp16.engine --trt --load-inputs input.json --load-outputs output.json --atol 0 --rtol 0")
        self.assertEqual(code, 1, out)

    def test_b1_models(self):
        for options in ("", "--mode=full", "--show layers attrs weights"):
            out = self.passes(f"inspect model mnist.onnx {options}")
            self.assertIn("==== ONNX Model ====", out)
            self.assertEqual("conv1.weight" in out, options != "")
        out = self.passes("inspect model mnist.onnx --display-as=trt --show layers")
        self.assertIn("==== TensorRT Network ====", out)
        self.assertIn("[Op: LayerType.CONVOLUTION]", out)

    def test_b5_conversions(self):
        shapes = SHAPES.split("--input-shapes")[0]
        self.passes(f"convert mnist.onnx -o model.plan --fp16 {shapes}")
        out = self.passes(f"convert mnist.onnx -o int8.plan --int8 {shapes}")
        self.assertEqual(out.count("[W] Int8 Calibration is using randomly generated input data."), 1, out)
        self.assertIn("Allowed: float32, int8\n", self.passes("inspect model int8.plan"))
        self.passes("convert mnist.onnx --fp-to-fp16 -o fp16.onnx")
        self.assertIn("float16", self.passes("inspect model fp16.onnx --show layers"))
        out = self.passes(f"run fp16.onnx --trt {SHAPES}")
        self.assertIn("PASSED", out)
        # A network of halves runs on kernels, not by plain evaluation.
        self.passes(f"convert fp16.onnx -o half.plan {shapes}")
        layers = [line for line in self.passes("inspect model half.plan --show layers").splitlines() if "[Op: evaluate]" in line]
        self.assertEqual([line for line in layers if "ArgMax" not in line], [])

    def test_extents_that_only_the_data_tell(self):
        for name in ("nonzero", "shapes"):
            self.passes(f"run {name}.onnx --trt --save-engine {name}.plan {SHAPES}")
            self.assertIn("PASSED", self.passes(f"run {name}.plan --trt --input-shapes 'tensor-0:[3,1,28,28]'"))

    def test_b8_debugging(self):
        self.needs_onnxruntime()
        os.environ["PATH"] = f"{os.getcwd()}:{os.environ['PATH']}"  # of the checks
        shapes = "--input-shapes 'tensor-0:[4,1,28,28]'"
        self.passes(f"run mnist.onnx --onnxrt {shapes} --save-inputs in.json --save-outputs golden.json")
        out = self.passes("debug build mnist.onnx --fp16 --save-tactics replay.json --artifacts-dir replays --artifacts replay.json --until=3 "
                          f"{SHAPES} --check polygraphy run polygraphy_debug.engine --trt --load-inputs in.json --load-outputs golden.json --atol 1e-2")
        self.assertIn("Passed: 3/3", out)
        self.assertIn("Loaded 3 good tactic replays.", self.passes("inspect diff-tactics --dir replays"))
        self.passes("debug reduce mnist.onnx -o reduced.onnx --mode=bisect --fail-regex 'Op: MaxPool' --model-input-shapes 'tensor-0:[1,1,28,28]' "
                    "--check polygraphy inspect model polygraphy_debug.onnx --show layers")
        self.passes("debug reduce reduced.onnx -o final.onnx --mode=linear --fail-regex 'Op: MaxPool' --check polygraphy inspect model polygraphy_debug.onnx "
                    "--show layers")
        self.assertEqual(self.passes("inspect model final.onnx --show layers").count("[Op: "), 1)
        out = self.passes(f"debug precision mnist.onnx --fp16 -p float32 --mode bisect {SHAPES} --check polygraphy run polygraphy_debug.engine --trt "
                          "--load-inputs in.json --load-outputs golden.json --atol 1e-2 --rtol 1e-2")
        self.assertIn("in higher precision", out)
        self.assertIn("Passed: 3/3", self.passes(f"debug repeat --until 3 --check polygraphy run mnist.onnx --trt {shapes}"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("polygraphy").symlink_to(ASSAY)
        for template, name in (("mnist-cnn", "mnist"), ("mnist-nonzero", "nonzero"), ("mnist-shapes", "shapes")):
            subprocess.run([ASSAY, "template", "model", template, "--batch", "dynamic", "-o", f"{name}.onnx"], check=True, capture_output=True)
        unittest.main(verbosity=1)
