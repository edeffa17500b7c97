"""--runner-script: a class of the user's that runs a model (docs/guide/runners.md has its protocol)."""

import importlib.util
import inspect
import os
import time

from .. import entry_points, run_plugins, scripts, values
from ..failures import ScriptError


class Role:
    def open_file(self, path, name, model, options):
        """`name`: of the class; empty: the only one with infer()."""
        # Whether TensorRT is installed is for a runner to see.
        self._script = scripts.Script(path, may_record=False)
        return self._open(self._find(name), model, options)

    def open_shipped(self, runner, model, options):
        self._script = scripts.shipped(runner)
        return self._open(self._find(""), model, options)

    def open_entry_point(self, name, model, options):
        self._script, symbol = entry_points.load(name)
        return self._open(symbol, model, options)

    def missing(self, package):
        """Why the package is not there; None if it is. It is not imported."""
        try:
            found = importlib.util.find_spec(package)
        except (ImportError, ValueError) as e:
            return str(e)
        return None if found else f"No module named '{package}'"

    def entry_point(self, name):
        """Whether there is such an entry point; nothing of it is imported."""
        entry_points.find(name)

    def entry_points(self):
        return entry_points.describe()

    def run_plugins(self):
        return run_plugins.describe()

    @property
    def script_path(self):
        return self._script.path if hasattr(self, "_script") else ""

    def infer(self, feed):
        place = self._place("infer")
        # The runner may keep or change what it is given: it has arrays of its own.
        started = time.perf_counter()
        made = self._runner.infer(feed)
        seconds = self._seconds(time.perf_counter() - started)
        try:
            return {"outputs": values.tensors(made, f"what {self._name}.infer returned"), "seconds": seconds}
        except ScriptError as e:
            e.place = place
            raise

    def close(self):
        if hasattr(self, "_runner") and hasattr(self._runner, "deactivate"):
            self._runner.deactivate()

    def _find(self, name):
        if name:
            symbol = self._script.find(name, "class")
            if not hasattr(symbol, "infer"):
                raise ScriptError(f"{name!r} has no method infer()", place=(self._script.path, 0, ""),
                                  remedy="docs/guide/runners.md lists what a runner has.")
            return symbol
        names = self._script.definitions(lambda x: inspect.isclass(x) and hasattr(x, "infer"))
        if len(names) != 1:
            raise ScriptError("no class of the script has a method infer()" if not names else
                              f"several classes of the script have a method infer(): {', '.join(names)}",
                              place=(self._script.path, 0, ""),
                              remedy="docs/guide/runners.md lists what a runner has." if not names else
                              f"Name one: {self._script.path}:{names[0]}.")
        return getattr(self._script.module(), names[0])

    def _open(self, symbol, model, options):
        self._name = getattr(symbol, "__name__", str(symbol))
        takes_model = not hasattr(symbol, "load")
        self._check_options(symbol, options, takes_model)
        if takes_model:
            self._runner = symbol(model, **options)
        else:
            self._runner = symbol(**options)
            self._runner.load(model)
        if hasattr(self._runner, "activate"):
            self._runner.activate()
        return {"name": self._name, "path": os.path.abspath(self.script_path) if self.script_path else "",
                "inputs": self._metadata("inputs", "get_input_metadata"),
                "outputs": self._metadata("outputs", "get_output_metadata"),
                "infer_line": self._place("infer")[1]}

    def _check_options(self, symbol, options, takes_model):
        try:
            signature = inspect.signature(symbol)
        except (TypeError, ValueError):
            return
        parameters = list(signature.parameters.values())
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            return
        known = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)][1 if takes_model else 0:]
        for name in options:
            if name not in known:
                offer = f"it takes {', '.join(map(repr, known))}" if known else "it takes none"
                raise ScriptError(f"{self._name} takes no option {name!r}; {offer}", place=self._place_of(symbol.__init__))

    def _metadata(self, *names):
        """[[name, type, extents or None], ...]; None where the runner does not say."""
        for name in names:
            member = getattr(self._runner, name, None)
            if member is not None:
                break
        else:
            return None
        made = member() if callable(member) else member
        what = f"what {self._name}.{name} gave"
        if not hasattr(made, "items"):
            raise ScriptError(f"{what} is {values.kind(made)}; it must be a dictionary from names to (dtype, shape)",
                              place=self._place(name))
        return [[key, *self._type(x, f"{what} for {key!r}", name)] for key, x in made.items()]

    def _type(self, entry, what, name):
        dtype, shape = (entry.dtype, entry.shape) if hasattr(entry, "dtype") else self._pair(entry, what, name)
        number = self._dtype_number(dtype, what, name)
        if shape is None or number is None:
            return number, None
        return number, [None if d is None or (isinstance(d, int) and d < 0) else d if isinstance(d, str) else int(d)
                        for d in shape]

    def _pair(self, entry, what, name):
        try:
            dtype, shape = entry
            return dtype, shape
        except (TypeError, ValueError):
            raise ScriptError(f"{what} is {entry!r}; it must be (dtype, shape)", place=self._place(name)) from None

    def _dtype_number(self, dtype, what, name):
        np = values.numpy()
        if dtype is None:
            return None
        if isinstance(dtype, str) and dtype in values.NUMBERS:
            return values.NUMBERS[dtype]
        if dtype in (str, "str", "string", object):
            return values.STRING
        try:
            return values.NUMBERS[np.dtype(dtype).name]
        except (TypeError, KeyError):
            raise ScriptError(f"{what} has the type {dtype!r}, which ONNX does not have", place=self._place(name)) from None

    def _seconds(self, measured):
        member = getattr(self._runner, "last_inference_time", None)
        told = member() if callable(member) else member
        return measured if told is None else float(told)

    def _place(self, method):
        return self._place_of(getattr(self._runner, method, None))

    def _place_of(self, function):
        return scripts.place_of(function, self.script_path) if inspect.isroutine(function) else (self.script_path, 0, "")
