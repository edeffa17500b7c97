#!/usr/bin/env python3
"""`assay eval --tokens` from end to end, against what ONNX Runtime and NumPy compute: tokens_test.py ASSAY

The perplexity over a file of tokens, of models that take sequences at once and of one that takes one token a step; shards, bad
sequences."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "generate"))
from models import decoder  # noqa: E402

ASSAY = os.path.abspath(sys.argv[1])
problems = 0


def expect(condition, what, shown=""):
    global problems
    if not condition:
        problems += 1
        print(f"FAILED: {what}\n{shown}", flush=True)


def run(*words, expected=0):
    done = subprocess.run([ASSAY, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    expect(done.returncode == expected, f"{' '.join(map(str, words))}: exit status {done.returncode}", done.stdout)
    return done.stdout


def rows(path):
    return {(r["metric"], r["backend"], r["output"]): r for r in json.loads(pathlib.Path(path).read_text())["metrics"]}


def losses(model, sequences):
    """The negative logarithm of the probability of each next token, as NumPy computes it from ONNX Runtime's logits."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    found = []
    for tokens in sequences:
        feed = {}
        for i in session.get_inputs():
            shape = [1 if d == "batch" or d == 1 else d for d in i.shape]
            if "past" in i.name:
                feed[i.name] = np.zeros([d if isinstance(d, int) else 0 for d in shape], np.float32)
            elif "mask" in i.name:
                feed[i.name] = np.ones((1, len(tokens)), np.int64)
            elif "position" in i.name:
                feed[i.name] = np.arange(len(tokens))[None]
            else:
                feed[i.name] = np.array([tokens])
        logits = session.run(["logits"], feed)[0][0].astype(np.float64)[:-1]
        exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities = exponents / exponents.sum(axis=1, keepdims=True)
        found.extend(-np.log(probabilities[np.arange(len(tokens) - 1), tokens[1:]]))
    return np.array(found)


def one_token_a_step(model):
    """The same decoder, whose inputs have room for one token."""
    for i in model.graph.input:
        if i.name in ("input_ids", "position_ids"):
            i.type.tensor_type.shape.dim[1].dim_value = 1
    for o in model.graph.output:
        if o.name == "logits":
            o.type.tensor_type.shape.dim[1].dim_value = 1
    return model


def test_perplexity(sequences):
    expected = losses("whole.onnx", sequences)
    for model, tolerance in (("whole.onnx", 1e-6), ("none.onnx", 1e-5), ("step.onnx", 1e-5)):
        run("eval", model, "--onnxrt", "--engine", "--ref", "--tokens", "tokens.txt", "--worst", "3", "-o", "result.json")
        found = rows("result.json")
        for backend in ("onnxrt", "engine", "ref"):
            row = found["perplexity", backend, "logits"]
            expect(row["count"] == len(expected), f"{model} on {backend}: {row['count']} of {len(expected)} tokens")
            perplexity = np.exp(expected.mean())
            expect(abs(row["value"] / perplexity - 1) < tolerance, f"{model} on {backend}: {row['value']}, not {perplexity}")
            expect(abs(row["least"] - expected.min()) < 1e-4 and abs(row["greatest"] - expected.max()) < 1e-4, f"{model} on {backend}: the range")
        expect(found["first-difference", "engine", "logits"]["positive_infinity"] == len(sequences), f"{model}: tokens differ", str(found))
        lengths = np.cumsum([0] + [len(s) - 1 for s in sequences])
        means = [expected[a:b].mean() for a, b in zip(lengths, lengths[1:])]
        worst = [w["sample"] for w in found["perplexity", "onnxrt", "logits"]["worst"]]
        expect(worst == list(np.argsort(means)[::-1][:3]), f"{model}: the worst are {worst}")


def test_shards():
    # The engine's results for shapes that are new depend, in their last bits, on the shapes before.
    for model in ("whole.onnx", "step.onnx"):
        words = ["eval", model, "--onnxrt", "--ref", "--tokens", "tokens.txt"]
        run(*words, "-o", "whole.json")
        for i in range(3):
            run(*words, "--shard", f"{i}/3", "-o", f"part{i}.json")
        run("merge", "part2.json", "part0.json", "part1.json", "-o", "merged.json")
        expect(pathlib.Path("merged.json").read_bytes() == pathlib.Path("whole.json").read_bytes(), f"{model}: other bytes")


def test_bad(sequences):
    np.save("tokens.npy", np.array([s[:4] for s in sequences if len(s) >= 4]))
    run("eval", "whole.onnx", "--engine", "--tokens", "tokens.npy", "-o", "array.json")
    pathlib.Path("bad.txt").write_text("1 2 3\n4\n5 6 970\n7 8\n")
    for model in ("whole.onnx", "step.onnx"):
        text = run("eval", model, "--engine", "--tokens", "bad.txt", expected=1)
        expect("in sample 1" in text and "the first is not predicted" in text, f"{model}: one token", text)
        run("eval", model, "--engine", "--tokens", "bad.txt", "--skip-bad-samples", "-o", "bad.json")
        bad = json.loads(pathlib.Path("bad.json").read_text())["bad_samples"]
        expect([b["sample"] for b in bad["first"]] == [1, 2] and "vocabulary" in bad["first"][1]["reason"], f"{model}: bad sequences", str(bad))
    text = run("eval", "step.onnx", "--engine", "--tokens", "tokens.txt", "--judge", "1", expected=1)
    expect("takes 1 token(s) a step" in text, "judging steps", text)


def main():
    random = np.random.default_rng(4)
    sequences = [list(map(int, random.integers(0, 97, n))) for n in (9, 2, 17, 5, 30, 3, 12)]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        onnx.save(decoder(), "whole.onnx")
        onnx.save(decoder(cache="none"), "none.onnx")
        onnx.save(one_token_a_step(decoder()), "step.onnx")
        pathlib.Path("tokens.txt").write_text("".join(" ".join(map(str, s)) + "\n" for s in sequences))
        test_perplexity(sequences)
        test_shards()
        test_bad(sequences)
        os.chdir("/")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
