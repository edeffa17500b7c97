#!/usr/bin/env python3
"""Engines from the command line: build, save, load, inspect, replay; what is wrong with plans. Usage: plans_test.py ASSAY"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

OPEN = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,4] x) => (float[N,3] y) <float[4,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, float[3] b = {1, -1, 0}> {
  m = MatMul (x, w)
  s = Add (m, b)
  y = Relu (s)
}
"""
PROFILE = ["--trt-min-shapes", "x:[1,4]", "--trt-opt-shapes", "x:[4,4]", "--trt-max-shapes", "x:[16,4]"]

failures = []


class Tool:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def __call__(self, *words, code=0, has=(), lacks=(), name="assay"):
        link = self.folder / name
        if not link.exists():
            link.symlink_to(self.binary)
        if words[0] == "run" and name == "assay" and any("shape=" in h or " [" in h for h in has):
            words = [*words, "-v"]  # the lines of upstream
        done = subprocess.run([link, *words], cwd=self.folder, capture_output=True, text=True, timeout=120)
        text = done.stdout + done.stderr
        problems = [f"exit code {done.returncode} instead of {code}"] if done.returncode != code else []
        problems += [f"lacks {h!r}" for h in has if h not in text] + [f"has {h!r}" for h in lacks if h in text]
        if problems:
            failures.append(f"{name} {' '.join(words)}: {'; '.join(problems)}\n{text[-3000:]}")
        return text


def profiles(tool):
    for name in ("assay", "polygraphy"):
        tool("run", "open.onnxtxt", "--trt", "--ref", *PROFILE, "--input-shapes", "x:[4,4]", name=name, has=["PASSED"])
        tool("run", "open.onnxtxt", "--trt", "--save-engine", "open.plan", "--save-tactics", "open.tactic", "--save-inputs", "in.json",
             "--save-outputs", "out.json", *PROFILE, "--input-shapes", "x:[4,4]", name=name,
             has=["Configuring with profiles:[", "x [min=[1, 4], opt=[4, 4], max=[16, 4]]", "Finished engine building in", "Saving engine to open.plan",
                  "Saving tactic replay file to open.tactic"])
        # The plan in a fresh process, on the same inputs: the same to the bit.
        tool("run", "open.plan", "--trt", "--load-inputs", "in.json", "--load-outputs", "out.json", "--atol", "0", "--rtol", "0", "-v", name=name,
             has=["PASSED | simple | All outputs matched"])
        tool("run", "open.plan", "--engine", "--input-shapes", "x:[16,4]", "-v", name=name, has=["shape=(16, 3)"])
        tool("run", "open.plan", "--trt", "--input-shapes", "x:[17,4]", code=1, name=name, has=["outside of profile 0: from (1, 4) to (16, 4)"])
        tool("run", "open.plan", "--ref", code=1, name=name, has=["is a plan, which only --trt and --engine run"])
        tool("inspect", "model", "open.plan", "--show", "layers", "attrs", name=name,
             has=["==== TensorRT Engine ====", "Explicit Batch Engine", "---- 1 Engine Input(s) ----\n    {x [dtype=float32, shape=(-1, 4)]}",
                  "Device Memory:", "---- Precisions ----\n    Allowed: float32\n", "(Input), Index: 0 | Shapes: min=(1, 4), opt=(4, 4), max=(16, 4)", "(Output), Index: 1 | Shape: (-1, 3)", "Tactic = "])
        tool("inspect", "model", "open.plan", "--show", "layers", "--combine-tensor-info", "out.json", name=name,
             has=["y [dtype=float32, shape=(4, 3), Format: Row major linear, min="])
        tool("inspect", "tactics", "open.tactic", name=name, has=["Layer: ", "Algorithm: (Implementation: "])
        tool("run", "open.onnxtxt", "--trt", "--load-tactics", "open.tactic", *PROFILE, "--input-shapes", "x:[4,4]", name=name)
        tool("inspect", "diff-tactics", "--good", "open.tactic", "--bad", "open.tactic", name=name, has=["Could not determine potentially bad tactics"])
    # Without profiles open extents become 1, as for the data.
    tool("run", "open.onnxtxt", "--trt", has=["No shapes provided; Will use shape: [1, 4] for min/opt/max in profile."])
    # Two profiles.
    two = PROFILE + ["--trt-min-shapes", "x:[32,4]", "--trt-opt-shapes", "x:[32,4]", "--trt-max-shapes", "x:[64,4]"]
    tool("convert", "open.onnxtxt", "-o", "two.plan", *two)
    tool("run", "two.plan", "--trt", "--input-shapes", "x:[40,4]", "--optimization-profile", "1", has=["shape=(40, 3)"])
    tool("run", "two.plan", "--trt", "--input-shapes", "x:[40,4]", code=1, has=["outside of profile 0"])
    tool("run", "two.plan", "--trt", "--optimization-profile", "2", code=1, has=["there is no profile 2"])


def all_layers(tool):
    tool("run", "open.onnxtxt", "--trt", "--ref", "--onnx-outputs", "mark", "all", "--trt-outputs", "mark", "all", "--save-engine", "all.plan", *PROFILE,
         "--input-shapes", "x:[4,4]", has=["3 output(s)", "PASSED"])
    tool("run", "all.plan", "--trt", "--input-shapes", "x:[4,4]", has=["{m [", "s [", "y ["])


def reproducible(tool):
    tool("template", "model", "mobilenet-v2", "-o", "m.onnx")
    tool("convert", "m.onnx", "-o", "a.plan", "--save-timing-cache", "m.cache", has=["Saving timing cache to m.cache"])
    for out in ("b.plan", "c.plan"):
        tool("convert", "m.onnx", "-o", out, "--load-timing-cache", "m.cache", "--error-on-timing-cache-miss")
    plans = [(tool.folder / p).read_bytes() for p in ("a.plan", "b.plan", "c.plan")]
    if len(set(plans)) != 1:
        failures.append("builds with one timing cache differ")
    tool("convert", "m.onnx", "-o", "d.plan", "--load-timing-cache", "nowhere.cache", "--builder-optimization-level", "0",
         has=["nowhere.cache does not exist. Falling back to an empty timing cache."])
    tool("convert", "m.onnx", "-o", "e.plan", "--error-on-timing-cache-miss", code=1, has=["the timing cache does not know"])
    (tool.folder / "bad.cache").write_text("{}")
    tool("convert", "m.onnx", "-o", "e.plan", "--load-timing-cache", "bad.cache", code=1, has=["bad.cache: not a timing cache of this version"])
    # Every tactic that the choice could do without, and every pass.
    tool("run", "m.onnx", "--trt", "--ref", "--disable-tactics", "dnnl_conv:blocked8", "dnnl_conv:blocked16", "group_conv", "pointwise", "gemv",
         "--builder-optimization-level", "0", has=["PASSED"])
    tool("run", "m.onnx", "--trt", "--ref", "--max-edits", "10", "--verify-passes", "--builder-optimization-level", "0", has=["PASSED"])
    tool("convert", "m.onnx", "-o", "e.plan", "--disable-tactics", "nonsense", code=1, has=["there is no tactic 'nonsense'. The tactics are: "])
    tool("convert", "m.onnx", "-o", "e.plan", "--disable-passes", "nonsense", code=1, has=["nonsense"])
    tool("convert", "m.onnx", "-o", "e.plan", "--pool-limit", "workspace:1G", "lakes:3", code=1, has=["'lakes' is not a memory pool"])
    tool("convert", "m.onnx", "-o", "like.onnx", "--convert-to", "onnx-like-trt-network")
    tool("run", "like.onnx", "--engine", "--ref", has=["PASSED"])
    # What has no meaning on a CPU is said in a line each.
    tool("convert", "m.onnx", "-o", "e.plan", "--builder-optimization-level", "0", "--tf32", "--sparse-weights", "--use-dla", "--tactic-sources", "CUBLAS",
         has=["--tf32 has no effect: a CPU has no TensorFloat-32", "--sparse-weights has no effect", "--use-dla has no effect", "--tactic-sources has no effect"])
    other = json.loads((tool.folder / "open.tactic").read_text())
    other["replay"] = {"another": next(iter(other["replay"].values()))}
    (tool.folder / "other.tactic").write_text(json.dumps(other))
    tool("convert", "m.onnx", "-o", "e.plan", "--load-tactics", "other.tactic", code=1, has=["other.tactic is a replay for another network"])


def damaged(tool):
    plan = (tool.folder / "open.plan").read_bytes()

    def refused(data, *has):
        (tool.folder / "x.plan").write_bytes(data)
        tool("run", "x.plan", "--trt", code=1, has=["x.plan", *has])
        tool("inspect", "model", "x.plan", code=1, has=["x.plan", *has])

    refused(b"", "not a plan file")
    refused(b"ASSAYPLN", "not a plan file")
    refused(b"\x08\x08" + plan, "not a plan file")
    refused(plan[:-1], "damaged")
    refused(plan[:200], "damaged")
    refused(plan[:8] + struct.pack(">I", 0x01020304) + plan[12:], "another byte order")
    refused(plan[:12] + struct.pack("<I", 77) + plan[16:], "version 77")
    for at in (20, 64, 300, len(plan) - 1):
        refused(plan[:at] + bytes([plan[at] ^ 4]) + plan[at + 1:], "checksum")
    tool("run", "nowhere.plan", "--trt", code=1, has=["nowhere.plan"])
    tool("run", "open.onnxtxt", "--trt", "--save-engine", "open.onnxtxt/x.plan", code=1, has=["cannot create the folder open.onnxtxt"])
    os.symlink("/dev/full", tool.folder / "full.plan")
    tool("run", "open.onnxtxt", "--trt", "--save-engine", "full.plan", code=1, has=["full.plan"])
    if (tool.folder / "open.plan").read_bytes() != plan:
        failures.append("a plan changed")
    for words, sentence in ((["--trt-min-shapes", "x:[1,4]"], "--trt-opt-shapes"), (["--trt-min-shapes", "x:[2,4]", "--trt-opt-shapes", "x:[1,4]",
                            "--trt-max-shapes", "x:[3,4]"], "min <= opt <= max"), (["--trt-min-shapes", "x:[1,5]", "--trt-opt-shapes", "x:[1,5]",
                            "--trt-max-shapes", "x:[1,5]"], "the network says 4"), (["--trt-min-shapes", "z:[1,5]", "--trt-opt-shapes", "z:[1,5]",
                            "--trt-max-shapes", "z:[1,5]"], "'z'")):
        tool("convert", "open.onnxtxt", "-o", "y.plan", *words, code=1, has=[sentence])


def main():
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(os.path.abspath(sys.argv[1]), pathlib.Path(folder))
        (tool.folder / "open.onnxtxt").write_text(OPEN)
        for test in (profiles, all_layers, reproducible, damaged):
            test(tool)
    print("\n\n".join(failures))
    print(f"{len(failures)} failure(s)")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
