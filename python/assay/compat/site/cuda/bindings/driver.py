"""cuda.bindings.driver as far as scripts need it beside tensorrt: assay's stand-in over the host's memory."""

import enum as _enum

from assay.compat import _memory, _streams
from assay.compat import _cuda_names as _names
from assay.compat._memory import DeviceError as _DeviceError

__assay__ = True
CUDA_VERSION = 13000

CUresult = _enum.IntEnum("CUresult", [
    ("CUDA_SUCCESS", 0), ("CUDA_ERROR_INVALID_VALUE", 1), ("CUDA_ERROR_OUT_OF_MEMORY", 2), ("CUDA_ERROR_NOT_INITIALIZED", 3),
    ("CUDA_ERROR_NO_DEVICE", 100), ("CUDA_ERROR_INVALID_DEVICE", 101), ("CUDA_ERROR_INVALID_CONTEXT", 201),
    ("CUDA_ERROR_INVALID_HANDLE", 400), ("CUDA_ERROR_ILLEGAL_STATE", 401), ("CUDA_ERROR_NOT_READY", 600),
    ("CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", 712), ("CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", 713),
    ("CUDA_ERROR_LAUNCH_FAILED", 719), ("CUDA_ERROR_NOT_SUPPORTED", 801),
    ("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", 900), ("CUDA_ERROR_UNKNOWN", 999)], module=__name__)
CUdevice_attribute = _enum.IntEnum("CUdevice_attribute", [
    ("CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK", 1), ("CU_DEVICE_ATTRIBUTE_WARP_SIZE", 10),
    ("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT", 16), ("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR", 75),
    ("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR", 76)], module=__name__)
CUctx_flags = _enum.IntEnum("CUctx_flags", [("CU_CTX_SCHED_AUTO", 0), ("CU_CTX_SCHED_SPIN", 1)], module=__name__)

CUdevice = _names.handle_type("CUdevice", __name__)
CUcontext = _names.handle_type("CUcontext", __name__)
CUstream = _names.handle_type("CUstream", __name__)
CUevent = _names.handle_type("CUevent", __name__)
CUdeviceptr = _names.handle_type("CUdeviceptr", __name__)
CUmodule = _names.handle_type("CUmodule", __name__)
CUfunction = _names.handle_type("CUfunction", __name__)
cuuint32_t = _names.handle_type("cuuint32_t", __name__)
cuuint64_t = _names.handle_type("cuuint64_t", __name__)

_contexts, _next_context = [], iter(range(0x5C0010, 1 << 40, 16))


def _answers(results=0):
    def wrap(function):
        def call(*args, **kwargs):
            try:
                value = function(*args, **kwargs)
            except _DeviceError as error:
                code = _names.noted(error, function.__name__)
                return (CUresult(code if code in set(CUresult) else 999), *[None] * results)
            return (CUresult(0),) if results == 0 else (CUresult(0), value) if results == 1 else (CUresult(0), *value)

        call.__name__ = function.__name__
        return call

    return wrap


def _define(name, results, function):
    function.__name__ = name
    globals()[name] = _answers(results)(function)


def _no_kernels(name):
    def refuse(*_, **__):
        raise _DeviceError(_memory.NOT_SUPPORTED, f"{name}: assay's stand-in for a device runs no CUDA kernels")

    return refuse


def _push(context):
    if int(context) == 0:
        raise _DeviceError(_memory.INVALID_VALUE, "there is no such context")
    _contexts.append(CUcontext(context))


def _pop():
    if not _contexts:
        raise _DeviceError(201, "no context is current")
    return _contexts.pop()


def _create_context(*args):
    """(flags, device) before CUDA 13, (parameters, flags, device) from then on."""
    if len(args) not in (2, 3):
        raise TypeError(f"cuCtxCreate takes 2 or 3 arguments, not {len(args)}")
    _names.device_number(args[-1])
    context = CUcontext(next(_next_context))
    _contexts.append(context)
    return context


def _destroy_context(context):
    if context in _contexts:
        _contexts.remove(context)


def _set_current(context):
    del _contexts[-1:]
    if int(context):
        _contexts.append(CUcontext(context))


_H2D, _D2H, _D2D = _memory.HOST_TO_DEVICE, _memory.DEVICE_TO_HOST, _memory.DEVICE_TO_DEVICE
_ATTRIBUTES = {1: lambda: 1024, 10: lambda: 32, 16: _names.processors, 75: lambda: _names.COMPUTE_CAPABILITY[0],
               76: lambda: _names.COMPUTE_CAPABILITY[1]}


def _attribute(attrib, dev):
    _names.device_number(dev)
    if int(attrib) not in _ATTRIBUTES:
        raise _DeviceError(_memory.INVALID_VALUE, f"the stand-in has no attribute {int(attrib)}")
    return _ATTRIBUTES[int(attrib)]()


_define("cuInit", 0, lambda Flags=0: None)
_define("cuDriverGetVersion", 1, lambda: CUDA_VERSION)
_define("cuDeviceGetCount", 1, lambda: 1)
_define("cuDeviceGet", 1, lambda ordinal: CUdevice(_names.device_number(ordinal)))
_define("cuDeviceGetName", 1, lambda length, dev: _names.DEVICE_NAME.encode()[:int(length)])
_define("cuDeviceTotalMem", 1, lambda dev: _memory.total_bytes())
_define("cuDeviceGetAttribute", 1, _attribute)
_define("cuDevicePrimaryCtxRetain", 1, lambda dev: CUcontext(0x5C0000 + _names.device_number(dev)))
_define("cuDevicePrimaryCtxRelease", 0, lambda dev: None)
_define("cuCtxCreate", 1, _create_context)
_define("cuCtxDestroy", 0, _destroy_context)
_define("cuCtxPushCurrent", 0, _push)
_define("cuCtxPopCurrent", 1, _pop)
_define("cuCtxSetCurrent", 0, _set_current)
_define("cuCtxGetCurrent", 1, lambda: _contexts[-1] if _contexts else CUcontext(0))
_define("cuCtxGetDevice", 1, lambda: CUdevice(0))
_define("cuCtxSynchronize", 0, _streams.synchronize_all)
_define("cuMemAlloc", 1, lambda bytesize: CUdeviceptr(_memory.allocate(bytesize)))
_define("cuMemFree", 0, lambda dptr: _memory.free(dptr))
_define("cuMemAllocHost", 1, lambda bytesize: _memory.allocate(bytesize, "pinned"))
_define("cuMemFreeHost", 0, lambda p: _memory.free(p, ("pinned",)))
_define("cuMemGetInfo", 2, lambda: (_memory.total_bytes() - _memory.used_bytes(), _memory.total_bytes()))
_define("cuMemcpyHtoD", 0, lambda dst, src, n: _names.copy(dst, src, n, _H2D, waits=True))
_define("cuMemcpyDtoH", 0, lambda dst, src, n: _names.copy(dst, src, n, _D2H, waits=True))
_define("cuMemcpyDtoD", 0, lambda dst, src, n: _names.copy(dst, src, n, _D2D, waits=True))
_define("cuMemcpyHtoDAsync", 0, lambda dst, src, n, stream=0: _names.copy(dst, src, n, _H2D, stream))
_define("cuMemcpyDtoHAsync", 0, lambda dst, src, n, stream=0: _names.copy(dst, src, n, _D2H, stream))
_define("cuMemcpyDtoDAsync", 0, lambda dst, src, n, stream=0: _names.copy(dst, src, n, _D2D, stream))
_define("cuMemsetD8", 0, lambda dptr, uc, n: _memory.fill(int(dptr), int(uc), int(n)))
_define("cuStreamCreate", 1, lambda Flags=0: CUstream(_streams.Stream(waits_for_default=not int(Flags) & 1).handle))
_define("cuStreamDestroy", 0, lambda stream: _streams.stream_of(stream).destroy())
_define("cuStreamSynchronize", 0, lambda stream: _streams.stream_of(stream).synchronize())
_define("cuStreamQuery", 0, lambda stream: _streams.stream_of(stream).check_done())
_define("cuEventCreate", 1, lambda Flags=0: CUevent(_streams.Event().handle))
_define("cuEventRecord", 0, lambda event, stream=0: _streams.event_of(event).record(_streams.stream_of(stream)))
_define("cuEventSynchronize", 0, lambda event: _streams.event_of(event).synchronize())
_define("cuEventElapsedTime", 1, lambda start, end: _streams.event_of(end).milliseconds_since(_streams.event_of(start)))
_define("cuEventDestroy", 0, lambda event: _streams.event_of(event).destroy())
for _name in ("cuModuleLoad", "cuModuleLoadData", "cuModuleLoadDataEx", "cuModuleGetFunction", "cuLibraryLoadData"):
    _define(_name, 1, _no_kernels(_name))
for _name in ("cuLaunchKernel", "cuModuleUnload", "cuFuncSetAttribute"):
    _define(_name, 0, _no_kernels(_name))


def cuGetErrorName(error):
    return CUresult(0), CUresult(int(error)).name.encode()


def cuGetErrorString(error):
    return CUresult(0), _names.error_text(error)


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    raise AttributeError(f"cuda.bindings.driver.{name} is not there: assay's stand-in for a device has no kernels.")
