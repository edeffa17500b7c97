"""ONNX's types, the numbers of TensorProto.DataType."""

from polygraphy import mod
from polygraphy.datatype.datatype import DataType, Table, register_dtype_exporter, register_dtype_importer

onnx = mod.lazy_import("onnx")


def _types():
    there = dict(onnx.TensorProto.DataType.items())
    names = {"FLOAT64": "DOUBLE", "FLOAT32": "FLOAT"}
    ours = {names.get(name, name): entry for name, entry in DataType.__members__.items() if name not in ("FLOAT4", "FLOAT8E8M0")}
    return {there[name]: entry for name, entry in ours.items() if name in there}


_table = Table(onnx, _types)


@register_dtype_importer("onnx")
def from_onnx(onnx_type):
    return _table.importer(onnx_type) if type(onnx_type) is int else None


@register_dtype_exporter("onnx")
def from_datatype(self):
    return _table.exporter(self)
