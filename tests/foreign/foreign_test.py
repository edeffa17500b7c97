#!/usr/bin/env python3
"""Every command over real models of others.

    tests/foreign/foreign_test.py BINARY [FOLDER] [--only NAME...] [--quick] [--any]

FOLDER keeps what fetch.py downloads; without it, the environment variable ASSAY_FOREIGN_MODELS says where, else it is build/foreign.
For each model of models.py, and with --any for every other one that lies there: three backends and the verdict, all tensors marked,
inspection with statistics, lint, capability, and everything that written_models_check.py does (sanitize with proof, extract, insert,
opsets up and down, float16, prune, strip and reconstruct, text, external data): onnx.checker and ONNX Runtime must take what is written,
and its outputs must be those of the original. --quick leaves that last part out. Exit status 0 when everything holds, 77 without the
packages that carry the models.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "compat")]
import fetch  # noqa: E402
import models  # noqa: E402
import onnx  # noqa: E402
import written_models_check as written  # noqa: E402
from polygraphy.json import save_json  # noqa: E402

SKIPPED = 77
LEAST = 15  # models; fewer do not count as a test
TIMEOUT = 900


class Foreign(written.Checker):
    def said(self, words):
        """Exit status and all that was printed."""
        try:
            done = subprocess.run([self.assay, *map(str, words)], env=self.environment, capture_output=True, text=True, errors="replace",
                                  timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return 124, f"it took more than {TIMEOUT} s"
        return done.returncode, done.stdout + done.stderr

    def plain(self, path, words):
        """What is wrong with a command that must succeed."""
        status, text = self.said([words[0], *words[1:]])
        return None if status == 0 else f"exit status {status}: {text[-500:]}"

    def verdict(self, path, inputs, options=()):
        """All three backends: the engine and the reference are right, whatever is said of ONNX Runtime."""
        _, text = self.said(["run", path, "--engine", "--onnxrt", "--ref", "--arbiter", "--load-inputs", inputs, *options])
        # Where an output alone does not tell, those of the traced run come first.
        judged = re.findall(r"\[.\]\s+(PASSED|FAILED|UNCLEAR) \| (\S+)-runner-\S+ \| (.*)", text)[-3:]
        if len(judged) != 3:
            return f"no verdict: {text[-600:]}"
        for result, runner, numbers in judged:
            if result != "PASSED" and runner == "onnxrt":
                print(f"        ONNX Runtime on {path.parent.name}/{path.name} {' '.join(options)}: {numbers}", flush=True)
            elif result != "PASSED":
                lines = [line for line in text.splitlines() if "| wrong |" in line or "| unclear |" in line or "The error" in line or "made by" in line]
                return f"{runner}: {numbers}: {' / '.join(lines[:3])[:500]}"
        return None

    def lint(self, path, original, fed):
        status, text = self.said(["check", "lint", path, *fed])
        errors = [line for line in text.splitlines() if line.startswith("[E] LINT") and not self.is_rank(line, original)]
        if original.level == 2 and not original.refusal and errors:
            return f"errors about a model that onnx.checker and ONNX Runtime take: {errors[:3]}"
        if (original.level == 0 or original.refusal) and not errors:
            return "no error about a model that onnx.checker or ONNX Runtime refuses"
        return None if status in (0, 1) else f"exit status {status}: {text[-300:]}"

    @staticmethod
    def is_rank(line, original):
        """Whether the line is about an output that is declared with another rank than it has, which ONNX Runtime only warns of."""
        found = re.search(r"'(.+?)' is declared with the shape", line)
        ranks = {o.name: len(o.type.tensor_type.shape.dim) for o in original.model.graph.output}
        name = found.group(1) if found else None
        return name in ranks and name in original.outputs and original.outputs[name].ndim != ranks[name]

    def foreign(self, name, path, given, newest, quick):
        feed = lambda session: models.feed_for(session, given)  # noqa: E731
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            original = written.Original(path, scratch, feed)
            inputs = None
            if not original.refusal:
                inputs = scratch / "inputs.json"
                save_json([{i: original.values[i] for i in original.shapes}], str(inputs))
            self.expect(f"{name}: lint", self.lint(path, original, ["--load-inputs", inputs] if inputs else []))
            self.expect(f"{name}: inspect model",
                        self.plain(path, ["inspect", "model", path, "--show", "layers", "attrs", "weights", "--stats"]))
            self.expect(f"{name}: inspect capability", self.plain(path, ["inspect", "capability", path, "-o", scratch / "parts"]))
            self.expect(f"{name}: inspect sparsity", self.plain(path, ["inspect", "sparsity", path]))
            self.expect(f"{name}: inspect diff", self.plain(path, ["inspect", "diff", path, path]))
            if original.refusal:
                print(f"        ONNX Runtime does not run {name}: {original.refusal}", flush=True)
            else:
                self.expect(f"{name}: three backends", self.verdict(path, inputs))
                self.expect(f"{name}: all tensors", self.verdict(path, inputs, ["--onnx-outputs", "mark", "all"]))
                half = ["run", path, "--onnxrt", "--fp-to-fp16", "--load-inputs", inputs, "--save-onnx", scratch / "half.onnx"]
                self.expect(f"{name}: run in float16", self.half(half, scratch / "half.onnx"))
            if not quick:
                self.model(path, newest, feed, inputs)

    @staticmethod
    def crashes(path):
        """Whether ONNX Runtime ends a process of its own that loads the file, which is not ours to repair."""
        load = f"import onnxruntime; onnxruntime.InferenceSession({str(path)!r}, providers=['CPUExecutionProvider'])"
        return subprocess.run([sys.executable, "-c", load], capture_output=True).returncode < 0

    def half(self, words, path):
        status, text = self.said(words)
        if "cannot be converted to float16" in text:  # a type that nobody can know
            return None
        if status != 0 and not ("crashed (segmentation fault)" in text and self.crashes(path)):
            return f"exit status {status}: {text[-500:]}"
        try:
            onnx.checker.check_model(str(path), full_check=True)
        except Exception as e:  # noqa: BLE001  its exceptions have no common base
            return f"onnx.checker: {e}"
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=fetch.folder())
    parser.add_argument("--only", nargs="+", default=[], help="parts of names")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--any", action="store_true", help="also models that models.py does not name")
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.folder).resolve()
    there, missing = fetch.fetch(folder)
    names = {f"{p.parent.name}/{p.name}": p for p in there}
    if missing:
        there_are = len(names.keys() & models.MODELS.keys())
        how = "skipped" if there_are < LEAST else "skipped in part"
        print(f"{how}: packages that could not be had: {', '.join(missing)}; {there_are} models are there")
        if there_are < LEAST:
            return SKIPPED
    wanted = [n for n in names if n in models.MODELS or arguments.any]
    wanted = [n for n in wanted if not arguments.only or any(part in n for part in arguments.only)]
    check, newest = Foreign(os.path.abspath(arguments.assay)), written.newest_opset()
    for name in wanted:
        before = check.failed, check.count
        check.foreign(name, names[name], models.MODELS.get(name, {}), newest, arguments.quick)
        failed, count = check.failed - before[0], check.count - before[1]
        print(f"{name}: {count - failed} of {count} hold", flush=True)
    print(f"{len(wanted)} models: {check.count - check.failed} of {check.count} hold")
    return 1 if check.failed or check.count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
