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
    whole = assay.eval("model.onnxtxt", backends, "samples.npz", **slowly)
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
    whole = assay.eval("model.onnxtxt", backends, "samples.npz", **words)
    expect(found.text == whole.text and len(calls) < SAMPLES // 5, f"resumed: other bytes, or all again ({len(calls)} tasks)")
    expect(open("stopped.json").read() == whole.text and not os.path.exists("stopped.json.unfinished"), "its file")

    # Errors of the evaluation are raised as on one machine.
    for words, part in (({"labels": "none"}, "no labels 'none'"), ({"metrics": ["snr"]}, "'snr' is no metric")):
        try:
            assay.cluster.eval("model.onnxtxt", backends, "samples.npz", **words)
            expect(False, f"{words} are accepted")
        except assay.InvalidArgument as e:
            expect(part in str(e), f"{words}: the error", str(e))
    try:
        assay.cluster.eval("model.onnxtxt", backends, iter(()))
        expect(False, "an iterable is accepted")
    except assay.Unsupported:
        pass
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
