#!/usr/bin/env python3
"""Polygraphy's examples of `debug`, as typed, under its name, and what each leaves: examples_test.py ASSAY [--source FOLDER]

FOLDER (or ASSAY_POLYGRAPHY_SOURCE) is tools/Polygraphy of a checkout of NVIDIA's TensorRT repository. The lines are read from the READMEs, which
`tests/upstream` runs for their exit status; here what they say of their results is tested, too.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

problems = 0


def expect(condition, what, shown=""):
    global problems
    if not condition:
        problems += 1
        print(f"FAILED: {what}\n{shown[-3000:]}")


def commands(readme):
    """The lines in blocks of the README that begin with `polygraphy`."""
    for block in re.findall(r"^ *```(?:bash)?\n(.*?)^ *```", readme.read_text(), re.S | re.M):
        for line in re.sub(r"\\\s*\n", " ", block).splitlines():
            if line.strip().startswith("polygraphy "):
                yield line.strip()


def run(line, folder, assay, succeeds=True):
    words = shlex.split(line)
    done = subprocess.run(words, executable=assay, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=600,
                          env={**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"})
    expect(done.returncode == 0 or not succeeds, line, done.stdout)
    return done.stdout


def flaky_tactics(folder, assay):
    """01: ten builds, sorted by what their results are, and compared."""
    text = [run(line, folder, assay) for line in commands(folder / "README.md")]
    replays = sorted(str(p.relative_to(folder / "replays").parent) for p in (folder / "replays").rglob("replay*.json"))
    expect(replays == ["good"] * 10, f"flaky tactics: {replays}", text[1])
    expect("Loaded 10 good tactic replays." in text[-1] and "Loaded 0 bad tactic replays." in text[-1]
           and "Could not determine potentially bad tactics" in text[-1], "flaky tactics: the comparison", text[-1])


def reducing(folder, assay):
    """02: with the engine, which is right, there is nothing to reduce; the failure that is simulated ends in the Mul."""
    lines = list(commands(folder / "README.md"))
    for line in lines:
        # The results of these are replaced by those of the next: the model has no failure of its own.
        run(line, folder, assay, succeeds="--fail-regex" in line or "debug reduce" not in line)
    shown = run("polygraphy inspect model final_reduced.onnx --show layers", folder, assay)
    expect(re.findall(r"\[Op: (\w+)\]", shown) == ["Mul"], "reducing: what is left", shown)
    expect(sum("debug reduce" in line for line in lines) == 4, "reducing: the README has four searches", "\n".join(lines))


EXAMPLES = {"01_debugging_flaky_trt_tactics": flaky_tactics, "02_reducing_failing_onnx_models": reducing}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("--source", default=os.environ.get("ASSAY_POLYGRAPHY_SOURCE"))
    args = parser.parse_args()
    assay = os.path.abspath(args.assay)
    examples = pathlib.Path(args.source or "/nonexistent") / "examples/cli/debug"
    if not examples.is_dir():
        print("skipped: ASSAY_POLYGRAPHY_SOURCE does not name tools/Polygraphy of a checkout of NVIDIA's TensorRT repository")
        return 77
    for name in sorted(p.name for p in examples.iterdir() if p.is_dir()):
        if name not in EXAMPLES:
            expect(False, f"{name} is an example that this test does not know")
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary) / "example"
            shutil.copytree(examples / name, folder)
            (folder / "bin").mkdir()
            (folder / "bin/polygraphy").symlink_to(assay)
            EXAMPLES[name](folder, assay)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
