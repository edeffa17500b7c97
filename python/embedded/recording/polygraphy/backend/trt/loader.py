"""Loaders of networks, each of which gives (builder, network) or (builder, network, parser)."""

import fnmatch
import os

import tensorrt as trt
from polygraphy import constants, mod
from polygraphy.backend.base import BaseLoader, value_or_call
from polygraphy.exception import PolygraphyException
from polygraphy.logger import G_LOGGER


@mod.export()
def get_trt_logger():
    """TensorRT's logger; one for all."""
    return _LOGGER


_LOGGER = trt.Logger(trt.Logger.WARNING)


def _new_network(strongly_typed, mark_unfused):
    builder = trt.Builder(_LOGGER)
    flags = 1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH)
    if strongly_typed:
        flags |= 1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED)
    network = builder.create_network(flags)
    if mark_unfused:
        network.mark_unfused_tensors_as_debug_tensors()
    return builder, network


def _network_of(loaded):
    """The network of what a loader gave."""
    if not isinstance(loaded, tuple) or len(loaded) < 2:
        raise PolygraphyException(f"A network loader gives (builder, network) or (builder, network, parser), not {loaded!r}.")
    return loaded[1]


@mod.export(funcify=True)
class CreateNetwork(BaseLoader):
    """An empty network."""

    def __init__(self, explicit_batch=None, strongly_typed=None, mark_unfused_tensors_as_debug_tensors=None):
        self._arguments = strongly_typed, mark_unfused_tensors_as_debug_tensors

    def call_impl(self):
        return _new_network(*self._arguments)


class _FromOnnx(BaseLoader):
    def __init__(self, flags, plugin_instancenorm, strongly_typed, mark_unfused):
        self._flags, self._plugin_instancenorm = flags, plugin_instancenorm
        self._arguments = strongly_typed, mark_unfused

    def _parser(self):
        builder, network = _new_network(*self._arguments)
        parser = trt.OnnxParser(network, _LOGGER)
        for flag in self._flags or []:
            parser.set_flag(flag)
        if self._plugin_instancenorm:
            parser.clear_flag(trt.OnnxParserFlag.NATIVE_INSTANCENORM)
        return builder, network, parser

    @staticmethod
    def _check(parser, ok):
        if not ok:
            raise PolygraphyException("The ONNX model could not be parsed: "
                                      + "; ".join(parser.get_error(i).desc() for i in range(parser.num_errors)))


@mod.export(funcify=True)
class NetworkFromOnnxBytes(_FromOnnx):
    """A network from the bytes of an ONNX model, from a model, or from a loader of either."""

    def __init__(self,
                 model_bytes,
                 flags=None,
                 plugin_instancenorm=None,
                 strongly_typed=None,
                 mark_unfused_tensors_as_debug_tensors=None,
                 enable_uint8_asymmetric_quantization_dla=None,
                 config=None):
        _FromOnnx.__init__(self, flags, plugin_instancenorm, strongly_typed, mark_unfused_tensors_as_debug_tensors)
        self._model = model_bytes

    def call_impl(self):
        builder, network, parser = self._parser()
        model = value_or_call(self._model)[0]
        folder = getattr(model, "external_data_dir", None)
        data = model.SerializeToString() if hasattr(model, "SerializeToString") else model
        self._check(parser, parser.parse(data, os.path.join(folder, "model") if folder else None))
        return builder, network, parser


@mod.export(funcify=True)
class NetworkFromOnnxPath(_FromOnnx):
    """A network from the file of an ONNX model."""

    def __init__(self,
                 path,
                 flags=None,
                 plugin_instancenorm=None,
                 strongly_typed=None,
                 mark_unfused_tensors_as_debug_tensors=None,
                 enable_uint8_asymmetric_quantization_dla=None,
                 config=None):
        _FromOnnx.__init__(self, flags, plugin_instancenorm, strongly_typed, mark_unfused_tensors_as_debug_tensors)
        self.path = path

    def call_impl(self):
        builder, network, parser = self._parser()
        path = value_or_call(self.path)[0]
        self._check(parser, parser.parse_from_file(path))
        return builder, network, parser


class _Changing(BaseLoader):
    """A loader that changes the network of another, and gives what that gave."""

    def __init__(self, network):
        self._network = network

    def call_impl(self):
        loaded = value_or_call(self._network)[0]
        self.change(_network_of(loaded))
        return loaded


def _tensors(network):
    """Name to tensor, of all that layers give."""
    return {t.name: t for layer in network for t in (layer.get_output(i) for i in range(layer.num_outputs))}


def _matched(names, available, what):
    found = []
    for name in names:
        matches = [n for n in available if fnmatch.fnmatchcase(n, name)] if any(
            c in name for c in "*?[]") else [name] * (name in available)
        if not matches and any(c in name for c in "*?[]"):
            G_LOGGER.warning(f"The pattern '{name}' fits no tensor.")
        elif not matches:
            raise PolygraphyException(
                f"{what}: there is no tensor '{name}' in the network. It has {', '.join(list(available)[:20])}" +
                (" ..." if len(available) > 20 else "") + ".")
        found += matches
    return list(dict.fromkeys(found))


@mod.export(funcify=True)
class ModifyNetworkOutputs(_Changing):
    """A network with other outputs: names, patterns, or constants.MARK_ALL."""

    def __init__(self, network, outputs=None, exclude_outputs=None, mark_layer_types=None):
        _Changing.__init__(self, network)
        self._outputs, self._exclude, self._types = outputs, exclude_outputs, mark_layer_types

    def change(self, network):
        available = _tensors(network)
        wanted = None
        if self._outputs == constants.MARK_ALL:
            constant = {layer.get_output(0).name for layer in network if layer.type == trt.LayerType.CONSTANT}
            wanted = [n for n in available if n not in constant]
        elif self._outputs is not None:
            wanted = _matched(self._outputs, available, "outputs")
        if self._types:
            wanted = self._of_types(network)
        if wanted is not None:
            for tensor in [network.get_output(i) for i in range(network.num_outputs)]:
                network.unmark_output(tensor)
            for name in wanted:
                network.mark_output(available[name])
        if self._exclude:
            marked = {network.get_output(i).name: network.get_output(i) for i in range(network.num_outputs)}
            for name in _matched([n for n in self._exclude if n in marked or any(c in n for c in "*?[]")], marked,
                                 "exclude_outputs"):
                network.unmark_output(marked[name])

    def _of_types(self, network):
        known = {n.upper() for n in trt.LayerType.__members__}
        for name in self._types:
            if name.upper() not in known:
                raise PolygraphyException(f"There is no layer type '{name}'. There are {', '.join(sorted(known))}.")
        kinds = {n.upper() for n in self._types}
        return [layer.get_output(i).name for layer in network if layer.type.name in kinds for i in range(layer.num_outputs)]


@mod.export(funcify=True)
class PostprocessNetwork(_Changing):
    """A network that a function changes, which gets it as `network`."""

    def __init__(self, network, func, name=None):
        _Changing.__init__(self, network)
        if not callable(func):
            raise PolygraphyException(f"PostprocessNetwork takes a function, not {func!r}.")
        self._func = func

    def change(self, network):
        self._func(network=network)


@mod.export(funcify=True)
class SetLayerPrecisions(_Changing):
    """A network whose layers should compute in types: name of a layer to tensorrt.DataType."""

    def __init__(self, network, layer_precisions):
        _Changing.__init__(self, network)
        self._precisions = layer_precisions

    def change(self, network):
        layers = {layer.name: layer for layer in network}
        missing = [n for n in self._precisions if n not in layers]
        if missing:
            raise PolygraphyException(f"layer_precisions: there are no layers {missing} in the network.")
        for name, precision in self._precisions.items():
            layers[name].precision = precision


def _io(network):
    return [network.get_input(i) for i in range(network.num_inputs)] + [network.get_output(i) for i in range(network.num_outputs)]


def _for_io(network, given, what):
    """Name to setting, of inputs and outputs."""
    tensors = {t.name: t for t in _io(network)}
    if not isinstance(given, dict):
        return [(t, given) for t in tensors.values()]
    missing = [n for n in given if n not in tensors]
    if missing:
        raise PolygraphyException(f"{what}: {missing} are no inputs or outputs of the network, which has {list(tensors)}.")
    return [(tensors[n], value) for n, value in given.items()]


@mod.export(funcify=True)
class SetTensorDatatypes(_Changing):
    """A network whose inputs and outputs are of types: name to tensorrt.DataType, or one for all."""

    def __init__(self, network, tensor_datatypes):
        _Changing.__init__(self, network)
        self._types = tensor_datatypes

    def change(self, network):
        for tensor, dtype in _for_io(network, self._types, "tensor_datatypes"):
            tensor.dtype = dtype


@mod.export(funcify=True)
class SetTensorFormats(_Changing):
    """A network whose inputs and outputs may have formats: name to a list of tensorrt.TensorFormat, or one list for all."""

    def __init__(self, network, tensor_formats):
        _Changing.__init__(self, network)
        self._formats = tensor_formats

    def change(self, network):
        for tensor, formats in _for_io(network, self._formats, "tensor_formats"):
            tensor.allowed_formats = sum(1 << int(f) for f in formats)


@mod.export(funcify=True)
class MarkDebug(_Changing):
    """A network with tensors marked for debugging."""

    def __init__(self, network, mark_debug):
        _Changing.__init__(self, network)
        self._names = mark_debug

    def change(self, network):
        available = _tensors(network)
        for name in _matched(self._names, available, "mark_debug"):
            network.mark_debug(available[name])


@mod.export(funcify=True)
class SetDecomposableAttentions(_Changing):
    """A network whose attentions may be several layers; here they are in any case."""

    def change(self, network):
        return None
