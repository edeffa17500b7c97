#!/usr/bin/env python3
"""The site can be made from the documents: no link leads nowhere, every page is in the navigation, and a reader needs no other host.

usage: site_test.py ASSAY FOLDER

FOLDER/env is the environment of `make site`; without MkDocs there the test is skipped.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADS = re.compile(r"<(?:script|img|iframe)[^>]*\ssrc=\"(https?:[^\"]+)\"|<link[^>]*rel=\"?(?:stylesheet|preload|icon)[^>]*href=\"(https?:[^\"]+)\"")


def build(python, assay, folder, *options):
    return subprocess.run([python, ROOT / "tools/site.py", assay, folder, *options], capture_output=True, text=True, check=False)


def main():
    assay, folder = map(pathlib.Path, sys.argv[1:])
    python = folder / "env/bin/python"
    if not python.exists() or subprocess.run([python, "-c", "import material, mkdocs"], capture_output=True, check=False).returncode:
        print("skipped: MkDocs is not in build/site/env; `make site` installs it")
        return 77
    problems = []
    with tempfile.TemporaryDirectory() as work:
        done = build(python, assay, work)
        if done.returncode:
            print(done.stdout[-3000:], done.stderr[-3000:])
            return 1
        pages = sorted(pathlib.Path(work, "html").rglob("*.html"))
        sources = [p for p in pathlib.Path(work, "source").rglob("*.md")]
        if len(pages) < len(sources):
            problems.append(f"{len(sources)} documents, but {len(pages)} pages")
        for page in pages:
            for found in LOADS.findall(page.read_text(encoding="utf-8")):
                problems.append(f"{page.name} loads {''.join(found)}")
        # A link that leads nowhere is found.
        config = ROOT / "mkdocs.yml"
        broken = pathlib.Path(work, "source/docs/tutorials/ci.md")
        broken.write_text(broken.read_text(encoding="utf-8") + "\n[nothing](nowhere.md)\n", encoding="utf-8")
        text = config.read_text(encoding="utf-8").replace("build/site/", f"{work}/")
        pathlib.Path(work, "mkdocs.yml").write_text(text, encoding="utf-8")
        done = subprocess.run([python, "-m", "mkdocs", "build", "--strict", "--config-file", f"{work}/mkdocs.yml"],
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            problems.append("a link that leads nowhere was not found")
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
