"""What this package says goes to standard output, one prefixed message at a time."""

from __future__ import annotations

import enum
import inspect
import os
import sys
import time
from types import TracebackType
from typing import Any, Callable, NoReturn, Optional, Type

from onnx_graphsurgeon.util.exception import OnnxGraphSurgeonException


class LogMode(enum.IntEnum):
    """How often one message is shown."""

    EACH = 0  # every time
    ONCE = 1  # the first time in this process


class LoggerIndent:
    """A ``with`` block in which messages are indented further; made by ``Logger.indent()``."""

    def __init__(self, logger: "Logger", indent: int) -> None:
        self.logger = logger
        self.old_indent = logger.logging_indent
        self.indent = indent

    def __enter__(self) -> "LoggerIndent":
        self.logger.logging_indent = self.indent
        return self

    def __exit__(
        self,
        exc_type: Optional[Type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.logger.logging_indent = self.old_indent


class LoggerSuppress:
    """A ``with`` block that hides messages below a severity; made by ``Logger.suppress()``."""

    def __init__(self, logger: "Logger", severity: int) -> None:
        self.logger = logger
        self.old_severity = logger.severity
        self.severity = severity

    def __enter__(self) -> "LoggerSuppress":
        self.logger.severity = self.severity
        return self

    def __exit__(
        self,
        exc_type: Optional[Type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.logger.severity = self.old_severity


_ANSI = {
    "cyan": "\x1b[36m",
    "dark_gray": "\x1b[90m",
    "light_gray": "\x1b[37m",
    "light_green": "\x1b[92m",
    "light_yellow": "\x1b[93m",
    "red_1": "\x1b[91m",
    "light_red": "\x1b[91m",
}
_ANSI_RESET = "\x1b[0m"


class Logger:
    """Prints messages of at least ``severity`` to standard output.

    A message is a string, or a function without arguments that makes one and is called only if it is shown.
    """

    ULTRA_VERBOSE = -10
    VERBOSE = 0
    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40
    CRITICAL = 50

    SEVERITY_LETTER_MAPPING = {
        ULTRA_VERBOSE: "[UV]",
        VERBOSE: "[V]",
        DEBUG: "[D]",
        INFO: "[I]",
        WARNING: "[W]",
        ERROR: "[E]",
        CRITICAL: "[C]",
    }

    SEVERITY_COLOR_MAPPING = {
        ULTRA_VERBOSE: "cyan",
        VERBOSE: "dark_gray",
        DEBUG: "light_gray",
        INFO: "light_green",
        WARNING: "light_yellow",
        ERROR: "red_1",
        CRITICAL: "light_red",
    }

    def __init__(
        self,
        severity: int = INFO,
        colors: bool = True,
        letter: bool = True,
        timestamp: bool = False,
        line_info: bool = False,
    ) -> None:
        """
        severity: messages below it are not shown.
        colors: colour messages by severity where standard output is a terminal.
        letter, timestamp, line_info: what stands before each message.
        """
        self._severity = severity
        self.logging_indent = 0
        self.root_dir = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self.once_logged: set[str] = set()
        self.colors = colors
        self.letter = letter
        self.timestamp = timestamp
        self.line_info = line_info
        self.logger_callbacks: list[Callable[[int], Any]] = []

    @property
    def severity(self) -> int:
        """The lowest severity that is shown."""
        return self._severity

    @severity.setter
    def severity(self, value: int) -> None:
        self._severity = value
        for callback in self.logger_callbacks:
            callback(value)

    def register_callback(self, callback: Callable[[int], Any]) -> None:
        """Calls `callback` with the severity: now, and whenever it is set."""
        callback(self._severity)
        self.logger_callbacks.append(callback)

    def indent(self, level: int = 1) -> LoggerIndent:
        """A ``with`` block whose messages are indented by `level` more tabs."""
        return LoggerIndent(self, level + self.logging_indent)

    def suppress(self, severity: int = CRITICAL) -> LoggerSuppress:
        """A ``with`` block in which only messages of at least `severity` are shown."""
        return LoggerSuppress(self, severity)

    def log(self, message: Any, severity: int, mode: LogMode = LogMode.EACH, stack_depth: int = 2) -> None:
        """Shows `message` if `severity` is not below the logger's.

        `stack_depth` is the number of frames between the caller that `line_info` names and this function.
        """
        if severity < self._severity:
            return
        if callable(message):
            message = message()
        text = str(message)
        if mode == LogMode.ONCE:
            if text in self.once_logged:
                return
            self.once_logged.add(text)
        print(self._colored(self._prefix(severity, stack_depth) + self._indented(text), severity))

    def _indented(self, text: str) -> str:
        tabs = "\t" * self.logging_indent
        return "\n".join([tabs + line for line in text.splitlines()]) if tabs else text

    def _prefix(self, severity: int, stack_depth: int) -> str:
        prefix = ""
        if self.letter:
            prefix += self.SEVERITY_LETTER_MAPPING.get(severity, "[%s]" % severity) + " "
        if self.timestamp:
            prefix += "({:}) ".format(time.strftime("%X"))
        if self.line_info:
            prefix += self._line_info(stack_depth + 1)
        return prefix

    def _line_info(self, stack_depth: int) -> str:
        frame = inspect.currentframe()
        for _ in range(stack_depth):
            if frame is None or frame.f_back is None:
                break
            frame = frame.f_back
        if frame is None:
            return ""
        path = os.path.abspath(frame.f_code.co_filename)
        inside = path.startswith(self.root_dir + os.sep)
        name = os.path.relpath(path, self.root_dir) if inside else os.path.basename(path)
        return "[{:}:{:}] ".format(name, frame.f_lineno)

    def _colored(self, text: str, severity: int) -> str:
        color = _ANSI.get(self.SEVERITY_COLOR_MAPPING.get(severity, ""), "")
        if not self.colors or not color or not sys.stdout.isatty():
            return text
        return color + text + _ANSI_RESET

    def ultra_verbose(self, message: Any, mode: LogMode = LogMode.EACH) -> None:
        """Shows a message of the lowest severity."""
        self.log(message, Logger.ULTRA_VERBOSE, mode=mode, stack_depth=3)

    def verbose(self, message: Any, mode: LogMode = LogMode.EACH) -> None:
        """Shows a message about each step."""
        self.log(message, Logger.VERBOSE, mode=mode, stack_depth=3)

    def debug(self, message: Any, mode: LogMode = LogMode.EACH) -> None:
        """Shows a message that helps to find a fault."""
        self.log(message, Logger.DEBUG, mode=mode, stack_depth=3)

    def info(self, message: Any, mode: LogMode = LogMode.EACH) -> None:
        """Shows a message that is worth reading in any case."""
        self.log(message, Logger.INFO, mode=mode, stack_depth=3)

    def warning(self, message: Any, mode: LogMode = LogMode.EACH) -> None:
        """Shows a message about something that may be wrong."""
        self.log(message, Logger.WARNING, mode=mode, stack_depth=3)

    def error(self, message: Any, mode: LogMode = LogMode.EACH) -> None:
        """Shows a message about something that is wrong."""
        self.log(message, Logger.ERROR, mode=mode, stack_depth=3)

    def critical(self, message: Any) -> NoReturn:
        """Shows a message and raises it as an OnnxGraphSurgeonException."""
        if callable(message):
            message = message()
        self.log(message, Logger.CRITICAL, stack_depth=3)
        raise OnnxGraphSurgeonException(message) from None


G_LOGGER = Logger()
