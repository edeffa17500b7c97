#!/usr/bin/env python3
"""No link of a document leads nowhere: files and headings that Markdown files name are there, pages that sources name, too, and
docs/README.md leads to every page, as the navigation of the site does.

usage: links_test.py SOURCE_FOLDER
"""

import os
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`[^`]*`")
PAGE = re.compile(r"(?<![\w/.+-])docs/[\w/.-]*\.(?:md|svg|csv)\b")
FOLDERS = ("src", "include", "tests", "tools", "cmake", "python", "examples", "extensions", "docs")
SOURCES = (".cpp", ".h", ".def", ".inc", ".fbs", ".py", ".sh", ".cmake", ".txt", ".md", ".js", ".yaml", ".toml")
FOREIGN = {"docs/Syntax.md", "docs/Versioning.md",      # pages of other projects
           "docs/gallery.md"}                           # made by tools/site.py


def documents(root):
    found = list(root.glob("*.md"))
    for folder in FOLDERS:
        found += (root / folder).rglob("*.md")
    return sorted(found)


def prose(text):
    """(line number, text) of the lines outside of fenced blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchor(heading):
    """As GitHub makes it from a heading's text."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    out = set()
    for _, line in prose(text):
        heading = re.match(r"#{1,6} +(.*)", line)
        if heading:
            name, count = anchor(heading[1]), 1
            while name in out:
                name, count = f"{anchor(heading[1])}-{count}", count + 1
            out.add(name)
    return out


def broken_links(root, document):
    for number, line in prose(document.read_text(encoding="utf-8")):
        for target in LINK.findall(CODE.sub("", line)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, heading = target.partition("#")
            place = pathlib.Path(os.path.normpath(document.parent / path)) if path else document
            if not place.exists():
                yield f"{document.relative_to(root)}:{number}: {target} leads nowhere"
            elif heading and place.suffix == ".md" and heading not in anchors(place.read_text(encoding="utf-8")):
                yield f"{document.relative_to(root)}:{number}: {target}: there is no such heading"


def broken_mentions(root):
    """Pages that sources and documents name by their path from the root."""
    files = [p for folder in FOLDERS for p in (root / folder).rglob("*") if p.suffix in SOURCES and p.is_file()]
    for file in files + [p for p in root.iterdir() if p.suffix in SOURCES and p.is_file()]:
        if file.samefile(__file__):
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            for page in PAGE.findall(line):
                if page not in FOREIGN and not (root / page).exists():
                    yield f"{file.relative_to(root)}:{number}: {page} is not there"


def unlisted(root):
    """Pages to which the index does not lead, at most by way of another index."""
    reached = set()
    indexes = [root / "docs/README.md"]
    while indexes:
        index = indexes.pop()
        for _, line in prose(index.read_text(encoding="utf-8")):
            for target in LINK.findall(line):
                place = pathlib.Path(os.path.normpath(index.parent / target.partition("#")[0]))
                if place.name == "README.md" and place not in reached and root / "docs" in place.parents:
                    indexes.append(place)
                reached.add(place)
    for page in sorted((root / "docs").rglob("*.md")):
        if page not in reached and page != root / "docs/README.md":
            yield f"docs/README.md does not lead to {page.relative_to(root)}"
    navigation = (root / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    for page in sorted((root / "docs").rglob("*.md")):
        if not re.search(rf"[ :]{re.escape(str(page.relative_to(root)))}\n", navigation):
            yield f"mkdocs.yml does not lead to {page.relative_to(root)}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    found = documents(root)
    problems = [problem for document in found for problem in broken_links(root, document)]
    problems += broken_mentions(root)
    problems += unlisted(root)
    print("\n".join(problems + [f"{len(found)} documents, {len(problems)} problems"]))
    return 1 if problems or len(found) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
