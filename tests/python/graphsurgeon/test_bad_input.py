"""What is wrong ends in an exception of upstream's class with a sentence of ours, and changes nothing."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from support import Case, chain, constant, gs, model, onnx, variable

from onnx_graphsurgeon.exporters.onnx_exporter import OnnxExporter
from onnx_graphsurgeon.importers.onnx_importer import OnnxImporter


class Models(Case):
    def test_what_is_no_model(self):
        for wrong in (None, b"", "model.onnx", onnx.GraphProto(), 3):
            with self.assertRaisesRegex(AttributeError, "neither a ModelProto nor a FunctionProto"):
                gs.import_onnx(wrong)

    def test_element_types_that_there_are_not(self):
        self.assertRaises(KeyError, OnnxImporter.import_tensor, TensorProto(name="t", data_type=99))
        with self.assertRaises(gs.OnnxGraphSurgeonException):
            OnnxImporter.import_tensor(TensorProto(name="t"))
        info = helper.make_tensor_value_info("t", 99, [1])
        self.assertRaises(KeyError, OnnxImporter.import_tensor, info)

    def test_values_that_do_not_fill_their_shape(self):
        tensor = OnnxImporter.import_tensor(TensorProto(name="t", data_type=1, dims=[3], raw_data=b"1234"))
        self.assertEqual(tensor.shape, [3])
        self.assertRaises(ValueError, lambda: tensor.values)

    def test_external_data_without_a_file(self):
        message = TensorProto(name="t", data_type=1, dims=[3], data_location=TensorProto.EXTERNAL)
        message.external_data.add(key="location", value="no-such-file")
        tensor = OnnxImporter.import_tensor(message)
        with self.assertRaises(Exception):
            tensor.values
        self.assertEqual(OnnxExporter.export_tensor_proto(tensor), message)

    def test_text_that_is_none(self):
        attribute = helper.make_attribute("k", b"\xff")
        with self.assertRaises(UnicodeDecodeError):
            OnnxImporter.import_attributes([attribute], {}, {}, 13, None)
        strings = helper.make_tensor("t", TensorProto.STRING, [1], [b"\xff"])
        tensor = OnnxImporter.import_tensor(strings)
        tensor.values
        self.assertEqual(list(OnnxExporter.export_tensor_proto(tensor).string_data), [b"\xff"])

    def test_duplicated_names(self):
        nodes = [helper.make_node("A", ["x"], ["y"], name="n"), helper.make_node("B", ["x"], ["y"], name="n")]
        graph = gs.import_onnx(model(nodes, ["x", "x"], ["y"]))
        self.assertEqual(len(graph.outputs[0].inputs), 2)
        self.assertIs(graph.inputs[0], graph.inputs[1])
        gs.export_onnx(graph)
        self.assertIn("'n'", self.said.getvalue())

    def test_duplicated_initializers(self):
        twice = [("w", np.zeros(1)), ("w", np.ones(1))]
        graph = gs.import_onnx(model([helper.make_node("A", ["w"], ["y"])], [], ["y"], twice))
        self.assertEqual(graph.nodes[0].inputs[0].values.tolist(), [1])

    def test_unknown_operators_go_through(self):
        nodes = [helper.make_node("NoSuchOperator", ["x"], ["y"], domain="no.such", k=1)]
        exported = gs.export_onnx(gs.import_onnx(model(nodes, ["x"], ["y"])))
        self.assertEqual(exported.graph.node[0], nodes[0])
        self.assertEqual([entry.domain for entry in exported.opset_import], ["", "no.such"])


class Graphs(Case):
    def refused(self, error, graph, pattern="", **kwargs):
        with self.assertRaisesRegex(error, pattern):
            gs.export_onnx(graph, **kwargs)

    def test_names_that_are_no_strings(self):
        for graph in (
            gs.Graph([gs.Node("A", 5)]),
            gs.Graph([gs.Node(None)]),
            gs.Graph([gs.Node("A", inputs=[gs.Variable(None)])]),
            gs.Graph([gs.Node("A", domain=3)]),
            gs.Graph(inputs=[gs.Variable(5, np.float32)]),
            gs.Graph([gs.Node("A", inputs=[gs.Constant(7, np.ones(1))])]),
        ):
            self.refused(TypeError, graph, "string|str")

    def test_things_that_are_none_of_theirs(self):
        self.assertRaises(AttributeError, gs.export_onnx, None)
        self.refused(AttributeError, gs.Graph(inputs=["x"]))
        graph = gs.Graph()
        graph.nodes = ["node"]
        self.refused(AttributeError, graph)
        self.assertRaises(AttributeError, gs.Graph, ["node"])
        self.assertRaises(TypeError, gs.Graph, inputs=5)
        with self.assertRaises(TypeError):
            gs.Graph().inputs = None

    def test_tensors_without_a_dtype(self):
        for graph in (
            gs.Graph(inputs=[gs.Variable("x")]),
            gs.Graph(outputs=[gs.Variable("x")]),
            gs.Graph([gs.Node("A", outputs=[gs.Variable("x", None, (1,))])]),
        ):
            self.refused(gs.OnnxGraphSurgeonException, graph, "dtype")
            gs.export_onnx(graph, do_type_check=False)
        inner = gs.Graph(inputs=[gs.Variable("x")])
        gs.export_onnx(gs.Graph([gs.Node("A", attrs={"g": inner})]))

    def test_dtypes_and_extents_that_there_are_not(self):
        for dtype, error in (("no type", TypeError), (np.longdouble, ValueError)):
            self.refused(error, gs.Graph(inputs=[gs.Variable("x", dtype, (1,))]))
        for extent in (1.5, b"n", (1,)):
            self.refused(ValueError, gs.Graph(inputs=[gs.Variable("x", np.float32, (extent,))]), "extent")
        for kind in ("map_type", "no_type", None):
            graph = gs.Graph(inputs=[gs.Variable("x", np.float32, (1,), type=kind)])
            self.refused(gs.OnnxGraphSurgeonException, graph, "cannot be exported")

    def test_attributes_of_wrong_types(self):
        cases = (
            (None, TypeError),
            (1j, TypeError),
            (np.dtype("float32"), TypeError),
            ([], ValueError),
            (["a", 1], ValueError),
            ([[1]], ValueError),
            ([gs.Graph()], ValueError),
            (2**70, ValueError),
            (variable("v"), AttributeError),
            (gs.Node.AttributeRef("k", bool), TypeError),
        )
        for value, error in cases:
            self.refused(error, gs.Graph([gs.Node("A", attrs={"k": value})]))
        self.refused(TypeError, gs.Graph([gs.Node("A", attrs={5: 1})]))

    def test_values_that_are_no_array(self):
        tensor = constant("c", [1.0])
        tensor.values = [1.0]
        self.refused(AttributeError, gs.Graph([gs.Node("A", inputs=[tensor])]))

    def test_arguments_that_models_do_not_have(self):
        self.refused(AttributeError, chain("A"), no_such_field=1)


class Growth(Case):
    """No time grows with the square of a graph: 100 times the square would not end here."""

    def test_a_constant_that_many_nodes_use(self):
        shared = numpy_helper.from_array(np.ones(1, np.float32), "w")
        nodes = [helper.make_node("Add", ["x", "w"], ["t{:}".format(i)]) for i in range(30000)]
        message = model(nodes, ["x"], ["t0"])
        message.graph.initializer.append(shared)
        graph = gs.import_onnx(message)
        self.assertEqual(len(graph.tensors()["w"].outputs), 30000)
        self.assertEqual(len(graph.cleanup().nodes), 1)
        self.assertEqual(len(graph.tensors()["w"].outputs), 1)

    def test_deep_graphs(self):
        graph = chain(*["Relu"] * 30000)
        graph.nodes.reverse()
        graph.cleanup().toposort()
        self.assertEqual(graph.nodes[0].name, "n0")
        self.assertEqual(len(gs.import_onnx(gs.export_onnx(graph)).copy().nodes), 30000)
