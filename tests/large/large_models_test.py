#!/usr/bin/env python3
"""Tools on a model of 6 GB with external data stay below 200 MB of memory and leave the data where they are.

usage: large_models_test.py ASSAY

The data file is sparse: it says that it has 6 GB and takes no room. A file of 1 GB with all weights inside is made the same way.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "errors"))
from onnx_bytes import chunk, model, node, number, tensor, value_info, varint  # noqa: E402

LAYERS, WIDTH = 24, 8192
WEIGHT_BYTES = WIDTH * WIDTH * 4
LIMIT_MB = 200


def layers(count, weights):
    nodes = [node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"], name=f"layer{i}") for i in range(count)]
    return model(nodes, [value_info("x0", [1, WIDTH])], [value_info(f"x{count}", [1, WIDTH])], weights)


def make_external(path):
    weights = [tensor(f"w{i}", [WIDTH, WIDTH], b"", external=[("location", "big.data"), ("offset", str(i * WEIGHT_BYTES)),
                                                              ("length", str(WEIGHT_BYTES))]) for i in range(LAYERS)]
    path.write_bytes(layers(LAYERS, weights))
    with open(path.with_name("big.data"), "wb") as data:
        data.truncate(LAYERS * WEIGHT_BYTES)


def make_inside(path, count):
    """A message whose weights are holes of the file."""
    head = b"".join(number(1, WIDTH) for _ in range(2)) + number(2, 1)
    heads = [head + chunk(8, f"w{i}") + varint(9 << 3 | 2) + varint(WEIGHT_BYTES) for i in range(count)]
    sizes = [len(varint(5 << 3 | 2)) + len(varint(len(h) + WEIGHT_BYTES)) + len(h) + WEIGHT_BYTES for h in heads]
    rest = b"".join(chunk(1, node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"], name=f"layer{i}")) for i in range(count))
    rest += chunk(11, value_info("x0", [1, WIDTH])) + chunk(12, value_info(f"x{count}", [1, WIDTH]))
    with open(path, "wb") as file:
        file.write(number(1, 8) + chunk(8, number(2, 13)) + varint(7 << 3 | 2) + varint(len(rest) + sum(sizes)) + rest)
        for h in heads:
            file.write(varint(5 << 3 | 2) + varint(len(h) + WEIGHT_BYTES) + h)
            file.seek(WEIGHT_BYTES, os.SEEK_CUR)
        file.truncate()


class Checker:
    def __init__(self, program, folder):
        self.program, self.folder, self.failed = program, folder, 0

    def run(self, line, limit=LIMIT_MB):
        process = subprocess.Popen([self.program, *line.split()], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = process.stdout.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        megabytes = usage.ru_maxrss / 1024
        self.expect(status == 0, f"{line}: exit status {status}\n{text}")
        self.expect(megabytes < limit, f"{line}: {megabytes:.0f} MB")
        print(f"{megabytes:6.0f} MB  {usage.ru_utime + usage.ru_stime:6.2f} s  {line}")
        return text

    def expect(self, condition, message):
        if not condition:
            self.failed += 1
            print(f"FAILED  {message}")

    def expect_reference(self, name):
        size = (self.folder / name).stat().st_size
        self.expect(size < 100_000, f"{name} has {size} bytes")
        self.expect(not (self.folder / f"{name}.data").exists(), f"{name} has data of its own")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        check = Checker(os.path.abspath(sys.argv[1]), folder)
        make_external(folder / "big.onnx")
        data_before = (folder / "big.data").stat()
        check.run("inspect model big.onnx --show layers")
        check.run("inspect model big.onnx --save-visual big.html")
        check.run("surgeon extract big.onnx --inputs x3:auto:auto --outputs x9:float32 -o part.onnx")
        check.run("surgeon sanitize big.onnx --cleanup --toposort -o clean.onnx")
        check.run("surgeon sanitize big.onnx --override-input-shapes x0:['batch',8192] -o batch.onnx")
        check.run("surgeon insert big.onnx --inputs x4 --outputs x4 --op Relu -o relu.onnx")
        for name in ("part.onnx", "clean.onnx", "batch.onnx", "relu.onnx"):
            check.expect_reference(name)
            check.run(f"inspect model {name}")
        data = (folder / "big.data").stat()
        check.expect((data.st_mtime_ns, data.st_size) == (data_before.st_mtime_ns, data_before.st_size), "big.data was touched")
        # To another folder the weights go along, those that are used and no others.
        check.run("surgeon extract big.onnx --inputs x3:auto:auto --outputs x5:float32 -o other/part.onnx --save-external-data part.data")
        check.expect((folder / "other/part.data").stat().st_size == 2 * WEIGHT_BYTES + 64,
                     "part.data has not the size of two weights and the mark")
        make_inside(folder / "inside.onnx", 4)
        check.run("inspect model inside.onnx", limit=40)
        check.run("surgeon extract inside.onnx --inputs x1:auto:auto --outputs x2:float32 -o inside_part.onnx")
    print("passed" if not check.failed else f"{check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
