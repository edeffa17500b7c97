"""First on PYTHONPATH in processes that a script under assay.compat starts: the stand-ins are there, too. A sitecustomize of
the machine's own is run behind it."""

import importlib.util
import os
import sys


def _run_the_other():
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in sys.path:
        file = os.path.join(folder, "sitecustomize.py")
        if os.path.abspath(folder or ".") != here and os.path.isfile(file):
            spec = importlib.util.spec_from_file_location("sitecustomize", file)
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
            return


try:
    from assay import compat
except ImportError:  # another Python, without assay
    compat = None
if compat is not None:
    compat.install()
_run_the_other()
