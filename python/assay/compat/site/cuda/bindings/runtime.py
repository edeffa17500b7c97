"""cuda.bindings.runtime over the host's memory: assay's stand-in. Every function gives (error, results...)."""

import enum as _enum

from assay.compat import _memory, _pools, _streams
from assay.compat import _cuda_names as _names
from assay.compat._cuda_names import answers as _answers
from assay.compat._cuda_names import cudaError_t

__assay__ = True


def _enumeration(name, members):
    return _enum.IntEnum(name, members, module=__name__)


def _kinds(prefix, names):
    return [(prefix + n, i) for i, n in enumerate(names.split())]


cudaMemcpyKind = _enumeration("cudaMemcpyKind", _kinds(
    "cudaMemcpy", "HostToHost HostToDevice DeviceToHost DeviceToDevice Default"))
cudaStreamCaptureMode = _enumeration("cudaStreamCaptureMode", _kinds("cudaStreamCaptureMode", "Global ThreadLocal Relaxed"))
cudaStreamCaptureStatus = _enumeration("cudaStreamCaptureStatus", _kinds(
    "cudaStreamCaptureStatus", "None Active Invalidated"))
cudaMemoryType = _enumeration("cudaMemoryType", _kinds("cudaMemoryType", "Unregistered Host Device Managed"))
cudaDeviceAttr = _enumeration("cudaDeviceAttr", [
    ("cudaDevAttrMaxThreadsPerBlock", 1), ("cudaDevAttrWarpSize", 10), ("cudaDevAttrClockRate", 13),
    ("cudaDevAttrMultiProcessorCount", 16), ("cudaDevAttrIntegrated", 18), ("cudaDevAttrUnifiedAddressing", 41),
    ("cudaDevAttrComputeCapabilityMajor", 75), ("cudaDevAttrComputeCapabilityMinor", 76),
    ("cudaDevAttrManagedMemory", 83), ("cudaDevAttrMemoryPoolsSupported", 115)])
_ATTRIBUTES = {1: lambda: 1024, 10: lambda: 32, 13: lambda: 1_000_000, 16: _names.processors, 18: lambda: 1, 41: lambda: 1,
               75: lambda: _names.COMPUTE_CAPABILITY[0], 76: lambda: _names.COMPUTE_CAPABILITY[1], 83: lambda: 1,
               115: lambda: 1}

cudaStream_t = _names.handle_type("cudaStream_t", __name__)
cudaEvent_t = _names.handle_type("cudaEvent_t", __name__)
cudaGraph_t = _names.handle_type("cudaGraph_t", __name__)
cudaGraphExec_t = _names.handle_type("cudaGraphExec_t", __name__)

cudaStreamDefault, cudaStreamNonBlocking = 0, 1
cudaStreamLegacy, cudaStreamPerThread = 1, 2
cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming, cudaEventInterprocess = 0, 1, 2, 4
cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocMapped, cudaHostAllocWriteCombined = 0, 1, 2, 4
cudaHostRegisterDefault, cudaHostRegisterPortable, cudaHostRegisterMapped = 0, 1, 2
cudaMemAttachGlobal, cudaMemAttachHost = 1, 2
CUDART_VERSION = 13000

# ---- memory


@_answers(1)
def cudaMalloc(size):
    return _memory.allocate(size)


@_answers(1)
def cudaMallocAsync(size, hStream=0):
    _streams.stream_of(hStream)
    return _memory.allocate(size)


def _release(address):
    _memory.free(address)
    _pools.freed(address)


@_answers(1)
def cudaMallocHost(size):
    return _memory.allocate(size, "pinned")


@_answers(1)
def cudaHostAlloc(size, flags=0):
    return _memory.allocate(size, "pinned")


@_answers(1)
def cudaMallocManaged(size, flags=1):
    return _memory.allocate(size, "managed")


@_answers()
def cudaFree(devPtr):
    address = int(devPtr or 0)
    if address:
        _streams.synchronize_all()
    _release(address)


@_answers()
def cudaFreeAsync(devPtr, hStream=0):
    address = int(devPtr)
    stream = _streams.stream_of(hStream)
    if address and _memory.find(address) is None:
        _memory.free(address)
    stream.enqueue(lambda: _release(address))


@_answers()
def cudaFreeHost(ptr):
    _memory.free(ptr or 0, ("pinned",))


@_answers()
def cudaHostRegister(ptr, size, flags=0):
    buffer = _memory.Buffer(ptr)
    _memory.register_host(buffer.address, size, ptr)


@_answers()
def cudaHostUnregister(ptr):
    _memory.unregister_host(_memory.Buffer(ptr).address)


@_answers(1)
def cudaHostGetDevicePointer(pHost, flags=0):
    return int(pHost)


@_answers()
def cudaMemcpy(dst, src, count, kind):
    _names.copy(dst, src, count, kind, waits=True)


@_answers()
def cudaMemcpyAsync(dst, src, count, kind, stream=0):
    _names.copy(dst, src, count, kind, stream)


@_answers()
def cudaMemcpyPeer(dst, dstDevice, src, srcDevice, count):
    _names.device_number(dstDevice), _names.device_number(srcDevice)
    _names.copy(dst, src, count, _memory.DEVICE_TO_DEVICE, waits=True)


@_answers()
def cudaMemcpy2D(dst, dpitch, src, spitch, width, height, kind):
    to, origin = _memory.Buffer(dst, True).address, _memory.Buffer(src).address
    for row in range(int(height)):
        _names.copy(to + row * int(dpitch), origin + row * int(spitch), width, kind, waits=True)


@_answers()
def cudaMemset(devPtr, value, count):
    _streams.stream_of(0).enqueue(lambda: _memory.fill(int(devPtr), int(value), int(count)))


@_answers()
def cudaMemsetAsync(devPtr, value, count, stream=0):
    address, size = int(devPtr), int(count)
    _memory.check_device(address, size)
    _streams.stream_of(stream).enqueue(lambda: _memory.fill(address, int(value), size))


@_answers(2)
def cudaMemGetInfo():
    total = _memory.total_bytes()
    return max(0, total - _memory.used_bytes()), total


class cudaPointerAttributes:
    """What is known of an address."""

    def __init__(self):
        self.type, self.device, self.devicePointer, self.hostPointer = cudaMemoryType.cudaMemoryTypeUnregistered, -1, 0, 0


@_answers(1)
def cudaPointerGetAttributes(ptr):
    answer, found = cudaPointerAttributes(), _memory.find(int(ptr))
    answer.hostPointer = int(ptr)
    if found is not None:
        answer.type = {"device": cudaMemoryType.cudaMemoryTypeDevice, "pinned": cudaMemoryType.cudaMemoryTypeHost,
                       "managed": cudaMemoryType.cudaMemoryTypeManaged}[found.kind]
        answer.device, answer.devicePointer = 0, int(ptr)
    return answer


# ---- pools of memory

cudaMemAllocationType = _enumeration("cudaMemAllocationType", _kinds("cudaMemAllocationType", "Invalid Pinned Managed"))
cudaMemAllocationHandleType = _enumeration("cudaMemAllocationHandleType", [
    ("cudaMemHandleTypeNone", 0), ("cudaMemHandleTypePosixFileDescriptor", 1), ("cudaMemHandleTypeWin32", 2),
    ("cudaMemHandleTypeWin32Kmt", 4), ("cudaMemHandleTypeFabric", 8)])
cudaMemLocationType = _enumeration("cudaMemLocationType", _kinds("cudaMemLocationType", "Invalid Device Host HostNuma HostNumaCurrent"))
cudaMemPoolAttr = _enumeration("cudaMemPoolAttr", [
    ("cudaMemPoolReuseFollowEventDependencies", 1), ("cudaMemPoolReuseAllowOpportunistic", 2),
    ("cudaMemPoolReuseAllowInternalDependencies", 3), ("cudaMemPoolAttrReleaseThreshold", 4),
    ("cudaMemPoolAttrReservedMemCurrent", 5), ("cudaMemPoolAttrReservedMemHigh", 6), ("cudaMemPoolAttrUsedMemCurrent", 7),
    ("cudaMemPoolAttrUsedMemHigh", 8)])
cudaMemPool_t = _names.handle_type("cudaMemPool_t", __name__)


class cudaMemLocation:
    """Where memory is."""

    def __init__(self):
        self.type, self.id = cudaMemLocationType.cudaMemLocationTypeInvalid, 0


class cudaMemPoolProps:
    """What a pool is made for."""

    def __init__(self):
        self.allocType = cudaMemAllocationType.cudaMemAllocationTypeInvalid
        self.handleTypes = cudaMemAllocationHandleType.cudaMemHandleTypeNone
        self.location, self.maxSize = cudaMemLocation(), 0


@_answers(1)
def cudaMemPoolCreate(poolProps):
    if poolProps.allocType != cudaMemAllocationType.cudaMemAllocationTypePinned:
        raise _memory.DeviceError(_memory.INVALID_VALUE, "a pool's memory is cudaMemAllocationTypePinned")
    if poolProps.handleTypes != cudaMemAllocationHandleType.cudaMemHandleTypeNone:
        raise _memory.DeviceError(_memory.NOT_SUPPORTED, "memory of a pool cannot be handed to other processes")
    if poolProps.location.type == cudaMemLocationType.cudaMemLocationTypeDevice:
        _names.device_number(poolProps.location.id)
    return cudaMemPool_t(_pools.Pool().handle)


@_answers()
def cudaMemPoolDestroy(memPool):
    _pools.pool_of(memPool).destroy()


@_answers()
def cudaMemPoolSetAttribute(memPool, attr, value):
    _pools.pool_of(memPool).set_attribute(int(attr), int(value))


@_answers(1)
def cudaMemPoolGetAttribute(memPool, attr):
    from cuda.bindings.driver import cuuint64_t

    value = _pools.pool_of(memPool).attribute(int(attr))
    return value if int(attr) < _pools.RELEASE_THRESHOLD else cuuint64_t(value)


@_answers()
def cudaMemPoolTrimTo(memPool, minBytesToKeep):
    _pools.pool_of(memPool)


@_answers(1)
def cudaDeviceGetDefaultMemPool(device):
    _names.device_number(device)
    return cudaMemPool_t(_pools.default.handle)


@_answers(1)
def cudaMallocFromPoolAsync(size, memPool, hStream=0):
    _streams.stream_of(hStream)
    return _pools.pool_of(memPool).allocate(size)


# ---- streams


@_answers(1)
def cudaStreamCreate():
    return cudaStream_t(_streams.Stream().handle)


@_answers(1)
def cudaStreamCreateWithFlags(flags):
    return cudaStream_t(_streams.Stream(waits_for_default=not int(flags) & cudaStreamNonBlocking).handle)


@_answers(1)
def cudaStreamCreateWithPriority(flags, priority):
    return cudaStream_t(_streams.Stream(waits_for_default=not int(flags) & cudaStreamNonBlocking).handle)


@_answers()
def cudaStreamDestroy(stream):
    _streams.stream_of(stream).destroy()


@_answers()
def cudaStreamSynchronize(stream):
    _streams.stream_of(stream).synchronize()


@_answers()
def cudaStreamQuery(stream):
    _streams.stream_of(stream).check_done()


@_answers()
def cudaStreamWaitEvent(stream, event, flags=0):
    _streams.event_of(event).wait(_streams.stream_of(stream))


@_answers()
def cudaLaunchHostFunc(stream, fn, userData=None):
    _streams.stream_of(stream).enqueue(lambda: fn(userData))


@_answers()
def cudaStreamBeginCapture(stream, mode=0):
    _streams.stream_of(stream).begin_capture()


@_answers(1)
def cudaStreamEndCapture(stream):
    return cudaGraph_t(_streams.stream_of(stream).end_capture().handle)


@_answers(1)
def cudaStreamIsCapturing(stream):
    return cudaStreamCaptureStatus(int(_streams.stream_of(stream).is_capturing))


@_answers(1)
def cudaGraphInstantiate(graph, *_):
    return cudaGraphExec_t(_streams.Graph(_streams.graph_of(graph).jobs).handle)


cudaGraphInstantiateWithFlags = cudaGraphInstantiate


@_answers()
def cudaGraphUpload(graphExec, stream):
    _streams.graph_of(graphExec), _streams.stream_of(stream)


@_answers()
def cudaGraphLaunch(graphExec, stream):
    _streams.graph_of(graphExec).launch(_streams.stream_of(stream))


@_answers()
def cudaGraphDestroy(graph):
    _streams.graph_of(graph).destroy()


cudaGraphExecDestroy = cudaGraphDestroy

# ---- events


@_answers(1)
def cudaEventCreate():
    return cudaEvent_t(_streams.Event().handle)


@_answers(1)
def cudaEventCreateWithFlags(flags):
    return cudaEvent_t(_streams.Event().handle)


@_answers()
def cudaEventRecord(event, stream=0):
    _streams.event_of(event).record(_streams.stream_of(stream))


@_answers()
def cudaEventSynchronize(event):
    _streams.event_of(event).synchronize()


@_answers()
def cudaEventQuery(event):
    if not _streams.event_of(event).is_done:
        raise _memory.DeviceError(_memory.NOT_READY, "the event was not reached yet")


@_answers(1)
def cudaEventElapsedTime(start, end):
    return _streams.event_of(end).milliseconds_since(_streams.event_of(start))


@_answers()
def cudaEventDestroy(event):
    _streams.event_of(event).destroy()


# ---- the device


@_answers(1)
def cudaGetDeviceCount():
    return 1


@_answers(1)
def cudaGetDevice():
    return 0


@_answers()
def cudaSetDevice(device):
    _names.device_number(device)


@_answers()
def cudaDeviceSynchronize():
    _streams.synchronize_all()


@_answers()
def cudaDeviceReset():
    _streams.synchronize_all()


class cudaDeviceProp:
    """What the stand-in is."""

    def __init__(self):
        self.name = _names.DEVICE_NAME.encode()
        self.major, self.minor = _names.COMPUTE_CAPABILITY
        self.totalGlobalMem = _memory.total_bytes()
        self.multiProcessorCount = _names.processors()
        self.warpSize, self.maxThreadsPerBlock, self.sharedMemPerBlock = 32, 1024, 48 << 10
        self.clockRate = self.memoryClockRate = 1_000_000
        self.memoryBusWidth, self.l2CacheSize, self.integrated, self.unifiedAddressing = 64, 1 << 20, 1, 1
        self.pciBusID = self.pciDeviceID = self.pciDomainID = 0

    def __repr__(self):
        return f"<cudaDeviceProp of {_names.DEVICE_NAME}>"


@_answers(1)
def cudaGetDeviceProperties(device):
    _names.device_number(device)
    return cudaDeviceProp()


@_answers(1)
def cudaDeviceGetAttribute(attr, device):
    _names.device_number(device)
    value = _ATTRIBUTES.get(int(attr))
    if value is None:
        raise _memory.DeviceError(_memory.INVALID_VALUE, f"the stand-in has no attribute {int(attr)}")
    return value()


@_answers(1)
def cudaDriverGetVersion():
    return CUDART_VERSION


@_answers(1)
def cudaRuntimeGetVersion():
    return CUDART_VERSION


@_answers(2)
def cudaDeviceGetStreamPriorityRange():
    return 0, 0


@_answers()
def cudaProfilerStart():
    pass


@_answers()
def cudaProfilerStop():
    pass


@_answers(1)
def cudaDeviceCanAccessPeer(device, peerDevice):
    return 0


# ---- errors


def cudaGetErrorName(error):
    return cudaError_t(0), _names.error_name(error)


def cudaGetErrorString(error):
    return cudaError_t(0), _names.error_text(error)


def cudaPeekAtLastError():
    return (cudaError_t(_names.last_error),)


def cudaGetLastError():
    answer, _names.last_error = cudaError_t(_names.last_error), 0
    return (answer,)


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    raise AttributeError(f"cuda.bindings.runtime.{name} is not there: assay's stand-in for a device is the host's memory and "
                         "processors, and has no kernels, textures or other devices.")
