"""Builder, its configuration and its timing cache."""

import recorded.builder
import recorded.config
from recorded.enums import BuilderFlag, ErrorCodeTRT, Severity
from recorded.errors import NotServedError
from recorded.layer import Served

from . import _building
from ._engine import ICudaEngine
from ._memory import IHostMemory
from ._reports import report, require_logger, told


class TimingCacheKey:
    @staticmethod
    def parse(text):
        raise NotServedError("tensorrt.TimingCacheKey.parse: assay's timing cache is not keyed by hashes; `assay plan timings "
                             "FILE` shows what is in it.")


class TimingCacheValue:
    def __init__(self, tacticHash=0, timingMSec=0.0):
        self.tacticHash, self.timingMSec = tacticHash, timingMSec


class ITimingCache(Served):
    """Measured times, from build to build."""

    def __init__(self, data=b""):
        from assay._engine import TimingCache

        self._native = TimingCache()._native
        if len(data):
            self._native.read(bytes(data))

    def serialize(self):
        return IHostMemory(self._native.to_bytes() if len(self._native) or self._native.foreign_size else b"")

    def combine(self, input_cache, ignore_mismatch):
        self._native.merge(input_cache._native)
        return True

    def reset(self):
        from assay._engine import TimingCache

        self._native = TimingCache()._native
        return True

    def queryKeys(self):
        return []

    def query(self, key):
        return TimingCacheValue()

    def update(self, key, value):
        raise NotServedError("tensorrt.ITimingCache.update: times of assay's cache are measured, and cannot be written.")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


class IBuilderConfig(recorded.config.IBuilderConfig):
    """A configuration that a builder follows."""

    def __init__(self, logger=None):
        super().__init__()
        self._logger = logger

    def create_timing_cache(self, serialized_timing_cache):
        return told(self, None)(lambda: ITimingCache(serialized_timing_cache))

    def set_timing_cache(self, cache, ignore_mismatch=False):
        self._cache = cache
        return True

    def _cache_for_build(self):
        if self._cache is None:
            self._cache = ITimingCache()
        return self._cache

    def reset(self):
        self.__init__(self._logger)


class Builder(recorded.builder.Builder):
    """Makes networks, configurations and engines."""

    def __init__(self, logger):
        super().__init__(require_logger(logger))
        self._allocator = None

    gpu_allocator = property(None, lambda self, v: setattr(self, "_allocator", v))

    def create_network(self, flags=0):
        from ._network import INetworkDefinition

        return INetworkDefinition(self, flags)

    def create_builder_config(self):
        return IBuilderConfig(self._logger)

    def get_plugin_registry(self):
        from ._registry import get_plugin_registry

        return get_plugin_registry()

    def is_network_supported(self, network, config):
        return self._made(network, config) is not None

    def build_serialized_network(self, network, config):
        """The plan as IHostMemory; None, and the logger says why, where there can be none."""
        made = self._made(network, config)
        return None if made is None else told(self, None)(lambda: IHostMemory(made.plan()))

    def build_engine_with_config(self, network, config):
        made = self._made(network, config)
        return None if made is None else ICudaEngine(made, self._logger)

    build_engine = build_engine_with_config

    def build_serialized_network_to_stream(self, network, config, writer):
        plan = self.build_serialized_network(network, config)
        if plan is None:
            return False
        view, at = memoryview(plan), 0
        while at < len(view):
            taken = writer.write(bytes(view[at:at + (1 << 24)]))
            if not taken or taken < 0:
                report(self, f"the stream writer took {taken} of {len(view) - at} bytes", ErrorCodeTRT.FAILED_EXECUTION)
                return False
            at += taken
        return True

    # What earlier versions set on the builder.
    max_workspace_size = property(lambda self: self._old("_workspace", 1 << 30), lambda self, v: self._set_old("_workspace", v))
    fp16_mode = property(lambda self: self._old("_fp16", False), lambda self, v: self._set_old("_fp16", v))
    int8_mode = property(lambda self: self._old("_int8", False), lambda self, v: self._set_old("_int8", v))
    int8_calibrator = property(lambda self: self._old("_calibrator", None), lambda self, v: self._set_old("_calibrator", v))
    strict_type_constraints = property(lambda self: self._old("_strict", False), lambda self, v: self._set_old("_strict", v))

    def _old(self, name, rest):
        return self.__dict__.get(name, rest)

    def _set_old(self, name, value):
        self.__dict__[name] = value

    def build_cuda_engine(self, network):
        config = self.create_builder_config()
        config.max_workspace_size = self.max_workspace_size
        for on, flag in ((self.fp16_mode, BuilderFlag.FP16), (self.int8_mode, BuilderFlag.INT8),
                         (self.strict_type_constraints, BuilderFlag.STRICT_TYPES)):
            if on:
                config.set_flag(flag)
        config.int8_calibrator = self.int8_calibrator
        return self.build_engine(network, config)

    def _made(self, network, config):
        import assay
        from recorded.errors import RecordingError

        from ._plugins import build_parts

        if not isinstance(network, recorded.network.INetworkDefinition):
            raise TypeError(f"a tensorrt.INetworkDefinition is needed, not {network!r}")
        if not isinstance(config, recorded.config.IBuilderConfig):
            raise TypeError(f"a tensorrt.IBuilderConfig is needed, not {config!r}")
        try:
            return build_parts(self, network, config)
        except assay.Cancelled as error:
            report(self, f"the build was ended: {error}", ErrorCodeTRT.INVALID_STATE)
        except (assay.Error, RecordingError) as error:
            report(self, error, ErrorCodeTRT.INVALID_CONFIG)
        return None

    def _build_native(self, data, folder, config, settings, progress):
        """The library's engine of a model's bytes."""
        import assay
        from assay._engine import default_runtime
        from assay._library import follow_level

        follow_level()
        model = assay.Model.from_bytes(data, name="the network", external_data=folder)
        built, summary, explanation, _ = default_runtime()._native.build(model._native, settings, progress)
        for severity, text in ((Severity.VERBOSE, summary), (Severity.VERBOSE, explanation)):
            if text and self._logger is not None and not _is_quiet(self._logger):
                self._logger.log(severity, text)
        return built


def _is_quiet(logger):
    """A Logger that would not print what is verbose."""
    level = getattr(logger, "min_severity", None)
    return level is not None and int(level) < int(Severity.VERBOSE)


__all__ = ["Builder", "IBuilderConfig", "ITimingCache", "TimingCacheKey", "TimingCacheValue", "_building"]
