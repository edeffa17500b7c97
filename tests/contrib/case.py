"""A test case of one com.microsoft operator: its node, its inputs, and what ONNX Runtime's CPU kernel computes."""

import json
import pathlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

# What ONNX's backend tests take; data.json of a case says what else it takes.
RTOL, ATOL = 1e-3, 1e-7
TYPES = {"tensor(float)": TensorProto.FLOAT, "tensor(float16)": TensorProto.FLOAT16, "tensor(double)": TensorProto.DOUBLE,
         "tensor(int64)": TensorProto.INT64, "tensor(int32)": TensorProto.INT32, "tensor(uint32)": TensorProto.UINT32,
         "tensor(int16)": TensorProto.INT16, "tensor(uint16)": TensorProto.UINT16, "tensor(int8)": TensorProto.INT8,
         "tensor(uint8)": TensorProto.UINT8, "tensor(bool)": TensorProto.BOOL, "tensor(string)": TensorProto.STRING,
         "tensor(int4)": TensorProto.INT4, "tensor(uint4)": TensorProto.UINT4}

ort.set_default_logger_severity(3)


class Case:
    """Inputs that are None are left out; `constant` names those that are initializers; `outputs` says of each output
    whether the node has it. `expected` holds the values where the CPU has no kernel: what the operator's description
    says, in NumPy."""

    def __init__(self, name, op, inputs, attributes=None, outputs=(True,), constant=(), domain="com.microsoft",
                 rtol=RTOL, atol=ATOL, expected=None):
        self.name, self.op, self.domain = name, op, domain
        self.inputs = [None if x is None else as_tensor(x, f"x{i}") for i, x in enumerate(inputs)]
        self.attributes, self.outputs, self.constant = attributes or {}, outputs, set(constant)
        self.rtol, self.atol, self.expected = rtol, atol, expected

    def model(self, output_types):
        node = helper.make_node(self.op, [x.name if x is not None else "" for x in self.inputs],
                                [f"y{i}" if wanted else "" for i, wanted in enumerate(self.outputs)],
                                domain=self.domain, **self.attributes)
        fed = [helper.make_tensor_value_info(x.name, x.data_type, x.dims) for i, x in self.fed()]
        constants = [x for i, x in enumerate(self.inputs) if x is not None and i in self.constant]
        results = [onnx.ValueInfoProto(name=n) if t is None else helper.make_tensor_value_info(n, t, None)
                   for n, t in output_types.items()]
        graph = helper.make_graph([node], self.name, fed, results, constants)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="assay")

    def fed(self):
        return [(i, x) for i, x in enumerate(self.inputs) if x is not None and i not in self.constant]

    def names(self):
        return [f"y{i}" for i, wanted in enumerate(self.outputs) if wanted]

    def results(self):
        """Types and values of the outputs by name."""
        if self.expected is not None:
            types = {n: helper.np_dtype_to_tensor_dtype(y.dtype) for n, y in zip(self.names(), self.expected)}
            return types, dict(zip(self.names(), self.expected))
        # Inference of the second kind of scores needs a type.
        untyped = self.model({n: TensorProto.FLOAT if n == "y3" else None for n in self.names()})
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = ort.InferenceSession(untyped.SerializeToString(), options, providers=["CPUExecutionProvider"])
        types = {o.name: TYPES[o.type] for o in session.get_outputs()}
        return types, dict(zip(self.names(), session.run(self.names(), {x.name: as_fed(x) for _, x in self.fed()})))

    def write(self, folder):
        """The folder of a backend test: model.onnx and test_data_set_0/{input,output}_N.pb."""
        types, values = self.results()
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(self.model(types).SerializeToString())
        for k, (_, x) in enumerate(self.fed()):
            (data / f"input_{k}.pb").write_bytes(x.SerializeToString())
        for k, (name, y) in enumerate(values.items()):
            (data / f"output_{k}.pb").write_bytes(numpy_helper.from_array(np.asarray(y), name).SerializeToString())
        if (self.rtol, self.atol) != (RTOL, ATOL):
            (folder / "data.json").write_text(json.dumps({"rtol": self.rtol, "atol": self.atol}))


def as_fed(x):
    """A tensor as a session takes it: NumPy has no 4-bit integers."""
    values = numpy_helper.to_array(x)
    if x.data_type in (TensorProto.INT4, TensorProto.UINT4):
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(values, x.data_type)
    return values


def as_tensor(x, name):
    if isinstance(x, onnx.TensorProto):
        x.name = name
        return x
    return numpy_helper.from_array(np.asarray(x), name)


def int4(values, signed):
    """A tensor of 4-bit integers."""
    kind = TensorProto.INT4 if signed else TensorProto.UINT4
    return helper.make_tensor("", kind, np.shape(values), np.asarray(values).ravel().tolist())


def write_all(cases, folder):
    """One folder for each operator and case."""
    for case in cases:
        try:
            case.write(pathlib.Path(folder) / case.op / case.name)
        except Exception as e:
            raise RuntimeError(f"{case.op}/{case.name}: {e}") from e
