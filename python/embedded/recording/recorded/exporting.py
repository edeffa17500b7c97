"""A network as an ONNX model: layers in an order in which each finds its inputs, loops and conditionals with their
bodies, a parsed model's parts as they were."""

from collections import ChainMap

from . import control_flow, dtypes, onnx_messages, wire
from .errors import RecordingError, place_text
from .layers import shaping
from .writer import DEFAULT_OPSET, NeedsOpset, Node, Writer

_IR_OF_OPSET = {17: 8, 18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 12}


def to_onnx(network):
    """(bytes of a ModelProto, Exporter) of a network. Throws RecordingError, which names layer and place."""
    parsed = network._parsed
    fixed = parsed.model.opsets.get("") if parsed else None
    opset = fixed or DEFAULT_OPSET
    while True:
        exporter = Exporter(network, opset, fixed is not None)
        try:
            return exporter.model(), exporter
        except NeedsOpset as newer:
            opset = newer.opset


class RawNode:
    """A parsed node on its way out."""

    def __init__(self, data, reads, outputs, name):
        self._data, self.reads, self.outputs, self.name = data, reads, outputs, name
        self.inputs = []  # none that may be renamed

    def bytes(self):
        return self._data


class Exporter:
    """One attempt to write a network in an opset."""

    def __init__(self, network, opset, is_fixed):
        self.network = network
        self.writer = Writer(opset, is_fixed, self._taken())
        self.names = ChainMap()  # id of a tensor: its name in the graph that is written
        self.nodes_of = {}  # index of a layer: names of its nodes
        self._used = set()
        self.flow = control_flow.ControlFlow(self)

    def _taken(self):
        network = self.network
        taken = {t.name for t in network._inputs + network._constants}
        taken |= {t.name for layer in network._layers for t in layer._outputs}
        taken |= {layer.name for layer in network._layers}
        if network._parsed:
            taken |= network._parsed.all_names
        return taken

    # ---- the order of layers

    def needed(self, tensors):
        """The layers that the tensors need and that are not written yet, each behind those that it needs."""
        order, state = [], {}
        for root in tensors:
            if root is None or id(root) in self.names or root._layer is None:
                continue
            stack = [(root._layer, None)]
            while stack:
                layer, children = stack.pop()
                if children is None:
                    if state.get(layer._index) is not None or all(id(t) in self.names for t in layer._outputs):
                        continue
                    state[layer._index] = 1
                    children = iter(self._producers(layer))
                for child in children:
                    if state.get(child._index) == 1:
                        raise RecordingError(
                            f"{place_text(layer._place)}layers '{layer.name}' and '{child.name}' need each other; only "
                            "a loop's recurrence can.")
                    if state.get(child._index) is None and not all(id(t) in self.names for t in child._outputs):
                        stack.append((layer, children))
                        stack.append((child, None))
                        break
                else:
                    state[layer._index] = 2
                    order.append(layer)
        return order

    def _producers(self, layer):
        tensors = self.flow.outer_tensors(layer)
        if tensors is None:
            tensors = list(layer._inputs) + (layer._captured if layer._node is not None else [])
        return [t._layer for t in tensors if t is not None and t._layer is not None and id(t) not in self.names]

    def emit_for(self, tensors):
        """Writes what the tensors need."""
        for layer in self.needed(tensors):
            if all(id(t) in self.names for t in layer._outputs):
                continue  # another output of the same loop or conditional
            try:
                self.flow.emit(layer) or self._emit(layer)
            except RecordingError as error:
                if layer._place is None or getattr(error, "has_place", False):
                    raise
                located = RecordingError(place_text(layer._place) + str(error))
                located.has_place = True
                raise located from None

    # ---- layers

    def _emit(self, layer):
        w = self.writer
        start, w.layer = len(w.nodes), layer
        inputs = [None if t is None else self.names[id(t)] for t in layer._inputs]
        if layer._node is not None:
            outputs = self._emit_parsed(layer, inputs)
        else:
            self._check_inputs(layer)
            outputs = layer._emit(w, inputs)
        self.finish(layer, start, outputs)

    @staticmethod
    def _check_inputs(layer):
        kinds = [t._onnx_type for t in layer._inputs if t is not None]
        for tensor, kind in zip([t for t in layer._inputs if t is not None], kinds):
            if kind is None:
                raise RecordingError(
                    f"The element type of tensor '{tensor.name}', which layer '{layer.name}' reads, is not known. Infer the "
                    "model's types before the script reads it.")

    def finish(self, layer, start, outputs):
        """Gives nodes and outputs of a layer their names."""
        w = self.writer
        for tensor, name in zip(layer._outputs, outputs):
            if name is None:
                continue
            if layer._node is None and tensor._onnx_type != tensor._natural_type:
                name = w.cast(name, tensor._onnx_type)
            if name == self._plain_name(tensor):
                self._used.add(name)
                self.names[id(tensor)] = name
                continue
            self.names[id(tensor)] = self._settle(w.nodes, start, name, self._final_name(tensor))
        own = w.nodes[start:]
        self.nodes_of.setdefault(layer._index, []).extend(own)
        if own and layer._node is None:
            own[-1].name = layer.name if layer.name not in self._used else w.fresh(layer.name)
            self._used.add(own[-1].name)

    def _plain_name(self, tensor):
        """Of a constant, which has its tensor's name already."""
        return tensor.name if isinstance(tensor._layer, shaping.IConstantLayer) and tensor.name not in self._used else None

    def _final_name(self, tensor):
        name = tensor.name
        if self._converted(tensor):
            return self.writer.fresh(name + "/unconverted")
        if name in self._used:
            if len(self.names.maps) == 1:
                raise RecordingError(
                    f"{place_text(tensor._layer._place)}two tensors are called '{name}'; each needs a name of its own.")
            return self.writer.fresh(name)
        return name

    def _converted(self, tensor):
        """Whether a network output is of another type than what layers read."""
        return tensor.is_network_output and tensor._type != tensor._onnx_type

    def _settle(self, nodes, start, name, final):
        """Lets a node that was just written give `final` instead of `name`; adds a node where none does."""
        self._used.add(final)
        for node in nodes[start:]:
            if name in node.outputs and isinstance(node, Node) and name not in self._used:
                for other in nodes[start:]:
                    other.inputs = [final if i == name else i for i in other.inputs]
                node.outputs = [final if o == name else o for o in node.outputs]
                return final
            if name in node.outputs and name == final:
                return final
        nodes.append(Node("Identity", [name], [final], self.writer.fresh(self.writer.layer.name + "/Identity"), "", {}))
        return final

    def _emit_parsed(self, layer, inputs):
        """A parsed node with the names that its tensors have now. What its bodies capture keeps the name in the file."""
        w, view = self.writer, layer._node
        for tensor in layer._captured:
            here = self.names[id(tensor)]
            if here != tensor._declared and tensor._declared not in self._used:
                w.nodes.append(Node("Identity", [here], [tensor._declared], w.fresh(layer.name + "/Identity"), "", {}))
                self._used.add(tensor._declared)
        outputs = []
        finals = iter(layer._outputs)
        for name in view.outputs:
            if not name:
                outputs.append("")
                continue
            tensor = next(finals)
            outputs.append(self._final_name(tensor))
        data = view.written([i or "" for i in inputs], outputs, layer.name if layer._given_name else view.name)
        reads = [i for i in inputs if i] + [t._declared for t in layer._captured]
        w.nodes.append(RawNode(data, reads, outputs, layer.name))
        return [o for o in outputs if o]

    # ---- the graph

    def model(self):
        """Bytes of a ModelProto."""
        network, parsed = self.network, self.network._parsed
        if not network._outputs:
            raise RecordingError("The network has no outputs: call network.mark_output(tensor).")
        for tensor in network._inputs + network._constants:
            if tensor.name in self._used:
                raise RecordingError(f"Two tensors are called '{tensor.name}'; each needs a name of its own.")
            self._used.add(tensor.name)
            self.names[id(tensor)] = tensor.name
        self._convert_inputs()
        self.emit_for(network._outputs + network._debug)
        self._convert_outputs()
        opset = self.writer.opset
        if parsed:
            body = parsed.head(opset)
        else:
            body = [wire.number_field(1, _IR_OF_OPSET.get(opset, 12)), wire.bytes_field(2, "assay"),
                    wire.bytes_field(8, onnx_messages.opset_import(opset))]
        return b"".join(body + wire.chunks_field(7, self._graph()))

    def _convert_inputs(self):
        """Inputs of a parsed model whose type the script changed."""
        w = self.writer
        for tensor in self.network._inputs:
            if tensor._given_type and tensor._declared is not None and tensor._given_type != tensor._natural_type:
                name = w.fresh(tensor.name + "/converted")
                w.nodes.append(
                    Node("Cast", [tensor.name], [name], w.fresh(tensor.name + "/Cast"), "", {"to": tensor._natural_type}))
                self.names[id(tensor)] = name

    def _convert_outputs(self):
        w = self.writer
        for tensor in self.network._outputs:
            if self._converted(tensor) and not tensor.is_network_input:
                w.nodes.append(Node("Cast", [self.names[id(tensor)]], [tensor.name], w.fresh(tensor.name + "/Cast"), "",
                                    {"to": tensor._type}))
                self._used.add(tensor.name)

    def _graph(self):
        """The pieces of a GraphProto."""
        network, parsed, w = self.network, self.network._parsed, self.writer
        parts = [wire.bytes_field(1, node.bytes()) for node in w.nodes]
        parts.append(wire.bytes_field(2, network.name))
        for data in w.initializers:
            parts += wire.chunks_field(5, data)
        if parsed:
            wanted = {i for node in w.nodes for i in (node.reads if isinstance(node, RawNode) else node.inputs)}
            wanted |= {t.name for t in network._outputs} | self.flow.captured
            parts += parsed.kept_parts(network, wanted)
        parts += [wire.bytes_field(11, self._info(t)) for t in network._inputs]
        parts += [wire.bytes_field(12, self._info(t)) for t in network._outputs]
        parts += [wire.bytes_field(13, self._info(t)) for t in self._described()]
        return parts

    def _described(self):
        """Tensors between the layers whose type and shape are known."""
        outer = set(map(id, self.network._outputs))
        for layer in self.network._layers:
            if layer._index in self.nodes_of and self.flow.is_outermost(layer):
                for tensor in layer._outputs:
                    known = tensor._natural_type is not None and (tensor._shape is not None or tensor._info is not None)
                    if id(tensor) not in outer and id(tensor) in self.names and known and self.names[id(tensor)] == tensor.name:
                        yield tensor

    def _info(self, tensor):
        """A ValueInfoProto: the model's own where it still says the truth."""
        if tensor._info is not None and not self.network._parsed.is_rewired and tensor._given_type is None \
                and tensor._dim_names == tensor._info.dim_names:
            return tensor._info.renamed(tensor.name)
        kind = tensor._type
        if not tensor.is_network_output and not tensor.is_network_input:
            kind = tensor._onnx_type
        if kind is None:
            return wire.bytes_field(1, tensor.name)
        names = tensor._dim_names if tensor.is_network_input or not self.network._parsed or not self.network._parsed.is_rewired else None
        return onnx_messages.value_info(tensor.name, kind, tensor._shape, names)
