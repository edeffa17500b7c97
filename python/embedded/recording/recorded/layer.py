"""ITensor, ILayer and the settings of layers."""

from . import dtypes, shapes
from .enums import DataType, LayerType, TensorFormat, TensorLocation
from .errors import NotServedError, RecordingError, calling_place
from .values import Dims, Permutation, Weights, as_dims, as_weights


class Served:
    """A class whose other names are refused by name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotServedError(f"tensorrt.{type(self).__name__}.{name} is not served by assay.")

    def __dir__(self):
        """What TensorRT has: callers walk it."""
        return [n for n in object.__dir__(self) if not n.startswith("_") or n.startswith("__")]

    def __setattr__(self, name, value):
        if not name.startswith("_") and not hasattr(type(self), name):
            raise NotServedError(f"tensorrt.{type(self).__name__}.{name} is not served by assay.")
        object.__setattr__(self, name, value)


class ITensor(Served):
    """A tensor of a network: an input, a constant or what a layer gives."""

    def __init__(self, network, name, layer=None, index=0, onnx_type=None, shape=None):
        self._network, self._name, self._layer, self._index = network, name, layer, index
        self._given_type, self._inferred = None, (onnx_type, shape)
        self._dim_names, self._formats, self._range = {}, None, None
        self._location = TensorLocation.DEVICE
        # Of a parsed model: the name in the file, the initializer, the ValueInfoProto.
        self._declared = self._initializer = self._info = None

    @property
    def name(self):
        return self._name

    @name.setter
    def name(self, value):
        self._name = str(value)

    def _infer(self):
        if self._layer is not None:
            self._network._infer(self._layer)
        return self._inferred

    @property
    def _natural_type(self):
        """ONNX's type of what is computed, before any that the script asks for."""
        return self._infer()[0]

    @property
    def _type(self):
        return self._given_type or self._natural_type

    @property
    def _onnx_type(self):
        """ONNX's type that layers read. A float that should be another float remains what it is: TensorRT may then round
        it, and need not; only network outputs and identity layers convert."""
        natural, given = self._natural_type, self._given_type
        if given is None or given == natural:
            return natural
        both = given in dtypes.FLOATS and natural in dtypes.FLOATS
        converts = not both or (self._layer is not None and self._layer._TYPE is LayerType.IDENTITY)
        return given if converts and self._declared is None else natural

    @property
    def _shape(self):
        return self._infer()[1]

    @property
    def _rank(self):
        if self._shape is None:
            raise RecordingError(f"The rank of tensor '{self.name}' is not known, because nothing tells the shape that "
                                 "its operator gives. Infer the model's shapes before the script reads it.")
        return len(self._shape)

    def _values(self):
        """Its elements as a flat list of ints where they are known, None for one that is not; None where nothing is
        known or there are many."""
        kind, shape = self._infer()
        size = shapes.volume(shape)
        if kind not in (dtypes.INT32, dtypes.INT64) or size is None or size > 64:
            return None
        if self._layer is None:
            return self._network._constant_values(self)
        known = self._layer._known_values  # once for each inference: what follows from what may branch and meet often
        if self._index not in known:
            found = self._layer._values(self._index)
            known[self._index] = found if found is None or len(found) == size else None
        return known[self._index]

    @property
    def shape(self):
        """tensorrt.Dims; open extents are -1. Throws RecordingError where the rank is not known."""
        self._rank
        return Dims(self._shape)

    @shape.setter
    def shape(self, value):
        if not self.is_network_input:
            raise RecordingError(f"The shape of tensor '{self.name}' cannot be set: it follows from its layer. Only that of "
                                 "a network input can.")
        if self._network._parsed is not None:
            self._network._parsed.is_rewired = True
        self._inferred = (self._inferred[0], tuple(as_dims(value)))
        self._dim_names = {i: n for i, n in self._dim_names.items() if i < len(self._inferred[1]) and self._inferred[1][i] < 0}
        self._network._changed(None)

    @property
    def dtype(self):
        """tensorrt.DataType; None where TensorRT has no such type (float64, int16, string ...) or it is not known."""
        return dtypes.from_onnx(self._type)

    @dtype.setter
    def dtype(self, value):
        if not isinstance(value, DataType):
            raise RecordingError(f"The dtype of tensor '{self.name}' must be a tensorrt.DataType, not {value!r}.")
        if self._network._is_strongly_typed and value != self.dtype:
            raise RecordingError(f"Tensor '{self.name}' of a strongly typed network is {self.dtype} and cannot become {value}: "
                                 "add a cast layer.")
        if self.is_network_input and self._declared is None:
            self._inferred = (dtypes.to_onnx(value), self._inferred[1])
        else:
            self._given_type = dtypes.to_onnx(value)
        self._network._changed(self._layer)

    @property
    def is_network_input(self):
        return self in self._network._inputs

    @property
    def is_network_output(self):
        return self in self._network._outputs

    @property
    def is_shape_tensor(self):
        """True for integers of at most one axis whose elements follow from shapes and constants, and for network inputs that
        layers take for shapes."""
        if self._type not in (dtypes.INT32, dtypes.INT64) or self._shape is None or len(self._shape) > 1:
            return False
        if self.is_network_input:
            from .shape_uses import is_used_as_shape
            return is_used_as_shape(self)
        return self._values() is not None

    @property
    def is_execution_tensor(self):
        return True

    @property
    def location(self):
        return self._location

    @location.setter
    def location(self, value):
        self._location = value

    @property
    def broadcast_across_batch(self):
        return False

    @property
    def allowed_formats(self):
        return self._formats if self._formats is not None else (1 << len(TensorFormat)) - 1

    @allowed_formats.setter
    def allowed_formats(self, value):
        self._formats = int(value)

    @property
    def dynamic_range(self):
        return self._range

    @dynamic_range.setter
    def dynamic_range(self, value):
        self._range = tuple(float(v) for v in value) if value is not None else None

    def set_dynamic_range(self, min, max):
        self._range = (float(min), float(max))
        return True

    def reset_dynamic_range(self):
        self._range = None

    def get_dimension_name(self, index):
        return self._dim_names.get(index, "")

    def set_dimension_name(self, index, name):
        """Extents of inputs with the same name are equal."""
        if not self.is_network_input:
            raise RecordingError(f"set_dimension_name: tensor '{self.name}' is no network input.")
        self._dim_names[shapes.axis_of(index, self._rank, "set_dimension_name's index")] = str(name)

    def __repr__(self):
        return f"<tensorrt.ITensor '{self.name}'>"


class Setting:
    """A property of a layer: checked when it is set; of a parsed layer it can be read where the node says it."""

    def __init__(self, default=None, kind=None):
        self.default, self.kind = default, kind

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, layer, owner=None):
        if layer is None:
            return self
        self._check_kind(layer)
        if layer._node is not None:
            return layer._parsed_setting(self.name)
        value = layer._settings.get(self.name, self.default)
        return Dims(value) if self.kind is Dims and value is not None else value

    def _check_kind(self, layer):
        if layer._node is None and getattr(layer._kind, self.name, None) is not self:
            raise RecordingError(f"Layer '{layer.name}' is a {layer._kind.__name__} and has no {self.name} of a "
                                 f"{type(layer).__name__}.")

    def __set__(self, layer, value):
        self._check_kind(layer)
        if layer._node is not None:
            raise RecordingError(
                f"{self.name} of the parsed layer '{layer.name}' cannot be set: the layer is the model's node "
                f"{layer._node.op_type}. Add a layer of your own, and give its output to those that used this one's.")
        layer._settings[self.name] = self.checked(layer, value)
        layer._network._changed(layer)

    def checked(self, layer, value):
        kind = self.kind
        what = f"{self.name} of layer '{layer.name}'"
        if value is None:
            return None
        if kind is Dims or kind is Permutation:
            return as_dims(value, what)
        if kind is Weights:
            return as_weights(value)
        if kind in (int, float, bool, str):
            try:
                return kind(value)
            except (TypeError, ValueError):
                raise RecordingError(f"{what} must be {kind.__name__}, not {value!r}.") from None
        if kind is not None and not isinstance(value, kind):
            raise RecordingError(f"{what} must be a tensorrt.{kind.__name__}, not {value!r}.")
        return value


class ILayer(Served):
    """A layer of a network. A class for each kind says what it computes: `_infer` gives types and shapes of the
    outputs, `_emit` writes it as ONNX nodes."""
    _TYPE = LayerType.IDENTITY
    _OUTPUTS = 1
    _node = None  # the ONNX node of a parsed layer
    _is_inferred = False

    def __init__(self, network, inputs, **settings):
        self._network, self._settings, self._place = network, {}, calling_place()
        self._inputs, self._given_name = list(inputs), None
        self._known_values = {}
        self._precision, self._output_types, self._metadata = None, {}, ""
        self._index, self._kind = len(network._layers), type(self)
        self._default_name = f"(Unnamed Layer* {self._index}) [{self._label()}]"
        network._layers.append(self)
        try:
            for i, tensor in enumerate(self._inputs):
                self._check_input(i, tensor)
            self._outputs = [self._new_output(i) for i in range(self._count_outputs())]
            for name, value in settings.items():
                setting = getattr(type(self), name)
                self._settings[name] = setting.checked(self, value)
        except RecordingError:
            network._layers.pop()
            raise

    def _label(self):
        return "".join(w.capitalize() for w in self._TYPE.name.split("_"))

    def _count_outputs(self):
        return self._OUTPUTS

    def _new_output(self, index):
        suffix = f"_{index}" if index else ""
        return ITensor(self._network, f"{self._default_name}_output{suffix}", self, index)

    def _check_input(self, index, tensor):
        if tensor is not None and not isinstance(tensor, ITensor):
            raise RecordingError(f"Input {index} of layer '{self.name}' must be a tensorrt.ITensor, not {tensor!r}."
                                 + (" Use layer.get_output(0)." if isinstance(tensor, ILayer) else ""))
        if tensor is not None and tensor._network is not self._network:
            raise RecordingError(f"Input {index} of layer '{self.name}' belongs to another network.")

    def _view(self):
        """The same layer as the class that walking a network gives, whose `type` is a LayerType; a script that wants
        more assigns `layer.__class__ = tensorrt.IConvolutionLayer`."""
        view = ILayer.__new__(ILayer)
        object.__setattr__(view, "__dict__", self.__dict__)
        return view

    def __eq__(self, other):
        return isinstance(other, ILayer) and other._network is self._network and other._index == self._index

    def __hash__(self):
        return hash((id(self._network), self._index))

    def __getattr__(self, name):
        kind = self.__dict__.get("_kind")
        if type(self) is ILayer and kind is not None and kind is not ILayer and hasattr(kind, name):
            raise NotServedError(f"tensorrt.ILayer has no {name}; this layer's is there after `layer.__class__ = tensorrt."
                                 f"{kind.__name__}`.")
        return Served.__getattr__(self, name)

    # What each kind of layer says.
    def _infer(self):
        return [(self._inputs[0]._onnx_type, self._inputs[0]._shape)]

    def _emit(self, w, inputs):
        raise NotImplementedError

    def _values(self, index):
        return None

    def _parsed_setting(self, name):
        from . import parsed_kinds
        return parsed_kinds.setting(self, name)

    # What TensorRT has.
    name = property(lambda self: self._given_name or self._default_name,
                    lambda self, value: setattr(self, "_given_name", str(value)))
    type = property(lambda self: self._kind._TYPE)
    num_inputs = property(lambda self: len(self._inputs))
    num_outputs = property(lambda self: len(self._outputs))

    @property
    def metadata(self):
        return self._metadata

    @metadata.setter
    def metadata(self, value):
        self._metadata = str(value)

    def get_input(self, index):
        """The tensor; None where it is left out or there is no such input."""
        return self._inputs[index] if 0 <= index < len(self._inputs) else None

    def get_output(self, index):
        """The tensor; None where there is no such output."""
        return self._outputs[index] if 0 <= index < len(self._outputs) else None

    def set_input(self, index, tensor):
        self._check_input(index, tensor)
        if self._node is not None:
            if not 0 <= index < len(self._inputs):
                raise RecordingError(
                    f"set_input: the parsed layer '{self.name}' has {len(self._inputs)} inputs, and no input {index}.")
            self._network._parsed.is_rewired = True
        while len(self._inputs) <= index:
            self._inputs.append(None)
        self._inputs[index] = tensor
        if tensor is not None and tensor._layer is not None and tensor._layer._index > self._index:
            self._network._has_back_edges = True
        self._network._changed(self)

    @property
    def precision(self):
        """The type that it should compute in; that of its first output where the script sets none."""
        if self._precision is not None:
            return self._precision
        return (self._outputs[0].dtype if self._outputs else None) or DataType.FLOAT

    @precision.setter
    def precision(self, value):
        if self._network._is_strongly_typed:
            raise RecordingError(f"precision: the network of layer '{self.name}' is strongly typed. Add cast layers.")
        self._precision = _data_type(value, f"precision of layer '{self.name}'")

    @property
    def precision_is_set(self):
        return self._precision is not None

    def reset_precision(self):
        self._precision = None

    def get_output_type(self, index):
        return self._outputs[index].dtype

    def output_type_is_set(self, index):
        return index in self._output_types

    def set_output_type(self, index, dtype):
        if not 0 <= index < len(self._outputs):
            raise RecordingError(f"set_output_type: layer '{self.name}' has no output {index}; it has {len(self._outputs)}.")
        dtype = _data_type(dtype, "set_output_type's dtype")
        if self._network._is_strongly_typed:
            raise RecordingError(f"set_output_type: the network of layer '{self.name}' is strongly typed. Add a cast layer.")
        self._output_types[index] = dtype
        self._outputs[index]._given_type = dtypes.to_onnx(dtype)
        self._network._changed(self)

    def reset_output_type(self, index):
        self._output_types.pop(index, None)
        self._outputs[index]._given_type = None
        self._network._changed(self)

    def __repr__(self):
        return f"<tensorrt.{type(self).__name__} '{self.name}'>"


def _data_type(value, what):
    if not isinstance(value, DataType):
        raise RecordingError(f"{what} must be a tensorrt.DataType, as tensorrt.float32, not {value!r}.")
    return value
