"""Element types: TensorRT's, ONNX's and NumPy's."""

from .enums import DataType
from .errors import RecordingError

FLOAT, UINT8, INT8, INT32, INT64, STRING, BOOL, HALF, DOUBLE, BF16 = 1, 2, 3, 6, 7, 8, 9, 10, 11, 16
FP8, INT4, FP4, E8M0 = 17, 22, 23, 24
FLOATS = (FLOAT, HALF, BF16, DOUBLE, FP8, FP4, E8M0)
INTEGERS = (UINT8, INT8, INT32, INT64, 4, 5, 12, 13, INT4, 21)

ONNX_NAMES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string",
              9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128",
              16: "bfloat16", 17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz",
              21: "uint4", 22: "int4", 23: "float4e2m1", 24: "float8e8m0"}

_TO_ONNX = {DataType.FLOAT: FLOAT, DataType.HALF: HALF, DataType.INT8: INT8, DataType.INT32: INT32, DataType.BOOL: BOOL,
            DataType.UINT8: UINT8, DataType.FP8: FP8, DataType.BF16: BF16, DataType.INT64: INT64, DataType.INT4: INT4,
            DataType.FP4: FP4, DataType.E8M0: E8M0}
_FROM_ONNX = {v: k for k, v in _TO_ONNX.items()}
# Names of NumPy's types, and of those that the package ml_dtypes adds.
_OF_NUMPY = {"float32": FLOAT, "float16": HALF, "int8": INT8, "int32": INT32, "int64": INT64, "bool": BOOL, "uint8": UINT8,
             "bfloat16": BF16, "float8_e4m3fn": FP8, "int4": INT4, "float4_e2m1fn": FP4, "float8_e8m0fnu": E8M0}
_NUMPY_NAMES = {FLOAT: "float32", HALF: "float16", INT8: "int8", INT32: "int32", INT64: "int64", BOOL: "bool",
                UINT8: "uint8", DOUBLE: "float64", 4: "uint16", 5: "int16", 12: "uint32", 13: "uint64"}


def to_onnx(dtype):
    """ONNX's number of a DataType."""
    return _TO_ONNX[dtype]


def from_onnx(number):
    """The DataType of ONNX's number; None where TensorRT has no such type (float64, int16, string ...)."""
    return _FROM_ONNX.get(number)


def from_name(name):
    """The DataType of a name in ONNX_NAMES; None for others."""
    return next((from_onnx(number) for number, known in ONNX_NAMES.items() if known == name), None)


def numpy_dtype(number):
    """NumPy's dtype for ONNX's number; None where NumPy has none."""
    import numpy
    name = _NUMPY_NAMES.get(number)
    return numpy.dtype(name) if name else None


def onnx_type_of_array(array):
    """ONNX's number for the elements of an array. Throws RecordingError for types that TensorRT's weights lack."""
    number = _OF_NUMPY.get(array.dtype.name)
    if number is None:
        raise RecordingError(f"Weights cannot be made from an array of {array.dtype}: TensorRT has {', '.join(_OF_NUMPY)}. "
                             "Convert it first, as in array.astype(numpy.float32).")
    return number


def bits(number):
    return {FLOAT: 32, INT32: 32, 12: 32, INT64: 64, DOUBLE: 64, 13: 64, 14: 64, 15: 128, HALF: 16, BF16: 16, 4: 16, 5: 16,
            INT4: 4, 21: 4, FP4: 4}.get(number, 8)


def nptype(dtype):
    """NumPy's type for a DataType; tensorrt.nptype. Throws TypeError for those that NumPy lacks."""
    import numpy
    name = _NUMPY_NAMES.get(_TO_ONNX[dtype])
    if name is None:
        raise TypeError(f"NumPy has no type for {dtype}.")
    return numpy.dtype(name).type if name != "bool" else numpy.bool_
