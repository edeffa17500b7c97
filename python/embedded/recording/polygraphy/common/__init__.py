"""TensorMetadata: types and shapes of tensors by name."""

from collections import OrderedDict

from polygraphy.exception import DataTypeConversionException, PolygraphyException, PolygraphyInternalException  # noqa: F401
from recorded.refusal import refuser


class MetadataTuple:
    """A tensor's type, shape and description."""

    def __init__(self, dtype, shape, docstring=None, min_shape=None, max_shape=None):
        self.dtype, self.shape, self.docstring = dtype, shape, docstring
        self.min_shape, self.max_shape = min_shape, max_shape

    def __iter__(self):
        return iter((self.dtype, self.shape))

    def __repr__(self):
        return f"MetadataTuple({self.dtype}, {self.shape})"


class TensorMetadata(OrderedDict):
    """Names to MetadataTuple."""

    @staticmethod
    def from_feed_dict(feed_dict):
        metadata = TensorMetadata()
        for name, array in feed_dict.items():
            metadata.add(name, array.dtype, tuple(array.shape))
        return metadata

    def add(self, name, dtype, shape, min_shape=None, max_shape=None, docstring=None):
        """Adds or replaces an entry; gives the metadata."""
        self[name] = MetadataTuple(dtype, shape, docstring, min_shape, max_shape)
        return self

    def __str__(self):
        return "{" + ", ".join(f"{n} [dtype={m.dtype}, shape={m.shape}]" for n, m in self.items()) + "}"


__getattr__ = refuser("polygraphy.common")
