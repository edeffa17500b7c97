"""The runner --openvino: on a library that stands in for OpenVINO, and on the real one where ASSAY_OPENVINO names it.

usage: openvino_test.py ASSAY MODULE FOLDER_OF_STAND_INS
       openvino_test.py ASSAY MODULE --real
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ASSAY, MODULE = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
WHERE = sys.argv.pop(1)

IDENTITY = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,4] x) => (float[n,4] y) {
  y = Identity (x)
}
"""
WEIGHTS = """<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y)
<float[4] w = {1, 2, 3, 4}> {
  h = Add (x, w)
  y = Identity (h)
}
"""
# Types, an input that is an output, several outputs, open extents.
TYPES = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,4] x, int64[n] i, bool[n] b) => (float[n,4] y, int64[n] j, bool[n] c, float[4,n] z) {
  y = Relu (x)
  j = Add (i, i)
  c = Not (b)
  z = Transpose (y)
}
"""


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "m.onnxtxt").write_text(IDENTITY)
        (self.folder / "types.onnxtxt").write_text(TYPES)
        self.calls = self.folder / "calls"

    def run_assay(self, *words, code=0, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_EXTENSION")} | {"STAND_IN_CALLS": str(self.calls), "HOME": str(self.folder)}
        result = subprocess.run([ASSAY, *map(str, words), "--extension", MODULE], cwd=self.folder, env=env | variables, capture_output=True, text=True, timeout=300)
        output = result.stdout + result.stderr
        self.assertEqual(result.returncode, code, output)
        return output


class StandIn(Test):
    LIBRARY = Path(WHERE).resolve() / "libopenvino_c.so"

    def openvino(self, *words, code=0, library=None, **variables):
        return self.run_assay("run", "m.onnxtxt", "--openvino", "--input-shapes", "x:[2,4]", "--openvino-library", library or self.LIBRARY, *words, code=code, **variables)

    def test_runs(self):
        output = self.openvino("--ref", "--threads", "1", "--openvino-config", "PERFORMANCE_HINT=LATENCY")
        self.assertRegex(output, r"PASSED \| openvino-runner-N0[^|]*\| 1 output\(s\) agree")
        calls = self.calls.read_text().splitlines()
        self.assertEqual(calls[0], "memory")
        self.assertEqual(sorted(calls[1:]), ["INFERENCE_NUM_THREADS=1", "INFERENCE_PRECISION_HINT=f32", "PERFORMANCE_HINT=LATENCY"])

    def test_a_changed_model_goes_through_memory(self):
        """Its weights, which lie in a file of their own, come along."""
        (self.folder / "w.onnxtxt").write_text(WEIGHTS)
        self.run_assay("surgeon", "sanitize", "w.onnxtxt", "-o", "w.onnx", "--save-external-data", "w.data", "--external-data-size-threshold", "0")
        self.assertTrue((self.folder / "w.data").exists())
        self.run_assay("run", "w.onnx", "--openvino", "--openvino-library", self.LIBRARY, STAND_IN="")
        self.assertEqual(self.calls.read_text().splitlines()[0], f"read {self.folder}/w.onnx")  # it is not changed
        self.calls.unlink()
        (self.folder / "got").mkdir()
        self.run_assay("run", "w.onnx", "--openvino", "--openvino-library", self.LIBRARY, "--onnx-outputs", "h", STAND_IN_MODEL="got/seen.onnx", STAND_IN="renamed")
        self.assertEqual(self.calls.read_text().splitlines()[0], "memory")
        shown = self.run_assay("inspect", "model", "got/seen.onnx", "--show", "layers", "weights")
        self.assertIn("[1. 2. 3. 4.]", shown)
        self.assertRegex(shown, r"1 Graph Output\(s\) ----\s+\{h ")

    def test_an_old_library_gets_a_file(self):
        self.openvino("--ref", library=self.LIBRARY.parent / "old" / "libopenvino_c.so")
        call = self.calls.read_text().splitlines()[0]
        self.assertRegex(call, r"read .*/model\.onnx$")
        self.assertFalse(Path(call.split()[1]).parent.exists(), "the folder of the model is gone")

    def test_a_file_is_read_where_it_is(self):
        self.run_assay("surgeon", "sanitize", "m.onnxtxt", "-o", "m.onnx")
        self.run_assay("run", "m.onnx", "--openvino", "--input-shapes", "x:[2,4]", ASSAY_OPENVINO=str(self.LIBRARY.parent))
        self.assertEqual(self.calls.read_text().splitlines()[0], f"read {self.folder}/m.onnx")

    def test_outputs_that_openvino_renames(self):
        self.assertRegex(self.openvino("--ref", STAND_IN="renamed"), r"openvino-runner-N0[^|]*\| 1 output\(s\) agree")

    def test_zero_elements(self):
        self.run_assay("run", "m.onnxtxt", "--openvino", "--ref", "--input-shapes", "x:[0,4]", "--openvino-library", self.LIBRARY)

    def test_errors_of_openvino(self):
        for wrong, text in [("no-core", "it cannot be started"), ("no-model", "the model cannot be read: OpenVINO says (code -1): the stand-in says no"),
                            ("no-inference", "inference failed"), ("other-type", "in another type than the model's"), ("short", "'y' has 1 bytes in OpenVINO, and 32 were expected"),
                            ("old", "its version 2022.3.0-9052 is older than 2023.0"), ("other-order", "its element types are in an order that is not known")]:
            with self.subTest(wrong):
                self.assertIn(text, self.openvino(code=1, STAND_IN=wrong))
        self.assertIn("cannot be compiled for the device NPU", self.openvino("--openvino-device", "NPU", code=1))

    def test_libraries_that_cannot_be_used(self):
        self.assertIn("it has no symbol ov_free", self.openvino(code=1, library=self.LIBRARY.parent / "lacking" / "libopenvino_c.so"))
        (self.folder / "libopenvino_c.so").write_text("no library")
        self.assertIn("there is no usable OpenVINO", self.openvino(code=1, library="libopenvino_c.so"))
        self.assertIn("there is no such file", self.openvino(code=1, library="nowhere.so"))
        self.assertIn("pip install openvino", self.openvino(code=1, library="nowhere.so"))

    def test_options(self):
        self.assertIn("takes KEY=VALUE, not 'LATENCY'", self.openvino("--openvino-config", "LATENCY", code=1))
        self.assertIn("takes at most 16 properties", self.openvino("--openvino-config", *[f"K{i}=1" for i in range(16)], code=1))
        self.assertIn("--openvino-device is for --openvino, which is not given", self.run_assay("run", "m.onnxtxt", "--ref", "--openvino-device", "CPU", code=1))

    def test_several_at_once(self):
        output = self.openvino("--openvino", "--ref", "--iterations", "3")
        self.assertRegex(output, r"PASSED \| openvino-runner-N1[^|]*\| 1 output\(s\) agree")


class Real(Test):
    def test_types_and_shapes(self):
        for n in (3, 1):
            output = self.run_assay("run", "types.onnxtxt", "--openvino", "--ref", "--input-shapes", f"x:[{n},4]", f"i:[{n}]", f"b:[{n}]")
            self.assertRegex(output, r"PASSED \| openvino-runner-N0[^|]*\| 4 output\(s\) agree")

    def test_networks(self):
        for name in ("resnet-18", "lstm"):
            self.run_assay("template", "model", name, "-o", f"{name}.onnx")
            output = self.run_assay("run", f"{name}.onnx", "--openvino", "--ref")
            self.assertRegex(output, r"PASSED \| openvino-runner-N0[^|]*\| .* 0 wrong")
        output = self.run_assay("run", "lstm.onnx", "--openvino", "--ref", "--onnx-outputs", "*")
        self.assertRegex(output, r"PASSED \| openvino-runner-N0[^|]*\| .* 0 wrong")


if __name__ == "__main__":
    if WHERE == "--real" and not os.environ.get("ASSAY_OPENVINO"):
        print("skipped: ASSAY_OPENVINO names no OpenVINO")
        sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Real if WHERE == "--real" else StandIn)
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
