"""From models to graphs and back."""

import os
import tempfile
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from support import Case, chain, constant, gs, model, names, onnx, variable

from onnx_graphsurgeon.exporters.onnx_exporter import OnnxExporter, constant_to_onnx_tensor, dtype_to_onnx
from onnx_graphsurgeon.importers.onnx_importer import OnnxImporter
from onnx_graphsurgeon.ir.tensor import LazyValues

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

needs_ml_dtypes = unittest.skipIf(ml_dtypes is None, "needs the package ml_dtypes")
node = helper.make_node


def subgraph(nodes, outputs, name, initializers=()):
    return helper.make_graph(
        nodes,
        name,
        [],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, [2, 3]) for output in outputs],
        [numpy_helper.from_array(values, key) for key, values in initializers],
    )


class Import(Case):
    def test_order_of_nodes_and_tensors(self):
        graph = gs.import_onnx(
            model(
                [node("Add", ["x", "w"], ["a"], name="n0"), node("Relu", ["a"], ["y"], name="n1")],
                ["x"],
                ["y"],
                [("w", np.ones((2, 3), np.float32))],
            )
        )
        self.assertEqual(names(graph.nodes), ["n0", "n1"])
        self.assertEqual(list(graph.tensors()), ["x", "w", "a", "y"])
        self.assertEqual((graph.opset, graph.ir_version, graph.name), (13, 8, "g"))
        self.assertIsInstance(graph.tensors()["w"]._values, LazyValues)
        self.assertIsNone(graph.nodes[0].domain)
        self.assert_consistent(graph)

    def test_initializers_are_no_inputs(self):
        message = model([node("Add", ["x", "w"], ["y"])], ["x", "w"], ["y"], [("w", np.ones((2, 3), np.float32))])
        self.assertEqual(names(gs.import_onnx(message).inputs), ["x"])

    def test_extents(self):
        info = helper.make_tensor_value_info("t", TensorProto.FLOAT, [2, "n", None, ""])
        self.assertEqual(OnnxImporter.import_tensor(info).shape, [2, "n", None, ""])
        info = helper.make_tensor_value_info("t", TensorProto.FLOAT, None)
        self.assertIsNone(OnnxImporter.import_tensor(info).shape)
        info = helper.make_tensor_value_info("t", TensorProto.FLOAT, [])
        self.assertEqual(OnnxImporter.import_tensor(info).shape, [])

    def test_every_imported_tensor_has_a_shape_of_its_own(self):
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in ("a", "b")]
        nodes = [node("Relu", ["x"], ["a"]), node("Relu", ["a"], ["b"]), node("Relu", ["b"], ["y"])]
        tensors = gs.import_onnx(model(nodes, ["x"], ["y"], value_info=infos)).tensors()
        tensors["a"].shape[0] = "n"
        self.assertEqual([tensors[name].shape for name in ("x", "b", "y")], [[2, 3]] * 3)

    def test_types_that_numpy_lacks_keep_their_numbers(self):
        for name in ("BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2"):
            number = getattr(TensorProto, name)
            info = helper.make_tensor_value_info("t", number, [4])
            self.assertEqual(OnnxImporter.import_tensor(info).dtype, number)
            self.assertEqual(LazyValues(info).nbytes, 8 if name == "BFLOAT16" else 4)

    def test_attributes(self):
        tensor = numpy_helper.from_array(np.ones(2), "t")
        inner = subgraph([node("Relu", ["x"], ["r"])], ["r"], "inner")
        given = dict(i=1, f=1.5, s="text", ints=[1, 2], floats=[0.5], strings=["a", "b"], t=tensor, g=inner)
        [imported] = gs.import_onnx(model([node("Op", ["x"], ["y"], **given)], ["x"], ["y"])).nodes
        for name in ("i", "f", "s", "ints", "floats", "strings"):
            self.assertEqual(imported.attrs[name], given[name])
        self.assertEqual(imported.attrs["t"].values.tolist(), [1, 1])
        self.assertIs(imported.attrs["g"].nodes[0].inputs[0], imported.inputs[0])

    def test_attributes_that_are_not_supported_are_left_out_with_a_warning(self):
        with_types = node("Op", [], ["y"], good=1, types=helper.make_tensor_type_proto(1, [2]))
        [imported] = gs.import_onnx(model([with_types])).nodes
        self.assertEqual(imported.attrs, {"good": 1})
        self.assertRegex(self.said.getvalue(), r"\[W\].*'types'.*TYPE_PROTO")

    def test_changes_of_the_model_do_not_reach_the_graph(self):
        message = model([node("Op", ["x"], ["y"], k=[1, 2])], ["x"], ["y"])
        graph = gs.import_onnx(message)
        message.graph.node[0].attribute[0].ints[0] = 9
        message.opset_import[0].version = 5
        message.graph.node[0].input[0] = "other"
        self.assertEqual(graph.nodes[0].attrs["k"], [1, 2])
        self.assertEqual(gs.export_onnx(graph).opset_import[0].version, 13)

    def test_what_is_left_out_is_an_empty_tensor_each_time(self):
        [imported] = gs.import_onnx(model([node("Op", ["", "x", ""], ["", "y"])], ["x"], ["y"])).nodes
        self.assertEqual(names(imported.inputs), ["", "x", ""])
        self.assertIsNot(imported.inputs[0], imported.inputs[2])
        self.assert_round_trip(model([node("Op", ["", "x", ""], ["", "y"])], ["x"], ["y"]))

    def test_subgraphs_use_tensors_around_them_but_write_their_own(self):
        outer = np.ones((2, 3), np.float32)
        then = subgraph([node("Add", ["a", "w"], ["a2"])], ["a2"], "then", [("w", np.zeros((1, 3), np.float32))])
        other = subgraph([node("Relu", ["x"], ["a"])], ["a"], "else")
        message = model(
            [node("Relu", ["x"], ["a"]), node("If", ["c"], ["y"], then_branch=then, else_branch=other)],
            ["x"],
            ["y"],
            [("w", outer), ("c", np.array(True))],
        )
        graph = gs.import_onnx(message)
        first, second = graph.nodes
        inner = second.attrs["then_branch"].nodes[0]
        self.assertIs(inner.inputs[0], first.outputs[0])
        self.assertEqual(inner.inputs[1].shape, [1, 3])
        self.assertIsNot(second.attrs["else_branch"].nodes[0].outputs[0], first.outputs[0])

    def test_a_model_without_opset_is_a_warning(self):
        self.assertEqual(gs.import_onnx(onnx.ModelProto()).opset, 11)
        self.assertIn("[W]", self.said.getvalue())


class Export(Case):
    def test_round_trip_is_the_same_message(self):
        inner = subgraph([node("Constant", [], ["r"], value_ints=[1, 2])], ["r"], "inner")
        nodes = [
            node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1], group=-3, auto_pad="SAME", alpha=0.1),
            node("If", ["c"], ["y"], then_branch=inner, else_branch=inner, domain="com.example", name="if"),
        ]
        infos = [helper.make_tensor_value_info("c", TensorProto.FLOAT16, ["n", 2])]
        self.assert_round_trip(model(nodes, ["x"], ["y"], [("w", np.ones(3))], infos))

    def test_long_names_and_large_numbers(self):
        nodes = [node("Op", ["x" * 200], ["y" * 20000], name="é" * 100, k=[2**62, -1, 300, 0], big=-(2**63))]
        self.assert_round_trip(model(nodes, ["x" * 200], ["y" * 20000]))

    def test_numbers_that_are_equal_but_of_other_types_stay_apart(self):
        attrs = [gs.Node("Op", attrs={"k": value}) for value in (1, 1.0, True, [1], [1.0], np.int64(1), 0.0, -0.0)]
        exported = [OnnxExporter.export_node(each).attribute[0] for each in attrs]
        kinds = [helper.printable_attribute(attr) for attr in exported]
        self.assertEqual([attr.type for attr in exported], [2, 1, 2, 7, 6, 2, 1, 1], kinds)
        self.assertEqual(np.signbit(np.array([exported[6].f, exported[7].f])).tolist(), [False, True])

    def test_numpy_types_become_numbers_of_element_types(self):
        [attr] = OnnxExporter.export_attributes({"to": np.float16})
        self.assertEqual(attr.i, TensorProto.FLOAT16)
        self.assertEqual(dtype_to_onnx(np.dtype("int8")), TensorProto.INT8)
        self.assertEqual([dtype_to_onnx(kind) for kind in ("float32", bool, 16, object)], [1, 9, 16, 8])
        self.assertRaises(ValueError, dtype_to_onnx, np.longdouble)
        self.assertRaises(TypeError, dtype_to_onnx, "no type")

    def test_values_that_were_not_loaded_stay_so(self):
        message = numpy_helper.from_array(np.ones(3, np.float32), "old")
        tensor = gs.Constant("new", LazyValues(message))
        self.assertEqual(OnnxExporter.export_tensor_proto(tensor).name, "new")
        self.assertIsInstance(tensor._values, LazyValues)
        self.assertEqual(message.name, "old")

    def test_arrays_of_every_form(self):
        cases = [
            np.arange(6, dtype=np.float32).reshape(2, 3).T,
            np.arange(3, dtype=">i4"),
            np.array(5, np.uint8),
            np.zeros((0, 3), np.int64),
            np.array([True, False]),
            np.array([1 + 2j], np.complex64),
        ]
        for values in cases:
            exported = constant_to_onnx_tensor(gs.Constant("c", values))
            back = numpy_helper.to_array(exported)
            self.assertEqual((back.shape, back.tolist()), (values.shape, values.tolist()))

    def test_strings(self):
        for values in (np.array(["a", "é"]), np.array(["a", "é"], object), np.array(["a", "é".encode()], object)):
            exported = constant_to_onnx_tensor(gs.Constant("c", values))
            self.assertEqual(list(exported.string_data), [b"a", "é".encode()])
            loaded = OnnxImporter.import_tensor(exported)
            self.assertEqual(loaded.values.tolist(), ["a", "é"])
            self.assertEqual(constant_to_onnx_tensor(loaded).string_data, exported.string_data)

    @needs_ml_dtypes
    def test_types_of_ml_dtypes(self):
        for name, number in (("bfloat16", 16), ("float8_e4m3fn", 17), ("float8_e4m3fnuz", 18), ("float8_e5m2", 19)):
            values = np.array([0.5, 1, -2], getattr(ml_dtypes, name))
            exported = constant_to_onnx_tensor(gs.Constant("c", values))
            self.assertEqual((exported.data_type, exported.raw_data), (number, values.tobytes()))
            converted = gs.Constant("c", np.array([0.5, 1, -2], np.float32), export_dtype=number)
            self.assertEqual(constant_to_onnx_tensor(converted), exported)

    @needs_ml_dtypes
    def test_small_types_are_packed(self):
        cases = (("int4", [1, -1, 3], b"\xf1\x03"), ("uint4", [1, 15, 3], b"\xf1\x03"), ("float4_e2m1fn", [0.5, 0, 1], b"\x01\x02"))
        for name, values, raw in cases:
            exported = constant_to_onnx_tensor(gs.Constant("c", np.array(values, getattr(ml_dtypes, name))))
            self.assertEqual((list(exported.dims), exported.raw_data), ([3], raw), name)
            self.assertEqual(OnnxImporter.import_tensor(exported).values.tolist(), values)

    def test_only_float32_is_converted(self):
        for values, number in ((np.ones(2), TensorProto.BFLOAT16), (np.ones(2, np.float32), TensorProto.INT8)):
            with self.assertRaisesRegex(AssertionError, "only values of float32"):
                constant_to_onnx_tensor(gs.Constant("c", values, export_dtype=number))

    def test_types_that_numpy_lacks_are_written_by_number(self):
        info = OnnxExporter.export_value_info_proto(gs.Variable("v", TensorProto.BFLOAT16, (1,)), True)
        self.assertEqual(info.type.tensor_type.elem_type, TensorProto.BFLOAT16)

    def test_value_info_has_what_is_known(self):
        graph = chain("Relu", "Relu", "Relu")
        graph.nodes[0].outputs[0].shape = None
        graph.nodes[1].outputs[0].dtype = graph.nodes[1].outputs[0].shape = None
        [info] = gs.export_onnx(graph).graph.value_info
        self.assertEqual(info.name, "t0")
        self.assertFalse(info.type.tensor_type.HasField("shape"))

    def test_sequences_optionals_and_maps_survive(self):
        tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2, "n"])
        sequence = helper.make_sequence_type_proto(tensor)
        for kind in (
            sequence,
            helper.make_sequence_type_proto(sequence),
            helper.make_optional_type_proto(sequence),
            helper.make_map_type_proto(TensorProto.INT64, tensor),
            helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [3]),
        ):
            info = onnx.ValueInfoProto(name="v", type=kind)
            self.assertEqual(OnnxExporter.export_value_info_proto(OnnxImporter.import_tensor(info), True), info)

    def test_sparse_initializers(self):
        sparse = helper.make_sparse_tensor(
            numpy_helper.from_array(np.array([2.5], np.float32), "w"), numpy_helper.from_array(np.array([4])), [2, 3]
        )
        message = model([node("Add", ["x", "w"], ["y"])], ["x"], ["y"])
        message.graph.sparse_initializer.append(sparse)
        self.assert_round_trip(message)
        graph = gs.import_onnx(message)
        self.assertEqual(graph.nodes[0].inputs[1].values[1, 1], 2.5)
        [dense] = gs.export_onnx(graph).graph.initializer
        self.assertEqual(numpy_helper.to_array(dense).sum(), 2.5)

    def test_domains(self):
        inner = gs.Graph([gs.Node("C", domain="d3")])
        graph = gs.Graph([gs.Node("A", domain="d1", attrs={"g": inner}), gs.Node("B", domain="ai.onnx")], opset=9)
        imports = [(entry.domain, entry.version) for entry in gs.export_onnx(graph).opset_import]
        self.assertEqual(imports, [("", 9), ("d1", 1), ("d3", 1)])
        graph.opset = 13
        self.assertEqual(gs.export_onnx(graph).opset_import[0].version, 13)

    def test_arguments_of_the_model(self):
        graph = gs.Graph(producer_name="me", ir_version=7)
        message = gs.export_onnx(graph, doc_string="d", opset_imports=[helper.make_opsetid("", 7)], producer_name="you")
        self.assertEqual((message.doc_string, message.opset_import[0].version), ("d", 7))
        self.assertEqual((message.producer_name, message.ir_version), ("me", 7))

    def test_functions(self):
        function = gs.Function(
            "F", "d", inputs=[variable("a")], outputs=[variable("b")], opset=15, attrs={"k": None, "m": 2}
        )
        scale = constant("scale", [2.0])
        function.nodes = [
            gs.Node("Mul", inputs=[function.inputs[0], scale], outputs=[function.outputs[0]],
                    attrs={"k": gs.Node.AttributeRef("k", int)})
        ]  # fmt: skip
        graph = gs.Graph(functions=[function], opset=15)
        [message] = gs.export_onnx(graph).functions
        self.assertEqual([each.op_type for each in message.node], ["Constant", "Mul"])
        self.assertEqual((list(message.attribute), message.attribute_proto[0].i), (["k"], 2))
        self.assertEqual(message.node[1].attribute[0].ref_attr_name, "k")
        self.assertEqual(len(scale.inputs), 0)
        [back] = gs.import_onnx(gs.export_onnx(graph)).functions
        self.assertEqual(back.attrs, {"k": None, "m": 2})
        self.assertEqual(back.nodes[1].attrs["k"], gs.Node.AttributeRef("k", int))

    def test_external_data_stay_where_they_are(self):
        message = model([node("Add", ["x", "w"], ["y"])], ["x"], ["y"], [("w", np.arange(600, dtype=np.float32))])
        with tempfile.TemporaryDirectory() as folder:
            here = os.getcwd()
            os.chdir(folder)
            try:
                onnx.save(message, "m.onnx", save_as_external_data=True, location="m.bin", size_threshold=0)
                graph = gs.import_onnx(onnx.load("m.onnx", load_external_data=False))
                [tensor] = [t for t in graph.tensors().values() if isinstance(t, gs.Constant)]
                exported = gs.export_onnx(graph)
                self.assertEqual(exported.graph.initializer[0].data_location, TensorProto.EXTERNAL)
                self.assertEqual(tensor.values[599], 599)
            finally:
                os.chdir(here)
