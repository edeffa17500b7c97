"""Nodes of operator Constant become constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_graphsurgeon.folding.selection import is_default_domain
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant
from onnx_graphsurgeon.logger import G_LOGGER

_DTYPES = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
}


def lower_constant_nodes(graph: Graph) -> None:
    """Makes Constants of the outputs of nodes of operator Constant, which stay in the graph without outputs.

    Nodes whose value is a string, sparse, or an attribute of the function around them are left.
    """
    for node in graph.nodes:
        if node.op == "Constant" and len(node._outputs) == 1 and is_default_domain(node):
            values = _values_of(node)
            if values is not None:
                tensor: Any = node._outputs[0]
                node.outputs.clear()
                tensor.to_constant(values)


def _values_of(node: Node) -> Any:
    # A NumPy array or LazyValues.
    if len(node.attrs) != 1:
        G_LOGGER.warning(
            "Node {!r} of operator Constant is left as it is: it must have one attribute, not {:}".format(
                node.name, sorted(node.attrs)
            )
        )
        return None
    (name, value), = node.attrs.items()
    if isinstance(value, Node.AttributeRef):
        return None
    if name == "value":
        if isinstance(value, Constant):
            return value._values
        return value if isinstance(value, np.ndarray) else None
    if name in _DTYPES:
        return np.array(value, dtype=_DTYPES[name])
    return None
