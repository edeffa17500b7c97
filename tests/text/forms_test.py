#!/usr/bin/env python3
"""Protobuf's text format and JSON form, read as protobuf's own library writes them, over the models of ONNX's test cases.

usage: forms_test.py TEXT_TOOL CASES

Every model is written by google.protobuf.text_format and json_format, in several ways of writing; what our readers make of
each must be the model again. Exit status 77 when there is no onnx package.
"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))
sys.path.insert(0, str(HERE))
import generate  # noqa: E402  exits with 77 when there is no onnx package

import onnx  # noqa: E402
from google.protobuf import json_format, text_format  # noqa: E402

from text_test import odd_models  # noqa: E402

FORMS = {
    "text.textproto": lambda m: text_format.MessageToString(m),
    "line.textproto": lambda m: text_format.MessageToString(m, as_one_line=True, use_short_repeated_primitives=True),
    "brackets.textproto": lambda m: text_format.MessageToString(m, pointy_brackets=True, as_utf8=True),
    "plain.json": lambda m: json_format.MessageToJson(m),
    "names.json": lambda m: json_format.MessageToJson(m, preserving_proto_field_name=True, indent=None, use_integers_for_enums=True),
}


def models(cases):
    yield from odd_models().items()
    for path in sorted(pathlib.Path(cases).rglob("model.onnx")):
        yield str(path), onnx.ModelProto.FromString(path.read_bytes())


def same(a, b):
    """Equal but for NaN, which differs from itself."""
    return a == b or text_format.MessageToString(a) == text_format.MessageToString(b)


def main():
    tool, cases = sys.argv[1:]
    generate.make_cases(pathlib.Path(cases))
    count, failures = 0, []
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen([tool], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for name, model in models(cases):
            for form, write in FORMS.items():
                source, target = pathlib.Path(folder) / form, pathlib.Path(folder) / "read.onnx"
                try:
                    source.write_text(write(model))
                except json_format.SerializeToJsonError:
                    continue
                print("message", source, target, sep="\t", file=process.stdin, flush=True)
                answer = process.stdout.readline().strip()
                count += 1
                if answer != "ok":
                    failures.append(f"{name} as {form}: {answer}")
                elif not same(onnx.ModelProto.FromString(target.read_bytes()), model):
                    failures.append(f"{name} as {form}: another model")
        process.stdin.close()
    print(f"{count} texts read, {len(failures)} problems")
    print("\n".join(failures[:20]))
    return 1 if failures or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
