"""G_LOGGER: what is said goes to standard output, critical errors to standard error, and from there on as exceptions."""

import contextlib
import copy
import enum
import functools
import logging
import os
import sys
import time
import traceback


class LogMode(enum.IntEnum):
    """How often one message is said."""

    EACH = 0
    ONCE = 1


class SeverityTrie:
    """Severities by path: the longest prefix that has one decides."""

    def __init__(self, severity_dict):
        assert "" in severity_dict, "there has to be a severity for everything else, under ''"
        self._of = {self._parts(path): severity for path, severity in severity_dict.items()}
        self._depth = max(map(len, self._of))

    @staticmethod
    def _parts(path):
        return tuple(p for p in path.split(os.path.sep) if p)

    def get(self, path=None):
        """The severity for a path, or for everything else."""
        parts = self._parts(path)[: self._depth] if path and self._depth else ()
        while parts not in self._of:
            parts = parts[:-1]
        return self._of[parts]

    def __str__(self):
        return str({"/".join(parts): severity for parts, severity in self._of.items()})


class Logger:
    """There is one, G_LOGGER; make no other."""

    ULTRA_VERBOSE = -20
    SUPER_VERBOSE = -10
    EXTRA_VERBOSE = 0
    VERBOSE = 10
    INFO = 20
    START = 22
    """What begins."""
    FINISH = 28
    """What ends well."""
    WARNING = 30
    ERROR = 40
    CRITICAL = 50

    SEVERITY_LETTER_MAPPING = {
        ULTRA_VERBOSE: "[U]", SUPER_VERBOSE: "[S]", EXTRA_VERBOSE: "[X]", VERBOSE: "[V]", INFO: "[I]", START: "[I]",
        FINISH: "[I]", WARNING: "[W]", ERROR: "[E]", CRITICAL: "[!]",
    }
    SEVERITY_COLOR_MAPPING = {
        ULTRA_VERBOSE: "dark_gray", SUPER_VERBOSE: "medium_violet_red", EXTRA_VERBOSE: "medium_purple",
        VERBOSE: "light_magenta", INFO: None, START: "light_cyan", FINISH: "light_green", WARNING: "light_yellow",
        ERROR: "light_red", CRITICAL: "light_red",
    }
    _PYTHON_LEVELS = {ULTRA_VERBOSE: 2, SUPER_VERBOSE: 4, EXTRA_VERBOSE: 6}
    """For the module logging, whose levels are positive."""

    def __init__(self, severity=INFO, colors=True, letter=True, timestamp=False, line_info=False):
        self.logging_indent = 0
        self.once_logged = set()
        self.colors, self.letter, self.timestamp, self.line_info = colors, letter, timestamp, line_info
        self.logger_callbacks = []
        self.log_file = None
        self.module_severity = severity
        self.use_python_logging_system = False
        """Whether messages go to logging.getLogger("Polygraphy") instead of standard output."""

    @property
    def log_file(self):
        """A path: messages are written there, too."""
        return self._log_path

    @log_file.setter
    def log_file(self, value):
        self._log_path, self._log_file = value, None
        if value:
            os.makedirs(os.path.dirname(os.path.realpath(value)), exist_ok=True)
            self._log_file = open(value, "w")

    @property
    def module_severity(self):
        """What is less severe is not said. A number, or numbers by path within the package ("backend/trt", "" for the rest);
        read back it is a SeverityTrie."""
        return self._module_severity

    @module_severity.setter
    def module_severity(self, value):
        if not isinstance(value, SeverityTrie):
            given = dict(value) if isinstance(value, dict) else {"": value if isinstance(value, int) else Logger.INFO}
            value = SeverityTrie({"": Logger.INFO, **given})
        self._module_severity = value
        for callback in self.logger_callbacks:
            callback(value)

    def register_callback(self, callback):
        """Calls it with the severities, now and whenever they change."""
        callback(self._module_severity)
        self.logger_callbacks.append(callback)

    def module_path(self, path):
        """A file's path within the package; of other files without what both have in common."""
        import polygraphy

        root = polygraphy.__path__[0]
        inside = os.path.relpath(path, root)
        if not inside.startswith(os.pardir):
            return inside
        return path[len(os.path.commonpath([root, path])):].lstrip(os.path.sep)

    @contextlib.contextmanager
    def indent(self, level=1):
        """In this block messages are indented further."""
        before = self.logging_indent
        self.logging_indent = before + level
        try:
            yield self
        finally:
            self.logging_indent = before

    @contextlib.contextmanager
    def verbosity(self, severity=CRITICAL):
        """In this block another severity holds; without one, only critical errors are said."""
        before = copy.copy(self.module_severity)
        self.module_severity = severity
        try:
            yield self
        finally:
            self.module_severity = before

    def _place(self, depth):
        frame = sys._getframe(depth)
        while not os.path.exists(frame.f_code.co_filename) and frame.f_back is not None:
            frame = frame.f_back  # text that was executed has no file
        return self.module_path(frame.f_code.co_filename), frame.f_lineno

    def _layout(self, text, severity, place):
        prefix = self.SEVERITY_LETTER_MAPPING[severity] + " " if self.letter else ""
        if self.timestamp:
            prefix += f"({time.strftime('%X')}) "
        if self.line_info:
            prefix += f"[{place[0]}:{place[1]}] "
        indent = "    " * self.logging_indent
        return prefix + indent + ("\n" + " " * len(prefix) + indent).join(text.splitlines())

    def _colored(self, text, severity, stream):
        name = self.SEVERITY_COLOR_MAPPING[severity]
        if not (self.colors and name and stream.isatty()):
            return text
        try:
            import colored

            return colored.stylize(text, colored.fore(name))
        except Exception:  # without the package or the colour
            return text

    def log(self, message, severity, mode=LogMode.EACH, stack_depth=2, error_ok=False):
        """Says a message: a text, or a function that makes one when it is needed. With `error_ok` a message that
        cannot be made is no error."""
        from polygraphy import config

        trie, place = self._module_severity, None
        if trie._depth or self.line_info:
            place = self._place(stack_depth)
        if severity < trie.get(place[0] if place else None):
            return
        try:
            text = str(message() if callable(message) else message)
        except Exception as error:
            if not error_ok:
                raise
            text = f"<this message could not be made: {error}>"
        if mode == LogMode.ONCE:
            if text in self.once_logged:
                return
            self.once_logged.add(text)
        if config.INTERNAL_CORRECTNESS_CHECKS and severity == Logger.WARNING:
            import warnings

            warnings.warn(text)
        line = self._layout(text, severity, place)
        if self._log_file is not None:
            self._log_file.write(line + "\n")
            self._log_file.flush()
        if self.use_python_logging_system:
            logging.getLogger("Polygraphy").log(self._PYTHON_LEVELS.get(severity, severity), line)
            return
        stream = sys.stderr if severity >= Logger.CRITICAL else sys.stdout
        print(self._colored(line, severity, stream), file=stream)

    def backtrace(self, depth=0, limit=None, severity=ERROR):
        """Says where the program is."""
        if limit is None:
            limit = max((3 - self._module_severity.get() // 10) * 2, 0)
        frame = sys._getframe(depth + 2)
        self.log(" ".join(traceback.format_stack(f=frame, limit=limit)), severity)

    def critical(self, message, ExceptionType=None):
        """Says a message and throws it, as a PolygraphyException where no other type is given."""
        from polygraphy.exception import PolygraphyException

        text = message() if callable(message) else message
        self.log(text, Logger.CRITICAL, stack_depth=3)
        raise (ExceptionType or PolygraphyException)(text) from None

    exit = critical

    def internal_error(self, message):
        """As critical(), but only with the internal checks switched on."""
        from polygraphy import config
        from polygraphy.exception import PolygraphyInternalException

        if config.INTERNAL_CORRECTNESS_CHECKS:
            self.log(message, Logger.CRITICAL, stack_depth=3)
            raise PolygraphyInternalException(message)

    def module_info(self, module, name=None, severity=VERBOSE):
        """Says which module was imported, and from where."""
        text = name or f"Loaded Module: {getattr(module, '__name__', module)}"
        if hasattr(module, "__version__"):
            text += f" | Version: {module.__version__}"
        if hasattr(module, "__path__"):
            text += f" | Path: {[os.path.realpath(p) for p in module.__path__]}"
        self.log(text, severity, LogMode.ONCE, 3)

    def log_exception(self, func):
        """A decorator: what the function throws is said, for callers that drop it."""
        from polygraphy.exception import PolygraphyException

        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            try:
                return func(*args, **kwargs)
            except PolygraphyException:
                raise  # was said when it was thrown
            except Exception as error:
                self.error(error)
                raise

        return wrapped


def _add(name):
    severity = getattr(Logger, name)
    error_ok = severity <= Logger.VERBOSE

    def say(self, message, mode=LogMode.EACH):
        self.log(message, severity, mode, 3, error_ok)

    say.__name__, say.__qualname__ = name.lower(), "Logger." + name.lower()
    say.__doc__ = f"Says a message of severity {name}."
    setattr(Logger, name.lower(), say)


for _name in ("ULTRA_VERBOSE", "SUPER_VERBOSE", "EXTRA_VERBOSE", "VERBOSE", "INFO", "START", "FINISH", "WARNING", "ERROR"):
    _add(_name)

G_LOGGER = Logger()
