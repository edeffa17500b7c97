"""What the planted causes share: running `assay`, models in text form, and the table of causes."""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import re
import resource
import stat
import subprocess
import tempfile
import threading

ASSAY = PLANTED = ""  # set by planted_test.py


@dataclasses.dataclass
class Spent:
    """Seconds of processors."""

    all: float  # with all that it started
    own: float  # of the process itself: what a search takes besides its checks; in hundredths


@dataclasses.dataclass
class Found:
    """What a command answered."""

    code: int
    text: str
    json: dict
    spent: Spent

    @property
    def checks(self):
        """Builds, runs or checks of candidates; a command that looks once makes one."""
        if "checks" in self.json:
            return self.json["checks"]
        count = self.text.count("Running check command")
        return count or 1


@dataclasses.dataclass
class Outcome:
    """What a cause's search has to show. `named`: the right cause was named; `said`: what was."""

    command: str
    named: bool
    said: str
    found: Found
    nodes: int = 0  # of the model that is left, where one is
    rival: list = dataclasses.field(default_factory=list)  # words for Polygraphy, where it has the command


@dataclasses.dataclass
class Cause:
    name: str
    kind: str
    search: object
    is_quick: bool


CAUSES = []


class NotHere(Exception):
    """A cause needs something that is not here."""


def cause(kind, quick=False):
    """A function that plants the cause in the current folder, searches, and returns an Outcome."""

    def add(search):
        CAUSES.append(Cause(search.__name__, kind, search, quick))
        return search

    return add


def causes(kind, rows, quick=()):
    """One cause for each row, (name, arguments ...), of a function that takes the arguments."""

    def add(search):
        for name, *arguments in rows:
            CAUSES.append(Cause(name, kind, lambda search=search, arguments=arguments: search(*arguments), name in quick))
        return search

    return add


def own_seconds(pid):
    """Of a process that has ended and was not waited for."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def execute(words, program=None, timeout=600):
    """(exit code, what it printed, what it Spent)"""

    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    with tempfile.TemporaryFile() as output:
        with subprocess.Popen([str(w) for w in words], executable=program, stdout=output, stderr=subprocess.STDOUT) as process:
            ended = threading.Timer(timeout, process.kill)
            ended.start()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            ended.cancel()
            own = own_seconds(process.pid)
        output.seek(0)
        return process.returncode, output.read().decode(errors="replace"), Spent(spent() - before, own)


def assay(*words):
    """A command of the program, which has to succeed."""
    code, text, _ = execute([ASSAY, *words])
    assert code == 0, f"{words}: {text}"
    return text


def search(command, *words):
    """`debug COMMAND` with --json in front of a check."""
    pathlib.Path("found.json").unlink(missing_ok=True)
    at = words.index("--check") if "--check" in words else len(words)
    code, text, spent = execute([ASSAY, "debug", command, *words[:at], "--json", "found.json", *words[at:]])
    with contextlib.suppress(OSError, ValueError):
        return Found(code, text, json.loads(pathlib.Path("found.json").read_text()), spent)
    return Found(code, text, {}, spent)


def model(path, graph, opset=17):
    """Saves a model given in ONNX's text form, without its first line; as a binary file, which Polygraphy reads, too."""
    text = pathlib.Path(path).with_suffix(".onnxtxt")
    text.write_text(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{graph}')
    assay("surgeon", "sanitize", text, "-o", path)
    return path


def floats(values):
    return "{" + ", ".join(f"{v:.9g}" for v in values) + "}"


def drawn(count, low=-0.6, high=0.6, seed=3):
    draw = random.Random(seed)
    return [draw.uniform(low, high) for _ in range(count)]


def type_text(extents):
    return f"float[{','.join(map(str, extents))}]" if extents else "float"


def chain(path, nodes, weights=(), shape="4,8", opset=17):
    """From x to y through nodes (operator, name, attributes, further inputs), with weights (name, shape, values)."""
    lines, at = [], "x"
    for i, (op, name, attributes, inputs) in enumerate(nodes):
        y = "y" if i == len(nodes) - 1 else f"v{i}"
        lines.append(f"  [{name}] {y} = {op} {attributes} ({', '.join([at, *inputs])})")
        at = y
    constants = ",\n    ".join(f"{type_text(s)} {n} = {floats(v)}" for n, s, v in weights)
    axis = "int64 axis = {1}"
    return model(path, f"chain (float[{shape}] x) => (float[{shape}] y)\n  <{', '.join(filter(None, [axis, constants]))}>\n{{\n" + "\n".join(lines) + "\n}\n",
                 opset)


def blocks(count, make, reach=0.3):
    """Nodes and weights of `count` blocks that keep [4, 8]: a product, a sum that nothing is fused with, and make(i)."""
    nodes, weights = [], []
    for i in range(count):
        nodes += [("MatMul", f"product{i}", "", [f"w{i}"]), ("CumSum", f"sum{i}", "", ["axis"]), make(i)]
        weights.append((f"w{i}", (8, 8), drawn(64, -reach, reach, seed=i)))
    return nodes, weights


def script(text, name="check.sh"):
    path = pathlib.Path(name)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return os.path.abspath(name)


def layers(path):
    return re.findall(r"Node \d+ +\| (\S*)", assay("inspect", "model", path, "--show", "layers"))


def reduced(path, check, expected, *options):
    """`debug reduce` down to these nodes, and the words for Polygraphy with the same check."""
    found = search("reduce", path, "-o", "small.onnx", "--hide-fail-output", *options, "--check", *check)
    left = layers("small.onnx") if found.code == 0 else []
    return Outcome("reduce", sorted(left) == sorted(expected), " ".join(left) or found.text[-300:], found, len(left),
                   [path, *options, "--check", *check])


def outcome(command, found, names, expected):
    """`names`: what the command names, of which all of `expected` must be, and nothing else."""
    return Outcome(command, found.code in (0, 1) and set(names) == set(expected) and bool(names), " ".join(sorted(set(names))) or found.text[-300:], found)
