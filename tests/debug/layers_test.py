#!/usr/bin/env python3
"""`debug nan`, `range` and `diverge` from end to end, and what `debug reduce` leaves to be filed: layers_test.py ASSAY"""

import csv
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import time

ASSAY = os.path.abspath(sys.argv[1])
problems = 0


def run(*words):
    """(exit code, what it printed)"""
    done = subprocess.run([ASSAY, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=600)
    return done.returncode, done.stdout


def expect(condition, what, shown=""):
    global problems
    if not condition:
        problems += 1
        print(f"FAILED: {what}\n{shown}")


def model(path, graph):
    pathlib.Path(path).write_text('<ir_version: 8, opset_import: ["" : 17]>\n' + graph)


def found(*words, status):
    """What --json says."""
    pathlib.Path("found.json").unlink(missing_ok=True)
    code, text = run(*words, "--json", "found.json")
    expect(code == status, f"{words}: exit code {code}, not {status}", text)
    if not os.path.exists("found.json"):
        expect(False, f"{words}: no JSON", text)
        return {}, text
    return json.loads(pathlib.Path("found.json").read_text()), text


NAN = """g (float[2,4] x) => (float[2,4] y, float[2,4] z)
<float[4] w = {1, 0, 2, 4}> {
  [shift] s = Sub (x, x)
  [guilty] d = Div (s, w)
  [use] y = Sigmoid (d)
  [beside] z = Abs (x)
}
"""


def nan():
    model("nan.onnxtxt", NAN)
    for backend in ([], ["--engine"], ["--ref"]) + ((["--onnxrt"],) if os.environ.get("ASSAY_ONNXRUNTIME") else ()):
        result, text = found("debug", "nan", "nan.onnxtxt", *backend, status=1)
        cause = next((o for o in result.get("origins", []) if o["tensor"] == result.get("cause")), None)
        expect(cause and "guilty" in cause["node"] and cause["elements"][0]["reason"] == "0 / 0", f"nan {backend}", text)
        expect(cause and cause["elements"][0]["index"] == [0, 1] and cause["elements"][0]["operands"][1]["value"] == 0, f"nan {backend}: element", text)
        expect(cause and [o["output"] for o in cause["outputs"]] == ["y"] and cause["nan"] == 2, f"nan {backend}: where it goes", text)
        expect("node 'guilty' (Div)" in text.replace("Node", "node") and "0 / 0" in text and "d[0, 1]" in text, f"nan {backend}: text", text)
    # In float16 a sum leaves the range; in float32 it does not.
    model("half.onnxtxt", """g (float[1,64] x) => (float[1,1] y) {
  [scale] s = Mul (x, c)
  [turn] t = Transpose (s)
  [sum] y = MatMul (s, t)
}
""".replace("=> (float[1,1] y)", "=> (float[1,1] y) <float[1] c = {100}>"))
    found("debug", "nan", "half.onnxtxt", "--val-range", "[1,2]", status=0)
    result, text = found("debug", "nan", "half.onnxtxt", "--val-range", "[1,2]", "--fp-to-fp16", status=1)
    expect("MatMul" in text and "beyond the largest float16, 65504" in text, "out of float16's range", text)
    # All iterations count.
    result, text = found("debug", "nan", "nan.onnxtxt", "--iterations", "3", status=1)
    expect(result["iterations"] == 3 and result["origins"][0]["iterations"] == 3, "nan: iterations", text)


def nan_in_a_body():
    model("loop.onnxtxt", """g (float[1] x) => (float[1] last, float[k,1] all)
<int64 n = {5}, bool c = {1}, float[1] one = {1}> {
  [loop] last, all = Loop (n, c, x) <body = body (int64 i, bool go, float[1] at) => (bool more, float[1] next, float[1] r) {
    [same] more = Identity (go)
    [less] next = Sub (at, one)
    [root] r = Sqrt (next)
  }>
}
""")
    result, text = found("debug", "nan", "loop.onnxtxt", "--val-range", "[2.5,2.6]", status=1)
    body = result["origins"][0].get("in_body", {})
    expect(body.get("op_type") == "Sqrt" and body.get("run") == 2, "nan in a body", text)
    expect("square root of a negative number" in text, "nan in a body: why", text)


def ranges():
    model("range.onnxtxt", """g (float[1000] x) => (float[1000] y)
<float[1] big = {1000000}, float[1] small = {0.000000001}> {
  [grow] a = Mul (x, big)
  [shrink] b = Mul (x, small)
  [sum] y = Add (a, b)
}
""")
    result, text = found("debug", "range", "range.onnxtxt", "--iterations", "3", "--csv", "range.csv", "--val-range", "[0.5,1]", status=0)
    by_name = {t["tensor"]: t for t in result["tensors"]}
    expect(by_name["a"]["formats"]["float16"]["overflow"] == 3000 and by_name["a"]["elements"] == 3000, "range: overflow", text)
    expect(by_name["b"]["formats"]["float16"]["flushed"] == 3000 and by_name["b"]["formats"]["bfloat16"]["flushed"] == 0, "range: flushed", text)
    expect(by_name["x"]["kind"] == "input" and by_name["big"]["kind"] == "weight" and 0.5 <= by_name["x"]["smallest"], "range: kinds", text)
    expect("first a of node 'grow' (Mul)" in text or "first big" in text, "range: the first", text)
    expect(result["tensors"][0]["formats"]["float16"]["overflow"] > 0, "range: the worst comes first", text)
    with open("range.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    expect([r["tensor"] for r in rows] == [t["tensor"] for t in result["tensors"]], "range: the table", text)
    result, text = found("debug", "range", "range.onnxtxt", "--types", "int8", "--no-weights", "--all", status=0)
    expect(set(result["tensors"][0]["formats"]) == {"int8"} and all(t["kind"] != "weight" for t in result["tensors"]), "range: int8 alone", text)
    if os.environ.get("ASSAY_ONNXRUNTIME"):
        found("debug", "range", "range.onnxtxt", "--onnxrt", status=0)


BEFORE = """g (float[2,8] x) => (float[2,8] y)
<float[8,8] w, float[8] b = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}> {
  [product] p = MatMul (x, w)
  [sum] s = Add (p, b)
  [act] a = Relu (s)
  [last] y = Sigmoid (a)
}
""".replace("float[8,8] w", "float[8,8] w = {" + ", ".join(str((i * 37 % 17) / 17 - 0.5) for i in range(64)) + "}")


def diverge():
    model("before.onnxtxt", BEFORE)
    found("debug", "diverge", "before.onnxtxt", "--engine", status=0)
    found("debug", "diverge", "before.onnxtxt", "--engine", "--ref", "--iterations", "2", status=0)
    # An exporter update: other names, and another activation.
    after = BEFORE.replace("Relu (s)", "LeakyRelu (s)")
    for old, new in (("p = ", "v1 = "), ("(p,", "(v1,"), ("s = Add", "v2 = Add"), ("(s)", "(v2)"), ("a = Leaky", "v3 = Leaky"), ("(a)", "(v3)"),
                     ("[product]", "[n1]"), ("[sum]", "[n2]"), ("[act]", "[n3]"), ("[last]", "[n4]")):
        assert old in after, old
        after = after.replace(old, new)
    model("after.onnxtxt", after)
    result, text = found("debug", "diverge", "before.onnxtxt", "--against", "after.onnxtxt", status=1)
    first = result["divergences"][0] if result.get("divergences") else {}
    expect(len(result["divergences"]) == 1 and first.get("first_tensor") == "a" and first.get("second_tensor") == "v3", "diverge: renamed", text)
    expect("act" in first["first_nodes"][0] and "n3" in first["second_nodes"][0] and first["excess_of_operands"] == 0, "diverge: nodes", text)
    expect(first["first_own_error"] < 1e-6 and first["second_own_error"] < 1e-6, "diverge: each is right for its own node", text)
    expect([o["output"] for o in first["outputs"]] == ["y"] and result["other_names"].get("computation") == 2, "diverge: what follows", text)
    # The same model with other names only.
    model("renamed.onnxtxt", after.replace("LeakyRelu", "Relu"))
    found("debug", "diverge", "before.onnxtxt", "--against", "renamed.onnxtxt", status=0)
    # Saved results of all layers.
    run("run", "before.onnxtxt", "--ref", "--onnx-outputs", "*", "--save-outputs", "all.json", "--save-inputs", "in.json")
    found("debug", "diverge", "before.onnxtxt", "--engine", "--load-outputs", "all.json", "--load-inputs", "in.json", status=0)
    model("other.onnxtxt", BEFORE.replace("Relu (s)", "Softplus (s)"))
    result, text = found("debug", "diverge", "other.onnxtxt", "--ref", "--load-outputs", "all.json", "--load-inputs", "in.json", status=1)
    first = result["divergences"][0]
    expect(first["first_tensor"] == "a" and first["second_own_error"] > 1e-3, "diverge: saved results of another model", text)
    code, text = run("debug", "diverge", "before.onnxtxt", "--engine", "--load-outputs", "all.json", "--seed", "7")
    expect(code == 1 and "made with other inputs" in text, "diverge: other inputs", text)
    code, text = run("debug", "diverge", "before.onnxtxt", "--engine", "--load-outputs", "all.json", "--iterations", "2", "--load-inputs", "in.json")
    expect(code == 0, "diverge: iterations of loaded inputs", text)


def versions():
    model("before.onnxtxt", BEFORE)
    # Another export, with other names and another activation.
    after = BEFORE.replace("Relu (s)", "LeakyRelu (s)").replace("[act] a", "[n3] v3").replace("Sigmoid (a)", "Sigmoid (v3)")
    model("after.onnxtxt", after)
    result, text = found("debug", "versions", "before.onnxtxt", "--against", "after.onnxtxt", status=1)
    first = result["divergence"]["divergences"][0]
    expect(result["versions"] == "exports" and first["first_tensor"] == "a" and first["second_tensor"] == "v3", "versions: exports", text)
    expect(first["errs"] == "neither" and "each is right for its own node" in text, "versions: which errs", text)
    # Two opsets: converted rightly, nothing changes.
    result, text = found("debug", "versions", "before.onnxtxt", "--to-opset", "21", status=0)
    expect(result["versions"] == "opsets" and result["divergence"]["differing"] == 0 and "from_opset" not in result, "versions: opsets", text)
    found("debug", "versions", "before.onnxtxt", "--to-opset", "11", "--journal", "j", status=0)
    code, text = run("debug", "versions", "before.onnxtxt", "--to-opset", "11", "--journal", "j", "--resume")
    expect(code == 0 and "Opset 11:" not in text, "versions: resumed", text)
    code, text = run("debug", "versions", "before.onnxtxt", "--to-opset", "12", "--journal", "j", "--resume")
    expect(code == 1 and "another search" in text, "versions: a journal of another search", text)
    # Two builds of the program: this one, and one whose tanh is off, as a wrapper that runs another model.
    result, text = found("debug", "versions", "before.onnxtxt", "--engine", "--builds", ASSAY, ASSAY, status=0)
    expect(result["versions"] == "builds" and result["divergence"]["compared"] >= 5, "versions: builds", text)
    wrong = pathlib.Path("wrong-build.sh")
    wrong.write_text(f"""#!/bin/sh
for word; do model=$word; test "$word" != run && break; done
{ASSAY} surgeon sanitize "$model" -o other.onnxtxt > /dev/null && sed 's/ Relu/ Abs/' other.onnxtxt > wrong.onnxtxt
shift 2
exec {ASSAY} run wrong.onnxtxt "$@"
""")
    wrong.chmod(wrong.stat().st_mode | stat.S_IXUSR)
    result, text = found("debug", "versions", "before.onnxtxt", "--engine", "--builds", ASSAY, "./wrong-build.sh", status=1)
    first = result.get("divergence", {}).get("divergences", [{}])[0]
    expect(first.get("first_tensor") == "a" and "act" in first["first_nodes"][0] and first["errs"] == "second", "versions: a wrong build", text)
    library = os.environ.get("ASSAY_ONNXRUNTIME")
    if library:
        result, text = found("debug", "versions", "before.onnxtxt", "--onnxrt", "--libraries", library, library, status=0)
        expect(result["versions"] == "libraries", "versions: libraries", text)
    else:
        print("NOT TESTED: two libraries need ASSAY_ONNXRUNTIME")
    pathlib.Path("fails.sh").write_text("#!/bin/sh\necho it fails >&2\nexit 3\n")
    os.chmod("fails.sh", 0o755)
    for words, part in ((["--to-opset", "17"], "in opset 17 already"), (["--to-opset", "999"], "999"), ([], "nothing to compare"),
                        (["--builds", ASSAY], "takes two"), (["--builds", ASSAY, "./none"], "./none"), (["--builds", ASSAY, "./fails.sh"], "it fails"),
                        (["--engine", "--libraries", ASSAY, ASSAY], "no library of its own"), (["--onnxrt", "--libraries", "./none", "./none"], "./none"),
                        (["--engine", "--ref", "--to-opset", "18"], "one runner"), (["--against", "missing.onnx"], "missing.onnx"),
                        (["--against", "after.onnxtxt", "--resume"], "is for --to-opset"), (["--to-opset", "18", "--journal", "/dev/full"], "/dev/full")):
        code, text = run("debug", "versions", "before.onnxtxt", *words)
        expect(code in (1, 2) and part in text and "Traceback" not in text, f"versions {words}: {part}", f"{code}\n{text}")


def masks():
    """A mask of -infinity is meant; a score that overflows beside it is not."""
    graph = """g (float[2,4] x) => (float[2,4] y)
<float[4] mask = {0, -inf, 0, 0}, float big = {1e30}> {
  [scale] s = Mul (x, big)
  [square] q = Mul (%s)
  [masked] m = Add (q, mask)
  [soft] y = Softmax (m)
}
"""
    model("mask.onnxtxt", graph % "x, x")
    result, text = found("debug", "nan", "mask.onnxtxt", status=0)
    expect("cause" not in result and [o["is_mask"] for o in result["origins"]] == [True] and "a mask, which is meant" in text, "a mask", text)
    model("mask.onnxtxt", graph % "s, s")
    result, text = found("debug", "nan", "mask.onnxtxt", status=1)
    expect(result.get("cause") == "q" and "square" in text, "an overflow before it", text)


def test_case():
    """What reduce leaves can be filed: a test case that `check conformance` runs."""
    model("chain.onnxtxt", BEFORE)
    check = pathlib.Path("check.sh")
    check.write_text(f'#!/bin/sh\n{ASSAY} inspect model "$1" --show layers | grep -q "| act " && exit 3\nexit 0\n')
    check.chmod(check.stat().st_mode | stat.S_IXUSR)
    code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--test-case", "case", "--json", "result.json", "--check",
                     os.path.abspath("check.sh"), "{}")
    expect(code == 0, "reduce --test-case", text)
    result = json.loads(pathlib.Path("result.json").read_text())
    expect([n["name"] for n in result["nodes"]] == ["act"] and result["checks"] > 0 and result["nodes_of_model"] == 4, "reduce --json", text)
    code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--programs", "programs", "--check", os.path.abspath("check.sh"), "{}", "--onnxrt")
    programs = {p.name: p.read_text() for p in pathlib.Path("programs").glob("show.*")}
    expect(code == 0 and set(programs) == {"show.cpp", "show.py"} and all('onnxrt' in t and 'reference' in t for t in programs.values()), "--programs", text)
    compile(programs["show.py"], "show.py", "exec")
    code, text = run("run", "programs/model.onnx", "--engine", "--ref", "--load-inputs", "programs/inputs.json")
    expect(code == 0, "the files of the programs", text)
    code, text = run("check", "conformance", "case", "--on", "reference", "engine")
    expect(code == 0, "the test case", text)
    code, text = run("debug", "reduce", "chain.onnxtxt", "-o", "small.onnx", "--test-case", "case", "--check", os.path.abspath("check.sh"), "{}")
    expect(code == 1 and "has a test case already" in text and "Running check" not in text, "a folder with a test case", text)


def fault_in_a_body():
    model("loop.onnxtxt", """g (float[4] x) => (float[4] last)
<int64 n = {3}, bool c = {1}> {
  [before] a = Abs (x)
  [loop] b = Loop (n, c, a) <body = body (int64 i, bool go, float[4] at) => (bool more, float[4] next) {
    [same] more = Identity (go)
    [half] h = Neg (at)
    [guilty] g = Softplus (h)
    [other] next = Neg (g)
  }>
  [after] last = Neg (b)
}
""")
    code, text = run("debug", "reduce", "loop.onnxtxt", "-o", "small.onnx", "--fail-regex", "Op: Softplus", "--check", ASSAY, "inspect", "model",
                     "polygraphy_debug.onnx", "--show", "layers", "attrs")
    shown = run("inspect", "model", "small.onnx", "--show", "layers")[1]
    expect(code == 0 and "guilty" in shown and "half" not in shown and "loop" not in shown, "a fault in a Loop's body", text + shown)


def bad_input():
    model("nan.onnxtxt", NAN)
    model("open.onnxtxt", "g (float[n] x) => (float[n] y) {\n [a] y = Abs (x)\n}\n")
    pathlib.Path("empty.json").write_text("")
    pathlib.Path("inputs.json").write_text("[]")
    os.mkdir("nothing")
    cases = [
        (["nan", "nan.onnxtxt", "--ref", "--engine"], "one backend"),
        (["nan", "missing.onnx"], "missing.onnx"),
        (["nan", "nan.onnxtxt", "--json", "no/such\0/x".replace("\0", "") + "/"], "no/such"),
        (["nan", "nan.onnxtxt", "--iterations", "0"], ""),
        (["range", "nan.onnxtxt", "--types", "float64"], "float64"),
        (["range", "nan.onnxtxt", "--types", "half-a-float"], "is no element type"),
        (["range", "nan.onnxtxt", "--csv", "/proc/none/x.csv"], "/proc/none"),
        (["diverge", "nan.onnxtxt"], "nothing to compare"),
        (["diverge", "nan.onnxtxt", "--engine", "--ref", "--engine"], "compares two"),
        (["diverge", "nan.onnxtxt", "--engine", "--atol", "-1"], "no tolerance"),
        (["diverge", "nan.onnxtxt", "--engine", "--rtol", "nan"], "no tolerance"),
        (["diverge", "nan.onnxtxt", "--engine", "--atol", "much"], "much"),
        (["diverge", "nan.onnxtxt", "--engine", "--against", "missing.onnx"], "missing.onnx"),
        (["diverge", "nan.onnxtxt", "--engine", "--load-outputs", "empty.json"], "empty.json"),
        (["diverge", "nan.onnxtxt", "--engine", "--load-outputs", "inputs.json"], "inputs.json"),
        (["diverge", "nan.onnxtxt", "--engine", "--load-outputs", "nothing"], "nothing holds the results of 0 runners"),
    ]
    for words, part in cases:
        code, text = run("debug", *words)
        expect(code in (1, 2) and part in text and "Traceback" not in text and "internal" not in text, f"{words}: {part}", f"{code}\n{text}")
    # Results of another model, and of fewer iterations.
    run("run", "open.onnxtxt", "--ref", "--onnx-outputs", "*", "--save-outputs", "other.json", "--input-shapes", "x:[3]")
    code, text = run("debug", "diverge", "nan.onnxtxt", "--engine", "--load-outputs", "other.json")
    expect(code == 1 and ("no tensor in common" in text or "other inputs" in text), "results of another model", text)
    run("run", "nan.onnxtxt", "--ref", "--onnx-outputs", "*", "--save-outputs", "short.json")
    code, text = run("debug", "diverge", "nan.onnxtxt", "--engine", "--load-outputs", "short.json", "--iterations", "2")
    expect(code == 1 and "holds 1 iteration" in text, "results of fewer iterations", text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in (nan, nan_in_a_body, masks, ranges, diverge, versions, test_case, fault_in_a_body, bad_input):
            start = time.monotonic()
            test()
            print(f"{test.__name__}: {time.monotonic() - start:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
