"""IExecutionContext."""

import ctypes
import threading

import numpy as np
from assay.compat import _memory
from assay.compat._streams import stream_of
from recorded.enums import DataType, ErrorCodeTRT, ProfilingVerbosity, TensorLocation
from recorded.errors import NotServedError
from recorded.layer import Served
from recorded.values import Dims, as_dims

from . import _types
from ._building import check_memory
from ._reports import report, told

_OUTPUT_ALIGNMENT = 64
_STRING = "string"


class _Run:
    """What a run needs, as it was when it was asked for."""

    def __init__(self, context, stream):
        self.profile = context._profile
        self.shapes = dict(context._input_shapes)
        self.addresses = dict(context._addresses)
        self.allocators = dict(context._allocators)
        self.profiler = context._profiler if context._emits else context._held_profiler()
        self.listener, self.debugged = context._listener, context._debugged()
        self.consumed, self.stream = context._consumed, stream


class IExecutionContext(Served):
    """Runs an engine. Each run takes shapes and addresses as they are when it is asked for."""

    def __init__(self, engine):
        self._engine, self._logger = engine, engine._logger
        made = engine._made
        self._asked, self._runs = made.create_context(), made.create_context()  # for shapes, for runs
        self._lock = threading.Lock()
        self._profile, self._run_profile = 0, 0
        self._input_shapes, self._addresses, self._allocators = {}, {}, {}
        self._bound, self._bound_shapes = {}, {}
        self._profiler, self._emits, self._times = None, True, []
        self._allocated = {}  # by tensor: its allocator, and the address that it gave last
        self._listener, self._debug, self._debug_all = None, {}, False
        self._consumed, self._name, self._error_recorder = 0, "", None
        self._small = {"debug_sync": False, "persistent_cache_limit": 0, "nvtx_verbosity": ProfilingVerbosity.DETAILED,
                       "device_memory": 0, "temporary_allocator": None, "unfused_tensors_debug_state": False}
        for t in engine._ios:
            if t.is_input and t.shape is not None and -1 not in t.shape:
                self._input_shapes[t.name] = t.shape
                self._asked.set_input_shape(t.name, t.shape)

    def _setting(name):  # noqa: N805
        return property(lambda self: self._small[name], lambda self, v: self._small.__setitem__(name, v))

    debug_sync, persistent_cache_limit = _setting("debug_sync"), _setting("persistent_cache_limit")
    nvtx_verbosity, device_memory = _setting("nvtx_verbosity"), _setting("device_memory")
    temporary_allocator = _setting("temporary_allocator")
    unfused_tensors_debug_state = _setting("unfused_tensors_debug_state")
    del _setting

    engine = property(lambda self: self._engine)
    name = property(lambda self: self._name, lambda self, v: setattr(self, "_name", str(v)))
    error_recorder = property(lambda self: self._error_recorder, lambda self, v: setattr(self, "_error_recorder", v))
    enqueue_emits_profile = property(lambda self: self._emits, lambda self, v: setattr(self, "_emits", bool(v)))
    profiler = property(lambda self: self._profiler, lambda self, v: setattr(self, "_profiler", v))

    # ---- profiles

    @property
    def active_optimization_profile(self):
        return self._profile

    @active_optimization_profile.setter
    def active_optimization_profile(self, index):
        self._choose(index)

    def set_optimization_profile_async(self, profile_index, stream_handle):
        if told(self, None)(lambda: stream_of(stream_handle)) is None:
            return False
        return self._choose(profile_index)

    def _choose(self, index):
        def choose():
            if self._engine._profiles or index != 0:
                self._asked.set_profile(index)
            if index != self._profile:
                self._input_shapes = {n: s for n, s in self._input_shapes.items() if -1 not in self._engine._by_name[n].shape}
            self._profile = index
            return True

        return told(self, False)(choose)

    # ---- shapes

    def set_input_shape(self, name, shape):
        """False, and the logger says why, for a shape that the network or the profile does not allow."""
        t = self._engine._io(name)
        if t is None:
            return False
        if not t.is_input:
            report(self, f"set_input_shape: '{name}' is an output")
            return False

        def put():
            dims = tuple(as_dims(shape, f"the shape of '{name}'"))
            if any(d < 0 for d in dims):
                report(self, f"set_input_shape: {dims} of '{name}' has an extent that is not known")
                return False
            self._asked.set_input_shape(name, dims)
            self._input_shapes[name] = dims
            return True

        return told(self, False)(put)

    def _shape(self, name):
        """Known extents, or None."""
        t = self._engine._by_name[name]
        if t.is_input:
            return self._input_shapes.get(name)
        known = self._asked.tensor_shape(name)
        return tuple(known) if known is not None else None

    def get_tensor_shape(self, name):
        t = self._engine._io(name)
        if t is None:
            return Dims(())
        shape = told(self, None)(lambda: self._shape(name))
        return Dims(shape if shape is not None else t.shape or ())

    def get_tensor_strides(self, name):
        strides, step = [], 1
        for d in reversed(list(self.get_tensor_shape(name))):
            strides.insert(0, step)
            step *= d
        return Dims(strides)

    @property
    def all_binding_shapes_specified(self):
        return all(t.name in self._input_shapes for t in self._engine._ios if t.is_input)

    all_shape_inputs_specified = property(lambda self: True)

    def infer_shapes(self):
        """The names of inputs that lack a shape, or the elements of a shape tensor."""
        return [t.name for t in self._engine._ios if t.is_input and (
            t.name not in self._input_shapes or (self._engine._is_shape(t.name) and not self._addresses.get(t.name)))]

    def get_max_output_size(self, name):
        t = self._engine._io(name)
        if t is None:
            return -1
        shape = self._shape(name)
        if shape is None:
            return -1
        return _types.byte_count(t.type_name, _types.volume(shape))

    # ---- addresses

    def set_tensor_address(self, name, memory):
        if self._engine._io(name) is None:
            return False
        self._addresses[name] = int(memory)
        return True

    def get_tensor_address(self, name):
        return self._addresses.get(name, 0) if self._engine._io(name) is not None else 0

    def set_output_allocator(self, name, output_allocator):
        t = self._engine._io(name)
        if t is None or t.is_input:
            return False
        if output_allocator is None:
            self._allocators.pop(name, None)
        else:
            self._allocators[name] = output_allocator
        return True

    def get_output_allocator(self, name):
        return self._allocators.get(name)

    def set_device_memory(self, memory, size):
        self._small["device_memory"] = int(memory)

    def update_device_memory_size_for_shapes(self):
        return self._engine.device_memory_size

    def set_aux_streams(self, aux_streams):
        return None

    def set_communicator(self, communicator):
        raise NotServedError("tensorrt.IExecutionContext.set_communicator: a network here runs on one device.")

    def set_input_consumed_event(self, event):
        self._consumed = int(event)
        return True

    def get_input_consumed_event(self):
        return self._consumed

    def get_runtime_config(self):
        return self._engine.create_runtime_config()

    # ---- times, intermediate values

    def _held_profiler(self):
        return self if self._profiler is not None else None

    def report_layer_time(self, name, milliseconds):
        """Kept until report_to_profiler()."""
        self._times.append((name, milliseconds))

    def report_to_profiler(self):
        if self._profiler is None or not self._times:
            return False
        times, self._times = self._times, []
        for name, milliseconds in times:
            self._profiler.report_layer_time(name, milliseconds)
        return True

    def set_debug_listener(self, listener):
        self._listener = listener
        return True

    def get_debug_listener(self):
        return self._listener

    def set_tensor_debug_state(self, name, flag):
        self._debug[name] = bool(flag)
        return True

    def get_debug_state(self, name):
        return self._debug.get(name, self._debug_all)

    def set_all_tensors_debug_state(self, flag):
        self._debug, self._debug_all = {}, bool(flag)
        return True

    def _debugged(self):
        """A function of a tensor's name; None where nothing is asked for."""
        marked = self._engine._made.debug_tensors
        if self._listener is None or not marked or not (self._debug_all or any(self._debug.values())):
            return None
        states, rest = dict(self._debug), self._debug_all
        return lambda name: (name in marked or "*" in marked) and states.get(name, rest)

    # ---- runs

    def _prepare(self, stream_handle):
        """A _Run that can be done; raises what stands against it."""
        stream = stream_of(stream_handle)
        run = _Run(self, stream)
        for t in self._engine._ios:
            shape = run.shapes.get(t.name) if t.is_input else None
            if t.is_input and shape is None:
                raise _memory.DeviceError(_memory.INVALID_VALUE, f"the shape of the input '{t.name}' is not set")
            address = run.addresses.get(t.name)
            if address is None:
                if t.name in run.allocators or (t.is_input and _types.volume(shape) == 0):
                    continue
                raise _memory.DeviceError(_memory.INVALID_VALUE, f"the address of '{t.name}' is not set")
            if not t.is_input:
                shape = self._shape(t.name)
            if shape is not None and t.name not in run.allocators:
                size = _types.byte_count(t.type_name, _types.volume(shape))
                check_memory(address, size, f"address of '{t.name}'")
        return run

    def _enqueue(self, stream_handle):
        def enqueue():
            run = self._prepare(stream_handle)
            if run.allocators and not run.stream.is_capturing and not self._allocate(run):
                run.stream.synchronize()
                self._do(run)
            elif run.stream.is_default:
                run.stream.enqueue(lambda: None)  # behind the other streams
                self._do(run)
            else:
                run.stream.enqueue(lambda: self._do_in_stream(run))
            return True

        return told(self, False, ErrorCodeTRT.FAILED_EXECUTION)(enqueue)

    def _allocate(self, run):
        """Asks the allocators for outputs whose shape is known, as the run is asked for. False: some are not known before it
        is done."""
        if any(self._shape(name) is None for name in run.allocators):
            return False
        for name in list(run.allocators):
            t, shape = self._engine._by_name[name], self._shape(name)
            run.addresses[name] = self._target(run, t, _types.byte_count(t.type_name, _types.volume(shape)), shape)
            run.allocators.pop(name).notify_shape(name, Dims(shape))
        return True

    def _do_in_stream(self, run):
        try:
            self._do(run)
        except Exception as error:
            report(self, error, ErrorCodeTRT.FAILED_EXECUTION)
            raise

    def execute_async_v3(self, stream_handle):
        """The run behind what the stream has; False, and the logger says why, where something is missing."""
        return self._enqueue(stream_handle)

    def execute_v2(self, bindings):
        """A run at once, on addresses by the positions of the tensors."""
        return self._take(bindings) and self._enqueue(0)

    def execute_async_v2(self, bindings, stream_handle, input_consumed=None):
        return self._take(bindings) and self._enqueue(stream_handle)

    def execute(self, batch_size=1, bindings=()):
        return self.execute_v2(bindings)

    def execute_async(self, batch_size=1, bindings=(), stream_handle=0, input_consumed=None):
        return self.execute_async_v2(bindings, stream_handle)

    def _take(self, bindings):
        count = len(self._engine._ios)
        at = self._profile * count if len(bindings) == count * self._engine.num_optimization_profiles else 0
        if len(bindings) < at + count:
            report(self, f"{len(bindings)} addresses are given, and the engine has {count} tensors: "
                   + ", ".join(self._engine._by_name))
            return False
        for t, address in zip(self._engine._ios, bindings[at:at + count]):
            self._addresses[t.name] = int(address)
        return True

    def _do(self, run):
        with self._lock:
            core = self._runs
            self._set_up(core, run)
            shapes = {t.name: core.tensor_shape(t.name) for t in self._engine._ios if not t.is_input}
            bindable = getattr(core, "can_bind", True) and all(
                s is not None and self._engine._by_name[n].type_name != _STRING for n, s in shapes.items())
            if bindable:
                self._run_bound(core, run, shapes)
            else:
                self._run_fed(core, run)
            if run.consumed:
                from assay.compat._streams import _default, event_of
                event_of(run.consumed).record(_default)
            core.set_profiler(None)

    def _set_up(self, core, run):
        if run.profile != self._run_profile:
            core.set_profile(run.profile)
            self._run_profile, self._bound_shapes = run.profile, {}
        for name, shape in run.shapes.items():
            if self._bound_shapes.get(name) != shape:
                core.set_input_shape(name, shape)
                self._bound_shapes[name] = shape
        core.set_profiler(run.profiler.report_layer_time if run.profiler is not None else None)
        if run.debugged is not None:
            core.set_tap(lambda name, value: self._show(run, name, value))
            for t in self._engine._ios:
                if t.is_input and t.type_name != _STRING and run.debugged(t.name):
                    self._show(run, t.name, self._fed(run, t))
        elif self._listener is not None:
            core.set_tap(None)

    @staticmethod
    def _fed(run, t):
        """What an input is given, which nobody computes."""
        shape, kind = run.shapes[t.name], _types.numpy_type(t.type_name)
        address = run.addresses.get(t.name, 0)
        check_memory(address, _types.byte_count(t.type_name, _types.volume(shape)), f"address of '{t.name}'")
        return _memory.array_at(address, shape, kind) if address else np.empty(shape, kind)

    @staticmethod
    def _show(run, name, value):
        if run.debugged(name):
            kept = np.ascontiguousarray(value)
            dtype = next((d for d in DataType if d is _types.data_type(kept.dtype.name)), DataType.FLOAT)
            run.listener.process_debug_tensor(kept.ctypes.data, TensorLocation.HOST, dtype, Dims(kept.shape), name,
                                              run.stream.handle)

    def _target(self, run, t, size, shape):
        """The address that an output of `size` bytes goes to."""
        allocator = run.allocators.get(t.name)
        address = run.addresses.get(t.name, 0)
        if allocator is not None:
            last, at = self._allocated.get(t.name, (None, 0))
            address = at if last is allocator else address
            given = getattr(allocator, "reallocate_output_async", None)
            if given is not None:
                address = given(t.name, address, size, _memory.ALIGNMENT, run.stream.handle)
            else:
                address = allocator.reallocate_output(t.name, address, size, _memory.ALIGNMENT)
            address = int(address or 0)
            self._allocated[t.name] = (allocator, address)
        check_memory(address, size, f"address of '{t.name}'")
        return address

    def _run_bound(self, core, run, shapes):
        """On the memory itself, but for what is not aligned."""
        afterwards, notices = [], []
        for t in self._engine._ios:
            shape = run.shapes[t.name] if t.is_input else tuple(shapes[t.name])
            size = _types.byte_count(t.type_name, _types.volume(shape))
            if t.is_input:
                address = run.addresses.get(t.name, 0)
                check_memory(address, size, f"address of '{t.name}'")
                unit = max(1, _types.byte_count(t.type_name, 1))
            else:
                address, unit = self._target(run, t, size, shape), _OUTPUT_ALIGNMENT
                if t.name in run.allocators:
                    notices.append((run.allocators[t.name], t.name, shape))
            owner = None
            if address % unit or size == 0:
                owner = _aligned(size)
                here = owner.ctypes.data
                if t.is_input and size:
                    ctypes.memmove(here, address, size)
                elif size:
                    afterwards.append((address, here, size))
                address = here
            key = (address, size)
            if self._bound.get(t.name) != key or owner is not None:
                core.bind_address(t.name, address, max(size, 1), owner)
                self._bound[t.name] = key if owner is None else None
        core.execute()
        for address, here, size in afterwards:
            ctypes.memmove(address, here, size)
        for allocator, name, shape in notices:
            allocator.notify_shape(name, Dims(shape))

    def _run_fed(self, core, run):
        """For outputs whose shape only the run tells."""
        feed = {}
        for t in self._engine._ios:
            if t.is_input:
                shape = run.shapes[t.name]
                feed[t.name] = _memory.array_at(run.addresses.get(t.name, 0), shape, _types.numpy_type(t.type_name))
        self._bound = {}
        if not getattr(core, "can_bind", True):
            core.stream = run.stream.handle
        outputs = core.run(feed)
        for t in self._engine._ios:
            if t.is_input:
                continue
            value = np.ascontiguousarray(outputs[t.name])
            address = self._target(run, t, value.nbytes, value.shape)
            if value.nbytes:
                ctypes.memmove(address, value.ctypes.data, value.nbytes)
            if t.name in run.allocators:
                run.allocators[t.name].notify_shape(t.name, Dims(outputs[t.name].shape))

    # ---- by position, as before TensorRT 10

    def _binding_name(self, binding):
        return self._engine._binding(binding)[0].name

    def set_binding_shape(self, binding, shape):
        return self.set_input_shape(self._binding_name(binding), shape)

    def get_binding_shape(self, binding):
        return self.get_tensor_shape(self._binding_name(binding))

    def get_strides(self, binding):
        return self.get_tensor_strides(self._binding_name(binding))

    def set_shape_input(self, binding, shape):
        """The elements of a shape tensor."""
        t = self._engine._binding(binding)[0]
        values = np.array(list(shape), _types.numpy_type(t.type_name)).reshape(t.shape if t.shape is not None else -1)
        self._small[f"shape input {t.name}"] = values
        self._addresses[t.name] = values.ctypes.data
        return self.set_input_shape(t.name, values.shape)

    def get_shape(self, binding):
        t = self._engine._binding(binding)[0]
        address, shape = self._addresses.get(t.name), self._shape(t.name)
        if not address or shape is None:
            return []
        return [int(v) for v in _memory.array_at(address, shape, _types.numpy_type(t.type_name)).reshape(-1)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __repr__(self):
        return f"<tensorrt.IExecutionContext of assay's CPU engine: {self._engine.name!r}>"


def _aligned(size):
    """An array of bytes that begins at a multiple of 64."""
    from assay._engine import zeros

    return zeros((max(size, 1),), "uint8")
