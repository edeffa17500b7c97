"""Packages that a script may import without having them: `polygraphy` as far as scripts need it, and `tensorrt`, which belongs to
networks (recording/). Installed ones come first."""

import os
import sys
from importlib.machinery import PathFinder

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "recording")


class _Finder:
    """Asked last."""

    def __init__(self, packages):
        self.packages = packages

    def find_spec(self, name, path=None, target=None):
        if path is not None or name not in self.packages:
            return None
        return PathFinder.find_spec(name, [FOLDER])


def offer(*packages):
    """From now on."""
    finder = next((f for f in sys.meta_path if isinstance(f, _Finder)), None)
    if finder is None:
        finder = _Finder({"recorded"})
        sys.meta_path.append(finder)
    finder.packages.update(packages)
