"""Optimization profiles."""

from fnmatch import fnmatchcase

from polygraphy import constants, util
from polygraphy.backend.trt import util as trt_util
from polygraphy.common.interface import TypedDict
from polygraphy.logger import G_LOGGER, LogMode

__all__ = ["Profile", "ShapeTuple"]


class ShapeTuple:
    """The least, best and greatest shape (or values, of a shape tensor); three elements when it is unpacked."""

    def __init__(self, min, opt, max):
        self.min, self.opt, self.max = min, opt, max

    def __iter__(self):
        return iter((self.min, self.opt, self.max))

    def __str__(self):
        return f"(min={self.min}, opt={self.opt}, max={self.max})"

    def __repr__(self):
        return f"{type(self).__name__}{self}"


def _is_shape_tensor(tensor):
    with G_LOGGER.verbosity():  # asking for it may be reported as an error
        return tensor.is_shape_tensor


def _inputs(network):
    return [network.get_input(i) for i in range(network.num_inputs)]


class Profile(TypedDict(lambda: str, lambda: ShapeTuple)):
    """Shapes of a network's inputs by name or pattern."""

    def add(self, name, min, opt, max):
        """Adds an input, or replaces it; gives the profile, for more of them."""
        self[name] = ShapeTuple(min, opt, max)
        return self

    def __getitem__(self, key):
        if key not in self:
            G_LOGGER.critical(f"Binding: {key} does not have shapes set in this profile")
        return super().__getitem__(key)

    def fill_defaults(self, network, default_shape_value=None):
        """Adds the network's other inputs, with `default_shape_value` (1) for open extents; gives the profile."""
        value = util.default(default_shape_value, constants.DEFAULT_SHAPE_VALUE)
        for tensor in _inputs(network):
            if any(fnmatchcase(tensor.name, pattern) for pattern in self):
                continue
            is_shape = _is_shape_tensor(tensor)
            if is_shape:
                shape = (value,) * (tensor.shape[0] if len(tensor.shape) else 1)
                what = "values"
            else:
                shape = tuple(util.override_dynamic_shape(tensor.shape, value))
                what = "shapes"
            if is_shape or shape != tuple(tensor.shape):
                G_LOGGER.warning(f"{trt_util.str_from_tensor(tensor, is_shape)} | No {what} provided; Will use {what[:-1]}: {shape} for min/opt/max in profile. "
                                 f"Give the profile others if this input's {what} change.", mode=LogMode.ONCE)
            self.add(tensor.name, shape, shape, shape)
        return self

    def to_trt(self, builder, network):
        """TensorRT's profile."""
        made, tensors = builder.create_optimization_profile(), _inputs(network)
        keys, unused = util.match_keys(self.keys(), [t.name for t in tensors])
        if unused:
            G_LOGGER.critical(f"Invalid inputs were provided to the optimization profile: {set(unused)}\n"
                              f"Note: Inputs available in the TensorRT network are: {set(t.name for t in tensors)}")
        for tensor in tensors:
            is_shape, key = _is_shape_tensor(tensor), keys.get(tensor.name)
            if is_shape and key is None:
                G_LOGGER.warning(f"{trt_util.str_from_tensor(tensor, True)} | No values provided; its values count as constant.", mode=LogMode.ONCE)
                continue
            shapes = self[util.default(key, tensor.name)]
            (made.set_shape_input if is_shape else made.set_shape)(tensor.name, *shapes)
            G_LOGGER.verbose(lambda: f"{trt_util.str_from_tensor(tensor, is_shape)} | Setting input {'values' if is_shape else 'shapes'} to: {shapes}")
        return trt_util.check_profile(made)

    def __repr__(self):
        return "Profile()" + "".join(f".add({name!r}, min={s.min}, opt={s.opt}, max={s.max})" for name, s in self.items())

    def __str__(self):
        return "{" + ",\n ".join(f"{name} [min={s.min}, opt={s.opt}, max={s.max}]" for name, s in self.items()) + "}"
