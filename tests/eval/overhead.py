#!/usr/bin/env python3
"""What `assay eval` adds to 100 ms a sample, and what two workers do in the time of one: overhead.py ASSAY PACKAGE

PACKAGE is the folder of the Python package; ASSAY_RAY names an environment with Ray. Every way evaluates the same 400 samples, with a
metric that sleeps for 50 ms for each of two backends, in files that must be equal to the byte; the overhead is the time of a worker beyond its share of
sleep, without the start, which is measured with 8 samples. The second table is a network that computes, in one process with one thread and in two."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from eval_model import MODEL  # noqa: E402

ASSAY, PACKAGE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SECONDS, FEW, MANY = 0.1, 8, 400
METRIC = f"""
import time
def metric(outputs, golden, labels):
    time.sleep({SECONDS / 2})
    return 1.0
"""
WORDS = ["eval", "model.onnxtxt", "--ref", "--ref", "--threads", "1", "--metric", "max-error", "sqnr", "--metric-script"]
RAY = """
import os, sys
sys.path.insert(0, sys.argv[1])
import assay, assay.cluster, ray
count = int(sys.argv[2])
ray.init(num_cpus=4, logging_level="ERROR", log_to_driver=False)
import time
words = dict(metrics=["max-error", "sqnr"], metric_scripts=[os.path.abspath("metric.py")])
def go(count, name):
    begin = time.monotonic()
    assay.cluster.eval("model.onnxtxt", ["reference", "reference"], f"samples{count}.npz", output=name, **words)
    return time.monotonic() - begin
go(8, "warm.json")
print("SECONDS", go(8, "few.json"), go(count, "out.json"))
"""


def start(*words):
    return subprocess.Popen([ASSAY, *WORDS, os.path.abspath("metric.py"), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(processes):
    for p in processes:
        text, _ = p.communicate()
        if p.returncode != 0:
            sys.exit(text)


def timed(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def one(count):
    finish([start("--data", f"samples{count}.npz", "-o", "out.json")])


def shards(count):
    finish([start("--data", f"samples{count}.npz", "--shard", f"{i}/8", "-o", f"out.json.{i}") for i in range(8)])
    parts = sorted(str(p) for p in pathlib.Path().glob("out.json.*"))
    subprocess.run([ASSAY, "merge", *parts, "-o", "out.json"], check=True, capture_output=True)


def mpi(count):
    subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", ASSAY, *WORDS, os.path.abspath("metric.py"), "--data", f"samples{count}.npz", "-o", "out.json"], check=True, capture_output=True)


def ray(count):
    """Seconds of 8 samples and of all, once the workers run."""
    done = subprocess.run([os.environ["ASSAY_RAY"] + "/bin/python", "-c", RAY, PACKAGE, str(count)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env={**os.environ, "PYTHONPATH": PACKAGE})
    found = [line for line in done.stdout.splitlines() if line.startswith("SECONDS")]
    if not found:
        sys.exit(done.stdout)
    return [float(word) for word in found[0].split()[1:]]


def clean():
    for p in pathlib.Path().glob("out.*"):
        p.unlink()


def throughput():
    subprocess.run([ASSAY, "template", "model", "resnet-18", "-o", "r.onnx"], check=True, capture_output=True)

    def work(words, count):
        children = [subprocess.Popen([ASSAY, "eval", "r.onnx", "--engine", "--onnxrt", "--threads", "1", "--iterations", str(count), "--metric", "sqnr",
                                      "-o", f"t.json{i}", *w], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for i, w in enumerate(words)]
        finish_all = [c.communicate() for c in children]
        assert all(c.returncode == 0 for c in children), finish_all
        for p in pathlib.Path().glob("t.json*"):
            p.unlink()
    alone, two = [[]], [["--shard", "0/2"], ["--shard", "1/2"]]
    rates = {}
    for name, words in (("one process, one thread", alone), ("two processes, one thread each", two)):
        few, many = timed(lambda: work(words, 4)), timed(lambda: work(words, 204))
        rates[name] = 200 / (many - few)
    print("| way | samples a second | times |\n|---|---:|---:|")
    first = None
    for name, rate in rates.items():
        first = first or rate
        print(f"| {name} | {rate:.1f} | {rate / first:.2f} |")


def main():
    import numpy as np
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("model.onnxtxt").write_text(MODEL)
        pathlib.Path("metric.py").write_text(METRIC)
        x = np.random.default_rng(3).standard_normal((MANY, 4)).astype(np.float32)
        for count in (FEW, MANY):
            np.savez(f"samples{count}.npz", x=x[:count])
        ways = {"one process": (one, 1), "8 shards together": (shards, 8)}
        if shutil.which("mpirun"):
            ways["mpirun -n 2"] = (mpi, 2)
        print("| way | workers | seconds | of them start | overhead | bytes |\n|---|---:|---:|---:|---:|---|")
        wanted = None
        if os.environ.get("ASSAY_RAY"):
            ways["Ray, started before"] = (ray, 4)
        for name, (work, workers) in ways.items():
            clean()
            if work is ray:
                few, many = ray(MANY)
            else:
                few = timed(lambda: work(FEW))
                clean()
                many = timed(lambda: work(MANY))
            text = pathlib.Path("out.json").read_bytes()
            wanted = wanted or text
            begin = few - FEW / workers * SECONDS
            share = MANY / workers * SECONDS
            print(f"| {name} | {workers} | {many:.2f} | {begin:.2f} | {100 * ((many - begin) / share - 1):.1f} % | {'equal' if text == wanted else 'DIFFERENT'} |")
        print()
        throughput()
        os.chdir("/")


if __name__ == "__main__":
    main()
