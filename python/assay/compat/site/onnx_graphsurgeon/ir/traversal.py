"""Which tensors and nodes a graph has, which are its own, and which contribute to its outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Set, Tuple

from onnx_graphsurgeon.ir.tensor import Constant, Tensor
from onnx_graphsurgeon.logger import G_LOGGER

if TYPE_CHECKING:
    from onnx_graphsurgeon.ir.graph import Graph
    from onnx_graphsurgeon.ir.node import Node


_graph_class: Any = ()


def set_graph_class(graph_class: Any) -> None:
    """Says which attributes are graphs; ir/graph.py does, which this module cannot import."""
    global _graph_class
    _graph_class = graph_class


def subgraphs_of(node: "Node") -> List["Graph"]:
    """The graphs among the attributes of a node."""
    return [value for value in node.attrs.values() if isinstance(value, _graph_class)]


def nodes_with_subgraphs(graph: "Graph") -> List["Node"]:
    """The nodes that have graphs among their attributes."""
    found: List["Node"] = []
    for node in graph.nodes:
        if node.attrs:
            for value in node.attrs.values():
                if isinstance(value, _graph_class):
                    found.append(node)
                    break
    return found


def scopes(graph: "Graph") -> Iterator["Graph"]:
    """All graphs inside of a graph, and its functions with what is inside of them, each once."""
    seen: Set[int] = {id(graph)}
    pending: List["Graph"] = [graph]
    while pending:
        scope = pending.pop()
        found: List["Graph"] = []
        for node in nodes_with_subgraphs(scope):
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


def used_nodes(graph: "Graph") -> Set[int]:
    """The nodes from which an output of the graph can be reached, as ids of objects.

    An OnnxGraphSurgeonException for a node that makes a tensor of the graph without being one of its nodes.
    """
    nodes: Set[int] = set(map(id, graph.nodes))
    with_subgraphs: Set[int] = set(map(id, nodes_with_subgraphs(graph)))
    used: Set[int] = set()
    pending: List[Iterable[Tensor]] = [graph._outputs]
    while pending:
        for tensor in pending.pop():
            for producer in tensor._inputs:
                key = id(producer)
                if key in used:
                    continue
                if key not in nodes:
                    check_strange_node(graph, tensor, producer)
                    continue
                used.add(key)
                pending.append(all_inputs(producer) if key in with_subgraphs else producer._inputs)
    return used


def check_strange_node(graph: "Graph", tensor: Tensor, producer: "Node") -> None:
    """Raises an OnnxGraphSurgeonException about a producer that is no node of the graph, though the tensor is its own.

    A tensor from around a subgraph is no concern of it.
    """
    if tensor.name and any(tensor is own for own in local_tensors(graph)):
        refuse_strange_node(producer)


def reached_tensors(graph: "Graph", used: Set[int]) -> List[Tensor]:
    """The tensors of a graph that its outputs, or the nodes in `used`, need."""
    own = {id(tensor) for tensor in local_tensors(graph)}
    found: Dict[int, Tensor] = {}

    def add_all(tensors: Iterable[Tensor]) -> None:
        for tensor in tensors:
            if tensor.name and id(tensor) in own:
                found[id(tensor)] = tensor

    add_all(graph._outputs)
    for node in graph.nodes:
        if id(node) in used:
            add_all(all_inputs(node))
    return list(found.values())
