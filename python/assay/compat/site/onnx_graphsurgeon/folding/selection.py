"""Which nodes depend on constants alone."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Set

import numpy as np

from onnx_graphsurgeon.ir import traversal
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, Tensor, Variable

# Their results are the model's precision, not its values.
_QUANTIZATION = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}

# Each run gives others.
_RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}

# Their results are no tensors, and so no constants.
_NO_TENSORS = {
    "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceMap", "SplitToSequence", "Optional",
}  # fmt: skip


def is_default_domain(node: Node) -> bool:
    """Whether a node's operator is one of ONNX itself."""
    return node.domain in (None, "", "ai.onnx")


class Selection:
    """The nodes of a graph that can be computed, in an order in which they can, and the tensors that are known.

    Nodes join in sweeps: one sweep goes through the nodes once, in the graph's order.
    """

    def __init__(self, graph: Graph, should_exclude_node: Optional[Callable[[Node], bool]]) -> None:
        self.nodes: List[Node] = []
        self.shape_values: Dict[int, np.ndarray] = {}  # by the id of the tensor
        self._known: Set[int] = set()  # tensors that are computed or folded, besides Constants
        self._excluded = should_exclude_node
        self._rest: List[Node] = list(graph.nodes)
        self._swept: int = -1  # how many tensors were known when the last sweep began

    def is_known(self, tensor: Tensor) -> bool:
        """Whether a tensor is a constant, computed, or left out."""
        return isinstance(tensor, Constant) or id(tensor) in self._known or not tensor.name

    def add_value(self, tensor: Tensor, value: np.ndarray) -> None:
        """Says what a tensor is without computing it."""
        self.shape_values[id(tensor)] = value
        self._known.add(id(tensor))

    def sweep(self) -> None:
        """Adds the nodes of which all inputs are known by now."""
        rest: List[Node] = []
        known = self._known
        if self._swept == len(known):
            return
        self._swept = len(known)
        for node in self._rest:
            for tensor in node._inputs:
                if id(tensor) not in known and not isinstance(tensor, Constant) and tensor.name:
                    rest.append(node)
                    break
            else:
                if not node._outputs or not self._may_join(node):
                    rest.append(node)
                    continue
                self.nodes.append(node)
                known.update([id(tensor) for tensor in node._outputs])
        self._rest = rest

    def _may_join(self, node: Node) -> bool:
        if node.op in _QUANTIZATION or (node.op in _RANDOM and is_default_domain(node)):
            return False
        if node.op == "Dropout" and len(node._inputs) > 2 and is_default_domain(node):
            return False  # in training it is random
        if node.attrs and not self._constant_attributes(node):
            return False
        return self._excluded is None or not self._excluded(node)

    def _constant_attributes(self, node: Node) -> bool:
        for value in node.attrs.values():
            if isinstance(value, Node.AttributeRef):
                return False
            if isinstance(value, Graph):
                if not all(self.is_known(tensor) for tensor in traversal.foreign_tensors(value)):
                    return False
                if not all(_is_deterministic(inner) for inner in value.nodes):
                    return False
                if not all(_is_deterministic(n) for inner in value.subgraphs(recursive=True) for n in inner.nodes):
                    return False
        return True

    def computed_tensors(self, node: Node) -> List[Variable]:
        """The outputs of a node that become constants when it is computed."""
        if node.op in _NO_TENSORS and is_default_domain(node):
            return []
        return [
            tensor
            for tensor in node._outputs
            if tensor.name
            and isinstance(tensor, Variable)
            and getattr(tensor, "type", "tensor_type") == "tensor_type"
            and id(tensor) not in self.shape_values
        ]


def _is_deterministic(node: Node) -> bool:
    if any(isinstance(value, Node.AttributeRef) for value in node.attrs.values()):
        return False
    return node.op not in _RANDOM or not is_default_domain(node)


def static_bytes(tensor: Any) -> Optional[int]:
    """The bytes of a tensor's values, None if dtype and shape do not say."""
    from onnx_graphsurgeon.util import misc, onnx_types
    from onnx_graphsurgeon.util.exception import OnnxGraphSurgeonException

    if tensor.dtype is None or tensor.shape is None or misc.is_dynamic_shape(tensor.shape):
        return None
    dtype = tensor.dtype
    try:
        size = onnx_types.get_itemsize(dtype if isinstance(dtype, int) else np.dtype(dtype))
    except (TypeError, OnnxGraphSurgeonException):
        return None
    return int(misc.volume(tensor.shape) * size)
