#!/usr/bin/env python3
"""`--shard` of the commands other than `eval`, and `assay merge` of what they write: shards_test.py ASSAY OP_FUZZ [--only NAME]

What one process writes and what shards write, merged in any order, are the same bytes; shards of something else are refused with what
differs. OP_FUZZ is the fuzz driver."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from eval_model import MODEL  # noqa: E402

ASSAY, OP_FUZZ = map(os.path.abspath, sys.argv[1:3])
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
problems = 0

LOADER = """
import os
import numpy as np
def load_data():
    random = np.random.default_rng(7)
    for i in range(11):
        yield {"x": (random.standard_normal((1, 4)) * 2.0 ** (i % 5)).astype(np.float32)}
def other_order():
    yield from reversed(list(load_data()))
def restless():
    random = np.random.default_rng(os.getpid())
    for i in range(11):
        yield {"x": random.standard_normal((1, 4)).astype(np.float32)}
"""


def expect(condition, what, shown=""):
    global problems
    if not condition:
        problems += 1
        print(f"FAILED: {what}\n{shown}", flush=True)


def run(*words, expected=0, env=None):
    done = subprocess.run([ASSAY, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=300, env={**os.environ, **(env or {})})
    expect(done.returncode == expected, f"{' '.join(map(str, words))}: exit status {done.returncode}", done.stdout)
    return done.stdout


def same(path, other, what):
    if not (os.path.exists(path) and os.path.exists(other)):
        return expect(False, f"{what}: there is no file")
    expect(pathlib.Path(path).read_bytes() == pathlib.Path(other).read_bytes(), f"{what}: other bytes",
           subprocess.run(["diff", path, other], stdout=subprocess.PIPE, text=True, errors="replace").stdout[:2000])


def merged(parts, output, *words, **settings):
    parts = list(parts)
    random.shuffle(parts)
    return run("merge", *parts, "-o", output, *words, **settings)


def test_calibration():
    data = ["--data-loader-script", "loader.py"]
    for extra in ([], ["--calib-base-cls", "IInt8MinMaxCalibrator"]):
        convert = ["convert", "model.onnxtxt", "--int8", *data, *extra]
        pathlib.Path("whole.cache").unlink(missing_ok=True)
        run(*convert, "--calibration-cache", "whole.cache", "-o", "whole.onnx")
        for count in (1, 2, 4, 16):
            parts = [f"calibration{i}.json" for i in range(count)]
            for i, part in enumerate(parts):
                run(*convert, "--shard", f"{i}/{count}", "-o", part)
            merged(parts, "merged.cache")
            same("merged.cache", "whole.cache", f"a calibration in {count} shards {extra}")
    # In several steps, and the model that the cache gives.
    merged(parts[:5], "some.json", "--incomplete")
    merged(["some.json", *parts[5:]], "merged.cache")
    same("merged.cache", "whole.cache", "a calibration merged in two steps")
    run("convert", "model.onnxtxt", "--int8", *extra, "--calibration-cache", "merged.cache", "-o", "merged.onnx")
    same("merged.onnx", "whole.onnx", "the model by the merged cache")
    # Without a number: an array of jobs.
    for i in range(3):
        run(*convert, "--shard", "auto/3", "-o", "jobs.cache", env={"JOB_COMPLETION_INDEX": str(i)})
        expect(os.path.exists("jobs.cache") == (i == 2), "the last job merges")
    same("jobs.cache", "whole.cache", "a calibration by an indexed job")

    text = merged(parts[:5], "no.cache", expected=1)
    expect("6 of 11 sets of data are missing: 5:11" in text, "missing sets", text)
    run(*convert, "--shard", "0/3", "-o", "third.json")
    text = run("merge", parts[0], "third.json", "-o", "no.cache", expected=1)
    expect("both cover the sets 0:1" in text and parts[0] in text and "third.json" in text, "overlapping shards", text)
    for change, sentence in ((["--data-loader-script", "loader.py:other_order"], "the data differ: name is"),
                             (["--seed", "3"], "the data differ: kind is"),
                             ([*data, "--calib-base-cls", "IInt8EntropyCalibrator"], "the options differ: --calib-base-cls")):
        run("convert", "model.onnxtxt", "--int8", *(change if "--calib-base-cls" in change else [*change, *extra]), "--shard", "1/16", "-o", "other.json")
        text = run("merge", parts[0], "other.json", "-o", "no.cache", expected=1)
        expect(sentence in text, f"{change}: not {sentence!r}", text)
    pathlib.Path("other.onnxtxt").write_text(MODEL.replace("0.9", "0.8"))
    run("convert", "other.onnxtxt", "--int8", *data, *extra, "--shard", "1/16", "-o", "other.json")
    text = run("merge", parts[0], "other.json", "-o", "no.cache", expected=1)
    expect("the models differ" in text, "another model", text)
    newer = json.loads(pathlib.Path(parts[1]).read_text())["version"]
    pathlib.Path("other.json").write_text(pathlib.Path(parts[1]).read_text().replace(f'"version": "{newer}"', '"version": "0.0.1"'))
    text = run("merge", parts[0], "other.json", "-o", "no.cache", expected=1)
    expect("other.json is damaged" in text, "a changed file", text)
    expect(not os.path.exists("no.cache"), "a file was written in spite of an error")
    for words, sentence in ((["convert", "model.onnxtxt", "--shard", "0/2", "-o", "p.json"], "give --int8"),
                            (["convert", "model.onnxtxt", "--int8", "--shard", "0/2", "-o", "p.onnx"], "a part of a calibration is written"),
                            (["convert", "model.onnxtxt", "--int8", "--accuracy-target", "30dB", "--shard", "0/2", "-o", "p.json"], "--accuracy-target means nothing"),
                            (["convert", "model.onnxtxt", "--int8", "--shard", "2/2", "-o", "p.json"], "is no shard")):
        text = run(*words, expected=1)
        expect(sentence in text, f"{words}: not {sentence!r}", text)


def test_loader():
    """A loader that gives each process other data is noticed, in sets of other shards, too."""
    for i in range(2):
        run("convert", "model.onnxtxt", "--int8", "--data-loader-script", "loader.py:restless", "--shard", f"{i}/2", "-o", f"restless{i}.json")
    text = merged(["restless0.json", "restless1.json"], "no.cache", expected=1)
    expect("different data, or in another order" in text, "a loader that is not the same in each process", text)


def test_ranges():
    words = ["debug", "range", "model.onnxtxt", "--data-loader-script", "loader.py"]
    run(*words, "--json", "whole.json")
    for count in (1, 3, 12):
        parts = [f"range{i}.json" for i in range(count)]
        for i, part in enumerate(parts):
            run(*words, "--shard", f"{i}/{count}", "--json", part)
        merged(parts, "merged.json")
        same("merged.json", "whole.json", f"ranges in {count} shards")
    run("debug", "range", "model.onnxtxt", "--data-loader-script", "loader.py", "--types", "bfloat16", "--shard", "1/12", "--json", "other.json")
    text = run("merge", parts[0], "other.json", "-o", "no.json", expected=1)
    expect("the options differ: --types" in text, "other types", text)
    text = run("merge", parts[0], "calibration0.json" if os.path.exists("calibration0.json") else parts[0], "-o", "no.json", expected=1)
    expect("both cover" in text or "one is of a ranges, and the other of a calibration" in text, "another kind", text)
    for extra, sentence in (([], "unless --json names"), (["--json", "p.json", "--csv", "p.csv"], "--csv is a table of all data")):
        text = run(*words, "--shard", "0/2", *extra, expected=1)
        expect(sentence in text, f"{extra}: not {sentence!r}", text)


def test_run():
    for data in (["--iterations", "7"], ["--data-loader-script", "loader.py"], ["--load-inputs", "saved.json"]):
        words = ["run", "model.onnxtxt", "--engine", "--engine", "--ref", *data]
        if data[0] == "--load-inputs":
            run("run", "model.onnxtxt", "--engine", "--data-loader-script", "loader.py", "--save-inputs", "saved.json")
        run(*words, "--shard", "0/1", "--save-outputs", "one.json", "--save-inputs", "one_inputs.json")
        run("merge", "one.json", "-o", "whole.json")
        run("merge", "one_inputs.json", "-o", "whole_inputs.json")
        for count in (2, 3, 9):
            outputs, inputs = [f"run{i}.json" for i in range(count)], [f"inputs{i}.json" for i in range(count)]
            for i in range(count):
                run(*words, "--shard", f"{i}/{count}", "--save-outputs", outputs[i], "--save-inputs", inputs[i])
            merged(outputs, "merged.json")
            same("merged.json", "whole.json", f"results of a run in {count} shards, {data[0]}")
            merged(inputs, "merged_inputs.json")
            same("merged_inputs.json", "whole_inputs.json", f"inputs of a run in {count} shards, {data[0]}")
        merged(outputs[:4], "some.json", "--incomplete")
        merged(["some.json", *outputs[4:]], "merged.json")
        same("merged.json", "whole.json", f"a run merged in two steps, {data[0]}")
    # The arrays are those of a run that knows no shards, and the merged file is one that a run loads.
    run(*words, "--save-outputs", "plain.json")
    plain, whole = json.loads(pathlib.Path("plain.json").read_text()), json.loads(pathlib.Path("whole.json").read_text())
    for (name, iterations), (lasting, others) in zip(plain["lst"], whole["lst"]):
        expect(name.startswith(lasting + "-") and [i["outputs"] for i in iterations] == [i["outputs"] for i in others], f"{name}: other outputs")
    run("run", "model.onnxtxt", "--ref", *data, "--load-outputs", "merged.json")
    text = merged(outputs[:4], "no.json", expected=1)
    expect("sets of data are missing" in text, "missing iterations", text)
    run(*words, "--shard", "0/2", "--save-outputs", "half.json")
    text = run("merge", outputs[0], "half.json", "-o", "no.json", expected=1)
    expect("both cover the sets 0:1" in text, "overlapping iterations", text)
    pathlib.Path("half.json").write_text(pathlib.Path("half.json").read_text() + "\n")
    text = run("merge", "half.json", "-o", "no.json", "--incomplete", expected=1)
    expect("it was changed or damaged" in text, "a changed file of results", text)
    for extra, sentence in (([], "unless --save-outputs"), (["--save-outputs", "folder"], "is a folder")):
        text = run(*words, "--shard", "0/2", *extra, expected=1)
        expect(sentence in text, f"{extra}: not {sentence!r}", text)


def test_bench():
    words = ["bench", "model.onnxtxt", "--iterations", "5", "--duration", "0", "--warmUp", "0"]
    for i in range(2):
        run(*words, *(["--shard", f"{i}/2"] if i else []), "--json", f"machine{i}.json")
    text = run("merge", "machine1.json", "machine0.json", "-o", "machines.json")
    expect("machine0" in text and "machine1" in text and "Median ms" in text, "the table", text)
    table = json.loads(pathlib.Path("machines.json").read_text())
    expect([m["name"] for m in table["machines"]] == ["machine0", "machine1"], "the machines", str(table))
    for i, machine in enumerate(table["machines"]):
        rows = json.loads(pathlib.Path(f"machine{i}.json").read_text())["rows"]
        expect([r["median_ms"] for r in machine["rows"]] == [r["latency_ms"]["median"] for r in rows], f"machine {i}", str(machine))
    for i in range(2):
        run(*words, "--shard", "auto", "--json", "array.json",
            env={"SLURM_ARRAY_TASK_ID": str(i), "SLURM_ARRAY_TASK_COUNT": "2", "SLURM_ARRAY_TASK_MIN": "0"})
    expect(len(json.loads(pathlib.Path("array.json").read_text())["machines"]) == 2, "a job array")
    older = pathlib.Path("machine1.json").read_text()
    pathlib.Path("machine1.json").write_text(re.sub('"version": "[^"]*"', '"version": "0.0.1"', older, count=1))
    text = run("merge", "machine1.json", "machine0.json", "-o", "no.json", expected=1)
    expect("are of the versions" in text, "another version", text)


def test_conformance():
    cases = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "pytorch-operator")
    words, count = ["check", "conformance", cases, "--on", "reference"], len(os.listdir(cases))
    run(*words, "--counts", "whole_counts.json")
    expect(json.loads(pathlib.Path("whole_counts.json").read_text())["passed"] == count, "all cases pass")
    parts = [f"counts{i}.json" for i in range(3)]
    for i, part in enumerate(parts):
        run(*words, "--shard", f"{i}/3", "--counts", part)
    merged(parts, "merged_counts.json")
    same("merged_counts.json", "whole_counts.json", "conformance in 3 shards")
    text = merged(parts[:2], "no.json", expected=1)
    expect(f"{count // 3} of {count} sets of data are missing" in text, "a missing shard", text)


def counts_of(*words):
    done = subprocess.run([OP_FUZZ, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    last = done.stdout.strip().splitlines()[-1]
    found = re.fullmatch(r"(\d+) subjects, \d+ rounds each: (\d+) nodes accepted, (\d+) refused, (\d+) problems", last)
    expect(found is not None, f"{words}", done.stdout)
    return np.array([int(n) for n in found.groups()]) if found else np.zeros(4)


def test_fuzz():
    words = ["--rounds", "3", "--only", "Re*"]
    whole = counts_of(*words)
    shards = sum(counts_of(*words, "--shard", f"{i}/3") for i in range(3))
    expect(whole[0] > 3 and (whole == shards).all(), f"shards of fuzzing have {shards}, and one process {whole}")


def main():
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["ASSAY_PYTHON"] = sys.executable
        pathlib.Path("model.onnxtxt").write_text(MODEL)
        pathlib.Path("loader.py").write_text(LOADER)
        for name, test in tests.items():
            if ONLY in name:
                test()
        os.chdir("/")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
