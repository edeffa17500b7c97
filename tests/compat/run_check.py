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


def as_polygraphy(assay, folder):
    """Under upstream's name it prints upstream's lines."""
    link = os.path.join(folder, "polygraphy")
    if not os.path.exists(link):
        os.symlink(os.path.abspath(assay), link)
    return link


def check(assay, folder, model, options):
    assay = as_polygraphy(assay, folder)
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


def check_folders(assay, folder):
    """Folders of iterations and accuracy results, each made by one tool and used by the other."""
    polygraphy = [sys.executable, os.path.join(os.path.dirname(sys.executable), "polygraphy")]
    path = os.path.join(folder, "mlp.onnx")
    assay = as_polygraphy(assay, folder)
    tools = {"a": [assay], "p": polygraphy}
    for who, tool in tools.items():
        run(tool + ["run", path, "--onnxrt", "--seed", "3", "--iterations", "3", "--save-inputs", f"{folder}/{who}_in",
                    "--save-outputs", f"{folder}/{who}_out", "--save-input-blob", f"{folder}/{who}_blob"])
    for kind in ("in", "out"):
        names = [sorted(os.listdir(f"{folder}/{who}_{kind}")) for who in tools]
        assert names[0] == names[1] == [f"000000000{i}.json" for i in range(3)], names
    for root, _, files in os.walk(f"{folder}/p_blob"):
        for file in files:
            theirs = os.path.join(root, file)
            with open(theirs, "rb") as a, open(theirs.replace("p_blob", "a_blob"), "rb") as b:
                assert a.read() == b.read(), f"the raw input {theirs} differs"
    functions = ["--compare", "simple", "l2", "cosine_similarity", "psnr", "snr", "--check-error-stat", "max"]
    lines = {}
    for who, other in ("a", "p"), ("p", "a"):
        lines[who] = run(tools[who] + ["run", path, "--onnxrt", "--load-inputs", f"{folder}/{other}_in", "--load-outputs",
                                       f"{folder}/{other}_out", "--save-accuracy-results", f"{folder}/{who}.json", *functions])
    assert summary(lines["a"]) == summary(lines["p"]), "the reports differ"
    for who, other in ("a", "p"), ("p", "a"):
        text = run(tools[who] + ["check", "accuracy", f"{folder}/{other}.json", *functions])
        assert text.count("Passed: 3/3 iterations | Pass Rate: 100.00%") == 5, text
        shown = run(tools[who] + ["inspect", "data", f"{folder}/{other}.json", "--all"])
        assert "5 comparison(s)" in shown and shown.count("3/3 iteration(s) matched") == 5, shown
    for who, other in ("a", "p"), ("p", "a"):
        run(tools[who] + ["data", "concat", f"{folder}/{other}_in/0000000000.json", f"{folder}/{other}_in/0000000001.json", "-o",
                          f"{folder}/{who}_two.json"])
    assert len(load_json(f"{folder}/a_two.json")) == len(load_json(f"{folder}/p_two.json")) == 2


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
        check_folders(assay, folder)
        print("folders of iterations, raw inputs and accuracy results: each tool uses the other's")
        check_names_are_visible(assay, folder)


if __name__ == "__main__":
    main()
