#!/usr/bin/env python3
"""`debug diverge` on models that generate: generating_test.py ASSAY

Faults that show only from some length of the cache on, in one step alone, in a backend, and in a model whose cache has another form.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "generate"))
import models  # noqa: E402

ASSAY = os.path.abspath(sys.argv[1])
PROMPT = ["--prompt-ids", "5,17,42,3,80"]
os.environ.setdefault("ASSAY_PYTHON", sys.executable)  # of runners
problems = 0


def run(*words):
    """(exit code, what it printed)"""
    done = subprocess.run([ASSAY, "debug", "diverge", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=600)
    return done.returncode, done.stdout


def expect(condition, what, shown=""):
    global problems
    if not condition:
        problems += 1
        print(f"FAILED: {what}\n{shown}")


def found(*words, status):
    """What --json says, and the text."""
    pathlib.Path("found.json").unlink(missing_ok=True)
    code, text = run(*words, "--json", "found.json")
    expect(code == status, f"{words}: exit code {code}, not {status}", text)
    if not os.path.exists("found.json"):
        expect(False, f"{words}: no JSON", text)
        return {"steps": [], "partings": []}, text
    return json.loads(pathlib.Path("found.json").read_text()), text


def nodes_of(step, side="second"):
    """The nodes that its first divergence comes from."""
    divergences = step["layers"]["divergences"]
    return " ".join(divergences[0][f"{side}_nodes"]) if divergences else ""


def output_of(model, op, index):
    return [n for n in model.graph.node if n.op_type == op][index].output[0]


def late():
    """A fault from 20 positions on: the step, the token that differs, the margins, and the node."""
    right = models.decoder()
    onnx.save(right, "right.onnx")
    onnx.save(models.spoil(models.decoder(), output_of(right, "Sigmoid", 1), "Greater", 20), "wrong.onnx")
    for backend in ([], ["--engine"]):
        result, text = found("right.onnx", "--against", "wrong.onnx", *PROMPT, "--max-tokens", "60", *backend, status=1)
        if not result["steps"] or not result["partings"]:
            expect(False, "late: nothing found", text)
            continue
        first, parting = result["steps"][0], result["partings"][0]
        expect(first["positions"] == 20 and first["index"] == 16 and len(first["added"]) == 1, "late: the step", text)
        expect([o["first"] for o in first["outputs"]] == ["logits"], "late: its outputs", text)
        expect("guilty" in nodes_of(first) and first["layers"]["divergences"][0]["excess_of_operands"] < 1, "late: the node", text)
        expect(first["from_one_cache"] and len(first["layers"]["divergences"]) == 1, "late: one cause", text)
        one, other = parting["sides"]
        expect(parting["index"] == result["equal_tokens"] >= 16 and one["token"] != other["token"], "late: the token", text)
        for side in (one, other):
            expect(side["logits"][0]["token"] == side["token"] and side["logits"][0]["logit"] > side["logits"][1]["logit"], "late: its logits", text)
        expect(parting["explanation"] == "second wrong" and result["steps"][-1]["parts"], "late: which is wrong", text)
        for part in ("parts at token", "apart", "is the first whose outputs differ", "behind 20 position(s)", "is WRONG"):
            expect(part in text, f"late: it says '{part}'", text)
    result, text = found("right.onnx", "--against", "wrong.onnx", *PROMPT, "--max-tokens", "16", status=0)
    expect(result["equal_tokens"] == 16 and not result["steps"], "late: nothing differs before", text)
    result, text = found("right.onnx", "--against", "wrong.onnx", *PROMPT, "--max-tokens", "60", "--no-verdict", status=1)
    expect(result["partings"][0]["explanation"] == "not judged", "late: no verdict", text)


def no_numbers():
    """Logits that are not numbers, on one side from a length on: the node, in place of an error."""
    right = models.decoder()
    onnx.save(right, "right.onnx")
    onnx.save(models.spoil(models.decoder(), output_of(right, "Sigmoid", 1), "Greater", 12, by=float("nan")), "wrong.onnx")
    result, text = found("right.onnx", "--against", "wrong.onnx", *PROMPT, "--max-tokens", "60", status=1)
    first = result["steps"][0] if result["steps"] else {"layers": {"divergences": []}, "positions": 0}
    expect(first["positions"] == 12 and "guilty" in nodes_of(first), "NaN: the step and the node", text)
    expect("logits are NaN" in result.get("stopped", "") and "There is no further token" in text, "NaN: why it ends", text)


def once():
    """What one step alone writes into the cache: that step is named, and that no layer of the step that chooses otherwise is to blame."""
    right = models.decoder()
    onnx.save(right, "right.onnx")
    key = next(n.input[1] for n in right.graph.node if n.op_type == "Concat" and n.input[0] == "past_key_values.0.value")
    onnx.save(models.spoil(models.decoder(), key, "Equal", 12, by=-3), "wrong.onnx")
    result, text = found("right.onnx", "--against", "wrong.onnx", *PROMPT, "--max-tokens", "60", status=1)
    first, last = result["steps"][0], result["steps"][-1]
    expect(first["positions"] == 11 and "guilty" in nodes_of(first), "once: the step", text)
    expect("present.0.value" in [o["first"] for o in first["outputs"]], "once: its cache", text)
    if last["positions"] != 11:
        expect(last["parts"] and not last["layers"]["divergences"] and "left in the cache" in text, "once: the step of the token", text)
    expect(result["partings"], "once: a token differs", text)


def of_a_backend():
    """A runner that gives other positions from 9 tokens on."""
    if not os.environ.get("ASSAY_ONNXRUNTIME"):
        print("skipped in part: a wrong backend needs ASSAY_ONNXRUNTIME")
        return
    onnx.save(models.decoder(), "right.onnx")
    pathlib.Path("wrong.py").write_text("""
import onnxruntime


class Runner:
    def __init__(self, path):
        self.session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def infer(self, feed):
        feed = dict(feed)
        if feed["attention_mask"].shape[1] > 8:
            feed["position_ids"] = feed["position_ids"] - 3
        return dict(zip([o.name for o in self.session.get_outputs()], self.session.run(None, feed)))
""")
    result, text = found("right.onnx", "--onnxrt", "--runner-script", "wrong.py:Runner", *PROMPT, "--max-tokens", "40", status=1)
    first = result["steps"][0] if result["steps"] else {"positions": 0, "layers": {"divergences": []}}
    expect(first["positions"] == 8, "a backend: the step", text)
    # The first tensor that is made of positions.
    expect("Unsqueeze" in nodes_of(first, "first") and first["layers"]["divergences"][0]["errs"] == "second", "a backend: the node", text)
    result, text = found("right.onnx", "--engine", "--onnxrt", *PROMPT, "--max-tokens", "40", status=0)
    expect(result["equal_tokens"] == 40 and result["largest_difference"] < 1e-3, "two right backends", text)


def other_forms():
    """A model whose cache has another form, and one that takes a token a step, against one that takes any number."""
    right = models.decoder(positions="mask")
    onnx.save(right, "right.onnx")
    onnx.save(models.decoder(positions="mask", cache="stacked"), "stacked.onnx")
    result, text = found("right.onnx", "--against", "stacked.onnx", *PROMPT, "--max-tokens", "20", status=0)
    expect(result["equal_tokens"] == 20, "another form of the cache", text)
    stacked = models.decoder(positions="mask", cache="stacked")
    onnx.save(models.spoil(stacked, output_of(stacked, "Sigmoid", 1), "Greater", 14), "wrong.onnx")
    result, text = found("right.onnx", "--against", "wrong.onnx", *PROMPT, "--max-tokens", "40", status=1)
    first = result["steps"][0]
    expect(first["positions"] == 14 and not first["from_one_cache"] and "guilty" in nodes_of(first), "a fault in another form", text)
    one = models.decoder()
    for value in one.graph.input:
        if value.name in ("input_ids", "position_ids"):
            value.type.tensor_type.shape.dim[1].dim_value = 1
    onnx.save(one, "one.onnx")
    onnx.save(models.decoder(), "many.onnx")
    result, text = found("many.onnx", "--against", "one.onnx", *PROMPT, "--max-tokens", "20", status=0)
    expect(result["equal_tokens"] == 20, "one token a step", text)
    # The fault is in the prompt already.
    onnx.save(models.spoil(models.decoder(), output_of(models.decoder(), "Sigmoid", 0), "Greater", 2), "early.onnx")
    result, text = found("one.onnx", "--against", "early.onnx", *PROMPT, "--max-tokens", "20", status=1)
    expect(result["steps"][0]["positions"] == 2 and result["steps"][0]["index"] == 0, "a token of the prompt", text)


def rounding():
    """A choice between two tokens of equal logits: rounding explains it, and the next prompt is looked at."""
    def twins(off):
        model = models.decoder()
        head = next(t for t in model.graph.initializer if t.name == "head")
        data = numpy_helper.to_array(head).copy()
        data[:, :48] = data[:, 48:96]
        data[:, 96] = data[:, 48]
        data *= np.float32(1) + np.float32(2**-20)
        data[:, :48] *= np.float32(1) - np.float32(off)
        head.CopyFrom(numpy_helper.from_array(data, "head"))
        return model

    onnx.save(twins(0), "right.onnx")
    onnx.save(twins(2**-23), "rounded.onnx")
    result, text = found("right.onnx", "--against", "rounded.onnx", *PROMPT, "--prompt-ids", "7", "--max-tokens", "20", status=0)
    expect([p["explanation"] for p in result["partings"]] == ["rounding only"] * 2 and result["prompts"] == 2, "rounding", text)


def bad_input():
    onnx.save(models.decoder(), "input.onnx")
    onnx.save(models.decoder(nan_at=33), "nan.onnx")
    onnx.save(models.decoder(positions="table", places=16), "table.onnx")
    pathlib.Path("image.onnxtxt").write_text(
        '<ir_version: 8, opset_import: ["" : 17]>\ng (float[1,3] x) => (float[1,3] y) { y = Relu (x) }\n')
    pathlib.Path("saved.json").write_text("[]")
    cases = [
        (["input.onnx", *PROMPT], "nothing to compare"),
        (["input.onnx", *PROMPT, "--engine", "--ref", "--engine"], "compares two"),
        (["input.onnx", "--engine", "--prompt-ids", "1,97"], "token 97 at position 1 is outside of the model's vocabulary"),
        (["input.onnx", "--engine", "--prompt-ids", ""], "prompt 0 has no token"),
        (["input.onnx", "--engine", "--max-tokens", "4"], "There is no prompt"),
        (["input.onnx", "--engine", *PROMPT, "--max-tokens", "0"], "0 tokens are none"),
        (["input.onnx", "--engine", *PROMPT, "--load-outputs", "saved.json"], "--load-outputs holds no steps"),
        (["input.onnx", "--engine", "--no-verdict"], "--no-verdict is for models that generate"),
        (["input.onnx", "--engine", *PROMPT, "--against", "image.onnxtxt"], "takes no tokens"),
        (["image.onnxtxt", "--engine", "--prompt-ids", "1"], "takes no tokens"),
        (["nan.onnx", "--engine", "--prompt-ids", "5,33"], "97 of 97 logits are NaN"),
        (["table.onnx", "--engine", *PROMPT], "for token 12 of prompt 0"),
    ]
    for words, part in cases:
        code, text = run(*words)
        expect(code in (1, 2) and part in text and "Traceback" not in text and "internal" not in text, f"{words}: {part}", f"{code}\n{text}")
    code, text = run("input.onnx", "--engine", *PROMPT, "--max-tokens", "2", "--iterations", "3")
    expect(code == 0 and "--iterations has no effect" in text, "an option of data", text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in (late, no_numbers, once, of_a_backend, other_forms, rounding, bad_input):
            start = time.monotonic()
            test()
            print(f"{test.__name__}: {time.monotonic() - start:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
