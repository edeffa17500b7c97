#!/usr/bin/env python3
"""Reading and writing a model leaves every field of it as it was.

    roundtrip_test.py TOOL CASES [MODELS...]

Reads the conformance cases, which are made in CASES, all models below the other folders, and some with fields that no model of the wheel has, writes them again, and compares the messages
field by field, unknown fields and the presence of optional ones included.
"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))
import generate  # noqa: E402  exits with 77 when there is no onnx package

import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

BATCH = 200


def odd_models():
    """Models that say what is easily lost."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])
    x.type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    y.doc_string = ""
    typed = helper.make_tensor("typed", TensorProto.FLOAT, [2], [1.0, 2.0])
    halves = helper.make_tensor("halves", TensorProto.FLOAT16, [2], [1.0, 2.0])
    halves.doc_string = "two"
    raw = helper.make_tensor("raw", TensorProto.INT4, [3], b"\x21\x03", raw=True)
    raw.metadata_props.add(key="a", value="b")
    constant = helper.make_node("Constant", [], ["c"], value=helper.make_tensor("inner", TensorProto.FLOAT, [2], [3.0, 4.0]))
    constant.doc_string = ""
    constant.metadata_props.add(key="k", value="")
    constant.attribute[0].doc_string = "why"
    add = helper.make_node("Add", ["x", "c"], ["s"], name="", domain="ai.onnx")
    mul = helper.make_node("Mul", ["s", "typed"], ["y"])
    unknown = b"\xfa\x3e\x03abc"  # field 1007
    graph = helper.make_graph([constant, add, mul], "g", [x], [y], [typed, halves, raw])
    info = graph.value_info.add(name="s", doc_string="sum")
    info.type.SetInParent()
    graph.value_info.add(name="nothing")
    graph.value_info.append(helper.make_tensor_value_info("typed", TensorProto.FLOAT, [2]))
    graph.quantization_annotation.add(tensor_name="s").quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="typed")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("custom", 1)])
    model.producer_version = ""
    model.training_info.add().algorithm.name = "training"
    for message in (model, graph, add, mul.attribute.add(name="u", type=1, f=1.0), model.graph.node[0], info):
        message.MergeFromString(unknown)
    yield model
    # Initializers that are inputs, too, in another order than both lists.
    w = helper.make_tensor_value_info("w", TensorProto.FLOAT, [2])
    w.doc_string = "weights"
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [w, x], [y],
                              [helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0])])
    model = helper.make_model(graph, opset_imports=[onnx.OperatorSetIdProto(version=9)], ir_version=3)
    yield model
    # A function that says something of a value that nothing computes (such entries are written first), and of others.
    function = helper.make_function("custom", "F", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])],
                                    [helper.make_opsetid("", 21)])
    for name in ("nothing", "a", "b"):
        function.value_info.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]))
    graph = helper.make_graph([helper.make_node("F", ["x"], ["y"], domain="custom")], "g", [x], [y])
    yield helper.make_model(graph, functions=[function],
                            opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("custom", 1)])
    sparse = onnx.SparseTensorProto(values=helper.make_tensor("s", TensorProto.FLOAT, [1], [5.0]),
                                    indices=helper.make_tensor("i", TensorProto.INT64, [1], [1]), dims=[2])
    graph = helper.make_graph([helper.make_node("Add", ["x", "s"], ["y"])], "g", [x], [y], sparse_initializer=[sparse])
    yield helper.make_model(graph)


def compare(original, written):
    """The fields that differ, by path."""
    a, b = onnx.load_model(original, load_external_data=False), onnx.load_model(written, load_external_data=False)
    return [] if a == b and a.SerializeToString(deterministic=True) == b.SerializeToString(deterministic=True) else list(differences(a, b, ""))


def differences(a, b, path):
    fields = {f.name for f, _ in a.ListFields()} | {f.name for f, _ in b.ListFields()}
    for name in sorted(fields):
        u, v, at = getattr(a, name), getattr(b, name), f"{path}.{name}"
        if isinstance(u, (int, float, str, bytes)):
            if u != v or a.HasField(name) != b.HasField(name):
                yield f"{at}: {u!r:.60} became {v!r:.60}"
        elif hasattr(u, "ListFields"):
            if a.HasField(name) != b.HasField(name):
                yield f"{at}: {'gone' if a.HasField(name) else 'new'}"
            yield from differences(u, v, at)
        elif len(u) != len(v):
            yield f"{at}: {len(u)} entries became {len(v)}"
        else:
            for i, (p, q) in enumerate(zip(u, v)):
                if hasattr(p, "ListFields"):
                    yield from differences(p, q, f"{at}[{i}]")
                elif p != q:
                    yield f"{at}[{i}]: {p!r:.60} became {q!r:.60}"
    if a.SerializeToString(deterministic=True) != b.SerializeToString(deterministic=True) and not fields:
        yield f"{path}: unknown fields differ"


def main():
    tool, folders = sys.argv[1], sys.argv[2:]
    failed = count = 0
    generate.make_cases(pathlib.Path(folders[0]))
    with tempfile.TemporaryDirectory() as scratch:
        odd = pathlib.Path(scratch, "odd")
        odd.mkdir()
        for i, model in enumerate(odd_models()):
            odd.joinpath(f"{i}.onnx").write_bytes(model.SerializeToString())
        for folder in folders:
            if not pathlib.Path(folder).is_dir():
                print(f"skipped in part: there is no folder {folder}")
        paths = [p for folder in [odd, *folders] for p in sorted(pathlib.Path(folder).rglob("*.onnx"))]
        for start in range(0, len(paths), BATCH):
            batch = paths[start:start + BATCH]
            subprocess.run([tool, scratch, *batch], check=False)
            for i, path in enumerate(batch):
                written = pathlib.Path(scratch, f"{i}.onnx")
                if not written.exists():
                    failed += 1
                    print(f"{path}: not written")
                    continue
                count += 1
                found = compare(path, written)
                written.unlink()
                for line in found[:3]:
                    print(f"{path}: {line}")
                failed += bool(found)
    print(f"{count} models came back, {failed} of them changed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
