"""Engines that were asked for float16, bfloat16 or int8: judged in the units of these types. Healthy builds are right, of layers
and of outputs alone, and a scale that does not fit is wrong at the node that reads its tensor.

usage: narrow_test.py ASSAY [MODEL...]     generated models; those of the short run if none is named
"""
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# Convolutions in one and two dimensions, products, recurrences, and products of graphs.
SHORT = ("mnist-cnn", "mlp", "voice-activity", "tcn", "gcn", "lstm")
TYPES = {"fp16": "float16", "bf16": "bfloat16", "int8": "int8"}
MODEL_WITH_SCALES = "mnist-cnn"
# With all layers marked, tactics are timed for this one; elsewhere the first that fits is taken, and a build costs a third.
TIMED = "mlp"
UNTIMED = ("--builder-optimization-level", "0", "--threads", "1")
# Nothing of a recurrence is computed in 8 bits; the product behind it is one as in the others.
NOT_IN_INT8 = ("lstm",)


def run(assay, *args):
    done = subprocess.run([assay, "run", *map(str, args)], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr


def judged(assay, folder, model, *options):
    verdict = folder / "verdict.json"
    verdict.unlink(missing_ok=True)
    code, text = run(assay, model, "--trt", "--arbiter", "--save-verdict", verdict, *options)
    data = json.loads(verdict.read_text())["iterations"][0] if verdict.exists() else None
    return code, text, data


def outputs_of(data):
    traced = data.get("traced")
    return data["outputs"] + (traced["outputs"] if traced else [])


def healthy(assay, folder, name, faults):
    model = folder / f"{name}.onnx"
    subprocess.run([assay, "template", "model", name, "-o", model], check=True, capture_output=True)
    for option, word in TYPES.items():
        if option == "int8" and name in NOT_IN_INT8:
            continue
        for layers in ([], ["--onnx-outputs", "*"]):
            where = f"{name}, {option}, {'layers' if layers else 'outputs'}"
            code, text, data = judged(assay, folder, model, f"--{option}", *layers, *(() if layers and name == TIMED else UNTIMED))
            if data is None:
                faults.append(f"{where}: no verdict: {text[-600:]}")
                continue
            wrong = [o["node"] for o in outputs_of(data) if o["verdict"] == "WRONG"]
            if wrong or code != 0:
                faults.append(f"{where}: exit {code}, WRONG at {wrong[:5]}: {text[-600:]}")
            narrow = [o for o in outputs_of(data) if word in o.get("computed_in", "")]
            if option != "int8" and not narrow:
                faults.append(f"{where}: nothing is said to be in {word}")
            ranked = data.get("shares") or data.get("traced", {}).get("shares", [])
            if layers and abs(sum(s["share"] for s in ranked) - (1 if ranked else 0)) > 1e-6:
                faults.append(f"{where}: the shares do not add up")


def with_scale(cache, tensor, factor):
    """The table of scales with one of them another: its lines are NAME: the bits of a float32."""
    lines = cache.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.rpartition(": ")[0] == tensor)
    step = struct.unpack(">f", bytes.fromhex(lines[at].rpartition(": ")[2]))[0]
    lines[at] = f"{tensor}: {struct.pack('>f', step * factor).hex()}"
    return "\n".join(lines) + "\n"


def wrong_scales(assay, folder, faults):
    model, cache = folder / f"{MODEL_WITH_SCALES}.onnx", folder / "scales.txt"
    options = ("--int8", "--calibration-cache", cache, "--onnx-outputs", "*", *UNTIMED)
    _, _, data = judged(assay, folder, model, *options)
    readers = {o["node"]: o["inputs"][0] for o in data["outputs"] if o.get("computed_in") == "int8"}
    if len(readers) < 2:
        faults.append(f"only {list(readers)} are computed in 8 bits")
    right = cache.read_text()
    for node, tensor in readers.items():
        for factor in (1 / 8, 32):
            cache.write_text(right)
            cache.write_text(with_scale(cache, tensor, factor))
            code, text, data = judged(assay, folder, model, *options)
            wrong = [o["node"] for o in data["outputs"] if o["verdict"] == "WRONG"]
            if code != 1 or wrong != [node]:
                faults.append(f"scale of '{tensor}' times {factor}: exit {code}, WRONG at {wrong}, not at '{node}': {text[-600:]}")
    cache.write_text(right)


def main():
    assay, names = sys.argv[1], sys.argv[2:] or SHORT
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            healthy(assay, Path(folder), name, faults)
            print(f"{name}: {len(faults)} fault(s) so far", flush=True)
        if not sys.argv[2:]:
            wrong_scales(assay, Path(folder), faults)
    for fault in faults:
        print(fault)
    print(f"{len(names)} networks in {len(TYPES)} types, of outputs and of layers: {len(faults)} fault(s)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
