#!/usr/bin/env python3
"""`surgeon convert-opset` saves as the other commands do: external data, in one file or many, from a size on.

usage: saving_test.py ASSAY
"""

import pathlib
import subprocess
import sys
import tempfile


def main():
    assay, problems = sys.argv[1], []

    def run(*arguments):
        result = subprocess.run([assay, *map(str, arguments)], capture_output=True, text=True)
        if result.returncode != 0:
            problems.append(f"{' '.join(map(str, arguments))}: {result.stdout[-500:]}{result.stderr[-500:]}")
        return result.stdout

    def expect(condition, what):
        if not condition:
            problems.append(what)

    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        source = work / "mlp.onnx"
        run("template", "model", "mlp", "--opset", "13", "-o", source)

        def convert(folder, *options):
            (work / folder).mkdir()
            text = run("surgeon", "convert-opset", source, "--to", "17", "-o", work / folder / "m.onnx", *options)
            run("inspect", "model", work / folder / "m.onnx")
            return text, {p.name: p.stat().st_size for p in (work / folder).iterdir()}

        _, plain = convert("plain")
        expect(set(plain) == {"m.onnx"}, f"without options: {plain}")
        _, one = convert("one", "--save-external-data", "w.bin", "--external-data-size-threshold", "0")
        expect(set(one) == {"m.onnx", "w.bin"} and one["m.onnx"] < one["w.bin"], f"one file: {one}")
        _, many = convert("many", "--save-external-data", "--external-data-size-threshold", "0",
                          "--no-save-all-tensors-to-one-file")
        expect(len(many) > 3 and many["m.onnx"] < plain["m.onnx"] / 2, f"many files: {many}")
        _, none = convert("none", "--save-external-data", "w.bin", "--external-data-size-threshold", "1G")
        expect(none["m.onnx"] >= plain["m.onnx"] - 100, f"all below the threshold: {none}")
        text, _ = convert("alone", "--external-data-size-threshold", "0")
        expect("No external data will be written" in text, f"a threshold alone is not warned of: {text}")
        text = run("surgeon", "convert-opset", source, "--to", "17", "--save-external-data", "w.bin")
        expect("Nothing is written" in text and not (work / "w.bin").exists(), f"without -o: {text}")
    print("\n".join(problems) or "ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
