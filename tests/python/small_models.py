"""Models of a few nodes, as bytes, written without the package onnx."""

import struct


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while True:
        out.append((n & 0x7F) | (0x80 if n > 0x7F else 0))
        n >>= 7
        if not n:
            return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8, "bool": 9,
    "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16,
    "float8_e4m3fn": 17, "float8_e5m2": 19, "uint4": 21, "int4": 22,
}  # fmt: skip


def value(name, dtype, shape):
    dims = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in shape)
    tensor = field(1, TYPES[dtype]) + field(2, dims)
    return field(1, name) + field(2, field(1, tensor))


def attribute(name, v):
    if isinstance(v, int):
        return field(1, name) + field(3, v) + field(20, 2)
    if isinstance(v, float):
        return field(1, name) + varint(2 << 3 | 5) + struct.pack("<f", v) + field(20, 1)
    return field(1, name) + b"".join(field(8, i) for i in v) + field(20, 7)


def node(op, inputs, outputs, name="", **attributes):
    return (
        b"".join(field(1, i) for i in inputs)
        + b"".join(field(2, o) for o in outputs)
        + field(3, name or outputs[0] + "_node")
        + field(4, op)
        + b"".join(field(5, attribute(k, v)) for k, v in attributes.items())
    )


def initializer(name, array):
    """Of an array of NumPy."""
    return (
        b"".join(field(1, d) for d in array.shape)
        + field(2, TYPES[str(array.dtype)])
        + field(8, name)
        + field(9, array.tobytes())
    )


def model(nodes, inputs, outputs, initializers=(), opset=21):
    graph = (
        b"".join(field(1, n) for n in nodes)
        + field(2, "small")
        + b"".join(field(5, i) for i in initializers)
        + b"".join(field(11, value(*i)) for i in inputs)
        + b"".join(field(12, value(*o)) for o in outputs)
    )
    return field(1, 10) + field(8, field(1, "") + field(2, opset)) + field(7, graph)


def identity(dtype="float32", shape=(2, 3)):
    return model([node("Identity", ["x"], ["y"])], [("x", dtype, shape)], [("y", dtype, shape)])


def chain(nodes):
    """Relu after Relu."""
    names = ["x", *(f"v{i}" for i in range(nodes - 1)), "y"]
    return model(
        [node("Relu", [a], [b]) for a, b in zip(names, names[1:])], [("x", "float32", (2, 3))],
        [("y", "float32", (2, 3))],
    )  # fmt: skip


def product(rows, columns, times=1, seed=0):
    """x @ w, `times` times, with a Relu after each."""
    import numpy as np

    random = np.random.default_rng(seed)
    nodes, weights, last = [], [], "x"
    for i in range(times):
        w = random.standard_normal((columns, columns)).astype(np.float32) / np.float32(columns**0.5)
        weights.append(initializer(f"w{i}", w))
        nodes.append(node("MatMul", [last, f"w{i}"], [f"p{i}"]))
        last = "y" if i == times - 1 else f"r{i}"
        nodes.append(node("Relu", [f"p{i}"], [last]))
    return model(nodes, [("x", "float32", (rows, columns))], [("y", "float32", (rows, columns))], weights)
