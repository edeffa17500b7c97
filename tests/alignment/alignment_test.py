#!/usr/bin/env python3
"""Every command over models whose weights begin at every odd address.

    tests/alignment/alignment_test.py BINARY [--all]

Files seldom align their weights. A model with large weights of all widths (above 64 KiB, so that they are not copied while it is
read), in every place that holds some, is written with 0, 1, 3, ... 15 bytes in front, and with its data in a file of their own, from
byte 0 and 1 on (with --all: both with 0 to 15). Every command must end as it does with aligned weights, compute the same bits,
and write a model that `inspect diff` cannot tell from that. Exit status 0 when all do.
"""

import concurrent.futures
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "errors"))
from onnx_bytes import chunk, int_attribute, ints_attribute, node, number, tensor, tensor_attribute, value_info  # noqa: E402

FLOAT, UINT8, UINT16, INT64, HALF, DOUBLE = 1, 2, 4, 7, 10, 11
TIMEOUT = 120


def floats(count, code="f", scale=0.05):
    return struct.pack(f"<{count}{code}", *(random.gauss(0, scale) for _ in range(count)))


def graph_attribute(name, graph):
    return chunk(1, name) + chunk(6, graph) + number(20, 5)


def parts():
    """Nodes, and weights as (name, dims, raw, type)."""
    random.seed(4)
    weights = [
        ("conv_w", [96, 32, 3, 3], floats(96 * 32 * 9), FLOAT),
        ("conv_b", [96], floats(96), FLOAT),
        ("bn_scale", [96], struct.pack("<96f", *(1 + i / 96 for i in range(96))), FLOAT),
        ("bn_bias", [96], floats(96), FLOAT),
        ("bn_mean", [96], floats(96), FLOAT),
        ("bn_variance", [96], struct.pack("<96f", *(1 + i / 96 for i in range(96))), FLOAT),
        ("wide_bias", [96, 16, 16], floats(96 * 16 * 16), FLOAT),
        ("gemm_w", [200, 96], floats(200 * 96), FLOAT),
        ("gemm_b", [200], floats(200), FLOAT),
        ("lstm_w", [1, 160, 200], floats(160 * 200), FLOAT),
        ("lstm_r", [1, 160, 40], floats(160 * 40), FLOAT),
        ("lstm_b", [1, 320], floats(320), FLOAT),
        ("half_w", [200, 200], floats(200 * 200, "e"), HALF),
        ("double_w", [200, 50], floats(200 * 50, "d"), DOUBLE),
        ("uniform_w", [200, 100], struct.pack("<20000f", *[0.01] * 20000), FLOAT),
        ("levels", [200, 400], bytes(random.randrange(256) for _ in range(80000)), UINT8),
        ("level_scale", [], struct.pack("<f", 1e-4), FLOAT),
        ("level_zero", [], bytes([128]), UINT8),
        ("words", [200, 200], struct.pack("<40000H", *(random.randrange(100) for _ in range(40000))), UINT16),
        ("table", [10000], struct.pack("<10000q", *(i % 200 for i in range(10000))), INT64),
        ("places", [2], struct.pack("<2q", 3, 9999), INT64),
        ("unused", [30000], floats(30000), FLOAT),
        ("steps", [3], struct.pack("<3q", 1, 1, 200), INT64),
        ("bound", [], struct.pack("<f", 6), FLOAT),
    ]
    constant = tensor("", [200, 120], floats(200 * 120))
    inner = tensor("inner_w", [200, 90], floats(200 * 90))
    branch = chunk(1, node("MatMul", ["g", "inner_w"], ["inner_y"], "inner")) + chunk(2, "branch") + chunk(5, inner)
    branch += chunk(12, value_info("inner_y", [1, 90]))
    nodes = [
        node("Conv", ["x", "conv_w", "conv_b"], ["c"], "conv", attributes=[ints_attribute("pads", [1, 1, 1, 1])]),
        node("BatchNormalization", ["c", "bn_scale", "bn_bias", "bn_mean", "bn_variance"], ["n"], "norm"),
        node("Relu", ["n"], ["r"], "relu"),
        node("Add", ["r", "wide_bias"], ["a"], "add"),
        node("Min", ["a", "bound"], ["m"], "min"),
        node("GlobalAveragePool", ["m"], ["p"], "pool"),
        node("Flatten", ["p"], ["f"], "flatten"),
        node("Gemm", ["f", "gemm_w", "gemm_b"], ["g"], "gemm", attributes=[int_attribute("transB", 1)]),
        node("Cast", ["g"], ["gh"], "to_half", attributes=[int_attribute("to", HALF)]),
        node("MatMul", ["gh", "half_w"], ["yh"], "half"),
        node("Cast", ["g"], ["gd"], "to_double", attributes=[int_attribute("to", DOUBLE)]),
        node("MatMul", ["gd", "double_w"], ["yd"], "double"),
        node("MatMul", ["g", "uniform_w"], ["yu"], "uniform"),
        node("DequantizeLinear", ["levels", "level_scale", "level_zero"], ["lw"], "dequantize"),
        # Without a node between, ONNX Runtime makes MatMulNBits of the two, which rounds g to 8 bits.
        node("Neg", ["lw"], ["nl"], "negative"),
        node("MatMul", ["g", "nl"], ["yl"], "dequantized"),
        node("Cast", ["words"], ["wf"], "to_float", attributes=[int_attribute("to", FLOAT)]),
        node("MatMul", ["g", "wf"], ["yw"], "cast"),
        node("Constant", [], ["k"], "constant", attributes=[tensor_attribute("value", constant)]),
        node("MatMul", ["g", "k"], ["yk"], "by_constant"),
        node("Gather", ["table", "places"], ["yt"], "gather"),
        node("Reshape", ["g", "steps"], ["s"], "reshape"),
        node("LSTM", ["s", "lstm_w", "lstm_r", "lstm_b"], ["ys"], "lstm", attributes=[int_attribute("hidden_size", 40)]),
        node("Greater", ["q", "bound"], ["is_large"], "greater"),
        node("If", ["is_large"], ["yi"], "if", attributes=[graph_attribute("then_branch", branch), graph_attribute("else_branch", branch)]),
    ]
    return nodes, weights


INPUTS = [value_info("x", [1, 32, 16, 16]), value_info("q", [])]
OUTPUTS = [value_info("yh", [1, 200], HALF), value_info("yd", [1, 50], DOUBLE), value_info("yu", [1, 100]), value_info("yl", [1, 400]), value_info("yw", [1, 200]),
           value_info("yk", [1, 120]), value_info("yt", [2], INT64), value_info("ys", [1, 1, 1, 40]), value_info("yi", [1, 90])]


def models():
    """The model with its data inside, and a function that says the same with the data from an offset of a file on."""
    nodes, weights = parts()

    def message(initializers):
        graph = b"".join(chunk(1, n) for n in nodes) + chunk(2, "g") + b"".join(chunk(5, i) for i in initializers)
        graph += b"".join(chunk(11, i) for i in INPUTS) + b"".join(chunk(12, o) for o in OUTPUTS)
        return number(1, 10) + chunk(6, "weights at odd addresses") + chunk(7, graph) + chunk(8, number(2, 21))

    def external(shift):
        data, initializers = bytes(shift), []
        for name, dims, raw, dtype in weights:
            if name == "steps":  # a shape: ONNX Runtime reads none from a file of data
                initializers.append(tensor(name, dims, raw, dtype))
                continue
            place = (("location", "data.bin"), ("offset", str(len(data))), ("length", str(len(raw))))
            initializers.append(tensor(name, dims, raw, dtype, place))
            data += raw
        return message(initializers), data

    return message([tensor(*w[:3], w[3]) for w in weights]), external


def shifted(message, shift):
    """The same model with so many bytes more in front: a doc string (field 6) that does not count, since another follows."""
    return chunk(6, b" " * (shift + 14)) + message


# In the folder of a case: `{}` is the model. What is written is out.onnx or out.json.
COMMANDS = {
    "run three backends": "run {} {runners} --arbiter --iterations 1",
    "run, all marked": "run {} --engine --ref --onnx-outputs mark all",
    "run, all marked, ONNX Runtime": "run {} {onnxrt} --onnx-outputs mark all",
    "run in float16": "run {} --engine {onnxrt} --arbiter --fp-to-fp16 --save-onnx out.onnx",
    "reference": "run {} --ref --save-outputs out.json",
    "engine": "run {} --engine --save-outputs out.json",
    "inspect model": "inspect model {} --show layers attrs weights --stats",
    "inspect sparsity": "inspect sparsity {}",
    "inspect capability": "inspect capability {}",
    "inspect diff": "inspect diff {} {aligned}",
    "check lint": "check lint {} {lint}",
    "save": "run {} --ref --save-onnx out.onnx",
    "save, data outside": "run {} --ref --save-onnx out.onnx --save-external-data out.bin",
    "simplify": "surgeon sanitize {} --fold-constants --simplify --cleanup --prove -o out.onnx",
    "fold without limits": "surgeon sanitize {} --fold-constants --fold-size-threshold 1000000000 -o out.onnx",
    "bound": "surgeon sanitize {} --set-unbounded-dds-upper-bound 1000 -o out.onnx",
    "sanitize in float16": "surgeon sanitize {} --fp-to-fp16 -o out.onnx",
    "observed types": "surgeon sanitize {} --force-fallback-shape-inference -o out.onnx",
    "extract": "surgeon extract {} --inputs r:auto:auto --outputs g:auto ys:auto -o out.onnx",
    "insert": "surgeon insert {} --inputs r --outputs r --op Identity -o out.onnx",
    "prune": "surgeon prune {} -o out.onnx",
    "strip": "surgeon weight-strip {} -o stripped.onnx",
    "reconstruct": "surgeon weight-strip {} -o stripped.onnx; surgeon weight-reconstruct stripped.onnx -o out.onnx",
    "newer": "surgeon convert-opset {} --to 23 -o out.onnx",
    "older": "surgeon convert-opset {} --to 19 -o out.onnx",
    "text": "surgeon sanitize {} --no-shape-inference -o out.onnxtxt",
    "list plugins": "plugin list {} --plugin-dir plugins",
    "replace": "plugin match {} --plugin-dir plugins -o out.yaml; plugin replace {} --plugin-dir plugins --config out.yaml -o out.onnx",
    "script": "template onnx-gs {} -o out.cpp",
}
PATTERN = """op: Custom
domain: com.example
inputs: [a]
constants: [w]
nodes:
- {op: Min, inputs: [a, w], outputs: [b]}
outputs: [b]
replacement:
  inputs: [a]
  attributes:
    most: = value(w)
"""


class Check:
    def __init__(self, binary, onnxrt):
        self.binary, self.failed, self.count = os.path.abspath(binary), 0, 0
        self.words = {"runners": "--engine --ref --onnxrt" if onnxrt else "--engine --ref", "onnxrt": "--onnxrt" if onnxrt else "--ref",
                      "lint": "" if onnxrt else "--no-onnxrt"}

    def run(self, folder, words):
        return subprocess.run([self.binary, *words.split()], cwd=folder, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)

    def case(self, command, folder, aligned):
        """What is wrong; nothing when it does as `aligned`, the folder with the same command over aligned weights, says. None: that is
        this folder."""
        other = "model.onnx" if aligned is None else os.path.relpath(aligned / "model.onnx", folder)
        for words in command.replace("{}", "model.onnx").format(aligned=other, **self.words).split(";"):
            done = self.run(folder, words)
            if done.returncode != 0 or "internal error" in (done.stdout + done.stderr).lower():
                return f"exit status {done.returncode}: {(done.stderr or done.stdout)[-400:]}"
        if aligned is None:
            return None
        for written in ("out.onnx", "out.onnxtxt"):
            if (folder / written).exists():
                told = self.run(folder, f"inspect diff {os.path.relpath(aligned / written, folder)} {written}")
                if told.returncode != 0:
                    return f"{written} differs: {told.stdout[-400:]}{told.stderr[-200:]}"
        stripped = folder / "stripped.onnx"  # which has no weights left for diff; offsets in a file of data are not the same
        if stripped.exists() and not (folder / "data.bin").exists():
            if stripped.read_bytes() != (aligned / "stripped.onnx").read_bytes():
                return "stripped.onnx differs"
        if (folder / "out.json").exists():
            tell = f"run {other} --load-outputs {os.path.relpath(aligned / 'out.json', folder)} out.json --atol 0 --rtol 0"
            told = self.run(folder, tell)
            if told.returncode != 0:
                return f"other outputs: {told.stdout[-400:]}{told.stderr[-200:]}"
        return None

    def expect(self, what, problem):
        self.count += 1
        if problem:
            self.failed += 1
            print(f"FAILED  {what}: {problem.strip()}", flush=True)


def write_case(folder, kind, shift, inside, external):
    (folder / "plugins" / "custom").mkdir(parents=True)
    (folder / "plugins" / "custom" / "pattern.yaml").write_text(PATTERN)
    if kind == "inside":
        (folder / "model.onnx").write_bytes(shifted(inside, shift))
    else:
        message, data = external(shift)
        (folder / "model.onnx").write_bytes(message)
        (folder / "data.bin").write_bytes(data)


def main():
    binary, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        inside, external = models()
        probe = scratch / "probe"
        write_case(probe, "inside", 0, inside, external)
        probed = subprocess.run([os.path.abspath(binary), "run", "model.onnx", "--onnxrt"], cwd=probe, capture_output=True, text=True)
        check = Check(binary, probed.returncode == 0)
        if probed.returncode != 0:
            print(f"skipped in part: without ONNX Runtime: {(probed.stderr or probed.stdout).strip().splitlines()[-1:]}")
        shifts = {"inside": [0, *range(1, 16, 2)], "outside": [0, 1]}
        if "--all" in options:
            shifts = dict.fromkeys(shifts, range(16))

        def one(kind, command):
            """All shifts, aligned weights first."""
            aligned, problems = None, []
            for shift in shifts[kind]:
                folder = scratch / f"{kind} {command}".replace(" ", "_").replace(",", "") / str(shift)
                write_case(folder, kind, shift, inside, external)
                problems.append((f"{command}, data {kind}, {shift} bytes in front",
                                 check.case(COMMANDS[command], folder, aligned)))
                if shift == 0:
                    aligned = folder
                else:
                    for path in folder.rglob("*"):
                        if path.is_file():
                            path.unlink()
            return problems

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for problems in pool.map(lambda job: one(*job), [(k, c) for k in ("inside", "outside") for c in COMMANDS]):
                for what, problem in problems:
                    check.expect(what, problem)
    print(f"{check.count - check.failed} of {check.count} commands do as with aligned weights")
    return 1 if check.failed or check.count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
