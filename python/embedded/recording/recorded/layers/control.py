"""Loops and conditionals: the layers at their borders. exporting.py writes them as ONNX's Loop and If."""

from .. import dtypes, shapes
from ..enums import LayerType, LoopOutput, TripLimit
from ..errors import RecordingError
from ..layer import ILayer, ITensor, Served, Setting


def _check(tensor, what):
    if not isinstance(tensor, ITensor):
        raise RecordingError(f"{what} takes a tensorrt.ITensor, not {tensor!r}."
                             + (" Use layer.get_output(0)." if hasattr(tensor, "get_output") else ""))
    return tensor


class _Named(Served):
    name = property(lambda self: self._name, lambda self, v: setattr(self, "_name", str(v)))


class ILoopBoundaryLayer(ILayer):
    """A layer where tensors enter or leave a loop."""
    _loop = None
    loop = property(lambda self: self._loop)


class ITripLimitLayer(ILoopBoundaryLayer):
    """How often a loop runs: a count, or as long as a condition of its recurrences holds before each run."""
    _TYPE = LayerType.TRIP_LIMIT
    _OUTPUTS = 0
    kind = Setting(TripLimit.COUNT, TripLimit)

    def _infer(self):
        return []


class IRecurrenceLayer(ILoopBoundaryLayer):
    """A value that goes from run to run: input 0 at first, then what input 1 was."""
    _TYPE = LayerType.RECURRENCE


class IIteratorLayer(ILoopBoundaryLayer):
    """The slices of a tensor along an axis, one a run."""
    _TYPE = LayerType.ITERATOR
    axis = Setting(0, int)
    reverse = Setting(False, bool)

    def _infer(self):
        x = self._inputs[0]
        if x._shape is None:
            return [(x._onnx_type, None)]
        axis = shapes.axis_of(self.axis, len(x._shape), f"axis of iterator '{self.name}'")
        return [(x._onnx_type, x._shape[:axis] + x._shape[axis + 1:])]


class ILoopOutputLayer(ILoopBoundaryLayer):
    """What a loop gives: a last value, or the values of all runs along a new axis, as long as input 1 says."""
    _TYPE = LayerType.LOOP_OUTPUT
    kind = Setting(LoopOutput.LAST_VALUE, LoopOutput)
    axis = Setting(0, int)

    def _infer(self):
        x = self._inputs[0]
        if self.kind is LoopOutput.LAST_VALUE or x._shape is None:
            return [(x._onnx_type, x._shape)]
        shape = list(x._shape)
        axis = shapes.axis_of(self.axis, len(shape) + 1, f"axis of loop output '{self.name}'")
        length = self._inputs[1]._values() if len(self._inputs) > 1 and self._inputs[1] is not None else None
        shape.insert(axis, length[0] if length and length[0] is not None else -1)
        return [(x._onnx_type, shape)]


class ILoop(_Named):
    """A part of a network that runs again and again."""

    def __init__(self, network):
        self._network, self._name = network, f"(Unnamed Loop* {len(network._layers)})"
        self._limits, self._recurrences, self._iterators, self._outputs = [], [], [], []

    def _added(self, layer, group):
        layer._loop = self
        group.append(layer)
        return layer

    def add_trip_limit(self, tensor, kind):
        if any(layer.kind is kind for layer in self._limits):
            raise RecordingError(f"Loop '{self.name}' has a trip limit of {kind} already.")
        return self._added(ITripLimitLayer(self._network, [_check(tensor, "add_trip_limit")], kind=kind), self._limits)

    def add_recurrence(self, initial_value):
        return self._added(IRecurrenceLayer(self._network, [_check(initial_value, "add_recurrence")]), self._recurrences)

    def add_iterator(self, tensor, axis=0, reverse=False):
        layer = IIteratorLayer(self._network, [_check(tensor, "add_iterator")], axis=axis, reverse=reverse)
        return self._added(layer, self._iterators)

    def add_loop_output(self, tensor, kind, axis=0):
        layer = ILoopOutputLayer(self._network, [_check(tensor, "add_loop_output")], kind=kind, axis=axis)
        return self._added(layer, self._outputs)


class IIfConditionalBoundaryLayer(ILayer):
    """A layer where tensors enter or leave a conditional."""
    _conditional = None
    conditional = property(lambda self: self._conditional)


class IConditionLayer(IIfConditionalBoundaryLayer):
    """The condition."""
    _TYPE = LayerType.CONDITION
    _OUTPUTS = 0

    def _infer(self):
        return []


class IIfConditionalInputLayer(IIfConditionalBoundaryLayer):
    """A tensor on its way into the branches."""
    _TYPE = LayerType.CONDITIONAL_INPUT

    def _emit(self, w, inputs):
        return [w.op("Identity", inputs)]


class IIfConditionalOutputLayer(IIfConditionalBoundaryLayer):
    """The tensor of the branch that ran."""
    _TYPE = LayerType.CONDITIONAL_OUTPUT

    def _infer(self):
        a, b = self._inputs
        same = a._shape is not None and b._shape is not None and len(a._shape) == len(b._shape)
        shape = tuple(x if x == y else -1 for x, y in zip(a._shape, b._shape)) if same else None
        return [(a._onnx_type, shape)]


class IIfConditional(_Named):
    """Two parts of a network, of which one runs."""

    def __init__(self, network):
        self._network, self._name = network, f"(Unnamed If* {len(network._layers)})"
        self._condition, self._entries, self._exits = None, [], []

    def set_condition(self, condition):
        if self._condition is not None:
            self._condition.set_input(0, _check(condition, "set_condition"))
            return self._condition
        self._condition = IConditionLayer(self._network, [_check(condition, "set_condition")])
        self._condition._conditional = self
        return self._condition

    def add_input(self, input):
        layer = IIfConditionalInputLayer(self._network, [_check(input, "IIfConditional.add_input")])
        layer._conditional = self
        self._entries.append(layer)
        return layer

    def add_output(self, true_subgraph_output, false_subgraph_output):
        tensors = [_check(t, "IIfConditional.add_output") for t in (true_subgraph_output, false_subgraph_output)]
        layer = IIfConditionalOutputLayer(self._network, tensors)
        layer._conditional = self
        self._exits.append(layer)
        return layer
