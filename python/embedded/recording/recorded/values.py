"""Dims, Permutation and Weights: what scripts hand to layers."""

import operator

from . import dtypes
from .enums import DataType
from .errors import RecordingError


class Dims:
    """Extents of a tensor, or a parameter per axis; -1 is open. Equal to any sequence of the same numbers."""
    MAX_DIMS = 8

    def __init__(self, shape=()):
        self._list = [operator.index(d) for d in shape]

    def __len__(self):
        return len(self._list)

    def __iter__(self):
        return iter(self._list)

    def __getitem__(self, index):
        return tuple(self._list[index]) if isinstance(index, slice) else self._list[index]

    def __setitem__(self, index, value):
        if isinstance(index, slice):
            value = [operator.index(v) for v in value]
            if len(value) != len(self._list[index]):
                raise ValueError(f"{len(self._list[index])} extents cannot be replaced by {len(value)}")
            self._list[index] = value
        else:
            self._list[index] = operator.index(value)

    def __eq__(self, other):
        try:
            return self._list == list(other)
        except TypeError:
            return NotImplemented

    __hash__ = None

    def __repr__(self):
        return "(" + ", ".join(map(str, self._list)) + ")"

    __str__ = __repr__

    def numel(self):
        """The product of the extents; of none it is 1."""
        result = 1
        for d in self._list:
            result *= d
        return result


def _fixed_dims(name, count, base=Dims, names=()):
    def init(self, *args, **kwargs):
        if kwargs and not args:
            args = tuple(kwargs[n] for n in names) if names and set(kwargs) == set(names) else tuple(kwargs.values())
        shape = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
        shape = tuple(shape) or (0,) * count
        if len(shape) != count:
            raise ValueError(f"tensorrt.{name} has {count} extents, not {len(shape)}")
        Dims.__init__(self, shape)

    return type(name, (base,), {"__init__": init, "__module__": "tensorrt", "__doc__": f"{count} extents."})


Dims2 = _fixed_dims("Dims2", 2)
Dims3 = _fixed_dims("Dims3", 3)
Dims4 = _fixed_dims("Dims4", 4)


class DimsHW(_fixed_dims("DimsHW", 2, Dims2, ("h", "w"))):
    """A height and a width."""
    h = property(lambda self: self._list[0], lambda self, v: self.__setitem__(0, v))
    w = property(lambda self: self._list[1], lambda self, v: self.__setitem__(1, v))


class Permutation(Dims):
    """The order of axes after a transposition: axis i of the result is axis p[i] of the input."""


def as_dims(value, what="shape"):
    """A list of ints from anything that TensorRT takes for Dims."""
    try:
        return [operator.index(d) for d in value]
    except TypeError:
        raise RecordingError(f"{what} must be a sequence of integers (tensorrt.Dims, tuple, list), not {value!r}.") from None


class Weights:
    """An array of weights, or none: Weights(), Weights(DataType), Weights(array), Weights(DataType, address, count)."""

    def __init__(self, a=None, ptr=None, count=None, type=None):
        if type is not None:
            a = type
        self._array, self._address, self._count = None, None, 0
        if a is None or isinstance(a, DataType):
            self._type = dtypes.to_onnx(a or DataType.FLOAT)
            if ptr is not None:
                self._address, self._count = int(ptr), int(count or 0)
            return
        import numpy
        array = numpy.asarray(a)
        if array.dtype == numpy.float64 and not isinstance(a, numpy.ndarray):
            array = array.astype(numpy.float32)
        self._type = dtypes.onnx_type_of_array(array)
        self._array = numpy.ascontiguousarray(array).reshape(-1)
        self._count = self._array.size

    @property
    def _bytes(self):
        """What lies at the address now: it is borrowed, as arrays are."""
        import ctypes
        if self._address is None:
            return None
        return ctypes.string_at(self._address, self.nbytes) if self.nbytes else b""

    @property
    def dtype(self):
        return dtypes.from_onnx(self._type)

    @property
    def size(self):
        return self._count

    def __len__(self):
        return self._count

    @property
    def nbytes(self):
        return (self._count * dtypes.bits(self._type) + 7) // 8

    def numpy(self):
        """The weights as a flat array; of types that NumPy lacks, the bytes."""
        import numpy
        if self._array is not None:
            return self._array
        kind = dtypes.numpy_dtype(self._type)
        return numpy.frombuffer(self._bytes or b"", dtype=kind or numpy.uint8)

    def raw(self):
        """The bytes as ONNX stores them."""
        if self._bytes is not None or self._array is None:
            return self._bytes or b""
        if dtypes.bits(self._type) == 4:
            import numpy
            nibbles = self._array.view(numpy.uint8) & 15
            if nibbles.size % 2:
                nibbles = numpy.append(nibbles, numpy.uint8(0))
            return (nibbles[0::2] | (nibbles[1::2] << 4)).astype(numpy.uint8).tobytes()
        array = self._array
        return (array.astype(array.dtype.newbyteorder("<")) if array.dtype.byteorder == ">" else array).tobytes()

    def __repr__(self):
        return f"<tensorrt.Weights of {self._count} x {self.dtype}>"


def weights_key(weights):
    """What tells weights from others: where their elements lie."""
    weights = as_weights(weights)
    return weights._array.ctypes.data if weights._array is not None else weights._address or id(weights)


def as_weights(value):
    """Weights from anything that TensorRT takes for them."""
    return value if isinstance(value, Weights) else Weights(value)
