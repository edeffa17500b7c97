"""Runs commands on models of n and 2n nodes and says how time and memory grow."""

import os
import pathlib
import subprocess
import time

import models

PATTERN = """name: Pair
op: Pair
inputs: [x]
outputs: [y]
nodes:
  - {op: Neg, inputs: [x], outputs: [t]}
  - {op: Abs, inputs: [t], outputs: [y]}
"""

JOINED = """name: Joined
op: Joined
inputs: [x]
outputs: [y]
nodes:
  - {op: Neg, inputs: [x], outputs: [t]}
  - {op: Abs, inputs: [x], outputs: [u]}
  - {op: Add, inputs: [t, u], outputs: [y]}
"""

# {inputs}: all of the model;
# {m}: the model; {other}: one that is a little smaller; {o}: what is written; {middle}: a tensor in the middle of chains.
COMMANDS = {
    "inspect": "inspect model {m} --show layers attrs weights",
    "statistics": "inspect model {m} --stats",
    "capability": "inspect capability {m}",
    "tactics": "inspect tactics {m}",
    "sparsity": "inspect sparsity {m}",
    "diff": "inspect diff {m} {other}",
    "lint": "check lint {m} -o {o}.json",
    "copy": "surgeon sanitize {m} -o {o}.onnx",
    "text": "surgeon sanitize {m} -o {o}.onnxtxt",
    "cleanup": "surgeon sanitize {m} --cleanup --toposort -o {o}.onnx",
    "fold": "surgeon sanitize {m} --fold-constants -o {o}.onnx",
    "simplify": "surgeon sanitize {m} --simplify -o {o}.onnx",
    "float16": "surgeon sanitize {m} --fp-to-fp16 -o {o}.onnx",
    "extract": "surgeon extract {m} --inputs {inputs} --outputs {y}:auto -o {o}.onnx",
    "extract-part": "surgeon extract {m} --inputs {middle}:auto:auto --outputs {y}:auto -o {o}.onnx",
    "insert": "surgeon insert {m} --inputs x --outputs {y} --op Relu --name new -o {o}.onnx",
    "prune": "surgeon prune {m} -o {o}.onnx",
    "weight-strip": "surgeon weight-strip {m} -o {o}.onnx",
    "up": "surgeon convert-opset {m} --to 21 -o {o}.onnx",
    "down": "surgeon convert-opset {m} --to 8 -o {o}.onnx",
    "match": "plugin match {m} --plugin-dir {plugins} -o {o}.yaml",
    "script": "template onnx-gs {m} -o {o}.cpp",
    "run-ref": "run {m} --ref",
    "run-engine": "run {m} --engine",
    "run-both": "run {m} --engine --ref",
    "run-all": "run {m} --ref --onnx-outputs mark all",
}

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


class Measurement:
    """Seconds of processor time, megabytes at the most, and how the command ended."""

    def __init__(self, seconds, megabytes, status, output):
        self.seconds, self.megabytes, self.status, self.output = seconds, megabytes, status, output


def run(program, arguments, folder, limit=600):
    """`limit`: seconds after which the command is ended; its status is then negative."""
    log = folder / "output.txt"
    with open(log, "wb") as out:
        process = subprocess.Popen([program, *arguments], cwd=folder, stdout=out, stderr=subprocess.STDOUT, env=ENVIRONMENT)
        end = time.monotonic() + limit
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid != 0:
                break
            if time.monotonic() > end:
                process.kill()
            time.sleep(0.002)
    process.returncode = os.waitstatus_to_exitcode(status)
    with open(log, "rb") as text:
        text.seek(max(0, log.stat().st_size - 600))
        tail = text.read().decode(errors="replace")
    return Measurement(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode, tail)


class Workshop:
    """Makes models in a folder and runs commands on them."""

    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), pathlib.Path(folder)
        for name, pattern in (("pair", PATTERN), ("joined", JOINED)):
            plugin = self.folder / "plugins" / name
            plugin.mkdir(parents=True)
            (plugin / "pattern.yaml").write_text(pattern)

    def model(self, case, n):
        path = self.folder / f"{case}_{n}.onnx"
        if not path.exists():
            # In a process of its own: a child's most memory counts from that of its parent when it began.
            maker = os.fork()
            if maker == 0:
                path.write_bytes(models.ALL[case](n))
                os._exit(0)
            if os.waitstatus_to_exitcode(os.waitpid(maker, 0)[1]) != 0:
                raise RuntimeError(f"{path} could not be made")
        return path.name

    @staticmethod
    def inputs(case, n):
        names = ["x"]
        if case in ("ifs", "wide_ifs", "nested"):
            names.append("condition")
        if case == "inputs":
            names += [f"x{i}" for i in range(n)]
        return " ".join(f"{name}:auto:auto" for name in names)

    def forget(self, case):
        for path in self.folder.glob(f"{case}_*"):
            path.unlink()

    def measure(self, case, command, n, limit=600):
        y = "y0" if case == "outputs" else "y"
        words = COMMANDS[command].format(
            m=self.model(case, n), inputs=self.inputs(case, n), other=self.model(case, n - n // 10) if "{other}" in COMMANDS[command] else "", o=f"{case}_out", y=y,
            middle=f"v{n // 4}", plugins="plugins")
        return run(self.program, words.split(), self.folder, limit)


