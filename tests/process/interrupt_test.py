#!/usr/bin/env python3
"""SIGINT and SIGTERM end a command within a second, also in the middle of one long evaluation, and leave no output but a report.

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
RELU = """<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) { y = Relu (x) }
"""
MODELS = {"relu.onnxtxt": RELU, "conv.onnxtxt": CONV, "loop.onnxtxt": LOOP, "folded.onnxtxt": FOLDED}
COMMANDS = [
    "run conv.onnxtxt --ref --save-outputs out.json",
    "run conv.onnxtxt --engine --save-outputs out.json",
    "run loop.onnxtxt --ref --save-outputs out.json",
    "run loop.onnxtxt --engine --save-outputs out.json",
    "check lint loop.onnxtxt -o out.json",
    "surgeon sanitize folded.onnxtxt --fold-constants -o out.onnx",
    "surgeon sanitize loop.onnxtxt --cleanup --prove -o out.onnx",
]
# Those with a report or a timeline end at the next step, and after that patience in the middle of one.
REPORTED = [
    ("run loop.onnxtxt --ref --report page.html --trace trace.json", True),
    ("run loop.onnxtxt --engine --report page.html --trace trace.json", True),
    ("run conv.onnxtxt --ref --report page.html", False),
    ("bench --onnx relu.onnxtxt --duration 60 --report page.html --trace trace.json", True),
    ("bench --onnx relu.onnxtxt --duration 60 --streams 2 --report page.html --trace trace.json", True),
    ("surgeon sanitize folded.onnxtxt --fold-constants -o out.onnx --report page.html", True),
    ("debug repeat --until 1000000 --report page.html --check sleep 60", True),
]
PATIENCE = 5


def check_reported(assay, folder, command, has_steps, which):
    process = subprocess.Popen([assay, *command.split()], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    time.sleep(1.5)
    start = time.monotonic()
    process.send_signal(which)
    output = process.communicate(timeout=60)[0]
    seconds = time.monotonic() - start
    failures = []
    if process.returncode != -which or seconds > (12 if has_steps else PATIENCE + 1):  # a timeline of millions of spans takes some
        failures.append(f"{command}: {seconds:.1f} s after {which.name} it ended with {process.returncode}: {output[-500:]}")
    files = {name for name in ("page.html", "trace.json") if name in command}
    left = {p.name for p in pathlib.Path(folder).iterdir() if p.name not in MODELS and "replay" not in p.name}
    # In the middle of a long step nothing is left, unless the step ends before patience does.
    if left != files and (has_steps or left):
        failures.append(f"{command}: it left {sorted(left)} instead of {sorted(files)}: {output[-500:]}")
    if "page.html" in left and "Interrupted." not in pathlib.Path(folder, "page.html").read_text():
        failures.append(f"{command}: the page does not say that it was interrupted")
    for name in left:  # of a search its replay, too
        pathlib.Path(folder, name).unlink()
    return failures


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
        for number, (command, has_steps) in enumerate(REPORTED):
            failures += check_reported(assay, folder, command, has_steps, (signal.SIGINT, signal.SIGTERM)[number % 2])
    if failures:
        sys.exit("\n".join(failures))


main()
