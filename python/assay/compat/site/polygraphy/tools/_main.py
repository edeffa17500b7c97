"""main(): the tools of the command line."""

import subprocess
import sys


def main(run_opts=None):
    """Runs the program with these arguments, or with those of this process; gives its exit code."""
    from assay._program import program

    return subprocess.call(["polygraphy", *(sys.argv[1:] if run_opts is None else run_opts)], executable=program())
