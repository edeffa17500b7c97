"""assay plugin autotune: replacements that make a model faster are found and kept, others are not.

usage: autotune_test.py ASSAY FOLDER_OF_MODULES
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ASSAY, MODULES = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()

# Two stretches of much arithmetic that a plugin does in one multiplication, and a sum that it evaluates in float64.
STRETCH = ["Sinh", "Asinh"] * 6
MODEL = """<ir_version: 8, opset_import: ["" : 17, "test.everything" : 1]>
g (float[batch,32,32,32] x) => (float y) <float three = {3.0}> {
%s
  p = Relu (first_end)
%s
  y = ReduceSum <keepdims: int = 0> (second_end)
}
"""

PATTERN = """op: Scale
domain: test.everything
inputs: [x]
constants: [c]
nodes:
%s
  - {name: last, op: Mul, inputs: [t%d, c], outputs: [y]}
outputs: [y]
replacement:
  inputs: [x]
  attributes:
    factor: = value(c)
"""

SUM = """op: Sum
domain: test.everything
inputs: [x]
nodes:
  - {name: sum, op: ReduceSum, inputs: [x], outputs: [y]}
outputs: [y]
"""


def stretch(start, name):
    lines, at = [], start
    for i, op in enumerate(STRETCH):
        lines.append(f"  {name}{i} = {op} ({at})")
        at = f"{name}{i}"
    return "\n".join(lines + [f"  {name}_end = Mul ({at}, three)"])


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "m.onnxtxt").write_text(MODEL % (stretch("x", "first"), stretch("p", "second")))
        nodes = "\n".join(f"  - {{name: n{i}, op: {op}, inputs: [{'x' if i == 0 else f't{i}'}], outputs: [t{i + 1}]}}"
                          for i, op in enumerate(STRETCH))
        self.quick = PATTERN % (nodes, len(STRETCH))
        self.plugin("quick", self.quick)
        self.plugin("slow", SUM)

    def plugin(self, name, text):
        folder = self.folder / "plugins" / name
        folder.mkdir(parents=True)
        (folder / "pattern.yaml").write_text(text)

    def run_assay(self, *words, code=0):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_EXTENSION")} | {"HOME": str(self.folder)}
        result = subprocess.run([ASSAY, *map(str, words)], cwd=self.folder, env=env, capture_output=True, text=True, timeout=120)
        output = result.stdout + result.stderr
        self.assertIn(result.returncode, code if isinstance(code, tuple) else (code,), output)
        return output

    def autotune(self, *words, code=0, library=MODULES / "everything.so"):
        return self.run_assay("plugin", "autotune", "m.onnxtxt", "--plugin-dir", "plugins", "--plugin-libraries", library, *words, code=code)

    def test_greedy(self):
        output = self.autotune("-o", "tuned.onnx", "--report", "report.txt", "--input-shapes", "x:[2,32,32,32]")
        for line in ("Loaded: everything.so", "{'quick': 2, 'slow': 1}", "Loading plugin config from", "Baseline Performance (without plugin replacements): Latency:",
                     "Decided to replace quick_0: Latency:", "Decided to replace quick_1:", "Decided not to replace slow_0:",
                     "Optimized model saved to: tuned.onnx", "Optimization completed successfully!"):
            self.assertIn(line, output)
        self.assertTrue((self.folder / "config.yaml").exists())
        report = (self.folder / "report.txt").read_text()
        for line in ("Total Combinations Tested: 3", "Number of Engine Builds: 4", "Best Strategy (2 replacements):", "1. Scale (quick)", "Inputs: x\n",
                     "Largest difference of its outputs:"):
            self.assertIn(line, report)
        shown = self.run_assay("inspect", "model", "tuned.onnx", "--show", "layers", "--extension", MODULES / "everything.so")
        self.assertEqual(shown.count("Op: Scale"), 2, shown)
        self.assertIn("Op: ReduceSum", shown)
        # What it computes is still judged right.
        self.run_assay("run", "tuned.onnx", "--engine", "--ref", "--extension", MODULES / "everything.so", "--input-shapes", "x:[1,32,32,32]")

    def test_exhaustive_and_limits(self):
        output = self.autotune("-o", "tuned.onnx", "--autotune-mode", "exhaustive", "--exclude", "slow", "--threshold", "0.99", "--timing-cache", "times")
        self.assertIn("New best strategy found (combination 3)", output)
        self.assertTrue((self.folder / "times").exists())
        output = self.autotune("-o", "few.onnx", "--autotune-mode", "exhaustive", "--max-combinations", "1", "--load-config-yaml", "config.yaml",
                               code=(0, 1))  # on a busy machine one replacement alone may not be measurably faster
        self.assertIn("Not all sets of replacements were tried: 1 were", output)

    def test_a_cache_that_cannot_be_saved_is_found_before_the_work(self):
        output = self.autotune("-o", "tuned.onnx", "--include", "quick", "--timing-cache", "m.onnxtxt/times", code=1)
        self.assertEqual(output.strip(), "[!] cannot create the folder m.onnxtxt: Not a directory")
        self.assertFalse((self.folder / "tuned.onnx").exists(), output)

    def test_nothing_is_faster(self):
        output = self.autotune("-o", "tuned.onnx", "--include", "slow", code=1)
        self.assertIn("No optimization strategy found: with none of the 1 replacements", output)
        self.assertFalse((self.folder / "tuned.onnx").exists())

    def test_only_matching(self):
        self.autotune("-o", "tuned.onnx", "--skip-autotuning", "--save-config-yaml", "found.yaml")
        self.assertTrue((self.folder / "found.yaml").exists())
        self.assertFalse((self.folder / "tuned.onnx").exists())

    def test_wrong_results_are_told(self):
        self.plugin("wrong", self.quick.replace("= value(c)", "7.0"))
        output = self.autotune("-o", "tuned.onnx", "--include", "wrong")
        self.assertIn("the outputs differ from the unchanged network's by up to", output)
        self.assertIn("assay run --ref", output)

    def test_bad_libraries_and_plugins(self):
        output = self.autotune("-o", "tuned.onnx", "--python-plugins", "missing.py", "m.onnxtxt", library="missing.so", code=1)
        for line in ("Plugin file not found: missing.py", "m.onnxtxt is not imported: the engine runs no operators in Python",
                     "Library not found: missing.so", "Failed to test replacement for quick_0:", "No optimization strategy found"):
            self.assertIn(line, output)
        (self.folder / "bad.so").write_text("no library")
        self.assertIn("Failed to load bad.so", self.autotune("-o", "t.onnx", "--skip-autotuning", library="bad.so"))
        self.assertIn("there is no plugin nosuch", self.autotune("-o", "t.onnx", "--exclude", "nosuch", code=1))
        self.assertIn("--max-combinations", self.autotune("-o", "t.onnx", "--max-combinations", "0", code=1))


if __name__ == "__main__":
    unittest.main()
