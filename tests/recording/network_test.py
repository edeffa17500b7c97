"""Networks as objects: names, walking, rewiring, what is refused and how."""

import numpy as np
import onnx
from support import NetworkTest, RECORDING, constant, evaluate, new_network, numbers, recorded, trt


def small():
    """A convolution, an activation, a softmax."""
    network = new_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    x = network.add_input("x", trt.float32, (-1, 3, 8, 8))
    conv = network.add_convolution_nd(x, 4, (3, 3), numbers(4, 3, 3, 3), numbers(4))
    conv.name = "conv"
    relu = network.add_activation(conv.get_output(0), trt.ActivationType.RELU)
    soft = network.add_softmax(relu.get_output(0))
    soft.get_output(0).name = "y"
    network.mark_output(soft.get_output(0))
    return network


class Walking(NetworkTest):
    def test_all_layers_and_tensors(self):
        network = small()
        resize = network.add_resize(network.get_output(0))
        resize.set_input(1, constant(network, np.array([1, 4, 2, 2], np.int32)))
        lines = []
        for i in range(network.num_layers):
            layer = network.get_layer(i)
            lines.append(f"{i} {str(layer.type)[10:]} {layer.num_inputs} {layer.num_outputs} {layer.name}")
            for j in range(layer.num_inputs):
                tensor = layer.get_input(j)
                lines.append("None" if tensor is None else f"in {tensor.shape} {tensor.dtype} {tensor.name}")
            for j in range(layer.num_outputs):
                tensor = layer.get_output(j)
                lines.append("None" if tensor is None else f"out {tensor.shape} {tensor.dtype} {tensor.name}")
        self.assertEqual(lines[:8], [
            "0 CONVOLUTION 1 1 conv", "in (-1, 3, 8, 8) DataType.FLOAT x",
            "out (-1, 4, 6, 6) DataType.FLOAT (Unnamed Layer* 0) [Convolution]_output",
            "1 ACTIVATION 1 1 (Unnamed Layer* 1) [Activation]",
            "in (-1, 4, 6, 6) DataType.FLOAT (Unnamed Layer* 0) [Convolution]_output",
            "out (-1, 4, 6, 6) DataType.FLOAT (Unnamed Layer* 1) [Activation]_output",
            "2 SOFTMAX 1 1 (Unnamed Layer* 2) [Softmax]", "in (-1, 4, 6, 6) DataType.FLOAT (Unnamed Layer* 1) [Activation]_output"
        ])
        self.assertIn("out (1, 4, 2, 2) DataType.FLOAT (Unnamed Layer* 3) [Resize]_output", lines)
        self.assertIsNone(network.get_layer(99))
        self.assertEqual([layer.name for layer in network], [network[i].name for i in range(len(network))])

    def test_a_layer_gets_its_class(self):
        layer = small().get_layer(0)
        with self.assertRaisesRegex(AttributeError, "layer.__class__ = tensorrt.IConvolutionLayer"):
            layer.kernel
        layer.__class__ = trt.IConvolutionLayer
        self.assertEqual((layer.kernel.size, list(layer.kernel_size_nd), layer.num_output_maps), (108, [3, 3], 4))
        layer.__class__ = trt.IPoolingLayer
        with self.assertRaisesRegex(recorded.RecordingError, "is a IConvolutionLayer"):
            layer.window_size_nd

    def test_type_of_what_add_gives(self):
        network = small()
        layer = network.add_activation(network.get_output(0), trt.ActivationType.TANH)
        self.assertIs(layer.type, trt.ActivationType.TANH)
        self.assertIs(network.get_layer(network.num_layers - 1).type, trt.LayerType.ACTIVATION)
        self.assertEqual(network.get_layer(network.num_layers - 1), layer)


class Changing(NetworkTest):
    def test_inputs_and_outputs(self):
        network = small()
        inner = network.get_layer(1).get_output(0)
        network.mark_output(inner)
        network.unmark_output(network.get_output(0))
        network.name = "mine"
        self.assertEqual((network.num_outputs, network.get_output(0), network.get_output(5)), (1, inner, None))
        model = onnx.load_from_string(recorded.to_onnx(network))
        self.assertEqual(([o.name for o in model.graph.output], model.graph.name), ([inner.name], "mine"))
        self.assertEqual([n.op_type for n in model.graph.node], ["Conv", "Relu"])  # nothing needs the softmax

    def test_shapes_follow_changes(self):
        network = small()
        self.assertEqual(network.get_output(0).shape, (-1, 4, 6, 6))
        network.get_input(0).shape = (2, 3, 5, 5)
        self.assertEqual(network.get_output(0).shape, (2, 4, 3, 3))
        layer = network.get_layer(0)
        layer.__class__ = trt.IConvolutionLayer
        layer.padding_nd = (1, 1)
        self.assertEqual(network.get_output(0).shape, (2, 4, 5, 5))

    def test_a_layer_in_the_middle(self):
        network = new_network()
        x = network.add_input("x", trt.float32, (2, 3))
        first = network.add_unary(x, trt.UnaryOperation.NEG)
        second = network.add_unary(first.get_output(0), trt.UnaryOperation.EXP)
        network.mark_output(second.get_output(0))
        inserted = network.add_unary(x, trt.UnaryOperation.ABS)
        first.set_input(0, inserted.get_output(0))
        a = numbers(2, 3)
        np.testing.assert_allclose(evaluate(recorded.to_onnx(network), {"x": a})[0], np.exp(-np.abs(a)), rtol=1e-6)
        self.assertEqual(second.get_output(0).shape, (2, 3))

    def test_dimension_names(self):
        network = new_network()
        x = network.add_input("x", trt.float32, (-1, 3))
        x.set_dimension_name(0, "batch")
        network.mark_output(network.add_identity(x).get_output(0))
        model = onnx.load_from_string(recorded.to_onnx(network))
        self.assertEqual(model.graph.input[0].type.tensor_type.shape.dim[0].dim_param, "batch")
        self.assertEqual(x.get_dimension_name(0), "batch")

    def test_precisions_formats_and_debugging(self):
        network = small()
        layer = network.get_layer(0)
        self.assertFalse(layer.precision_is_set)
        layer.precision = trt.float16
        layer.set_output_type(0, trt.float16)
        network.get_layer(1).precision = trt.float32
        network.get_output(0).allowed_formats = 1 << int(trt.TensorFormat.HWC) | 1 << int(trt.TensorFormat.LINEAR)
        network.get_input(0).dynamic_range = (-3, 3)
        network.mark_debug(network.get_layer(1).get_output(0))
        found = recorded.settings(network)
        self.assertEqual(found["layer_precisions"]["conv"], {"dtype": "float16", "nodes": ["conv"]})
        self.assertEqual(found["output_types"], {"(Unnamed Layer* 0) [Convolution]_output": "float16"})
        self.assertEqual(found["tensor_formats"], {"y": ["LINEAR", "HWC"]})
        self.assertEqual(found["dynamic_ranges"], {"x": [-3.0, 3.0]})
        self.assertEqual(found["debug_tensors"], ["(Unnamed Layer* 1) [Activation]_output"])
        x = numbers(1, 3, 8, 8)
        plain = evaluate(recorded.to_onnx(small()), {"x": x})[0]
        np.testing.assert_array_equal(evaluate(recorded.to_onnx(network), {"x": x})[0], plain)  # a wish changes no graph
        layer.reset_precision()
        layer.reset_output_type(0)
        self.assertNotIn("conv", recorded.settings(network)["layer_precisions"])

    def test_thousands_of_layers(self):
        network = new_network()
        tensor = network.add_input("x", trt.float32, (2, 3))
        for i in range(5000):
            layer = network.add_unary(tensor, trt.UnaryOperation.NEG)
            tensor = layer.get_output(0)
            self.assertEqual(tensor.shape, (2, 3))
        network.mark_output(tensor)
        self.assertGreater(len(recorded.to_onnx(network)), 5000)


class Refusals(NetworkTest):
    def test_sentences(self):
        network = small()
        cases = [
            (lambda: network.add_input("x", trt.float32, (1, )), "input 'x' already"),
            (lambda: network.add_input("z", "float32", (1, )), "tensorrt.DataType"),
            (lambda: network.add_input("z", trt.float32, (-2, )), "below -1"),
            (lambda: network.add_input("z", trt.float32, 3), "sequence of integers"),
            (lambda: network.add_softmax(network.get_layer(0)), "layer.get_output(0)"),
            (lambda: network.add_unary(network.get_output(0), "exp"), "tensorrt.UnaryOperation"),
            (lambda: network.mark_output(None), "mark_output takes"),
            (lambda: network.mark_output(small().get_output(0)), "another network"),
            (lambda: setattr(network.get_output(0), "shape", (1, )), "cannot be set"),
            (lambda: network.add_softmax(network.get_output(0)).set_output_type(3, trt.float32), "no output 3"),
            (lambda: network.add_ragged_softmax, "not served by assay. ONNX has no such operator"),
            (lambda: network.no_such_name, "INetworkDefinition.no_such_name is not served"),
            (lambda: setattr(network.get_output(0), "nmae", "y"), "ITensor.nmae is not served"),
            (lambda: trt.Runtime, "tensorrt.Runtime is not served"),
            (lambda: trt.BuilderFlag.FP32, "BuilderFlag.FP32 is not served"),
            (lambda: trt.Builder(None).build_serialized_network, "built and run by assay afterwards"),
            (lambda: recorded.to_onnx(new_network()), "has no outputs"),
        ]
        for call, words in cases:
            with self.subTest(words), self.assertRaises(Exception) as caught:
                call()
            self.assertIn(words, str(caught.exception))
            self.assertNotIn(RECORDING, str(caught.exception))

    def test_import_says_why(self):
        with self.assertRaisesRegex(ImportError, "tensorrt.Runtime is not served by assay"):
            from tensorrt import Runtime  # noqa: F401

    def test_names_twice(self):
        network = small()
        network.get_layer(0).get_output(0).name = "y"
        with self.assertRaisesRegex(recorded.RecordingError, "two tensors are called 'y'"):
            recorded.to_onnx(network)

    def test_strongly_typed(self):
        network = new_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
        x, h = network.add_input("x", trt.float32, (3,)), network.add_input("h", trt.float16, (3,))
        layer = network.add_elementwise(x, h, trt.ElementWiseOperation.SUM)
        with self.assertRaisesRegex(recorded.RecordingError, "cast layer"):
            layer.set_output_type(0, trt.float16)
        network.mark_output(layer.get_output(0))
        with self.assertRaisesRegex(recorded.RecordingError, "float32 and float16"):
            recorded.to_onnx(network)

    def test_the_place_is_the_scripts(self):
        network = new_network()
        x = network.add_input("x", trt.float32, (1, 3, 4, 4))
        layer = network.add_convolution_nd(x, 2, (3, 3), numbers(5))
        network.mark_output(layer.get_output(0))
        with self.assertRaisesRegex(recorded.RecordingError, r"network_test\.py:\d+: Layer .* 5 weights"):
            recorded.to_onnx(network)


class Values(NetworkTest):
    def test_dims(self):
        dims = trt.Dims([1, 2, 3])
        dims[0] = 7
        self.assertEqual((dims, list(dims), dims[-1], dims[1:], len(dims), str(dims)),
                         ((7, 2, 3), [7, 2, 3], 3, (2, 3), 3, "(7, 2, 3)"))
        self.assertEqual((trt.DimsHW(3, 4).w, trt.Dims4(1, 2, 3, 4)), (4, (1, 2, 3, 4)))
        self.assertRaises(ValueError, trt.Dims3, 1, 2)

    def test_weights(self):
        array = numbers(2, 3)
        weights = trt.Weights(trt.float32, array.ctypes.data, 6)
        np.testing.assert_array_equal(weights.numpy(), array.reshape(-1))
        self.assertEqual((weights.size, weights.nbytes, weights.dtype, len(trt.Weights())), (6, 24, trt.float32, 0))

    def test_enumerations(self):
        self.assertEqual((int(trt.DataType.INT64), str(trt.float32), trt.DataType(3), trt.DataType.HALF.itemsize),
                         (8, "DataType.FLOAT", trt.int32, 2))
        self.assertIs(trt.nptype(trt.int32), np.int32)
        self.assertEqual(1 << int(trt.BuilderFlag.BF16), 1 << 17)
        self.assertIs(trt.BuilderFlag.WEIGHTLESS, trt.BuilderFlag.STRIP_PLAN)
        self.assertNotEqual(trt.DataType.FLOAT, 0)

    def test_logger(self):
        lines = []

        class Mine(trt.ILogger):
            def log(self, severity, msg):
                lines.append((severity, msg))

        parser = trt.OnnxParser(new_network(), Mine())
        self.assertFalse(parser.parse(b"nonsense"))
        self.assertEqual((lines[0][0], parser.num_errors), (trt.ILogger.ERROR, 1))
