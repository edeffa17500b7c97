"""Lines that ask for what is not done: errors under the program's own name, warnings under the names of upstream's tools; and places
that cannot be written, found before any work. Nothing is left behind in either case.

usage: lines_test.py BINARY
"""

import os
import pathlib
import shlex
import socket
import subprocess
import sys
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv[1])
MODEL = """<ir_version: 8, opset_import: ["" : 13]>
g (float[n, 2] x, float[1, 2] z) => (float[n, 2] y) { [add] y = Add (x, z) }
"""


def run(line, name="assay", **options):
    result = subprocess.run([name, *shlex.split(line)], executable=BINARY, capture_output=True, text=True, timeout=60, **options)
    return result.returncode, result.stdout + result.stderr


class Lines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        pathlib.Path("m.onnxtxt").write_text(MODEL)
        code, out = run("convert m.onnxtxt -o identity.onnx")
        self.assertEqual(code, 0, out)
        code, out = run("convert identity.onnx -o p.plan --builder-optimization-level 0 --input-shapes x:[1,2]")
        self.assertEqual(code, 0, out)

    def refuses(self, line, *parts, name="assay"):
        code, out = run(line, name)
        self.assertEqual(code, 1, f"{line}\n{out}")
        for part in parts:
            self.assertIn(part, out, line)
        return out

    def passes(self, line, *parts, name="assay"):
        code, out = run(line, name)
        self.assertEqual(code, 0, f"{line}\n{out}")
        for part in parts:
            self.assertIn(part, out, line)
        return out

    def check(self, line, *parts, upstream="polygraphy"):
        """An error under our name, a warning under theirs."""
        self.refuses(line, "[!]", *parts)
        out = self.passes(line, name=upstream)
        self.assertIn("[W]", out, line)

    # ---- what has no effect ----

    def test_options_of_runners_that_are_not_given(self):
        for option, runner in (("--strict-trt", "--trt"), ("--runner-options a=b", "--runner-script"), ("--tf-outputs y", "--tf"),
                               ("--pytorch-inputs {}", "--pytorch"), ("--ref-precision stored", "--ref"), ("--providers cpu", "--onnxrt"),
                               ("--graph-optimization-level ORT_DISABLE_ALL", "--onnxrt")):
            given = "--engine"
            self.passes(f"run identity.onnx {given} --input-shapes x:[1,2] {option}", f"[W] {option.split()[0]}", "has no effect", runner)

    def test_builder_options_without_trt(self):
        for option in ("--fp16", "--int8", "--workspace 1G", "--trt-outputs y", "--save-engine e.plan", "--save-tactics t.json",
                       "--save-timing-cache c", "--builder-optimization-level 0", "--optimization-profile 0", "--explain"):
            self.check(f"run identity.onnx --engine --input-shapes x:[1,2] {option}", option.split()[0],
                       "it is about the engine that --trt builds", "say --trt in its place")
        out = self.refuses("run identity.onnx --engine --fp16 --workspace 1G", "--fp16", "--workspace")
        self.assertNotIn("(s)", out)
        self.assertFalse(os.path.exists("e.plan"))

    def test_plans_are_built_already(self):
        for option in ("--fp16", "--load-tactics none.json", "--trt-outputs y"):
            self.check(f"run p.plan --trt --input-shapes x:[1,2] {option}", "whose engine is built already")
        for option in ("--save-onnx o.onnx", "--onnx-outputs y", "--shape-inference", "--fp-to-fp16"):
            self.check(f"run p.plan --trt --input-shapes x:[1,2] {option}", "the model is a plan")
        self.assertFalse(os.path.exists("o.onnx"))

    def test_data(self):
        self.passes("run identity.onnx --engine --input-shapes x:[1,2] --save-inputs i.json")
        for option in ("--seed 3", "--val-range [0,2]", "--iterations 3", "--float-min 0", "--int-max 3"):
            self.passes(f"run identity.onnx --engine --load-inputs i.json {option}", option.split()[0], "none is drawn at random")
            self.passes(f"run identity.onnx --engine --load-inputs i.json {option}", "will be ignored", name="polygraphy")
        self.check("run identity.onnx --engine --input-shapes x:[1,2] --data-loader-func-name f", "there is no --data-loader-script")
        self.check("run identity.onnx --engine --input-shapes x:[1,2] --iterations 0", "--iterations: 0 is too small")
        pathlib.Path("none.json").write_text("[]")
        self.check("run identity.onnx --engine --load-inputs none.json", "Nothing was run")

    def test_saving(self):
        self.check("run identity.onnx --engine --input-shapes x:[1,2] --save-external-data d", "no ONNX model is saved")
        self.passes("run identity.onnx --engine --input-shapes x:[1,2] --save-onnx o.onnx --external-data-size-threshold 0",
                     "no weights are saved outside")
        self.refuses("convert identity.onnx -o q.plan --save-external-data d", "no ONNX model is saved")
        self.assertFalse(os.path.exists("q.plan"))

    def test_comparison_and_verdict(self):
        self.passes("run identity.onnx --engine --input-shapes x:[1,2] --atol 1e-3", "nothing is compared")
        self.passes("run identity.onnx --engine --input-shapes x:[1,2] --partial", "there is no --load-outputs")
        self.passes("run identity.onnx --engine --input-shapes x:[1,2] --no-trace", "nothing is judged")
        self.passes("run identity.onnx --engine --input-shapes x:[1,2] --save-outputs one.json")
        self.check("run --load-outputs one.json", "Nothing was compared")

    def test_no_runner(self):
        self.check("run identity.onnx", "No runner is given")
        self.refuses("run identity.onnx --save-onnx o.onnx", "No runner is given", "assay convert")

    def test_opset_of_an_onnx_model(self):
        self.check("run identity.onnx --engine --input-shapes x:[1,2] --opset 13 --save-onnx s.onnx", "--opset has no effect",
                   "surgeon convert-opset identity.onnx --to 13")
        self.passes("surgeon convert-opset identity.onnx --to 13 -o o.onnx")

    def test_convert_writes_no_engine(self):
        for option in ("--fp16", "--threads 2", "--trt-outputs y", "--builder-optimization-level 0", "--input-shapes x:[1,2]"):
            self.check(f"convert identity.onnx -o o.onnx {option}", option.split()[0], "no engine is built")
        for option in ("--seed 3", "--val-range [0,2]"):
            self.passes(f"convert identity.onnx -o q.plan --input-shapes x:[1,2] {option}", f"[W] {option.split()[0]}", "has no effect")
        self.refuses("convert identity.onnx -o q.plan --quantile 0.5", "Add --int8")

    def test_bench_of_a_plan(self):
        quick = "--warm-up 0 --duration 0 --iterations 1"
        for option in ("--fp16", "--save-engine again.plan", "--timing-cache c", "--min-shapes x:[1,2]", "--refit", "--explain"):
            self.refuses(f"bench p.plan {quick} {option}", option.split()[0], "has no effect")
        out = self.passes("--loadEngine=p.plan --saveEngine=again.plan --warmUp=0 --duration=0 --iterations=1", "has no effect",
                          "loaded from p.plan", name="trtexec")
        self.assertIn("[W]", out)
        self.assertFalse(os.path.exists("again.plan"))

    def test_bench_that_runs_nothing(self):
        for option in ("--export-times t.json", "--dump-output", "--duration 3", "--export-output o.json", "--streams 2"):
            self.refuses(f"bench m.onnxtxt --skip-inference {option}", "nothing is run with --skip-inference")
        self.refuses("bench m.onnxtxt --backends reference --fp16", "no engine is among the backends")
        self.refuses("bench m.onnxtxt --calib c", "--calib has no effect")

    # ---- shapes and names ----

    def test_shapes_that_fit_no_input(self):
        line = "run identity.onnx --engine --input-shapes "
        self.check(line + "x:[1,2],z:[1,2]", "Put blanks, not commas, between several inputs")
        self.check(line + "z:[4,2]", "the input 'z' cannot have the shape (4, 2)")
        self.check(line + "x:[1,2,3]", "the input 'x' cannot have the shape")
        self.check(line + "w:[1,2]", "names 'w', and no input is called so; the inputs are: 'x', 'z'")
        self.refuses(line + "x:[k,2]", "is no shape of data for the input 'x'")
        self.check("run identity.onnx --engine --input-shapes x:[1,2] --val-range w:[0,1]", "--val-range names 'w'")
        self.passes(line + "x:[3,2]")
        self.passes(line + "'*:[1,2]'")
        self.refuses("run p.plan --engine --input-shapes w:[1,2]", "names 'w'")
        self.refuses("convert identity.onnx -o q.plan --input-shapes w:[1,2]", "names 'w'")

    def test_saved_inputs_that_are_not_the_models(self):
        self.passes("run identity.onnx --engine --input-shapes x:[1,2] --save-inputs i.json")
        text = pathlib.Path("i.json").read_text()
        pathlib.Path("renamed.json").write_text(text.replace('"x"', '"input_x"'))
        self.check("run identity.onnx --engine --load-inputs renamed.json", "renamed.json has no data for the input 'x' of the model; it has "
                   "['input_x', 'z']")

    # ---- endings ----

    def test_the_ending_decides(self):
        for ending, start in ((".onnx", b"\x08"), (".onnxtxt", b"<"), (".txt", b"<")):
            self.passes(f"convert identity.onnx -o saved{ending}")
            self.assertEqual(pathlib.Path("saved" + ending).read_bytes()[:1], start, ending)
        for ending in (".plan", ".engine", ".trt"):
            self.passes(f"convert identity.onnx -o saved{ending} --input-shapes x:[1,2] --builder-optimization-level 0")
            self.assertNotEqual(pathlib.Path("saved" + ending).read_bytes()[:1], b"\x08")
        for name in ("saved.json", "saved.pb", "saved.bin", "saved", ".onnx", "saved.plan.old"):
            for program in ("assay", "polygraphy"):
                self.refuses(f"convert identity.onnx -o {name}", "--convert-to", ".onnxtxt", ".plan", name=program)
                self.assertFalse(os.path.exists(name))
        self.passes("convert identity.onnx --convert-to onnx -o saved")
        self.refuses("convert identity.onnx --convert-to onnx -o saved.plan", "does not write what the ending")
        self.refuses("convert identity.onnx --convert-to trt -o saved.onnx", "does not write what the ending")
        self.passes("convert identity.onnx --convert-to onnx -o /dev/null")

    def test_endings_of_all_writers_of_models(self):
        for line in ("surgeon extract identity.onnx --outputs y:auto -o {}", "surgeon sanitize identity.onnx --cleanup -o {}",
                     "surgeon insert identity.onnx --inputs x --outputs y --op F -o {}", "surgeon convert-opset identity.onnx --to 14 -o {}",
                     "surgeon prune identity.onnx -o {}", "surgeon weight-strip identity.onnx -o {}", "template model mlp -o {}",
                     "run identity.onnx --engine --input-shapes x:[1,2] --save-onnx {}"):
            self.passes(line.format("out.onnxtxt"))
            self.assertEqual(pathlib.Path("out.onnxtxt").read_bytes()[:1], b"<", line)
            for name in ("out.plan", "out.json", "out.bin", "out"):
                self.refuses(line.format(name), "The endings of an ONNX model are .onnx (binary), .onnxtxt and .txt")
                self.assertFalse(os.path.exists(name))
                self.passes(line.format(name), name="polygraphy")
                os.unlink(name)

    def test_endings_of_plans_results_and_programs(self):
        self.refuses("run identity.onnx --trt --input-shapes x:[1,2] --save-engine e.onnx", "The endings of the plan of an engine are")
        self.refuses("bench m.onnxtxt --save-engine e.json", "The endings of the plan of an engine are")
        self.passes("run identity.onnx --engine --input-shapes x:[1,2] --save-inputs i.json")
        for line in ("data concat i.json -o {}", "data merge i.json -o {}", "run identity.onnx --engine --input-shapes x:[1,2] --save-inputs {}",
                     "inspect model identity.onnx --json {}", "check lint identity.onnx --no-onnxrt -o {}"):
            self.refuses(line.format("o.onnx"), "writes JSON, but the ending of o.onnx is that of an ONNX model")
            self.passes(line.format("o.json"))
        self.refuses("template trt-config -o t.json", "writes a program, but the ending of t.json is that of JSON")

    # ---- places ----

    WRITERS = (
        "convert identity.onnx --input-shapes x:[1,2] -o {}.plan", "convert identity.onnx -o {}.onnx",
        "run identity.onnx --trt --input-shapes x:[1,2] --save-engine {}.plan", "run identity.onnx --trt --input-shapes x:[1,2] --save-tactics {}.json",
        "run identity.onnx --trt --input-shapes x:[1,2] --save-timing-cache {}.cache", "run identity.onnx --engine --input-shapes x:[1,2] --save-onnx {}.onnx",
        "run identity.onnx --engine --input-shapes x:[1,2] --save-inputs {}.json", "run identity.onnx --engine --input-shapes x:[1,2] --save-outputs {}.json",
        "run identity.onnx --engine --input-shapes x:[1,2] --save-outputs {}", "run identity.onnx --engine --input-shapes x:[1,2] --save-input-blob {}",
        "run identity.onnx --engine --input-shapes x:[1,2] --ref --save-verdict {}.json",
        "run identity.onnx --engine --input-shapes x:[1,2] --ref --save-accuracy-results {}.json",
        "run identity.onnx --engine --input-shapes x:[1,2] --ref --save-heatmaps {}", "run identity.onnx --engine --log-file {}.log",
        "run identity.onnx --engine --input-shapes x:[1,2] --save-settings {}.json",
        "run identity.onnx --engine --input-shapes x:[1,2] --gen-script {}.py", "bench m.onnxtxt --save-engine {}.plan",
        "bench m.onnxtxt --timing-cache {}.cache", "bench m.onnxtxt --json {}.json", "bench m.onnxtxt --export-times {}.json",
        "bench m.onnxtxt --export-output {}.json", "inspect model identity.onnx --json {}.json", "inspect model identity.onnx --save-visual {}.html",
        "inspect capability identity.onnx -o {}", "check lint identity.onnx --no-onnxrt -o {}.json", "surgeon sanitize identity.onnx --cleanup -o {}.onnx",
        "surgeon extract identity.onnx --outputs y:auto -o {}.onnx", "surgeon prune identity.onnx -o {}.onnx",
        "surgeon weight-strip identity.onnx -o {}.onnx", "surgeon convert-opset identity.onnx --to 14 -o {}.onnx",
        "template model mlp -o {}.onnx", "template trt-config -o {}.py", "template trt-network identity.onnx -o {}.py",
    )

    def test_places_that_cannot_be_written(self):
        before = sorted(os.listdir("."))
        for line in self.WRITERS:
            out = self.refuses(line.format("/proc/none"), "/proc")
            for word in ("Building engine", "Engine built", "RUNNING", "Saving"):
                self.assertNotIn(word, out, line)
            out = self.refuses(line.format("identity.onnx/none"), "identity.onnx")
            self.assertNotIn("Building engine", out)
        self.assertEqual(sorted(os.listdir(".")), before)

    def test_folders_and_sockets_in_the_place_of_files(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.bind("socket.plan")
            for name, kind in (("folder.plan", "a folder"), ("socket.plan", "a socket")):
                if not os.path.exists(name):
                    os.mkdir(name)
                for line in ("convert identity.onnx --input-shapes x:[1,2] -o {}", "run identity.onnx --trt --input-shapes x:[1,2] --save-engine {}",
                             "bench m.onnxtxt --save-engine {}"):
                    out = self.refuses(line.format(name), f"cannot write {name}: it is {kind}")
                    self.assertNotIn("Building engine", out)

    def test_names_that_are_not_given(self):
        for folder in ("resnet-18.onnx", "config.yaml", "replaced.onnx"):
            os.mkdir(folder)
        self.refuses("template model resnet-18", "cannot write resnet-18.onnx: it is a folder")
        os.makedirs("plugins/pair")
        pathlib.Path("plugins/pair/pattern.yaml").write_text("op: Pair\ninputs: [x]\noutputs: [y]\nnodes:\n  - {op: Identity, inputs: [x], outputs: [y]}\n")
        for command, name in (("match", "config.yaml"), ("replace", "replaced.onnx")):
            out = self.refuses(f"plugin {command} identity.onnx --plugin-dir plugins", f"{name}: it is a folder")
            self.assertNotIn("checking pair", out)

    def test_data_beside_a_model(self):
        os.mkdir("data")
        for place, sentence in (("data", "cannot write data: it is a folder"), ("../data", "must lie in the model's folder"),
                                ("/dev/full", "must lie in the model's folder"), ("new.onnx", "is that of the model itself")):
            for line in ("surgeon sanitize identity.onnx -o new.onnx --save-external-data {}",
                         "run identity.onnx --ref --input-shapes x:[1,2] --save-onnx new.onnx --save-external-data {}"):
                out = self.refuses(line.format(place), sentence)
                for word in ("RUNNING", "Loading model", "Saving"):
                    self.assertNotIn(word, out, line)

    def test_nothing_is_truncated(self):
        pathlib.Path("old.plan").write_text("old")
        self.refuses("convert identity.onnx --input-shapes w:[1,2] -o old.plan")
        self.assertEqual(pathlib.Path("old.plan").read_text(), "old")

    def test_two_options_and_one_file(self):
        self.refuses("run identity.onnx --trt --input-shapes x:[1,2] --save-engine a.plan --save-timing-cache ./a.plan", "both write")

    # ---- files that are read ----

    def test_files_that_are_read_are_there(self):
        for line in ("run identity.onnx --engine --load-inputs {}", "run identity.onnx --engine --input-shapes x:[1,2] --load-outputs {}",
                     "run identity.onnx --trt --input-shapes x:[1,2] --load-tactics {}", "convert identity.onnx -o q.plan --int8 --load-inputs {}",
                     "run identity.onnx --engine --external-data-dir {}", "run --settings {}", "inspect model p.plan --combine-tensor-info {}",
                     "surgeon weight-strip identity.onnx -o o.onnx --exclude-list {}", "bench m.onnxtxt --load-inputs x:{}"):
            out = self.refuses(line.format("gone.json"), "gone.json", "No such file or directory")
            for word in ("Building engine", "Read the model", "RUNNING"):
                self.assertNotIn(word, out, line)

    def test_bench_inputs_fit_the_model(self):
        pathlib.Path("x.bin").write_bytes(bytes(8))
        pathlib.Path("short.bin").write_bytes(bytes(4))
        for line, part in (("--load-inputs w:x.bin", "'w', which is not an input"), ("--load-inputs z:short.bin", "short.bin has 4 bytes"),
                           ("--use-profile 3", "no profile 3")):
            out = self.refuses(f"bench m.onnxtxt {line}", part)
            self.assertNotIn("Engine built", out)

    def test_an_interpreter_without_numpy(self):
        os.mkdir("hidden")
        pathlib.Path("hidden/numpy.py").write_text("raise ImportError('hidden')\n")
        pathlib.Path("s.py").write_text("def load_data():\n    yield {}\ndef compare_outputs(a, b):\n    return {}\n"
                                        "def postprocess_outputs(a):\n    return a\n")
        environment = {**os.environ, "PYTHONPATH": os.path.abspath("hidden")}
        for line in ("run identity.onnx --trt --data-loader-script s.py", "run identity.onnx --trt --ref --compare-func-script s.py",
                     "run identity.onnx --trt --ref --postprocess-func-script s.py", "convert identity.onnx -o q.plan --int8 --data-loader-script s.py"):
            code, out = run(line, env=environment)
            self.assertEqual(code, 1, out)
            self.assertIn("has no NumPy: hidden", out)
            self.assertNotIn("Building engine", out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
