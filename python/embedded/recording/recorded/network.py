"""INetworkDefinition: what a script adds, in the order in which it adds it."""

from . import dtypes, shapes
from .enums import DataType, LayerType, NetworkDefinitionCreationFlag
from .errors import NotServedError, RecordingError, place_text
from .layer import ITensor, Served
from .layers import adders
from .values import as_dims, weights_key


class INetworkDefinition(adders.Adders, Served):
    """A network. Tensors and layers are as the script made them; recorded.to_onnx() writes it as an ONNX model."""

    def __init__(self, builder=None, flags=0):
        self._builder, self._flags, self._name = builder, int(flags), "Unnamed Network 0"
        self._inputs, self._outputs, self._layers = [], [], []
        self._valid, self._in_progress, self._has_back_edges = 0, set(), False
        self._constants = []  # tensors of parsed initializers
        self._debug, self._debug_unfused, self._refittable, self._notes = [], False, [], []
        self._parsed = None  # parsed.ParsedModel
        self._error_recorder = None
        self._weights_names = {}  # by weights_key()

    # ---- what it has

    name = property(lambda self: self._name, lambda self, value: setattr(self, "_name", str(value)))
    builder = property(lambda self: self._builder)
    flags = property(lambda self: self._flags)
    num_inputs = property(lambda self: len(self._inputs))
    num_outputs = property(lambda self: len(self._outputs))
    num_layers = property(lambda self: len(self._layers))
    has_implicit_batch_dimension = property(lambda self: False)
    has_explicit_precision = property(
        lambda self: bool(self._flags >> int(NetworkDefinitionCreationFlag.EXPLICIT_PRECISION) & 1))
    error_recorder = property(lambda self: self._error_recorder, lambda self, v: setattr(self, "_error_recorder", v))
    _is_strongly_typed = property(
        lambda self: bool(self._flags >> int(NetworkDefinitionCreationFlag.STRONGLY_TYPED) & 1))

    def get_flag(self, flag):
        return bool(self._flags >> int(flag) & 1)

    def __len__(self):
        return len(self._layers)

    def __getitem__(self, index):
        return self._layers[index]._view()

    def __iter__(self):
        return (layer._view() for layer in self._layers)

    def __bool__(self):
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def get_layer(self, index):
        """None where there is no such layer."""
        return self._layers[index]._view() if 0 <= index < len(self._layers) else None

    def get_input(self, index):
        """None where there is no such input."""
        return self._inputs[index] if 0 <= index < len(self._inputs) else None

    def get_output(self, index):
        """None where there is no such output."""
        return self._outputs[index] if 0 <= index < len(self._outputs) else None

    # ---- inputs and outputs

    def add_input(self, name, dtype, shape):
        """An input; -1 is an open extent."""
        if not isinstance(dtype, DataType):
            raise RecordingError(
                f"add_input: the dtype of '{name}' must be a tensorrt.DataType, as tensorrt.float32, not {dtype!r}.")
        if any(t.name == name for t in self._inputs):
            raise RecordingError(f"add_input: there is an input '{name}' already; each needs a name of its own.")
        dims = as_dims(shape, "shape")
        if any(d < -1 for d in dims):
            raise RecordingError(
                f"add_input: the shape {shapes.text(dims)} of '{name}' has an extent below -1; -1 is an open one.")
        tensor = ITensor(self, str(name), onnx_type=dtypes.to_onnx(dtype), shape=tuple(dims))
        self._inputs.append(tensor)
        return tensor

    def _check_tensor(self, tensor, what):
        if not isinstance(tensor, ITensor):
            raise RecordingError(f"{what} takes a tensorrt.ITensor, not {tensor!r}."
                                 + (" Use layer.get_output(0)." if hasattr(tensor, "get_output") else ""))
        if tensor._network is not self:
            raise RecordingError(f"{what}: tensor '{tensor.name}' belongs to another network.")

    def mark_output(self, tensor):
        self._check_tensor(tensor, "mark_output")
        if tensor not in self._outputs:
            self._outputs.append(tensor)

    def unmark_output(self, tensor):
        self._check_tensor(tensor, "unmark_output")
        if tensor in self._outputs:
            self._outputs.remove(tensor)

    def mark_output_for_shapes(self, tensor):
        if tensor in self._outputs:
            return False
        self.mark_output(tensor)
        return True

    def unmark_output_for_shapes(self, tensor):
        marked = tensor in self._outputs
        self.unmark_output(tensor)
        return marked

    def remove_tensor(self, tensor):
        """Removes a tensor that no layer uses; keeps it, with a note, where one does."""
        self._check_tensor(tensor, "remove_tensor")
        if tensor._layer is not None or any(tensor in layer._inputs for layer in self._layers):
            self._notes.append(f"remove_tensor: a layer uses '{tensor.name}', so it stays")
            return
        self._inputs = [t for t in self._inputs if t is not tensor]
        self._outputs = [t for t in self._outputs if t is not tensor]

    def mark_debug(self, tensor):
        self._check_tensor(tensor, "mark_debug")
        if tensor not in self._debug:
            self._debug.append(tensor)
        return True

    def unmark_debug(self, tensor):
        if tensor in self._debug:
            self._debug.remove(tensor)
        return True

    def is_debug_tensor(self, tensor):
        return tensor in self._debug

    def mark_unfused_tensors_as_debug_tensors(self):
        self._debug_unfused = True
        return True

    def unmark_unfused_tensors_as_debug_tensors(self):
        self._debug_unfused = False
        return True

    def set_weights_name(self, weights, name):
        self._weights_names[weights_key(weights)] = str(name)
        return True

    def mark_weights_refittable(self, name):
        self._refittable.append(str(name))
        return True

    def unmark_weights_refittable(self, name):
        if name in self._refittable:
            self._refittable.remove(name)
        return True

    def are_weights_marked_refittable(self, name):
        return name in self._refittable

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotServedError(f"tensorrt.INetworkDefinition.{name} is not served by assay." + adders.REASONS.get(name, ""))

    # ---- types and shapes, when they are asked for

    def _changed(self, layer):
        """What depends on a layer (None: on an input) is inferred again."""
        first = layer._index if layer is not None and not self._has_back_edges else 0
        for later in self._layers[first:]:
            later._is_inferred = False
        self._valid = min(self._valid, first)

    def _infer(self, layer):
        if layer._is_inferred:
            return
        if layer._index in self._in_progress:
            raise RecordingError(
                f"{place_text(layer._place)}layer '{layer.name}' needs its own output; only a loop's recurrence can.")
        if self._in_progress:  # only what is needed, which need not be all that stands before
            self._infer_one(layer)
            return
        for earlier in self._layers[self._valid:layer._index + 1]:
            if not earlier._is_inferred:
                self._infer_one(earlier)
        while self._valid < len(self._layers) and self._layers[self._valid]._is_inferred:
            self._valid += 1

    def _infer_one(self, layer):
        """Also of a layer whose inputs come from later ones, which a script gets by set_input."""
        self._in_progress.add(layer._index)
        try:
            for tensor in layer._inputs[:1] if layer._TYPE is LayerType.RECURRENCE else layer._inputs:
                producer = tensor._layer if tensor is not None else None
                if producer is not None and producer._index > layer._index:
                    self._infer(producer)
            known = layer._infer()
        finally:
            self._in_progress.discard(layer._index)
        for tensor, (kind, shape) in zip(layer._outputs, known):
            tensor._inferred = (kind, None if shape is None else tuple(shape))
        layer._is_inferred, layer._known_values = True, {}

    def _constant_values(self, tensor):
        if tensor._initializer is None or shapes.volume(tensor._shape) is None or shapes.volume(tensor._shape) > 64 \
                or tensor._type not in (dtypes.INT32, dtypes.INT64):
            return None
        array = tensor._initializer.array()
        return None if array is None else [int(v) for v in array.reshape(-1)]
