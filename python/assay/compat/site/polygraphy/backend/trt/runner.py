"""Engines of TensorRT."""

import contextlib
import ctypes
import time
from collections import OrderedDict

from polygraphy import config as _switches
from polygraphy import cuda, mod, util
from polygraphy.backend.base import BaseRunner
from polygraphy.backend.trt import util as trt_util
from polygraphy.common import FormattedArray
from polygraphy.datatype import DataType
from polygraphy.logger import G_LOGGER
from polygraphy.mod.trt_importer import lazy_import_trt

np = mod.lazy_import("numpy")
torch = mod.lazy_import("torch>=1.13.0")
trt = lazy_import_trt()

__all__ = ["TrtRunner"]


def _bytes_of(shape, dtype):
    return -int(-util.volume(shape) * dtype.itemsize // 1)


def _make_debug_listener():
    """Keeps the values of debug tensors."""
    not_here = [getattr(trt, n, None) for n in ("fp8", "int4", "fp4", "bfloat16")]

    class Listener(trt.IDebugListener):
        def __init__(self):
            trt.IDebugListener.__init__(self)
            self.polygraphy_debug_tensor_outputs = {}

        def process_debug_tensor(self, addr, location, type, shape, name, stream):
            if type in not_here:
                G_LOGGER.warning(f"Debug tensor: {name} | NumPy has no type for {type}")
                return True
            cuda.wrapper().stream_synchronize(stream)
            values = np.empty(tuple(shape), dtype=DataType.to_dtype(DataType.from_dtype(type, "tensorrt"), "numpy"))
            if location == trt.TensorLocation.HOST:
                ctypes.memmove(values.ctypes.data, addr, values.nbytes)
            elif values.nbytes:
                cuda.wrapper().memcpy(values.ctypes.data, addr, values.nbytes, cuda.MemcpyKind.DeviceToHost)
            self.polygraphy_debug_tensor_outputs[name] = values
            return True

    return Listener()


class _OutputMemory(cuda.DeviceArray):
    """Memory that is given back when neither a runner nor a view of it is left."""

    def view(self, shape=None, dtype=None):
        seen = super().view(shape, dtype)
        seen._memory = self
        return seen

    def __del__(self):
        with contextlib.suppress(Exception):  # at the end of the process nothing is left to be called
            self.free()


def _make_output_allocator():
    """Gives outputs memory, and keeps it from run to run."""

    class Allocator(trt.IOutputAllocator):
        def __init__(self):
            trt.IOutputAllocator.__init__(self)
            self.buffers, self.shapes, self.use_torch = {}, {}, False

        def _give(self, name, size):
            have = self.buffers.get(name)
            if have is None or util.array.is_torch(have) != self.use_torch:
                have = torch.empty((0,), dtype=torch.uint8, device="cuda") if self.use_torch else _OutputMemory((), DataType.UINT8)
            self.buffers[name] = util.array.resize_or_reallocate(have, (size,))
            return util.array.data_ptr(self.buffers[name])

        def reallocate_output(self, tensor_name, memory, size, alignment):
            return self._give(tensor_name, size)

        def reallocate_output_async(self, tensor_name, memory, size, alignment, stream):
            return self._give(tensor_name, size)

        def notify_shape(self, tensor_name, shape):
            self.shapes[tensor_name] = tuple(shape)

        def set_use_torch(self, use_torch):
            self.use_torch = use_torch

    return Allocator()


def _get_array_on_cpu(arr, name, host_buffers, stream, nbytes, use_torch):
    """Bytes of the device's array, in a buffer of that name which is used again."""
    if not util.array.is_on_gpu(arr):
        G_LOGGER.internal_error("an array that is to be copied from the device is not there")
    have = host_buffers.get(name)
    if have is None or util.array.is_torch(have) != use_torch or util.array.nbytes(have) != nbytes:
        have = torch.empty((nbytes,), dtype=torch.uint8) if use_torch else np.empty((nbytes,), dtype=np.uint8)
        host_buffers[name] = have
    if nbytes:
        cuda.wrapper().memcpy(util.array.data_ptr(have), util.array.data_ptr(arr), nbytes, cuda.MemcpyKind.DeviceToHost, stream.ptr)
    return have


class TrtRunner(BaseRunner):
    """Runs an engine, or a context, or what gives one. infer() takes arrays of the host, of PyTorch, or of the device, and
    gives arrays that the next call uses again."""

    def __init__(self, engine, name: str = None, optimization_profile: int = None, allocation_strategy: str = None,
                 weight_streaming_budget: int = None, weight_streaming_percent: float = None, debug_listener=None):
        """`allocation_strategy`: "static", or "profile" or "runtime", with memory for the profile or for the shapes alone.
        `weight_streaming_budget`: bytes; -2: off, -1: TensorRT decides. `debug_listener`: in place of the one whose
        values become outputs."""
        super().__init__(name=name, prefix="trt-runner")
        self._engine_or_context = engine
        self.optimization_profile, self.allocation_strategy = optimization_profile, allocation_strategy
        self.weight_streaming_budget, self.weight_streaming_percent = weight_streaming_budget, weight_streaming_percent
        self.debug_listener = debug_listener

    # Activation.

    def _make_context(self, given):
        if isinstance(given, trt.IExecutionContext):
            self.context, self.engine = given, given.engine
            if self.allocation_strategy is not None:
                G_LOGGER.warning("An allocation strategy was given with a context; it has to be the one that the context was made with.")
            return
        if not isinstance(given, trt.ICudaEngine):
            G_LOGGER.critical("Invalid Engine or Context. Please ensure the engine was built correctly. See error log for details.")
        self.engine = given
        self._set_weight_streaming_budget()
        strategy = util.default(self.allocation_strategy, "static")
        if strategy not in ("static", "profile", "runtime"):
            G_LOGGER.critical(f"There is no allocation strategy {strategy}; there are: static, profile, runtime")
        if strategy == "static":
            self.context = given.create_execution_context()
        else:
            self.context = given.create_execution_context(trt.ExecutionContextAllocationStrategy.USER_MANAGED)
        if not self.context:
            G_LOGGER.critical("Invalid Context. See error log for details.")

    @util.check_called_by("activate")
    def activate_impl(self):
        self._make_context(util.invoke_if_callable(self._engine_or_context)[0])
        self.device_input_buffers, self.host_output_buffers = OrderedDict(), OrderedDict()
        self.stream, self.context_memory_buffer = cuda.Stream(), None
        self.output_allocator = _make_output_allocator()
        self._listener = None
        if hasattr(self.context, "set_all_tensors_debug_state"):
            self.context.set_all_tensors_debug_state(True)
            self.set_debug_listener(_make_debug_listener() if self.debug_listener is None else self.debug_listener)
        if self.optimization_profile is not None:
            self.set_profile(self.optimization_profile)

    def _needs_context(self, method):
        if getattr(self, "context", None) is None:
            G_LOGGER.critical(f"{self.name:35} | Must be activated prior to calling {method}()")

    def set_profile(self, index: int):
        """Shapes of another profile from now on."""
        self._needs_context("set_profile")
        if not hasattr(self.context, "set_optimization_profile_async"):
            self.context.active_optimization_profile = index
        elif not self.context.set_optimization_profile_async(index, self.stream.ptr):
            G_LOGGER.critical(f"Failed to set optimization profile to: {index}")

    def set_debug_listener(self, listener):
        """Who gets debug tensors from now on."""
        self._needs_context("set_debug_listener")
        self._listener = listener
        if not self.context.set_debug_listener(listener):
            G_LOGGER.critical("Failed to set debug listener.")

    def _set_weight_streaming_budget(self):
        budget, percent = self.weight_streaming_budget, self.weight_streaming_percent
        if budget is None and percent is None:
            return
        if budget is not None and percent is not None:
            G_LOGGER.warning("Cannot specify the weight streaming budget both in bytes and percentage. Prioritizing the bytes value.")
        if budget is not None and budget < -2 or budget is None and not 0 <= percent <= 100:
            G_LOGGER.critical(f"There is no weight streaming budget of {percent}%" if budget is None else f"There is no weight streaming budget of {budget}")
        everything = self.engine.streamable_weights_size
        if budget == -2:
            wanted = everything
        elif budget == -1:
            wanted = self.engine.get_weight_streaming_automatic_budget()
        else:
            wanted = budget if budget is not None else int(percent / 100.0 * everything)
        self.engine.weight_streaming_budget_v2 = wanted
        if self.engine.weight_streaming_budget_v2 != wanted:
            G_LOGGER.critical(f"Failed to set weight streaming budget to {wanted}!")
        if wanted == everything:
            G_LOGGER.info("Weight streaming is disabled.")
        else:
            G_LOGGER.info(f"Weight streaming is enabled with a memory budget of {wanted} bytes.")

    # Running.

    @util.check_called_by("get_input_metadata")
    def get_input_metadata_impl(self):
        return trt_util.get_metadata_from_engine(self.engine, self.context, mode=trt.TensorIOMode.INPUT)

    def _names(self, mode):
        return [n for n in map(self.engine.get_tensor_name, range(self.engine.num_io_tensors)) if self.engine.get_tensor_mode(n) == mode]

    def _format(self, name):
        return trt_util.get_tensor_format(self.engine, self.context, name)

    def _bind_input(self, name, given):
        """Its address, after its shape and address are set."""
        array, shape = (given.array, tuple(given.shape)) if isinstance(given, FormattedArray) else (given, util.array.shape(given))
        layout = self._format(name)
        if layout == trt.TensorFormat.HWC:
            shape = trt_util.get_chw_shape_from_hwc(shape)
        if self.context.get_tensor_shape(name) != shape and not self.context.set_input_shape(name, shape):
            G_LOGGER.critical(f"For input: {name}, failed to set shape to: {shape}")
        if layout == trt.TensorFormat.CHW16 and not isinstance(given, FormattedArray):
            array = trt_util.convert_linear_to_vectorized_format(self.context, name, array).array
        if self.engine.is_shape_inference_io(name):
            if not util.array.is_on_cpu(array):
                G_LOGGER.critical(f"A {type(array).__name__} was provided for input: {name}, but since this is a shape tensor, it must reside in host memory. ")
            array = util.array.make_contiguous(array)
            self._held.append(array)  # until the run is over
            address = util.array.data_ptr(array)
        else:
            address = trt_util._get_array_on_gpu(array, name, self.device_input_buffers, self.stream)
        if self.context.get_tensor_address(name) != address and not self.context.set_tensor_address(name, address):
            G_LOGGER.critical(f"For input: {name}, failed to set tensor address to: {address}")
        return address

    def _bind_output(self, name, inputs):
        """The input that shares its memory, or None: the allocator gives it some."""
        alias = self.engine.get_aliased_input_tensor(name) if hasattr(self.engine, "get_aliased_input_tensor") else None
        if not alias or alias not in inputs:
            if not self.context.set_output_allocator(name, self.output_allocator):
                G_LOGGER.critical(f"For output: {name}, failed to set output allocator")
            return None
        if self.engine.is_shape_inference_io(name) or self.engine.is_shape_inference_io(alias):
            G_LOGGER.critical(f"Output: {name} shares the memory of input: {alias}, which a shape tensor cannot.")
        if not self.context.set_tensor_address(name, inputs[alias]):
            G_LOGGER.critical(f"For aliased output: {name}, failed to set tensor address to: {inputs[alias]}")
        return alias

    def _give_context_memory(self):
        if self.allocation_strategy not in ("profile", "runtime"):
            return
        new_calls = _switches.USE_TENSORRT_RTX or mod.version(trt.__version__) >= mod.version("10.1")
        if self.allocation_strategy == "runtime":
            size = self.context.update_device_memory_size_for_shapes()
        else:
            ask = self.engine.get_device_memory_size_for_profile_v2 if new_calls else self.engine.get_device_memory_size_for_profile
            size = ask(self.context.active_optimization_profile)
        if self.context_memory_buffer is None:
            self.context_memory_buffer = cuda.DeviceArray.raw()
        memory = self.context_memory_buffer.resize((size,))
        if new_calls:
            self.context.set_device_memory(memory.ptr, memory.allocated_nbytes)
        else:
            self.context.device_memory = memory.ptr

    def _output(self, name, memory, shape, to_host, raw, as_torch):
        layout, dtype = self._format(name), DataType.from_dtype(self.engine.get_tensor_dtype(name), "tensorrt")
        if layout == trt.TensorFormat.HWC:
            shape = trt_util.get_hwc_shape_from_chw(shape)
        grouped = layout not in (trt.TensorFormat.LINEAR, trt.TensorFormat.HWC)
        if to_host:
            nbytes = util.array.nbytes(memory) if grouped else _bytes_of(shape, dtype)
            memory = _get_array_on_cpu(memory, name, self.host_output_buffers, self.stream, nbytes, as_torch)
        if to_host and layout == trt.TensorFormat.CHW16:
            self.stream.synchronize()
            return util.array.make_contiguous(trt_util.convert_vectorized_to_linear_format(self.context, name, memory))
        return FormattedArray(memory, shape=shape) if raw or grouped else util.array.view(memory, dtype, shape)

    def _run(self, feed_dict, to_host, raw):
        self._held = []
        as_torch = any(util.array.is_torch(getattr(a, "array", a)) for a in feed_dict.values())
        inputs = {name: self._bind_input(name, feed_dict[name]) for name in self._names(trt.TensorIOMode.INPUT)}
        debugged = getattr(self._listener, "polygraphy_debug_tensor_outputs", None)
        if debugged is not None:
            debugged.clear()
        self.output_allocator.set_use_torch(as_torch and torch.cuda.is_available())
        aliases = {name: self._bind_output(name, inputs) for name in self._names(trt.TensorIOMode.OUTPUT)}
        self._give_context_memory()
        if not self.context.execute_async_v3(self.stream.ptr):
            G_LOGGER.critical("`execute_async_v3()` failed. Please see the logging output above for details.")
        outputs = OrderedDict()
        for name, alias in aliases.items():
            if alias is None:
                memory, shape = self.output_allocator.buffers[name], self.output_allocator.shapes[name]
            else:
                memory, shape = getattr(feed_dict[alias], "array", feed_dict[alias]), tuple(self.context.get_tensor_shape(name))
                memory = memory if util.array.is_on_gpu(memory) else self.device_input_buffers[alias]
            outputs[name] = self._output(name, memory, shape, to_host, raw, as_torch)
        self.stream.synchronize()
        outputs.update(debugged or {})
        self._held = []
        return outputs

    @util.check_called_by("infer")
    def infer_impl(self, feed_dict, copy_outputs_to_host=None, return_raw_buffers=None):
        """`copy_outputs_to_host`: False leaves outputs on the device; `return_raw_buffers`: bytes, as FormattedArray."""
        start = time.perf_counter()
        outputs = self._run(feed_dict, util.default(copy_outputs_to_host, True), util.default(return_raw_buffers, False))
        self.inference_time = time.perf_counter() - start
        return outputs

    @util.check_called_by("deactivate")
    def deactivate_impl(self):
        for buffer in self.device_input_buffers.values():
            buffer.free()
        if self.context_memory_buffer is not None:
            self.context_memory_buffer.free()
        self.stream.free()
        vars(self).pop("_held", None)
        del (self.engine, self.context, self.device_input_buffers, self.host_output_buffers, self.stream, self.context_memory_buffer,
             self.output_allocator, self._listener)
