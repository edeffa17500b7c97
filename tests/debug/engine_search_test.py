#!/usr/bin/env python3
"""`debug precision`, `tactics` and `passes` from end to end: engine_search_test.py ASSAY PLANTED_MODULE [--long] [--only NAME]

The faults that they look for are in a module (planted.cpp), or in weights that float16 cannot hold.
"""

import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ASSAY, PLANTED = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
IS_LONG = "--long" in sys.argv
problems = 0


def run(*words, name="assay", **more):
    """(exit code, what it printed)"""
    done = subprocess.run([name, *map(str, words)], executable=ASSAY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=600, **more)
    return done.returncode, done.stdout


def expect(condition, what, shown=""):
    global problems
    if not condition:
        problems += 1
        print(f"FAILED: {what}\n{shown[-6000:]}")


def model(path, nodes, weights=()):
    """A chain from x to y: (operator, name, attributes, further inputs)."""
    lines, at = (["  axis = Constant <value_int = 1> ()"] if any(n[0] == "CumSum" for n in nodes) else []), "x"
    for i, (op, name, attributes, inputs) in enumerate(nodes):
        y = "y" if i == len(nodes) - 1 else f"v{i}"
        lines.append(f"  [{name}] {y} = {op} {attributes} ({', '.join([at, *inputs])})")
        at = y
    initializers = ",\n    ".join(f"float[{','.join(map(str, shape))}] {name} = {{{', '.join(f'{v:.9g}' for v in values)}}}"
                                  for name, shape, values in weights)
    pathlib.Path(path).write_text('<ir_version: 8, opset_import: ["" : 17]>\nchain (float[4,8] x) => (float[4,8] y)\n'
                                  + (f"  <{initializers}>\n" if weights else "") + "{\n" + "\n".join(lines) + "\n}\n")


def matrices(count, hot=(), low=-1, size=0.6):
    draw = random.Random(3)
    return [(f"w{i}", (8, 8), [draw.uniform(low, 1) * (1e5 if i in hot else size) for _ in range(64)]) for i in range(count)]


def products(path, count, hot=()):
    """MatMul and Tanh; weights of `hot` are beyond float16's range."""
    nodes, weights = [], matrices(count, hot) + [("cool", (1,), [1 / 131072])]
    for i in range(count):
        if i in hot:
            nodes.append(("Mul", f"cool{i}", "", ["cool"]))
        nodes.append(("MatMul", f"product{i}", "", [f"w{i}"]))
        nodes.append(("Tanh", f"tanh{i}", "", []))
    model(path, nodes, weights)


def relus(path, count, bad, kind):
    nodes = []
    for i in range(count):
        nodes += [("MatMul", f"product{i}", "", [f"w{i}"]), ("CumSum", f"sum{i}", "", ["axis"]),
                  ("Relu", f"{kind if i in bad else 'relu'}{i}", "", [])]
    model(path, nodes, matrices(count, low=-0.3, size=0.1))


def slopes(path, count, bad):
    nodes = []
    for i in range(count):
        nodes += [("MatMul", f"product{i}", "", [f"w{i}"]), ("Identity", f"identity{i}", "", []),
                  ("LeakyRelu", f"{'guilty' if i in bad else 'leaky'}{i}", "<alpha = 0.1>", [])]
    model(path, nodes, matrices(count))


def line_after(text, words):
    """The words of a command line behind these."""
    found = re.search(re.escape(words) + r" (.*)", text)
    return shlex.split(found[1]) if found else None


def searched(command, *words):
    at = words.index("--check") if "--check" in words else len(words)
    code, text = run("debug", command, *words[:at], "--json", "found.json", *words[at:])
    return code, text, json.loads(pathlib.Path("found.json").read_text()) if code == 0 else {}


def precision_with_a_check():
    """Polygraphy's protocol: the first, or the last, layers."""
    products("p.onnxtxt", 8, hot=[5])
    # In int8 as long as it is not held in float32.
    check = ["--hide-fail-output", "--fail-regex", r"product5.*\[Op: int8", "--check", ASSAY, "inspect", "model", "polygraphy_debug.engine", "--show", "layers"]
    for direction, which, expected in (("forward", "first", 12), ("reverse", "last", 6)):
        for mode in ("bisect", "linear"):
            code, text, found = searched("precision", "p.onnxtxt", "--int8", "--mode", mode, "--dir", direction, "--builder-optimization-level", "0", *check)
            expect(code == 0 and f"try running the {which} {expected} layer(s) in higher precision" in text, f"{mode} {direction}", text)
            expect(len(found["marked"]) == expected and "product5" in found["marked"] and found["layers"] == 17, f"{mode} {direction}: JSON", str(found))
    code, text = run("debug", "precision", "p.onnxtxt", "--fp16", "--check", "false", name="polygraphy")
    expect(code == 0 and "Could not find a configuration that satisfied accuracy requirements." in text, "all fail", text)
    code, text = run("debug", "precision", "p.onnxtxt", "--fp16", "--mode", "linear", "--check", "true", name="polygraphy")
    expect(code == 0 and "try running the first 0 layer(s) in higher precision" in text, "linear begins with none", text)
    replay = json.loads(pathlib.Path("polygraphy_debug_replay.json").read_text())
    expect(list(replay) == ["_N0"], "the replay", json.dumps(replay))
    code, text = run("debug", "precision", "p.onnxtxt", "--int8", "--dir", "reverse", "--check", "true")
    expect(code == 0 and "try running the last 1 layer(s) in higher precision" in text and "product0" not in text.split("These are")[-1], "reverse", text)
    expect(line_after(text, "These are: --layer-precisions") == ["tanh7:float32"], "the line", text)


def precision_by_accuracy():
    products("p.onnxtxt", 10, hot=[2, 7])
    code, text, found = searched("precision", "p.onnxtxt", "--fp16", "--accuracy", "40dB", "--builder-optimization-level", "1")
    expect(code == 0 and found.get("answer", {}).get("float32") == ["product2", "product7"], "two layers are held", text)
    expect(found["answer"]["decibels"] >= 40 and found["checks"] <= 40, "and the goal is met", json.dumps(found))
    expect([len(p["float32"]) for p in found["points"]][:1] == [0] and len(found["points"]) >= 4, "points", json.dumps(found["points"]))
    pasted = line_after(text, "This holds them:")
    expect(pasted == found["options"] and pasted[0] == "--fp16", "the line and the JSON say the same", text)
    # The pasted line works, and holds these layers: float16 would make infinities of their weights, or their largest number.
    for program in (["run", "p.onnxtxt", "--trt", "--ref", "--rel-tol", "0.02", "--abs-tol", "0.02"], ["convert", "p.onnxtxt", "-o", "p.plan"]):
        code, text = run(*program, *pasted)
        expect(code == 0, f"{program[0]} with the pasted line", text)
    code, text = run("run", "p.onnxtxt", "--trt", "--ref", "--rel-tol", "0.02", "--abs-tol", "0.02", "--fp16", "--layer-precisions", "*:float16")
    expect(code != 0, "without it, it fails", text)
    for type_option in ("--bf16", "--int8"):
        code, text, found = searched("precision", "p.onnxtxt", type_option, "--accuracy", "rel:0.0005", "--builder-optimization-level", "0")
        expect(code == 0 and found["answer"]["relative"] <= 0.0005 and found["answer"]["float32"], type_option, text)
        code, text = run("convert", "p.onnxtxt", "-o", "p.plan", *found.get("options", []))
        expect(code == 0, f"{type_option}: the pasted line", text)


def tactics():
    for kind, options in (("wrong", []), ("flaky", ["--runs", "6"]), ("wrong", ["--accuracy", "60dB"])):
        for bad in ([4],) + (([0], [11], [3, 8]) if IS_LONG else ()):
            relus("t.onnxtxt", 12, bad, kind)
            code, text, found = searched("tactics", "t.onnxtxt", "--extension", PLANTED, "--builder-optimization-level", "0", *options)
            names = [n for g in found.get("guilty", []) for n in g["nodes"]]
            expect(code == 0 and names and set(names) <= {f"{kind}{i}" for i in bad}, f"{kind} {bad} {options}", text)
            expect(found.get("options") == ["--disable-tactics", "planted_kernel:plain"] and found["checks"] <= 24, "the line", json.dumps(found))
            expect(line_after(text, "out:") == found["options"], "the line as text", text)
            expect(not [p for p in os.listdir() if "journal" in p or p.endswith(".engine")], "nothing is left behind", str(os.listdir()))
    relus("t.onnxtxt", 4, [], "wrong")
    code, text, found = searched("tactics", "t.onnxtxt", "--extension", PLANTED)
    expect(code == 0 and found["result"] == "passes" and "The engine passes" in text, "nothing is wrong", text)
    # A command as the check.
    relus("t.onnxtxt", 6, [2], "wrong")
    run("run", "t.onnxtxt", "--ref", "--save-outputs", "exact.json")
    by_command = ["debug", "tactics", "t.onnxtxt", "--extension", PLANTED, "--builder-optimization-level", "0", "--hide-fail-output", "--check", ASSAY,
                  "run", "polygraphy_debug.engine", "--model-type", "engine", "--trt", "--load-outputs", "exact.json", "--extension", PLANTED]
    code, text = run(*by_command)
    expect(code == 0 and "planted_kernel:plain at wrong2" in text, "a command as the check", text)


def passes():
    for bad in ([3],) + (([0], [7]) if IS_LONG else ()):
        slopes("s.onnxtxt", 8, bad)
        code, text, found = searched("passes", "s.onnxtxt", "--extension", PLANTED)
        expect(code == 0 and found.get("pass") == "planted_slope" and any(f"guilty{bad[0]}" in n for n in found["nodes"]), f"passes {bad}", text)
        expect(found.get("options") == ["--disable-passes", "planted_slope"] and found["alone"] and found["checks"] <= 14, "the line", json.dumps(found))
        code, text = run("run", "s.onnxtxt", "--trt", "--ref", "--extension", PLANTED, *found["options"])
        expect(code == 0, "the line works", text)
    slopes("s.onnxtxt", 4, [])
    code, text, found = searched("passes", "s.onnxtxt", "--extension", PLANTED)
    expect(code == 0 and found["result"] == "passes", "nothing is wrong", text)
    # What is not of the passes, and what is not of the tactics.
    relus("t.onnxtxt", 4, [1], "wrong")
    code, text, found = searched("passes", "t.onnxtxt", "--extension", PLANTED, "--builder-optimization-level", "0")
    expect(code == 0 and found["result"] == "not the passes" and "debug tactics" in text, "a tactic", text)
    slopes("s.onnxtxt", 4, [1])
    code, text, found = searched("tactics", "s.onnxtxt", "--extension", PLANTED, "--builder-optimization-level", "0")
    expect(code == 0 and found["result"] == "not the tactics" and "debug passes" in text, "a pass", text)


def side_by_side():
    """Three engines at once: the same answers."""
    products("p.onnxtxt", 10, hot=[2, 7])
    relus("t.onnxtxt", 12, [4], "wrong")
    slopes("s.onnxtxt", 8, [3])
    module = ["--extension", PLANTED, "--builder-optimization-level", "0"]
    for command, words in (("precision", ["p.onnxtxt", "--fp16", "--accuracy", "40dB", "--builder-optimization-level", "0"]),
                           ("tactics", ["t.onnxtxt", *module]), ("passes", ["s.onnxtxt", *module])):
        of = []
        for jobs in ("1", "3"):
            code, text, found = searched(command, *words, "--jobs", jobs)
            expect(code == 0, f"{command} --jobs {jobs}", text)
            for point in [found.get("answer", {}), *found.get("points", [])]:
                point.pop("milliseconds", 0), point.pop("best", 0)
            of.append({key: found.get(key) for key in ("answer", "guilty", "pass", "nodes", "options", "checks", "sensitivities")})
        expect(of[0] == of[1], f"{command}: one and three", str(of))
    # And with a command that judges each plan, which gets files of its own.
    for command, path, named in (("tactics", "t.onnxtxt", "wrong4"), ("passes", "s.onnxtxt", "guilty3")):
        run("run", path, "--ref", "--save-inputs", "in.json", "--save-outputs", "golden.json")
        check = [ASSAY, "run", "{}", "--model-type", "engine", "--trt", "--extension", PLANTED, "--load-inputs", os.path.abspath("in.json"),
                 "--load-outputs", os.path.abspath("golden.json"), "--abs-tol", "0.001"]
        of = []
        for jobs in ("1", "3"):
            code, text, found = searched(command, path, *module, "--hide-fail-output", "--jobs", jobs, "--check", *check)
            expect(code == 0 and named in json.dumps([found.get("guilty"), found.get("nodes")]), f"{command} --jobs {jobs} --check", text)
            of.append({key: found.get(key) for key in ("guilty", "pass", "nodes", "options", "checks")})
        expect(of[0] == of[1], f"{command} --check: one and three", str(of))


def killed_and_resumed():
    """Killed at any moment, a search that goes on comes to the same result, and no check is made twice."""
    products("p.onnxtxt", 10, hot=[2, 7])
    relus("t.onnxtxt", 12, [4], "wrong")
    slopes("s.onnxtxt", 8, [3])
    module = ["--extension", PLANTED, "--builder-optimization-level", "0"]
    for command, words in (("precision", ["p.onnxtxt", "--fp16", "--accuracy", "40dB", "--builder-optimization-level", "0"]),
                           ("tactics", ["t.onnxtxt", *module]), ("passes", ["s.onnxtxt", *module])):
        start = time.monotonic()
        code, text, whole = searched(command, *words)
        seconds = time.monotonic() - start
        draw = random.Random(command)
        for _ in range(20 if IS_LONG else 2):
            for path in ("j", "j.tactics"):
                pathlib.Path(path).unlink(missing_ok=True)
            process = subprocess.Popen(["assay", "debug", command, *words, "--journal", "j"], executable=ASSAY, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(draw.uniform(0.05, 0.8 * seconds))
            process.send_signal(signal.SIGKILL)
            process.wait()
            lines = pathlib.Path("j").read_text().count("\n") if os.path.exists("j") else 0
            code, text, found = searched(command, *words, "--journal", "j", "--resume")
            expect(code == 0, f"{command}: resumed", text)
            for key in ("answer", "guilty", "pass", "nodes", "options"):
                of = [json.loads(json.dumps(f.get(key))) for f in (whole, found)]
                for f in of:
                    if key == "answer" and f:
                        f.pop("milliseconds"), f.pop("best")
                expect(of[0] == of[1], f"{command}: the same {key}", f"{of}\n{text}")
            asked = [json.loads(line)["question"] for line in pathlib.Path("j").read_text().splitlines()[1:]]
            expect(len(asked) == len(set(asked)), f"{command}: {len(asked)} answers to {len(set(asked))} questions", text)
            expect(found["checks"] <= whole["checks"] - max(0, lines - 1), f"{command}: no check is made twice",
                   f"{found['checks']} of {whole['checks']}, {lines} lines\n{text}")
        code, text = run("debug", command, *words, "--journal", "j", "--resume", "--seed", "7")
        expect(code == 1 and "another search" in text, f"{command}: a journal of another search", text)


def bad_input():
    products("p.onnxtxt", 3, hot=[1])
    model("unknown.onnxtxt", [("Unheard", "n", "", [])])
    cases = [
        (["precision", "p.onnxtxt", "--accuracy", "40dB"], "--fp16, --bf16 and --int8"),
        (["precision", "p.onnxtxt", "--fp16", "--int8", "--accuracy", "40dB"], "--fp16, --bf16 and --int8"),
        (["precision", "p.onnxtxt", "--fp16", "--accuracy", "forty"], "is no accuracy"),
        (["precision", "p.onnxtxt", "--fp16", "--accuracy", "500dB"], "not even float32"),
        (["precision", "p.onnxtxt", "--fp16", "--accuracy", "40dB", "--check", "true"], "leave one of them out"),
        (["precision", "p.onnxtxt", "--check", "true"], "nothing to search"),
        (["precision", "p.onnxtxt", "--int8", "-p", "float16", "--check", "true"], "give --fp16"),
        (["precision", "p.onnxtxt", "--fp16", "--resume", "--check", "true"], "--load-debug-replay"),
        (["precision", "p.onnxtxt", "--fp16", "--accuracy", "40dB", "--runs", "0"], "--runs"),
        (["tactics", "none.onnxtxt"], "none.onnxtxt"),
        (["precision", "p.onnxtxt", "--fp16", "--accuracy", "nandB"], "is no accuracy"),
        (["precision", "p.onnxtxt", "--fp16", "--accuracy", "abs:nan"], "is no accuracy"),
        (["precision", "p.onnxtxt", "--fp16", "--accuracy", "rel:-1"], "is no accuracy"),
        (["tactics", "unknown.onnxtxt"], "Unheard"),
        (["passes", "unknown.onnxtxt"], "Unheard"),
        (["tactics", "p.onnxtxt", "--jobs", "-2"], "--jobs must be from 0"),
        (["tactics", "p.onnxtxt", "--repeat", "3"], "--runs"),
        (["precision", "p.onnxtxt", "--fp16", "--jobs", "2", "--check", "true"], "is for --accuracy"),
        (["passes", "p.onnxtxt", "--jobs", "2", "--check", "false"], "does not name polygraphy_debug.engine"),
        (["tactics", "p.onnxtxt", "--journal", "/dev/full"], "/dev/full"),
        (["tactics", "p.onnxtxt", "--journal", "p.onnxtxt", "--resume"], "is no journal"),
        (["tactics", "p.onnxtxt", "--load-tactics", "p.onnxtxt"], "p.onnxtxt"),
        (["tactics", "p.onnxtxt", "--check", "no-such-program"], "in no folder of PATH"),
        (["passes", "p.onnxtxt", "--journal", "no/such/folder/j"], "no/such/folder"),
        (["passes", "p.onnxtxt", "--load-inputs", "none.json"], "none.json"),
    ]
    for words, part in cases:
        code, text = run("debug", *words)
        expect(code in (1, 2) and part in text and "Traceback" not in text, f"{words}: {part}", f"{code}\n{text}")
    pathlib.Path("polygraphy_debug.engine").write_text("somebody's")
    code, text = run("debug", "passes", "p.onnxtxt", "--check", "false")
    expect(code == 1 and "refusing to overwrite" in text and pathlib.Path("polygraphy_debug.engine").read_text() == "somebody's", "a file in the way", text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
        for test in (precision_with_a_check, precision_by_accuracy, tactics, passes, side_by_side, killed_and_resumed, bad_input):
            if only and only != test.__name__:
                continue
            start = time.monotonic()
            test()
            print(f"{test.__name__}: {time.monotonic() - start:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
