"""ONNX models as networks: what stays as it is, what a script reads and changes, further layers in every opset."""

import os
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from support import NetworkTest, constant, evaluate, new_network, numbers, recorded, trt


def model(nodes, inputs, outputs, initializers=(), opset=17, **more):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, [numpy_helper.from_array(a, n) for n, a in initializers], **more)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


F = TensorProto.FLOAT


def classifier(opset=17):
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["y"], "flatten")
    ]
    weights = [("w", numbers(5, 3, 3, 3)), ("b", numbers(5, seed=1))]
    return model(nodes, [info("x", F, ["N", 3, 6, 6])], [info("y", F, ["N", 5])], weights, opset)


def parsed(m):
    network = new_network()
    parser = trt.OnnxParser(network, trt.Logger(trt.Logger.ERROR))
    assert parser.parse(m.SerializeToString()), [parser.get_error(i) for i in range(parser.num_errors)]
    return network


class Unchanged(NetworkTest):
    def test_bytes_of_nodes_and_unknown_fields(self):
        m = classifier()
        m.producer_name, m.domain = "somebody", "example"
        helper.set_model_props(m, {"key": "value"})
        m.graph.doc_string = "words"
        m.graph.node[1].doc_string = "about the node"
        unknown = m.graph.node[1].SerializeToString() + bytes([0xFA, 0x3F, 0x02, 0x68, 0x69])  # field 1023: "hi"
        network = new_network()
        data = m.SerializeToString()
        before = m.graph.node[1].SerializeToString()
        at = data.index(before)
        self.assertEqual(data[at - 2], 0x0A)
        # The graph's own length changes with the node's, so it is written anew around it.
        graph = m.graph.SerializeToString().replace(bytes([0x0A, len(before)]) + before, bytes([0x0A, len(unknown)]) + unknown)
        rest = onnx.ModelProto()
        rest.CopyFrom(m)
        rest.ClearField("graph")
        size, length = len(graph), b""
        while size >= 0x80:
            length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
        data = rest.SerializeToString() + b"\x3a" + length + bytes([size]) + graph
        self.assertTrue(trt.OnnxParser(network, None).parse(data))
        written = recorded.to_onnx(network)
        self.assertIn(unknown, written)
        found = onnx.load_from_string(written)
        self.assertEqual(
            (found.producer_name, found.domain, found.metadata_props[0].value, found.graph.doc_string, found.ir_version),
            ("somebody", "example", "value", "words", 8))
        self.assertEqual(list(found.graph.initializer), list(m.graph.initializer))
        self.assertEqual(list(found.graph.input) + list(found.graph.output), list(m.graph.input) + list(m.graph.output))

    def test_results(self):
        m, x = classifier(), numbers(2, 3, 6, 6)
        np.testing.assert_array_equal(
            evaluate(recorded.to_onnx(parsed(m)), {"x": x})[0],
            evaluate(m.SerializeToString(), {"x": x})[0])


class Reading(NetworkTest):
    def test_layers(self):
        network = parsed(classifier())
        self.assertEqual([(layer.name, layer.type.name) for layer in network],
                         [("conv", "CONVOLUTION"), ("relu", "ACTIVATION"), ("pool", "POOLING"), ("flatten", "SHUFFLE")])
        self.assertEqual([t.name for t in (network.get_input(0), network.get_output(0))], ["x", "y"])
        self.assertEqual(network.get_input(0).get_dimension_name(0), "N")
        conv = network.get_layer(0)
        self.assertEqual([conv.get_input(i).name for i in range(conv.num_inputs)], ["x", "w", "b"])
        self.assertEqual(conv.get_output(0).shape, (-1, 5, 6, 6))  # inferred: the file does not say it
        conv.__class__ = trt.IConvolutionLayer
        np.testing.assert_array_equal(conv.kernel.numpy(), numbers(5, 3, 3, 3).reshape(-1))
        self.assertEqual((conv.padding_nd, conv.stride_nd, conv.num_output_maps), ((1, 1), (1, 1), 5))
        with self.assertRaisesRegex(recorded.RecordingError, "cannot be set"):
            conv.padding_nd = (0, 0)
        relu = network.get_layer(1)
        relu.__class__ = trt.IActivationLayer
        self.assertIs(relu.type, trt.ActivationType.RELU)

    def test_settings_of_nodes(self):
        x = info("x", F, [2, 3, 4])
        cases = [
            (helper.make_node("Softmax", ["x"], ["y"], axis=1), trt.ISoftMaxLayer, "axes", 2),
            (helper.make_node("Concat", ["x", "x"], ["y"], axis=-1), trt.IConcatenationLayer, "axis", 2),
            (helper.make_node("Add", ["x", "x"], ["y"]), trt.IElementWiseLayer, "op", trt.ElementWiseOperation.SUM),
            (helper.make_node("Exp", ["x"], ["y"]), trt.IUnaryLayer, "op", trt.UnaryOperation.EXP),
            (helper.make_node("ReduceMean", ["x"], ["y"], axes=[1], keepdims=0), trt.IReduceLayer, "op", trt.ReduceOperation.AVG),
            (helper.make_node("ReduceMean", ["x"], ["y"], axes=[-1], keepdims=0), trt.IReduceLayer, "axes", 4),
            (helper.make_node("Transpose", ["x"], ["y"], perm=[2, 0, 1]), trt.IShuffleLayer, "first_transpose", (2, 0, 1)),
            (helper.make_node("LeakyRelu", ["x"], ["y"]), trt.IActivationLayer, "alpha", 0.01),
            (helper.make_node("Einsum", ["x"], ["y"], equation="ijk->kji"), trt.IEinsumLayer, "equation", "ijk->kji"),
        ]
        for node, kind, name, wanted in cases:
            with self.subTest(node.op_type):
                layer = parsed(model([node], [x], [helper.make_empty_tensor_value_info("y")])).get_layer(0)
                layer.__class__ = kind
                self.assertEqual(getattr(layer, name), wanted)

    def test_inferred_shapes_equal_onnx_own(self):
        """Every node of models with many operators, against onnx.shape_inference."""
        nodes = [
            helper.make_node("Conv", ["x", "w"], ["a"], strides=[2, 2], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["a"], ["b"]),
            helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
            helper.make_node("Shape", ["c"], ["s"]),
            helper.make_node("Gather", ["s", "zero"], ["n"]),
            helper.make_node("Unsqueeze", ["n", "zeros"], ["n1"]),
            helper.make_node("Concat", ["n1", "rest"], ["d"], axis=0),
            helper.make_node("Reshape", ["c", "d"], ["e"]),
            helper.make_node("Transpose", ["e"], ["f"], perm=[0, 2, 1]),
            helper.make_node("MatMul", ["f", "m"], ["g"]),
            helper.make_node("Split", ["g"], ["h", "i"], axis=2),
            helper.make_node("Add", ["h", "i"], ["j"]),
            helper.make_node("ReduceMean", ["j"], ["k"], axes=[1], keepdims=0),
            helper.make_node("ArgMax", ["k"], ["o"], axis=1),
            helper.make_node("Cast", ["o"], ["q"], to=TensorProto.FLOAT),
            helper.make_node("TopK", ["k", "two"], ["r", "t"], axis=1),
            helper.make_node("Slice", ["k", "zeros", "two"], ["u"]),
            helper.make_node("Greater", ["k", "zf"], ["v"]),
            helper.make_node("Where", ["v", "k", "zf"], ["y"]),
            helper.make_node("Resize", ["a", "", "scales"], ["z"], mode="nearest"),
            helper.make_node("Gemm", ["k", "m2"], ["aa"], transB=1),
            helper.make_node("ConvTranspose", ["a", "w2"], ["bb"], strides=[2, 2]),
            helper.make_node("Pad", ["k", "pads"], ["cc"]),
            helper.make_node("Flatten", ["j"], ["dd"]),
            helper.make_node("QuantizeLinear", ["k", "sf"], ["ee"]),
            helper.make_node("DequantizeLinear", ["ee", "sf"], ["ff"]),
            helper.make_node("Squeeze", ["j1", "zeros"], ["gg"]),
            helper.make_node("Expand", ["zf", "rest"], ["hh"]),
            helper.make_node("ConstantOfShape", ["rest"], ["ii"]),
            helper.make_node("Constant", [], ["j1"], value=numpy_helper.from_array(numbers(1, 2, 3))),
        ]
        nodes = nodes[-1:] + nodes[:-1]
        i64 = lambda *v: np.array(v, np.int64)
        weights = [("w", numbers(4, 3, 3, 3)), ("zero", np.array(0, np.int64)), ("zeros", i64(0)), ("rest", i64(4, 16)),
                   ("m", numbers(4, 6)), ("two", i64(2)), ("zf", np.float32(0)), ("scales", np.array([1, 1, 2, 2], np.float32)),
                   ("m2", numbers(7, 3)), ("w2", numbers(4, 2, 2, 2)), ("pads", i64(0, 1, 0, 2)), ("sf", np.float32(0.5))]
        for batch in (2, "N"):
            m = model(nodes, [info("x", F, [batch, 3, 15, 15])], [info("y", F, [batch, 3])], weights)
            inferred = onnx.shape_inference.infer_shapes(m, strict_mode=True, data_prop=True)
            network = parsed(m)
            tensors = {t.name: t for layer in network for t in (layer.get_output(i) for i in range(layer.num_outputs))}
            self.assertGreater(len(inferred.graph.value_info), 25)
            for value in inferred.graph.value_info:
                shape = [d.dim_value if d.HasField("dim_value") else -1 for d in value.type.tensor_type.shape.dim]
                found = tensors[value.name]
                self.assertEqual(found._type, value.type.tensor_type.elem_type, value.name)
                if not value.type.tensor_type.HasField("shape"):
                    continue
                self.assertEqual(len(found.shape), len(shape), value.name)
                for ours, theirs in zip(found.shape, shape):
                    self.assertTrue(ours == theirs or -1 in (ours, theirs), f"{value.name}: {found.shape}, and onnx says {shape}")
                if batch == 2:
                    self.assertEqual(list(found.shape), shape, value.name)

    def test_values_that_branch_and_meet(self):
        count = 200
        nodes = [helper.make_node("Shape", ["x"], ["s0"])]
        nodes += [helper.make_node("Add", [f"s{i}", f"s{i}"], [f"s{i + 1}"]) for i in range(count)]
        nodes += [helper.make_node("Sub", [f"s{count}", f"s{count}"], ["zero"]), helper.make_node("Add", ["zero", "s0"], ["shape"]),
                  helper.make_node("Reshape", ["x", "shape"], ["y"])]
        network = parsed(model(nodes, [info("x", F, [2, 3])], [helper.make_empty_tensor_value_info("y")]))
        self.assertEqual(network.get_output(0).shape, (2, 3))

    def test_types_that_tensorrt_lacks(self):
        m = model([helper.make_node("Cast", ["x"], ["d"], to=TensorProto.DOUBLE), helper.make_node("Cast", ["d"], ["y"], to=F)],
                  [info("x", F, [2])], [info("y", F, [2])])
        self.assertEqual([t.get_output(0).dtype for t in parsed(m)], [None, trt.float32])


class Changing(NetworkTest):
    def test_softmax_behind_the_last_output_in_every_opset(self):
        x = numbers(2, 3, 6, 6)
        plain = evaluate(classifier().SerializeToString(), {"x": x})[0]
        e = np.exp(plain - plain.max(1, keepdims=True))
        for opset in (9, 10, 11, 12, 13, 17, 18):
            network = parsed(classifier(opset))
            output = network.get_output(0)
            network.unmark_output(output)
            soft = network.add_softmax(output)
            soft.axes = 1 << 1
            network.mark_output(soft.get_output(0))
            with self.subTest(opset):
                data = recorded.to_onnx(network)
                self.assertEqual(onnx.load_from_string(data).opset_import[0].version, opset)
                np.testing.assert_allclose(evaluate(data, {"x": x})[0], e / e.sum(1, keepdims=True), rtol=1e-5)

    def test_other_layers_in_old_opsets(self):
        x = numbers(2, 3, 6, 6)

        def extend(network):
            t = network.get_layer(1).get_output(0)
            soft = network.add_softmax(t)  # axis 1 of 4
            reduced = network.add_reduce(soft.get_output(0), trt.ReduceOperation.SUM, 1 << 2, False)
            clipped = network.add_activation(reduced.get_output(0), trt.ActivationType.CLIP)
            clipped.alpha, clipped.beta = 0.1, 2.0
            padded = network.add_padding_nd(clipped.get_output(0), (1, 0), (0, 1))
            sliced = network.add_slice(padded.get_output(0), (0, 1, 0), (2, 3, 4), (1, 1, 1))
            shuffled = network.add_shuffle(sliced.get_output(0))
            shuffled.reshape_dims = (0, -1)
            product = network.add_matrix_multiply(shuffled.get_output(0), trt.MatrixOperation.NONE, constant(
                network, numbers(12)), trt.MatrixOperation.VECTOR)
            network.mark_output(product.get_output(0))

        results = []
        for opset in (9, 10, 11, 13, 18):
            network = parsed(classifier(opset))
            extend(network)
            results.append(evaluate(recorded.to_onnx(network), {"x": x})[1])
        for r in results:
            self.assertEqual(r.shape, (2,))
            np.testing.assert_allclose(r, results[-1], rtol=1e-5)

    def test_layer_that_needs_a_newer_opset(self):
        network = parsed(classifier(11))
        x = network.get_input(0)
        network.mark_output(network.add_grid_sample(x, constant(network, numbers(1, 2, 2, 2))).get_output(0))
        with self.assertRaisesRegex(recorded.RecordingError, "opset 16.*opset 11.*convert-opset"):
            recorded.to_onnx(network)

    def test_names(self):
        network, x = parsed(classifier()), numbers(1, 3, 6, 6)
        network.name = "renamed"
        network.get_input(0).name, network.get_output(0).name, network.get_layer(0).name = "image", "scores", "first"
        network.get_layer(0).get_input(1).name = "weights"
        network.get_layer(1).get_output(0).name = "features"
        data = recorded.to_onnx(network)
        found = onnx.load_from_string(data)
        self.assertEqual((found.graph.name, found.graph.node[0].name, found.graph.node[0].input[1], found.graph.node[2].input[0]),
                         ("renamed", "first", "weights", "features"))
        np.testing.assert_array_equal(evaluate(data, {"image": x})[0], evaluate(classifier().SerializeToString(), {"x": x})[0])

    def test_types_of_inputs_and_outputs(self):
        network, x = parsed(classifier()), numbers(1, 3, 6, 6).astype(np.float16)
        network.get_input(0).dtype = trt.float16
        network.get_output(0).dtype = trt.float16
        result = evaluate(recorded.to_onnx(network), {"x": x})[0]
        self.assertEqual(result.dtype, np.float16)
        np.testing.assert_allclose(result, evaluate(classifier().SerializeToString(), {"x": x.astype(np.float32)})[0], rtol=1e-2)

    def test_shape_of_an_input(self):
        network, x = parsed(classifier()), numbers(4, 3, 6, 6)
        network.get_input(0).shape = (4, 3, 6, 6)
        self.assertEqual(network.get_output(0).shape, (4, 5))
        data = recorded.to_onnx(network)
        found = onnx.load_from_string(data).graph
        self.assertEqual([[d.dim_value for d in t.type.tensor_type.shape.dim] for t in (found.input[0], found.output[0])],
                         [[4, 3, 6, 6], [4, 5]])
        self.assertEqual(evaluate(data, {"x": x})[0].shape, (4, 5))

    def test_a_layer_between(self):
        network, x = parsed(classifier()), numbers(1, 3, 6, 6)
        relu, pool = network.get_layer(1), network.get_layer(2)
        layer = network.add_elementwise(relu.get_output(0), relu.get_output(0), trt.ElementWiseOperation.SUM)
        pool.set_input(0, layer.get_output(0))
        plain = evaluate(classifier().SerializeToString(), {"x": x})[0]
        np.testing.assert_allclose(evaluate(recorded.to_onnx(network), {"x": x})[0], 2 * plain, rtol=1e-6)
        with self.assertRaisesRegex(recorded.RecordingError, "no input 7"):
            pool.set_input(7, layer.get_output(0))

    def test_bodies_keep_what_they_capture(self):
        branches = [helper.make_graph([helper.make_node(op, ["t"], [op])], op, [], [info(op, F, [2])]) for op in ("Neg", "Exp")]
        m = model([
            helper.make_node("Abs", ["x"], ["t"]),
            helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])
        ], [info("x", F, [2]), info("c", TensorProto.BOOL, [])], [info("y", F, [2])])
        network, x = parsed(m), numbers(2)
        network.get_layer(0).get_output(0).name = "renamed"
        data = recorded.to_onnx(network)
        np.testing.assert_array_equal(evaluate(data, {"x": x, "c": np.array(True)})[0], -np.abs(x))
        self.assertEqual(network.get_layer(1).type, trt.LayerType.CONDITIONAL_OUTPUT)

    def test_old_model_with_initializers_among_inputs(self):
        m = model([helper.make_node("Add", ["x", "w"], ["y"])], [info("x", F, [2]), info("w", F, [2])], [info("y", F, [2])],
                  [("w", numbers(2))])
        network = parsed(m)
        self.assertEqual((network.num_inputs, evaluate(recorded.to_onnx(network), {"x": numbers(2)})[0].tolist()),
                         (1, (numbers(2) * 2).tolist()))


class Files(NetworkTest):
    def test_external_data_stay_where_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            onnx.save_model(classifier(), path, save_as_external_data=True, location="weights.bin", size_threshold=0)
            network = new_network()
            self.assertTrue(trt.OnnxParser(network, None).parse_from_file(path))
            written = os.path.join(folder, "n.onnx")
            with open(written, "wb") as file:
                file.write(recorded.to_onnx(network))
            self.assertEqual(network._parsed.external_data_dir, os.path.abspath(folder))
            np.testing.assert_array_equal(numpy_helper.to_array(onnx.load(written).graph.initializer[0]), numbers(5, 3, 3, 3))

    def test_what_is_no_model(self):
        good = classifier().SerializeToString()
        cases = [(b"", "no graph"), (b"\xff" * 20, "no ONNX model"), (good[:len(good) // 2], "missing"),
                 (b"PK\x03\x04" + bytes(50), "ONNX model"),
                 (good.replace(b"\x3a", b"\x38", 1), "ONNX"), (b"\x0a\x01x" + good[2:], "another kind")]
        for data, words in cases:
            network = new_network()
            parser = trt.OnnxParser(network, None)
            self.assertFalse(parser.parse(data))
            self.assertIn(words, parser.get_error(0).desc())
            self.assertEqual((network.num_layers, network.num_inputs, network._parsed), (0, 0, None))
        parser = trt.OnnxParser(new_network(), None)
        self.assertFalse(parser.parse_from_file("/no/such/file.onnx"))
        self.assertIn("/no/such/file.onnx", str(parser.get_error(0)))

    def test_graphs_that_do_not_hold_together(self):
        y = [info("y", F, [2])]
        for nodes, words in (([helper.make_node("Relu", ["nothing"], ["y"], "r")], "'nothing'"),
                             ([helper.make_node("Relu", ["x"], ["z"])], "'y'"),
                             ([helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["y"])], "Two nodes")):
            parser = trt.OnnxParser(new_network(), None)
            self.assertFalse(parser.parse(model(nodes, [info("x", F, [2])], y).SerializeToString()))
            self.assertIn(words, parser.get_error(0).desc())
        network = parsed(classifier())
        self.assertFalse(trt.OnnxParser(network, None).parse(classifier().SerializeToString()))
