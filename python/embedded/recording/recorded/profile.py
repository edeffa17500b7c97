"""IOptimizationProfile: the shapes that an engine must take."""

from . import shapes
from .errors import RecordingError
from .layer import Served
from .values import Dims, as_dims


class IOptimizationProfile(Served):
    """For each input the least, best and greatest shape; for shape inputs the values."""

    def __init__(self):
        self._shapes, self._values, self._extra = {}, {}, 1.0

    extra_memory_target = property(lambda self: self._extra, lambda self, v: setattr(self, "_extra", float(v)))

    @staticmethod
    def _checked(input, min, opt, max, what):
        lists = [as_dims(v, f"{name} of input '{input}'") for name, v in (("min", min), ("opt", opt), ("max", max))]
        if len({len(v) for v in lists}) > 1:
            raise RecordingError(
                f"{what} of '{input}': min, opt and max have {', '.join(str(len(v)) for v in lists)} numbers; they must have "
                "as many.")
        for low, best, high in zip(*lists):
            if not low <= best <= high:
                raise RecordingError(f"{what} of '{input}': min {shapes.text(lists[0])}, opt {shapes.text(lists[1])} and max "
                                     f"{shapes.text(lists[2])} must not fall.")
        return lists

    def set_shape(self, input, min, opt, max):
        self._shapes[str(input)] = self._checked(input, min, opt, max, "set_shape")

    def set_shape_input(self, input, min, opt, max):
        self._values[str(input)] = self._checked(input, min, opt, max, "set_shape_input")

    def get_shape(self, input):
        return [Dims(v) for v in self._shapes.get(input, [])]

    def get_shape_input(self, input):
        return [list(v) for v in self._values.get(input, [])]

    @property
    def is_empty(self):
        return not (self._shapes or self._values)

    def __bool__(self):
        """Whether a configuration takes it: what is set is checked as it is set, and nothing need be."""
        return True

    is_valid = property(__bool__)
