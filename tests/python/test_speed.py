"""Times that are promised. Of the thread or process, since other processes slow a machine down; the least of several counts."""

import os
import tempfile
import time
import unittest

import numpy as np
import small_models as small

import assay
from engine_support import X, built, run_python


def least(work, runs, clock=time.thread_time):
    """The least seconds of several runs, and what the last gave."""
    best = float("inf")
    for _ in range(runs):
        start = clock()
        result = work()
        best = min(best, clock() - start)
    return best, result


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def write_large(path, columns):
    """A model whose weights are 900 MB of zeros, which take no room on the disk."""
    weights = 4 * 225 * columns

    def written(fields):
        # The length of a field that ends with the weights; these are the file's end.
        return small.varint(len(fields) + weights)

    tensor = small.field(1, 225) + small.field(1, columns) + small.field(2, 1) + small.field(8, "w") + small.varint(9 << 3 | 2) + small.varint(weights)
    graph = small.field(1, small.node("MatMul", ["x", "w"], ["y"])) + small.field(2, "large")
    graph += small.field(11, small.value("x", "float32", (1, 225))) + small.field(12, small.value("y", "float32", (1, columns)))
    graph += small.varint(5 << 3 | 2) + written(tensor) + tensor
    head = small.field(1, 10) + small.field(8, small.field(1, "") + small.field(2, 21)) + small.varint(7 << 3 | 2) + written(graph) + graph
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(len(head) + weights)


class Speed(unittest.TestCase):
    def test_overhead_of_a_run(self):
        context = built(small.identity()).create_context()
        feed = {"x": X}

        def work():
            for _ in range(500):
                context.run(feed)

        best = least(work, 30)[0] / 500
        print(f"Context.run of an identity network: {best * 1e6:.1f} microseconds")
        self.assertLess(best, 15e-6)

    def test_import(self):
        code = (
            "import time; start = time.process_time(); import assay; assay.__version__; assay.build\n"
            "print(time.process_time() - start); import sys; print('numpy' in sys.modules)"
        )
        # Other processes slow it down: the least of several runs counts, of more of them where it must be.
        runs, best = [], float("inf")
        while len(runs) < 5 or (best >= 0.060 and len(runs) < 40):
            runs.append(run_python(code).stdout.split())
            best = min(float(seconds) for seconds, _ in runs)
        print(f"import assay, native module and all: {best * 1e3:.0f} ms")
        self.assertEqual({numpy for _, numpy in runs}, {"False"})
        self.assertLess(best, 0.060)

    def test_loading_900_megabytes(self):
        columns = 1_000_000
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "large.onnx")
            write_large(path, columns)
            self.assertGreater(os.path.getsize(path), 900_000_000)
            before = resident()
            best, model = least(lambda: assay.load(path), 5, time.process_time)
            grown = resident() - before
            self.assertEqual(model.initializers["w"].shape, (225, columns))
        print(f"assay.load of 900 MB: {best * 1e3:.1f} ms, {grown / 1e6:.1f} MB more in memory")
        self.assertLess(best, 0.030)
        self.assertLess(grown, 16e6, "the weights are not copied")

    def test_feeds_of_ones_own(self):
        size, count = 1 << 24, 16  # 64 MB each
        data = small.model(
            [small.node("Gather", ["x", "i"], ["y"])], [("x", "float32", (size,))], [("y", "float32", (1,))],
            [small.initializer("i", np.array([size - 1], np.int64))],
        )  # fmt: skip
        x = np.arange(size, dtype=np.float32)
        seen = []

        class Mine:
            name = "mine"

            def infer(self, feed):
                seen.append(feed["x"][-1])
                return {"y": feed["x"][-1:]}

        def work():
            return assay.compare(data, ["engine", Mine()], data=({"x": x} for _ in range(count)))

        best, compared = least(work, 3, time.process_time)
        rate = count * x.nbytes / best
        print(f"feeds of one's own: {rate / 1e9:.1f} GB/s")
        self.assertEqual(seen, [size - 1] * len(seen))
        self.assertTrue(compared)
        self.assertGreater(rate, 1e9)


if __name__ == "__main__":
    unittest.main()
