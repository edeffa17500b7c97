"""layer(), registered and local functions, the log, patterns."""

import numpy as np
from support import Case, G_LOGGER, chain, constant, gs, names, variable

from onnx_graphsurgeon.logger import LogMode


class Layer(Case):
    def test_what_tensors_are_made_of(self):
        graph = gs.Graph()
        outputs = graph.layer(op="Op", inputs=["in", np.ones(2), 3, 1.5, [1, 2], (1.0, 2), variable("v")], outputs=["out"])
        [node] = graph.nodes
        expected = ["in_0", "onnx_graphsurgeon_constant_1"]
        expected += ["onnx_graphsurgeon_lst_constant_{:}".format(i) for i in range(2, 6)] + ["v"]
        self.assertEqual(names(node.inputs), expected)
        kinds = [tensor.dtype for tensor in node.inputs[1:6]]
        self.assertEqual(kinds, [np.float64, np.int64, np.float32, np.int64, np.float32])
        self.assertEqual((names(outputs), node.name), (["out_6"], "onnx_graphsurgeon_node_7"))

    def test_names_that_exist_are_passed_over(self):
        graph = gs.Graph([gs.Node("A", "onnx_graphsurgeon_node_1", outputs=[variable("out_0")])])
        graph.layer(op="B", outputs=["out"])
        self.assertEqual((graph.nodes[1].outputs[0].name, graph.nodes[1].name), ("out_1", "onnx_graphsurgeon_node_2"))

    def test_what_no_tensor_is_made_of(self):
        for wrong in (None, {1, 2}, b"x", {"a": 1}):
            with self.assertRaisesRegex(gs.OnnxGraphSurgeonException, "Graph.layer"):
                gs.Graph().layer(op="A", inputs=[wrong])
        self.assertRaises(TypeError, gs.Graph().layer, inputs=["a"])


class Registration(Case):
    def tearDown(self):
        gs.Graph.GLOBAL_FUNC_MAP.clear()
        gs.Graph.OPSET_FUNC_MAP.clear()
        super().tearDown()

    def test_the_function_of_the_opset_comes_first(self):
        @gs.Graph.register()
        def act(self):
            return "all"

        self.assertEqual(gs.Graph(opset=9).act(), "all")

        @gs.Graph.register(opsets=[9, 10])
        def act(self):  # noqa: F811
            return "nine"

        self.assertEqual([gs.Graph(opset=9).act(), gs.Graph(opset=11).act()], ["nine", "all"])
        self.assertIn("[W]", self.said.getvalue())

    def test_a_name_that_nobody_has(self):
        @gs.Graph.register(opsets=[13])
        def act(self):
            return None

        with self.assertRaises(AttributeError):
            gs.Graph(opset=9).act()
        self.assertRegex(self.said.getvalue(), r"\[E\].*'act'.*\[13\]")

    def test_attributes_of_graphs_cannot_be_replaced(self):
        @gs.Graph.register()
        def cleanup(self):
            return None

        self.assertIn("[W]", self.said.getvalue())
        graph = gs.Graph()
        self.assertIs(graph.cleanup(), graph)


class Functions(Case):
    def setUp(self):
        super().setUp()
        self.function = gs.Function(
            "F", inputs=[variable("i")], outputs=[gs.Variable("o", np.int8, (4,))], attrs={"k": None}
        )
        self.graph = gs.Graph(functions=[self.function])

    def test_outputs_are_made_after_the_functions_own(self):
        [out] = self.graph.F(inputs=["a"], attrs={"k": 1})
        self.assertEqual((out.name, out.dtype, out.shape), ("o_1", np.int8, (4,)))
        self.assertEqual((self.graph.nodes[0].op, self.graph.nodes[0].domain), ("F", "onnx_graphsurgeon"))
        given = variable("given")
        self.graph.F(inputs=["a"], outputs=[given])
        self.assertEqual(given.shape, (2, 3))
        self.assertEqual(self.said.getvalue(), "")

    def test_calls_that_do_not_fit_are_warnings(self):
        self.graph.F(inputs=["a", "b"], outputs=["c", "d"], attrs={})
        self.assertEqual(self.said.getvalue().count("[W]"), 3)

    def test_one_list_for_all_graphs(self):
        inner = gs.Graph(functions=[gs.Function("G")])
        outer = gs.Graph([gs.Node("If", attrs={"g": inner})], functions=[self.function])
        self.assertEqual(names(outer.functions), ["F", "G"])
        self.assertIs(inner.functions, outer.functions)
        self.assertIs(self.function.functions, outer.functions)
        outer.functions = [gs.Function("H")]
        self.assertEqual(names(inner.functions), ["H"])

    def test_copies_share_no_defaults(self):
        self.function.attrs["list"] = [1]
        copied = self.function.copy()
        copied.attrs["list"].append(2)
        self.assertEqual(self.function.attrs["list"], [1])
        self.assertEqual(copied, self.function)
        self.assertNotEqual(gs.Function("F", domain="other"), self.function)


class Log(Case):
    def test_form(self):
        G_LOGGER.severity = G_LOGGER.ULTRA_VERBOSE
        for name in ("ultra_verbose", "verbose", "debug", "info", "warning", "error"):
            getattr(G_LOGGER, name)("text")
        with G_LOGGER.indent():
            G_LOGGER.info(lambda: "one\ntwo")
        lines = ["[UV] text", "[V] text", "[D] text", "[I] text", "[W] text", "[E] text", "[I] \tone", "\ttwo", ""]
        self.assertEqual(self.said.getvalue().split("\n"), lines)

    def test_what_is_hidden_is_not_computed(self):
        G_LOGGER.info("shown")
        G_LOGGER.debug(lambda: 1 / 0)
        with G_LOGGER.suppress():
            G_LOGGER.error("hidden")
        self.assertEqual(self.said.getvalue(), "[I] shown\n")

    def test_once(self):
        for _ in range(2):
            G_LOGGER.info("only one of these", mode=LogMode.ONCE)
        self.assertEqual(self.said.getvalue(), "[I] only one of these\n")

    def test_callbacks_hear_of_the_severity(self):
        heard = []
        G_LOGGER.register_callback(heard.append)
        G_LOGGER.severity = G_LOGGER.DEBUG
        G_LOGGER.logger_callbacks.pop()
        self.assertEqual(heard, [G_LOGGER.INFO, G_LOGGER.DEBUG])

    def test_critical_raises(self):
        with self.assertRaisesRegex(gs.OnnxGraphSurgeonException, "^no$"):
            G_LOGGER.critical("no")


class Patterns(Case):
    @staticmethod
    def two_in_a_row(check=None):
        pattern = gs.GraphPattern()
        pattern.set_output_tensors([pattern.add("b", "B", check, [pattern.add("a", "A", inputs=[pattern.variable()])])])
        return pattern

    def test_every_match_is_found(self):
        graph = chain("A", "B", "A", "B", "B")
        matches = self.two_in_a_row().match_all(graph)
        self.assertEqual([(m.get("a").name, m.get("b").name) for m in matches], [("n0", "n1"), ("n2", "n3")])
        self.assertEqual((names(matches[1].inputs), names(matches[1].outputs)), (["t1"], ["t3"]))
        self.assertEqual(len(self.two_in_a_row(lambda node: node.name == "n3").match_all(graph)), 1)

    def test_what_is_inside_is_used_inside(self):
        graph = chain("A", "B")
        self.assertEqual(len(self.two_in_a_row().match_all(graph)), 1)
        graph.outputs.append(graph.nodes[0].outputs[0])
        self.assertEqual(self.two_in_a_row().match_all(graph), [])
        graph.outputs.pop()
        graph.nodes.append(gs.Node("C", inputs=[graph.nodes[0].outputs[0]], outputs=[variable("c")]))
        self.assertEqual(self.two_in_a_row().match_all(graph), [])

    def test_the_right_one_of_several_consumers(self):
        x, a, b, c, d, e = (variable(name) for name in "xabcde")
        nodes = [
            gs.Node("A", "a", inputs=[x], outputs=[a]),
            gs.Node("B", "wrong", inputs=[a], outputs=[b]),
            gs.Node("B", "right", inputs=[a], outputs=[c]),
            gs.Node("D", "d", inputs=[b], outputs=[d]),
            gs.Node("C", "c", inputs=[c], outputs=[e]),
        ]
        pattern = gs.GraphPattern()
        first = pattern.add("a", "A", inputs=[pattern.variable()])
        last = pattern.add("c", "C", inputs=[pattern.add("b", "B", inputs=[first])])
        pattern.set_output_tensors([first, last])
        [match] = pattern.match_all(gs.Graph(nodes, [x], [d, e]))
        self.assertEqual(match.get("b").name, "right")

    def test_constants_and_one_tensor_for_one_number(self):
        def search(second_input, bias):
            pattern = gs.GraphPattern()
            variable_id = pattern.variable()
            out = pattern.add("add", "Add", inputs=[variable_id, pattern.constant("bias")])
            pattern.set_output_tensors([pattern.add("mul", "Mul", inputs=[out, variable_id])])
            x, a, y = variable("x"), variable("a"), variable("y")
            nodes = [
                gs.Node("Add", inputs=[x, bias], outputs=[a]),
                gs.Node("Mul", inputs=[a, x if second_input is None else second_input], outputs=[y]),
            ]
            return pattern.match_all(gs.Graph(nodes, [x], [y]))

        [match] = search(None, constant("k", [1.0]))
        self.assertEqual(match.constants["bias"].name, "k")
        self.assertEqual(search(variable("other"), constant("k", [1.0])), [])
        self.assertEqual(search(None, variable("k")), [])

    def test_patterns_in_patterns(self):
        outer = gs.GraphPattern()
        part = self.two_in_a_row()
        first = outer.add("first", part, inputs=[outer.variable()])
        outer.set_output_tensors([outer.add("second", part, inputs=[first])])
        [match] = outer.match_all(chain("A", "B", "A", "B", "C"))
        self.assertEqual((match.get("first").get("a").name, match.get("second").get("b").name), ("n0", "n3"))

    def test_patterns_that_make_no_sense(self):
        with self.assertRaises(AssertionError):
            gs.GraphPattern().match_all(chain("A"))
        pattern = self.two_in_a_row()
        self.assertRaises(ValueError, pattern.add, "a", "A")
        self.assertRaises(ValueError, pattern.add, "c", "C", None, [99])
        self.assertRaises(ValueError, gs.GraphPattern().add, "p", pattern)
        self.assertRaises(KeyError, pattern.match_all(chain("A", "B"))[0].get, "no")
