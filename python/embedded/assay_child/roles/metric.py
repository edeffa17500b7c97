"""--metric-script: a number for the outputs of one sample, or for a whole set of samples."""

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
        over_set = getattr(self._function, "over_set", None)
        if over_set is not None and not callable(over_set):
            raise ScriptError(f"{self._name}.over_set is {values.kind(over_set)}; it must be a function of all samples' numbers",
                              place=place)
        return {"better": better, "over_set": over_set is not None}

    def measure(self, outputs, golden, labels):
        place = self._find()
        return self._number(self._function(outputs, golden, labels), self._name, place)

    def record(self, outputs, golden, labels):
        """The numbers of one sample, for over_set."""
        place = self._find()
        made = self._function(outputs, golden, labels)
        numpy = values.numpy()
        try:
            array = numpy.ascontiguousarray(numpy.asarray(made, dtype=numpy.float64).ravel())
        except (TypeError, ValueError):
            raise ScriptError(f"{self._name} returned {values.kind(made)}; with over_set it must return numbers", place=place) from None
        return values.Encoded(array, f"the result of {self._name}")

    def whole(self, records):
        place = self._find()
        made = self._function.over_set(list(records))
        return self._number(made, f"{self._name}.over_set", place)

    @staticmethod
    def _number(made, name, place):
        if isinstance(made, bool) or not isinstance(made, numbers.Real):
            try:  # NumPy's numbers, and arrays of one
                made = values.numpy().asarray(made, dtype=float).item()
            except (TypeError, ValueError):
                raise ScriptError(f"{name} returned {values.kind(made)}; it must return a number",
                                  place=place) from None
        return float(made)
