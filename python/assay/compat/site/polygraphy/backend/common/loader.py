"""Files, and functions of scripts."""

import inspect

from polygraphy import mod, util
from polygraphy.backend.base import BaseLoader


@mod.export(funcify=True)
class BytesFromPath(BaseLoader):
    """The bytes of a file."""

    def __init__(self, path):
        self._path = path

    @util.check_called_by("__call__")
    def call_impl(self):
        return util.load_file(self._path, description="bytes")


@mod.export(funcify=True)
class SaveBytes(BaseLoader):
    """Writes bytes to a file, and gives them."""

    def __init__(self, obj, path):
        self._bytes, self._path = obj, path

    @util.check_called_by("__call__")
    def call_impl(self):
        contents, _ = util.invoke_if_callable(self._bytes)
        util.save_file(contents, self._path, description="bytes")
        return contents


@mod.export(funcify=True)
class InvokeFromScript(BaseLoader):
    """Calls a function of a script; of a class, an object that is made without arguments. Other attributes asked of this are
    those of the function or object."""

    def __init__(self, path, name):
        self._path, self._name = path, name

    def _symbol(self):
        symbol = mod.import_from_script(self._path, self._name)
        return symbol() if inspect.isclass(symbol) else symbol

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._symbol(), name)

    @property
    def __name__(self):
        return self._name

    @util.check_called_by("__call__")
    def call_impl(self, *args, **kwargs):
        return self._symbol()(*args, **kwargs)
