"""An If of a constant condition becomes its branch."""

from __future__ import annotations

from typing import List, Optional, Set

from onnx_graphsurgeon.folding.selection import is_default_domain
from onnx_graphsurgeon.ir import traversal
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, Tensor


def flatten_conditionals(graph: Graph) -> None:
    """Puts the nodes of the branch in the place of each If whose condition is a constant.

    Tensors of the branch get the place of the If and the name of the branch behind their names.
    """
    index = 0
    while index < len(graph.nodes):
        node = graph.nodes[index]
        branch = _branch(node) if node.op == "If" and is_default_domain(node) else None
        if branch is None:
            index += 1
            continue
        nodes = _inlined(node, branch, "_subg_{:}_{:}".format(index, branch.name))
        node.inputs.clear()
        node.outputs.clear()
        graph.nodes[index : index + 1] = nodes
        index += len(nodes)


def _branch(node: Node) -> Optional[Graph]:
    if len(node._inputs) != 1 or not isinstance(node._inputs[0], Constant):
        return None
    condition = node._inputs[0].values
    if condition.size == 0:
        return None
    branch = node.attrs.get("then_branch" if condition.reshape(-1)[0] else "else_branch")
    if not isinstance(branch, Graph) or len(branch.outputs) != len(node._outputs):
        return None
    return branch


def _inlined(node: Node, branch: Graph, suffix: str) -> List[Node]:
    produced: Set[int] = {id(tensor) for inner in branch.nodes for tensor in inner.outputs}
    results = list(node._outputs)
    node.outputs.clear()
    nodes = list(branch.nodes)
    taken: Set[int] = set()
    for result, output in zip(results, branch.outputs):
        if id(output) in produced and id(output) not in taken:
            taken.add(id(output))
            _rename_output(output, result)
        elif isinstance(output, Constant):
            result.to_constant(output._values)  # type: ignore[attr-defined]
        else:
            # It comes from outside of the branch, or is an output twice.
            nodes.append(Node("Identity", "{:}{:}".format(result.name, suffix), inputs=[output], outputs=[result]))
    _rename(branch, suffix, {id(result) for result in results})
    return nodes


def _rename_output(output: Tensor, result: Tensor) -> None:
    # Whoever wrote or read the branch's output has that of the If instead.
    for producer in list(output.inputs):
        producer.outputs[_place(producer.outputs, output)] = result
    for consumer in list(output.outputs):
        consumer.inputs[_place(consumer.inputs, output)] = result


def _place(tensors: List[Tensor], tensor: Tensor) -> int:
    return next(place for place, other in enumerate(tensors) if other is tensor)


def _rename(branch: Graph, suffix: str, kept: Set[int]) -> None:
    for tensor in list(traversal.local_tensors(branch)):
        if id(tensor) in kept or not tensor.name:
            continue
        if isinstance(tensor, Constant) and not _only_inside(tensor, branch):
            continue
        tensor.name += suffix


def _only_inside(tensor: Tensor, branch: Graph) -> bool:
    # Constants of the graph around may be used in the branch.
    inside = {id(node) for node in branch.nodes}
    for subgraph in branch.subgraphs(recursive=True):
        inside.update(id(node) for node in subgraph.nodes)
    return all(id(consumer) in inside for consumer in tensor.outputs)
