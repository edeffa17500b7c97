#!/usr/bin/env python3
"""What people see of assay on a terminal, and what other programs read of it: one screen whatever the number of layers, tables at any
width, conditions, test results, completion, pages of the manual.

usage: terminal_test.py ASSAY
"""

import csv
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
import xml.etree.ElementTree as xml

ASSAY = pathlib.Path(sys.argv.pop(1)).resolve()
SCREEN = 50
LAYERS = 150
# As upstream's built-in tolerance, which rounding exceeds.
NONE = ("--atol", "0", "--rtol", "0")


def write_models():
    text = "\n".join(f"  v{i + 1} = {'Sin' if i % 2 else 'Neg'} (v{i})" for i in range(LAYERS))
    pathlib.Path("deep.onnxtxt").write_text(
        f'<ir_version: 8, opset_import: ["" : 17]>\ng (float[4, 32] v0) => (float[4, 32] v{LAYERS}) {{\n{text}\n}}\n')
    pathlib.Path("open.onnxtxt").write_text(
        '<ir_version: 8, opset_import: ["" : 17]>\ng (float[n, 3] x) => (float[n, 3] y) { y = Relu (x) }\n')
    pathlib.Path("bias.onnxtxt").write_text(
        '<ir_version: 8, opset_import: ["" : 17]>\ng (float[2, 3] x) => (float[2, 3] y) <float[3] a = {1, 2, 3}, float[3] b = {4, 5, 6}> '
        "{\n  s = Add (a, b)\n  d = Dropout (x)\n  y = Add (d, s)\n}\n")


def environment(**more):
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "TERM")}
    return {**env, "ASSAY_EXTENSION_PATH": "", **more}


def assay(*words, name=ASSAY, **env):
    done = subprocess.run([name, *words], capture_output=True, text=True, timeout=200, env=environment(**env), check=False)
    return done.returncode, done.stdout, done.stderr


def on_terminal(columns, *words, **env):
    """What a terminal of so many columns gets."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen([ASSAY, *words], stdin=subprocess.DEVNULL, stdout=child, stderr=child, env=environment(TERM="xterm", **env))
    os.close(child)
    seen = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(parent)
    process.wait()
    return seen.decode("utf-8").replace("\r\n", "\n")


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", text)


class Terminal(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        """Results that differ in every layer."""
        for seed, name in (("1", "a.json"), ("2", "b.json")):
            status, out, err = assay("run", "deep.onnxtxt", "--ref", "--seed", seed, "--onnx-outputs", "*", "--save-outputs", name)
            assert status == 0, out + err

    def compare(self, *words, name=ASSAY):
        return assay("run", "--load-outputs", "a.json", "b.json", *NONE, *words, name=name)

    # ---- one screen

    def test_many_layers_fit_a_screen(self):
        status, out, _ = self.compare()
        self.assertEqual(status, 1)
        self.assertLess(len(out.splitlines()), SCREEN, out)
        rows = re.findall(r"^ +\S*v\d+ +(\S+) .*FAILED", out, re.M)
        self.assertEqual(len(rows), 20, out)
        errors = [float(r) for r in rows]
        self.assertEqual(errors, sorted(errors, reverse=True))
        self.assertIn("more output(s)", out)
        self.assertRegex(out.splitlines()[-2], "Next: .*--arbiter")
        self.assertEqual(len(re.findall(r"^ +\S*v\d+ .*FAILED", self.compare("--all")[1], re.M)), LAYERS)
        self.assertIn("Minimum Required Tolerance", self.compare("-v")[1])

    def test_upstreams_name_has_upstreams_lines(self):
        if not os.path.exists("polygraphy"):
            os.symlink(ASSAY, "polygraphy")
        status, out, _ = self.compare(name="./polygraphy")
        self.assertEqual(status, 1)
        self.assertEqual(out.count("Minimum Required Tolerance"), LAYERS)
        self.assertNotIn("Next:", out)

    def test_the_maker_is_at_the_end(self):
        feed = ("--save-inputs", "in.json")
        self.assertEqual(assay("run", "deep.onnxtxt", "--ref", "--onnx-outputs", "*", "--save-outputs", "right.json", *feed)[0], 0)
        changed = pathlib.Path("deep.onnxtxt").read_text().replace("v4 = Sin (v3)", "v4 = Cos (v3)")
        pathlib.Path("changed.onnxtxt").write_text(changed)
        self.assertEqual(assay("run", "changed.onnxtxt", "--ref", "--onnx-outputs", "*", "--save-outputs", "wrong.json", "--load-inputs", "in.json")[0], 0)
        status, out, _ = assay("run", "deep.onnxtxt", "--arbiter", "--onnx-outputs", "*", "--load-inputs", "in.json", "--load-outputs", "wrong.json")
        self.assertEqual(status, 1, out)
        lines = out.splitlines()
        self.assertLess(len(lines), SCREEN, out)
        maker = next(i for i, line in enumerate(lines) if "First Divergence" in line)
        self.assertIn("Sin", lines[maker])
        self.assertGreater(maker, len(lines) - 15, out)
        self.assertRegex(out, r"Error inherited by \d+ node\(s\) behind")

    def test_sanitize_ends_with_a_table(self):
        status, out, _ = assay("surgeon", "sanitize", "bias.onnxtxt", "--fold-constants", "--simplify", "-o", "small.onnx")
        self.assertEqual(status, 0, out)
        table = out[out.index("Before"):]
        for row in ("Nodes", "Parameters", "Multiply-accumulates", "Memory of values", "Initialized bytes"):
            self.assertIn(row, table)
        nodes = re.search(r"Nodes +(\d+) +(\d+)", table)
        self.assertEqual(nodes.groups(), ("3", "1"), table)

    # ---- any terminal

    def test_nothing_is_cut_at_any_width(self):
        wanted = {f"v{LAYERS}", "FAILED", "(4,", "float32"}
        for columns in (20, 60, 80, 200):
            for env in ({}, {"NO_COLOR": "1"}, {"LC_ALL": "C"}):
                out = on_terminal(columns, "run", "--load-outputs", "a.json", "b.json", *NONE, "--all", **env)
                self.assertEqual("\x1b[" in out, "NO_COLOR" not in env, out[:300])
                words = set(plain(out).split())
                self.assertTrue(wanted <= words, (columns, wanted - words))
                rows = [line for line in plain(out).splitlines() if re.match(r"(?:\[E\])? +v\d+\b", line)]
                self.assertEqual(len(rows), LAYERS, columns)
                for line in rows:
                    self.assertLessEqual(len(line), columns, line)
                self.assertTrue(out.isascii())

    def test_help_fits_narrow_terminals(self):
        for columns in (40, 60, 80, 200):
            for words in ((), ("run", "--help"), ("bench", "--help")):
                out = on_terminal(columns, *words)
                before = None
                for line in out.splitlines():
                    is_syntax = line.lstrip().startswith(("-", "assay ", "usage"))      # an option and its value stay together
                    is_title = before == "" and not line.startswith(" ")
                    self.assertTrue(len(line) <= columns or is_syntax or is_title, (columns, line))
                    before = line
                self.assertNotIn("\x1b", out)

    def test_alone_it_says_what_it_can_do(self):
        status, out, err = assay()
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(len(re.findall(r"^      assay \w", out, re.M)), 3, out)
        self.assertIn("\nCommands\n", out)
        self.assertLess(len(out.splitlines()), SCREEN)
        status, _, err = assay("rnu", "x.onnx")
        self.assertEqual(status, 2)
        self.assertIn("Did you mean 'run'?", err)

    # ---- for machines

    def test_silence_says_why_it_failed(self):
        status, out, err = self.compare("--silent")
        self.assertEqual((status, out), (1, ""))
        self.assertRegex(err, rf"^\[!\] Different: {LAYERS} of {LAYERS} output\(s\), most of all 'v\d+' \(by [\d.e-]+\)")
        self.assertEqual(assay("run", "open.onnxtxt", "--ref", "--silent"), (0, "", ""))
        pathlib.Path("invalid.onnxtxt").write_text('<ir_version: 8, opset_import: ["" : 17]> g (float[1] x) => (float[1] y) { y = Relu (x, x) }')
        status, out, err = assay("check", "lint", "invalid.onnxtxt", "--no-onnxrt", "--silent")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("Relu", err)

    def test_strict_guesses_nothing(self):
        status, out, _ = assay("run", "open.onnxtxt", "--ref")
        self.assertEqual(status, 0)
        self.assertIn("[W] Input tensor: x", out)
        status, out, err = assay("run", "open.onnxtxt", "--ref", "--strict")
        self.assertEqual(status, 1, out)
        self.assertIn("[!] A guess is refused: Input tensor: x", err)
        self.assertEqual(assay("run", "open.onnxtxt", "--ref", "--strict", "--input-shapes", "x:[2,3]")[0], 0)
        quick = ("--warm-up", "0", "--duration", "0", "--iterations", "1")
        status, out, err = assay("bench", "open.onnxtxt", "--strict", *quick)
        self.assertEqual(status, 1, out + err)
        self.assertIn("[!] A guess is refused: The input 'x'", err)
        self.assertEqual(assay("bench", "open.onnxtxt", "--strict", "--shapes", "x:2x3", *quick)[0], 0)

    def test_names_that_match_nothing(self):
        words = ("run", "open.onnxtxt", "--ref", "--engine", "--input-shapes", "x:[2,3]", "--atol", "z:1e-3", "1")
        status, out, err = assay(*words)
        self.assertEqual(status, 1, out)
        self.assertIn("no output is called so", err + out)

    def test_conditions_and_test_results(self):
        words = ("run", "open.onnxtxt", "--ref", "--engine", "--input-shapes", "x:[2,3]", "--junit", "r.xml", "--csv", "r.csv", "--json", "r.json")
        self.assertEqual(assay(*words, "--fail-if", "error>1e-3")[0], 0)
        suite = xml.parse("r.xml").getroot()[0]
        self.assertEqual(suite.get("failures"), "0")
        self.assertGreaterEqual(int(suite.get("tests")), 1)
        rows = list(csv.DictReader(pathlib.Path("r.csv").read_text().splitlines()))
        self.assertEqual([r["output"] for r in rows if r["kind"] == "comparison"], ["y"])
        found = json.loads(pathlib.Path("r.json").read_text())
        self.assertEqual(found["outcome"], "passed")
        self.assertEqual(found["comparisons"][0]["shape"], [2, 3])
        self.assertEqual({v["verdict"] for v in found["verdicts"]}, {"agrees"})
        # Conditions decide in place of the tolerances, either way.
        self.assertEqual(self.compare("--fail-if", "error>100")[0], 0)
        status, out, _ = self.compare("--fail-if", "error>1e-9", "--junit", "r.xml")
        self.assertEqual(status, 1)
        suite = xml.parse("r.xml").getroot()[0]
        self.assertGreater(int(suite.get("failures")), LAYERS // 2)
        self.assertIn("error>1e-9 fails", suite.find(".//failure").get("message"))
        self.assertIn("there are: error,", assay(*words, "--fail-if", "eror")[2] + assay(*words, "--fail-if", "nothing>1")[2])

    def test_checks_write_test_results(self):
        self.assertEqual(assay("check", "lint", "open.onnxtxt", "--no-onnxrt", "--junit", "lint.xml")[0], 0)
        self.assertEqual(xml.parse("lint.xml").getroot()[0].get("failures"), "0")
        self.assertEqual(self.compare("--save-accuracy-results", "acc.json")[0], 1)
        assay("check", "accuracy", "acc.json", "--junit", "acc.xml")
        self.assertEqual(xml.parse("acc.xml").getroot()[0].get("tests"), str(LAYERS))

    # ---- shells and the manual

    def complete(self, *words):
        script = assay("completion", "bash")[1]
        pathlib.Path("completion.bash").write_text(script)
        line = " ".join(f"'{w}'" for w in words)
        text = f". ./completion.bash\nCOMP_WORDS=({line})\nCOMP_CWORD={len(words) - 1}\n_assay\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        done = subprocess.run(["bash", "--norc", "-c", text], capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("assay", "be"), ["bench"])
        self.assertIn("sanitize", self.complete("assay", "surgeon", ""))
        self.assertEqual(self.complete("assay", "run", "model.onnx", "--arbiter-s"), ["--arbiter-samples"])
        self.assertEqual(self.complete("assay", "check", "lint", "--rules", "u"), ["upstream"])
        self.assertIn("deep.onnxtxt", self.complete("assay", "run", "deep"))

    def test_scripts_of_other_shells(self):
        for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            status, script, _ = assay("completion", shell)
            self.assertEqual(status, 0)
            self.assertIn("sanitize", script)
            path = pathlib.Path(f"completion.{shell}")
            path.write_text(script)
            if shutil.which(shell):
                done = subprocess.run([*check, path], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)
            else:
                print(f"skipped in part: the syntax of {shell}'s script, since there is no {shell}")
        self.assertEqual(assay("completion", "csh")[0], 2)

    def test_the_manual(self):
        self.assertEqual(assay("completion", "man", "-o", "man")[0], 0)
        pages = sorted(p.name for p in pathlib.Path("man").iterdir())
        self.assertIn("assay.1", pages)
        self.assertIn("assay-surgeon-sanitize.1", pages)
        if not shutil.which("groff"):
            print("skipped in part: how pages of the manual look, since there is no groff")
            return
        for page in pages:
            done = subprocess.run(["groff", "-man", "-wchar", "-wsyntax", "-wescape", "-winput", "-Tutf8", f"man/{page}"], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)
        self.assertIn("OPTIONS", re.sub(".\b", "", done.stdout))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_models()
        unittest.main()
