"""assay's stand-in for TensorRT's Python module: scripts that are written for it make networks, build engines and run them on the
CPU. Not NVIDIA's; docs/guide/python-compat.md says what is served."""

import sys as _sys

from recorded.refusal import refuser as _refuser
from recorded.surface import *  # noqa: F403
from recorded.surface import __version__

from ._builder import Builder, IBuilderConfig, ITimingCache, TimingCacheKey, TimingCacheValue
from ._building import IAlgorithm, IAlgorithmContext, IAlgorithmIOInfo, IAlgorithmVariant
from ._context import IExecutionContext
from ._engine import (EngineInspector, ICudaEngine, IRuntimeConfig, ISerializationConfig, OnnxParserRefitter, Refitter, Runtime)
from ._interfaces import (IAlgorithmSelector, IDebugListener, IErrorRecorder, IGpuAllocator, IGpuAsyncAllocator, InterfaceInfo,
                          IOutputAllocator, IProfiler, IProgressMonitor, IStreamReader, IStreamReaderV2, IStreamWriter,
                          IVersionedInterface, Profiler)
from ._memory import IHostMemory
from ._network import (IDistCollectiveLayer, IDynamicQuantizeLayer, IKVCacheUpdateLayer, IMoELayer, INetworkDefinition,
                       IRaggedSoftMaxLayer, IRNNv2Layer)
from ._parser import OnnxParser, ParserError
from ._plugin_types import *  # noqa: F403
from ._registry import IPluginRegistry, get_plugin_registry

__assay__ = True


def get_nv_onnx_parser_version():
    return 101601


def get_builder_plugin_registry(capability):
    return get_plugin_registry()


_REASONS = {n: " Its format is no longer read by TensorRT either; make an ONNX model of it." for n in ("UffParser", "CaffeParser")}
__getattr__ = _refuser("tensorrt", _REASONS)

from . import tensorrt  # noqa: E402


class _Module(type(_sys)):
    def __repr__(self):
        return f"<module 'tensorrt' of assay (a stand-in on the CPU) from {self.__file__!r}>"


_sys.modules[__name__].__class__ = _Module
