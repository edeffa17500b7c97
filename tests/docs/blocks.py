"""The code blocks of a Markdown document, with what the comments above them say.

A comment directly above a block tells what is done with it, several things with semicolons in between:

    <!-- not run: REASON -->      left out, and REASON is shown
    <!-- file: NAME -->           its text becomes the file NAME, which later blocks use
    <!-- part of: PATH -->        its text stands in that file of the source, apart from white space
    <!-- output -->               what the block before printed; numbers may differ
    <!-- exit: N -->              the block ends with this exit status
    <!-- needs: WORD ... -->      left out where one of these is missing (see NEEDS in docs_test.py)
    <!-- long -->                 takes more than a few seconds
"""

import re
from dataclasses import dataclass, field

SHELL = ("sh", "console")


@dataclass
class Block:
    line: int
    language: str
    text: str
    marks: dict = field(default_factory=dict)

    def commands(self):
        """What a reader types. In a session (`console`) the lines after `$ ` and, continued, `> `."""
        if self.language == "sh":
            return self.text
        lines = []
        for line in self.text.splitlines():
            if line.startswith(("$ ", "> ")):
                lines.append(line[2:])
        return "\n".join(lines) + "\n"

    def shown(self):
        """Lines of output."""
        if self.language == "console":
            return [line for line in self.text.splitlines() if not line.startswith(("$ ", "> "))]
        return self.text.splitlines()


def _marks(comment):
    marks = {}
    for part in comment.split(";"):
        key, _, value = part.strip().partition(":")
        if key not in ("not run", "file", "part of", "output", "exit", "needs", "long"):
            return None
        marks[key] = value.strip()
    return marks


def read(path):
    """(blocks, problems) of a document."""
    lines = path.read_text().splitlines()
    blocks, problems = [], []
    marks, in_list = None, False
    at = 0
    while at < len(lines):
        line = lines[at]
        fence = re.match(r"^(\s*)```(.*)$", line)
        if fence:
            end = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == "```"), None)
            if end is None:
                problems.append((at + 1, "a block that does not end"))
                break
            text = "".join(l.removeprefix(fence[1]) + "\n" for l in lines[at + 1:end])
            language = fence[2].strip()
            if not language:
                problems.append((at + 1, "a block without a language: sh, console (commands after $ and their output), text, cpp, ..."))
            blocks.append(Block(at + 1, language, text, marks or {}))
            marks, at = None, end + 1
            continue
        comment = re.match(r"^\s*<!--\s*(.*?)\s*-->\s*$", line)
        if comment:
            marks = _marks(comment[1])
        elif line.strip():
            marks = None
            if re.match(r"^(\s*)([*+-]|\d+\.) ", line):
                in_list = True
            elif not line.startswith(" "):
                in_list = False
            if line.startswith("    ") and not in_list and not lines[at - 1].strip():
                problems.append((at + 1, "an indented block: use a fence and name its language"))
        at += 1
    return blocks, problems
