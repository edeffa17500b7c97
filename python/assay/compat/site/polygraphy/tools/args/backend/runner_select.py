"""The choice of runners."""

import argparse

from polygraphy.logger import G_LOGGER
from polygraphy.tools.args import util as args_util
from polygraphy.tools.args.base import BaseArgs, BaseRunnerArgs


class RunnerOptList(list):
    """(option without dashes, name of the runner) of each, in the order of the command line."""

    def keys(self):
        return (option for option, _ in self)

    def values(self):
        return (name for _, name in self)

    def items(self):
        return iter(self)


class _Chosen(argparse.Action):
    """Adds the option's own name."""

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), self.option_strings[0].lstrip("-")])


class RunnerSelectArgs(BaseArgs):
    """Runners: which of them run"""

    def add_parser_args_impl(self):
        self._groups = {}
        for group in self.arg_groups.values():
            if isinstance(group, BaseRunnerArgs):
                name, option = group.get_name_opt()
                self._groups[option] = group
                self.group.add_argument(f"--{option}", action=_Chosen, dest="runners", default=[], nargs=0,
                                        help=f"Run inference using {name}. {group.get_extra_help_text()}")  # fmt: skip

    def parse_impl(self, args):
        """Sets `runners`."""
        self.runners = RunnerOptList((option, self._groups[option].get_name_opt()[0]) for option in args_util.get(args, "runners", default=[]))

    def add_to_script_impl(self, script):
        if not self.runners:
            G_LOGGER.warning("No runners have been selected. Inference will not be run!")
        for option in self.runners.keys():
            self._groups[option].add_to_script(script)
        return script.get_runners()
