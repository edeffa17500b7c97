"""ONNX Runtime's types, as texts."""

from polygraphy.datatype.datatype import DataType, Table, register_dtype_exporter, register_dtype_importer


def _types():
    names = {"float64": "double", "float32": "float"}
    return {f"tensor({names.get(entry.name, entry.name)})": entry for name, entry in DataType.__members__.items()
            if name not in ("FLOAT4", "FLOAT8E8M0")}


_table = Table(None, _types)


@register_dtype_importer("onnxruntime")
def from_onnxrt(onnxrt_type):
    return _table.importer(onnxrt_type)


@register_dtype_exporter("onnxruntime")
def from_datatype(self):
    return _table.exporter(self)
