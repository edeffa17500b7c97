"""Protobuf's wire format: fields in the order in which they are stored, each with its bytes, so that what is not
changed is written as it was read."""

import struct

from .errors import RecordingError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def read_varint(data, at):
    """(value, place behind it)."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise RecordingError("These bytes are no ONNX model: a number in them does not end.")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7


def signed(value):
    """A varint as the int64 that it stands for."""
    return value - (1 << 64) if value >= 1 << 63 else value


def read_fields(data):
    """Yields (number, wire type, value, bytes of the whole field); values of type BYTES are views. Throws
    RecordingError where the bytes are no message."""
    data = memoryview(data)
    at, end = 0, len(data)
    while at < end:
        start = at
        key, at = read_varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = read_varint(data, at)
        elif kind == BYTES:
            size, at = read_varint(data, at)
            if size > end - at:
                raise RecordingError(f"These bytes are no ONNX model, or a part is missing: a field of {size} bytes has "
                                     f"only {end - at} left.")
            value, at = data[at:at + size], at + size
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
            if size > end - at:
                raise RecordingError("These bytes are no ONNX model, or a part is missing.")
            value, at = data[at:at + size], at + size
        else:
            raise RecordingError(f"These bytes are no ONNX model: a field of type {kind} in them.")
        if number == 0:
            raise RecordingError("These bytes are no ONNX model: a field with the number 0 in them.")
        yield number, kind, value, data[start:at]


def varint(value):
    value &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number_field(number, value):
    return varint(number << 3 | VARINT) + varint(value)


def float_field(number, value):
    return varint(number << 3 | FIXED32) + struct.pack("<f", value)


def bytes_field(number, value):
    if isinstance(value, str):
        value = value.encode()
    return b"".join((varint(number << 3 | BYTES), varint(len(value)), value))


def chunks_field(number, chunks):
    """A field whose bytes lie in pieces, as pieces: large ones are not copied."""
    return [varint(number << 3 | BYTES) + varint(sum(map(len, chunks))), *chunks]


def packed_field(number, values):
    return bytes_field(number, b"".join(varint(v) for v in values))


def packed_numbers(kind, value):
    """The numbers of a repeated field that may be packed."""
    if kind == VARINT:
        return [signed(value)]
    numbers, at = [], 0
    while at < len(value):
        number, at = read_varint(value, at)
        numbers.append(signed(number))
    return numbers


def text(value):
    return bytes(value).decode("utf-8", "replace")
