"""Element types: between ONNX's enumeration and NumPy's dtypes."""

from __future__ import annotations

from typing import Any, Dict, Optional, Union

import numpy as np

try:
    import onnx
except ImportError as error:  # pragma: no cover - an environment without onnx
    raise ImportError(
        "onnx_graphsurgeon takes and gives models of the package onnx, which is not installed: "
        "python3 -m pip install onnx"
    ) from error

from onnx_graphsurgeon.logger import G_LOGGER, LogMode

_T = onnx.TensorProto

_NUMPY_TYPES: Dict[int, np.dtype] = {
    _T.FLOAT: np.dtype(np.float32),
    _T.UINT8: np.dtype(np.uint8),
    _T.INT8: np.dtype(np.int8),
    _T.UINT16: np.dtype(np.uint16),
    _T.INT16: np.dtype(np.int16),
    _T.INT32: np.dtype(np.int32),
    _T.INT64: np.dtype(np.int64),
    _T.STRING: np.dtype(object),
    _T.BOOL: np.dtype(bool),
    _T.FLOAT16: np.dtype(np.float16),
    _T.DOUBLE: np.dtype(np.float64),
    _T.UINT32: np.dtype(np.uint32),
    _T.UINT64: np.dtype(np.uint64),
    _T.COMPLEX64: np.dtype(np.complex64),
    _T.COMPLEX128: np.dtype(np.complex128),
}

# Types that NumPy lacks and that scripts know by their number in ONNX; elements of half a byte among them.
_KEPT_AS_NUMBERS: Dict[str, float] = {
    "BFLOAT16": 2,
    "FLOAT8E4M3FN": 1,
    "FLOAT8E4M3FNUZ": 1,
    "FLOAT8E5M2": 1,
    "FLOAT8E5M2FNUZ": 1,
    "FLOAT4E2M1": 0.5,
}

# ml_dtypes' names of types, and ONNX's.
_ML_DTYPES: Dict[str, str] = {
    "bfloat16": "BFLOAT16",
    "float8_e4m3fn": "FLOAT8E4M3FN",
    "float8_e4m3fnuz": "FLOAT8E4M3FNUZ",
    "float8_e5m2": "FLOAT8E5M2",
    "float8_e5m2fnuz": "FLOAT8E5M2FNUZ",
    "float8_e8m0fnu": "FLOAT8E8M0",
    "float4_e2m1fn": "FLOAT4E2M1",
    "float6_e2m3fn": "FLOAT6E2M3",
    "float6_e3m2fn": "FLOAT6E3M2",
    "int4": "INT4",
    "uint4": "UINT4",
    "int2": "INT2",
    "uint2": "UINT2",
}

# Values in a byte of the types whose elements ONNX packs; NumPy's arrays have one in a byte.
PACKED_BITS: Dict[str, int] = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}

# NumPy's types by their numbers in ONNX, as far as they were asked for.
known_numpy_types: Dict[int, Any] = dict(_NUMPY_TYPES)
_to_onnx: Dict[Any, int] = {dtype: number for number, dtype in _NUMPY_TYPES.items()}


def get_dtype_name(onnx_type: int) -> str:
    """The name of an element type in ONNX. A KeyError for a number that this version of onnx does not know."""
    try:
        return str(onnx.TensorProto.DataType.Name(onnx_type))
    except ValueError:
        raise KeyError(onnx_type) from None


def get_numpy_type(onnx_type: Any) -> Optional[np.dtype]:
    """The dtype of an element type of ONNX; None, and a warning, where scripts know the type by its number.

    What is no number is returned as it is. A KeyError for a number that this version of onnx does not know.
    """
    if not isinstance(onnx_type, int):
        return onnx_type
    known = known_numpy_types.get(onnx_type)
    if known is None:
        return _find_numpy_type(onnx_type)
    return known


def _find_numpy_type(onnx_type: int) -> Optional[np.dtype]:
    name = get_dtype_name(onnx_type)
    dtype = None if name in _KEPT_AS_NUMBERS else _extension_dtype(name)
    if dtype is not None:
        known_numpy_types[onnx_type] = dtype
        return dtype
    G_LOGGER.warning(
        "NumPy has no type like ONNX's {:}: the dtype is given by its number in ONNX, {:}.".format(name, onnx_type),
        mode=LogMode.ONCE,
    )
    return None


def _extension_dtype(onnx_name: str) -> Optional[np.dtype]:
    try:
        import ml_dtypes
    except ImportError:
        return None
    for name, of_onnx in _ML_DTYPES.items():
        if of_onnx == onnx_name and hasattr(ml_dtypes, name):
            return np.dtype(getattr(ml_dtypes, name))
    return None


def import_dtype(onnx_type: Any) -> Any:
    """What `dtype` is for tensors of an element type: a NumPy dtype, or the number where NumPy has none."""
    dtype = get_numpy_type(onnx_type)
    return onnx_type if dtype is None else dtype


def get_itemsize(dtype: Any) -> Union[int, float]:
    """Bytes of an element; 0.5 for two elements in a byte. An OnnxGraphSurgeonException for a type without a size."""
    if isinstance(dtype, np.dtype):
        return dtype.itemsize
    for name, size in _KEPT_AS_NUMBERS.items():
        if dtype is not None and dtype == getattr(onnx.TensorProto, name, None):
            return size
    G_LOGGER.critical("elements of type {:} have no known size".format(dtype))


def dtype_to_onnx(dtype: Any) -> int:
    """The number in ONNX of a dtype, of what NumPy makes a dtype of, or of a number.

    A TypeError where NumPy makes no dtype of it, a ValueError where ONNX has no such type, a RuntimeError where this
    version of onnx is too old for it.
    """
    if isinstance(dtype, int):
        return dtype
    try:
        known = _to_onnx.get(dtype)
    except TypeError:
        known = None
    if known is not None:
        return known
    return _find_onnx_type(dtype, np.dtype(dtype))


def _find_onnx_type(asked: Any, dtype: np.dtype) -> int:
    name = _ML_DTYPES.get(dtype.name)
    if name is not None:
        number = getattr(onnx.TensorProto, name, None)
        if number is None:
            # The words are those that upstream's tests ask for.
            raise RuntimeError(
                "Current ONNX package does not support {:}. Please upgrade ONNX to the latest version.".format(name)
            )
        return int(number)
    if dtype.kind in "OUST":
        return int(_T.STRING)
    number = _to_onnx.get(dtype.newbyteorder("="))
    if number is None:
        raise ValueError("ONNX has no element type like NumPy's {:}".format(dtype))
    if isinstance(asked, type):
        _to_onnx[asked] = number
    return number


def pack_values(values: np.ndarray) -> bytes:
    """The raw bytes of an array as TensorProto has them: little-endian, elements of less than a byte packed."""
    dtype = values.dtype
    if dtype.kind in "biufc":
        if dtype.byteorder == ">" or (dtype.byteorder == "=" and not np.little_endian):
            values = values.astype(dtype.newbyteorder("<"))
        return values.tobytes()
    bits = PACKED_BITS.get(dtype.name)
    return values.tobytes() if bits is None else _packed_bytes(values, bits)


def _packed_bytes(values: np.ndarray, bits: int) -> bytes:
    per_byte = 8 // bits
    codes = np.ascontiguousarray(values).reshape(-1).view(np.uint8) & np.uint8((1 << bits) - 1)
    codes = np.concatenate([codes, np.zeros(-len(codes) % per_byte, np.uint8)]).reshape(-1, per_byte)
    packed = np.zeros(len(codes), np.uint8)
    for place in range(per_byte):
        packed |= codes[:, place] << np.uint8(place * bits)
    return packed.tobytes()
