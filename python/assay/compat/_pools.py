"""Pools of memory. Memory comes from the host's allocator whichever pool it is asked of; a pool knows how much of it is in use."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from . import _memory
from ._memory import INVALID_VALUE, DeviceError

RELEASE_THRESHOLD, RESERVED_NOW, RESERVED_MOST, USED_NOW, USED_MOST = 4, 5, 6, 7, 8
_SWITCHES = (1, 2, 3)
"""What memory may be used again after; all allowed."""

_lock = threading.Lock()
_numbers = itertools.count(0x5D0010, 16)
_pools: dict[int, Pool] = {}
_pool_of: dict[int, Pool] = {}
"""By addresses that are allocated."""


class Pool:
    def __init__(self) -> None:
        self.handle = next(_numbers)
        self._sizes: dict[int, int] = {}
        self._most = 0
        self._given = {RELEASE_THRESHOLD: 0, **dict.fromkeys(_SWITCHES, 1)}
        with _lock:
            _pools[self.handle] = self

    def allocate(self, size: int) -> int:
        address = _memory.allocate(size)
        with _lock:
            self._sizes[address] = int(size)
            self._most = max(self._most, sum(self._sizes.values()))
            _pool_of[address] = self
        return address

    def release(self, address: int) -> None:
        """Notes that memory of it was given back."""
        self._sizes.pop(address, None)

    def attribute(self, number: int) -> int:
        if number in (RESERVED_NOW, USED_NOW):
            return sum(self._sizes.values())
        if number in (RESERVED_MOST, USED_MOST):
            return self._most
        if number not in self._given:
            raise DeviceError(INVALID_VALUE, f"pools have no attribute {number}")
        return self._given[number]

    def set_attribute(self, number: int, value: int) -> None:
        if number in (RESERVED_MOST, USED_MOST) and value == 0:
            self._most = sum(self._sizes.values())
        elif number in self._given:
            self._given[number] = value
        else:
            raise DeviceError(INVALID_VALUE, f"the attribute {number} of a pool cannot be set to {value}")

    def destroy(self) -> None:
        """What was allocated of it stays until it is freed."""
        if self is default:
            raise DeviceError(INVALID_VALUE, "the device's own pool cannot be destroyed")
        with _lock:
            del _pools[self.handle]

    def __repr__(self) -> str:
        return f"<pool of {self.attribute(USED_NOW)} bytes on the host (assay's stand-in for a device)>"


def pool_of(handle: Any) -> Pool:
    pool = _pools.get(int(handle))
    if pool is None:
        raise DeviceError(INVALID_VALUE, f"{int(handle):#x} is no pool of memory, or it was destroyed")
    return pool


def freed(address: int) -> None:
    """To be told of every address that is freed."""
    with _lock:
        pool = _pool_of.pop(address, None)
        if pool is not None:
            pool.release(address)


default = Pool()
