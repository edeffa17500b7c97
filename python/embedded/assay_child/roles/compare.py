"""--compare-func-script: a verdict per output of two runners."""

import numbers

from .. import results, scripts, values
from ..failures import ScriptError


class Role:
    def open(self, path, function):
        self.script_path = path
        self._script, self._name = scripts.Script(path), function
        self._function = None
        self._thresholds = {}

    def prepare(self):
        """Fails for what can be known before there is anything to work on."""
        values.numpy()
        self._script.find(self._name, "function")

    def _find(self):
        if self._function is None:
            self._function = scripts.callable_of(self._script.find(self._name, "function"))
        return scripts.place_of(self._function, self.script_path)

    def thresholds(self, outputs):
        """For each output what the object's thresholds_for() says: the metrics it looks at, and how it judges them."""
        place = self._find()
        if not hasattr(self._function, "thresholds_for"):
            raise ScriptError(f"{self._name} has no method thresholds_for(), so saved numbers cannot be held against it",
                              place=place, remedy="Make it an object that has one, such as "
                              f"`{self._name} = polygraphy.comparator.CompareFunc.simple(check_error_stat='max')`, or run the "
                              "comparison again on saved outputs (run --save-outputs, --load-outputs).")
        described = []
        for output in outputs:
            try:
                threshold = self._function.thresholds_for(output)
            except NotImplementedError:
                raise ScriptError(f"{self._name} has no threshold for numbers", place=place) from None
            self._thresholds[output] = threshold
            described.append(self._describe(threshold, place))
        return described

    def _describe(self, threshold, place):
        if not callable(getattr(threshold, "metric_fields", None)) or not callable(getattr(threshold, "passed", None)):
            raise ScriptError(f"{self._name}.thresholds_for() gave {values.kind(threshold)}; a threshold has the methods "
                              "metric_fields() and passed()", place=place)
        described = {"fields": [str(f) for f in threshold.metric_fields()]}
        # One that judges as Polygraphy's own do need not be asked.
        if threshold.passed.__func__.__module__.split(".")[0] == "polygraphy":
            if hasattr(threshold, "check_error_stat"):
                described.update(statistic=str(threshold.check_error_stat), atol=float(threshold.atol),
                                 rtol=float(threshold.rtol))
            elif hasattr(threshold, "threshold"):
                described["value"] = float(threshold.threshold)
        return described

    def passes(self, output, metrics):
        return bool(self._thresholds[output].passed(metrics))

    def compare(self, result0, result1):
        place = self._find()
        if not callable(self._function):
            raise ScriptError(f"{self._name} is {values.kind(self._function)}, not a function", place=place)
        made = self._function(results.IterationResult.of(result0), results.IterationResult.of(result1))
        if not hasattr(made, "items"):
            raise ScriptError(f"{self._name} returned {values.kind(made)}; it must return a dictionary from output names to "
                              "verdicts", place=place, remedy="Return one such as {'output': True}.")
        return {self._output(name, place): self._verdict(name, x, place) for name, x in made.items()}

    def _output(self, name, place):
        if not isinstance(name, str):
            raise ScriptError(f"{self._name} returned a verdict for {name!r}; names of outputs are strings", place=place)
        return name

    def _verdict(self, name, verdict, place):
        """Whether it passed, and what numbers it carries."""
        try:
            passed = bool(verdict)
        except Exception as e:  # such as a NumPy array of several elements
            raise ScriptError(f"the verdict of {self._name} for {name!r}, {values.kind(verdict)}, is neither true nor false: {e}",
                              place=place) from None
        if verdict is None:
            raise ScriptError(f"{self._name} returned None for {name!r}; a verdict is true or false", place=place)
        figures = {k: float(x) for k, x in getattr(verdict, "__dict__", {}).items()
                   if not k.startswith("_") and isinstance(x, numbers.Real) and not isinstance(x, bool)}
        return {"passed": passed, "figures": figures}
