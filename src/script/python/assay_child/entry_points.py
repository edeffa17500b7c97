"""Runners that installed packages add: entry points of the group assay.runners, each a class."""

import inspect
import sys

from .failures import ScriptError
from .scripts import Script

GROUP = "assay.runners"


def _all():
    from importlib import metadata

    found = metadata.entry_points()
    points = found.select(group=GROUP) if hasattr(found, "select") else found.get(GROUP, ())
    return {p.name: p for p in points}


def describe():
    """Dictionaries: name, what it stands for, and the package with its version."""
    out = []
    for name, point in sorted(_all().items()):
        package = getattr(point, "dist", None)
        out.append({"name": name, "value": point.value, "package": package.metadata["Name"] if package else "",
                    "version": package.version if package else ""})
    return out


def load(name):
    """The script and the class."""
    points = _all()
    if name not in points:
        offer = f"they have {', '.join(map(repr, sorted(points)))}" if points else "they have none"
        raise ScriptError(f"the packages of {sys.executable} have no runner {name!r}; {offer}",
                          remedy="Install the package that has it, or name a file with --runner-script.")
    symbol = points[name].load()
    if not hasattr(symbol, "infer"):
        raise ScriptError(f"the runner {name!r} ({points[name].value}) has no method infer()",
                          remedy="docs/runners.md lists what a runner has.")
    try:
        path = inspect.getsourcefile(symbol) or ""
    except TypeError:
        path = ""
    return Script(path), symbol
