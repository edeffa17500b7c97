"""`run --gen-script`: what it writes ends as the command line does, prints its lines and saves its files.

usage: gen_script_test.py ASSAY LIBRARY MODULE INCLUDE PYTHON_ENVIRONMENT [COMPILER_FLAG...]

Every case of cases.py is run three times, in folders of its own: by the command line, by the C++ program and by the Python
script. The C++ programs are compiled in one go: each is included into one file, its main() under another name. Cases that
need ONNX Runtime or NumPy are left out where the environment lacks them, and a line says so.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cases  # noqa: E402

ASSAY, LIBRARY, MODULE, INCLUDE, ENVIRONMENT = (Path(a).absolute() for a in sys.argv[1:6])
FLAGS = sys.argv[6:]
sys.argv = sys.argv[:1]


#: Cases that say themselves how much is printed.
OWN_LEVEL = set()
QUIET = {"-q", "--quiet", "--silent", "--verbosity", "-v", "-vv"}


def environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_EXTENSION")}
    env["ASSAY_EXTENSION_PATH"] = ""
    python = ENVIRONMENT / "bin/python3"
    if python.exists():
        env.setdefault("ASSAY_PYTHON", str(python))
        env.setdefault("ASSAY_ONNXRUNTIME", str(ENVIRONMENT))
    return env


def same_meaning(a, b):
    """JSON without what differs from run to run."""
    if isinstance(a, dict) and isinstance(b, dict):
        keys = [{k for k in x if k not in ("runtime", "time", "seconds")} for x in (a, b)]
        return keys[0] == keys[1] and all(same_meaning(a[k], b[k]) for k in keys[0])
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_meaning, a, b))
    if isinstance(a, str) and isinstance(b, str):
        return without_times(a) == without_times(b)
    return a == b or (a != a and b != b)


def without_times(text):
    text = re.sub(r"-\d\d/\d\d/\d\d-\d\d:\d\d:\d\d", "-TIME", text)
    text = re.sub(r"in +[0-9.e+-]+ ms( \| Average inference time: [0-9.e+-]+ ms)?", "in TIME", text)
    text = re.sub(r"[0-9.e+-]+ (seconds|us|ms)\b", "TIME", text)
    return re.sub(r"Runtime: [0-9.]+s", "Runtime: TIME", text)


def lines_of(text, folder):
    """What a run printed, from its first line on: what is said of options is said when the program is written."""
    text = without_times(text).replace(str(folder), "FOLDER")
    text = re.sub(r"Command: .*(\n    .*)*", "Command: ...", text)  # words may hold line ends
    lines = text.split("\n")
    begin = next((i for i, line in enumerate(lines) if "RUNNING | Command" in line), 0)
    # Times decide which tactics win, and the temporary names of external data are new each time. A program has no next command to suggest.
    told, is_detail = [], False
    for line in lines[begin:]:
        if re.match(r"\[.\]", line):
            is_detail = line.startswith("[I] Next: ") or (line.startswith("[V]") and folder.name not in OWN_LEVEL)
        if not is_detail:
            told.append(line)
    return [line for line in told if not re.search(r"^ +[a-z0-9_]+(:[a-z0-9]+)? .*TIME|Completed parsing|\.data\b", line)]


class Program:
    """Results of a run in a folder."""

    def __init__(self, folder, words):
        done = subprocess.run(list(map(str, words)), cwd=folder, env=environment(), text=True, errors="surrogateescape", check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.status, self.out, self.err = done.returncode, lines_of(done.stdout, folder), without_times(done.stderr).replace(str(folder), "FOLDER")
        self.raw = done.stdout + done.stderr

    def __str__(self):
        return f"exit code {self.status}\n{self.raw}"


class GenScript(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.base = cls.folder / "base"
        cls.base.mkdir()
        for name, text in cases.FILES.items():
            (cls.base / name).write_text(text)
        with_module = [[*words, "--extension", str(MODULE)] for words in cases.PREPARE_WITH_MODULE]
        for words in [*cases.PREPARE, *with_module]:
            done = Program(cls.base, [ASSAY, "run", *words])
            assert done.status == 0, str(done)
        cls.cases = {name: cases.words_of(text) for name, text in cases.CASES.items()}
        cls.cases["odd"] = cases.odd_words()
        for name, text in cases.WITH_MODULE.items():
            cls.cases[name] = [*cases.words_of(text), "--extension", str(MODULE)]
        cls.take_what_is_there()
        # A program prints the lines that the command line prints at -v.
        OWN_LEVEL.update(name for name, words in cls.cases.items() if QUIET & set(map(str, words)))
        cls.cases = {name: words if QUIET & set(map(str, words)) else [*words, "-v"] for name, words in cls.cases.items()}
        cls.generate()
        cls.compile()

    @classmethod
    def take_what_is_there(cls):
        done = Program(cls.base, [ASSAY, "surgeon", "extract", "dynamic.onnxtxt", "-o", "dynamic.onnx"])
        assert done.status == 0, str(done)
        if Program(cls.base, [ASSAY, "run", "dynamic.onnx", "--onnxrt"]).status == 0:
            cls.cases.update({name: cases.words_of(text) for name, text in cases.WITH_ONNXRT.items()})
        else:
            print("skipped in part: the cases with ONNX Runtime, which is not there")
        if Program(cls.base, [ASSAY, "run", "dynamic.onnxtxt", "--ref", "--data-loader-script", "scripts.py"]).status == 0:
            cls.cases.update({name: cases.words_of(text) for name, text in cases.WITH_NUMPY.items()})
        else:
            print("skipped in part: the cases with scripts in Python, for which NumPy is missing")

    @classmethod
    def place(cls, name, kind):
        """A folder for a case, with everything in it."""
        folder = cls.folder / kind / name
        if not folder.exists():
            shutil.copytree(cls.base, folder)
        return folder

    @classmethod
    def generate(cls):
        """Programs are written without anything being run: no file but theirs appears."""
        for name, words in cls.cases.items():
            for kind, file in [("cpp", "gen'erated.cpp"), ("py", "gen'erated.py")]:
                folder = cls.place(name, kind)
                before = list(folder.rglob("*"))
                done = Program(folder, [ASSAY, "run", *words, "--gen-script", file])
                assert done.status == 0, f"{name}: {done}"
                made = set(folder.rglob("*")) - set(before) - {folder / "log.txt"}  # what is said meanwhile goes there, too
                assert made == {folder / file}, f"{name}: {made}"
                assert "RUNNING" not in done.raw and "FAILED" not in done.raw, str(done)

    @classmethod
    def compile(cls):
        text = ""
        for name in cls.cases:
            text += f"#define main main_{name}\n#define describe describe_{name}\n#include \"{cls.folder}/cpp/{name}/gen'erated.cpp\"\n#undef main\n#undef describe\n"
        text += "#include <cstring>\nint main(int argc, char** argv) {\n"
        for name in cls.cases:
            text += f"  if (std::strcmp(argv[1], \"{name}\") == 0) return main_{name}(argc, argv);\n"
        (cls.folder / "all.cpp").write_text(text + "  return 99;\n}\n")
        cls.program = cls.folder / "all"
        words = ["c++", "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", *FLAGS, f"-I{INCLUDE}", "all.cpp", str(LIBRARY), "-lfmt",
                 f"-Wl,-rpath,{LIBRARY.parent}", "-o", "all"]
        done = subprocess.run(words, cwd=cls.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def check_files(self, name, kind, folder, other):
        def names(where):
            return {p.relative_to(where): p for p in where.rglob("*") if p.is_file() and not p.name.startswith("gen'erated") and "__pycache__" not in p.parts}
        ours, theirs = names(folder), names(other)
        # External data get a fresh second name while they are replaced.
        self.assertEqual(set(ours), set(theirs), f"{name}: files of the {kind} program")
        for path in ours:
            a, b = ours[path].read_bytes(), theirs[path].read_bytes()
            if a == b or path.suffix in (".plan", ".cache") or path.name in ("t.json", "log.txt"):
                continue  # times decide what is in them
            if path.suffix == ".json":
                self.assertTrue(same_meaning(json.loads(a), json.loads(b)), f"{name}: {path} of the {kind} program")
            elif path.suffix == ".png":
                self.assertTrue(a.startswith(b"\x89PNG"))  # runners' names in it tell the time
            elif path.suffix == ".svg":
                self.assertEqual(without_times(a.decode()), without_times(b.decode()), f"{name}: {path} of the {kind} program")
            else:
                self.fail(f"{name}: {path} of the {kind} program differs")

    def check(self, name, kind, words):
        command_line, folder = self.place(name, "line"), self.place(name, kind)
        if name not in self.known:
            self.known[name] = Program(command_line, [ASSAY, "run", *self.cases[name]])
        expected, got = self.known[name], Program(folder, words)
        self.assertEqual(expected.status, cases.STATUS.get(name, 0), f"{name}: {expected}")
        self.assertEqual(got.status, expected.status, f"{name}\n{got}\ninstead of\n{expected}")
        if name not in cases.SEEN_BEFORE:
            self.assertEqual(got.out, expected.out, name)
        self.assertEqual(got.err, expected.err, name)
        self.check_files(name, kind, folder, command_line)

    known = {}

    def test_programs_equal_the_command_line(self):
        for name in self.cases:
            with self.subTest(name):
                self.check(name, "cpp", [self.program, name])

    def test_scripts_equal_the_command_line(self):
        for name in self.cases:
            with self.subTest(name):
                self.check(name, "py", [sys.executable, "-I", "gen'erated.py"])

    def test_standard_output_and_endings(self):
        folder = self.place("verdict", "endings")
        words = [ASSAY, "run", "dynamic.onnxtxt", "--ref", "--gen-script"]
        done = Program(folder, [*words, "-"])
        self.assertTrue(done.raw.startswith("#!/usr/bin/env python3\n"), done.raw)
        compile(done.raw, "script", "exec")
        for path in ["x.c", "x.hpp", "x.h"]:
            done = Program(folder, [*words, path])
            self.assertEqual(done.status, 1)
            self.assertIn(f"[!] --gen-script: the name {path} does not say what to write.", done.err)
            self.assertFalse((folder / path).exists())
        self.assertEqual(Program(folder, [*words, "dynamic.onnxtxt/x.cpp"]).status, 1)

    def test_a_program_is_replaced_and_a_script_can_be_started(self):
        folder = self.place("verdict", "again")
        for _ in range(2):
            self.assertEqual(Program(folder, [ASSAY, "run", "dynamic.onnxtxt", "--ref", "--gen-script", "again.py"]).status, 0)
        self.assertEqual(Program(folder, ["./again.py"]).status, 0)

    def test_what_contradicts_itself_is_refused_when_it_is_written(self):
        folder = self.place("verdict", "refused")
        for words, said in [(["--check-average"], "--check-average is not supported"),
                            (["--check-average", "--fail-fast", "--compare", "l2"], "--check-average cannot be combined"),
                            (["--load-inputs", "x.json", "--save-inputs", "x.json"], "overlaps the save path"),
                            (["--atol", "x"], "is not a number")]:
            done = Program(folder, [ASSAY, "run", "dynamic.onnxtxt", "--ref", *words, "--gen-script", "refused.cpp"])
            self.assertEqual(done.status, 1, said)
            self.assertIn(said, done.err)
            self.assertFalse((folder / "refused.cpp").exists())
        self.assertIn("no model file was provided", Program(folder, [ASSAY, "run", "--ref", "--gen-script", "refused.py"]).err)

    def test_the_program_in_the_documents(self):
        text = (Path(__file__).resolve().parent.parent.parent / "docs/reference/library.md").read_text()
        command = re.search(r"^assay (run .* --gen-script check\.cpp)$", text, re.MULTILINE).group(1)
        shown = next(code for code in re.findall(r"```cpp\n(.*?)```", text, re.DOTALL) if "run_main" in code)
        folder = self.place("verdict", "documents")
        shutil.copy(folder / "dynamic.onnx", folder / "model.onnx")
        self.assertEqual(Program(folder, [ASSAY, *command.split()]).status, 0)
        written = (folder / "check.cpp").read_text().replace(str(folder), "/home/me")
        self.assertTrue(re.sub(r'"/[^"]*/model.onnx"', '".../model.onnx"', written).endswith(shown), written)

    def test_a_script_says_that_the_program_is_missing(self):
        folder = self.place("verdict", "program")
        self.assertEqual(Program(folder, [ASSAY, "run", "dynamic.onnxtxt", "--ref", "--gen-script", "s.py"]).status, 0)
        done = subprocess.run([sys.executable, "s.py"], cwd=folder, env=environment() | {"ASSAY": "/nowhere/assay"}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^/nowhere/assay cannot be started: .*\n$")


if __name__ == "__main__":
    unittest.main()
