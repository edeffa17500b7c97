"""The whole way from a planted fault to its name: generates models, lets the engine run them with the weights of one node
slightly changed, and checks that `run --arbiter` over the results names exactly that node as the maker, only what comes
after it as heirs, and nobody where there is no fault.

usage: verdict_test.py ASSAY
"""
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """Number and content of each field of a protobuf message whose fields are numbers and bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            at += size
        else:
            size = 8 if kind == 1 else 4
            value = data[at:at + size]
            at += size
        yield key >> 3, value


class Node:
    def __init__(self, message):
        self.inputs, self.outputs, self.name, self.op_type = [], [], "", ""
        for number, value in fields(message):
            if number == 1:
                self.inputs.append(bytes(value).decode())
            elif number == 2:
                self.outputs.append(bytes(value).decode())
            elif number == 3:
                self.name = bytes(value).decode()
            elif number == 4:
                self.op_type = bytes(value).decode()

    def label(self):
        return f"'{self.name}' ({self.op_type})"


def read_nodes(model):
    """ModelProto.graph is field 7, GraphProto.node field 1."""
    graph = next(value for number, value in fields(model) if number == 7)
    return [Node(value) for number, value in fields(graph) if number == 1]


def change_weights(model, names):
    """Makes the first quarter of the first of these initializers (GraphProto field 5) 1 % larger, where it lies."""
    graph = next(value for number, value in fields(model) if number == 7)
    for number, tensor in fields(graph):
        if number != 5:
            continue
        parts = dict(fields(tensor))  # TensorProto: name 8, raw_data 9
        if 8 not in parts or bytes(parts[8]).decode() not in names:
            continue
        raw = parts[9]
        count = max(1, len(raw) // 16)
        floats = struct.unpack_from(f"<{count}f", raw)
        struct.pack_into(f"<{count}f", raw, 0, *(1.01 * x for x in floats))
        return
    raise AssertionError(f"no initializer named {names}")


def descendants(nodes, start):
    reached = set(start.outputs)
    found = []
    for node in nodes:
        if node is not start and reached & set(node.inputs):
            reached |= set(node.outputs)
            found.append(node)
    return found


def listed(pattern, text):
    """The node labels of a line of the report."""
    line = re.search(pattern + r" by (\d+) node\(s\): (.*)", text)
    if line is None:
        return []
    labels = re.findall(r"'[^']*' \(\w+\)", line.group(2))
    assert len(labels) == int(line.group(1)), line.group(0)
    return labels


class Verdicts:
    def __init__(self, assay, folder, model):
        self.assay, self.path = assay, folder / f"{model}.onnx"
        self.model = model
        subprocess.run([assay, "template", "model", model, "-o", self.path, "-q"], check=True)
        self.nodes = read_nodes(memoryview(self.path.read_bytes()))

    def run(self, *what):
        command = [self.assay, "run", self.path, *what, "--arbiter", "--onnx-outputs", "mark", "all", "-v"]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def check_without_fault(self):
        code, text = self.run("--engine")
        assert code == 0, text[-2000:]
        summary = re.search(r"PASSED \| engine-runner\S* \| (\d+) output\(s\) agree, (\d+) differ by rounding only, "
                            r"0 wrong", text)
        assert summary, text[-2000:]
        outputs = sum(len(n.outputs) for n in self.nodes)
        assert int(summary.group(1)) + int(summary.group(2)) == outputs, (summary.group(0), outputs)
        assert "First Divergence" not in text, text[-2000:]
        print(f"{self.model}: no fault, {outputs} outputs are right", flush=True)

    def check_fault(self, name):
        node = next(n for n in self.nodes if n.name == name)
        model = bytearray(self.path.read_bytes())
        change_weights(memoryview(model), node.inputs[1:])
        wrong, results = self.path.with_name("wrong.onnx"), self.path.with_name("results.json")
        wrong.write_bytes(model)
        subprocess.run([self.assay, "run", wrong, "--engine", "--onnx-outputs", "mark", "all", "--save-outputs", results, "-q"], check=True)
        code, text = self.run("--load-outputs", results)
        assert code == 1, (name, code, text[-2000:])
        first = re.search(r"First Divergence \| engine-runner\S* \| Node ('[^']*' \(\w+\)) .*made here", text)
        assert first and first.group(1) == node.label(), (name, text[-2000:])
        made, inherited = listed("Error made", text), listed("Error inherited", text)
        assert made == [node.label()], (name, made)
        after = descendants(self.nodes, node)
        strangers = set(inherited) - {n.label() for n in after}
        assert not strangers, (name, strangers)
        for child in after:
            if set(child.inputs) & set(node.outputs):
                assert child.label() in inherited, (name, child.label(), inherited)
        assert not after or after[-1].label() in inherited, (name, inherited)
        print(f"{self.model}: {name} made it, {len(inherited)} of {len(after)} after it inherited", flush=True)


def main():
    assay = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        net = Verdicts(assay, Path(folder), "resnet-18")
        net.check_without_fault()
        for name in ("/conv1/Conv",
                     "/layer2/layer2.0/downsample/downsample.1/BatchNormalization",
                     "/layer4/layer4.1/conv2/Conv"):
            net.check_fault(name)
        net = Verdicts(assay, Path(folder), "lstm")
        net.check_without_fault()
        net.check_fault("/rnn/LSTM")
        net.check_fault("/fc/MatMul")


if __name__ == "__main__":
    main()
