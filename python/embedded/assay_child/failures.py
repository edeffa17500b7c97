"""From an exception to the answer that says what went wrong and where."""

import os
import traceback

from .install import install_command


class ScriptError(Exception):
    """What a script did against the rules, in a sentence without a full stop. `place`: (file, line, function)."""

    def __init__(self, message, remedy="", place=None):
        super().__init__(message)
        self.message, self.remedy, self.place = message, remedy, place


def describe(error, script):
    """The answer for an exception; `script` is the path of the user's file, whose innermost line is named."""
    if isinstance(error, ScriptError):
        return _answer(error.message, error.place, error.remedy, "")
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    if isinstance(error, SyntaxError) and error.filename:
        return _answer(f"{type(error).__name__}: {error.msg}", (error.filename, error.lineno or 0, ""), "", text)
    place = _innermost(error, script)
    if isinstance(error, SystemExit):
        return _answer(f"the script ended the process by sys.exit({error.code!r})", place,
                       "Let it return, or raise an exception.", text)
    return _answer(_one_line(error), place, _remedy(error), text)


def _answer(message, place, remedy, text):
    file, line, function = place or ("", 0, "")
    return {"error": message, "file": file, "line": line, "function": function, "remedy": remedy, "traceback": text}


def _one_line(error):
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _innermost(error, script):
    """Where the script was: its own last line on the way to what raised. Without one, the innermost line of all that is
    not ours."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if script and f.filename == script]
    other = [f for f in frames if f"{os.sep}assay_child{os.sep}" not in f.filename]
    for list_ in (own, other):
        if list_:
            return (list_[-1].filename, list_[-1].lineno, list_[-1].name)
    return None


def _remedy(error):
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.split(".")[0]
        return f"Install what it imports ({install_command(package)}), or name another interpreter in ASSAY_PYTHON."
    return ""
