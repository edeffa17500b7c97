"""IBuilderConfig: what a script asks of the builder. config_json.py says what becomes of it."""

import sys

from .enums import BuilderFlag, DeviceType, EngineCapability, HardwareCompatibilityLevel, MemoryPoolType, PreviewFeature, ProfilingVerbosity, \
    RuntimePlatform, TacticSource, TilingOptimizationLevel
from .errors import NotServedError, RecordingError
from .layer import Served
from .profile import IOptimizationProfile


class ITimingCache(Served):
    """Measured times of an earlier build, as bytes; assay's own form."""

    def __init__(self, data=b""):
        self._data = bytes(data)

    def serialize(self):
        return self._data

    def combine(self, input_cache, ignore_mismatch):
        raise NotServedError("tensorrt.ITimingCache.combine is not served by assay in a script.")

    def reset(self):
        self._data = b""
        return True


class Option:
    """A property of a configuration that remembers whether it was set."""

    def __init__(self, default, kind=None):
        self.default, self.kind = default, kind

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, config, owner=None):
        return self if config is None else config._given.get(self.name, self.default)

    def __set__(self, config, value):
        if self.kind is int:
            try:
                value = int(value)
            except (TypeError, ValueError):
                raise RecordingError(f"IBuilderConfig.{self.name} must be an integer, not {value!r}.") from None
        elif self.kind is not None and not isinstance(value, self.kind):
            raise RecordingError(f"IBuilderConfig.{self.name} must be a tensorrt.{self.kind.__name__}, not {value!r}.")
        config._given[self.name] = value


def _bits(members):
    return sum({1 << int(m) for m in members})


DEFAULT_SOURCES = _bits({TacticSource.EDGE_MASK_CONVOLUTIONS, TacticSource.JIT_CONVOLUTIONS})


class IBuilderConfig(Served):
    """A configuration."""
    DLA_core = Option(-1, int)
    algorithm_selector = Option(None)
    int8_calibrator = Option(None)
    progress_monitor = Option(None)
    avg_timing_iterations = Option(1, int)
    min_timing_iterations = Option(1, int)
    builder_optimization_level = Option(3, int)
    default_device_type = Option(DeviceType.GPU, DeviceType)
    engine_capability = Option(EngineCapability.STANDARD, EngineCapability)
    hardware_compatibility_level = Option(HardwareCompatibilityLevel.NONE, HardwareCompatibilityLevel)
    l2_limit_for_tiling = Option(-1, int)
    max_aux_streams = Option(-1, int)
    max_num_tactics = Option(-1, int)
    plugins_to_serialize = Option([])
    profile_stream = Option(0)
    profiling_verbosity = Option(ProfilingVerbosity.LAYER_NAMES_ONLY, ProfilingVerbosity)
    remote_auto_tuning_config = Option("")
    runtime_platform = Option(RuntimePlatform.SAME_AS_BUILD, RuntimePlatform)
    tiling_optimization_level = Option(TilingOptimizationLevel.NONE, TilingOptimizationLevel)

    def __init__(self):
        self._given, self._flags, self._quantization, self._pools = {}, 1 << int(BuilderFlag.TF32), None, {}
        self._profiles, self._calibration_profile, self._previews = [], None, {}
        self._sources, self._cache, self._devices = None, None, {}
        self._cache_path = None  # that Polygraphy's load_timing_cache names

    # ---- flags

    @property
    def flags(self):
        return self._flags

    @flags.setter
    def flags(self, value):
        value = int(value)
        known = _bits(BuilderFlag.__members__.values())
        if value & ~known:
            raise RecordingError(
                f"IBuilderConfig.flags {value:#x} has bits that are no tensorrt.BuilderFlag. A mask is `1 << int(flag)`.")
        self._flags = value

    @staticmethod
    def _flag(flag):
        if not isinstance(flag, BuilderFlag):
            raise RecordingError(f"A flag must be a tensorrt.BuilderFlag, not {flag!r}.")
        return 1 << int(flag)

    def set_flag(self, flag):
        self._flags |= self._flag(flag)

    def clear_flag(self, flag):
        self._flags &= ~self._flag(flag)

    def get_flag(self, flag):
        return bool(self._flags & self._flag(flag))

    # ---- memory

    @staticmethod
    def _pool(pool):
        if not isinstance(pool, MemoryPoolType):
            raise RecordingError(f"A memory pool must be a tensorrt.MemoryPoolType, not {pool!r}.")
        return pool

    def set_memory_pool_limit(self, pool, pool_size):
        if int(pool_size) < 0:
            raise RecordingError(f"set_memory_pool_limit: {pool} of {pool_size} bytes; a limit is not negative.")
        self._pools[self._pool(pool)] = int(pool_size)

    def get_memory_pool_limit(self, pool):
        defaults = {
            MemoryPoolType.DLA_MANAGED_SRAM: 1 << 20, MemoryPoolType.DLA_LOCAL_DRAM: 1 << 30,
            MemoryPoolType.DLA_GLOBAL_DRAM: 512 << 20, MemoryPoolType.TACTIC_SHARED_MEMORY: 1 << 30
        }
        return self._pools.get(self._pool(pool), defaults.get(pool, sys.maxsize))

    @property
    def max_workspace_size(self):
        return self.get_memory_pool_limit(MemoryPoolType.WORKSPACE)

    @max_workspace_size.setter
    def max_workspace_size(self, value):
        self.set_memory_pool_limit(MemoryPoolType.WORKSPACE, value)

    # ---- profiles

    def add_optimization_profile(self, profile):
        """Its index; -1 where it holds nothing."""
        if not isinstance(profile, IOptimizationProfile):
            raise RecordingError(
                f"add_optimization_profile takes a profile of Builder.create_optimization_profile(), not {profile!r}.")
        if profile.is_empty:
            return -1
        self._profiles.append(profile)
        return len(self._profiles) - 1

    num_optimization_profiles = property(lambda self: len(self._profiles))

    def set_calibration_profile(self, profile):
        self._calibration_profile = profile
        return True

    def get_calibration_profile(self):
        return self._calibration_profile

    # ---- tactics

    def set_tactic_sources(self, tactic_sources):
        self._sources = int(tactic_sources)
        return True

    def get_tactic_sources(self):
        return self._sources if self._sources is not None else DEFAULT_SOURCES

    def create_timing_cache(self, serialized_timing_cache):
        return ITimingCache(serialized_timing_cache)

    def set_timing_cache(self, cache, ignore_mismatch=False):
        self._cache = cache
        return True

    def get_timing_cache(self):
        return self._cache

    # ---- what only TensorRT's devices have

    def set_preview_feature(self, feature, enable):
        self._previews[feature] = bool(enable)

    def get_preview_feature(self, feature):
        return self._previews.get(feature, feature is PreviewFeature.PROFILE_SHARING_0806)

    @property
    def quantization_flags(self):
        return self._quantization or 0

    @quantization_flags.setter
    def quantization_flags(self, value):
        self._quantization = int(value)

    def set_quantization_flag(self, flag):
        self._quantization = self.quantization_flags | 1 << int(flag)

    def clear_quantization_flag(self, flag):
        self._quantization = self.quantization_flags & ~(1 << int(flag))

    def get_quantization_flag(self, flag):
        return bool(self.quantization_flags & 1 << int(flag))

    def set_device_type(self, layer, device_type):
        self._devices[layer.name] = device_type

    def get_device_type(self, layer):
        return self._devices.get(layer.name, self.default_device_type)

    def is_device_type_set(self, layer):
        return layer.name in self._devices

    def reset_device_type(self, layer):
        self._devices.pop(layer.name, None)

    def can_run_on_DLA(self, layer):
        return False

    def reset(self):
        self.__init__()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None
