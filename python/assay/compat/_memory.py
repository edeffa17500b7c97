"""The stand-in for a device's memory: memory of the host, of which it is known where each allocation begins and ends.

cuda.cudart, cuda.bindings, pycuda, libcudart and tensorrt share what is allocated here.
"""

from __future__ import annotations

import bisect
import collections
import ctypes
import os
import threading
from collections.abc import Callable
from typing import Any, Optional

ALIGNMENT = 256
HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT = range(5)

SUCCESS, INVALID_VALUE, OUT_OF_MEMORY = 0, 1, 2
INVALID_COPY_DIRECTION, INVALID_DEVICE, INVALID_HANDLE, ILLEGAL_STATE = 21, 101, 400, 401
NOT_READY, LAUNCH_FAILURE, NOT_SUPPORTED = 600, 719, 801
ALREADY_REGISTERED, NOT_REGISTERED = 712, 713
CAPTURE_UNSUPPORTED = 900


class DeviceError(Exception):
    """What a call of the stand-in cannot do: the code that the real interface would give, and the reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Allocation:
    """A piece of memory: ``device``, ``pinned`` (of the host, allocated through the device's interface) or ``managed``."""

    __slots__ = ("address", "kind", "owner", "size")

    def __init__(self, address: int, size: int, kind: str, owner: object = None) -> None:
        self.address, self.size, self.kind, self.owner = address, size, kind, owner

    @property
    def end(self) -> int:
        return self.address + self.size

    def __repr__(self) -> str:
        return f"<{self.kind} memory on the host (assay's stand-in for a device): {self.size} bytes at {self.address:#x}>"


_libc = ctypes.CDLL(None)
_libc.posix_memalign.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_size_t]
_libc.free.argtypes = [ctypes.c_void_p]
_libc.free.restype = None
_libc.msync.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_PAGE = os.sysconf("SC_PAGE_SIZE")

_lock = threading.RLock()
_addresses: list[int] = []
_allocations: dict[int, Allocation] = {}

# What was freed last is not given to anybody else for a while, so that its use is noticed.
_QUARANTINE_BYTES, _QUARANTINE_COUNT = 64 << 20, 1024
_freed: collections.OrderedDict[int, int] = collections.OrderedDict()
_freed_bytes = 0


def _quarantine(address: int, size: int) -> None:
    global _freed_bytes
    _freed[address] = size
    _freed_bytes += size
    while _freed and (_freed_bytes > _QUARANTINE_BYTES or len(_freed) > _QUARANTINE_COUNT):
        oldest, bytes_ = _freed.popitem(last=False)
        _freed_bytes -= bytes_
        _libc.free(oldest)


def was_freed(address: int) -> bool:
    """Whether `address` lies in memory that was freed a short while ago."""
    with _lock:
        return any(start <= address < start + size for start, size in _freed.items())


def is_mapped(address: int, size: int) -> bool:
    """Whether the process has memory there."""
    first = address & ~(_PAGE - 1)
    return _libc.msync(first, address + size - first, 1) == 0


def total_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def used_bytes() -> int:
    with _lock:
        return sum(a.size for a in _allocations.values() if a.owner is None)


def allocate(size: Any, kind: str = "device") -> int:
    """The address of new memory, at a multiple of 256; its elements are whatever was there. 0 bytes: 0."""
    size = int(size)
    if size < 0 or size > 1 << 63:
        raise DeviceError(INVALID_VALUE, f"{size} bytes cannot be allocated")
    if size == 0:
        return 0
    if size > total_bytes():
        raise DeviceError(OUT_OF_MEMORY, f"{size} bytes are more than this machine's memory of {total_bytes()}")
    memory = ctypes.c_void_p()
    if _libc.posix_memalign(ctypes.byref(memory), ALIGNMENT, size) != 0 or not memory.value:
        raise DeviceError(OUT_OF_MEMORY, f"there is no memory for {size} bytes")
    _note(Allocation(memory.value, size, kind))
    return memory.value


def _note(a: Allocation) -> None:
    with _lock:
        if a.address not in _allocations:
            bisect.insort(_addresses, a.address)
        _allocations[a.address] = a


def _forget(address: int) -> None:
    del _allocations[address]
    del _addresses[bisect.bisect_left(_addresses, address)]


def free(address: Any, kinds: tuple[str, ...] = ("device", "managed")) -> None:
    """Gives memory back; 0 is none. Raises DeviceError for an address that nobody allocated, or that is free already."""
    address = int(address)
    if address == 0:
        return
    with _lock:
        a = _allocations.get(address)
        if a is None or a.kind not in kinds or a.owner is not None:
            raise DeviceError(INVALID_VALUE, f"no {' or '.join(kinds)} memory begins at {address:#x}, or it was freed before")
        _forget(address)
        _quarantine(address, a.size)


def register_host(address: Any, size: Any, owner: object = True) -> None:
    """Memory of the user's becomes pinned, as the real call does; here nothing changes but that its end is known."""
    address, size = int(address), int(size)
    with _lock:
        if address in _allocations:
            raise DeviceError(ALREADY_REGISTERED, f"the memory at {address:#x} is registered already")
        if address == 0 or size <= 0:
            raise DeviceError(INVALID_VALUE, "there is no memory to be registered")
        _note(Allocation(address, size, "pinned", owner))


def unregister_host(address: Any) -> None:
    with _lock:
        a = _allocations.get(int(address))
        if a is None or a.owner is None:
            raise DeviceError(NOT_REGISTERED, f"the memory at {int(address):#x} is not registered")
        _forget(a.address)


def find(address: int) -> Optional[Allocation]:
    """What holds the byte at `address`."""
    with _lock:
        at = bisect.bisect_right(_addresses, address) - 1
        if at < 0:
            return None
        a = _allocations[_addresses[at]]
        return a if address < a.end else None


def room(address: int) -> Optional[int]:
    """Bytes from `address` to its allocation's end; None for memory that is not ours."""
    a = find(address)
    return None if a is None else a.end - address


def is_pageable(address: int) -> bool:
    return find(address) is None


def _check(address: int, size: int, side: str, what: str) -> None:
    if address == 0:
        raise DeviceError(INVALID_VALUE, f"the {what} is a null pointer")
    a = find(address)
    if a is None:
        if side == "device":
            raise DeviceError(INVALID_VALUE, f"the {what} {address:#x} lies in no memory that was allocated, or it was freed")
        check_foreign(address, size, what)
        return
    if a.kind == "device" and side == "host":
        raise DeviceError(INVALID_VALUE, f"the {what} {address:#x} is memory of the device, and the copy's direction says host")
    if size > a.end - address:
        raise DeviceError(
            INVALID_VALUE, f"{size} bytes at the {what} {address:#x} reach {size - (a.end - address)} bytes beyond the end of {a!r}")


def check_foreign(address: int, size: int, what: str) -> None:
    """Raises DeviceError for memory of somebody else's that cannot be there."""
    if was_freed(address):
        raise DeviceError(INVALID_VALUE, f"the memory at the {what} {address:#x} was freed")
    if not is_mapped(address, size):
        raise DeviceError(INVALID_VALUE, f"the {what} {address:#x} with {size} bytes is no memory of this process")


_SIDES = {
    HOST_TO_HOST: ("host", "host"),
    HOST_TO_DEVICE: ("device", "host"),
    DEVICE_TO_HOST: ("host", "device"),
    DEVICE_TO_DEVICE: ("device", "device"),
    DEFAULT: ("any", "any"),
}


def check_copy(destination: int, source: int, size: int, kind: int) -> None:
    """Raises DeviceError for what a copy may not do."""
    if kind not in _SIDES:
        raise DeviceError(INVALID_COPY_DIRECTION, f"{kind} is no direction of a copy")
    if size < 0:
        raise DeviceError(INVALID_VALUE, f"{size} bytes cannot be copied")
    if size == 0:
        return
    to, origin = _SIDES[kind]
    _check(destination, size, to, "destination")
    _check(source, size, origin, "source")


def check_device(address: int, size: int, what: str = "address") -> None:
    if size > 0:
        _check(address, size, "device", what)


def copy(destination: int, source: int, size: int, kind: int) -> None:
    check_copy(destination, source, size, kind)
    if size:
        ctypes.memmove(destination, source, size)


def fill(address: int, value: int, size: int) -> None:
    check_device(address, size)
    if size:
        ctypes.memset(address, value & 0xFF, size)


class Buffer:
    """The address of a number, of an object with __int__, or of one with the buffer protocol, which it keeps."""

    __slots__ = ("_kept", "address", "size")

    def __init__(self, value: Any, writable: bool = False) -> None:
        self._kept: object = value
        self.size: Optional[int] = None
        if isinstance(value, int):
            self.address = int(value)
            return
        if value is None:
            self.address = 0
            return
        interface = getattr(value, "__array_interface__", None)
        if interface is not None:
            self.address, read_only = interface["data"]
            if writable and read_only:
                raise DeviceError(INVALID_VALUE, "the array is read-only")
            self.size = value.nbytes
            return
        if hasattr(value, "data_ptr"):
            self.address = value.data_ptr()
            return
        if hasattr(value, "__int__"):
            self.address = int(value)
            return
        view = memoryview(value)
        if not view.c_contiguous or (writable and view.readonly):
            raise DeviceError(INVALID_VALUE, "the object's memory is not contiguous, or not writable")
        self.size = view.nbytes
        if view.readonly:
            kept = (ctypes.c_char * view.nbytes).from_buffer_copy(view)
        else:
            kept = (ctypes.c_char * view.nbytes).from_buffer(view)
        self._kept = (value, kept)
        self.address = ctypes.addressof(kept)


def array_at(address: int, shape: Any, dtype: Any, check: Optional[Callable[[int, int], None]] = None) -> Any:
    """A NumPy array over memory, which it does not keep."""
    import math

    import numpy as np

    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if size == 0:
        return np.empty(shape, dtype)
    if check is not None:
        check(address, size)
    bytes_ = np.frombuffer((ctypes.c_ubyte * size).from_address(address), np.uint8)
    return bytes_.view(dtype).reshape(shape)
