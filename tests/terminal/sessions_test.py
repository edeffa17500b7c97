#!/usr/bin/env python3
"""Sessions of the main commands in tmux: at 20, 60, 80 and 200 columns, with colours and without, in a locale without UTF-8, and piped,
no word is broken, nothing is left out, and no progress stays behind. The screens are kept as recordings.

usage: sessions_test.py ASSAY FOLDER
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tmux  # noqa: E402

ASSAY = pathlib.Path(sys.argv[1]).resolve()
RECORDINGS = pathlib.Path(sys.argv[2]).resolve()
WIDTHS = (20, 60, 80, 200)
QUICK = "--warm-up 0 --duration 0 --iterations 3"
COMMANDS = {
    "alone": "assay",
    "help": "assay check lint --help",
    "compare": "assay run --load-outputs a.json b.json --atol 0 --rtol 0",
    "verdict": "assay run deep.onnxtxt --engine --ref",
    "wrong": "assay run deep.onnxtxt --arbiter --load-inputs in.json --load-outputs wrong.json --onnx-outputs '*'",
    "bench": f"assay bench deep.onnxtxt {QUICK}",
    "profile": f"assay bench deep.onnxtxt {QUICK} --dump-profile",
    "convert": "assay convert deep.onnxtxt -o deep.plan",
    "inspect": "assay inspect model deep.onnxtxt --show layers",
    "lint": "assay check lint bad.onnxtxt --no-onnxrt",
    "sanitize": "assay surgeon sanitize deep.onnxtxt --fold-constants --simplify -o small.onnx",
    "range": "assay debug range deep.onnxtxt",
    "missing": "assay run /no/such/folder/with/a/model/in/it.onnx --engine",
    "unknown": "assay bench deep.onnxtxt --itterations 3",
    "invalid": "assay run bad.onnxtxt --ref",
}
ESCAPES = r"(?:\x1b\[[0-9;]*m)*"
# Titles that a table has only as columns; and what progress says.
UNTITLED = {"Runner", "Outputs", "Output", "Change", "Layer", "Backend"}
PROGRESS = ("timing tactics", "optimizing the network", "% of th")


def write_files():
    chain = "\n".join(f"  layer_{i + 1}_output = {'Sin' if i % 2 else 'Neg'} ({f'layer_{i}_output' if i else 'x'})" for i in range(30))
    text = f'<ir_version: 8, opset_import: ["" : 17]>\ng (float[4, 32] x) => (float[4, 32] layer_30_output) {{\n{chain}\n}}\n'
    pathlib.Path("deep.onnxtxt").write_text(text)
    pathlib.Path("changed.onnxtxt").write_text(text.replace("layer_4_output = Sin", "layer_4_output = Cos"))
    pathlib.Path("bad.onnxtxt").write_text('<ir_version: 8, opset_import: ["" : 17]>\ng (float[2] x) => (float[2] y) { y = NoSuchOperator (x) }\n')
    for words in (["run", "deep.onnxtxt", "--ref", "--onnx-outputs", "*", "--save-outputs", "a.json", "--save-inputs", "in.json"],
                  ["run", "deep.onnxtxt", "--ref", "--onnx-outputs", "*", "--seed", "2", "--save-outputs", "b.json"],
                  ["run", "changed.onnxtxt", "--ref", "--onnx-outputs", "*", "--load-inputs", "in.json", "--save-outputs", "wrong.json"]):
        subprocess.run([ASSAY, *words], check=True, capture_output=True, timeout=100)


def broken_words(line, columns):
    """Words that a terminal breaks at its edge though they had room on a line of their own, behind a hanging indent."""
    broken = []
    for edge in range(columns, len(line), columns):
        if line[edge - 1] == " " or line[edge] == " ":
            continue
        begin = line.rfind(" ", 0, edge) + 1
        end = line.find(" ", edge)
        word = line[begin:end if end >= 0 else len(line)]
        if begin % columns > max(4, columns // 3) or len(word) <= columns - max(4, columns // 3):
            broken.append(word)
    return broken


def words_of(text):
    """Without numbers, and without what times and processes are called."""
    return {w for w in re.split(r"[\s]+", text) if w and not re.search(r"\d", w)}


def piped(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=200,
                          env={**{k: v for k, v in os.environ.items() if k != "COLUMNS"}, "ASSAY_EXTENSION_PATH": "",
                               "PATH": f"bin:{os.environ['PATH']}"}, check=False)
    return done.stdout + done.stderr


class Session:
    def __init__(self, columns, name, expected, **env):
        self.columns, self.name, self.failures, self.env, self.expected = columns, name, [], env, expected

    def fail(self, command, why, screen):
        self.failures.append(f"{self.name}, '{command}': {why}\n{screen.rstrip()}\n")

    def check(self, command, screen, colored):
        lines = [line.rstrip() for line in screen.splitlines()]
        for line in lines:
            for word in broken_words(line, self.columns):
                self.fail(command, f"'{word}' is broken", "\n".join(lines))
                return
        text = "\n".join(lines)
        for left in PROGRESS:
            if left in text:
                self.fail(command, f"the progress '{left}' stays", text)
        # Of a help page at this width nothing can be compared but words; a table's titles stand elsewhere when it is a list.
        missing = words_of(self.expected[command]) - words_of(text.replace("\n", " "))
        # As a list it has no title for names, and none for columns without a cell.
        missing = {w for w in missing - UNTITLED if w.strip("|:;,.") and w.rstrip(":") + ":" not in text}
        if missing:
            self.fail(command, f"these words are cut or left out: {sorted(missing)[:6]}", text)
        wants_color = "NO_COLOR" not in self.env and bool(re.search(r"^\[[EW!]\]|RUNNING|PASSED", text, re.M))
        if wants_color != ("\x1b[" in colored):
            self.fail(command, "colours are there against NO_COLOR" if not wants_color else "there are no colours", text)
        if self.env.get("LC_ALL") == "C" and not text.isascii():
            self.fail(command, "characters that the locale does not have", text)

    @staticmethod
    def between(terminal, number, **how):
        """What the command has printed."""
        screen = terminal.screen(joined=True, **how)
        begin = [m.end() for m in re.finditer(rf"(?m)^{ESCAPES}begin-{number}-.*$\n", screen)][-1]
        return screen[begin:re.compile(rf"(?m)^{ESCAPES}end-{number}-").search(screen, begin).start()]

    def run(self):
        with tmux.Terminal(self.columns, 60, PATH=f"{os.getcwd()}/bin:{os.environ['PATH']}", PS1="> ", **self.env) as terminal:
            terminal.wait(r"\S")
            for number, (command, line) in enumerate(COMMANDS.items()):
                terminal.type(f"N={number}; clear; echo begin-$N-; {line} 2>&1; echo end-$N-$?-")
                terminal.press("Enter")
                terminal.wait(rf"(?m)^end-{number}-\d+-", 60, joined=True)
                self.check(command, self.between(terminal, number), self.between(terminal, number, escapes=True))
                folder = RECORDINGS / self.name
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{command}.txt").write_text(terminal.screen(), errors="replace")
        return self.failures


def main():
    if not tmux.IS_THERE:
        print("skipped: sessions in a terminal, since there is no tmux")
        return 77
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("bin").mkdir()
        pathlib.Path("bin/assay").symlink_to(ASSAY)
        write_files()
        expected = {command: piped(line) for command, line in COMMANDS.items()}
        for command, text in expected.items():
            if "\x1b" in text:
                failures.append(f"piped, '{command}': it has colours")
        for columns in WIDTHS:
            for name, env in ((f"{columns}", {}), (f"{columns}-no-color", {"NO_COLOR": "1"})):
                count += len(COMMANDS)
                failures += Session(columns, name, expected, **env).run()
        failures += Session(80, "80-locale-c", expected, LC_ALL="C", LANG="C").run()
    print("\n".join(failures))
    print(f"{count + len(COMMANDS)} screen(s), {len(failures)} with something broken; recordings are in {RECORDINGS}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
