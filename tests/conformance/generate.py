#!/usr/bin/env python3
"""Writes the test cases of the installed onnx package as folders: model.onnx and test_data_set_N/{input,output}_M.pb.

usage: generate.py FOLDER

FOLDER gets one folder for each kind: node (which the package only has as code), simple, pytorch-converted,
pytorch-operator and light; nothing happens when it holds the cases of this package already. Exit status 77 when there is
no onnx package.
"""

import fcntl
import hashlib
import json
import pathlib
import shutil
import sys
import warnings

SKIPPED = 77
try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.case import model as model_cases
    from onnx.backend.test.case import node as node_cases
    from onnx.backend.test.runner import Runner
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)

DATA = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
STAMP = "made-from.txt"
# What ONNX's runner takes where a case says nothing else.
RTOL, ATOL = 1e-3, 1e-7


def stamp():
    """Changes whenever other cases would come out."""
    script = pathlib.Path(__file__).read_bytes()
    return f"onnx {onnx.__version__}, numpy {np.__version__}, {hashlib.sha256(script).hexdigest()}\n"


def to_bytes(value, info):
    """One value of a data set as the message that its declared type calls for."""
    if not isinstance(value, (np.ndarray, np.generic, list, tuple, dict, type(None))):
        return value.SerializeToString()  # a message already
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name).SerializeToString()
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name).SerializeToString()
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name).SerializeToString()
    return numpy_helper.from_array(np.asarray(value), info.name).SerializeToString()


def write_data_json(folder, rtol, atol):
    if (rtol, atol) != (RTOL, ATOL):
        (folder / "data.json").write_text(json.dumps({"rtol": rtol, "atol": atol}))


def write_case(root, case):
    folder = root / case.kind / case.name
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    write_data_json(folder, case.rtol, case.atol)
    for i, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{i}"
        data.mkdir()
        graph = case.model.graph
        for prefix, values, infos in (("input", inputs, graph.input), ("output", outputs, graph.output)):
            for k, value in enumerate(values):
                (data / f"{prefix}_{k}.pb").write_bytes(to_bytes(value, infos[k]))


def write_light_case(root, case):
    """The package ships the model and its outputs; the inputs are those that its runner makes."""
    source = DATA / "light" / pathlib.Path(case.url).name
    folder = root / "light" / case.name
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    shutil.copy(source, folder / "model.onnx")
    write_data_json(folder, case.rtol, case.atol)
    model = onnx.load(source)
    constants = {i.name for i in model.graph.initializer}
    for k, info in enumerate(i for i in model.graph.input if i.name not in constants):
        value = Runner.generate_dummy_data(info)
        (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(value, info.name).SerializeToString())
    for k in range(len(model.graph.output)):
        shutil.copy(source.with_name(f"{source.stem}_output_{k}.pb"), data / f"output_{k}.pb")


def make_cases(root):
    """Does nothing when the cases of this package are there. Several tests may ask for them at once."""
    root.parent.mkdir(parents=True, exist_ok=True)
    with open(root.with_name(root.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write_cases(root)


def write_cases(root):
    if (root / STAMP).is_file() and (root / STAMP).read_text() == stamp():
        return
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    warnings.simplefilter("ignore")
    for case in node_cases.collect_testcases():
        write_case(root, case)
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        shutil.copytree(DATA / kind, root / kind, dirs_exist_ok=True)
    for case in model_cases.collect_testcases():
        if case.url is not None:
            write_light_case(root, case)
        elif not (root / case.kind / case.name).exists():
            write_case(root, case)
    (root / STAMP).write_text(stamp())
    print(f"{sum(1 for _ in root.rglob('model.onnx'))} cases of onnx {onnx.__version__} in {root}")


if __name__ == "__main__":
    make_cases(pathlib.Path(sys.argv[1]))
