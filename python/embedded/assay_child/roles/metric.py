"""--metric-script: a number for the outputs of one sample."""

import numbers

from .. import scripts, values
from ..failures import ScriptError


class Role:
    def open(self, path, function):
        self.script_path = path
        self._script, self._name = scripts.Script(path), function
        self._function = None

    def _find(self):
        if self._function is None:
            self._function = scripts.callable_of(self._script.find(self._name, "function"))
        place = scripts.place_of(self._function, self.script_path)
        if not callable(self._function):
            raise ScriptError(f"{self._name} is {values.kind(self._function)}, not a function", place=place)
        return place

    def describe(self):
        values.numpy()
        place = self._find()
        better = getattr(self._function, "better", "higher")
        if better not in ("higher", "lower"):
            raise ScriptError(f"{self._name}.better is {better!r}; it must be 'higher' or 'lower'", place=place)
        return {"better": better}

    def measure(self, outputs, golden, labels):
        place = self._find()
        made = self._function(outputs, golden, labels)
        if isinstance(made, bool) or not isinstance(made, numbers.Real):
            try:  # NumPy's numbers, and arrays of one
                made = values.numpy().asarray(made, dtype=float).item()
            except (TypeError, ValueError):
                raise ScriptError(f"{self._name} returned {values.kind(made)}; it must return a number",
                                  place=place) from None
        return float(made)
