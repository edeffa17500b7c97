#!/usr/bin/env python3
"""Eight tasks of a day with a model, done with Netron, with Polygraphy and here: steps, and lines until the answer.

    eight_tasks.py ASSAY POLYGRAPHY      prints the table of docs/measurements/eight-tasks.csv
    eight_tasks.py ASSAY --check         runs our commands, and compares their lines with that table

A step is a command, or something done with the mouse or the keyboard, with what a person has to find out by eye counted as one step for each
thing that must be looked at. Lines are those that a command prints up to the one that has the answer.
"""

import csv
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass

ASSAY = pathlib.Path(sys.argv[1]).resolve()
TABLE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "measurements" / "eight-tasks.csv"
NODES = 40


@dataclass
class Task:
    question: str
    netron: tuple       # steps; or one text that begins with "no:"
    polygraphy: object  # (commands, pattern of the line with the answer); or such a text
    ours: tuple         # (commands, pattern)
    status: int = 0     # of our last command


TASKS = [
    Task("Which attributes has the convolution?",
         ("open the model", "Ctrl+F", "type Conv", "click the result"),
         (["polygraphy inspect model net.onnx --show layers attrs"], r"kernel_shape"),
         (["assay inspect model net.onnx --show layers attrs"], r"kernel_shape")),
    Task("Is the model sound?",
         ("no: it draws models that are not",),
         (["polygraphy check lint bad.onnx"], r"NoSuchOperator"),
         (["assay check lint bad.onnx --no-onnxrt"], r"NoSuchOperator"), 1),
    Task("What differs between two versions of it?",
         ("open the first", "open the second in another window", *["look at a node in both"] * NODES),
         (["polygraphy inspect model net.onnx --show layers attrs weights", "polygraphy inspect model changed.onnx --show layers attrs weights"], r"no such line"),
         (["assay inspect diff net.onnx changed.onnx"], r"Cos"), 1),
    Task("Two backends disagree: which is wrong, and at which node does it begin?",
         ("no: it runs nothing",),
         (["polygraphy run net.onnx --onnxrt --onnx-outputs mark all --load-inputs in.json --load-outputs wrong.json"], r"FAILED \| Output: 'r4'"),
         (["assay run net.onnx --arbiter --load-inputs in.json --load-outputs wrong.json --onnx-outputs '*'"], r"First Divergence"), 1),
    Task("Which layers must stay in float32 for 60 dB?",
         ("no: it runs nothing",),
         "no: debug precision needs TensorRT",
         (["assay debug precision net.onnx --fp16 --accuracy 60dB"], r"This holds them|stay in float32")),
    Task("Which layers take most of the time?",
         ("no: it runs nothing",),
         "no: it has no profile; trtexec has one",
         (["assay bench net.onnx --dump-profile --warm-up 0 --duration 0 --iterations 5"], r"^ +r\d+.* %")),
    Task("Cut out the part between two tensors.",
         ("no: it changes nothing",),
         (["polygraphy surgeon extract net.onnx --inputs r4:auto:auto --outputs r9:auto -o part.onnx"], r"part.onnx"),
         (["assay surgeon extract net.onnx --inputs r4:auto:auto --outputs r9:auto -o part.onnx"], r"part.onnx")),
    Task("What is the smallest part that still fails?",
         ("no: it changes nothing",),
         (["polygraphy debug reduce failing.onnx -o small.onnx --check sh -c 'grep -q Selu polygraphy_debug.onnx && exit 1 || exit 0'"], r"Minimum Bad Model|Saving ONNX model to: small|Finished"),
         (["assay debug reduce failing.onnx -o small.onnx --any-failure --check sh -c 'grep -q Selu polygraphy_debug.onnx && exit 1 || exit 0'"], r"small.onnx")),
]


def write_models():
    """A convolution and a chain behind it; the same with another operator, and one with an operator that nobody has."""
    chain = "\n".join(f"  r{i + 1} = {'Sin' if i % 2 else 'Neg'} (r{i})" for i in range(NODES))
    weights = ", ".join(str((i * 7 % 27) / 27 - 0.4) for i in range(3 * 3 * 9))
    text = (f'<ir_version: 8, opset_import: ["" : 17]>\nnet (float[1, 3, 16, 16] x) => (float[1, 3, 16, 16] r{NODES}) '
            f"<float[3, 3, 3, 3] w = {{{weights}}}> {{\n  r0 = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w)\n{chain}\n}}\n")
    for name, changed in (("net", text), ("changed", text.replace("r4 = Sin", "r4 = Cos")), ("failing", text.replace("r8 = Sin", "r8 = Selu")),
                          ("bad", text.replace("r4 = Sin", "r4 = NoSuchOperator"))):
        pathlib.Path(f"{name}.onnxtxt").write_text(changed)
        subprocess.run([ASSAY, "surgeon", "sanitize", f"{name}.onnxtxt", "-o", f"{name}.onnx"], check=True, capture_output=True)
    for model, *words in (("net", "--save-inputs", "in.json", "--save-outputs", "right.json"), ("changed", "--load-inputs", "in.json", "--save-outputs", "wrong.json")):
        subprocess.run([ASSAY, "run", f"{model}.onnx", "--ref", "--onnx-outputs", "*", *words], check=True, capture_output=True)


def lines_of(commands, pattern, programs, statuses=None):
    """How many lines they print up to the answer; the whole, where a person has to compare what they print."""
    lines = 0
    for command in commands:
        words = shlex.split(command)
        for name in ("polygraphy_debug.onnx", "small.onnx", "part.onnx"):
            pathlib.Path(name).unlink(missing_ok=True)
        done = subprocess.run([programs[words[0]], *words[1:]], capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, "ASSAY_EXTENSION_PATH": "", "PATH": f"{pathlib.Path(programs[words[0]]).parent}:{os.environ['PATH']}"})
        out = (done.stdout + done.stderr).splitlines()
        found = next((i + 1 for i, line in enumerate(out) if "Command:" not in line and re.search(pattern, line)), None)
        if statuses is not None:
            assert done.returncode == statuses, f"{command}: {done.returncode}\n" + "\n".join(out)
            assert found, f"{command} does not say {pattern}:\n" + "\n".join(out)
        lines += found or len(out)
    return lines


def cell(steps, lines=None):
    if isinstance(steps, str):
        return "–"
    return f"{steps}" if lines is None else f"{steps}, {lines:,}"


def check():
    """Ours, against what the table says."""
    rows = {r["task"]: r for r in csv.DictReader(line for line in TABLE.read_text().splitlines() if not line.startswith("#"))}
    for task in TASKS:
        commands, pattern = task.ours
        lines = lines_of(commands, pattern, {"assay": ASSAY}, task.status)
        steps, most = (int(n.replace(",", "")) for n in rows[task.question]["assay: commands, lines"].split(", "))
        assert steps == len(commands), task.question
        assert lines <= most + 2, f"'{task.question}' is answered in line {lines}, the table says {most}"
    print(f"{len(TASKS)} tasks, each answered in the lines that the table says")


def main():
    with tempfile.TemporaryDirectory() as folder:
        polygraphy = None if sys.argv[2] == "--check" else pathlib.Path(sys.argv[2]).absolute()
        os.chdir(folder)
        write_models()
        if polygraphy is None:
            return check()
        columns = ["task", "Netron: steps", "Polygraphy: commands, lines", "assay: commands, lines", "what the others lack"]
        print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
        for task in TASKS:
            lacks = [f"{who}: {text[4:]}" for who, text in (("Netron", task.netron[0]), ("Polygraphy", task.polygraphy)) if isinstance(text, str) and text.startswith("no: ")]
            netron = "–" if task.netron[0].startswith("no:") else str(len(task.netron))
            theirs = "–" if isinstance(task.polygraphy, str) else cell(len(task.polygraphy[0]), lines_of(*task.polygraphy, {"polygraphy": polygraphy}))
            ours = cell(len(task.ours[0]), lines_of(*task.ours, {"assay": ASSAY}, task.status))
            print("| " + " | ".join([task.question, netron, theirs, ours, "; ".join(lacks)]) + " |", flush=True)
    return None


if __name__ == "__main__":
    main()
