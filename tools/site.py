#!/usr/bin/env python3
"""Makes the site from the documents: `make site` calls it.

usage: site.py ASSAY FOLDER [--no-gallery]

ASSAY is the program, FOLDER (build/site) gets source/ (the documents as they stand in the checkout, so that their links hold, and a
gallery of pictures that ASSAY and a headless Chromium make) and html/. mkdocs.yml at the root says the rest; links that lead nowhere,
and pages that the navigation leaves out, end it with an error. MkDocs is that of the Python that runs this.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE")
FOLDERS = ("docs", "examples")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")

# A title, what is drawn, and the commands that make page.html.
PICTURES = [
    ("A graph", "graph", ["template model mnist-cnn -o model.onnx", "inspect model model.onnx --save-visual page.html"]),
    ("A larger graph", "large", ["template model resnet-18 -o model.onnx", "inspect model model.onnx --save-visual page.html"]),
    ("A plan", "plan", ["template model mnist-cnn -o model.onnx", "convert model.onnx -o model.plan --builder-optimization-level 0",
                        "inspect model model.plan --save-visual page.html"]),
]


def linked_files(page):
    """Files of the checkout that a page links to."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        path = (page.parent / target).resolve()
        if path.is_file() and path.is_relative_to(ROOT):
            yield path


def stage(source):
    """The documents, and what they link to, at the places that they have in the checkout."""
    shutil.rmtree(source, ignore_errors=True)
    pages = [ROOT / name for name in PAGES]
    pages += [p for folder in FOLDERS for p in (ROOT / folder).rglob("*.md")]
    wanted = set(pages)
    for page in pages:
        if page.suffix == ".md":
            wanted.update(linked_files(page))
    wanted.update((ROOT / "docs").rglob("*.svg"))
    for path in sorted(wanted):
        target = source / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def browser():
    return next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


def screenshot(page, picture):
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run([browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                        "--window-size=1200,800", "--virtual-time-budget=10000", f"--screenshot={picture}", page.as_uri()],
                       check=True, capture_output=True, timeout=180)
    if not picture.exists() or picture.stat().st_size < 5000:
        raise SystemExit(f"no picture was made of {page}")


def make_gallery(assay, source):
    """docs/gallery.md; without a browser it says so."""
    folder = source / "docs/gallery"
    folder.mkdir()
    text = "# Gallery\n\nPictures that the commands next to them make, drawn anew whenever this site is made.\n"
    for title, name, commands in PICTURES if browser() and assay else []:
        with tempfile.TemporaryDirectory() as work:
            for command in commands:
                subprocess.run([assay, *command.split()], cwd=work, check=True, capture_output=True)
            screenshot(pathlib.Path(work, "page.html"), folder / f"{name}.png")
        typed = "".join(f"assay {command}\n" for command in commands)
        text += f"\n## {title}\n\n```sh\n{typed}```\n\n![{title}](gallery/{name}.png)\n"
    if not browser() or not assay:
        text += "\nThis site was made without pictures: there was no Chromium.\n"
    (source / "docs/gallery.md").write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--no-gallery", action="store_true")
    options = parser.parse_args()
    folder = options.folder.resolve()
    stage(folder / "source")
    make_gallery(None if options.no_gallery else options.assay.resolve(), folder / "source")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").replace("build/site/", f"{folder}/")
    (folder / "mkdocs.yml").write_text(config, encoding="utf-8")
    # Of what --quiet does not show --strict knows nothing.
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", folder / "mkdocs.yml"],
                          check=False, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if done.returncode:
        print("".join(line for line in done.stderr.splitlines(keepends=True) if not line.startswith("INFO")), file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
