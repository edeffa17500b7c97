"""Makes the project's tables of speed: every model on the engine and on ONNX Runtime, by `assay bench` alone.

usage: table.py ASSAY MODEL... [--runs N] [--duration S] [--threads N] [--batch N] [--openvino] [--cache DIR]
                [--json FILE] [--floors FILE]

A MODEL is a file, or the name of one of the generator's models (`all`: every one of them). Ratios are the other's time
divided by the engine's: above 1 the engine is faster. They come from runs in turns in one process, N processes at
different times (all models once, then all again), of which the median counts.

`limit` is the ratio to ONNX Runtime that an engine would have that takes no longer than the floor of each layer
(`assay bench --dump-roofline`): it says how much is left where no layer gets by with fewer operations.
`--openvino` compares with OpenVINO, too, which ASSAY_OPENVINO names; the module is the one of the build folder.
`--batch` is of generated models. What building and opening cost: opening.py.
`--floors` writes where the time goes, for each model of a ratio below 1.3: the layers of the last run by tactic, with
their operations, bytes and floors, and those that are farthest from their floor.
`--cache` keeps timing caches from call to call.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def bench(assay, *arguments):
    """The JSON report of one call."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        done = subprocess.run([assay, "bench", *map(str, arguments), "--json", str(report)],
                              capture_output=True, text=True, timeout=1800)
        if done.returncode != 0:
            raise RuntimeError(f"{done.stdout[-300:]}{done.stderr[-300:]}")
        return json.loads(report.read_text())


def medians(report):
    return {row["backend"]: row["latency_ms"]["median"] for row in report["rows"]}


def measure(assay, model, cache, options, inputs=()):
    """One run of all backends in turns; `inputs` are options that feed the model."""
    common = [*inputs, *(["--threads", options.threads] if options.threads else [])]
    others = ["onnxrt"]
    if options.openvino:
        common += ["--extension", Path(assay).parent / "extensions/openvino/openvino.so"]
        others.append("openvino")
    report = bench(assay, model, "--backends", "engine", "engine:0", *others, "--timing-cache", cache, "--duration",
                   options.duration, "--warm-up", 100, "--dump-roofline", *common)
    times = medians(report)
    rows = {row["backend"]: row for row in report["rows"]}
    floor = report["rooflines"][0]["floor_ms"]
    return {"roofline": report["rooflines"][0], "ratio": times["onnxrt"] / times["engine"], "fixed": times["engine:0"] / times["engine"],
            "engine": times["engine"], "limit": times["onnxrt"] / floor if floor > 0 else math.inf,
            "openvino": times["openvino"] / times["engine"] if options.openvino else None,
            "differs": rows["onnxrt"]["difference"]}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def middle(runs, key):
    return statistics.median(run[key] for run in runs)


def line(name, runs, options):
    each = " ".join(f"{run['ratio']:.2f}" for run in runs)
    text = f"| {name} | {middle(runs, 'ratio'):.2f} ({each}) | {middle(runs, 'limit'):.2f} "
    if options.openvino:
        text += f"| {middle(runs, 'openvino'):.2f} "
    text += f"| {middle(runs, 'engine'):.2f} | {middle(runs, 'fixed'):.2f} | {max(run['differs'] for run in runs):.0e} |"
    return text


def head(options):
    columns = ["model", "speed (all runs)", "limit"] + ["against OpenVINO"] * options.openvino
    columns += ["ms", "measured / fixed choice", "differs"]
    return f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"


GROUP_HEAD = "| tactic | layers | ms | of the time | GFLOP | GFLOP/s | MB | floor ms | floor / time |"


def group_line(name, layers, total):
    sums = {key: sum(layer.get(key, 0) for layer in layers)
            for key in ["median_ms", "floor_ms", "multiply_adds", "weight_bytes", "value_bytes"]}
    time, operations = sums["median_ms"], 2 * sums["multiply_adds"]
    return (f"| {name} | {len(layers)} | {time:.3f} | {time / total:.0%} | {1e-9 * operations:.3f} | "
            f"{1e-6 * operations / time:.0f} | {1e-6 * (sums['weight_bytes'] + sums['value_bytes']):.2f} | "
            f"{sums['floor_ms']:.3f} | {sums['floor_ms'] / time:.0%} |")


def floors(name, runs):
    """Markdown: the layers of the last run by tactic, and the five that are farthest from their floor."""
    roofline = runs[-1]["roofline"]
    layers = [layer for layer in roofline["layers"] if layer["median_ms"] > 0]
    total = sum(layer["median_ms"] for layer in layers)
    tactics = {}
    for layer in layers:
        tactics.setdefault(layer["tactic"], []).append(layer)
    ordered = sorted(tactics.items(), key=lambda t: -sum(layer["median_ms"] for layer in t[1]))
    few = [group for group in ordered if sum(layer["median_ms"] for layer in group[1]) >= 0.01 * total]
    rest = [layer for group in ordered[len(few):] for layer in group[1]]
    lines = [f"## {name}: ratio {middle(runs, 'ratio'):.2f}, limit {middle(runs, 'limit'):.2f}", "", GROUP_HEAD,
             "|---" * GROUP_HEAD.count(" |") + "|"]
    lines += [group_line(f"`{tactic}`", group, total) for tactic, group in few]
    lines += [group_line("others", rest, total)] if rest else []
    lines += [group_line("all", layers, total), "", "Farthest from their floor:", ""]
    for layer in sorted(layers, key=lambda x: x["floor_ms"] - x["median_ms"])[:5]:
        title = layer["name"] if len(layer["name"]) <= 80 else layer["name"][:77] + "..."
        lines.append(f"* {layer['median_ms']:.3f} ms, floor {layer['floor_ms']:.3f}, `{layer['tactic']}`: `{title}`")
    return lines + [""]


def report(rows, failed, options):
    """Prints the table of all runs by model, and of those that failed; the exit status."""
    print(head(options))
    for name, runs in sorted(rows.items(), key=lambda r: -middle(r[1], "ratio")):
        print(line(name, runs, options))
    for name, reason in failed.items():
        print(f"| {name} | FAILED: {reason} |")
    if rows:
        for what in ["ratio", "fixed"] + ["openvino"] * options.openvino:
            values = [middle(runs, what) for runs in rows.values()]
            print(f"\n{what}: geometric mean of {len(values)}: {geometric_mean(values):.3f}, least {min(values):.2f}, "
                  f"{sum(v < 1 for v in values)} below 1")
    if options.floors:
        below = [floors(*row) for row in sorted(rows.items(), key=lambda r: middle(r[1], "ratio"))
                 if middle(row[1], "ratio") < 1.3]
        options.floors.write_text("\n".join(line for lines in below for line in lines))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 1 if failed else 0


def generated(assay, folder, wanted, batch):
    """Files of the generator's models among `wanted`, other files as they are. None is kept."""
    listed = subprocess.run([assay, "template", "model", "--list"], capture_output=True, text=True, check=True).stdout
    names = [words.split()[0] for words in listed.splitlines()[1:]]
    for model in (names if wanted == ["all"] else wanted):
        if model not in names:
            yield model
            continue
        path = Path(folder, model + ".onnx")
        subprocess.run([assay, "template", "model", model, "-o", str(path), "--batch", str(batch)],
                       capture_output=True, check=True)
        yield str(path)
        path.unlink()


def parser_of(description):
    """The options that every table of speed has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--duration", type=float, default=2)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--openvino", action="store_true")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--floors", type=Path)
    return parser


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--batch", type=int, default=1)
    options = parser.parse_args()
    assay, rows, failed = os.path.abspath(options.assay), {}, {}
    with tempfile.TemporaryDirectory() as folder:
        caches = options.cache or Path(folder)
        caches.mkdir(exist_ok=True)
        for run in range(options.runs):
            for model in generated(assay, folder, options.models, options.batch):
                name = Path(model).stem
                cache = caches / f"{name}.{options.batch}.{options.threads}.json"
                try:
                    measured = measure(assay, model, cache, options)
                    rows.setdefault(name, []).append(measured)
                    print(f"run {run + 1}: {name} {measured['ratio']:.2f}", file=sys.stderr, flush=True)
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    failed[name] = f"{str(error)[:300]!r}"
    return report(rows, failed, options)


if __name__ == "__main__":
    sys.exit(main())
