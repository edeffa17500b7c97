#!/usr/bin/env python3
"""`assay generate` from end to end, over the forms in which exporters write decoders: generate_test.py ASSAY [--long]"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import models  # noqa: E402

ASSAY = os.path.abspath(sys.argv[1])
LONG = "--long" in sys.argv
ONNXRT = ["--onnxrt"] if os.environ.get("ASSAY_ONNXRUNTIME") else []
problems = 0
PROMPT = "5,17,42,3,80"
RENAMED = ["--interface", "tokens=tokens", "mask=seen", "positions=places", "logits=scores"]


def run(*words):
    """(exit code, what it printed)"""
    done = subprocess.run([ASSAY, "generate", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=900)
    return done.returncode, done.stdout


def expect(condition, what, shown=""):
    global problems
    if not condition:
        problems += 1
        print(f"FAILED: {what}\n{shown}")


def report(*words, status=0):
    """What --json says, and the text."""
    pathlib.Path("report.json").unlink(missing_ok=True)
    code, text = run(*words, "--json", "report.json")
    expect(code == status, f"{words}: exit code {code}, not {status}", text)
    if not os.path.exists("report.json"):
        expect(False, f"{words}: no JSON", text)
        return None, text
    return json.loads(pathlib.Path("report.json").read_text()), text


def save(name, **form):
    onnx.save(models.decoder(**form), name)
    return name


def tokens(result, backend=0, sequence=0):
    return result["backends"][backend]["sequences"][sequence]["tokens"]


def forms():
    """All forms generate what the one without a cache does, on every backend; and one plan of the network serves all
    lengths, however positions are computed."""
    expected = {}
    for name, form in models.FORMS.items():
        path = save(f"{name}.onnx", **form)
        mapped = RENAMED if form.get("renamed") else []
        count = 600 if LONG and form.get("cache") != "none" else 24
        result, text = report(path, "--prompt-ids", PROMPT, "--max-tokens", str(count), "--engine", *ONNXRT, *mapped)
        if result is None:
            continue
        kind = "table" if name == "table" else "rotary"
        whole = models.decoder(**{**form, "cache": "none", "renamed": False})
        if kind not in expected:
            onnx.save(whole, "whole.onnx")
            reference, _ = report("whole.onnx", "--prompt-ids", PROMPT, "--max-tokens", "24", "--ref")
            expected[kind] = tokens(reference)
        expect(tokens(result)[:24] == expected[kind], f"{name}: other tokens than those of the whole sequence", text)
        backend = result["backends"][0]
        if form.get("cache") != "none":
            expect(backend["late_plans"] == 0, f"{name}: {backend['late_plans']} plans behind the first tokens", text)
        caches = {"separate": 4, "stacked": 2, "merged": 4, "none": 0}[form.get("cache", "separate")]
        expect(len(result["interface"]["caches"]) == caches, f"{name}: caches", result["interface"])
        for agreement in result["agreements"]:
            for parting in agreement["partings"]:
                expect(parting["explanation"] == "rounding only", f"{name}: {parting}", text)


def one_token_a_step():
    """A model that takes one token a step gets its prompt token by token."""
    model = models.decoder()
    for value in model.graph.input:
        if value.name in ("input_ids", "position_ids"):
            value.type.tensor_type.shape.dim[1].dim_value = 1
    onnx.save(model, "one.onnx")
    save("input.onnx")
    one, text = report("one.onnx", "--prompt-ids", PROMPT, "--max-tokens", "12", "--engine", "--ref")
    many, _ = report("input.onnx", "--prompt-ids", PROMPT, "--max-tokens", "12", "--ref")
    expect(one and tokens(one) == tokens(many), "one token a step", text)
    expect("token by token" in text, "one token a step is told", text)


def sampling():
    """A seed draws the same on all backends and again; another one draws otherwise."""
    save("input.onnx")
    words = ["input.onnx", "--prompt-ids", PROMPT, "--max-tokens", "16", "--temperature", "1.5", "--top-k", "20"]
    first, text = report(*words, "--seed", "3", "--ref", "--engine")
    expect(first and (tokens(first, 0) == tokens(first, 1) or
                      first["agreements"][0]["partings"][0]["explanation"] == "rounding only"), "a seed on two backends", text)
    again, _ = report(*words, "--seed", "3", "--ref")
    other, _ = report(*words, "--seed", "4", "--ref")
    expect(tokens(first) == tokens(again) != tokens(other), "seeds", text)


def files():
    """Prompts of files, and what is saved is read again."""
    save("input.onnx")
    pathlib.Path("prompts.txt").write_text("5 17 42 # a prompt\n3,80\n")
    result, text = report("input.onnx", "--tokens", "prompts.txt", "--max-tokens", "4", "--ref", "--save-tokens", "all.npy")
    expect(len(result["backends"][0]["sequences"]) == 2, "two prompts", text)
    rows = np.load("all.npy")
    expect(rows.shape == (2, 7) and rows[1, -1] == -1 and list(rows[0, :3]) == [5, 17, 42], "saved tokens", rows)
    longer, text = report("input.onnx", "--tokens", "all.npy", "--max-tokens", "2", "--ref")
    expect(longer["backends"][0]["sequences"][1]["prompt"] == [3, 80, *tokens(result, 0, 1)], "tokens read again", text)
    ended, text = report("input.onnx", "--tokens", "prompts.txt", "--ref", "--eos", str(tokens(result)[1]))
    expect(ended["backends"][0]["sequences"][0]["ended"] and len(tokens(ended)) == 2, "a token that ends", text)


class Wrong:
    """A runner whose cache loses what is old: positions from the fourth token on are wrong."""

    SCRIPT = """
import numpy as np
import onnxruntime


class Runner:
    def __init__(self, path):
        self.session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def infer(self, feed):
        feed = dict(feed)
        if feed["attention_mask"].shape[1] > 8:
            feed["position_ids"] = feed["position_ids"] - 3
        return dict(zip([o.name for o in self.session.get_outputs()], self.session.run(None, feed)))
"""


def partings():
    """Where backends part float64 says which of them is wrong, and where it is a matter of rounding."""
    model = models.decoder()
    onnx.save(model, "right.onnx")
    if ONNXRT:
        pathlib.Path("wrong.py").write_text(Wrong.SCRIPT)
        result, text = report("right.onnx", "--prompt-ids", PROMPT, "--max-tokens", "40", "--engine", "--runner-script",
                              "wrong.py:Runner", status=1)
        if result:
            parting = result["agreements"][0]["partings"][0]
            expect(parting["explanation"] == "second wrong" and "is WRONG" in text, "a wrong backend", text)
            expect(parting["index"] >= 4 and len(parting["sides"][0]["logits"]) == 2, "where it parts", text)


def bad_input():
    """One sentence each."""
    save("input.onnx")
    save("table.onnx", positions="table", places=16)
    save("nan.onnx", nan_at=33)
    save("renamed.onnx", renamed=True)
    pathlib.Path("damaged.txt").write_text("1 2\n3 four\n")
    pathlib.Path("damaged.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00{'descr'")
    pathlib.Path("image.onnxtxt").write_text(
        '<ir_version: 8, opset_import: ["" : 17]>\ng (float[1,3] x) => (float[1,3] y) { y = Relu (x) }\n')
    fixed = models.decoder()
    for value in fixed.graph.input:
        if value.name.startswith("past"):
            value.type.tensor_type.shape.dim[2].dim_value = 8
    onnx.save(fixed, "fixed.onnx")
    cases = [
        (["input.onnx"], "There is no prompt"),
        (["input.onnx", "--prompt-ids", "1,97"], "token 97 at position 1 is outside of the model's vocabulary"),
        (["input.onnx", "--prompt-ids=-1"], "negative"),
        (["input.onnx", "--prompt-ids", ""], "prompt 0 has no token"),
        (["input.onnx", "--prompt-ids", "1,x"], "'x' is not the number of a token"),
        (["input.onnx", "--prompt-ids", "1", "--max-tokens", "0"], "0 tokens are none"),
        (["input.onnx", "--prompt-ids", "1", "--temperature", "-1"], "temperature"),
        (["input.onnx", "--prompt-ids", "1", "--top-p", "2"], "sum of probabilities"),
        (["input.onnx", "--prompt-ids", "1", "--seed", "2"], "--seed has no effect"),
        (["input.onnx", "--prompt-ids", "1", "--interface", "ids=x"], "no role 'ids'"),
        (["input.onnx", "--tokens", "damaged.txt"], "line 2 of"),
        (["input.onnx", "--tokens", "damaged.npy"], "damaged.npy"),
        (["input.onnx", "--tokens", "missing.txt"], "missing.txt"),
        (["image.onnxtxt", "--prompt-ids", "1"], "takes no tokens"),
        (["renamed.onnx", "--prompt-ids", "1"], "may be the tokens"),
        (["fixed.onnx", "--prompt-ids", "1"], "of one length only"),
    ]
    for words, part in cases:
        code, text = run(*words, "--ref")
        expect(code in (1, 2) and part in text and "Traceback" not in text and "internal" not in text, f"{words}: {part}", f"{code}\n{text}")
    for backend in ("--engine", "--ref", *ONNXRT):
        # The table of positions ends at 16.
        code, text = run("table.onnx", "--prompt-ids", PROMPT, backend)
        expect(code == 1 and "for token 12 of prompt 0" in text and "behind 16 positions" in text, f"{backend}: too long", text)
        code, text = run("nan.onnx", "--prompt-ids", "5,17,33", backend)
        expect(code == 1 and "97 of 97 logits are NaN" in text and "for token 0 of prompt 0" in text, f"{backend}: NaN", text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in (forms, one_token_a_step, sampling, files, partings, bad_input):
            start = time.monotonic()
            test()
            print(f"{test.__name__}: {time.monotonic() - start:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
