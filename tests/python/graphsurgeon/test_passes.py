"""cleanup, toposort, copy, tensors."""

import numpy as np
from support import Case, chain, constant, gs, names, variable


def branch(name, nodes, outputs):
    return gs.Graph(nodes, outputs=outputs, name=name)


class Cleanup(Case):
    def test_what_reaches_no_output_goes(self):
        graph = chain("A", "B", "C")
        dead = gs.Node("Dead", inputs=[graph.inputs[0], constant("k", [1])], outputs=[variable("d")])
        graph.nodes.insert(1, dead)
        nodes = graph.nodes
        self.assertIs(graph.cleanup(), graph)
        self.assertEqual([node.op for node in graph.nodes], ["A", "B", "C"])
        self.assertIs(graph.nodes, nodes)
        self.assertEqual((dead.inputs, dead.outputs), ([], []))
        self.assertEqual(len(graph.inputs[0].outputs), 1)

    def test_order_stays(self):
        graph = chain("A", "B", "C")
        graph.nodes.reverse()
        self.assertEqual([node.op for node in graph.cleanup().nodes], ["C", "B", "A"])

    def test_an_input_cuts_off_what_made_it(self):
        graph = chain("A", "B", "C")
        graph.inputs = [graph.nodes[1].inputs[0]]
        self.assertEqual([node.op for node in graph.cleanup().nodes], ["B", "C"])
        self.assertNotIn("x", graph.tensors())

    def test_unused_inputs_and_outputs(self):
        graph = chain("A", "B")
        spare = variable("spare")
        graph.inputs.append(spare)
        graph.nodes[0].outputs.append(variable("unused"))
        graph.nodes[0].outputs.append(gs.Variable.empty())
        graph.cleanup()
        self.assertEqual((len(graph.inputs), names(graph.nodes[0].outputs)), (2, ["t0", "unused", ""]))
        graph.cleanup(remove_unused_node_outputs=True, remove_unused_graph_inputs=True)
        self.assertEqual((names(graph.inputs), names(graph.nodes[0].outputs)), (["x"], ["t0", ""]))

    def test_outputs_that_only_a_subgraph_uses_stay(self):
        x, a, b, y, z = (variable(name) for name in "xabyz")
        inner = branch("inner", [gs.Node("Relu", inputs=[b], outputs=[z])], [z])
        outer = branch("outer", [gs.Node("If", inputs=[a], outputs=[y], attrs={"then_branch": inner})], [y])
        last = variable("last")
        nodes = [gs.Node("Two", inputs=[x], outputs=[a, b]), gs.Node("If", inputs=[x], outputs=[last], attrs={"g": outer})]
        graph = gs.Graph(nodes, [x], [last])
        graph.cleanup(remove_unused_node_outputs=True, remove_unused_graph_inputs=True)
        self.assertEqual([node.op for node in graph.nodes], ["Two", "If"])
        self.assertEqual(names(graph.nodes[0].outputs), ["a", "b"])

    def test_subgraphs_are_cleaned_unless_asked_not_to(self):
        for recurse in (False, True):
            x, y, z = variable("x"), variable("y"), variable("z")
            inner = branch("g", [gs.Node("A", inputs=[x], outputs=[y]), gs.Node("B", inputs=[x], outputs=[z])], [z])
            result = variable("r")
            graph = gs.Graph([gs.Node("If", inputs=[x], outputs=[result], attrs={"g": inner})], [x], [result])
            graph.cleanup(recurse_subgraphs=recurse)
            self.assertEqual(len(inner.nodes), 1 if recurse else 2)

    def test_a_producer_that_is_missing_among_the_nodes(self):
        graph = chain("A", "B")
        gs.Node("Stray", outputs=[graph.nodes[0].outputs[0]])
        with self.assertRaisesRegex(gs.OnnxGraphSurgeonException, "not among the graph's nodes"):
            graph.cleanup()
        with self.assertRaises(gs.OnnxGraphSurgeonException):
            graph.toposort()

    def test_an_input_may_be_an_output(self):
        graph = chain("A")
        graph.outputs.append(graph.inputs[0])
        self.assertEqual(names(graph.cleanup().outputs), ["t0", "x"])
        self.assertEqual(len(graph.nodes), 1)


class Sorting(Case):
    def test_levels_and_ties(self):
        a, b, d, e = (variable(name) for name in "abde")
        nodes = [
            gs.Node("C", inputs=[d], outputs=[e]),
            gs.Node("E", inputs=[a], outputs=[b]),
            gs.Node("D", inputs=[a], outputs=[d]),
        ]
        graph = gs.Graph(nodes, [a], [b, e])
        self.assertEqual([node.op for node in graph.toposort().nodes], ["D", "E", "C"])

    def test_a_long_chain(self):
        graph = chain(*["Relu"] * 5000)
        graph.nodes.reverse()
        graph.toposort()
        self.assertEqual(names(graph.nodes), ["n{:}".format(i) for i in range(5000)])

    def test_subgraphs_make_their_node_wait(self):
        x, a, y, z = (variable(name) for name in "xayz")
        inner = branch("g", [gs.Node("Relu", inputs=[a], outputs=[z])], [z])
        nodes = [gs.Node("If", inputs=[x], outputs=[y], attrs={"g": inner}), gs.Node("A", inputs=[x], outputs=[a])]
        self.assertEqual([n.op for n in gs.Graph(nodes, [x], [y]).toposort().nodes], ["A", "If"])

    def test_cycles(self):
        a, b = variable("a"), variable("b")
        nodes = [gs.Node("A", "first", inputs=[a], outputs=[b]), gs.Node("B", "second", inputs=[b], outputs=[a])]
        with self.assertRaisesRegex(gs.OnnxGraphSurgeonException, "cycle.*'first' .*'second'"):
            gs.Graph(nodes).toposort()
        loop = variable("loop")
        with self.assertRaisesRegex(gs.OnnxGraphSurgeonException, "cycle"):
            gs.Graph([gs.Node("A", inputs=[loop], outputs=[loop])]).toposort()

    def test_functions_behind_those_they_call(self):
        def calls(name, *others):
            nodes = [gs.Node(other, domain=gs.Function.DEFAULT_DOMAIN) for other in others]
            return gs.Function(name, nodes=nodes)

        graph = gs.Graph(functions=[calls("c", "b"), calls("b", "a"), calls("d", "c", "a"), calls("a")])
        self.assertEqual(names(graph.toposort().functions), ["a", "b", "c", "d"])
        graph = gs.Graph(functions=[calls("a", "b"), calls("b", "a")])
        with self.assertRaisesRegex(gs.OnnxGraphSurgeonException, "a -> b -> a"):
            graph.toposort()
        self.assertIs(graph.toposort(mode="nodes"), graph)

    def test_a_mode_that_there_is_not(self):
        with self.assertRaisesRegex(gs.OnnxGraphSurgeonException, "'all'"):
            chain("A").toposort(mode="all")


class Copying(Case):
    def test_nothing_but_values_is_shared(self):
        graph = chain("A", "B")
        graph.nodes[0].inputs.append(constant("c", [1.0]))
        graph.nodes[1].attrs["k"] = 1
        copied = graph.copy()
        self.assertEqual(copied, graph)
        self.assertIs(copied.nodes[0].inputs[1]._values, graph.nodes[0].inputs[1]._values)
        copied.nodes[1].attrs["k"] = 2
        copied.outputs.clear()
        copied.cleanup()
        self.assertEqual((len(graph.nodes), graph.nodes[1].attrs["k"], len(graph.outputs)), (2, 1, 1))
        self.assert_consistent(graph)

    def test_copies_of_subgraphs_use_copies_of_what_is_around(self):
        x, a, y, z = (variable(name) for name in "xayz")
        shared = constant("c", [1.0])
        inner = branch("g", [gs.Node("Add", inputs=[a, shared], outputs=[z])], [z])
        nodes = [
            gs.Node("Add", inputs=[x, shared], outputs=[a]),
            gs.Node("If", inputs=[x], outputs=[y], attrs={"g": inner}),
        ]
        copied = gs.Graph(nodes, [x], [y]).copy()
        first, second = copied.nodes
        used = second.attrs["g"].nodes[0].inputs
        self.assertIs(used[0], first.outputs[0])
        self.assertIs(used[1], first.inputs[1])
        self.assertIsNot(used[1], shared)
        self.assertEqual(len(shared.outputs), 2)

    def test_tensors_of_one_name_stay_apart(self):
        first, second = variable("same"), variable("same", (5,))
        copied = gs.Graph([gs.Node("A", inputs=[first]), gs.Node("A", inputs=[second])]).copy()
        self.assertEqual([node.inputs[0].shape for node in copied.nodes], [(2, 3), (5,)])

    def test_types_survive(self):
        sequence = gs.Variable("s", np.float32, None, type="sequence_type")
        self.assertEqual(gs.Graph(inputs=[sequence]).copy().inputs[0].type, "sequence_type")


class Tensors(Case):
    def test_duplicates(self):
        graph = gs.Graph(inputs=[variable("same")], outputs=[variable("same")])
        self.assertIs(graph.tensors()["same"], graph.outputs[0])
        self.assertIn("[W]", self.said.getvalue())
        with self.assertRaisesRegex(gs.OnnxGraphSurgeonException, "'same'"):
            graph.tensors(check_duplicates=True)

    def test_inputs_and_outputs_are_lists_of_their_own(self):
        node = gs.Node("A", inputs=[variable("a")], outputs=[variable("b")])
        graph = gs.Graph([node], node.inputs, node.outputs)
        graph.outputs = node.outputs
        node.outputs.clear()
        self.assertEqual(names(graph.outputs), ["b"])

    def test_ids_of_nodes(self):
        graph = chain("A", "B")
        with graph.node_ids():
            self.assertEqual([node.id for node in graph.nodes], [0, 1])
            ids, tensors = graph._get_used_node_ids()
        self.assertEqual((ids, names(tensors)), ({0, 1}, ["t1", "x", "t0"]))
        self.assertFalse(hasattr(graph.nodes[0], "id"))
