"""Options of the log."""

from polygraphy.logger import G_LOGGER
from polygraphy.tools.args import util as args_util
from polygraphy.tools.args.base import BaseArgs
from polygraphy.tools.script import inline, safe

_LEVELS = ["INFO", "VERBOSE", "EXTRA_VERBOSE", "SUPER_VERBOSE", "ULTRA_VERBOSE"]
_QUIETER = ["INFO", "WARNING", "ERROR", "CRITICAL"]


class LoggerArgs(BaseArgs):
    """Logging: logging and debug output"""

    def add_parser_args_impl(self):
        self.group.add_argument("-v", "--verbose", action="count", default=0, help="More messages; may be repeated")
        self.group.add_argument("-q", "--quiet", action="count", default=0, help="Fewer messages; may be repeated")
        self.group.add_argument("--verbosity", nargs="+", default=None, help="A severity, or [path:]severity for parts of the package")
        self.group.add_argument("--silent", action="store_true", default=None, help="No messages")
        self.group.add_argument("--log-format", choices=["timestamp", "line-info", "no-colors"], nargs="+", default=[], help="How messages are written")
        self.group.add_argument("--log-file", default=None, help="Where messages are written, too")

    def parse_impl(self, args):
        """Sets `verbosity_count`, `silent`, `log_format`, `log_file`, `verbosities`."""
        self.verbosity_count = (args_util.get(args, "verbose") or 0) - (args_util.get(args, "quiet") or 0)
        self.silent, self.log_format, self.log_file = (args_util.get(args, n) for n in ("silent", "log_format", "log_file"))
        self.verbosities = args_util.parse_arglist_to_dict(args_util.get(args, "verbosity"), cast_to=str.upper)
        self.get_logger()

    def _severity(self):
        if self.silent:
            return "CRITICAL"
        ladder = _LEVELS if self.verbosity_count >= 0 else _QUIETER
        return ladder[min(abs(self.verbosity_count), len(ladder) - 1)]

    def _settings(self):
        if self.verbosities is not None:
            yield "module_severity", "{" + ", ".join(f"{path!r}: G_LOGGER.{level}" for path, level in self.verbosities.items()) + "}"
        elif self._severity() != "INFO":
            yield "module_severity", f"G_LOGGER.{self._severity()}"
        for name, value in (("timestamp", True), ("line-info", True), ("no-colors", False)):
            if name in (self.log_format or []):
                yield {"line-info": "line_info", "no-colors": "colors"}.get(name, name), str(value)
        if self.log_file:
            yield "log_file", repr(self.log_file)

    def add_to_script_impl(self, script):
        script.add_import(["G_LOGGER"], frm="polygraphy.logger")
        for name, value in self._settings():
            script.append_suffix(inline(safe("G_LOGGER.{:}".replace("{:}", f"{name} = {value}".replace("{", "{{").replace("}", "}}")))))
        return inline(safe("G_LOGGER"))

    def get_logger(self):
        """G_LOGGER, set as the options say."""
        for name, value in self._settings():
            setattr(G_LOGGER, name, eval(value, {"G_LOGGER": G_LOGGER}))
        return G_LOGGER
