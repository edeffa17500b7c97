"""Element types between the library and tensorrt."""

from recorded.enums import DataType

_BY_NAME = {"float32": DataType.FLOAT, "float16": DataType.HALF, "int8": DataType.INT8, "int32": DataType.INT32,
            "bool": DataType.BOOL, "uint8": DataType.UINT8, "float8_e4m3fn": DataType.FP8, "float8e4m3fn": DataType.FP8,
            "bfloat16": DataType.BF16, "int64": DataType.INT64, "int4": DataType.INT4, "float4_e2m1fn": DataType.FP4,
            "float4e2m1": DataType.FP4, "float8_e8m0fnu": DataType.E8M0, "float8e8m0": DataType.E8M0}
_OTHER_BITS = {"float64": 64, "uint64": 64, "int16": 16, "uint16": 16, "uint32": 32, "complex64": 64, "complex128": 128,
               "uint4": 4}


def data_type(name):
    """The DataType of a library's name; None for those that tensorrt lacks."""
    return _BY_NAME.get(name)


def byte_count(name, elements):
    dtype = data_type(name)
    bits = int(dtype.itemsize * 8) if dtype is not None else _OTHER_BITS.get(name, 8)
    return (elements * bits + 7) // 8


def numpy_type(name):
    """NumPy's dtype for a library's name, or ml_dtypes'."""
    import numpy as np

    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, {"float8e4m3fn": "float8_e4m3fn"}.get(name, name)))


def volume(shape):
    result = 1
    for d in shape:
        result *= d
    return result
