"""Arithmetic on integers that a model does in floats: the casts there and back are left out."""

from __future__ import annotations

from typing import Any, List, Optional, Set

import numpy as np
import onnx

from onnx_graphsurgeon.folding.selection import is_default_domain
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, Tensor
from onnx_graphsurgeon.util import onnx_types

# The operators, with the first opset in which they take integers.
_ARITHMETIC = {"Add": 7, "Sub": 7, "Mul": 7, "Div": 7, "Max": 12, "Min": 12, "Concat": 4}
_COMPARISONS = {"Equal": 7, "Greater": 9, "Less": 9}
_FLOAT = onnx.TensorProto.FLOAT
_INTEGERS = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)


def elide_casts(graph: Graph) -> None:
    """Lets an operator between casts from an integer type to float, and back to that type, work on integers.

    All inputs that vary must be such casts, constants must be whole numbers, and all consumers casts back. A cast that
    others use stays; the rest goes with `cleanup()`.
    """
    output_ids = {id(tensor) for tensor in graph.outputs}
    for node in graph.nodes:
        since = _ARITHMETIC.get(node.op) or _COMPARISONS.get(node.op)
        if since is None or len(node._outputs) != 1 or not is_default_domain(node):
            continue
        if not isinstance(graph.opset, int) or graph.opset >= since:
            _elide(node, output_ids)


def _elide(node: Node, output_ids: Set[int]) -> None:
    output = node._outputs[0]
    consumers = list(output.outputs)
    if id(output) in output_ids or not consumers or not all(map(_is_cast, consumers)):
        return
    if all(isinstance(tensor, Constant) for tensor in node._inputs):
        return
    integer = _target(consumers[0])
    if integer not in _INTEGERS or any(_target(cast) != integer for cast in consumers):
        return
    sources: List[Tensor] = []
    for tensor in node._inputs:
        source = _as_integers(tensor, integer) if isinstance(tensor, Constant) else _cast_source(tensor, integer)
        if source is None:
            return
        sources.append(source)
    node.inputs = sources
    if node.op in _ARITHMETIC:
        _write_result(node, consumers)


def _is_cast(node: Node) -> bool:
    return node.op == "Cast" and is_default_domain(node) and len(node.inputs) == 1 and len(node.outputs) == 1


def _target(cast: Node) -> Optional[int]:
    to: Any = cast.attrs.get("to")
    if isinstance(to, type):
        return onnx_types.dtype_to_onnx(to)
    return to if isinstance(to, int) else None


def _cast_source(tensor: Tensor, integer: int) -> Optional[Tensor]:
    # The integers of which a cast made this tensor; None if it is no such tensor.
    if len(tensor.inputs) != 1 or not _is_cast(tensor.inputs[0]) or _target(tensor.inputs[0]) != _FLOAT:
        return None
    source: Any = tensor.inputs[0].inputs[0]
    if source.dtype is None or onnx_types.dtype_to_onnx(source.dtype) != integer:
        return None
    return source  # type: ignore[no-any-return]


def _as_integers(constant: Constant, integer: int) -> Optional[Constant]:
    # The constant in integers; None if that would change its values.
    dtype = onnx_types.get_numpy_type(integer)
    values = constant.values
    if values.dtype == dtype:
        return constant
    if values.dtype.kind not in "fiub":
        return None
    with np.errstate(invalid="ignore"):
        converted = values.astype(dtype)
    if not np.array_equal(converted, values):
        return None
    return Constant(constant.name, converted)


def _write_result(node: Node, casts: List[Node]) -> None:
    # The node writes what the first cast wrote. Further casts read that, and change nothing any more.
    result = casts[0].outputs[0]
    casts[0].outputs.clear()
    casts[0].inputs.clear()
    node.outputs = [result]
    for cast in casts[1:]:
        cast.inputs = [result]
