"""libcudart for users of ctypes: a CDLL of that name whose functions are the stand-in's."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Any, Optional

from . import _cuda_names as names
from . import _memory, _streams
from ._memory import DeviceError

_p, _pp, _n, _i = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_int
_functions: dict[str, Any] = {}
FILE_NAME = "libcudart.so.13 (assay's stand-in)"


def _function(*types: Any, restype: Any = _i) -> Any:
    def wrap(function: Any) -> Any:
        def call(*args: Any) -> Any:
            try:
                answer = function(*args)
            except DeviceError as error:
                return names.noted(error, function.__name__)
            return 0 if answer is None else answer

        _functions[function.__name__] = ctypes.CFUNCTYPE(restype, *types)(call)
        return function

    return wrap


def _store(where: Any, value: int) -> None:
    if not where:
        raise DeviceError(_memory.INVALID_VALUE, "there is no place for the result")
    where[0] = value


@_function(_pp, _n)
def cudaMalloc(where, size):
    _store(where, _memory.allocate(size))


@_function(_pp, _n, _p)
def cudaMallocAsync(where, size, stream):
    _streams.stream_of(stream)
    _store(where, _memory.allocate(size))


@_function(_pp, _n)
def cudaMallocHost(where, size):
    _store(where, _memory.allocate(size, "pinned"))


@_function(_p)
def cudaFree(address):
    if address:
        _streams.synchronize_all()
    _memory.free(address or 0)


@_function(_p, _p)
def cudaFreeAsync(address, stream):
    _streams.stream_of(stream).enqueue(lambda: _memory.free(address or 0))


@_function(_p)
def cudaFreeHost(address):
    _memory.free(address or 0, ("pinned",))


@_function(_p, _p, _n, _i)
def cudaMemcpy(destination, source, size, kind):
    names.copy(destination or 0, source or 0, size, kind, waits=True)


@_function(_p, _p, _n, _i, _p)
def cudaMemcpyAsync(destination, source, size, kind, stream):
    names.copy(destination or 0, source or 0, size, kind, stream)


@_function(_p, _i, _n)
def cudaMemset(address, value, size):
    _memory.fill(address or 0, value, size)


@_function(_p, _i, _n, _p)
def cudaMemsetAsync(address, value, size, stream):
    _memory.check_device(address or 0, size)
    _streams.stream_of(stream).enqueue(lambda: _memory.fill(address, value, size))


@_function(ctypes.POINTER(_n), ctypes.POINTER(_n))
def cudaMemGetInfo(free, total):
    total[0] = _memory.total_bytes()
    free[0] = max(0, _memory.total_bytes() - _memory.used_bytes())


@_function(_pp)
def cudaStreamCreate(where):
    _store(where, _streams.Stream().handle)


@_function(_pp, ctypes.c_uint)
def cudaStreamCreateWithFlags(where, flags):
    _store(where, _streams.Stream(waits_for_default=not flags & 1).handle)


@_function(_p)
def cudaStreamSynchronize(stream):
    _streams.stream_of(stream).synchronize()


@_function(_p)
def cudaStreamDestroy(stream):
    _streams.stream_of(stream).destroy()


@_function(_p)
def cudaStreamQuery(stream):
    _streams.stream_of(stream).check_done()


@_function(_pp)
def cudaEventCreate(where):
    _store(where, _streams.Event().handle)


@_function(_p, _p)
def cudaEventRecord(event, stream):
    _streams.event_of(event or 0).record(_streams.stream_of(stream))


@_function(_p)
def cudaEventSynchronize(event):
    _streams.event_of(event or 0).synchronize()


@_function(_p)
def cudaEventDestroy(event):
    _streams.event_of(event or 0).destroy()


@_function(ctypes.POINTER(ctypes.c_float), _p, _p)
def cudaEventElapsedTime(where, start, end):
    where[0] = _streams.event_of(end or 0).milliseconds_since(_streams.event_of(start or 0))


@_function()
def cudaDeviceSynchronize():
    _streams.synchronize_all()


@_function(ctypes.POINTER(_i))
def cudaGetDeviceCount(where):
    where[0] = 1


@_function(ctypes.POINTER(_i))
def cudaGetDevice(where):
    where[0] = 0


@_function(_i)
def cudaSetDevice(device):
    names.device_number(device)


@_function(ctypes.POINTER(_i))
def cudaRuntimeGetVersion(where):
    where[0] = 13000


@_function(ctypes.POINTER(_i))
def cudaDriverGetVersion(where):
    where[0] = 13000


@_function()
def cudaGetLastError():
    answer, names.last_error = names.last_error, 0
    return answer


@_function()
def cudaPeekAtLastError():
    return names.last_error


_texts: dict[bytes, Any] = {}


def _text(value: bytes) -> int:
    kept = _texts.setdefault(value, ctypes.create_string_buffer(value))
    return ctypes.addressof(kept)


@_function(_i, restype=_p)
def cudaGetErrorString(code):
    return _text(names.error_text(code))


@_function(_i, restype=_p)
def cudaGetErrorName(code):
    return _text(names.error_name(code))


for _name in ("cudaGetErrorString", "cudaGetErrorName"):
    _functions[_name].restype = ctypes.c_char_p


def _is_ours(name: object) -> bool:
    try:
        file = os.path.basename(os.fspath(name))  # type: ignore[call-overload]
    except TypeError:
        return False
    if isinstance(file, bytes):
        file = os.fsdecode(file)
    return re.match(r"libcudart(-[0-9a-f.]+)?\.so|libcudart\.so|cudart64_|libcudart\b", file) is not None


_original: Optional[tuple[Any, Any, Any]] = None


def install() -> None:
    """From now on ctypes.CDLL("libcudart.so...") is the stand-in, wherever such a file lies."""
    global _original
    if _original is not None:
        return
    import ctypes.util

    _original = (ctypes.CDLL.__init__, ctypes.CDLL.__getattr__, ctypes.util.find_library)
    begin, attribute, find = _original

    def init(self: Any, name: Any = None, *args: Any, **kwargs: Any) -> None:
        if name is not None and _is_ours(name):
            begin(self, None)
            self._name = FILE_NAME
            self.__assay__ = True
            for function in _functions:
                setattr(self, function, _functions[function])
            return
        begin(self, name, *args, **kwargs)

    def get(self: Any, name: str) -> Any:
        if self.__dict__.get("__assay__") and not name.startswith("__"):
            raise AttributeError(f"{FILE_NAME}: there is no function {name}: assay's stand-in for a device has no kernels, "
                                 "textures or other devices")
        return attribute(self, name)

    ctypes.CDLL.__init__ = init  # type: ignore[method-assign]
    ctypes.CDLL.__getattr__ = get  # type: ignore[method-assign]
    ctypes.util.find_library = lambda name: "libcudart.so" if name == "cudart" else find(name)


def uninstall() -> None:
    global _original
    if _original is None:
        return
    import ctypes.util

    ctypes.CDLL.__init__, ctypes.CDLL.__getattr__, ctypes.util.find_library = _original  # type: ignore[method-assign]
    _original = None
