#!/usr/bin/env python3
"""What a growing cache costs: milliseconds a token in `assay generate`, against a step at a fixed length of the same network.

    growing.py BINARY [--layers N] [--width N] [--rounds N] [--threads N] [--json FILE]

In each round a form is measured by both ways in turns. A growing step is the median of tokens behind the first 32, around the length at
which the fixed step is taken (`assay bench` at that shape). The logits of a growing step are read and the next token is chosen in that
time, too. Of a first prompt, whose lengths are new, and of a second one of the same length.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "generate"))
PROMPT, TOKENS, SKIPPED = 64, 128, 32
FORMS = {
    "position_ids, a mask": {},
    "positions of the mask": {"positions": "mask"},
    "positions of Shape(past)": {"positions": "shape"},
    "a learned table": {"positions": "table"},
    "one stacked cache": {"cache": "stacked"},
    "no mask": {"positions": "shape", "mask": "none"},
}


def report_of(assay, folder, words):
    subprocess.run([assay, *words, "--json", "report.json"], cwd=folder, check=True, capture_output=True)
    return json.loads((folder / "report.json").read_text())


def growing(assay, folder, model, threads):
    prompts = [",".join(str(first + i % 50) for i in range(PROMPT)) for first in (5, 6)]
    words = [word for prompt in prompts for word in ("--prompt-ids", prompt)]
    found = report_of(assay, folder, ["generate", model, "--engine", *words, "--max-tokens", str(TOKENS), "--threads", str(threads)])
    return [1e3 * statistics.median(sequence["seconds"][SKIPPED:]) for sequence in found["backends"][0]["sequences"]]


def shapes_at(model, length):
    """Every input with one new token behind a cache of that length."""
    import onnx
    words = []
    for value in onnx.load(model, load_external_data=False).graph.input:
        open_dims = {"batch": 1, "tokens": 1, "past": length, "total": length + 1}
        fixed = [d.dim_value or open_dims[d.dim_param] for d in value.type.tensor_type.shape.dim]
        words.append(f"{value.name}:[{','.join(map(str, fixed))}]")
    return words


def fixed(assay, folder, model, threads):
    length = PROMPT + (SKIPPED + TOKENS) // 2
    found = report_of(assay, folder, ["bench", model, "--shapes", *shapes_at(folder / model, length), "--threads", str(threads), "--duration", "2"])
    return found["rows"][0]["latency_ms"]["median"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=pathlib.Path)
    a = parser.parse_args()
    import models
    import onnx
    assay = str(pathlib.Path(a.binary).resolve())
    rows = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for form, words in FORMS.items():
            onnx.save(models.decoder(layers=a.layers, width=a.width, heads=a.width // 64, key_heads=a.width // 256, vocabulary=32000, **words),
                      folder / "float.onnx")
            subprocess.run([assay, "convert", "float.onnx", "--int4", "--weight-format", "matmul-nbits", "--weight-block", "32", "-o", "q4.onnx"],
                           cwd=folder, check=True, capture_output=True)
            for weights, model in (("float32", "float.onnx"), ("4 bits", "q4.onnx")):
                runs = rows.setdefault(f"{form}, {weights}", [])
                for _ in range(a.rounds):
                    runs.append((*growing(assay, folder, model, a.threads), fixed(assay, folder, model, a.threads)))
                print(f"{form}, {weights}: " + " ".join(f"{g:.2f}/{again:.2f}/{f:.2f}" for g, again, f in runs), file=sys.stderr, flush=True)
    print("| form | fixed, ms | growing / fixed, median | runs | second prompt, median | runs, second prompt |\n|---|---:|---:|---|---:|---|")
    for row, runs in rows.items():
        first, second = [r[0] / r[2] for r in runs], [r[1] / r[2] for r in runs]
        texts = [f"{statistics.median(x):.2f} | {' '.join(f'{r:.2f}' for r in x)}" for x in (first, second)]
        print(f"| {row} | {statistics.median(r[2] for r in runs):.2f} | {texts[0]} | {texts[1]} |")
    if a.json:
        a.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
