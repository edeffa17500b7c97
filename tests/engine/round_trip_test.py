#!/usr/bin/env python3
"""Every generated model, and every model in the folders given: its plan, saved and run by a fresh process, gives the same results
to the bit.

usage: round_trip_test.py ASSAY [--only NAME] [FOLDER...]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

EXACTLY = ["--atol", "0", "--rtol", "0", "--infinities-compare-equal"]


def run(assay, folder, *words):
    done = subprocess.run([assay, *words], cwd=folder, capture_output=True, text=True, timeout=900)
    return done.returncode, done.stdout + done.stderr


def last_line(text):
    lines = [line for line in text.splitlines() if line.startswith("[")]
    return lines[-1] if lines else text[-200:]


def check(assay, folder, model, level):
    """Empty, or what went wrong; None for a model that has no plan."""
    code, text = run(assay, folder, "run", str(model), "--trt", "--builder-optimization-level", level, "--save-engine", "m.plan",
                     "--save-inputs", "in.json", "--save-outputs", "out.json")
    if code != 0:
        return None if run(assay, folder, "run", str(model), "--engine")[0] != 0 else f"cannot be built: {last_line(text)}"
    code, text = run(assay, folder, "run", "m.plan", "--trt", "--load-inputs", "in.json", "--load-outputs", "out.json", *EXACTLY)
    return "" if code == 0 and "Passed: 1/1 iterations" in text else f"differs: {last_line(text)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    assay = str(options.assay.resolve())
    listed = subprocess.run([assay, "template", "model", "--list"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines()[1:] if line.strip()]
    files = sorted(f for folder in options.folders if folder.is_dir() for f in folder.resolve().glob("*.onnx"))
    problems = checked = without = 0
    for model in [*names, *files]:
        if options.only not in str(model):
            continue
        for level in ("0", "1"):
            with tempfile.TemporaryDirectory() as folder:
                path = model
                if not isinstance(model, pathlib.Path):
                    path = pathlib.Path(folder, model + ".onnx")
                    code, text = run(assay, folder, "template", "model", model, "-o", str(path))
                    assert code == 0, text
                problem = check(assay, folder, path, level)
            checked += problem is not None
            without += problem is None
            problems += bool(problem)
            print(f"{model if isinstance(model, str) else model.name} level {level}: "
                  f"{'no engine runs it' if problem is None else problem or 'the same to the bit'}", flush=True)
    print(f"{checked} plans, {problems} problem(s); {without} times a model that the engine refuses")
    return 1 if problems or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
