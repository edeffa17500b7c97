"""Makes the project's tables of speed: every model on the engine and on ONNX Runtime, by `assay bench` alone.

usage: table.py ASSAY MODEL... [--runs N] [--duration S] [--threads N] [--json FILE]

A MODEL is a file, or the name of one of the generator's models (`all`: every one of them). Ratios are ONNX Runtime's time
divided by the engine's: above 1 the engine is faster. They come from runs in turns in one process, N processes at
different times, of which the median counts. Opening and peak memory are of processes of their own.
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
            raise RuntimeError(f"{arguments}: {done.stdout[-600:]}{done.stderr[-600:]}")
        return json.loads(report.read_text())


def medians(report):
    return {row["backend"]: row["latency_ms"]["median"] for row in report["rows"]}


def opened(assay, *arguments):
    """Seconds until the first result is there, and the process's peak memory in MiB."""
    report = bench(assay, *arguments, "--iterations", 1, "--duration", 0, "--warm-up", 0)
    row = report["rows"][0]
    return report["backends"][0]["seconds"] + row["first_ms"] / 1e3, row["peak_memory_bytes"] / 2**20


def measure(assay, model, options):
    common = ["--threads", options.threads] if options.threads else []
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder, "model.plan")
        cache = Path(folder, "times.json")
        made = bench(assay, model, "--save-engine", plan, "--timing-cache", cache, "--skip-inference", *common)
        again = bench(assay, model, "--timing-cache", cache, "--skip-inference", *common)
        ratios, fixed = [], []
        for _ in range(options.runs):
            times = medians(bench(assay, model, "--backends", "engine", "engine:0", "onnxrt", "--timing-cache", cache,
                                  "--duration", options.duration, *common))
            ratios.append(times["onnxrt"] / times["engine"])
            fixed.append(times["engine:0"] / times["engine"])
        from_onnx = opened(assay, model, "--backends", "engine:0", *common)
        from_plan = opened(assay, "--load-engine", plan, *common)
        other = opened(assay, model, "--backends", "onnxrt", *common)
    return {"model": Path(model).stem, "ratio": statistics.median(ratios), "ratios": ratios,
            "fixed": statistics.median(fixed), "build": made["backends"][0]["seconds"],
            "rebuild": again["backends"][0]["seconds"], "first": from_onnx[0], "first_plan": from_plan[0],
            "first_onnxrt": other[0], "peak": from_onnx[1], "peak_plan": from_plan[1], "peak_onnxrt": other[1]}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


HEAD = """| model | speed (all runs) | measured / fixed choice | build, again s | first result from ONNX, plan, onnxrt s | peak MiB from ONNX, plan, onnxrt |
|---|---|---|---|---|---|"""


def line(r):
    runs = " ".join(f"{x:.2f}" for x in r["ratios"])
    return (f"| {r['model']} | {r['ratio']:.2f} ({runs}) | {r['fixed']:.2f} | {r['build']:.1f}, {r['rebuild']:.2f} "
            f"| {r['first']:.3f}, {r['first_plan']:.3f}, {r['first_onnxrt']:.3f} "
            f"| {r['peak']:.0f}, {r['peak_plan']:.0f}, {r['peak_onnxrt']:.0f} |")


def generated(assay, folder, wanted):
    """Files of the generator's models among `wanted`, other files as they are."""
    listed = subprocess.run([assay, "template", "model", "--list"], capture_output=True, text=True, check=True).stdout
    names = [words.split()[0] for words in listed.splitlines()[1:]]
    for model in (names if wanted == ["all"] else wanted):
        if model not in names:
            yield model
            continue
        path = Path(folder, model + ".onnx")
        subprocess.run([assay, "template", "model", model, "-o", str(path)], capture_output=True, check=True)
        yield str(path)
        path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--duration", type=float, default=2)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows, failed = [], 0
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for model in generated(os.path.abspath(options.assay), folder, options.models):
            try:
                rows.append(measure(os.path.abspath(options.assay), model, options))
                print(line(rows[-1]), flush=True)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"| {Path(model).stem} | FAILED: {str(error)[:300]!r} |", flush=True)
    if rows:
        print(f"\ngeometric means of {len(rows)}: speed {geometric_mean([r['ratio'] for r in rows]):.3f}, "
              f"least {min(r['ratio'] for r in rows):.2f}; measured / fixed choice "
              f"{geometric_mean([r['fixed'] for r in rows]):.3f}, least {min(r['fixed'] for r in rows):.2f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
