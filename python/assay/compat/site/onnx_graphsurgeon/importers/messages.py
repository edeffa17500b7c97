"""What is read of single messages of ONNX: tensors, their types, attributes."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

import onnx

from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, Tensor, Variable
from onnx_graphsurgeon.ir.values import LazyValues, SparseValues
from onnx_graphsurgeon.logger import G_LOGGER
from onnx_graphsurgeon.util import misc, onnx_types

_A = onnx.AttributeProto

# Which attribute types are read, and how.
_READERS: Dict[int, Callable[[Any], Any]] = {
    _A.FLOAT: lambda attr: attr.f,
    _A.INT: lambda attr: attr.i,
    _A.STRING: lambda attr: attr.s.decode(),
    _A.TENSOR: lambda attr: import_tensor(attr.t),
    _A.FLOATS: lambda attr: list(attr.floats),
    _A.INTS: lambda attr: list(attr.ints),
    _A.STRINGS: lambda attr: [text.decode() for text in attr.strings],
}

ATTR_TYPE_MAPPING: Dict[int, str] = {number: name for name, number in _A.AttributeType.items()}


def value_type(onnx_tensor: Any) -> Tuple[str, Any, Optional[List[Any]]]:
    """What a TypeProto is (the name of its field), its element type, and its shape, None if unknown."""
    message = onnx_tensor.type
    kind = message.WhichOneof("value")
    if kind is None:
        return "tensor_type", None, None
    if kind == "tensor_type":
        message = message.tensor_type
        return "tensor_type", message.elem_type, _shape(message.shape) if message.HasField("shape") else None
    field = getattr(message, kind)
    if kind == "sparse_tensor_type":
        return kind, field.elem_type, _shape(field.shape) if field.HasField("shape") else None
    if kind == "sequence_type":
        inner = field.elem_type.tensor_type
        return kind, inner.elem_type, _shape(inner.shape) if inner.HasField("shape") else None
    if kind == "opaque_type":
        return kind, None, None
    return kind, field.elem_type if kind == "optional_type" else field.value_type, None


def _shape(message: Any) -> List[Any]:
    shape: List[Any] = []
    for dim in message.dim:
        which = dim.WhichOneof("value")
        shape.append(None if which is None else getattr(dim, which))
    return shape


def import_variable(onnx_tensor: Any) -> Variable:
    """The Variable of a ValueInfoProto."""
    kind, elem_type, shape = value_type(onnx_tensor)
    dtype = None if elem_type is None else onnx_types.import_dtype(elem_type)
    variable = Variable(onnx_tensor.name, dtype=dtype, shape=shape, type=kind)
    keep_type(variable, onnx_tensor)
    return variable


def keep_type(variable: Variable, onnx_tensor: Any) -> None:
    """Keeps the message of a type that dtype and shape do not say in full, for the export of the variable."""
    kind = variable.type
    if kind == "tensor_type" or kind == "sparse_tensor_type":
        return
    inner = onnx_tensor.type.sequence_type.elem_type
    if kind != "sequence_type" or inner.WhichOneof("value") != "tensor_type":
        variable._type_proto = (variable.dtype, onnx_tensor.type)  # type: ignore[attr-defined]


def import_tensor(onnx_tensor: Any) -> Tensor:
    """The Constant of a TensorProto or SparseTensorProto, the Variable of a ValueInfoProto.

    A KeyError for an element type that this version of onnx does not know, an OnnxGraphSurgeonException for values
    without one.
    """
    if isinstance(onnx_tensor, onnx.SparseTensorProto):
        return Constant(onnx_tensor.values.name, SparseValues(onnx_tensor))
    if isinstance(onnx_tensor, onnx.TensorProto):
        return Constant(
            onnx_tensor.name,
            LazyValues(onnx_tensor),
            data_location=onnx_tensor.data_location if onnx_tensor.HasField("data_location") else None,
        )
    return import_variable(onnx_tensor)


def import_attribute(attr: Any, import_subgraph: Callable[[Any], Any]) -> Tuple[bool, Any]:
    """Whether an AttributeProto can be read, and its value; a warning about one that cannot.

    import_subgraph: makes the graph of a GraphProto.
    """
    kind = attr.type
    readable = kind in _READERS or kind == _A.GRAPH
    if not readable:
        G_LOGGER.warning(
            "The attribute {!r} is left out: its type, {:}, is not supported".format(
                attr.name, ATTR_TYPE_MAPPING.get(kind, kind)
            )
        )
        return False, None
    if attr.ref_attr_name:
        return True, Node.AttributeRef(attr.ref_attr_name, misc.convert_from_onnx_attr_type(kind))
    if kind == _A.GRAPH:
        return True, import_subgraph(attr.g)
    return True, _READERS[kind](attr)
