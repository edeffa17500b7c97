"""What this package raises."""

from __future__ import annotations

__all__ = [
    "Cancelled",
    "Error",
    "FileError",
    "InternalError",
    "InvalidArgument",
    "InvalidModel",
    "NotFound",
    "ResourceError",
    "Unsupported",
]


class Error(Exception):
    """A failure, told in one sentence: what is wrong, where, and what to do about it.

    ``str(error)`` is all of that. The parts:
    """

    code: str
    """``invalid_argument``, ``invalid_model``, ``unsupported``, ``not_found``, ``io``, ``resource``, ``internal`` or
    ``cancelled``."""
    rule: str
    """The sentence alone: the rule that is broken, with the numbers that break it."""
    context: tuple[str, ...]
    """The places it passed through, innermost first, such as ``at node 'conv1' (Conv)``, ``in model.onnx``."""
    remedy: str
    """What to do about it; empty where nothing is known."""
    remedy_key: str
    """A stable name of the remedy where it is a setting, such as ``external-data-dir``; otherwise empty."""
    file: str | None
    """The file that it is about, or None."""
    node: str | None
    """The name of the innermost node it happened at, or None."""
    tensor: str | None
    """The name of the innermost tensor (input, initializer) it is about, or None."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "invalid_argument",
        rule: str | None = None,
        context: tuple[str, ...] = (),
        remedy: str = "",
        remedy_key: str = "",
        subject: tuple[str, str, str] = ("", "", ""),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.rule = message if rule is None else rule
        self.context = context
        self.remedy = remedy
        self.remedy_key = remedy_key
        file, self.node, self.tensor = (name or None for name in subject)
        self.file = None if file and file.startswith("a model in memory") else file

    def __reduce__(self) -> tuple[object, ...]:
        subject = (self.file or "", self.node or "", self.tensor or "")
        return (_remake, (self.code, self.rule, list(self.context), self.remedy, str(self), self.remedy_key, subject))


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


class ResourceError(Error, MemoryError):
    """Memory that the budget or the machine does not have."""


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
    "resource": ResourceError,
    "internal": InternalError,
    "cancelled": Cancelled,
}


def _remake(
    code: str,
    rule: str,
    context: list[str],
    remedy: str,
    text: str,
    remedy_key: str = "",
    subject: tuple[str, str, str] = ("", "", ""),
) -> Error:
    return _BY_CODE[code](
        text, code=code, rule=rule, context=tuple(context), remedy=remedy, remedy_key=remedy_key, subject=subject
    )
