"""What a source package holds, and whether it can be built.

    sdist_test.py SOURCE            the files: those that git has, without the documents
    sdist_test.py SOURCE --build    pip builds and installs it in a fresh environment, as a user does, with what tools/setup.sh installs;
                                    the build's own packages are asked of pip's index

The environment's CC and CXX count, and TMPDIR, where it is built."""

import glob
import os
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# The documents are to be read where they are shown.
LEFT_OUT = ("docs/",)
ADDED = {"PKG-INFO"}


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-6000:]}")
    return done.stdout


def make(source, folder):
    run([sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, source])
    [package] = glob.glob(os.path.join(folder, "*.tar.gz"))
    return package


def tracked(source):
    """Files that git has, or would take; a link to a folder is what lies there."""
    files = set()
    listed = run(["git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
    for name in filter(None, listed.split("\0")):
        path = os.path.join(source, name)
        if os.path.islink(path) and os.path.isdir(path):
            target = os.path.relpath(os.path.realpath(path), source)
            files.update(name + other[len(target):] for other in listed.split("\0") if other.startswith(target + "/"))
        elif os.path.exists(path):
            files.add(name)
    return files


def check_files(source, package):
    with tarfile.open(package) as tar:
        members = tar.getmembers()
    top = os.path.basename(package)[: -len(".tar.gz")] + "/"
    assert all(m.name.startswith(top) for m in members), "files lie beside the package's folder"
    strange = [m.name for m in members if not m.isfile()]
    assert not strange, f"these are no files: {strange}"
    held = {m.name[len(top):] for m in members}
    wanted = {name for name in tracked(source) if not name.startswith(LEFT_OUT)} | ADDED
    assert held == wanted, f"the package lacks {sorted(wanted - held)[:20]} and has {sorted(held - wanted)[:20]} besides"
    print(f"{os.path.basename(package)}: {len(held)} files, {os.path.getsize(package) / 1e6:.1f} MB")


def check_build(package, folder):
    environment = os.path.join(folder, "environment")
    run([sys.executable, "-m", "venv", environment])
    python = os.path.join(environment, "bin", "python")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package, "numpy"], env=clean)
    print(run([os.path.join(environment, "bin", "assay"), "--version"], cwd=folder, env=clean).strip())
    for name in ("test_models", "test_engines"):
        run([python, os.path.join(HERE, name + ".py")], cwd=folder, env=clean, timeout=1800)


def main():
    if sys.argv[1] == "--skip":
        print("skipped:", sys.argv[2])
        return 77
    source = os.path.abspath(sys.argv[1])
    if not os.path.exists(os.path.join(source, ".git")):
        print("skipped: the sources are not of git, which would say what belongs to them")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        package = make(source, folder)
        check_files(source, package)
        if "--build" in sys.argv:
            check_build(package, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
