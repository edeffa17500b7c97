"""What a tool of the command line derives from."""

import argparse
import inspect
import sys

from polygraphy.tools.args import LoggerArgs
from polygraphy.tools.args.base import ArgGroups


class Tool:
    """A tool: the docstring of a derived class is its help; get_subscriptions_impl() gives its argument groups,
    add_parser_args_impl(parser) adds options of its own, and run_impl(args) does the work and gives the exit code."""

    def __init__(self, name=None):
        self.name, self.arg_groups = name, ArgGroups()

    def setup_parser(self, subparsers=None):
        """The parser of its options."""
        assert self.__doc__, f"{type(self).__name__} has no docstring, which is its help"
        for group in (LoggerArgs(), *self.get_subscriptions()):
            self.arg_groups[type(group)] = group
        text = inspect.cleandoc(self.__doc__)
        options = {"description": text, "allow_abbrev": all(g.allows_abbreviation() for g in self.arg_groups.values()),
                   "formatter_class": argparse.RawDescriptionHelpFormatter}
        if subparsers is None:
            parser = argparse.ArgumentParser(**options)
        else:
            parser = subparsers.add_parser(self.name, help=text.split("\n\n")[0], **options)
            parser.set_defaults(subcommand=self)
        for group in self.arg_groups.values():
            group.register(self.arg_groups)
            group.add_parser_args(parser)
        self.add_parser_args(parser)
        return parser

    def get_subscriptions_impl(self):
        return []

    def get_subscriptions(self):
        """Its argument groups."""
        return self.get_subscriptions_impl()

    def get_subtools_impl(self):
        return "", []

    def get_subtools(self):
        """(title, tools within this one)."""
        return self.get_subtools_impl()

    def add_parser_args_impl(self, parser):
        pass

    def add_parser_args(self, parser):
        """Adds its own options, and its subtools."""
        self.add_parser_args_impl(parser)
        title, tools = self.get_subtools()
        if tools:
            subparsers = parser.add_subparsers(title=title, dest="subtool", required=True)
            for tool in tools:
                tool.setup_parser(subparsers)

    def parse(self, args):
        """Hands what was parsed to the argument groups."""
        for group in self.arg_groups.values():
            group.parse(args)

    def run_impl(self, args):
        raise NotImplementedError(f"{type(self).__name__} has no run_impl()")

    def run(self, args):
        """Does the work; the exit code."""
        return self.run_impl(args) or 0

    def show_start_end_logging_impl(self, args):
        return False

    def show_start_end_logging(self, args):
        """Whether the log says that it begins and ends."""
        return self.show_start_end_logging_impl(args)

    def main(self):
        """Parses the arguments of this process, and ends it with the exit code."""
        args = self.setup_parser().parse_args()
        selected = getattr(args, "subcommand", self)
        selected.parse(args)
        sys.exit(selected.run(args))
