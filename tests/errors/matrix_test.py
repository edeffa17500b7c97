"""Every subcommand against every kind of bad file and of bad luck while writing (matrix.py).

usage: matrix_test.py BINARY PAUSE_AT_FSYNC_LIBRARY

Prints two tables, subcommands by kinds. Fails for a cell that does not hold, and for a subcommand or a cell that matrix.py does not
speak of.
"""

import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

import fixtures
import matrix

TIMEOUT = 60
NOBODY = 65534
OLD = b"what was there before\n"


class Program:
    def __init__(self, binary, library, folder):
        self.binary, self.library, self.folder = binary, library, folder
        self.environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

    def start(self, command, before=None, **environment):
        return subprocess.Popen(["assay", *shlex.split(command)], executable=self.binary, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, errors="replace", preexec_fn=before, env={**self.environment, **environment})

    def run(self, command, before=None):
        """Exit status, stdout, stderr."""
        process = self.start(command, before)
        out, err = process.communicate(timeout=TIMEOUT)
        return process.returncode, out, err

    def paused(self, command, at=1):
        """A process that waits in its at-th fsync; None when it ended before."""
        pathlib.Path("pause.hold").touch()
        process = self.start(command, LD_PRELOAD=self.library, PAUSE_FILE=os.path.join(self.folder, "pause"), PAUSE_AT=str(at))
        marker, deadline = pathlib.Path(f"pause.{process.pid}"), time.monotonic() + TIMEOUT
        while process.poll() is None and not marker.exists() and time.monotonic() < deadline:
            time.sleep(0.002)
        if marker.exists():
            marker.unlink()
            return process
        process.communicate()
        return None

    def unprivileged(self):
        """What to call in the child so that permissions count; None when nobody else can start the program."""
        if os.geteuid() != 0:
            return lambda: None
        drop = lambda: os.setuid(NOBODY)  # noqa: E731
        for binary in (self.binary, shutil.copy(self.binary, "assay_copy")):
            try:
                if subprocess.run([binary, "--version"], preexec_fn=drop, capture_output=True).returncode == 0:
                    self.binary = os.path.abspath(binary)
                    return drop
            except OSError:
                pass
        return None


def snapshot(folder="."):
    return {str(p): p.read_bytes() if p.is_file() and os.access(p, os.R_OK) else None for p in pathlib.Path(folder).rglob("*")}


def content(path):
    """What a file holds, without what is another in every run: names of runners with the time, and how long they took."""
    return re.sub(rb'-N\d+-[\d/]+-[\d:]+|"runtime": [^,\n]+', b"", pathlib.Path(path).read_bytes())


def subcommands(program):
    """Every command that has no commands of its own, as the help pages tell."""
    found = []
    for group in re.findall(r"^  (\w[\w-]*) ", commands_part(program.run("--help")[1]), re.M):
        inner = re.findall(r"^  (\w[\w-]*) ", commands_part(program.run(f"{group} --help")[1]), re.M)
        found += [f"{group} {name}" for name in inner] or [group]
    return found


def commands_part(text):
    match = re.search(r"^Commands\n(.*?)\n\n", text, re.M | re.S)
    return match.group(1) if match else ""


def put_at(place, name):
    """A case's file, with the files of data beside it, in another folder."""
    folder = os.path.dirname(place)
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for data in ("short.bin", "link.bin"):
        shutil.copy(data, folder, follow_symlinks=False)
    os.mkfifo(os.path.join(folder, "pipe.bin"))
    os.mkdir(os.path.join(folder, "folder.bin"))
    shutil.copy("second_name", folder)
    os.link(os.path.join(folder, "second_name"), os.path.join(folder, "hard.bin"))
    if os.path.islink(name):
        os.symlink(os.readlink(name), place)
    elif os.path.exists(name) and stat.S_ISFIFO(os.stat(name).st_mode):
        os.mkfifo(place)
    elif os.path.isdir(name):
        os.mkdir(place)
    elif os.path.exists(name):
        mode = os.stat(name).st_mode
        os.chmod(name, 0o600)
        shutil.copyfile(name, place)
        for path in (name, place):
            os.chmod(path, mode)


def read_cell(program, reader, kind, name, phrases, before):
    """What is wrong; nothing when the case holds."""
    phrases = phrases if isinstance(phrases, tuple) else (phrases,)
    start = reader.findings.get(kind)
    if reader.place:
        phrases = tuple(p.replace(name, os.path.basename(reader.place)) for p in phrases)
        put_at(reader.place, name)
        name = os.path.basename(reader.place)
    there = snapshot()
    status, out, err = program.run(reader.command.format(name), before)
    text = out if start else err
    lines = [line for line in text.splitlines() if line.startswith(start or "[!] ")]
    if status != reader.status:
        return f"exit status {status}\n{err}"
    if start and reader.output:
        pathlib.Path(reader.output).unlink(missing_ok=True)
    if snapshot() != there:
        return f"it wrote {sorted(set(snapshot()) ^ set(there))}"
    if start and not reader.place:
        return None if lines else f"no finding\n{out}"
    if len(lines) != 1 or "Internal" in text:
        return f"{len(lines)} messages\n{err}"
    if not any(p in lines[0] for p in phrases) or name not in lines[0]:
        return f"another message: {lines[0]}"
    return None


def check_readers(program, table):
    before = program.unprivileged()
    os.mkdir("folder.onnx")
    shutil.copy("identity.onnx", "unreadable.onnx")
    os.chmod("unreadable.onnx", 0)
    os.chmod(".", 0o777)  # so that what is written is no reason to stop
    for name in subcommands(program):
        if name not in matrix.READERS and name not in matrix.NO_READERS:
            table.fail(name, "*", "matrix.py does not say whether it reads models")
        for kind, files in matrix.FILES.items():
            if (name, kind) in matrix.NO_CASES or name in matrix.NO_READERS:
                table.leave_out(name, kind, matrix.NO_CASES.get((name, kind)) or matrix.NO_READERS[name])
                continue
            if kind == "unreadable" and before is None:
                table.leave_out(name, kind, "only the superuser can start this program")
                continue
            for reader in matrix.READERS.get(name, []):
                for file, phrases in files.items():
                    table.add(name, kind, read_cell(program, reader, kind, file, phrases, before if kind == "unreadable" else None))


class WriteCells:
    """The kinds of bad luck for one writer. Each returns what is wrong."""

    def __init__(self, program, name, writer, before):
        self.program, self.name, self.writer, self.before = program, name, writer, before
        self.file = matrix.FOLDER_FILES.get(name)  # in the folder that -o names
        suffix = next((s for s, words in matrix.SUFFIXES.items() if any(w in writer.command for w in words)), ".onnx")
        self.out = "written" if self.file else f"written{suffix}"

    def path(self, out=None):
        out = out or self.out
        return pathlib.Path(out, self.file) if self.file else pathlib.Path(out)

    def put_old(self):
        self.path().parent.mkdir(exist_ok=True)
        self.path().write_bytes(OLD)

    def clear(self):
        for path in [p for pattern in ("written*", "pause*", "data.bin*") for p in pathlib.Path(".").glob(pattern)]:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def refusal(self, command, words, before=None):
        there = snapshot()
        status, _, err = self.program.run(command, before)
        lines = [line for line in err.splitlines() if line.startswith("[!] ")]
        if status not in (1, 2) or len(lines) != 1 or not re.search(words, lines[0]):
            return f"exit status {status}\n{err}"
        return None if snapshot() == there else f"it wrote {sorted(set(snapshot()) ^ set(there))}"

    def read_only_folder(self):
        words = r"cannot (write|create the folder) read_only.*: Permission denied"
        return self.refusal(self.writer.command.format("read_only/" + self.out), words, self.before)

    def full_disk(self):
        if self.file:
            os.mkdir(self.out)
            os.symlink("/dev/full", self.path())
            return self.refusal(self.writer.command.format(self.out), r"cannot write .*: No space left on device")
        return self.refusal(self.writer.command.format("/dev/full"), r"cannot write /dev/full: No space left on device")

    def file_limit(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))  # noqa: E731
        if self.writer.data:
            self.program.run(f"surgeon sanitize typed.onnx --fold-constants -o {self.out}{self.writer.data}")
            command = self.writer.command.format(self.out) + self.writer.data
            if problem := self.refusal(command, r"cannot write data.bin: File too large", limit):
                return f"with external data: {problem}"
            self.clear()
        self.put_old()
        return self.refusal(self.writer.command.format(self.out), r"cannot write .*: File too large", limit)

    def ended(self, number):
        """Ended in the middle of writing: the old files are whole; without temporaries where the signal can be caught."""
        if self.writer.data and (problem := self.ended_with_data(number)):
            return problem
        self.clear()
        self.put_old()
        return self.end_one(self.writer.command.format(self.out), number, 1)

    def end_one(self, command, number, at):
        there = snapshot()
        process = self.program.paused(command, at)
        if process is None:
            return f"it ended before its fsync number {at}"
        process.send_signal(number)
        process.communicate(timeout=TIMEOUT)
        os.unlink("pause.hold")
        now = snapshot()
        if process.returncode != -number:
            return f"status {process.returncode} instead of a death by signal {number}"
        if number == signal.SIGKILL:
            now = {p: c for p, c in now.items() if not os.path.basename(p).startswith("assay-")}
        return None if now == there else f"files differ: {[p for p in {*now, *there} if now.get(p, 1) != there.get(p, 1)]}"

    def ended_with_data(self, number):
        """The same with external data beside the model: at the data file, and at both forms of the model."""
        for at in (1, 2, 3):
            self.clear()
            status, _, err = self.program.run("surgeon sanitize typed.onnx --fold-constants -o " + self.out + self.writer.data)
            if status != 0:
                return f"no old model: {err}"
            problem = self.end_one(self.writer.command.format(self.out) + self.writer.data, number, at)
            if problem:
                return f"with external data, fsync {at}: {problem}"
        return None

    def both(self, commands, files):
        """Two processes that write at once: the files are those of the one or of the other."""
        possible = []
        for command in commands:
            self.clear()
            status, _, err = self.program.run(command)
            if status != 0:
                return err
            if missing := [f for f in files if not pathlib.Path(f).exists()]:
                return f"{command} writes no {missing}"
            possible.append([content(f) for f in files])
        self.clear()
        if "{" not in self.writer.command.format(""):
            self.path().parent.mkdir(exist_ok=True)
        processes = [self.program.paused(c) for c in commands]
        if None in processes:
            return "it ended before its fsync"
        os.unlink("pause.hold")
        ends = [(p.communicate(timeout=TIMEOUT), p.returncode) for p in processes]
        if any(status != 0 for _, status in ends):
            return f"one failed: {ends}"
        if [content(f) for f in files] not in possible:
            return "the files are of neither"
        left = list(pathlib.Path(".").rglob("assay-*"))
        return f"left behind: {left}" if left else None

    def two_at_once(self):
        command = self.writer.command.format(self.out)
        if self.writer.data:
            # Two that write different models under one name.
            commands = [command + self.writer.data, "surgeon sanitize typed.onnx --fold-constants -o " + self.out + self.writer.data]
            if problem := self.both(commands, [self.out, "data.bin"]):
                return f"with external data: {problem}"
        return self.both([command, command], [self.path()])

    def same_path(self):
        """Output and input are one file: what comes out is what comes out elsewhere."""
        for data in [""] + ([self.writer.data] if self.writer.data else []):
            self.clear()
            source = self.writer.source
            if load := re.search(r"--load-(inputs|outputs)", self.writer.in_place):
                self.program.run(f"run {source} --ref --save-{load.group(1)} {self.out}")
            elif data:
                self.program.run(f"surgeon sanitize {source} --toposort -o {self.out}{data}")
            else:
                shutil.copy(source, self.out)
            words = self.writer.in_place
            elsewhere = "written_elsewhere" + pathlib.Path(self.out).suffix
            first, second = words.split("{}", 1)
            other = (first + self.out + second).format(elsewhere)
            here = (first + self.out + second).format(self.out) + data
            status, _, err = self.program.run(other)
            if status != 0:
                return f"elsewhere: {err}"
            status, _, err = self.program.run(here)
            if status != 0:
                return f"exit status {status}\n{err}"
            if data:
                # The same model, with its weights in another place.
                status, out, err = self.program.run(f"inspect diff {self.out} {elsewhere}")
                if status != 0:
                    return f"with external data: {out}{err}"
            elif content(self.out) != content(elsewhere):
                return "another file than elsewhere"
        return None

    def new_folder(self):
        out = f"written_folder/deep/{self.out}"
        status, _, err = self.program.run(self.writer.command.format(out))
        return None if status == 0 and self.path(out).stat().st_size > 0 else f"exit status {status}\n{err}"


KINDS = {
    "read-only folder": WriteCells.read_only_folder,
    "full disk": WriteCells.full_disk,
    "file limit": WriteCells.file_limit,
    "SIGTERM": lambda cells: cells.ended(signal.SIGTERM),
    "SIGKILL": lambda cells: cells.ended(signal.SIGKILL),
    "two at once": WriteCells.two_at_once,
    "output is input": WriteCells.same_path,
    "new folder": WriteCells.new_folder,
}


def check_writers(program, table):
    before = program.unprivileged()
    known = set(matrix.NO_WRITERS) | set(matrix.WRITERS)
    for name in subcommands(program):
        if not any(k == name or k.startswith(name + " --") for k in known):
            table.fail(name, "*", "matrix.py does not say whether it writes files")
    for name, writer in matrix.WRITERS.items():
        for kind, check in KINDS.items():
            cells = WriteCells(program, name, writer, before)
            if kind == "output is input" and not writer.in_place:
                table.leave_out(name, kind, "it reads no file of the kind that it writes")
                continue
            if kind == "read-only folder" and before is None:
                table.leave_out(name, kind, "only the superuser can start this program")
                continue
            table.add(name, kind, check(cells))
            cells.clear()


class Table:
    def __init__(self, title, kinds):
        self.title, self.kinds, self.cells, self.failures, self.reasons = title, list(kinds), {}, [], {}

    def fail(self, name, kind, problem):
        self.failures.append(f"{name} | {kind}: {problem}")

    def add(self, name, kind, problem):
        done, _ = self.cells.get((name, kind), (0, None))
        self.cells[name, kind] = (done + 1, problem or self.cells.get((name, kind), (0, None))[1])
        if problem:
            self.fail(name, kind, problem)

    def leave_out(self, name, kind, reason):
        self.reasons.setdefault(reason, len(self.reasons) + 1)
        self.cells[name, kind] = (0, f"[{self.reasons[reason]}]")

    def finish(self):
        names = list(dict.fromkeys(name for name, _ in self.cells))
        width = max(map(len, names))
        print(f"\n{self.title}\n{'':{width}}  " + "  ".join(self.kinds))
        for name in names:
            row = []
            for kind in self.kinds:
                done, said = self.cells.get((name, kind), (0, None))
                if done == 0 and said is None:
                    self.fail(name, kind, "no case, and no reason why not")
                text = said if done == 0 and said else "FAILED" if said else f"ok ({done})"
                row.append(f"{text:{len(kind)}}")
            print(f"{name:{width}}  " + "  ".join(row))
        for reason, number in self.reasons.items():
            print(f"[{number}] {reason}")
        for failure in self.failures:
            print(f"\nFAILED  {failure}")
        return len(self.failures)


def main():
    binary, library = map(os.path.abspath, sys.argv[1:3])
    readers, writers = Table("Readers of models", matrix.FILES), Table("Writers", KINDS)
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        os.chdir(folder)
        os.chmod(folder, 0o755)
        fixtures.write_all()
        program = Program(binary, library, folder)
        check_readers(program, readers)
        check_writers(program, writers)
        os.chdir("/")
    return 1 if readers.finish() + writers.finish() else 0


if __name__ == "__main__":
    sys.exit(main())
