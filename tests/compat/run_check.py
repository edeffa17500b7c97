#!/usr/bin/env python3
"""`assay run` against the real `polygraphy run` of the running Python environment: the same data for the same seed, and
files of inputs and outputs that each reads from the other.

    tests/compat/run_check.py build/assay

Exit status 0 when everything holds.
"""

import os
import re
import subprocess
import sys
import tempfile

from polygraphy.comparator import RunResults
from polygraphy.json import load_json

MODELS = {
    "mlp": [],
    "lstm": ["--iterations", "3"],
    "resnet-18": ["--iterations", "2", "--val-range", "[-1,1]"],
}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}\nended with {done.returncode}")
    return done.stdout


def summary(text):
    """What was compared, with runner names and differences taken out."""
    lines = re.findall(r"\[.\]\s+(?:PASSED|FAILED|Accuracy Summary) \|.*", text)
    return [re.sub(r"onnxrt-runner-N\d+-\S+", "RUNNER", re.sub(r"Difference is within.*|Command:.*|Runtime:[^|]*", "", line))
            for line in lines]


def check(assay, folder, model, options):
    polygraphy = [sys.executable, os.path.join(os.path.dirname(sys.executable), "polygraphy")]
    path = os.path.join(folder, model + ".onnx")
    run([assay, "template", "model", model, "-o", path, "--seed", "1"])
    names = [os.path.join(folder, f"{model}.{who}.{what}.json") for who in "ap" for what in ("in", "out")]
    ours_in, ours_out, theirs_in, theirs_out = names
    for tool, inputs, outputs in (([assay], ours_in, ours_out), (polygraphy, theirs_in, theirs_out)):
        run(tool + ["run", path, "--onnxrt", "--seed", "3", "--save-inputs", inputs, "--save-outputs", outputs] + options)

    a, b = load_json(ours_in), load_json(theirs_in)
    assert len(a) == len(b) and [list(x) for x in a] == [list(x) for x in b], "the inputs differ in names"
    for x, y in zip(a, b):
        for name in x:
            assert x[name].dtype == y[name].dtype and x[name].tobytes() == y[name].tobytes(), f"input {name} differs"
    ours, theirs = RunResults.load(ours_out), RunResults.load(theirs_out)
    assert [len(r) for _, r in ours] == [len(r) for _, r in theirs], "the numbers of iterations differ"
    for (_, x), (_, y) in zip(ours, theirs):
        for u, v in zip(x, y):
            assert list(u) == list(v), "the outputs differ in names"

    loaded = ["run", path, "--onnxrt", "--load-inputs"]
    crossed = run([assay] + loaded + [theirs_in, "--load-outputs", theirs_out] + options)
    back = run(polygraphy + loaded + [ours_in, "--load-outputs", ours_out] + options)
    assert summary(crossed) == summary(back), f"the reports differ:\n{summary(crossed)}\n{summary(back)}"


def check_names_are_visible(assay, folder):
    """What ONNX Runtime warns of quotes names of the model: they must not act on a terminal or look like the log."""
    path = os.path.join(folder, "names.onnxtxt")
    name = '"\x1b]0;owned\x07\n[I] PASSED"'
    with open(path, "w") as file:
        file.write(f'<ir_version: 8, opset_import: ["" : 17]> g (float[2, N] x) => (float[2] {name}) {{ {name} = Relu (x) }}')
    done = subprocess.run([assay, "run", path, "--onnxrt"], capture_output=True, text=True)
    assert "merging shape info" in done.stderr, f"ONNX Runtime does not warn: {done.stderr}"
    found = [line for line in done.stderr.split("\n") if line.startswith("[I]") or any(c < " " for c in line)]
    assert not found, f"lines that a name made: {found}"


def main():
    assay = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for model, options in MODELS.items():
            check(assay, folder, model, options)
            print(f"{model}: the same inputs bit by bit; each tool reads the other's files")
        check_names_are_visible(assay, folder)


if __name__ == "__main__":
    main()
