#!/usr/bin/env python3
"""Completion in the shells themselves: what Tab gives for words of assay in bash, zsh and fish.

usage: shells_test.py ASSAY
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tmux  # noqa: E402

ASSAY = pathlib.Path(sys.argv[1]).resolve()
# What is typed, and what must be offered or become of it. Options of all kinds: commands, subcommands, options, values, files.
ASKED = [
    ("assay be", ["bench"]),
    ("assay surgeon ", ["sanitize", "extract", "insert", "prune"]),
    ("assay run model.onnx --arbiter-s", ["--arbiter-samples"]),
    ("assay check lint --rules ", ["upstream"]),
    ("assay inspect model --tr", ["--trt-network-func-name"]),
    ("assay run mod", ["model.onnx"]),
]


def prepare(folder):
    (folder / "bin").mkdir()
    (folder / "bin" / "assay").symlink_to(ASSAY)
    (folder / "work").mkdir()
    (folder / "work" / "model.onnx").write_bytes(b"")
    for shell, name in (("bash", "assay"), ("zsh", "_assay"), ("fish", "assay.fish")):
        script = subprocess.run([ASSAY, "completion", shell], capture_output=True, text=True, check=True).stdout
        (folder / shell).mkdir()
        (folder / shell / name).write_text(script)


def offered_on_terminal(terminal, text, wanted):
    """What is on the screen once Tab was pressed behind `text`, for the one that completes at once and the one that lists."""
    terminal.press("C-e", "C-u", "C-l")
    terminal.type(text)
    terminal.press("Tab", "Tab")
    try:
        terminal.wait("|".join(re.escape(w) for w in wanted), seconds=10, history=False)
    except AssertionError as e:
        return str(e)
    return terminal.screen(history=False)


def bash(folder):
    with tmux.Terminal(160, command="bash --norc --noprofile", PATH=f"{folder}/bin:{os.environ['PATH']}", PS1="> ") as t:
        t.type(f"cd {folder}/work; . {folder}/bash/assay; echo is-ready")
        t.press("Enter")
        t.wait(r"\nis-ready")
        for text, wanted in ASKED:
            yield text, wanted, offered_on_terminal(t, text, wanted)


def zsh(folder):
    with tmux.Terminal(160, command="zsh -f", PATH=f"{folder}/bin:{os.environ['PATH']}", PS1="> ") as t:
        t.type(f"cd {folder}/work; fpath=({folder}/zsh $fpath); autoload -U compinit; compinit -u -d {folder}/dump; echo is-ready")
        t.press("Enter")
        t.wait(r"\nis-ready")
        for text, wanted in ASKED:
            yield text, wanted, offered_on_terminal(t, text, wanted)


def fish(folder):
    env = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")}
    for text, wanted in ASKED:
        line = f"source {folder}/fish/assay.fish; complete -C '{text}'"
        done = subprocess.run(["fish", "--no-config", "-c", line], cwd=folder / "work", env=env, capture_output=True, text=True, check=False)
        yield text, wanted, done.stdout + done.stderr


def main():
    failures, asked = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        for shell, ask, needs in (("bash", bash, "tmux"), ("zsh", zsh, "tmux"), ("fish", fish, "fish")):
            missing = [p for p in (shell, needs) if shutil.which(p) is None]
            if missing:
                print(f"skipped in part: completion in {shell}, since there is no {missing[0]}")
                continue
            for text, wanted, seen in ask(folder):
                asked += 1
                for word in wanted:
                    if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", seen.replace("'", "")):
                        failures.append(f"{shell}: '{text}' + Tab does not offer {word}:\n{seen.strip()}\n")
    print("\n".join(failures))
    print(f"{asked} question(s), {len(failures)} without the answer")
    return 77 if asked == 0 else bool(failures)


if __name__ == "__main__":
    sys.exit(main())
