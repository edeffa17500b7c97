"""--data-loader-script: feed dictionaries, one at a time."""

import inspect

from .. import scripts, values
from ..failures import ScriptError


class Role:
    def open(self, path, function):
        self.script_path = path
        self._script, self._name = scripts.Script(path), function
        self._iterator = None
        self._count = 0

    def prepare(self):
        """Fails for what can be known before there is anything to work on."""
        values.numpy()
        self._script.find(self._name, "function")

    def restart(self):
        self._iterator = None
        self._count = 0

    def next(self):
        """The next feed dictionary and where it was made; None when there are no more."""
        if self._iterator is None:
            self._start()
        try:
            feed = next(self._iterator)
        except StopIteration:
            return None
        place = self._place()
        what = f"iteration {self._count} of {self._name}"
        self._count += 1
        try:
            return {"feed": values.tensors(feed, what), "line": place[1], "function": place[2]}
        except ScriptError as e:
            e.place = place
            raise

    def _start(self):
        self._symbol = scripts.callable_of(self._script.find(self._name, "function"))
        made = self._symbol() if callable(self._symbol) else self._symbol
        self._definition = scripts.place_of(self._symbol, self.script_path)
        if hasattr(made, "items"):
            raise ScriptError(f"{self._name} gave a single dictionary; it must give an iterable of them",
                              place=self._definition, remedy="Yield it, or return a list that holds it.")
        try:
            self._iterator = iter(made)
        except TypeError:
            raise ScriptError(f"{self._name} gave {values.kind(made)}; it must give an iterable of feed dictionaries",
                              place=self._definition, remedy="Yield dictionaries from input names to arrays.") from None

    def _place(self):
        """The line at which a generator waits, else where the function begins."""
        frame = self._iterator.gi_frame if inspect.isgenerator(self._iterator) else None
        if frame is None:
            return self._definition
        return (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
