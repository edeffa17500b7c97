"""All names of TensorRT's that are recorded; `import *` of this is the recorded half of a module tensorrt."""

from .builder import (Builder, IAlgorithmSelector, IErrorRecorder, IInt8Calibrator, IInt8EntropyCalibrator,
                              IInt8EntropyCalibrator2, IInt8LegacyCalibrator, IInt8MinMaxCalibrator, ILogger, IProgressMonitor,
                              Logger, PluginRegistry as IPluginRegistry, get_plugin_registry, init_libnvinfer_plugins, nptype,
                              volume)
from .config import IBuilderConfig, ITimingCache
from .enums import *  # noqa: F403
from .enums import DataType
from .layer import ILayer, ITensor
from .layers.attention import IAttention, IAttentionBoundaryLayer, IAttentionInputLayer, IAttentionOutputLayer, IRotaryEmbeddingLayer
from .layers.control import (IConditionLayer, IIfConditional, IIfConditionalBoundaryLayer, IIfConditionalInputLayer,
                                     IIfConditionalOutputLayer, IIteratorLayer, ILoop, ILoopBoundaryLayer, ILoopOutputLayer,
                                     IRecurrenceLayer, ITripLimitLayer)
from .layers.pointwise import (IActivationLayer, IAssertionLayer, ICastLayer, IElementWiseLayer, IIdentityLayer,
                                       IParametricReLULayer, IScaleLayer, ISelectLayer, IUnaryLayer)
from .layers.reducing import (ICumulativeLayer, IEinsumLayer, IFullyConnectedLayer, ILRNLayer, IMatrixMultiplyLayer,
                                      INormalizationLayer, IReduceLayer, ISoftMaxLayer, ITopKLayer)
from .layers.shaping import (IConcatenationLayer, IConstantLayer, IGatherLayer, IReverseSequenceLayer, IScatterLayer,
                                     IShapeLayer, IShuffleLayer, ISliceLayer, ISqueezeLayer, IUnsqueezeLayer)
from .layers.special import (IDequantizeLayer, IFillLayer, IGridSampleLayer, INMSLayer, INonZeroLayer, IOneHotLayer,
                                     IQuantizeLayer, IResizeLayer)
from .layers.window import IConvolutionLayer, IDeconvolutionLayer, IPaddingLayer, IPoolingLayer
from .network import INetworkDefinition
from .parsed import OnnxParser, ParserError
from .profile import IOptimizationProfile
from .values import Dims, Dims2, Dims3, Dims4, DimsHW, Permutation, Weights

__version__ = "10.16.1"

float32, float16, bfloat16 = DataType.FLOAT, DataType.HALF, DataType.BF16
int8, int32, int64, uint8, bool = DataType.INT8, DataType.INT32, DataType.INT64, DataType.UINT8, DataType.BOOL
fp8, int4, fp4, e8m0 = DataType.FP8, DataType.INT4, DataType.FP4, DataType.E8M0

# What earlier versions called some things.
ResizeMode = InterpolationMode  # noqa: F405
SliceMode = SampleMode  # noqa: F405
MatrixMultiplyOperation = MatrixOperation  # noqa: F405

__all__ = [n for n in dir() if not n.startswith("_")]
__all__.append("__version__")
