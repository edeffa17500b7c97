"""--compare perceptual_metrics: LPIPS by the user's packages.

usage: lpips_test.py ASSAY        (stand-ins for torch and lpips; this interpreter has NumPy)
       lpips_test.py ASSAY --real (this interpreter has torch, torchvision, lpips and polygraphy, whose numbers are ours)
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ASSAY = Path(sys.argv.pop(1)).resolve()
REAL = "--real" in sys.argv and (sys.argv.remove("--real") or True)

import numpy as np  # noqa: E402

# What LPIPS is here: the mean absolute difference, over 2 as the images lie in [-1, 1].
STAND_INS = {
    "torch/__init__.py": """
import contextlib
def from_numpy(array): return array
def no_grad(): return contextlib.nullcontext()
""",
    "lpips.py": """
class LPIPS:
    def __init__(self, net, version, verbose): assert (net, version) == ("alex", "0.1")
    def to(self, device): return self
    def eval(self): return self
    def __call__(self, a, b):
        if a.shape[2] < 2: raise RuntimeError("too small for the kernel")
        assert a.shape == b.shape and a.shape[1] == 3, a.shape
        return abs(a - b) / 2
""",
}


class Lpips(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in STAND_INS.items():
            path = self.folder / "packages" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run_assay(self, *words, packages="packages"):
        env = os.environ | {"ASSAY_PYTHON": sys.executable}
        if not REAL:
            env["PYTHONPATH"] = str(self.folder / packages)
        return subprocess.run([ASSAY, *map(str, words)], cwd=self.folder, env=env, capture_output=True, text=True, timeout=300)

    def save(self, name, array):
        """Results as a run saves them: of the identity, fed with the array."""
        np.save(self.folder / "x.npy", array)
        (self.folder / "data.py").write_text("import numpy as np\ndef load_data():\n    yield {'x': np.load('x.npy')}\n")
        kind = {"float32": "float", "uint8": "uint8"}[str(array.dtype)]
        shape = ",".join(map(str, array.shape))
        (self.folder / "m.onnxtxt").write_text(f'<ir_version: 8, opset_import: ["" : 17]>\ng ({kind}[{shape}] x) => ({kind}[{shape}] y) {{\n  y = Identity (x)\n}}\n')
        made = self.run_assay("run", "m.onnxtxt", "--engine", "--data-loader-script", "data.py", "--save-outputs", name)
        self.assertEqual(made.returncode, 0, made.stderr + made.stdout)

    def compare(self, a, b, *words):
        self.save("a.json", a)
        self.save("b.json", b)
        result = self.run_assay("run", "--load-outputs", "a.json", "b.json", "--compare", "perceptual_metrics", "-v", *words)
        return result.returncode, result.stdout + result.stderr

    def distance(self, a, b):
        code, output = self.compare(a, b, "--lpips-threshold", "1000", "--save-accuracy-results", "r.json")
        self.assertEqual(code, 0, output)
        self.assertIn("LPIPS | Comparing Output: 'y'", output)
        numbers = re.findall(r'"lpips": ([-0-9.e]+)', (self.folder / "r.json").read_text())
        return float(numbers[0])

    def images(self, *shape, low=0.0, high=1.0):
        random = np.random.default_rng(0)
        return [random.uniform(low, high, shape).astype(np.float32) for _ in range(2)]


class StandIn(Lpips):
    def test_forms(self):
        for shape, places in (((1, 3, 8, 8), [0, 1, 2]), ((1, 1, 8, 8), [0, 0, 0]), ((2, 2, 8, 8), [0, 1, 1]), ((1, 5, 8, 8), [0, 1, 2]), ((3, 8, 8), [0, 1, 2])):
            a, b = self.images(*shape)
            channels = (0 if len(shape) == 3 else 1)
            expected = np.abs(a.take(places, channels) - b.take(places, channels)).mean()
            self.assertAlmostEqual(self.distance(a, b), expected, 5, shape)
        a, b = self.images(4, 8, 8, 3)
        self.assertAlmostEqual(self.distance(a, b), np.abs(a - b).mean(), 5)

    def test_ranges(self):
        a, b = self.images(1, 3, 8, 8, low=-1)
        self.assertAlmostEqual(self.distance(a, b), np.abs(a - b).mean() / 2, 5)
        a, b = self.images(1, 3, 8, 8, high=255)
        self.assertAlmostEqual(self.distance(a, b), np.abs(a - b).mean() / 255, 5)
        # Only one of them goes beyond 1: both are scaled, or it would be compared with a black image.
        a, b = self.images(1, 3, 8, 8)
        self.assertLess(self.distance(a, a * np.float32(1.01)), 0.01)
        a, b = (np.uint8(255 * x) for x in self.images(1, 3, 8, 8))
        self.assertAlmostEqual(self.distance(a, b), np.abs(a / 255.0 - b / 255.0).mean(), 5)

    def test_verdict(self):
        a, b = self.images(1, 3, 8, 8)
        self.assertEqual(self.compare(a, a)[0], 0)
        code, output = self.compare(a, b)
        self.assertEqual(code, 1, output)
        self.assertRegex(output, r"LPIPS: 0\.\d+ \(tolerance: 0\.1\) \| FAILED")

    def test_what_is_no_image_fails(self):
        a, _ = self.images(4, 4)
        code, output = self.compare(a, a)
        self.assertEqual(code, 1, output)
        self.assertIn("FAILED | Output: 'y' | LPIPS cannot be computed: LPIPS is of images, of 3 or 4 dimensions, and not of shape (4, 4).", output)
        a, _ = self.images(1, 3, 1, 4)
        code, output = self.compare(a, a)
        self.assertEqual(code, 1, output)
        self.assertIn("the network refuses images of 1x4 pixels: too small for the kernel", output)

    def test_missing_packages(self):
        a, _ = self.images(1, 3, 8, 8)
        self.save("a.json", a)
        (self.folder / "none").mkdir()
        result = self.run_assay("run", "--load-outputs", "a.json", "a.json", "--compare", "perceptual_metrics", packages="none")
        self.assertEqual(result.returncode, 1)
        self.assertIn("ModuleNotFoundError: No module named 'lpips'", result.stderr)
        self.assertIn("-m pip install lpips", result.stderr)
        self.assertNotIn("Comparing Output", result.stdout)


class Real(Lpips):
    def test_as_polygraphy(self):
        from polygraphy.comparator import IterationResult, PerceptualMetricsCompareFunc

        function = PerceptualMetricsCompareFunc(lpips_threshold=1000)
        cases = [self.images(*shape) for shape in ((1, 3, 64, 64), (1, 1, 64, 64), (1, 2, 64, 64), (1, 5, 64, 64), (3, 64, 64), (64, 64, 3), (2, 3, 64, 64))]
        cases += [self.images(1, 3, 64, 64, low=-1), self.images(1, 3, 64, 64, high=255)]
        for a, b in cases:
            theirs = function(IterationResult({"y": a}, runner_name="a"), IterationResult({"y": b}, runner_name="b"))["y"].lpips
            self.assertAlmostEqual(self.distance(a, b), theirs, 5, a.shape)


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Real if REAL else StandIn)
    sys.exit(not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful())
