"""Four threads of Python in the native module at once: contexts of one engine, models that are shared, builds, sessions, streams,
comparisons, searches, quantized models, tokens. Each checks what it gets.

    four_threads.py [SECONDS]

By hand under the thread sanitizer, as CONTRIBUTING.md says; test_threads runs it for a moment.
"""

import random
import sys
import threading
import time

import numpy as np
import small_models as small

import assay


class Shared:
    """What all threads work on."""

    def __init__(self, seed):
        data = small.model(
            [small.node("MatMul", ["x", "w"], ["p"]), small.node("Relu", ["p"], ["r"]), small.node("Add", ["r", "x"], ["y"])],
            [("x", "float32", ("n", 16))], [("y", "float32", ("n", 16))],
            [small.initializer("w", np.random.default_rng(seed).standard_normal((16, 16)).astype(np.float32))],
        )  # fmt: skip
        self.model = assay.Model(data)
        self.language = small.model(
            [small.node("Gather", ["t", "input_ids"], ["logits"])], [("input_ids", "int64", (1, "n"))],
            [("logits", "float32", (1, "n", 16))], [small.initializer("t", np.eye(16, dtype=np.float32)[::-1])],
        )  # fmt: skip
        self.runtime = assay.Runtime(threads=1 + seed % 2)
        self.engine = self.build()
        self.feeds = {n: {"x": np.random.default_rng(n).standard_normal((n, 16)).astype(np.float32)} for n in range(1, 10)}
        self.wanted = {n: assay.evaluate(self.model, feed, ["y"])[0] for n, feed in self.feeds.items()}

    def build(self):
        return self.runtime.build(self.model, optimization_level=0, profiles={"x": ((1, 16), (2, 16), (9, 16))})

    def check(self, n, y):
        np.testing.assert_allclose(y, self.wanted[n], rtol=1e-4, atol=1e-5)


def contexts(shared, dice):
    """Shapes that one context asks for while others run them, so that plans are made by whoever comes first."""
    context, asked = shared.engine.create_context(), shared.engine.create_context()
    for _ in range(20):
        n = dice.randint(1, 9)
        asked.set_input_shape("x", (n, 16))
        assert asked.shape("y") == (n, 16)
        shared.check(n, context.run(shared.feeds[n])["y"])


def models(shared, dice):
    part = shared.model.extract(["x"], ["r"])
    assert len(part.nodes) == 2
    assert shared.model.simplify().outputs[0].name == "y"
    shared.model.stats()
    assay.Model(shared.model.to_bytes()).infer_shapes()
    try:
        shared.model.extract(["x"], ["no such tensor"])
    except assay.Error as error:
        assert "no such tensor" in str(error)
    else:
        raise AssertionError("a tensor that is not there was found")


def builds(shared, dice):
    engine = shared.build()
    n = dice.randint(1, 9)
    shared.check(n, engine(**shared.feeds[n])["y"])
    n = dice.randint(1, 9)
    shared.check(n, shared.runtime.deserialize(engine.to_bytes())(**shared.feeds[n])["y"])


def sessions(shared, dice):
    n = dice.randint(1, 9)
    shared.check(n, assay.Session(shared.model, "reference").infer(shared.feeds[n])["y"])
    assert assay.compare(shared.model, ["engine", "reference"], data=[shared.feeds[n]])


def streams(shared, dice):
    n = dice.randint(1, 9)
    y = assay.zeros((n, 16))
    context = shared.engine.create_context()
    context.bind("x", shared.feeds[n]["x"])
    context.bind("y", y)
    stream, done = assay.Stream(), []
    stream.enqueue(context)
    stream.enqueue(lambda: done.append(n))
    stream.synchronize()
    assert done == [n]
    shared.check(n, y)


def searches(shared, dice):
    n = dice.randint(1, 9)
    feed = [shared.feeds[n]]
    assert not assay.debug.nan(shared.model, "engine", feed)
    assert not assay.debug.diverge(shared.model, data=feed)
    assert assay.debug.range(shared.model, data=feed)["x"].elements == 16 * n
    assert assay.debug.reduce(shared.model, lambda m: any(node["op_type"] == "Relu" for node in m.nodes)).model.node_count == 1


def quantized(shared, dice):
    feeds = [shared.feeds[n] for n in (2, 9)]
    profiles = {"x": ((1, 16), (2, 16), (9, 16))}
    made = assay.quantize(shared.model, feeds, runtime=shared.runtime, profiles=profiles, optimization_level=0)
    y = assay.Session(made.model, "reference").infer(feeds[1])["y"]
    np.testing.assert_allclose(y, shared.wanted[9], atol=0.2)
    assert assay.quantize_weights(shared.model, block=16).quantized == 1


def tokens(shared, dice):
    made = assay.generate(shared.language, [dice.randint(0, 15)], ["engine", "reference"], max_tokens=3, threads=1, on_token=lambda *_: None)
    assert made and len(made.tokens[0]) == 3


WORK = [contexts, models, builds, sessions, streams, searches, quantized, tokens]


def main(seconds):
    """The exceptions of all threads, and how many pieces of work they did."""
    end, seed, failures, count = time.monotonic() + seconds, 0, [], 0
    while time.monotonic() < end and not failures:
        shared, done = Shared(seed), []

        def work(number, shared=shared, done=done):
            dice = random.Random(4 * seed + number)
            try:
                for _ in range(6):
                    dice.choice(WORK)(shared, dice)
                    done.append(number)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seed, count = seed + 1, count + len(done)
    return failures, count


if __name__ == "__main__":
    failures, count = main(float(sys.argv[1]) if len(sys.argv) > 1 else 10)
    print(f"{count} pieces of work in four threads, {len(failures)} failed")
    for failure in failures:
        raise failure
