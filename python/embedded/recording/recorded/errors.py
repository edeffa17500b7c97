"""The errors of a recording, and the place in the user's script that they are about."""

import os
import sys

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class RecordingError(Exception):
    """Something that a script asks for and that the network or the configuration cannot hold. The text says the
    rule and the remedy."""


class NotServedError(RecordingError, AttributeError):
    """A name that TensorRT or Polygraphy has and that is not served here."""


def _is_ours(path):
    return path.startswith(_HERE + os.sep) or path.startswith("<frozen")


def calling_place():
    """(file, line) of the innermost frame outside of these packages; None where there is none."""
    frame = sys._getframe(1)
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None


def place_text(place):
    return f"{place[0]}:{place[1]}: " if place else ""


def script_place(error, path):
    """(line, function) of the innermost frame of `path` in an error's traceback; (None, None) where it has none."""
    line, function = None, None
    path = os.path.abspath(path)
    if isinstance(error, SyntaxError) and error.filename and os.path.abspath(error.filename) == path:
        line = error.lineno
    frame = error.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        if os.path.abspath(code.co_filename) == path:
            line, function = frame.tb_lineno, code.co_name
        frame = frame.tb_next
    return line, function
