"""TensorRT's Python API as far as scripts need it that make networks and configurations: what they call is written down,
and assay's engine is built from it. docs/guide/network-scripts.md lists what is served."""

from recorded.builder import (Builder, IAlgorithmSelector, IErrorRecorder, IInt8Calibrator, IInt8EntropyCalibrator,
                              IInt8EntropyCalibrator2, IInt8LegacyCalibrator, IInt8MinMaxCalibrator, ILogger, IProgressMonitor,
                              Logger, PluginRegistry as IPluginRegistry, get_plugin_registry, init_libnvinfer_plugins, nptype,
                              volume)
from recorded.config import IBuilderConfig, ITimingCache
from recorded.enums import *  # noqa: F403
from recorded.enums import DataType
from recorded.layer import ILayer, ITensor
from recorded.layers.attention import IAttention, IAttentionBoundaryLayer, IAttentionInputLayer, IAttentionOutputLayer, IRotaryEmbeddingLayer
from recorded.layers.control import (IConditionLayer, IIfConditional, IIfConditionalBoundaryLayer, IIfConditionalInputLayer,
                                     IIfConditionalOutputLayer, IIteratorLayer, ILoop, ILoopBoundaryLayer, ILoopOutputLayer,
                                     IRecurrenceLayer, ITripLimitLayer)
from recorded.layers.pointwise import (IActivationLayer, IAssertionLayer, ICastLayer, IElementWiseLayer, IIdentityLayer,
                                       IParametricReLULayer, IScaleLayer, ISelectLayer, IUnaryLayer)
from recorded.layers.reducing import (ICumulativeLayer, IEinsumLayer, IFullyConnectedLayer, ILRNLayer, IMatrixMultiplyLayer,
                                      INormalizationLayer, IReduceLayer, ISoftMaxLayer, ITopKLayer)
from recorded.layers.shaping import (IConcatenationLayer, IConstantLayer, IGatherLayer, IReverseSequenceLayer, IScatterLayer,
                                     IShapeLayer, IShuffleLayer, ISliceLayer, ISqueezeLayer, IUnsqueezeLayer)
from recorded.layers.special import (IDequantizeLayer, IFillLayer, IGridSampleLayer, INMSLayer, INonZeroLayer, IOneHotLayer,
                                     IQuantizeLayer, IResizeLayer)
from recorded.layers.window import IConvolutionLayer, IDeconvolutionLayer, IPaddingLayer, IPoolingLayer
from recorded.network import INetworkDefinition
from recorded.parsed import OnnxParser, ParserError
from recorded.profile import IOptimizationProfile
from recorded.refusal import refuser as _refuser
from recorded.values import Dims, Dims2, Dims3, Dims4, DimsHW, Permutation, Weights

__version__ = "10.16.1"

float32, float16, bfloat16 = DataType.FLOAT, DataType.HALF, DataType.BF16
int8, int32, int64, uint8, bool = DataType.INT8, DataType.INT32, DataType.INT64, DataType.UINT8, DataType.BOOL
fp8, int4, fp4, e8m0 = DataType.FP8, DataType.INT4, DataType.FP4, DataType.E8M0

# What earlier versions called some things.
ResizeMode = InterpolationMode  # noqa: F405
SliceMode = SampleMode  # noqa: F405
MatrixMultiplyOperation = MatrixOperation  # noqa: F405

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
