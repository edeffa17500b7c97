#!/usr/bin/env python3
"""SIGINT and SIGTERM end a command within a second, also in the middle of one long evaluation, and leave no output.

    interrupt_test.py build/assay
"""

import pathlib
import signal
import subprocess
import sys
import tempfile
import time

# One convolution, one long loop, one sort of everything: each takes minutes.
CONV = """<ir_version: 8, opset_import: ["" : 17]>
g () => (float y) <float[1] one = {1}, int64[4] xs = {1, 256, 512, 512}, int64[4] ws = {256, 256, 31, 31}> {
  x = ConstantOfShape (xs)
  w = ConstantOfShape (ws)
  c = Conv (x, w)
  y = ReduceMax <keepdims = 0> (c)
}
"""
LOOP = """<ir_version: 8, opset_import: ["" : 17]>
g () => (float y) <int64 turns = {4611686018427387904}, float start = {0}> {
  y = Loop <body: graph = b (int64 i, bool go, float s) => (bool again, float t) {
    again = Identity (go)
    t = Add (s, s)
  }>(turns, "", start)
}
"""
FOLDED = LOOP.replace("4611686018427387904", "60000").replace("t = Add (s, s)", """t = Loop <body: graph = c (int64 j, bool go2, float u) => (bool again2, float v) {
      again2 = Identity (go2)
      v = Add (u, u)
    }>(turns, "", s)""")
MODELS = {"conv.onnxtxt": CONV, "loop.onnxtxt": LOOP, "folded.onnxtxt": FOLDED}
COMMANDS = [
    "run conv.onnxtxt --ref --save-outputs out.json",
    "run conv.onnxtxt --engine --save-outputs out.json",
    "run loop.onnxtxt --ref --save-outputs out.json",
    "run loop.onnxtxt --engine --save-outputs out.json",
    "check lint loop.onnxtxt -o out.json",
    "surgeon sanitize folded.onnxtxt --fold-constants -o out.onnx",
    "surgeon sanitize loop.onnxtxt --cleanup --prove -o out.onnx",
]


def main():
    assay = str(pathlib.Path(sys.argv[1]).resolve())
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in MODELS.items():
            pathlib.Path(folder, name).write_text(text)
        for number, command in enumerate(COMMANDS):
            which = (signal.SIGINT, signal.SIGTERM)[number % 2]
            process = subprocess.Popen([assay, *command.split()], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True)
            time.sleep(1.5)
            if process.poll() is not None:
                output = process.communicate()[0]
                if "The model is not run" in output:  # without ONNX Runtime
                    print(f"skipped in part: {command}: {output.splitlines()[1]}")
                    pathlib.Path(folder, "out.json").unlink()
                else:
                    failures.append(f"{command}: it ended by itself: {output[-500:]}")
                continue
            start = time.monotonic()
            process.send_signal(which)
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            seconds = time.monotonic() - start
            if seconds > 1 or process.returncode != -which:
                failures.append(f"{command}: {seconds:.1f} s after {which.name} it ended with {process.returncode}")
            left = sorted(p.name for p in pathlib.Path(folder).iterdir() if p.name not in MODELS)
            if left:
                failures.append(f"{command}: it left {left}")
    if failures:
        sys.exit("\n".join(failures))


main()
