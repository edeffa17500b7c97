"""The command lines in the READMEs of Polygraphy's examples (cli), each README in order in its folder: exit status 0, or not where the
README says that it fails."""

import os
import pathlib
import re
import shlex
import subprocess

import pytest

CLI = pathlib.Path(__file__).resolve().parent / "cli"


def blocks_of(text):
    """(lines, fails) for each block of commands."""
    fails, lines = False, None
    for line in text.splitlines():
        if "Polygraphy Test: XFAIL Start" in line:
            fails = True
        elif "Polygraphy Test: XFAIL End" in line:
            fails = False
        elif lines is None and line.strip().startswith("```"):
            lines = []
        elif lines is not None and line.strip().startswith("```"):
            yield lines, fails
            lines = None
        elif lines is not None:
            lines.append(line)


def commands_of(readme):
    """(words, fails) for each command line."""
    for lines, fails in blocks_of(readme.read_text()):
        text = re.sub(r"\\\s*\n", " ", "\n".join(lines))
        for line in text.splitlines():
            line = line.strip().removeprefix("$ ")
            if re.match(r"(polygraphy|python3) ", line) and " ... " not in line:
                yield line, fails


READMES = sorted(p for p in CLI.rglob("README.md") if list(commands_of(p)))
CASES = [(readme, i) for readme in READMES for i in range(len(list(commands_of(readme))))]


def label(case):
    readme, i = case
    return f"{readme.parent.relative_to(CLI)}-{i}"


@pytest.mark.parametrize("case", CASES, ids=label)
def test_line(case):
    readme, i = case
    line, fails = list(commands_of(readme))[i]
    done = subprocess.run(shlex.split(line), cwd=readme.parent, capture_output=True, text=True,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert (done.returncode != 0) == fails, f"{line}\n{done.stdout}\n{done.stderr}"
