#!/usr/bin/env python3
"""Renders the tables of measurements (docs/measurements): NAME.csv becomes NAME.md, and README.md there lists them all.

usage: measurement_pages.py FOLDER [--write]
       measurement_pages.py FOLDER --import NAME      takes the rows of NAME.csv from a Markdown table on standard input, as the
                                                      programs in tests/bench print it; its facts stay and have to be revised

Without --write the pages are compared with what would be written; exit status 1 names every page that differs. A CSV file begins
with lines `# key: value`, then a row of column names and the rows:

    # title: TEXT        what the table shows
    # machine: TEXT      where it was measured
    # recorded: TEXT     the day on which the figures entered the repository
    # command: TEXT      what measures it again (optional)
    # note: TEXT         what one has to know to read it (optional, any number)
"""

import csv
import pathlib
import re
import sys

KEYS = ("title", "machine", "recorded", "command", "note")
REQUIRED = ("title", "machine", "recorded")
GENERATED = "<!-- Written by tools/measurement_pages.py; edit the CSV file instead. -->"
NUMBER = re.compile(r"[-+]?[\d.,]+ ?(%|x)?")

INDEX = """# Measurements

Each table is a CSV file and a page that is made from it. *Recorded* is the day on which the figures entered the repository; figures
of one day and machine can be compared with each other, those of different ones hardly. What these figures mean is explained in
[the guide to benchmarking](../guide/benchmarking.md) and in [the engine](../internals/engine.md); why they changed in the
[changelog](../../CHANGELOG.md).
"""


class Table:
    def __init__(self, path):
        self.path, self.facts, self.notes = path, {}, []
        lines = path.read_text(encoding="utf-8").splitlines()
        body = [line for line in lines if not line.startswith("#")]
        for number, line in enumerate(lines, 1):
            if not line.startswith("#"):
                continue
            found = re.fullmatch(r"# ([a-z]+): (.+)", line)
            if not found or found[1] not in KEYS:
                raise SystemExit(f"{path}:{number}: not a line `# key: value` with one of the keys {', '.join(KEYS)}")
            if found[1] == "note":
                self.notes.append(found[2])
            elif self.facts.setdefault(found[1], found[2]) != found[2]:
                raise SystemExit(f"{path}:{number}: '{found[1]}' is given twice")
        for key in REQUIRED:
            if key not in self.facts:
                raise SystemExit(f"{path}: '# {key}:' is missing")
        self.header, *self.rows = csv.reader(body)
        for row in self.rows:
            if len(row) != len(self.header):
                raise SystemExit(f"{path}: a row of {len(row)} columns instead of {len(self.header)}: {','.join(row)}")

    def is_numeric(self, column):
        cells = [row[column] for row in self.rows if row[column]]
        return bool(cells) and all(NUMBER.fullmatch(cell) for cell in cells)

    def page(self):
        out = [GENERATED, "", f"# {self.facts['title']}", "", f"* Machine: {self.facts['machine']}.", f"* Recorded: {self.facts['recorded']}."]
        if "command" in self.facts:
            out.append(f"* Command: `{self.facts['command']}`")
        out += [f"* {note}" for note in self.notes]
        aligned = ["---:" if self.is_numeric(i) else "---" for i in range(len(self.header))]
        out += ["", line(self.header), "|" + "|".join(aligned) + "|"]
        out += [line(row) for row in self.rows]
        return "\n".join(out) + f"\n\nAs [CSV]({self.path.name}). [All measurements](README.md).\n"


def line(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def markdown_table(text):
    """Header and rows of the first table of a Markdown text."""
    rows = []
    for row in text.splitlines():
        if row.startswith("|"):
            rows.append([cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip())[1:-1]])
        elif rows:
            break
    if len(rows) < 3 or not all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]):
        raise SystemExit("there is no Markdown table on standard input")
    return [rows[0], *rows[2:]]


def import_table(path, text):
    facts = [row for row in path.read_text(encoding="utf-8").splitlines() if row.startswith("#")] if path.exists() else []
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("".join(row + "\n" for row in facts or [f"# {key}: ?" for key in REQUIRED]))
        csv.writer(file, lineterminator="\n").writerows(markdown_table(text))


def pages(folder):
    """{path: text} of all that is generated."""
    tables = [Table(path) for path in sorted(folder.glob("*.csv"))]
    out = {table.path.with_suffix(".md"): table.page() for table in tables}
    index = [GENERATED, "", INDEX, "| table | machine | recorded |", "|---|---|---|"]
    index += [line([f"[{t.facts['title']}]({t.path.stem}.md)", t.facts["machine"], t.facts["recorded"]]) for t in tables]
    pictures = sorted(folder.glob("*.svg"))
    if pictures:
        index += ["", "Pictures: " + ", ".join(f"[{p.stem.replace('-', ' ')}]({p.name})" for p in pictures) + "."]
    out[folder / "README.md"] = "\n".join(index) + "\n"
    return out


def table(page):
    return Table(page.with_suffix(".csv"))


def main():
    folder = pathlib.Path(sys.argv[1])
    if "--import" in sys.argv[2:]:
        import_table(folder / f"{sys.argv[3]}.csv", sys.stdin.read())
        return 0
    wanted = pages(folder)
    problems = [f"{path} has no CSV file" for path in sorted(folder.glob("*.md")) if path not in wanted]
    for path, text in wanted.items():
        if "--write" in sys.argv[2:]:
            path.write_text(text, encoding="utf-8")
        elif path.name != "README.md" and markdown_table(text) != [table(path).header, *table(path).rows]:
            problems.append(f"{path}: its table is not that of its CSV file when it is read again")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            problems.append(f"{path} is not what tools/measurement_pages.py {sys.argv[1]} --write makes")
    print("\n".join(problems + [f"{len(wanted)} pages, {len(problems)} problems"]))
    return 1 if problems or len(wanted) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
