"""Which tensors and nodes a graph has, which are its own, and which contribute to its outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Iterable, Iterator, List, Set, Tuple

from onnx_graphsurgeon.ir.tensor import Constant, Tensor
from onnx_graphsurgeon.logger import G_LOGGER

if TYPE_CHECKING:
    from onnx_graphsurgeon.ir.graph import Graph
    from onnx_graphsurgeon.ir.node import Node


def subgraphs_of(node: "Node") -> List["Graph"]:
    """The graphs among the attributes of a node."""
    from onnx_graphsurgeon.ir.graph import Graph

    return [value for value in node.attrs.values() if isinstance(value, Graph)]


def scopes(graph: "Graph") -> Iterator["Graph"]:
    """All graphs inside of a graph, and its functions with what is inside of them, each once."""
    seen: Set[int] = {id(graph)}
    pending: List["Graph"] = [graph]
    while pending:
        scope = pending.pop()
        found: List["Graph"] = []
        for node in scope.nodes:
            if node.attrs:
                found.extend(subgraphs_of(node))
        found.extend(scope._functions)
        for inner in found:
            if id(inner) not in seen:
                seen.add(id(inner))
                pending.append(inner)
                yield inner


def tensor_map(graph: "Graph", check_duplicates: bool = False) -> Dict[str, Tensor]:
    """Names to the tensors of a graph and its nodes, in order; a warning or an exception where two have one name."""
    found: Dict[str, Tensor] = {}
    add = found.setdefault

    def add_all(tensors: Iterable[Tensor]) -> None:
        for tensor in tensors:
            name = tensor.name
            if name and add(name, tensor) is not tensor:
                _report_duplicate(found[name], tensor, check_duplicates)
                found[name] = tensor

    add_all(graph._inputs)
    for node in graph.nodes:
        for tensor in node._inputs:
            name = tensor.name
            if name and add(name, tensor) is not tensor:
                _report_duplicate(found[name], tensor, check_duplicates)
                found[name] = tensor
        for tensor in node._outputs:
            name = tensor.name
            if name and add(name, tensor) is not tensor:
                _report_duplicate(found[name], tensor, check_duplicates)
                found[name] = tensor
    add_all(graph._outputs)
    return found


def _report_duplicate(first: Tensor, second: Tensor, check_duplicates: bool) -> None:
    def message() -> str:
        lines = ["Two different tensors have one name, {!r}:".format(first.name)]
        for tensor in (first, second):
            producers = ", ".join("{:} ({:})".format(node.name, node.op) for node in tensor._inputs)
            lines.append("[id: {:}] {:}, produced by: {:}".format(id(tensor), tensor, producers or "no node"))
        return "\n".join(lines)

    if check_duplicates:
        G_LOGGER.critical(message)
    G_LOGGER.warning(message)


def local_tensors(graph: "Graph") -> Iterator[Tensor]:
    """The tensors that belong to a graph itself: inputs, constants, and what its nodes produce."""
    seen: Set[int] = set()
    for tensor in graph._inputs:
        if id(tensor) not in seen:
            seen.add(id(tensor))
            yield tensor
    for node in graph.nodes:
        for tensor in node._outputs:
            if tensor.name and id(tensor) not in seen:
                seen.add(id(tensor))
                yield tensor
        for tensor in node._inputs:
            if isinstance(tensor, Constant) and id(tensor) not in seen:
                seen.add(id(tensor))
                yield tensor


def foreign_tensors(graph: "Graph") -> List[Tensor]:
    """The tensors that a subgraph, and what is inside of it, uses but does not own. Constants are its own."""
    own: Set[int] = {id(tensor) for tensor in graph._inputs}
    for node in graph.nodes:
        own.update([id(tensor) for tensor in node._outputs])
    found: Dict[int, Tensor] = {}

    def add_all(tensors: Iterable[Tensor]) -> None:
        for tensor in tensors:
            if tensor.name and id(tensor) not in own and not isinstance(tensor, Constant):
                found[id(tensor)] = tensor

    for node in graph.nodes:
        add_all(node._inputs)
        if node.attrs:
            for subgraph in subgraphs_of(node):
                add_all(foreign_tensors(subgraph))
    add_all(graph._outputs)
    return list(found.values())


def all_inputs(node: "Node") -> List[Tensor]:
    """The inputs of a node, and the tensors from outside that its subgraphs use."""
    if not node.attrs:
        return node._inputs
    subgraphs = subgraphs_of(node)
    if not subgraphs:
        return node._inputs
    tensors = list(node._inputs)
    for subgraph in subgraphs:
        tensors.extend(foreign_tensors(subgraph))
    return tensors


def node_id(node: "Node") -> int:
    """The `id` that `Graph.node_ids()` gave a node; an OnnxGraphSurgeonException for a node of no graph."""
    try:
        return int(node.id)  # type: ignore[attr-defined]
    except AttributeError:
        refuse_strange_node(node)
        raise


def refuse_strange_node(node: "Node") -> None:
    """Raises an OnnxGraphSurgeonException about a node that is missing among the nodes of its graph."""
    G_LOGGER.critical(
        "This node is not among the graph's nodes, although others in the graph use what it makes; append it to "
        "`nodes`:\n{:}".format(node)
    )


def used_nodes(graph: "Graph") -> Tuple[Set[int], List[Tensor]]:
    """The nodes from which an output of the graph can be reached, as ids of objects, and the tensors on the way.

    An OnnxGraphSurgeonException for a node that makes a tensor of the graph without being one of its nodes.
    """
    own: Set[int] = {id(tensor) for tensor in graph._inputs}
    nodes: Set[int] = set()
    for node in graph.nodes:
        nodes.add(id(node))
        for tensor in node._outputs:
            own.add(id(tensor))
    used: Set[int] = set()
    seen: Set[int] = set()
    tensors: List[Tensor] = []
    pending: List[Tensor] = list(reversed(graph._outputs))
    while pending:
        tensor = pending.pop()
        if id(tensor) in seen or not tensor.name:
            continue
        seen.add(id(tensor))
        local = id(tensor) in own
        if not local and not isinstance(tensor, Constant):
            continue
        tensors.append(tensor)
        for producer in tensor._inputs:
            if id(producer) in used:
                continue
            if id(producer) not in nodes:
                refuse_strange_node(producer)
            used.add(id(producer))
            pending.extend(all_inputs(producer))
    return used, tensors
