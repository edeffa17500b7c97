"""Importing late, and exporting a loader also as a function."""

import importlib
import inspect
import re
import sys

from polygraphy.exception import PolygraphyException

try:
    from assay_child.install import install_command
except ImportError:  # these packages alone
    def install_command(package):
        return f"{sys.executable} -m pip install {package}"


def version(version_str):
    """A version as a tuple that compares."""
    return tuple(int(part) for part in re.findall(r"\d+", version_str.split("+")[0]))


class _LazyModule:
    """A module that is imported when it is first asked for something."""

    def __init__(self, name, requirement):
        self.__dict__.update(_name=name, _requirement=requirement, _module=None)

    def _load(self):
        if self._module is None:
            try:
                self.__dict__["_module"] = importlib.import_module(self._name)
            except ImportError as error:
                raise PolygraphyException(f"The script needs the module '{self._name}' ({error}). Install it: "
                                          f"{install_command(self._requirement)}") from error
        return self._module

    def __getattr__(self, name):
        return getattr(self._load(), name)

    def __setattr__(self, name, value):
        setattr(self._load(), name, value)

    def is_installed(self):
        return importlib.util.find_spec(self._name.split(".")[0]) is not None

    is_importable = is_installed


def lazy_import(name, log=None, pkg_name=None, install_flags=None, requires=None):
    """A module by its name, perhaps with a version, as in "numpy>=1.20". The version is not checked."""
    bare = re.split(r"[<>=!~ ]", name, maxsplit=1)[0]
    return _LazyModule(bare, pkg_name or name)


def import_from_script(path, name):
    """A name of a script."""
    from recorded.scripts import load_function
    return load_function(path, name)


def immediate(loader):
    """The function that makes a loader and calls it at once: first the arguments of the call, then those of the loader."""
    names = list(inspect.signature(loader.call_impl).parameters)[1:]

    def function(*args, **kwargs):
        call = dict(zip(names, args))
        call.update({n: kwargs.pop(n) for n in names if n in kwargs})
        return loader(*args[len(names):], **kwargs)(**call)

    function.__name__ = function.__qualname__ = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", loader.__name__).lower()
    function.__doc__ = f"{loader.__name__}, made and called at once."
    return function


def export(funcify=False, func_name=None):
    """A decorator that puts a class or function into its module's __all__; with `funcify` also the class's immediate form."""

    def decorate(item):
        module = sys.modules[item.__module__]
        names = vars(module).setdefault("__all__", [])
        names.append(item.__name__)
        if funcify:
            function = immediate(item)
            function.__name__ = func_name or function.__name__
            setattr(module, function.__name__, function)
            names.append(function.__name__)
        return item

    return decorate


def deprecate(remove_in, use_instead, module_name=None, name=None):
    """A decorator that leaves things as they are."""
    return lambda item: item


def export_deprecated_alias(name, remove_in, use_instead=None):
    """A decorator that gives a thing a second name."""
    def decorate(item):
        setattr(sys.modules[item.__module__], name, item)
        return item

    return decorate


def has_mod(modname):
    """Whether a module is installed."""
    return importlib.util.find_spec(modname) is not None
