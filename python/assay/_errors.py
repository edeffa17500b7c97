"""What this package raises."""

from __future__ import annotations

import re

__all__ = [
    "Cancelled",
    "Error",
    "FileError",
    "InternalError",
    "InvalidArgument",
    "InvalidModel",
    "NotFound",
    "Unsupported",
]


class Error(Exception):
    """A failure, told in one sentence: what is wrong, where, and what to do about it.

    ``str(error)`` is all of that. The parts:
    """

    code: str
    """``invalid_argument``, ``invalid_model``, ``unsupported``, ``not_found``, ``io``, ``internal`` or
    ``cancelled``."""
    rule: str
    """The sentence alone: the rule that is broken, with the numbers that break it."""
    context: tuple[str, ...]
    """The places it passed through, innermost first, such as ``at node 'conv1' (Conv)``, ``in model.onnx``."""
    remedy: str
    """What to do about it; empty where nothing is known."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "invalid_argument",
        rule: str | None = None,
        context: tuple[str, ...] = (),
        remedy: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.rule = message if rule is None else rule
        self.context = context
        self.remedy = remedy

    @property
    def node(self) -> str | None:
        """The name of the innermost node it happened at, or None."""
        for place in self.context:
            found = re.match(r"at node '(.*)' \(", place)
            if found:
                return found[1]
        return None

    @property
    def file(self) -> str | None:
        """The file that it is about, or None."""
        for place in self.context:
            if place.startswith("in ") and not place.startswith("in a model in memory"):
                return place[len("in ") :]
        return None

    def __reduce__(self) -> tuple[object, ...]:
        return (_remake, (self.code, self.rule, list(self.context), self.remedy, str(self)))


class InvalidArgument(Error, ValueError):
    """An argument or an array that cannot be right."""


class InvalidModel(Error, ValueError):
    """A file that breaks ONNX's format or its rules."""


class Unsupported(Error, NotImplementedError):
    """Valid, but not possible here: an unknown operator, a library that is missing."""


class NotFound(Error, LookupError):
    """A file, tensor, node or name that does not exist."""


class FileError(Error, OSError):
    """The operating system refused: an unwritable place, a full disk."""

    def __str__(self) -> str:  # and not OSError's
        return Exception.__str__(self)


class InternalError(Error, RuntimeError):
    """A broken promise of assay's own code."""


class Cancelled(Error):
    """Work that was ended by ``cancel()`` or by a progress function that returned False."""


_BY_CODE: dict[str, type[Error]] = {
    "invalid_argument": InvalidArgument,
    "invalid_model": InvalidModel,
    "unsupported": Unsupported,
    "not_found": NotFound,
    "io": FileError,
    "internal": InternalError,
    "cancelled": Cancelled,
}


def _remake(code: str, rule: str, context: list[str], remedy: str, text: str) -> Error:
    return _BY_CODE[code](text, code=code, rule=rule, context=tuple(context), remedy=remedy)
