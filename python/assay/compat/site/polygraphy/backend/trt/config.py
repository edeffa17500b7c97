"""Configurations of builders."""

import contextlib
import copy

from polygraphy import config as _switches
from polygraphy import mod, util
from polygraphy.backend.base import BaseLoader
from polygraphy.backend.trt import util as trt_util
from polygraphy.backend.trt.profile import Profile
from polygraphy.logger import G_LOGGER
from polygraphy.mod.trt_importer import lazy_import_trt

trt = lazy_import_trt()

_FLAGS = {
    "restricted": "SAFETY_SCOPE", "refittable": "REFIT", "strip_plan": "STRIP_PLAN", "direct_io": "DIRECT_IO", "sparse_weights": "SPARSE_WEIGHTS",
    "version_compatible": "VERSION_COMPATIBLE", "exclude_lean_runtime": "EXCLUDE_LEAN_RUNTIME",
    "error_on_timing_cache_miss": "ERROR_ON_TIMING_CACHE_MISS", "disable_compilation_cache": "DISABLE_COMPILATION_CACHE",
    "weight_streaming": "WEIGHT_STREAMING",
}
"""Switches that are a flag of the builder."""
_PROPERTIES = ("engine_capability", "builder_optimization_level", "hardware_compatibility_level", "max_aux_streams", "progress_monitor",
               "runtime_platform", "tiling_optimization_level")
"""What is assigned as it is, where it is given."""


class _CreateConfigCommon(BaseLoader):
    """What configurations for TensorRT and for TensorRT-RTX share."""

    def __init__(self, profiles=None, precision_constraints=None, load_timing_cache=None, algorithm_selector=None, sparse_weights=None,
                 tactic_sources=None, restricted=None, profiling_verbosity=None, memory_pool_limits=None, refittable=None, strip_plan=None,
                 preview_features=None, engine_capability=None, direct_io=None, builder_optimization_level=None,
                 hardware_compatibility_level=None, max_aux_streams=None, version_compatible=None, exclude_lean_runtime=None,
                 quantization_flags=None, error_on_timing_cache_miss=None, disable_compilation_cache=None, progress_monitor=None,
                 weight_streaming=None, runtime_platform=None, tiling_optimization_level=None):
        """`profiles`: a list of Profile; `precision_constraints`: "obey" or "prefer"; `load_timing_cache`: a path or open file;
        `tactic_sources`, `preview_features`, `quantization_flags`: lists of TensorRT's values, and the others are off;
        `memory_pool_limits`: bytes by trt.MemoryPoolType. The rest are TensorRT's flags and properties of these names."""
        given = dict(locals())
        self.profiles = util.default(profiles, [Profile()])
        self.timing_cache_path = load_timing_cache
        for name in ("precision_constraints", "algorithm_selector", "tactic_sources", "profiling_verbosity", "memory_pool_limits",
                     "preview_features", "quantization_flags", *_PROPERTIES):
            setattr(self, name, given[name])
        for name in _FLAGS:
            setattr(self, name, util.default(given[name], False))

    def _set_flag(self, config, name):
        with trt_util.needs(f"{name.lower()} in {type(self).__name__}"):
            config.set_flag(getattr(trt.BuilderFlag, name))

    def _set_profiles(self, builder, network, config):
        G_LOGGER.verbose("Setting TensorRT Optimization Profiles")
        profiles = [copy.deepcopy(p).fill_defaults(network) for p in self.profiles]
        for profile in profiles:
            config.add_optimization_profile(profile.to_trt(builder, network))
        shown = ",\n".join(f"Profile {i}:\n{util.indent_block(p)}" for i, p in enumerate(profiles))
        G_LOGGER.info(f"Configuring with profiles:[\n{util.indent_block(shown)}\n]")

    def _set_precision_constraints(self, network, config):
        if self.precision_constraints in ("obey", "prefer"):
            self._set_flag(config, f"{self.precision_constraints.upper()}_PRECISION_CONSTRAINTS")
            return
        of_layers = {}
        with contextlib.suppress(AttributeError):
            of_layers = {layer.name: layer.precision.name for layer in network or () if layer.precision_is_set and layer.type != trt.LayerType.SHAPE}
        if of_layers:
            G_LOGGER.warning("Some layers have a compute precision, which has no effect without precision_constraints='prefer' or 'obey': "
                             f"{of_layers}")

    def _set_timing_cache(self, config):
        contents = None
        if self.timing_cache_path:
            try:
                with util.LockFile(self.timing_cache_path):
                    contents = util.load_file(self.timing_cache_path, description="tactic timing cache")
            except FileNotFoundError:
                G_LOGGER.warning(f"Timing cache file {self.timing_cache_path} not found, falling back to empty timing cache.")
        try:
            cache = config.create_timing_cache(contents or b"")
        except AttributeError:
            if self.timing_cache_path:
                trt_util.fail_unavailable(f"load_timing_cache in {type(self).__name__}")
        else:
            config.set_timing_cache(cache, ignore_mismatch=False)

    def _set_choices(self, config):
        """Of which some are on and all others off."""
        kind = type(self).__name__
        if self.preview_features is not None:
            with trt_util.needs(f"preview_features in {kind}"):
                for feature in trt.PreviewFeature.__members__.values():
                    config.set_preview_feature(feature, feature in self.preview_features)
        if self.quantization_flags is not None:
            with trt_util.needs(f"quantization_flag in {kind}"):
                for flag in trt.QuantizationFlag.__members__.values():
                    (config.set_quantization_flag if flag in self.quantization_flags else config.clear_quantization_flag)(flag)
        if self.tactic_sources is not None:
            with trt_util.needs(f"tactic_sources in {kind}"):
                config.set_tactic_sources(sum({1 << int(s) for s in self.tactic_sources}))
        if self.memory_pool_limits is not None:
            with trt_util.needs(f"memory_pool_limits in {kind}"):
                for pool, size in self.memory_pool_limits.items():
                    config.set_memory_pool_limit(pool, size)

    def _set_properties(self, config):
        for name in _PROPERTIES:
            if getattr(self, name) is not None:
                with trt_util.needs(f"{name} in {type(self).__name__}"):
                    setattr(config, name, getattr(self, name))
        with contextlib.suppress(AttributeError):
            config.profiling_verbosity = util.default(self.profiling_verbosity, trt.ProfilingVerbosity.DETAILED)
        if self.algorithm_selector is not None:
            with trt_util.needs(f"algorithm_selector in {type(self).__name__}"):
                config.algorithm_selector = self.algorithm_selector
            if not self.timing_cache_path:
                G_LOGGER.warning("Disabling tactic timing cache because algorithm selector is enabled.")
                self._set_flag(config, "DISABLE_TIMING_CACHE")

    @util.check_called_by("__call__")
    def call_impl(self, builder, network):
        if self.exclude_lean_runtime and not self.version_compatible:
            G_LOGGER.critical("Cannot set EXCLUDE_LEAN_RUNTIME if version compatibility is not enabled.")
        config = builder.create_builder_config()
        self._set_choices(config)
        if network is not None:
            self._set_profiles(builder, network, config)
        self._set_precision_constraints(network, config)
        for name, flag in _FLAGS.items():
            if getattr(self, name):
                self._set_flag(config, flag)
        self._set_timing_cache(config)
        self._set_properties(config)
        return config


@mod.export(funcify=True)
class CreateConfig(_CreateConfigCommon):
    """Makes a builder's configuration, with DETAILED profiling and a timing cache where nothing else is asked for."""

    def __init__(self, tf32=None, fp16=None, int8=None, fp8=None, bf16=None, calibrator=None, use_dla=None, allow_gpu_fallback=None, **kwargs):
        """`tf32`, `fp16`, `int8`, `fp8`, `bf16`: what may be computed in; `calibrator`: for int8; `use_dla`, `allow_gpu_fallback`:
        where. `kwargs`: profiles, precision_constraints, load_timing_cache, algorithm_selector, sparse_weights, tactic_sources,
        restricted, profiling_verbosity, memory_pool_limits, refittable, strip_plan, preview_features, engine_capability, direct_io,
        builder_optimization_level, hardware_compatibility_level, max_aux_streams, version_compatible, exclude_lean_runtime,
        quantization_flags, error_on_timing_cache_miss, disable_compilation_cache, progress_monitor, weight_streaming,
        runtime_platform, tiling_optimization_level."""
        super().__init__(**kwargs)
        self.tf32, self.fp16, self.int8 = util.default(tf32, False), util.default(fp16, False), util.default(int8, False)
        self.fp8, self.bf16 = util.default(fp8, False), util.default(bf16, False)
        self.calibrator = calibrator
        self.use_dla, self.allow_gpu_fallback = util.default(use_dla, False), util.default(allow_gpu_fallback, False)
        if calibrator is not None and not self.int8:
            G_LOGGER.warning("A calibrator was provided to `CreateConfig`, but int8 mode was not enabled. Did you mean to set `int8=True`?")
        if not self.tf32:
            G_LOGGER.info("TF32 is disabled by default. Turn on TF32 for better performance with minor accuracy differences.")
        if _switches.USE_TENSORRT_RTX and (self.fp16 or self.int8 or self.bf16 or self.fp8 or self.use_dla or calibrator is not None):
            G_LOGGER.critical("TensorRT-RTX has neither precision flags, nor calibrators, nor DLA (USE_TENSORRT_RTX=1).")

    def _set_int8(self, builder, network, config):
        if any(layer.type in (trt.LayerType.QUANTIZE, trt.LayerType.DEQUANTIZE) for layer in network):
            return
        if self.calibrator is None:
            G_LOGGER.warning("Network does not have explicit precision and no calibrator was provided. Give tensors dynamic ranges, or provide a calibrator.")
            return
        with trt_util.needs("int8_calibrator in CreateConfig"):
            config.int8_calibrator = self.calibrator
        profile = copy.deepcopy(self.profiles[-1]).fill_defaults(network)
        config.set_calibration_profile(profile.to_trt(builder, network))
        G_LOGGER.info(f"Using calibration profile: {profile}")
        trt_util.try_setup_polygraphy_calibrator(config, network, calib_profile=profile.to_trt(builder, network))

    def _set_dla(self, builder, config):
        if not getattr(builder, "num_DLA_cores", 0):
            text = "DLA was requested via --use-dla, but no DLA hardware is available on this system."
            if not self.allow_gpu_fallback:
                G_LOGGER.critical(f"{text} Please use --allow-gpu-fallback to allow layers to fall back to GPU, or remove --use-dla.")
            G_LOGGER.warning(f"{text} Layers will fall back to GPU due to --allow-gpu-fallback.")
        config.default_device_type = trt.DeviceType.DLA
        config.DLA_core = 0
        before_11 = mod.version(trt.__version__) < mod.version("11.0")
        if before_11:
            self._set_flag(config, "PREFER_PRECISION_CONSTRAINTS")
        if self.allow_gpu_fallback:
            self._set_flag(config, "GPU_FALLBACK")
        elif before_11:
            self._set_flag(config, "DIRECT_IO")

    @util.check_called_by("__call__")
    def call_impl(self, builder, network):
        config = super().call_impl(builder, network)
        if not self.tf32:
            with contextlib.suppress(AttributeError):
                config.clear_flag(trt.BuilderFlag.TF32)
        for name in ("tf32", "fp16", "bf16", "fp8", "int8"):
            if getattr(self, name):
                self._set_flag(config, name.upper())
        if self.int8 and network is not None:
            self._set_int8(builder, network, config)
        if self.use_dla:
            self._set_dla(builder, config)
        return config


@mod.export(funcify=True)
class PostprocessConfig(BaseLoader):
    """Hands a configuration, with the builder and the network, to a function, and gives it."""

    def __init__(self, config, func):
        self._config, self._func = config, func
        if not callable(func):
            G_LOGGER.critical(f"Object {func} (of type {type(func)}) is not a callable.")

    @util.check_called_by("__call__")
    def call_impl(self, builder, network):
        config, _ = util.invoke_if_callable(self._config, builder, network)
        if network is not None:
            self._func(builder, network, config)
        return config
