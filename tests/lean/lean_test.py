#!/usr/bin/env python3
"""The lean runtime beside the whole library: the same results of the same plans, and what each takes: bytes of the stripped
library, and the time from the start of a program to its first result. A plan that it cannot run is refused in a sentence.

usage: lean_test.py ASSAY RUN_PLAN_LEAN RUN_PLAN_WHOLE LIBASSAY_RUNTIME LIBASSAY [--measure]
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time


def run(*words, code=0):
    done = subprocess.run(list(map(str, words)), text=True, capture_output=True, check=False)
    assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def main():
    measure = "--measure" in sys.argv
    assay, lean, whole, lean_library, whole_library = (pathlib.Path(p).resolve() for p in sys.argv[1:6])
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        for model in ["mlp", "resnet18"] if measure else ["mlp"]:
            onnx, plan = folder / f"{model}.onnx", folder / f"{model}.plan"
            run(assay, "template", "model", model, "-o", onnx)
            run(whole, plan, onnx)
            results = {}
            for name, program in {"lean": lean, "whole": whole}.items():
                times = []
                for _ in range(11 if measure else 1):
                    begin = time.perf_counter()
                    results[name] = run(program, plan)
                    times.append(time.perf_counter() - begin)
                print(f"{model}, {name}: {sorted(times)[len(times) // 2] * 1e3:.1f} ms to the first result")
            assert results["lean"] == results["whole"] and ":" in results["lean"], results
        # Nothing of the whole library is loaded, and none of what only builds engines is inside.
        assert "libassay.so" not in run("ldd", lean), "the lean program loads the whole library"
        for library in [lean_library, whole_library]:
            stripped = folder / "stripped.so"
            run("strip", "-o", stripped, library)
            print(f"{library.name}: {os.path.getsize(stripped) / 1e6:.2f} MB stripped")
            if library == lean_library:
                size = os.path.getsize(stripped)
            else:
                assert size < os.path.getsize(stripped) / 2, "the lean runtime is no smaller than half of the whole library"
        assert "not a plan file" in run(lean, sys.argv[0], code=1)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
