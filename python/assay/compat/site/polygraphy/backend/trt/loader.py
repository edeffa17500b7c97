"""Networks, engines, plugins: from files and back to them."""

from __future__ import annotations

import ctypes
import time

from polygraphy import config as _switches
from polygraphy import constants, mod, util
from polygraphy.backend.base import BaseLoader
from polygraphy.backend.trt import util as trt_util
from polygraphy.backend.trt.config import CreateConfig
from polygraphy.backend.trt.file_reader import FileReader
from polygraphy.datatype import DataType
from polygraphy.logger import G_LOGGER
from polygraphy.mod.trt_importer import lazy_import_trt

trt = lazy_import_trt()
gs = mod.lazy_import("onnx_graphsurgeon")


@mod.export(funcify=True)
class LoadPlugins(BaseLoader):
    """Loads libraries of plugins, and then gives what another loader gives."""

    def __init__(self, plugins=None, obj=None):
        self.plugins, self.obj = util.default(plugins, []), obj

    @util.check_called_by("__call__")
    def call_impl(self, *args, **kwargs):
        for plugin in self.plugins:
            G_LOGGER.info(f"Loading plugin library: {plugin}")
            ctypes.CDLL(plugin)
        return util.invoke_if_callable(self.obj, *args, **kwargs)[0]


@mod.export(funcify=True)
class CreateNetwork(BaseLoader):
    """An empty network: (builder, network)."""

    def __init__(self, explicit_batch=None, strongly_typed=None, mark_unfused_tensors_as_debug_tensors=None):
        self.explicit_batch = util.default(explicit_batch, True if self._asks_for_explicit_batch() else None)
        self.strongly_typed = util.default(strongly_typed, False)
        self.mark_unfused_tensors_as_debug_tensors = util.default(mark_unfused_tensors_as_debug_tensors, False)

    @staticmethod
    def _asks_for_explicit_batch():
        return mod.version(trt.__version__) < mod.version("1.5" if _switches.USE_TENSORRT_RTX else "10.0")

    @util.check_called_by("__call__")
    def call_impl(self):
        builder, flags = trt.Builder(trt_util.get_trt_logger()), 0
        for name in ("explicit_batch", "strongly_typed"):
            if getattr(self, name):
                with trt_util.needs(name):
                    flags |= 1 << int(getattr(trt.NetworkDefinitionCreationFlag, name.upper()))
        network = builder.create_network(flags=flags)
        if network is None:
            G_LOGGER.critical("The builder gave no network; what it said about it is above.")
        if self.mark_unfused_tensors_as_debug_tensors:
            network.mark_unfused_tensors_as_debug_tensors()
        return builder, network


class BaseNetworkFromOnnx(BaseLoader):
    """What both ways to parse a model share."""

    def __init__(self, flags=None, plugin_instancenorm=None, strongly_typed=None, mark_unfused_tensors_as_debug_tensors=None,
                 enable_uint8_asymmetric_quantization_dla=None, config=None):
        """`flags`: of trt.OnnxParserFlag; `plugin_instancenorm`: InstanceNormalization is a plugin's matter;
        `config`: the builder's configuration, for parsers that ask it."""
        self.flags = None if flags is None else list(flags)
        if enable_uint8_asymmetric_quantization_dla is not None:
            name = "ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA"
            mod.warn_deprecated("enable_uint8_asymmetric_quantization_dla", f"`flags=[trt.OnnxParserFlag.{name}]`", "0.55.0",
                                module_name=__name__, always_show_warning=True)
            if enable_uint8_asymmetric_quantization_dla:
                with trt_util.needs(f"trt.OnnxParserFlag.{name}"):
                    flag = getattr(trt.OnnxParserFlag, name)
                others = [f for f in self.flags or [] if f not in (flag, trt.OnnxParserFlag.NATIVE_INSTANCENORM)]
                self.flags = [*others, flag]
        self.plugin_instancenorm = util.default(plugin_instancenorm, False)
        self.strongly_typed = util.default(strongly_typed, False)
        self.mark_unfused_tensors_as_debug_tensors = util.default(mark_unfused_tensors_as_debug_tensors, False)
        self._config = config

    def _parsed(self, parse):
        """(builder, network, parser), after `parse` was called with the parser."""
        builder, network = CreateNetwork(strongly_typed=self.strongly_typed,
                                         mark_unfused_tensors_as_debug_tensors=self.mark_unfused_tensors_as_debug_tensors)()
        trt.init_libnvinfer_plugins(trt_util.get_trt_logger(), "")
        parser = trt.OnnxParser(network, trt_util.get_trt_logger())
        if self.flags:
            parser.flags = sum({1 << int(f) for f in self.flags})
        if self.plugin_instancenorm:
            parser.clear_flag(trt.OnnxParserFlag.NATIVE_INSTANCENORM)
        if self._config is not None:
            config, _ = util.invoke_if_callable(self._config, builder, network=None)
            try:
                accepted = parser.set_builder_config(config)
            except AttributeError:
                G_LOGGER.warning("This TensorRT's parser takes no configuration; flags that ask one, such as REPORT_CAPABILITY_DLA, may not work.")
            else:
                if not accepted:
                    G_LOGGER.critical("Failed to set builder config on ONNX parser.")
        trt_util.check_onnx_parser_errors(parser, parse(parser))
        return builder, network, parser


@mod.export(funcify=True)
class NetworkFromOnnxBytes(BaseNetworkFromOnnx):
    """A network of a model in memory: (builder, network, parser)."""

    def __init__(self, model_bytes, flags=None, plugin_instancenorm=None, strongly_typed=None, mark_unfused_tensors_as_debug_tensors=None,
                 enable_uint8_asymmetric_quantization_dla=None, config=None):
        super().__init__(flags, plugin_instancenorm, strongly_typed, mark_unfused_tensors_as_debug_tensors,
                         enable_uint8_asymmetric_quantization_dla, config)
        self._model_bytes = model_bytes

    @util.check_called_by("__call__")
    def call_impl(self):
        model, _ = util.invoke_if_callable(self._model_bytes)
        return self._parsed(lambda parser: parser.parse(model))


@mod.export(funcify=True)
class NetworkFromOnnxPath(BaseNetworkFromOnnx):
    """A network of a model in a file, with its external data: (builder, network, parser)."""

    def __init__(self, path, flags=None, plugin_instancenorm=None, strongly_typed=None, mark_unfused_tensors_as_debug_tensors=None,
                 enable_uint8_asymmetric_quantization_dla=None, config=None):
        super().__init__(flags, plugin_instancenorm, strongly_typed, mark_unfused_tensors_as_debug_tensors,
                         enable_uint8_asymmetric_quantization_dla, config)
        self.path = path

    @util.check_called_by("__call__")
    def call_impl(self):
        path, _ = util.invoke_if_callable(self.path)
        return self._parsed(lambda parser: parser.parse_from_file(path))


@mod.export(funcify=True)
class PostprocessNetwork(BaseLoader):
    """Hands a network to a function, as `network`, and gives what its loader gave."""

    def __init__(self, network, func, name=None):
        self._network, self._func = network, func
        if not callable(func):
            G_LOGGER.critical(f"Object {func} (of type {type(func)}) is not a callable.")
        self.name = util.default(name, getattr(func, "__name__", str(func)))

    @util.check_called_by("__call__")
    def call_impl(self):
        builder, network, parser = util.unpack_args(util.invoke_if_callable(self._network)[0], 3)
        G_LOGGER.verbose(f"Executing postprocessing step [{self.name}]")
        self._func(network=network)
        return (builder, network) if parser is None else (builder, network, parser)


class _Edit(PostprocessNetwork):
    """An edit that is a method, _apply()."""

    def __init__(self, network):
        super().__init__(network, self._apply, type(self).__name__)


@mod.export(funcify=True)
class ModifyNetworkOutputs(_Edit):
    """Other outputs: names or patterns, constants.MARK_ALL, or all of some layer types; without those in `exclude_outputs`."""

    def __init__(self, network, outputs=None, exclude_outputs=None, mark_layer_types=None):
        self._outputs, self._excluded, self._types = outputs, exclude_outputs, mark_layer_types
        super().__init__(network)

    def _apply(self, network):
        if self._outputs == constants.MARK_ALL:
            trt_util.mark_layerwise(network)
        elif self._outputs is not None:
            trt_util.mark_outputs(network, self._outputs)
        if self._types is not None:
            trt_util.mark_by_layer_type(network, self._types)
        if self._excluded is not None:
            trt_util.unmark_outputs(network, self._excluded)


def _check_there(there, asked, what):
    util.check_sequence_contains(there, asked, name="the network", items_name=what, check_extra=False, log_func=G_LOGGER.warning)


@mod.export(funcify=True)
class SetLayerPrecisions(_Edit):
    """What layers compute in, by their names."""

    def __init__(self, network, layer_precisions):
        self._precisions = layer_precisions
        super().__init__(network)

    def _apply(self, network):
        layers = {layer.name: layer for layer in network}
        _check_there(layers, self._precisions, "layers")
        with trt_util.needs("layer precision in SetLayerPrecisions"):
            for name, precision in self._precisions.items():
                if name in layers:
                    layers[name].precision = precision


@mod.export(funcify=True)
class SetDecomposableAttentions(_Edit):
    """Attention layers may be done by several kernels."""

    def __init__(self, network):
        super().__init__(network)

    def _apply(self, network):
        for layer in network:
            if layer.type == trt.LayerType.ATTENTION_INPUT:
                layer.__class__ = trt.IAttentionInputLayer
                layer.attention.decomposable = True


class _SetOfTensors(_Edit):
    """One value for all inputs and outputs, or values by name."""

    def __init__(self, network, values):
        self._values = values
        super().__init__(network)

    def _apply(self, network):
        tensors = trt_util.get_all_io_tensors(network)
        values = self._values if isinstance(self._values, dict) else dict.fromkeys(tensors, self._values)
        _check_there(tensors, values, "tensors")
        for name, value in values.items():
            if name in tensors:
                self._set(tensors[name], value)


@mod.export(funcify=True)
class SetTensorDatatypes(_SetOfTensors):
    """Types of inputs and outputs."""

    def __init__(self, network, tensor_datatypes):
        super().__init__(network, tensor_datatypes)

    @staticmethod
    def _set(tensor, dtype):
        tensor.dtype = dtype


@mod.export(funcify=True)
class SetTensorFormats(_SetOfTensors):
    """Formats that inputs and outputs may have, lists of them."""

    def __init__(self, network, tensor_formats):
        super().__init__(network, tensor_formats)

    @staticmethod
    def _set(tensor, formats):
        tensor.allowed_formats = sum({1 << int(f) for f in formats})


@mod.export(funcify=True)
class MarkDebug(_Edit):
    """Tensors whose values come out while a context runs, by name."""

    def __init__(self, network, mark_debug):
        self._names = mark_debug
        super().__init__(network)

    def _apply(self, network):
        tensors = trt_util.get_all_tensors(network)
        _check_there(tensors, self._names, "tensors")
        for name in self._names:
            if name in tensors:
                network.mark_debug(tensors[name])


@mod.export(funcify=True)
class LoadRuntime(BaseLoader):
    """A runtime out of a library."""

    def __init__(self, path):
        self.path = path

    @util.check_called_by("__call__")
    def call_impl(self):
        G_LOGGER.info(f"Loading TensorRT runtime from: {self.path}")
        return trt.Runtime(trt_util.get_trt_logger()).load_runtime(self.path)


def _network_of(given):
    """(builder, network) of what a loader gives, or of the tuple itself."""
    builder, network, _ = util.unpack_args(util.invoke_if_callable(given)[0], 3)
    if builder is None or network is None:
        G_LOGGER.critical(f"Expected a (builder, network) tuple for the `network` parameter, but received: ({builder}, {network})")
    return builder, network


@mod.export(funcify=True)
class EngineBytesFromNetwork(BaseLoader):
    """The plan of a network, an IHostMemory."""

    def __init__(self, network, config=None, save_timing_cache=None):
        """`save_timing_cache`: a path or open file; what is in it is kept."""
        self._network = network
        self._config = CreateConfig() if config is None else config
        self.timing_cache_path = save_timing_cache

    def _save_timing_cache(self, config):
        with trt_util.needs("save_timing_cache in EngineBytesFromNetwork"):
            cache = config.get_timing_cache()
        if not cache:
            return
        with util.LockFile(self.timing_cache_path):
            try:
                before = config.create_timing_cache(util.load_file(self.timing_cache_path))
            except Exception:  # nothing there, or nothing that could be read
                before = None
            if before is not None and not cache.combine(before, ignore_mismatch=True):
                G_LOGGER.warning("Could not combine old timing cache into current timing cache")
            with cache.serialize() as contents:
                util.save_file(contents, self.timing_cache_path, description="tactic timing cache")

    @util.check_called_by("__call__")
    def call_impl(self):
        builder, network = _network_of(self._network)
        config, _ = util.invoke_if_callable(self._config, builder, network)
        trt_util.try_setup_polygraphy_calibrator(config, network)
        G_LOGGER.super_verbose(lambda: f"Displaying TensorRT Network:\n{trt_util.str_from_network(network, show_layers=True, show_attrs=True)}")
        G_LOGGER.start(f"Building engine with configuration:\n{trt_util.str_from_config(config, network)}")
        start = time.perf_counter()
        plan = builder.build_serialized_network(network, config)
        if not plan:
            G_LOGGER.critical("Invalid Engine. Please ensure the engine was built correctly")
        G_LOGGER.finish(f"Finished engine building in {time.perf_counter() - start:.3f} seconds")
        if self.timing_cache_path:
            self._save_timing_cache(config)
        return plan


def _load(source, runtime, dla_strategy):
    """An engine out of bytes or a stream reader."""
    runtime = trt.Runtime(trt_util.get_trt_logger()) if runtime is None else util.invoke_if_callable(runtime)[0]
    trt.init_libnvinfer_plugins(trt_util.get_trt_logger(), "")
    if dla_strategy is not None:
        if not hasattr(runtime, "dla_workspace_allocation_strategy"):
            trt_util.fail_unavailable("dla_workspace_allocation_strategy")
        runtime.dla_workspace_allocation_strategy = dla_strategy
    if hasattr(runtime, "engine_host_code_allowed"):
        runtime.engine_host_code_allowed = True
    engine = runtime.deserialize_cuda_engine(source)
    if not engine:
        G_LOGGER.critical("Could not deserialize engine. See log for details.")
    return engine


@mod.export(funcify=True)
class EngineFromNetwork(EngineBytesFromNetwork):
    """The engine of a network."""

    def __init__(self, network, config=None, save_timing_cache=None, runtime=None, dla_workspace_allocation_strategy=None):
        super().__init__(network, config, save_timing_cache)
        self._runtime, self._dla_strategy = runtime, dla_workspace_allocation_strategy

    @util.check_called_by("__call__")
    def call_impl(self):
        return _load(super().call_impl(), self._runtime, self._dla_strategy)


@mod.export(funcify=True)
class EngineFromBytes(BaseLoader):
    """The engine of a plan in memory."""

    def __init__(self, serialized_engine, runtime=None, dla_workspace_allocation_strategy=None):
        self._serialized_engine = serialized_engine
        self._runtime, self._dla_strategy = runtime, dla_workspace_allocation_strategy

    @util.check_called_by("__call__")
    def call_impl(self):
        return _load(util.invoke_if_callable(self._serialized_engine)[0], self._runtime, self._dla_strategy)


@mod.export(funcify=True)
class EngineFromPath(BaseLoader):
    """The engine of a plan in a file."""

    def __init__(self, path: str, runtime=None, dla_workspace_allocation_strategy=None):
        self._path = path
        self._runtime, self._dla_strategy = runtime, dla_workspace_allocation_strategy

    @util.check_called_by("__call__")
    def call_impl(self):
        path, _ = util.invoke_if_callable(self._path)
        if _switches.USE_TENSORRT_RTX:  # which has no readers
            return _load(util.load_file(path), self._runtime, self._dla_strategy)
        with FileReader(path) as reader:
            return _load(reader, self._runtime, self._dla_strategy)


@mod.export(funcify=True)
class BytesFromEngine(BaseLoader):
    """The plan of an engine as bytes."""

    def __init__(self, engine):
        self._engine = engine

    @util.check_called_by("__call__")
    def call_impl(self):
        return bytes(util.invoke_if_callable(self._engine)[0].serialize())


@mod.export(funcify=True)
class BufferFromEngine(BaseLoader):
    """The plan of an engine, an IHostMemory."""

    def __init__(self, engine) -> None:
        self._engine = engine

    @util.check_called_by("__call__")
    def call_impl(self):
        return util.invoke_if_callable(self._engine)[0].serialize()


@mod.export(funcify=True)
class SaveEngine(BaseLoader):
    """Writes an engine's plan to a path or open file, and gives the engine."""

    def __init__(self, engine, path):
        self._engine, self.path = engine, path

    @util.check_called_by("__call__")
    def call_impl(self):
        engine, _ = util.invoke_if_callable(self._engine)
        util.save_file(engine.serialize(), self.path, description="engine")
        return engine


@mod.export(funcify=True)
class OnnxLikeFromNetwork(BaseLoader):
    """A network as an ONNX model for viewers: layers are nodes whose operators are layer types. No checker takes it."""

    def __init__(self, network) -> None:
        self._network = network

    @util.check_called_by("__call__")
    def call_impl(self):
        _, network = _network_of(self._network)
        known = {}

        def variables(names, metadata):
            for name in names:
                if name not in known:
                    dtype, shape = metadata[name]
                    known[name] = gs.Variable(name, dtype=DataType.to_dtype(dtype, "onnx"), shape=None if shape is None else list(shape))
            return [known[name] for name in names]

        inputs = variables(*trt_util.get_network_input_names_meta(network))
        outputs = variables(*trt_util.get_network_output_names_meta(network))
        nodes = []
        for layer in network:
            attributes = dict(trt_util.layer_attributes(layer))
            nodes.append(gs.Node(op=layer.type.name, name=layer.name, attrs=attributes,
                                 inputs=variables(*trt_util.get_layer_input_names_meta(layer)),
                                 outputs=variables(*trt_util.get_layer_output_names_meta(layer))))
        return gs.export_onnx(gs.Graph(nodes=nodes, inputs=inputs, outputs=outputs, name=network.name))
