"""Modules of PyTorch."""

import time
from collections import OrderedDict

from polygraphy import mod, util
from polygraphy.backend.base import BaseRunner

torch = mod.lazy_import("torch>=1.13.0")

__all__ = ["PytRunner"]


class PytRunner(BaseRunner):
    """Runs a torch.nn.Module, or what gives one, with inputs in the order of `input_metadata`."""

    def __init__(self, model, input_metadata, output_names, name=None):
        super().__init__(name=name, prefix="pytorch-runner")
        self._model, self.input_metadata, self.output_names = model, input_metadata, output_names

    @util.check_called_by("activate")
    def activate_impl(self):
        self.model, _ = util.invoke_if_callable(self._model)
        self.model.eval()

    @util.check_called_by("get_input_metadata")
    def get_input_metadata_impl(self):
        return self.input_metadata

    @util.check_called_by("infer")
    def infer_impl(self, feed_dict):
        with torch.no_grad():
            inputs = [util.array.to_torch(feed_dict[name]) for name in self.input_metadata]
            start = time.perf_counter()
            results = self.model(*inputs)
            self.inference_time = time.perf_counter() - start
        results = (results,) if isinstance(results, torch.Tensor) else results
        return OrderedDict((name, util.array.to_numpy(r)) for name, r in zip(self.output_names, results))

    @util.check_called_by("deactivate")
    def deactivate_impl(self):
        del self.model
