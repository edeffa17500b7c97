#!/usr/bin/env python3
"""Makes the page part of the program: page.html with its style and scripts put in, as arrays: what comes before, between and after
the page's data. The page's policy allows these scripts and this style, by their hashes, and nothing else:
no address is ever asked for anything. Usage: embed.py FOLDER OUTPUT"""
import base64
import hashlib
import pathlib
import sys

DATA = "@DATA@"
# In the order in which one needs the other; together they are one script.
SCRIPTS = ("text", "kinds", "dom", "layout", "scopes", "items", "scene", "draw", "svg_pen", "view", "selector", "search", "metrics", "pictures",
           "panels", "report", "timeline", "compare", "export", "app")


def source(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(folder):
    """The pieces of the page around its data."""
    missing = {f.stem for f in folder.glob("*.js")} ^ set(SCRIPTS)
    if missing:
        sys.exit(f"embed.py: SCRIPTS and the files of {folder} differ in {', '.join(sorted(missing))}")
    style = (folder / "page.css").read_text()
    script = "\n".join((folder / f"{name}.js").read_text() for name in SCRIPTS)
    for text in (style, script):
        if "</" in text or "<!--" in text:
            sys.exit("embed.py: a style or script holds `</` or `<!--`, which may end its element")
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {source(style)}; script-src {source(script)}"
    text = (folder / "page.html").read_text()
    for mark, part in {"@POLICY@": policy, "@STYLE@": f"<style>{style}</style>", "@SCRIPTS@": f"<script>{script}</script>"}.items():
        if text.count(mark) != 1:
            sys.exit(f"embed.py: page.html has to have {mark} once")
        text = text.replace(mark, part)
    return text.split(DATA)


def array(name, text):
    data = text.encode()
    lines = [",".join(map(str, data[i:i + 40])) for i in range(0, len(data), 40)]
    return f"constexpr unsigned char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def main():
    folder, output = map(pathlib.Path, sys.argv[1:])
    pieces = page(folder)
    output.parent.mkdir(parents=True, exist_ok=True)
    names = ("kPageHead", "kPageReport", "kPageOther", "kPageTail")
    if len(pieces) != len(names):
        sys.exit(f"embed.py: page.html has to have {DATA} {len(names) - 1} times")
    output.write_text("".join(array(name, piece) for name, piece in zip(names, pieces)))


if __name__ == "__main__":
    main()
