#!/usr/bin/env python3
"""`surgeon sanitize --prove`: what it tries, what it says, and what is saved.

usage: prove_test.py ASSAY
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
MODELS = {
    # Random integers would be refused: divisors, indices, counts, shapes.
    "mod": "g (int32[6] i, int32[6] j, float[4] a) => (int32[6] w, int32[6] v) { w = Mod (i, j) u = Identity (j) v = Div (i, u) }",
    "gather": "g (float[5, n] t, int64[3] i) => (float[3, n] y) { u = Identity (t) y = Gather (u, i) }",
    "shape": "g (float[n] x, int64[2] s) => (float[a, b] y) { u = Identity (x) y = Reshape (u, s) }",
    "topk": "g (float[n] x, int64[1] k) => (float[m] y, int64[m] i) { u = Identity (x) y, i = TopK (u, k) }",
    # Only one size is right, and it is among those that are tried.
    "fixed": "g (float[n, 3] x) => (float[16, 6] y) <int64[2] s = {16, 6}> { u = Identity (x) y = Reshape (u, s) }",
}
# No size that is tried is right.
STUBBORN = "g (float[n] x) => (float[7, 13] y) <int64[2] s = {7, 13}> { u = Identity (x) y = Reshape (u, s) }"


def main():
    assay, problems = sys.argv[1], []

    def expect(condition, what):
        if not condition:
            problems.append(what)

    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)

        def prove(model, text, *options):
            path, out = work / f"{model}.onnxtxt", work / f"{model}.out.onnxtxt"
            path.write_text(HEADER + text)
            out.unlink(missing_ok=True)
            done = subprocess.run([assay, "surgeon", "sanitize", path, "--fold-constants", "--simplify", "--prove", "-o", out, *options],
                                  capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr, out

        for model, text in MODELS.items():
            status, said, out = prove(model, text)
            expect(status == 0 and "PASSED | All outputs agree" in said, f"{model}: {said[-600:]}")
            expect(out.is_file() and "Identity" not in out.read_text(), f"{model}: what is saved")
            done = re.search(r"(\d+) trial\(s\) of the whole model in [\d.]+ s \| (\d+) edit\(s\) proved by themselves", said)
            expect(done and int(done[1]) >= 5 and int(done[2]) >= 1, f"{model}: trials: {said[-600:]}")
        status, said, out = prove("stubborn", STUBBORN)
        expect(status == 1 and not out.exists(), f"stubborn: {status}")
        expect("--prove-input-shapes x:[2]" in said, f"stubborn: {said[-600:]}")
        # The remedy, its numbers replaced.
        status, said, out = prove("stubborn", STUBBORN, "--prove-input-shapes", "x:[91]")
        expect(status == 0 and out.is_file(), f"stubborn with a shape: {said[-600:]}")
    for p in problems:
        print(f"FAILED  {p}")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
