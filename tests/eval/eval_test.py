#!/usr/bin/env python3
"""`assay eval` and `assay merge` from end to end: eval_test.py ASSAY [--only NAME]

What one process, shards in any number and order, resumed and killed evaluations write must be the same bytes. With mpirun in
PATH also what it starts."""

import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from eval_model import MODEL  # noqa: E402

ASSAY = os.path.abspath(sys.argv[1])
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
SAMPLES = 150
problems = 0

# The same, but wrong where the first input is above 2.
SCALED = """
import numpy as np
import onnx
W = np.array([0.9, 0.1, -0.3, 0.2, -0.5, 0.8, 0.4, -0.1, 0.3, -0.7, 0.6, 0.5], np.float32).reshape(4, 3)
B = np.array([0.1, -0.2, 0.3], np.float32)
V = np.array([1.5, 0.25, -0.5, 0.125, 2, 0.75, -1, 0.5, 1.25], np.float32).reshape(3, 3)
class Runner:
    def __init__(self, model):
        self.names = [o.name for o in onnx.load(model).graph.output]
    def infer(self, feed):
        x = feed["x"]
        z = x @ W
        s = z + B
        t = np.tanh(s)
        if x[0, 0] > 2:
            t = t * np.float32(1.01)
        made = {"z": z, "s": s, "t": t, "y": t @ V}
        return {name: made[name] for name in self.names}
"""

LOADER = """
import os, time
import numpy as np
data = np.load(os.environ["SAMPLES"])
def load_data():
    for x, label in zip(data["x"], data["labels"]):
        yield {"x": x[None], "labels": np.array([label])}
def slowly():
    for sample in load_data():
        time.sleep(0.01)
        yield sample
def dies():
    for i, sample in enumerate(load_data()):
        if i == 70:
            os._exit(3)
        yield sample
def hangs():
    for i, sample in enumerate(load_data()):
        if i == 70:
            time.sleep(3600)
        yield sample
def restless():
    samples = list(load_data())
    np.random.default_rng(os.getpid()).shuffle(samples)
    yield from samples
def nothing():
    return iter(())
"""

METRICS = """
import numpy as np
def distance(outputs, golden, labels):
    return 0 if golden is None else np.abs(outputs["y"] - golden["y"]).max()
distance.better = "lower"
def text(outputs, golden, labels):
    return "much"
def precision(outputs, golden, labels):
    return [[score, label == labels[0]] for label, score in enumerate(outputs["y"].ravel())]
def mean_average_precision(samples):
    scores = np.array(samples).reshape(len(samples), -1, 2)
    found = []
    for label in range(scores.shape[1]):
        order = np.argsort(-scores[:, label, 0], kind="stable")
        hits = scores[order, label, 1]
        found.append((np.cumsum(hits) / np.arange(1, len(hits) + 1) * hits).sum() / hits.sum())
    return np.mean(found)
precision.over_set = mean_average_precision
def broken(outputs, golden, labels):
    return [1.0]
def nothing(samples):
    raise ValueError("no such set")
broken.over_set = nothing
"""


def run(*words, env=None, expected=0, command="eval"):
    done = subprocess.run([ASSAY, command, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=300, env={**os.environ, **(env or {})})
    expect(done.returncode == expected, f"{command} {' '.join(map(str, words))}: exit status {done.returncode}", done.stdout)
    return done.stdout


def expect(condition, what, shown=""):
    global problems
    if not condition:
        problems += 1
        print(f"FAILED: {what}\n{shown}", flush=True)


def same(path, other, what):
    expect(os.path.exists(path) and os.path.exists(other), f"{what}: there is no file")
    if os.path.exists(path) and os.path.exists(other):
        expect(pathlib.Path(path).read_bytes() == pathlib.Path(other).read_bytes(), f"{what}: other bytes",
               subprocess.run(["diff", path, other], stdout=subprocess.PIPE, text=True).stdout[:2000])


def result(path):
    return json.loads(pathlib.Path(path).read_text())


def rows(path):
    return {(r["metric"], r["backend"]): r for r in result(path)["metrics"]}


BACKENDS = ["model.onnxtxt", "--ref", "--engine"]
BASE = [*BACKENDS, "--data", "samples.npz", "--labels", "labels", "--metric", "top1,top2", "sqnr", "max-error", "agreement",
        "--judge", "2"]


def prepare():
    pathlib.Path("model.onnxtxt").write_text(MODEL)
    pathlib.Path("runner.py").write_text(SCALED)
    pathlib.Path("loader.py").write_text(LOADER)
    pathlib.Path("metrics.py").write_text(METRICS)
    random_numbers = np.random.default_rng(5)
    x = random_numbers.standard_normal((SAMPLES, 4)).astype(np.float32)
    labels = random_numbers.integers(0, 3, SAMPLES)
    np.savez("samples.npz", x=x, labels=labels)
    np.savez_compressed("small.npz", x=x, labels=labels)
    np.save("x.npy", x)
    np.save("labels.npy", labels)
    pathlib.Path("labels.txt").write_text("# a sample a line\n" + "".join(f"{v}\n" for v in labels))
    os.makedirs("folder", exist_ok=True)
    for i in range(SAMPLES):
        np.savez(f"folder/{i:04}.npz", x=x[i], labels=labels[i])
    os.environ["ASSAY_PYTHON"] = sys.executable
    os.environ["SAMPLES"] = os.path.abspath("samples.npz")
    run(*BASE, "-o", "whole.json")


def expected_outputs():
    """What NumPy computes in float64."""
    scope = {}
    exec(SCALED, scope)
    x = np.load("x.npy").astype(np.float64)
    return np.tanh(x @ scope["W"].astype(np.float64) + scope["B"]) @ scope["V"].astype(np.float64)


def test_figures():
    y, labels = expected_outputs(), np.load("labels.npy")
    order = np.argsort(-y, axis=1)
    for k, name in ((1, "top1"), (2, "top2")):
        hits = [label in row[:k] for row, label in zip(order, labels)]
        row = rows("whole.json")[name, "ref"]
        n, p, z = SAMPLES, np.mean(hits), 1.959963984540054
        half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        expect(abs(row["value"] - p) < 1e-12, f"{name}: {row['value']}, not {p}")
        expect(abs(row["low"] - (middle - half)) < 1e-9 and abs(row["high"] - (middle + half)) < 1e-9, f"{name}: the interval")
        misses = [i for i, hit in enumerate(hits) if not hit][:10]
        expect([w["sample"] for w in row["worst"]] == misses, f"{name}: the worst are not the first misses")
    agreement = rows("whole.json")["agreement", "engine"]
    expect(agreement["count"] == SAMPLES and agreement["value"] > 0.99, "agreement", str(agreement))
    expect(result("whole.json")["samples"] == SAMPLES and result("whole.json")["covered"] == f"0:{SAMPLES}", "what is covered")


def test_shards():
    for count in (2, 3, 8, 200):
        names = []
        for i in range(count):
            names.append(f"part{i}.json")
            if count < 100 or i in (0, 1, 63, 199):
                run(*BASE, "--shard", f"{i}/{count}", "-o", names[-1])
        if count == 200:
            covered = [result(f"part{i}.json")["covered"] for i in (0, 1, 63, 199)]
            expect(covered == ["", "0:1", "47:48", "149:150"], f"of 200 shards: {covered}")
            continue
        for _ in range(3):
            random.shuffle(names)
            run(*names, "-o", "merged.json", command="merge")
            same("merged.json", "whole.json", f"{count} shards")
        run(*names[:1], names[1], "-o", "some.json", "--incomplete", command="merge")
        run("some.json", *names[2:], "-o", "merged.json", command="merge")
        same("merged.json", "whole.json", f"{count} shards in two steps")


def test_missing():
    parts = [f"m{i}.json" for i in range(4)]
    for i in (0, 1, 3):
        run(*BASE, "--shard", f"{i}/4", "-o", parts[i])
    text = run(parts[0], parts[1], parts[3], "-o", "merged.json", command="merge", expected=1)
    expect("38 of 150 samples are missing: 75:112" in text or "are missing: 75:112" in text, "the missing samples", text)
    command = next((line[line.index("assay eval"):] for line in text.splitlines() if "assay eval" in line), "")
    expect(command.startswith("assay eval model.onnxtxt --data samples.npz --labels labels --ref --engine"), "the command", text)
    done = subprocess.run(command.replace("assay eval", f"{ASSAY} eval", 1), shell=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    expect(done.returncode == 0, "the command that merge gives", command + "\n" + done.stdout)
    run(parts[0], parts[1], parts[3], "missing.json", "-o", "merged.json", command="merge")
    same("merged.json", "whole.json", "with the missing ones")


def test_refused():
    run(*BASE, "--shard", "0/2", "-o", "a.json")
    run(*BASE, "--shard", "0/3", "-o", "b.json")
    text = run("a.json", "b.json", "-o", "merged.json", command="merge", expected=1)
    expect("both cover the samples 0:50" in text and "a.json" in text and "b.json" in text, "overlap", text)
    run(*BASE[:-2], "--judge", "1", "--shard", "1/2", "-o", "b.json")
    text = run("a.json", "b.json", "-o", "merged.json", command="merge", expected=1)
    expect("judge is '2' and '1'" in text, "other options", text)
    pathlib.Path("other.onnxtxt").write_text(MODEL.replace("0.9", "0.8"))
    run("other.onnxtxt", *BASE[1:], "--shard", "1/2", "-o", "b.json")
    text = run("a.json", "b.json", "-o", "merged.json", command="merge", expected=1)
    expect("the models differ" in text, "another model", text)
    run(*BACKENDS, "--data", "x.npy", "--labels", "labels.npy", *BASE[7:], "--shard", "1/2", "-o", "b.json")
    text = run("a.json", "b.json", "-o", "merged.json", command="merge", expected=1)
    expect("the data differ" in text, "other data", text)
    damaged = pathlib.Path("a.json").read_text().replace('"count": ', '"count": 1', 1)
    pathlib.Path("b.json").write_text(damaged)
    text = run("a.json", "b.json", "-o", "merged.json", command="merge", expected=1)
    expect("b.json is damaged" in text, "a damaged file", text)
    pathlib.Path("b.json").write_text("{}")
    text = run("b.json", "-o", "merged.json", command="merge", expected=1)
    expect("b.json is no result of an evaluation" in text, "another file", text)
    for words, sentence in (
            ((*BACKENDS, "--data", "none.npz"), "none.npz"),
            ((*BACKENDS, "--data", "model.onnxtxt"), "is no data set"),
            (("model.onnxtxt", "--ref", "--data", "x.npy"), "nothing to compare with"),
            (("model.onnxtxt", "--ref", "--data", "x.npy", "--metric", "top1"), "top1 needs labels"),
            ((*BACKENDS, "--data", "x.npy", "--metric", "snr"), "'snr' is no metric; there are top1, top5, perplexity"),
            ((*BACKENDS, "--data", "x.npy", "--metric", "sqnr:q"), "there is no output 'q'; there are y"),
            ((*BACKENDS, "--data", "x.npy", "--golden", "trt"), "there is no backend 'trt'"),
            ((*BACKENDS, "--data", "x.npy", "--only", "100:200"), "none of 150:200"),
            ((*BACKENDS, "--data", "x.npy", "--shard", "2/2", "-o", "z.json"), "is no shard"),
            ((*BACKENDS, "--data", "x.npy", "--shard", "0/2"), "-o names a file"),
            ((*BACKENDS, "--data", "x.npy", "--shard", "auto", "-o", "z.json"), "has started this process"),
            ((*BACKENDS, "--data", "x.npy", "--labels", "labels.csv"), "labels"),
            ((*BACKENDS, "--data", "x.npy", "--resume"), "-o"),
            (("model.onnxtxt", "--data", "x.npy"), "name backends")):
        text = run(*words, expected=1)
        expect(sentence in text, f"{words[1:]}: not {sentence!r}", text)
    np.save("none.npy", np.zeros((0, 4), np.float32))
    text = run(*BACKENDS, "--data", "none.npy", expected=1)
    expect("there are no samples" in text, "zero samples", text)
    text = run(*BACKENDS, "--data", "loader.py:nothing", expected=1)
    expect("there are no samples" in text, "zero samples of a script", text)
    text = run(*BACKENDS, "--data", "x.npy", "--labels", "short.npy", expected=1) if np.save(
        "short.npy", np.zeros(9, int)) is None else ""
    expect("150 samples and labels for 9" in text, "too few labels", text)


def test_forms_of_data():
    """The same samples in other forms give the same figures."""
    whole = rows("whole.json")
    metrics = ["--metric", "top1,top2", "sqnr", "max-error", "agreement", "--judge", "2"]
    for data in (["--data", "folder", "--labels", "labels"], ["--data", "x.npy", "--labels", "labels.npy"],
                 ["--data", "x.npy", "--labels", "labels.txt"], ["--data", "small.npz", "--labels", "labels"],
                 ["--data", "loader.py", "--labels", "labels"]):
        run(*BACKENDS, *data, *metrics, "-o", "form.json")
        form = rows("form.json")
        expect(form.keys() == whole.keys() and all(form[k] == whole[k] for k in whole), f"{data}: other figures")
        expect(result("form.json")["judged"] == result("whole.json")["judged"], f"{data}: judged otherwise")


def test_streams_in_shards():
    words = [*BACKENDS, "--data", "loader.py", "--labels", "labels"]
    run(*words, "-o", "stream.json")
    names = [f"s{i}.json" for i in range(3)]
    for i, name in enumerate(names):
        run(*words, "--shard", f"{i}/3", "-o", name)
    run(*names, "-o", "merged.json", command="merge")
    same("merged.json", "stream.json", "shards of a stream")


def test_environment():
    for shard in range(2):
        run(*BASE, "-o", "mpi.json", env={"OMPI_COMM_WORLD_RANK": str(shard), "OMPI_COMM_WORLD_SIZE": "2"})
        expect(os.path.exists("mpi.json") == (shard == 1), "the last shard merges")
    same("mpi.json", "whole.json", "as MPI would start it")
    for shard in range(3):
        run(*BASE, "-o", "job.json", "--shard", "auto/3", env={"JOB_COMPLETION_INDEX": str(shard)})
    same("job.json", "whole.json", "an indexed job")
    run(*BASE, "-o", "alone.json", env={"SLURM_PROCID": "0", "SLURM_NTASKS": "4"})
    same("alone.json", "whole.json", "a step of a batch script that names no shard")
    if shutil.which("mpirun"):
        if os.path.exists("mpi.json"):
            os.remove("mpi.json")
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", ASSAY, "eval", *BASE, "-o", "mpirun.json"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        expect(done.returncode == 0, "mpirun", done.stdout)
        same("mpirun.json", "whole.json", "mpirun -n 2")
        # A file that is there already, of another evaluation: its shard replaces it before any ends.
        run(*BASE, "--worst", "3", "--shard", "1/2", "-o", "mpirun.1-of-2.json")
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", ASSAY, "eval", *BASE, "-o", "mpirun.json"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        expect(done.returncode == 0, "mpirun over an earlier part", done.stdout)
        same("mpirun.json", "whole.json", "mpirun -n 2 over an earlier part")
    else:
        print("skipped in part: there is no mpirun (Debian: openmpi-bin)")


def test_killed():
    words = [*BACKENDS, "--data", "loader.py:slowly", "--labels", "labels", "--judge", "1", "--save-worst", "worst"]
    run(*words, "-o", "calm.json")
    worst = {p.name: p.read_bytes() for p in pathlib.Path("worst").iterdir()}
    shutil.rmtree("worst")
    kills = 0
    for attempt in itertools.count():
        child = subprocess.Popen([ASSAY, "eval", *words, "-o", "killed.json", "--checkpoint", "0.05",
                                  *(["--resume"] if os.path.exists("killed.json.unfinished") else [])],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            text, _ = child.communicate(timeout=1.2 if attempt < 6 else 120)
        except subprocess.TimeoutExpired:
            child.send_signal(random.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
            child.communicate()
            kills += 1
            continue
        expect(child.returncode == 0, f"after {kills} kills: exit status {child.returncode}", text)
        break
    same("killed.json", "calm.json", f"killed {kills} times")
    expect(not os.path.exists("killed.json.unfinished"), "what was unfinished is still there")
    expect({p.name: p.read_bytes() for p in pathlib.Path("worst").iterdir()} == worst, "other worst samples were saved")
    run(*words, "-o", "killed.json", "--resume")
    same("killed.json", "calm.json", "a whole evaluation, resumed")
    # Without --resume nothing that is finished is lost.
    shutil.copy("calm.json", "kept.json.unfinished")
    text = run(*words, "-o", "kept.json", expected=1)
    expect("--resume" in text and os.path.exists("kept.json.unfinished"), "an unfinished evaluation is replaced", text)
    shutil.copy("whole.json", "kept.json.unfinished")
    text = run(*words, "-o", "kept.json", "--resume", expected=1)
    expect("is of another evaluation" in text, "another unfinished evaluation", text)


def test_loaders():
    words = [*BACKENDS, "--labels", "labels"]
    text = run(*words, "--data", "loader.py:dies", "-o", "dead.json", expected=1)
    expect("before sample 70" in text and "exit status 3" in text, "a loader that dies", text)
    expect(result("dead.json.unfinished")["covered"] == "0:70", "what was finished before is saved")
    start = time.time()
    text = run(*words, "--data", "loader.py:hangs", "--loader-timeout", "2", "-o", "hung.json", expected=1)
    expect("gave nothing for 2" in text and "before sample 70" in text and time.time() - start < 60, "a loader that hangs", text)
    expect(result("hung.json.unfinished")["covered"] == "0:70", "what was finished before it hung is saved")


def test_bad_samples():
    shutil.rmtree("bad", ignore_errors=True)
    shutil.copytree("folder", "bad")
    np.savez("bad/0010.npz", x=np.zeros((2, 5), np.float32), labels=0)
    np.savez("bad/0020.npz", other=np.zeros(4, np.float32), more=np.zeros(4, np.float32), labels=0)
    np.savez("bad/0030.npz", x=np.zeros(4, np.float32), labels=7)
    np.savez("bad/0040.npz", x=np.array(["a", "b", "c", "d"]), labels=1)
    pathlib.Path("bad/0050.npz").write_bytes(b"PK\x03\x04 no archive")
    np.savez("bad/0060.npz", x=np.zeros(4, np.float32))
    np.savez("bad/0070.npz", x=np.full(4, np.nan, np.float32), labels=1)
    words = [*BACKENDS, "--data", "bad", "--labels", "labels"]
    text = run(*words, expected=1)
    expect("in sample 10" in text and "(2, 5)" in text and "--skip-bad-samples" in text, "a bad sample ends it", text)
    run(*words, "--skip-bad-samples", "-o", "bad.json")
    bad = result("bad.json")["bad_samples"]
    expect(bad["count"] == 6 and [b["sample"] for b in bad["first"]] == [10, 20, 30, 40, 50, 60], "the bad samples", str(bad))
    for b, part in zip(bad["first"], ("(2, 5)", "no value for the input 'x'", "none of the 3 classes", "of type", "0050.npz", "no labels")):
        expect(part in b["reason"], f"sample {b['sample']}: not {part!r}", b["reason"])
    sqnr = rows("bad.json")["sqnr", "engine"]
    expect(sqnr["nan"] == 1 and sqnr["worst"][0]["sample"] == 70, "NaN is counted apart, and worst", str(sqnr))
    expect(result("bad.json")["covered"] == f"0:{SAMPLES}", "bad samples are covered")
    names = [f"b{i}.json" for i in range(4)]
    for i, name in enumerate(names):
        run(*words, "--skip-bad-samples", "--shard", f"{i}/4", "-o", name)
    run(*reversed(names), "-o", "merged.json", command="merge")
    same("merged.json", "bad.json", "shards with bad samples")


def test_verdict():
    """A runner that errs on some samples: they are found, and the node."""
    words = ["model.onnxtxt", "--ref", "--runner-script", "runner.py:Runner", "--data", "x.npy"]
    text = run(*words, "--judge", "5", "--save-worst", "judged", "-o", "judged.json", expected=1)
    x = np.load("x.npy")
    wrong = [int(i) for i in np.flatnonzero(x[:, 0] > 2)]
    judged = [j for j in result("judged.json")["judged"] if j["backend"] != "ref"]
    found = sorted({j["sample"] for j in judged if j["verdict"] == "WRONG"})
    expect(len(wrong) > 0 and set(found) <= set(wrong) and len(found) >= min(5, len(wrong)), f"wrong on {found}, not {wrong}", text)
    expect("is WRONG on" in text, "the verdict", text)
    saved = sorted(os.listdir("judged"))
    expect(all(f"sample-{i:09}.json" in saved for i in found), f"saved: {saved}")
    done = subprocess.run([ASSAY, "run", "model.onnxtxt", "--ref", "--runner-script", "runner.py:Runner", "--load-inputs",
                           f"judged/sample-{found[0]:09}.json"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    expect(done.returncode == 1 and "WRONG" in done.stdout, "a saved sample in `assay run`", done.stdout)


def test_metric_scripts():
    run(*BACKENDS, "--data", "x.npy", "--metric", "max-error", "--metric-script", "metrics.py:distance", "-o", "scripts.json")
    own, built_in = rows("scripts.json")["distance", "engine"], rows("scripts.json")["max-error", "engine"]
    # The script's distances are of float32, the built-in one's of float64.
    expect(abs(own["greatest"] - built_in["greatest"]) <= 1e-6 and own["worse"] == "higher", "a metric of one's own", f"{own}\n{built_in}")
    text = run(*BACKENDS, "--data", "x.npy", "--metric-script", "metrics.py:text", expected=1)
    expect("must return a number" in text and "metrics.py" in text, "a metric that is no number", text)


def test_set_metrics():
    """A metric of the whole set, by the user's function: the mean average precision over the classes."""
    y, labels = expected_outputs(), np.load("labels.npy")
    averages = []
    for label in range(3):
        hits = (labels == label)[np.argsort(-y[:, label], kind="stable")]
        averages.append(np.mean((np.cumsum(hits) / np.arange(1, SAMPLES + 1))[hits]))
    words = [*BACKENDS, "--data", "samples.npz", "--labels", "labels", "--metric", "top1", "--metric-script", "metrics.py:precision"]
    text = run(*words, "-o", "set.json")
    for backend in ("ref", "engine"):
        row = rows("set.json")["precision", backend]
        expect(row["kind"] == "set" and abs(row["value"] - np.mean(averages)) < 1e-9, f"{row['value']}, not {np.mean(averages)}")
    expect("precision" in text and f"{np.mean(averages):.5g}" in text, "the table", text)
    names = [f"set{i}.json" for i in range(4)]
    for i, name in enumerate(names):
        run(*words, "--shard", f"{i}/4", "-o", name)
    expect("value" not in rows("set2.json")["precision", "ref"], "a part has no value of the set")
    random.shuffle(names)
    script = ["--metric-script", "metrics.py:precision"]
    run(*names, *script, "-o", "merged.json", command="merge")
    same("merged.json", "set.json", "a metric of the set in 4 shards")
    run(*names[:2], "-o", "some.json", "--incomplete", command="merge")
    run("some.json", *names[2:], *script, "-o", "merged.json", command="merge")
    same("merged.json", "set.json", "a metric of the set in two steps")
    text = run(*names, "-o", "no.json", command="merge", expected=1)
    expect("precision measures the whole set" in text and "--metric-script" in text, "merging without its script", text)
    for shard in range(2):
        run(*words, "-o", "job.json", "--shard", "auto/2", env={"JOB_COMPLETION_INDEX": str(shard)})
    same("job.json", "set.json", "a metric of the set by an indexed job")
    text = run(*words[:-1], "metrics.py:broken", "-o", "broken.json", expected=1)
    expect("no such set" in text and "metrics.py" in text, "an error of the function", text)
    expect(result("broken.json.unfinished")["covered"] == f"0:{SAMPLES}", "what is finished is kept")


def test_restless_loaders():
    """Shards of a loader that gives each process other samples do not merge, and an evaluation does not go on with others."""
    words = [*BACKENDS, "--data", "loader.py:restless", "--labels", "labels", "--metric", "top1"]
    for i in range(2):
        run(*words, "--shard", f"{i}/2", "-o", f"restless{i}.json")
    text = run("restless0.json", "restless1.json", "-o", "no.json", command="merge", expected=1)
    expect("different samples, or in another order" in text, "shards of a loader that shuffles", text)
    run(*words, "--samples", "80", "-o", "whole80.json")
    pathlib.Path("restless.json.unfinished").write_bytes(pathlib.Path("restless0.json").read_bytes())
    text = run(*words, "--shard", "0/2", "-o", "restless.json", "--resume", expected=1)
    expect("gives other samples, or in another order" in text, "going on with other samples", text)


def test_conditions():
    text = run(*BASE[:-2], "--fail-if", "top1<1", "--junit", "junit.xml", expected=1)
    expect("top1" in text and "failure" in pathlib.Path("junit.xml").read_text(), "--fail-if", text)
    run(*BASE[:-2], "--fail-if", "sqnr<40")
    run(*BASE[:-2], "--timing", "-o", "timed.json")
    timing = result("timed.json")["timing"]
    expect([t["count"] for t in timing] == [SAMPLES] * 2 and all(0 < t["p50"] <= t["p90"] <= t["p99"] for t in timing), "timing")
    run(*BASE, "--truth", "exact", "-o", "exact.json")
    expect({k[1] for k in rows("exact.json") if k[0] == "sqnr"} == {"ref", "engine"}, "against float64")
    run("model.onnxtxt", "--ref", "--engine", "--data", "x.npy", "--golden", "engine", "--samples", "40", "-o", "golden.json")
    expect({k[1] for k in rows("golden.json")} == {"ref"} and result("golden.json")["samples"] == 40, "--golden")


def test_disk_full():
    """Where there is no room, nothing that was saved is lost."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        print("skipped in part: a full disk needs root")
        return
    os.makedirs("full", exist_ok=True)
    script = (f"mount -t tmpfs -o size=256k tmpfs full && {ASSAY} eval {' '.join(BASE)} --only 0:50 -o full/part.json && "
              f"dd if=/dev/zero of=full/filler bs=1k 2>/dev/null; {ASSAY} eval {' '.join(BASE)} --only 50:150 -o full/rest.json; "
              "echo status $?; ls full; cp full/part.json part.json; rm full/filler; "
              f"{ASSAY} eval {' '.join(BASE)} --only 50:150 -o full/rest.json --resume && cp full/rest.json rest.json")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if "mount:" in done.stdout or "unshare:" in done.stdout:
        print("skipped in part: a full disk cannot be made here")
        return
    expect("status 1" in done.stdout and "No space left" in done.stdout, "a full disk is an error", done.stdout)
    run("part.json", "rest.json", "-o", "merged.json", command="merge")
    same("merged.json", "whole.json", "after a full disk")


def test_device():
    """Next to a device nothing is left behind that a later evaluation would meet."""
    for _ in range(2):
        said = run(*BASE, "-o", "/dev/full", expected=1)
        expect("cannot write /dev/full: No space left" in said, "a device that is full", said)
    expect(not os.path.exists("/dev/full.unfinished"), "what is unfinished next to a device")


def main():
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        for name, test in tests.items():
            if ONLY in name:
                start = time.time()
                test()
                print(f"{name}: {time.time() - start:.1f} s", flush=True)
        os.chdir("/")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
