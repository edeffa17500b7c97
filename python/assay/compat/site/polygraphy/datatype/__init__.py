from polygraphy.datatype.datatype import DataType, DataTypeEntry, register_dtype_exporter, register_dtype_importer  # noqa: F401
from polygraphy.datatype.numpy import from_numpy  # noqa: F401
from polygraphy.datatype.onnx import from_onnx  # noqa: F401
from polygraphy.datatype.onnxrt import from_onnxrt  # noqa: F401
from polygraphy.datatype.tensorrt import from_tensorrt  # noqa: F401
from polygraphy.datatype.torch import from_torch  # noqa: F401
