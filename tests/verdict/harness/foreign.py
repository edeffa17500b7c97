"""Models of others (tests/foreign/fetch.py gets them), and large generated ones: ONNX Runtime must be right on them, and faults that are
planted in them found.

usage: foreign.py ASSAY FOLDER [--models PART,PART] [--faults 6] [--seed 1]
       foreign.py ASSAY --generated resnet-50,bert-base [--faults 6] [--seed 1]

FOLDER holds what fetch.py got; generated models are those of `assay template model`. For each model whose name contains one of the parts: a healthy run of ONNX Runtime is judged with all layers
marked and on its outputs, then errors of 16 times the real one, and of 0.1 %, are added at nodes that are drawn at random.
By hand; a line for each model, and exit status 1 where somebody who is right is called WRONG or a fault is missed.
"""
import argparse
import importlib.util
import itertools
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import backends
import faults
import numpy as np
import onnx
import planted
import verdicts

FLOATS = planted.FLOATS


def foreign_models():
    """tests/foreign/models.py: the harness has another module of that name."""
    spec = importlib.util.spec_from_file_location("foreign_models", HERE.parents[1] / "foreign" / "models.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


OTHERS = foreign_models()


class Foreign(planted.Trial):
    """As planted.Trial, of a model in a file."""

    def __init__(self, judge, path, given):
        self.judge, self.name = judge, path.name
        self.model = named(onnx.load(path))
        self.suspect = backends.Onnxruntime("none")
        self.feed = OTHERS.feed_for(self.suspect.session(self.model), given)
        self.results = self.run(self.model)
        healthy = judge.judge(self.model, self.feed, self.results, "--onnx-outputs", "*", "--partial")
        self.alarm = [o for o in healthy.outputs if o["verdict"] == "WRONG"]
        self.judged = len(healthy.outputs)
        self.text = healthy.text
        self.real = {o["output"]: o["error"] for o in healthy.outputs}


def named(model):
    """Faults find nodes by their names, so each needs one of its own."""
    seen = set()
    for i, node in enumerate(model.graph.node):
        if not node.name or node.name in seen:
            node.name = f"node_{i}"
        seen.add(node.name)
    return model


def plant_some(trial, count, rng):
    """Found, due, missed as they may be, and a line for each other miss."""
    targets = [n for n in trial.targets() if trial.results[n.output[0]].dtype.name in FLOATS and n.op_type != "Constant"
               and np.isfinite(trial.results[n.output[0]].astype(np.float64)).all()]
    rng.shuffle(targets)
    found = due = allowed = 0
    missed = []
    for node in targets[:count]:
        y = trial.results[node.output[0]]
        top = float(np.abs(y.astype(np.float64)).max(initial=0))
        if top == 0:
            continue  # errors in units of 0 are below the normal numbers
        real = max(float(trial.real.get(node.output[0], 0)), float(planted.spacing(y).max()) / 2)
        for what, size in (("x16", 16 * real), ("0.1 %", max(1e-3 * top, 16 * real))):
            kind = ("element", "channel", "factor")[rng.integers(3)]
            e = faults.STRENGTHS[kind](y, size, rng)
            if e is None:
                continue
            one = planted.judge_one(trial, faults.add_error(trial.model, node, e.astype(y.dtype)), [node])
            if one is None or one[2] <= 8:
                continue
            due += 1
            gone, strangers, size, verdict = one
            found += not gone and not strangers
            if gone and not strangers and planted.is_allowed(trial.name, node.op_type, size, onnx.TensorProto.FLOAT):
                allowed += 1
            elif gone or strangers:
                at = [o for o in verdict.outputs if o["output"] == node.output[0]]
                missed.append(f"    {'STRANGER ' + str(sorted(strangers)) if strangers else 'MISSED'} {kind} {what} at {node.name} ({node.op_type}), "
                              f"{size:.3g} times the real error: {[(o['verdict'], o['ratio'], o['note']) for o in at][:1]}")
    return found, due, allowed, missed


def generated(assay, names, folder):
    """Files of generated models and what their inputs are fed: what is declared."""
    for name in names:
        path = Path(folder) / f"{name}.onnx"
        subprocess.run([assay, "template", "model", name, "-o", path, "-q"], check=True)
        yield name, path, {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--generated", type=lambda t: t.split(","), default=[])
    parser.add_argument("--models", type=lambda t: t.split(","), default=[""])
    parser.add_argument("--faults", type=int, default=6, help="nodes in each model")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        judge = verdicts.Judge(args.assay, folder)
        others = [(name, args.folder / "models" / name, given) for name, given in OTHERS.MODELS.items()
                  if any(part in name for part in args.models)] if args.folder else []
        for name, path, given in itertools.chain(others, generated(args.assay, args.generated, folder)):
            if not path.exists():
                print(f"{name}: is not there")
                continue
            start = time.time()
            try:
                trial = Foreign(judge, path, given)
            except Exception as e:
                print(f"{name}: refused: {str(e).strip()[-200:]}", flush=True)
                continue
            outputs = [o.name for o in trial.model.graph.output]
            on_outputs = judge.judge(trial.model, trial.feed, {o: trial.results[o] for o in outputs if o in trial.results}, "--partial")
            alarms = [*trial.alarm, *on_outputs.of("WRONG")]
            unclear = len(on_outputs.of("unclear"))
            found, due, allowed, missed = plant_some(trial, args.faults, np.random.default_rng(args.seed))
            print(f"{name}: {trial.judged} values judged, {len(alarms)} called WRONG, {unclear} unclear; faults {found} of {due} found, {allowed} allowed to be missed; "
                  f"{time.time() - start:.0f} s", flush=True)
            for o in alarms:
                print(f"    WRONG {o['node']} '{o['output']}' {o['ratio']} {o['problem']} {o['note']}", flush=True)
            for line in missed:
                print(line, flush=True)
            failed = failed or bool(alarms) or bool(missed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
