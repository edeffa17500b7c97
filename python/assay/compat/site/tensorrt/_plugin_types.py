"""What plugins in Python are made of and get: fields, expressions of extents, descriptions of tensors, classes to derive from."""

import numpy as np
from recorded.enums import DataType, DimensionOperation, PluginFieldType, TensorFormat
from recorded.layer import ILayer, LayerType
from recorded.values import Dims

from ._interfaces import IVersionedInterface

# ---- fields


class PluginField:
    """A named array of a plugin's settings."""

    def __init__(self, name="", data=None, type=PluginFieldType.UNKNOWN):
        self.name, self.type = name, type
        self.data = np.frombuffer(data, np.int8) if isinstance(data, (bytes, bytearray)) else data

    @property
    def size(self):
        return 0 if self.data is None else int(np.size(self.data))

    def __repr__(self):
        return f"<tensorrt.PluginField {self.name!r}: {self.size} x {self.type}>"


class PluginFieldCollection(list):
    """A list of fields."""


PluginFieldCollection_ = PluginFieldCollection

# ---- extents


class IDimensionExpr:
    """An extent: a number, or one that is not known yet."""

    def __init__(self, value=None, size_tensor=None):
        self._value, self._size_tensor = value, size_tensor  # of a size tensor: (output, optimum, upper bound)

    def is_constant(self):
        return self._value is not None

    def get_constant_value(self):
        return self._value if self._value is not None else -1

    def is_size_tensor(self):
        return self._size_tensor is not None


def _expression(value):
    return value if isinstance(value, IDimensionExpr) else IDimensionExpr(None if int(value) < 0 else int(value))


class DimsExprs:
    """A shape of expressions."""

    def __init__(self, dims):
        self._list = [IDimensionExpr() for _ in range(dims)] if isinstance(dims, int) else [_expression(d) for d in dims]

    def __len__(self):
        return len(self._list)

    def __getitem__(self, index):
        return self._list[index]

    def __setitem__(self, index, value):
        self._list[index] = _expression(value)

    def __iter__(self):
        return iter(self._list)


_OPERATIONS = {
    DimensionOperation.SUM: lambda a, b: a + b, DimensionOperation.PROD: lambda a, b: a * b, DimensionOperation.MAX: max,
    DimensionOperation.MIN: min, DimensionOperation.SUB: lambda a, b: a - b,
    DimensionOperation.EQUAL: lambda a, b: int(a == b), DimensionOperation.LESS: lambda a, b: int(a < b),
    DimensionOperation.FLOOR_DIV: lambda a, b: a // b, DimensionOperation.CEIL_DIV: lambda a, b: -(-a // b)}


class IExprBuilder:
    """Makes expressions."""

    def constant(self, value):
        return IDimensionExpr(int(value))

    def operation(self, op, first, second):
        first, second = _expression(first), _expression(second)
        if not (first.is_constant() and second.is_constant()):
            return IDimensionExpr()
        return IDimensionExpr(_OPERATIONS[op](first._value, second._value))

    def declare_size_tensor(self, output_index, opt, upper):
        return IDimensionExpr(None, (int(output_index), _expression(opt), _expression(upper)))


# ---- tensors


class PluginTensorDesc:
    """An input or output of a run."""

    def __init__(self, dims=(), type=DataType.FLOAT):
        self.dims, self.type, self.format, self.scale = Dims(dims), type, TensorFormat.LINEAR, 1.0


class DynamicPluginTensorDesc:
    """One with a range of shapes."""

    def __init__(self, dims=(), type=DataType.FLOAT, ranges=None):
        low, best, high = ranges or (dims, dims, dims)
        self.desc, self.min, self.opt, self.max = PluginTensorDesc(dims, type), Dims(low), Dims(best), Dims(high)


# ---- classes to derive from


class IPluginV2(IVersionedInterface):
    num_outputs, plugin_namespace, plugin_type, plugin_version = 1, "", "", "1"
    tensorrt_version = 101601

    def __init__(self):
        pass

    def initialize(self):
        return 0

    def terminate(self):
        return None

    def destroy(self):
        return None

    def get_workspace_size(self, *_):
        return 0

    def serialize(self):
        return b""

    @property
    def serialization_size(self):
        return len(self.serialize())


class IPluginV2Ext(IPluginV2):
    """Can be named; the library runs plugins that derive from IPluginV2DynamicExt or IPluginV3."""


class IPluginV2DynamicExtBase(IPluginV2):
    FORMAT_COMBINATION_LIMIT = 100


class IPluginV2DynamicExt(IPluginV2DynamicExtBase):
    """get_output_dimensions, get_output_datatype, supports_format_combination, configure_plugin, enqueue, clone."""

    def configure_plugin(self, pos, in_out):
        return None

    def get_serialization_size(self):
        return len(self.serialize())


class IPluginCapability(IVersionedInterface):
    pass


class IPluginResource(IVersionedInterface):
    def __init__(self):
        pass


class IPluginResourceContext:
    gpu_allocator = error_recorder = None


class IPluginV3(IVersionedInterface):
    """get_capability_interface and clone."""

    def __init__(self):
        pass

    def destroy(self):
        return None


class IPluginV3OneCore(IPluginCapability):
    plugin_name, plugin_version, plugin_namespace = "", "1", ""

    def __init__(self):
        pass


class IPluginV3OneBuild(IPluginCapability):
    DEFAULT_FORMAT_COMBINATION_LIMIT = 100
    format_combination_limit, metadata_string, timing_cache_id, num_outputs = 100, None, None, 1

    def __init__(self):
        pass

    def configure_plugin(self, inp, out):
        return None

    def get_valid_tactics(self):
        return []

    def get_workspace_size(self, *_):
        return 0


class IPluginV3OneBuildV2(IPluginV3OneBuild):
    def get_aliased_input(self, output_index):
        return -1


class IPluginV3OneRuntime(IPluginCapability):
    def __init__(self):
        pass

    def on_shape_change(self, inp, out):
        return None

    def set_tactic(self, tactic):
        return None

    def get_fields_to_serialize(self):
        return PluginFieldCollection([])


class IPluginCreatorInterface(IVersionedInterface):
    name, plugin_namespace, plugin_version = "", "", "1"
    field_names = PluginFieldCollection([])

    def __init__(self):
        pass


class IPluginCreator(IPluginCreatorInterface):
    """create_plugin(name, field_collection), deserialize_plugin(name, data)."""


class IPluginCreatorV3One(IPluginCreatorInterface):
    """create_plugin(name, field_collection, phase)."""


class IPluginCreatorV3Quick(IPluginCreatorInterface):
    """Can be named; quick plugins are not run."""


# ---- layers


class PluginLayer(ILayer):
    """A plugin in a network; `_runs` is _plugins.Plugin."""
    _TYPE = LayerType.PLUGIN_V2

    def __init__(self, network, inputs, runs):
        self._runs = runs
        ILayer.__init__(self, network, inputs)

    plugin = property(lambda self: self._runs.plugin)

    def _count_outputs(self):
        return self._runs.num_outputs

    def _infer(self):
        return self._runs.infer(self._inputs)

    def _emit(self, w, inputs):
        made = w.op("PythonPlugin", inputs, outputs=len(self._outputs), domain="assay.plugin")
        return [made] if isinstance(made, str) else made


class IPluginV2Layer(PluginLayer):
    _TYPE = LayerType.PLUGIN_V2


class IPluginV3Layer(PluginLayer):
    _TYPE = LayerType.PLUGIN_V3


__all__ = [n for n in dir() if n.startswith(("IPlugin", "PluginF", "PluginT", "DimsE", "IDim", "IExpr", "Dynamic"))]
