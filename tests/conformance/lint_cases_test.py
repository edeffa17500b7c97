#!/usr/bin/env python3
"""`check lint` makes no errors of valid models: those of ONNX's node tests, and of awkward_models.py.

    lint_cases_test.py ASSAY CASES [PREFIX]

The cases are made in CASES.

A model that onnx.checker accepts with its full check, and that `check lint` says is wrong, is a failure, unless it is one of ALLOWED.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "compat")]
import generate  # noqa: E402  exits with 77 when there is no onnx package

import onnx  # noqa: E402
import onnx.checker  # noqa: E402

import awkward_models  # noqa: E402

# Rules that only name what some runtimes want, with the reason.
ALLOWED = {}


def is_valid(path):
    try:
        onnx.checker.check_model(str(path), full_check=True)
        return True
    except Exception:  # noqa: BLE001  its exceptions have no common base
        return False


def main():
    assay, cases, prefix = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), "".join(sys.argv[3:4])
    generate.make_cases(cases)
    failed, count = 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        paths = [p for p in sorted(cases.glob("*/*/model.onnx")) if p.parent.name.startswith(prefix)]
        paths += awkward_models.write(scratch)

        def errors_of(path):
            if not path.is_file() or not is_valid(path):
                return None
            out = scratch / f"{path.parent.name}-{path.stem}.json"
            done = subprocess.run([assay, "check", "lint", path, "-o", out], capture_output=True, text=True,
                                  env={**os.environ, "ASSAY_ONNXRUNTIME": "/nonexistent"})
            if done.returncode == 0:
                return []
            entries = json.loads(out.read_text())["lint_entries"] if out.is_file() else [{"message": done.stderr[-300:], "level": "exception"}]
            return [e for e in entries if e["level"] == "exception"]

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for path, errors in zip(paths, pool.map(errors_of, paths)):
                if errors is None:
                    continue
                count += 1
                name = path.parent.name if path.name == "model.onnx" else path.stem
                if errors and name not in ALLOWED:
                    failed += 1
                    print(f"FAILED  {name}: {errors[0]}", flush=True)
    print(f"{count - failed} of {count} valid models pass")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
