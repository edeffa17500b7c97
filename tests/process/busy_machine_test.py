#!/usr/bin/env python3
"""Threads that wait take no processor time that others want, and idle ones none at all; there are as many as --threads says.

    busy_machine_test.py build/assay
"""

import multiprocessing
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time


def burn():
    while True:
        pass


def threads(command):
    """The most threads that were seen while it ran."""
    most = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                most = max(most, len(os.listdir(f"/proc/{process.pid}/task")))
            except OSError:  # it has just ended
                break
            time.sleep(0.002)
    return most


def processor_seconds(command):
    """Of the fastest of three runs."""
    best = float("inf")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main():
    assay = sys.argv[1]
    cpus = len(os.sched_getaffinity(0))
    if cpus == 1:
        print("skipped: one processor has no threads that wait for each other")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        model = str(pathlib.Path(folder, "mobilenet.onnx"))
        subprocess.run([assay, "template", "model", "mobilenet-v2", "-o", model], check=True, stdout=subprocess.DEVNULL)
        command = [assay, "run", model, "--engine", "--iterations", "5"]
        one, four = (threads([*command, "--threads", n]) for n in ("1", "4"))
        print(f"{one} threads in all with --threads 1, {four} with --threads 4")
        if four != one + 3:
            sys.exit("--threads is not heard")
        quiet = processor_seconds(command)
        burners = [multiprocessing.Process(target=burn, daemon=True) for _ in range(2 * cpus)]
        for b in burners:
            b.start()
        try:
            busy = processor_seconds(command)
        finally:
            for b in burners:
                b.terminate()
        print(f"processor seconds: {quiet:.2f} alone, {busy:.2f} beside {len(burners)} processes that compute")
        # Caches that are shared cost something; threads that spin for one that has no processor cost many times as much.
        if busy > 3 * quiet + 0.2:
            sys.exit("threads that wait take the time of others")


if __name__ == "__main__":
    main()
