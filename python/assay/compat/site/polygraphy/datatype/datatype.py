"""Data types under one name, and what other packages call them."""

import enum
import functools

from polygraphy.exception import DataTypeConversionException
from polygraphy.logger import G_LOGGER, LogMode


class _DataTypeKind(enum.Enum):
    FLOATING_POINT = 0
    INTEGRAL = 1
    _OTHER = 3


class DataTypeEntry:
    """A data type; `itemsize` in bytes. Its method of a package's name gives that package's type."""

    def __init__(self, name, itemsize, type: _DataTypeKind):
        self.name, self.itemsize, self._type = name, itemsize, type

    @property
    def is_floating(self):
        return self._type is _DataTypeKind.FLOATING_POINT

    @property
    def is_integral(self):
        return self._type is _DataTypeKind.INTEGRAL

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"DataType.{self.name.upper()}"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _named, (self.name.upper(),)


def _named(name):
    return DataType.__members__[name]


_FLOATING = {"FLOAT64": 8, "FLOAT32": 4, "FLOAT16": 2, "FLOAT4": 0.5}
_INTEGRAL = {"INT16": 2, "INT32": 4, "INT64": 8, "INT8": 1, "INT4": 0.5, "UINT16": 2, "UINT32": 4, "UINT64": 8, "UINT8": 1}
_OTHER = {"BOOL": 1, "STRING": 0}
_NARROW = {"BFLOAT16": 2, "FLOAT8E4M3FN": 1, "FLOAT8E4M3FNUZ": 1, "FLOAT8E5M2": 1, "FLOAT8E5M2FNUZ": 1, "FLOAT8E8M0": 1}


def _entries(sizes, kind):
    return {name: DataTypeEntry(name.lower(), size, kind) for name, size in sizes.items()}


class DataType:
    """All data types: DataType.FLOAT32 and so on; by name in `__members__`."""

    _IMPORTER_FUNCS = {}
    _EXPORTER_FUNCS = {}

    __members__ = {
        **_entries(_FLOATING, _DataTypeKind.FLOATING_POINT), **_entries(_INTEGRAL, _DataTypeKind.INTEGRAL),
        **_entries(_OTHER, _DataTypeKind._OTHER), **_entries(_NARROW, _DataTypeKind.FLOATING_POINT),
    }

    @staticmethod
    def from_dtype(dtype, source_module=None):
        """The data type that another package's type is; `source_module` says whose ("numpy", "onnx", "onnxruntime", "tensorrt",
        "torch"), otherwise all are asked. What nobody knows is given back as it is, with a warning."""
        if isinstance(dtype, DataTypeEntry):
            return dtype
        if dtype is None:
            G_LOGGER.critical(f"Could not convert: {dtype} to a Polygraphy data type")
        known = DataType._IMPORTER_FUNCS
        if source_module is not None and source_module not in known:
            G_LOGGER.critical(f"Could not find source module: {source_module} in known importers. They are: {list(known)}")
        for name in known if source_module is None else (source_module,):
            found = known[name](dtype)
            if found is not None:
                return found
        text = f"{dtype} is no data type that Polygraphy has; it is left as it is."
        G_LOGGER.warning(text, mode=LogMode.ONCE)
        G_LOGGER.internal_error(text)
        return dtype

    @staticmethod
    def to_dtype(dtype, target_module):
        """What another package calls a data type."""
        if not isinstance(dtype, DataTypeEntry):
            G_LOGGER.internal_error(f"{dtype} is no DataType")
            return dtype
        known = DataType._EXPORTER_FUNCS
        if target_module not in known:
            G_LOGGER.critical(f"Could not find target module: {target_module} in known exporters. They are: {list(known)}")
        return known[target_module](dtype)


for _name, _entry in DataType.__members__.items():
    setattr(DataType, _name, _entry)


def register_dtype_importer(source_module):
    """A decorator: the function gives the DataType of a package's type, or None."""

    def register(func):
        DataType._IMPORTER_FUNCS[source_module] = func
        return func

    return register


def register_dtype_exporter(target_module):
    """A decorator: the function gives a package's type for a DataType, or None. It becomes a method of data types."""

    def register(func):
        @functools.wraps(func)
        def exported(dtype):
            found = func(dtype)
            if found is None:
                G_LOGGER.critical(f"Could not convert Polygraphy data type: {dtype} to a corresponding {target_module} data type. ",
                                  ExceptionType=DataTypeConversionException)
            return found

        exported.__name__ = target_module
        setattr(DataTypeEntry, target_module, exported)
        DataType._EXPORTER_FUNCS[target_module] = exported
        return exported

    return register


class Table:
    """Names in both directions; made when the other package is first asked for."""

    def __init__(self, package, make):
        self._package, self._make, self._there, self._back = package, make, None, None

    def _fill(self):
        if self._there is None:
            self._there = self._make()
            self._back = {ours: theirs for theirs, ours in self._there.items()}

    def is_there(self):
        return self._there is not None or self._package is None or (self._package.is_installed() and self._package.is_importable())

    def importer(self, theirs):
        if not self.is_there():
            return None
        self._fill()
        try:
            return self._there.get(theirs)
        except TypeError:  # nothing that could be a key
            return None

    def exporter(self, ours):
        self._fill()
        return self._back.get(ours)
