"""Constant folding of a graph, step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, List, Optional

import numpy as np

from onnx_graphsurgeon.folding.casts import elide_casts
from onnx_graphsurgeon.folding.evaluation import Evaluation, evaluate_all, evaluate_parts
from onnx_graphsurgeon.folding.flatten import flatten_conditionals
from onnx_graphsurgeon.folding.lowering import lower_constant_nodes
from onnx_graphsurgeon.folding.selection import Selection, static_bytes
from onnx_graphsurgeon.folding.shapes import fold_shapes
from onnx_graphsurgeon.ir import traversal
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Variable
from onnx_graphsurgeon.logger import G_LOGGER, LogMode

_PARTITIONINGS = [None, "basic", "recursive"]

# From here on a folded value is worth a warning.
_LARGE_BYTES = 1 << 20


@dataclass
class FoldOptions:
    """The arguments of Graph.fold_constants(), which explains them."""

    fold_shapes: bool = True
    recurse_subgraphs: bool = True
    partitioning: Optional[str] = None
    error_ok: bool = True
    flatten_subgraphs: bool = True
    size_threshold: Optional[int] = None
    should_exclude_node: Optional[Callable[[Node], bool]] = None
    recurse_functions: bool = True


def fold_constants(graph: Graph, options: FoldOptions) -> None:
    """What Graph.fold_constants() says."""
    if options.partitioning not in _PARTITIONINGS:
        G_LOGGER.critical(
            "fold_constants: `partitioning` must be one of {:}, not {!r}".format(_PARTITIONINGS, options.partitioning)
        )
    lower_constant_nodes(graph)
    if options.fold_shapes:
        elide_casts(graph)
    _fold_nodes(graph, options)
    if options.recurse_subgraphs:
        inner = replace(options, recurse_functions=False)
        for node in traversal.nodes_with_subgraphs(graph):
            for subgraph in traversal.subgraphs_of(node):
                fold_constants(subgraph, inner)
    if options.flatten_subgraphs:
        flatten_conditionals(graph)
    if options.recurse_functions:
        inner = replace(options, recurse_functions=False)
        for function in reversed(graph.functions):
            function.fold_constants(**vars(inner))


def _fold_nodes(graph: Graph, options: FoldOptions) -> None:
    selection = Selection(graph, options.should_exclude_node)
    selection.sweep()
    if options.fold_shapes:
        fold_shapes(graph, selection, options.should_exclude_node)
    if not selection.nodes and not selection.shape_values:
        return
    evaluation = Evaluation(graph, selection)
    if selection.nodes:
        wanted = {id(node): _wanted(selection, node, options.size_threshold) for node in selection.nodes}
        if options.partitioning is None:
            evaluate_all(evaluation, selection, wanted, options.error_ok)
        else:
            recursive = options.partitioning == "recursive"
            evaluate_parts(evaluation, selection, wanted, options.error_ok, recursive)
    _write_back(graph, evaluation.values, options.size_threshold)


def _wanted(selection: Selection, node: Node, size_threshold: Optional[int]) -> List[Variable]:
    tensors = selection.computed_tensors(node)
    if size_threshold is None:
        return tensors
    return [tensor for tensor in tensors if (static_bytes(tensor) or 0) <= size_threshold]


def _write_back(graph: Graph, values: Dict[int, np.ndarray], size_threshold: Optional[int]) -> None:
    large: List[str] = []
    for node in graph.nodes:
        if not node._outputs or not any([id(tensor) in values for tensor in node._outputs]):
            continue
        folded: List[Any] = []
        for tensor in node._outputs:
            value = values.get(id(tensor))
            if value is None or (size_threshold is not None and value.nbytes > size_threshold):
                continue
            folded.append((tensor, value))
            if size_threshold is None and value.nbytes > _LARGE_BYTES:
                large.append("{:} ({:.1f} MiB)".format(tensor.name, value.nbytes / (1 << 20)))
        _replace_outputs(node, folded)
    if large:
        G_LOGGER.warning(
            "Folding puts large constants into the model; a size_threshold keeps them out. They are: {:}".format(
                ", ".join(large)
            ),
            mode=LogMode.ONCE,
        )


def _replace_outputs(node: Node, folded: List[Any]) -> None:
    # Outputs that stay keep their places: where one is taken between them, an unused one stands.
    if len(folded) == sum([bool(tensor.name) for tensor in node._outputs]):
        node._outputs.clear()
    else:
        for tensor, _ in folded:
            place = next(i for i, other in enumerate(node._outputs) if other is tensor)
            node._outputs[place] = Variable("{:}_folded".format(tensor.name), tensor.dtype, tensor.shape)
    for tensor, value in folded:
        if tensor._inputs:
            tensor._inputs.clear()
        tensor.to_constant(value)
