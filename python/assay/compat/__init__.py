"""Modules under the names that users' scripts import, from this library, for scripts on a machine without a GPU.

They are in the folder ``site`` beside this file, which no import finds by itself. Ways to them: ``python -m assay.compat
script.py``; ``assay.compat.install()`` or ``%load_ext assay.compat`` before the first import; ``from assay.compat import
tensorrt``. What stands for a device is memory of the host and says so.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Optional

__all__ = ["install", "listing", "site_folder", "uninstall"]

log: logging.Logger = logging.getLogger("assay.compat")
REAL_VARIABLE: str = "ASSAY_COMPAT_REAL"
_HELPERS = ("recorded",)
"""Modules that the others are made of."""


def site_folder() -> Path:
    """The folder that holds the modules; the first entry of ``sys.path`` makes them win over installed ones."""
    return Path(__file__).resolve().parent / "site"


def names() -> list[str]:
    """What can be imported."""
    folder = site_folder()
    return sorted(p.name for p in folder.iterdir() if (p / "__init__.py").is_file() and p.name not in _HELPERS)


class _Finder:
    """Asked first: gives the modules of the folder."""

    def __init__(self, packages: Iterable[str], only_missing: bool) -> None:
        self.packages, self.only_missing = set(packages), only_missing

    def find_spec(self, name: str, path: Any = None, target: Optional[ModuleType] = None) -> Optional[ModuleSpec]:
        if path is not None or (name not in self.packages and name not in _HELPERS):
            return None
        if self.only_missing and name in self.packages and PathFinder.find_spec(name) is not None:
            return None
        return PathFinder.find_spec(name, [str(site_folder())])

    def find_distributions(self, context: Any = None) -> Iterable[Any]:
        """For importlib.metadata.version() of what is a stand-in."""
        from importlib.metadata import DistributionFinder, MetadataPathFinder

        name = getattr(context, "name", None)
        if name not in self.packages or self.only_missing:
            return []
        return MetadataPathFinder.find_distributions(DistributionFinder.Context(name=name, path=[str(site_folder())]))


def _installed() -> Optional[_Finder]:
    return next((f for f in sys.meta_path if isinstance(f, _Finder)), None)


def _is_ours(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", [])), "")
    return bool(file) and str(Path(file).resolve()).startswith((str(site_folder()), str(_recorded_folder())))


def _recorded_folder() -> Path:
    return (site_folder() / "recorded").resolve()


def _split(given: Iterable[str] | str | None) -> list[str]:
    texts = [given] if isinstance(given, str) else list(given or ())
    return [n.strip() for t in texts for n in t.split(",") if n.strip()]


def _left_out(real: Iterable[str] | str | None) -> set[str]:
    """The names that are to be the installed packages'."""
    from assay import Error

    left_out, known = {*_split(real), *_split(os.environ.get(REAL_VARIABLE))}, names()
    for name in sorted(left_out):
        if name not in known:
            raise Error(f"assay.compat has no module '{name}'; it has {', '.join(known)}")
    return left_out


def install(*, real: Iterable[str] | str | None = None, only_missing: bool = False, inherit: bool = False) -> list[str]:
    """From now on ``import tensorrt`` and so on give assay's stand-ins, whatever else is installed. `real`: names that are to
    be the installed packages' all the same; so are those in the variable ASSAY_COMPAT_REAL. `only_missing`: where there is an
    installed package, it comes first. `inherit`: processes that this one starts get them, too. Returns the names.

    Raises Error where a package of such a name is loaded already: import it later, or name it in `real`."""
    from assay import Error

    left_out = _left_out(real)
    ours = [n for n in names() if n not in left_out]
    for name in ours:
        loaded = sys.modules.get(name)
        if loaded is not None and not _is_ours(loaded) and not only_missing:
            where = getattr(loaded, "__file__", None) or "without a file"
            raise Error(
                f"the package '{name}' ({where}) is loaded already",
                remedy=f"Call assay.compat.install() before it is imported, or leave it by real='{name}'.",
            )
    uninstall()
    sys.meta_path.insert(0, _Finder(ours, only_missing))  # type: ignore[arg-type]
    if "cuda" in ours:
        from . import _libcudart

        _libcudart.install()
        _add_library_folder()
    if inherit:
        _let_children_inherit(left_out)
    log.info("assay's stand-ins are imported as %s", ", ".join(ours))
    return ours


def uninstall() -> None:
    """Later imports find what is installed; what is loaded stays."""
    finder = _installed()
    if finder is not None:
        sys.meta_path.remove(finder)  # type: ignore[arg-type]
    libcudart = sys.modules.get(__name__ + "._libcudart")
    if libcudart is not None:
        libcudart.uninstall()


def _add_library_folder() -> None:
    """For what looks through LD_LIBRARY_PATH before it calls ctypes, as Polygraphy does."""
    folder = str(Path(__file__).resolve().parent / "lib")
    rest = [p for p in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if p and p != folder]
    os.environ["LD_LIBRARY_PATH"] = os.pathsep.join([folder, *rest])


def _let_children_inherit(real: set[str]) -> None:
    """By a sitecustomize that installs, first on PYTHONPATH."""
    import assay

    package = str(Path(str(assay.__file__)).absolute().parent.parent)  # where its native module is, too
    start = str(Path(__file__).resolve().parent / "start")
    rest = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p not in (start, package)]
    os.environ["PYTHONPATH"] = os.pathsep.join([start, *rest, package])
    if real:
        os.environ[REAL_VARIABLE] = ",".join(sorted(real))


def listing(real: Iterable[str] | str | None = None) -> list[tuple[str, str]]:
    """(name, file that it comes from), for what install() with these arguments gives."""
    left_out = _left_out(real)
    rows = []
    for name in names():
        if name not in left_out:
            rows.append((name, str(site_folder() / name / "__init__.py")))
            continue
        spec = PathFinder.find_spec(name)
        places = list(spec.submodule_search_locations or []) if spec else []
        rows.append((name, (spec.origin or (places[0] if places else "")) if spec else "(not installed)"))
    return rows


def load_ipython_extension(ipython: object) -> None:
    """``%load_ext assay.compat``."""
    install()


def unload_ipython_extension(ipython: object) -> None:
    uninstall()


def __getattr__(name: str) -> ModuleType:
    """``from assay.compat import tensorrt``: the module alone; other imports of that name get it, too, from then on."""
    if name.startswith("_") or name not in names():
        raise AttributeError(f"module 'assay.compat' has no attribute '{name}'")
    from assay import Error

    loaded = sys.modules.get(name)
    if loaded is not None and not _is_ours(loaded):
        raise Error(f"the package '{name}' ({getattr(loaded, '__file__', None)}) is loaded already",
                    remedy=f"Import assay.compat.{name} before it.")
    finder = _Finder({name}, False)
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    try:
        return importlib.import_module(name)
    finally:
        sys.meta_path.remove(finder)  # type: ignore[arg-type]


def __dir__() -> list[str]:
    return sorted({*globals(), *names()})
