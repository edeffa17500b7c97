"""Types and shapes of tensors by name, and arrays of layouts that only TensorRT knows."""

from polygraphy import util
from polygraphy.common.interface import TypedDict
from polygraphy.datatype import DataType
from polygraphy.json import Decoder, Encoder, add_json_methods

__all__ = ["FormattedArray", "TensorMetadata"]


class BoundedShape(list):
    """A shape, whose open extents may have bounds."""

    def __init__(self, shape, min=None, max=None):
        super().__init__(shape)
        self.min, self.max = min, max

    def __repr__(self):
        return f"BoundedShape({list(self)}, min={self.min}, max={self.max})"


class MetadataTuple:
    """A tensor's type, its shape, and what is said about it; two elements when it is unpacked."""

    def __init__(self, dtype, shape, docstring):
        self.dtype, self.shape, self.docstring = dtype, shape, docstring

    @property
    def dtype(self):
        return self._dtype

    @dtype.setter
    def dtype(self, new):
        self._dtype = None if new is None else DataType.from_dtype(new)

    def __iter__(self):
        return iter((self.dtype, self.shape))

    def __eq__(self, other):
        return (self.dtype, self.shape) == (other.dtype, other.shape)

    def __str__(self):
        parts = [] if self.dtype is None else [f"dtype={self.dtype}"]
        parts += [] if self.shape is None else [f"shape={tuple(self.shape)}"]
        parts += [self.docstring] if self.docstring else []
        return f"[{', '.join(parts)}]" if parts else ""

    def __repr__(self):
        return f"MetadataTuple({self.dtype}, {self.shape}, {self.docstring})"


class TensorMetadata(TypedDict(lambda: str, lambda: MetadataTuple)):
    """Names of tensors to their types and shapes, in order."""

    @staticmethod
    def from_feed_dict(feed_dict):
        """Of arrays by name."""
        metadata = TensorMetadata()
        for name, array in feed_dict.items():
            metadata.add(name, util.array.dtype(array), util.array.shape(array))
        return metadata

    def add(self, name, dtype, shape, min_shape=None, max_shape=None, docstring=None):
        """Adds a tensor, or replaces it; gives the metadata, for more of it."""
        bounded = None if shape is None else BoundedShape(shape, min=min_shape, max=max_shape)
        self[name] = MetadataTuple(dtype, bounded, docstring)
        return self

    def __repr__(self):
        text = "TensorMetadata()"
        for name, meta in self.items():
            shape = meta.shape
            text += util.make_repr(".add", name, meta.dtype, None if shape is None else list(shape),
                                   min_shape=getattr(shape, "min", None), max_shape=getattr(shape, "max", None),
                                   docstring=meta.docstring)[0]
        return text

    def __str__(self):
        return "{" + ",\n ".join(f"{name} {meta}".strip() for name, meta in self.items()) + "}"


@add_json_methods("formatted array")
class FormattedArray:
    """An array whose memory does not say its shape, such as one of a vectorized format, and the shape."""

    def __init__(self, array, shape):
        self.array, self.shape = array, shape


@Encoder.register(FormattedArray)
def _encode(formatted):
    return {"array": formatted.array, "shape": formatted.shape}


@Decoder.register(FormattedArray)
def _decode(dct):
    return FormattedArray(dct["array"], dct["shape"])
