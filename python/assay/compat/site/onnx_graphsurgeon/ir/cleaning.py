"""Removal of what contributes to no output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Set

from onnx_graphsurgeon.ir import traversal
from onnx_graphsurgeon.ir.tensor import Tensor

if TYPE_CHECKING:
    from onnx_graphsurgeon.ir.graph import Graph
    from onnx_graphsurgeon.ir.node import Node

_ALL = slice(None)


def cleanup(
    graph: "Graph",
    remove_unused_node_outputs: bool,
    recurse_subgraphs: bool,
    remove_unused_graph_inputs: bool,
    recurse_functions: bool,
) -> None:
    """What Graph.cleanup() says."""
    if recurse_subgraphs:
        for node in traversal.nodes_with_subgraphs(graph):
            for subgraph in traversal.subgraphs_of(node):
                # The functions are cleaned once, below.
                cleanup(subgraph, remove_unused_node_outputs, True, remove_unused_graph_inputs, False)
    if recurse_functions:
        for function in graph._functions:
            function.cleanup(
                remove_unused_node_outputs=remove_unused_node_outputs,
                recurse_subgraphs=recurse_subgraphs,
                remove_unused_graph_inputs=False,
                recurse_functions=False,
            )
    for tensor in graph._inputs:
        if tensor._inputs:
            tensor._inputs.clear()
    used = traversal.used_nodes(graph)
    if remove_unused_graph_inputs:
        reached = {id(tensor) for tensor in traversal.reached_tensors(graph, used)}
        graph._inputs = [tensor for tensor in graph._inputs if id(tensor) in reached]
    _remove_nodes(graph, used)
    if remove_unused_node_outputs:
        _remove_outputs(graph)


def _remove_nodes(graph: "Graph", used: Set[int]) -> None:
    # The lists of the tensors are filtered once each: one by one would take the square of a list's length.
    kept: List["Node"] = []
    dropped: Set[int] = set()
    touched: Dict[int, Tensor] = {}
    for node in graph.nodes:
        if id(node) in used:
            kept.append(node)
            continue
        dropped.add(id(node))
        for tensors in (node._inputs, node._outputs):
            if tensors:
                touched.update([(id(tensor), tensor) for tensor in tensors])
                list.clear(tensors)
    for tensor in touched.values():
        for nodes in (tensor._inputs, tensor._outputs):
            if nodes:
                list.__setitem__(nodes, _ALL, [node for node in nodes if id(node) not in dropped])
    if dropped:
        _refill(graph, kept)


def _refill(graph: "Graph", nodes: List["Node"]) -> None:
    # The list may be the user's: it stays the same object where it can.
    if isinstance(graph.nodes, list):
        graph.nodes[:] = nodes
    else:
        graph.nodes = nodes


def _remove_outputs(graph: "Graph") -> None:
    kept_ids: Set[int] = {id(tensor) for tensor in graph._outputs}
    for scope in traversal.scopes(graph):
        kept_ids.update(id(tensor) for tensor in scope._outputs)

    def unused(tensor: Tensor) -> bool:
        return bool(tensor.name) and not tensor._outputs and id(tensor) not in kept_ids

    for node in graph.nodes:
        if any([unused(tensor) for tensor in node._outputs]):
            node.outputs = [tensor for tensor in node._outputs if not unused(tensor)]
