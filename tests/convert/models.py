"""Real architectures in other opsets: ONNX Runtime takes the results and gives the original's outputs."""

import collections
import subprocess

import numpy as np
import onnx

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

GENERATED = ("resnet-18", "mobilenet-v2", "lstm", "mlp", "gpt2-decode", "yolov8n")
OPSETS = (11, 13, 17, 20)
TARGETS = (9, 11, 13, 15, 17, 18, 21, 23)
# The models of a folder that are larger are left out. Bytes.
LARGEST = 40 << 20
RTOL = ATOL = 1e-4


def random_inputs(model):
    rng = np.random.default_rng(0)
    constants = {i.name for i in model.graph.initializer}
    feed = {}
    for v in model.graph.input:
        if v.name in constants:
            continue
        t = v.type.tensor_type
        shape = [d.dim_value if d.HasField("dim_value") else 1 for d in t.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(t.elem_type)
        if np.issubdtype(dtype, np.floating):
            feed[v.name] = rng.standard_normal(shape).astype(dtype)
        else:
            feed[v.name] = np.ones(shape, dtype)
    return feed


def outputs_of(path, feed):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, feed)


def passes_checker(path):
    try:
        onnx.checker.check_model(str(path))
    except Exception:  # noqa: BLE001  the checker throws several kinds
        return False
    return True


def difference(path, feed, wanted, is_checked):
    """What is wrong with a converted model; nothing when it is right. `is_checked`: the original passes the checker."""
    try:
        if is_checked:
            onnx.checker.check_model(str(path))
        if onnxruntime is None:
            return None
        given = outputs_of(path, feed)
    except Exception as complaint:  # noqa: BLE001  both throw several kinds
        return str(complaint).splitlines()[0]
    for i, (a, b) in enumerate(zip(given, wanted)):
        if not np.allclose(a, b, RTOL, ATOL, equal_nan=True):
            return f"output {i} differs by up to {np.max(np.abs(a.astype(float) - b))}"
    return None


def generate(assay, work):
    """Generated models in several opsets."""
    for name in GENERATED:
        for opset in OPSETS:
            path = work / f"{name}-{opset}.onnx"
            run = subprocess.run([assay, "template", "model", name, "--opset", str(opset), "-o", str(path)],
                                 capture_output=True)
            if run.returncode == 0:
                yield path


def check(convert, assay, work, folders):
    """Prints a table by model; returns 1 when something is wrong."""
    for folder in folders:
        if not folder.is_dir():
            print(f"skipped in part: there is no folder {folder}")
    found = [p for f in folders if f.is_dir() for p in sorted(f.glob("*.onnx")) if p.stat().st_size <= LARGEST]
    rows, lines = {}, []
    for path in [*generate(assay, work), *found]:
        row = rows.setdefault(path.stem, collections.Counter())
        try:
            model = onnx.load(path)
            feed = random_inputs(model)
            wanted = outputs_of(path, feed) if onnxruntime is not None else None
        except Exception as complaint:  # noqa: BLE001
            row["not run"] += 1
            print(f"{path.name} is left out: {str(complaint).splitlines()[0][:120]}")
            continue
        out, is_checked = work / "converted.onnx", passes_checker(path)
        for target in TARGETS:
            answer = convert(path, target, out)
            if "error" in answer:
                lines.append(f"{path.name} to {target}: {answer['error']}")
            elif answer["problems"]:
                row["no equivalent"] += 1
                print(f"{path.name} to {target}: {answer['problems'][0]['text']}")
            else:
                row["converted"] += 1
                wrong = difference(out, feed, wanted, is_checked)
                if wrong is not None:
                    lines.append(f"{path.name} to {target}: {wrong}")
        if path.parent == work:
            path.unlink()
    titles = ("converted", "no equivalent", "not run")
    print(f"{'model':40} " + " ".join(f"{t:>13}" for t in titles))
    for name, row in rows.items():
        print(f"{name:40} " + " ".join(f"{row[t]:13}" for t in titles))
    for line in lines:
        print(line)
    return 1 if lines else 0
