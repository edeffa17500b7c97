#!/usr/bin/env python3
"""`--int8` on the command line: where data and scales come from, caches, plans.

    calibration_test.py build/assay .venv
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ASSAY = pathlib.Path(sys.argv.pop(1)).resolve()
PYTHON = pathlib.Path(sys.argv.pop(1)).absolute()

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,4] x) => (float[n,4] y) <float[4,4] w = {0.5, -1, 2, 0.25, 1, 1, -3, 0.125, 2, 2, 2, 2, -1, 0, 1, 0}> {
  [first] a = MatMul (x, w)
  [second] b = Relu (a)
  [third] y = MatMul (b, w)
}
"""
DATA = """
import numpy as np

def load_data():
    for i in range(3):
        yield {"x": np.array([[0.5, -1, 0.25, i], [-6.5 if i == 1 else 1, 0, 0, 2]], np.float32)}

def never():
    raise RuntimeError("nobody should ask")
"""
CONFIG = """
import tensorrt as trt

class Calibrator(trt.IInt8MinMaxCalibrator):
    def get_batch_size(self):
        return 1
    def get_batch(self, names):
        return None
    def read_calibration_cache(self):
        return b"TRT-8601-MinMaxCalibration\\nx: 3d000000\\n"
    def write_calibration_cache(self, cache):
        pass

def load_config(builder, network):
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.INT8)
    config.int8_calibrator = Calibrator()
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 4), (2, 4), (8, 4))
    config.add_optimization_profile(profile)
    return config
"""
BUILD = "--builder-optimization-level 0 --trt-min-shapes x:[1,4] --trt-opt-shapes x:[2,4] --trt-max-shapes x:[8,4]"


def assay(line, status=0):
    """Both streams of a command that ends with `status`."""
    done = subprocess.run([ASSAY, *line.split()], capture_output=True, text=True, timeout=100,
                          env={**os.environ, "VIRTUAL_ENV": str(PYTHON)})
    out = done.stdout + done.stderr
    assert done.returncode == status, f"assay {line}: {done.returncode}\n{out}"
    return out


def scales(path):
    lines = pathlib.Path(path).read_text().splitlines()
    return lines[0], {name: struct.unpack(">f", bytes.fromhex(bits))[0] for name, bits in (line.rsplit(": ", 1) for line in lines[1:])}


class Calibration(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.chdir(cls.folder.name)
        for name, text in (("m.onnxtxt", MODEL), ("data.py", DATA), ("config.py", CONFIG)):
            pathlib.Path(name).write_text(text)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.folder.cleanup()

    def test_a_script_gives_the_data_and_a_cache_takes_their_place(self):
        line = f"convert m.onnxtxt --int8 --calib-base-cls IInt8MinMaxCalibrator --calibration-cache c.txt {BUILD}"
        out = assay(f"{line} --data-loader-script data.py -o one.plan")
        self.assertIn("[I] Saving calibration cache to c.txt", out)
        self.assertNotIn("[W]", out)
        header, found = scales("c.txt")
        self.assertEqual(header, "TRT-8601-MinMaxCalibration")
        self.assertEqual(set(found), {"x", "a", "b", "y"})
        self.assertEqual(found["x"], struct.unpack("f", struct.pack("f", 6.5 / 127))[0])
        # The second build asks nobody for data, and gives the same bytes.
        out = assay(f"{line} --data-loader-script data.py:never -o two.plan")
        self.assertIn("[I] Loading calibration cache from c.txt", out)
        self.assertEqual(pathlib.Path("one.plan").read_bytes(), pathlib.Path("two.plan").read_bytes())
        # The plan gives what the engine gives, for other shapes, too, and 8 bits show.
        data = "--input-shapes x:[7,4] --val-range [-6,6]"
        runners = f"--compare snr --snr-threshold 20 {data}"
        assay(f"run one.plan --engine {data} --save-outputs plan.json")
        assay(f"run m.onnxtxt --trt --int8 --calib-base-cls IInt8MinMaxCalibrator --calibration-cache c.txt {BUILD} {data} "
              "--load-outputs plan.json --compare simple --atol 0 --rtol 0")
        assay(f"run m.onnxtxt --engine {runners} --load-outputs plan.json")
        assay(f"run m.onnxtxt --engine {data} --load-outputs plan.json --compare simple --atol 1e-6 --rtol 1e-6", 1)

    def test_saved_data_and_random_ones(self):
        assay("run m.onnxtxt --engine --input-shapes x:[2,4] --iterations 2 --val-range [-3,3] --save-inputs in.json")
        line = f"convert m.onnxtxt --int8 {BUILD}"
        random = "Int8 Calibration is using randomly generated input data."
        self.assertNotIn(random, assay(f"{line} --load-inputs in.json --calibration-cache saved.txt -o x.plan"))
        self.assertIn(random, assay(f"{line} --seed 1 --iterations 2 --val-range [-3,3] --calibration-cache drawn.txt -o y.plan"))
        self.assertEqual(pathlib.Path("saved.txt").read_text(), pathlib.Path("drawn.txt").read_text())
        self.assertEqual(scales("saved.txt")[0], "TRT-8601-EntropyCalibration2")

    def test_data_that_do_not_fit(self):
        pathlib.Path("wide.py").write_text("import numpy as np\ndef load_data():\n    yield {'x': np.zeros((9, 4), np.float32)}\n")
        out = assay(f"convert m.onnxtxt --int8 {BUILD} --data-loader-script wide.py -o x.plan", 1)
        self.assertIn("while calibrating, in set of inputs 1", out)
        pathlib.Path("none.py").write_text("def load_data():\n    return []\n")
        out = assay(f"convert m.onnxtxt --int8 {BUILD} --data-loader-script none.py -o x.plan", 1)
        self.assertIn("there are no data to calibrate with", out)

    def test_an_empty_cache_is_filled_and_a_damaged_one_stays(self):
        pathlib.Path("empty.txt").write_text("")
        out = assay(f"convert m.onnxtxt --int8 {BUILD} --calibration-cache empty.txt -o x.plan")
        self.assertIn("Calibration cache was provided, but is empty.", out)
        self.assertEqual(len(scales("empty.txt")[1]), 4)
        pathlib.Path("damaged.txt").write_text("TRT-8601-EntropyCalibration2\nx: what\n")
        out = assay(f"convert m.onnxtxt --int8 {BUILD} --calibration-cache damaged.txt -o x.plan", 1)
        self.assertIn("[!] damaged.txt: line 2 has the scale 'what', not up to 8 hexadecimal digits", out)
        self.assertEqual(pathlib.Path("damaged.txt").read_text(), "TRT-8601-EntropyCalibration2\nx: what\n")

    def test_the_cache_of_a_calibrator_in_a_script(self):
        # So small a product is as fast in float32: without that, it shows that the cache made 8 bits possible.
        out = assay("convert m.onnxtxt --trt-config-script config.py -o x.plan --builder-optimization-level 0 "
                    "--disable-tactics gemv dnnl_matmul panel_matmul")
        self.assertIn("the calibration cache of config.py:load_config has no scale for 1 tensor(s)", out)
        self.assertNotIn("randomly generated", out)
        self.assertIn("int8_matmul", assay("inspect model x.plan --show layers attrs"))


if __name__ == "__main__":
    unittest.main()
