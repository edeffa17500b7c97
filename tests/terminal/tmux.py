"""A terminal that programs run in: a session of tmux with a server of its own, whose screen can be read."""

import os
import re
import shutil
import subprocess
import tempfile
import time

IS_THERE = shutil.which("tmux") is not None


class Terminal:
    """So many columns and lines; `command` is a shell's line."""

    def __init__(self, columns, lines=50, command="bash --norc --noprofile", **env):
        self.socket = tempfile.mktemp(prefix="assay-tmux-")
        environment = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR", "COLUMNS", "LINES", "LC_ALL", "LANG", "TERM")}
        environment |= {"LANG": "C.UTF-8", "TERM": "xterm-256color", "ASSAY_EXTENSION_PATH": "", **env}
        self.environment = {k: v for k, v in environment.items() if v is not None}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(lines), command)
        self.tmux("set-option", "-g", "history-limit", "50000")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, env=self.environment, check=False)
        if os.path.exists(self.socket):
            os.remove(self.socket)

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-S", self.socket, *words], capture_output=True, text=True, encoding="utf-8", errors="surrogateescape",
                              timeout=60, env=self.environment, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"tmux {words}: {done.stderr}")
        return done.stdout

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def screen(self, joined=False, escapes=False, history=True):
        """What it shows, and what has scrolled away. `joined`: lines that the terminal has wrapped are one."""
        words = ["capture-pane", "-p", *(["-J"] if joined else []), *(["-e"] if escapes else []), *(["-S", "-"] if history else [])]
        return self.tmux(*words)

    def wait(self, pattern, seconds=30, **how):
        """The screen once it has what is waited for."""
        until = time.monotonic() + seconds
        while True:
            seen = self.screen(**how)
            if re.search(pattern, seen):
                return seen
            if time.monotonic() > until:
                raise AssertionError(f"'{pattern}' does not come:\n{seen}")
            time.sleep(0.05)

    def run(self, line, seconds=60):
        """The screen behind a shell's line that has ended, with wrapped lines as they are, and its status."""
        self.type(f"clear; tput E3 2>/dev/null; {line}; echo status-is-$?-")
        self.press("Enter")
        self.wait(r"status-is-\d+-", seconds)
        time.sleep(0.05)
        return self.screen()
