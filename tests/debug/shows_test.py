#!/usr/bin/env python3
"""What `debug reduce` shows on models as they are, with its figures: shows_test.py ASSAY MODULE [--only NAME]

A fault of the compiler in the middle of ResNet-50 and of GPT-2, in a loop's body, a crash of ONNX Runtime, two nodes that fail together only, and a model of 3 GB.
"""

import array
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time

try:
    import onnx
    from onnx import TensorProto, helper
except ImportError as e:
    print(f"skipped: {e}; `make test` installs it")
    sys.exit(77)

ASSAY, PLANTED = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
problems = 0


def expect(condition, what, shown=""):
    global problems
    if not condition:
        problems += 1
        print(f"FAILED: {what}\n{shown[-3000:]}")


class Peak(threading.Thread):
    """The largest resident set of a process and of those that it starts, of each alone, in MiB: VmHWM."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.own, self.children, self.ends = pid, 0, 0, threading.Event()

    def look(self, pid, is_own):
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            below = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return
        peak = re.search(r"VmHWM:\s+(\d+)", status)
        if peak and is_own:
            self.own = max(self.own, int(peak[1]) / 1024)
        elif peak:
            self.children = max(self.children, int(peak[1]) / 1024)
        for child in below:
            self.look(child, False)

    def run(self):
        while not self.ends.wait(0.01):
            self.look(self.pid, True)


def reduce(title, path, expected, check, *options):
    """Its figures; `expected`: the nodes that are left."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([ASSAY, "debug", "reduce", path, "-o", "small.onnx", "--hide-fail-output", *options, "--check", *check],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    peak = Peak(process.pid)
    peak.start()
    text, _ = process.communicate(timeout=3000)
    peak.ends.set()
    peak.join()
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    left = [n.name for n in onnx.load("small.onnx").graph.node][:9] if process.returncode == 0 else []
    nodes = text.split("Finished reducing nodes")[0].count("Running check command")
    checks = text.count("Running check command")
    print(f"{title}: {left}, {checks} checks ({nodes} to find the nodes), {seconds:.1f} s, {worked:.1f} s of work, {peak.own:.0f} MiB, checks {peak.children:.0f} MiB", flush=True)
    expect(process.returncode == 0 and sorted(left) == sorted(expected), title, text)
    return checks, worked, peak


def compare(*more):
    """The engine, with the module's faults, against ONNX Runtime."""
    return [ASSAY, "run", "polygraphy_debug.onnx", "--trt", "--onnxrt", "--val-range", "[-1,1]", "--abs-tol", "0.01", "--rel-tol", "0.01",
            "--extension", PLANTED, "--builder-optimization-level", "0", *more]


def template(name, change):
    subprocess.run([ASSAY, "template", "model", name, "-o", "model.onnx"], check=True, stdout=subprocess.DEVNULL)
    model = onnx.load("model.onnx")
    node = change(model.graph.node)
    onnx.save(model, "model.onnx")
    return node


def resnet_50():
    def in_the_middle(nodes):
        relus = [n for n in nodes if n.op_type == "Relu"]
        relus[len(relus) // 2].name = "guilty"
        return "guilty"

    node = template("resnet-50", in_the_middle)
    checks, worked, _ = reduce("ResNet-50, a wrong Relu", "model.onnx", [node], compare())
    expect(checks <= 14 and worked <= 10, f"ResNet-50: {checks} checks, {worked} seconds of processors")


def gpt2():
    def in_the_middle(nodes):
        tanh = [n for n in nodes if n.op_type == "Tanh"]
        tanh[len(tanh) // 2].name = "guilty"
        return "guilty"

    node = template("gpt2", in_the_middle)
    script = pathlib.Path("check.sh")
    script.write_text(f'#!/bin/sh\n{ASSAY} inspect model "$1" --show layers | grep -q "| {node} " && exit 3; exit 0\n')
    script.chmod(0o755)
    checks, _, _ = reduce("GPT-2, one node", "model.onnx", [node], ["./check.sh", "{}"])
    expect(checks <= 18, f"GPT-2: {checks} checks")


def text_model(graph):
    pathlib.Path("model.onnxtxt").write_text('<ir_version: 8, opset_import: ["" : 17]>\n' + graph)
    return "model.onnxtxt"


def loop():
    path = text_model("""g (float[4] x) => (float[4] y) <int64 n = {3}, bool go = {1}, float[4] one = {1, 1, 1, 1}> {
  [before] b = Sin (x)
  [loop] l = Loop (n, go, b) <body = body (int64 i, bool c, float[4] at) => (bool more, float[4] next) {
    [same] more = Identity (c)
    [grow] a = Mul (at, one)
    [guilty] r = Relu (a)
    [turn] next = Neg (r)
  }>
  [after] y = Tanh (l)
}
""")
    reduce("a wrong Relu in a Loop's body", path, ["guilty"], compare())


def crash():
    """ONNX Runtime divides by an extent of 0 there: SIGFPE or SIGSEGV ends the process."""
    if not os.environ.get("ASSAY_ONNXRUNTIME"):
        print("skipped in part: a crash of ONNX Runtime needs ASSAY_ONNXRUNTIME")
        return
    path = text_model("""crash (float[2,0] x, float[3,0] w, float[2,3] b) => (float[2,3] y, float[2,0] z) {
  [before] a = Abs (x)
  [guilty] p = Einsum <equation = "ij,kj->ik"> (a, w)
  [sum] s = Add (p, b)
  [last] y = Relu (s)
  [beside] z = Neg (a)
}
""")
    code = subprocess.run([ASSAY, "run", path, "--onnxrt"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    print(f"ONNX Runtime with an Einsum of nothing: exit code {code}")
    if code == 0:
        print("skipped in part: this ONNX Runtime does not crash over an Einsum of nothing")
        return
    reduce("a crash of ONNX Runtime", path, ["guilty"], [ASSAY, "run", "polygraphy_debug.onnx", "--onnxrt"])


def two_together():
    nodes = [f"  [sin{i}] v{i} = Sin ({'x' if i == 0 else f'v{i - 1}'})" for i in range(20)]
    nodes[11] = "  [scale] v11 = Mul (v10, large)"
    nodes[12] = "  [square] v12 = Pow (v11, eight)"
    path = text_model("g (float[4,8] x) => (float[4,8] v19) <float large = {1000000}, float eight = {8}> {\n" + "\n".join(nodes) + "\n}\n")
    reduce("an overflow that takes two nodes", path, ["scale", "square"],
           [ASSAY, "debug", "nan", "polygraphy_debug.onnx", "--engine", "--val-range", "[0.5,1]"])


def three_gigabytes():
    """48 products of 64 MiB each, in an external data file; the candidates are written elsewhere."""
    count, extent = 48, 4096
    os.mkdir("big")
    block = array.array("f", ((i * 37 % 101 - 50) / 3200 for i in range(extent))).tobytes() * extent
    with open("big/weights", "wb") as file:
        for _ in range(count):
            file.write(block)
    nodes, weights, at = [], [], "x"
    for i in range(count):
        w = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[extent, extent], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "weights"), ("offset", str(i * len(block))), ("length", str(len(block)))):
            entry = w.external_data.add()
            entry.key, entry.value = key, value
        weights.append(w)
        nodes.append(helper.make_node("MatMul", [at, f"w{i}"], [f"p{i}"], name=f"product{i}"))
        nodes.append(helper.make_node("Tanh", [f"p{i}"], [f"t{i}"], name="wrong" if i == 29 else f"tanh{i}"))
        at = f"t{i}"
    graph = helper.make_graph(nodes, "big", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, extent])],
                              [helper.make_tensor_value_info(at, TensorProto.FLOAT, [1, extent])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "big/model.onnx")
    script = pathlib.Path("check.sh")
    script.write_text(f'#!/bin/sh\n{ASSAY} inspect model "$1" --show layers | grep -q "| wrong " && exit 3; exit 0\n')
    script.chmod(0o755)
    _, _, peak = reduce("3 GB", "big/model.onnx", ["wrong"], ["./check.sh", "{}"])
    expect(peak.own < 1536 and peak.children < 1536, f"3 GB: {peak.own} and {peak.children} MiB")
    expect(sorted(os.listdir()) == ["big", "check.sh", "small.onnx"], f"3 GB: what is left behind: {os.listdir()}")
    expect(sorted(os.listdir("big")) == ["model.onnx", "weights"] and os.path.getsize("big/weights") == count * len(block), "3 GB: the model stays")


def main():
    for show in (resnet_50, gpt2, loop, crash, two_together, three_gigabytes):
        if ONLY and show.__name__ != ONLY:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            show()
            os.chdir("/")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
