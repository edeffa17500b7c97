#!/usr/bin/env python3
"""What only moves or selects elements reads a table of 2.46 GB where it lies: the reference, a proof and the engine stay below 200 MB.

usage: moved_weights_test.py ASSAY

The table is a sparse file of zeros, so that nothing is written.
"""

import os
import pathlib
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "errors")]
from large_models_test import LIMIT_MB, Checker  # noqa: E402
from onnx_bytes import int_attribute, ints_attribute, model, node, tensor, value_info  # noqa: E402

ROWS, WIDTH = 600_000, 1024
INT64 = 7


def integers(name, dims, values):
    return tensor(name, dims, struct.pack(f"<{len(values)}q", *values), INT64)


def table():
    return tensor("table", [ROWS, WIDTH], b"", external=[("location", "table.data"), ("offset", "0"), ("length", str(ROWS * WIDTH * 4))])


# (nodes, constants): y of the table.
CASES = {
    "gather": ([node("Gather", ["table", "one"], ["y"])], [integers("one", [1], [ROWS - 2])]),
    "gather_nd": ([node("GatherND", ["table", "place"], ["y"])], [integers("place", [1, 2], [5, 7])]),
    "gather_elements": ([node("GatherElements", ["table", "place"], ["y"])], [integers("place", [1, 2], [5, -1])]),
    "slice": ([node("Slice", ["table", "from", "to"], ["y"])], [integers("from", [1], [1000]), integers("to", [1], [1003])]),
    "reshape": ([node("Reshape", ["table", "shape"], ["t"]), node("Gather", ["t", "one"], ["y"])],
                [integers("shape", [2], [ROWS // 2, 2 * WIDTH]), integers("one", [1], [3])]),
    "views": ([node("Identity", ["table"], ["a"]), node("Unsqueeze", ["a", "axes"], ["b"]), node("Squeeze", ["b", "axes"], ["c"]),
               node("Flatten", ["c"], ["d"], attributes=[int_attribute("axis", 1)]), node("Gather", ["d", "one"], ["y"])],
              [integers("axes", [1], [0]), integers("one", [1], [3])]),
    "shape": ([node("Shape", ["table"], ["s"]), node("Cast", ["s"], ["y"], attributes=[int_attribute("to", 1)])], []),
    "added": ([node("Gather", ["table", "one"], ["r"]), node("Add", ["r", "x"], ["t"]), node("Transpose", ["t"], ["y"], attributes=[ints_attribute("perm", [1, 0])])],
              [integers("one", [1], [9])]),
}


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        check = Checker(os.path.abspath(sys.argv[1]), folder)
        with open(folder / "table.data", "wb") as data:
            data.truncate(ROWS * WIDTH * 4)
        for name, (nodes, constants) in CASES.items():
            (folder / f"{name}.onnx").write_bytes(model(nodes, [value_info("x", [1, WIDTH])], [value_info("y", ["a", "b"] if name != "shape" else ["a"])],
                                                        [table(), *constants]))
            check.run(f"run {name}.onnx --ref")
            check.run(f"run {name}.onnx --engine --ref")
        for name in ("gather", "views", "added"):
            check.run(f"surgeon sanitize {name}.onnx --simplify --prove -o {name}_simple.onnx")
            check.expect_reference(f"{name}_simple.onnx")
    print("passed" if not check.failed else f"{check.failed} failed ({LIMIT_MB} MB are allowed)")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
