"""What the tests of recorded networks share: a network from a function, its ONNX model checked and run."""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORDING = os.path.join(ROOT, "python", "embedded", "recording")
sys.path.insert(0, RECORDING)

import numpy as np
import onnx
import onnxruntime
import recorded
import tensorrt as trt

TYPES = {
    "float32": trt.float32, "float16": trt.float16, "int32": trt.int32, "int64": trt.int64, "bool": trt.bool, "int8": trt.int8
}


def new_network(flags=0):
    return trt.Builder(trt.Logger(trt.Logger.ERROR)).create_network(flags)


def evaluate(data, feeds):
    """The outputs of a model; checked first."""
    model = onnx.load_from_string(data)
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


class NetworkTest(unittest.TestCase):
    """Tests that compare a recorded network with NumPy."""

    def network(self, make, dynamic, **inputs):
        """(network, feeds); `make(network, tensors...)` gives a layer, a tensor or a list of tensors."""
        network = new_network()
        tensors = [network.add_input(n, TYPES[a.dtype.name], [-1] * a.ndim if dynamic else a.shape) for n, a in inputs.items()]
        made = make(network, *tensors)
        if isinstance(made, trt.ILayer):
            made = [made.get_output(i) for i in range(made.num_outputs)]
        for i, tensor in enumerate(made if isinstance(made, list) else [made]):
            tensor.name = f"out{i}"
            network.mark_output(tensor)
        return network, inputs

    def compare(self, make, expected, dynamic=True, tolerance=1e-5, **inputs):
        """Types and values of the outputs, with shapes that are known and with open ones."""
        expected = expected if isinstance(expected, (list, tuple)) else [expected]
        for open_extents in ([False, True] if dynamic else [False]):
            with self.subTest(open_extents=open_extents):
                network, feeds = self.network(make, open_extents, **inputs)
                shapes = [list(network.get_output(i).shape) for i in range(network.num_outputs)]
                types = [network.get_output(i).dtype for i in range(network.num_outputs)]
                results = evaluate(recorded.to_onnx(network), feeds)
                self.assertEqual(len(results), len(expected))
                for result, wanted, shape, kind in zip(results, expected, shapes, types):
                    wanted = np.asarray(wanted)
                    self.assertEqual(result.shape, wanted.shape)
                    self.assertEqual(TYPES[result.dtype.name], kind)
                    self.assertEqual(len(shape), result.ndim, "the rank that the tensor says")
                    self.assertTrue(all(d in (-1, e) for d, e in zip(shape, result.shape)),
                                    f"{shape} is said, {result.shape} is given")
                    if not open_extents:
                        self.assertEqual(shape, list(result.shape))
                    np.testing.assert_allclose(result, wanted.astype(result.dtype), rtol=tolerance, atol=tolerance)

    def refused(self, make, *words, **inputs):
        """An error whose text holds words, when the network is made or written."""
        with self.assertRaises(recorded.RecordingError) as caught:
            network, _ = self.network(make, False, **inputs)
            for i in range(network.num_outputs):
                network.get_output(i).shape
            recorded.to_onnx(network)
        for word in words:
            self.assertIn(word, str(caught.exception))


def numbers(*shape, seed=0, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def constant(network, array):
    array = np.asarray(array)
    return network.add_constant(array.shape, trt.Weights(np.ascontiguousarray(array))).get_output(0)
