#!/usr/bin/env python3
"""examples/data-sets/digits.py: digits_test.py PACKAGE EXAMPLE

ResNet-18 in 8 bits on the digits of scikit-learn. ASSAY_SKLEARN names a Python environment with scikit-learn, NumPy and onnx; without
it nothing is tested."""

import json
import os
import re
import subprocess
import sys
import tempfile

PACKAGE, EXAMPLE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def main(python):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([python, EXAMPLE, folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "PYTHONPATH": PACKAGE})
        print(done.stdout)
        assert done.returncode == 0, done.returncode
        with open(os.path.join(folder, "result.json")) as file:
            result = json.load(file)
        saved = os.listdir(os.path.join(folder, "worst"))
    rows = {(r["metric"], r["backend"]): r for r in result["metrics"]}
    float32, int8, agreement, sqnr = (rows[k] for k in (("top1", "engine"), ("top1", "trt"), ("agreement", "trt"), ("sqnr", "trt")))
    assert result["samples"] == float32["count"] == int8["count"] == 899, result["samples"]
    # A head that learned something, and 8 bits that lose little of it: less than the interval, but something.
    assert float32["value"] > 0.9, float32
    assert int8["value"] > float32["value"] - 0.03, int8
    assert agreement["low"] < agreement["value"] <= agreement["high"] and agreement["value"] > 0.95, agreement
    assert 10 < sqnr["value"] < 60, sqnr
    worst = [w["value"] for w in sqnr["worst"]]
    assert len(worst) == 10 and worst == sorted(worst) and worst[0] == sqnr["least"], worst
    assert all(f"sample-{w['sample']:09}.json" in saved for w in sqnr["worst"]), saved
    layer = re.search(r"costs most: (\S+), ([\d.]+) % of the error", done.stdout)
    assert layer and re.search("Conv|Gemm", layer[1]) and 0 < float(layer[2]) < 100, done.stdout


if __name__ == "__main__":
    environment = os.environ.get("ASSAY_SKLEARN")
    if not environment:
        print("skipped: ASSAY_SKLEARN names no Python environment with scikit-learn")
        sys.exit(77)
    main(os.path.join(environment, "bin", "python"))
