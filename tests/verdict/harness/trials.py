"""Mistakes (mistakes.py) planted in networks: how many of them the verdict finds at their node when layers are shown, and what becomes of
them when only outputs are known. Their sizes are those of exact.py, in float64."""
import collections
import csv
import zlib

import numpy as np
from onnx import TensorProto as T

import backends
import data
import exact
import exported
import faults
import mistakes
import models
import networks
import verdicts

#: From which share of the largest number of an output a change of it is visible.
VISIBLE = 0.01
#: From how many times the real error a fault must be found at its node.
DUE = 8

#: Kinds and sizes of small errors.
SMALL = (("element", 10), ("channel", 16), ("factor", 24), ("offset", 40), ("tail", 64))

#: What may be missed, and why: (types, operators, mistakes, up to which size), "*" for any.
KNOWN_MISSES = {
    (("float",), "*", ("element", "channel", "factor", "offset", "tail"), 45):
        "a few elements whose sums happened to err less than five times what is expected of any order of additions",
    (("float",), ("Conv", "MatMul", "Softmax", "Add", "Mul", "Gemm", "LayerNormalization"), ("cut_off_instead_of_rounded",), 12): "the same",
    (("float",), ("LayerNormalization",), ("cut_off_instead_of_rounded",), 70):
        "over 12,800 numbers: some order of the additions may err by 326 roundings, the loops that sizes are counted in erred by 5",
    (("float16", "bfloat16"), "*", ("element", "channel", "factor", "offset", "tail"), 70):
        "results of numbers that may not have been rounded yet, and sums that may be made in the narrow type",
    (("float16", "bfloat16"), "*", ("cut_off_instead_of_rounded", "factor_in_all_elements"), 30): "the same",
    (("bfloat16", "float16"), ("Resize",), ("resize_attribute",), 260): "all elements move by different amounts, as coordinates would that are computed in the type",
    (("float16",), ("Softmax",), ("softmax_axis",), np.inf): "of a mask of infinities: NaN is taken for open where an input is infinite",
}

#: Outputs that move visibly, or are not the same whole numbers, and pass with exit status 0 while only outputs are known: (network, type) -> why.
KNOWN_SILENT = {
    ("qdq_net", "float16"): "the output is quantized in steps of 1/256, one of which is 1.4 % of its largest number (0.28), and moves by one: evaluations take "
                            "such a step there",
    ("qdq_net", "bfloat16"): "the same",
    ("boxes", "bfloat16"): "an error of 64 roundings of one box: the choice is another, which evaluations in bfloat16 made, too (3 of 54 numbers)",
    ("boxes", "float16"): "the same",
}

#: The share of the faults that are due that must be found, by type.
SHARES = {"float": 0.97, "float16": 0.85, "bfloat16": 0.93}


class Trial:
    def __init__(self, judge, name, model, kind, seed, dtype):
        self.judge, self.name, self.model, self.dtype = judge, name, model, dtype
        self.feed = data.feed(model, kind, seed)
        engine = verdicts.Assay(judge.assay, judge.folder, "engine")
        self.suspect = engine if dtype == T.BFLOAT16 else backends.Onnxruntime("none")
        self.shown = backends.mark_all(model)
        try:
            self.results = self.run(model)
        except Exception:
            if self.suspect is engine:
                raise
            self.suspect = engine
            self.results = self.run(model)
        self.sizes = exact.Sizes(model, self.feed, self.results)
        self.outputs = [o.name for o in model.graph.output]
        healthy = judge.judge(model, self.feed, self.results, "--onnx-outputs", "mark", "all")
        self.alarm = [(o["node"], o["ratio"]) for o in healthy.of("WRONG")]

    def run(self, model):
        marked = faults.copy_of(model)
        del marked.graph.output[:]
        marked.graph.output.extend(self.shown.graph.output)
        return backends.tensors(self.suspect.run(marked, self.feed))

    def part(self, results):
        return {o: results[o] for o in self.outputs if o in results}

    def plan(self, per, limit, rng):
        """(mistake, node) of which a faulty model can be made, some of each mistake."""
        found = []
        for name, on, only, make in mistakes.MISTAKES:
            if only and self.name not in only and not (self.name.startswith("exported") and "exported" in only):
                continue
            nodes = [n for n in self.model.graph.node if n.op_type in on and n.output[0] in self.results and self.results[n.output[0]].size]
            rng.shuffle(nodes)
            done = 0
            for node in nodes:
                if done >= per:
                    break
                try:
                    faulty = make(self.model, node, rng, self.sizes.values)
                except (KeyError, IndexError, ValueError):  # needs what this node has not
                    continue
                if faulty is None:
                    continue
                done += 1
                found.append((name, node, faulty))
        found += self.small_errors(per, rng)
        rng.shuffle(found)
        return found[:limit]

    def small_errors(self, per, rng):
        """Errors of a few times the real one, where faults begin to be due."""
        nodes = [n for n in self.model.graph.node if self.results.get(n.output[0], np.zeros(0)).size and self.results[n.output[0]].dtype.name in exact.FLOATS]
        rng.shuffle(nodes)
        found = []
        for (kind, times), node in zip([k for k in SMALL for _ in range(per)], nodes):
            self.sizes.know(node)
            y = self.results[node.output[0]]
            if not np.isfinite(exact.wide(y)).all():
                continue
            unit = max(self.sizes.real[node.output[0]], float(exact.unit_of(node, y, self.sizes.values).max()) / 2)
            e = faults.STRENGTHS[kind](y, times * unit, rng)
            if e is not None:
                found.append((f"{kind}_{times}", node, faults.add_error(self.model, node, e.astype(y.dtype))))
        return found


def is_known(row):
    """The entry of KNOWN_MISSES that a miss is, or None."""
    fits = lambda wanted, given: wanted == "*" or given in wanted  # noqa: E731
    kind = row["mistake"].rsplit("_", 1)[0] if row["mistake"].rsplit("_", 1)[-1].isdigit() else row["mistake"]
    return next((k for k in KNOWN_MISSES if fits(k[0], row["type"]) and fits(k[1], row["operator"]) and fits(k[2], kind) and row["size"] <= k[3]), None)


def judge_one(trial, mistake, node, faulty):
    """A row of the report, or None where the fault changes nothing or cannot be run."""
    try:
        results = trial.run(faulty)
    except Exception:
        return None
    size = trial.sizes.of(node, results)
    if size == 0 or set(results) != set(trial.results):
        return None
    every = ("--onnx-outputs", "mark", "all")
    layers = trial.judge.judge(trial.model, trial.feed, results, *every)
    makers = {o["output"].split(".length")[0].split("[")[0] for o in layers.makers()}
    found = bool(makers & set(node.output))
    strangers = sorted(makers - set(node.output))
    at = next((o for o in layers.outputs if o["output"] in node.output and o["verdict"] not in ("agrees", "rounding only")),
              next((o for o in layers.outputs if o["output"] in node.output), None))
    change = exact.moved(trial.part(trial.results), trial.part(results))
    outputs = trial.judge.judge(trial.model, trial.feed, trial.part(results))
    untold = sorted({o["verdict"] for o in outputs.outputs} & {"cannot tell", "unclear", "not judged"})
    # A runner that is there would now show its layers: that is the verdict above.
    ends = "WRONG" if outputs.code == 1 or (outputs.code == 3 and found) else "right" if outputs.code == 0 else "open"
    return {"family": networks.family_of(trial.name), "network": trial.name, "type": T.DataType.Name(trial.dtype).lower(), "mistake": mistake,
            "node": node.name, "operator": node.op_type, "size": size, "found": found, "strangers": strangers,
            "layers": at["verdict"] if at else "no verdict", "ratio": at["ratio"] if at else "", "excuses": at["excuses"] if at else [],
            "moved": change, "exit": outputs.code, "untold": untold, "ends": ends, "crashed": layers.code not in (0, 1, 3) or not layers.outputs}


def run(judge, names, seeds, dtypes, per=1, limit=40, only=None, show=print):
    rows = []
    for dtype in dtypes:
        built = {name: (lambda name=name: models.build(name, dtype, judge.assay)) for name in names}
        if dtype == T.FLOAT:
            built |= {name: (lambda m=m: m) for name, m in exported.networks(show).items() if names is None or not only or name in names}
        for seed in seeds:
            for name, make in built.items():
                rng = np.random.default_rng([seed, int(dtype), zlib.crc32(name.encode())])
                kind = ("photo", "silu_map", "repeated_tokens", "with_gaps", "letterbox")[rng.integers(5)]
                if name in ("text_cnn", "text_encoder", "padded_attention"):
                    kind = "padded_text"
                try:
                    trial = Trial(judge, name, make(), kind, seed, dtype)
                except Exception as e:
                    show("refused", name, T.DataType.Name(dtype), str(e).strip()[-150:])
                    continue
                if trial.alarm:
                    show("ALARM without a fault", name, T.DataType.Name(dtype), kind, trial.alarm[:3])
                for mistake, node, faulty in trial.plan(per, limit, rng):
                    if only and mistake not in only:
                        continue
                    row = judge_one(trial, mistake, node, faulty)
                    if row is None:
                        continue
                    row |= {"seed": seed, "data": kind, "suspect": trial.suspect.name, "alarm": bool(trial.alarm)}
                    rows.append(row)
                    due = row["size"] > DUE
                    silent = row["exit"] == 0 and (row["untold"] or row["moved"] > VISIBLE)
                    if (due and not row["found"]) or row["strangers"] or silent or row["crashed"]:
                        what = [w for w, is_so in (("MISSED", due and not row["found"]), ("STRANGER", row["strangers"]), ("SILENT", silent), ("NO VERDICT", row["crashed"])) if is_so]
                        show(*what, name, row["type"], kind, seed, mistake, node.name, f"size {row['size']:.3g}", row["layers"], row["ratio"], row["excuses"],
                             f"output moved by {row['moved']:.2g}, exit {row['exit']} {row['untold']}", row["strangers"])
    return rows


def report(rows, path=None):
    """Prints the shares, writes rows; what is to be counted as a failure."""
    if path:
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]) if rows else ["family"])
            writer.writeheader()
            writer.writerows(rows)
    groups = collections.defaultdict(list)
    for r in rows:
        groups[r["family"]].append(r)
        groups["type " + r["type"]].append(r)
        groups["all"].append(r)
    print(f"{'':18}{'faults':>8}{'due':>8}{'found':>8}{'strange':>8}{'visible':>9}{'WRONG':>8}{'open':>8}{'silent':>8}")
    for name in sorted(groups, key=lambda n: (n == "all", n.startswith("type"), n)):
        g = groups[name]
        due = [r for r in g if r["size"] > DUE]
        visible = [r for r in g if r["moved"] > VISIBLE and r["size"] > DUE]
        print(f"{name:18}{len(g):8}{len(due):8}{sum(r['found'] for r in due):8}{sum(bool(r['strangers']) for r in g):8}{len(visible):9}"
              f"{sum(r['ends'] == 'WRONG' for r in visible):8}{sum(r['ends'] == 'open' for r in visible):8}{sum(r['ends'] == 'right' for r in visible):8}")
    failures = []
    for r in rows:
        missed = r["size"] > DUE and not r["found"]
        silent = r["exit"] == 0 and (bool(r["untold"]) or (r["moved"] > VISIBLE and r["size"] > DUE))
        words = [w for w, is_so in (("missed", missed and is_known(r) is None), ("silent", silent and (r["network"], r["type"]) not in KNOWN_SILENT),
                                    ("stranger", r["strangers"] and not r["alarm"]), ("no verdict", r["crashed"])) if is_so]
        failures += [(word, r["network"], r["type"], r["mistake"], r["node"], r["size"]) for word in words]
    for kind, least in SHARES.items():
        due = [r for r in rows if r["type"] == kind and r["size"] > DUE]
        share = sum(r["found"] for r in due) / len(due) if due else 1
        if share < least and len(due) >= 100:
            failures.append(("too few found", kind, f"{share:.1%}", f"of {len(due)}", "", 0))
    return failures


def main(judge, args, show):
    names = args.models or list(networks.NETWORKS)
    rows = run(judge, names, args.seeds, args.types, args.per, args.limit, args.faults, show)
    failures = report(rows, args.csv)
    for f in failures:
        print("not known to be missed:", *f)
    return 1 if failures else 0
