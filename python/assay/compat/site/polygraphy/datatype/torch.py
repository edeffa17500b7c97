"""PyTorch's types."""

from polygraphy import mod
from polygraphy.datatype.datatype import DataType, Table, register_dtype_exporter, register_dtype_importer

torch = mod.lazy_import("torch>=1.13.0")
_NAMES = ("float64", "float32", "float16", "int16", "int32", "int64", "int8", "uint8", "bool", "bfloat16")
_table = Table(torch, lambda: {getattr(torch, name): DataType.__members__[name.upper()] for name in _NAMES})


@register_dtype_importer("torch")
def from_torch(torch_type):
    if type(torch_type).__module__.split(".")[0] != "torch":  # nothing of PyTorch, which need not be loaded for it
        return None
    return _table.importer(torch_type)


@register_dtype_exporter("torch")
def from_datatype(self):
    return _table.exporter(self)
