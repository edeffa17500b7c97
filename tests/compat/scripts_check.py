#!/usr/bin/env python3
"""The Python scripts of `assay template`: all compile, and what onnx-gs writes runs in the running Python environment
and saves an equal model.

    tests/compat/scripts_check.py build/assay
"""

import os
import py_compile
import subprocess
import sys
import tempfile

import onnx


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}\nended with {done.returncode}")


def signature(model):
    graph = model.graph
    return ([(n.op_type, list(n.input), list(n.output)) for n in graph.node], [i.name for i in graph.input],
            [o.name for o in graph.output])


def check_onnx_gs(assay, folder):
    model = os.path.join(folder, "it's a \"model\".onnx")
    run(assay, "template", "model", "mlp", "-o", model)
    script, saved = os.path.join(folder, "gs.py"), os.path.join(folder, "it's a \"model\"_updated.onnx")
    run(assay, "template", "onnx-gs", model, "-o", script)
    assert os.access(script, os.X_OK), "the script cannot be executed"
    run(sys.executable, script)
    before = onnx.load(model)
    assert signature(onnx.load(saved)) == signature(before), "the script changes the model"
    name = before.graph.node[0].output[0]
    run(assay, "template", "onnx-gs", model, "-o", script, "--onnx-outputs", name, "--shape-inference")
    run(sys.executable, script)
    assert [o.name for o in onnx.load(saved).graph.output] == [name], "the script marks other outputs"
    print("onnx-gs: the scripts run")


# Polygraphy marks all outputs without types, with which ONNX-GraphSurgeon saves no model, so the first is only compiled.
COMPILED = [
    "onnx-gs MODEL --onnx-outputs mark all --onnx-exclude-outputs y --fp-to-fp16 --ignore-external-data --ext DIR",
    "trt-network",
    "trt-network --strongly-typed --mark-unfused-tensors-as-debug-tensors",
    "trt-network MODEL --plugin-instancenorm",
    "trt-network MODEL --onnx-outputs mark all --onnx-exclude-outputs y --fp-to-fp16 --ext DIR",
    "trt-config",
    "trt-config MODEL --fp16 --int8 --max-aux-streams 2 --precision-constraints obey --load-timing-cache cache",
    "trt-config --trt-min-shapes x:[1,2] --trt-max-shapes x:[4,2] --trt-min-shapes x:[8,2] --trt-opt-shapes x:[9,2] --trt-max-shapes x:[9,2]",
]


def check_compiled(assay, folder):
    model = os.path.join(folder, "model.onnx")
    run(assay, "template", "model", "mlp", "-o", model)
    for words in COMPILED:
        script = os.path.join(folder, "trt.py")
        run(assay, "template", *words.replace("MODEL", model).replace("DIR", folder).split(), "-o", script)
        py_compile.compile(script, doraise=True)
    print(f"{len(COMPILED)} scripts compile")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_onnx_gs(os.path.abspath(sys.argv[1]), os.path.realpath(folder))
        check_compiled(os.path.abspath(sys.argv[1]), os.path.realpath(folder))


if __name__ == "__main__":
    main()
