"""Messages of nodes and types as bytes: joining bytes is several times faster than setting fields one by one.

The bytes are read by protobuf again, which writes the model; so only what must be right is written here: tags, lengths,
values.
"""

from __future__ import annotations

import struct
from typing import Any, Callable, Dict, List, Tuple

import onnx

from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, Tensor
from onnx_graphsurgeon.util import misc, onnx_types

_INT = {int}
_SMALL = [bytes((number,)) for number in range(128)]

# Tags: the number of a field with the form of its value.
_ATTR_NAME, _ATTR_F, _ATTR_S, _ATTR_T, _ATTR_G = b"\x0a", b"\x15", b"\x22", b"\x2a", b"\x32"
_ATTR_TYPE = {number: b"\xa0\x01" + _SMALL[number] for number in range(1, 12)}
_VALUE_NAME, _VALUE_TYPE = b"\x0a", b"\x12"


def varint(number: int) -> bytes:
    """A number as protobuf writes it: seven bits a byte; negative ones as of 64 bits."""
    if 0 <= number < 128:
        return _SMALL[number]
    number &= 0xFFFFFFFFFFFFFFFF
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def sized(payload: bytes) -> bytes:
    """Bytes behind their length."""
    size = len(payload)
    return (_SMALL[size] if size < 128 else varint(size)) + payload


def text(value: Any, what: str) -> bytes:
    """A string behind its length. A TypeError for what is no string."""
    if not isinstance(value, str):
        raise TypeError("{:} must be a string, not {:}: {!r}".format(what, type(value).__name__, value))
    encoded = value.encode()
    size = len(encoded)
    return (_SMALL[size] if size < 128 else varint(size)) + encoded


class _Names(dict):
    """Strings to their bytes behind their length, filled as they are asked for."""

    def __missing__(self, name: Any) -> bytes:
        encoded = self[name] = text(name, "a name of a tensor, node, operator or domain")
        return encoded


class Encoder:
    """Encodes the nodes and types of one export; names and attributes that come again are encoded once."""

    def __init__(self, export_subgraph: Callable[[Graph], bytes], export_tensor: Callable[[Constant], Any]) -> None:
        self._export_subgraph = export_subgraph
        self._export_tensor = export_tensor
        self._names = _Names()
        self._int_attributes: Dict[Tuple[Any, ...], bytes] = {}
        self._types: Dict[Tuple[Any, ...], bytes] = {}

    def name(self, tensor: Tensor) -> bytes:
        """The name of a tensor behind its length."""
        return self._names[tensor.name]

    def node(self, node: Node) -> bytes:
        """A NodeProto."""
        names = self._names
        parts: List[bytes] = []
        for tensor in node._inputs:
            parts += (b"\x0a", names[tensor.name])
        for tensor in node._outputs:
            parts += (b"\x12", names[tensor.name])
        if node.name != "":
            parts += (b"\x1a", names[node.name])
        parts += (b"\x22", names[node.op])
        if node.attrs:
            for name, value in node.attrs.items():
                parts += (b"\x2a", self.sized_attribute(name, value))
        if node.domain is not None:
            parts += (b"\x3a", names[node.domain])
        return b"".join(parts)

    def attribute(self, name: str, value: Any) -> bytes:
        """An AttributeProto. A TypeError or ValueError for a value that no attribute can have."""
        kind = type(value)
        if kind is int or kind is list and value and set(map(type, value)) == _INT:
            return self._make_attribute(name, value)
        return self._other_attribute(name, value)

    def sized_attribute(self, name: str, value: Any) -> bytes:
        """An AttributeProto behind its length."""
        kind = type(value)
        if kind is int:
            key: Tuple[Any, ...] = (name, value)
        elif kind is list and value and set(map(type, value)) == _INT:
            key = (name, *value, None)
        else:
            return sized(self._other_attribute(name, value))
        known = self._int_attributes.get(key)
        if known is None:
            known = self._int_attributes[key] = sized(self._make_attribute(name, value))
        return known

    def _other_attribute(self, name: str, value: Any) -> bytes:
        if isinstance(value, Tensor):
            return self._begin(name) + _ATTR_T + sized(self._tensor(value, name)) + _ATTR_TYPE[4]
        if isinstance(value, Graph):
            return self._begin(name) + _ATTR_G + sized(self._export_subgraph(value)) + _ATTR_TYPE[5]
        if type(value) is float and abs(value) < 3e38:
            return self._begin(name) + _ATTR_F + struct.pack("<f", value) + _ATTR_TYPE[1]
        if type(value) is str:
            return self._begin(name) + _ATTR_S + text(value, "an attribute") + _ATTR_TYPE[3]
        if isinstance(value, Node.AttributeRef):
            return bytes(attribute_reference(name, value).SerializeToString())
        if isinstance(value, type):
            # A type of NumPy's, as Cast's `to` has it.
            return self._make_attribute(name, onnx_types.dtype_to_onnx(value))
        return self._make_attribute(name, value)

    @staticmethod
    def _begin(name: str) -> bytes:
        return _ATTR_NAME + text(name, "the name of an attribute")

    def _tensor(self, value: Tensor, name: str) -> bytes:
        if not isinstance(value, Constant):
            raise AttributeError(
                "the attribute {!r} cannot be the Variable {!r}, whose values are not known: it must be a "
                "Constant".format(name, value.name)
            )
        return bytes(self._export_tensor(value).SerializeToString())

    @staticmethod
    def _make_attribute(name: str, value: Any) -> bytes:
        return bytes(onnx.helper.make_attribute(name, value).SerializeToString())

    def value_info(self, name: bytes, type_message: bytes) -> bytes:
        """A ValueInfoProto; `name` stands behind its length, an empty `type_message` is left out."""
        if not type_message:
            return _VALUE_NAME + name
        return _VALUE_NAME + name + _VALUE_TYPE + sized(type_message)

    def tensor_type(self, kind: Any, dtype: Any, shape: Any) -> bytes:
        """A TypeProto of a tensor, of a sequence of tensors, or of a sparse tensor."""
        extents = None if shape is None else tuple(shape)
        key = (kind, dtype, extents)
        known = self._types.get(key)
        if known is None:
            known = make_type(kind, onnx_types.dtype_to_onnx(dtype), extents).SerializeToString()
            self._types[key] = known
        return known


def attribute_reference(name: str, reference: Node.AttributeRef) -> Any:
    """The AttributeProto that refers to an attribute of the function around a node."""
    kind = misc.convert_to_onnx_attr_type(reference.type)
    if kind is None:
        raise TypeError(
            "the attribute {!r} refers to {!r} of type {:}, which no attribute in ONNX has".format(
                name, reference.name, reference.type
            )
        )
    message = onnx.AttributeProto(name=name, ref_attr_name=reference.name, type=kind)
    if kind == onnx.AttributeProto.TENSOR:
        # Viewers look at the value of whatever says it is a tensor.
        message.t.dims.append(1)
        message.t.data_type = onnx.TensorProto.FLOAT
        message.t.name = ""
        message.t.raw_data = bytes(4)
    return message


def make_type(kind: Any, elem_type: int, extents: Any) -> Any:
    """The TypeProto of a tensor type. A ValueError for an extent that is neither number, name nor None."""
    message = onnx.TypeProto()
    if kind == "sequence_type":
        inner = message.sequence_type.elem_type.tensor_type
    elif kind == "sparse_tensor_type":
        inner = message.sparse_tensor_type
    else:
        inner = message.tensor_type
    inner.elem_type = elem_type
    if extents is None:
        return message
    inner.shape.SetInParent()
    for extent in extents:
        _add_extent(inner.shape.dim.add(), extent)
    return message


def _add_extent(dim: Any, extent: Any) -> None:
    if extent is None:
        return
    if isinstance(extent, str):
        dim.dim_param = extent
        return
    try:
        dim.dim_value = extent.__index__()
    except AttributeError:
        raise ValueError(
            "an extent of a shape must be a number, a name or None, not {:}: {!r}".format(type(extent).__name__, extent)
        ) from None
