#!/usr/bin/env python3
"""Types of single layers from the command line, under every name of the program, from scripts and in plans.
Usage: layer_types_test.py ASSAY PYTHON (with NumPy, for the scripts)"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
m (float[1, 64] x) => (float[1, 32] y)
<float[64, 64] w0 = {@64x64}, float[64, 32] w1 = {@64x32}>
{
  [fc1] h = MatMul (x, w0)
  [act] a = Sigmoid (h)
  [fc2] s = MatMul (a, w1)
  [soft] y = Softmax (s)
}
"""

NETWORK = """import tensorrt as trt
from polygraphy import func
from polygraphy.backend.trt import CreateConfig, NetworkFromOnnxPath

@func.extend(NetworkFromOnnxPath("m.onnx"))
def load_network(builder, network, parser):
    for i in range(network.num_layers):
        layer = network.get_layer(i)
        if "fc" in layer.name:
            layer.precision = trt.float32
            assert layer.precision_is_set

@func.extend(CreateConfig())
def load_config(config):
    config.set_flag(trt.BuilderFlag.FP16)
    config.set_flag(trt.BuilderFlag.%s)

def postprocess(network):
    for i in range(network.num_layers):
        layer = network.get_layer(i)
        if layer.name == "fc1":
            assert layer.precision_is_set and layer.precision == trt.float32
            layer.reset_precision()
        if layer.name == "act":
            layer.set_output_type(0, trt.float16)
"""

failures = []


def model_text():
    def numbers(match):
        rows, columns = int(match[1]), int(match[2])
        return ", ".join(f"{((i * 7919 + 13) % 1999 - 999) / 777:.6f}" for i in range(rows * columns))
    return re.sub(r"@(\d+)x(\d+)", numbers, MODEL)


class Tool:
    def __init__(self, binary, folder, python):
        self.binary, self.folder = binary, folder
        self.environment = {**os.environ, "ASSAY_PYTHON": python}

    def __call__(self, *words, code=0, has=(), lacks=(), name="assay"):
        link = self.folder / name
        if not link.exists():
            link.symlink_to(self.binary)
        if words[0] == "run" and any("[dtype" in h for h in has):
            words = [*words, "-v"]  # the lines of upstream
        done = subprocess.run([link, *words], cwd=self.folder, capture_output=True, text=True, timeout=120, env=self.environment)
        text = done.stdout + done.stderr
        problems = [f"exit code {done.returncode} instead of {code}"] if done.returncode != code else []
        problems += [f"lacks {h!r}" for h in has if h not in text] + [f"has {h!r}" for h in lacks if h in text]
        if problems:
            failures.append(f"{name} {' '.join(words)}: {'; '.join(problems)}\n{text[-3000:]}")
        return text

    def types(self, plan):
        """What the layers of a plan compute in, by the name of a node."""
        text = self("inspect", "model", plan, "--show", "layers", "attrs")
        found = {}
        for layer in re.split(r"\n\s*Layer ", text)[1:]:
            computes = re.search(r"Computes = (\S+)( \(held)?", layer)
            for origin in re.search(r"Origin = (.*)", layer)[1].split(", "):
                if computes and (computes[2] or origin not in found):
                    found[origin] = computes[1]
        return found


def expect(what, got, wanted):
    if got != wanted:
        failures.append(f"{what}: {got!r} instead of {wanted!r}")


LEVEL = ["--builder-optimization-level", "0"]


def command_lines(tool):
    tool("convert", "m.onnx", "-o", "p.plan", "--fp16", *LEVEL, "--layer-precisions", "fc*:float32", "op:Sigmoid:fp16",
         has=["Types of layers: ", "held in float32"])
    expect("by pattern and operator", {k: v for k, v in tool.types("p.plan").items() if k in ("fc1", "fc2", "act")},
           {"fc1": "float32", "act": "float16", "fc2": "float32"})
    tool("convert", "m.onnx", "-o", "p.plan", "--fp16", *LEVEL, "--precision-constraints", "obey", "--layer-precisions", "fc1:float16",
         "fc2:float32", name="polygraphy")
    types = tool.types("p.plan")
    expect("as polygraphy", (types.get("fc1"), types.get("fc2")), ("float16", "float32"))
    tool("convert", "m.onnx", "-o", "p.plan", "--fp16", *LEVEL, "--layer-precisions", "fc1:float32", name="polygraphy",
         has=["[W] types are asked for 1 layer(s)", "`none`"])
    for name, code, start in (("assay", 1, "[!] Node: fc9 does not exist in the model"), ("polygraphy", 0, "[W] ")):
        tool("run", "m.onnx", "--trt", *LEVEL, "--precision-constraints", "obey", "--layer-precisions", "fc9:float32", code=code, name=name,
             has=[start, "fc9", "Did you mean"])
    tool("convert", "m.onnx", "-o", "p.plan", "--layer-precisions", "fc1:float16", code=1,
         has=["layer 'fc1' in float16: float16 is not allowed to the builder (fp16)"])
    tool("convert", "m.onnx", "-o", "p.plan", "--layer-precisions", "soft:int8", "fc1:int8", code=1,
         has=["2 wish(es) for types cannot be followed", "layer 'soft' in int8: ", "layer 'fc1' in int8: "])
    tool("convert", "m.onnx", "-o", "p.plan", *LEVEL, "--layer-precisions", "soft:int8", "--precision-constraints", "prefer",
         has=["[W] a wish for types is not followed: layer 'soft' in int8: "])
    tool("convert", "m.onnx", "-o", "p.plan", "--layer-precisions", "fc1:float9", code=1, has=["'float9' in 'fc1:float9' is not a type"])
    tool("convert", "m.onnx", "-o", "p.plan", "--layer-precisions", "100", code=1, has=["Could not parse argument: 100."])
    tool("run", "m.onnx", "--trt", "--fp16", *LEVEL, "--tensor-dtypes", "x:float16", "y:float16", "--layer-precisions", "soft:fp32",
         has=["{x [dtype=float16, shape=(1, 64)]}", "{y [dtype=float16, shape=(1, 32)]}"])
    tool("run", "m.onnx", "--trt", *LEVEL, "--all-tensor-dtypes", "float16", has=["{x [dtype=float16, shape=(1, 64)]}"])
    tool("run", "m.onnx", "--trt", *LEVEL, "--tensor-dtypes", "z:float16", code=1, has=["the model has no input or output 'z'"])


def strong_types(tool):
    tool("convert", "m.onnx", "-o", "p.plan", "--strongly-typed", "--fp16", code=1, has=["--strongly-typed leaves all types to the network"])
    tool("convert", "m.onnx", "-o", "p.plan", "--strongly-typed", "--fp16", *LEVEL, name="polygraphy",
         has=["[W] --strongly-typed leaves all types to the network, so that float16 cannot be asked for beside it: they are ignored"])
    expect("strongly typed", set(tool.types("p.plan").values()), {"float32"})
    tool("--onnx=m.onnx", "--stronglyTyped", "--fp16", "--saveEngine=s.plan", "--skipInference", "--builderOptimizationLevel=0",
         name="trtexec", has=["leaves all types to the network"], lacks=["no effect"])
    expect("strongly typed, as trtexec", set(tool.types("s.plan").values()), {"float32"})
    tool("bench", "--onnx", "m.onnx", "--strongly-typed", "--fp16", code=1, has=["leaves all types to the network"])


def benches(tool):
    tool("--onnx=m.onnx", "--fp16", "--layerPrecisions=*:fp16,fc2:fp32", "--layerOutputTypes=fc1:fp16", "--precisionConstraints=obey",
         "--saveEngine=b.plan", "--skipInference", "--builderOptimizationLevel=0", "--exportLayerInfo=layers.json", "--dumpLayerInfo",
         name="trtexec", has=["Types of layers: ", "in float32 (held in float32)"], lacks=["no effect"])
    types = tool.types("b.plan")
    expect("as trtexec", {k: types.get(k) for k in ("fc1", "fc2", "act", "soft")},
           {"fc1": "float16", "fc2": "float32", "act": "float16", "soft": "float16"})
    layers = json.loads((tool.folder / "layers.json").read_text())["Layers"]
    expect("layer information", [x["Precision"] for x in layers if x["Metadata"] == ["fc2"] and x["Precision"]], ["float32 (held in float32)"])
    tool("--onnx=m.onnx", "--fp16", "--layerPrecisions=fc2:fp32", "--skipInference", "--builderOptimizationLevel=0", name="trtexec",
         has=["they are not followed"])


def by_layer_type(tool):
    tool("run", "m.onnx", "--trt", *LEVEL, "--trt-outputs-by-type", "matrix_multiply",
         has=["{h [dtype=float32, shape=(1, 64)],", "s [dtype=float32, shape=(1, 32)]}"])
    tool("run", "m.onnx", "--trt", *LEVEL, "--trt-outputs-by-type", "MATRIX_MULTIPLI", code=1, name="polygraphy",
         has=["[!] No TensorRT layer type 'MATRIX_MULTIPLI' was found", "Did you mean one of: ['MATRIX_MULTIPLY']?"])
    tool("run", "m.onnx", "--trt", *LEVEL, "--trt-outputs", "a", "--trt-outputs-by-type", "SOFTMAX", has=["{a [dtype", "y [dtype"])


def scripts(tool):
    for flag in ("STRICT_TYPES", "OBEY_PRECISION_CONSTRAINTS", "PREFER_PRECISION_CONSTRAINTS"):
        (tool.folder / "net.py").write_text(NETWORK % flag)
        for name in ("assay", "polygraphy"):
            tool("convert", "net.py", "--trt-config-script", "net.py", *LEVEL, "-o", "n.plan", name=name, has=["held in float32"])
            types = tool.types("n.plan")
            expect(f"{flag} as {name}", (types.get("fc1"), types.get("fc2")), ("float32", "float32"))
    tool("convert", "net.py", "--trt-config-script", "net.py", "--trt-npps", "net.py", *LEVEL, "-o", "n.plan")
    types = tool.types("n.plan")
    expect("reset", (types.get("fc1"), types.get("fc2")), ("float16", "float32"))
    if "a/float16 [dtype=float16" not in tool("inspect", "model", "n.plan", "--show", "layers"):
        failures.append("the output type that a script sets is not in the plan")
    tool("convert", "net.py", "--convert-to", "onnx", "-o", "saved.onnxtxt")
    saved = tool.folder / "saved.onnxtxt"
    if saved.exists() and "assay.held" in saved.read_text():
        failures.append("a saved model has what is for the builder")


def main():
    binary, python = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(binary, pathlib.Path(folder), python)
        (tool.folder / "m.onnxtxt").write_text(model_text())
        tool("surgeon", "sanitize", "m.onnxtxt", "-o", "m.onnx")
        command_lines(tool)
        strong_types(tool)
        benches(tool)
        by_layer_type(tool)
        if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            scripts(tool)
        else:
            print("skipped in part: network scripts need NumPy")
    for failure in failures:
        print("FAILED", failure, "\n")
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
