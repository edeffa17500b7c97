"""Writes the few ONNX messages that the error cases need, without any package: protobuf by hand."""

FLOAT = 1


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def chunk(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def value_info(name, dims, dtype=FLOAT):
    """dims: numbers, or text for a named extent."""
    extents = b"".join(chunk(1, number(1, d) if isinstance(d, int) else chunk(2, d)) for d in dims)
    return chunk(1, name) + chunk(2, chunk(1, number(1, dtype) + chunk(2, extents)))


def int_attribute(name, value):
    return chunk(1, name) + number(3, value) + number(20, 2)


def ints_attribute(name, values):
    return chunk(1, name) + b"".join(number(8, v) for v in values) + number(20, 7)


def tensor_attribute(name, value):
    """value: what tensor() gave."""
    return chunk(1, name) + chunk(5, value) + number(20, 4)


def node(op, inputs, outputs, name="", domain="", attributes=()):
    message = b"".join(chunk(1, i) for i in inputs) + b"".join(chunk(2, o) for o in outputs)
    message += (chunk(3, name) if name else b"") + chunk(4, op) + b"".join(chunk(5, a) for a in attributes)
    return message + (chunk(7, domain) if domain else b"")


def tensor(name, dims, raw, dtype=FLOAT, external=()):
    """external: pairs of keys and values; then raw is not stored."""
    message = b"".join(number(1, d) for d in dims) + number(2, dtype) + chunk(8, name)
    if external:
        entries = b"".join(chunk(13, chunk(1, k) + chunk(2, v)) for k, v in external)
        return message + entries + number(14, 1)
    return message + chunk(9, raw)


def model(nodes, inputs, outputs, initializers=(), opset=13, domain="", name="g", values=()):
    """values: of values between nodes, what value_info() gave."""
    graph = b"".join(chunk(1, n) for n in nodes) + chunk(2, name) + b"".join(chunk(5, i) for i in initializers)
    graph += b"".join(chunk(11, i) for i in inputs) + b"".join(chunk(12, o) for o in outputs)
    graph += b"".join(chunk(13, v) for v in values)
    return number(1, 8) + chunk(7, graph) + chunk(8, (chunk(1, domain) if domain else b"") + number(2, opset))
