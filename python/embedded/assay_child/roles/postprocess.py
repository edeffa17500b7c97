"""--postprocess-func-script: outputs of an iteration, replaced before they are compared."""

from .. import results, scripts, values
from ..failures import ScriptError


class Role:
    def open(self, path, function):
        self.script_path = path
        self._script, self._name = scripts.Script(path), function
        self._function = None

    def prepare(self):
        """Fails for what can be known before there is anything to work on."""
        values.numpy()
        self._script.find(self._name, "function")

    def process(self, result):
        if self._function is None:
            self._function = scripts.callable_of(self._script.find(self._name, "function"))
        place = scripts.place_of(self._function, self.script_path)
        if not callable(self._function):
            raise ScriptError(f"{self._name} is {values.kind(self._function)}, not a function", place=place)
        made = self._function(results.IterationResult.of(result))
        if made is None:
            raise ScriptError(f"{self._name} returned None", place=place,
                              remedy="Return the outputs that are to be compared.")
        try:
            return values.tensors(made, f"what {self._name} returned")
        except ScriptError as e:
            e.place = place
            raise
