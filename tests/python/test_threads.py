"""Engines and threads, interrupts, forks, and the end of the interpreter."""

import threading
import time
import unittest

import four_threads
import numpy as np
import small_models as small
from engine_support import built, run_python

import assay


class Threads(unittest.TestCase):
    def test_contexts_of_one_engine(self):
        engine = built(small.product(8, 64, times=3))
        x = np.random.default_rng(0).standard_normal((8, 64)).astype(np.float32)
        expected = engine(x=x)["y"]
        problems = []

        def work():
            context = engine.create_context()
            for _ in range(50):
                if not np.array_equal(context.run({"x": x})["y"], expected):
                    problems.append("another result")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(problems, [])

    def test_one_context_in_two_threads(self):
        context = built(small.product(64, 256, times=20)).create_context()
        x = np.ones((64, 256), np.float32)
        refused, done = [], []

        def work():
            for _ in range(30):
                try:
                    context.run({"x": x})
                    done.append(1)
                except assay.InvalidArgument as e:
                    refused.append(str(e))

        threads = [threading.Thread(target=work) for _ in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertTrue(done)
        self.assertTrue(refused)
        self.assertIn("another thread", refused[0])
        context.run({"x": x})

    def test_everything_in_four_threads(self):
        failures, count = four_threads.main(2)
        self.assertEqual(failures, [])
        self.assertGreater(count, 0)

    def test_lock_is_free_in_a_run(self):
        context = built(small.product(256, 512, times=30)).create_context()
        x = np.ones((256, 512), np.float32)
        context.run({"x": x})
        counted = 0
        stop = threading.Event()

        def count():
            nonlocal counted
            while not stop.is_set():
                counted += 1
                time.sleep(0)

        thread = threading.Thread(target=count)
        thread.start()
        for _ in range(3):
            context.run({"x": x})
        stop.set()
        thread.join()
        self.assertGreater(counted, 10)

    def test_fork(self):
        code = """
import os, numpy as np, small_models as small, assay
engine = assay.build(small.product(64, 256, times=4))
x = np.ones((64, 256), np.float32)
expected = engine(x=x)["y"]
import warnings
warnings.simplefilter("ignore")  # of threads before a fork, from Python 3.12 on
child = os.fork()
if child == 0:
    same = np.array_equal(engine(x=x)["y"], expected)
    again = assay.build(small.product(64, 256, times=4))
    os._exit(0 if same and np.allclose(again(x=x)["y"], expected, rtol=1e-4) else 1)
_, status = os.waitpid(child, 0)
assert np.array_equal(engine(x=x)["y"], expected)
raise SystemExit(os.waitstatus_to_exitcode(status))
"""
        done = run_python(code)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Interrupts(unittest.TestCase):
    def interrupted(self, before, work, warm_up=True):
        """Seconds from Ctrl-C to KeyboardInterrupt in a process that does `work` over and over. `warm_up`: once before, too."""
        code = f"""
import os, signal, threading, time, numpy as np, small_models as small, assay
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background has not
{before}
def work():
    {work}
{"work()" if warm_up else ""}
threading.Timer(0.4, lambda: (moment.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT))).start()
moment = []
try:
    while True:
        work()
except KeyboardInterrupt:
    print(time.monotonic() - moment[0])
"""
        done = run_python(code)
        self.assertEqual(done.stderr, "")
        return float(done.stdout)

    def test_run(self):
        before = (
            "context = assay.build(small.product(512, 1024, times=40), optimization_level=0).create_context()\n"
            "x = np.ones((512, 1024), np.float32)"
        )
        self.assertLess(self.interrupted(before, "context.run({'x': x})"), 1)

    def test_build(self):
        before = "data = small.product(64, 128, times=20)"
        self.assertLess(self.interrupted(before, "assay.build(data, optimization_level=5)"), 1)

    def test_whole_run(self):
        before = (
            "import tempfile; folder = tempfile.mkdtemp()\n"
            "assay.Model(small.product(64, 128, times=4)).save(folder + '/m.onnx')\n"
            "first = True\n"
            "def go():\n"
            "    global first\n"
            "    assay.run(folder + '/m.onnx', ['engine'], iterations=1 if first else 1000000)\n"
            "    first = False"
        )
        self.assertLess(self.interrupted(before, "go()"), 1)

    LONG = (  # one product after the other, with the same weights
        "w = np.random.default_rng(0).standard_normal((1024, 1024)).astype(np.float32) / np.float32(32)\n"
        "names = ['x', *(f'v{i}' for i in range(59)), 'y']\n"
        "nodes = [small.node('MatMul', [a, 'w'], [b]) for a, b in zip(names, names[1:])]\n"
        "size = (2048, 1024)\n"
        "data = small.model(nodes, [('x', 'float32', size)], [('y', 'float32', size)], [small.initializer('w', w)])\n"
        "x = np.ones(size, np.float32)\n"
    )

    def test_sessions(self):
        for backend in ("reference", "engine", "onnxrt"):
            if next(b for b in assay.backends() if b.name == backend).problem:
                continue
            with self.subTest(backend):
                before = self.LONG + f"session = assay.Session(data, {backend!r}, optimize=False)"
                self.assertLess(self.interrupted(before, "session.infer({'x': x})", warm_up=False), 1)

    def test_verdict(self):
        before = (
            "data = small.product(512, 512, times=60)\n"
            "feed = assay.random_inputs(data)\n"
            "y = assay.Session(data, 'engine').infer(feed)"
        )
        self.assertLess(self.interrupted(before, "assay.judge(data, feed, {'mine': y})", warm_up=False), 1)

    def test_proof(self):
        before = "model = assay.Model(small.product(64, 256, times=20))"
        work = "model.simplify(prove=True, trials=100000, seconds=600)"
        self.assertLess(self.interrupted(before, work, warm_up=False), 1)

    def test_verdict_of_a_handler_that_goes_on(self):
        code = """
import os, signal, threading, small_models as small, assay
data = small.product(64, 256, times=20)
feed = assay.random_inputs(data)
y = assay.Session(data, "engine").infer(feed)
seen = []
signal.signal(signal.SIGINT, lambda *args: seen.append(1))
threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
while not seen:
    assert assay.judge(data, feed, {"mine": y})
assert assay.judge(data, feed, {"mine": y})
"""
        self.assertEqual(run_python(code).stderr, "")

    def test_handler_that_goes_on(self):
        code = """
import os, signal, threading, numpy as np, small_models as small, assay
context = assay.build(small.product(512, 1024, times=40), optimization_level=0).create_context()
x = np.ones((512, 1024), np.float32)
expected = context.run({"x": x})["y"]
seen = []
signal.signal(signal.SIGINT, lambda *args: seen.append(1))
threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
while not seen:
    assert np.array_equal(context.run({"x": x})["y"], expected)
assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
"""
        self.assertEqual(run_python(code).stderr, "")

    def test_cancel_from_another_thread(self):
        context = built(small.product(512, 1024, times=60)).create_context()
        x = np.ones((512, 1024), np.float32)
        with self.assertRaises(assay.Cancelled):
            for _ in range(200):
                threading.Timer(0.01, context.cancel).start()
                context.run({"x": x})
        time.sleep(0.1)
        context.run({"x": x})


class Shutdown(unittest.TestCase):
    def test_with_work_going_on(self):
        code = """
import threading, numpy as np, small_models as small, assay
engine = assay.build(small.product(256, 512, times=20), optimization_level=0)
context = engine.create_context()
x, y = np.ones((256, 512), np.float32), assay.zeros((256, 512))
context.bind("x", x)
context.bind("y", y)
stream = assay.Stream()
for _ in range(20):
    stream.enqueue(context)
other = engine.create_context()
def forever():
    while True:
        other.run({"x": x})
threading.Thread(target=forever, daemon=True).start()
"""
        done = run_python(code)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
