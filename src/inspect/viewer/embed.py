#!/usr/bin/env python3
"""Makes the viewer's page part of the program: page.html with its style and scripts put in, as two arrays, what comes before
the model's data and what comes after. The page's policy allows these scripts and this style, by their hashes, and nothing else:
no address is ever asked for anything. Usage: embed.py FOLDER OUTPUT"""
import base64
import hashlib
import pathlib
import sys

DATA = "@DATA@"


def source(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(folder):
    style, *scripts = ((folder / name).read_text() for name in ("page.css", "layout.js", "viewer.js"))
    for text in (style, *scripts):
        if "</" in text or "<!--" in text:
            sys.exit("embed.py: a style or script holds `</` or `<!--`, which may end its element")
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {source(style)}; script-src {' '.join(map(source, scripts))}"
    text = (folder / "page.html").read_text()
    parts = {"@POLICY@": policy, "@STYLE@": f"<style>{style}</style>", "@SCRIPTS@": "\n".join(f"<script>{s}</script>" for s in scripts)}
    head, tail = text.split(DATA)
    for mark, part in parts.items():
        if (head + tail).count(mark) != 1:
            sys.exit(f"embed.py: page.html has to have {mark} once")
        head, tail = head.replace(mark, part), tail.replace(mark, part)
    return head, tail


def array(name, text):
    data = text.encode()
    lines = [",".join(map(str, data[i:i + 40])) for i in range(0, len(data), 40)]
    return f"constexpr unsigned char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def main():
    folder, output = map(pathlib.Path, sys.argv[1:])
    head, tail = page(folder)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(array("kPageHead", head) + array("kPageTail", tail))


if __name__ == "__main__":
    main()
