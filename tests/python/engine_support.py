"""What tests of engines share."""

import os
import subprocess
import sys

import numpy as np

import assay

X = np.arange(6, dtype=np.float32).reshape(2, 3)
HERE = os.path.dirname(os.path.abspath(__file__))


def built(data, **settings):
    return assay.build(data, optimization_level=0, **settings)


def run_python(code, **options):
    """In a process of its own, with these tests and this package."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE, timeout=120, **options)
