"""Replays recorded sessions of the real Polygraphy and compares what this build prints, line by line.

usage: transcripts_test.py BINARY DATA_FOLDER [NAME...]

DATA_FOLDER holds polygraphy_transcripts/ (a file per session: the command, its exit code, stdout and stderr) and
models/. Times, folders and the time stamps in runner names are left out of the comparison; stderr is not compared.
Exits with 77 (skipped) when the folder or ONNX Runtime is missing.
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

SKIPPED = 77
SESSIONS = ["run_*.txt", "lint*.txt", "bad_option.txt", "missing_model.txt"]

# What has to exist before a session starts: the commands that make it.
PREPARE = {"run_fail_tolerance.txt": ["polygraphy run identity.onnx --onnxrt --seed 7 --save-outputs other_outputs.json"]}


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


def normalize(line, folder):
    line = line.replace(f"{folder}/", "")
    line = re.sub(r"-\d\d/\d\d/\d\d-\d\d:\d\d:\d\d", "-TIME", line)
    line = re.sub(r"in [0-9.e+-]+ ms \| Average inference time: [0-9.e+-]+ ms", "in TIME", line)
    return re.sub(r"Runtime: [0-9.]+s", "Runtime: TIME", line)


def run(command, folder):
    words = shlex.split(command)
    return subprocess.run(words, executable=f"{folder}/{words[0]}", cwd=folder, capture_output=True, text=True)


def prepare_folder(folder, binary, data):
    os.symlink(binary, f"{folder}/polygraphy")
    for model in (data / "models").iterdir():
        shutil.copy(model, folder)


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
    expected = [normalize(line, folder) for line in session.stdout if line]
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
    if not usable:
        print(f"skipped: the recorded sessions run ONNX Runtime. {reason}")
        return SKIPPED
    paths = sorted(path for pattern in SESSIONS for path in folder.glob(pattern) if not names or path.name in names)
    failed = 0
    for path in paths:
        problems = replay(Session(path), binary, data)
        print(f"{'FAILED' if problems else 'passed'}  {path.name}")
        if problems:
            failed += 1
            print(problems)
    print(f"{len(paths) - failed} of {len(paths)} sessions agree")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
