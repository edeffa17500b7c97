#!/usr/bin/env python3
"""Results of synthetic workers, merged in one step and in a tree: simulation_test.py SIMULATE"""

import subprocess
import sys
import tempfile

for workers, seconds in (1, 1), (1000, 1), (37, 2):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.argv[1], folder, str(workers), str(seconds), "10000"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        print(done.stdout)
        if done.returncode != 0:
            sys.exit(f"{workers} workers: exit status {done.returncode}")
