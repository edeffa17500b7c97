"""Profile: the shapes of one optimisation profile."""

import fnmatch
from collections import OrderedDict

from polygraphy import constants
from polygraphy.exception import PolygraphyException
from polygraphy.logger import G_LOGGER


class ShapeTuple:
    """The least, best and greatest shape of an input."""

    def __init__(self, min, opt, max):
        self.min, self.opt, self.max = min, opt, max

    def __iter__(self):
        return iter((self.min, self.opt, self.max))

    def __eq__(self, other):
        return isinstance(other, ShapeTuple) and list(map(list, self)) == list(map(list, other))

    def __repr__(self):
        return f"ShapeTuple(min={self.min}, opt={self.opt}, max={self.max})"

    def __str__(self):
        return f"(min={self.min}, opt={self.opt}, max={self.max})"


class Profile(OrderedDict):
    """Names of inputs, or patterns of them, to ShapeTuple."""

    def __init__(self, dct=None):
        OrderedDict.__init__(self, dct or {})

    def add(self, name, min, opt, max):
        """Sets the shapes of an input; gives the profile."""
        self[name] = ShapeTuple(min, opt, max)
        return self

    def __getitem__(self, key):
        """The shapes of an input, which a pattern may give, too."""
        if key in self:
            return OrderedDict.__getitem__(self, key)
        for pattern, value in self.items():
            if fnmatch.fnmatch(key, pattern):
                return value
        raise PolygraphyException(f"The profile has no shapes for '{key}'; it has some for {list(self)}.")

    def _of(self, name):
        try:
            return self[name]
        except PolygraphyException:
            return None

    def fill_defaults(self, network, default_shape_value=None):
        """Shapes for inputs that have none: open extents become 1. Patterns become names. Gives the profile."""
        value = constants.DEFAULT_SHAPE_VALUE if default_shape_value is None else default_shape_value
        filled = OrderedDict()
        for i in range(network.num_inputs):
            tensor = network.get_input(i)
            given = self._of(tensor.name)
            if given is None:
                shape = [value if d < 0 else d for d in tensor.shape]
                if tensor.is_shape_tensor:
                    shape = [value] * (shape[0] if shape else 1)
                if -1 in list(tensor.shape):
                    G_LOGGER.warning(f"Input '{tensor.name}' {tensor.shape} has no shapes in the profile; it gets {shape} for all of them.")
                given = ShapeTuple(shape, shape, shape)
            filled[tensor.name] = given
        names = {n for n in self if not any(c in n for c in "*?[")}
        filled.update((n, OrderedDict.__getitem__(self, n)) for n in names if n not in filled)
        self.clear()
        self.update(filled)
        return self

    def to_trt(self, builder, network):
        """The profile as TensorRT's."""
        profile = builder.create_optimization_profile()
        available = {network.get_input(i).name: network.get_input(i) for i in range(network.num_inputs)}
        unknown = [n for n in self if n not in available]
        if unknown:
            raise PolygraphyException(f"The profile has shapes for {unknown}, which are no inputs of the network; its inputs are "
                                      f"{list(available)}.")
        for name, tensor in available.items():
            given = self._of(name)
            if given is None:
                raise PolygraphyException(
                    f"The profile has no shapes for input '{name}'. Profile.fill_defaults(network) fills them in.")
            if tensor.is_shape_tensor and self._holds_values(tensor, given):
                profile.set_shape_input(name, *given)
            elif -1 in list(tensor.shape) or not tensor.is_shape_tensor:
                profile.set_shape(name, *given)
        return profile

    @staticmethod
    def _holds_values(tensor, given):
        """Whether shapes are values: of a tensor of one axis and so many elements."""
        shape = list(tensor.shape)
        return not shape or (shape[0] >= 0 and len(given.opt) == shape[0] and list(given.opt) != shape)

    def __repr__(self):
        return "Profile()" + "".join(f".add({n!r}, min={v.min}, opt={v.opt}, max={v.max})" for n, v in self.items())

    def __str__(self):
        return "{" + ", ".join(f"{n} [min={v.min}, opt={v.opt}, max={v.max}]" for n, v in self.items()) + "}"
