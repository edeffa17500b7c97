"""Runs TensorRT engines (.engine, .plan), or builds one from an ONNX model. Needs the packages tensorrt (10 or newer) and
cuda-python, and a GPU.

Options
    fp16, tf32               1 to allow these precisions when an engine is built
    workspace                bytes that building may use; 0: as TensorRT chooses
    min_shapes, opt_shapes, max_shapes
                             JSON, for inputs with unknown extents: {"x": [1, 3, 224, 224]}; the ones not given are
                             those that are, and an extent of which nothing is said is 1
    save_engine              file to which a built engine is written
"""

import json

import numpy as np
import tensorrt as trt

try:
    from cuda.bindings import runtime as cudart
except ImportError:  # before 12.8
    from cuda import cudart

NAMES = {"FLOAT": "float32", "HALF": "float16", "BF16": "bfloat16", "FP8": "float8_e4m3fn", "INT8": "int8", "UINT8": "uint8",
         "INT32": "int32", "INT64": "int64", "BOOL": "bool"}


class TensorRTRunner:
    def __init__(self, model_path, fp16="", tf32="", workspace="0", min_shapes="", opt_shapes="", max_shapes="",
                 save_engine=""):
        self._logger = trt.Logger(trt.Logger.WARNING)
        if model_path.endswith((".engine", ".plan")):
            with open(model_path, "rb") as file:
                plan = file.read()
        else:
            shapes = [json.loads(s) if s else {} for s in (min_shapes, opt_shapes, max_shapes)]
            plan = self._build(model_path, _is_on(fp16), _is_on(tf32), int(workspace), shapes)
            if save_engine:
                with open(save_engine, "wb") as file:
                    file.write(plan)
        self._runtime = trt.Runtime(self._logger)
        self._engine = self._runtime.deserialize_cuda_engine(plan)
        if self._engine is None:
            raise ValueError(f"TensorRT {trt.__version__} cannot read the engine {model_path}; engines run with the version and on "
                             "the kind of GPU that they were built with")
        self._context = self._engine.create_execution_context()
        if self._context is None:
            raise MemoryError("TensorRT made no execution context; the memory of the GPU may not suffice")
        names = [self._engine.get_tensor_name(i) for i in range(self._engine.num_io_tensors)]
        is_input = {n: self._engine.get_tensor_mode(n) == trt.TensorIOMode.INPUT for n in names}
        self._inputs = {n: self._type(n) for n in names if is_input[n]}
        self._outputs = {n: self._type(n) for n in names if not is_input[n]}
        self._stream = None
        self._buffers, self._allocators = {}, {}

    def activate(self):
        self._stream = _checked(cudart.cudaStreamCreate())
        self._begin, self._end = (_checked(cudart.cudaEventCreate()) for _ in range(2))

    def deactivate(self):
        for buffer in [*self._buffers.values(), *(a.buffer for a in self._allocators.values())]:
            buffer.free()
        for event in (self._begin, self._end):
            _checked(cudart.cudaEventDestroy(event))
        _checked(cudart.cudaStreamDestroy(self._stream))

    def inputs(self):
        return self._inputs

    def outputs(self):
        return self._outputs

    def infer(self, feed_dict):
        for name, array in feed_dict.items():
            if not self._context.set_input_shape(name, array.shape):
                raise ValueError(f"the engine does not take the shape {array.shape} for {name!r}; its profile allows "
                                 f"{[tuple(s) for s in self._engine.get_tensor_profile_shape(name, 0)]}")
        for name, array in feed_dict.items():
            array = np.ascontiguousarray(array)
            buffer = self._buffer(name, array.nbytes)
            _checked(cudart.cudaMemcpyAsync(buffer.address, array.ctypes.data, array.nbytes,
                                            cudart.cudaMemcpyKind.cudaMemcpyHostToDevice, self._stream))
            self._context.set_tensor_address(name, buffer.address)
        made = {name: self._prepare(name) for name in self._outputs}
        _checked(cudart.cudaEventRecord(self._begin, self._stream))
        if not self._context.execute_async_v3(self._stream):
            raise RuntimeError("TensorRT could not run the engine; what it logged on stderr says why")
        _checked(cudart.cudaEventRecord(self._end, self._stream))
        _checked(cudart.cudaStreamSynchronize(self._stream))
        return {name: self._fetch(name, array) for name, array in made.items()}

    def last_inference_time(self):
        """Of the GPU's work, without copies."""
        return _checked(cudart.cudaEventElapsedTime(self._begin, self._end)) / 1000

    def _type(self, name):
        kind = str(self._engine.get_tensor_dtype(name)).split(".")[-1]
        if kind not in NAMES:
            raise ValueError(f"the engine has {name!r} as {kind}, which this runner does not move to or from the GPU")
        return NAMES[kind], [None if d < 0 else d for d in self._engine.get_tensor_shape(name)]

    def _dtype(self, name):
        try:
            return np.dtype(self._outputs[name][0])
        except TypeError:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, self._outputs[name][0]))

    def _buffer(self, name, nbytes):
        buffer = self._buffers.setdefault(name, _Buffer())
        buffer.reserve(nbytes)
        return buffer

    def _prepare(self, name):
        """Room for an output; None where its shape depends on the data, so that TensorRT asks for room itself."""
        shape = tuple(self._context.get_tensor_shape(name))
        if any(d < 0 for d in shape):
            allocator = self._allocators.setdefault(name, _allocator())
            self._context.set_output_allocator(name, allocator)
            return None
        array = np.empty(shape, self._dtype(name))
        self._context.set_tensor_address(name, self._buffer(name, array.nbytes).address)
        return array

    def _fetch(self, name, array):
        source = self._buffers.get(name)
        if array is None:
            source = self._allocators[name].buffer
            array = np.empty(self._allocators[name].shape, self._dtype(name))
        if array.nbytes:
            _checked(cudart.cudaMemcpy(array.ctypes.data, source.address, array.nbytes,
                                       cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost))
        return array

    def _build(self, path, fp16, tf32, workspace, shapes):
        builder = trt.Builder(self._logger)
        network = builder.create_network(0)
        parser = trt.OnnxParser(network, self._logger)
        if not parser.parse_from_file(path):
            errors = "; ".join(parser.get_error(i).desc() for i in range(parser.num_errors))
            raise ValueError(f"TensorRT {trt.__version__} cannot read {path}: {errors}")
        config = builder.create_builder_config()
        if workspace:
            config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, workspace)
        for flag, is_on in (("FP16", fp16), ("TF32", tf32)):
            if is_on and not hasattr(trt.BuilderFlag, flag):
                raise ValueError(f"TensorRT {trt.__version__} has no {flag} mode; its networks have the types that the model says")
            if hasattr(trt.BuilderFlag, flag):
                (config.set_flag if is_on else config.clear_flag)(getattr(trt.BuilderFlag, flag))
        self._add_profile(builder, network, config, shapes)
        plan = builder.build_serialized_network(network, config)
        if plan is None:
            raise RuntimeError("TensorRT built no engine; what it logged on stderr says why")
        return bytes(plan)

    @staticmethod
    def _add_profile(builder, network, config, shapes):
        inputs = [network.get_input(i) for i in range(network.num_inputs)]
        known = {i.name for i in inputs}
        for given in shapes:
            for name in given:
                if name not in known:
                    raise ValueError(f"the model has no input {name!r}, for which shapes are given; it has {', '.join(sorted(known))}")
        dynamic = [i for i in inputs if any(d < 0 for d in i.shape)]
        if not dynamic:
            return
        profile = builder.create_optimization_profile()
        for tensor in dynamic:
            given = [s.get(tensor.name) for s in shapes]
            usual = given[1] or given[2] or given[0] or [1 if d < 0 else d for d in tensor.shape]
            profile.set_shape(tensor.name, *(g or usual for g in given))
        config.add_optimization_profile(profile)


def _is_on(text):
    return text.lower() not in ("", "0", "false", "no")


def _checked(result):
    """Of cuda-python: the status, then what the function gives."""
    status, *values = result
    if status != cudart.cudaError_t.cudaSuccess:
        (_, text) = cudart.cudaGetErrorString(status)
        raise RuntimeError(f"CUDA: {text.decode() if isinstance(text, bytes) else text}")
    return values[0] if values else None


class _Buffer:
    """Memory of the GPU that grows."""

    def __init__(self):
        self.address, self._room = 0, -1

    def reserve(self, nbytes):
        if nbytes > self._room:
            self.free()
            self.address, self._room = _checked(cudart.cudaMalloc(max(nbytes, 1))), nbytes

    def free(self):
        if self.address:
            _checked(cudart.cudaFree(self.address))
        self.address, self._room = 0, -1


def _allocator():
    """Room for an output whose shape is known when it is computed."""

    class Allocator(trt.IOutputAllocator):
        def __init__(self):
            trt.IOutputAllocator.__init__(self)
            self.buffer, self.shape = _Buffer(), ()

        def reallocate_output(self, tensor_name, memory, size, alignment):
            self.buffer.reserve(size)
            return self.buffer.address

        def reallocate_output_async(self, tensor_name, memory, size, alignment, stream):
            return self.reallocate_output(tensor_name, memory, size, alignment)

        def notify_shape(self, tensor_name, shape):
            self.shape = tuple(shape)

    return Allocator()
