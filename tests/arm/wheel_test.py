#!/usr/bin/env python3
"""A wheel for aarch64 under QEMU, with Debian's Python of that architecture.

    tests/arm/wheel_test.py WHEEL SYSROOT

SYSROOT is what tools/setup.sh arm makes, with Python and NumPy. What else the package needs (nanobind-backend) is fetched by the pip of the
Python that runs this."""

import glob
import os
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..", "python")
# Those that start no process of their own: sys.executable is not a program of this machine.
CASES = """
test_models.Reading test_models.Editing test_models.Evaluating test_engines.ArraysIn test_engines.Types test_engines.ArraysOut
test_engines.Engines test_threads.Threads.test_contexts_of_one_engine test_comparing.Sessions test_quantize test_generate
test_debug.NotNumbers test_debug.Ranges test_debug.Divergence test_debug.Reduction
""".split()

IDENTITY = """
import assay.compat
assay.compat.install()
import ctypes, numpy as np, tensorrt as trt
from cuda import cudart

logger = trt.Logger(trt.Logger.ERROR)
builder = trt.Builder(logger)
network = builder.create_network(0)
x = network.add_input("x", trt.float32, (2, 3))
y = network.add_identity(x).get_output(0)
y.name = "y"
network.mark_output(y)
plan = builder.build_serialized_network(network, builder.create_builder_config())
engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
context = engine.create_execution_context()
given, got = np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((2, 3), np.float32)
addresses = {name: cudart.cudaMalloc(given.nbytes)[1] for name in ("x", "y")}
for name, address in addresses.items():
    context.set_tensor_address(name, address)
kind = cudart.cudaMemcpyKind
cudart.cudaMemcpy(addresses["x"], given.ctypes.data, given.nbytes, kind.cudaMemcpyHostToDevice)
assert context.execute_async_v3(0)
cudart.cudaDeviceSynchronize()
cudart.cudaMemcpy(got.ctypes.data, addresses["y"], got.nbytes, kind.cudaMemcpyDeviceToHost)
assert (got == given).all(), got
print("identity", trt.__version__)
"""


class Machine:
    def __init__(self, folder, sysroot):
        libraries = os.path.join(sysroot, "usr", "lib", "aarch64-linux-gnu")
        self.folder = folder
        self.python = glob.glob(os.path.join(sysroot, "usr", "bin", "python3.[0-9]*[0-9]"))[0]
        path = os.pathsep.join([folder, TESTS, os.path.join(sysroot, "usr", "lib", "python3", "dist-packages")])
        loads = os.pathsep.join([libraries, *(os.path.join(libraries, name) for name in ("blas", "lapack"))])
        self.emulator = ["qemu-aarch64", "-L", sysroot, "-E", f"PYTHONPATH={path}", "-E", f"LD_LIBRARY_PATH={loads}"]

    def run(self, *words, has=""):
        done = subprocess.run([*self.emulator, *words], cwd=self.folder, capture_output=True, text=True, timeout=1800)
        text = done.stdout + done.stderr
        if done.returncode != 0 or has not in text:
            sys.exit(f"{' '.join(words)}\nended with {done.returncode}, and should say '{has}':\n{text[-4000:]}")
        return text


def fetch_backend(folder):
    """The package that the module runs on. False: pip cannot fetch it."""
    words = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--python-version", "3.11", "--dest", folder, "nanobind-backend>=1.0"]
    for tag in ("manylinux_2_28_aarch64", "manylinux2014_aarch64"):
        words += ["--platform", tag]
    return subprocess.run([sys.executable, "-m", "pip", *words]).returncode == 0


def main():
    wheel, sysroot = sys.argv[1], os.path.abspath(sys.argv[2])
    assert re.search(r"-cp311-abi3-manylinux_2_\d+_aarch64\.whl$", wheel), f"{wheel} is of another kind"
    version = re.search(r"-([0-9.]+)-", os.path.basename(wheel))[1]
    with tempfile.TemporaryDirectory() as folder:
        if not fetch_backend(folder):
            print("skipped: pip cannot fetch nanobind-backend for aarch64")
            return 77
        for file in [wheel, *glob.glob(os.path.join(folder, "*.whl"))]:
            with zipfile.ZipFile(file) as archive:
                archive.extractall(folder)
        machine = Machine(folder, sysroot)
        program = os.path.join(folder, "assay", "bin", "assay")
        os.chmod(program, 0o755)
        machine.run(program, "--version", has=version)
        machine.run(machine.python, "-c", "import platform, assay; print(platform.machine(), assay.__version__)", has=f"aarch64 {version}")
        machine.run(machine.python, "-c", IDENTITY, has="identity")
        said = machine.run(machine.python, "-m", "unittest", *CASES, has="OK")
        print(f"{os.path.basename(wheel)}, {os.path.getsize(wheel) / 1e6:.1f} MB: {re.search(r'Ran [0-9]+ tests', said)[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
