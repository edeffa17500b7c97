"""tensorrt.OnnxParser: an ONNX model as a network whose nodes are layers. A node stays as it is in the file but for names
that the script changes."""

import os
import struct

from . import dtypes, parsed_infer, parsed_kinds, wire
from .enums import ErrorCode, OnnxParserFlag
from .errors import NotServedError, RecordingError
from .layer import ILayer, ITensor, Served
from .onnx_messages import ModelView


class ParsedLayer(ILayer):
    """A node of a parsed model."""

    def __init__(self, network, node, inputs, outputs, captured):
        self._node, self._captured = node, captured
        self._ready_outputs = outputs
        ILayer.__init__(self, network, inputs)
        self._place = None
        self._kind = parsed_kinds.layer_class(node)
        self._default_name = node.name or f"({node.op_type} {self._index})"
        for i, tensor in enumerate(outputs):
            tensor._layer, tensor._index = self, i
        del self._ready_outputs
        self._take_held(node.metadata)

    def _take_held(self, metadata):
        """What a script before this one asked of the layer; assay writes it to the node (analysis/held_types.h)."""
        self._precision = dtypes.from_name(metadata.get("assay.held", ""))
        for i, name in enumerate(metadata.get("assay.held_outputs", "").split()[:len(self._outputs)]):
            dtype = dtypes.from_name(name)
            if dtype is not None:
                self._output_types[i] = dtype
                self._outputs[i]._given_type = dtypes.to_onnx(dtype)

    def _label(self):
        return self._node.op_type

    def _count_outputs(self):
        return len(self._ready_outputs)

    def _new_output(self, index):
        return self._ready_outputs[index]

    def _infer(self):
        known = parsed_infer.infer(self) if any(self._is_open(t) for t in self._outputs) else [(None, None)] * len(self._outputs)
        result = []
        for tensor, (kind, shape) in zip(self._outputs, known + [(None, None)] * len(self._outputs)):
            info = tensor._info if not self._network._parsed.is_rewired else None
            if info is not None and info.type is not None:
                kind = info.type
                shape = parsed_infer.merged(info.shape, shape)
            result.append((kind, shape))
        return result

    def _is_open(self, tensor):
        info = tensor._info
        return info is None or self._network._parsed.is_rewired or info.type is None or info.shape is None or -1 in info.shape

    def _values(self, index):
        return parsed_infer.values(self, index)


class ParsedModel:
    """What a network keeps of the model that the parser read."""

    def __init__(self, model, external_data_dir):
        self.model, self.external_data_dir = model, external_data_dir
        self.is_rewired = False  # shapes in the file may be others now
        self.by_name, self.all_names = {}, set()

    def head(self, opset):
        """The fields of the ModelProto beside its graph."""
        parts = [wire.number_field(1, max(self.model.ir_version, 4))]
        opsets = dict(self.model.opsets)
        opsets.setdefault("", opset)
        from .onnx_messages import opset_import
        parts += [wire.bytes_field(8, opset_import(v, d)) for d, v in opsets.items()]
        return parts + self.model.rest

    def kept_parts(self, network, wanted):
        """The fields of the GraphProto beside nodes, name, inputs, outputs and values; of initializers those that are used."""
        parts = []
        for tensor in network._constants:
            if tensor._initializer is not None and tensor.name in wanted:
                parts += wire.chunks_field(5, tensor._initializer.renamed(tensor.name))
        return parts + self.model.graph.rest


class ParserError(Served):
    """Why a model could not be read."""

    def __init__(self, text):
        self._text = text

    def code(self):
        return ErrorCode.MODEL_DESERIALIZE_FAILED

    def desc(self):
        return self._text

    def file(self):
        return ""

    def line(self):
        return 0

    def func(self):
        return "parse"

    def node(self):
        return -1

    def node_name(self):
        return ""

    def node_operator(self):
        return ""

    def local_function_stack(self):
        return []

    def local_function_stack_size(self):
        return 0

    def __str__(self):
        return self._text

    __repr__ = __str__


class OnnxParser(Served):
    """Reads an ONNX model into a network."""

    def __init__(self, network, logger=None):
        self._network, self._logger = network, logger
        self._errors, self._flags = [], 1 << int(OnnxParserFlag.NATIVE_INSTANCENORM)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    num_errors = property(lambda self: len(self._errors))
    flags = property(lambda self: self._flags, lambda self, v: setattr(self, "_flags", int(v)))

    def set_flag(self, flag):
        self._flags |= 1 << int(flag)

    def clear_flag(self, flag):
        self._flags &= ~(1 << int(flag))

    def get_flag(self, flag):
        return bool(self._flags >> int(flag) & 1)

    def get_error(self, index):
        return self._errors[index]

    def clear_errors(self):
        self._errors = []

    def parse(self, model, path=None):
        """False, and get_error() says why, where the bytes are no model. `path`: the model's file, beside which external
        data lie."""
        try:
            folder = os.path.dirname(os.path.abspath(path)) if path else None
            load(self._network, model, folder)
            return True
        except RecordingError as error:
            self._fail(str(error))
            return False

    def parse_from_file(self, model):
        """False, and get_error() says why, where the file cannot be read or is no model."""
        path = os.fspath(model)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            self._fail(f"{path}: {error.strerror}.")
            return False
        if self.parse(data, path):
            return True
        self._errors[-1]._text = f"{path}: {self._errors[-1]._text}"
        return False

    parse_with_weight_descriptors = parse

    def supports_model(self, model, path=None):
        raise NotServedError(
            "tensorrt.OnnxParser.supports_model is not served by assay; `assay inspect capability MODEL` says what the "
            "engine runs.")

    supports_model_v2 = supports_model

    def supports_operator(self, op_name):
        raise NotServedError(
            "tensorrt.OnnxParser.supports_operator is not served by assay; `assay inspect builder` lists what the engine "
            "runs.")

    def get_used_vc_plugin_libraries(self):
        return []

    def get_layer_output_tensor(self, name, i):
        """Output `i` of the node `name`; None where there is none."""
        for layer in self._network._layers:
            if layer._node is not None and layer._node.name == name:
                return layer.get_output(i)
        return None

    def _fail(self, text):
        from .enums import Severity
        self._errors.append(ParserError(text))
        if self._logger is not None:
            self._logger.log(Severity.ERROR, text)


def load(network, data, external_data_dir=None):
    """Adds a model to a network. Throws RecordingError."""
    if network._parsed is not None:
        raise RecordingError("A network takes one model; this one has one already.")
    model = _read(data)
    graph, parsed = model.graph, ParsedModel(model, external_data_dir)
    known = {v.name: v for v in graph.values}
    known.update({v.name: v for v in graph.outputs})
    constants = {t.name: t for t in graph.initializers}

    def tensor(name, info=None):
        t = ITensor(network, name)
        t._declared, t._info = name, info
        t._dim_names = dict(info.dim_names) if info is not None else {}
        parsed.by_name[name] = t
        return t

    base = len(network._layers)
    before = (list(network._inputs), list(network._outputs), list(network._constants), network._name)
    network._parsed = parsed
    try:
        _add_tensors(network, graph, tensor, known, constants)
        _add_nodes(network, graph, tensor, known, parsed)
        for info in graph.outputs:
            if info.name not in parsed.by_name:
                raise RecordingError(f"The model's output '{info.name}' is made by no node.")
            network._outputs.append(parsed.by_name[info.name])
    except RecordingError:
        network._inputs, network._outputs, network._constants, network._name = before
        del network._layers[base:]
        network._parsed = None
        raise
    if graph.name:
        network._name = graph.name
    parsed.all_names |= {n for layer in network._layers if layer._node is not None for n in _all_names(layer._node)}


def _read(data):
    """A ModelView of which all is read that can be wrong."""
    try:
        model = ModelView(data)
        for node in model.graph.nodes:
            for _ in node.graphs():
                pass
        return model
    except (TypeError, ValueError, KeyError, struct.error, RecursionError):
        raise RecordingError("These bytes are no ONNX model: a field in them is of another kind than ONNX's.") from None


def _all_names(node):
    yield node.name
    yield from node.inputs
    yield from node.outputs
    for graph in node.graphs():
        yield from (t.name for t in graph.initializers)
        yield from (i.name for i in graph.inputs)
        for inner in graph.nodes:
            yield from _all_names(inner)


def _add_tensors(network, graph, tensor, known, constants):
    for info in graph.inputs:
        if info.name in constants:
            continue  # an initializer with a default, as old models list them
        t = tensor(info.name, info)
        t._inferred = (info.type, None if info.shape is None else tuple(info.shape))
        network._inputs.append(t)
    for view in graph.initializers:
        t = tensor(view.name)
        t._inferred, t._initializer = (view.type, tuple(view.dims)), view
        network._constants.append(t)
    for name in graph.sparse_names:
        t = tensor(name, known.get(name))
        network._constants.append(t)


def _add_nodes(network, graph, tensor, known, parsed):
    for node in graph.nodes:
        inputs = []
        for name in node.inputs:
            if name and name not in parsed.by_name:
                raise RecordingError(
                    f"Node '{node.name or node.op_type}' of the model reads '{name}', which no node before it makes.")
            inputs.append(parsed.by_name[name] if name else None)
        captured = [parsed.by_name[n] for g in node.graphs() for n in sorted(g.captured()) if n in parsed.by_name]
        for name in node.outputs:
            if name and name in parsed.by_name:
                raise RecordingError(f"Two nodes of the model make '{name}', or it is an input, too.")
        outputs = [tensor(name, known.get(name)) for name in node.outputs if name]
        ParsedLayer(network, node, inputs, outputs, captured)
