"""Operators in NumPy. register() adds one."""

from polygraphy import mod
from polygraphy.logger import G_LOGGER

np = mod.lazy_import("numpy")
gs = mod.lazy_import("onnx_graphsurgeon")

OP_REGISTRY = {}


def register(op):
    """A decorator for a function of a node's attributes and its inputs (None for those left out), which gives a list of outputs."""

    def decorate(function):
        def run(node, values):
            inputs = [None if t.is_empty() else t.values if isinstance(t, gs.Constant) else values[t.name] for t in node.inputs]
            outputs = function(node.attrs, *inputs)
            if len(outputs) != len(node.outputs):
                G_LOGGER.internal_error(f"{op} gives {len(outputs)} outputs, and the node has {len(node.outputs)}")
            return {tensor.name: value for tensor, value in zip(node.outputs, outputs)}

        OP_REGISTRY[op] = run
        return run

    return decorate


@register("Identity")
def _identity(attrs, x):
    return [x]


@register("InstanceNormalization")
def _instance_normalization(attrs, x, scale, bias):
    axes = tuple(range(2, x.ndim))
    by_channel = (1, -1) + (1,) * (x.ndim - 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    deviation = np.sqrt(x.var(axis=axes, keepdims=True) + attrs.get("epsilon", 1e-5))
    return [scale.reshape(by_channel) * centred / deviation + bias.reshape(by_channel)]


@register("MeanVarianceNormalization")
def _mean_variance_normalization(attrs, x):
    axes = tuple(attrs.get("axes", (0, 2, 3)))
    mean = x.mean(axis=axes, keepdims=True)
    deviation = np.sqrt((x * x).mean(axis=axes, keepdims=True) - mean * mean)
    return [(x - mean) / (deviation + 1e-9)]
