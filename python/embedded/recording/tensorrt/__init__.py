"""TensorRT's Python API as far as scripts need it that make networks and configurations: what they call is written down,
and assay's engine is built from it. docs/guide/network-scripts.md lists what is served."""

from recorded.refusal import refuser as _refuser
from recorded.surface import *  # noqa: F403

_AFTERWARDS = " A script makes the network or the configuration; assay builds the engine and runs it."
_PLUGINS = " Plugins of TensorRT run on its devices only; `assay plugin` replaces parts of a model by nodes of your own."
_REASONS = {
    n: _AFTERWARDS
    for n in ("Runtime", "Refitter", "OnnxParserRefitter", "ICudaEngine", "IExecutionContext", "EngineInspector", "IHostMemory",
              "IOutputAllocator", "IGpuAllocator", "IProfiler", "Profiler", "IDebugListener", "IStreamReader", "IStreamReaderV2",
              "IStreamWriter", "IRuntimeConfig", "ISerializationConfig")
}
_REASONS.update({
    n: _PLUGINS
    for n in ("IPluginV2", "IPluginV2Ext", "IPluginV2DynamicExt", "IPluginV3", "IPluginV3OneCore", "IPluginV3OneBuild",
              "IPluginV3OneRuntime", "IPluginCreator", "IPluginCreatorV3One", "PluginField", "PluginFieldCollection",
              "PluginFieldType", "PluginTensorDesc", "plugin", "get_builder_plugin_registry", "IExprBuilder", "DimsExprs",
              "IPluginV2Layer", "IPluginV3Layer")
})
_REASONS.update(
    {n: " Its format is no longer read by TensorRT either; make an ONNX model of it."
     for n in ("UffParser", "CaffeParser")})

__getattr__ = _refuser("tensorrt", _REASONS)
