"""Models on ONNX Runtime."""

import time
from collections import OrderedDict

from polygraphy import util
from polygraphy.backend.base import BaseRunner
from polygraphy.common import TensorMetadata
from polygraphy.datatype import DataType

__all__ = ["OnnxrtRunner"]


class OnnxrtRunner(BaseRunner):
    """Runs an onnxruntime.InferenceSession, or anything with its methods, or what gives one."""

    def __init__(self, sess, name=None):
        super().__init__(name=name, prefix="onnxrt-runner")
        self._sess = sess

    @util.check_called_by("activate")
    def activate_impl(self):
        self.sess, _ = util.invoke_if_callable(self._sess)

    @util.check_called_by("get_input_metadata")
    def get_input_metadata_impl(self):
        metadata = TensorMetadata()
        for node in self.sess.get_inputs():
            metadata.add(node.name, DataType.from_dtype(node.type, "onnxruntime"), node.shape)
        return metadata

    @util.check_called_by("infer")
    def infer_impl(self, feed_dict):
        as_torch = any(map(util.array.is_torch, feed_dict.values()))
        arrays = {name: util.array.to_numpy(array) for name, array in feed_dict.items()}
        start = time.perf_counter()
        results = self.sess.run(None, arrays)
        self.inference_time = time.perf_counter() - start
        names = [node.name for node in self.sess.get_outputs()]
        return OrderedDict(zip(names, map(util.array.to_torch, results) if as_torch else results))

    @util.check_called_by("deactivate")
    def deactivate_impl(self):
        del self.sess
