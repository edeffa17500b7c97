"""Messages between assay and this process, the same in both directions.

    8 bytes   b"assay" and the version of the protocol (three digits)
    8 bytes   length of the header
    8 bytes   length of the body
    header    JSON
    body      the arrays that the header mentions, one behind the other, in the order of its mentions

Numbers are little-endian. In the header a value is JSON, except that objects are marked by their only key:

    {"d": [[name, value], ...]}         a dictionary with strings as names, in order
    {"t": [type, [extents], bytes]}     an array; the type is ONNX's number. Types of fewer than 8 bits take a byte per
                                        element; strings are a 32-bit length and UTF-8 each.
    {"s": [value, ...]}                 a sequence, {"o": [value] or []} an optional, {"m": [keys, values]} a map
"""

import json
import os
import struct

VERSION = b"assay001"
HEAD = struct.Struct("<8sQQ")
LARGEST_WRITE = 1 << 30


class Disconnected(Exception):
    """The other process is gone."""


class Channel:
    """Both directions. NumPy is imported when the first array travels."""

    def __init__(self, requests, answers):
        self.requests, self.answers = requests, answers

    def receive(self):
        """The next message with its arrays; raises Disconnected at the end. After any other exception the next message can
        be received."""
        head = bytearray(HEAD.size)
        self._read(memoryview(head))
        version, header_bytes, self._body_left = HEAD.unpack(head)
        if version != VERSION:
            raise Disconnected(f"not a message of assay: {bytes(head)!r}")
        header = bytearray(header_bytes)
        self._read(memoryview(header))
        try:
            return self._decode(json.loads(header))
        finally:
            self._skip_body()

    def send(self, message):
        buffers = []
        header = json.dumps(_encode(message, buffers)).encode("ascii")
        body = sum(b.nbytes for b in buffers)
        self._write([memoryview(HEAD.pack(VERSION, len(header), body) + header), *buffers])

    def _decode(self, node):
        if isinstance(node, list):
            return [self._decode(x) for x in node]
        if not isinstance(node, dict):
            return node
        ((kind, content),) = node.items()
        if kind == "d":
            return {name: self._decode(x) for name, x in content}
        if kind == "t":
            from . import values

            return values.read_array(*content, self._read_body)
        if kind == "s":
            return [self._decode(x) for x in content]
        if kind == "o":
            return self._decode(content[0]) if content else None
        keys, elements = (self._decode(x) for x in content)
        return dict(zip(keys.tolist(), elements))

    def _read_body(self, view):
        self._body_left -= view.nbytes
        self._read(view)

    def _skip_body(self):
        while self._body_left:
            self._read_body(memoryview(bytearray(min(self._body_left, 1 << 20))))

    def _read(self, view):
        while view:
            n = os.readv(self.requests, [view])
            if n == 0:
                raise Disconnected
            view = view[n:]

    def _write(self, views):
        for view in views:
            while view:
                try:
                    n = os.write(self.answers, view[:LARGEST_WRITE])
                except BrokenPipeError:
                    raise Disconnected from None
                view = view[n:]


def _encode(node, buffers):
    """The form of the header; the bytes of arrays go to `buffers`. What has write_to() (values.Encoded) is an ONNX value."""
    if isinstance(node, dict):
        return {"d": [[name, _encode(x, buffers)] for name, x in node.items()]}
    if isinstance(node, (list, tuple)):
        return [_encode(x, buffers) for x in node]
    if hasattr(node, "write_to"):
        return node.write_to(buffers)
    return node
