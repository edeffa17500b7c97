"""Names and numbers of the runtime's errors and kinds, and what its functions share."""

from __future__ import annotations

import enum
import functools
import logging
from collections.abc import Callable
from typing import Any

from . import _memory, _streams
from ._memory import DeviceError

_ERRORS = (
    ("Success", 0), ("InvalidValue", 1), ("MemoryAllocation", 2), ("InitializationError", 3), ("CudartUnloading", 4),
    ("InvalidConfiguration", 9), ("InvalidPitchValue", 12), ("InvalidSymbol", 13), ("InvalidHostPointer", 16),
    ("InvalidDevicePointer", 17), ("InvalidMemcpyDirection", 21), ("InsufficientDriver", 35), ("NoDevice", 100),
    ("InvalidDevice", 101), ("InvalidResourceHandle", 400), ("IllegalState", 401), ("NotReady", 600),
    ("IllegalAddress", 700), ("HostMemoryAlreadyRegistered", 712), ("HostMemoryNotRegistered", 713),
    ("LaunchFailure", 719), ("NotPermitted", 800), ("NotSupported", 801), ("StreamCaptureUnsupported", 900),
    ("StreamCaptureInvalidated", 901), ("Unknown", 999),
)  # fmt: skip

cudaError_t = enum.IntEnum(  # noqa: N816
    "cudaError_t",
    [("cudaSuccess", 0)] + [("cudaError" + name, number) for name, number in _ERRORS[1:]],
    module="cuda.bindings.runtime",
)

_TEXTS = {
    0: "no error", 1: "a value is invalid", 2: "there is not enough memory", 21: "the copy has no such direction",
    101: "there is no such device", 400: "the handle is of nothing that exists", 401: "this is not possible now",
    600: "the work is not done yet", 712: "the memory is registered already", 713: "the memory is not registered",
    719: "the work failed", 801: "assay's stand-in for a device does not do this", 900: "this cannot be captured",
}  # fmt: skip

DEVICE_NAME = "assay CPU engine (a stand-in for a GPU)"
COMPUTE_CAPABILITY = (8, 0)
log = logging.getLogger("assay.compat")
last_error = 0


def error_name(code: Any) -> bytes:
    try:
        return cudaError_t(int(code)).name.encode()
    except ValueError:
        return b"unrecognized error code"


def error_text(code: Any) -> bytes:
    return _TEXTS.get(int(code), "an error of the code " + str(int(code))).encode()


def noted(error: DeviceError, name: str) -> int:
    """The code of an error; its reason goes to the log."""
    global last_error
    log.info("%s: %s", name, error)
    try:
        last_error = int(cudaError_t(error.code))
    except ValueError:
        last_error = 999
    return last_error


def answers(results: int = 0) -> Callable[[Callable[..., Any]], Callable[..., tuple[Any, ...]]]:
    """A function that gives (error, results...), as cuda-bindings' do, from one that raises DeviceError."""

    def wrap(function: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
            try:
                value = function(*args, **kwargs)
            except DeviceError as error:
                return (cudaError_t(noted(error, function.__name__)), *[None] * results)
            success = cudaError_t(0)
            return (success,) if results == 0 else (success, value) if results == 1 else (success, *value)

        return call

    return wrap


def device_number(device: Any) -> int:
    if int(device) != 0:
        raise DeviceError(_memory.INVALID_DEVICE, f"there is no device {int(device)}: the stand-in is the only one, 0")
    return 0


def processors() -> int:
    import os

    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class Handle:
    """A handle by its number: int(x) and getPtr(), as cuda-bindings' types have them."""

    def __init__(self, init_value: Any = 0, **_: Any) -> None:
        self._value = int(init_value)

    def __int__(self) -> int:
        return self._value

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        return hasattr(other, "__int__") and int(other) == self._value  # type: ignore[call-overload]

    def __hash__(self) -> int:
        return hash(self._value)

    def getPtr(self) -> int:  # noqa: N802
        """Where the number lies."""
        import ctypes

        self._cell = ctypes.c_size_t(self._value)
        return ctypes.addressof(self._cell)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._value:#x} of assay's stand-in for a device>"


def handle_type(name: str, module: str) -> type[Handle]:
    return type(name, (Handle,), {"__module__": module})


def copy(destination: Any, source: Any, size: Any, kind: Any, stream: Any = 0, *, waits: bool = False) -> None:
    """A copy between whatever stands for memory."""
    to, origin = _memory.Buffer(destination, True), _memory.Buffer(source)
    for buffer in (to, origin):
        if buffer.size is not None and int(size) > buffer.size:
            raise DeviceError(
                _memory.INVALID_VALUE, f"{int(size)} bytes are more than the {buffer.size} of the object that was given")
    queue = _streams.stream_of(stream)
    queue.copy(to.address, origin.address, int(size), int(kind))
    if waits:
        queue.synchronize()
