"""From models of the package onnx to graphs."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Dict, List, Mapping, MutableMapping, Optional

import onnx

from onnx_graphsurgeon.importers import graph_builder, messages
from onnx_graphsurgeon.importers.base_importer import BaseImporter
from onnx_graphsurgeon.importers.graph_builder import GraphBuilder
from onnx_graphsurgeon.importers.messages import ATTR_TYPE_MAPPING
from onnx_graphsurgeon.ir.function import Function
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, LazyValues, SparseValues, Tensor, Variable
from onnx_graphsurgeon.logger import G_LOGGER
from onnx_graphsurgeon.util.collection import without_garbage_collection
from onnx_graphsurgeon.util.onnx_types import get_dtype_name, get_itemsize, get_numpy_type, import_dtype

__all__ = [
    "ATTR_TYPE_MAPPING",
    "Constant",
    "LazyValues",
    "OnnxImporter",
    "SparseValues",
    "Tensor",
    "Variable",
    "get_dtype_name",
    "get_itemsize",
    "get_numpy_type",
    "get_onnx_tensor_dtype",
    "get_onnx_tensor_shape",
    "get_onnx_tensor_type",
    "import_onnx",
]


def get_onnx_tensor_shape(onnx_tensor: Any) -> Optional[List[Any]]:
    """The shape of a TensorProto, SparseTensorProto or ValueInfoProto; None if it is not known."""
    if isinstance(onnx_tensor, (onnx.TensorProto, onnx.SparseTensorProto)):
        return list(onnx_tensor.dims)
    return messages.value_type(onnx_tensor)[2]


def get_onnx_tensor_dtype(onnx_tensor: Any) -> Any:
    """The element type of such a message: a NumPy dtype, or the number in ONNX where NumPy has none."""
    if isinstance(onnx_tensor, onnx.TensorProto):
        return import_dtype(onnx_tensor.data_type)
    if isinstance(onnx_tensor, onnx.SparseTensorProto):
        return import_dtype(onnx_tensor.values.data_type)
    return messages.import_variable(onnx_tensor).dtype


def get_onnx_tensor_type(onnx_tensor: Any) -> str:
    """Which field of a TypeProto a tensor's type is: "tensor_type", "sequence_type", and so on."""
    if isinstance(onnx_tensor, (onnx.TensorProto, onnx.SparseTensorProto)):
        return "tensor_type"
    return messages.value_type(onnx_tensor)[0]


class OnnxImporter(BaseImporter):
    """Makes graphs of ONNX's messages. The values of initializers stay in the messages until they are asked for."""

    @staticmethod
    def get_opset(model_or_func: Any) -> int:
        """The version of ONNX's own domain in a ModelProto or FunctionProto; 11, and a warning, if it has none."""
        what = "Function" if isinstance(model_or_func, onnx.FunctionProto) else "Model"
        for entry in getattr(model_or_func, "opset_import", ()):
            if entry.domain in ("", "ai.onnx"):
                return int(entry.version)
        G_LOGGER.warning(
            "{:} names no version of ONNX's operators: opset {:} is assumed".format(what, Graph.DEFAULT_OPSET)
        )
        return Graph.DEFAULT_OPSET

    @staticmethod
    def get_import_domains(model_or_func: Any) -> Any:
        """A list of copies of the OperatorSetIdProtos of a ModelProto or FunctionProto. An AttributeError for anything else."""
        if not hasattr(model_or_func, "opset_import"):
            raise AttributeError(
                "{:} is neither a ModelProto nor a FunctionProto: it has no opset_import; onnx.load() reads a model "
                "from a file".format(type(model_or_func).__name__)
            )
        return [onnx.helper.make_opsetid(entry.domain, entry.version) for entry in model_or_func.opset_import]

    @staticmethod
    def import_tensor(onnx_tensor: Any) -> Tensor:
        """The Constant of a TensorProto or SparseTensorProto, the Variable of a ValueInfoProto.

        A KeyError for an element type that this version of onnx does not know, an OnnxGraphSurgeonException for
        values without one.
        """
        return messages.import_tensor(onnx_tensor)

    @staticmethod
    def import_attributes(
        onnx_attributes: Any,
        tensor_map: Mapping[str, Tensor],
        subgraph_tensor_map: MutableMapping[str, Tensor],
        opset: int,
        import_domains: Any,
    ) -> "OrderedDict[str, Any]":
        """The values of AttributeProtos by name; a warning about each whose type is not supported.

        tensor_map, subgraph_tensor_map: tensors around the node's graph, and in it, that subgraphs may use.
        """
        builder = GraphBuilder(tensor_map, subgraph_tensor_map, opset, import_domains)  # type: ignore[arg-type]
        return builder.attribute_values(onnx_attributes)

    @staticmethod
    def import_node(
        onnx_node: Any,
        tensor_map: Mapping[str, Tensor],
        subgraph_tensor_map: MutableMapping[str, Tensor],
        opset: int,
        import_domains: Any,
    ) -> Node:
        """The Node of a NodeProto.

        tensor_map: tensors around the node's graph.
        subgraph_tensor_map: those in it, to which the node's own are added.
        """
        builder = GraphBuilder(tensor_map, subgraph_tensor_map, opset, import_domains)  # type: ignore[arg-type]
        return builder.node(onnx_node)

    @staticmethod
    def import_function(
        onnx_function: Any, model_opset: Optional[int] = None, model_import_domains: Any = None
    ) -> Function:
        """The Function of a FunctionProto.

        model_opset, model_import_domains: those of the model, for a function that names none.
        """
        has_own = bool(onnx_function.opset_import)
        domains = OnnxImporter.get_import_domains(onnx_function) if has_own else model_import_domains
        if has_own or model_opset is None:
            opset = OnnxImporter.get_opset(onnx_function)
        else:
            opset = model_opset
        builder = GraphBuilder({}, {}, opset, domains)
        builder.value_infos(onnx_function.value_info)
        inputs = [builder.input_tensor(name) for name in onnx_function.input]
        nodes = builder.nodes(onnx_function.node)
        outputs = [builder.output_tensor(name) for name in onnx_function.output]
        attrs: Dict[str, Any] = {name: None for name in onnx_function.attribute}
        attrs.update(builder.attribute_values(onnx_function.attribute_proto))
        return Function(
            onnx_function.name,
            onnx_function.domain,
            nodes=nodes,
            inputs=inputs,
            outputs=outputs,
            doc_string=onnx_function.doc_string,
            opset=opset,
            import_domains=domains,
            attrs=attrs,
        )

    @staticmethod
    def import_graph(  # type: ignore[override]
        onnx_graph: Any,
        tensor_map: Optional[Mapping[str, Tensor]] = None,
        opset: Optional[int] = None,
        import_domains: Any = None,
        producer_name: Optional[str] = None,
        producer_version: Optional[str] = None,
        functions: Optional[List[Function]] = None,
        ir_version: Optional[int] = None,
    ) -> Graph:
        """The Graph of a GraphProto.

        tensor_map: the tensors around a subgraph by name, which are not changed.
        The others are those of the model, which a GraphProto does not have.
        """
        return graph_builder.build_graph(
            onnx_graph,
            {} if tensor_map is None else tensor_map,
            opset,
            import_domains,
            producer_name=producer_name,
            producer_version=producer_version,
            functions=functions,
            ir_version=ir_version,
        )


def import_onnx(onnx_model: Any) -> Graph:
    """The Graph of a ModelProto, which onnx.load() reads from a file.

    Initializers' values stay in the model until they are asked for. Nodes are in the model's order. An AttributeError
    for what is no model.
    """
    with without_garbage_collection():
        domains = OnnxImporter.get_import_domains(onnx_model)
        opset = OnnxImporter.get_opset(onnx_model)
        functions = [OnnxImporter.import_function(f, opset, domains) for f in onnx_model.functions]
        return OnnxImporter.import_graph(
            onnx_model.graph,
            opset=opset,
            import_domains=domains,
            producer_name=onnx_model.producer_name,
            producer_version=onnx_model.producer_version,
            functions=functions,
            ir_version=onnx_model.ir_version,
        )
