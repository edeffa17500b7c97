"""ONNX's values in Python: NumPy arrays (those of ml_dtypes, too), lists for sequences, dictionaries for maps, None for an
optional without a value. Tensors of PyTorch, and what else has numpy(), are taken as arrays."""

import struct
import sys

from .failures import ScriptError
from .install import install_command

# ONNX's number of a type: NumPy's name of it, or that of ml_dtypes.
NAMES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8_e4m3fn",
    18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4_e2m1fn",
    24: "float8_e8m0fnu", 25: "uint2", 26: "int2", 27: "float6_e2m3fn", 28: "float6_e3m2fn",
}
NUMBERS = {name: number for number, name in NAMES.items()}
STRING = 8
FIRST_OF_ML_DTYPES = 16


def numpy():
    try:
        import numpy
    except ImportError as e:
        raise ScriptError(f"the Python interpreter {sys.executable} has no NumPy: {e}",
                          remedy=f"Install it ({install_command('numpy')}), or name another interpreter in "
                                 "ASSAY_PYTHON.") from None
    return numpy


def dtype_of(number):
    """NumPy's dtype of ONNX's number."""
    if number == STRING:
        return numpy().dtype(object)
    name = NAMES[number]
    if number < FIRST_OF_ML_DTYPES:
        return numpy().dtype(name)
    try:
        import ml_dtypes
    except ImportError as e:
        raise ScriptError(f"an array of {name} needs the package ml_dtypes: {e}",
                          remedy=f"Install it: {install_command('ml_dtypes')}.") from None
    if not hasattr(ml_dtypes, name):
        raise ScriptError(f"ml_dtypes {ml_dtypes.__version__} has no {name}",
                          remedy=f"Install a newer one: {install_command('ml_dtypes', '-U ')}.")
    return numpy().dtype(getattr(ml_dtypes, name))


def read_array(number, shape, nbytes, read):
    """The array whose bytes come next; `read` fills a memoryview."""
    np = numpy()
    if number == STRING:
        text = bytearray(nbytes)
        read(memoryview(text))
        return _strings(text, shape)
    array = np.empty(shape, dtype_of(number))
    if nbytes:
        read(memoryview(array.reshape(-1).view(np.uint8)))
    return array


def _strings(text, shape):
    np = numpy()
    out, at = np.empty(shape, dtype=object), 0
    flat = out.reshape(-1)
    for i in range(flat.size):
        (length,) = struct.unpack_from("<I", text, at)
        flat[i] = text[at + 4:at + 4 + length].decode("utf-8", "surrogateescape")
        at += 4 + length
    return out


class Encoded:
    """What a script made, checked and ready to be sent. `where` says what it is, for errors."""

    def __init__(self, value, where):
        self.form = encode(value, where)

    def write_to(self, buffers):
        return _place(self.form, buffers)


def _place(form, buffers):
    mark, content = form
    if mark == "t":
        number, array, nbytes, shape = content
        if nbytes:
            buffers.append(array)
        return {"t": [number, shape, nbytes]}
    return {mark: [_place(x, buffers) for x in content]}


def encode(value, where):
    """("t", ...), ("s", [...]), ("o", [...]) or ("m", [keys, values]); raises ScriptError for anything else."""
    if value is None:
        return ("o", [])
    if isinstance(value, list):
        return ("s", [encode(x, f"{where}[{i}]") for i, x in enumerate(value)])
    if isinstance(value, dict):
        return _encode_map(value, where)
    return ("t", _encode_array(as_array(value, where), where))


def as_array(value, where):
    np = numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach"):
        return _array_of_torch(value)
    if hasattr(value, "numpy") and callable(value.numpy):
        array = value.numpy()
        if isinstance(array, (np.ndarray, np.generic)):
            return np.asarray(array)
    raise ScriptError(f"{where} is {kind(value)}; it must be a NumPy array",
                      remedy="Make one with numpy.asarray(value, dtype=...).")


def _array_of_torch(value):
    """PyTorch gives no NumPy array of the types that NumPy itself does not have."""
    value = value.detach().cpu()
    name = str(value.dtype).split(".")[-1]
    if name in NUMBERS and NUMBERS[name] >= FIRST_OF_ML_DTYPES:
        import torch

        bits = torch.int16 if value.element_size() == 2 else torch.uint8
        return value.contiguous().view(bits).numpy().view(dtype_of(NUMBERS[name]))
    return value.resolve_conj().numpy() if value.is_complex() else value.numpy()


def _encode_array(array, where):
    np = numpy()
    shape = list(array.shape)
    if array.dtype.kind in "OUS":
        return _encode_strings(array, shape, where)
    number = NUMBERS.get(array.dtype.name)
    if number is None:
        raise ScriptError(f"{where} is an array of {array.dtype}, a type that ONNX does not have",
                          remedy="Convert it, as in array.astype(numpy.float32).")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return number, memoryview(flat), flat.nbytes, shape


def _encode_strings(array, shape, where):
    pieces = []
    for element in array.reshape(-1).tolist():
        if isinstance(element, str):
            element = element.encode("utf-8", "surrogateescape")
        if not isinstance(element, bytes):
            raise ScriptError(f"{where} is an array of objects with {kind(element)} in it; only strings can be",
                              remedy="Give the array a type of numbers, as in numpy.asarray(value, dtype=numpy.float32).")
        pieces.append(struct.pack("<I", len(element)) + element)
    text = b"".join(pieces)
    return STRING, memoryview(text), len(text), shape


def _encode_map(value, where):
    np = numpy()
    keys = list(value)
    if all(isinstance(k, str) for k in keys):
        key_array = np.array(keys, dtype=object)
    elif all(isinstance(k, (int, np.integer)) for k in keys):
        key_array = np.array(keys, dtype=np.int64)
    else:
        raise ScriptError(f"{where} is a dictionary whose keys are neither all strings nor all integers")
    elements = list(value.values())
    if all(isinstance(x, (np.generic, int, float, str)) for x in elements):
        element_type = object if any(isinstance(x, str) for x in elements) else None
        values = ("t", _encode_array(np.array(elements, dtype=element_type), f"the values of {where}"))
    else:
        values = encode(elements, f"the values of {where}")
    return ("m", [("t", _encode_array(key_array, f"the keys of {where}")), values])


def tensors(mapping, where):
    """A dictionary from names to values, as a script must give it, ready to be sent."""
    if not hasattr(mapping, "items"):
        raise ScriptError(f"{where} is {kind(mapping)}; it must be a dictionary from names to NumPy arrays")
    out = {}
    for name, value in mapping.items():
        if not isinstance(name, str):
            raise ScriptError(f"{where} has {name!r}, {kind(name)}, for a name; names are strings")
        if hasattr(value, "load") and type(value).__module__.startswith("polygraphy."):
            value = value.load()
        out[name] = Encoded(value, f"{where}[{name!r}]")
    return out


def kind(value):
    """What a value is, for errors: a list, None."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
