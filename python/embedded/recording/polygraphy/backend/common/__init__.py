"""Files and scripts."""

import os

from polygraphy import mod
from polygraphy.backend.base import BaseLoader, value_or_call
from recorded.refusal import refuser


@mod.export(funcify=True)
class BytesFromPath(BaseLoader):
    """The bytes of a file."""

    def __init__(self, path):
        self._path = path

    def call_impl(self):
        with open(self._path, "rb") as file:
            return file.read()


@mod.export(funcify=True)
class SaveBytes(BaseLoader):
    """Writes bytes to a file, and gives them."""

    def __init__(self, obj, path):
        self._obj, self._path = obj, path

    def call_impl(self):
        data = value_or_call(self._obj)[0]
        os.makedirs(os.path.dirname(os.path.abspath(self._path)), exist_ok=True)
        with open(self._path, "wb") as file:
            file.write(data)
        return data


@mod.export(funcify=True)
class InvokeFromScript(BaseLoader):
    """Calls a function of another script."""

    def __init__(self, path, name):
        self._path, self._name = path, name

    def call_impl(self, *args, **kwargs):
        return mod.import_from_script(self._path, self._name)(*args, **kwargs)


__getattr__ = refuser("polygraphy.backend.common")
