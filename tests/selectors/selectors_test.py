#!/usr/bin/env python3
"""The language in which options name tensors: each option that takes it does, and docs/reference/selectors.md lists them all.

    tests/selectors/selectors_test.py build/assay docs/reference/selectors.md
"""

import os
import re
import subprocess
import sys
import tempfile

COMMANDS = ["run", "convert", "bench", "check lint", "check conformance", "inspect model", "inspect data", "inspect capability", "inspect diff",
            "inspect sparsity", "inspect tactics", "inspect diff-tactics", "surgeon extract", "surgeon insert",
            "surgeon sanitize", "surgeon convert-opset", "surgeon prune", "surgeon weight-strip", "surgeon weight-reconstruct",
            "template model", "template onnx-gs", "template trt-network", "template trt-config", "data to-input",
            "plugin match", "plugin list", "plugin replace"]

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
m (float[2] x0, float[2] x1, bool cond) => (float[2] out0, float[2] out1, float[2] soft)
<float[2] w0 = {1, 2}, float[2] w1 = {3, 4}>
{
  [relu] h0 = Relu (x0)
  [neg] h1 = Neg (x1)
  [add0] out0 = Add (h0, w0)
  [add1] out1 = Add (h1, w1)
  [choice] c = If (cond) <
    then_branch = then_graph () => (float[2] t) { [t_abs] a = Abs (h0) [t_neg] t = Neg (a) },
    else_branch = else_graph () => (float[2] e) { [e_abs] e = Abs (h1) }
  >
  [soft] soft = Softmax (c)
}
"""

WEIGHTS = """<ir_version: 8, opset_import: ["" : 17]>
m (float[2, 2] x) => (float[2, 2] y)
<float[2, 2] w0 = {1, 2, 3, 4}, float[2, 2] w1 = {1, 2, 3, 4}, float[2, 2] other = {1, 2, 3, 4}>
{
  a = MatMul (x, w0)
  b = MatMul (a, w1)
  y = MatMul (b, other)
}
"""

# A command, and what its output or the model that it saves (as text) must hold; `!` begins what it must not hold.
CASES = [
    ("run m.onnxtxt --ref --onnx-outputs h* --save-onnx o.onnxtxt", ["=> (float[2] h0, float[2] h1)"]),
    ("run m.onnxtxt --ref --onnx-outputs re:h[1-9] --save-onnx o.onnxtxt", ["=> (float[2] h1)"]),
    ("run m.onnxtxt --ref --onnx-outputs op:Relu op:Neg --save-onnx o.onnxtxt", ["=> (float[2] h0, float[2] h1)"]),
    ("run m.onnxtxt --ref --onnx-outputs choice::then_branch::op:Abs --save-onnx o.onnxtxt", ["[choice]", "a = Abs"]),
    ("run m.onnxtxt --ref --onnx-exclude-outputs op:Add --save-onnx o.onnxtxt", ["=> (float[2] soft)"]),
    ("run m.onnxtxt --trt -v --trt-outputs h*", ["{h0 [dtype=float32, shape=(2,)],", "h1 [dtype=float32, shape=(2,)]}"]),
    ("run m.onnxtxt --trt -v --trt-exclude-outputs op:Add", ["{soft [dtype=float32, shape=(2,)]}"]),
    ("convert m.onnxtxt -o o.plan --onnx-outputs h* --onnx-exclude-outputs h0 --save-onnx o.onnxtxt", ["=> (float[2] h1)"]),
    ("convert m.onnxtxt -o o.plan --trt-outputs h* --trt-exclude-outputs h0", ["Saving engine to o.plan"]),
    ("run m.onnxtxt --trt --fp16 --layer-precisions op:Add:float32 add1:float16 --layer-output-types re:r.*:fp32 neg:fp16",
     ["Types of layers: 1 in float16 of"]),
    ("convert m.onnxtxt -o o.plan --fp16 --layer-precisions a*:float16 choice::then_branch::t_neg:fp32 --layer-output-types soft:fp16",
     ["Types of layers: 2 in float16 of"]),
    ("bench --onnx m.onnxtxt --skip-inference --fp16 --layer-precisions a*:float32,add0:fp16 --layer-output-types soft:fp16",
     ["Types of layers: 1 in float16 of"]),
    ("run m.onnxtxt --ref --onnx-exclude-outputs h0", ["[W] 'h0' is not an output of the model, so there is nothing to leave out."]),
    ("run m.onnxtxt --ref --engine -v --atol out*:7 soft:8", ["[abs=7, rel=1e-05]", "[abs=8, rel=1e-05]", "!abs=1e-05"]),
    ("run m.onnxtxt --ref --engine -v --rtol re:out[0-9]:7 op:Softmax:8", ["rel=7]", "rel=8]", "!rel=1e-05]"]),
    ("run m.onnxtxt --ref --engine -v --check-error-stat op:Add:max out1:mean", ["Checking max error", "Checking mean error", "Checking elemwise error"]),
    ("run m.onnxtxt --ref --engine -v --check-error-stat quantile --error-quantile out*:0.25", ["0.25"]),
    ("plugin match m.onnxtxt --plugin-dir plugins --onnx-exclude-outputs outt?", ["[W] No tensors matched wildcard pattern: 'outt?'"]),
    ("run m.onnxtxt --ref --engine -v --compare psnr --psnr-threshold out*:7", ["(min required: 7 dB)"]),
    ("run m.onnxtxt --ref --engine -v --compare snr --snr-threshold out*:7", ["(min required: 7 dB)"]),
    ("run m.onnxtxt --ref --engine -v --compare l2 --l2-threshold out*:7", ["(tolerance: 7)"]),
    ("run m.onnxtxt --ref --engine -v --compare cosine_similarity --cosine-similarity-threshold out*:0.5", ["(min required: 0.5)"]),
    ("run m.onnxtxt --ref --engine --postprocess *:top-1 --compare indices --index-tolerance op:Add:1", ["!Extra items", "!no output"]),
    ("run m.onnxtxt --ref --postprocess outt:top-1", ["[W] --postprocess: there is no output 'outt', so nothing happens to it. Did you mean 'out0', 'out1'?"]),
    ("run m.onnxtxt --ref --atol sofd:1", ["!Extra"]),  # one runner: nothing is compared
    ("run m.onnxtxt --ref --val-range x*:[5,6] x1:[7,8] -v", ["x0 | Generating input data in range: [5.0, 6.0]", "x1 | Generating input data in range: [7.0, 8.0]"]),
    ("run open.onnxtxt --ref -v --input-shapes re:x[0-9]:[3]", ["x0 [dtype=float32, shape=(3,)]", "x1 [dtype=float32, shape=(3,)]"]),
    ("check lint open.onnxtxt --no-onnxrt --input-shapes x?:[3]", ["!no input"]),
    ("inspect model open.onnxtxt --input-shapes re:x.:[3]", ["x0 [dtype=float32, shape=(3,)]", "x1 [dtype=float32, shape=(3,)]"]),
    ("inspect capability open.onnxtxt --input-shapes x[01]:[3]", ["!Will plan for shape: [1]"]),
    ("surgeon extract m.onnxtxt --inputs h*:auto:auto --outputs op:Add:auto -o o.onnxtxt", ["(float[2] h0, float[2] h1) => (float[2] out0, float[2] out1)"]),
    ("surgeon extract m.onnxtxt --inputs choice::then_branch::a:auto:auto --outputs choice::then_branch::op:Neg:auto -o o.onnxtxt", ["(float[2] a) => (float[2] t)"]),
    ("surgeon extract m.onnxtxt --model-input-shapes x*:[2] --force-fallback-shape-inference --outputs out?:auto -o o.onnxtxt", ["=> (float[2] out0, float[2] out1)", "!Metadata was provided"]),
    ("surgeon insert m.onnxtxt --inputs h? --outputs op:Add --op Two -o o.onnxtxt", ["out0, out1 = Two (h0, h1)"]),
    ("surgeon sanitize m.onnxtxt --outputs re:h. -o o.onnxtxt", ["=> (float[2] h0, float[2] h1)"]),
    ("surgeon sanitize m.onnxtxt --exclude-outputs out? -o o.onnxtxt", ["=> (float[2] soft)"]),
    ("surgeon sanitize open.onnxtxt --override-input-shapes *:[4] -o o.onnxtxt", ["(float[4] x0, float[4] x1)"]),
    ("surgeon sanitize open.onnxtxt --override-input-shapes h:[4] -o o.onnxtxt", ["float[4] h) =>"]),
    ("surgeon sanitize open.onnxtxt --cleanup --prove --prove-input-shapes re:x.:[4] -o o.onnxtxt", ["Proving | PASSED", "!Metadata was provided"]),
    ("surgeon sanitize m.onnxtxt --set-unbounded-dds-upper-bound op:Add:5 choice::else_branch::e:6 -o o.onnxtxt", ["out0 = Min", "out1 = Min", "e = Min (e_copy"]),
    ("surgeon weight-strip w.onnxtxt --exclude-list keep.txt -o o.onnx", ["not found in the model: {'othr'}. Did you mean 'other'?", "Finished stripping 1 weights"]),
    ("plugin list m.onnxtxt --plugin-dir plugins --onnx-outputs op:Add", ["{'p': 2}"]),
]

# Selectors that fit nothing: the command, and the sentence.
ERRORS = [
    ("run m.onnxtxt --ref --engine --lpips-threshold out*:0.5",
     "[!] --lpips-threshold/--lpips-tolerance has no effect: it is about the comparison function(s) ['perceptual_metrics'], and those that "
     "compare are ['simple']. Name one with --compare, or leave it out."),
    ("run open.onnxtxt --ref --input-shapes re:y[0-9]:[3]",
     "[!] --input-shapes names 're:y[0-9]', and no input is called so; the inputs are: 'x0', 'x1'"),
    ("run m.onnxtxt --ref --engine --atol sofd:1", "[!] atol names ['sofd'], and no output is called so; the outputs are: ['out0', 'out1', 'soft']. Did you mean 'soft'?"),
    ("run m.onnxtxt --ref --onnx-outputs oup0", "[!] The following outputs were not found in the model: {'oup0'} [in $DIR/m.onnxtxt]. Similar names are: ['out0']."),
    ("run m.onnxtxt --trt --trt-outputs oup0", "[!] The following outputs were not found in the model: {'oup0'} [in $DIR/m.onnxtxt]. Similar names are: ['out0']."),
    ("run m.onnxtxt --ref --onnx-outputs choise::e", "[!] Node: choise does not exist in the model [in $DIR/m.onnxtxt]. Did you mean 'choice'?"),
    ("run m.onnxtxt --ref --onnx-outputs op:Rely", "[!] Tensor: op:Rely does not exist in the model [in $DIR/m.onnxtxt]. Did you mean 'op:Relu'?"),
    ("run m.onnxtxt --ref --onnx-exclude-outputs re:outt[0-9]", "[!] Tensor: re:outt[0-9] does not exist in the model [in $DIR/m.onnxtxt]. Did you mean 'out0', 'out1'?"),
    ("run m.onnxtxt --ref --onnx-outputs re:(", "[!] 're:(' is not a regular expression: missing ): ( [in $DIR/m.onnxtxt]"),
    ("run m.onnxtxt --ref --atol op:Ad:1", "[!] Tensor: op:Ad does not exist in the model [in --atol]. Did you mean 'op:Add'?"),
    ("run m.onnxtxt --ref --rtol op:Relu:1", "[!] no node of op:Relu computes an output of the model [in --rtol]"),
    ("run m.onnxtxt --trt --layer-precisions add2:fp32", "[!] Node: add2 does not exist in the model [in $DIR/m.onnxtxt]. Did you mean 'add0', 'add1'?"),
    ("run m.onnxtxt --ref --atol re:(:1", "[!] 're:(' is not a regular expression: missing ): ("),
    ("run --load-outputs o.json --atol op:Relu:1", "[!] --atol: op:Relu names outputs by the nodes of a model, and none is given."),
    ("check lint open.onnxtxt --no-onnxrt --input-shapes x2:[3]", "[!] the model has no input 'x2'; its inputs are 'x0', 'x1'. Did you mean 'x0', 'x1'?"),
    ("inspect model open.onnxtxt --input-shapes y*:[3]", "[!] the model has no input 'y*'; its inputs are 'x0', 'x1'"),
    ("inspect capability open.onnxtxt --input-shapes y*:[3]", "[!] the model has no input 'y*'; its inputs are 'x0', 'x1'"),
    ("surgeon extract m.onnxtxt --outputs e:auto -o o.onnxtxt", "[!] Tensor: e does not exist in the model [in $DIR/m.onnxtxt]. There is 'choice::else_branch::e'."),
    ("surgeon insert m.onnxtxt --inputs choice::then_branch::a --outputs out0 --op F -o o.onnxtxt", "[!] 'choice::then_branch::a' is in a subgraph; nodes are inserted into the main graph [in $DIR/m.onnxtxt]"),
    ("surgeon insert m.onnxtxt --inputs h0 --outputs oup0 --op F -o o.onnxtxt", "[!] Tensor: oup0 does not exist in the model [in $DIR/m.onnxtxt]. Did you mean 'out0'?"),
    ("surgeon sanitize open.onnxtxt --override-input-shapes op:Add:[4] -o o.onnxtxt", "[!] the model has no input 'op:Add'; its inputs are 'x0', 'x1' [in $DIR/open.onnxtxt]"),
    ("surgeon sanitize m.onnxtxt --override-input-shapes choice::then_branch::a:[2] -o o.onnxtxt", "[!] 'choice::then_branch::a' is in a subgraph; only tensors of the main graph can be inputs of the model [in $DIR/m.onnxtxt]"),
    ("surgeon sanitize m.onnxtxt --set-unbounded-dds-upper-bound oup0:1 -o o.onnxtxt", "[!] Tensor: oup0 does not exist in the model [in $DIR/m.onnxtxt]. Did you mean 'out0'?"),
]


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def write_files():
    write("m.onnxtxt", MODEL)
    write("open.onnxtxt", '<ir_version: 8, opset_import: ["" : 17]>\nm (float[n] x0, float[n] x1) => (float[n] y)\n'
                          "{ h = Add (x0, x1) y = Relu (h) }\n")
    write("w.onnxtxt", WEIGHTS)
    write("keep.txt", "w*\nothr\n")
    write("plugins/p/pattern.yaml", "op: P\ninputs: [a]\nconstants: [w]\nnodes:\n- {op: Add, inputs: [a, w], outputs: [b]}\noutputs: [b]\n")


def run(assay, command):
    environment = dict(os.environ, COLUMNS="100")
    return subprocess.run([assay, *command.split()], capture_output=True, text=True, env=environment)


def check_case(assay, command, wanted):
    for path in ("o.onnx", "o.onnxtxt"):
        if os.path.exists(path):
            os.remove(path)
    done = run(assay, command)
    text = done.stdout + done.stderr
    if done.returncode != 0:
        return f"ended with {done.returncode}\n{text}"
    if os.path.exists("o.onnxtxt"):
        with open("o.onnxtxt") as file:
            text += file.read()
    for words in wanted:
        if (words[1:] in text) if words[0] == "!" else (words not in text):
            return f"{'has' if words[0] == '!' else 'lacks'} {words}\n{text}"
    return None


def check_error(assay, command, sentence):
    done = run(assay, command)
    sentence = sentence.replace("$DIR", os.getcwd())
    if done.returncode != 1 or sentence not in done.stderr.splitlines():
        return f"lacks {sentence}, ends with {done.returncode}\n{done.stdout}{done.stderr}"
    return None


def listed_options(assay):
    """(command, option) of every option that --help says takes the language."""
    found = set()
    for command in COMMANDS:
        page = run(assay, command + " --help").stdout
        part = re.search(r"\nHow tensors are named\n((?:  .*\n)+)", page)
        for option in re.findall(r"(--[a-z-]+)(?=[,:])", part.group(1)) if part else []:
            found.add((command, option))
    return found


def documented_options(path):
    found = set()
    with open(path) as file:
        for line in file:
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) > 3 and cells[1].startswith("`"):
                found |= {(cells[1].strip("`"), option) for option in re.findall(r"`(--[a-z-]+)`", cells[2])}
    return found


def main():
    assay, document = map(os.path.abspath, sys.argv[1:3])
    failures = []
    options = listed_options(assay)
    if options != documented_options(document):
        failures.append(f"the documents and --help differ in {sorted(options ^ documented_options(document))}")
    tested = {(" ".join(c.split()[:1 if c.startswith(("run", "convert", "bench")) else 2]), w) for c, _ in CASES + ERRORS for w in c.split() if w[:2] == "--"}
    # Options that several commands share are read in one place.
    shared = {(c, o) for c, o in options if o == "--val-range" or c.startswith("plugin")}
    if untested := options - tested - shared:
        failures.append(f"no case for {sorted(untested)}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(os.path.realpath(folder))
        write_files()
        for check, cases in ((check_case, CASES), (check_error, ERRORS)):
            for command, wanted in cases:
                if problem := check(assay, command, wanted):
                    failures.append(f"assay {command}\n{problem}")
        os.chdir("/")
    for failure in failures:
        print("FAILED ", failure, "\n")
    print(f"{len(CASES) + len(ERRORS)} cases, {len(options)} options, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
