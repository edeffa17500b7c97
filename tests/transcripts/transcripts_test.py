"""Replays recorded sessions of the real Polygraphy and compares what this build prints, line by line.

usage: transcripts_test.py BINARY DATA_FOLDER [NAME...]

DATA_FOLDER holds polygraphy_transcripts/ (a file per session: the command, its exit code, stdout and stderr) and
models/; inputs.json and outputs.json beside the sessions are what some of them look at. Times, folders and the time
stamps in runner names are left out of the comparison; stderr is not compared. Sessions of `run` need ONNX Runtime. Exits
with 77 (skipped) when the folder is missing, and when all else agrees but ONNX Runtime is missing.
"""

import difflib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import made_models

SKIPPED = 77
RUN_SESSIONS = ["run_*.txt", "lint*.txt", "bad_option.txt", "missing_model.txt"]
SESSIONS = RUN_SESSIONS + ["inspect_*.txt", "sparsity*.txt", "extract*.txt", "sanitize_*.txt", "prune.txt", "weight_*.txt", "to_input.txt"]

# What has to exist before a session starts: the commands that make it.
PREPARE = {
    "run_fail_tolerance.txt": ["polygraphy run identity.onnx --onnxrt --seed 7 --save-outputs other_outputs.json"],
    "sparsity_after.txt": ["polygraphy surgeon prune needs_constraints.onnx -o pruned.onnx"],
    "weight_reconstruct.txt": ["polygraphy surgeon weight-strip needs_constraints.onnx -o strip.onnx"],
}

# What is shown otherwise on purpose: docs/compatibility.md says why.
DIFFERENT = {
    # The name that ONNX Runtime's symbolic inference makes up for an extent that nothing tells.
    "sanitize_dds.txt": {"'Range_5_o0__d0'": "-1"},
    # From 0.50 on, attributes that hold an element type show its name.
    "inspect_model_dds.txt": {"_int64.to = 7": "_int64.to = int64", "_float.to = 1": "_float.to = float32"},
    "inspect_dds_after.txt": {"_int64.to = 7": "_int64.to = int64", "_float.to = 1": "_float.to = float32"},
}

# What a Python package logs on its own while upstream matches patterns: not ours to print.
NOISE = re.compile(r"\[[IW]\] \t?(colored module is not installed|Start a subgraph matching|Checking node:|No match because:|Single node is matched|Found a matched subgraph)")


class Session:
    """One recorded command."""

    def __init__(self, path):
        text = path.read_text()
        head, rest = text.split("--- stdout\n", 1)
        command, status = head.strip().split("\n")
        self.name = path.name
        self.command = command.removeprefix("$ ")
        self.status = int(re.search(r"\d+", status).group())
        self.stdout = rest.split("--- stderr\n", 1)[0].splitlines()


def as_expected(session, line):
    for theirs, ours in DIFFERENT.get(session.name, {}).items():
        line = line.replace(theirs, ours)
    return line


def normalize(line, folder):
    line = line.replace(f"{folder}/", "")
    line = re.sub(r"-\d\d/\d\d/\d\d-\d\d:\d\d:\d\d", "-TIME", line)
    line = re.sub(r"in [0-9.e+-]+ ms \| Average inference time: [0-9.e+-]+ ms", "in TIME", line)
    return re.sub(r"Runtime: [0-9.]+s", "Runtime: TIME", line)


def run(command, folder):
    # The words as the tool got them: quotes are its own.
    words = shlex.split(command, posix=False)
    return subprocess.run(words, executable=f"{folder}/{words[0]}", cwd=folder, capture_output=True, text=True)


def prepare_folder(folder, binary, data):
    os.symlink(binary, f"{folder}/polygraphy")
    for file in [*(data / "models").iterdir(), *(data / "polygraphy_transcripts").glob("*puts.json")]:
        shutil.copy(file, folder)
        os.chmod(f"{folder}/{file.name}", 0o644)
    made_models.write_all(folder)


def lint_report(path):
    """A lint report in the form that is compared. The lists of the summary are sets in Python, without an order. Warnings
    about schemas come from the onnx package, which the recorded process had loaded beside ONNX Runtime."""
    report = json.loads(path.read_text())
    report["summary"] = {key: sorted(names) for key, names in report["summary"].items()}
    report["lint_entries"] = [e for e in report["lint_entries"] if not e["message"].startswith("Schema error: ")]
    return json.dumps(report, indent=1).splitlines()


def compare_reports(session, folder, data):
    """The difference between the report that a lint session saved and the recorded one, as lines."""
    output = re.search(r"-o (\S+)", session.command).group(1)
    recorded = data / "polygraphy_transcripts" / output
    return difflib.unified_diff(lint_report(recorded), lint_report(pathlib.Path(folder) / output), "recorded report",
                                "this build's", lineterm="")


def replay(session, binary, data):
    """Returns the differences as text; empty when there are none."""
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        prepare_folder(folder, binary, data)
        for command in PREPARE.get(session.name, []):
            run(command, folder)
        result = run(session.command, folder)
        problems = list(compare_reports(session, folder, data)) if session.name.startswith("lint") else []
    if result.returncode != session.status:
        problems.append(f"exit code {result.returncode} instead of {session.status}\n{result.stderr}")
    expected = [normalize(as_expected(session, line), folder) for line in session.stdout if line and not NOISE.match(line)]
    actual = [normalize(line, folder) for line in result.stdout.splitlines() if line]
    if expected != actual:
        problems += difflib.unified_diff(expected, actual, "recorded", "this build", lineterm="")
    return "\n".join(problems)


def has_onnxruntime(binary, data):
    with tempfile.TemporaryDirectory() as folder:
        prepare_folder(folder, binary, data)
        result = run("polygraphy run identity.onnx --onnxrt", folder)
        return "--onnxrt cannot be used" not in result.stderr, result.stderr


def main():
    binary, data, names = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    folder = data / "polygraphy_transcripts"
    if not folder.is_dir():
        print(f"skipped: there are no transcripts at {folder}")
        return SKIPPED
    usable, reason = has_onnxruntime(binary, data)
    patterns = SESSIONS if usable else [p for p in SESSIONS if p not in RUN_SESSIONS]
    paths = sorted(path for pattern in patterns for path in folder.glob(pattern) if not names or path.name in names)
    failed = 0
    for path in paths:
        problems = replay(Session(path), binary, data)
        print(f"{'FAILED' if problems else 'passed'}  {path.name}")
        if problems:
            failed += 1
            print(problems)
    print(f"{len(paths) - failed} of {len(paths)} sessions agree")
    if failed or not paths:
        return 1
    if not usable:
        print(f"skipped: the sessions of `run` need ONNX Runtime. {reason}")
    return 0 if usable else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
