"""Copies of graphs."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence

from onnx_graphsurgeon.ir import traversal
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Tensor

if TYPE_CHECKING:
    from onnx_graphsurgeon.ir.graph import Graph


class CopiedTensors(dict):
    """Names to copies of tensors, for copies of what is inside; `originals` tells by the id of the original."""

    def __init__(self, outer: Optional[Mapping[str, Tensor]]) -> None:
        super().__init__(outer or ())
        self.originals: Dict[int, Tensor] = dict(getattr(outer, "originals", ()))


class Copier:
    """Copies tensors and nodes of one graph: a tensor of the graph once, one from outside by its original or name."""

    def __init__(self, graph: "Graph", outer: Optional[Mapping[str, Tensor]]) -> None:
        self._outer: Mapping[str, Tensor] = outer or {}
        self._own = {id(tensor) for tensor in traversal.local_tensors(graph)} if outer else None
        self.copied = CopiedTensors(outer)

    def tensor(self, tensor: Tensor) -> Tensor:
        """The copy of a tensor."""
        known = self.copied.originals.get(id(tensor))
        if known is not None:
            return known
        copied = None
        if self._own is not None and id(tensor) not in self._own:
            copied = self._outer.get(tensor.name)
        if copied is None:
            copied = tensor.copy()  # type: ignore[attr-defined]
        if tensor.name:
            self.copied.originals[id(tensor)] = copied
            self.copied[tensor.name] = copied
        return copied

    def tensors(self, tensors: Sequence[Tensor]) -> List[Tensor]:
        """The copies of tensors."""
        return [self.tensor(tensor) for tensor in tensors]

    def node(self, node: Node, inputs: List[Tensor], outputs: List[Tensor]) -> Node:
        """The copy of a node with its tensors' copies."""
        return node.copy(inputs=inputs, outputs=outputs, tensor_map=self.copied)


def copy_contents(graph: "Graph", outer: Optional[Mapping[str, Tensor]]) -> Dict[str, Any]:
    """Copies of the nodes, inputs and outputs of a graph, as arguments of its constructor.

    outer: names to tensors that stand for those outside of the graph.
    """
    copier = Copier(graph, outer)
    inputs = copier.tensors(graph._inputs)
    wired = [(node, copier.tensors(node._inputs), copier.tensors(node._outputs)) for node in graph.nodes]
    outputs = copier.tensors(graph._outputs)
    nodes = [copier.node(*node) for node in wired]
    return {"nodes": nodes, "inputs": inputs, "outputs": outputs}


def copy_graph(graph: "Graph", tensor_map: Optional[Mapping[str, Tensor]]) -> "Graph":
    """What Graph.copy() says."""
    from onnx_graphsurgeon.ir.graph import Graph

    return Graph(
        name=copy.copy(graph.name),
        doc_string=copy.copy(graph.doc_string),
        opset=copy.copy(graph.opset),
        import_domains=graph.import_domains,
        functions=list(graph._functions),
        ir_version=graph.ir_version,
        **copy_contents(graph, tensor_map),
    )
