"""Runtime, ICudaEngine, EngineInspector, Refitter."""

import json
import math
import os
import re

import numpy as np
from recorded.enums import (DataType, EngineCapability, EngineStat, ErrorCodeTRT, ExecutionContextAllocationStrategy,
                            HardwareCompatibilityLevel, LayerInformationFormat, ProfilingVerbosity, SerializationFlag, Severity,
                            TacticSource, TempfileControlFlag, TensorFormat, TensorIOMode, TensorLocation, WeightsRole)
from recorded.errors import NotServedError
from recorded.layer import Served
from recorded.values import Dims, Weights, as_weights

from . import _types
from ._building import check_memory, weights_array
from ._memory import IHostMemory
from ._reports import report, require_logger, told

_ROLES = {"kernel": WeightsRole.KERNEL, "bias": WeightsRole.BIAS, "shift": WeightsRole.SHIFT, "scale": WeightsRole.SCALE}


class Runtime(Served):
    """Makes engines of plans."""

    def __init__(self, logger):
        self._logger = require_logger(logger)
        self._error_recorder, self._allocator, self._threads, self._dla = None, None, 1, -1
        self._folder, self._flags, self._host_code = "", 3, False

    logger = property(lambda self: self._logger)
    error_recorder = property(lambda self: self._error_recorder, lambda self, v: setattr(self, "_error_recorder", v))
    gpu_allocator = property(None, lambda self, v: setattr(self, "_allocator", v))
    max_threads = property(lambda self: self._threads, lambda self, v: setattr(self, "_threads", int(v)))
    DLA_core = property(lambda self: self._dla, lambda self, v: setattr(self, "_dla", int(v)))
    num_DLA_cores = property(lambda self: 0)
    temporary_directory = property(lambda self: self._folder, lambda self, v: setattr(self, "_folder", str(v)))
    tempfile_control_flags = property(lambda self: self._flags, lambda self, v: setattr(self, "_flags", int(v)))
    engine_host_code_allowed = property(lambda self: self._host_code, lambda self, v: setattr(self, "_host_code", bool(v)))

    def deserialize_cuda_engine(self, serialized_engine):
        """The engine; None, and the logger says why, where the bytes are no plan."""
        from ._plugins import read_plan

        plan = _read_all(serialized_engine)
        made = told(self, None, ErrorCodeTRT.INVALID_ARGUMENT)(lambda: read_plan(plan))
        return None if made is None else ICudaEngine(made, self._logger, runtime=self)

    def load_runtime(self, path):
        if not os.path.exists(path):
            report(self, f"there is no file {path}", ErrorCodeTRT.INVALID_ARGUMENT)
            return None
        raise NotServedError("tensorrt.Runtime.load_runtime: plans of assay hold no runtime of their own; deserialize them with "
                             "this one.")

    def get_plugin_registry(self):
        from ._registry import get_plugin_registry

        return get_plugin_registry()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def _read_all(source):
    from ._interfaces import IStreamReader, IStreamReaderV2

    if isinstance(source, (IStreamReader, IStreamReaderV2)):
        parts, step = [], 1 << 20
        while True:
            part = source.read(step) if isinstance(source, IStreamReader) else source.read(step, 0)
            part = bytes(part or b"")
            parts.append(part)
            if len(part) < step:
                return b"".join(parts)
    if source is None or isinstance(source, str):
        raise TypeError(f"deserialize_cuda_engine takes the bytes of a plan, not {source!r}")
    return memoryview(source)


class IRuntimeConfig(Served):
    def __init__(self):
        self._strategy = ExecutionContextAllocationStrategy.STATIC

    def get_execution_context_allocation_strategy(self):
        return self._strategy

    def set_execution_context_allocation_strategy(self, strategy):
        self._strategy = strategy


class ISerializationConfig(Served):
    def __init__(self):
        self._flags = 0

    @property
    def flags(self):
        return self._flags

    @flags.setter
    def flags(self, value):
        self._flags = int(value)

    def set_flag(self, flag):
        self._flags |= 1 << int(flag)
        return True

    def clear_flag(self, flag):
        self._flags &= ~(1 << int(flag))
        return True

    def get_flag(self, flag):
        return bool(self._flags >> int(flag) & 1)


class _Io:
    """An input or output of an engine."""

    def __init__(self, entry, is_input):
        self.name, self.text, self.type_name, shape = entry
        self.is_input = is_input
        self.dtype = _types.data_type(self.type_name) if self.type_name else None
        self.shape = None if shape is None else tuple(d if isinstance(d, int) and d >= 0 else -1 for d in shape)


class ICudaEngine(Served):
    """A network made ready to run."""

    def __init__(self, made, logger, runtime=None):
        self._made, self._logger, self._runtime = made, logger, runtime
        self._error_recorder = None
        ios = [_Io(e, True) for e in made.inputs] + [_Io(e, False) for e in made.outputs]
        self._ios, self._by_name = ios, {t.name: t for t in ios}
        self._profiles = made.profiles
        self._count_layers = None

    name = property(lambda self: self._made.name)
    error_recorder = property(lambda self: self._error_recorder, lambda self, v: setattr(self, "_error_recorder", v))
    num_io_tensors = property(lambda self: len(self._ios))
    num_optimization_profiles = property(lambda self: max(1, len(self._profiles)))
    refittable = property(lambda self: self._made.is_refittable)
    device_memory_size = property(lambda self: self._made.device_memory_size)
    device_memory_size_v2 = device_memory_size
    engine_capability = property(lambda self: EngineCapability.STANDARD)
    hardware_compatibility_level = property(lambda self: HardwareCompatibilityLevel.NONE)
    profiling_verbosity = property(lambda self: ProfilingVerbosity.DETAILED)
    tactic_sources = property(lambda self: sum(1 << int(s) for s in TacticSource))
    num_aux_streams = property(lambda self: 0)
    max_batch_size = property(lambda self: 1)
    has_implicit_batch_dimension = property(lambda self: False)
    streamable_weights_size = property(lambda self: 0)
    weight_streaming_budget = property(lambda self: 0, lambda self, v: None)
    weight_streaming_budget_v2 = property(lambda self: 0, lambda self, v: None)
    weight_streaming_scratch_memory_size = property(lambda self: 0)
    minimum_weight_streaming_budget = property(lambda self: 0)

    @property
    def num_layers(self):
        if self._count_layers is None:
            self._count_layers = len(self._made.layers(False))
        return self._count_layers

    def get_weight_streaming_automatic_budget(self):
        return 0

    def get_device_memory_size_for_profile(self, profile_index):
        return self.device_memory_size

    get_device_memory_size_for_profile_v2 = get_device_memory_size_for_profile

    def get_engine_stat(self, stat):
        if stat is EngineStat.STRIPPED_WEIGHTS_SIZE:
            return -1
        return len(self._made.plan())

    # ---- tensors by name

    def _io(self, name):
        found = self._by_name.get(name) if isinstance(name, str) else None
        if found is None and not isinstance(name, str):
            raise TypeError(f"a tensor goes by its name, not by {name!r}")
        if found is None:
            report(self, f"the engine has no tensor '{name}'; it has {', '.join(self._by_name)}")
        return found

    def get_tensor_name(self, index):
        if not 0 <= index < len(self._ios):
            report(self, f"get_tensor_name: the engine has {len(self._ios)} tensors, and no {index}")
            return None
        return self._ios[index].name

    def get_tensor_mode(self, name):
        t = self._io(name)
        return TensorIOMode.NONE if t is None else TensorIOMode.INPUT if t.is_input else TensorIOMode.OUTPUT

    def get_tensor_shape(self, name):
        t = self._io(name)
        return Dims(() if t is None or t.shape is None else t.shape)

    def get_tensor_dtype(self, name):
        t = self._io(name)
        return DataType.FLOAT if t is None else t.dtype

    def get_tensor_location(self, name):
        return TensorLocation.HOST if self._io(name) is not None and self._is_shape(name) else TensorLocation.DEVICE

    def _is_shape(self, name):
        return any(len(p[name]) > 3 and p[name][3] for p in self._profiles if name in p)

    def is_shape_inference_io(self, name):
        return self._io(name) is not None and self._is_shape(name)

    def get_tensor_format(self, name, profile_index=0):
        return TensorFormat.LINEAR

    def get_tensor_format_desc(self, name, profile_index=0):
        return "Row major linear format (kLINEAR)"

    def get_tensor_vectorized_dim(self, name, profile_index=0):
        return -1

    def get_tensor_bytes_per_component(self, name, profile_index=0):
        t = self._io(name)
        return -1 if t is None else max(1, _types.byte_count(t.type_name, 1))

    def get_tensor_components_per_element(self, name, profile_index=0):
        return 1 if self._io(name) is not None else -1

    def get_tensor_profile_shape(self, name, profile_index):
        """[min, opt, max]; that of a tensor without a range is its shape."""
        t = self._io(name)
        if t is None or not self._has_profile(profile_index):
            return []
        ranges = self._profiles[profile_index].get(name) if self._profiles else None
        if ranges is None or (len(ranges) > 3 and ranges[3]):
            return [Dims(t.shape or ())] * 3
        return [Dims(r) for r in ranges[:3]]

    def get_tensor_profile_values(self, name, profile_index):
        """[min, opt, max] of a shape tensor's elements; empty for others. In 10 and later the order of arguments is this
        one; the other one is taken, too."""
        if isinstance(name, int):
            name, profile_index = profile_index, name
        if self._io(name) is None or not self._has_profile(profile_index) or not self._profiles:
            return []
        ranges = self._profiles[profile_index].get(name)
        return [list(r) for r in ranges[:3]] if ranges is not None and len(ranges) > 3 and ranges[3] else []

    def _has_profile(self, index):
        if 0 <= index < self.num_optimization_profiles:
            return True
        report(self, f"the engine has {self.num_optimization_profiles} optimization profile(s), and no {index}")
        return False

    def get_aliased_input_tensor(self, name):
        return None

    def is_debug_tensor(self, name):
        return name in self._made.debug_tensors

    # ---- tensors by position, as before TensorRT 10

    num_bindings = property(lambda self: len(self._ios) * self.num_optimization_profiles)

    def __len__(self):
        return self.num_bindings

    def __bool__(self):
        return True

    def _binding(self, binding):
        """(tensor, profile) of a position or a name."""
        if isinstance(binding, str):
            profile = 0
            found = re.match(r"(.*) \[profile (\d+)\]$", binding)
            if binding not in self._by_name and found:
                binding, profile = found[1], int(found[2])
            t = self._by_name.get(binding)
            if t is None:
                raise KeyError(f"the engine has no tensor '{binding}'; it has {', '.join(self._by_name)}")
            return t, profile
        if not 0 <= binding < self.num_bindings:
            raise IndexError(f"the engine has {self.num_bindings} bindings, and no {binding}")
        return self._ios[binding % len(self._ios)], binding // len(self._ios)

    def __getitem__(self, index):
        if isinstance(index, str):
            return self.get_binding_index(index)
        return self.get_binding_name(index)

    def __iter__(self):
        return iter([self.get_binding_name(i) for i in range(self.num_bindings)])

    def __contains__(self, name):
        return name in self._by_name

    def get_binding_name(self, index):
        t, profile = self._binding(index)
        return t.name if profile == 0 else f"{t.name} [profile {profile}]"

    def get_binding_index(self, name):
        try:
            t, profile = self._binding(name)
        except KeyError:
            return -1
        return self._ios.index(t) + profile * len(self._ios)

    def binding_is_input(self, binding):
        return self._binding(binding)[0].is_input

    def get_binding_shape(self, binding):
        return Dims(self._binding(binding)[0].shape or ())

    def get_binding_dtype(self, binding):
        return self._binding(binding)[0].dtype

    def get_binding_format(self, index):
        return TensorFormat.LINEAR

    def get_binding_format_desc(self, index):
        return self.get_tensor_format_desc(self._binding(index)[0].name)

    def get_binding_vectorized_dim(self, index):
        return -1

    def get_binding_bytes_per_component(self, index):
        return self.get_tensor_bytes_per_component(self._binding(index)[0].name)

    def get_binding_components_per_element(self, index):
        return 1

    def get_location(self, binding):
        return self.get_tensor_location(self._binding(binding)[0].name)

    def is_shape_binding(self, binding):
        return self._is_shape(self._binding(binding)[0].name)

    def is_execution_binding(self, binding):
        return not self.is_shape_binding(binding)

    def get_profile_shape(self, profile_index, binding):
        return self.get_tensor_profile_shape(self._binding(binding)[0].name, profile_index)

    def get_profile_shape_input(self, profile_index, binding):
        return self.get_tensor_profile_values(self._binding(binding)[0].name, profile_index)

    # ---- what it makes

    def serialize(self):
        return told(self, None)(lambda: IHostMemory(self._made.plan()))

    def create_serialization_config(self):
        return ISerializationConfig()

    def serialize_with_config(self, config):
        if config.get_flag(SerializationFlag.EXCLUDE_WEIGHTS):
            raise NotServedError("tensorrt.ICudaEngine.serialize_with_config: weights are left out where a plan is built; set "
                                 "BuilderFlag.STRIP_PLAN.")
        return self.serialize()

    def create_runtime_config(self):
        return IRuntimeConfig()

    def create_execution_context(self, strategy=None):
        from ._context import IExecutionContext

        return told(self, None)(lambda: IExecutionContext(self))

    def create_execution_context_without_device_memory(self):
        return self.create_execution_context()

    def create_engine_inspector(self):
        return EngineInspector(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __repr__(self):
        return f"<tensorrt.ICudaEngine of assay's CPU engine: {self.name!r}>"


class EngineInspector(Served):
    """What is inside of an engine."""

    def __init__(self, engine):
        self._engine, self._logger = engine, engine._logger
        self._context, self._error_recorder = None, None

    execution_context = property(lambda self: self._context, lambda self, v: setattr(self, "_context", v))
    error_recorder = property(lambda self: self._error_recorder, lambda self, v: setattr(self, "_error_recorder", v))

    def get_layer_information(self, layer_index, format):
        layers = self._engine._made.layers(format is LayerInformationFormat.JSON)
        if not 0 <= layer_index < len(layers):
            report(self, f"get_layer_information: the engine has {len(layers)} layers, and no {layer_index}")
            return ""
        return layers[layer_index]

    def get_engine_information(self, format):
        text = self._engine._made.information(format is LayerInformationFormat.JSON)
        if format is LayerInformationFormat.JSON:
            told_ = json.loads(text)
            if "Layers" not in told_:
                told_["Layers"] = [json.loads(layer) for layer in self._engine._made.layers(True)]
            told_.setdefault("Bindings", [t.name for t in self._engine._ios])
            return json.dumps(told_)
        return text


class Refitter(Served):
    """Gives an engine other weights."""

    def __init__(self, engine, logger):
        self._engine, self._logger = engine, require_logger(logger)
        self._error_recorder, self._validates, self._threads = None, True, 1
        self._parts = [_native_refitter(e) for e in engine._made.native_engines]
        self._set, self._shapes = {}, {}

    logger = property(lambda self: self._logger)
    error_recorder = property(lambda self: self._error_recorder, lambda self, v: setattr(self, "_error_recorder", v))
    weights_validation = property(lambda self: self._validates, lambda self, v: setattr(self, "_validates", bool(v)))
    max_threads = property(lambda self: self._threads, lambda self, v: setattr(self, "_threads", int(v)))

    def get_all_weights(self):
        return [n for part in self._parts for n in part.all_weights()]

    def get_missing_weights(self):
        return [n for part in self._parts for n in part.missing_weights()]

    @staticmethod
    def _layer_and_role(name):
        layer, _, role = name.rpartition("/")
        return (layer, _ROLES[role]) if layer and role in _ROLES else (name, WeightsRole.CONSTANT)

    def _pairs(self, names):
        pairs = [self._layer_and_role(n) for n in names]
        return [p[0] for p in pairs], [p[1] for p in pairs]

    def get_all(self):
        return self._pairs(self.get_all_weights())

    def get_missing(self):
        return self._pairs(self.get_missing_weights())

    def _find(self, layer_name, role):
        for name in self.get_all_weights():
            if self._layer_and_role(name) == (layer_name, role):
                return name
        prefixes = (f"{layer_name}_output", f"{layer_name}/")
        near = [n for n in self.get_all_weights() if n == layer_name or n.startswith(prefixes)]
        return near[0] if len(near) == 1 else None

    def set_weights(self, layer_name, role, weights):
        name = self._find(layer_name, role)
        if name is None:
            report(self, f"set_weights: the engine has no weights of layer '{layer_name}' with the role {role}")
            return False
        return self.set_named_weights(name, weights)

    def _prototype(self, name):
        """(part, element type, shape) of weights: what the library says that a wrong array should have been."""
        import assay

        if name not in self._shapes:
            part = next((p for p in self._parts if name in p.all_weights()), None)
            if part is None:
                raise assay.NotFound(f"the engine has no weights named '{name}'")
            try:
                part.set_weights(name, np.empty((0, 7, 0, 7, 0), np.complex64))
            except assay.InvalidArgument as error:
                found = re.search(r"' are ([a-z0-9_]+)\[?([^\]]*)\]?, not ", error.rule)
                if found is None:
                    raise
                shape = tuple(int(d) for d in found[2].replace(",", " ").split()) if found[2] else ()
                self._shapes[name] = (part, found[1], shape)
        return self._shapes[name]

    def set_named_weights(self, name, weights, location=TensorLocation.HOST):
        def give():
            given = as_weights(weights)
            self._give(name, given)
            self._set[name] = given
            return True

        return told(self, False)(give)

    def _give(self, name, given):
        """What the weights are at this moment."""
        part, type_name, shape = self._prototype(name)
        if given._address is not None:
            check_memory(given._address, given.nbytes, f"address of the weights '{name}'")
        array = weights_array(given, shape)
        wanted = _types.numpy_type(type_name)
        if array.dtype != wanted and array.dtype.kind == "f" and wanted.kind in "fV":
            array = array.astype(wanted)  # as at building, a float may be another float
        part.set_weights(name, array)

    def get_named_weights(self, weights_name):
        return self._set.get(weights_name, Weights())

    def unset_named_weights(self, weights_name):
        return self._set.pop(weights_name, None) is not None

    def get_weights_location(self, weights_name):
        return TensorLocation.HOST

    def get_weights_prototype(self, weights_name):
        prototype = told(self, None)(lambda: self._prototype(weights_name))
        if prototype is None:
            return Weights()
        made = Weights(_types.data_type(prototype[1]) or DataType.FLOAT)
        made._count = math.prod(prototype[2])
        return made

    def get_dynamic_range(self, tensor_name):
        return (0.0, 0.0)

    def get_tensors_with_dynamic_range(self):
        return []

    def set_dynamic_range(self, tensor_name, range):
        report(self, "set_dynamic_range: scales are part of the network, and a refit does not change them")
        return False

    def refit_cuda_engine(self):
        def refit():
            for name, given in self._set.items():  # they are borrowed until now
                self._give(name, given)
            for part in self._parts:
                part.refit()
            return True

        return told(self, False, ErrorCodeTRT.INVALID_STATE)(refit)

    def refit_cuda_engine_async(self, stream_handle):
        from assay.compat._streams import stream_of

        stream = told(self, None)(lambda: stream_of(stream_handle))
        if stream is None:
            return False
        stream.synchronize()
        return self.refit_cuda_engine()


def _native_refitter(engine):
    from assay._library import native

    return native.Refitter(engine)


class OnnxParserRefitter(Served):
    """Gives an engine the weights of an ONNX model."""

    def __init__(self, refitter, logger):
        self._refitter, self._logger, self._errors = refitter, logger, []

    num_errors = property(lambda self: len(self._errors))

    def get_error(self, index):
        return self._errors[index]

    def clear_errors(self):
        self._errors = []

    def refit_from_bytes(self, model, path=None):
        from recorded.parsed import ParserError

        import assay

        try:
            folder = os.path.dirname(os.path.abspath(path)) if path else None
            read = assay.Model.from_bytes(bytes(model), name=path or "a model in memory", external_data=folder)
            known = set(self._refitter.get_all_weights())
            for name, array in read.initializers.items():
                if name in known and not self._refitter.set_named_weights(name, _array_weights(array)):
                    raise assay.Error(f"the weights '{name}' do not fit the engine")
            return True
        except assay.Error as error:
            self._errors.append(ParserError(str(error)))
            if self._logger is not None:
                self._logger.log(Severity.ERROR, str(error))
            return False

    def refit_from_file(self, model):
        with open(model, "rb") as file:
            return self.refit_from_bytes(file.read(), model)


def _array_weights(array):
    return Weights(np.ascontiguousarray(array))
