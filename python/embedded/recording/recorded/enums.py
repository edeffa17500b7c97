"""TensorRT's enumerations, with the values of TensorRT 10. Members that only earlier versions had lie beyond 64, so that
a bit mask can hold both."""

import enum

from .errors import NotServedError


class _Meta(enum.EnumMeta):
    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotServedError(f"tensorrt.{cls.__name__}.{name} is not served by assay; tensorrt.{cls.__name__} has "
                             f"{', '.join(cls.__members__)}.")


class TrtEnum(enum.Enum, metaclass=_Meta):
    """Converts to int, as TensorRT's do; equal only to members of itself."""

    def __int__(self):
        return self.value

    __index__ = __int__


class NumberEnum(TrtEnum):
    """One that is also compared and combined as a number, as TensorRT's flags and severities are."""

    def __eq__(self, other):
        if isinstance(other, TrtEnum):
            return self is other
        return self.value == other if isinstance(other, int) else NotImplemented

    def __hash__(self):
        return hash(self.value)

    def __lt__(self, other):
        return self.value < int(other)

    def __le__(self, other):
        return self.value <= int(other)

    def __gt__(self, other):
        return self.value > int(other)

    def __ge__(self, other):
        return self.value >= int(other)

    def __or__(self, other):
        return self.value | int(other)

    def __and__(self, other):
        return self.value & int(other)

    def __xor__(self, other):
        return self.value ^ int(other)

    def __invert__(self):
        return ~self.value

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__


def _make(name, members):
    kind = NumberEnum if name in _NUMBERS else TrtEnum
    return kind(name, members.split() if isinstance(members, str) else members, start=0, module="tensorrt")


_NUMBERS = {"BuilderFlag", "EngineCapability", "ErrorCodeTRT", "HardwareCompatibilityLevel", "MemoryPoolType",
            "NetworkDefinitionCreationFlag", "OnnxParserFlag", "PreviewFeature", "QuantizationFlag", "SerializationFlag",
            "Severity", "TacticSource", "TempfileControlFlag", "TensorFormat"}


def _numbered(names, **more):
    members = {n: i for i, n in enumerate(names.split())}
    members.update(more)
    return members


APILanguage = _make("APILanguage", "CPP PYTHON")
ActivationType = _make("ActivationType", "RELU SIGMOID TANH LEAKY_RELU ELU SELU SOFTSIGN SOFTPLUS CLIP HARD_SIGMOID "
                       "SCALED_TANH THRESHOLDED_RELU GELU_ERF GELU_TANH")
AttentionNormalizationOp = _make("AttentionNormalizationOp", "NONE SOFTMAX")
AttentionIOForm = _make("AttentionIOForm", "PADDED_BHND PACKED_NHD")
BoundingBoxFormat = _make("BoundingBoxFormat", "CORNER_PAIRS CENTER_SIZES")
BuilderFlag = _make("BuilderFlag", _numbered(
    "FP16 INT8 DEBUG GPU_FALLBACK REFIT DISABLE_TIMING_CACHE TF32 SPARSE_WEIGHTS SAFETY_SCOPE OBEY_PRECISION_CONSTRAINTS "
    "PREFER_PRECISION_CONSTRAINTS DIRECT_IO REJECT_EMPTY_ALGORITHMS VERSION_COMPATIBLE EXCLUDE_LEAN_RUNTIME FP8 "
    "ERROR_ON_TIMING_CACHE_MISS BF16 DISABLE_COMPILATION_CACHE STRIP_PLAN REFIT_IDENTICAL WEIGHT_STREAMING INT4 "
    "REFIT_INDIVIDUAL STRICT_NANS MONITOR_MEMORY FP4 EDITABLE_TIMING_CACHE DISTRIBUTIVE_INDEPENDENCE",
    WEIGHTLESS=19, STRICT_TYPES=64, ENABLE_TACTIC_HEURISTIC=65))
CalibrationAlgoType = _make("CalibrationAlgoType",
                            "LEGACY_CALIBRATION ENTROPY_CALIBRATION ENTROPY_CALIBRATION_2 MINMAX_CALIBRATION")
CausalMaskKind = _make("CausalMaskKind", "NONE UPPER_LEFT LOWER_RIGHT")
CumulativeOperation = _make("CumulativeOperation", "SUM")
DeviceType = _make("DeviceType", "GPU DLA")
ElementWiseOperation = _make("ElementWiseOperation",
                             "SUM PROD MAX MIN SUB DIV POW FLOOR_DIV AND OR XOR EQUAL GREATER LESS")
EngineCapability = _make("EngineCapability", _numbered("STANDARD SAFETY DLA_STANDALONE", DEFAULT=0, SAFE_GPU=1, SAFE_DLA=2))
ErrorCode = _make("ErrorCode", "SUCCESS INTERNAL_ERROR MEM_ALLOC_FAILED MODEL_DESERIALIZE_FAILED INVALID_VALUE INVALID_GRAPH "
                  "INVALID_NODE UNSUPPORTED_GRAPH UNSUPPORTED_NODE UNSUPPORTED_NODE_ATTR UNSUPPORTED_NODE_INPUT "
                  "UNSUPPORTED_NODE_DATATYPE UNSUPPORTED_NODE_DYNAMIC UNSUPPORTED_NODE_SHAPE REFIT_FAILED")
FillOperation = _make("FillOperation", "LINSPACE RANDOM_UNIFORM RANDOM_NORMAL")
GatherMode = _make("GatherMode", "DEFAULT ELEMENT ND")
HardwareCompatibilityLevel = _make("HardwareCompatibilityLevel", "NONE AMPERE_PLUS SAME_COMPUTE_CAPABILITY")
InterpolationMode = _make("InterpolationMode", "NEAREST LINEAR CUBIC")
LayerType = _make("LayerType", _numbered(
    "CONVOLUTION CAST ACTIVATION POOLING LRN SCALE SOFTMAX DECONVOLUTION CONCATENATION ELEMENTWISE PLUGIN UNARY PADDING "
    "SHUFFLE REDUCE TOPK GATHER MATRIX_MULTIPLY RAGGED_SOFTMAX CONSTANT IDENTITY PLUGIN_V2 SLICE SHAPE PARAMETRIC_RELU "
    "RESIZE TRIP_LIMIT RECURRENCE ITERATOR LOOP_OUTPUT SELECT FILL QUANTIZE DEQUANTIZE CONDITION CONDITIONAL_INPUT "
    "CONDITIONAL_OUTPUT SCATTER EINSUM ASSERTION ONE_HOT NON_ZERO GRID_SAMPLE NMS REVERSE_SEQUENCE NORMALIZATION "
    "PLUGIN_V3 SQUEEZE UNSQUEEZE CUMULATIVE DYNAMIC_QUANTIZE ATTENTION_INPUT ATTENTION_OUTPUT ROTARY_EMBEDDING "
    "KV_CACHE_UPDATE MOE DIST_COLLECTIVE", FULLY_CONNECTED=64, RNN_V2=65))
LoopOutput = _make("LoopOutput", "LAST_VALUE CONCATENATE REVERSE")
MatrixOperation = _make("MatrixOperation", "NONE TRANSPOSE VECTOR")
MemoryPoolType = _make("MemoryPoolType",
                       "WORKSPACE DLA_MANAGED_SRAM DLA_LOCAL_DRAM DLA_GLOBAL_DRAM TACTIC_DRAM TACTIC_SHARED_MEMORY")
NetworkDefinitionCreationFlag = _make("NetworkDefinitionCreationFlag", _numbered(
    "EXPLICIT_BATCH STRONGLY_TYPED PREFER_JIT_PYTHON_PLUGINS PREFER_AOT_PYTHON_PLUGINS", EXPLICIT_PRECISION=64))
OnnxParserFlag = _make("OnnxParserFlag", "NATIVE_INSTANCENORM ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA "
                       "REPORT_CAPABILITY_DLA ENABLE_PLUGIN_OVERRIDE ADJUST_FOR_DLA")
PaddingMode = _make("PaddingMode",
                    "EXPLICIT_ROUND_DOWN EXPLICIT_ROUND_UP SAME_UPPER SAME_LOWER CAFFE_ROUND_DOWN CAFFE_ROUND_UP")
PoolingType = _make("PoolingType", "MAX AVERAGE MAX_AVERAGE_BLEND")
PreviewFeature = _make("PreviewFeature", _numbered(
    "PROFILE_SHARING_0806 ALIASED_PLUGIN_IO_10_03 RUNTIME_ACTIVATION_RESIZE_10_10 MULTIDEVICE_RUNTIME_10_16",
    FASTER_DYNAMIC_SHAPES_0805=64, DISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805=65))
ProfilingVerbosity = _make("ProfilingVerbosity", _numbered("LAYER_NAMES_ONLY NONE DETAILED", DEFAULT=0, VERBOSE=2))
QuantizationFlag = _make("QuantizationFlag", "CALIBRATE_BEFORE_FUSION")
ReduceOperation = _make("ReduceOperation", "SUM PROD MAX MIN AVG NONE")
ResizeCoordinateTransformation = _make("ResizeCoordinateTransformation", "ALIGN_CORNERS ASYMMETRIC HALF_PIXEL")
ResizeRoundMode = _make("ResizeRoundMode", "HALF_UP HALF_DOWN FLOOR CEIL")
ResizeSelector = _make("ResizeSelector", "FORMULA UPPER")
RuntimePlatform = _make("RuntimePlatform", "SAME_AS_BUILD WINDOWS_AMD64")
SampleMode = _make("SampleMode", _numbered("STRICT_BOUNDS WRAP CLAMP FILL REFLECT", DEFAULT=0))
ScaleMode = _make("ScaleMode", "UNIFORM CHANNEL ELEMENTWISE")
ScatterMode = _make("ScatterMode", "ELEMENT ND")
Severity = _make("Severity", "INTERNAL_ERROR ERROR WARNING INFO VERBOSE")
TacticSource = _make("TacticSource", "CUBLAS CUBLAS_LT CUDNN EDGE_MASK_CONVOLUTIONS JIT_CONVOLUTIONS")
TensorFormat = _make("TensorFormat",
                     "LINEAR CHW2 HWC8 CHW4 CHW16 CHW32 DHWC8 CDHW32 HWC DLA_LINEAR DLA_HWC4 HWC16 DHWC")
TensorLocation = _make("TensorLocation", "DEVICE HOST")
TilingOptimizationLevel = _make("TilingOptimizationLevel", "NONE FAST MODERATE FULL")
TopKOperation = _make("TopKOperation", "MAX MIN")
TripLimit = _make("TripLimit", "COUNT WHILE")
UnaryOperation = _make("UnaryOperation", "EXP LOG SQRT RECIP ABS NEG SIN COS TAN SINH COSH ASIN ACOS ATAN ASINH ACOSH ATANH "
                       "CEIL FLOOR ERF NOT SIGN ROUND ISINF ISNAN")
WeightsRole = _make("WeightsRole", "KERNEL BIAS SHIFT SCALE CONSTANT ANY")

# Of running engines, of plugins and of what networks here cannot have.
AllocatorFlag = _make("AllocatorFlag", "RESIZABLE")
CollectiveOperation = _make("CollectiveOperation", "ALL_REDUCE ALL_GATHER BROADCAST REDUCE REDUCE_SCATTER")
DimensionOperation = _make("DimensionOperation", "SUM PROD MAX MIN SUB EQUAL LESS FLOOR_DIV CEIL_DIV")
EngineStat = _make("EngineStat", "TOTAL_WEIGHTS_SIZE STRIPPED_WEIGHTS_SIZE")
ErrorCodeTRT = _make("ErrorCodeTRT", "SUCCESS UNSPECIFIED_ERROR INTERNAL_ERROR INVALID_ARGUMENT INVALID_CONFIG FAILED_ALLOCATION "
                     "FAILED_INITIALIZATION FAILED_EXECUTION FAILED_COMPUTATION INVALID_STATE UNSUPPORTED_STATE")
ExecutionContextAllocationStrategy = _make("ExecutionContextAllocationStrategy", "STATIC ON_PROFILE_CHANGE USER_MANAGED")
KVCacheMode = _make("KVCacheMode", "LINEAR")
LayerInformationFormat = _make("LayerInformationFormat", "ONELINE JSON")
MoEActType = _make("MoEActType", "NONE SILU")
PluginCapabilityType = _make("PluginCapabilityType", "CORE BUILD RUNTIME")
PluginCreatorVersion = _make("PluginCreatorVersion", _numbered("V1", V1_PYTHON=0x40))
PluginFieldType = _make("PluginFieldType",
                        "FLOAT16 FLOAT32 FLOAT64 INT8 INT16 INT32 CHAR DIMS UNKNOWN BF16 INT64 FP8 INT4 FP4")
QuickPluginCreationRequest = _make("QuickPluginCreationRequest", "UNKNOWN PREFER_JIT PREFER_AOT STRICT_JIT STRICT_AOT")
SeekPosition = _make("SeekPosition", "SET CUR END")
SerializationFlag = _make("SerializationFlag", "EXCLUDE_WEIGHTS EXCLUDE_LEAN_RUNTIME INCLUDE_REFIT")
TempfileControlFlag = _make("TempfileControlFlag", "ALLOW_IN_MEMORY_FILES ALLOW_TEMPORARY_FILES")
TensorIOMode = _make("TensorIOMode", "NONE INPUT OUTPUT")
TensorRTPhase = _make("TensorRTPhase", "BUILD RUNTIME")

_BITS = {"FLOAT": 32, "HALF": 16, "INT8": 8, "INT32": 32, "BOOL": 8, "UINT8": 8, "FP8": 8, "BF16": 16, "INT64": 64,
         "INT4": 4, "FP4": 4, "E8M0": 8}


class DataType(TrtEnum):
    """The type of an element."""
    FLOAT = 0
    HALF = 1
    INT8 = 2
    INT32 = 3
    BOOL = 4
    UINT8 = 5
    FP8 = 6
    BF16 = 7
    INT64 = 8
    INT4 = 9
    FP4 = 10
    E8M0 = 11

    @property
    def itemsize(self):
        """Bytes of an element; a fraction where two share one."""
        bits = _BITS[self.name]
        return bits // 8 if bits >= 8 else bits / 8
