"""Argument groups: options, what they mean, and the part of a program that does it."""

from polygraphy.common.interface import TypedDict
from polygraphy.logger import G_LOGGER


class BaseArgs:
    """A group. The first line of a derived class's docstring is "Title: what its options are about". Derive, and define
    add_parser_args_impl(), which adds options to `self.group`, parse_impl(args), which makes attributes of them, and
    add_to_script_impl(script), which adds to a Script and gives the name of what it added. Other groups are in
    `self.arg_groups`, by their classes."""

    def __init__(self):
        self.group = self.arg_groups = None

    def allows_abbreviation_impl(self):
        return True

    def allows_abbreviation(self):
        """Whether options of a parser with this group may be abbreviated."""
        return self.allows_abbreviation_impl()

    def register(self, arg_groups):
        """Tells it the other groups."""
        self.arg_groups = arg_groups

    def add_parser_args_impl(self):
        pass

    def add_parser_args(self, parser):
        """Adds its options to a parser of argparse."""
        title, colon, about = (self.__doc__ or "").strip().partition("\n")[0].rpartition(":")
        if not colon:
            G_LOGGER.internal_error(f"The docstring of {type(self).__name__} does not begin with 'Title: what its options are about'")
        self.group = parser.add_argument_group(title.strip(), f"Options related to {about.strip()}")
        self.add_parser_args_impl()
        if not self.group._group_actions:
            parser._action_groups.remove(self.group)
            self.group = None

    def parse_impl(self, args):
        pass

    def parse(self, args):
        """Makes attributes of the options."""
        self.parse_impl(args)

    def add_to_script_impl(self, script, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no add_to_script_impl()")

    def add_to_script(self, script, *args, **kwargs):
        """Adds to a program; gives the name of what it added."""
        return self.add_to_script_impl(script, *args, **kwargs)


class BaseRunnerArgs(BaseArgs):
    """A group of a runner: get_name_opt_impl() gives (its name, its option without dashes), and add_to_script_impl() adds it."""

    def add_to_script(self, script, *args, **kwargs):
        """Adds the runner; gives the name of the list of runners."""
        self.add_to_script_impl(script)
        return script.get_runners()

    def get_name_opt_impl(self):
        raise NotImplementedError(f"{type(self).__name__} has no get_name_opt_impl()")

    def get_name_opt(self):
        """(what it is called, its option without dashes)."""
        return self.get_name_opt_impl()

    def get_extra_help_text_impl(self):
        return ""

    def get_extra_help_text(self):
        """What its option's help says besides."""
        return self.get_extra_help_text_impl()


class ArgGroups(TypedDict(lambda: type, lambda: BaseArgs)):
    """Groups by their classes."""
