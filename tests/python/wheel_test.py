"""A wheel in fresh environments, away from the checkout.

    wheel_test.py FOLDER_WITH_THE_WHEEL [INTERPRETER ...]

Without interpreters: every CPython from 3.11 on that PATH or pyenv has. The package's dependencies are asked of pip's index. In each
environment: without NumPy, with NumPy alone, then with onnx, ml_dtypes and ONNX Runtime, where README's first lines have to do what they say; and
with PyTorch, where ASSAY_TORCH names an environment that has it, or the system's Python has it (Debian's python3-torch).
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
LARGEST_MB = 30


def version_of(python):
    code = "import sys; print(*sys.version_info[:2], sys.implementation.name)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    major, minor, name = (done.stdout.split() or ["0", "0", ""])[:3]
    return (int(major), int(minor), name)


def interpreters():
    found = {}
    candidates = glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python"))
    candidates += [p for p in (shutil.which(f"python3.{minor}") for minor in range(11, 20)) if p]
    for python in candidates:
        version = version_of(python)
        if version >= (3, 11) and version[2] == "cpython":
            found.setdefault(version, python)
    return [found[v] for v in sorted(found)]


def run(command, folder, **options):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def without_numpy(python, folder):
    code = (
        "import sys, assay\n"
        "try:\n import numpy\nexcept ImportError: pass\nelse: raise SystemExit('there is NumPy')\n"
        "try: assay.zeros((2,))\n"
        "except assay.Unsupported as e: print(e)\n"
    )
    said = run([python, "-c", code], folder)
    assert "pip install numpy" in said, said


def missing_files(wheel):
    """Files of the package that the wheel has not: rules of what is left out match more than is meant."""
    package = os.path.join(HERE, "..", "..", "python", "assay")
    files = set()
    for root, _, names in os.walk(package, followlinks=True):
        if "__pycache__" not in root:
            files.update(os.path.join("assay", os.path.relpath(os.path.join(root, name), package)) for name in names)
    return sorted(files - set(zipfile.ZipFile(wheel).namelist()))


def readme_lines(environment, folder):
    """README's first block, from the environment on, which is there."""
    with open(os.path.join(HERE, "..", "..", "README.md")) as file:
        block = re.search(r"```sh\nmake wheel.*?\n(.*?)```", file.read(), re.S)[1]
    lines = [line for line in block.splitlines() if not line.startswith(("python3 -m venv", "pip install"))]
    assert len(lines) == 2, lines
    said = run(["sh", "-ec", f". {environment}/bin/activate\n" + "\n".join(lines)], folder, timeout=300)
    assert "<Verdict: all right" in said, said


def system_torch():
    """A Python that has PyTorch of the system's; None: there is none."""
    python = "/usr/bin/python3"
    if not os.path.exists(python) or version_of(python) < (3, 11):
        return None
    return python if subprocess.run([python, "-c", "import torch, numpy"], capture_output=True).returncode == 0 else None


def check_torch(wheel, folder):
    """Tensors of PyTorch, in an environment of its own."""
    named, python = os.environ.get("ASSAY_TORCH"), system_torch()
    if not named and not python:
        print("skipped in part: there is no PyTorch; Debian's python3-torch brings it, or ASSAY_TORCH names an environment with it")
        return
    environment = os.path.join(folder, "torch")
    run([os.path.join(named, "bin", "python") if named else python, "-m", "venv", *([] if named else ["--system-site-packages"]), environment], folder)
    ours = os.path.join(environment, "bin", "python")
    if named:
        packages = "import sysconfig; print(sysconfig.get_path('purelib'))"
        with open(os.path.join(run([ours, "-c", packages], folder).strip(), "torch.pth"), "w") as file:
            file.write(run([os.path.join(named, "bin", "python"), "-c", packages], folder))
    run([ours, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], folder)
    run([ours, os.path.join(HERE, "test_torch.py")], folder, timeout=900)
    print(f"PyTorch {run([ours, '-c', 'import torch; print(torch.__version__)'], folder).strip()}: tensors in and out", flush=True)


def check(python, wheel, folder):
    environment = os.path.join(folder, "environment")
    run([python, "-m", "venv", environment], folder)
    ours = os.path.join(environment, "bin", "python")
    program = os.path.join(environment, "bin", "assay")
    run([ours, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], folder)
    without_numpy(ours, folder)
    with open(program, "rb") as file:
        assert file.read(4) == b"\x7fELF", "a script of Python's stands before the program"
    version = re.search(r"-([0-9.]+)-", os.path.basename(wheel))[1]
    for command in ([program], [ours, "-m", "assay"]):
        assert version in run([*command, "--version"], folder), command
    run([ours, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "numpy"], folder)
    for name in ("test_models", "test_engines", "test_threads", "test_comparing", "test_debug", "test_quantize", "test_generate", "test_leaks"):
        run([ours, os.path.join(HERE, name + ".py")], folder, timeout=1800)
    run([ours, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "onnx", "ml_dtypes", "onnxruntime"], folder)
    readme_lines(environment, folder)
    packages = os.path.dirname(os.path.dirname(os.path.dirname(run([ours, "-c", "import assay._program as p; print(p.program())"], folder).strip())))
    run([ours, os.path.join(HERE, "compat", "run.py"), packages], folder, timeout=900)
    run([ours, os.path.join(HERE, "graphsurgeon", "graphsurgeon_test.py"), packages], folder, timeout=900)
    target = os.path.join(folder, "target")
    run([ours, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, wheel], folder)
    assert version in run([os.path.join(target, "bin", "assay"), "--version"], folder)


def main():
    wheels = glob.glob(os.path.join(sys.argv[1], "assay-*manylinux*.whl"))
    if not wheels:
        print(f"skipped: there is no wheel in {sys.argv[1]}; `make wheel` builds one")
        return 77
    size = os.path.getsize(wheels[0]) / 1e6
    print(f"{os.path.basename(wheels[0])}: {size:.1f} MB")
    assert size < LARGEST_MB, f"the wheel has {size:.1f} MB"
    missing = missing_files(wheels[0])
    assert not missing, f"the wheel lacks {missing}"
    with tempfile.TemporaryDirectory() as folder:
        check_torch(os.path.abspath(wheels[0]), folder)
    pythons = sys.argv[2:] or interpreters()
    for python in pythons:
        with tempfile.TemporaryDirectory() as folder:
            check(python, os.path.abspath(wheels[0]), folder)
            print(f"CPython {'.'.join(map(str, version_of(python)[:2]))}: {os.path.basename(wheels[0])} works", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
