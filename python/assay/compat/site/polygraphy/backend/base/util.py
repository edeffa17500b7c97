"""Checks of inputs."""

from polygraphy import util
from polygraphy.logger import G_LOGGER


def check_inputs(feed_dict, input_metadata):
    """Throws where arrays by name are not what a model takes. A number is an address, of which nothing is known."""
    util.check_sequence_contains(feed_dict.keys(), input_metadata.keys(), name="input data", items_name="inputs")
    for name, array in feed_dict.items():
        if isinstance(array, int):
            continue
        wanted, dtype, shape = input_metadata[name], util.array.dtype(getattr(array, "array", array)), tuple(array.shape)
        if wanted.dtype is not None and dtype != wanted.dtype:
            G_LOGGER.critical(f"Input tensor: {name} | Received unexpected dtype: {dtype}.\nNote: Expected type: {wanted.dtype}")
        if wanted.shape is not None and not util.is_valid_shape_override(shape, wanted.shape):
            G_LOGGER.critical(f"Input tensor: {name} | Received incompatible shape: {shape}.\nNote: Expected a shape compatible with: {wanted.shape}")
