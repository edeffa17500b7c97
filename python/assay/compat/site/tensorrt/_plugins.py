"""Networks with plugins in Python: what is between the plugins is built by the library, part by part."""

import json
import math
import struct

import numpy as np
from recorded import dtypes, onnx_messages, wire
from recorded.enums import DataType, LayerType, PluginCapabilityType, PluginFieldType, TensorRTPhase
from recorded.errors import RecordingError

from . import _building, _types
from ._plugin_types import (DimsExprs, DynamicPluginTensorDesc, IExprBuilder, IPluginResourceContext, IPluginV2DynamicExt,
                            IPluginV3, PluginField, PluginFieldCollection, PluginTensorDesc)
from ._registry import get_plugin_registry

_MAGIC = b"assay parts 1\n\0\0"


class Whole:
    """A network that the library runs as one."""

    def __init__(self, engine, debug_tensors=()):
        self._engine = engine
        self.native_engines = [engine]
        self.debug_tensors = tuple(debug_tensors)
        self.inputs, self.outputs = engine.inputs, engine.outputs
        self.profiles, self.name = engine.profiles, engine.name

    is_refittable = property(lambda self: self._engine.is_refittable)
    device_memory_size = property(lambda self: self._engine.device_memory_size)

    def layers(self, json):
        return self._engine.layers(json)

    def information(self, json):
        return self._engine.information(json)

    def create_context(self):
        return self._engine.create_context()

    def plan(self):
        """The library's plan; one that says what can be shown, where there is something."""
        plan = self._engine.serialize()
        if not self.debug_tensors:
            return plan
        return _packed({"whole": True, "debug": list(self.debug_tensors)}, [plan])


# ---- a plugin


class Plugin:
    """A V2 or V3 plugin, asked in one way."""

    def __init__(self, plugin):
        self.plugin, self.is_v3 = plugin, isinstance(plugin, IPluginV3)
        if not self.is_v3 and not isinstance(plugin, IPluginV2DynamicExt):
            raise RecordingError(f"A plugin must derive from tensorrt.IPluginV2DynamicExt or IPluginV3 to be run, and "
                                 f"{type(plugin).__name__} does not.")
        get = plugin.get_capability_interface if self.is_v3 else lambda _: plugin
        self.core, self.build, self.run = (get(t) for t in (PluginCapabilityType.CORE, PluginCapabilityType.BUILD,
                                                            PluginCapabilityType.RUNTIME))

    name = property(lambda self: self.core.plugin_name if self.is_v3 else self.plugin.plugin_type)
    num_outputs = property(lambda self: int(self.build.num_outputs))

    def output_types(self, kinds):
        if self.is_v3:
            ask = getattr(self.build, "get_output_data_types", None) or self.build.get_output_datatypes
            return list(ask(list(kinds)))
        return [self.plugin.get_output_datatype(i, list(kinds)) for i in range(self.num_outputs)]

    def _expressions(self, shapes):
        inputs = [DimsExprs(s) for s in shapes]
        if self.is_v3:
            return list(self.build.get_output_shapes(inputs, [], IExprBuilder()))
        return [self.plugin.get_output_dimensions(i, inputs, IExprBuilder()) for i in range(self.num_outputs)]

    def output_shapes(self, shapes, sizes=None):
        """Extents, -1 for what is not known; of size tensors those in `sizes` by output, else their upper bounds where
        `sizes` is not None."""

        def extent(e):
            if e._size_tensor is None:
                return e.get_constant_value()
            if sizes is None:
                return -1
            return sizes.get(e._size_tensor[0], e._size_tensor[2].get_constant_value())

        return [tuple(extent(e) for e in dims) for dims in self._expressions(shapes)]

    def size_outputs(self, shapes):
        return {e._size_tensor[0] for dims in self._expressions(shapes) for e in dims if e._size_tensor is not None}

    def infer(self, tensors):
        kinds = [dtypes.from_onnx(t._onnx_type) for t in tensors]
        shapes = [t._shape for t in tensors]
        types = [dtypes.to_onnx(t) for t in self.output_types(kinds)]
        if any(s is None for s in shapes):
            return [(t, None) for t in types]
        return list(zip(types, self.output_shapes(shapes)))

    def configure(self, ins, outs):
        """At building: `ins`, `outs` are DynamicPluginTensorDesc. Raises RecordingError where it takes no row-major tensors."""
        both = ins + outs
        for i in range(len(both)):
            shown = both if self.is_v3 else [d.desc for d in both]
            if not self.build.supports_format_combination(i, shown, len(ins)):
                raise RecordingError(f"The plugin '{self.name}' does not take {both[i].desc.type} as row-major tensor {i}.")
        self.build.configure_plugin(ins, outs)
        tactics = list(self.build.get_valid_tactics() or []) if self.is_v3 and hasattr(self.build, "get_valid_tactics") else []
        if tactics:
            self.tactic = int(tactics[0])
            self.run.set_tactic(self.tactic)

    tactic = None

    def for_context(self):
        if self.is_v3:
            attached = self.run.attach_to_context(IPluginResourceContext())
            made = Plugin(attached if isinstance(attached, IPluginV3) else self.plugin)
        else:
            made = Plugin(self.plugin.clone())
            made.plugin.initialize()
        made.tactic = self.tactic
        if made.is_v3 and made.tactic is not None:
            made.run.set_tactic(made.tactic)
        return made

    _seen = None

    def enqueue(self, arrays, kinds, out_kinds, stream):
        """Outputs as arrays."""
        from assay.compat import _memory

        shapes = [a.shape for a in arrays]
        sizes = self.size_outputs(shapes)
        out_shapes = self.output_shapes(shapes, {})
        outputs = [np.empty(s, _types.numpy_type(dtypes.ONNX_NAMES[dtypes.to_onnx(k)])) for s, k in zip(out_shapes, out_kinds)]
        ins = [PluginTensorDesc(s, k) for s, k in zip(shapes, kinds)]
        outs = [PluginTensorDesc(s, k) for s, k in zip(out_shapes, out_kinds)]
        if self._seen != shapes:
            if self.is_v3:
                self.run.on_shape_change(ins, outs)
            else:
                self.plugin.configure_plugin([DynamicPluginTensorDesc(s, k) for s, k in zip(shapes, kinds)],
                                             [DynamicPluginTensorDesc(s, k) for s, k in zip(out_shapes, out_kinds)])
            self._seen = shapes
        inner = int((self.build if self.is_v3 else self.plugin).get_workspace_size(ins, outs) or 0)
        workspace = np.empty(max(inner, 1), np.uint8)
        registered = [a for a in (*arrays, *outputs) if a.nbytes]
        for a in registered:
            if _memory.find(a.ctypes.data) is None:
                _memory._note(_memory.Allocation(a.ctypes.data, a.nbytes, "managed", a))
        try:
            answer = self.run.enqueue(ins, outs, [a.ctypes.data for a in arrays], [a.ctypes.data for a in outputs],
                                      workspace.ctypes.data if inner else 0, stream)
        finally:
            for a in registered:
                found = _memory.find(a.ctypes.data)
                if found is not None and found.owner is a:
                    _memory._forget(a.ctypes.data)
        if answer:
            raise RecordingError(f"The plugin '{self.name}' failed: enqueue() gave {answer}.")
        if sizes:
            known = {i: int(outputs[i].reshape(-1)[0]) for i in sizes}
            final = self.output_shapes(shapes, known)
            outputs = [o.reshape(-1)[:math.prod(s)].reshape(s) for o, s in zip(outputs, final)]
        return outputs

    # ---- in plans

    def saved(self):
        """(what a header says, bytes)."""
        head = {"name": self.name, "version": str(self.core.plugin_version), "namespace": self.core.plugin_namespace,
                "v3": self.is_v3, "tactic": self.tactic}
        if not self.is_v3:
            data = self.plugin.serialize()
            return head, data.encode() if isinstance(data, str) else bytes(data)
        blobs, head["fields"] = [], []
        for field in self.run.get_fields_to_serialize() or []:
            array = np.ascontiguousarray(field.data)
            if array.dtype == object or array.dtype.kind == "U":
                array = np.frombuffer(str(field.data).encode(), np.int8)
            head["fields"].append([field.name, field.type.name, array.dtype.str, list(array.shape)])
            blobs.append(array.tobytes())
        return head, b"".join(blobs)

    @classmethod
    def restored(cls, head, data):
        import assay

        registry = get_plugin_registry()
        creator = registry.get_creator(head["name"], head["version"], head["namespace"]) or registry.find(head["name"])
        if creator is None:
            raise assay.NotFound(f"the plan needs the plugin '{head['name']}' of version {head['version']}, and its creator is "
                                 "not registered")
        if not head["v3"]:
            return cls(creator.deserialize_plugin(head["name"], data))
        fields, at = PluginFieldCollection(), 0
        for name, kind, dtype, shape in head["fields"]:
            size = np.dtype(dtype).itemsize * math.prod(shape)
            array = np.frombuffer(data[at:at + size], dtype).reshape(shape).copy()
            fields.append(PluginField(name, array, PluginFieldType[kind]))
            at += size
        made = cls(creator.create_plugin(head["name"], fields, TensorRTPhase.RUNTIME))
        made.tactic = head["tactic"]
        return made


# ---- plugins of parsed models


def _field(name, value):
    if isinstance(value, (bytes, str)):
        text = value.encode() if isinstance(value, str) else value
        return PluginField(name, np.frombuffer(text, np.int8), PluginFieldType.CHAR)
    array = np.asarray(value.array() if hasattr(value, "array") else value)
    if array.dtype.kind in "iu" and array.dtype != np.int64 or isinstance(value, (int, list, tuple)) and array.dtype.kind == "i":
        return PluginField(name, np.atleast_1d(array.astype(np.int32)), PluginFieldType.INT32)
    if array.dtype.kind == "f":
        return PluginField(name, np.atleast_1d(array.astype(np.float32)), PluginFieldType.FLOAT32)
    return PluginField(name, np.atleast_1d(array), PluginFieldType.INT64)


def adopt_plugins(network):
    """Layers of a parsed model whose operator has a registered creator become plugins."""
    registry = get_plugin_registry()
    for layer in network._layers:
        node = layer._node
        if node is None or getattr(layer, "_runs", None) is not None:
            continue
        attributes = {k: v.decode() if isinstance(v, bytes) else v for k, v in node.attributes.items()} \
            if registry.all_creators else {}
        creator = registry.find(node.op_type, attributes.get("plugin_version"), attributes.get("plugin_namespace"))
        if creator is None:
            continue
        wanted = {f.name for f in creator.field_names or []}
        fields = PluginFieldCollection([_field(k, v) for k, v in attributes.items() if k in wanted])
        try:
            made = creator.create_plugin(layer.name, fields, TensorRTPhase.BUILD)
        except TypeError as error:
            if "positional argument" not in str(error):
                raise
            made = creator.create_plugin(layer.name, fields)
        runs = Plugin(made)
        layer._runs = runs
        layer._infer = lambda layer=layer, runs=runs: runs.infer(layer._inputs)
        layer._is_inferred = False
        network._valid = min(network._valid, layer._index)


# ---- building in parts


class _Split:
    """A model's nodes in the order: a part for the library, the plugins behind it, and so on."""

    def __init__(self, data, plugins):
        self.head = [bytes(w) for n, _, _, w in wire.read_fields(data) if n != 7]
        graph = next(v for n, k, v, _ in wire.read_fields(data) if n == 7 and k == wire.BYTES)
        fields = list(wire.read_fields(graph))
        self.nodes = [(onnx_messages.NodeView(v), bytes(w)) for n, k, v, w in fields if n == 1 and k == wire.BYTES]
        self.initializers = {onnx_messages.TensorView(v).name: bytes(w) for n, _, v, w in fields if n == 5}
        views = {n: [onnx_messages.ValueView(v) for m, _, v, _ in fields if m == n] for n in (11, 12, 13)}
        self.inputs = [v.name for v in views[11] if v.name not in self.initializers]
        self.outputs = [v.name for v in views[12]]
        self.known = {v.name: (v.type, None if v.shape is None else tuple(v.shape)) for n in (13, 12, 11) for v in views[n]}
        self.plugins = plugins
        self._order()

    @staticmethod
    def reads(node):
        return [i for i in node.inputs if i] + [n for g in node.graphs() for n in g.captured()]

    def _order(self):
        level, self.parts = {}, {}
        for node, raw in self.nodes:
            at = max([level.get(i, 0) for i in self.reads(node)], default=0)
            is_plugin = node.outputs[0] in self.plugins
            part = self.parts.setdefault(at, ([], []))
            part[1 if is_plugin else 0].append((node, raw))
            for o in node.outputs:
                level[o] = at + 1 if is_plugin else at

    def segment(self, at):
        """(bytes of the part's model, names of its inputs, of its outputs)."""
        nodes = self.parts[at][0]
        made = {o for node, _ in nodes for o in node.outputs if o}
        read = {i for node, _ in nodes for i in self.reads(node)}
        elsewhere = {i for node, raw in self.nodes if (node, raw) not in nodes for i in self.reads(node)}
        constants = [self.initializers[i] for i in sorted(read) if i in self.initializers]
        inputs = sorted(i for i in read if i not in made and i not in self.initializers)
        outputs = [o for node, _ in nodes for o in node.outputs if o and (o in elsewhere or o in self.outputs)]
        body = [wire.bytes_field(2, f"part {at}"), *[raw for _, raw in nodes], *constants]
        for field, names in ((11, inputs), (12, outputs)):
            for name in names:
                kind, shape = self.known.get(name, (None, None))
                if kind is None and field == 11:
                    raise RecordingError(f"The element type of '{name}' between two parts of the network is not known.")
                info = wire.bytes_field(1, name) if kind is None else onnx_messages.value_info(name, kind, shape)
                body.append(wire.bytes_field(field, info))
        return b"".join(self.head + wire.chunks_field(7, body)), inputs, outputs


class _Ranges:
    """Shapes of tensors at the corners of each profile."""

    def __init__(self, profiles, split):
        count = max(1, len(profiles))
        self.corners = [({}, {}, {}) for _ in range(count)]
        for index, corner in enumerate(self.corners):
            for name in split.inputs:
                given = profiles[index]._shapes.get(name) if profiles else None
                for i in range(3):
                    corner[i][name] = tuple(given[i]) if given else split.known[name][1]

    def profiles(self, inputs, known):
        if all(known[n][1] is not None and -1 not in known[n][1] for n in inputs):
            return None
        for corner in self.corners:
            for name in inputs:
                if corner[2].get(name) is None or -1 in corner[2][name]:
                    raise RecordingError(f"The extents of '{name}', which a part of the network behind a plugin reads, are not "
                                         "known before a run; give the plugin's output an upper bound.")
        return [{n: (c[0][n], c[1][n], c[2][n]) for n in inputs} for c in self.corners]


def build_parts(builder, network, config):
    adopt_plugins(network)
    data, settings = _building.exported(network)
    folder = network._parsed.external_data_dir if network._parsed else None
    chosen = _building.settings_of(config, network)
    if chosen["int8"] and "calibrator" not in chosen and settings["dynamic_ranges"]:
        chosen["calibrator"] = _building.Ranges(settings["dynamic_ranges"])
    monitor = _building.Monitoring(config.progress_monitor) if config.progress_monitor is not None else None
    layers = [layer for layer in network._layers if getattr(layer, "_runs", None) is not None]
    if layers:
        made = _build_split(builder, network, config, data, folder, chosen, monitor, layers)
    else:
        debug = ["*"] if settings["marks_unfused_tensors"] else settings["debug_tensors"]
        made = Whole(builder._build_native(data, folder, config, chosen, monitor), debug)
    if monitor is not None:
        monitor.finish()
    if chosen.get("algorithm_selector") is not None:
        chosen["algorithm_selector"].finish()
    return made


def _build_split(builder, network, config, data, folder, chosen, monitor, layers):
    if chosen.pop("calibrator", None) is not None or chosen["int8"]:
        raise RecordingError("A network with plugins in Python cannot be calibrated: quantize the model instead.")
    plugins = {layer._outputs[0].name: layer._runs for layer in layers}
    split = _Split(data, plugins)
    missing = set(plugins) - {n.outputs[0] for n, _ in split.nodes}
    for name in missing:
        raise RecordingError(f"The output '{name}' of a plugin is not found in the network; name it otherwise.")
    ranges, steps = _Ranges(config._profiles, split), []
    for at in sorted(split.parts):
        if split.parts[at][0]:
            model, inputs, outputs = split.segment(at)
            part_settings = dict(chosen, profiles=ranges.profiles(inputs, split.known))
            engine = builder._build_native(model, folder, config, part_settings, monitor)
            steps.append(_EngineStep(engine))
            _learn(engine, split, ranges)
        for node, _ in split.parts[at][1]:
            steps.append(_plugin_step(plugins[node.outputs[0]], node, split, ranges))
    ios = [[_entry(n, split.known[n]) for n in names] for names in (split.inputs, split.outputs)]
    profiles = [{n: (c[0][n], c[1][n], c[2][n], False) for n in split.inputs} for c in ranges.corners] \
        if config._profiles else []
    return Parts(steps, ios[0], ios[1], profiles, network.name, split.initializers)


def _entry(name, known):
    kind, shape = known
    text = dtypes.ONNX_NAMES.get(kind, "")
    return (name, text, text, shape)


def _learn(engine, split, ranges):
    """What a part's engine says of its outputs."""
    for name, _, dtype, shape in engine.outputs:
        kind = _types.data_type(dtype)
        number = dtypes.to_onnx(kind) if kind is not None else next(k for k, v in dtypes.ONNX_NAMES.items() if v == dtype)
        extents = None if shape is None else tuple(d if isinstance(d, int) and d >= 0 else -1 for d in shape)
        split.known[name] = (number, extents)
    context, inputs = engine.create_context(), [e[0] for e in engine.inputs]
    for index, corner in enumerate(ranges.corners):
        if engine.profiles:
            context.set_profile(index)
        for at in corner:
            for name in inputs:
                context.set_input_shape(name, at[name])
            for name, *_ in engine.outputs:
                known = context.tensor_shape(name)
                at[name] = tuple(known) if known is not None else None


def _plugin_step(plugin, node, split, ranges):
    """Adds what the plugin gives to what is known."""
    constants = {i: onnx_messages.TensorView(next(v for _, _, v, _ in wire.read_fields(split.initializers[i])))
                 for i in node.inputs if i in split.initializers}
    arrays = {n: t.array() for n, t in constants.items()}
    for name, view in constants.items():
        split.known[name] = (view.type, tuple(view.dims))
        for corner in ranges.corners:
            for at in corner:
                at[name] = tuple(view.dims)
    kinds = [dtypes.from_onnx(split.known[i][0]) for i in node.inputs]
    out_kinds = plugin.output_types(kinds)
    shapes = [split.known[i][1] for i in node.inputs]
    if any(s is None for s in shapes):
        raise RecordingError(f"The rank of an input of the plugin '{plugin.name}' is not known.")
    out_shapes = plugin.output_shapes(shapes)
    for corner in ranges.corners:
        for at in corner:
            if all(at.get(i) is not None for i in node.inputs):
                at.update(zip(node.outputs, plugin.output_shapes([at[i] for i in node.inputs], {})))
    first = ranges.corners[0]
    dynamic = [DynamicPluginTensorDesc(s, k, [at.get(i) or s for at in first]) for i, s, k in zip(node.inputs, shapes, kinds)]
    given = [DynamicPluginTensorDesc(s, k, [at.get(o) or s for at in first])
             for o, s, k in zip(node.outputs, out_shapes, out_kinds)]
    plugin.configure(dynamic, given)
    for name, kind, shape in zip(node.outputs, out_kinds, out_shapes):
        split.known[name] = (dtypes.to_onnx(kind), shape)
    return _PluginStep(plugin, node.name, list(node.inputs), list(node.outputs), kinds, out_kinds, arrays)


# ---- running in parts


class _EngineStep:
    def __init__(self, engine):
        self.engine = engine
        self.inputs, self.outputs = [e[0] for e in engine.inputs], [e[0] for e in engine.outputs]

    def layers(self, json_):
        return self.engine.layers(json_)

    def for_context(self):
        return _EngineRun(self)


class _EngineRun:
    def __init__(self, step):
        self.inputs, self.outputs = step.inputs, step.outputs
        self._context, self._has_profiles = step.engine.create_context(), bool(step.engine.profiles)

    def set_profile(self, index):
        if self._has_profiles:
            self._context.set_profile(index)

    def shapes(self, known):
        for name in self.inputs:
            if known.get(name) is None:
                return [None] * len(self.outputs)
            self._context.set_input_shape(name, known[name])
        return [self._context.tensor_shape(n) for n in self.outputs]

    def run(self, values, report, tap, stream):
        self._context.set_profiler(report)
        self._context.set_tap(tap)
        return self._context.run({n: values[n] for n in self.inputs})


class _PluginStep:
    def __init__(self, plugin, name, inputs, outputs, kinds, out_kinds, arrays):
        self.plugin, self.name, self.inputs, self.outputs = plugin, name, inputs, outputs
        self.kinds, self.out_kinds, self.arrays = kinds, out_kinds, arrays

    def layers(self, json_):
        if not json_:
            return [f"{self.name}: plugin {self.plugin.name} in Python"]
        return [json.dumps({"Name": self.name, "LayerType": LayerType.PLUGIN_V3.name if self.plugin.is_v3 else "PLUGIN_V2",
                            "Inputs": [{"Name": n} for n in self.inputs], "Outputs": [{"Name": n} for n in self.outputs],
                            "TacticName": f"plugin {self.plugin.name} in Python"})]

    def for_context(self):
        return _PluginRun(self)


class _PluginRun:
    def __init__(self, step):
        self._step, self.inputs, self.outputs = step, step.inputs, step.outputs
        self._plugin = step.plugin.for_context()

    def set_profile(self, index):
        pass

    def shapes(self, known):
        known = {**known, **{n: a.shape for n, a in self._step.arrays.items()}}
        if any(known.get(n) is None for n in self.inputs):
            return [None] * len(self.outputs)
        shapes = self._plugin.output_shapes([known[n] for n in self.inputs])
        return [None if -1 in s else s for s in shapes]

    def run(self, values, report, tap, stream):
        import time

        begin = time.perf_counter()
        arrays = [np.ascontiguousarray(self._step.arrays.get(n, values.get(n))) for n in self.inputs]
        outputs = self._plugin.enqueue(arrays, self._step.kinds, self._step.out_kinds, stream)
        if report is not None:
            report(self._step.name, (time.perf_counter() - begin) * 1000.0)
        result = dict(zip(self.outputs, outputs))
        if tap is not None:
            for name, value in result.items():
                tap(name, value)
        return result


class Parts:
    """A network of parts for the library with plugins between them."""

    debug_tensors = ()

    def __init__(self, steps, inputs, outputs, profiles, name, _=None):
        self.steps, self.inputs, self.outputs, self.profiles, self.name = steps, inputs, outputs, profiles, name
        self.native_engines = [s.engine for s in steps if isinstance(s, _EngineStep)]

    is_refittable = property(lambda self: all(e.is_refittable for e in self.native_engines))
    device_memory_size = property(lambda self: sum(e.device_memory_size for e in self.native_engines))

    def layers(self, json_):
        return [layer for s in self.steps for layer in s.layers(json_)]

    def information(self, json_):
        layers = self.layers(json_)
        return json.dumps({"Layers": [json.loads(x) for x in layers]}) if json_ else "\n".join(layers)

    def create_context(self):
        return _PartsContext(self)

    def plan(self):
        steps, blobs = [], []
        for s in self.steps:
            if isinstance(s, _EngineStep):
                steps.append({"engine": len(blobs)})
                blobs.append(s.engine.serialize())
                continue
            head, data = s.plugin.saved()
            arrays = [[n, a.dtype.str, list(a.shape), len(blobs) + 1 + i] for i, (n, a) in enumerate(s.arrays.items())]
            steps.append({"plugin": head, "blob": len(blobs), "name": s.name, "inputs": s.inputs, "outputs": s.outputs,
                          "kinds": [k.name for k in s.kinds], "out_kinds": [k.name for k in s.out_kinds], "arrays": arrays})
            blobs += [data, *[a.tobytes() for a in s.arrays.values()]]
        return _packed({"steps": steps, "inputs": self.inputs, "outputs": self.outputs, "profiles": self.profiles,
                        "name": self.name}, blobs)


class _PartsContext:
    """Has what the library's context has, as far as IExecutionContext asks."""
    can_bind = False

    def __init__(self, parts):
        self._runs = [s.for_context() for s in parts.steps]
        self._parts, self._shapes, self._report, self._tap, self.stream = parts, {}, None, None, 0
        self._profile = 0

    def set_profile(self, index):
        import assay

        if not 0 <= index < max(1, len(self._parts.profiles)):
            raise assay.InvalidArgument(f"there is no optimization profile {index}")
        for r in self._runs:
            r.set_profile(index)
        self._profile, self._shapes = index, {}

    def set_input_shape(self, name, shape):
        import assay

        entry = next(e for e in self._parts.inputs if e[0] == name)
        declared, shape = entry[3], tuple(shape)
        fits = len(declared) == len(shape) and all(d in (-1, s) for d, s in zip(declared, shape))
        if fits and self._parts.profiles:
            low, _, high, _ = self._parts.profiles[self._profile][name]
            fits = all(a <= s <= b for a, s, b in zip(low, shape, high))
        if not fits:
            raise assay.InvalidArgument(f"the shape {shape} of '{name}' does not fit {tuple(declared)} or the profile")
        self._shapes[name] = shape

    def tensor_shape(self, name):
        known = dict(self._shapes)
        for r in self._runs:
            known.update(zip(r.outputs, r.shapes(known)))
        return known.get(name)

    def set_profiler(self, report):
        self._report = report

    def set_tap(self, tap):
        self._tap = tap

    def run(self, feed):
        values = dict(feed)
        for r in self._runs:
            values.update(r.run(values, self._report, self._tap, self.stream))
        return {e[0]: values[e[0]] for e in self._parts.outputs}


# ---- plans in parts


def _packed(head, blobs):
    text = json.dumps({**head, "sizes": [len(b) for b in blobs]}).encode()
    return b"".join([_MAGIC, struct.pack("<Q", len(text)), text, *blobs])


def read_plan(plan):
    """Of bytes. Raises assay.Error where they are no plan."""
    import assay
    from assay._engine import default_runtime
    from assay._library import follow_level

    follow_level()
    runtime = default_runtime()._native
    if bytes(plan[:len(_MAGIC)]) != _MAGIC:
        return Whole(runtime.deserialize(plan))
    try:
        view = memoryview(plan).cast("B")
        size = struct.unpack_from("<Q", view, len(_MAGIC))[0]
        at = len(_MAGIC) + 8
        head = json.loads(bytes(view[at:at + size]))
        at += size
        if sum(head["sizes"]) != len(view) - at:
            raise ValueError("a part is missing")
        blobs = []
        for length in head["sizes"]:
            blobs.append(bytes(view[at:at + length]))
            at += length
        if head.get("whole"):
            return Whole(runtime.deserialize(blobs[0]), head["debug"])
        steps = [_restored_step(runtime, s, blobs) for s in head["steps"]]
        ios = [[(n, t, d, None if s is None else tuple(s)) for n, t, d, s in head[k]] for k in ("inputs", "outputs")]
        profiles = [{n: tuple(tuple(x) if isinstance(x, list) else x for x in r) for n, r in p.items()} for p in head["profiles"]]
        return Parts(steps, ios[0], ios[1], profiles, head["name"])
    except (ValueError, KeyError, IndexError, TypeError, struct.error) as error:
        if isinstance(error, assay.Error):
            raise
        raise assay.InvalidArgument(f"the plan with plugins is damaged: {error}") from error


def _restored_step(runtime, step, blobs):
    if "engine" in step:
        return _EngineStep(runtime.deserialize(blobs[step["engine"]]))
    arrays = {n: np.frombuffer(blobs[i], d).reshape(s) for n, d, s, i in step["arrays"]}
    return _PluginStep(Plugin.restored(step["plugin"], blobs[step["blob"]]), step["name"], step["inputs"], step["outputs"],
                       [DataType[k] for k in step["kinds"]], [DataType[k] for k in step["out_kinds"]], arrays)
