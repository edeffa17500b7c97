"""Graphs of ONNX-GraphSurgeon, run by references of single operators."""

import time
from collections import OrderedDict

from polygraphy import mod, util
from polygraphy.backend.base import BaseRunner
from polygraphy.backend.pluginref.references import OP_REGISTRY
from polygraphy.logger import G_LOGGER

onnx_util = mod.lazy_import("polygraphy.backend.onnx.util")

__all__ = ["PluginRefRunner"]


class PluginRefRunner(BaseRunner):
    """Runs a graph, or what gives one, node by node. Only operators in `references` are there."""

    def __init__(self, graph, name=None):
        super().__init__(name=name, prefix="pluginref-runner")
        self._graph = graph

    @util.check_called_by("activate")
    def activate_impl(self):
        self.graph, _ = util.invoke_if_callable(self._graph)

    @util.check_called_by("get_input_metadata")
    def get_input_metadata_impl(self):
        return onnx_util.meta_from_gs_tensors(self.graph.inputs)

    @util.check_called_by("infer")
    def infer_impl(self, feed_dict):
        start = time.perf_counter()
        values = dict(feed_dict)
        for node in self.graph.nodes:
            if node.op not in OP_REGISTRY:
                G_LOGGER.critical(f"Op: {node.op} does not have a reference implementation registered!")
            values.update(OP_REGISTRY[node.op](node, values))
        outputs = OrderedDict((tensor.name, values[tensor.name]) for tensor in self.graph.outputs)
        self.inference_time = time.perf_counter() - start
        return outputs

    @util.check_called_by("deactivate")
    def deactivate_impl(self):
        del self.graph
