"""cuda.bindings.runtime: functions give a tuple that begins with a status."""

import ctypes
import enum

from recorder import record


class cudaError_t(enum.IntEnum):
    cudaSuccess = 0
    cudaErrorMemoryAllocation = 2


class cudaMemcpyKind(enum.IntEnum):
    cudaMemcpyHostToDevice = 1
    cudaMemcpyDeviceToHost = 2


OK = cudaError_t.cudaSuccess
ROOM = 1 << 20
_memory, _handles = {}, set()


def _new_handle(kind):
    _handles.add(len(_handles) + 1)
    record(kind)
    return OK, len(_handles)


def cudaStreamCreate():
    return _new_handle("cudaStreamCreate")


def cudaEventCreate():
    return _new_handle("cudaEventCreate")


def cudaStreamDestroy(stream):
    record("cudaStreamDestroy")
    return (OK,)


def cudaEventDestroy(event):
    record("cudaEventDestroy")
    return (OK,)


def cudaEventRecord(event, stream):
    record("cudaEventRecord", event)
    return (OK,)


def cudaEventElapsedTime(begin, end):
    return OK, 2.5  # milliseconds


def cudaStreamSynchronize(stream):
    record("cudaStreamSynchronize")
    return (OK,)


def cudaMalloc(size):
    record("cudaMalloc", size)
    if size > ROOM:
        return cudaError_t.cudaErrorMemoryAllocation, 0
    buffer = ctypes.create_string_buffer(size)
    _memory[ctypes.addressof(buffer)] = buffer
    return OK, ctypes.addressof(buffer)


def cudaFree(address):
    record("cudaFree")
    del _memory[address]
    return (OK,)


def cudaMemcpyAsync(to, source, size, kind, stream):
    return cudaMemcpy(to, source, size, kind)


def cudaMemcpy(to, source, size, kind):
    record("cudaMemcpy", size, int(kind))
    device = to if kind == cudaMemcpyKind.cudaMemcpyHostToDevice else source
    assert len(_memory[device]) >= size
    ctypes.memmove(to, source, size)
    return (OK,)


def cudaGetErrorString(status):
    return OK, b"out of memory"
