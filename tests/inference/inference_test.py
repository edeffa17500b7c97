#!/usr/bin/env python3
"""Compares inferred types and shapes with those of onnx.shape_inference, value by value.

usage: inference_test.py INFER_DUMP ASSAY CASES [MODELS]

Runs over the conformance cases that are made in CASES, every model that `assay template model` generates, and the models
below MODELS if that folder is there. Each model is tried twice: with the shapes of its inputs as declared, and with every
extent of them a symbol. What the model declares of other values is removed first, so that only inference speaks. Prints a
table, by operator, of where one knows more than the other. Exit status 1 when ours knows less or something else and
exceptions.txt does not say why; 77 when there is no onnx package.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))
import generate  # noqa: E402  exits with 77 when there is no onnx package

import onnx  # noqa: E402
from onnx import shape_inference  # noqa: E402

UNKNOWN, SYMBOL, NUMBER = range(3)


class Inferrer:
    """The program that infers models by our rules."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, path):
        """The types by value name, or the error."""
        self.process.stdin.write(f"{path}\n".encode())
        self.process.stdin.flush()
        text = bytearray()
        while (byte := self.process.stdout.read1(1 << 16)) and not byte.endswith(b"\0"):
            text += byte
        answer = json.loads((text + byte)[:-1])
        return answer.get("values"), answer.get("error")


def type_of(proto):
    """A TypeProto in the form that infer_dump prints."""
    kind = proto.WhichOneof("value")
    if kind in ("sequence_type", "optional_type"):
        inner = getattr(proto, kind).elem_type
        out = {"kind": kind.split("_")[0]}
        if inner.WhichOneof("value"):
            out["element"] = type_of(inner)
        return out
    if kind != "tensor_type":
        return {"kind": "unknown"}
    tensor = proto.tensor_type
    out = {"kind": "tensor"}
    if tensor.elem_type:
        out["dtype"] = onnx.helper.tensor_dtype_to_string(tensor.elem_type).split(".")[-1].lower()
    if tensor.HasField("shape"):
        out["shape"] = [dim_of(d) for d in tensor.shape.dim]
    return out


def dim_of(dim):
    """A number, a symbol, or None; symbols that onnx invents say nothing."""
    if dim.HasField("dim_value"):
        return dim.dim_value if dim.dim_value >= 0 else None
    return dim.dim_param if dim.dim_param and not dim.dim_param.startswith("unk__") else None


def without_zeros(t):
    """onnx leaves 0 in some extents that it does not know."""
    if "shape" in t:
        t["shape"] = [None if d == 0 else d for d in t["shape"]]
    return t


def theirs(model):
    """Types by value name, subgraphs as infer_dump names them."""
    inferred = shape_inference.infer_shapes(model, check_type=False, strict_mode=False, data_prop=True)
    values = {}

    def walk(graph, prefix):
        types = {v.name: type_of(v.type) for v in (*graph.value_info, *graph.output)}
        for node in graph.node:
            outputs = [o for o in node.output if o]
            for o in outputs:
                values[prefix + o] = types.get(o, {"kind": "unknown"})
            for a in node.attribute:
                if a.type == onnx.AttributeProto.GRAPH and outputs:
                    walk(a.g, f"{prefix}{outputs[0]}.{a.name}/")

    walk(inferred.graph, "")
    return values


def producers(graph, prefix=""):
    """Value name -> operator."""
    out = {}
    for node in graph.node:
        outputs = [o for o in node.output if o]
        for o in outputs:
            out[prefix + o] = f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
        for a in node.attribute:
            if a.type == onnx.AttributeProto.GRAPH and outputs:
                out |= producers(a.g, f"{prefix}{outputs[0]}.{a.name}/")
    return out


def strip(graph, is_main=True):
    """Removes what is declared of values that nodes produce."""
    del graph.value_info[:]
    for v in graph.output:
        v.type.Clear()
    for node in graph.node:
        for a in node.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                strip(a.g, False)


def make_symbolic(model):
    """Every extent of every input becomes a symbol of its own."""
    constants = {i.name for i in model.graph.initializer}
    for k, v in enumerate(i for i in model.graph.input if i.name not in constants):
        if v.type.WhichOneof("value") == "tensor_type":
            for i, d in enumerate(v.type.tensor_type.shape.dim):
                d.dim_param = f"in{k}_{i}"


def knowledge(dim):
    return UNKNOWN if dim is None else SYMBOL if isinstance(dim, str) else NUMBER


def compare(ours, other):
    """`equal`, `more`, `less` or `other`: what ours says beside the other."""
    if ours["kind"] != other["kind"]:
        if other["kind"] == "unknown":
            return "more"
        return "less" if ours["kind"] == "unknown" else "other"
    if "element" in ours or "element" in other:
        unknown = {"kind": "unknown"}
        return compare(ours.get("element", unknown), other.get("element", unknown))
    verdicts = set()
    a, b = ours.get("dtype"), other.get("dtype")
    if a != b:
        verdicts.add("less" if a is None else "more" if b is None else "other")
    a, b = ours.get("shape"), other.get("shape")
    if a is None or b is None:
        if a != b:
            verdicts.add("less" if a is None else "more")
    elif len(a) != len(b):
        verdicts.add("other")
    else:
        for x, y in zip(a, b):
            if knowledge(x) != knowledge(y):
                verdicts.add("less" if knowledge(x) < knowledge(y) else "more")
            elif knowledge(x) == NUMBER and x != y:
                verdicts.add("other")
    for verdict in ("other", "less", "more"):
        if verdict in verdicts:
            return verdict
    return "equal"


def text(t):
    if t["kind"] != "tensor":
        return t["kind"] + (f"({text(t['element'])})" if "element" in t else "")
    shape = "..." if t.get("shape") is None else ", ".join("?" if d is None else str(d) for d in t["shape"])
    return f"{t.get('dtype', '?')}[{shape}]"


class Comparison:
    def __init__(self, program):
        self.infer = Inferrer(program)
        self.rows = collections.defaultdict(collections.Counter)
        self.lines = []
        self.exceptions = self.read_exceptions()
        self.used = set()
        self.models = 0
        self.has_optional_models = False

    @staticmethod
    def read_exceptions():
        """(operator, case pattern) -> reason, from lines `OPERATOR CASE: REASON`."""
        out = {}
        for line in (HERE / "exceptions.txt").read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                operator, case, reason = re.fullmatch(r"(\S+) (\S+): (.+)", line).groups()
                out[operator, case] = reason
        return out

    def excuse(self, operator, name):
        for key in self.exceptions:
            if key[0] == operator and pathlib.PurePath(name).match(key[1]):
                self.used.add(key)
                return True
        return False

    def add(self, name, model, folder):
        """Compares on one model, as a file that both read."""
        strip(model.graph)
        for variant in ("declared", "symbolic"):
            if variant == "symbolic":
                make_symbolic(model)
            self.models += 1
            path = folder / "model.onnx"
            path.write_bytes(model.SerializeToString())
            ours, error = self.infer(path)
            if error:
                self.rows["(error)"]["other"] += 1
                if not self.excuse("(error)", name):
                    self.lines.append(f"{name} ({variant}): {error}")
                continue
            operators = producers(model.graph)
            for value, other in theirs(model).items():
                if variant == "symbolic":
                    other = without_zeros(other)
                verdict = compare(ours[value], other)
                self.rows[operators[value]][verdict] += 1
                if verdict in ("less", "other") and not self.excuse(operators[value], name):
                    self.lines.append(f"{name} ({variant}): '{value}' of {operators[value]}: "
                                      f"{text(ours[value])}, onnx {text(other)}")

    def report(self):
        verdicts = ("equal", "more", "less", "other")
        titles = ("equal", "ours more", "ours less", "different")
        width = max(map(len, self.rows))
        print(f"{'operator':{width}} " + " ".join(f"{t:>9}" for t in titles))
        total = collections.Counter()
        for operator, row in sorted(self.rows.items()):
            total.update(row)
            print(f"{operator:{width}} " + " ".join(f"{row[v]:9}" for v in verdicts))
        print(f"{'all values':{width}} " + " ".join(f"{total[v]:9}" for v in verdicts))
        # What is said of the optional models counts only where they are.
        known = [k for k in self.exceptions if not k[1].startswith("models/") or self.has_optional_models]
        unused = [f"exceptions.txt: nothing needs {' '.join(k)}" for k in set(known) - self.used]
        for line in self.lines + unused:
            print(line)
        print(f"{self.models} models, {len(self.lines)} values where ours says less or something else without a reason")
        return 1 if self.lines or unused else 0


# Megabytes. Larger models have weights that say nothing about shapes: with --all.
LARGE = 50


def templates(assay, folder, with_large):
    """(name, model) of the models that the program generates, the batch dynamic."""
    listing = subprocess.run([assay, "template", "model", "--list"], capture_output=True, check=True, text=True).stdout
    rows = [line.split() for line in listing.replace("[I] ", "    ").splitlines()[1:]]
    assert all(row[5] == "MB" for row in rows)
    for name, *_, size in (row[:5] for row in rows):
        if float(size) > LARGE and not with_large:
            continue
        path = folder / "template.onnx"
        subprocess.run([assay, "template", "model", name, "-o", str(path), "--batch", "dynamic"],
                       capture_output=True, check=True)
        yield f"template/{name}", onnx.load(path)


def main():
    with_large = "--all" in sys.argv
    program, assay, cases, *roots = [a for a in sys.argv[1:] if a != "--all"]
    generate.make_cases(pathlib.Path(cases))
    comparison = Comparison(program)
    comparison.has_optional_models = with_large and any(pathlib.Path(root).is_dir() for root in roots)
    for root in roots:
        if not pathlib.Path(root).is_dir():
            print(f"skipped in part: there is no folder {root}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for path in sorted(pathlib.Path(cases).glob("*/*/model.onnx")):
            comparison.add(str(path.parent.relative_to(cases)), onnx.load(path), folder)
        for name, model in templates(assay, folder, with_large):
            comparison.add(name, model, folder)
        for path in sorted(p for root in roots for p in pathlib.Path(root).rglob("*.onnx")):
            comparison.add(f"models/{path.name}", onnx.load(path, load_external_data=False), folder)
    return comparison.report()


if __name__ == "__main__":
    sys.exit(main())
