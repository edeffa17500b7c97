"""Loops and conditionals, against NumPy."""

import numpy as np
from support import NetworkTest, constant, evaluate, new_network, numbers, recorded, trt

E = trt.ElementWiseOperation


class Loops(NetworkTest):
    def test_power(self):
        x, times = numbers(2, 3), np.array(3, np.int32)

        def make(network, t, n):
            loop = network.add_loop()
            loop.add_trip_limit(n, trt.TripLimit.COUNT)
            value = loop.add_recurrence(t)
            value.set_input(1, network.add_elementwise(value.get_output(0), t, E.PROD).get_output(0))
            return loop.add_loop_output(value.get_output(0), trt.LoopOutput.LAST_VALUE)

        for n in (0, 1, 3):
            self.compare(make, x**(n + 1), x=x, times=np.array(n, np.int32))
        self.assertEqual(times, 3)

    def test_while(self):
        limit = np.array(4, np.int32)

        def make(network, most):
            loop = network.add_loop()
            i = loop.add_recurrence(constant(network, np.int32(0)))
            total = loop.add_recurrence(constant(network, np.int32(100)))
            going = network.add_elementwise(i.get_output(0), most, E.LESS).get_output(0)
            loop.add_trip_limit(going, trt.TripLimit.WHILE)
            i.set_input(1, network.add_elementwise(i.get_output(0), constant(network, np.int32(1)), E.SUM).get_output(0))
            total.set_input(1, network.add_elementwise(total.get_output(0), i.get_output(0), E.SUM).get_output(0))
            return [loop.add_loop_output(r.get_output(0), trt.LoopOutput.LAST_VALUE).get_output(0) for r in (i, total)]

        for n in (0, 1, 4):
            self.compare(make, [np.int32(n), np.int32(100 + n * (n - 1) // 2)], limit=np.array(n, np.int32))
        self.assertEqual(limit, 4)

    def test_iterators_and_all_values(self):
        x = numbers(4, 3)

        def make(network, t):
            loop = network.add_loop()
            count = constant(network, np.int32(4))
            loop.add_trip_limit(count, trt.TripLimit.COUNT)
            forward, back = loop.add_iterator(t).get_output(0), loop.add_iterator(t, 0, True).get_output(0)
            total = loop.add_recurrence(constant(network, np.zeros(3, np.float32)))
            total.set_input(1, network.add_elementwise(total.get_output(0), forward, E.SUM).get_output(0))
            outputs = []
            for tensor, kind, axis in ((total.get_input(1), trt.LoopOutput.CONCATENATE, 0), (total.get_output(0),
                                                                                             trt.LoopOutput.CONCATENATE, 1),
                                       (back, trt.LoopOutput.CONCATENATE, 0), (forward, trt.LoopOutput.REVERSE, 1)):
                output = loop.add_loop_output(tensor, kind, axis)
                output.set_input(1, count)
                outputs.append(output.get_output(0))
            return outputs + [loop.add_loop_output(back, trt.LoopOutput.LAST_VALUE).get_output(0)]

        sums = np.cumsum(x, 0)
        before = np.concatenate([np.zeros((1, 3), np.float32), sums[:-1]])
        self.compare(make, [sums, before.T, x[::-1], x[::-1].T, x[0]], x=x)

    def test_loop_in_a_loop(self):
        x = numbers(2, 3)

        def make(network, t):
            outer = network.add_loop()
            outer.add_trip_limit(constant(network, np.int32(2)), trt.TripLimit.COUNT)
            row = outer.add_iterator(t).get_output(0)
            total = outer.add_recurrence(constant(network, np.float32(0)))
            inner = network.add_loop()
            inner.add_trip_limit(constant(network, np.int32(3)), trt.TripLimit.COUNT)
            element = inner.add_iterator(row).get_output(0)
            part = inner.add_recurrence(total.get_output(0))
            part.set_input(1, network.add_elementwise(part.get_output(0), element, E.SUM).get_output(0))
            total.set_input(1, inner.add_loop_output(part.get_output(0), trt.LoopOutput.LAST_VALUE).get_output(0))
            return outer.add_loop_output(total.get_output(0), trt.LoopOutput.LAST_VALUE)

        self.compare(make, np.float32(x.sum()), dynamic=False, x=x)

    def test_refusals(self):
        def no_limit(network, t):
            loop = network.add_loop()
            value = loop.add_recurrence(t)
            value.set_input(1, value.get_output(0))
            return loop.add_loop_output(value.get_output(0), trt.LoopOutput.LAST_VALUE)

        def no_next(network, t):
            loop = network.add_loop()
            loop.add_trip_limit(constant(network, np.int32(1)), trt.TripLimit.COUNT)
            return loop.add_loop_output(loop.add_recurrence(t).get_output(0), trt.LoopOutput.LAST_VALUE)

        def circle(network, t):
            first = network.add_elementwise(t, t, E.SUM)
            second = network.add_unary(first.get_output(0), trt.UnaryOperation.NEG)
            first.set_input(1, second.get_output(0))
            return second

        self.refused(no_limit, "trip limit", x=numbers(2))
        self.refused(no_next, "next value", x=numbers(2))
        self.refused(circle, "needs its own output", x=numbers(2))


class Conditionals(NetworkTest):
    def test_branches(self):
        x = numbers(2, 3)

        def make(network, condition, t):
            choice = network.add_if_conditional()
            choice.set_condition(condition)
            entry = choice.add_input(t).get_output(0)
            common = network.add_unary(entry, trt.UnaryOperation.NEG).get_output(0)
            yes = network.add_elementwise(common, common, E.SUM).get_output(0)
            no = network.add_unary(common, trt.UnaryOperation.ABS).get_output(0)
            outputs = [choice.add_output(yes, no), choice.add_output(common, entry)]
            return [network.add_identity(o.get_output(0)).get_output(0) for o in outputs]

        for condition in (True, False):
            wanted = [-2 * x, -x] if condition else [np.abs(x), x]
            self.compare(make, wanted, c=np.array(condition), x=x)

    def test_in_a_loop(self):
        x = numbers(5)

        def make(network, t):  # the sum of what is positive
            loop = network.add_loop()
            loop.add_trip_limit(constant(network, np.int32(5)), trt.TripLimit.COUNT)
            element = loop.add_iterator(t).get_output(0)
            total = loop.add_recurrence(constant(network, np.float32(0)))
            choice = network.add_if_conditional()
            choice.set_condition(network.add_elementwise(element, constant(network, np.float32(0)), E.GREATER).get_output(0))
            a, b = (choice.add_input(v).get_output(0) for v in (total.get_output(0), element))
            total.set_input(1, choice.add_output(network.add_elementwise(a, b, E.SUM).get_output(0), a).get_output(0))
            return loop.add_loop_output(total.get_output(0), trt.LoopOutput.LAST_VALUE)

        self.compare(make, np.float32(x[x > 0].sum()), x=x)

    def test_only_the_branch_that_is_chosen_runs(self):
        network = new_network()
        condition, x = network.add_input("c", trt.bool, ()), network.add_input("x", trt.float32, (-1,))
        choice = network.add_if_conditional()
        choice.set_condition(condition)
        entry = choice.add_input(x).get_output(0)
        reshape = network.add_shuffle(entry)
        reshape.reshape_dims = (7,)  # fails for 3 elements
        network.mark_output(choice.add_output(reshape.get_output(0), entry).get_output(0))
        result = evaluate(recorded.to_onnx(network), {"c": np.array(False), "x": numbers(3)})[0]
        self.assertEqual(result.shape, (3,))

    def test_refusals(self):
        def no_condition(network, t):
            choice = network.add_if_conditional()
            return choice.add_output(t, t)

        self.refused(no_condition, "no condition", x=numbers(2))


class Assertions(NetworkTest):
    def test_a_note_says_that_nothing_is_checked(self):
        network = new_network()
        x = network.add_input("x", trt.bool, ())
        network.add_assertion(x, "must hold")
        network.mark_output(network.add_identity(x).get_output(0))
        self.assertIn("must hold", " ".join(recorded.settings(network)["unused"]))
