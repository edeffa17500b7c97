"""Values of tensors that depend on constants alone."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import chain
from typing import Any, Dict, Iterable, Iterator, List, Sequence, Set, Tuple

import numpy as np
import onnx

from onnx_graphsurgeon.folding import evaluator
from onnx_graphsurgeon.folding.selection import Selection
from onnx_graphsurgeon.ir import traversal
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, Tensor
from onnx_graphsurgeon.logger import G_LOGGER
from onnx_graphsurgeon.util import onnx_types

# Values of more bytes are given to the evaluator as arrays instead of being copied into the model.
_FED_BYTES = 1 << 16

# A version of the IR that has functions, and that every evaluator knows.
_IR_VERSION = 8


class Evaluation:
    """Computes tensors of a graph; each value is computed once.

    `model` is the graph, or that around it: its opset and functions count.
    `values` has those that are known, by the id of the tensor.
    """

    def __init__(self, model: Graph, selection: Selection) -> None:
        self._graph = model
        self._head: Any = None  # a ModelProto of what all parts have in common
        self.values: Dict[int, np.ndarray] = dict(selection.shape_values)

    def compute(self, nodes: Sequence[Node], wanted: Sequence[Tensor]) -> None:
        """Computes tensors by nodes, which stand in an order in which they can run.

        Whatever the evaluator raises for a model that it cannot compute; then no value is added.
        """
        missing = [tensor for tensor in wanted if id(tensor) not in self.values]
        if not missing:
            return
        used = self._used(nodes, missing)
        with _distinct_names(used):
            model, feeds = self._model(used, missing)
            names = [tensor.name for tensor in missing]
        results = evaluator.evaluate(model.SerializeToString(), feeds, names)
        if len(results) != len(names):
            raise RuntimeError(
                "{:} tensors were asked for, and {:} were computed".format(len(names), len(results))
            )
        for tensor, value in zip(missing, results):
            if isinstance(value, np.ndarray):
                self.values[id(tensor)] = value

    def _used(self, nodes: Sequence[Node], wanted: Sequence[Tensor]) -> List[Node]:
        # Backwards from what is wanted: what is known, or not needed, is not computed.
        needed: Set[int] = {id(tensor) for tensor in wanted}
        used: List[Node] = []
        for node in reversed(nodes):
            if any([id(tensor) in needed for tensor in node._outputs]):
                used.append(node)
                needed.update([id(t) for t in traversal.all_inputs(node) if id(t) not in self.values])
        used.reverse()
        return used

    def _common_head(self) -> Any:
        from onnx_graphsurgeon.exporters import onnx_exporter

        if self._head is None:
            self._head = onnx.ModelProto(ir_version=self._graph.ir_version or _IR_VERSION)
            self._head.opset_import.extend(onnx_exporter.update_import_domains(self._graph))
        return self._head

    def _model(self, nodes: Sequence[Node], wanted: Sequence[Tensor]) -> Any:
        from onnx_graphsurgeon.exporters import onnx_exporter, wire

        model = onnx.ModelProto()
        model.CopyFrom(self._common_head())
        message = model.graph
        message.name = "constants"
        encoder = onnx_exporter._new_encoder()
        encode = encoder.node
        parts: List[bytes] = []
        for node in nodes:
            parts += (b"\x0a", wire.sized(encode(node)))
        message.MergeFromString(b"".join(parts))
        feeds: Dict[str, np.ndarray] = {}
        self._add_constants(message, feeds, nodes)
        for tensor in wanted:
            message.output.add().name = tensor.name
        if self._graph.functions and _calls_functions(nodes):
            model.functions.extend(
                [onnx_exporter.OnnxExporter.export_function(f) for f in self._graph.functions]
            )
        return model, feeds

    def _add_constants(self, message: Any, feeds: Dict[str, np.ndarray], nodes: Sequence[Node]) -> None:
        seen: Set[int] = set()
        for node in nodes:
            for tensor in traversal.all_inputs(node):
                if id(tensor) in seen:
                    continue
                seen.add(id(tensor))
                known = self.values.get(id(tensor))
                if known is not None:
                    tensor = Constant(tensor.name, known)
                elif not isinstance(tensor, Constant):
                    continue
                _add_constant(message, feeds, tensor)


@contextmanager
def _distinct_names(nodes: Sequence[Node]) -> Iterator[None]:
    # A graph may have several tensors, and several nodes, of one name, as long as it is no model.
    tensors = {id(t): t for node in nodes for t in chain(traversal.all_inputs(node), node._outputs)}
    renamed = _rename_duplicates(tensors.values()) + _rename_duplicates(nodes)
    try:
        yield
    finally:
        for item, name in renamed:
            item.name = name


def _rename_duplicates(items: Iterable[Any]) -> List[Tuple[Any, str]]:
    # The items that get another name, with the name that they had.
    known: Set[str] = set()
    renamed: List[Tuple[Any, str]] = []
    for item in items:
        if item.name in known and item.name:
            renamed.append((item, item.name))
        known.add(item.name)
    for number, (item, name) in enumerate(renamed):
        item.name = "{:}/{:}".format(name, number)
    return renamed


def _add_constant(message: Any, feeds: Dict[str, np.ndarray], constant: Constant) -> None:
    from onnx_graphsurgeon.exporters import constants

    values = constant._values
    if not constant.name:
        return
    if isinstance(values, np.ndarray) and values.nbytes > _FED_BYTES and constant._export_dtype is None:
        if values.dtype.kind in "biufc" and values.dtype.isnative:
            feeds[constant.name] = values
            info = message.input.add()
            info.name = constant.name
            info.type.tensor_type.elem_type = onnx_types.dtype_to_onnx(values.dtype)
            for extent in values.shape:
                info.type.tensor_type.shape.dim.add().dim_value = extent
            return
    if constants.is_sparse(constant):
        message.sparse_initializer.append(constants.make_sparse_tensor(constant))
    else:
        constants.add_tensor(message.initializer, constant)


def _calls_functions(nodes: Sequence[Node]) -> bool:
    return any(
        node.domain not in (None, "", "ai.onnx") or (node.attrs and traversal.subgraphs_of(node))
        for node in nodes
    )


def describe(nodes: Sequence[Node]) -> str:
    """Nodes for a message: their operators and names, the first of them if they are many."""
    shown = ", ".join("{:} {!r}".format(node.op, node.name) for node in nodes[:3])
    return shown + (", and {:} more".format(len(nodes) - 3) if len(nodes) > 3 else "")


def evaluate_all(
    evaluation: Evaluation, selection: Selection, wanted: Dict[int, List[Any]], error_ok: bool
) -> None:
    """Computes all nodes of a selection at once; if that fails nothing is computed, which is a warning or raised.

    wanted: the tensors to be computed, by the id of their node.
    """
    tensors = [tensor for node in selection.nodes for tensor in wanted[id(node)]]
    try:
        evaluation.compute(selection.nodes, tensors)
    except Exception as error:
        if not error_ok:
            raise
        G_LOGGER.warning(
            "No constant is computed, since one of {:} nodes ({:}) cannot be: {:}\npartitioning='recursive' computes "
            "those that can".format(len(selection.nodes), describe(selection.nodes), error)
        )


def evaluate_parts(
    evaluation: Evaluation,
    selection: Selection,
    wanted: Dict[int, List[Any]],
    error_ok: bool,
    recursive: bool,
) -> None:
    """Computes the nodes behind each last node of a selection by themselves.

    recursive: whether of a part that fails what can be computed is kept.
    """
    places = {id(node): place for place, node in enumerate(selection.nodes)}
    for last in _last_nodes(selection.nodes, places):
        part = _part(last, selection.nodes, places)
        tensors = [tensor for node in part for tensor in wanted[id(node)]]
        try:
            evaluation.compute(part, tensors)
        except Exception as error:
            if not error_ok and not recursive:
                raise
            G_LOGGER.warning(
                "The nodes before {:} are not computed all at once: {:}".format(describe([last]), error)
            )
            if recursive:
                _evaluate_one_by_one(evaluation, part, wanted)
            else:
                G_LOGGER.info("partitioning='recursive' computes what can be")


def _last_nodes(nodes: Sequence[Node], places: Dict[int, int]) -> List[Node]:
    # Those that no other node of the selection needs.
    needed: Set[int] = set()
    for node in nodes:
        for tensor in traversal.all_inputs(node):
            needed.update(id(producer) for producer in tensor.inputs)
    return [node for node in nodes if id(node) not in needed]


def _part(last: Node, nodes: Sequence[Node], places: Dict[int, int]) -> List[Node]:
    found: Set[int] = {places[id(last)]}
    pending = [last]
    while pending:
        for tensor in traversal.all_inputs(pending.pop()):
            for producer in tensor.inputs:
                place = places.get(id(producer))
                if place is not None and place not in found:
                    found.add(place)
                    pending.append(producer)
    return [nodes[place] for place in sorted(found)]


def _evaluate_one_by_one(evaluation: Evaluation, part: Sequence[Node], wanted: Dict[int, List[Any]]) -> None:
    # What depends on a node that failed is not tried.
    failed: Set[int] = set()
    for node in part:
        if any(id(producer) in failed for tensor in traversal.all_inputs(node) for producer in tensor.inputs):
            failed.add(id(node))
            continue
        outputs = [tensor for tensor in node._outputs if tensor.name]
        try:
            evaluation.compute([node], outputs)
        except Exception as error:
            G_LOGGER.debug("{:} is not computed: {:}".format(describe([node]), error))
            failed.add(id(node))
