#!/usr/bin/env python3
"""`assay.cluster` on a local Ray cluster of four workers: cluster_test.py ASSAY PACKAGE

PACKAGE is the folder that holds the Python package. ASSAY_RAY names the Python environment that has Ray, NumPy and what the
package needs; without it nothing is tested."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

ASSAY, PACKAGE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SAMPLES = 120
problems = 0

# What kills the process that asks: the worker. A sample of a certain value does so whenever it is met.
METRICS = """
import os, signal, time
def slow(outputs, golden, labels):
    time.sleep(0.02)
    return float(outputs["y"].sum())
def precision(outputs, golden, labels):
    scores = outputs["y"].ravel()
    return [scores.max(), scores.argmax() == labels[0]]
def average(samples):
    import numpy as np
    scores, hits = np.array(samples).T
    hits = hits[np.argsort(-scores, kind="stable")]
    return (np.cumsum(hits) / np.arange(1, len(hits) + 1) * hits).sum() / hits.sum()
precision.over_set = average
def poison(outputs, golden, labels):
    if labels[0] == 2:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(10)
    return 1.0
"""


def expect(condition, what, shown=""):
    global problems
    if not condition:
        problems += 1
        print(f"FAILED: {what}\n{shown}", flush=True)


def prepare():
    import numpy as np

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from eval_model import MODEL

    with open("model.onnxtxt", "w") as file:
        file.write(MODEL)
    with open("metrics.py", "w") as file:
        file.write(METRICS)
    random = np.random.default_rng(3)
    x, labels = random.standard_normal((SAMPLES, 4)).astype(np.float32), random.integers(0, 2, SAMPLES)
    np.savez("samples.npz", x=x, labels=labels)
    labels[77] = 2
    np.savez("poisoned.npz", x=x, labels=labels)
    os.makedirs("folder")
    for i in range(SAMPLES):
        np.savez(f"folder/{i:04}.npz", x=x[i], labels=labels[i])


def kill_workers(is_done, killed):
    """Three of them, while they work."""
    while len(killed) < 3 and not is_done.wait(0.4):
        found = subprocess.run(["pgrep", "-f", "ray::_evaluate_part"], stdout=subprocess.PIPE, text=True).stdout.split()
        for pid in found[:1]:
            try:
                os.kill(int(pid), signal.SIGKILL)
                killed.append(pid)
            except ProcessLookupError:
                pass


def iterables(assay, backends):
    """Samples that come from the driver: the bytes of one process, in bounded number under way, with kills and a resumption."""
    import numpy as np

    words = dict(metrics=["top1", "sqnr", "max-error"], judge=2)
    data = np.load("poisoned.npz")
    taken = []

    def samples(label_77=1):
        for i, (x, label) in enumerate(zip(data["x"], data["labels"])):
            taken.append(i)
            yield {"x": x[None]}, label_77 if i == 77 else label

    whole = assay.eval("model.onnxtxt", backends, samples(), **words, threads=1)
    for chunk in (7, None):
        found = assay.cluster.eval("model.onnxtxt", backends, samples(), **words, chunk=chunk)
        expect(found.text == whole.text, f"an iterable in chunks of {chunk}: other bytes")
    taken.clear()
    ahead = []
    assay.cluster.eval("model.onnxtxt", backends, samples(), **words, chunk=2, in_flight=3,
                       progress=lambda done, all: ahead.append(len(taken) - done))
    expect(max(ahead) <= 2 * 3 + 1, f"{max(ahead)} samples were taken ahead")

    poisoned = {**words, "judge": 0, "metric_scripts": [os.path.abspath("metrics.py") + ":poison"]}
    found = assay.cluster.eval("model.onnxtxt", backends, samples(label_77=2), **poisoned, chunk=16, retries=1)
    expect([sample for sample, _ in found.first_bad_samples] == [77] and found.bad_samples == 1, "the poison of an iterable", found.text)
    expect(found.missing == [] and found.metric("top1", "ref").count == SAMPLES - 1, "its other samples", repr(found))

    def breaks():
        for i, sample in enumerate(samples()):
            if i == 60:
                raise OSError("the disk is gone")
            yield sample

    try:
        assay.cluster.eval("model.onnxtxt", backends, breaks(), **words, chunk=5, in_flight=2, output="broken.json")
        expect(False, "an iterable that breaks")
    except OSError as e:
        expect("the disk is gone" in str(e), "its error", str(e))
    finished = assay.Evaluation.load("broken.json.unfinished").covered
    expect(0 < sum(end - first for first, end in finished) <= 60, "what is finished of it", str(finished))
    found = assay.cluster.eval("model.onnxtxt", backends, samples(), **words, chunk=5, output="broken.json", resume=True)
    expect(found.text == whole.text, "an iterable that was resumed: other bytes")
    for nothing in (iter(()), []):
        try:
            assay.cluster.eval("model.onnxtxt", backends, nothing, **words)
            expect(False, "no samples are accepted")
        except assay.InvalidArgument as e:
            expect("there are no samples" in str(e), "no samples", str(e))


def set_metrics(assay, backends):
    """A metric over the whole set, whose function only the driver has to run in the end."""
    words = dict(labels="labels", metrics=["top1"], metric_scripts=[os.path.abspath("metrics.py") + ":precision"])
    whole = assay.eval("model.onnxtxt", backends, "samples.npz", **words, threads=1)
    value = whole.metric("precision", "engine").value
    expect(value is not None and 0 < value < 1, "a metric of the set", repr(whole))
    for chunk in (7, 50):
        found = assay.cluster.eval("model.onnxtxt", backends, "samples.npz", **words, chunk=chunk)
        expect(found.text == whole.text, f"a metric of the set in chunks of {chunk}: other bytes")
    parts = [assay.eval("model.onnxtxt", backends, "samples.npz", **words, threads=1, shard=f"{i}/3") for i in range(3)]
    expect(assay.merge(parts, metric_scripts=words["metric_scripts"]).text == whole.text, "its shards: other bytes")
    try:
        assay.merge(parts)
        expect(False, "shards merge without the script")
    except assay.InvalidArgument as e:
        expect("measures the whole set" in str(e), "merging without the script", str(e))


def searches(assay, backends):
    """Candidates side by side: results in order, items that kill their worker, exceptions, and a search by the package."""
    taken = []

    def items():
        for i in range(30):
            taken.append(i)
            yield i

    def square(i):
        if i == 17:
            os.kill(os.getpid(), signal.SIGKILL)
        return i * i

    ahead = []
    found = assay.cluster.map(square, items(), chunk=4, in_flight=3, retries=1, progress=lambda done, all: ahead.append(len(taken) - done))
    expected = [i * i if i != 17 else assay.cluster.Killed(2) for i in range(30)]
    expect(found == expected, "results in order, but for one", str(found))
    expect(max(ahead) <= 4 * 3 + 4, f"{max(ahead)} items were taken ahead")
    expect(assay.cluster.map(square, []) == [], "no items")

    def breaks(i):
        raise ValueError(f"item {i}")

    try:
        assay.cluster.map(breaks, [5])
        expect(False, "an exception is lost")
    except ValueError as e:
        expect("item 5" in str(e), "the exception", str(e))

    # How much is to be clipped: scales for one candidate each, and the error that they cause.
    import numpy as np

    random = np.random.default_rng(2)
    feeds = [{"x": random.standard_normal((1, 4)).astype(np.float32)} for _ in range(8)]
    path, rows = os.path.abspath("model.onnxtxt"), {"x": ((1, 4),) * 3}

    def error_with(quantile):
        import assay

        narrow = assay.quantize(path, feeds, algorithm="percentile", quantile=quantile).model
        made, exact = assay.build(narrow, profiles=rows), assay.build(path, profiles=rows)
        return max(float(np.abs(made.run(feed)["y"] - exact.run(feed)["y"]).max()) for feed in feeds)

    alone = [error_with(quantile) for quantile in (0.5, 0.8, 1.0)]
    expect(assay.cluster.map(error_with, (0.5, 0.8, 1.0)) == alone and alone[0] > alone[2] > 0, "a search", str(alone))


CHAIN = """<ir_version: 8, opset_import: ["" : 17]>
chain (float[1,4] x) => (float[1,4] y) {
  a = Neg (x) b = Relu (a) c = Abs (b) d = Exp (c) e = Tanh (d) f = Sin (e) g = Cos (f) y = Sigmoid (g)
}
"""


def reductions(assay, _backends):
    """Candidates of a reduction side by side: the result of one process, also where a candidate kills its worker."""

    def fails(model):
        ops = {node["op_type"] for node in model.nodes}
        if "Abs" not in ops:
            return ""
        return "both" if "Sin" in ops else "one"

    def kills(model):
        if fails(model) == "both":
            os.kill(os.getpid(), signal.SIGKILL)
        return fails(model)

    open("chain.onnxtxt", "w").write(CHAIN)
    alone = assay.debug.reduce("chain.onnxtxt", fails)
    for _ in range(5):  # searches that give checks up while they end
        assay.debug.reduce("chain.onnxtxt", assay.cluster.checking(kills, retries=0), jobs=4)
    for found, failure in ((assay.debug.reduce("chain.onnxtxt", assay.cluster.checking(fails), jobs=4), "both"),
                           (assay.debug.reduce("chain.onnxtxt", assay.cluster.checking(kills, retries=0), jobs=4),
                            "it kills the worker that checks it")):
        expect(found.model.to_bytes() == alone.model.to_bytes(), f"{failure}: another reduction", f"{found}\n{alone}")
        expect(found.failure == failure and found.nodes == 8, "how it fails", str(found))

    def breaks(model):
        raise KeyError("a check that is wrong")

    try:
        assay.debug.reduce("chain.onnxtxt", assay.cluster.checking(breaks), jobs=4)
        expect(False, "an exception is lost")
    except KeyError as e:
        expect("a check that is wrong" in str(e), "the exception of a check", str(e))


ROWS = """
import numpy as np
def load_data():
    import pyarrow.parquet
    for batch in pyarrow.parquet.ParquetFile("data.parquet").iter_batches(batch_size=17):
        for row in batch.to_pylist():
            yield {"x": np.array([row["x"]], np.float32), "labels": np.array([row["label"]])}
def arrow():
    import pyarrow
    with pyarrow.memory_map("data.arrow") as source:
        for batch in pyarrow.ipc.open_file(source).read_all().to_batches(max_chunksize=17):
            for row in batch.to_pylist():
                yield {"x": np.array([row["x"]], np.float32), "labels": np.array([row["label"]])}
"""


def columns(assay, backends):
    """Parquet and Arrow, by a script in the program and by an iterable in Python."""
    import numpy as np
    import pyarrow
    import pyarrow.parquet

    data = np.load("samples.npz")
    table = pyarrow.table({"x": list(data["x"]), "label": data["labels"]})
    pyarrow.parquet.write_table(table, "data.parquet", row_group_size=50)
    with pyarrow.OSFile("data.arrow", "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with open("rows.py", "w") as file:
        file.write(ROWS)
    whole = assay.eval("model.onnxtxt", backends, "samples.npz", labels="labels", metrics=["top1", "sqnr"], output="npz.json")
    for script in ("rows.py", "rows.py:arrow"):
        found = [f"{i}.json" for i in range(3)]
        for i, path in enumerate(found):
            done = subprocess.run([ASSAY, "eval", "model.onnxtxt", "--ref", "--engine", "--data", script, "--labels", "labels", "--metric",
                                   "top1", "sqnr", "--shard", f"{i}/3", "-o", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            expect(done.returncode == 0, f"{script}: exit status {done.returncode}", done.stdout)
        merged = assay.merge(found)
        expect(merged.samples == SAMPLES and merged.metrics == whole.metrics, f"{script}: other figures", f"{merged}\n{whole}")

    def rows():
        for batch in pyarrow.parquet.ParquetFile("data.parquet").iter_batches(batch_size=31):
            for x, label in zip(batch.column("x"), batch.column("label")):
                yield {"x": np.array([x.as_py()], np.float32)}, label.as_py()

    for evaluate in (assay.eval, assay.cluster.eval):
        found = evaluate("model.onnxtxt", backends, rows(), metrics=["top1", "sqnr"])
        expect(found.metrics == whole.metrics, f"an iterable over Parquet, {evaluate.__module__}: other figures", repr(found))


def calibrations(assay, _backends):
    import numpy as np

    random = np.random.default_rng(9)
    feeds = [{"x": (random.standard_normal((1, 4)) * 2.0 ** (i % 5)).astype(np.float32)} for i in range(50)]
    for algorithm in ("entropy2", "minmax"):
        assay.quantize("model.onnxtxt", feeds, algorithm=algorithm, cache=f"{algorithm}.cache")
        whole = open(f"{algorithm}.cache", "rb").read()
        for chunk in (3, 16, 100):
            found = assay.cluster.calibrate("model.onnxtxt", iter(feeds), algorithm=algorithm, chunk=chunk, output="found.cache")
            expect(found == whole, f"{algorithm} in chunks of {chunk}: another cache", f"{found}\n{whole}")
            expect(open("found.cache", "rb").read() == whole, "its file")
    for data, part in (([], "no data to calibrate with"), ([{"x": np.full((1, 4), np.nan, np.float32)}], "NaN"), ([{"x": np.zeros((1, 5), np.float32)}], "x")):
        try:
            assay.cluster.calibrate("model.onnxtxt", data)
            expect(False, f"{data} are accepted")
        except assay.Error as e:
            expect(part in str(e), f"calibrating on {data}", str(e))


def main():
    import ray

    import assay
    import assay.cluster

    ray.init(num_cpus=4, log_to_driver=False, include_dashboard=False, logging_level="error")
    backends = ["reference", "engine"]
    words = dict(labels="labels", metrics=["top1", "sqnr", "max-error"], judge=2)
    whole = assay.eval("model.onnxtxt", backends, "samples.npz", **words, threads=1)
    for chunk in (7, None):
        found = assay.cluster.eval("model.onnxtxt", backends, "samples.npz", **words, chunk=chunk)
        expect(found.text == whole.text, f"chunks of {chunk}: other bytes")
    found = assay.cluster.eval("model.onnxtxt", backends, os.path.abspath("folder"), **words, shared=True)
    expect(found.samples == SAMPLES and found.metric("top1", "ref").count == SAMPLES, "a folder that all see")

    # Workers that are killed from outside: parts are repeated.
    slowly = {**words, "judge": 0, "metric_scripts": [os.path.abspath("metrics.py") + ":slow"]}
    whole = assay.eval("model.onnxtxt", backends, "samples.npz", **slowly, threads=1)
    is_done, killed = threading.Event(), []
    killer = threading.Thread(target=kill_workers, args=(is_done, killed))
    killer.start()
    try:
        found = assay.cluster.eval("model.onnxtxt", backends, "samples.npz", **slowly, chunk=6, retries=30)
    finally:
        is_done.set()
        killer.join()
    expect(len(killed) > 0, "no worker was killed")
    expect(found.text == whole.text, f"with {len(killed)} workers killed: other bytes")

    # A sample that kills its worker is found, left out and counted; all others are evaluated.
    poisoned = {**words, "judge": 0, "metric_scripts": [os.path.abspath("metrics.py") + ":poison"]}
    found = assay.cluster.eval("model.onnxtxt", backends, "poisoned.npz", **poisoned, chunk=16, retries=1)
    expect([sample for sample, _ in found.first_bad_samples] == [77] and found.bad_samples == 1, "the poison", found.text)
    expect("kills the worker" in found.first_bad_samples[0][1], "its reason", found.first_bad_samples[0][1])
    expect(found.missing == [] and found.metric("top1", "ref").count == SAMPLES - 1, "the other samples", repr(found))

    # A driver that ends: what is finished is saved, and the next goes on.
    class Stop(Exception):
        pass

    def stop(done, samples):
        if done > samples // 2:
            raise Stop

    try:
        assay.cluster.eval("model.onnxtxt", backends, "samples.npz", **words, chunk=5, output="stopped.json", progress=stop)
        expect(False, "it was not stopped")
    except Stop:
        pass
    unfinished = assay.Evaluation.load("stopped.json.unfinished")
    expect(0 < sum(end - first for first, end in unfinished.covered) < SAMPLES, "what is finished", repr(unfinished))
    try:
        assay.cluster.eval("model.onnxtxt", backends, "samples.npz", **words, output="stopped.json")
        expect(False, "what is unfinished is replaced")
    except assay.InvalidArgument as e:
        expect("resume=True" in str(e), "the remedy", str(e))
    calls = []
    found = assay.cluster.eval("model.onnxtxt", backends, "samples.npz", **words, chunk=5, output="stopped.json", resume=True,
                               progress=lambda done, samples: calls.append(done))
    whole = assay.eval("model.onnxtxt", backends, "samples.npz", **words, threads=1)
    expect(found.text == whole.text and len(calls) < SAMPLES // 5, f"resumed: other bytes, or all again ({len(calls)} tasks)")
    expect(open("stopped.json").read() == whole.text and not os.path.exists("stopped.json.unfinished"), "its file")

    # Errors of the evaluation are raised as on one machine.
    for words, part in (({"labels": "none"}, "no labels 'none'"), ({"metrics": ["snr"]}, "'snr' is no metric")):
        try:
            assay.cluster.eval("model.onnxtxt", backends, "samples.npz", **words)
            expect(False, f"{words} are accepted")
        except assay.InvalidArgument as e:
            expect(part in str(e), f"{words}: the error", str(e))
    for part in (iterables, set_metrics, calibrations, columns, searches, reductions):
        part(assay, backends)
    ray.shutdown()
    return 1 if problems else 0


if __name__ == "__main__":
    environment = os.environ.get("ASSAY_RAY")
    if not environment:
        print("skipped: ASSAY_RAY names no Python environment with Ray")
        sys.exit(77)
    python = os.path.join(environment, "bin", "python")
    if os.path.realpath(sys.prefix) != os.path.realpath(environment):
        os.execve(python, [python, *sys.argv], {**os.environ, "PYTHONPATH": PACKAGE, "ASSAY_PYTHON": python})
    start = time.time()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        status = main()
        os.chdir("/")
    print(f"{time.time() - start:.0f} s")
    sys.exit(status)
