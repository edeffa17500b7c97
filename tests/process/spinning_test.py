#!/usr/bin/env python3
"""A command bounds how long OpenMP's threads spin, unless the environment already says something about it.

    spinning_test.py build/assay
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time


def spin_counts(assay, folder, **settings):
    """What the environment of a running command said last before it ended: the command puts its settings there and
    begins anew, so the first looks may come too early."""
    environment = {k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")} | settings
    command = [assay, "template", "model", "resnet-50", "-o", str(pathlib.Path(folder, "model.onnx"))]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    found = None
    while process.poll() is None:
        try:
            pairs = pathlib.Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
        except ProcessLookupError:
            break  # It ended between the two looks.
        if len(pairs) > 1:
            found = [p.split(b"=", 1)[1].decode() for p in pairs if p.startswith(b"GOMP_SPINCOUNT=")]
        time.sleep(0.005)
    _, errors = process.communicate()
    if process.returncode != 0 or found is None:
        sys.exit(f"{command} ended with {process.returncode}: {errors.decode()}")
    return found


def main():
    assay = sys.argv[1]
    if len(os.sched_getaffinity(0)) == 1:
        return
    with tempfile.TemporaryDirectory() as folder:
        for settings, expected in (({}, [["1000"], ["20000"]]), ({"GOMP_SPINCOUNT": "5"}, [["5"]]), ({"OMP_WAIT_POLICY": "active"}, [[]])):
            found = spin_counts(assay, folder, **settings)
            if found not in expected:
                sys.exit(f"with {settings}, GOMP_SPINCOUNT is {found}, not one of {expected}")


if __name__ == "__main__":
    main()
