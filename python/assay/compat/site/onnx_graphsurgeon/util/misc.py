"""Small helpers that scripts import, too."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Dict, List, Mapping, Optional, Sequence, TypeVar, Union

import numpy as np

from onnx_graphsurgeon.logger import G_LOGGER
from onnx_graphsurgeon.util.synchronized_list import SynchronizedList

__all__ = [
    "SynchronizedList",
    "combine_dicts",
    "convert_from_onnx_attr_type",
    "convert_to_onnx_attr_type",
    "default_value",
    "is_dynamic_dimension",
    "is_dynamic_shape",
    "volume",
]

T = TypeVar("T")


def default_value(value: Optional[T], default: T) -> T:
    """`value`, or `default` where it is None."""
    return default if value is None else value


def combine_dicts(dict0: Mapping[Any, Any], dict1: Mapping[Any, Any]) -> "OrderedDict[Any, Any]":
    """A new dictionary with the items of both; where both have a key, `dict1` wins."""
    combined: "OrderedDict[Any, Any]" = OrderedDict(dict0)
    combined.update(dict1)
    return combined


def is_dynamic_dimension(dim: Union[int, str, None]) -> bool:
    """Whether an extent is not a fixed number: a name, None, or negative."""
    return not isinstance(dim, int) or dim < 0


def is_dynamic_shape(shape: Sequence[Union[int, str, None]]) -> bool:
    """Whether a shape has a dynamic extent. A TypeError for None, which is no shape."""
    return any(is_dynamic_dimension(dim) for dim in shape)


def volume(obj: Sequence[int]) -> int:
    """The product of the extents of a shape: 1 for a scalar."""
    product = 1
    for elem in obj:
        product *= elem
    return product


_FROM_ATTR_TYPE: Dict[int, Any] = {}
_TO_ATTR_TYPE: Dict[Any, int] = {}


def _fill_attr_types() -> None:
    # At first use: the classes of graphs and tensors import this module.
    if _FROM_ATTR_TYPE:
        return
    from onnx import AttributeProto

    from onnx_graphsurgeon.ir.graph import Graph
    from onnx_graphsurgeon.ir.tensor import Tensor

    types: Dict[int, Any] = {
        AttributeProto.UNDEFINED: None,
        AttributeProto.FLOAT: float,
        AttributeProto.INT: int,
        AttributeProto.STRING: str,
        AttributeProto.TENSOR: Tensor,
        AttributeProto.GRAPH: Graph,
        AttributeProto.FLOATS: List[float],
        AttributeProto.INTS: List[int],
        AttributeProto.STRINGS: List[str],
        AttributeProto.TENSORS: List[Tensor],  # type: ignore[type-abstract]
        AttributeProto.GRAPHS: List[Graph],
    }
    _TO_ATTR_TYPE.update({python_type: number for number, python_type in types.items()})
    _FROM_ATTR_TYPE.update(types)


def convert_from_onnx_attr_type(onnx_attr_type: int) -> Any:
    """The Python type of an attribute of an ONNX type; the number itself where there is none."""
    _fill_attr_types()
    return _FROM_ATTR_TYPE.get(onnx_attr_type, onnx_attr_type)


def convert_to_onnx_attr_type(any_type: Any) -> Optional[int]:
    """The ONNX type of an attribute of a Python or NumPy type; None, and a warning, where there is none."""
    _fill_attr_types()
    if any_type in _TO_ATTR_TYPE:
        return _TO_ATTR_TYPE[any_type]
    dtype = None if any_type is bool or any_type is object else _dtype_or_none(any_type)
    if dtype is not None and np.issubdtype(dtype, np.floating):
        return _TO_ATTR_TYPE[float]
    if dtype is not None and np.issubdtype(dtype, np.integer):
        return _TO_ATTR_TYPE[int]
    G_LOGGER.warning("Unable to convert {:} into an ONNX AttributeType".format(any_type))
    return None


def _dtype_or_none(any_type: Any) -> Optional[np.dtype]:
    if isinstance(any_type, type) and not issubclass(any_type, (np.generic, int, float)):
        return None
    return np.dtype(any_type)
