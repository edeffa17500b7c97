"""TensorRT's types."""

from polygraphy.datatype.datatype import DataType, Table, register_dtype_exporter, register_dtype_importer
from polygraphy.mod.trt_importer import lazy_import_trt

trt = lazy_import_trt()
_NAMES = {"FLOAT8E4M3FN": "fp8", "FLOAT4": "fp4", "FLOAT8E8M0": "e8m0"}
_SAME = ("FLOAT32", "FLOAT16", "INT32", "INT8", "INT64", "UINT8", "BOOL", "BFLOAT16", "INT4")


def _types():
    names = {**{name: name.lower() for name in _SAME}, **_NAMES}
    found = {getattr(trt, theirs, None): DataType.__members__[ours] for ours, theirs in names.items()}
    found.pop(None, None)
    return found


_table = Table(trt, _types)


@register_dtype_importer("tensorrt")
def from_tensorrt(tensorrt_type):
    if isinstance(tensorrt_type, (str, type)) or not _table.is_there() or not isinstance(tensorrt_type, trt.DataType):
        return None
    return _table.importer(tensorrt_type)


@register_dtype_exporter("tensorrt")
def from_datatype(self):
    return _table.exporter(self)
