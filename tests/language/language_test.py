#!/usr/bin/env python3
"""Documents and comments use the field's words: none of the words and forms in words.txt is in a Markdown file or a C++ comment.

usage: language_test.py SOURCE_FOLDER [--all]

Code (fenced blocks, `code`), links' targets and a document's HTML comments are not checked. waiting.txt lists documents and sources
that are not held to the list yet; --all checks them, too. Exit status 1 names every place, with the better word.
"""

import fnmatch
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("docs", "examples", "tests", "extensions", "python")
SOURCE_FOLDERS = ("src", "include", "examples", "tests", "extensions", "python")
SOURCE_ENDINGS = (".h", ".cpp", ".def")
BEGINNING = "\N{PILCROW SIGN}"     # of a comment


class Rule:
    def __init__(self, pattern, better):
        self.pattern, self.better, self.allowed = re.compile(pattern, re.IGNORECASE), better, []

    def finds(self, text):
        """Matches in a text that no `but:` covers."""
        free = [a.span() for allowed in self.allowed for a in allowed.finditer(text)]
        return [m for m in self.pattern.finditer(text) if not any(a <= m.start() and m.end() <= b for a, b in free)]


def read_rules(path):
    rules = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("  but: "):
            rules[-1].allowed.append(re.compile(line.removeprefix("  but: "), re.IGNORECASE))
            continue
        pattern, arrow, better = line.partition(" => ")
        if not arrow or not better.strip():
            raise SystemExit(f"{path}:{number}: a line is `PATTERN => BETTER`")
        rules.append(Rule(pattern, better.strip()))
    return rules


def read_waiting(path):
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#")]
    return {line.split(" | ")[0]: line.split(" | ")[1] for line in lines}


def blank(match):
    """As long as what it replaces, so that places stay."""
    return re.sub(r"[^\n]", " ", match[0])


def prose(text):
    """The text with everything that is not prose blanked out."""
    text = re.sub(r"^( *)```.*?^\1```$", blank, text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.DOTALL)
    text = re.sub(r"``.+?``|`[^`]*`", lambda m: re.sub(r"[^\n]", "_", m[0]), text)
    return re.sub(r"\]\([^)\s]*\)", blank, text)


def comments(text):
    """The comments in C++ text, each with a mark at its beginning, and the number of each of their lines."""
    lines, numbers, last = [], [], (0, 0)
    for number, line in enumerate(text.splitlines(), 1):
        if "//" not in line:
            continue
        code = re.sub(r'"(?:\\.|[^"\\])*"', lambda m: "_" * len(m[0]), line)
        comment = re.match(r"(\s*|.*?\s)///?<? (.*)", code)
        if not comment:
            continue
        place = (number, len(comment[1]))
        lines.append((" " if last == (number - 1, place[1]) else BEGINNING + " ") + comment[2])
        numbers.append(number)
        last = place
    return "\n".join(lines), numbers


def findings(name, text, rules, numbers=None):
    """A sentence for each place; forms may go over the end of a line. `numbers`: of the text's lines."""
    text = prose(text)
    flat = re.sub(r"\n[ *]*", lambda m: " " * len(m[0]), text)       # lines of a paragraph are one
    flat = re.sub(r" {2,}", lambda m: " " + "\0" * (len(m[0]) - 1), flat)
    places = [i for i, c in enumerate(flat) if c != "\0"]
    flat = flat.replace("\0", "")
    for rule in rules:
        for match in rule.finds(flat):
            line = text.count("\n", 0, places[match.start()]) + 1
            yield f"{name}:{numbers[line - 1] if numbers else line}: '{match[0].strip(BEGINNING + ' ')}': better {rule.better}"


def self_test(rules):
    """The test can fail: words of the list are found, also over the end of a line, and code is left alone."""
    problems = []

    def expect(found, wanted, what):
        lines = sorted(line.split(":")[1] for line in found)
        if lines != wanted:
            problems.append(f"language_test.py finds in {what} {found}, not lines {wanted}")

    expect(list(findings("sample", "Values lie\nin memory, measured in\nturns. `lies`\n\n```text\nbeside\n```\n", rules)), ["1", "2", "3"], "a document")
    source = 'int lies = 0;  ///< what lies there\n\n/// A value\n/// that is no\n/// number.\nf("// beside");  // next to it\n// What it is.\n'
    text, numbers = comments(source)
    expect(list(findings("sample", text, rules, numbers)), ["1", "1", "4", "7"], "a source")
    return problems


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    rules, waiting = read_rules(HERE / "words.txt"), read_waiting(HERE / "waiting.txt")
    documents = sorted(root.glob("*.md")) + [p for folder in FOLDERS for p in sorted((root / folder).rglob("*.md"))]
    sources = [p for folder in SOURCE_FOLDERS for p in sorted((root / folder).rglob("*")) if p.suffix in SOURCE_ENDINGS]
    names = {p.relative_to(root).as_posix(): p for p in documents + sources}
    waits = {name for pattern in waiting for name in fnmatch.filter(names, pattern)}
    problems = self_test(rules) + [f"waiting.txt names {pattern}, which is not there" for pattern in waiting if not fnmatch.filter(names, pattern)]
    for name, path in names.items():
        if "--all" not in sys.argv[2:] and name in waits:
            continue
        text, numbers = path.read_text(encoding="utf-8"), None
        if path.suffix in SOURCE_ENDINGS:
            text, numbers = comments(text)
        problems += findings(name, text, rules, numbers)
    print("\n".join(problems + [f"{len(documents)} documents, {len(sources)} sources, {len(waits)} of them waiting, "
                               f"{len(rules)} rules, {len(problems)} problems"]))
    return 1 if problems or len(documents) < 10 or len(sources) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
