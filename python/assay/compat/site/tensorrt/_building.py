"""What a builder's settings and callbacks are for the library."""

import struct
import zlib

import numpy as np
from assay.compat import _memory
from recorded import dtypes, wire
from recorded.config_json import network_settings
from recorded.enums import BuilderFlag, CalibrationAlgoType, DataType, MemoryPoolType, TensorFormat
from recorded.exporting import to_onnx
from recorded.values import Dims

from . import _types

# ---- the network


def exported(network):
    """(bytes of an ONNX model whose nodes say what they are held in, settings)."""
    data, exporter = to_onnx(network)
    settings = network_settings(network, exporter)
    held = {}
    for wish in settings["layer_precisions"].values():
        for node in wish["nodes"]:
            held.setdefault(node, {})["assay.held"] = wish["dtype"]
    if held or settings["output_types"]:
        data = _with_metadata(data, held, settings["output_types"])
    return data, settings


def _with_metadata(data, held, output_types):
    """The model with notes at its nodes."""
    parts = []
    for number, kind, value, whole in wire.read_fields(data):
        if number == 7 and kind == wire.BYTES:
            inner = [_noted(v, held, output_types) if n == 1 and k == wire.BYTES else bytes(w)
                     for n, k, v, w in wire.read_fields(value)]
            parts += wire.chunks_field(7, inner)
        else:
            parts.append(bytes(whole))
    return b"".join(parts)


def _noted(node, held, output_types):
    name, outputs, old = "", [], {}
    for number, _, value, _ in wire.read_fields(node):
        if number == 3:
            name = wire.text(value)
        elif number == 2:
            outputs.append(wire.text(value))
        elif number == 9:
            entry = {n: wire.text(v) for n, _, v, _ in wire.read_fields(value)}
            old[entry.get(1, "")] = entry.get(2, "")
    notes = dict(held.get(name or (outputs[0] if outputs else ""), {}))
    if any(o in output_types for o in outputs):
        notes["assay.held_outputs"] = " ".join(output_types.get(o, "-") for o in outputs)
    if not notes:
        return wire.bytes_field(1, bytes(node))
    kept = b"".join(bytes(whole) for number, _, _, whole in wire.read_fields(node) if number != 9)
    entries = [wire.bytes_field(9, wire.bytes_field(1, k) + wire.bytes_field(2, v)) for k, v in {**old, **notes}.items()]
    return wire.bytes_field(1, kept + b"".join(entries))


# ---- callbacks


class Calibration:
    """A user's calibrator as the library asks for data."""
    quantile = 0.9999

    def __init__(self, calibrator, profile):
        self._calibrator, self._profile = calibrator, profile
        algorithm = calibrator.get_algorithm() if hasattr(calibrator, "get_algorithm") else None
        self.algorithm = {CalibrationAlgoType.LEGACY_CALIBRATION: "legacy", CalibrationAlgoType.ENTROPY_CALIBRATION: "entropy",
                          CalibrationAlgoType.MINMAX_CALIBRATION: "minmax"}.get(algorithm, "entropy2")
        if self.algorithm == "legacy" and hasattr(calibrator, "get_quantile"):
            self.quantile = float(calibrator.get_quantile())

    def _shape(self, name, declared):
        shape = [d if isinstance(d, int) and d >= 0 else -1 for d in declared or ()]
        if -1 not in shape:
            return shape
        ranges = self._profile._shapes.get(name) if self._profile is not None else None
        if ranges:
            return [o if d < 0 else d for d, o in zip(shape, ranges[1])]
        batch = int(self._calibrator.get_batch_size())
        return [batch if i == 0 and d < 0 else max(d, 1) for i, d in enumerate(shape)]

    def next_batch(self, inputs):
        names = [i[0] for i in inputs]
        pointers = self._calibrator.get_batch(names)
        if pointers is None or len(pointers) == 0:
            return None
        if len(pointers) != len(names):
            raise ValueError(f"get_batch gave {len(pointers)} addresses for the {len(names)} inputs {', '.join(names)}")
        feed = {}
        for (name, _, dtype, shape), pointer in zip(inputs, pointers):
            extents = self._shape(name, shape)
            address, size = int(pointer), _types.byte_count(dtype, _types.volume(extents))
            check_memory(address, size, f"address for the input '{name}' of get_batch")
            feed[name] = _memory.array_at(address, extents, _types.numpy_type(dtype)).copy()
        return feed

    def read_cache(self):
        cache = self._calibrator.read_calibration_cache()
        return bytes(cache) if cache else None

    def write_cache(self, text):
        self._calibrator.write_calibration_cache(memoryview(text))


class Ranges:
    """Ranges of tensors that the script gave itself, as the table that a calibration would have found."""
    algorithm, quantile = "entropy2", 0.9999
    _LEVELS = 127

    def __init__(self, ranges):
        self._ranges = ranges

    def next_batch(self, inputs):
        return None

    def read_cache(self):
        lines = ["TRT-101600-EntropyCalibration2"]
        for name, (low, high) in self._ranges.items():
            bits = struct.pack(">f", max(abs(low), abs(high)) / self._LEVELS)
            lines.append(f"{name}: {bits.hex()}")
        return "\n".join(lines).encode() + b"\n"

    def write_cache(self, text):
        """Nothing was found that the script does not know."""


def check_memory(address, size, what):
    """Raises DeviceError for memory that cannot hold `size` bytes."""
    if size == 0:
        return
    room = _memory.room(address) if address else None
    if not address or room is None:
        if not address:
            raise _memory.DeviceError(_memory.INVALID_VALUE, f"the {what} is a null pointer")
        _memory.check_foreign(address, size, what)
    elif room < size:
        raise _memory.DeviceError(_memory.INVALID_VALUE, f"the {what} {address:#x} has room for {room} bytes, and {size} are needed")


class IAlgorithmIOInfo:
    def __init__(self, fmt):
        dtype, shape, block = fmt
        self.dtype, self.strides = _types.data_type(dtype), Dims(())
        self.vectorized_dim, self.components_per_element = (1, int(block)) if block and block > 1 else (-1, 1)
        self.tensor_format = TensorFormat.LINEAR
        if shape is not None:
            strides, step = [], 1
            for d in reversed([d if isinstance(d, int) else -1 for d in shape]):
                strides.insert(0, step)
                step = step * d if d >= 0 and step >= 0 else -1
            self.strides = Dims(strides)


class IAlgorithmVariant:
    def __init__(self, name):
        family = name.split(":")[0]
        self.implementation, self.tactic = zlib.crc32(family.encode()), zlib.crc32(name.encode())


class IAlgorithm:
    """A way to run a layer. `algorithm_variant` are numbers of its name, the same in every process."""

    def __init__(self, entry):
        self._name, self._inputs, self._outputs, seconds, scratch = entry
        self.algorithm_variant = IAlgorithmVariant(self._name)
        self.timing_msec, self.workspace_size = (seconds or 0.0) * 1000.0, scratch

    def get_algorithm_io_info(self, index):
        both = list(self._inputs) + list(self._outputs)
        return IAlgorithmIOInfo(both[index]) if 0 <= index < len(both) else None

    def __repr__(self):
        return f"<tensorrt.IAlgorithm {self._name}>"


class IAlgorithmContext:
    def __init__(self, nodes, entry):
        self.name = " + ".join(nodes)
        self._formats = list(entry[1]) + list(entry[2])
        self.num_inputs, self.num_outputs = len(entry[1]), len(entry[2])

    def get_shape(self, index):
        shape = self._formats[index][1] if 0 <= index < len(self._formats) else None
        return [Dims(shape)] * 3 if shape is not None else []


class Selection:
    """A user's algorithm selector as the library asks it."""

    def __init__(self, selector, rejects_empty):
        self._selector, self._rejects, self._chosen = selector, rejects_empty, []

    def select(self, nodes, algorithms):
        if not algorithms:
            return None
        choices = [IAlgorithm(a) for a in algorithms]
        picked = self._selector.select_algorithms(IAlgorithmContext(nodes, algorithms[0]), choices)
        picked = [int(i) for i in picked] if picked is not None else []
        return picked if picked or self._rejects else None

    def report(self, nodes, algorithm):
        self._chosen.append((IAlgorithmContext(nodes, algorithm), IAlgorithm(algorithm)))

    def finish(self):
        if self._chosen:
            self._selector.report_algorithms([c for c, _ in self._chosen], [a for _, a in self._chosen])


class Monitoring:
    """A user's progress monitor as the library tells of a build."""
    _WHOLE = "Building the engine"

    def __init__(self, monitor):
        self._monitor, self._phase, self._total, self._phases, self._goes_on = monitor, None, 1, 0, True
        self._step = -1
        monitor.phase_start(self._WHOLE, None, 2)

    def __call__(self, phase, what, done, total, from_cache):
        if phase != self._phase:
            self._close()
            self._phase, self._total, self._step = phase, max(1, total), -1
            self._monitor.phase_start(phase, self._WHOLE, self._total)
        step = min(done, self._total - 1)
        if step > self._step:
            self._step = step
            self._goes_on = self._monitor.step_complete(phase, step) is not False and self._goes_on
        return self._goes_on

    def _close(self):
        if self._phase is not None:
            self._monitor.phase_finish(self._phase)
            self._phase = None
            self._goes_on = self._monitor.step_complete(self._WHOLE, min(self._phases, 1)) is not False and self._goes_on
            self._phases += 1

    def finish(self):
        self._close()
        self._monitor.phase_finish(self._WHOLE)


# ---- settings


def _profile(profile):
    ranges = {name: tuple(tuple(v) for v in lists) for name, lists in profile._shapes.items()}
    ranges.update({name: (*(tuple(v) for v in lists), True) for name, lists in profile._values.items()})
    return ranges


def settings_of(config, network):
    """The build's settings as the library takes them."""
    has = config.get_flag
    refits = any(has(f) for f in (BuilderFlag.REFIT, BuilderFlag.REFIT_IDENTICAL, BuilderFlag.REFIT_INDIVIDUAL))
    typed = network._is_strongly_typed
    settings = {
        "profiles": [_profile(p) for p in config._profiles] or None,
        "fp16": has(BuilderFlag.FP16) and not typed,
        "bf16": has(BuilderFlag.BF16) and not typed,
        "int8": has(BuilderFlag.INT8) and not typed,
        "optimization_level": min(config.builder_optimization_level, 5),  # a higher one is the highest
        "refittable": refits,
        "strip_weights": has(BuilderFlag.STRIP_PLAN),
        "use_timing_cache_only": has(BuilderFlag.ERROR_ON_TIMING_CACHE_MISS),
        "workspace_limit": config._pools.get(MemoryPoolType.WORKSPACE),
        "precision_constraints": "obey" if has(BuilderFlag.OBEY_PRECISION_CONSTRAINTS) else "prefer" if (
            has(BuilderFlag.PREFER_PRECISION_CONSTRAINTS) or has(BuilderFlag.STRICT_TYPES)) else "none",
    }
    if not has(BuilderFlag.DISABLE_TIMING_CACHE):
        settings["timing_cache"] = config._cache_for_build()._native
    if settings["int8"] and config.int8_calibrator is not None:
        first = config._calibration_profile or (config._profiles[0] if config._profiles else None)
        settings["calibrator"] = Calibration(config.int8_calibrator, first)
    if config.algorithm_selector is not None:
        settings["algorithm_selector"] = Selection(config.algorithm_selector, has(BuilderFlag.REJECT_EMPTY_ALGORITHMS))
    return settings


def weights_array(weights, shape=None):
    """The elements of Weights, with a shape where it fits."""
    import math

    array = weights.numpy()
    name = dtypes.ONNX_NAMES[weights._type]
    if weights._array is None and dtypes.numpy_dtype(weights._type) is None:
        array = np.frombuffer(weights._bytes or b"", _types.numpy_type(name))
    if shape is not None and math.prod(shape) == array.size:
        array = array.reshape(shape)
    return array


__all__ = ["Calibration", "DataType", "IAlgorithm", "IAlgorithmContext", "IAlgorithmIOInfo", "IAlgorithmVariant", "Monitoring",
           "Ranges", "Selection", "check_memory", "exported", "settings_of", "weights_array"]
