"""tensorrt 10."""

import ctypes
import enum
import json

import numpy as np

from recorder import record

__version__ = "10.99.stand-in"


class Logger:
    WARNING = 2

    def __init__(self, severity):
        record("Logger", severity)


class TensorIOMode(enum.Enum):
    INPUT = 1
    OUTPUT = 2


class DataType(enum.Enum):
    FLOAT = 0
    HALF = 1
    INT64 = 8
    INT4 = 9

    def __str__(self):
        return f"DataType.{self.name}"


class BuilderFlag(enum.Enum):
    FP16 = 0
    TF32 = 7


class MemoryPoolType(enum.Enum):
    WORKSPACE = 0


class IOutputAllocator:
    def __init__(self):
        self.is_made = True


class Runtime:
    def __init__(self, logger):
        pass

    def deserialize_cuda_engine(self, plan):
        try:
            return Engine(json.loads(plan))
        except ValueError:
            return None


class Engine:
    def __init__(self, tensors):
        self.tensors = tensors
        self.num_io_tensors = len(tensors)

    def get_tensor_name(self, i):
        return list(self.tensors)[i]

    def get_tensor_mode(self, name):
        return TensorIOMode.OUTPUT if "of" in self.tensors[name] or "positive_of" in self.tensors[name] else TensorIOMode.INPUT

    def get_tensor_dtype(self, name):
        return DataType[self.tensors[name]["type"]]

    def get_tensor_shape(self, name):
        return tuple(self.tensors[name]["shape"])

    def get_tensor_profile_shape(self, name, profile):
        return [(1, 3), (2, 3), (4, 3)]

    def create_execution_context(self):
        return Context(self)


class Context:
    def __init__(self, engine):
        self.engine, self.shapes, self.addresses, self.allocators = engine, {}, {}, {}

    def set_input_shape(self, name, shape):
        record("set_input_shape", name, shape)
        declared = self.engine.get_tensor_shape(name)
        self.shapes[name] = shape
        return len(shape) == len(declared) and all(d in (-1, s) for d, s in zip(declared, shape))

    def get_tensor_shape(self, name):
        tensor = self.engine.tensors[name]
        return self.shapes[tensor["of"]] if "of" in tensor else (-1,) if "positive_of" in tensor else self.shapes[name]

    def set_tensor_address(self, name, address):
        record("set_tensor_address", name)
        self.addresses[name] = address

    def set_output_allocator(self, name, allocator):
        record("set_output_allocator", name)
        assert allocator.is_made
        self.allocators[name] = allocator

    def _array(self, name, address, shape):
        dtype = {"FLOAT": np.float32, "HALF": np.float16, "INT64": np.int64}[self.engine.tensors[name]["type"]]
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return np.frombuffer((ctypes.c_char * size).from_address(address), dtype).reshape(shape)

    def execute_async_v3(self, stream):
        record("execute_async_v3")
        for name, tensor in self.engine.tensors.items():
            source = tensor.get("of", tensor.get("positive_of"))
            if source is None:
                continue
            x = self._array(source, self.addresses[source], self.shapes[source])
            if "of" in tensor:
                self._array(name, self.addresses[name], x.shape)[...] = 2 * x
                continue
            made = x[x > 0]
            address = self.allocators[name].reallocate_output_async(name, 0, made.nbytes, 256, stream)
            self._array(name, address, made.shape)[...] = made
            self.allocators[name].notify_shape(name, made.shape)
        return True


class Tensor:
    def __init__(self, name, shape):
        self.name, self.shape = name, shape


class Network:
    num_inputs = 2

    def get_input(self, i):
        return (Tensor("x", (-1, 3)), Tensor("fixed", (4,)))[i]


class OnnxParser:
    num_errors = 1

    def __init__(self, network, logger):
        pass

    def parse_from_file(self, path):
        record("parse_from_file")
        with open(path, "rb") as file:
            content = file.read()
        self.is_good = content == b"good" or content.startswith(b"\x08")  # which is how ONNX models begin
        return self.is_good

    def get_error(self, i):
        class Error:
            @staticmethod
            def desc():
                return "no node in it"

        return Error


class Profile:
    def set_shape(self, name, *shapes):
        record("set_shape", name, *shapes)


class Config:
    def set_memory_pool_limit(self, pool, size):
        record("set_memory_pool_limit", pool.name, size)

    def set_flag(self, flag):
        record("set_flag", flag.name)

    def clear_flag(self, flag):
        record("clear_flag", flag.name)

    def add_optimization_profile(self, profile):
        record("add_optimization_profile")


class Builder:
    def __init__(self, logger):
        pass

    def create_network(self, flags):
        record("create_network", flags)
        return Network()

    def create_builder_config(self):
        return Config()

    def create_optimization_profile(self):
        return Profile()

    def build_serialized_network(self, network, config):
        record("build_serialized_network")
        return json.dumps({"x": {"type": "FLOAT", "shape": [-1, 3]}, "y": {"type": "FLOAT", "shape": [-1, 3], "of": "x"}}).encode()
