#!/usr/bin/env python3
"""`assay template shard-hints` and `multi-device shard` beside the real tool, and what the ranks of a sharded model compute.

    tests/compat/shard_check.py build/assay

Where the real tool is right, hints and graphs are the same by meaning, and each reads the hints of the other. All ranks are evaluated
in step, by NumPy and the onnx package: together they give what the model gives as a whole. Exit status 0 when all of that holds.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import shard_models as models
import upstream

# model, options, ranks, whether the real tool makes the same graph
NATIVE = ["--k-idx", "2", "--v-idx", "1"]
FUSED = ["--cp-type", "fused", "--k-shuffle", "0", "2", "1"]
CONTEXT = [
    (models.plain, NATIVE, 2, True),
    (models.plain, NATIVE, 4, True),
    (models.plain, [*NATIVE, "--reduce-op", "avg", "--root", "0"], 2, True),
    (models.plain, [*NATIVE, "--gpus", "2", "--groups", "0", "1"], 2, True),
    (models.plain, FUSED, 2, True),
    (models.plain, [*NATIVE, "--kv-rank", "3", "--i-rank", "3"], 2, True),
    (models.static, [*NATIVE, "--i-idx", "1", "--o-idx", "1"], 2, True),
    (models.same_qkv, [], 2, True),
    (models.one_output, [*NATIVE, "--kv-rank", "3"], 2, True),
    # There the real tool gives the second layer the whole sequence of q, gathers twice, or passes on the whole where a part belongs.
    (models.two_layers, [*NATIVE, "--kv-rank", "3"], 2, False),
    (models.two_layers, [*FUSED, "--kv-rank", "3"], 2, False),
    (models.shared_kv, NATIVE, 2, False),
    (models.shared_q, NATIVE, 2, False),
    (models.mixed, NATIVE, 2, False),
    # There it refuses names, or finds nothing.
    (models.unsorted_without_names, NATIVE, 2, False),
    (models.scaled, [*NATIVE, "--attention-pattern", "1"], 2, False),
    (models.scaled, [*FUSED, "--attention-pattern", "1"], 2, False),
]
TENSOR = [
    (models.blocks, 2, True),
    (models.tied, 2, False),  # there it gives the last MatMul, which is no part of a layer, a part of the weight
    (models.swapped_product, 2, False),  # there it takes the gate for both
    (models.biased, 2, False),  # there it leaves the biases whole
    (models.other_sigmoid, 2, False),  # there it ends with a traceback
    (models.float4, 2, True),
    (models.int8, 2, False),  # there it looks for a second DequantizeLinear
]


class Failure(Exception):
    pass


class Tools:
    def __init__(self, assay):
        self.assay = assay

    def ours(self, *words):
        done = subprocess.run([self.assay, *words], capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"assay {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    @staticmethod
    def theirs(*words):
        done = upstream.run(list(words))
        if done.returncode:
            raise Failure(f"polygraphy {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout


def expect(condition, message):
    if not condition:
        raise Failure(message)


def lines(text):
    """What a tool says, without what GraphSurgeon does and without the names of files; of those in any order, sorted."""
    said = [s for s in text.splitlines() if not s.startswith(("[I] \t", "[I] Start", "[I] Found a matched", "[W]")) and "colored" not in s]
    return sorted(s for s in said if "hints" not in s and "Saving" not in s)


def meaning(path):
    """Hints without the order of tensors, which is that of a set."""
    with open(path) as file:
        hints = json.load(file)
    for key in ("inputs", "outputs"):
        hints[key] = sorted(hints[key], key=lambda t: t["name"])
    return hints


def feed_of(model):
    random = np.random.default_rng(1)
    feed = {}
    for i in model.graph.input:
        dims = [d.dim_value or {"batch": 2}.get(d.dim_param, 8) for d in i.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type)
        feed[i.name] = random.standard_normal(dims).astype(dtype)
    return feed


def check_names(before, after):
    names = lambda values: [v.name for v in values]
    expect(names(before.graph.input) == names(after.graph.input) and names(before.graph.output) == names(after.graph.output),
           "inputs or outputs have other names")
    known = {i.name for i in after.graph.input} | {t.name for t in after.graph.initializer} | {""}
    for n in after.graph.node:
        expect(known.issuperset(n.input), f"{n.name} comes before what it needs")
        expect(n.op_type == "DistCollective" or len(n.input) + len(n.output) > 1, f"{n.name} is detached")
        known.update(n.output)
    expect(len({n.name for n in after.graph.node}) == len(after.graph.node), "two nodes have one name")


def close(a, b, what):
    expect(a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-5), f"{what} is not what the whole model gives")


def check_context(tools, folder, make, options, ranks, same):
    source, hints = os.path.join(folder, "m.onnx"), os.path.join(folder, "hints.json")
    whole = make()
    onnx.save(whole, source)
    options = [*options, "--nb-rank", str(ranks)]
    pattern = options[options.index("--attention-pattern"):][:2] if "--attention-pattern" in options else []
    sharded = {}
    tools.ours("template", "shard-hints", source, "-o", hints, *options)
    for name, words in {"file": ["-s", hints, *pattern], "one-shot": ["--one-shot", *options]}.items():
        path = os.path.join(folder, f"{name}.onnx")
        said = tools.ours("multi-device", "shard", source, *words, "-o", path)
        sharded[name] = onnx.load(path), said
    after = sharded["file"][0]
    expect(models.expressions(after) == models.expressions(sharded["one-shot"][0]), "a hints file and --one-shot give two graphs")
    check_names(whole, after)
    feed = feed_of(whole)
    expected = models.evaluate([whole], [feed])[0]
    for rank, outputs in enumerate(models.evaluate([after] * ranks, [feed] * ranks)):
        for o, a, b in zip(whole.graph.output, outputs, expected):
            close(a, b, f"'{o.name}' of rank {rank}")
    if same:
        check_context_beside(tools, folder, source, options, pattern, hints, sharded)


def check_context_beside(tools, folder, source, options, pattern, hints, sharded):
    theirs, path = os.path.join(folder, "theirs.json"), os.path.join(folder, "theirs.onnx")
    tools.theirs("template", "shard-hints", source, "-o", theirs, *options)
    expect(meaning(hints) == meaning(theirs), f"other hints: {open(hints).read()}\n{open(theirs).read()}")
    graph = models.expressions(sharded["file"][0])
    said = tools.theirs("multi-device", "shard", source, "-s", hints, *pattern, "-o", path)
    expect(models.expressions(onnx.load(path)) == graph, "the real tool makes another graph of our hints")
    expect(lines(said) == lines(sharded["file"][1]), f"other lines:\n{said}\n{sharded['file'][1]}")
    tools.ours("multi-device", "shard", source, "-s", theirs, *pattern, "-o", path)
    expect(models.expressions(onnx.load(path)) == graph, "another graph of the real tool's hints")


def part(value, rank, ranks, axis=2):
    return np.split(value, ranks, axis=axis)[rank]


def check_tensor(tools, folder, make, ranks, same):
    whole, source = make(), os.path.join(folder, "m.onnx")
    onnx.save(whole, source)
    words = ["--one-shot", "--parallelism", "TP", "--nb-rank", str(ranks)]
    said = tools.ours("multi-device", "shard", source, *words, "-o", os.path.join(folder, "ours.onnx"))
    parts = [onnx.load(os.path.join(folder, f"ours_tp{ranks}_rank{r}.onnx")) for r in range(ranks)]
    for p in parts:
        check_names(whole, p)
    feed = feed_of(whole)
    expected = models.evaluate([whole], [feed])[0]
    feeds = [{k: part(v, r, ranks) if k.startswith("past") else v for k, v in feed.items()} for r in range(ranks)]
    for rank, outputs in enumerate(models.evaluate(parts, feeds)):
        for o, a, b in zip(whole.graph.output, outputs, expected):
            close(a, part(b, rank, ranks) if o.name.startswith("present") else b, f"'{o.name}' of rank {rank}")
    if not same:
        return
    theirs = tools.theirs("multi-device", "shard", source, *words, "-o", os.path.join(folder, "theirs.onnx"))
    quantized = any(n.op_type == "DequantizeLinear" for n in whole.graph.node)
    if not quantized:  # of weights of 4 bits it says nothing
        expect(lines(said) == lines(theirs), f"other lines:\n{theirs}\n{said}")
    for r, p in enumerate(parts):
        other = onnx.load(os.path.join(folder, f"theirs_tp{ranks}_rank{r}.onnx"))
        expect(models.expressions(other) == models.expressions(p), f"rank {r} is another graph than the real tool's")
        shape = lambda v: [d.dim_value for d in v.type.tensor_type.shape.dim]
        expect([shape(v) for v in other.graph.input] == [shape(v) for v in p.graph.input], f"rank {r} has other inputs")


def main():
    tools, failed = Tools(os.path.abspath(sys.argv[1])), 0
    cases = [(check_context, c[0].__name__, c) for c in CONTEXT] + [(check_tensor, c[0].__name__, c) for c in TENSOR]
    for check, name, case in cases:
        problem = ""
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(tools, folder, *case)
            except Failure as e:
                problem = str(e)
        failed += bool(problem)
        print(f"{'FAILED' if problem else 'passed'}  {check.__name__} {name} {' '.join(map(str, case[1:]))}")
        if problem:
            print("   ", problem)
    print(f"{len(cases) - failed} of {len(cases)} are right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
