"""Files of the user and what is defined in them."""

import importlib.util
import inspect
import os
import re
import sys

from . import stand_ins
from .failures import ScriptError


class Script:
    """A file, imported when something of it is asked for. `path` is absolute. `polygraphy` can be imported in it, and `tensorrt`
    where the file itself does so: packages that look whether TensorRT is there are not to find one."""

    def __init__(self, path, may_record=True):
        self.path = path
        self._module = None
        self._may_record = may_record

    @property
    def name(self):
        return os.path.basename(self.path)

    def module(self):
        if self._module is None:
            stand_ins.offer("polygraphy", *(["tensorrt"] if self._may_record and self._imports("tensorrt") else []))
            self._module = _import(self.path)
        return self._module

    def _imports(self, package):
        try:
            with open(self.path, "rb") as file:
                return re.search(rb"^\s*(import|from)\s+%s\b" % package.encode(), file.read(), re.MULTILINE) is not None
        except OSError:
            return False

    def find(self, name, what):
        """What the file calls `name`; `what` says what is looked for, as in 'function'."""
        module = self.module()
        if not hasattr(module, name):
            raise ScriptError(f"the script has no {what} {name!r}; {self._offer()}", place=(self.path, 0, ""),
                              remedy=f"Name one of its own: {self.path}:NAME.")
        return getattr(module, name)

    def definitions(self, test):
        """Names of what is defined in the file itself, in order."""
        module = self.module()
        return [n for n, x in vars(module).items()
                if not n.startswith("_") and test(x) and getattr(x, "__module__", None) == module.__name__]

    def _offer(self):
        functions, classes = self.definitions(inspect.isfunction), self.definitions(inspect.isclass)
        parts = [f"{kind} {', '.join(map(repr, names))}" for kind, names in
                 (("the functions", functions), ("the classes", classes)) if names]
        return f"it has {' and '.join(parts)}" if parts else "it defines neither functions nor classes"


def _import(path):
    folder, file = os.path.split(path)
    name = os.path.splitext(file)[0]
    if name in sys.modules or not name.isidentifier():
        name = f"assay_script_{name}"
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ScriptError("the file is not a Python script", place=(path, 0, ""))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def shipped(name):
    """The source of a runner that comes with assay, as a script: runners/NAME.py of the archive."""
    import types
    import zipimport

    archive = os.path.dirname(os.path.dirname(__file__))
    file = f"runners/{name}.py"
    source = zipimport.zipimporter(archive).get_data(file.replace("/", os.sep))
    module = types.ModuleType(f"assay_runner_{name}")
    module.__file__ = file
    script = Script(file)
    script._module = module
    sys.modules[module.__name__] = module
    exec(compile(source, file, "exec"), module.__dict__)
    return script


def callable_of(symbol):
    """As upstream calls what a script gives: a class is made first, without arguments."""
    return symbol() if inspect.isclass(symbol) else symbol


def place_of(symbol, path):
    """Where a function begins, for errors about what it gave; of an object, its method."""
    function = getattr(symbol, "__call__", symbol) if not inspect.isroutine(symbol) else symbol
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return (path, 0, getattr(symbol, "__name__", type(symbol).__name__))
    return (code.co_filename, code.co_firstlineno, code.co_name)
