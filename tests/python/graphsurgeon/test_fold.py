"""Constant folding: what needs no evaluator, and with `needs_evaluator` what does."""

import numpy as np
from onnx import TensorProto
from support import EVALUATOR_MISSING, Case, constant, gs, names, needs_evaluator, unittest, variable

FLOAT, INT64, INT32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32


def graph_of(nodes, inputs=(), outputs=None, opset=13, **kwargs):
    graph = gs.Graph(nodes, inputs, opset=opset, ir_version=8, **kwargs)
    graph.outputs = nodes[-1].outputs if outputs is None else outputs
    return graph


def op(kind, inputs, *outputs, dtype=np.float32, **attrs):
    """A node; outputs are names, or tensors."""
    made = [out if isinstance(out, gs.Tensor) else gs.Variable(out, dtype) for out in outputs]
    return gs.Node(kind, "node_" + made[0].name, attrs, list(inputs), made)


def ops(graph):
    return [node.op for node in graph.nodes]


class ConstantNodes(Case):
    def test_numbers_become_constants_of_the_types_that_onnx_says(self):
        cases = {
            "value_float": (1.5, np.float32, ()),
            "value_floats": ([1.0, 2.0], np.float32, (2,)),
            "value_int": (3, np.int64, ()),
            "value_ints": ([1, 2], np.int64, (2,)),
            "value": (constant("v", [[1]], np.int8), np.int8, (1, 1)),
        }
        for name, (value, dtype, shape) in cases.items():
            graph = graph_of([op("Constant", [], "k", **{name: value})])
            graph.fold_constants().cleanup()
            [output] = graph.outputs
            self.assertIsInstance(output, gs.Constant)
            self.assertEqual((output.dtype, output.shape, graph.nodes), (dtype, shape, []))

    def test_what_is_no_constant_stays(self):
        reference = gs.Node.AttributeRef("k", gs.Tensor)
        for attrs, domain in (({"value": reference}, None), ({"value_int": 1}, "com.example")):
            node = op("Constant", [], "k", **attrs)
            node.domain = domain
            graph = graph_of([node])
            graph.fold_constants(should_exclude_node=lambda node: True).cleanup()
            self.assertEqual(ops(graph), ["Constant"])


class Shapes(Case):
    def shape_of(self, shape, *rest, opset=15, **attrs):
        """Folds Shape of a tensor, and what `rest` makes of it; returns the graph."""
        x = gs.Variable("x", np.float32, shape)
        nodes = [op("Shape", [x], "s", dtype=np.int64, **attrs)]
        for make in rest:
            nodes.append(make(nodes[-1].outputs[0]))
        graph = graph_of(nodes, [x], opset=opset)
        return graph.fold_constants()

    def folded(self, *args, **kwargs):
        [output] = self.shape_of(*args, **kwargs).outputs
        return output.values.tolist() if isinstance(output, gs.Constant) else None

    def test_shape(self):
        self.assertEqual(self.folded((2, 0, 4)), [2, 0, 4])
        self.assertEqual(self.folded(()), [])
        for shape in (None, (2, "n"), (2, -1), (2, None), (2, "")):
            self.assertIsNone(self.folded(shape))
        self.assertEqual(self.folded((2, 3, 4), start=1), [3, 4])
        self.assertEqual(self.folded((2, 3, 4), end=-1), [2, 3])
        self.assertEqual(self.folded(("n", 3, 4), start=1), [3, 4])
        graph = self.shape_of((2, 3)).fold_constants(fold_shapes=False)
        self.assertEqual(graph.outputs[0].dtype, np.int64)

    def test_gather(self):
        def gather(indices, dtype=np.int64):
            return lambda s: op("Gather", [s, constant("i", indices, dtype)], "g", dtype=np.int64)

        shape = ("n", 3, "m", 5)
        self.assertEqual(self.folded(shape, gather([1, 3])), [3, 5])
        self.assertEqual(self.folded(shape, gather(-1)), 5)
        self.assertEqual(self.folded(shape, gather([[1], [3]], np.int32)), [[3], [5]])
        self.assertIsNone(self.folded(shape, gather([0])))
        self.assertIsNone(self.folded(None, gather([1])))
        self.assertIsNone(self.folded(shape, gather([9])))
        self.assertIn("[W] Gather", self.said.getvalue())

    def test_slice(self):
        def slices(*arguments):
            inputs = [constant(name, [value], np.int64) for name, value in zip("seat", arguments)]
            return lambda s: op("Slice", [s] + inputs, "g", dtype=np.int64)

        shape = ("n", 3, 4, 5)
        expected = {
            (1, 3): [3, 4],
            (1, 3, 0): [3, 4],
            (1, 3, -1): [3, 4],
            (-2, 99): [4, 5],
            (1, 4, 0, 2): [3, 5],
            (9, 0, 0, -1): [5, 4, 3],
            (-1, -4, 0, -2): [5, 3],
            (3, 1): [],
            (0, 2): None,
            (1, 3, 1): None,
        }
        for arguments, values in expected.items():
            self.assertEqual(self.folded(shape, slices(*arguments)), values, arguments)

    def test_slices_of_old_opsets(self):
        make = lambda s: op("Slice", [s], "g", starts=[1], ends=[3])  # noqa: E731
        self.assertEqual(self.folded(("n", 3, 4), make, opset=9), [3, 4])

    @needs_evaluator
    def test_a_known_shape_may_be_read_more_than_once(self):
        twice = lambda s: op("Add", [s, s], "y", dtype=np.int64)  # noqa: E731
        self.assertEqual(self.folded((2, 3), twice), [4, 6])
        again = lambda y: op("Mul", [y, y], "z", dtype=np.int64)  # noqa: E731
        self.assertEqual(self.folded((2, 3), twice, again), [16, 36])

    def test_operators_of_other_domains_are_others(self):
        x = gs.Variable("x", np.float32, (2, 3))
        node = op("Shape", [x], "s")
        node.domain = "com.example"
        graph = graph_of([node], [x]).fold_constants()
        self.assertIsInstance(graph.outputs[0], gs.Variable)

    def test_excluded_nodes_stay(self):
        x = gs.Variable("x", np.float32, (2, 3))
        graph = graph_of([op("Shape", [x], "s")], [x])
        graph.fold_constants(should_exclude_node=lambda node: node.op == "Shape")
        self.assertIsInstance(graph.outputs[0], gs.Variable)


class Casts(Case):
    def between_casts(self, kind="Add", to=INT64, source=np.int64, second=None, opset=13, **fold):
        x = gs.Variable("x", source, (2,))
        cast = op("Cast", [x], "f", to=FLOAT)
        other = cast.outputs[0] if second is None else second
        middle = op(kind, [cast.outputs[0], other], "m")
        back = op("Cast", [middle.outputs[0]], "y", dtype=None, to=to)
        graph = graph_of([cast, middle, back], [x], opset=opset)
        return graph.fold_constants(**fold).cleanup()

    def test_casts_around_arithmetic_go(self):
        for kind in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Concat"):
            graph = self.between_casts(kind)
            self.assertEqual(ops(graph), [kind])
            self.assertEqual(
                (names(graph.nodes[0].inputs), names(graph.nodes[0].outputs)), (["x", "x"], ["y"])
            )
        self.assertEqual(ops(self.between_casts(to=INT32, source=np.int32)), ["Add"])
        self.assertEqual(ops(self.between_casts(to=np.int64)), ["Add"])

    def test_comparisons_keep_the_cast_of_their_result(self):
        self.assertEqual(ops(self.between_casts("Less")), ["Less", "Cast"])

    def test_constants_are_converted_if_they_are_whole(self):
        graph = self.between_casts(second=constant("k", [2.0]))
        self.assertEqual(graph.nodes[0].inputs[1].dtype, np.int64)
        graph = self.between_casts("Mul", second=constant("k", [0.5]))
        self.assertEqual(ops(graph), ["Cast", "Mul", "Cast"])

    def test_where_the_result_would_differ_they_stay(self):
        self.assertEqual(ops(self.between_casts(to=INT32)), ["Cast", "Add", "Cast"])
        self.assertEqual(ops(self.between_casts(source=np.float64)), ["Cast", "Add", "Cast"])
        self.assertEqual(ops(self.between_casts(source=None)), ["Cast", "Add", "Cast"])
        self.assertEqual(ops(self.between_casts(second=variable("v"))), ["Cast", "Add", "Cast"])
        self.assertEqual(ops(self.between_casts("Max", opset=11)), ["Cast", "Max", "Cast"])
        self.assertEqual(ops(self.between_casts(fold_shapes=False)), ["Cast", "Add", "Cast"])

    def test_other_users_keep_what_they_use(self):
        x = gs.Variable("x", np.int64, (2,))
        cast = op("Cast", [x], "f", to=FLOAT)
        middle = op("Add", [cast.outputs[0], cast.outputs[0]], "m")
        first = op("Cast", [middle.outputs[0]], "y1", dtype=np.int64, to=INT64)
        second = op("Cast", [middle.outputs[0]], "y2", dtype=np.int64, to=INT64)
        outputs = first.outputs + second.outputs + cast.outputs
        graph = graph_of([cast, middle, first, second], [x], outputs).fold_constants().cleanup()
        self.assertEqual(ops(graph), ["Cast", "Add", "Cast"])
        self.assertEqual(names(graph.nodes[1].inputs), ["x", "x"])
        self.assertEqual([len(output.inputs) for output in graph.outputs], [1, 1, 1])


class Branches(Case):
    def conditional(self, condition, outputs_of_branch="made"):
        x, out = variable("x"), variable("out")
        made, twice = variable("made"), variable("twice")
        nodes = [op("Relu", [x], made), op("Neg", [made], twice)]
        tensor = {"made": made, "around": x, "constant": constant("k", [1.0])}[outputs_of_branch]
        then = gs.Graph(nodes, outputs=[tensor], name="then")
        other = gs.Graph([op("Abs", [x], "e")], name="else")
        other.outputs = other.nodes[0].outputs
        branch = gs.Node("If", "if", {"then_branch": then, "else_branch": other}, [condition], [out])
        last = op("Exp", [out], "y")
        return graph_of([op("Sqrt", [x], "first"), branch, last], [x])

    def test_a_constant_condition_leaves_its_branch(self):
        graph = self.conditional(constant("c", True, bool)).fold_constants()
        self.assertEqual(ops(graph), ["Sqrt", "Relu", "Neg", "Exp"])
        self.assertEqual(names(graph.nodes[1].outputs), ["out"])
        self.assertIs(graph.nodes[2].inputs[0], graph.nodes[1].outputs[0])
        self.assertEqual(names(graph.nodes[2].outputs), ["twice_subg_1_then"])
        self.assert_consistent(graph)
        graph = self.conditional(constant("c", False, bool)).fold_constants()
        self.assertEqual(ops(graph), ["Sqrt", "Abs", "Exp"])

    def test_outputs_that_the_branch_did_not_make(self):
        graph = self.conditional(constant("c", True, bool), "around").fold_constants().cleanup()
        self.assertEqual(ops(graph), ["Identity", "Exp"])
        graph = self.conditional(constant("c", True, bool), "constant")
        graph.fold_constants(should_exclude_node=lambda node: True).cleanup()
        self.assertIsInstance(graph.nodes[-1].inputs[0], gs.Constant)

    def test_other_conditions_and_other_wishes(self):
        graph = self.conditional(variable("c", (), bool)).fold_constants()
        self.assertEqual(ops(graph), ["Sqrt", "If", "Exp"])
        graph = self.conditional(constant("c", True, bool)).fold_constants(flatten_subgraphs=False)
        self.assertEqual(ops(graph), ["Sqrt", "If", "Exp"])


def sum_of_constants():
    """y = x + (a + b) * a"""
    x, a, b = variable("x", (2,)), constant("a", [1, 2]), constant("b", [3, 4])
    first = op("Add", [a, b], "first")
    second = op("Mul", [first.outputs[0], a], "second")
    return graph_of([first, second, op("Add", [x, second.outputs[0]], "y")], [x])


class Evaluation(Case):
    @needs_evaluator
    def test_values(self):
        graph = sum_of_constants()
        self.assertIs(graph.fold_constants(), graph)
        self.assertEqual([len(node.outputs) for node in graph.nodes], [0, 0, 1])
        graph.cleanup()
        self.assertEqual(ops(graph), ["Add"])
        self.assertEqual(graph.nodes[0].inputs[1].values.tolist(), [4, 12])
        self.assert_consistent(graph)

    @needs_evaluator
    def test_lists_in_any_order(self):
        graph = sum_of_constants()
        graph.nodes.reverse()
        self.assertEqual(ops(graph.fold_constants().cleanup()), ["Add"])

    @needs_evaluator
    def test_what_stays(self):
        zero = constant("z", 0, np.int8)
        for kind, inputs in (
            ("QuantizeLinear", [constant("v", [1.0]), constant("s", 1.0), zero]),
            ("DequantizeLinear", [constant("v", [1], np.int8), constant("s", 1.0), zero]),
            ("Bernoulli", [constant("v", [0.5])]),
        ):
            self.assertEqual(
                ops(graph_of([op(kind, inputs, "y")], opset=15).fold_constants().cleanup()), [kind]
            )
        random = graph_of([op("RandomUniform", [], "y", shape=[2])]).fold_constants().cleanup()
        self.assertEqual(ops(random), ["RandomUniform"])

    @needs_evaluator
    def test_excluded_nodes_and_what_needs_them(self):
        graph = sum_of_constants().fold_constants(should_exclude_node=lambda node: node.op == "Mul").cleanup()
        self.assertEqual(ops(graph), ["Mul", "Add"])

    @needs_evaluator
    def test_what_an_exclusion_raises_goes_through(self):
        with self.assertRaises(ZeroDivisionError):
            sum_of_constants().fold_constants(should_exclude_node=lambda node: 1 / 0)

    @needs_evaluator
    def test_constants_that_are_not_folded_stay_lazy(self):
        graph = gs.import_onnx(gs.export_onnx(sum_of_constants()))
        graph.fold_constants().cleanup()
        again = gs.import_onnx(gs.export_onnx(graph))
        again.fold_constants()
        [tensor] = [tensor for tensor in again.tensors().values() if isinstance(tensor, gs.Constant)]
        self.assertNotIsInstance(tensor._values, np.ndarray)

    @needs_evaluator
    def test_size_threshold(self):
        def kept(threshold):
            graph = graph_of([op("Tile", [constant("k", [1.0]), constant("n", [9], np.int64)], "y")])
            return ops(graph.fold_constants(size_threshold=threshold).cleanup())

        self.assertEqual([kept(None), kept(36), kept(35)], [[], [], ["Tile"]])

    @needs_evaluator
    def test_outputs_that_stay_keep_their_places(self):
        small, large = gs.Variable("small", np.float32, (1,)), gs.Variable("large", np.float32, (7,))
        split = op("Split", [constant("k", np.arange(8)), constant("n", [1, 7], np.int64)], small, large)
        nodes = [split, op("Neg", [small], "y0"), op("Neg", [large], "y1")]
        graph = graph_of(nodes, outputs=nodes[1].outputs + nodes[2].outputs)
        graph.fold_constants(size_threshold=8).cleanup()
        self.assertEqual((ops(graph), len(split.outputs)), (["Split", "Neg"], 2))
        self.assertIs(split.outputs[1], large)
        self.assertEqual(graph.outputs[0].values.tolist(), [0])

    @needs_evaluator
    def test_a_node_that_cannot_be_computed(self):
        def mixed():
            graph = sum_of_constants()
            fake = op("NoSuchOperator", [constant("k", [1.0])], "fake")
            last = op("Add", [fake.outputs[0], graph.outputs[0]], "z")
            return graph_of([fake] + graph.nodes + [last], graph.inputs)

        self.assertEqual(len(mixed().fold_constants().cleanup().nodes), 5)
        self.assertIn("[W]", self.said.getvalue())
        for partitioning in ("basic", "recursive"):
            graph = mixed().fold_constants(partitioning=partitioning).cleanup()
            self.assertEqual(ops(graph), ["NoSuchOperator", "Add", "Add"])
        for partitioning in (None, "basic"):
            with self.assertRaises(Exception):
                mixed().fold_constants(error_ok=False, partitioning=partitioning)

    @needs_evaluator
    def test_recursive_keeps_what_comes_before(self):
        first = op("Add", [constant("a", [1.0]), constant("b", [2.0])], "first")
        fake = op("NoSuchOperator", first.outputs, "fake")
        after = op("Neg", fake.outputs, "y")
        graph = graph_of([first, fake, after]).fold_constants(partitioning="recursive").cleanup()
        self.assertEqual(ops(graph), ["NoSuchOperator", "Neg"])
        self.assertEqual(graph.nodes[0].inputs[0].values.tolist(), [3])

    @needs_evaluator
    def test_tensors_of_one_name(self):
        first = op("Neg", [constant("same", [1.0])], "out")
        second = op("Neg", [constant("same", [2.0])], "out")
        graph = graph_of([first, second], outputs=first.outputs + second.outputs).fold_constants()
        self.assertEqual([tensor.values.tolist() for tensor in graph.outputs], [[-1], [-2]])
        self.assertEqual(names(graph.outputs), ["out", "out"])

    @needs_evaluator
    def test_subgraphs_and_functions(self):
        condition, x, out = variable("c", (), bool), variable("x", (1,)), variable("out", (1,))
        inner = op("Add", [constant("a", [1.0]), constant("b", [2.0])], "inner")
        last = op("Add", [inner.outputs[0], x], "last")
        branch = gs.Graph([inner, last], outputs=last.outputs, name="branch")
        node = gs.Node("If", "if", {"then_branch": branch, "else_branch": branch}, [condition], [out])
        a, b = variable("a", (1,)), variable("b", (1,))
        body = [op("Mul", [constant("m", [2.0]), constant("n", [3.0])], "six"), op("Mul", [a], b)]
        body[1].inputs.append(body[0].outputs[0])
        function = gs.Function("F", nodes=body, inputs=[a], outputs=[b], opset=13)
        graph = graph_of([node], [condition, x], functions=[function])
        graph.fold_constants().cleanup()
        self.assertEqual((ops(branch), ops(function)), (["Add"], ["Mul"]))
        self.assertEqual(function.nodes[0].inputs[1].values.tolist(), [6])

    @needs_evaluator
    def test_calls_of_functions_are_computed(self):
        a, b = variable("a", (1,)), variable("b", (1,))
        function = gs.Function("F", nodes=[op("Neg", [a], b)], inputs=[a], outputs=[b], opset=15)
        graph = gs.Graph(functions=[function], opset=15, ir_version=8)
        graph.outputs = graph.F(inputs=[np.array([5.0], np.float32)])
        graph.fold_constants(error_ok=False)
        self.assertEqual(graph.outputs[0].values.tolist(), [-5])

    @needs_evaluator
    def test_large_constants_are_computed_and_warned_of(self):
        large = gs.Constant("k", np.ones((1 << 19,), np.float32))
        graph = graph_of([op("Neg", [large], "only_here_large")]).fold_constants()
        self.assertEqual(graph.outputs[0].values.min(), -1)
        self.assertIn("only_here_large", self.said.getvalue())

    @unittest.skipUnless(EVALUATOR_MISSING, "assay._native is there")
    def test_without_the_evaluator_one_sentence_says_so(self):
        with self.assertRaisesRegex(ImportError, "assay's native module"):
            sum_of_constants().fold_constants(error_ok=False)
        graph = sum_of_constants().fold_constants()
        self.assertEqual(len(graph.cleanup().nodes), 3)
        self.assertIn("assay's native module", self.said.getvalue())

    def test_a_partitioning_that_there_is_not(self):
        with self.assertRaisesRegex(gs.OnnxGraphSurgeonException, "'all'"):
            sum_of_constants().fold_constants(partitioning="all")
