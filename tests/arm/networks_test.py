#!/usr/bin/env python3
"""Generated networks on another architecture: what the engine of a cross build computes under an emulator against its own
reference, and against ONNX Runtime on this machine; and the ways of a plan between the two.

    tests/arm/networks_test.py NATIVE VENV [EMULATOR...] PROGRAM [--only NAME...]

NATIVE is the program of this machine, VENV a Python environment with ONNX Runtime, PROGRAM what EMULATOR runs.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# Convolutions of every kind, recurrent cells, attention with and without a cache, trees, embeddings, upsampling, loops.
NETWORKS = ["mnist-cnn", "mnist-nonzero", "mlp", "mobilenet-v3-small", "shufflenet-v2", "voice-activity", "tcn", "dlrm", "gcn",
            "gradient-boosting", "whisper-tiny-decode", "espcn"]
SECONDS = 1200


class Failed(Exception):
    pass


def call(words, folder, environment=None, code=0, has=()):
    done = subprocess.run([str(w) for w in words], cwd=folder, capture_output=True, text=True, timeout=SECONDS,
                          env={**os.environ, **(environment or {})})
    text = done.stdout + done.stderr
    missing = [h for h in has if h not in text]
    if done.returncode != code or missing:
        raise Failed(f"{' '.join(map(str, words))}\nexit code {done.returncode} instead of {code}; lacks {missing}\n{text[-3000:]}")
    return text


class Machines:
    def __init__(self, native, venv, program, folder):
        self.native_program, self.program, self.folder = native, program, folder
        self.runtime = {"ASSAY_ONNXRUNTIME": str(venv)}

    def native(self, *words, **how):
        return call([self.native_program, *words], self.folder, self.runtime, **how)

    def foreign(self, *words, **how):
        return call([*self.program, *words], self.folder, **how)


def network(machines, name):
    """The engine there, the reference there, and ONNX Runtime here agree; both programs generate the same model."""
    folder = machines.folder
    machines.native("template", "model", name, "-o", f"{name}.onnx")
    machines.foreign("template", "model", name, "-o", f"{name}.again.onnx")
    if (folder / f"{name}.onnx").read_bytes() != (folder / f"{name}.again.onnx").read_bytes():
        raise Failed(f"{name}: the two programs generate different models")
    machines.native("run", f"{name}.onnx", "--onnxrt", "--save-inputs", "in.json", "--save-outputs", "out.json")
    machines.foreign("run", f"{name}.onnx", "--engine", "--ref", "--load-inputs", "in.json", "--load-outputs", "out.json", has=["PASSED"])


def plans(machines):
    """A plan is built with timing, saved, and loaded there; neither program loads one of the other."""
    name = "mnist-cnn"
    machines.native("template", "model", name, "-o", f"{name}.onnx")
    machines.native("run", f"{name}.onnx", "--onnxrt", "--save-inputs", "in.json", "--save-outputs", "out.json")
    machines.foreign("convert", f"{name}.onnx", "-o", "there.plan", "--builder-optimization-level", "1")
    machines.foreign("run", "there.plan", "--trt", "--load-inputs", "in.json", "--load-outputs", "out.json", has=["PASSED"])
    machines.native("convert", f"{name}.onnx", "-o", "here.plan", "--builder-optimization-level", "0")
    there, here = "aarch64 with oneDNN", "x86-64 with oneDNN"
    machines.foreign("run", "here.plan", "--trt", code=1, has=[f"was built for {here}", f"but this is {there}"])
    machines.native("run", "there.plan", "--trt", code=1, has=[f"was built for {there}", f"but this is {here}"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("native", type=pathlib.Path)
    parser.add_argument("venv", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=NETWORKS + ["plans"])
    options, program = parser.parse_known_args()
    if not options.native.exists():
        sys.exit(f"{options.native} is not there: build this machine's own program first")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        machines = Machines(options.native.resolve(), options.venv.resolve(), program, pathlib.Path(folder))
        for name in options.only:
            start = time.monotonic()
            try:
                plans(machines) if name == "plans" else network(machines, name)
                print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
            except (Failed, subprocess.TimeoutExpired) as e:
                failures += 1
                print(f"{name} FAILED\n{e}", flush=True)
    print(f"{len(options.only) - failures} passed, {failures} failed")
    sys.exit(1 if failures or not options.only else 0)


if __name__ == "__main__":
    main()
