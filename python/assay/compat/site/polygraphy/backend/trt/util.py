"""What loaders and runners of TensorRT share."""

import contextlib
import difflib
import fnmatch

from polygraphy import config as _switches
from polygraphy import cuda, mod, util
from polygraphy.common import FormattedArray, TensorMetadata
from polygraphy.datatype import DataType
from polygraphy.exception import PolygraphyException
from polygraphy.logger import G_LOGGER, LogMode
from polygraphy.mod.trt_importer import lazy_import_trt

trt = lazy_import_trt()
np = mod.lazy_import("numpy")

_logger = None


def get_trt_logger():
    """The logger for TensorRT, which hands everything on to G_LOGGER."""
    global _logger
    if _logger is None:
        severities = trt.Logger
        ways = {
            severities.INTERNAL_ERROR: G_LOGGER.error, severities.ERROR: G_LOGGER.error,
            severities.WARNING: lambda text: G_LOGGER.warning(text, mode=LogMode.ONCE), severities.INFO: G_LOGGER.verbose,
        }

        class HandingOn(trt.ILogger):
            def __init__(self):
                trt.ILogger.__init__(self)

            def log(self, severity, msg):
                ways.get(severity, G_LOGGER.extra_verbose)(msg)

        _logger = HandingOn()
    return _logger


def fail_unavailable(what):
    """Throws: this TensorRT lacks something."""
    G_LOGGER.backtrace()
    G_LOGGER.critical(f"{what} is not available on TensorRT version {trt.__version__}.")


@contextlib.contextmanager
def needs(what):
    """In this block a name that TensorRT lacks is reported as what was asked for."""
    try:
        yield
    except AttributeError:
        fail_unavailable(what)


def check_onnx_parser_errors(parser, success):
    """Throws where a parser found errors."""
    for index in range(parser.num_errors):
        G_LOGGER.error(parser.get_error(index))
    if parser.num_errors:
        G_LOGGER.critical("Could not parse ONNX correctly")
    if not success:
        G_LOGGER.critical("Failed to parse ONNX model. Is there such a file, and is it an ONNX model?")


_CLASS_WORDS = {
    "LRN": "LRN", "SOFTMAX": "SoftMax", "ELEMENTWISE": "ElementWise", "TOPK": "TopK", "RAGGED_SOFTMAX": "RaggedSoftMax", "RNN": "RNN",
    "RNN_V2": "RNNv2", "PARAMETRIC_RELU": "ParametricReLU", "NMS": "NMS", "CONDITIONAL_INPUT": "IfConditionalInput",
    "CONDITIONAL_OUTPUT": "IfConditionalOutput", "KV_CACHE_UPDATE": "KVCacheUpdate", "MOE": "MoE", "PLUGIN_V2": "PluginV2",
}
"""Layer types whose classes are not called as their words say."""


def get_layer_class_mapping():
    """The class of layers by their type."""
    found = {}
    for name, layer_type in trt.LayerType.__members__.items():
        words = _CLASS_WORDS.get(name) or "".join(w.capitalize() for w in name.split("_"))
        kind = getattr(trt, f"I{words}Layer", None)
        if kind is not None:
            found[layer_type] = kind
        elif _switches.INTERNAL_CORRECTNESS_CHECKS:
            G_LOGGER.verbose(f"There is no class for layers of type {name}")
    return found


def _names_meta(tensors):
    metadata = TensorMetadata()
    for tensor in tensors:
        metadata.add(tensor.name, DataType.from_dtype(tensor.dtype, "tensorrt"), tensor.shape)
    return [t.name for t in tensors], metadata


def get_network_input_names_meta(network):
    """(names, TensorMetadata) of a network's inputs."""
    return _names_meta([network.get_input(i) for i in range(network.num_inputs)])


def get_network_output_names_meta(network):
    return _names_meta([network.get_output(i) for i in range(network.num_outputs)])


def get_layer_input_names_meta(layer):
    return _names_meta([t for t in map(layer.get_input, range(layer.num_inputs)) if t])


def get_layer_output_names_meta(layer):
    return _names_meta([t for t in map(layer.get_output, range(layer.num_outputs)) if t])


def str_from_layer(layer, index):
    """A layer as listings show it."""
    return util.str_from_layer("Layer", index, layer.name, layer.type, *get_layer_input_names_meta(layer), *get_layer_output_names_meta(layer))


def get_layer_attribute_names(layer):
    """Attributes of a layer that others have not; without those that mean nothing for it."""
    kind, hidden = type(layer).__name__, ()
    if kind in ("IPoolingLayer", "IConvolutionLayer", "IDeconvolutionLayer") and len(layer.get_input(0).shape) > 4:
        hidden = ("padding", "stride", "window_size")
    elif kind == "IResizeLayer" and layer.num_inputs > 1:
        hidden = ("scales",)
    elif kind == "ISliceLayer" and layer.num_inputs > 1:
        hidden = ("shape", "start", "stride")
    return [a for a in dir(layer) if not a.startswith("_") and not hasattr(trt.ILayer, a) and a not in hidden]


def layer_attributes(layer):
    """(name, value) of these, with values of Python."""
    kind = get_layer_class_mapping().get(layer.type)
    if kind is not None:
        layer.__class__ = kind
    for name in get_layer_attribute_names(layer):
        with G_LOGGER.verbosity():
            try:
                value = getattr(layer, name)
            except Exception as error:
                value = f"<this attribute cannot be read: {error}>"
        if callable(value):
            continue
        yield name, _plain(value)


def _plain(value):
    """A value of an attribute as one of Python's."""
    if value is None:
        return "None"
    if isinstance(value, (np.ndarray, str, bool, float)):
        return value
    if hasattr(value, "name") and not isinstance(value, int):
        return str(value.name)
    if isinstance(value, int):
        return value if type(value) is int else getattr(value, "name", int(value))
    if util.is_sequence(value):
        try:
            return [v if isinstance(v, (int, float, str)) else str(v) for v in value] or "None"
        except ValueError:  # dimensions that are not known
            return "None"
    return str(value)


def _tensor_lines(title, metadata):
    return f"---- {len(metadata)} {title} ----\n{metadata}"


def str_from_network(network, show_layers=None, show_attrs=None, show_weights=None):
    """A network as a text."""
    _, inputs = get_network_input_names_meta(network)
    _, outputs = get_network_output_names_meta(network)
    parts = [f"Name: {network.name} | Explicit Batch Network", _tensor_lines("Network Input(s)", inputs), _tensor_lines("Network Output(s)", outputs)]
    layers = f"---- {network.num_layers} Layer(s) ----"
    if show_layers:
        for index, layer in enumerate(network):
            layers += "\n" + str_from_layer(layer, index)
            if show_attrs:
                layers += _attribute_lines(layer, show_weights)
    return "\n\n".join([*parts, layers])


def _attribute_lines(layer, show_weights):
    lines = []
    for name, value in layer_attributes(layer):
        if isinstance(value, np.ndarray) and not show_weights:
            value = f"<{value.dtype} {tuple(value.shape)}>"
        lines.append(f"{layer.name}.{name} = {value}")
    return util.indent_block("---- Attributes ----\n" + "\n".join(lines)) + "\n" if lines else ""


def get_all_tensors(network):
    """All tensors of a network by name."""
    tensors = (t for layer in network for get, count in ((layer.get_input, layer.num_inputs), (layer.get_output, layer.num_outputs))
               for t in map(get, range(count)))
    return {t.name: t for t in tensors if t is not None}


def get_all_io_tensors(network):
    """Its inputs and outputs by name."""
    tensors = [network.get_input(i) for i in range(network.num_inputs)] + [network.get_output(i) for i in range(network.num_outputs)]
    return {t.name: t for t in tensors if t is not None}


def expand_wildcards(names, candidates):
    """Names, with those in place of a pattern that fit it."""
    found = []
    for name in names:
        if not any(sign in name for sign in "*?[]"):
            found.append(name)
            continue
        fitting = [c for c in candidates if fnmatch.fnmatchcase(c, name)]
        if not fitting:
            G_LOGGER.warning(f"No tensors matched wildcard pattern: '{name}'")
        found += fitting
    return util.unique_list(found)


def mark_outputs(network, outputs):
    """Makes these, names or patterns, the outputs."""
    tensors = get_all_tensors(network)
    names = expand_wildcards(outputs, list(tensors))
    if not names:
        G_LOGGER.critical("No outputs were selected. Please check your wildcard patterns.")
    util.check_sequence_contains(tensors.keys(), names, name="the network", items_name="outputs", check_extra=False)
    for tensor in tensors.values():
        if tensor.is_network_output:
            network.unmark_output(tensor)
    for name in names:
        network.mark_output(tensors[name])


def mark_layerwise(network):
    """Makes every tensor that a layer gives an output; those of shapes and constants, and within loops, are none."""
    kinds = trt.LayerType
    begins = {getattr(kinds, n, None) for n in ("TRIP_LIMIT", "ITERATOR", "RECURRENCE")}
    names, in_loop = [], False
    for layer in network:
        if layer.type in begins:
            G_LOGGER.warning("There is a loop. Layers within it are not marked, as far as they lie between its first and its last layer.", mode=LogMode.ONCE)
            in_loop = True
        elif layer.type == getattr(kinds, "LOOP_OUTPUT", None):
            in_loop = False
        if not in_loop and layer.type not in (kinds.SHAPE, kinds.CONSTANT):
            names += [t.name for t in map(layer.get_output, range(layer.num_outputs)) if t is not None]
    G_LOGGER.verbose(f"Marking {len(names)} tensors as outputs")
    mark_outputs(network, [_escaped(n) for n in names])


def _escaped(name):
    """A name as a pattern that fits only it, where it would be taken for another."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name) if any(c in name for c in "*?[]") else name


def mark_by_layer_type(network, layer_types):
    """Makes what layers of these types give the outputs."""
    there, names = {n.lower(): n for n in trt.LayerType.__members__}, []
    for asked in layer_types:
        if asked.lower() not in there:
            near = difflib.get_close_matches(asked.upper(), there.values(), n=5)
            G_LOGGER.critical(f"No TensorRT layer type '{asked}' was found. "
                              + (f"Did you mean one of: {near}?" if near else f"Available layer types: {sorted(there.values())}"))
        wanted = getattr(trt.LayerType, there[asked.lower()])
        names += [t.name for layer in network if layer.type == wanted for t in map(layer.get_output, range(layer.num_outputs)) if t is not None]
    if names:
        mark_outputs(network, [_escaped(n) for n in names])


def unmark_outputs(network, outputs):
    """These, names or patterns, are no outputs any more."""
    tensors = get_all_tensors(network)
    names = expand_wildcards(outputs, list(tensors))
    util.check_sequence_contains(tensors.keys(), names, name="the network", items_name="outputs", check_extra=False)
    for name in names:
        if tensors[name].is_network_output:
            network.unmark_output(tensors[name])


def str_from_config(config, network):
    """A builder's configuration as a text, a line for each thing that can be said."""
    uses_dla = config.DLA_core >= 0 or config.default_device_type == trt.DeviceType.DLA
    lines = []

    def enabled(kind, is_enabled):
        return [name for name, value in getattr(trt, kind).__members__.items() if is_enabled(value)]

    def listed(names):
        return f"[{', '.join(names)}]"

    def flags():
        of_network = enabled("NetworkDefinitionCreationFlag", network.get_flag) if hasattr(network, "get_flag") else []
        return listed(enabled("BuilderFlag", config.get_flag) + of_network)

    def pools():
        return listed([f"{name}: {config.get_memory_pool_limit(pool) / (1 << 20):.2f} MiB" for name, pool in trt.MemoryPoolType.__members__.items()
                       if uses_dla or not name.startswith("DLA")])

    def profiles():
        count = config.num_optimization_profiles
        return f"{count} profile(s)" if count > 1 else None

    def unless_empty(names):
        return listed(names) if names else None

    rows = [
        ("Flags", flags), ("Engine Capability", lambda: str(config.engine_capability)), ("Memory Pools", pools),
        ("Tactic Sources", lambda: listed(enabled("TacticSource", lambda s: config.get_tactic_sources() >> int(s) & 1))),
        ("DLA", lambda: f"Default Device Type: {config.default_device_type}, Core: {config.DLA_core}" if uses_dla else None),
        ("Profiling Verbosity", lambda: str(config.profiling_verbosity)), ("Optimization Profiles", profiles),
        ("Preview Features", lambda: unless_empty(enabled("PreviewFeature", config.get_preview_feature))),
        ("Calibrator", lambda: str(config.int8_calibrator) if config.int8_calibrator else None),
        ("Quantization Flags", lambda: unless_empty(enabled("QuantizationFlag", config.get_quantization_flag))),
    ]
    for title, make in rows:
        with contextlib.suppress(AttributeError):  # a TensorRT without it
            line = make()
            if line is not None:
                lines.append(f"{title:22} | {line}".strip())
    return "\n".join(lines)


def check_profile(profile):
    """Throws where a profile is not complete."""
    if not profile:
        G_LOGGER.critical(f"Profile is not valid, please provide profile data.\nNote: profile was: {profile}")
    return profile


def str_from_tensor(tensor, is_shape_tensor):
    return f"Input {'shape-tensor' if is_shape_tensor else 'tensor'}: {tensor.name} (dtype={tensor.dtype}, shape={tensor.shape})"


def get_input_metadata_from_network(network, profile, force_opt_shapes=None):
    """Types and shapes of a network's inputs, with a profile's bounds; with `force_opt_shapes` its optimum is the shape."""
    metadata = TensorMetadata()
    for tensor in map(network.get_input, range(network.num_inputs)):
        bounds = (None, tensor.shape, None)
        if tensor.is_shape_tensor:
            bounds = profile.get_shape_input(tensor.name)
        elif util.is_shape_dynamic(tensor.shape):
            bounds = profile.get_shape(tensor.name)
        least, best, most = bounds
        if force_opt_shapes:
            if least is not None and tuple(least) != tuple(most):
                G_LOGGER.warning("Calibration runs with one shape: the `OPT` shapes of the calibration profile. Its data have to be of these shapes.",
                                 mode=LogMode.ONCE)
            metadata.add(tensor.name, tensor.dtype, best)
        else:
            metadata.add(tensor.name, tensor.dtype, tensor.shape, min_shape=least, max_shape=most)
    return metadata


def try_setup_polygraphy_calibrator(config, network, calib_profile=None):
    """Tells a Calibrator what the network's inputs are."""
    calibrator = getattr(config, "int8_calibrator", None)
    if calibrator is None or not getattr(calibrator, "is_polygraphy_calibrator", False):
        return
    try:
        if calib_profile is None:
            calib_profile = config.get_calibration_profile()
        metadata = get_input_metadata_from_network(network, calib_profile, force_opt_shapes=True)
    except (AttributeError, TypeError, PolygraphyException) as error:
        G_LOGGER.warning("There is no calibration profile that would say what the inputs of the calibration are. Set one in the configuration, or call "
                         f"the calibrator's set_input_metadata().\nNote: Error was:\n{error}", mode=LogMode.ONCE)
    else:
        calibrator.set_input_metadata(metadata)


def get_tensor_format(engine, context, name):
    """The format that an input or output has in the context's profile."""
    of_profile = (name, context.active_optimization_profile)
    with contextlib.suppress(TypeError):  # old releases take no profile
        return engine.get_tensor_format(*of_profile)
    return engine.get_tensor_format(name)


def get_hwc_shape_from_chw(shape):
    shape = tuple(shape)
    return (*shape[:-3], *shape[-2:], shape[-3])


def get_chw_shape_from_hwc(shape):
    shape = tuple(shape)
    return (*shape[:-3], shape[-1], *shape[-3:-1])


def get_metadata_from_engine(engine, context, mode):
    """Types and shapes of an engine's inputs or outputs."""
    metadata = TensorMetadata()
    for name in map(engine.get_tensor_name, range(engine.num_io_tensors)):
        if engine.get_tensor_mode(name) != mode:
            continue
        shape = engine.get_tensor_shape(name)
        if get_tensor_format(engine, context, name) == trt.TensorFormat.HWC:
            shape = get_hwc_shape_from_chw(shape)
        metadata.add(name, DataType.from_dtype(engine.get_tensor_dtype(name), "tensorrt"), shape)
    return metadata


class TensorInfo:
    """The range of tensors in a file of results."""

    def __init__(self, json_path: str = None):
        self.tensors = {}
        if json_path:
            self.load_json(json_path)

    def load_json(self, json_path: str) -> None:
        from polygraphy.comparator import RunResults
        from polygraphy.json import load_json

        found = load_json(json_path)
        if not isinstance(found, RunResults):
            G_LOGGER.warning(f"There are no results in {json_path}")
            return
        first = next((iterations[0] for iterations in found.values() if iterations), {})
        for name, values in first.items():
            values = np.asarray(values)
            self.tensors[name] = {"min": float(values.min()), "max": float(values.max()), "avg": float(values.mean())}

    def get_tensor_statistics(self, tensor_name: str) -> str:
        found = self.tensors.get(tensor_name)
        return "" if not found else ", " + ", ".join(f"{k}={v:.2f}" for k, v in found.items())


def str_from_engine(engine, context, show_layers=None, show_attrs=None, combine_tensor_info=None):
    """An engine as a text."""
    modes = trt.TensorIOMode
    parts = [f"Name: {engine.name} | Explicit Batch Engine",
             _tensor_lines("Engine Input(s)", get_metadata_from_engine(engine, context, modes.INPUT)),
             _tensor_lines("Engine Output(s)", get_metadata_from_engine(engine, context, modes.OUTPUT)),
             f"---- Memory ----\nDevice Memory: {getattr(engine, 'device_memory_size_v2', None) or engine.device_memory_size} bytes"]
    count = engine.num_optimization_profiles
    rows = []
    for index in range(count):
        rows.append(f"- Profile: {index}")
        for name in map(engine.get_tensor_name, range(engine.num_io_tensors)):
            if engine.get_tensor_mode(name) == modes.INPUT and not engine.is_shape_inference_io(name):
                least, best, most = engine.get_tensor_profile_shape(name, index)
                rows.append(f"    Tensor: {name} (Input), dtype={engine.get_tensor_dtype(name)} | Shapes: min={tuple(least)}, opt={tuple(best)}, max={tuple(most)}")
    parts.append(f"---- {count} Profile(s) ----\n" + "\n".join(rows))
    layers = f"---- {engine.num_layers} Layer(s) ----"
    if show_layers:
        inspector = engine.create_engine_inspector()
        kind = trt.LayerInformationFormat.JSON if show_attrs else trt.LayerInformationFormat.ONELINE
        layers += "".join("\n" + inspector.get_layer_information(i, kind) for i in range(engine.num_layers))
    return "\n\n".join([*parts, layers])


def _get_array_on_gpu(arr, name, device_buffers, stream=None):
    """The address of an array on the device, copied into a buffer of that name where it is on the host."""
    if not util.array.is_on_gpu(arr):
        host = util.array.make_contiguous(arr)
        size = (util.array.nbytes(host),)
        buffer = device_buffers.get(name) or device_buffers.setdefault(name, cuda.DeviceArray.raw())
        return buffer.resize(size).copy_from(util.array.view(host, DataType.UINT8, size), stream).ptr
    return util.array.data_ptr(arr)


def _vectors(context, name):
    """(dimensions, elements of a vector) of a tensor whose channels are grouped."""
    dims, engine = tuple(context.get_tensor_shape(name)), context.engine
    if engine.get_tensor_vectorized_dim(name) != 1 or len(dims) != 4:
        G_LOGGER.critical(f"Tensor: {name} | only channels of tensors of rank 4 can be converted")
    return dims, engine.get_tensor_components_per_element(name)


def convert_linear_to_vectorized_format(context, name, input_arr):
    """The array in a format whose channels are grouped, zeros behind the last one."""
    (n, c, h, w), lanes = _vectors(context, name)
    groups = -(-c // lanes)
    if c % lanes:
        input_arr = util.array.pad(input_arr, [(0, groups * lanes - c)], [1])
    grouped = util.array.transpose(util.array.reshape(input_arr, (n, groups, lanes, h, w)), (0, 1, 3, 4, 2))
    return FormattedArray(grouped, shape=[n, groups, lanes, h, w])


def convert_vectorized_to_linear_format(context, name, raw_array):
    """Back again."""
    (n, c, h, w), lanes = _vectors(context, name)
    groups, dtype = -(-c // lanes), DataType.from_dtype(context.engine.get_tensor_dtype(name), "tensorrt")
    elements = util.array.view(raw_array, dtype, (n, groups, h, w, lanes))
    return util.array.reshape(util.array.transpose(elements, (0, 1, 4, 2, 3)), (n, groups * lanes, h, w))[:, :c]
