"""From graphs to models of the package onnx."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Sequence, Set

import onnx

from onnx_graphsurgeon.exporters import constants
from onnx_graphsurgeon.exporters.base_exporter import BaseExporter
from onnx_graphsurgeon.exporters.wire import Encoder, sized
from onnx_graphsurgeon.ir import traversal
from onnx_graphsurgeon.ir.function import Function
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, Tensor, Variable
from onnx_graphsurgeon.logger import G_LOGGER
from onnx_graphsurgeon.util.onnx_types import dtype_to_onnx

__all__ = [
    "OnnxExporter",
    "check_duplicate_node_names",
    "constant_to_onnx_tensor",
    "dtype_to_onnx",
    "export_onnx",
    "update_import_domains",
]

_GRAPH_NODE, _GRAPH_INPUT, _GRAPH_OUTPUT, _GRAPH_VALUE_INFO = b"\x0a", b"\x5a", b"\x62", b"\x6a"

# Types that values without dtype and shape may have.
_TENSOR_TYPES = ("tensor_type", "sequence_type", "sparse_tensor_type")


def check_duplicate_node_names(nodes: Sequence[Node], level: int = G_LOGGER.WARNING) -> None:
    """Logs nodes that share a name which is not empty; at most once for each name."""
    names = [node.name for node in nodes if node.name]
    if len(set(names)) == len(names):
        return
    first: Dict[Any, Node] = {}
    reported: Set[Any] = set()
    for node in nodes:
        name = node.name
        if not name:
            continue
        other = first.setdefault(name, node)
        if other is not node and name not in reported:
            reported.add(name)
            G_LOGGER.log("Several nodes have the name {!r}, the first two are:\n{:}\n{:}".format(name, other, node), level)


def _is_default_domain(domain: Any) -> bool:
    return domain in (None, "", "ai.onnx")


def update_import_domains(graph: Graph) -> List[Any]:
    """The OperatorSetIdProtos that a model of the graph needs: the graph's own, and version 1 of any other domain
    that a node in it or in a subgraph uses. The graph is not changed."""
    if graph.import_domains is None:
        entries = [onnx.helper.make_opsetid("", graph.opset)]
    else:
        entries = list(graph.import_domains)
    known = {"" if _is_default_domain(entry.domain) else entry.domain for entry in entries}
    pending: List[Graph] = [graph]
    while pending:
        scope = pending.pop()
        for domain in dict.fromkeys([node.domain for node in scope.nodes]):
            domain = "" if _is_default_domain(domain) else domain
            if domain not in known:
                if not isinstance(domain, str):
                    raise TypeError(
                        "the domain of a node must be a string, not {:}: {!r}".format(type(domain).__name__, domain)
                    )
                known.add(domain)
                entries.append(onnx.helper.make_opsetid(domain, graph.opset if domain == "" else 1))
        for node in traversal.nodes_with_subgraphs(scope):
            pending.extend(traversal.subgraphs_of(node))
    return entries


def constant_to_onnx_tensor(tensor: Constant) -> Any:
    """The TensorProto of a constant.

    An AssertionError where `export_dtype` is none that values can be converted to, a ValueError where ONNX has no
    element type like that of the values, a RuntimeError where this version of onnx is too old for it.
    """
    message = onnx.TensorProto()
    constants.fill_tensor(message, tensor)
    return message


def _new_encoder() -> Encoder:
    return Encoder(
        lambda subgraph: bytes(OnnxExporter.export_graph(subgraph, do_type_check=False).SerializeToString()),
        constant_to_onnx_tensor,
    )


def _type_message(encoder: Encoder, tensor: Any, do_type_check: bool) -> bytes:
    dtype = tensor.dtype
    if dtype is None:
        if do_type_check:
            G_LOGGER.critical(
                "The model needs to know what elements this tensor has: set its dtype, or give do_type_check=False: "
                "{:}".format(tensor)
            )
        return b""
    kind = tensor.type if isinstance(tensor, Variable) and hasattr(tensor, "type") else "tensor_type"
    if kind != "tensor_type":
        kept = getattr(tensor, "_type_proto", None)
        if kept is not None and kept[0] is dtype:
            return bytes(kept[1].SerializeToString())
        if kind not in _TENSOR_TYPES:
            G_LOGGER.critical(
                "{!r} cannot be exported: its type is {!r}, and only {:} can be made of dtype and shape".format(
                    tensor.name, kind, ", ".join(_TENSOR_TYPES)
                )
            )
    return encoder.tensor_type(kind, dtype, tensor.shape)


def _fill_graph(message: Any, graph: Graph, do_type_check: bool, encoder: Encoder) -> None:
    # Nodes and types go in as bytes, values as messages, which are copied once.
    check_duplicate_node_names(graph.nodes)
    message.name = graph.name
    if graph.doc_string:
        message.doc_string = graph.doc_string
    encode = encoder.node
    parts: List[bytes] = []
    for node in graph.nodes:
        parts += (_GRAPH_NODE, sized(encode(node)))

    def add_types(tag: bytes, tensors: Iterable[Any]) -> None:
        for tensor in tensors:
            type_message = _type_message(encoder, tensor, do_type_check)
            parts.extend((tag, sized(encoder.value_info(encoder.name(tensor), type_message))))

    add_types(_GRAPH_INPUT, graph._inputs)
    add_types(_GRAPH_OUTPUT, graph._outputs)
    io_ids = {id(tensor) for tensor in graph._inputs}
    io_ids.update(id(tensor) for tensor in graph._outputs)
    inner: List[Any] = []
    for tensor in traversal.tensor_map(graph).values():
        if isinstance(tensor, Constant):
            _add_initializer(message, tensor)
        elif id(tensor) not in io_ids and (tensor.dtype is not None or tensor.shape is not None):  # type: ignore[attr-defined]
            inner.append(tensor)
    add_types(_GRAPH_VALUE_INFO, inner)
    message.MergeFromString(b"".join(parts))


def _add_initializer(message: Any, constant: Constant) -> None:
    if constants.is_sparse(constant):
        message.sparse_initializer.append(constants.make_sparse_tensor(constant))
    else:
        constants.fill_tensor(message.initializer.add(), constant)


class OnnxExporter(BaseExporter):
    """Makes ONNX's messages of graphs and their parts."""

    @staticmethod
    def export_tensor_proto(tensor: Constant) -> Any:
        """The TensorProto of a constant; values that were not loaded stay so. Errors: constant_to_onnx_tensor()."""
        return constant_to_onnx_tensor(tensor)

    @staticmethod
    def export_sparse_tensor_proto(tensor: Constant) -> Any:
        """The SparseTensorProto of a constant that has SparseValues. An AttributeError for any other."""
        return constants.make_sparse_tensor(tensor)

    @staticmethod
    def export_value_info_proto(tensor: Tensor, do_type_check: bool) -> Any:
        """The ValueInfoProto of a tensor.

        do_type_check: whether a tensor without a dtype is an OnnxGraphSurgeonException; else its type is left out.
        A type that cannot be made of dtype and shape is one in any case.
        """
        encoder = _new_encoder()
        encoded = encoder.value_info(encoder.name(tensor), _type_message(encoder, tensor, do_type_check))
        return onnx.ValueInfoProto.FromString(encoded)

    @staticmethod
    def export_attributes(attrs: Mapping[str, Any]) -> List[Any]:
        """The AttributeProtos of attributes. A TypeError or ValueError for a value that no attribute can have."""
        encoder = _new_encoder()
        return [onnx.AttributeProto.FromString(encoder.attribute(name, value)) for name, value in attrs.items()]

    @staticmethod
    def export_node(node: Node) -> Any:
        """The NodeProto of a node."""
        return onnx.NodeProto.FromString(_new_encoder().node(node))

    @staticmethod
    def export_function(func: Function) -> Any:
        """The FunctionProto of a function. Its constants become nodes, since a function has no initializers."""
        encoder = _new_encoder()
        check_duplicate_node_names(func.nodes)
        message = onnx.FunctionProto(name=func.name, domain=func.domain)
        if func.doc_string:
            message.doc_string = func.doc_string
        tensors = traversal.tensor_map(func).values()
        nodes = [_constant_node(tensor) for tensor in tensors if isinstance(tensor, Constant)] + list(func.nodes)
        message.node.extend([onnx.NodeProto.FromString(encoder.node(node)) for node in nodes])
        message.input.extend([tensor.name for tensor in func._inputs])
        message.output.extend([tensor.name for tensor in func._outputs])
        message.opset_import.extend(update_import_domains(func))
        for name, default in func.attrs.items():
            if default is None:
                message.attribute.append(name)
            else:
                message.attribute_proto.append(onnx.AttributeProto.FromString(encoder.attribute(name, default)))
        return message

    @staticmethod
    def export_graph(graph: Graph, do_type_check: bool = True) -> Any:
        """The GraphProto of a graph, whose nodes stay in their order.

        do_type_check: whether a tensor whose type is to be written but has no dtype is an OnnxGraphSurgeonException.
        """
        message = onnx.GraphProto()
        _fill_graph(message, graph, do_type_check, _new_encoder())
        return message


def _constant_node(constant: Constant) -> Node:
    # Without SynchronizedLists' back links: the function itself does not change.
    values = Constant(constant.name, constant._values, constant.data_location, constant._export_dtype)
    output = Variable(constant.name)
    return Node("Constant", attrs={"value": values}, outputs=[output])


def export_onnx(graph: Graph, do_type_check: bool = True, **kwargs: Any) -> Any:
    """The ModelProto of a graph, whose nodes stay in their order: call `cleanup()` and `toposort()` before.

    do_type_check: whether a tensor whose type is to be written but has no dtype is an OnnxGraphSurgeonException.
    kwargs: for onnx.helper.make_model(), such as `opset_imports`, `ir_version`, `doc_string`.
    """
    functions = [OnnxExporter.export_function(function) for function in graph.functions]
    kwargs["functions"] = functions
    if "opset_imports" not in kwargs:
        kwargs["opset_imports"] = update_import_domains(graph)
    if graph.ir_version is not None:
        kwargs["ir_version"] = graph.ir_version
    # The graph is made in the model: make_model() would copy it.
    model = onnx.helper.make_model(onnx.GraphProto(), **kwargs)
    _fill_graph(model.graph, graph, do_type_check, _new_encoder())
    model.producer_name = graph.producer_name
    model.producer_version = graph.producer_version
    return model
