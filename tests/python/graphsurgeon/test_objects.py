"""Tensors and nodes: lists that are kept in step, changes of kind, equality, text."""

import copy
import pickle

import numpy as np
from support import Case, chain, constant, gs, names, onnx, variable

from onnx_graphsurgeon.ir.tensor import LazyValues, SparseValues
from onnx_graphsurgeon.util import misc
from onnx_graphsurgeon.util.misc import SynchronizedList


class Lists(Case):
    def setUp(self):
        super().setUp()
        self.x, self.y, self.z = variable("x"), variable("y"), variable("z")
        self.node = gs.Node("Op", "n", inputs=[self.x, self.y], outputs=[self.z])

    def test_both_sides_know_each_other(self):
        self.assertIs(self.x.outputs[0], self.node)
        self.assertIs(self.z.inputs[0], self.node)
        self.assertEqual(self.x.inputs, [])

    def test_every_change_reaches_the_other_side(self):
        inputs = self.node.inputs
        inputs.append(self.z)
        self.assertIs(self.z.outputs[0], self.node)
        inputs.insert(0, self.z)
        self.assertEqual(len(self.z.outputs), 2)
        inputs.remove(self.z)
        self.assertEqual(len(self.z.outputs), 1)
        self.assertIs(inputs.pop(), self.z)
        self.assertEqual(self.z.outputs, [])
        inputs[0] = self.z
        self.assertEqual((self.x.outputs, len(self.z.outputs)), ([], 1))
        del inputs[0]
        self.assertEqual(self.z.outputs, [])
        inputs += [self.x, self.x]
        self.assertEqual(len(self.x.outputs), 2)
        inputs.clear()
        self.assertEqual((self.x.outputs, self.y.outputs), ([], []))

    def test_assignment_refills_the_same_list(self):
        before = self.node.inputs
        self.node.inputs = [self.y]
        self.assertIs(self.node.inputs, before)
        self.assertEqual(self.x.outputs, [])
        self.node.inputs = self.node.inputs
        self.assertEqual(names(self.node.inputs), ["y"])

    def test_a_list_can_be_made_of_itself(self):
        self.node.inputs = list(reversed(self.node.inputs))
        self.assertEqual(names(self.node.inputs), ["y", "x"])
        self.node.inputs = (tensor for tensor in self.node.inputs if tensor.name == "x")
        self.assertEqual(names(self.node.inputs), ["x"])
        self.assertEqual(self.y.outputs, [])

    def test_a_list_of_another_node_is_taken_over(self):
        other = gs.Node("Op", inputs=self.node.inputs)
        self.node.inputs = []
        self.assertEqual(names(other.inputs), ["x", "y"])
        self.assertEqual(len(self.x.outputs), 1)

    def test_the_same_node_is_removed_not_an_equal_one(self):
        first, second = gs.Node("Op", inputs=[self.x]), gs.Node("Op", inputs=[self.x])
        self.assertEqual(first, second)
        second.inputs.clear()
        self.assertIs(self.x.outputs[1], first)
        self.assertEqual(len(self.x.outputs), 2)

    def test_slices_are_read_only(self):
        self.assertIs(type(self.node.inputs[:1]), list)
        with self.assertRaises(AttributeError):
            self.node.inputs[:1] = [self.z]
        with self.assertRaises(AttributeError):
            del self.node.inputs[:1]
        self.assertEqual(names(self.node.inputs), ["x", "y"])

    def test_what_is_no_tensor_is_refused_and_changes_nothing(self):
        for wrong in ("x", None, 3):
            with self.assertRaisesRegex(AttributeError, "cannot be an input or output"):
                self.node.inputs.extend([self.z, wrong])
            with self.assertRaises(AttributeError):
                self.node.inputs[0] = wrong
        self.assertEqual(names(self.node.inputs), ["x", "y"])
        self.assertEqual(self.z.outputs, [])

    def test_copies_are_plain_lists(self):
        for copied in (copy.copy(self.node.inputs), copy.deepcopy(self.node.inputs), self.node.inputs + [self.z]):
            self.assertIs(type(copied), list)
            self.assertIs(copied[0], self.x)
        self.assertIsInstance(self.node.inputs, SynchronizedList)

    def test_a_pickled_graph_is_whole_again(self):
        graph = pickle.loads(pickle.dumps(chain("Relu", "Neg")))
        self.assertEqual(graph, chain("Relu", "Neg"))
        self.assert_consistent(graph)
        graph.nodes[0].outputs.clear()
        self.assertEqual(graph.nodes[1].inputs[0].inputs, [])


class Tensors(Case):
    def test_a_tensor_is_abstract(self):
        with self.assertRaises(NotImplementedError):
            gs.Tensor()

    def test_equality_is_by_name_and_tensors_are_no_keys(self):
        self.assertEqual(variable("a"), constant("a", [1]))
        self.assertNotEqual(variable("a"), variable("b"))
        with self.assertRaises(TypeError):
            hash(variable("a"))
        with self.assertRaises(AttributeError):
            variable("a") == 3

    def test_kinds_change_in_place(self):
        tensor = variable("a", ("n", 3))
        node = gs.Node("Op", outputs=[tensor])
        self.assertIs(tensor.to_constant(np.ones((4,), np.int8)), tensor)
        self.assertIsInstance(node.outputs[0], gs.Constant)
        self.assertEqual((tensor.shape, tensor.dtype), ((4,), np.int8))
        tensor.to_variable()
        self.assertEqual((type(tensor), tensor.shape, tensor.dtype), (gs.Variable, [], np.int8))
        tensor.to_constant(np.ones(2)).to_variable(np.float16, None)
        self.assertEqual((tensor.shape, tensor.dtype), (None, np.float16))
        with self.assertRaises(AttributeError):
            variable("b").to_variable()

    def test_values_of_constants_must_be_arrays(self):
        for wrong in ([1, 2], 3.0, np.float32(1), None):
            with self.assertRaisesRegex(gs.OnnxGraphSurgeonException, "NumPy array"):
                gs.Constant("c", wrong)

    def test_neighbours(self):
        graph = chain("A", "B", "C")
        first, second, third = graph.nodes
        self.assertIs(second.i(), first)
        self.assertIs(second.o(), third)
        self.assertIs(second.outputs[0].i(), second.inputs[0])
        self.assertIs(second.inputs[0].o(), second.outputs[0])
        for call in (first.i, third.o, graph.inputs[0].i, graph.outputs[0].o):
            self.assertRaises(IndexError, call)

    def test_lazy_values_are_read_when_asked_for(self):
        message = onnx.numpy_helper.from_array(np.arange(6, dtype=np.int16).reshape(2, 3), "w")
        tensor = gs.Constant("w", LazyValues(message))
        self.assertEqual((tensor.shape, tensor.dtype, tensor._values.nbytes), ([2, 3], np.int16, 12))
        self.assertIn("LazyValues (shape=[2, 3], dtype=int16)", repr(tensor))
        self.assertEqual(tensor.values.tolist(), [[0, 1, 2], [3, 4, 5]])
        self.assertIsInstance(tensor._values, np.ndarray)

    def test_sparse_values_of_both_forms(self):
        values = onnx.numpy_helper.from_array(np.array([5, 7], np.int32), "s")
        for indices in ([1, 5], [[0, 1], [1, 2]]):
            message = onnx.helper.make_sparse_tensor(values, onnx.numpy_helper.from_array(np.array(indices)), [2, 3])
            loaded = SparseValues(message).load()
            self.assertEqual(loaded.tolist(), [[0, 5, 0], [0, 0, 7]])
            self.assertEqual(loaded.dtype, np.int32)
        for indices, dims in (([1, 9], [2, 3]), ([[0, 1], [2, 2]], [2, 3]), ([1], [2, 3]), ([[[1]], [[2]]], [2, 3])):
            message = onnx.helper.make_sparse_tensor(values, onnx.numpy_helper.from_array(np.array(indices)), dims)
            with self.assertRaisesRegex(gs.OnnxGraphSurgeonException, "sparse tensor 's'"):
                SparseValues(message).load()

    def test_text(self):
        self.assertEqual(str(gs.Variable("a", np.float32, (1, "n"))), "Variable (a): (shape=(1, 'n'), dtype=<class 'numpy.float32'>)")
        self.assertEqual(repr(constant("c", [1.0])), "Constant (c): (shape=(1,), dtype=float32)\n[1.]")
        node = gs.Node("Op", "n", {"k": 1}, [variable("a", None)], [], "d")
        self.assertEqual(
            str(node),
            "n (Op)\n\tInputs: [\n\t\tVariable (a): (shape=None, dtype=<class 'numpy.float32'>)\n\t]\n"
            "\tOutputs: [\n\t]\nAttributes: {'k': 1}\nDomain: d",
        )


class Helpers(Case):
    def test_shapes(self):
        self.assertEqual([misc.volume(()), misc.volume((2, 3))], [1, 6])
        dims = (0, 3, -1, "", "n", None)
        self.assertEqual([misc.is_dynamic_dimension(dim) for dim in dims], [False, False, True, True, True, True])
        self.assertTrue(misc.is_dynamic_shape((1, None)))
        self.assertFalse(misc.is_dynamic_shape(()))

    def test_attribute_types(self):
        pairs = ((int, 2), (float, 1), (str, 3), (gs.Tensor, 4), (gs.Graph, 5), (np.int32, 2), (np.float64, 1))
        for python_type, number in pairs:
            self.assertEqual(misc.convert_to_onnx_attr_type(python_type), number)
        self.assertIs(misc.convert_from_onnx_attr_type(2), int)
        self.assertIsNone(misc.convert_to_onnx_attr_type(bool))
        self.assertIn("[W]", self.said.getvalue())

    def test_graphs_copy_themselves(self):
        graph = chain("Relu")
        for copied in (copy.copy(graph), copy.deepcopy(graph), graph.copy()):
            self.assertEqual(copied, graph)
            self.assertIsNot(copied.nodes[0], graph.nodes[0])
