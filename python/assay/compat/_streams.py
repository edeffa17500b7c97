"""The stand-in for a device's streams, events and graphs: work in order, in threads of the library."""

from __future__ import annotations

import itertools
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, Optional

from . import _memory
from ._memory import CAPTURE_UNSUPPORTED, INVALID_HANDLE, INVALID_VALUE, LAUNCH_FAILURE, NOT_READY, DeviceError

Job = Callable[[], object]

_lock = threading.RLock()
_handles = itertools.count(0x5A0010, 16)
_streams: dict[int, Stream] = {}
_events: dict[int, Event] = {}
_graphs: dict[int, Graph] = {}


def _native() -> Any:
    from assay._library import native

    return native


class Stream:
    """An in-order queue; the default stream (handle 0) does its work at once, behind what the others have."""

    def __init__(self, *, is_default: bool = False, waits_for_default: bool = True) -> None:
        self.handle = 0 if is_default else next(_handles)
        self.is_default, self.waits_for_default = is_default, waits_for_default
        self.is_capturing = False
        self._recorded: list[Job] = []
        self._queue = None if is_default else _native().Stream()
        self._error: Optional[DeviceError] = None
        self._worker = 0  # the thread that is doing its work
        if not is_default:
            with _lock:
                _streams[self.handle] = self

    def enqueue(self, job: Job) -> None:
        """`job` behind what is there. What it raises, synchronize() raises; in the default stream this call does."""
        if self.is_capturing:
            self._recorded.append(job)
            return
        if self._queue is None:
            for other in list(_streams.values()):
                if other.waits_for_default and not other.is_capturing:
                    other.synchronize()
            job()
            return
        self._queue.enqueue(lambda: self._run(job))

    def _run(self, job: Job) -> None:
        if self._error is not None:
            return  # what follows a failure is not done, as on a device
        self._worker = threading.get_ident()
        try:
            job()
        except DeviceError as error:
            self._error = error
        except BaseException as error:
            from assay._library import logger

            logger.error("work of %r failed: %s", self, "".join(traceback.format_exception_only(error)).strip())
            self._error = DeviceError(LAUNCH_FAILURE, str(error))
            self._error.__cause__ = error
        finally:
            self._worker = 0

    def synchronize(self) -> None:
        if self.is_capturing:
            raise DeviceError(CAPTURE_UNSUPPORTED, "a stream that is captured cannot be waited for")
        if self._queue is None:
            for other in list(_streams.values()):
                if other.waits_for_default and not other.is_capturing:
                    other.synchronize()
            return
        if self._worker == threading.get_ident():
            return  # asked by the work itself: what came before is done
        self._queue.synchronize()
        error, self._error = self._error, None
        if error is not None:
            raise error

    @property
    def is_done(self) -> bool:
        return self._queue is None or self._worker == threading.get_ident() or self._queue.query()

    def check_done(self) -> None:
        if not self.is_done:
            raise DeviceError(NOT_READY, "the stream has work to do")

    def destroy(self) -> None:
        if self._queue is None:
            raise DeviceError(INVALID_HANDLE, "the default stream cannot be destroyed")
        with _lock:
            if _streams.pop(self.handle, None) is None:
                raise DeviceError(INVALID_HANDLE, f"the stream {self.handle:#x} was destroyed before")
        self._queue.synchronize()

    # ---- capture

    def begin_capture(self) -> None:
        if self._queue is None:
            raise DeviceError(CAPTURE_UNSUPPORTED, "the default stream cannot be captured")
        if self.is_capturing:
            raise DeviceError(_memory.ILLEGAL_STATE, "the stream is captured already")
        self.is_capturing, self._recorded = True, []

    def end_capture(self) -> Graph:
        if not self.is_capturing:
            raise DeviceError(_memory.ILLEGAL_STATE, "the stream is not captured")
        self.is_capturing = False
        return Graph(self._recorded)

    def copy(self, destination: int, source: int, size: int, kind: int) -> None:
        """A copy in order. From pageable memory it is taken at once, and into such memory it is waited for, as the real
        calls do."""
        _memory.check_copy(destination, source, size, kind)
        if size == 0:
            return
        if self.is_capturing:
            self.enqueue(lambda: _memory.copy(destination, source, size, kind))
            return
        if self._queue is not None and kind != _memory.DEVICE_TO_DEVICE:
            if _memory.is_pageable(destination):
                self.synchronize()
                _memory.copy(destination, source, size, kind)
                return
            if _memory.is_pageable(source):
                if self.is_done and self._error is None:
                    _memory.copy(destination, source, size, kind)
                    return
                import ctypes

                staged = ctypes.create_string_buffer(ctypes.string_at(source, size), size)

                def store() -> None:
                    _memory.check_device(destination, size, "destination") if kind == _memory.HOST_TO_DEVICE else None
                    ctypes.memmove(destination, staged, size)

                self.enqueue(store)
                return
        self.enqueue(lambda: _memory.copy(destination, source, size, kind))

    def __repr__(self) -> str:
        name = "default stream" if self.is_default else f"stream {self.handle:#x}"
        return f"<{name} on the host (assay's stand-in for a device)>"


_default = Stream(is_default=True)


def stream_of(handle: Any) -> Stream:
    """By its handle, an object with __int__, or one with such a handle. 0, 1 and 2 are the default stream."""
    if handle is None:
        return _default
    if isinstance(handle, Stream):
        return handle
    if hasattr(handle, "handle") and not isinstance(handle, int):
        handle = handle.handle
    elif hasattr(handle, "cuda_stream"):
        handle = handle.cuda_stream
    elif hasattr(handle, "ptr"):
        handle = handle.ptr
    value = getattr(handle, "value", handle) if not hasattr(handle, "__int__") else int(handle)
    value = int(value or 0)
    if value in (0, 1, 2):
        return _default
    stream = _streams.get(value)
    if stream is None:
        raise DeviceError(INVALID_HANDLE, f"{value:#x} is no stream, or it was destroyed")
    return stream


def synchronize_all() -> None:
    for stream in list(_streams.values()):
        if not stream.is_capturing:
            stream.synchronize()


class Event:
    """A point in a stream's work, and the time at which it was reached."""

    def __init__(self) -> None:
        self.handle = next(_handles)
        self._reached = threading.Event()
        self._reached.set()
        self._when: Optional[float] = None
        self._recorded = False
        with _lock:
            _events[self.handle] = self

    def record(self, stream: Stream) -> None:
        reached = threading.Event()
        self._reached, self._recorded = reached, True

        def reach() -> None:
            if self._reached is reached:
                self._when = time.perf_counter()
            reached.set()

        if stream._queue is None or stream.is_capturing:
            stream.enqueue(reach)
            if stream.is_capturing:
                reached.set()
        else:
            stream._queue.enqueue(reach)  # also behind what failed

    def wait(self, stream: Stream) -> None:
        reached = self._reached
        stream.enqueue(reached.wait)

    @property
    def is_done(self) -> bool:
        return self._reached.is_set()

    def synchronize(self) -> None:
        while not self._reached.wait(0.1):
            pass

    def milliseconds_since(self, start: Event) -> float:
        if not (self._recorded and start._recorded):
            raise DeviceError(INVALID_HANDLE, "an event was never recorded")
        if not (self.is_done and start.is_done) or self._when is None or start._when is None:
            raise DeviceError(NOT_READY, "an event was not reached yet")
        return (self._when - start._when) * 1000.0

    def destroy(self) -> None:
        if _events.pop(self.handle, None) is None:
            raise DeviceError(INVALID_HANDLE, f"the event {self.handle:#x} was destroyed before")

    def __repr__(self) -> str:
        return f"<event {self.handle:#x} on the host (assay's stand-in for a device)>"


def event_of(handle: Any) -> Event:
    if isinstance(handle, Event):
        return handle
    value = int(getattr(handle, "value", handle) if not hasattr(handle, "__int__") else handle)
    event = _events.get(value)
    if event is None:
        raise DeviceError(INVALID_HANDLE, f"{value:#x} is no event, or it was destroyed")
    return event


class Graph:
    """Work that was captured, to be repeated."""

    def __init__(self, jobs: list[Job]) -> None:
        self.handle = next(_handles)
        self.jobs = list(jobs)
        with _lock:
            _graphs[self.handle] = self

    def launch(self, stream: Stream) -> None:
        for job in self.jobs:
            stream.enqueue(job)

    def destroy(self) -> None:
        if _graphs.pop(self.handle, None) is None:
            raise DeviceError(INVALID_VALUE, f"the graph {self.handle:#x} was destroyed before")

    def __repr__(self) -> str:
        return f"<graph of {len(self.jobs)} step(s) on the host (assay's stand-in for a device)>"


def graph_of(handle: Any) -> Graph:
    graph = _graphs.get(int(handle))
    if graph is None:
        raise DeviceError(INVALID_VALUE, f"{int(handle):#x} is no graph, or it was destroyed")
    return graph
