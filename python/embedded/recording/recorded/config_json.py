"""A configuration as JSON, and what a network asks for beside its graph. docs/guide/network-scripts.md lists the keys."""

import base64

from . import dtypes
from .config import DEFAULT_SOURCES
from .enums import (BuilderFlag, EngineCapability, HardwareCompatibilityLevel, MemoryPoolType, ProfilingVerbosity,
                    RuntimePlatform, TacticSource, TensorFormat, TilingOptimizationLevel)
from .errors import RecordingError
from .profile import IOptimizationProfile

VERSION = 1
_PRECISIONS = ("tf32", "fp16", "bf16", "int8", "fp8", "int4", "fp4")
_HAVE_KEYS = {BuilderFlag[p.upper()] for p in _PRECISIONS} | {
    BuilderFlag.REFIT, BuilderFlag.REFIT_IDENTICAL, BuilderFlag.REFIT_INDIVIDUAL, BuilderFlag.STRIP_PLAN,
    BuilderFlag.ERROR_ON_TIMING_CACHE_MISS, BuilderFlag.DISABLE_TIMING_CACHE, BuilderFlag.OBEY_PRECISION_CONSTRAINTS,
    BuilderFlag.PREFER_PRECISION_CONSTRAINTS, BuilderFlag.STRICT_TYPES}
# Options of TensorRT's devices and of its way to measure; with their values at rest.
_UNUSED = {
    "DLA_core": -1, "avg_timing_iterations": 1, "min_timing_iterations": 1, "l2_limit_for_tiling": -1, "max_aux_streams": -1,
    "max_num_tactics": -1, "plugins_to_serialize": [], "profile_stream": 0, "remote_auto_tuning_config": "",
    "engine_capability": EngineCapability.STANDARD, "hardware_compatibility_level": HardwareCompatibilityLevel.NONE,
    "runtime_platform": RuntimePlatform.SAME_AS_BUILD, "tiling_optimization_level": TilingOptimizationLevel.NONE
}


def config_to_json(config):
    """A dictionary that json.dumps() takes."""
    has = config.get_flag
    constraints = "obey" if has(BuilderFlag.OBEY_PRECISION_CONSTRAINTS) else "prefer" if (
        has(BuilderFlag.PREFER_PRECISION_CONSTRAINTS) or has(BuilderFlag.STRICT_TYPES)) else None
    return {
        "version": VERSION,
        "precisions": {p: has(BuilderFlag[p.upper()]) for p in _PRECISIONS},
        "precision_constraints": constraints,
        "profiles": [_profile(p) for p in config._profiles],
        "optimization_level": config._given.get("builder_optimization_level"),
        "workspace_limit": config._pools.get(MemoryPoolType.WORKSPACE),
        "is_refittable": any(has(f) for f in (BuilderFlag.REFIT, BuilderFlag.REFIT_IDENTICAL, BuilderFlag.REFIT_INDIVIDUAL)),
        "strips_weights": has(BuilderFlag.STRIP_PLAN),
        "timing_cache": _timing_cache(config),
        "use_timing_cache_only": has(BuilderFlag.ERROR_ON_TIMING_CACHE_MISS),
        "disables_timing_cache": has(BuilderFlag.DISABLE_TIMING_CACHE),
        "profiling_verbosity": config.profiling_verbosity.name.lower(),
        "calibration": _calibration(config),
        "unused": _unused(config),
    }


def _bounds(lists):
    return {name: list(values) for name, values in zip(("min", "opt", "max"), lists)}


def _profile(profile):
    return {
        "shapes": {n: _bounds(v)
                   for n, v in profile._shapes.items()}, "values": {n: _bounds(v)
                                                                    for n, v in profile._values.items()}
    }


def _timing_cache(config):
    if config._cache_path is not None:
        return {"path": config._cache_path}
    if config._cache is None or not config._cache.serialize():
        return None
    return {"base64": base64.b64encode(config._cache.serialize()).decode()}


def _calibration(config):
    """The calibrator's class, algorithm and cache. Batches are not asked for: the script's process has ended by then."""
    calibrator = config.int8_calibrator
    if calibrator is None:
        return None
    cache = calibrator.read_calibration_cache() if hasattr(calibrator, "read_calibration_cache") else None
    algorithm = calibrator.get_algorithm() if hasattr(calibrator, "get_algorithm") else None
    return {"calibrator": type(calibrator).__name__, "algorithm": getattr(algorithm, "name", None),
            "cache": base64.b64encode(bytes(cache)).decode() if cache else None}


def _unused(config):
    """What the engine has no counterpart of, a sentence each."""
    notes = [f"flag {f.name}: the engine has no such setting" for f in BuilderFlag if config.get_flag(f) and f not in _HAVE_KEYS]
    for name, rest in _UNUSED.items():
        value = config._given.get(name, rest)
        if value != rest:
            notes.append(f"{name} {getattr(value, 'name', value)}: the engine has no such setting")
    notes += [
        f"memory pool {pool.name}: only WORKSPACE is limited" for pool in config._pools if pool is not MemoryPoolType.WORKSPACE
    ]
    notes += [f"preview feature {f.name}: the engine has none" for f in config._previews]
    notes += [f"device type of layer '{n}': the engine has one device" for n in config._devices]
    if config._sources not in (None, DEFAULT_SOURCES, sum(1 << int(s) for s in TacticSource)):
        notes.append(
            f"tactic sources {config._sources:#x}: the engine's tactics are chosen by `--tactics` and `--tactic-sources` of assay"
        )
    if config._quantization is not None:
        notes.append("quantization flags: the engine calibrates before it fuses in any case")
    if config.algorithm_selector is not None:
        notes.append(
            "algorithm_selector: it is not called, because the script has ended when the engine is built; --save-tactics and "
            "--load-tactics do its work")
    if config.int8_calibrator is not None:
        notes.append(
            "int8_calibrator: its calibration cache is used if it reads one; batches are not asked for, because the script has "
            "ended when the engine is built: without a cache the network is calibrated on the data of the command")
    if config.progress_monitor is not None:
        notes.append("progress_monitor: it is not called, because the script has ended when the engine is built")
    return notes


def config_from_json(config, values):
    """Sets on a new configuration what config_to_json() gave; `unused` is left out. Throws RecordingError."""
    if values.get("version") != VERSION:
        raise RecordingError(f"A configuration of version {values.get('version')!r}; version {VERSION} is needed.")
    for name, on in values.get("precisions", {}).items():
        (config.set_flag if on else config.clear_flag)(BuilderFlag[name.upper()])
    flags = {
        "is_refittable": BuilderFlag.REFIT, "strips_weights": BuilderFlag.STRIP_PLAN,
        "use_timing_cache_only": BuilderFlag.ERROR_ON_TIMING_CACHE_MISS, "disables_timing_cache": BuilderFlag.DISABLE_TIMING_CACHE
    }
    for key, flag in flags.items():
        if values.get(key):
            config.set_flag(flag)
    if values.get("precision_constraints"):
        config.set_flag(BuilderFlag[values["precision_constraints"].upper() + "_PRECISION_CONSTRAINTS"])
    if values.get("optimization_level") is not None:
        config.builder_optimization_level = values["optimization_level"]
    if values.get("workspace_limit") is not None:
        config.set_memory_pool_limit(MemoryPoolType.WORKSPACE, values["workspace_limit"])
    if values.get("profiling_verbosity"):
        config.profiling_verbosity = ProfilingVerbosity[values["profiling_verbosity"].upper()]
    for entry in values.get("profiles", []):
        profile = IOptimizationProfile()
        for name, bounds in entry.get("shapes", {}).items():
            profile.set_shape(name, bounds["min"], bounds["opt"], bounds["max"])
        for name, bounds in entry.get("values", {}).items():
            profile.set_shape_input(name, bounds["min"], bounds["opt"], bounds["max"])
        config.add_optimization_profile(profile)
    cache = values.get("timing_cache") or {}
    config._cache_path = cache.get("path")
    if "base64" in cache:
        config.set_timing_cache(config.create_timing_cache(base64.b64decode(cache["base64"])))


def network_settings(network, exporter):
    """What a network asks for that an ONNX model does not say."""
    def nodes(layer):
        return [node.name or node.outputs[0] for node in exporter.nodes_of.get(layer._index, [])]

    def type_name(dtype):
        return dtypes.ONNX_NAMES[dtypes.to_onnx(dtype)]

    io = network._inputs + network._outputs
    written = [layer for layer in network._layers if layer._index in exporter.nodes_of]
    unused = list(dict.fromkeys(network._notes + exporter.writer.notes))
    unused += [f"assertion '{layer.message}' of layer '{layer.name}': not checked" for layer in network._layers
               if layer._node is None and layer._TYPE.name == "ASSERTION"]
    return {
        "version": VERSION,
        "name": network.name,
        "is_strongly_typed": network._is_strongly_typed,
        "layer_precisions": {
            layer.name: {"dtype": type_name(layer._precision), "nodes": nodes(layer)}
            for layer in written if layer._precision is not None
        },
        "output_types": {
            t.name: dtypes.ONNX_NAMES[t._given_type]
            for layer in written
            for t in layer._outputs if t._given_type is not None and t._index in layer._output_types
        },
        "tensor_formats": {
            t.name: [f.name for f in TensorFormat if t._formats >> int(f) & 1]
            for t in io if t._formats is not None
        },
        "dynamic_ranges": {
            t.name: list(t._range)
            for t in network._inputs + [o for layer in written for o in layer._outputs] if t._range is not None
        },
        "debug_tensors": [t.name for t in network._debug],
        "marks_unfused_tensors": network._debug_unfused,
        "unused": unused,
    }
