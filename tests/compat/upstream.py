"""The real polygraphy, called many times: most of what a call takes are imports, so they are made once, in the process that is
forked for each call.
"""

import os
import subprocess
import sys
import tempfile
import traceback

import onnx  # noqa: F401
import onnx_graphsurgeon  # noqa: F401
import polygraphy.tools
from polygraphy.logger import G_LOGGER

NAME = "polygraphy"


def run(words):
    """`polygraphy WORDS` as subprocess.run(capture_output=True, text=True) would return it."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            os._exit(call(words, out.fileno(), err.fileno()))
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess([NAME, *words], status, out.read(), err.read())


def call(words, out, err):
    """In the process for it."""
    os.dup2(out, 1)
    os.dup2(err, 2)
    sys.argv = [NAME, *words]
    G_LOGGER.module_severity = G_LOGGER.INFO
    try:
        status = polygraphy.tools.main()
    except SystemExit as e:
        status = e.code
    except BaseException:  # what ends a process of its own with a traceback
        traceback.print_exc()
        status = 1
    if isinstance(status, str):
        print(status, file=sys.stderr)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return int(status or 0)
