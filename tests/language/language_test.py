#!/usr/bin/env python3
"""Documents use the field's words: none of the words and forms in words.txt is in a Markdown file.

usage: language_test.py SOURCE_FOLDER [--all]

Code (fenced blocks, `code`), links' targets and comments are not looked at. waiting.txt lists documents that are not held to the
list yet; --all looks at them, too. Exit status 1 names every place, with the better word.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("docs", "examples", "tests", "extensions", "python")


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


def findings(name, text, rules):
    """A sentence for each place; forms may go over the end of a line."""
    text = prose(text)
    flat = re.sub(r"\n[ *]*", lambda m: " " * len(m[0]), text)       # lines of a paragraph are one
    flat = re.sub(r" {2,}", lambda m: " " + "\0" * (len(m[0]) - 1), flat)
    places = [i for i, c in enumerate(flat) if c != "\0"]
    flat = flat.replace("\0", "")
    for rule in rules:
        for match in rule.finds(flat):
            line = text.count("\n", 0, places[match.start()]) + 1
            yield f"{name}:{line}: '{match[0].strip()}': better {rule.better}"


def self_test(rules):
    """The test can fail: words of the list are found, also over the end of a line, and code is left alone."""
    bad = "Values lie\nin memory, measured in\nturns. `lies`\n\n```text\nbeside\n```\n"
    found = list(findings("sample", bad, rules))
    lines = sorted(line.split(":")[1] for line in found)
    return [] if lines == ["1", "2", "3"] and not any("beside" in line for line in found) else [f"language_test.py does not find what it should: {found}"]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    rules, waiting = read_rules(HERE / "words.txt"), read_waiting(HERE / "waiting.txt")
    documents = sorted(root.glob("*.md")) + [p for folder in FOLDERS for p in sorted((root / folder).rglob("*.md"))]
    names = {p.relative_to(root).as_posix(): p for p in documents}
    problems = self_test(rules) + [f"waiting.txt names {name}, which is not there" for name in waiting if name not in names]
    for name, path in names.items():
        if "--all" in sys.argv[2:] or name not in waiting:
            problems += findings(name, path.read_text(encoding="utf-8"), rules)
    print("\n".join(problems + [f"{len(names)} documents, {len(waiting)} of them waiting, {len(rules)} rules, {len(problems)} problems"]))
    return 1 if problems or len(names) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
