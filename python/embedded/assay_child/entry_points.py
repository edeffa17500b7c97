"""Runners that installed packages add: entry points of the group assay.runners, each a class; and those of run_plugins."""

import inspect
import sys

from . import run_plugins
from .failures import ScriptError
from .scripts import Script

GROUP = "assay.runners"


def _all():
    """(entry point, package) by name; of two packages, the first on the path has it."""
    from importlib import metadata

    found = {}
    for package in metadata.distributions():
        for point in package.entry_points:  # which know their package only from Python 3.10 on
            if point.group == GROUP:
                found.setdefault(point.name, (point, package))
    return found


def describe():
    """Dictionaries: name, what it stands for, and the package with its version."""
    return [{"name": name, "value": point.value, "package": package.metadata["Name"], "version": package.version}
            for name, (point, package) in sorted(_all().items())]


def find(name):
    """The entry point of that name; None for a runner that an argument group adds (run_plugins)."""
    points = _all()
    if name not in points and run_plugins.find(name) is not None:
        return None
    if name not in points:
        offer = f"they have {', '.join(map(repr, sorted(points)))}" if points else "they have none"
        raise ScriptError(f"the packages of {sys.executable} have no runner {name!r}; {offer}",
                          remedy="Install the package that has it, or name a file with --runner-script.")
    return points[name][0]


def load(name):
    """The script and the class."""
    point = find(name)
    if point is None:
        return Script(""), run_plugins.load(name)
    symbol = point.load()
    if not hasattr(symbol, "infer"):
        raise ScriptError(f"the runner {name!r} ({point.value}) has no method infer()",
                          remedy="docs/guide/runners.md lists what a runner has.")
    try:
        path = inspect.getsourcefile(symbol) or ""
    except TypeError:
        path = ""
    return Script(path), symbol
