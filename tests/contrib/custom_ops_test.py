"""run --custom-ops: operators of a shared library on ONNX Runtime, and for the reference.

usage: custom_ops_test.py BINARY LIBRARY OTHER_LIBRARY
"""

import os
import pathlib
import subprocess
import sys
import tempfile

BINARY, LIBRARY, OTHER = map(os.path.abspath, sys.argv[1:4])
MODEL = """<ir_version: 8, opset_import: ["" : 13, "test.ops" : 1]>
g (float[2] x) => (float[2] y) { [own] h = test.ops.TwicePlusOne (x) [relu] y = Relu (h) }
"""


def run(*words):
    result = subprocess.run(["assay", *words], executable=BINARY, capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout + result.stderr


def expect(what, status, code, out, *parts):
    if code != status or not all(p in out for p in parts):
        sys.exit(f"{what}: exit code {code}, lacks one of {parts}\n{out}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("m.onnxtxt").write_text(MODEL)
        code, out = run("run", "m.onnxtxt", "--onnxrt", "--custom-ops", LIBRARY, "--save-outputs", "o.json", "--save-inputs", "i.json")
        if "ONNX Runtime" in out and code != 0 and "TwicePlusOne" not in out:
            print("skipped: ONNX Runtime was not found")
            sys.exit(77)
        expect("with the library", 0, code, out)
        code, values = run("inspect", "data", "o.json", "--show-values")
        code, inputs = run("inspect", "data", "i.json", "--show-values")
        numbers = lambda text: [float(x) for x in text[text.rindex("[") + 1:text.rindex("]")].split()]  # noqa: E731
        got, x = numbers(values), numbers(inputs)
        if any(abs(a - (2 * b + 1)) > 1e-5 for a, b in zip(got, x)) or len(got) != 2:
            sys.exit(f"{got} is not twice {x} and one")
        expect("the reference", 0, *run("run", "m.onnxtxt", "--ref", "--onnxrt", "--custom-ops", LIBRARY))
        expect("without the library", 1, *run("run", "m.onnxtxt", "--onnxrt"), "TwicePlusOne")
        expect("bench", 0, *run("bench", "m.onnxtxt", "--backends", "onnxrt", "--custom-ops", LIBRARY, "--warm-up", "0", "--duration", "0",
                                "--iterations", "1"))
        expect("another library", 1, *run("run", "m.onnxtxt", "--onnxrt", "--custom-ops", OTHER), "RegisterCustomOps")
        pathlib.Path("text.so").write_text("no library")
        expect("no library", 1, *run("run", "m.onnxtxt", "--onnxrt", "--custom-ops", "./text.so"), "text.so cannot be loaded")
        expect("a missing one", 1, *run("run", "m.onnxtxt", "--onnxrt", "--custom-ops", "./gone.so"), "cannot open ./gone.so")
        expect("no runner for it", 1, *run("run", "m.onnxtxt", "--engine", "--custom-ops", LIBRARY), "--custom-ops has no effect")


main()
