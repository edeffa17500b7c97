#!/usr/bin/env python3
"""The options of every command of the real `polygraphy` of the running Python environment: `assay` serves each, or refuses it
with a sentence.

    tests/compat/options_check.py build/assay

What is in neither is listed in options_missing.txt, with the reason; an entry there that is served is an error, too. Exit
status 0 when all of that holds.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def help_of(program, words):
    return subprocess.run([*program, *words, "--help"], capture_output=True, text=True,
                          env={**os.environ, "COLUMNS": "100"}).stdout


def option_names(text):
    names = set()
    for line in text.splitlines():
        match = re.match(r" {2,8}(-.*)", line)
        if match:
            names.update(re.findall(r"(?:^|[ ,])(--?[A-Za-z][A-Za-z0-9-]*)", re.split(r" {2,}", match.group(1))[0]))
    return names - {"-h", "--help"}


def commands(program, words=()):
    """Every command that has options of its own, as words, with the text of its help."""
    text = help_of(program, words)
    usage = text.split("\n\n")[0]
    while "[" in usage and re.search(r"\[[^][]*\]", usage):
        usage = re.sub(r"\[[^][]*\]", "", usage)
    inner = re.search(r"\{([a-z0-9,-]+)\}\s+\.\.\.", usage)
    if not inner:
        yield list(words), text
        return
    for name in inner.group(1).split(","):
        yield from commands(program, [*words, name])


def is_taken(command, name):
    """Whether a second name, which the help does not show, is known: it is refused with a sentence, or asks for its value."""
    for words in (["x", name, "1"], ["x", name], ["x", "-o", "y", name, "1"]):
        said = subprocess.run([*command, *words], capture_output=True, text=True).stderr
        if f"{name} is not available" in said or f"/{name}" in said or f"{name}/" in said:
            return True
    return False


def read_missing():
    """{(command, option or '*'): reason}"""
    missing = {}
    for line in (HERE / "options_missing.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            key, reason = line.split(" | ")
            command, options = key.split(": ")
            for option in options.split():
                missing[command, option] = reason
    return missing


def main():
    assay = os.path.abspath(sys.argv[1])
    polygraphy = [os.path.join(os.path.dirname(sys.executable), "polygraphy")]
    missing, problems, used, served = read_missing(), [], set(), 0
    with tempfile.TemporaryDirectory() as folder:
        link = os.path.join(folder, "polygraphy")
        os.symlink(assay, link)
        for words, text in commands(polygraphy):
            command = " ".join(words)
            if (command, "*") in missing:
                used.add((command, "*"))
                if help_of([link], words):
                    problems.append(f"{command} is served")
                continue
            ours = option_names(help_of([link], words))
            takes = lambda name: name in ours or is_taken([link, *words], name)
            for name in sorted(option_names(text)):
                if (command, name) in missing:
                    used.add((command, name))
                    if takes(name):
                        problems.append(f"{command} {name} is served")
                elif takes(name):
                    served += 1
                else:
                    problems.append(f"{command} {name} is missing")
    problems += [f"{' '.join(key)}: the real tool has no such option" for key in missing if key not in used]
    for problem in problems:
        print(problem)
    print(f"{served} options are served or refused with a sentence, {len(missing)} entries are listed as missing")
    return 1 if problems or served < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
