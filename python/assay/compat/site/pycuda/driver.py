"""pycuda.driver over the host's memory: assay's stand-in."""

import ctypes as _ctypes

import numpy as _np
from assay.compat import _memory, _streams
from assay.compat import _cuda_names as _names

__assay__ = True


class Error(Exception):
    """What a call cannot do."""


class LogicError(Error):
    """Wrong arguments: addresses that nobody allocated, copies beyond an end, handles of nothing."""


class MemoryError(Error):  # noqa: A001
    """There is no memory."""


class RuntimeError(Error):  # noqa: A001
    """The work failed."""


class LaunchError(Error):
    """A kernel cannot be run."""


def _raising(function):
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except _memory.DeviceError as error:
            kind = {_memory.OUT_OF_MEMORY: MemoryError, _memory.LAUNCH_FAILURE: LaunchError,
                    _memory.NOT_SUPPORTED: RuntimeError}.get(error.code, LogicError)
            raise kind(f"{function.__name__}: {error}") from error

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


def init(flags=0):
    pass


def get_version():
    return (13, 0, 0)


def get_driver_version():
    return 13000


class Device:
    """The stand-in."""

    @_raising
    def __init__(self, number=0):
        self._number = _names.device_number(number)

    @staticmethod
    def count():
        return 1

    def name(self):
        return _names.DEVICE_NAME

    def compute_capability(self):
        return _names.COMPUTE_CAPABILITY

    def total_memory(self):
        return _memory.total_bytes()

    def pci_bus_id(self):
        return "0000:00:00.0"

    def get_attribute(self, attribute):
        raise LogicError(f"get_attribute: the stand-in has no attribute {attribute!r}")

    def make_context(self, flags=0):
        context = Context(self)
        context.push()
        return context

    def retain_primary_context(self):
        return Context(self)

    def __repr__(self):
        return f"<pycuda.driver.Device 0: {_names.DEVICE_NAME}>"


class Context:
    """Which device is current: there is one."""
    _stack = []

    def __init__(self, device=None):
        self._device = device

    def push(self):
        Context._stack.append(self)

    @staticmethod
    def pop():
        if not Context._stack:
            raise LogicError("pop: no context is current")
        return Context._stack.pop()

    def detach(self):
        if self in Context._stack:
            Context._stack.remove(self)

    @staticmethod
    @_raising
    def synchronize():
        _streams.synchronize_all()

    @staticmethod
    def get_current():
        return Context._stack[-1] if Context._stack else None

    @staticmethod
    def get_device():
        return Device(0)


class PointerHolderBase:
    """To derive from: get_pointer()."""

    def __int__(self):
        return self.get_pointer()

    __index__ = __int__


class DeviceAllocation:
    """Memory of the stand-in; freed with the object, or by free()."""

    def __init__(self, address, size):
        self._address, self._size = address, size

    def __int__(self):
        return self._address

    __index__ = __int__

    @property
    def size(self):
        return self._size

    @_raising
    def free(self):
        if self._address is None:
            raise _memory.DeviceError(_memory.INVALID_VALUE, "the memory was freed before")
        address, self._address = self._address, None
        _memory.free(address)

    def as_buffer(self, size, offset=0):
        return (_ctypes.c_char * size).from_address(self._address + offset)

    def __del__(self):
        if getattr(self, "_address", None) and _memory is not None:
            try:
                self.free()
            except Exception:
                pass

    def __repr__(self):
        where = "freed" if self._address is None else f"{self._size} bytes at {self._address:#x}"
        return f"<pycuda.driver.DeviceAllocation on the host (assay's stand-in for a device): {where}>"


@_raising
def mem_alloc(bytes):  # noqa: A002
    return DeviceAllocation(_memory.allocate(bytes), int(bytes))


def mem_alloc_like(array):
    return mem_alloc(array.nbytes)


@_raising
def mem_get_info():
    return _memory.total_bytes() - _memory.used_bytes(), _memory.total_bytes()


def _size(array):
    return array.nbytes if hasattr(array, "nbytes") else memoryview(array).nbytes


def _contiguous(array):
    flags = getattr(array, "flags", None)
    if flags is not None and not (flags.c_contiguous or flags.f_contiguous):
        raise ValueError("ndarray is not contiguous")
    return array


@_raising
def memcpy_htod(dest, src):
    _names.copy(int(dest), _contiguous(src), _size(src), _memory.HOST_TO_DEVICE, waits=True)


@_raising
def memcpy_htod_async(dest, src, stream=None):
    _names.copy(int(dest), _contiguous(src), _size(src), _memory.HOST_TO_DEVICE, stream)


@_raising
def memcpy_dtoh(dest, src):
    _names.copy(_contiguous(dest), int(src), _size(dest), _memory.DEVICE_TO_HOST, waits=True)


@_raising
def memcpy_dtoh_async(dest, src, stream=None):
    _names.copy(_contiguous(dest), int(src), _size(dest), _memory.DEVICE_TO_HOST, stream)


@_raising
def memcpy_dtod(dest, src, size):
    _names.copy(int(dest), int(src), size, _memory.DEVICE_TO_DEVICE, waits=True)


@_raising
def memcpy_dtod_async(dest, src, size, stream=None):
    _names.copy(int(dest), int(src), size, _memory.DEVICE_TO_DEVICE, stream)


@_raising
def memset_d8(dest, data, count):
    _memory.fill(int(dest), int(data), int(count))


@_raising
def memset_d32(dest, data, count):
    _memory.check_device(int(dest), 4 * int(count))
    _memory.array_at(int(dest), (int(count),), _np.uint32)[:] = int(data)


@_raising
def to_device(array):
    array = _np.ascontiguousarray(array)
    made = mem_alloc(array.nbytes)
    memcpy_htod(made, array)
    return made


@_raising
def from_device(devptr, shape, dtype, order="C"):
    result = _np.empty(shape, dtype, order)
    memcpy_dtoh(result, devptr)
    return result


def from_device_like(devptr, other_ary):
    return from_device(devptr, other_ary.shape, other_ary.dtype)


class _Pinned:
    """Keeps pinned memory for arrays over it."""

    def __init__(self, size):
        self.address = _memory.allocate(size, "pinned")

    def __del__(self):
        try:
            _memory.free(self.address, ("pinned",))
        except Exception:
            pass


@_raising
def pagelocked_empty(shape, dtype, order="C", mem_flags=0):
    dtype = _np.dtype(dtype)
    shape = (int(shape),) if isinstance(shape, (int, _np.integer)) else tuple(int(d) for d in shape)
    count = 1
    for d in shape:
        count *= d
    if count * dtype.itemsize == 0:
        return _np.empty(shape, dtype, order)
    kept = _Pinned(count * dtype.itemsize)
    cells = (_ctypes.c_ubyte * (count * dtype.itemsize)).from_address(kept.address)
    cells._kept = kept
    return _np.frombuffer(cells, dtype).reshape(shape, order=order)


def pagelocked_zeros(shape, dtype, order="C", mem_flags=0):
    result = pagelocked_empty(shape, dtype, order, mem_flags)
    result.fill(0)
    return result


def pagelocked_empty_like(array, mem_flags=0):
    return pagelocked_empty(array.shape, array.dtype, mem_flags=mem_flags)


def pagelocked_zeros_like(array, mem_flags=0):
    return pagelocked_zeros(array.shape, array.dtype, mem_flags=mem_flags)


class RegisteredHostMemory:
    def __init__(self, array):
        self.base = array

    @_raising
    def unregister(self):
        _memory.unregister_host(self.base.ctypes.data)


@_raising
def register_host_memory(ary, flags=0):
    _memory.register_host(ary.ctypes.data, ary.nbytes, ary)
    return ary


class Stream:
    """A queue of work."""

    def __init__(self, flags=0):
        self._stream = _streams.Stream()

    handle = property(lambda self: self._stream.handle)

    @_raising
    def synchronize(self):
        self._stream.synchronize()

    def is_done(self):
        return self._stream.is_done

    @_raising
    def wait_for_event(self, event):
        event._event.wait(self._stream)

    def __int__(self):
        return self._stream.handle

    def __del__(self):
        try:
            self._stream.destroy()
        except Exception:
            pass

    def __repr__(self):
        return f"<pycuda.driver.Stream: {self._stream!r}>"


class Event:
    """A point in a stream's work."""

    def __init__(self, flags=0):
        self._event = _streams.Event()

    handle = property(lambda self: self._event.handle)

    def record(self, stream=None):
        self._event.record(_streams.stream_of(stream))
        return self

    def synchronize(self):
        self._event.synchronize()
        return self

    def query(self):
        return self._event.is_done

    @_raising
    def time_since(self, start):
        return self._event.milliseconds_since(start._event)

    @_raising
    def time_till(self, end):
        return end._event.milliseconds_since(self._event)

    def __del__(self):
        try:
            self._event.destroy()
        except Exception:
            pass


class _Flags:
    """Flags that change nothing here."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return 0


host_alloc_flags = event_flags = ctx_flags = stream_flags = mem_attach_flags = _Flags()


def start_profiler():
    pass


def stop_profiler():
    pass


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    raise AttributeError(f"pycuda.driver.{name} is not there: assay's stand-in for a device is the host's memory and processors, "
                         "and has no kernels.")
