#!/usr/bin/env python3
"""What the commands write is accepted by onnx.checker and ONNX Runtime, and computes what the original does.

    tests/compat/written_models_check.py build/assay [MODELS...] [--all] [--only NAME...]

For every generated model (without --all the small ones), those of awkward_models.py and every model below MODELS: all runs of written_models_runs.py, and the
parts that `inspect capability --with-partitioning` cuts. (templates_check.py has other opsets and batches of `template model`.) What
onnx.checker and ONNX Runtime do not take of the original, they need not take of what is made from it. Exit status 0 when everything
holds.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

import awkward_models
import written_models_runs as runs

SMALL = ["mlp", "lstm", "mobilenet-v2"]
ALL = SMALL + ["resnet-18", "resnet-50", "efficientnet-b0", "yolov8n", "unet", "vit-b-16", "bert-base", "gpt2", "gpt2-decode"]
# Made to be wrong.
SKIPPED = {"bad_graph.onnx", "cyclic.onnx"}
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(int32)": np.int32,
         "tensor(bool)": np.bool_, "tensor(float16)": np.float16}
# Of the largest output: folded and fused weights are rounded once more, and sums are taken in another order.
CLOSE = 1e-4
# Warned of by `convert-opset`: ONNX Runtime cannot run what there is.
NO_KERNEL = "ONNX Runtime, for one, has no such"
# float16 has 11 bits; an error of half a unit in each of the hundreds of operators of a model adds up to this (root mean square).
HALF = 0.05


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # So that equal graphs give equal bits.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def feed_for(session):
    random = np.random.default_rng(3)
    feed = {}
    for i in session.get_inputs():
        shape = [d if isinstance(d, int) and d > 0 else 2 for d in i.shape]
        dtype = TYPES[i.type]
        is_float = np.issubdtype(dtype, np.floating)
        feed[i.name] = random.random(shape).astype(dtype) if is_float else random.integers(0, 2, shape).astype(dtype)
    return feed


def run_on(session, values):
    """The outputs by name; inputs that are not among the values are of the tool's making, which is a finding."""
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(None, {i.name: values[i.name] for i in session.get_inputs()})))


def checker_level(path):
    """What of onnx.checker the file passes: 2 with shape inference, 1 without, 0 nothing; and what it says."""
    said = None
    for level in (2, 1):
        try:
            onnx.checker.check_model(str(path), full_check=level == 2)
            return level, said
        except Exception as e:  # noqa: BLE001  its exceptions have no common base
            said = f"onnx.checker: {e}"
    return 0, said


def normalize(graph):
    """The order of what is said of values means nothing, nor does what is said of an output besides, or by the outputs of an input."""
    inputs = {i.name: i for i in graph.input}
    for o in graph.output:
        if o.name in inputs:
            o.CopyFrom(inputs[o.name])
    outputs = {o.name for o in graph.output}
    entries = sorted((v for v in graph.value_info if v.name not in outputs), key=lambda v: v.name)
    del graph.value_info[:]
    graph.value_info.extend(entries)
    for node in graph.node:
        for a in node.attribute:
            for body in [a.g, *a.graphs] if a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) else []:
                normalize(body)


def skeleton(path):
    """Everything of a model but the numbers of its weights."""
    model = onnx.load(path, load_external_data=False)
    normalize(model.graph)
    weights = [(t.name, t.data_type, tuple(t.dims)) for t in model.graph.initializer]
    graph = model.graph
    parts = [[m.SerializeToString(deterministic=True) for m in part]
             for part in (graph.node, graph.input, graph.output, graph.value_info, model.opset_import, model.functions)]
    return weights, parts


def difference(name, value, expected, how):
    """What is wrong with an output; nothing when it is as it may be."""
    if isinstance(value, list) and len(value) == len(expected):
        return next(filter(None, (difference(f"{name}[{i}]", v, e, how) for i, (v, e) in enumerate(zip(value, expected)))), None)
    if not isinstance(value, np.ndarray):
        return None if value == expected else f"output {name} differs"
    if value.shape != expected.shape or value.dtype != expected.dtype:
        return f"output {name} is {value.dtype}{value.shape} instead of {expected.dtype}{expected.shape}"
    if how == runs.WEIGHTS or (how == runs.HALF and value.dtype.kind != "f"):
        return None
    is_float = value.dtype.kind in "fc"
    if np.array_equal(value, expected, equal_nan=is_float):
        return None
    if how == runs.BITS or not is_float:
        return f"output {name} differs"
    finite = np.isfinite(expected)
    if not np.array_equal(value[~finite], expected[~finite], equal_nan=True):
        return f"output {name} differs where it is not finite"
    error, true = (value[finite] - expected[finite]).astype(np.float64), expected[finite].astype(np.float64)
    if how == runs.HALF:
        worst, scale, bound = np.sqrt((error**2).mean()), np.sqrt((true**2).mean()), HALF
    else:
        worst, scale, bound = np.abs(error).max(), np.abs(true).max(), CLOSE
    return None if worst <= bound * max(scale, 1e-6) else f"output {name} differs by {worst:.3g} of {scale:.3g}"


def difference_of_weights(path, original):
    """What is wrong with the initializers of a file; nothing when each is bit by bit one of the model."""
    ours, theirs = ({t.name: onnx.numpy_helper.to_array(t) for t in m.graph.initializer} for m in (onnx.load(path), original))
    if new := ours.keys() - theirs.keys():
        return f"new initializers {new}"
    return next((f"initializer {n} differs" for n in ours if ours[n].tobytes() != theirs[n].tobytes()), None)


def lists_initializers(model):
    """Whether initializers stand among the inputs of a model in which they need not, so that a caller may replace them."""
    names = {t.name for t in model.graph.initializer}
    return model.ir_version >= 4 and any(i.name in names for i in model.graph.input)


class Original:
    """A model as it was, with what the real tools say of it. ONNX Runtime prepares weights that nobody can replace and computes other bits
    from them than from those that somebody can: `settled` is the model without those among its inputs, or None where there are none."""

    def __init__(self, path, scratch, feed=None):
        self.path = path
        self.model = onnx.load(path)
        self.place = runs.place_in(self.model.graph)
        self.level, _ = checker_level(path)
        self.values, self.outputs, self.refusal = {}, {}, None
        self.shapes = {}
        self.settled = None
        try:
            session = session_of(path)
        except Exception as e:  # noqa: BLE001  whatever it says: the model is not for it
            self.refusal = str(e).splitlines()[0][:120]
            first = self.model.graph.input[0]
            self.shapes = {first.name: [d.dim_value or 2 for d in first.type.tensor_type.shape.dim]}
            return
        if lists_initializers(self.model):
            self.settled = Original(self.without_listed(scratch), scratch, feed)
        feed = feed(session) if feed else feed_for(session)
        self.shapes = {i.name: feed[i.name].shape for i in session.get_inputs()}
        self.outputs = run_on(session, feed)
        self.values = {**feed, **self.outputs, **self.inner_values(scratch, feed)}

    def without_listed(self, scratch):
        """A file of the model without the initializers among its inputs."""
        settled = onnx.ModelProto()
        settled.CopyFrom(self.model)
        names = {t.name for t in settled.graph.initializer}
        inputs = [i for i in settled.graph.input if i.name not in names]
        del settled.graph.input[:]
        settled.graph.input.extend(inputs)
        onnx.save(settled, scratch / "settled.onnx")
        return scratch / "settled.onnx"

    def expected(self, written):
        """What a written file must compute, values of the graph by name."""
        is_settled = self.settled is not None and not lists_initializers(onnx.load(written, load_external_data=False))
        return self.settled.values if is_settled else self.values

    def inner_values(self, scratch, feed):
        """The operand and the result of the chosen node."""
        return self.computed([self.place.read, self.place.given], scratch, feed) if self.place else {}

    def computed(self, names, scratch, feed):
        """Any values of the graph."""
        marked, path = onnx.ModelProto(), scratch / "marked.onnx"
        marked.CopyFrom(self.model)
        given = {o.name for o in marked.graph.output}
        marked.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in given)
        onnx.save(marked, path)
        outputs = run_on(session_of(path), feed)
        path.unlink()
        return {n: outputs[n] for n in names}

    def fits_float16(self, scratch):
        """Whether float16 can hold everything that the nodes compute."""
        names = [o for n in self.model.graph.node for o in n.output if o]
        values = self.computed(names, scratch, self.values).values()
        return all(np.abs(v[np.isfinite(v)]).max(initial=0) <= np.finfo(np.float16).max for v in values if v.dtype.kind == "f")


class Checker:
    def __init__(self, assay):
        self.assay, self.failed, self.count, self.refused = assay, 0, 0, 0
        self.warned_of_kernels = False
        self.environment = {**os.environ, "ASSAY_ONNXRUNTIME": sys.prefix}

    def tool(self, words):
        done = subprocess.run([self.assay, *map(str, words)], env=self.environment, capture_output=True, text=True)
        self.warned_of_kernels = NO_KERNEL in done.stdout + done.stderr
        return None if done.returncode == 0 else f"exit status {done.returncode}: {(done.stderr or done.stdout)[-500:]}"

    def expect(self, what, problem):
        self.count += 1
        if problem:
            self.failed += 1
            print(f"FAILED  {what}: {problem.strip()[:600]}", flush=True)

    def accepted(self, path, original, how, most):
        """What is wrong with a written file: the checker, ONNX Runtime, the outputs."""
        level, said = checker_level(path)
        if level < min(original.level, most):
            return said
        if how == runs.WEIGHTS and skeleton(path) != skeleton(original.path):
            return "more than the numbers of the weights is another"
        if original.refusal:
            return None
        try:
            session = session_of(path)
        except Exception as e:  # noqa: BLE001  its exception types are not public
            if self.warned_of_kernels and "NOT_IMPLEMENTED" in str(e):
                return None
            # Nobody can read the shapes then, so that is all that can be asked for.
            is_left = most < 2 and "Cannot parse data from external tensors" in str(e)
            return difference_of_weights(path, original.model) if is_left else str(e)
        expected = original.expected(path)
        for name, value in run_on(session, original.values).items():
            problem = difference(name, value, expected[name], how)
            if problem and not (how == runs.HALF and not np.isfinite(value).all() and not original.fits_float16(path.parent)):
                return problem
        return None

    def run(self, run, original):
        """Carries a run out in an empty folder; says what is wrong."""
        for i, command in enumerate(run.commands):
            problem = self.tool(command)
            may_refuse = (run.may_refuse and run.may_refuse in problem) if problem and not original.refusal else original.refusal
            if problem and "exit status 1: [!]" in problem and may_refuse and i + 1 == len(run.commands) and not run.out.exists():
                self.refused += 1
                return None
            if problem:
                return problem
        try:
            return self.accepted(run.out, original, run.how, run.level)
        except Exception as e:  # noqa: BLE001  whatever the packages say is the finding
            return str(e)

    def model(self, path, newest, feed=None, inputs=None):
        """`feed` makes the inputs for a session, where not every number will do; the file `inputs` holds them."""
        with tempfile.TemporaryDirectory(dir=path.parent if os.access(path.parent, os.W_OK) else None) as name:
            original = Original(path, pathlib.Path(name), feed)
        if original.refusal:
            print(f"ONNX Runtime does not take {path.name} itself, so only onnx.checker is asked: {original.refusal}")
        more = (original.model, original.shapes, original.place, newest, inputs)
        for number in range(1000):
            with tempfile.TemporaryDirectory() as name:
                chosen = next((r for i, r in enumerate(runs.runs_for(path, pathlib.Path(name), *more)) if i == number), None)
                if chosen is None:
                    break
                if original.refusal and "--onnxrt" in chosen.commands[-1]:
                    continue
                self.expect(f"{path.name}: {chosen.name}", self.run(chosen, original))
        if original.place and not original.refusal:
            with tempfile.TemporaryDirectory() as name:
                self.expect(f"{path.name}: inspect capability --with-partitioning", self.parts(original, pathlib.Path(name)))

    def parts(self, original, scratch):
        """An operator that nobody knows takes the place of a node in the middle; the parts that the model is cut into there, run one
        after the other with the result of the old node, give what the whole gives."""
        opaque, folder, place = scratch / "opaque.onnx", scratch / "parts", original.place
        words = ["--inputs", place.read, "--outputs", place.given, "--op", "my.own.Opaque", "--shape-inference"]
        problem = self.tool(["surgeon", "insert", original.path, "-o", opaque, *words]) or self.tool(
            ["inspect", "capability", opaque, "--with-partitioning", "-o", folder])
        if problem:
            return problem
        values = {n: v for n, v in original.values.items() if n not in original.outputs and n not in (place.read, place.given)}
        try:
            for path in sorted(folder.glob("*.onnx"), key=lambda p: int(p.stem.split("-")[2])):
                level, said = checker_level(path)
                if level < min(original.level, 1):
                    return f"{path.name}: {said}"
                if path.name.startswith("unsupported"):
                    graph = onnx.load(path, load_external_data=False).graph
                    names = [[i.name for i in part] for part in (graph.input, graph.output)]
                    if len(graph.node) != 1 or names != [[place.read], [place.given]]:
                        return f"{path.name} holds {len(graph.node)} nodes from {names[0]} to {names[1]}"
                    values[place.given] = original.values[place.given]
                else:
                    values.update(run_on(session_of(path), values))
            for name, value in original.outputs.items():
                if problem := difference(name, values[name], value, runs.BITS):
                    return problem
        except Exception as e:  # noqa: BLE001  whatever the packages say is the finding
            return f"{type(e).__name__}: {e}"
        return None


def newest_opset():
    """The newest that ONNX Runtime takes."""
    for opset in range(onnx.defs.onnx_opset_version(), 1, -1):
        x, y = (onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1]) for n in "xy")
        graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "probe", [x], [y])
        imports = [onnx.helper.make_opsetid("", opset)]
        model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=onnx.helper.find_min_ir_version_for(imports))
        try:
            onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            return opset
        except Exception:  # noqa: BLE001  its exception types are not public
            continue
    raise RuntimeError("ONNX Runtime takes no opset")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="every generated model")
    parser.add_argument("--only", nargs="+", help="models of these names, without their suffix")
    arguments = parser.parse_intermixed_args()
    check = Checker(os.path.abspath(arguments.assay))
    newest = newest_opset()
    wanted = lambda name: not arguments.only or name in arguments.only  # noqa: E731
    with tempfile.TemporaryDirectory() as scratch:
        for name in filter(wanted, ALL if arguments.all else SMALL):
            path = pathlib.Path(scratch) / name / f"{name}.onnx"
            check.expect(f"template {name}", check.tool(["template", "model", name, "-o", path]))
            check.model(path, newest)
            shutil.rmtree(path.parent)
            print(f"{name}: {check.count - check.failed} of {check.count} hold so far", flush=True)
        for path in awkward_models.write(pathlib.Path(scratch)):
            if wanted(path.stem):
                check.model(path, newest)
                print(f"{path.stem}: {check.count - check.failed} of {check.count} hold so far", flush=True)
        for folder in arguments.folders:
            if not folder.is_dir():
                print(f"skipped in part: there is no folder {folder}")
            for path in sorted(p for p in folder.glob("*.onnx") if p.name not in SKIPPED and wanted(p.stem)):
                check.model(path, newest)
    print(f"{check.count - check.failed} of {check.count} hold; {check.refused} of them are refusals that the command may give")
    return 1 if check.failed or check.count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
