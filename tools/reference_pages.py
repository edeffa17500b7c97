#!/usr/bin/env python3
"""Writes the pages of docs/reference that the program can print itself: its commands and options, the passes and tactics of its
builder, and its operators.

usage: reference_pages.py ASSAY SCHEMA_DUMP FOLDER [--write]

ASSAY is the program, SCHEMA_DUMP the test program that prints the operators' schemas, FOLDER is docs/reference. Without --write the
pages are compared with what would be written; exit status 1 shows the first difference of every page.
"""

import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

GENERATED = "<!-- Written by tools/reference_pages.py from what the program prints. -->"
COLUMN = 28             # where the texts of `--help` begin
COMMON_COMMANDS = 8     # a group that is the same in so many commands is printed once


def output(*command):
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": os.environ["PATH"], "HOME": home, "COLUMNS": "100"}
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


def escaped(text):
    """Text of the program in a cell of a table."""
    return re.sub(r"([|<>*_])", r"\\\1", text)


class Group:
    def __init__(self, title):
        self.title, self.about, self.entries = title, [], []

    def key(self):
        return self.title, tuple(self.about), tuple(self.entries)

    def markdown(self):
        out = [f"**{self.title}**", ""]
        if self.about:
            out += [escaped(" ".join(self.about)), ""]
        out += ["| option | meaning |", "|---|---|"]
        return out + [f"| {code(name)} | {escaped(text)} |" for name, text in self.entries] + [""]


def code(name):
    return "`" + name.replace("|", "\\|") + "`"


class Page:
    """`--help` of a command, taken apart."""

    def __init__(self, text):
        lines = text.splitlines()
        blank = lines.index("")
        self.usage = " ".join(line.strip() for line in lines[:blank])
        self.groups, self.commands, about = [], [], []
        at = blank + 1
        while at < len(lines) and lines[at]:
            about.append(lines[at].strip())
            at += 1
        self.about = " ".join(about)
        for line in lines[at:]:
            self.read(line)
        for group in self.groups:
            group.entries = [(name, " ".join(words)) for name, words in group.entries]

    def read(self, line):
        if not line.strip():
            return
        if not line.startswith(" "):
            self.groups.append(Group(line.strip()))
            return
        group = self.groups[-1]
        if line.startswith(" " * COLUMN) and group.entries:
            group.entries[-1][1].append(line.strip())
            return
        name, text = line[:COLUMN], line[COLUMN:]
        if line.startswith("  -") and (not name.endswith(" ") or "  " not in name.strip() + "  "):
            group.entries.append((line.strip(), []))
        elif name.endswith("  ") and text and not text.startswith(" "):
            group.entries.append((name.strip(), [text.strip()]))
        elif line.startswith("  -"):
            group.entries.append((line.strip(), []))
        else:
            group.about.append(line.strip())


def help_pages(assay):
    """{command: Page} in the order of the program; the program itself is ''."""
    found = {}

    def visit(words):
        page = Page(output(assay, *words, "--help"))
        if any(name == "--no-extensions" for group in page.groups for name, _ in group.entries):
            page = Page(output(assay, *words, "--no-extensions", "--help"))      # without the options of installed modules
        found[" ".join(words)] = page
        for group in page.groups:
            if group.title == "Commands":
                for name, _ in group.entries:
                    visit([*words, name])

    visit([])
    return found


def commands_page(assay):
    pages = help_pages(assay)
    counts = {}
    for page in pages.values():
        for group in page.groups:
            counts[group.key()] = counts.get(group.key(), 0) + 1
    shared = {key for key, count in counts.items() if count >= COMMON_COMMANDS and key[0] != "Commands"}
    out = [GENERATED, "", "# Commands and options", "", pages[""].about, "",
           "`assay COMMAND --help` prints the same. Options may be abbreviated as long as they stay unambiguous. What a name of a tensor may be:",
           "[selectors](selectors.md); how a command ends: [exit codes](exit-codes.md). Extension modules add options of their own.", ""]
    for command, page in pages.items():
        if command and not any(group.title == "Commands" for group in page.groups):
            out.append(f"* [`{command}`](#{command.replace(' ', '-')}): {escaped(page.about.split('. ')[0].rstrip('.'))}.")
    out += ["", "## Options of many commands", "", "The sections below name these groups and do not repeat them.", ""]
    printed = set()
    for page in pages.values():
        for group in page.groups:
            if group.key() in shared and group.key() not in printed:
                printed.add(group.key())
                out += group.markdown()
    for command, page in pages.items():
        if not command or any(group.title == "Commands" for group in page.groups):
            continue
        out += [f"## {command}", "", "```text", page.usage, "```", "", escaped(page.about), ""]
        common = [group.title for group in page.groups if group.key() in shared]
        if common:
            out += ["Options of many commands: " + ", ".join(common) + ".", ""]
        for group in page.groups:
            if group.key() not in shared:
                out += group.markdown()
    return "\n".join(out).rstrip("\n") + "\n"


def builder(assay):
    """(phases, conditions, tactics) of `inspect builder --conditions`: (phase, [(pass, summary)]), {pass: text}, [(tactic, summary, operators)]."""
    phases, conditions, tactics, part = [], {}, [], ""
    for line in output(assay, "inspect", "builder", "--conditions", "--no-extensions").splitlines():
        title = re.match(r"\[I\] ==== (\w+)", line)
        if title:
            part = title[1]
        elif part == "Passes" and not line.startswith(" " * 8):
            phases.append((line.strip(), []))
        elif part == "Passes":
            phases[-1][1].append(tuple(re.split(r" {2,}", line.strip(), maxsplit=1)))
        elif part == "When":
            name, text = re.fullmatch(r"\* `(\w+)`: (.*)", line.strip()).groups()
            conditions[name] = text
        elif part == "Tactics" and line.startswith(" " * 12):
            tactics[-1][2].extend(line.split())
        elif part == "Tactics" and line.strip():
            name, summary = re.split(r" {2,}", line.strip(), maxsplit=1)
            tactics.append((name, summary, []))
    return phases, conditions, tactics


def passes_page(assay):
    phases, conditions, _ = builder(assay)
    out = [GENERATED, "", "# Passes", "",
           "`assay inspect builder --conditions` prints these lists. `--disable-passes` and `--max-edits` of `run --trt` and `convert` take the names.",
           "What `surgeon sanitize --simplify` does with passes: [simplifying](simplify.md).", "",
           "## In the order in which the builder runs them", ""]
    for phase, passes in phases:
        out += [f"{phase[0].upper()}{phase[1:]}:", "", "| pass | what it does |", "|---|---|"]
        out += [f"| `{name}` | {escaped(summary)} |" for name, summary in passes] + [""]
    out += ["## When an edit is made", "",
            "Conditions of every pass, those that only `surgeon sanitize --simplify` runs among them. An edit whose conditions cannot be decided is",
            "not made.", "", "| pass | conditions |", "|---|---|"]
    out += [f"| `{name}` | {escaped(text)} |" for name, text in conditions.items()]
    return "\n".join(out) + "\n"


def tactics_page(assay):
    _, _, tactics = builder(assay)
    out = [GENERATED, "", "# Tactics", "",
           "The ways of the engine to run operators, in the order in which they are asked; of equally fast ones the first wins. `assay inspect builder`",
           "prints the list; `--disable-tactics` and `--pin-tactics` take the names. Names that begin with `assay.` are operators that passes make.",
           "Which operators run on kernels, by type: [engine operators](engine-operators.md). How the kernels work:",
           "[kernels](../internals/kernels.md).", "", "| tactic | what it is | operators |", "|---|---|---|"]
    out += [f"| `{name}` | {escaped(summary)} | {', '.join(operators)} |" for name, summary, operators in tactics]
    return "\n".join(out) + "\n"


DOMAINS = {"": "ai.onnx", "ai.onnx.ml": "ai.onnx.ml", "ai.onnx.preview": "ai.onnx.preview", "ai.onnx.preview.training": "ai.onnx.preview.training",
           "com.microsoft": "com.microsoft"}


def operators_page(schema_dump):
    schemas = json.loads(output(schema_dump))
    domains = {}
    for schema in schemas:
        domains.setdefault(schema["domain"], {}).setdefault(schema["name"], []).append(schema)
    out = [GENERATED, "", "# Operators", "",
           "Every operator is inferred, evaluated in float64 and in its stored types, and judged by an error model of its own. Which of them run on",
           "kernels of the engine: [engine operators](engine-operators.md). What is decided where a standard leaves something open:",
           "[ai.onnx.ml](onnx-ml.md), [com.microsoft](contrib-operators.md). Steps between versions: [opset conversion](opset-conversion.md).", ""]
    for domain in sorted(domains, key=lambda d: (d != "", d)):
        operators = domains[domain]
        out += [f"## {DOMAINS[domain]}", "", f"{len(operators)} operators, {sum(map(len, operators.values()))} versions.", "",
                "| operator | opsets in which its schema begins | inputs | outputs |", "|---|---|---|---|"]
        for name in sorted(operators):
            versions = sorted(operators[name], key=lambda s: s["since"])
            newest = versions[-1]
            out.append(f"| {escaped(name)} | {', '.join(str(s['since']) for s in versions)} | {arguments(newest['inputs'])} | {arguments(newest['outputs'])} |")
        out.append("")
    return "\n".join(out).rstrip("\n") + "\n"


def arguments(listed):
    marks = {"single": "", "optional": "?", "variadic": "..."}
    return escaped(", ".join(a["name"] + marks[a["option"]] for a in listed))


def main():
    assay, schema_dump, folder = sys.argv[1:4]
    folder = pathlib.Path(folder)
    pages = {"commands.md": commands_page(assay), "passes.md": passes_page(assay), "tactics.md": tactics_page(assay),
             "operators.md": operators_page(schema_dump)}
    problems = 0
    for name, text in pages.items():
        path = folder / name
        if "--write" in sys.argv[4:]:
            path.write_text(text, encoding="utf-8")
            continue
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        if there != text:
            problems += 1
            difference = list(difflib.unified_diff(there.splitlines(), text.splitlines(), str(path), "what the program prints", lineterm="", n=0))
            print("\n".join(difference[:12]))
            print(f"{path} is not what the program prints: tools/reference_pages.py ASSAY SCHEMA_DUMP {folder} --write")
    print(f"{len(pages)} pages, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
