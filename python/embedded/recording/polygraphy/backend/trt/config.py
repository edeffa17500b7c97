"""CreateConfig and PostprocessConfig."""

import copy
import os

import tensorrt as trt
from polygraphy import mod
from polygraphy.backend.base import BaseLoader, value_or_call
from polygraphy.backend.trt.profile import Profile
from polygraphy.exception import PolygraphyException
from polygraphy.logger import G_LOGGER


@mod.export(funcify=True)
class CreateConfig(BaseLoader):
    """A configuration for a network, with Polygraphy's defaults: detailed profiling, no TF32 unless it is asked for, a
    profile for open extents."""

    def __init__(self,
                 tf32=None,
                 fp16=None,
                 int8=None,
                 fp8=None,
                 bf16=None,
                 calibrator=None,
                 use_dla=None,
                 allow_gpu_fallback=None,
                 profiles=None,
                 precision_constraints=None,
                 load_timing_cache=None,
                 algorithm_selector=None,
                 sparse_weights=None,
                 tactic_sources=None,
                 restricted=None,
                 profiling_verbosity=None,
                 memory_pool_limits=None,
                 refittable=None,
                 strip_plan=None,
                 preview_features=None,
                 engine_capability=None,
                 direct_io=None,
                 builder_optimization_level=None,
                 hardware_compatibility_level=None,
                 max_aux_streams=None,
                 version_compatible=None,
                 exclude_lean_runtime=None,
                 quantization_flags=None,
                 error_on_timing_cache_miss=None,
                 disable_compilation_cache=None,
                 progress_monitor=None,
                 weight_streaming=None,
                 runtime_platform=None,
                 tiling_optimization_level=None):
        self.__dict__.update({k: v for k, v in locals().items() if k != "self"})
        self.profiles = profiles if profiles is not None else [Profile()]
        if precision_constraints not in (None, "none", "obey", "prefer"):
            raise PolygraphyException(
                f"precision_constraints is {precision_constraints!r}; it must be 'obey', 'prefer', 'none' or None.")
        if calibrator is not None and not int8:
            G_LOGGER.warning("CreateConfig has a calibrator and no int8=True, so that it is not used.")

    _FLAGS = {
        "fp16": "FP16", "int8": "INT8", "fp8": "FP8", "bf16": "BF16", "sparse_weights": "SPARSE_WEIGHTS",
        "restricted": "SAFETY_SCOPE", "refittable": "REFIT", "strip_plan": "STRIP_PLAN", "direct_io": "DIRECT_IO",
        "version_compatible": "VERSION_COMPATIBLE", "exclude_lean_runtime": "EXCLUDE_LEAN_RUNTIME",
        "error_on_timing_cache_miss": "ERROR_ON_TIMING_CACHE_MISS", "disable_compilation_cache": "DISABLE_COMPILATION_CACHE",
        "weight_streaming": "WEIGHT_STREAMING", "allow_gpu_fallback": "GPU_FALLBACK"
    }
    _OPTIONS = ("engine_capability", "builder_optimization_level", "hardware_compatibility_level", "max_aux_streams",
                "progress_monitor", "runtime_platform", "tiling_optimization_level", "algorithm_selector")

    def call_impl(self, builder, network):
        config = builder.create_builder_config()
        self._set_flags(config)
        for name in self._OPTIONS:
            if getattr(self, name) is not None:
                setattr(config, name, getattr(self, name))
        verbosity = self.profiling_verbosity
        config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED if verbosity is None else verbosity
        for pool, size in (self.memory_pool_limits or {}).items():
            config.set_memory_pool_limit(pool, size)
        if self.tactic_sources is not None:
            config.set_tactic_sources(sum(1 << int(s) for s in self.tactic_sources))
        for feature in self.preview_features or []:
            config.set_preview_feature(feature, True)
        for flag in self.quantization_flags or []:
            config.set_quantization_flag(flag)
        self._set_timing_cache(config)
        if network is not None:
            self._add_profiles(builder, network, config)
            if self.int8 and self.calibrator is not None:
                config.int8_calibrator = self.calibrator
        return config

    def _set_flags(self, config):
        for argument, flag in self._FLAGS.items():
            if getattr(self, argument):
                config.set_flag(trt.BuilderFlag[flag])
        (config.set_flag if self.tf32 else config.clear_flag)(trt.BuilderFlag.TF32)
        if self.precision_constraints in ("obey", "prefer"):
            config.set_flag(trt.BuilderFlag[self.precision_constraints.upper() + "_PRECISION_CONSTRAINTS"])
        if self.use_dla:
            config.default_device_type = trt.DeviceType.DLA
            config.DLA_core = 0

    def _set_timing_cache(self, config):
        source = self.load_timing_cache
        if source is None:
            return
        if hasattr(source, "read"):
            data = source.read()
            config.set_timing_cache(config.create_timing_cache(data if isinstance(data, bytes) else data.encode()))
        elif os.path.exists(source):
            config._cache_path = os.path.abspath(source)
        else:
            G_LOGGER.warning(f"There is no timing cache {source}; the build begins without one.")

    def _add_profiles(self, builder, network, config):
        profiles = [copy.copy(p).fill_defaults(network) for p in self.profiles]
        for profile in profiles:
            config.add_optimization_profile(profile.to_trt(builder, network))
        if self.int8 and profiles:
            config.set_calibration_profile(config._profiles[0] if config._profiles else None)


@mod.export(funcify=True)
class PostprocessConfig(BaseLoader):
    """A configuration that a function changes, which gets builder, network and config."""

    def __init__(self, config, func):
        if not callable(func):
            raise PolygraphyException(f"PostprocessConfig takes a function, not {func!r}.")
        self._config, self._func = config, func

    def call_impl(self, builder, network):
        config = value_or_call(self._config, builder, network)[0]
        self._func(builder=builder, network=network, config=config)
        return config
