"""Graphs of GraphProtos. Most of the time of an import is spent here, so objects are made without their constructors."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Dict, List, Mapping, Optional, Tuple

from onnx_graphsurgeon.importers import messages
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, Tensor, Variable
from onnx_graphsurgeon.ir.values import LazyValues
from onnx_graphsurgeon.logger import G_LOGGER
from onnx_graphsurgeon.util.synchronized_list import SynchronizedList

_new_list = SynchronizedList.__new__
_new_variable = Variable.__new__
_new_node = Node.__new__
_new_constant = Constant.__new__
_append = list.append


def make_variable(name: str, dtype: Any = None, shape: Optional[List[Any]] = None) -> Variable:
    """As the constructor of Variable, and faster."""
    variable = _new_variable(Variable)
    variable.name = name
    inputs = _new_list(SynchronizedList)
    inputs.parent_obj = variable
    inputs.field_name = "_outputs"
    variable._inputs = inputs
    outputs = _new_list(SynchronizedList)
    outputs.parent_obj = variable
    outputs.field_name = "_inputs"
    variable._outputs = outputs
    variable.dtype = dtype
    variable.shape = shape
    variable.type = "tensor_type"
    return variable


def make_constant(tensor: Any) -> Constant:
    """The Constant of a TensorProto; as messages.import_tensor(), and faster."""
    constant = _new_constant(Constant)
    constant.name = tensor.name
    inputs = _new_list(SynchronizedList)
    inputs.parent_obj = constant
    inputs.field_name = "_outputs"
    constant._inputs = inputs
    outputs = _new_list(SynchronizedList)
    outputs.parent_obj = constant
    outputs.field_name = "_inputs"
    constant._outputs = outputs
    constant._values = LazyValues(tensor)
    constant.data_location = tensor.data_location if tensor.HasField("data_location") else None
    constant._export_dtype = None
    return constant


class GraphBuilder:
    """Makes the graph of a GraphProto or FunctionProto.

    `local` has the tensors of the graph by name, `outer` those around it. Inputs of nodes are looked for in both;
    what nodes produce, and the graph's own inputs and outputs, belong to the graph itself.
    """

    def __init__(
        self, outer: Mapping[str, Tensor], local: Dict[str, Tensor], opset: Any, import_domains: Any
    ) -> None:
        self.outer = outer
        self.local = local
        self.opset = opset
        self.import_domains = import_domains
        # Messages of tensors' types, as bytes, to dtype and shape.
        self._types: Dict[bytes, Tuple[Any, Optional[Tuple[Any, ...]]]] = {}

    def initializers(self, dense: Any, sparse: Any) -> List[Constant]:
        """Reads the initializers: constants whose values stay in their messages."""
        constants: List[Constant] = [make_constant(tensor) for tensor in dense]
        constants += [messages.import_tensor(tensor) for tensor in sparse]  # type: ignore[misc]
        self.local.update([(constant.name, constant) for constant in constants])
        return constants

    def variable(self, value_info: Any) -> Variable:
        """The Variable of a ValueInfoProto."""
        key = value_info.type.SerializeToString()
        known = self._types.get(key)
        if known is None:
            variable = messages.import_variable(value_info)
            if variable.type == "tensor_type":
                shape = variable.shape
                self._types[key] = (variable.dtype, None if shape is None else tuple(shape))
            return variable
        dtype, extents = known
        return make_variable(value_info.name, dtype, None if extents is None else list(extents))

    def value_infos(self, value_infos: Any) -> None:
        """Reads types of tensors, and of those of the graph that are known already what is not known of them."""
        local, outer = self.local, self.outer
        for value_info in value_infos:
            name = value_info.name
            known: Any = local.get(name)
            if known is None:
                if name not in outer:
                    local[name] = self.variable(value_info)
            elif isinstance(known, Variable) and (known.dtype is None or known.shape is None):
                found = self.variable(value_info)
                known.dtype = found.dtype if known.dtype is None else known.dtype
                known.shape = found.shape if known.shape is None else known.shape

    def graph_tensors(self, value_infos: Any) -> List[Tensor]:
        """Reads inputs or outputs of the graph, which are never tensors from outside."""
        tensors: List[Tensor] = []
        for value_info in value_infos:
            name = value_info.name
            tensor = self.local.get(name)
            if tensor is None:
                tensor = self.variable(value_info)
                self.local[name] = tensor
            tensors.append(tensor)
        return tensors

    def input_tensor(self, name: str) -> Tensor:
        """The tensor that a node reads, made if it is not known yet."""
        tensor = self.local.get(name)
        if tensor is None and self.outer:
            tensor = self.outer.get(name)
        if tensor is None:
            tensor = make_variable(name)
            if name:
                self.local[name] = tensor
        return tensor

    def output_tensor(self, name: str) -> Tensor:
        """The tensor that a node writes, made if it is not known yet."""
        tensor = self.local.get(name)
        if tensor is None:
            tensor = make_variable(name)
            if name:
                self.local[name] = tensor
        return tensor

    def node(self, message: Any) -> Node:
        """The Node of a NodeProto."""
        return self.nodes([message])[0]

    def nodes(self, node_messages: Any) -> List[Node]:
        """The Nodes of NodeProtos, in their order."""
        nodes: List[Node] = []
        find, append = self.local.get, _append
        for message in node_messages:
            node = _new_node(Node)
            node.op = message.op_type
            node.name = message.name
            attributes = message.attribute
            node.attrs = self.attribute_values(attributes) if attributes else OrderedDict()
            inputs = _new_list(SynchronizedList)
            inputs.parent_obj = node
            inputs.field_name = "_outputs"
            node._inputs = inputs
            for name in message.input[:]:
                tensor = find(name) or self.input_tensor(name)
                append(tensor._outputs, node)
                append(inputs, tensor)
            outputs = _new_list(SynchronizedList)
            outputs.parent_obj = node
            outputs.field_name = "_inputs"
            node._outputs = outputs
            for name in message.output[:]:
                tensor = find(name) or self.output_tensor(name)
                append(tensor._inputs, node)
                append(outputs, tensor)
            domain = message.domain
            node.domain = domain if domain or message.HasField("domain") else None
            nodes.append(node)
        return nodes

    def attribute_values(self, attribute_messages: Any) -> "OrderedDict[str, Any]":
        """The values of AttributeProtos by name, without those of types that are not supported."""
        values: "OrderedDict[str, Any]" = OrderedDict()
        for attr in attribute_messages:
            kind = attr.type
            if kind == 7 and not attr.ref_attr_name:
                values[attr.name] = attr.ints[:]
            elif kind == 2 and not attr.ref_attr_name:
                values[attr.name] = attr.i
            else:
                readable, value = messages.import_attribute(attr, self._subgraph)
                if readable:
                    values[attr.name] = value
        return values

    def _subgraph(self, message: Any) -> Graph:
        around: Dict[str, Tensor] = dict(self.outer)
        around.update(self.local)
        return build_graph(message, around, self.opset, self.import_domains)


def build_graph(
    message: Any, outer: Mapping[str, Tensor], opset: Any, import_domains: Any, **graph_arguments: Any
) -> Graph:
    """The Graph of a GraphProto.

    outer: the tensors around it by name, which are not changed.
    graph_arguments: further ones of Graph's constructor.
    """
    builder = GraphBuilder(outer, {}, opset, import_domains)
    G_LOGGER.verbose("Reading initializers")
    initializers = builder.initializers(message.initializer, message.sparse_initializer)
    G_LOGGER.verbose("Reading types of tensors")
    builder.value_infos(message.value_info)
    G_LOGGER.verbose("Reading inputs of the graph")
    constant_names = {constant.name for constant in initializers}
    inputs = builder.graph_tensors([info for info in message.input if info.name not in constant_names])
    G_LOGGER.verbose("Reading outputs of the graph")
    outputs = builder.graph_tensors(message.output)
    G_LOGGER.verbose("Reading nodes")
    nodes = builder.nodes(message.node)
    return Graph(
        nodes=nodes,
        inputs=inputs,
        outputs=outputs,
        name=message.name,
        doc_string=message.doc_string,
        opset=opset,
        import_domains=import_domains,
        **graph_arguments,
    )
