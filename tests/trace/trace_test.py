#!/usr/bin/env python3
"""Timelines of --trace, in Chrome's form and in Perfetto's: their sums are the profile's; threads, tactics, waits, memory, child processes.

usage: trace_test.py ASSAY
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import perfetto_tables  # noqa: E402

ASSAY = pathlib.Path(sys.argv.pop(1)).resolve()
HAS_PERFETTO = importlib.util.find_spec("perfetto") is not None
FORMS = (".json", ".pftrace") if HAS_PERFETTO else (".json",)
QUICK = ("--warm-up", "0", "--duration", "0", "--iterations", "3")
STEPS = """select s.name, sum(s.dur) from slice s join slice p on s.parent_id = p.id
           where s.category = 'step' and p.category = 'profile' group by s.name"""
PROCESSES = """select distinct process.name, process.pid from slice s join thread_track on s.track_id = thread_track.id join thread using (utid)
               join process using (upid)"""


def write_models():
    rows = "\n".join(f"  h{i} = MatMul (r{i}, w)\n  r{i + 1} = Relu (h{i})" for i in range(4))
    weights = ", ".join(str((i * 37 % 64) / 64 - 0.5) for i in range(64 * 64))
    pathlib.Path("model.onnxtxt").write_text(
        f'<ir_version: 8, opset_import: ["" : 17]>\ng (float[256, 64] r0) => (float[256, 64] r4) <float[64, 64] w = {{{weights}}}> {{\n{rows}\n}}\n')
    pathlib.Path("failing.onnxtxt").write_text('<ir_version: 8, opset_import: ["" : 17]>\ng (float[2] x) => (float[2] y) { y = NoSuchOperator (x) }\n')


def assay(*words, status=0, **env):
    done = subprocess.run([ASSAY, *words], capture_output=True, text=True, timeout=300, env={**os.environ, "ASSAY_EXTENSION_PATH": "", **env}, check=False)
    assert done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


class Trace(unittest.TestCase):
    maxDiff = None

    def traces(self, *words, status=0, name="t"):
        """The same command in each form; the file is named before what the command passes on."""
        at = words.index("--check") if "--check" in words else 1 if words[0] == "python" else len(words)
        for ending in FORMS:
            path = pathlib.Path(name + ending)
            out = assay(*words[:at], "--trace", path, *words[at:], status=status)
            if words[0] != "python":
                self.assertIn(f"Timeline saved to {path}", out)
            yield perfetto_tables.tables_of(path)

    def test_sums_are_those_of_the_profile(self):
        for tables in self.traces("bench", "model.onnxtxt", *QUICK, "--export-profile", "profile.json"):
            head, *layers = json.loads(pathlib.Path("profile.json").read_text())
            self.assertGreater(head["count"], 0)
            sums = dict(tables.query(STEPS))
            self.assertEqual({x["name"] for x in layers}, set(sums))
            for layer in layers:
                # The profile's times are in float64, those of a trace in whole nanoseconds for each run.
                self.assertAlmostEqual(sums[layer["name"]] * 1e-6, layer["timeMs"], delta=1e-6 * head["count"] + 1e-9, msg=layer["name"])
            steps = tables.query("select count(*) from slice s join slice p on s.parent_id = p.id where s.category = 'step' and p.category = 'profile'")
            self.assertEqual(steps[0][0], head["count"] * len(layers))

    def test_tactics_and_passes(self):
        for tables in self.traces("convert", "model.onnxtxt", "-o", "m.plan"):
            tactics = tables.query("select name, dur from slice where category = 'tactic'")
            self.assertGreater(len(tactics), 4)
            self.assertTrue(any("f32" in name or "float32" in name for name, _ in tactics), tactics[:5])
            passes = {name for (name,) in tables.query("select name from slice where category = 'pass'")}
            self.assertIn("eliminate-dead-code", {p.replace("_", "-") for p in passes})
            inside = tables.query("""select count(*) from slice s join slice p on s.parent_id = p.id
                                     where s.category = 'tactic' and p.name = 'choose tactics and plan'""")
            self.assertEqual(inside[0][0], len(tactics))

    def test_runners_of_a_comparison(self):
        for tables in self.traces("run", "model.onnxtxt", "--engine", "--ref"):
            nodes = [name for (name,) in tables.query("select name from slice where category = 'node'")]
            self.assertEqual(sum("MatMul" in n for n in nodes) % 4, 0, nodes)
            self.assertGreaterEqual(len(nodes), 8)
            kinds = {kind for (kind,) in tables.query("select distinct category from slice")}
            self.assertLessEqual({"command", "file", "build", "run", "step", "node", "compare"}, kinds)
            whole = tables.query("select dur from slice where category = 'command'")[0][0]
            runs = tables.query("select dur from slice where category = 'run'")
            self.assertTrue(all(0 < d < whole for (d,) in runs), (whole, runs))

    def test_threads_and_memory(self):
        for tables in self.traces("bench", "model.onnxtxt", *QUICK, "--iterations", "300", "--threads", "2"):
            memory = tables.query("select max(value), min(value), count(*) from counter")[0]
            self.assertGreater(memory[0], 1 << 20)
            self.assertGreaterEqual(memory[2], 4)
            threads = tables.query("select distinct thread.name from slice s join thread_track on s.track_id = thread_track.id join thread using (utid)")
            self.assertIn(("main",), threads)
            loops = tables.query("select count(*) from slice where category = 'loop'")[0][0]
            if len(os.sched_getaffinity(0)) > 1:
                self.assertIn(("pool",), threads)
                self.assertGreater(loops, 0)

    def test_child_processes(self):
        """Each check is a process of its own; what it did is in the trace, inside its life as the search saw it."""
        check = ("--check", ASSAY, "run", "polygraphy_debug.onnx", "--ref")
        for tables in self.traces("debug", "reduce", "failing.onnxtxt", "-o", "reduced.onnx", *check):
            pathlib.Path("reduced.onnx").unlink()
            lives = tables.query("select name, dur, detail from slice where category = 'process'") if not perfetto_tables.SHELL else []
            self.assertGreaterEqual(len(lives), 2)
            self.assertTrue(all("polygraphy_debug.onnx" in name and duration > 0 for name, duration, _ in lives), lives)
            self.assertLessEqual({detail for _, _, detail in lives}, {"status 0", "status 1"})
            inside = tables.query("select count(*) from slice s join slice p on s.parent_id = p.id where s.category = 'command' and p.category = 'process'")
            self.assertEqual(inside[0][0], len(lives))
            self.assertEqual(len(tables.query(PROCESSES)), len(lives) + 1)

    def test_workers(self):
        """Processes that are forks of the program leave what they did, too."""
        self.write_case("case")
        for tables in self.traces("check", "conformance", "case", "--on", "reference", status=1):
            jobs = tables.query("select count(*) from slice where category = 'check'")[0][0]
            self.assertGreaterEqual(jobs, 1)
            self.assertIn("worker", {name for name, _ in tables.query(PROCESSES)})

    @staticmethod
    def write_case(folder):
        """A test case in ONNX's layout."""
        assay("debug", "reduce", "failing.onnxtxt", "--test-case", folder, "-o", "r.onnx", "--any-failure", "--check", "false")

    def test_script_of_python(self):
        pathlib.Path("script.py").write_text("import assay, sys\nmodel = assay.load('model.onnxtxt')\nassay.build(model)\nassay.verdict(model, ['engine'])\nsys.exit(3)\n")
        probe = subprocess.run([ASSAY, "python", "--python", sys.executable, "-c", "import assay, numpy"], capture_output=True, text=True, check=False)
        if probe.returncode != 0:
            print(f"skipped in part: scripts of Python, since {sys.executable} cannot import the package: {probe.stderr.strip().splitlines()[-1:]}")
            return
        for tables in self.traces("python", "--python", sys.executable, "script.py", status=3):
            steps = tables.query("select count(*) from slice where category = 'step'")[0][0]
            builds = tables.query("select count(*) from slice where name = 'choose tactics and plan'")[0][0]
            self.assertGreater(steps, 0)
            self.assertGreater(builds, 0)
            lives = tables.query("select name from slice where category = 'process'")
            self.assertEqual(len(lives), 1)
            self.assertIn("script.py", lives[0][0])

    def test_failures(self):
        """The trace is there also where the command fails; what cannot be written is said before anything runs."""
        for tables in self.traces("run", "failing.onnxtxt", "--ref", status=1):
            self.assertEqual([name for (name,) in tables.query("select name from slice where category = 'command'")], ["run"])
        out = assay("run", "model.onnxtxt", "--ref", "--trace", "t.onnx", status=1)
        self.assertIn("--trace writes a timeline, but the ending of t.onnx is that of an ONNX model", out)
        self.assertIn(".pftrace", out)
        pathlib.Path("file").write_text("")
        self.assertFalse(pathlib.Path("t.onnx").exists())
        out = assay("run", "model.onnxtxt", "--ref", "--report", "t.onnx", status=1)
        self.assertIn("--report writes a page of HTML", out)
        self.assertFalse(pathlib.Path("t.onnx").exists())
        out = assay("run", "model.onnxtxt", "--ref", "--trace", "file/t.json", status=1)
        self.assertEqual(out, "[!] cannot create the folder file: Not a directory\n")
        self.assertNotIn("Timeline", assay("run", "model.onnxtxt", "--ref"))
        self.assertFalse(list(pathlib.Path(tempfile.gettempdir()).glob(f"assay-trace-{os.getpid()}-*")))

    def test_pages_show_it(self):
        assay("bench", "model.onnxtxt", *QUICK, "--trace", "t.json", "--report", "page.html")
        page = pathlib.Path("page.html").read_text()
        self.assertIn("choose tactics and plan", page)
        assay("view", "t.json", "-o", "view.html")
        self.assertIn("choose tactics and plan", pathlib.Path("view.html").read_text())
        assay("run", "model.onnxtxt", "--ref", "--trace", "p.pftrace")
        self.assertIn(".json can be shown here", assay("view", "p.pftrace", "-o", "none.html", status=1))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_models()
        if not HAS_PERFETTO:
            print("skipped in part: Perfetto's binary form, since the Python package perfetto is not there")
        elif not perfetto_tables.SHELL:
            print("skipped in part: Perfetto's own trace processor, which ASSAY_TRACE_PROCESSOR does not name; its files are read by the descriptors of its package")
        unittest.main()
