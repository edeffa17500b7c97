"""What the tests of assay.compat share."""

import os
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PACKAGE = os.environ.get("ASSAY_PACKAGE") or os.path.join(ROOT, "python")
if PACKAGE not in sys.path:
    sys.path.insert(0, PACKAGE)

try:
    import numpy  # noqa: F401
    from assay import _native  # noqa: F401

    REASON = ""
except ImportError as error:
    REASON = f"NOT TESTED: assay.compat needs the native module and NumPy: {error}"
    print(REASON, file=sys.stderr)

if not REASON:
    from assay import compat

    compat.install()


class CompatTest(unittest.TestCase):
    def setUp(self):
        if REASON:
            self.skipTest(REASON)


class Recorded:
    """A logger's messages, made when tensorrt is there."""

    def __new__(cls):
        import tensorrt as trt

        class Log(trt.ILogger):
            def __init__(self):
                trt.ILogger.__init__(self)
                self.messages = []

            def log(self, severity, msg):
                self.messages.append((severity, msg))

            @property
            def errors(self):
                return [m for s, m in self.messages if s <= trt.Logger.ERROR]

        return Log()


def run_program(*arguments, folder=None, **more):
    """As run_python(), of the program that is in the package."""
    environment = {k: v for k, v in os.environ.items() if k not in ("ASSAY_COMPAT_REAL", "PYTHONPATH")}
    environment["ASSAY_PYTHON"] = sys.executable
    environment.update(more)
    done = subprocess.run([os.path.join(PACKAGE, "assay", "bin", "assay"), *arguments], capture_output=True, text=True, env=environment,
                          cwd=folder, timeout=300)
    return done.returncode, done.stdout, done.stderr


def run_python(*arguments, folder=None, **more):
    """A process of this Python that finds the package; (exit code, stdout, stderr)."""
    environment = {k: v for k, v in os.environ.items() if k not in ("ASSAY_COMPAT_REAL",)}
    environment["PYTHONPATH"] = PACKAGE
    environment.update(more)
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=folder, timeout=300)
    return done.returncode, done.stdout, done.stderr


def linear_network(logger, shape=(-1, 16), outputs=8, flags=1):
    """(builder, network, config, weights) of y = relu(x w)."""
    import numpy as np
    import tensorrt as trt

    builder = trt.Builder(logger)
    network, config = builder.create_network(flags), builder.create_builder_config()
    x = network.add_input("x", trt.float32, shape)
    w = np.random.default_rng(0).standard_normal((shape[-1], outputs)).astype(np.float32)
    constant = network.add_constant(w.shape, w)
    product = network.add_matrix_multiply(x, trt.MatrixOperation.NONE, constant.get_output(0), trt.MatrixOperation.NONE)
    relu = network.add_activation(product.get_output(0), trt.ActivationType.RELU)
    relu.get_output(0).name = "y"
    network.mark_output(relu.get_output(0))
    if -1 in shape:
        profile = builder.create_optimization_profile()
        profile.set_shape("x", (1, shape[-1]), (4, shape[-1]), (8, shape[-1]))
        config.add_optimization_profile(profile)
    return builder, network, config, w
