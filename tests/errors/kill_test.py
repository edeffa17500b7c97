"""Every command that writes files is killed (SIGKILL) again and again: what it was to replace is old or new and whole, a model
never stands beside data of another, and after the next run nothing is left of what the dead one had begun.

usage: kill_test.py BINARY UNLUCKY_CALLS_LIBRARY [--kills N]

Without --kills, each command is killed once at every call that names, renames or removes a file, also with the ways that lesser
file systems leave; with it, N times in all: at those, at every other call that opens, reads or writes, and at random times.
"""

import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import fixtures
import matrix
from matrix_test import content

TIMEOUT = 60
TEMPORARY = re.compile(r"assay-[0-9a-f]{8}-[0-9a-f]{16}-[0-9a-f]{16}-[0-9a-f]{8}\.(tmp|data)")
ENVIRONMENTS = {"": {}, "no nameless files": {"NO_TMPFILE": "1"}, "no second names": {"NO_TMPFILE": "1", "NO_LINKS": "1"}}
SUFFIXES = {"run --save-inputs": ".json", "run --save-outputs": ".json", "inspect model --json": ".json", "inspect diff --json": ".json",
            "check lint": ".json", "plugin match": ".yaml", "data to-input": ".json", "data merge": ".json", "data concat": ".json", "template trt-network": ".py",
            "run --gen-script": ".py", "template trt-config": ".py", "template onnx-gs": ".py", "template shard-hints": ".json"}


class Job:
    """A command that writes into the folder `place`, beside which its inputs lie."""

    def __init__(self, name, command, binary, library):
        self.name, self.command, self.binary = name, command, binary
        self.environment = {**os.environ, "LD_PRELOAD": library, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        self.old = self.run_in("old", other_weights=True)
        self.new = self.run_in("new")

    def start(self, **more):
        return subprocess.Popen(["assay", *shlex.split(self.command)], executable=self.binary, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, errors="replace", env={**self.environment, **more})

    def run(self, **more):
        process = self.start(**more)
        _, err = process.communicate(timeout=TIMEOUT)
        return process.returncode, err

    def run_in(self, folder, other_weights=False):
        """What the command writes where there was nothing, kept in a folder of that name."""
        shutil.rmtree("place", ignore_errors=True)
        os.mkdir("place")
        if other_weights:
            os.rename("typed.onnx", "typed.onnx.kept")
            shutil.copy("typed_other.onnx", "typed.onnx")
        status, err = self.run()
        if other_weights:
            os.replace("typed.onnx.kept", "typed.onnx")
        if status not in (0, 1):
            raise RuntimeError(f"{self.command}: exit status {status}\n{err}")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree("place", folder)
        return files_of("place")

    def calls(self, **more):
        self.put_old()
        self.run(KILL_COUNT="count", **more)
        return int(pathlib.Path("count").read_text())

    def put_old(self):
        shutil.rmtree("place", ignore_errors=True)
        shutil.copytree("old", "place")

    def is_whole(self):
        """What is wrong with what a killed run left."""
        now = files_of("place")
        for name in {*self.old, *self.new, *now}:
            if TEMPORARY.fullmatch(os.path.basename(name)) or self.is_data(name):
                continue
            if name.endswith((".onnx", ".onnxtxt")) and name in now:
                if not self.is_model(name):
                    return f"{name} is neither the old model nor the new one"
            elif now.get(name) not in (self.old.get(name), self.new.get(name)):
                return f"{name} is neither old nor new"
        return None

    def is_data(self, name):
        """Whether loading the model says whether the file is right."""
        return "--save-external-data" in self.command and not name.endswith((".onnx", ".onnxtxt"))

    def is_model(self, name):
        def same(folder):
            other = os.path.join(folder, name)
            mine = os.path.join("place", name)
            if not os.path.exists(other):
                return False
            # Models whose weights were stripped are not read by inspect diff.
            if pathlib.Path(mine).read_bytes() == pathlib.Path(other).read_bytes():
                return True
            return subprocess.run(["assay", "inspect", "diff", mine, other], executable=self.binary, capture_output=True).returncode == 0

        return same("old") or same("new")

    def kill(self, after=None, **more):
        """Kills one run, at a call or after some seconds, and lets one succeed after it."""
        self.put_old()
        process = self.start(**more)
        if after is not None:
            try:
                process.wait(after)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        process.communicate(timeout=TIMEOUT)
        was_killed = process.returncode == -signal.SIGKILL
        if problem := self.is_whole():
            return was_killed, problem
        more = {key: value for key, value in more.items() if key.startswith("NO_")}
        status, err = self.run(**more)
        if status not in (0, 1):
            return was_killed, f"the next run ends with {status}\n{err}"
        now = files_of("place")
        if sorted(now) != sorted(self.new):
            return was_killed, f"after the next run there are {sorted(now)}; there should be {sorted(self.new)}\n{err}"
        if wrong := [name for name in now if now[name] != self.new[name]]:
            return was_killed, f"after the next run {wrong} are not what they should be\n{err}"
        return was_killed, None


def files_of(folder):
    return {str(p.relative_to(folder)): content(p) for p in pathlib.Path(folder).rglob("*") if p.is_file()}


def commands():
    """Every command that writes, with data of its own where it takes the option, in one file and in many."""
    for name, writer in matrix.WRITERS.items():
        out = "place" if name in matrix.FOLDER_FILES else "place/written" + SUFFIXES.get(name, ".onnx")
        command = writer.command.format(out)
        yield name, command
        if writer.data:
            yield f"{name}, data", command + writer.data
    data = "surgeon sanitize typed.onnx --cleanup -o place/written.onnx" + matrix.EXTERNAL
    yield "surgeon sanitize, data in a folder", data.replace("data.bin", "folder/data.bin")
    yield "surgeon sanitize, many data files", data + " --no-save-all-tensors-to-one-file"
    yield "surgeon sanitize, text", data.replace("written.onnx", "written.onnxtxt")


def write_inputs():
    fixtures.write_all()
    with open("typed.onnx", "rb") as file:
        typed = file.read()
    weights = fixtures.struct.pack("<4f", 1, 0, 0, 2)
    fixtures.write("typed_other.onnx", typed.replace(weights, fixtures.struct.pack("<4f", 3, 0, 0, 4)))


def kills_of(job, wanted, chance):
    """(what is done, how) for each kill of a command."""
    if wanted is None:
        for label, environment in ENVIRONMENTS.items():
            if label and "data" not in job.name:
                continue
            for at in range(1, job.calls(**environment) + 1):
                yield f"call {at} {label}", {"KILL_AT": str(at), **environment}
        return
    start = time.monotonic()
    job.put_old()
    job.run()
    seconds = time.monotonic() - start
    for number in range(wanted):
        environment = ENVIRONMENTS[chance.choice(list(ENVIRONMENTS))]
        which = "all" if number % 3 == 0 else "names"
        if number % 3 == 2:
            yield "at a random time", {"after": chance.uniform(0, seconds), **environment}
        else:
            at = chance.randrange(1, job.calls(KILL_CALLS=which, **environment) + 1)
            yield f"call {at} of {which}", {"KILL_AT": str(at), "KILL_CALLS": which, **environment}


def main():
    binary, library = map(os.path.abspath, sys.argv[1:3])
    wanted = int(sys.argv[4]) if sys.argv[3:4] == ["--kills"] else None
    chance, failures, runs, kills = random.Random(3), [], 0, 0
    # In memory, where nobody waits for a disk; the long test is for those.
    memory = "/dev/shm" if wanted is None and os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        os.chdir(os.path.realpath(folder))
        write_inputs()
        jobs = list(commands())
        for number, (name, command) in enumerate(jobs):
            job = Job(name, command, binary, library)
            share = None if wanted is None else wanted // len(jobs) + (number < wanted % len(jobs))
            for label, how in kills_of(job, share, chance):
                was_killed, problem = job.kill(**how)
                runs, kills = runs + 1, kills + was_killed
                if problem:
                    failures.append(f"{name} | {label} | {command}\n{problem}")
        os.chdir("/")
    for failure in failures:
        print(f"FAILED  {failure}\n")
    print(f"{len(jobs)} commands, {runs} attempts, {kills} killed, {len(failures)} failures")
    return 1 if failures or kills < runs // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
