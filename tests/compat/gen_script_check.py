#!/usr/bin/env python3
"""Scripts of `assay run --gen-script FILE.py` against those of the real `polygraphy run --gen-script` of the running Python
environment: for one command line, both end with the same exit code, find the same, and save results of the same meaning.

    tests/compat/gen_script_check.py build/assay

Exit status 0 when everything holds.
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper
from polygraphy.comparator import RunResults

POLYGRAPHY = [sys.executable, os.path.join(os.path.dirname(sys.executable), "polygraphy")]
# The recorded session of the real tool, and others: words behind `run`, and the exit code of what they write.
LINES = [
    ("identity.onnx --onnxrt --onnxrt --validate --load-outputs golden.json outputs_dir --compare simple distance_metrics --check-error-stat mean "
     "--l2-threshold 0 --check-average --save-accuracy-results a.json --postprocess top-1 --load-inputs inputs_dir "
     "--graph-optimization-level ORT_ENABLE_ALL", 0),
    ("identity.onnx --onnxrt --onnxrt --iterations 3 --seed 7 --val-range [-1,1] --save-inputs in_dir --save-outputs out.json --sequential-runners "
     "--warm-up 1", 0),
    ("identity.onnx --onnxrt --load-outputs golden.json --seed 9 --iterations 2 --atol 1e-9 --rtol 1e-9 --save-accuracy-results a.json", 1),
]


def run(command, folder, status=0):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}\nended with {done.returncode} instead of {status}")
    return done.stdout


def prepare(folder):
    os.makedirs(folder)
    shape = [1, 1, 2, 2]
    value = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [value("x", TensorProto.FLOAT, shape)], [value("y", TensorProto.FLOAT, shape)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), os.path.join(folder, "identity.onnx"))
    run([*POLYGRAPHY, "run", "identity.onnx", "--onnxrt", "--iterations", "2", "--seed", "2", "--save-outputs", "golden.json", "--save-inputs", "inputs_dir"], folder)
    run([*POLYGRAPHY, "run", "identity.onnx", "--onnxrt", "--load-inputs", "inputs_dir", "--save-outputs", "outputs_dir"], folder)


def findings(text):
    """What was compared, with names of runners taken out."""
    lines = re.findall(r"\[.\]\s+(?:PASSED|FAILED|Accuracy Summary) \|.*", text)
    return [re.sub(r"onnxrt-runner-N\d+-\S+", "RUNNER", line) for line in lines if "Runtime:" not in line]


def values(path):
    """Everything that saved results hold, but for names of runners and times."""
    if os.path.isdir(path):
        return [values(os.path.join(path, name)) for name in sorted(os.listdir(path))]
    if os.path.basename(path) == "a.json" or "in_dir" in path:
        with open(path) as file:
            return json.loads(re.sub(r"onnxrt-runner-N\d+-\d\d/\d\d/\d\d-\d\d:\d\d:\d\d", "RUNNER", file.read()))
    return [[{name: np.array(array).tolist() for name, array in iteration.items()} for iteration in iterations] for _, iterations in RunResults.load(path).items()]


def same(a, b):
    """Sums of float32 may differ in their last digits: each tool adds in its own order."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-6) or a != a and b != b
    return a == b


def check(assay, folder, line, status):
    said, names = {}, {}
    # With -v ours prints upstream's lines.
    for who, tool, more in ("real", POLYGRAPHY, []), ("ours", [assay], ["-v"]):
        words = [*tool, "run", *line.split(), *more]
        place = os.path.join(folder, who)
        prepare(place)
        before = set(os.listdir(place))
        run([*words, "--gen-script", "script.py"], place)
        made = set(os.listdir(place)) - before
        assert made == {"script.py"}, f"{who}: {made}"
        assert subprocess.run([*words, "--gen-script", "-"], cwd=place, capture_output=True, text=True).stdout.startswith("#!/usr/bin/env python3")
        said[who] = findings(run([sys.executable, "script.py"], place, status))
        names[who] = set(os.listdir(place)) - before - {"script.py"}
    assert said["real"] == said["ours"] and said["real"], f"{line}\n{said}"
    assert names["real"] == names["ours"], names
    for name in names["real"]:
        real, ours = (values(os.path.join(folder, who, name)) for who in ("real", "ours"))
        assert same(real, ours), f"{line}: {name}\n{real}\n{ours}"
    print(f"the same from both: {line[:100]}")


def main():
    assay = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for i, (line, status) in enumerate(LINES):
            check(assay, os.path.join(folder, str(i)), line, status)


if __name__ == "__main__":
    main()
