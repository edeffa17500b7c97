#!/usr/bin/env python3
"""Converts the cases of the installed onnx package and generated models to other opsets.

usage: convert_test.py [--only PATTERN]... CONVERT_BATCH ASSAY CASES [MODELS]

With --only, cases whose folder matches no pattern (as in 'test_attention*'), and the models, are left out.

Every case that is made in CASES is converted to each of TARGETS. What converts must be accepted by onnx.checker and give
the case's outputs on the float64 reference; what does not, and onnx.version_converter converts to something that the
checker accepts and that gives the outputs, must stand in exceptions.txt with a reason. The models that `assay template
model` generates, and those below MODELS if that folder is there, are converted up and down; where ONNX Runtime is
installed, it must accept the result and give the original's outputs. Prints a table of counts per target. Exit status 1
when something fails; 77 when there is no onnx package.
"""

import collections
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))
import generate  # noqa: E402  exits with 77 when there is no onnx package

import models  # noqa: E402
import onnx  # noqa: E402
from onnx import version_converter  # noqa: E402

TARGETS = (7, 11, 13, 17, 21, onnx.defs.onnx_opset_version())
EXPECTED = HERE.parent / "conformance" / "expected.txt"


class Converter:
    """The program that converts by our rules."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, source, target, out, domain=""):
        """The answer: {"error"} or {"problems", "notes"}."""
        self.process.stdin.write(f"{source}\t{domain}\t{target}\t{out}\n".encode())
        self.process.stdin.flush()
        text = bytearray()
        while (part := self.process.stdout.read1(1 << 16)) and not part.endswith(b"\0"):
            text += part
        return json.loads((text + part)[:-1])


def opset_of(model):
    return next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), None)


def checker_complaint(path):
    """What onnx.checker says of a file; nothing when it accepts it."""
    try:
        onnx.checker.check_model(str(path))
    except Exception as complaint:  # noqa: BLE001  the checker throws several kinds
        return str(complaint).splitlines()[0]
    return None


def link_data(case, folder):
    for item in case.iterdir():
        if item.name != "model.onnx" and not (folder / item.name).exists():
            (folder / item.name).symlink_to(item.resolve())


def failing_cases(assay, root):
    """The cases below a folder whose outputs the reference does not give, and why."""
    if not any(root.rglob("model.onnx")):
        return {}
    run = subprocess.run([assay, "check", "conformance", str(root), "--on", "inference", "reference", "--expected",
                          str(EXPECTED), "--log-format", "no-colors"], capture_output=True, text=True)
    found = dict(re.findall(r"^\[E\] FAILED \S+ (\S+?/\S+?): (.*)$", run.stdout, re.M))
    # A case that is expected to fail and does not is fine here.
    found |= {n: w for n, w in re.findall(r"^\[E\] (?:TIMEOUT|CRASHED) \S+ (\S+?/\S+?): (.*)$", run.stdout, re.M)}
    if run.returncode != 0 and not re.search(r"^\[E\] ", run.stdout, re.M):
        raise SystemExit(f"cannot read the report on {root}:\n{run.stdout[-3000:]}{run.stderr}")
    return found


def read_exceptions():
    """(case pattern, target or *) -> reason, from lines `CASE TARGET: REASON`."""
    out = {}
    for line in (HERE / "exceptions.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            case, target, reason = re.fullmatch(r"(\S+) (\S+): (.+)", line).groups()
            out[case, target] = reason
    return out


class Suite:
    def __init__(self, program, assay, work):
        self.convert = Converter(program)
        self.assay = assay
        self.work = work
        self.rows = {t: collections.Counter() for t in TARGETS}
        self.reasons = collections.Counter()
        self.lines = []
        self.exceptions = read_exceptions()
        self.used = set()

    def excuse(self, name, target):
        for key in self.exceptions:
            if key[1] in ("*", str(target)) and pathlib.PurePath(name).match(key[0]):
                self.used.add(key)
                return True
        return False

    def complain(self, row, target, name, text):
        if not self.excuse(name, target):
            self.rows[target][row] += 1
            self.lines.append(f"{name} to {target}: {row}: {text}")
        else:
            self.rows[target]["excused"] += 1

    def add_case(self, case, name, target):
        model = onnx.load(case / "model.onnx")
        opset = opset_of(model)
        if opset is None or opset == target:
            return
        row = self.rows[target]
        row["cases"] += 1
        folder = self.work / "ours" / str(target) / name
        folder.mkdir(parents=True)
        answer = self.convert(case / "model.onnx", target, folder / "model.onnx")
        if "error" in answer:
            if checker_complaint(case / "model.onnx") is None:
                self.complain("error", target, name, answer["error"])
            return
        if answer["problems"]:
            row["no equivalent"] += 1
            for text in {re.sub(r"^.*?: ", "", p["text"]).split(" has no equivalent")[0] for p in answer["problems"]}:
                self.reasons[text] += 1
            self.try_wheel(case, name, target, model)
            return
        row["converted"] += 1
        link_data(case, folder)
        complaint = checker_complaint(folder / "model.onnx")
        if complaint is not None and checker_complaint(case / "model.onnx") is None:
            self.complain("rejected", target, name, complaint)

    def try_wheel(self, case, name, target, model):
        try:
            result = version_converter.convert_version(model, target)
        except Exception:  # noqa: BLE001  it throws several kinds
            return
        folder = self.work / "wheel" / str(target) / name
        folder.mkdir(parents=True)
        onnx.save(result, folder / "model.onnx")
        if checker_complaint(folder / "model.onnx") is not None:
            (folder / "model.onnx").unlink()
            return
        link_data(case, folder)

    def judge(self, target, known):
        """`known`: cases that fail as they come."""
        for name, why in failing_cases(self.assay, self.work / "ours" / str(target)).items():
            if name not in known:
                self.complain("wrong", target, name, why)
        wheel = self.work / "wheel" / str(target)
        if not wheel.exists():
            return
        failing = failing_cases(self.assay, wheel)
        for path in sorted(wheel.rglob("model.onnx")):
            name = str(path.parent.relative_to(wheel))
            if name not in failing:
                self.complain("only onnx", target, name, "onnx.version_converter converts it and the outputs are right")

    def report(self, whole):
        titles = ("cases", "converted", "no equivalent", "excused", "error", "rejected", "wrong", "only onnx")
        print("target " + " ".join(f"{t:>13}" for t in titles))
        for target, row in self.rows.items():
            print(f"{target:6} " + " ".join(f"{row[t]:13}" for t in titles))
        print("without equivalent most often: " + "; ".join(f"{t} ({n})" for t, n in self.reasons.most_common(25)))
        unused = self.exceptions.keys() - self.used if whole else ()
        unused = [f"exceptions.txt: nothing needs {' '.join(k)}" for k in unused]
        for line in self.lines + unused:
            print(line)
        return 1 if self.lines or unused else 0


def main():
    arguments, only = sys.argv[1:], []
    while arguments[0] == "--only":
        only.append(arguments[1])
        arguments = arguments[2:]
    program, assay, cases, *folders = arguments
    cases = pathlib.Path(cases)
    generate.make_cases(cases)
    with tempfile.TemporaryDirectory() as work:
        suite = Suite(program, assay, pathlib.Path(work))
        for path in sorted(cases.rglob("model.onnx")):
            if only and not any(fnmatch.fnmatchcase(path.parent.name, p) for p in only):
                continue
            for target in TARGETS:
                suite.add_case(path.parent, str(path.parent.relative_to(cases)), target)
        known = failing_cases(assay, cases) if not only else {}
        for target in TARGETS:
            suite.judge(target, known)
        status = suite.report(whole=not only)
        if only:
            return status
        status |= models.check(suite.convert, assay, pathlib.Path(work), [pathlib.Path(f) for f in folders])
    return status


if __name__ == "__main__":
    sys.exit(main())
