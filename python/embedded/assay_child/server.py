"""Takes requests until the other process is gone."""

import atexit
import faulthandler
import importlib
import os
import signal
import sys
import threading

from . import failures, wire


def serve(requests, answers, crashes):
    _prepare(crashes)
    channel = wire.Channel(requests, answers)
    roles = {}
    try:
        while True:
            try:
                request = channel.receive()
            except (failures.ScriptError, MemoryError) as e:  # an array that this interpreter cannot have
                channel.send(failures.describe(e, ""))
                continue
            if request["operation"] == "end":
                break
            channel.send(_answer(request, roles))
    except wire.Disconnected:
        pass
    _end()


def _end():
    """Python would wait for the script's threads, for ever if they wait for work."""
    if all(t.daemon or t is threading.main_thread() for t in threading.enumerate()):
        return
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _prepare(crashes):
    # Ctrl-C reaches both processes; the other one says what there is to say.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The other process reads where a crash happened.
    faulthandler.enable(file=os.fdopen(crashes, "wb", closefd=False), all_threads=False)
    # Both go to the user's stderr, in the order of writing.
    sys.stdout.reconfigure(line_buffering=True)


def _answer(request, roles):
    """`operation` is ROLE.METHOD: roles/ROLE.py has a class Role, of which there is one object per process."""
    name, method = request["operation"].split(".")
    script = ""
    try:
        if name not in roles:
            roles[name] = importlib.import_module(f"assay_child.roles.{name}").Role()
        role = roles[name]
        try:
            return {"answer": getattr(role, method)(**request["arguments"])}
        finally:
            script = getattr(role, "script_path", "")
    except BaseException as e:  # sys.exit() of a script, too
        return failures.describe(e, script)
