"""Shapes that are known without computing anything: Shape, and Gather and Slice of Shape."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

import numpy as np

from onnx_graphsurgeon.folding.selection import Selection, is_default_domain
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, Tensor
from onnx_graphsurgeon.logger import G_LOGGER
from onnx_graphsurgeon.util import misc

Folder = Callable[[Node, Selection], Optional[np.ndarray]]


def fold_shapes(graph: Graph, selection: Selection, excluded: Optional[Callable[[Node], bool]]) -> None:
    """Adds to a selection what Shape, and Gather and Slice of Shape, give where the extents are known; after each of
    these kinds the nodes that depend on it."""
    by_op: dict[str, List[Node]] = {"Gather": [], "Slice": [], "Shape": []}
    for node in graph.nodes:
        if node.op in by_op and node._inputs and node._outputs and is_default_domain(node):
            by_op[node.op].append(node)
    for op, folder in (("Gather", _gather_of_shape), ("Slice", _slice_of_shape), ("Shape", _shape)):
        for node in by_op[op]:
            tensor = node._outputs[0]
            if not tensor.name or selection.is_known(tensor) or (excluded is not None and excluded(node)):
                continue
            value = _try(folder, node, selection)
            if value is not None:
                selection.add_value(tensor, value)
        selection.sweep()


def _try(folder: Folder, node: Node, selection: Selection) -> Optional[np.ndarray]:
    try:
        return folder(node, selection)
    except (IndexError, TypeError, ValueError) as error:
        G_LOGGER.warning("{:} {!r} is not folded, although its shape is known: {:}".format(node.op, node.name, error))
        return None


def _known_shape(node: Node) -> Optional[List[Any]]:
    # Extents that a node of operator Shape gives, of which some may be dynamic; None if not even their number is known.
    tensor: Any = node._inputs[0]
    shape = tensor.shape
    if shape is None or node.op != "Shape" or not is_default_domain(node):
        return None
    extents = list(shape)
    start, end = node.attrs.get("start", 0), node.attrs.get("end", len(extents))
    return extents[start:end] if isinstance(start, int) and isinstance(end, int) else None


def _static(extents: List[Any]) -> Optional[List[int]]:
    return None if misc.is_dynamic_shape(extents) else extents


def _shape(node: Node, selection: Selection) -> Optional[np.ndarray]:
    extents = _known_shape(node)
    if extents is None or _static(extents) is None:
        return None
    return np.array(extents, dtype=np.int64)


def _shape_before(node: Node, selection: Selection) -> Optional[List[Any]]:
    # The extents that a Gather or Slice takes from.
    tensor = node._inputs[0]
    if selection.is_known(tensor) or not tensor.inputs or not tensor.inputs[0].inputs:
        return None
    return _known_shape(tensor.inputs[0])


def _gather_of_shape(node: Node, selection: Selection) -> Optional[np.ndarray]:
    extents = _shape_before(node, selection)
    if extents is None or len(node._inputs) != 2 or not isinstance(node._inputs[1], Constant):
        return None
    indices = node._inputs[1].values
    places = indices.reshape(-1).tolist()
    bad = [place for place in places if not -len(extents) <= place < len(extents)]
    if bad:
        raise IndexError("index {:} is outside of the {:} extents".format(bad[0], len(extents)))
    picked = _static([extents[place] for place in places])
    return None if picked is None else np.array(picked, dtype=np.int64).reshape(indices.shape)


def _slice_of_shape(node: Node, selection: Selection) -> Optional[np.ndarray]:
    extents = _shape_before(node, selection)
    if extents is None:
        return None
    names = ["starts", "ends", "axes", "steps"]
    given = [_slice_argument(node, place, name) for place, name in enumerate(names, 1)]
    if given[0] is None or given[1] is None:
        return None
    start, end, axis, step = given[0], given[1], given[2] or 0, given[3]
    if axis not in (0, -1) or step == 0:
        return None
    picked = _static(_slice(extents, start, end, 1 if step is None else step))
    return None if picked is None else np.array(picked, dtype=np.int64)


def _slice(extents: List[Any], start: int, end: int, step: int) -> List[Any]:
    # ONNX counts an end before the first element from the back only once: what is still negative is before the start.
    count = len(extents)
    start = start + count if start < 0 else start
    end = end + count if end < 0 else end
    if step > 0:
        return extents[max(start, 0) : max(end, 0) : step]
    start = min(start, count - 1)
    return [extents[place] for place in range(start, max(end, -1), step)] if start >= 0 else []


def _slice_argument(node: Node, place: int, name: str) -> Optional[int]:
    # Of an input, which must be constant, or of an attribute in older opsets.
    if len(node._inputs) == 1:
        value = node.attrs.get(name)
        return None if value is None else int(value[0])
    if place >= len(node._inputs) or not node._inputs[place].name:
        return None
    tensor: Tensor = node._inputs[place]
    if not isinstance(tensor, Constant):
        raise ValueError("its input {!r} is not constant".format(tensor.name))
    return int(tensor.values.reshape(-1)[0])
