"""Loops and conditionals on their way into ONNX: which layers belong into a body, and the bodies."""

from . import dtypes, onnx_messages, wire
from .enums import LoopOutput, TripLimit
from .errors import RecordingError
from .layers import control
from .writer import Node


def _exit_of(layer):
    """The loop or conditional that a layer leaves."""
    if isinstance(layer, control.ILoopOutputLayer):
        return layer._loop
    return layer._conditional if isinstance(layer, control.IIfConditionalOutputLayer) else None


def _entry_of(layer):
    if isinstance(layer, (control.IRecurrenceLayer, control.IIteratorLayer)):
        return layer._loop
    return layer._conditional if isinstance(layer, control.IIfConditionalInputLayer) else None


class ControlFlow:
    """The part of an Exporter that knows bodies."""

    def __init__(self, exporter):
        self.exporter = exporter
        network = exporter.network
        self.has_any = any(_entry_of(layer) or _exit_of(layer) for layer in network._layers)
        self._inside, self.captured = {}, set()  # captured: names that bodies read
        if self.has_any:
            self._find_insides(network._layers)

    def _find_insides(self, layers):
        """For each layer the loops and conditionals that it lies in: those whose entries it depends on."""
        inside = {layer._index: frozenset() for layer in layers}
        changed = True
        while changed:
            changed = False
            for layer in layers:
                found = {s for t in layer._inputs if t is not None and t._layer is not None for s in inside[t._layer._index]}
                found |= {_entry_of(layer)} - {None}
                found -= {_exit_of(layer)}
                if isinstance(layer, control.ITripLimitLayer):
                    found -= {layer._loop}
                if frozenset(found) != inside[layer._index]:
                    inside[layer._index] = frozenset(found)
                    changed = True
        self._inside = inside

    def is_outermost(self, layer):
        return not self._inside.get(layer._index)

    def _roots(self, scope):
        """The tensors at the borders of a loop or conditional that its body computes or takes."""
        if isinstance(scope, control.ILoop):
            tensors = [t for r in scope._recurrences for t in r._inputs] + [i._inputs[0] for i in scope._iterators]
            return tensors + [o._inputs[0] for o in scope._outputs] + [limit._inputs[0] for limit in scope._limits]
        if scope._condition is None:
            raise RecordingError(f"Conditional '{scope.name}' has no condition: call set_condition(tensor).")
        return [scope._condition._inputs[0]] + [t for e in scope._exits
                                                for t in e._inputs] + [e._inputs[0] for e in scope._entries]

    def outer_tensors(self, layer):
        """What a whole loop or conditional needs from outside, for a layer that leaves it; None for other layers."""
        scope = _exit_of(layer)
        if scope is None:
            return None
        outer, seen, stack = [], set(), list(self._roots(scope))
        while stack:
            tensor = stack.pop()
            if tensor is None or tensor._layer is None or id(tensor) in seen:
                continue
            seen.add(id(tensor))
            if scope in self._inside[tensor._layer._index]:
                stack += tensor._layer._inputs
            elif _exit_of(tensor._layer) is not scope:
                outer.append(tensor)
        return outer

    def emit(self, layer):
        """Writes the loop or conditional that a layer leaves; False for other layers."""
        scope = _exit_of(layer)
        if scope is None:
            return False
        self.exporter.writer.layer = layer
        if isinstance(scope, control.ILoop):
            self._emit_loop(scope, layer)
        else:
            self._emit_if(scope, layer)
        return True

    # ---- bodies

    def _body(self, write, name):
        """A GraphProto; `write()` writes its nodes and gives (inputs, outputs) as ValueInfoProtos."""
        exporter, w = self.exporter, self.exporter.writer
        around, w.nodes = w.nodes, []
        exporter.names = exporter.names.new_child()
        layer = w.layer
        try:
            inputs, outputs = write()
            self.captured.update(i for n in w.nodes for i in getattr(n, "reads", n.inputs) if i)
            parts = [wire.bytes_field(1, n.bytes()) for n in w.nodes] + [wire.bytes_field(2, name)]
            parts += [wire.bytes_field(11, i) for i in inputs] + [wire.bytes_field(12, o) for o in outputs]
            return onnx_messages.GraphBytes(b"".join(parts))
        finally:
            w.nodes, w.layer = around, layer
            exporter.names = exporter.names.parents

    def _copy(self, name):
        """A tensor of the body under a name of its own, as outputs of bodies need."""
        w = self.exporter.writer
        copy = w.fresh(name + "/out")
        w.nodes.append(Node("Identity", [name], [copy], w.fresh(name + "/Identity"), "", {}))
        return copy

    def _name(self, tensor):
        return self.exporter.names[id(tensor)]

    def _emit_if(self, scope, layer):
        exporter, w = self.exporter, self.exporter.writer
        exits = scope._exits

        def branch(i):
            def write():
                tensors = [e._inputs[i] for e in exits]
                exporter.emit_for(tensors)
                return [], [onnx_messages.value_info(self._copy(self._name(t)), t._onnx_type, None) for t in tensors]
            return write

        for e in exits:
            kinds = [t._onnx_type for t in e._inputs]
            if kinds[0] != kinds[1]:
                raise RecordingError(
                    f"The branches of conditional '{scope.name}' give {' and '.join(dtypes.ONNX_NAMES[k] for k in kinds)}; "
                    "both must be of one type.")
        bodies = [self._body(branch(i), f"{scope.name}/{what}") for i, what in ((0, "then"), (1, "else"))]
        start = len(w.nodes)
        condition = w.scalar(self._name(scope._condition._inputs[0]), scope._condition._inputs[0])
        names = w.op("If", [condition], outputs=len(exits), then_branch=bodies[0], else_branch=bodies[1])
        self._give(exits, start, [names] if len(exits) == 1 else names)

    def _give(self, exits, start, names):
        """The outputs of a node to the layers that leave."""
        for e, name in zip(exits, names):
            self.exporter.finish(e, start, [name])

    def _emit_loop(self, loop, layer):
        exporter, w = self.exporter, self.exporter.writer
        limits = {limit.kind: limit._inputs[0] for limit in loop._limits}
        if not limits:
            raise RecordingError(f"Loop '{loop.name}' has no trip limit: call add_trip_limit(tensor, kind).")
        for r in loop._recurrences:
            if len(r._inputs) < 2 or r._inputs[1] is None:
                raise RecordingError(f"Recurrence '{r.name}' of loop '{loop.name}' has no next value: call set_input(1, tensor).")
        start = len(w.nodes)
        count, condition = limits.get(TripLimit.COUNT), limits.get(TripLimit.WHILE)
        times = None
        if count is not None:
            times = w.scalar(w.to_int64(self._name(count), count), count)
        initial = [self._name(r._inputs[0]) for r in loop._recurrences]
        first = None if condition is None else self._condition(loop, condition, initial)
        last = [o for o in loop._outputs if o.kind is LoopOutput.LAST_VALUE and _entry_of(o._inputs[0]._layer) is loop
                and isinstance(o._inputs[0]._layer, control.IRecurrenceLayer)] if loop._outputs else []
        scanned = [o for o in loop._outputs if o not in last]
        body = self._body(lambda: self._loop_body(loop, times, condition, scanned), f"{loop.name}/body")
        total = len(initial) + len(scanned)
        names = w.op("Loop", [times, first] + initial, since=11, outputs=total, body=body)
        names = [names] if total == 1 else names
        states = {id(r): n for r, n in zip(loop._recurrences, names)}
        results = [states[id(o._inputs[0]._layer)] for o in last]
        results += [self._arranged(o, n) for o, n in zip(scanned, names[len(initial):])]
        self._give(last + scanned, start, results)

    def _arranged(self, output, stacked):
        """The values of all runs, which lie along axis 0, as an output wants them."""
        w = self.exporter.writer
        if output.kind is LoopOutput.LAST_VALUE:
            return w.op("Gather", [stacked, w.ints(-1)], since=11, axis=0)
        if output.kind is LoopOutput.REVERSE:
            stacked = w.slice(stacked, [-1], [-2**31], [0], [-1])
        if output.axis == 0:
            return stacked
        rank = output._inputs[0]._rank + 1
        axis = output.axis % rank
        return w.transpose(stacked, list(range(1, axis + 1)) + [0] + list(range(axis + 1, rank)))

    def _condition(self, loop, condition, states):
        """The condition of a loop for given values of its recurrences."""
        exporter, w = self.exporter, self.exporter.writer
        layer = w.layer
        exporter.names = exporter.names.new_child()
        try:
            for r, name in zip(loop._recurrences, states):
                exporter.names[id(r._outputs[0])] = name
            try:
                exporter.emit_for([condition])
            except KeyError:
                raise RecordingError(
                    f"The condition of loop '{loop.name}' depends on an iterator; it can depend on recurrences and on what "
                    "lies outside of the loop.") from None
            w.layer = layer
            return w.scalar(self._name(condition), condition)
        finally:
            w.layer = layer
            exporter.names = exporter.names.parents

    def _loop_body(self, loop, times, condition, scanned):
        exporter, w = self.exporter, self.exporter.writer
        counter, going = w.fresh(f"{loop.name}/iteration"), w.fresh(f"{loop.name}/condition")
        inputs = [onnx_messages.value_info(counter, dtypes.INT64, []), onnx_messages.value_info(going, dtypes.BOOL, [])]
        for r in loop._recurrences:
            name = w.fresh(f"{r._outputs[0].name}")
            exporter.names[id(r._outputs[0])] = name
            inputs.append(onnx_messages.value_info(name, r._outputs[0]._onnx_type, None))
        layer = w.layer
        for iterator in loop._iterators:
            self._iterate(iterator, counter, times)
        exporter.emit_for([r._inputs[1] for r in loop._recurrences] + [o._inputs[0] for o in scanned])
        w.layer = layer
        states = [self._name(r._inputs[1]) for r in loop._recurrences]
        again = going if condition is None else self._condition(loop, condition, states)
        outputs = [onnx_messages.value_info(self._copy(again), dtypes.BOOL, None)]
        for tensor in [r._inputs[1] for r in loop._recurrences] + [o._inputs[0] for o in scanned]:
            outputs.append(onnx_messages.value_info(self._copy(self._name(tensor)), tensor._onnx_type, None))
        return inputs, outputs

    def _iterate(self, iterator, counter, times):
        w = self.exporter.writer
        w.layer, start, at = iterator, len(w.nodes), counter
        if iterator.reverse:
            if times is None:
                raise RecordingError(f"Iterator '{iterator.name}' goes backward, for which its loop needs a trip limit of COUNT.")
            at = w.op("Sub", [w.op("Sub", [times, w.ints(1)]), counter])
        name = w.op("Gather", [self._name(iterator._inputs[0]), at], axis=iterator.axis)
        self.exporter.finish(iterator, start, [name])
