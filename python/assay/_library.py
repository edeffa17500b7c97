"""The native module, made ready: its errors are ours, and its log goes to ``logging``."""

from __future__ import annotations

import logging
import os
import sys

from . import _errors, _words

try:
    from . import _native
except ImportError as e:
    if "libgomp" not in str(e):
        raise
    raise ImportError(
        "assay needs the OpenMP library libgomp.so.1, which this machine does not have. "
        "Install it: apt install libgomp1, or dnf install libgomp."
    ) from e

logger: logging.Logger = logging.getLogger("assay")
"""What the library has to say. Nothing of it is printed unless a handler does; its level decides what is made."""
logger.addHandler(logging.NullHandler())

_LEVELS = {22: logging.INFO, 28: logging.INFO}


def _emit(severity: int, text: str) -> None:
    level = _LEVELS.get(severity, severity)
    level = max(1, min(level, logging.CRITICAL))
    if logger.isEnabledFor(level):
        logger.log(level, "%s", text)


def follow_level() -> None:
    """Has the library make the messages that the logger lets through, and no others."""
    global _threshold
    level = logger.getEffectiveLevel()
    if level != _threshold:
        _threshold = level
        _native.set_log_receiver(_emit, level)


def _prefer_own_onnxruntime() -> None:
    """Python's own ONNX Runtime, if it has one, is the one that the backend loads. It is not imported for that."""
    for folder in sys.path:
        if os.path.isabs(folder) and os.path.isdir(library := os.path.join(folder, "onnxruntime", "capi")):
            return _native.prefer_onnxruntime(library)


_threshold = -1
_prefer_own_onnxruntime()
_native.set_error_maker(_errors._remake)
_native.set_words(_words.WORDS)
follow_level()

native = _native
