#!/usr/bin/env python3
"""NVIDIA's sample programs in Python, unchanged, under `assay python`: which end with 0, and whose results are ONNX Runtime's.

    samples_test.py PACKAGE --source CHECKOUT [--python PYTHON] [--only WORD] [--write FILE] [--verbose]

PACKAGE: the folder that holds the package assay; CHECKOUT: of NVIDIA/TensorRT, which is not fetched here; PYTHON: an interpreter with
numpy, onnx, onnxruntime, pillow, nanobind-backend, perhaps torch. What the samples download is made here (stand_ins.py). A program that
does not do what EXPECTED in this file says fails the test; so do fewer than LEAST of those without CUDA kernels. --write: the page of the
documents about it."""

import argparse
import contextlib
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Callable

LEAST = 0.7
SECONDS = 600
API = "tools/Polygraphy/examples/api"
SAMPLES = "samples/python"


@dataclass
class Sample:
    name: str
    """Its path in the checkout."""
    runs: list
    """Lists of arguments, one after the other in the same folder; `{data}` and `{folder}` stand for folders."""
    agrees: Callable = None
    """(folder, output): whether the results are right. None: nothing is computed, or nothing shown."""
    needs: tuple = ()
    """Modules without which nobody can run it."""
    before: tuple = ()
    """Command lines as its text gives them."""
    why: str = ""
    """Why it does not end with 0; empty: it does."""
    digits: bool = False
    """It is trained on MNIST, which torchvision keeps in a place of its own."""


def says(text):
    return lambda folder, output: text in output


def asserts(folder, output):
    """The program itself compares with what its network computes, and ends with an error otherwise."""
    return True


def equal_results(folder, output):
    """It shows the results of both runners."""
    shown = [part.partition("\n")[2].strip() for part in output.split("Processing outputs for runner:")[1:]]
    return len(shown) == 2 and shown[0] == shown[1] and "Values:" in shown[0]


def predicted(folder, output):
    """The network that PyTorch trained says of a digit what it is."""
    case, prediction = re.search(r"^Test Case: (\d)", output, re.M), re.search(r"^Prediction: (\d)", output, re.M)
    return bool(case and prediction) and case[1] == prediction[1]


def recognized(times):
    return lambda folder, output: len(re.findall(r"\b[Cc]orrectly recognized", output)) == times and "ncorrectly" not in output


def detected(folder, output):
    import numpy as np
    import stand_ins

    pictures = [os.path.join(folder, "data", "resnet50", name) for name in stand_ins.PICTURES]
    for picture in pictures:
        found = np.loadtxt(os.path.join(folder, "found", os.path.splitext(os.path.basename(picture))[0] + ".txt"), ndmin=2)
        expected = stand_ins.detections(os.path.join(folder, "fasterrcnn12_trt.onnx"), picture)
        if not len(expected) or found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-4, atol=1e-4):
            return False
    return True


def answered(folder, output):
    import numpy as np
    import stand_ins

    network = stand_ins.session(os.path.join(folder, "bidaf-modified.onnx"))
    rng = np.random.default_rng(0)
    text = np.array([[stand_ins.WORDS.index(w)] for w in "a quick brown fox jumps over the lazy dog .".split()], np.int64)
    feed = {i.name: rng.integers(0, 16, [10 if k < 2 else 6, 1] + ([1, 16] if k % 2 else []), np.int64) for k, i in enumerate(network.get_inputs())}
    feed[network.get_inputs()[0].name] = text
    return network.run(None, feed)[0].item() == 2 and "Passed" in output


# What is compared with what the program itself expects.
OWN = (asserts, predicted)

PLAIN = {
    "00_inference_with_tensorrt/build_and_run.py": asserts,
    "02_validating_on_a_dataset/example.py": asserts,
    "03_interoperating_with_tensorrt/example.py": asserts,
    "04_int8_calibration_in_tensorrt/example.py": asserts,
    "05_using_tensorrt_network_api/example.py": asserts,
    "06_immediate_eval_api/build_and_run.py": asserts,
    "07_tensorrt_and_dynamic_shapes/example.py": asserts,
}
EXPECTED = [Sample(f"{API}/{name}", [[]], agrees) for name, agrees in PLAIN.items()] + [
    Sample(f"{API}/00_inference_with_tensorrt/load_and_run.py", [["../build_and_run.py"], []], asserts),
    Sample(f"{API}/01_comparing_frameworks/example.py", [[]], says("All outputs matched")),
    Sample(f"{API}/06_immediate_eval_api/load_and_run.py", [["../build_and_run.py"], []], asserts),
    Sample(f"{API}/08_working_with_run_results_and_saved_inputs_manually/example.py", [[]], equal_results,
           before=(["run", "identity.onnx", "--trt", "--onnxrt", "--save-inputs", "inputs.json", "--save-outputs", "outputs.json"],)),
    Sample(f"{API}/09_working_with_pytorch_tensors/example.py", [[]], asserts, needs=("torch",)),
    Sample(f"{SAMPLES}/introductory_parser_samples/onnx_resnet50.py", [["-d", "{data}"]], recognized(1)),
    Sample(f"{SAMPLES}/simple_progress_monitor/simple_progress_monitor.py", [["-d", "{data}"]], recognized(1)),
    Sample(f"{SAMPLES}/sample_weight_stripping/build_engines.py", [["-d", "{data}"]]),
    Sample(f"{SAMPLES}/sample_weight_stripping/refit_engine_and_infer.py", [["../build_engines.py", "-d", "{data}"], ["-d", "{data}"]], recognized(2)),
    Sample(f"{SAMPLES}/stream_writer/build.py", [[]]),
    Sample(f"{SAMPLES}/engine_refit_onnx_bidaf/build_and_refit_engine.py", [["../prepare_model.py", "-d", "{data}"], [], ["--weights-location", "CPU"]], answered),
    Sample(f"{SAMPLES}/dds_faster_rcnn/build_engine.py", [["../modify_onnx.py", "-i", "{data}/FasterRCNN-12.onnx"],
                                                          ["-o", "fasterrcnn12_trt.onnx", "-e", "engine.trt"]]),
    Sample(f"{SAMPLES}/dds_faster_rcnn/infer.py", [["../modify_onnx.py", "-i", "{data}/FasterRCNN-12.onnx"],
                                                   ["../build_engine.py", "-o", "fasterrcnn12_trt.onnx", "-e", "engine.trt"],
                                                   ["-e", "engine.trt", "-i", "{data}/pictures", "-o", "found", "-l", "{sample}/labels_coco_80.txt"],
                                                   ["-e", "engine.trt", "-i", "{data}/pictures", "-o", "found", "-l", "{sample}/labels_coco_80.txt", "-c"]], detected),
    Sample(f"{SAMPLES}/detectron2/build_engine.py", [["-o", "{data}/segmenter.onnx", "-e", "engine.trt"]]),
    Sample(f"{SAMPLES}/detectron2/infer.py", [["-e", "engine.trt", "-i", "{data}/pictures", "-o", "found", "-c", "config.yaml"]],
           needs=("detectron2.engine",), why="it uses an attribute that it does not set (`self.allocations`), and fails anywhere"),
    Sample(f"{SAMPLES}/network_api_pytorch_mnist/sample.py", [[]], predicted, needs=("torch", "torchvision"), digits=True),
    Sample(f"{SAMPLES}/strongly_type_autocast/sample.py", [["--mnist_dir", "{data}"]], needs=("modelopt",)),
    Sample(f"{SAMPLES}/attention_mdtrt/attention_mdtrt.py", [["../create_onnx.py", "--output", "{folder}/attention.onnx"],
                                                             ["--onnx-path", "{folder}/attention.onnx", "--sequence-length", "64"]], needs=("torch",),
           why="its profile is for 56,320 tokens of 4,096 numbers, which take 16 GB between layers; less memory than that is an error that says so"),
]  # fmt: skip

# What has CUDA kernels of its own, or code compiled for CUDA, and is not counted.
WITH_KERNELS = {
    f"{SAMPLES}/aliased_io_plugin/aliased_io_plugin.py": "Triton",
    f"{SAMPLES}/cute_dsl_plugin/rms_norm_plugin_cutedsl.py": "CuTe",
    f"{SAMPLES}/non_zero_plugin/non_zero_plugin.py": "NVRTC",
    f"{SAMPLES}/onnx_custom_plugin/sample.py": "a plugin in C++ for CUDA",
    f"{SAMPLES}/onnx_custom_plugin/test_custom_hardmax_plugin.py": "a plugin in C++ for CUDA",
    f"{SAMPLES}/python_plugin/circ_pad_plugin_cpp.py": "a plugin in CUDA",
    f"{SAMPLES}/python_plugin/circ_pad_plugin_cuda_python.py": "NVRTC",
    f"{SAMPLES}/python_plugin/circ_pad_plugin_cupy.py": "CuPy",
    f"{SAMPLES}/python_plugin/circ_pad_plugin_inetdef_cuda_python.py": "NVRTC",
    f"{SAMPLES}/python_plugin/circ_pad_plugin_multi_tactic.py": "Triton, CuPy",
    f"{SAMPLES}/python_plugin/circ_pad_plugin_numba.py": "Numba for CUDA",
    f"{SAMPLES}/python_plugin/circ_pad_plugin_torch.py": "CuPy",
    f"{SAMPLES}/python_plugin/circ_pad_plugin_triton.py": "Triton",
    f"{SAMPLES}/quickly_deployable_plugins/qdp_defs.py": "Triton",
    f"{SAMPLES}/quickly_deployable_plugins/qdp_runner.py": "Triton",
}
# Parts of programs.
PARTS = [f"{SAMPLES}/common.py", f"{SAMPLES}/common_runtime.py", f"{SAMPLES}/plugin_utils.py", f"{SAMPLES}/engine_refit_onnx_bidaf/data_processing.py"]


def unlisted(source):
    """Programs of the checkout that import tensorrt (all of Polygraphy's), and that this file does not know; and the other way round."""
    found = set()
    for folder in (SAMPLES, API):
        for root, _, names in os.walk(os.path.join(source, folder)):
            for name in fnmatch.filter(names, "*.py"):
                with open(os.path.join(root, name)) as file:
                    if folder == API or re.search(r"^\s*(import|from) tensorrt\b", file.read(), re.M):
                        found.add(os.path.relpath(os.path.join(root, name), source))
    known = {s.name for s in EXPECTED} | set(WITH_KERNELS) | set(PARTS)
    return [f"{name} is not listed here" for name in sorted(found - known)] + [f"there is no {name}" for name in sorted(known - found)]


@dataclass
class Outcome:
    passed: bool
    agrees: object
    lacks: str = ""
    output: str = ""


class Runner:
    def __init__(self, options):
        self.options = options
        self.assay = os.path.join(os.path.abspath(options.package), "assay", "bin", "assay")
        self.source = os.path.abspath(options.source)
        self.folder = tempfile.mkdtemp()
        self.data = os.path.join(self.folder, "data")

    def make_data(self):
        import shutil

        import stand_ins

        stand_ins.resnet(self.assay, os.path.join(self.data, "resnet50"))
        os.mkdir(os.path.join(self.data, "pictures"))
        for name in stand_ins.PICTURES:
            shutil.copy(os.path.join(self.data, "resnet50", name), os.path.join(self.data, "pictures"))
        stand_ins.detector(os.path.join(self.data, "FasterRCNN-12.onnx"))
        stand_ins.segmenter(os.path.join(self.data, "segmenter.onnx"))
        stand_ins.reader(os.path.join(self.data, "samples", "python", "engine_refit_onnx_bidaf", "bidaf-original.onnx"))
        stand_ins.packages(os.path.join(self.folder, "packages"))

    def lacks(self, sample):
        for module in sample.needs:
            if subprocess.run([self.options.python, "-c", f"import {module}"], capture_output=True).returncode:
                return module.split(".")[0]
        return ""

    def call(self, arguments, folder):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_", "PYTHON"))}
        environment.update(ASSAY_PYTHON=self.options.python, ASSAY_ONNXRUNTIME=sys.prefix, PYTHONDONTWRITEBYTECODE="1",
                           PYTHONPATH=os.pathsep.join([os.path.abspath(self.options.package), os.path.join(self.folder, "packages")]))  # fmt: skip
        done = subprocess.run([self.assay, *arguments], capture_output=True, text=True, cwd=folder, env=environment, timeout=SECONDS)
        return done.returncode, re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", done.stdout + done.stderr)

    def run(self, sample):
        lacks = self.lacks(sample)
        if lacks:
            return Outcome(False, None, lacks)
        import stand_ins

        with stand_ins.digits() if sample.digits else contextlib.nullcontext():
            return self.run_lines(sample)

    def run_lines(self, sample):
        folder = tempfile.mkdtemp(dir=self.folder)
        os.symlink(self.data, os.path.join(folder, "data"))
        script = os.path.join(self.source, sample.name)
        # Polygraphy's examples read models of their folder.
        for name in os.listdir(os.path.dirname(script)):
            if name.endswith(".onnx"):
                os.symlink(os.path.join(os.path.dirname(script), name), os.path.join(folder, name))
        output = ""
        lines = [list(line) for line in sample.before]
        for arguments in sample.runs:
            other = arguments and arguments[0].startswith("../")
            program = os.path.join(os.path.dirname(script), arguments[0][3:]) if other else script
            rest = [a.format(data=self.data, folder=folder, sample=os.path.dirname(script)) for a in arguments[1 if other else 0 :]]
            lines.append(["python", program, *rest])
        for line in lines:
            try:
                status, text = self.call(line, folder)
            except subprocess.TimeoutExpired:
                return Outcome(False, None, output=output + f"\nlonger than {SECONDS} s")
            output += text
            if status:
                return Outcome(False, None, output=output)
        return Outcome(True, sample.agrees and bool(sample.agrees(folder, output)), output=output)


def page(results):
    count = sum(o.passed for _, o in results)
    compared = {own: sum(o.agrees is True and (s.agrees in OWN) == own for s, o in results) for own in (False, True)}
    lines = ["# NVIDIA's sample programs", "", "[Written by `tests/python/samples/samples_test.py --write`; do not edit it.]: #", "",
             "The programs of `samples/python` in the repository NVIDIA/TensorRT that import `tensorrt`, and those of Polygraphy's `examples/api`, unchanged under",
             "`assay python`, on a CPU. Models, pictures and tokenizers that they download are replaced by small ones of the same interface.", "",
             f"Of {len(results)} without CUDA kernels of their own, {count} end with 0 ({100 * count / len(results):.0f} %). The results of {compared[False]} were compared with",
             f"those of ONNX Runtime; {compared[True]} compare with what they expect themselves, and end with an error otherwise.", "",
             "| program | ends with 0 | results agree with | |", "|---|---|---|---|"]
    for sample, o in results:
        agrees = {None: "", True: "its own" if sample.agrees in OWN else "ONNX Runtime's", False: "neither"}[o.agrees]
        why = sample.why or (f"needs the package {o.lacks}, which was not there" if o.lacks else "" if o.passed else "see the test")
        lines.append(f"| `{sample.name.removeprefix('samples/python/').removeprefix('tools/Polygraphy/')}` | {'yes' if o.passed else 'no'} | {agrees} | {why} |")
    lines += ["", "An empty field: the program computes nothing, or shows nothing of it.", "", "## With kernels of their own", "",
              "These compile code for a GPU, which nothing here can run; `nvrtc` and the like say so.", "", "| program | by |", "|---|---|"]
    lines += [f"| `{name.removeprefix('samples/python/')}` | {by} |" for name, by in WITH_KERNELS.items()]
    lines += ["", "The notebooks there begin by installing NVIDIA's own package, and are not run."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--source", default=os.environ.get("ASSAY_TENSORRT_SOURCE"))
    parser.add_argument("--python", default=os.environ.get("ASSAY_SAMPLES_PYTHON", sys.executable))
    parser.add_argument("--only", default="")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not options.source:
        print("skipped: the samples are not here; --source or ASSAY_TENSORRT_SOURCE says where a checkout of NVIDIA/TensorRT is")
        return 77
    imports = "import numpy, onnx, onnxruntime, PIL, nanobind_backend"
    missing = subprocess.run([options.python, "-c", imports], capture_output=True, text=True)
    if missing.returncode:
        print(f"skipped: {options.python} (--python, ASSAY_SAMPLES_PYTHON) lacks something: {missing.stderr.strip().splitlines()[-1]}")
        return 77
    options.python = os.path.abspath(options.python)
    if options.python != os.path.abspath(sys.executable):
        os.execv(options.python, [options.python, *sys.argv])  # the data are made with its packages
    runner = Runner(options)
    runner.make_data()
    problems, results = unlisted(options.source), []
    for sample in EXPECTED:
        if options.only not in sample.name:
            continue
        outcome = runner.run(sample)
        results.append((sample, outcome))
        state = "ends with 0" if outcome.passed else f"lacks {outcome.lacks}" if outcome.lacks else "FAILS"
        print(f"{sample.name}: {state}{'' if outcome.agrees is None else ', agrees' if outcome.agrees else ', DIFFERS'}", flush=True)
        if options.verbose or not outcome.passed and not outcome.lacks or outcome.agrees is False:
            print(outcome.output[-3000:])
        if outcome.lacks:
            continue
        if outcome.passed == bool(sample.why):
            problems.append(f"{sample.name} {'ends with 0, and is listed as one that does not' if outcome.passed else 'does not end with 0'}")
        if outcome.agrees is False:
            problems.append(f"{sample.name} gives other results than ONNX Runtime")
    passed = sum(o.passed for _, o in results)
    print(f"{passed} of {len(results)} end with 0 ({100 * passed / max(len(results), 1):.0f} %)")
    for problem in problems:
        print(problem)
    if options.write:
        with open(options.write, "w") as file:
            file.write(page(results))
    return 1 if problems or not options.only and passed < LEAST * len(results) else 0


if __name__ == "__main__":
    sys.exit(main())
