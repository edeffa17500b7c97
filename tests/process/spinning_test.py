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


def spin_counts(assay, folder, expected, **settings):
    """What the environment of a running command says. Where nothing is expected, once it has done nothing for a while."""
    environment = {k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")} | settings
    fifo = pathlib.Path(folder, "log")
    if not fifo.exists():
        os.mkfifo(fifo)
    # The command waits until somebody reads its log.
    command = [assay, "template", "model", "mlp", "-o", str(pathlib.Path(folder, "mlp.onnx")), "--log-file", str(fifo)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline, quiet = time.monotonic() + 30, 0
    while time.monotonic() < deadline and (expected or quiet < 20):
        pairs = pathlib.Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
        found = [p.split(b"=", 1)[1].decode() for p in pairs if p.startswith(b"GOMP_SPINCOUNT=")]
        if found:
            break
        state = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        quiet = quiet + 1 if state == "S" else 0
        time.sleep(0.01)
    with open(fifo) as log:
        log.read()
    _, errors = process.communicate(timeout=30)
    if process.returncode != 0:
        sys.exit(f"{command} ended with {process.returncode}: {errors.decode()}")
    return found


def main():
    assay = sys.argv[1]
    if len(os.sched_getaffinity(0)) == 1:
        return
    with tempfile.TemporaryDirectory() as folder:
        for settings, expected in (({}, [["1000"], ["20000"]]), ({"GOMP_SPINCOUNT": "5"}, [["5"]]), ({"OMP_WAIT_POLICY": "active"}, [[]])):
            found = spin_counts(assay, folder, expected != [[]], **settings)
            if found not in expected:
                sys.exit(f"with {settings}, GOMP_SPINCOUNT is {found}, not one of {expected}")


if __name__ == "__main__":
    main()
