"""NumPy's types."""

from polygraphy import mod
from polygraphy.datatype.datatype import DataType, Table, register_dtype_exporter, register_dtype_importer

np = mod.lazy_import("numpy")


def _types():
    same = ("float64", "float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
    return {**{np.dtype(name): DataType.__members__[name.upper()] for name in same}, np.dtype(np.str_): DataType.STRING}


_table = Table(np, _types)


@register_dtype_importer("numpy")
def from_numpy(numpy_type):
    if isinstance(numpy_type, (int, str)) and not isinstance(numpy_type, type):
        if isinstance(numpy_type, int) or numpy_type.startswith("tensor("):
            return None  # a number or name of another package
    if not _table.is_there():
        return None
    try:
        return _table.importer(np.dtype(numpy_type))
    except TypeError:
        return None


@register_dtype_exporter("numpy")
def from_datatype(self):
    return _table.exporter(self)
