"""Functions that are called as methods of graphs, and the nodes that they make."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Set, Tuple, Type, Union

import numpy as np

from onnx_graphsurgeon.ir import traversal
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, Tensor, Variable
from onnx_graphsurgeon.logger import G_LOGGER

if TYPE_CHECKING:
    from onnx_graphsurgeon.ir.graph import Graph
    from onnx_graphsurgeon.util.synchronized_list import SynchronizedList


def register(graph_class: "Type[Graph]", function: Callable[..., Any], opsets: Optional[Sequence[int]]) -> None:
    """Makes a function a method of all graphs, or of those of some opsets."""
    name = function.__name__
    if hasattr(graph_class, name):
        G_LOGGER.warning(
            "Graphs have an attribute {!r} already: the registered function of this name is never called".format(name)
        )
    if opsets is None:
        graph_class.GLOBAL_FUNC_MAP[name] = function
        return
    for opset in opsets:
        graph_class.OPSET_FUNC_MAP[opset][name] = function


def find(graph: "Graph", name: str) -> Callable[..., Any]:
    """The function that a graph has under a name, bound to the graph.

    A function for the graph's opset comes first, then one for all opsets, then a local function; a warning if there
    are several, an AttributeError and an error in the log if there is none.
    """
    candidates: List[Tuple[str, Callable[..., Any]]] = []
    for_opset = graph.OPSET_FUNC_MAP[graph.opset].get(name) if graph.opset in graph.OPSET_FUNC_MAP else None
    if for_opset is not None:
        candidates.append(("the function registered for opset {:}".format(graph.opset), for_opset))
    if name in graph.GLOBAL_FUNC_MAP:
        candidates.append(("the function registered for all opsets", graph.GLOBAL_FUNC_MAP[name]))
    for function in graph._functions:
        if function.name == name:
            candidates.append(("the local function of domain {!r}".format(function.domain), _called(function)))
    if not candidates:
        _refuse(graph, name)
    if len(candidates) > 1:
        G_LOGGER.warning(
            "{!r} may be any of these: {:}; the first is called".format(name, "; ".join(what for what, _ in candidates))
        )
    chosen = candidates[0][1]
    return lambda *args, **kwargs: chosen(graph, *args, **kwargs)


def _called(function: Any) -> Callable[..., Any]:
    return lambda graph, *args, **kwargs: function(graph, *args, **kwargs)


def _refuse(graph: "Graph", name: str) -> None:
    others = [opset for opset, functions in graph.OPSET_FUNC_MAP.items() if name in functions]
    hint = ", but for opsets {:}".format(sorted(others)) if others else ""
    G_LOGGER.error(
        "Graph {!r} has no attribute {!r}, and no function of this name is registered for opset {:}{:}".format(
            graph.__dict__.get("name"), name, graph.opset, hint
        )
    )
    raise AttributeError("{!r} object has no attribute {!r}".format(type(graph).__name__, name))


def generate_name(graph: "Graph", prefix: str, existing_names: Union[Set[str], Dict[str, Any]]) -> str:
    """A name that does not exist yet: the prefix with the graph's next free number."""
    while True:
        name = "{:}_{:}".format(prefix, graph.name_idx)
        graph.name_idx += 1
        if name not in existing_names:
            return name


def layer(
    graph: "Graph",
    inputs: Optional[Sequence[Any]],
    outputs: Optional[Sequence[Any]],
    args: Sequence[Any],
    kwargs: Dict[str, Any],
) -> "SynchronizedList":
    """What Graph.layer() says."""
    names = set(traversal.tensor_map(graph))
    input_tensors = [_to_tensor(graph, elem, names) for elem in (inputs if inputs is not None else ())]
    output_tensors = [_to_tensor(graph, elem, names) for elem in (outputs if outputs is not None else ())]
    if "name" not in kwargs:
        kwargs["name"] = generate_name(graph, "onnx_graphsurgeon_node", {node.name for node in graph.nodes})
    node = Node(*args, inputs=input_tensors, outputs=output_tensors, **kwargs)
    graph.nodes.append(node)
    return node.outputs


def _to_tensor(graph: "Graph", elem: Any, names: Set[str]) -> Tensor:
    if isinstance(elem, Tensor):
        return elem
    tensor: Tensor
    if isinstance(elem, str):
        tensor = Variable(generate_name(graph, elem, names))
    elif isinstance(elem, np.ndarray):
        tensor = Constant(generate_name(graph, "onnx_graphsurgeon_constant", names), elem)
    elif isinstance(elem, (list, tuple, numbers.Number)):
        values = np.array(elem, dtype=_dtype_of_numbers(elem))
        tensor = Constant(generate_name(graph, "onnx_graphsurgeon_lst_constant", names), values)
    else:
        G_LOGGER.critical(
            "Graph.layer: an input or output must be a tensor, a string, an array, or numbers, not {:}: {:}; "
            "a list of tensors is unpacked with `*`".format(type(elem).__name__, elem)
        )
    names.add(tensor.name)
    return tensor


def _dtype_of_numbers(elem: Any) -> Any:
    # Upstream's rule, on which scripts rest: floats within lists of lists, and NumPy's own numbers, become integers.
    direct = elem if isinstance(elem, (list, tuple)) else [elem]
    return np.float32 if any(isinstance(number, float) for number in direct) else np.int64
