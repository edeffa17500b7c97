"""What the verdict costs: the time of a comparison with it over the time of the same comparison without, in turns.

usage: cost.py ASSAY MODEL...  [--rounds 3] [--samples N] [--marks outputs,layers]

A MODEL is a file. By hand, on a quiet machine; `assay template model NAME -o FILE` makes models. Prints for each model the median
time of the comparison and the ratios with --arbiter, on outputs and with all layers marked, each with its smallest and largest.
"""
import argparse
import statistics
import subprocess
import sys
import time


def seconds(command):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{command} ended with {done.returncode}: {(done.stdout + done.stderr)[-1500:]}")
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", default=None, help="--arbiter-samples")
    parser.add_argument("--marks", default="outputs,layers")
    args = parser.parse_args()
    judge = ["--arbiter", *(["--arbiter-samples", args.samples] if args.samples else [])]
    # A tolerance that all meet: what is timed is the comparison, not a search for whom to blame.
    tolerance = ["--atol", "1e9", "--rtol", "1e9"]
    for model in args.models:
        line = f"{model.split('/')[-1]:28}"
        for mark in args.marks.split(","):
            plain = [args.assay, "run", model, "--onnxrt", "--engine", *tolerance, "-q"]
            plain += ["--onnx-outputs", "mark", "all"] if mark == "layers" else []
            times = [(seconds(plain), seconds([*plain, *judge])) for _ in range(args.rounds)]
            base = statistics.median(t[0] for t in times)
            ratios = sorted(t[1] / t[0] for t in times)
            line += f"  {mark} {base:6.2f} s x {statistics.median(ratios):4.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(line, flush=True)


if __name__ == "__main__":
    main()
