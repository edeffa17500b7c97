"""What opening costs, model by model: the engine from ONNX (level 0, nothing is timed), the engine from a plan, and ONNX
Runtime, each in processes of its own.

usage: opening.py ASSAY MODEL... [--runs N] [--threads N] [--builds] [--json FILE]

A MODEL is a file, or the name of one of the generator's models (`all`: every one of them). Times are the least of N
processes, which take turns. *Open* is from the file to what can run, reading and checking of the file included; *first*
has the first result, too. *Peak* is the least VmHWM after the first result: all memory that was resident at one time, pages
of mapped files (the plan, the model, libraries) included. ONNX Runtime runs in the same program, which reads the model's
structure for it but touches no weights.

`--builds` measures builds whose tactics are timed, too: with an empty timing cache and with a full one, and their peaks.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from table import generated


def bench(assay, *arguments):
    """Seconds until the engine or session is there, with the first result, and the process's peak memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        done = subprocess.run([assay, "bench", *map(str, arguments), "--json", str(report)], capture_output=True,
                              text=True, timeout=1800)
        if done.returncode != 0:
            raise RuntimeError(f"{done.stdout[-300:]}{done.stderr[-300:]}")
        measured = json.loads(report.read_text())
    read = re.search(r"Read the model in (\S+) sec", done.stdout)
    seconds = measured["backends"][0]["seconds"] + (float(read[1]) if read else 0)
    if not measured["rows"]:
        return seconds, None, None
    row = measured["rows"][0]
    return seconds, seconds + row["first_ms"] / 1e3, row["peak_memory_bytes"] / 2**20


def least(results):
    return [min(values) for values in zip(*results)]


def measure(assay, model, options):
    common = ["--threads", options.threads] if options.threads else []
    once = ["--iterations", 1, "--duration", 0, "--warm-up", 0, *common]
    with tempfile.TemporaryDirectory() as folder:
        plan, cache = Path(folder, "model.plan"), Path(folder, "times.json")
        bench(assay, model, "--backends", "engine:0", "--save-engine", plan, "--skip-inference", *common)
        os.sync()  # what the system has yet to write would take time from what follows
        with open(model, "rb") as file:  # the system has it in memory, whoever comes first
            while file.read(1 << 24):
                pass
        runs = [(bench(assay, model, "--backends", "engine:0", *once), bench(assay, "--load-engine", plan, *once),
                 bench(assay, model, "--backends", "onnxrt", *once)) for _ in range(options.runs)]
        result = {who: dict(zip(["open", "first", "peak"], least(each)))
                  for who, each in zip(["onnx", "plan", "onnxrt"], zip(*runs))}
        if options.builds:
            for which in ["build", "rebuild"]:
                result[which] = dict(zip(["open", "first", "peak"], bench(assay, model, "--timing-cache", cache, *once)))
    return result


def ratios(result):
    """How many times faster than ONNX Runtime from ONNX and from a plan, and the parts of its memory."""
    other = result["onnxrt"]
    return {"onnx": other["open"] / result["onnx"]["open"], "plan": other["open"] / result["plan"]["open"],
            "first": other["first"] / result["onnx"]["first"], "first plan": other["first"] / result["plan"]["first"],
            "peak": result["onnx"]["peak"] / other["peak"], "peak plan": result["plan"]["peak"] / other["peak"]}


def line(name, result):
    r, (a, b, c) = ratios(result), (result["onnx"], result["plan"], result["onnxrt"])
    text = (f"| {name} | {a['open']*1e3:.0f}, {b['open']*1e3:.1f}, {c['open']*1e3:.0f} | {r['onnx']:.1f}, {r['plan']:.0f} "
            f"| {r['first']:.1f}, {r['first plan']:.1f} | {a['peak']:.0f}, {b['peak']:.0f}, {c['peak']:.0f} "
            f"| {r['peak']:.2f}, {r['peak plan']:.2f} |")
    if "build" in result:
        text += (f" {result['build']['open']:.1f}, {result['rebuild']['open']:.2f} "
                 f"| {result['build']['peak']:.0f}, {result['rebuild']['peak']:.0f} |")
    return text


def head(has_builds):
    columns = ["model", "open ms: ONNX, plan, onnxrt", "times faster", "with first result", "peak MiB: ONNX, plan, onnxrt",
               "part of onnxrt's"]
    columns += ["timed build s, again", "its peak MiB, again"] * has_builds
    return f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"


def summary(rows):
    """Who misses: twice as fast from ONNX, ten times from a plan, no more memory than ONNX Runtime."""
    each = {name: ratios(result) for name, result in rows.items()}
    lines = []
    for key, limit, is_missed in [("onnx", 2, lambda x: x < 2), ("plan", 10, lambda x: x < 10), ("peak", 1, lambda x: x > 1),
                                  ("peak plan", 1, lambda x: x > 1)]:
        values = {name: r[key] for name, r in each.items()}
        mean = math.exp(sum(map(math.log, values.values())) / len(values))
        missed = [f"{name} {v:.2f}" for name, v in sorted(values.items(), key=lambda e: e[1]) if is_missed(v)]
        lines.append(f"{key}: geometric mean of {len(values)}: {mean:.2f}, from {min(values.values()):.2f} to "
                     f"{max(values.values()):.2f}; beyond {limit}: {', '.join(missed) or 'none'}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--builds", action="store_true")
    parser.add_argument("--json", type=Path, help="is read first, if it is there: rows of other models stay")
    options = parser.parse_args()
    assay, failed = os.path.abspath(options.assay), {}
    rows = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    print(head(options.builds))
    with tempfile.TemporaryDirectory() as folder:
        for model in generated(assay, folder, options.models, 1):
            name = Path(model).stem
            try:
                rows[name] = measure(assay, model, options)
                print(line(name, rows[name]), flush=True)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                failed[name] = f"{str(error)[:300]!r}"
                print(f"| {name} | FAILED: {failed[name]} |")
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1))
    if rows:
        print("\n" + summary(rows))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
