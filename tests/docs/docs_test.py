#!/usr/bin/env python3
"""Runs the documents: every block of README.md, docs/ and the examples, in order, as somebody types it who has just built the
project and has nothing else: `env -i PATH=/usr/bin:/bin HOME=<an empty folder>`, in a fresh copy of the checkout's folder.
The tutorials run in an empty folder without a checkout around it. blocks.py says how a document tells what its blocks are.

usage: docs_test.py BUILD_FOLDER SOURCE_FOLDER [--long] [--only DOCUMENT ...] [--verbose]

Without --long, blocks marked so are left out, and so is whatever comes after them in their document and uses them
(`<!-- long -->`, too). Shell blocks run under `/bin/sh -e`. Variables, functions of the environment and the folder that one block
leaves are those of the next. A block that is a program (C++, Python) must say what becomes of it. Exit status 1 names every block that
does not do what its document says.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import blocks as markdown

SECONDS = 300

# What a machine may lack: a shell command that shows whether it is there.
NEEDS = {
    "onnxruntime": '"$ASSAY" run probe.onnx --onnxrt',
    "package": "PYTHONPATH=\"${ASSAY%/assay}/python\" $VENV/bin/python -c 'import assay, numpy'",
    "numpy": "$VENV/bin/python -c 'import numpy'",
    "compiler": "command -v c++",
    "cmake": "command -v cmake && command -v ninja",
    "pkg-config": "command -v pkg-config",
    "dpkg-deb": "command -v dpkg-deb && command -v dpkg-shlibdeps",
    "curl": "command -v curl",
}

# Blocks of these languages are text to look at unless a comment says more.
DATA = ("text", "yaml", "toml", "json", "cmake", "onnx")


def documents(source):
    """In the order in which somebody may read them."""
    found = [source / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md")]
    found += sorted((source / "docs").rglob("*.md")) + sorted((source / "examples").rglob("*.md"))
    return [p for p in found if p.exists()]


def squeezed(text):
    return re.sub(r"\s+", "", text)


PIECE = re.compile(r"(\.\.\.|(?:(?<!\w)-)?\d+(?:\.\d+)?(?:e[-+]?\d+)?|\s+)")
ANY_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"


def pattern_of(line):
    """What a line of output must look like: its numbers may be others, `...` stands for anything, blanks for any blanks."""
    out = ""
    for piece in PIECE.split(line):
        if piece == "...":
            out += ".*"
        elif piece.isspace():
            out += r"\s+"
        elif piece and PIECE.fullmatch(piece):
            out += ANY_NUMBER
        else:
            out += re.escape(piece)
    return out


def missing_line(shown, output):
    """The first line that the document shows and the command does not print, in this order; None when there is none."""
    lines = output.splitlines()
    at = 0
    for line in shown:
        if not line.strip() or line.strip() == "...":
            continue
        pattern = re.compile(r"\s*" + pattern_of(line.strip()) + r"\s*")
        while at < len(lines) and not pattern.fullmatch(lines[at]):
            at += 1
        if at == len(lines):
            return line
        at += 1
    return None


class Reader:
    """Somebody who reads one document."""

    def __init__(self, document, build, source, options):
        self.document, self.build, self.source, self.options = document, build, source, options
        self.name = document.relative_to(source).as_posix()
        self.ran, self.left_out, self.failures = 0, [], []
        self.output = ""
        self.probed = {}

    def read(self):
        blocks, problems = markdown.read(self.document)
        for line, problem in problems:
            self.fail(line, problem)
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(pathlib.Path(folder))
            for block in blocks:
                self.block(block)

    def prepare(self, folder):
        self.home, self.checkout = folder / "home", folder / "assay"
        self.home.mkdir()
        self.checkout.mkdir()
        for entry in self.source.iterdir():
            if entry.name in ("docs", "examples"):
                shutil.copytree(entry, self.checkout / entry.name)
            elif not entry.name.startswith("build") and entry.name != ".git":
                (self.checkout / entry.name).symlink_to(entry)
        (self.checkout / "build").symlink_to(self.build)
        self.state, self.probes = folder / "state", folder / "probes"
        self.probes.mkdir()
        if self.name.startswith("docs/tutorials/"):
            return self.prepare_bare(folder)
        start = self.checkout / (self.document.parent.relative_to(self.source) if self.name.startswith("examples") else "")
        # The README says how a bare shell finds the program; the other documents take it for granted.
        path = "/usr/bin:/bin" if self.name == "README.md" else f"{self.build}:/usr/bin:/bin"
        self.state.write_text(f"export PATH='{path}'\ncd '{start}'\n")

    def prepare_bare(self, folder):
        """Somebody who has installed the program and the Python package, and has no checkout: an empty folder."""
        programs, work = folder / "bin", folder / "work"
        programs.mkdir()
        work.mkdir()
        (programs / "assay").symlink_to(self.build / "assay")
        python = programs / "python"
        python.write_text(f"#!/bin/sh\nPYTHONPATH='{self.build}/python' exec '{self.source}/.venv/bin/python' \"$@\"\n")
        python.chmod(0o755)
        self.state.write_text(f"export PATH='{programs}:/usr/bin:/bin'\ncd '{work}'\n")
        return None

    def fail(self, line, why):
        self.failures.append(f"{self.name}:{line}: {why}")

    def leave_out(self, block, why):
        self.left_out.append(f"{self.name}:{block.line}: {why}")

    def can(self, need):
        """has() without a document."""
        with tempfile.TemporaryDirectory() as folder:
            self.home = self.probes = pathlib.Path(folder)
            return self.has(need)

    def has(self, need):
        if need not in self.probed:
            if need not in NEEDS:
                raise SystemExit(f"{self.name} needs '{need}', which NEEDS does not know")
            script = f"ASSAY={self.build}/assay VENV={self.source}/.venv\n\"$ASSAY\" template model mlp -o probe.onnx >/dev/null\n{NEEDS[need]}\n"
            self.probed[need] = self.shell(script, self.probes).returncode == 0
        return self.probed[need]

    def shell(self, script, folder):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.home)}
        try:
            return subprocess.run(["/bin/sh", "-e", "-c", script], cwd=folder, env=env, text=True, errors="replace", stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired as e:
            return subprocess.CompletedProcess(e.cmd, 124, (e.stdout or b"").decode(errors="replace") + f"\n(still running after {SECONDS} s)")

    def block(self, block):
        marks = block.marks
        if "not run" in marks:
            if not marks["not run"]:
                self.fail(block.line, "`not run` without a reason")
            return self.leave_out(block, marks["not run"])
        if "long" in marks and not self.options.long:
            return self.leave_out(block, "long: needs --long")
        for need in marks.get("needs", "").split():
            if not self.has(need):
                return self.leave_out(block, f"{need} is missing here")
        if "file" in marks:
            return self.write(block)
        if "part of" in marks:
            return self.compare(block)
        if block.language in markdown.SHELL:
            return self.run(block)
        if "output" in marks:
            return self.check_output(block.line, block.shown())
        if block.language not in DATA:
            self.fail(block.line, f"a block of {block.language} that says neither `file`, `part of` nor `not run`")
        return None

    def write(self, block):
        folder = self.shell(f". '{self.state}'\npwd", self.probes).stdout.strip()
        path = pathlib.Path(folder) / block.marks["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)
        self.ran += 1

    def compare(self, block):
        self.ran += 1
        path = self.source / block.marks["part of"]
        if not path.exists() or squeezed(block.text) not in squeezed(path.read_text()):
            self.fail(block.line, f"this does not stand in {block.marks['part of']}")

    def run(self, block):
        script = f". '{self.state}'\ntrap 'code=$?; {{ export -p; printf \"cd \\\"%s\\\"\\n\" \"$PWD\"; }} > {self.state}; exit $code' EXIT\n{block.commands()}"
        done = self.shell(script, self.probes)
        self.output = done.stdout
        self.ran += 1
        if self.options.verbose:
            print(f"{self.name}:{block.line}\n{done.stdout}")
        wanted = int(block.marks.get("exit", 0))
        if done.returncode != wanted:
            tail = "\n    ".join(done.stdout.splitlines()[-12:])
            self.fail(block.line, f"ends with exit status {done.returncode}, not {wanted}\n    {tail}")
        elif block.language == "console":
            self.check_output(block.line, block.shown())

    def check_output(self, line, shown):
        missing = missing_line(shown, self.output)
        if missing is not None:
            tail = "\n    ".join(self.output.splitlines()[-30:])
            self.fail(line, f"shows a line that is not printed:\n    {missing}\n  but:\n    {tail}")


def check_demo(build, source):
    """What `make demo` runs when all is built; the last line that it prints can be pasted and works. Problems, a sentence each."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = pathlib.Path(folder) / "assay"
        checkout.mkdir()
        (checkout / "build").symlink_to(build)
        env = {"PATH": "/usr/bin:/bin", "HOME": folder}

        def run(command):
            return subprocess.run(["/bin/sh", "-c", command], cwd=checkout, env=env, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)

        demo = run(f"'{source}/tools/demo.sh' build/assay")
        if demo.returncode != 0:
            return [f"tools/demo.sh ends with {demo.returncode}:\n{demo.stdout}"]
        last = demo.stdout.splitlines()[-1]
        pasted = run(last)
        return [] if pasted.returncode == 0 else [f"tools/demo.sh ends with the line `{last}`, which fails:\n{pasted.stdout}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    source, build = options.source.resolve(), options.build.resolve()
    ran, left_out, failures = 0, [], []
    for document in documents(source):
        if options.only and document.relative_to(source).as_posix() not in options.only:
            continue
        reader = Reader(document, build, source, options)
        reader.read()
        ran += reader.ran
        left_out += reader.left_out
        failures += reader.failures
        if reader.ran or reader.left_out:
            print(f"{reader.name}: {reader.ran} blocks run, {len(reader.left_out)} left out, {len(reader.failures)} problems", flush=True)
    if not options.only:
        if Reader(source / "README.md", build, source, options).can("onnxruntime"):
            failures += check_demo(build, source)
            ran += 1
        else:
            left_out.append("tools/demo.sh: onnxruntime is missing here")
    for line in left_out:
        print(f"left out: {line}")
    for line in failures:
        print(f"FAILED: {line}")
    print(f"{ran} blocks run, {len(left_out)} left out, {len(failures)} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
