#!/usr/bin/env python3
"""The table of docs/reference/exit-codes.md holds: each code, and what single commands mean by theirs, by a command that ends with it.

usage: exit_codes_test.py ASSAY docs/reference/exit-codes.md
"""

import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

FILES = {
    "relu.onnxtxt": '<ir_version: 8, opset_import: ["" : 17]> g (float[1, 3] x) => (float[1, 3] y) { y = Relu (x) }',
    "neg.onnxtxt": '<ir_version: 8, opset_import: ["" : 17]> g (float[1, 3] x) => (float[1, 3] y) { y = Neg (x) }',
    "unknown.onnxtxt": '<ir_version: 8, opset_import: ["" : 17, "my" : 1]> g (float[1, 3] x) => (float[1, 3] y) { y = my.Unknown (x) }',
    "invalid.onnxtxt": '<ir_version: 8, opset_import: ["" : 17]> g (float[1, 3] x) => (float[1, 3] y) { y = Relu (x, x) }',
    "det.onnxtxt": '<ir_version: 8, opset_import: ["" : 17]> g (float[3, 3] x) => (float y) { y = Det (x) }',
}

# The command of the table (or '' for its first part), what is typed, and the code; negative: the signal that ends the program.
CASES = [
    ("run", "run relu.onnxtxt --ref --save-inputs in.json --save-outputs out.json", 0),
    ("run", "run neg.onnxtxt --ref --load-inputs in.json --load-outputs out.json", 1),
    ("run", "run nothing.onnx --ref", 1),
    ("", "run unknown.onnxtxt --load-inputs in.json --load-outputs out.json --arbiter", 3),
    ("", "run relu.onnxtxt --ref --no-such-option", 1),
    ("", "run relu.onnxtxt --ref --atol", 2),
    ("", "", 0),
    ("", "convert", 2),
    ("check lint", "check lint relu.onnxtxt --no-onnxrt", 0),
    ("check lint", "check lint invalid.onnxtxt --no-onnxrt", 1),
    ("check accuracy", "run relu.onnxtxt --ref --load-inputs in.json --load-outputs out.json --compare simple l2 --save-accuracy-results a.json", 0),
    ("check accuracy", "check accuracy a.json --compare l2 --l2-threshold 1", 0),
    ("check accuracy", "check accuracy a.json --compare l2 --l2-threshold -1", 1),
    ("inspect diff", "inspect diff relu.onnxtxt relu.onnxtxt", 0),
    ("inspect diff", "inspect diff relu.onnxtxt neg.onnxtxt", 1),
    ("inspect diff", "inspect diff relu.onnxtxt nothing.onnx", 2),
    ("inspect extensions", "inspect extensions --extension nothing.so", 1),
    ("surgeon sanitize --prove", "surgeon sanitize relu.onnxtxt --simplify --prove -o small.onnx", 0),
    ("surgeon convert-opset", "surgeon convert-opset relu.onnxtxt --to 14 -o new.onnx", 0),
    ("surgeon convert-opset", "surgeon convert-opset det.onnxtxt --to 7 -o new.onnx", 1),
]

SIGNALS = [("bench relu.onnxtxt --duration 60", signal.SIGINT, -signal.SIGINT), ("bench relu.onnxtxt --duration 60", signal.SIGTERM, -signal.SIGTERM),
           ("inspect model relu.onnxtxt --visual --visual-port 0", signal.SIGINT, 0)]


def tables(text):
    """(codes of the first table, commands of the second)."""
    codes = re.findall(r"^\| (\d+|128 \+ N) \|", text, re.MULTILINE)
    commands = re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)
    return codes, commands


def main():
    assay, document = sys.argv[1:]
    codes, commands = tables(pathlib.Path(document).read_text(encoding="utf-8"))
    problems = [] if codes == ["0", "1", "2", "3", "128 + N"] else [f"the codes of {document} are {codes}"]
    problems += [f"{document} has no row of `{command}`" for command, _, _ in CASES if command and command not in commands]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (pathlib.Path(folder) / name).write_text(text + "\n")
        for _, words, code in CASES:
            done = subprocess.run([assay, *words.split()], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
            if done.returncode != code:
                problems.append(f"`assay {words}` ends with {done.returncode}, not {code}:\n{done.stdout[-600:]}{done.stderr[-300:]}")
        for words, number, code in SIGNALS:
            process = subprocess.Popen([assay, *words.split()], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            process.stdout.readline()       # it has begun
            time.sleep(0.5)
            process.send_signal(number)
            try:
                process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
            if process.wait() != code:
                problems.append(f"`assay {words}` ends with {process.returncode} after {number.name}, not {code}")
    print("\n".join(problems + [f"{len(CASES) + len(SIGNALS)} commands, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
