"""Topological order of nodes and of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Sequence, Set, Tuple

from onnx_graphsurgeon.ir import traversal
from onnx_graphsurgeon.logger import G_LOGGER

if TYPE_CHECKING:
    from onnx_graphsurgeon.ir.function import Function
    from onnx_graphsurgeon.ir.graph import Graph
    from onnx_graphsurgeon.ir.node import Node

MODES = ["full", "nodes", "functions"]


def toposort(graph: "Graph", recurse_subgraphs: bool, recurse_functions: bool, mode: str) -> None:
    """What Graph.toposort() says."""
    if mode not in MODES:
        G_LOGGER.critical("toposort: the mode must be one of {:}, not {!r}".format(MODES, mode))
    sort_nodes = mode in ("full", "nodes")
    sort_functions = mode in ("full", "functions")
    if sort_nodes and recurse_subgraphs:
        for node in traversal.nodes_with_subgraphs(graph):
            for subgraph in traversal.subgraphs_of(node):
                # The functions, which are those of this graph, are sorted below.
                toposort(subgraph, True, False, "nodes")
    if sort_nodes and recurse_functions:
        for function in graph._functions:
            function.toposort(recurse_subgraphs=recurse_subgraphs, recurse_functions=False, mode="nodes")
    if sort_functions:
        graph._merge_subgraph_functions()
        graph._functions[:] = _sorted_functions(graph._functions)
    if sort_nodes:
        nodes = _sorted_nodes(graph)
        if isinstance(graph.nodes, list):
            graph.nodes[:] = nodes
        else:
            graph.nodes = nodes


def _sorted_nodes(graph: "Graph") -> List["Node"]:
    own: Set[int] = set(map(id, graph.nodes))
    with_subgraphs: Set[int] = set(map(id, traversal.nodes_with_subgraphs(graph)))

    def producers(node: "Node") -> List["Node"]:
        found: List["Node"] = []
        for tensor in traversal.all_inputs(node) if id(node) in with_subgraphs else node._inputs:
            for producer in tensor._inputs:
                if id(producer) in own:
                    found.append(producer)
                else:
                    traversal.check_strange_node(graph, tensor, producer)
        return found

    return by_level(graph.nodes, producers, _refuse_cycle)


def _refuse_cycle(nodes: List["Node"]) -> None:
    names = " -> ".join("{!r} ({:})".format(node.name, node.op) for node in nodes)
    G_LOGGER.critical("The graph has a cycle, which may come from two tensors of one name: {:}".format(names))


def _sorted_functions(functions: List["Function"]) -> List["Function"]:
    by_id = {function.unique_id: function for function in functions}

    def callees(function: "Function") -> List["Function"]:
        found: List["Function"] = []
        pending: List["Graph"] = [function]
        seen: Set[int] = {id(function)}
        while pending:
            scope = pending.pop()
            for node in scope.nodes:
                callee = by_id.get((node.domain, node.op))  # type: ignore[arg-type]
                if callee is not None:
                    found.append(callee)
            for node in traversal.nodes_with_subgraphs(scope):
                for subgraph in traversal.subgraphs_of(node):
                    if id(subgraph) not in seen:
                        seen.add(id(subgraph))
                        pending.append(subgraph)
        return found

    return by_level(functions, callees, _refuse_recursion)


def _refuse_recursion(functions: List["Function"]) -> None:
    names = " -> ".join(function.name for function in functions)
    G_LOGGER.critical("Local functions may not call each other in a cycle: {:}".format(names))


def by_level(
    items: Sequence[Any], needed: Callable[[Any], Iterable[Any]], refuse_cycle: Callable[[List[Any]], None]
) -> List[Any]:
    """Items sorted by level: that of an item is one above the highest of what it needs, zero if it needs nothing.

    Items of one level are in the order in which a walk that begins at each item in turn, and takes what it needs
    first, is done with them. `refuse_cycle` gets the items of a cycle, the first of them twice, and raises.
    """
    levels: Dict[int, int] = {}
    finished: List[Any] = []
    for root in items:
        if id(root) not in levels:
            _walk(root, needed, levels, finished, refuse_cycle)
    return sorted(finished, key=lambda item: levels[id(item)])


def _walk(
    root: Any,
    needed: Callable[[Any], Iterable[Any]],
    levels: Dict[int, int],
    finished: List[Any],
    refuse_cycle: Callable[[List[Any]], None],
) -> None:
    # Depth first, with a stack of its own: graphs are deeper than Python's.
    path: List[Tuple[Any, List[Any]]] = [(root, list(needed(root))[::-1])]
    on_path: Set[int] = {id(root)}
    highest: List[int] = [-1]
    while path:
        item, rest = path[-1]
        level = highest[-1]
        while rest:
            known = levels.get(id(rest[-1]))
            if known is None:
                break
            if known > level:
                level = known
            del rest[-1]
        highest[-1] = level
        if rest:
            below = rest[-1]
            if id(below) in on_path:
                start = next(i for i, (above, _) in enumerate(path) if above is below)
                refuse_cycle([above for above, _ in path[start:]] + [below])
            path.append((below, list(needed(below))[::-1]))
            on_path.add(id(below))
            highest.append(-1)
            continue
        path.pop()
        on_path.discard(id(item))
        highest.pop()
        levels[id(item)] = level + 1
        finished.append(item)
