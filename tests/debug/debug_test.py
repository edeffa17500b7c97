#!/usr/bin/env python3
"""`debug` from end to end: debug_test.py ASSAY [--long] [--only NAME]

Checks are commands of the program itself, shell scripts and, where the Python environment has it, ONNX Runtime.
"""

import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

ASSAY = os.path.abspath(sys.argv[1])
IS_LONG = "--long" in sys.argv
problems = 0


def run(*words, name="assay", **more):
    """(exit code, what it printed)"""
    done = subprocess.run([name, *words], executable=ASSAY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=600, **more)
    return done.returncode, done.stdout


def expect(condition, what, shown=""):
    global problems
    if not condition:
        problems += 1
        print(f"FAILED: {what}\n{shown}")


def script(text, name=""):
    """A program of its own, so that several can be made before one runs."""
    path = pathlib.Path(name or f"check{len(list(pathlib.Path().glob('check*.sh')))}.sh")
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return os.path.abspath(path)


def layers(model):
    return re.findall(r"Node \d+ +\| (\S*)", run("inspect", "model", model, "--show", "layers")[1])


CHAIN = """<ir_version: 8, opset_import: ["" : 17]>
chain (float[4,8] x) => (float[4,8] y) {
%s
}
"""


def chain(path, count=40):
    lines = [f"  [n{i}] {'y' if i == count - 1 else f'v{i}'} = {'Neg' if i % 2 else 'Abs'} ({'x' if i == 0 else f'v{i - 1}'})" for i in range(count)]
    pathlib.Path(path).write_text(CHAIN % "\n".join(lines))


def reduce(model, node, *options, output="small.onnx"):
    """A node is to blame, by its name."""
    return run("debug", "reduce", model, "-o", output, *options, "--fail-regex", re.escape(node) + r"\b", "--check", ASSAY, "inspect", "model",
               "polygraphy_debug.onnx", "--show", "layers")


def one_node():
    chain("chain.onnxtxt")
    for node in ("n0", "n17", "n39"):
        code, text = reduce("chain.onnxtxt", node)
        checks = int(re.search(r"(\d+) check\(s\) were made", text)[1])
        expect(code == 0 and layers("small.onnx") == [node], f"chain: {node}", text)
        expect(checks <= 14, f"chain: {node} took {checks} checks", text)
    expect(not os.path.exists("polygraphy_debug.onnx") and not os.path.exists("small.onnx.journal"), "chain: nothing is left behind")


def resnet_50():
    run("template", "model", "resnet-50", "-o", "resnet.onnx")
    names = layers("resnet.onnx")
    for node in [names[len(names) // 2]] + ([names[0], names[-1], names[len(names) // 3]] if IS_LONG else []):
        start = time.monotonic()
        code, text = reduce("resnet.onnx", node, "--hide-fail-output")
        seconds = time.monotonic() - start
        checks = int(re.search(r"(\d+) check\(s\) were made", text)[1])
        print(f"resnet-50, {node}: {checks} checks, {seconds:.1f} s")
        expect(code == 0 and layers("small.onnx") == [node], f"resnet-50: {node}", text)
        # Attributes and extents that a structural check does not need are left out one by one.
        searched = text.index("Finished reducing nodes")
        expect(text.count("Running check command", 0, searched) <= 10, f"resnet-50: {node}", text)


def gpt2():
    """A language model of many equal blocks."""
    if not IS_LONG:
        return
    run("template", "model", "gpt2", "-o", "gpt2.onnx")
    names = layers("gpt2.onnx")
    node = names[len(names) // 2]
    code, text = reduce("gpt2.onnx", node, "--hide-fail-output", "--no-shape-inference")
    checks = int(re.search(r"(\d+) check\(s\) were made", text)[1])
    print(f"gpt2, {node}: {checks} checks")
    expect(code == 0 and layers("small.onnx") == [node], f"gpt2: {node}", text[-3000:])


def polygraphys_modes():
    chain("chain.onnxtxt", 12)
    for mode in ("bisect", "linear"):
        words = ["debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--mode", mode, "--min-good", "good.onnx", "--fail-regex", r"n5\b", "--check",
                 ASSAY, "inspect", "model", "polygraphy_debug.onnx", "--show", "layers"]
        code, text = run(*words, name="polygraphy")
        expect(code == 0 and layers("small.onnx") == ["n5"], f"polygraphy --mode {mode}", text)
        expect("Reducing model outputs" in text and "Finished reducing model inputs" in text and "Minimum Bad Model:" in text, "its lines", text)
        replay = json.loads(pathlib.Path("polygraphy_debug_replay.json").read_text())
        expect(set(replay["_N0_outputs"]) == {"state", "iteration_info", "success", "polygraphy_class"}, "the replay", json.dumps(replay))
        before = pathlib.Path("small.onnx").read_bytes()
        code, text = run(*words[:5], "--load-debug-replay", "polygraphy_debug_replay.json", *words[5:], name="polygraphy")
        expect("Running check command" not in text and pathlib.Path("small.onnx").read_bytes() == before, "from the replay", text)


def crash_of_onnxruntime():
    """A crash of the backend is a failure like another, and another failure is not taken for it."""
    if not os.environ.get("ASSAY_ONNXRUNTIME"):
        print("NOT TESTED: a crash of ONNX Runtime needs ASSAY_ONNXRUNTIME")
        return
    pathlib.Path("crash.onnxtxt").write_text("""<ir_version: 8, opset_import: ["" : 17]>
crash (float[2,0] x, float[3,0] w, float[2,3] b) => (float[2,3] y, float[2,0] z) {
  [before] a = Abs (x)
  [guilty] p = Einsum <equation = "ij,kj->ik"> (a, w)
  [sum] s = Add (p, b)
  [last] y = Relu (s)
  [beside] z = Neg (a)
}
""")
    code, text = run("run", "crash.onnxtxt", "--onnxrt")
    if code == 0:
        print("NOT TESTED: this ONNX Runtime does not crash over an Einsum of nothing")
        return
    code, text = run("debug", "reduce", "crash.onnxtxt", "-o", "small.onnx", "--check", ASSAY, "run", "polygraphy_debug.onnx", "--onnxrt")
    expect(code == 0 and layers("small.onnx") == ["guilty"], "a crash of ONNX Runtime", text)


def two_together():
    chain("chain.onnxtxt", 30)
    check = script(f'{ASSAY} inspect model "$1" --show layers > layers.txt; grep -q "| n4 " layers.txt && grep -q "| n21 " layers.txt && exit 3; exit 0')
    code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--check", check, "{}")
    expect(code == 0 and layers("small.onnx") == ["n4", "n21"], "two nodes together", text)


def killed_and_resumed():
    """Killed at any moment, a search that goes on comes to the same result, and no check is done twice."""
    chain("chain.onnxtxt", 30)
    count = script('echo . >> done.txt; sleep 0.02; ' + f'{ASSAY} inspect model polygraphy_debug.onnx --show layers | grep -q "| n13 " && exit 1; exit 0')
    words = ["debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--check", count]
    pathlib.Path("done.txt").write_text("")
    start = time.monotonic()
    code, text = run(*words)
    seconds = time.monotonic() - start
    whole = len(pathlib.Path("done.txt").read_text().splitlines())
    result = pathlib.Path("small.onnx").read_bytes()
    draw = random.Random(5)
    for i in range(20 if IS_LONG else 3):
        for path in ("small.onnx", "small.onnx.journal", "polygraphy_debug.onnx"):
            pathlib.Path(path).unlink(missing_ok=True)
        pathlib.Path("done.txt").write_text("")
        process = subprocess.Popen(["assay", *words], executable=ASSAY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.05, 0.7 * seconds))
        process.send_signal(draw.choice([signal.SIGKILL, signal.SIGINT]))
        if process.wait() == 0:
            continue  # it was through
        time.sleep(0.2)  # the check that was running ends with it
        # The last candidate may still be there; whose it is the journal says.
        shutil.copy("small.onnx.journal", "journal")
        code, text = run(*words[:5], "--resume", "--journal", "journal", *words[5:])
        checks = len(pathlib.Path("done.txt").read_text().splitlines())
        expect(code == 0 and pathlib.Path("small.onnx").read_bytes() == result, "resumed: the same result", text)
        # The check that was running when it was killed has no answer.
        expect(checks <= whole + 1, f"resumed: {checks} checks instead of {whole}", text)
        asked = [json.loads(line)["question"] for line in pathlib.Path("journal").read_text().splitlines()[1:]]
        expect(len(asked) == len(set(asked)) >= whole, f"resumed: {len(asked)} answers to {len(set(asked))} questions", text)
        expect(not os.path.exists("polygraphy_debug.onnx"), "resumed: the candidate is left", text)
    # Without a journal a file in the way is somebody's.
    pathlib.Path("polygraphy_debug.onnx").write_text("somebody's")
    code, text = run(*words[:5], "--journal", "none", "--resume", *words[5:])
    expect(code == 1 and "refusing to overwrite" in text, "a file in the way of no search", text)
    os.remove("polygraphy_debug.onnx")
    code, text = run(*words[:5], "--journal", "chain.onnxtxt", "--resume", *words[5:])
    expect(code == 1 and "is no journal" in text and "[n0]" in pathlib.Path("chain.onnxtxt").read_text(), "another file as the journal", text)


SECRET = """<ir_version: 10, opset_import: ["" : 17, "secret.functions" : 3], producer_name: "secret", doc_string: "secret", metadata_props: ["secret": "secret"]>
secret (float[secret_n, 4] secret_x, bool secret_c) => (float[secret_n, 4] secret_y) <float[4] secret_w = {0.5, 1.25, 2.125, 3.0625}> {
  [secret_before] secret_b = Sin (secret_x)
  [secret_call] secret_a = secret.functions.Secret <secret_alpha = 0.5> (secret_b)
  [secret_mul] secret_m = Mul (secret_a, secret_w)
  [secret_if] secret_y = If (secret_c) <
    then_branch = secret_then () => (float[secret_n, 4] secret_t) {
      secret_v = Constant <value = float[4] {7.5, 8.25, 9.125, 10.0625}> ()
      [secret_body] secret_t = Add (secret_m, secret_v)
    },
    else_branch = secret_else () => (float[secret_n, 4] secret_e) { [secret_other] secret_e = Neg (secret_m) }>
}
<domain: "secret.functions", opset_import: ["" : 17], doc_string: "secret">
Secret <secret_alpha> (secret_i) => (secret_o) { secret_o = LeakyRelu <alpha : float = @secret_alpha> (secret_i) }
"""


def anonymised():
    """No name and no weight of the model is in the case, with metadata, bodies, functions and names of files."""
    os.makedirs("secret_folder", exist_ok=True)
    pathlib.Path("secret_folder/secret.onnxtxt").write_text(SECRET)
    code, text = run("surgeon", "sanitize", "secret_folder/secret.onnxtxt", "-o", "secret_folder/secret.onnx", "--save-external-data", "secret.data",
                     "--external-data-size-threshold", "0")
    expect(code == 0 and b"secret.data" in pathlib.Path("secret_folder/secret.onnx").read_bytes(), "a model with secrets", text)
    weights = [struct.pack("<4f", *w) for w in ((0.5, 1.25, 2.125, 3.0625), (7.5, 8.25, 9.125, 10.0625))]
    # What fails takes the call, the product and the body together.
    check = script(f'{ASSAY} inspect model polygraphy_debug.onnx --show layers > l.txt; grep -q "Op: Mul" l.txt && grep -q "Op: If" l.txt && '
                   'grep -q -E "Secret|function_" l.txt && exit 3; exit 0')
    code, text = run("debug", "reduce", "secret_folder/secret.onnx", "-o", "left.onnx", "--anonymise", "--test-case", "case", "--programs", "programs",
                     "--check", check)
    expect(code == 0 and "All names are generated" in text and "no weight(s) are the model's own" in text, "anonymised", text)
    files = [p for folder in ("case", "programs") for p in pathlib.Path(folder).rglob("*") if p.is_file()] + [pathlib.Path("left.onnx")]
    expect(len(files) >= 6, f"anonymised: {files}", text)
    for path in files:
        content = path.read_bytes()
        expect(b"secret" not in content.lower() and "secret" not in str(path).lower(), f"{path} has a name of the model's", content[:2000].decode(errors="replace"))
        expect(not any(w in content for w in weights), f"{path} has a weight of the model's")
    # Without it they are there, so that the search for them says something.
    code, text = run("debug", "reduce", "secret_folder/secret.onnx", "-o", "open.onnx", "--check", check)
    content = pathlib.Path("open.onnx").read_bytes()
    expect(code == 0 and b"secret_mul" in content and weights[0] in content, "not anonymised", text)


def named_layers(*wanted, then):
    """A check on its first word: what it does where all of these nodes are there."""
    tests = " && ".join(f'echo "$out" | grep -q "| {n} "' for n in wanted)
    return script(f'out=$({ASSAY} inspect model "$1" --show layers); if {tests}; then {then}; fi; exit 0')


def journal_questions(path):
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().split("\n")[1:-1]]  # what is whole
    return [line["question"] for line in lines]


def side_by_side():
    """Several checks at once come to the same result, by the same answers."""
    chain("chain.onnxtxt", 30)
    check = named_layers("n4", "n21", then="exit 3")
    results, before = [], set(os.listdir())
    for jobs in ("1", "3"):
        code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--jobs", jobs, "--json", "found.json", "--check", check, "{}")
        expect(code == 0 and layers("small.onnx") == ["n4", "n21"], f"--jobs {jobs}", text)
        found = json.loads(pathlib.Path("found.json").read_text())
        results.append((found["nodes"], found["checks"], found["failure"], pathlib.Path("small.onnx").read_bytes(),
                        re.findall(r"(FAILED|PASSED|PASSED OVER) \| Iteration (\d+)", text)))
    expect(results[0] == results[1], "the same with one and with three", str([r[:3] for r in results]))
    left = set(os.listdir()) - before - {"small.onnx", "found.json"}
    expect(not left, "nothing is left behind", str(left))
    # A command may name the path that there would be for one.
    code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--jobs", "0", "--fail-regex", r"n17\b", "--check", ASSAY, "inspect", "model",
                     "polygraphy_debug.onnx", "--show", "layers")
    expect(code == 0 and layers("small.onnx") == ["n17"], "a command that names the default path", text)


def side_by_side_killed():
    chain("chain.onnxtxt", 30)
    check = named_layers("n4", "n21", then="exit 3")
    words = ["debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--jobs", "3", "--journal", "j", "--check", check, "{}"]
    start = time.monotonic()
    run(*words)
    seconds = time.monotonic() - start
    result = pathlib.Path("small.onnx").read_bytes()
    draw = random.Random(9)
    for _ in range(20 if IS_LONG else 3):
        for path in ("small.onnx", "j"):
            pathlib.Path(path).unlink(missing_ok=True)
        process = subprocess.Popen(["assay", *words], executable=ASSAY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.05, 0.8 * seconds))
        process.send_signal(draw.choice([signal.SIGKILL, signal.SIGINT]))
        process.wait()
        before = journal_questions("j") if os.path.exists("j") else []
        code, text = run(*words[:5], "--resume", *words[5:])
        after = journal_questions("j")
        expect(code == 0 and pathlib.Path("small.onnx").read_bytes() == result, "resumed side by side: the same result", text)
        expect(after[:len(before)] == before and len(set(after)) == len(after), "resumed side by side: no check is made twice", str(after))
        expect(not os.path.exists("polygraphy_debug.onnx.jobs"), "what the killed search left is gone", str(os.listdir()))
    os.remove("j")


def flaky_failure():
    """A check that fails in one of three runs of the faulty model."""
    chain("chain.onnxtxt", 20)
    pathlib.Path("count.txt").write_text("")
    check = named_layers("n13", then="echo . >> count.txt; test $(( $(wc -l < count.txt) % 3 )) -eq 0 && echo error: it is wrong >&2 && exit 1")
    code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--repeat", "4", "--json", "found.json", "--hide-fail-output", "--check", check,
                     "{}")
    found = json.loads(pathlib.Path("found.json").read_text()) if code == 0 else {}
    expect(code == 0 and layers("small.onnx") == ["n13"], "a failure that comes and goes", text)
    expect(found.get("is_flaky") and 0 < found["failed_runs"] < found["runs"] and "it is wrong" in found["failure"], "its rate", json.dumps(found))
    expect(re.search(r"FLAKY \| Iteration 1 .*Failed in 1 of 4 runs", text) and "comes and goes" in text, "it is named", text)
    # A healthy check that flips on some candidates does not derail the search for one that fails always.
    pathlib.Path("count.txt").write_text("")
    check = named_layers("n5", then="exit 4")
    lines = pathlib.Path(check).read_text().replace("exit 0", "echo . >> count.txt; test $(( $(wc -l < count.txt) % 2 )) -ne 0 && exit 0; exit 4")
    pathlib.Path(check).write_text(lines)
    code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--repeat", "3", "--check", check, "{}")
    expect(code == 0 and layers("small.onnx") == ["n5"] and "FLAKY" in text, "a check that flips elsewhere", text)


def disk_full():
    """Nothing more can be written in the middle of a search: it says so, and goes on later."""
    chain("chain.onnxtxt", 60)
    check = named_layers("n4", "n21", then="exit 3")
    words = ["debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--check", check, "{}"]
    run(*words[:5], "--journal", "j", *words[5:])
    result, whole = pathlib.Path("small.onnx").read_bytes(), os.path.getsize("j")
    for limit in (300, whole * 3 // 4, whole - 20):
        for path in ("small.onnx", "small.onnx.journal"):
            pathlib.Path(path).unlink(missing_ok=True)

        def full():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        code, text = run(*words, preexec_fn=full)
        expect(code == 1 and "File too large" in text and not os.path.exists("small.onnx"), f"a full disk: {limit} bytes", text[-2000:])
        expect(not os.path.exists("polygraphy_debug.onnx"), f"a full disk, {limit} bytes: the candidate is gone", str(os.listdir()))
        before = journal_questions("small.onnx.journal") if os.path.exists("small.onnx.journal") else []
        code, text = run(*words[:5], "--resume", *words[5:])
        expect(code == 0 and pathlib.Path("small.onnx").read_bytes() == result, f"after a full disk: {len(before)} answers", text)
        expect(text.count("Loading iteration information") == len(before), f"after a full disk: all {len(before)} answers are used", text)


def repeats_side_by_side():
    check = script('echo $$ > "$1"; sleep 0.1; exit 0')
    code, text = run("debug", "repeat", "--until", "5", "--jobs", "3", "--artifacts", "own.txt", "--art-dir", "kept", "--check", check, "own.txt")
    kept = sorted(p.name for p in pathlib.Path("kept/good").iterdir())
    expect(code == 0 and "Passed: 5/5" in text and len(kept) == 5, f"repeat side by side: {kept}", text)
    expect(len({(pathlib.Path("kept/good") / name).read_text() for name in kept}) == 5, "each has its own artifact", text)


def repeats():
    pathlib.Path("count.txt").write_text("")
    flaky = script('echo . >> count.txt; cp count.txt left.txt; test $(wc -l < count.txt) -ne 3')
    code, text = run("debug", "repeat", "--until", "bad", "--artifacts", "left.txt", "--iter-info", "info.json", "--check", flaky)
    expect(code == 0 and "Finished 3 iteration(s) | Passed: 2/3 | Pass Rate: 66.66666666666667%" in text, "repeat", text)
    moved = sorted(str(p.relative_to("polygraphy_artifacts").parent) for p in pathlib.Path("polygraphy_artifacts").rglob("left_*"))
    expect(moved == ["bad", "good", "good"] and not os.path.exists("info.json"), f"repeat: {moved}", text)


def bad_input():
    chain("chain.onnxtxt", 6)
    cases = [
        (["--check", "no-such-program"], "in no folder of PATH"),
        (["--check", "./chain.onnxtxt"], "not executable"),
        (["--check"], "no command"),
        (["--fail-regex", "(", "--check", "true"], "regular expression"),
        (["--check", "true"], "no failure to reduce"),
        (["--check-timeout", "0.2", "--mode", "bisect", "--resume", "--check", "true"], "--mode subsets"),
        (["--load-debug-replay", "chain.onnxtxt", "--mode", "bisect", "--check", "false"], "chain.onnxtxt"),
        (["--journal", "no/such/folder/j", "--check", "false"], "no/such/folder"),
        (["--journal", "/dev/full", "--check", "false"], "cannot read /dev/full"),
        (["--jobs", "2", "--check", "false"], "does not name polygraphy_debug.onnx or {}"),
        (["--jobs", "2", "--artifacts", "left.txt", "--check", "false", "{}"], "does not name left.txt"),
        (["--jobs", "2", "--iter-info", "info.json", "--check", "false", "{}"], "side by side"),
        (["--jobs", "2", "--no-remove-intermediate", "--check", "false", "{}"], "leaves the last candidate"),
        (["--jobs", "-1", "--check", "false", "{}"], "--jobs must be from 0"),
        (["--jobs", "many", "--check", "false", "{}"], "many"),
        (["--jobs", "2", "--mode", "bisect", "--check", "false", "{}"], "--mode subsets"),
        (["--repeat", "0", "--check", "false"], "--repeat must be from 1"),
        (["--repeat", "2", "--mode", "linear", "--check", "false"], "--mode subsets"),
        (["--check-timeout", "nan", "--check", "false"], "--check-timeout"),
        (["--check-file-limit", "much", "--check", "false"], "much"),
    ]
    for words, part in cases:
        code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", *words)
        expect(code in (1, 2) and part in text, f"{words}: {part}", f"{code}\n{text}")
    code, text = run("debug", "reduce", "chain.onnxtxt", "--check", "false")
    expect(code == 1 and "must be provided" in text, "no output", text)
    # A check that hangs, that floods its output, and that kills its group.
    for check, options in ((script("sleep 1000"), ["--check-timeout", "0.3"]), (script("yes | head -c 30000000; exit 1"), []), (script("kill -9 0"), [])):
        code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--hide-fail-output", *options, "--check", check)
        expect(code == 0 and len(layers("small.onnx")) == 1, f"{check} {options}", text[-3000:])
    for check, options in ((script("sleep 1000"), ["--check-timeout", "0.3"]), (script("yes | head -c 30000000; exit 1"), []), (script("kill -9 0"), []),
                           (script('head -c 100000000 /dev/zero > "$1.big"'), ["--check-file-limit", "1M"])):
        code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--hide-fail-output", "--jobs", "3", *options, "--check", check, "{}")
        expect(code == 0 and len(layers("small.onnx")) == 1, f"{check} {options} side by side", text[-3000:])
        expect(not os.path.exists("polygraphy_debug.onnx.jobs"), f"{check} {options}: what checks left is gone", str(os.listdir()))
    # What another search left, or somebody.
    os.mkdir("polygraphy_debug.onnx.jobs")
    code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--jobs", "2", "--check", "false", "{}")
    expect(code == 1 and "refusing to overwrite" in text, "a folder in the way", text)
    pathlib.Path("polygraphy_debug.onnx.jobs/notes.txt").write_text("somebody's")
    code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--jobs", "2", "--resume", "--check", "false", "{}")
    expect(code == 1 and "notes.txt" in text and os.path.exists("polygraphy_debug.onnx.jobs/notes.txt"), "somebody's files in it", text)
    os.remove("polygraphy_debug.onnx.jobs/notes.txt")
    os.rmdir("polygraphy_debug.onnx.jobs")
    # A check that comes to nothing: it always fails, whatever it is given; it is gone in the middle.
    code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--hide-fail-output", "--check", "false")
    expect(code == 0 and len(layers("small.onnx")) == 1, "a check that always fails", text)
    # A model that no backend runs: the operator is to blame, with the nodes behind it, whose types nobody knows.
    pathlib.Path("unknown.onnxtxt").write_text('''<ir_version: 8, opset_import: ["" : 17]>
g (float[2,4] x) => (float[2,4] y) {
  [first] a = Tanh (x)
  [second] b = Nonesuch (a)
  [last] y = Neg (b)
}
''')
    code, text = run("debug", "reduce", "unknown.onnxtxt", "-o", "small.onnx", "--hide-fail-output", "--check", ASSAY, "run", "polygraphy_debug.onnx", "--engine")
    expect(code == 0 and layers("small.onnx") == ["second", "last"] and "Nonesuch" in text, "a model that does not run at all", text)
    vanishing = script('rm -- "$0"; exit 1', "vanishing.sh")
    code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--hide-fail-output", "--check", vanishing)
    expect(code == 1 and "vanishing.sh is not there" in text and not os.path.exists("polygraphy_debug.onnx"), "a check that goes away", text)
    pathlib.Path("small.onnx.journal").unlink(missing_ok=True)
    pathlib.Path("polygraphy_debug.onnx").write_text("somebody's")
    code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--check", "false")
    expect(code == 1 and "refusing to overwrite" in text and pathlib.Path("polygraphy_debug.onnx").read_text() == "somebody's", "a file in the way", text)
    os.remove("polygraphy_debug.onnx")
    code, text = run("debug", "repeat", "--until", "often", "--check", "true")
    expect(code == 1 and "'good', or 'bad'" in text, "--until often", text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
        for test in (one_node, resnet_50, gpt2, polygraphys_modes, crash_of_onnxruntime, two_together, killed_and_resumed, side_by_side, side_by_side_killed,
                     flaky_failure, disk_full, anonymised, repeats_side_by_side, repeats, bad_input):
            if only and only != test.__name__:
                continue
            start = time.monotonic()
            test()
            print(f"{test.__name__}: {time.monotonic() - start:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
