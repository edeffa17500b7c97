"""ONNX's messages: those that are written are made here, those that are read are wrapped and keep their bytes."""

import struct

from . import dtypes, wire
from .errors import RecordingError

ATTR_FLOAT, ATTR_INT, ATTR_STRING, ATTR_TENSOR, ATTR_GRAPH, ATTR_FLOATS, ATTR_INTS, ATTR_STRINGS = 1, 2, 3, 4, 5, 6, 7, 8
ATTR_GRAPHS = 10


# ---- written

class GraphBytes(bytes):
    """A GraphProto, as the value of an attribute."""


class TensorBytes(bytes):
    """A TensorProto, as the value of an attribute."""


def attribute(name, value):
    """An AttributeProto from an int, float, str, list of those, TensorBytes or GraphBytes."""
    if isinstance(value, GraphBytes):
        body, kind = wire.bytes_field(6, value), ATTR_GRAPH
    elif isinstance(value, TensorBytes):
        body, kind = wire.bytes_field(5, value), ATTR_TENSOR
    elif isinstance(value, bool) or isinstance(value, int):
        body, kind = wire.number_field(3, int(value)), ATTR_INT
    elif isinstance(value, float):
        body, kind = wire.float_field(2, value), ATTR_FLOAT
    elif isinstance(value, str):
        body, kind = wire.bytes_field(4, value), ATTR_STRING
    elif all(isinstance(v, int) for v in value):
        body, kind = wire.packed_field(8, value), ATTR_INTS
    elif all(isinstance(v, float) for v in value):
        body, kind = wire.bytes_field(7, struct.pack(f"<{len(value)}f", *value)), ATTR_FLOATS
    else:
        body, kind = b"".join(wire.bytes_field(9, v) for v in value), ATTR_STRINGS
    return wire.bytes_field(1, name) + body + wire.number_field(20, kind)


def node(op_type, inputs, outputs, name="", domain="", attributes=None):
    """A NodeProto; inputs that are None are left out."""
    parts = [wire.bytes_field(1, i or "") for i in inputs]
    parts += [wire.bytes_field(2, o) for o in outputs]
    if name:
        parts.append(wire.bytes_field(3, name))
    parts.append(wire.bytes_field(4, op_type))
    parts += [wire.bytes_field(5, attribute(k, v)) for k, v in (attributes or {}).items()]
    if domain:
        parts.append(wire.bytes_field(7, domain))
    return b"".join(parts)


def tensor(name, kind, dims, raw):
    """The pieces of a TensorProto with its elements as bytes."""
    return [wire.packed_field(1, dims) if dims else b"", wire.number_field(2, kind), wire.bytes_field(8, name),
            *wire.chunks_field(9, [raw])]


def value_info(name, kind, shape, dim_names=None):
    """A ValueInfoProto; `shape` None where the rank is not known, -1 for an open extent."""
    body = wire.number_field(1, kind)
    if shape is not None:
        dims = []
        for i, d in enumerate(shape):
            label = (dim_names or {}).get(i)
            dims.append(wire.bytes_field(1, wire.number_field(1, d) if d >= 0
                                         else wire.bytes_field(2, label) if label else b""))
        body += wire.bytes_field(2, b"".join(dims))
    return wire.bytes_field(1, name) + wire.bytes_field(2, wire.bytes_field(1, body))


def opset_import(version, domain=""):
    return (wire.bytes_field(1, domain) if domain else b"") + wire.number_field(2, version)


# ---- read

class NodeView:
    """A NodeProto that was read."""

    def __init__(self, data):
        self.data = data
        self.inputs, self.outputs = [], []
        self.name = self.op_type = self.domain = ""
        self._attributes, self._raw_attributes = None, []
        self.metadata = {}
        for number, kind, value, _ in wire.read_fields(data):
            if number == 1:
                self.inputs.append(wire.text(value))
            elif number == 2:
                self.outputs.append(wire.text(value))
            elif number == 3:
                self.name = wire.text(value)
            elif number == 4:
                self.op_type = wire.text(value)
            elif number == 5:
                self._raw_attributes.append(value)
            elif number == 7:
                self.domain = wire.text(value)
            elif number == 9:
                entry = {n: wire.text(text) for n, _, text, _ in wire.read_fields(value)}
                self.metadata[entry.get(1, "")] = entry.get(2, "")
        if self.domain == "ai.onnx":
            self.domain = ""

    @property
    def attributes(self):
        """Name to value: int, float, str, lists of them, TensorView, GraphView."""
        if self._attributes is None:
            self._attributes = dict(read_attribute(a) for a in self._raw_attributes)
        return self._attributes

    def graphs(self):
        """The bodies of If, Loop, Scan and the like."""
        for value in self.attributes.values():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, GraphView):
                    yield item

    def written(self, inputs, outputs, name):
        """Its bytes with other names; the same bytes where nothing is other."""
        if inputs == self.inputs and outputs == self.outputs and name == self.name:
            return bytes(self.data)
        parts = [wire.bytes_field(1, i) for i in inputs] + [wire.bytes_field(2, o) for o in outputs]
        parts.append(wire.bytes_field(3, name))
        parts += [raw for number, _, _, raw in wire.read_fields(self.data) if number not in (1, 2, 3)]
        return b"".join(parts)


def read_attribute(data):
    """(name, value) of an AttributeProto; None for kinds that nothing here asks about."""
    name, kind, found = "", 0, {}
    for number, wire_kind, value, _ in wire.read_fields(data):
        if number == 1:
            name = wire.text(value)
        elif number == 20:
            kind = value
        elif number in (7, 8, 9, 11):
            found.setdefault(number, []).append((wire_kind, value))
        else:
            found[number] = value
    if kind == ATTR_INT:
        return name, wire.signed(found.get(3, 0))
    if kind == ATTR_FLOAT:
        return name, struct.unpack("<f", found[2])[0] if 2 in found else 0.0
    if kind == ATTR_STRING:
        return name, wire.text(found.get(4, b""))
    if kind == ATTR_TENSOR:
        return name, TensorView(found.get(5, b""))
    if kind == ATTR_GRAPH:
        return name, GraphView(found.get(6, b""))
    if kind == ATTR_INTS:
        return name, [n for k, v in found.get(8, []) for n in wire.packed_numbers(k, v)]
    if kind == ATTR_FLOATS:
        return name, [f for _, v in found.get(7, []) for f in struct.unpack(f"<{len(v) // 4}f", v)]
    if kind == ATTR_STRINGS:
        return name, [wire.text(v) for _, v in found.get(9, [])]
    if kind == ATTR_GRAPHS:
        return name, [GraphView(v) for _, v in found.get(11, [])]
    return name, None


class TensorView:
    """A TensorProto that was read."""

    def __init__(self, data):
        self.data = data
        self.name, self.type, self.dims, self.raw, self.external = "", 0, [], None, {}
        self._typed = []
        for number, kind, value, _ in wire.read_fields(data):
            if number == 1:
                self.dims += wire.packed_numbers(kind, value)
            elif number == 2:
                self.type = value
            elif number == 8:
                self.name = wire.text(value)
            elif number == 9:
                self.raw = value
            elif number == 13:
                entry = {n: wire.text(v) for n, _, v, _ in wire.read_fields(value)}
                self.external[entry.get(1, "")] = entry.get(2, "")
            elif number in (4, 5, 7, 10, 11):
                self._typed.append((number, kind, value))

    @property
    def is_external(self):
        return "location" in self.external

    def array(self):
        """The elements as a NumPy array; None where they lie in another file or NumPy has no such type."""
        import numpy
        kind = dtypes.numpy_dtype(self.type)
        if kind is None or self.is_external:
            return None
        if self.raw is not None:
            return numpy.frombuffer(self.raw, dtype=kind.newbyteorder("<")).reshape(self.dims)
        if any(number in (4, 10) for number, _, _ in self._typed):
            stored = "<f4" if self._typed[0][0] == 4 else "<f8"
            flat = numpy.concatenate([numpy.frombuffer(v, dtype=stored) for _, _, v in self._typed])
        else:
            flat = numpy.array([n for _, k, v in self._typed for n in wire.packed_numbers(k, v)], dtype=numpy.int64)
            if self.type == dtypes.HALF:
                flat = flat.astype(numpy.uint16).view(numpy.float16)
        return flat.astype(kind).reshape(self.dims)

    def raw_bytes(self):
        """The elements as ONNX's raw data; None where array() gives none."""
        if self.raw is not None:
            return bytes(self.raw)
        array = self.array()
        return None if array is None else array.tobytes()

    def renamed(self, name):
        """Its pieces under another name."""
        if name == self.name:
            return [self.data]
        return [wire.bytes_field(8, name), *(r for n, _, _, r in wire.read_fields(self.data) if n != 8)]


class ValueView:
    """A ValueInfoProto that was read: name, ONNX's element type (None: no tensor), shape (None: rank not known; -1: open
    extent), names of extents."""

    def __init__(self, data):
        self.data = data
        self.name, self.type, self.shape, self.dim_names = "", None, None, {}
        for number, _, value, _ in wire.read_fields(data):
            if number == 1:
                self.name = wire.text(value)
            elif number == 2:
                for kind, _, body, _ in wire.read_fields(value):
                    if kind == 1:
                        self._read_tensor(body)

    def _read_tensor(self, data):
        for number, _, value, _ in wire.read_fields(data):
            if number == 1:
                self.type = value
            elif number == 2:
                self.shape = []
                for _, _, dim, _ in (f for f in wire.read_fields(value) if f[0] == 1):
                    self._read_dim(dim)

    def _read_dim(self, data):
        extent = -1
        for number, _, value, _ in wire.read_fields(data):
            if number == 1:
                extent = wire.signed(value)
            elif number == 2:
                self.dim_names[len(self.shape)] = wire.text(value)
        self.shape.append(max(extent, -1))

    def renamed(self, name):
        if name == self.name:
            return bytes(self.data)
        return wire.bytes_field(1, name) + b"".join(r for n, _, _, r in wire.read_fields(self.data) if n != 1)


class GraphView:
    """A GraphProto that was read; `rest` holds the fields that are none of the others, as they are."""

    def __init__(self, data):
        self.data = data
        self.name = ""
        self.nodes, self.initializers, self.inputs, self.outputs, self.values = [], [], [], [], []
        self.sparse_names, self.rest = [], []
        for number, _, value, raw in wire.read_fields(data):
            if number == 1:
                self.nodes.append(NodeView(value))
            elif number == 2:
                self.name = wire.text(value)
            elif number == 5:
                self.initializers.append(TensorView(value))
            elif number == 11:
                self.inputs.append(ValueView(value))
            elif number == 12:
                self.outputs.append(ValueView(value))
            elif number == 13:
                self.values.append(ValueView(value))
            else:
                if number == 15:
                    values = [v for n, _, v, _ in wire.read_fields(value) if n == 1]
                    self.sparse_names += [TensorView(v).name for v in values]
                self.rest.append(raw)

    def captured(self):
        """Names that it takes from the graphs around it."""
        own = {i.name for i in self.inputs} | {t.name for t in self.initializers} | set(self.sparse_names)
        for n in self.nodes:
            own.update(n.outputs)
        wanted = {o.name for o in self.outputs}
        for n in self.nodes:
            wanted.update(n.inputs)
            for g in n.graphs():
                wanted |= g.captured()
        return wanted - own - {""}


class ModelView:
    """A ModelProto that was read."""

    def __init__(self, data):
        self.ir_version, self.opsets, self.graph, self.metadata, self.rest = 0, {}, None, {}, []
        for number, _, value, raw in wire.read_fields(data):
            if number == 1:
                self.ir_version = wire.signed(value)
            elif number == 7:
                self.graph = GraphView(value)
            elif number == 8:
                entry = {n: v for n, _, v, _ in wire.read_fields(value)}
                domain = wire.text(entry.get(1, b""))
                self.opsets["" if domain == "ai.onnx" else domain] = wire.signed(entry.get(2, 0))
            else:
                self.rest.append(raw)
        if self.graph is None:
            raise RecordingError("These bytes are no ONNX model: there is no graph in them.")
