"""Sessions of ONNX Runtime."""

import os

from polygraphy import mod, util
from polygraphy.backend.base import BaseLoader
from polygraphy.logger import G_LOGGER

onnxrt = mod.lazy_import("onnxruntime")


@mod.export(funcify=True)
class SessionFromOnnx(BaseLoader):
    """An onnxruntime.InferenceSession of a model's bytes or path."""

    def __init__(self, model_bytes, providers=None, graph_optimization_level=None):
        """`providers`: names, or parts of names, of execution providers, or (name, options); ["cpu"] by default."""
        self._model_bytes_or_path = model_bytes
        self.providers = util.default(providers, ["cpu"])
        self.graph_optimization_level = graph_optimization_level

    def _matched(self, provider):
        there = onnxrt.get_available_providers()
        name, *options = provider if isinstance(provider, tuple) else (provider,)
        found = util.find_str_in_iterable(name, there)
        if found is None:
            G_LOGGER.critical("Could not find specified ONNX-Runtime execution provider.\n"
                              f"Note: Requested provider was: {provider}, but available providers are: {there}")
        return (found, *options) if options else found

    @util.check_called_by("__call__")
    def call_impl(self):
        model, _ = util.invoke_if_callable(self._model_bytes_or_path)
        providers = [self._matched(p) for p in self.providers]
        G_LOGGER.start(f"Creating ONNX-Runtime Inference Session with providers: {providers}")
        options = onnxrt.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = len(os.sched_getaffinity(0))
        if self.graph_optimization_level is not None:
            options.graph_optimization_level = self.graph_optimization_level
        return onnxrt.InferenceSession(model, providers=providers, sess_options=options)
