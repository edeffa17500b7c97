"""Options and runners that packages add by the entry points `polygraphy.run.plugins`: each a function that gives argument groups, on the
classes of the module `polygraphy`, the installed one or assay's."""

import argparse
import ast
import contextlib
import sys

from .failures import ScriptError

GROUP = "polygraphy.run.plugins"
# Of these the program has the options itself, and the model that a runner gets is what they made of it.
_OF_THE_MODEL = ("ModelArgs", "OnnxInferShapesArgs", "OnnxSaveArgs", "OnnxLoadArgs")
_OTHERS = ("DataLoaderArgs", "OnnxrtSessionArgs", "TrtLoadPluginsArgs", "TrtOnnxFlagArgs", "TrtConfigArgs", "TrtLoadNetworkArgs",
           "TrtLoadEngineBytesArgs", "TrtLoadEngineArgs")


def _points():
    """(entry point, package), in the order of their names."""
    from importlib import metadata

    found = {}
    for package in metadata.distributions():
        for point in package.entry_points:
            if point.group == GROUP:
                found.setdefault(point.name, (point, package))
    return [found[name] for name in sorted(found)]


def _polygraphy():
    """Sees to it that there is one."""
    try:
        import polygraphy.tools.args  # noqa: F401
    except ImportError:
        for name in [n for n in sys.modules if n.split(".")[0] == "polygraphy"]:
            del sys.modules[name]  # a part of it that is none
        try:
            from assay import compat
        except ImportError:
            raise ScriptError(f"packages add options to `run` by classes of the module polygraphy, which {sys.executable} does not have",
                              remedy="Install the package polygraphy or the package assay there.") from None
        compat.install(only_missing=True)


class _Groups:
    """The argument groups of all packages, and those that they may ask for."""

    def __init__(self):
        _polygraphy()
        from polygraphy.tools import args as there
        from polygraphy.tools.args.base import ArgGroups

        self.parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, conflict_handler="resolve")
        self.groups, self.added, self.problems = ArgGroups(), [], []
        self.of_the_model, self.others = ([getattr(there, n)() for n in names if hasattr(there, n)] for names in (_OF_THE_MODEL, _OTHERS))
        for point, package in _points():
            try:
                groups = point.load()()
            except Exception as error:  # of a package that does not work: the others do
                self.problems.append(f"the options that the package {package.metadata['Name']} adds ({point.value}) cannot be used: {error}")
                continue
            self.added += [(group, package) for group in groups]
        own = [group for group, _ in self.added]
        for group in [*self.of_the_model, *self.others, *own]:
            self.groups[type(group)] = group
        for group in self.groups.values():
            group.register(self.groups)
        # Those of the packages last: a name that the program has is not theirs.
        for group in self.others:
            group.add_parser_args(self.parser)
        for group in own:
            group.add_parser_args(self.parser)

    def runners(self):
        """(option, what it is called, group, package)."""
        for group, package in self.added:
            if hasattr(group, "get_name_opt"):
                title, option = group.get_name_opt()
                yield option, title, group, package


def _arity(action):
    return {0: "none", None: "one", "?": "optional", "*": "any", "+": "at least one", 1: "at least one"}.get(action.nargs, "at least one")


def describe():
    """What the packages add: {"groups": [...], "runners": [...], "problems": [...]}."""
    if not _points():
        return {"groups": [], "runners": [], "problems": []}
    all_groups, described = _Groups(), []
    for group, _ in all_groups.added:
        if group.group is None:  # without options
            continue
        options = [{"names": list(a.option_strings), "help": a.help or "An option of the package, without a description.", "arity": _arity(a), "choices": [str(c) for c in a.choices or ()]}
                   for a in group.group._group_actions if a.option_strings]
        described.append({"title": group.group.title, "description": group.group.description or "", "options": options})
    runners = [{"option": "--" + option, "help": f"{title}, of the package {package.metadata['Name']} {package.version}. {group.get_extra_help_text()}".strip()}
               for option, title, group, package in all_groups.runners()]
    return {"groups": described, "runners": runners, "problems": all_groups.problems}


def find(name):
    """The package of the runner with that option (without dashes), or None."""
    if not _points():
        return None
    return next((package for option, _, _, package in _Groups().runners() if option == name), None)


class PluginRunner:
    """The runner of an argument group, as a runner of assay's. `words`: a list of the options' words, as Python writes it."""

    def __init__(self, model_path, option, words="[]"):
        all_groups = _Groups()
        group = next(g for o, _, g, _ in all_groups.runners() if o == option)
        given, _ = all_groups.parser.parse_known_args(ast.literal_eval(words))
        for standard in all_groups.of_the_model:
            standard.parse(argparse.Namespace(model_file=model_path))
        for other in [*all_groups.others, *(g for g, _ in all_groups.added)]:
            other.parse(given)
        self._runner = self._make(group)

    @staticmethod
    def _make(group):
        from polygraphy.tools.script import Script

        script = Script()
        group.add_to_script(script)
        names = {}
        exec(compile(str(script), f"<the program of {type(group).__name__}>", "exec"), names)
        runners = names["runners"]
        if len(runners) != 1:
            raise ScriptError(f"{type(group).__name__}.add_to_script_impl added {len(runners)} runners; it has to add one")
        return runners[0]

    def activate(self):
        with _to_stderr():
            self._runner.activate()

    def inputs(self):
        from polygraphy.datatype import DataType

        metadata = self._runner.get_input_metadata(use_numpy_dtypes=False)
        narrow = {"bfloat16": "bfloat16", "float8e4m3fn": "float8_e4m3fn", "float8e5m2": "float8_e5m2"}
        return {name: (None if m.dtype is None else narrow.get(m.dtype.name) or DataType.to_dtype(m.dtype, "numpy"), m.shape)
                for name, m in metadata.items()}

    def infer(self, feed_dict):
        with _to_stderr():
            return dict(self._runner.infer(feed_dict))

    def last_inference_time(self):
        return self._runner.last_inference_time()

    def deactivate(self):
        self._runner.deactivate()


def _to_stderr():
    """What Polygraphy's logger says is no output of the program's."""
    return contextlib.redirect_stdout(sys.stderr)


def load(name):
    """A class for the runner's role."""

    class Runner(PluginRunner):
        def __init__(self, model_path, words="[]"):
            super().__init__(model_path, name, words)

    Runner.__name__ = name
    return Runner
