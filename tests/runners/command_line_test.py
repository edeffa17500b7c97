"""Runners in Python as `run` chooses them: those that packages add, and TensorRT, for which packages stand in (stand_in/README.md).

usage: command_line_test.py ASSAY (this interpreter has NumPy)
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ASSAY = Path(sys.argv.pop(1)).resolve()
STAND_IN = Path(__file__).resolve().parent / "stand_in"

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,3] x) => (float[n,3] y) {
  y = Add (x, x)
}
"""
PACKAGE = {
    "my_runners.py": """
import numpy as np

class Doubling:
    def __init__(self, model_path): pass
    def infer(self, feed): return {"y": feed["x"] + feed["x"]}
""",
    "my_runners-1.5.dist-info/METADATA": "Metadata-Version: 2.1\nName: my-runners\nVersion: 1.5\n",
    "my_runners-1.5.dist-info/entry_points.txt": "[assay.runners]\ndoubling = my_runners:Doubling\nbroken = my_runners:Missing\n",
}


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "m.onnxtxt").write_text(MODEL)
        for name, text in PACKAGE.items():
            (self.folder / "packages" / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / "packages" / name).write_text(text)

    def run_assay(self, *words, code=0, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")} | {"ASSAY_PYTHON": sys.executable, "STAND_IN_CALLS": str(self.folder / "calls")}
        result = subprocess.run([ASSAY, *words], cwd=self.folder, env=env | variables, capture_output=True, text=True, timeout=120)
        output = result.stdout + result.stderr
        self.assertEqual(result.returncode, code, output)
        return output

    def test_wrong_shape_is_judged(self):
        """Without a verdict it is an error; a verdict names the node."""
        (self.folder / "half.py").write_text("class Half:\n    def __init__(self, path): pass\n"
                                             "    def infer(self, feed): return {'y': (feed['x'] + feed['x'])[:, :1]}\n")
        words = ["run", "m.onnxtxt", "--engine", "--runner-script", "half.py", "--input-shapes", "x:[2,3]"]
        self.assertIn("returned 'y' as float32[2, 1], which is declared as float32[n, 3]", self.run_assay(*words, code=1))
        output = self.run_assay(*words, "--arbiter", "--no-trace", code=1)
        self.assertRegex(output, r"Node \(Add\) producing 'y' \| Output: 'y' \(shape=\(2, 1\), float32\) \| made here, certainly")
        self.assertIn("its shape is (2, 1), not (2, 3)", output)

    def test_crash_leaves_the_others(self):
        (self.folder / "crash.py").write_text("import os\nclass Crash:\n    def __init__(self, path): pass\n"
                                              "    def infer(self, feed): os.abort()\n")
        output = self.run_assay("run", "m.onnxtxt", "--engine", "--runner-script", "crash.py", "--input-shapes", "x:[2,3]", "--arbiter",
                                "--save-outputs", "out.json", code=1)
        self.assertIn("was killed by signal 6", output)
        self.assertRegex(output, r"PASSED \| engine-runner-N0[^|]*\| 1 output\(s\) agree")
        saved = json.loads((self.folder / "out.json").read_text())["lst"]
        self.assertEqual([name.split("-")[0] for name, _ in saved], ["engine"])

    def test_runner_of_a_package(self):
        packages = {"PYTHONPATH": str(self.folder / "packages")}
        output = self.run_assay("run", "m.onnxtxt", "--runner-script", "doubling", "--ref", "--input-shapes", "x:[2,3]", **packages)
        self.assertIn("doubling-runner-N0", output)
        self.assertRegex(output, r"PASSED \| doubling-runner-N0[^|]*\| 1 output\(s\) agree")
        output = self.run_assay("inspect", "extensions", "--python", **packages)
        self.assertIn("==== Runners of Python Packages (2) ====", output)
        self.assertIn("doubling | my_runners:Doubling | from my-runners 1.5 | run with: --runner-script doubling", output)
        output = self.run_assay("run", "m.onnxtxt", "--runner-script", "doubled", "--ref", code=1, **packages)
        self.assertIn("have no runner 'doubled'; they have 'broken', 'doubling'", output)
        output = self.run_assay("run", "m.onnxtxt", "--runner-script", "broken", "--ref", code=1, **packages)
        self.assertIn("Missing", output)
        self.assertIn("they have none", self.run_assay("run", "m.onnxtxt", "--runner-script", "doubling", code=1, PYTHONPATH=""))

    def tensorrt(self, *words, code=0):
        return self.run_assay("run", "m.onnxtxt", "--trt", *words, code=code, PYTHONPATH=str(STAND_IN), ASSAY_TENSORRT=sys.executable)

    def test_tensorrt(self):
        (self.folder / "m.engine").write_text(json.dumps({"x": {"type": "FLOAT", "shape": [-1, 3]}, "y": {"type": "FLOAT", "shape": [-1, 3], "of": "x"}}))
        output = self.run_assay("run", "m.engine", "--model-type", "engine", "--trt", "--input-shapes", "x:[2,3]", "--save-outputs", "o.json",
                                PYTHONPATH=str(STAND_IN), ASSAY_TENSORRT=sys.executable)
        self.assertRegex(output, r"(?m)^ +trt-runner +1 ")
        self.assertNotIn("engine of assay", output)
        self.assertTrue((self.folder / "o.json").exists())

    def test_settings_of_tensorrt(self):
        self.tensorrt("--fp16", "--workspace", "1M", "--trt-min-shapes", "x:[1,3]", "--trt-opt-shapes", "x:[2,3]", "--trt-max-shapes", "x:[4,3]")
        calls = [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]
        self.assertIn(["set_flag", "FP16"], calls)
        self.assertIn(["set_memory_pool_limit", "WORKSPACE", 1 << 20], calls)
        for words, what in ((["--bf16"], "bfloat16"), (["--builder-optimization-level", "0"], "the optimization level"), (["--save-tactics", "t.json"], "tactics"),
                            (["--trt-outputs", "y"], "outputs of the network")):
            self.assertIn(f"the runner for TensorRT has no setting for {what}", self.tensorrt(*words, code=1))

    def test_without_tensorrt(self):
        self.assertIn("its own engine (--engine) runs in that role", self.run_assay("run", "m.onnxtxt", "--trt"))
        output = self.run_assay("run", "m.onnxtxt", "--trt", "--strict-trt", code=1)
        self.assertIn("[!] --trt cannot be used: the runner 'tensorrt' needs the Python package tensorrt", output)
        self.assertIn("ASSAY_TENSORRT", output)


if __name__ == "__main__":
    unittest.main()
