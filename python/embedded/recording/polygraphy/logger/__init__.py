"""G_LOGGER, which writes to standard error."""

import contextlib
import enum
import sys

from polygraphy.exception import PolygraphyException


class LogMode(enum.IntEnum):
    """Whether a message is said each time."""
    EACH = 0
    ONCE = 1


class Logger:
    """Says messages of its severity and above; critical() throws, too."""
    ULTRA_VERBOSE, SUPER_VERBOSE, EXTRA_VERBOSE, VERBOSE, INFO, START, FINISH, WARNING, ERROR, CRITICAL = (
        -20, -10, 0, 10, 20, 22, 28, 30, 40, 50)
    _LETTERS = {INFO: "I", START: "I", FINISH: "I", WARNING: "W", ERROR: "E", CRITICAL: "!"}

    def __init__(self, severity=INFO):
        self.module_severity, self._indent, self._said = severity, 0, set()
        self.colors = self.timestamp = self.line_info = False

    def log(self, message, severity, mode=LogMode.EACH, **_):
        level = self.module_severity.get("", self.INFO) if isinstance(self.module_severity, dict) else self.module_severity
        if severity < level:
            return
        text = message() if callable(message) else str(message)
        if mode == LogMode.ONCE and text in self._said:
            return
        self._said.add(text)
        lines = "\n".join("    " * self._indent + line for line in text.splitlines())
        print(f"[{self._LETTERS.get(severity, 'V')}] {lines}", file=sys.stderr)

    def critical(self, message, ExceptionType=PolygraphyException, **_):
        """Throws the message."""
        raise ExceptionType(message() if callable(message) else str(message))

    internal_error = critical

    @contextlib.contextmanager
    def indent(self, level=1):
        self._indent += level
        try:
            yield
        finally:
            self._indent -= level

    @contextlib.contextmanager
    def verbosity(self, severity=CRITICAL):
        before, self.module_severity = self.module_severity, severity
        try:
            yield
        finally:
            self.module_severity = before


def _add(name):
    def say(self, message, mode=LogMode.EACH, **_):
        self.log(message, getattr(Logger, name), mode)

    setattr(Logger, name.lower(), say)


for _name in ("ULTRA_VERBOSE", "SUPER_VERBOSE", "EXTRA_VERBOSE", "VERBOSE", "INFO", "START", "FINISH", "WARNING", "ERROR"):
    _add(_name)

G_LOGGER = Logger()
