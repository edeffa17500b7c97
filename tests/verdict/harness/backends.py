"""Backends that the harness tries, and what they give: every value of a model by name."""
import numpy as np
import onnx
import onnx.reference
import onnxruntime
from onnx import TensorProto as T

onnxruntime.set_default_logger_severity(4)
LEVELS = {
    "none": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
}


def value_types(model):
    """Types of the main graph's values by name, from inference."""
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    return {v.name: v for v in [*inferred.graph.value_info, *inferred.graph.output]}


def mark_all(model, hidden=()):
    """The model with every value of the main graph as an output, those of inserted nodes (`hidden`) left out."""
    m = onnx.ModelProto()
    m.CopyFrom(model)
    have = {o.name for o in m.graph.output}
    types = value_types(m)
    for node in m.graph.node:
        for name in node.output:
            if not name or name in have or name in hidden or node.op_type == "Constant":
                continue
            known = types.get(name)
            m.graph.output.append(known if known is not None and known.type.WhichOneof("value") else
                                  onnx.ValueInfoProto(name=name))
    return m


class Onnxruntime:
    def __init__(self, level="all"):
        self.name, self.level = f"onnxrt-{level}", level

    def session(self, model):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 4
        options.graph_optimization_level = LEVELS[self.level]
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def run(self, model, feed):
        session = self.session(model)
        names = [o.name for o in session.get_outputs()]
        return dict(zip(names, session.run(names, feed)))


class Evaluator:
    """onnx's own."""
    name = "onnx-evaluator"

    def run(self, model, feed):
        session = onnx.reference.ReferenceEvaluator(model)
        with np.errstate(all="ignore"):
            return dict(zip(session.output_names, session.run(None, feed)))


class Openvino:
    """On the processor, in the precision that it is told, or else in the one that it chooses."""

    def __init__(self, precision=None):
        import openvino
        self.name, self.core = "openvino" + (f"-{precision}" if precision else ""), openvino.Core()
        self.options = {"INFERENCE_NUM_THREADS": 1} | ({"INFERENCE_PRECISION_HINT": precision} if precision else {})

    def run(self, model, feed):
        compiled = self.core.compile_model(self.core.read_model(model.SerializeToString()), "CPU", self.options)
        results = compiled(feed)
        return {v.name: results[i] for i, v in enumerate(model.graph.output)}


def tensors(results):
    """Sequences taken apart as in result files."""
    flat = {}
    for name, value in results.items():
        if isinstance(value, (list, tuple)):
            flat[name + ".length"] = np.array(len(value), np.int64)
            for i, v in enumerate(value):
                flat[f"{name}[{i}]"] = np.asarray(v)
        else:
            flat[name] = np.asarray(value)
    return flat
