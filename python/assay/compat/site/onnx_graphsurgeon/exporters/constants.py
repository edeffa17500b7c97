"""TensorProtos of constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from onnx_graphsurgeon.ir.tensor import Constant
from onnx_graphsurgeon.ir.values import LazyValues, SparseValues
from onnx_graphsurgeon.util import onnx_types

# What values of float32 can be converted to at export; ONNX's names to ml_dtypes'.
_CONVERTED = {
    "BFLOAT16": "bfloat16",
    "FLOAT8E4M3FN": "float8_e4m3fn",
    "FLOAT8E4M3FNUZ": "float8_e4m3fnuz",
    "FLOAT8E5M2": "float8_e5m2",
    "FLOAT8E5M2FNUZ": "float8_e5m2fnuz",
    "FLOAT4E2M1": "float4_e2m1fn",
}


def is_sparse(constant: Constant) -> bool:
    """Whether a constant is still a sparse tensor of the model."""
    return isinstance(constant._values, SparseValues)


def fill_tensor(message: Any, constant: Constant) -> None:
    """Writes a constant into an empty TensorProto; values that were not loaded are taken over as they are."""
    values = constant._values
    if type(values) is LazyValues and constant._export_dtype is None:
        message.CopyFrom(values.tensor)
        _fill_head(message, constant)
        return
    if isinstance(values, SparseValues):
        raise AttributeError(
            "{!r} is a sparse tensor: it is exported as a SparseTensorProto unless its values were loaded".format(
                constant.name
            )
        )
    target = onnx_types.dtype_to_onnx(constant.export_dtype)
    if isinstance(values, LazyValues):
        if onnx_types.dtype_to_onnx(values.dtype) == target:
            message.CopyFrom(values.tensor)
            _fill_head(message, constant)
            return
        values = values.load()
    if constant._export_dtype is not None:
        values = _converted(constant, values, target)
    message.data_type = target
    message.dims.extend(values.shape)
    _fill_head(message, constant)
    if target == onnx.TensorProto.STRING:
        message.string_data.extend([_encoded(elem) for elem in values.reshape(-1).tolist()])
    else:
        message.raw_data = onnx_types.pack_values(values)


def _fill_head(message: Any, constant: Constant) -> None:
    if message.name != constant.name or not constant.name:
        if not isinstance(constant.name, str):
            raise TypeError(
                "the name of a tensor must be a string, not {:}: {!r}".format(
                    type(constant.name).__name__, constant.name
                )
            )
        message.name = constant.name
    if constant.data_location is not None and message.data_location != constant.data_location:
        message.data_location = constant.data_location


def _encoded(elem: Any) -> bytes:
    return elem if isinstance(elem, bytes) else str(elem).encode("utf-8", "surrogateescape")


def _converted(constant: Constant, values: np.ndarray, target: int) -> np.ndarray:
    source = onnx_types.dtype_to_onnx(values.dtype)
    if source == target:
        return values
    name = onnx_types.get_dtype_name(target)
    if source != onnx.TensorProto.FLOAT or name not in _CONVERTED:
        raise AssertionError(
            "{!r} cannot be exported as {:}: only values of float32 are converted, to {:}; these are {:}".format(
                constant.name, name, ", ".join(_CONVERTED), values.dtype
            )
        )
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            "{!r} cannot be exported as {:}, which takes the package ml_dtypes: "
            "python3 -m pip install ml_dtypes".format(constant.name, name)
        ) from None
    return values.astype(getattr(ml_dtypes, _CONVERTED[name]))


def make_sparse_tensor(constant: Constant) -> Any:
    """The SparseTensorProto of a constant whose values were not loaded. An AttributeError for any other."""
    if not is_sparse(constant):
        raise AttributeError("{!r} is no sparse tensor, or its values were loaded".format(constant.name))
    message = onnx.SparseTensorProto()
    message.CopyFrom(constant._values.tensor)
    if message.values.name != constant.name:
        message.values.name = constant.name
    return message
