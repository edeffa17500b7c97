#!/usr/bin/env python3
"""ONNX's text form against the onnx package, over the models of its test cases.

usage: text_test.py TEXT_TOOL CASES [MODELS]

For every model: (1) model -> our text -> our reader gives the same bytes; (2) onnx.parser reads our text as the same
model, apart from what stands in comments, which it skips; (3) our reader reads the text of onnx.printer as the same model
that onnx.parser reads from it, and where the printer shows everything, as the original. What the package cannot read or
print is counted by its reason, and every reason must be one of those below. Exit status 1 for anything else; 77 when
there is no onnx package.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))
import generate  # noqa: E402  exits with 77 when there is no onnx package

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnx.parser  # noqa: E402
import onnx.printer  # noqa: E402

# What onnx.parser cannot read of our text, though the syntax or its extension in docs/reference/text.md has it.
PARSER_LIMITS = {
    "lists of tensors, graphs or types": r"(tensors|graphs|type_protos|sparse_tensors) = \[",
    "sparse tensors": r"sparse_tensor = ",
    "a graph without a plain name": r"graph = \"",
    "a value without a type": None,
}
# What onnx.printer leaves out or writes so that no reader takes it.
PRINTER_LIMITS = {
    "elements left out": r"\.\.\.",
    "lists of tensors, graphs or types": r"(tensors|graphs|type_protos|sparse_tensors) = \[",
    "sparse tensors": r"sparse_tensors? = ",
    "a graph without a plain name": r"graph = \"",
}


def odd_models():
    """Models with what the test cases lack; by name."""
    helper, TensorProto = onnx.helper, onnx.TensorProto
    scalar = helper.make_tensor_value_info("x", TensorProto.FLOAT, [])
    graph = lambda name: helper.make_graph([helper.make_node("Relu", ["x"], ["z"])], name, [], [helper.make_tensor_value_info("z", 1, [])])

    def model(nodes, inputs=(scalar,), outputs=(), initializers=(), **more):
        body = helper.make_graph(nodes, "main", list(inputs), list(outputs), list(initializers))
        return helper.make_model(body, ir_version=13, opset_imports=[helper.make_opsetid("", 21)], **more)

    def tensors():
        types = [t for t in TensorProto.DataType.values() if t != TensorProto.STRING and TensorProto.UNDEFINED < t <= TensorProto.INT2]
        for t in types:
            raw = bytes(range(1, 1 + (48 + 15) // 16 * 16))
            bits = {"FLOAT4E2M1": 4, "INT4": 4, "UINT4": 4, "INT2": 2, "UINT2": 2}.get(TensorProto.DataType.Name(t))
            count = 3
            size = -(-count * bits // 8) if bits else count * np.dtype(helper.tensor_dtype_to_np_dtype(t)).itemsize
            data = bytes(b % 2 for b in raw[:size]) if t == TensorProto.BOOL else raw[:size]
            yield onnx.TensorProto(name=f"t{t}", data_type=t, dims=[count], raw_data=data)

    nans = np.array([0x7FC00000, 0xFFC00000, 0x7FC00001, 0xFFFFFFFF, 0x7F800000, 0x80000000, 1], np.uint32).view(np.float32)
    special = onnx.numpy_helper.from_array(nans, "nans")
    strings = onnx.numpy_helper.from_array(np.array(['a "quoted" \\ one', "two\nlines", "", "\u00e9"], object), "strings")
    sparse = helper.make_sparse_tensor(onnx.numpy_helper.from_array(nans[:2], "v"), onnx.numpy_helper.from_array(np.array([1, 5])), [3, 4])
    attributes = {
        "tensor": [special], "tensors": [special, strings], "graph": [graph("")], "graphs": [graph("a b"), graph("float"), graph("nan")],
        "type": [helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, None))],
        "types": [helper.make_tensor_type_proto(1, ["N", 2, None, "a b"]), helper.make_optional_type_proto(helper.make_tensor_type_proto(7, [])),
                  helper.make_map_type_proto(8, helper.make_tensor_type_proto(1, [3])), helper.make_sparse_tensor_type_proto(1, [2])],
        "sparse": [sparse], "sparses": [sparse, sparse],
        "float": [float("nan")], "floats": [1.0, -0.0, 1e-45, 3.4028235e38, float("inf"), float("-inf"), 0.1],
        "ints": [-(2**63), 2**63 - 1, 0], "strings": [b"a", b"b\"\\", b"\n"],
    }
    node = helper.make_node("Odd", ["x", "", "a b", "float"], ["inf", "", "seq"], "the node", "what it\nis for", "com.my-domain.x")
    for name, values in attributes.items():
        plural = name.endswith("s")
        node.attribute.append(helper.make_attribute(name, values if plural else values[0]))
    node.attribute.append(onnx.AttributeProto(name="no value"))
    node.attribute.append(helper.make_attribute("empty", [], attr_type=onnx.AttributeProto.INTS))
    node.attribute[0].doc_string = "of an attribute"
    node.metadata_props.add(key="k", value='v "w"')
    inputs = [scalar, helper.make_tensor_value_info("a b", 1, ["N", "2*N", 3, None]), helper.make_tensor_value_info("float", 1, None)]
    inputs[1].type.denotation = "IMAGE"
    inputs[1].doc_string = "an input\nof two lines"
    odd = model([node], inputs, [onnx.ValueInfoProto(name="inf"), helper.make_tensor_sequence_value_info("seq", 1, None)], [*tensors(), special, strings],
                doc_string="model", producer_name="p", producer_version="1", domain="d", model_version=3)
    odd.graph.doc_string = "graph"
    odd.graph.initializer[0].doc_string = "initializer"
    odd.graph.metadata_props.add(key="g", value="")
    odd.metadata_props.add(key="m", value="\t")
    annotation = odd.graph.quantization_annotation.add(tensor_name="t1")
    for key in ("SCALE_TENSOR", "ZERO_POINT_TENSOR"):
        annotation.quant_parameter_tensor_names.add(key=key, value="t1")

    calls = [helper.make_node("f", ["x"], ["y"], domain="local", overload="o", axis=1)]
    called = model(calls, [scalar], [helper.make_tensor_value_info("y", 1, [])])
    called.opset_import.add(domain="local", version=1)
    body = [helper.make_node("Concat", ["x"], ["y"]), helper.make_node("Identity", ["y"], ["z"])]
    body[0].attribute.append(onnx.AttributeProto(name="axis", type=onnx.AttributeProto.INT, ref_attr_name="axis"))
    function = helper.make_function("local", "f", ["x"], ["z"], body, [helper.make_opsetid("", 21)], ["axis"],
                                    [helper.make_attribute("alpha", 0.5)], overload="o", value_info=[helper.make_tensor_value_info("y", 1, [1])])
    function.doc_string = "function"
    function.metadata_props.add(key="f", value="g")
    called.functions.append(function)

    overridable = model([helper.make_node("Add", ["x", "w"], ["y"])], [scalar, helper.make_tensor_value_info("w", 1, [3])],
                        [helper.make_tensor_value_info("y", 1, [3])], [onnx.numpy_helper.from_array(nans[4:], "w")])
    return {"odd": odd, "function": called, "overridable": overridable}


class TextTool:
    """The program that reads and writes texts by our code."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        errors="replace")

    def __call__(self, *words):
        """The error; nothing when all went well."""
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        return None if answer == "ok" else answer or "the program ended"


def strip(message):
    """Removes what only comments carry."""
    for field, value in message.ListFields():
        if field.message_type is None:
            if field.name == "doc_string" and message.DESCRIPTOR.name not in ("ModelProto", "FunctionProto"):
                message.ClearField(field.name)
            continue
        if field.name == "metadata_props" and message.DESCRIPTOR.name != "ModelProto":
            message.ClearField(field.name)
        elif field.name in ("quantization_annotation",):
            message.ClearField(field.name)
        elif isinstance(value, type(message)) or hasattr(value, "ListFields"):
            strip(value)
        else:
            for item in value:
                strip(item)
    if message.DESCRIPTOR.name == "TypeProto":
        message.ClearField("denotation")
    return message


class Test:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, pathlib.Path(folder)
        self.failures = []
        self.counts = collections.Counter()

    def normal(self, path):
        """The model as our exporter writes it, without what comments carry."""
        out = self.folder / "normal.onnx"
        if error := self.tool("binary", path, out):
            raise ValueError(error)
        return strip(onnx.load(out, load_external_data=False))

    def normal_of(self, model):
        path = self.folder / "parsed.onnx"
        path.write_bytes(model.SerializeToString())
        return self.normal(path)

    def limit(self, what, limits, text):
        """The reason why the package cannot take this text, or None."""
        for reason, pattern in limits.items():
            if pattern and re.search(pattern, text):
                self.counts[f"{what}: {reason}"] += 1
                return reason
        return None

    def check(self, path):
        if error := self.tool("round-trip", path):
            self.failures.append(f"{path}: {error}")
            return
        self.counts["round trips"] += 1
        original = self.normal(path)
        self.check_parser(path, original)
        self.check_printer(path, original)

    def check_parser(self, path, original):
        text_path = self.folder / "ours.onnxtxt"
        self.tool("print", path, text_path)
        text = text_path.read_text()
        try:
            parsed = onnx.parser.parse_model(text)
            if self.normal_of(parsed) == original:
                self.counts["our texts that onnx.parser reads as the model"] += 1
                return
            problem = "onnx.parser reads another model from our text"
        except (onnx.parser.ParseError, ValueError) as e:
            problem = f"onnx.parser cannot read our text: {e}"
        if not self.limit("not for onnx.parser", PARSER_LIMITS, text):
            self.failures.append(f"{path}: {problem}")

    def check_printer(self, path, original):
        text = onnx.printer.to_text(onnx.load(path))
        text_path = self.folder / "theirs.onnxtxt"
        text_path.write_text(text)
        try:
            ours = self.normal(text_path)
        except ValueError as e:
            if not self.limit("not from onnx.printer", PRINTER_LIMITS, text):
                self.failures.append(f"{path}: we cannot read the text of onnx.printer: {e}")
            return
        if ours == original:
            self.counts["texts of onnx.printer that we read as the model"] += 1
        elif self.normal_of(onnx.parser.parse_model(text)) == ours:
            self.counts["texts of onnx.printer that lose something, read as onnx.parser does"] += 1
        else:
            self.failures.append(f"{path}: we read another model from the text of onnx.printer")


def main():
    program, cases, *models = sys.argv[1:]
    generate.make_cases(pathlib.Path(cases))
    paths = sorted(pathlib.Path(cases).rglob("model.onnx"))
    for folder in models:
        if not pathlib.Path(folder).is_dir():
            print(f"skipped in part: there is no folder {folder}")
        paths += sorted(pathlib.Path(folder).glob("*.onnx"))
    with tempfile.TemporaryDirectory() as folder:
        test = Test(TextTool(program), folder)
        for name, model in odd_models().items():
            path = pathlib.Path(folder) / f"{name}.onnx"
            path.write_bytes(model.SerializeToString())
            paths.insert(0, path)
        for path in paths:
            test.check(path)
    for failure in test.failures:
        print(f"FAILED  {failure}")
    for what, count in sorted(test.counts.items()):
        print(f"{count:6}  {what}")
    print(f"{len(paths)} models, {len(test.failures)} failures")
    return 1 if test.failures or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
