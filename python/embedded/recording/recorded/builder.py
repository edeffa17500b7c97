"""Logger, Builder, profiles and what hangs on a configuration."""

import sys

from . import dtypes
from .config import IBuilderConfig, ITimingCache
from .enums import CalibrationAlgoType, Severity
from .errors import NotServedError, RecordingError
from .layer import Served
from .network import INetworkDefinition
from .profile import IOptimizationProfile

_AFTERWARDS = " A network script makes the network and a config script the configuration; the engine is built and run by assay afterwards."


class ILogger:
    """To derive from: log(severity, msg) gets what is said."""
    Severity = Severity
    INTERNAL_ERROR, ERROR, WARNING, INFO, VERBOSE = Severity

    def __init__(self):
        pass

    def log(self, severity, msg):
        raise NotImplementedError(f"{type(self).__name__} must define log(self, severity, msg).")


class Logger(ILogger):
    """Writes to standard error what is at least as severe as `min_severity`."""

    def __init__(self, min_severity=Severity.WARNING):
        ILogger.__init__(self)
        self.min_severity = min_severity

    def log(self, severity, msg):
        if int(severity) <= int(self.min_severity):
            letter = {"INTERNAL_ERROR": "F", "VERBOSE": "V"}.get(severity.name, severity.name[0])
            print(f"[TRT] [{letter}] {msg}", file=sys.stderr)


class Builder(Served):
    """Makes networks, configurations and profiles."""

    def __init__(self, logger=None):
        self._logger, self._threads, self._error_recorder = logger, 1, None

    logger = property(lambda self: self._logger)
    max_threads = property(lambda self: self._threads, lambda self, v: setattr(self, "_threads", int(v)))
    error_recorder = property(lambda self: self._error_recorder, lambda self, v: setattr(self, "_error_recorder", v))
    max_batch_size = property(lambda self: 1, lambda self, v: None)
    max_DLA_batch_size = property(lambda self: 0)
    num_DLA_cores = property(lambda self: 0)
    platform_has_tf32 = property(lambda self: False)
    platform_has_fast_fp16 = property(lambda self: True)
    platform_has_fast_int8 = property(lambda self: True)

    def create_network(self, flags=0):
        return INetworkDefinition(self, flags)

    def create_builder_config(self):
        return IBuilderConfig()

    def create_optimization_profile(self):
        return IOptimizationProfile()

    def get_plugin_registry(self):
        return get_plugin_registry()

    def is_network_supported(self, network, config):
        return True

    def reset(self):
        return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotServedError(f"tensorrt.Builder.{name} is not served by assay in a script." + _AFTERWARDS)


class IInt8Calibrator:
    """To derive from: get_batch_size, get_batch, read_calibration_cache, write_calibration_cache."""
    _ALGORITHM = CalibrationAlgoType.LEGACY_CALIBRATION

    def __init__(self):
        pass

    def get_algorithm(self):
        return self._ALGORITHM

    def get_batch_size(self):
        return 1

    def get_batch(self, names):
        return None

    def read_calibration_cache(self):
        return None

    def write_calibration_cache(self, cache):
        return None


def _calibrator(name, algorithm):
    return type(name, (IInt8Calibrator,), {"_ALGORITHM": CalibrationAlgoType[algorithm], "__module__": "tensorrt",
                                           "__doc__": f"A calibrator by {algorithm}."})


IInt8LegacyCalibrator = _calibrator("IInt8LegacyCalibrator", "LEGACY_CALIBRATION")
IInt8EntropyCalibrator = _calibrator("IInt8EntropyCalibrator", "ENTROPY_CALIBRATION")
IInt8EntropyCalibrator2 = _calibrator("IInt8EntropyCalibrator2", "ENTROPY_CALIBRATION_2")
IInt8MinMaxCalibrator = _calibrator("IInt8MinMaxCalibrator", "MINMAX_CALIBRATION")


class IAlgorithmSelector:
    """To derive from: select_algorithms, report_algorithms."""

    def __init__(self):
        pass


class IProgressMonitor:
    """To derive from: phase_start, step_complete, phase_finish."""

    def __init__(self):
        pass


class IErrorRecorder:
    """To derive from: num_errors, get_error_code, get_error_desc, has_overflowed, clear, report_error."""

    def __init__(self):
        pass


class PluginRegistry(Served):
    """A registry without plugins, which TensorRT's devices run."""
    plugin_creator_list = property(lambda self: [])
    all_creators = property(lambda self: [])
    all_creators_recursive = property(lambda self: [])

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotServedError(
            f"tensorrt.IPluginRegistry.{name} is not served by assay: plugins of TensorRT run on its devices only. "
            "`assay plugin` replaces parts of a model by nodes of your own.")


_REGISTRY = PluginRegistry()


def get_plugin_registry():
    """A registry without plugins."""
    return _REGISTRY


def init_libnvinfer_plugins(logger=None, namespace=""):
    """There are none to be registered."""
    return True


def volume(shape):
    """The product of the extents; tensorrt.volume."""
    result = 1
    for d in shape:
        result *= d
    return result if len(shape) else 1


nptype = dtypes.nptype
__all__ = [
    "ILogger", "Logger", "Builder", "IInt8Calibrator", "IInt8LegacyCalibrator", "IInt8EntropyCalibrator",
    "IInt8EntropyCalibrator2", "IInt8MinMaxCalibrator", "IAlgorithmSelector", "IProgressMonitor", "IErrorRecorder",
    "get_plugin_registry", "init_libnvinfer_plugins", "volume", "nptype", "IBuilderConfig", "ITimingCache",
    "IOptimizationProfile", "RecordingError"
]
