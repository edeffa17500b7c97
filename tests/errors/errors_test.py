"""Runs every case of cases.py, and a few that need more than a command line.

usage: errors_test.py BINARY UNLUCKY_CALLS_LIBRARY
"""

import glob
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cases
import fixtures
import lint_cases

TIMEOUT = 60
# Any library that says at the end of the process that it was loaded.
PLANTED_LIBRARY = os.path.abspath(sys.argv[2])


def run(binary, command, **options):
    return subprocess.run(["assay"] + shlex.split(command), executable=binary, capture_output=True, text=True,
                          timeout=TIMEOUT, **options)


def write_file(path, data):
    with open(path, "wb") as file:
        file.write(data)


def has_open(process, start):
    """Whether a process has a file open whose path begins like this; one without a name is called FOLDER/#NUMBER (deleted)."""
    for link in glob.glob(f"/proc/{process}/fd/*"):
        try:
            if os.readlink(link).startswith(start):
                return True
        except OSError:
            pass
    return False


def check_case(binary, folder, command, status, stream, message):
    """Returns what is wrong; nothing when the case holds."""
    result = run(binary, command)
    if result.returncode < 0:
        return f"died of signal {-result.returncode}\n{result.stderr}"
    if result.returncode != status:
        return f"exit code {result.returncode} instead of {status}\n{result.stderr}"
    fatal = [line for line in result.stderr.splitlines() if line.startswith("[!] ")]
    if len(set(fatal)) < len(fatal):
        return f"an error is said twice\n{result.stderr}"
    text = "\n" + getattr(result, stream).replace(folder, "$DIR") + "\n"
    # How much memory there is depends on the machine.
    text = re.sub(r"the \d+ bytes that there are", "the $BYTES bytes that there are", text)
    text = re.sub(r"but \d+ of \d+ bytes are in use", "but $USED of $BYTES bytes are in use", text)
    if "\n" + message + "\n" not in text:
        return f"{stream} lacks the message\n  {message}\nand has\n{text}"
    return None


def check_reader_that_leaves(binary, folder):
    """A closed pipe on stdout does not stop a run that saves."""
    process = subprocess.Popen([binary, *shlex.split("run identity.onnx --ref -v --iterations 300 --save-outputs piped.json")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    errors = process.stderr.read()
    status = process.wait(TIMEOUT)
    if status != 0 or not os.path.exists("piped.json"):
        return f"exit code {status}; {errors}"
    return None


def check_closed_stdout(binary, folder):
    """With stdout closed, the log does not end up in the file that is opened next."""
    status = os.spawnvp(os.P_WAIT, "sh", ["sh", "-c", f"exec '{binary}' run identity.onnx --ref --save-outputs closed.json >&-"])
    with open("closed.json") as file:
        if status != 0 or not file.read().startswith("{"):
            return f"exit code {status}, or a damaged file"
    return None


def check_full_device(binary, folder):
    """Output that does not arrive ends with a sentence and exit code 1, whatever writes it."""
    message = "[!] cannot write standard output: No space left on device"
    for command in ["run identity.onnx --ref", "inspect model identity.onnx", "inspect model identity.onnx --show text", "--help",
                    "run --help", "--version", "check lint identity.onnx --no-onnxrt", "inspect diff identity.onnx identity.onnx",
                    "template onnx-gs identity.onnx -o -", "template model --list", "inspect data name.json"]:
        with open("/dev/full", "wb") as full:
            result = subprocess.run(["assay"] + shlex.split(command), executable=binary, stdout=full, stderr=subprocess.PIPE, text=True,
                                    timeout=TIMEOUT)
        if result.returncode != 1 or message not in result.stderr:
            return f"{command}: exit code {result.returncode}\n{result.stderr}"
    result = run(binary, "run identity.onnx --ref --log-file /dev/full")
    if result.returncode != 1 or "[!] cannot write the log file /dev/full: No space left on device" not in result.stderr:
        return f"--log-file: exit code {result.returncode}\n{result.stderr}"
    return None


def check_planted_library(binary, folder):
    """ONNX Runtime and the image libraries are not taken from the current folder, whatever the lists of folders say."""
    planted = "lib/python3.11/site-packages/onnxruntime/capi"
    os.makedirs(planted)
    write_file("python3", b"")
    names = ["libonnxruntime.so", "libonnxruntime.so.1", "libturbojpeg.so.0", f"{planted}/libonnxruntime.so"]
    for name in names:
        shutil.copy(PLANTED_LIBRARY, name)
    problem = None
    for variable, value in [("PATH", ":/usr/bin"), ("PATH", ".:/usr/bin"), ("LD_LIBRARY_PATH", ":/usr/lib"), ("LD_LIBRARY_PATH", "/usr/lib:."),
                            ("VIRTUAL_ENV", "."), ("CONDA_PREFIX", "."), ("HOME", ".")]:
        environment = {k: v for k, v in os.environ.items() if k not in ("ASSAY_ONNXRUNTIME", "VIRTUAL_ENV", "CONDA_PREFIX")}
        run(binary, "run identity.onnx --onnxrt", env={**environment, variable: value, "KILL_COUNT": "was_loaded"})
        if os.path.exists("was_loaded"):
            problem = f"{variable}={value} loads a library from the current folder"
            os.unlink("was_loaded")
    for name in [*names, "python3"]:
        os.unlink(name)
    return problem


def check_planted_link(binary, folder):
    """A link with the name of a temporary file, made by somebody who knows the process's id, is not written through."""
    write_file("victim", b"precious")
    # The shell's id becomes the program's.
    script = f"ln -s victim planted.json.$$.tmp; exec '{binary}' run identity.onnx --ref --save-outputs planted.json"
    status = os.spawnvp(os.P_WAIT, "sh", ["sh", "-c", script + " >/dev/null"])
    with open("victim", "rb") as victim:
        return None if status == 0 and victim.read() == b"precious" else f"exit code {status}, or the link's target was written"


def check_interrupt(binary, folder):
    """An interrupt while a file is being written leaves neither the file nor a part of it."""
    command = "run dynamic.onnx --ref --input-shapes x:[20000000,2] --save-outputs big.json"
    process = subprocess.Popen([binary, *shlex.split(command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + TIMEOUT
    # The file has no name yet, but the process has it open.
    while process.poll() is None and time.monotonic() < deadline and not has_open(process.pid, os.path.join(folder, "#")):
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    status = process.wait(TIMEOUT)
    left = glob.glob("big.json*") + glob.glob("assay-*")
    if status != -signal.SIGINT or left:
        return f"status {status}, left behind: {left}"
    return None


def least_time(commands):
    """For each command the least processor time of 200 runs, in turns; seconds."""
    best = [1.0] * len(commands)
    for _ in range(200):
        for i, command in enumerate(commands):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            used = os.wait4(process.pid, 0)[2]
            process.returncode = 0
            best[i] = min(best[i], used.ru_utime + used.ru_stime)
    return best


def check_version_speed(binary, folder):
    """--version takes at most 5 ms of processor time, or ten times what the least program takes where starting one is slow:
    the best of many at several times, as another program on the same core doubles it."""
    best = least = 1.0
    for attempt in range(4):
        time.sleep(10 if attempt > 0 else 0)
        now, now_least = least_time([[binary, "--version"], ["true"]])
        best, least = min(best, now), min(least, now_least)
        if best < max(0.005, 10 * least):
            return None
    return f"{best * 1000:.1f} ms at best, the least program {least * 1000:.1f} ms"


def check_names(binary, folder):
    """The name it is started under decides how it names itself; --help and --version succeed."""
    answers = {
        "assay": f"assay {run(binary, '--version').stdout.split()[-1]}\n",
        "polygraphy": f"Polygraphy | Version: 0.53.6 | Path: ['{os.path.dirname(binary)}']\n",
    }
    for name, answer in answers.items():
        for option in ["-v", "--version"]:
            result = subprocess.run([name, option], executable=binary, capture_output=True, text=True)
            if result.returncode != 0 or result.stdout != answer:
                return f"{name} {option}: {result.returncode} {result.stdout}"
        for command in ["--help", "run --help", "template -h", "template model --help", "inspect -h", "inspect model -h", "inspect diff -h"]:
            result = subprocess.run([name, *command.split()], executable=binary, capture_output=True, text=True)
            if result.returncode != 0 or not result.stdout.startswith(f"usage: {name} ") or result.stderr:
                return f"{name} {command}: {result.returncode} {result.stdout} {result.stderr}"
    return None


def check_flipped_bytes(binary, folder):
    """Models with a wrong byte are shown or refused with a sentence; nothing crashes."""
    chance = random.Random(7)
    with open("typed.onnx", "rb") as file:
        good = file.read()
    for _ in range(60):
        bad = bytearray(good)
        bad[chance.randrange(len(bad))] = chance.randrange(256)
        with open("flipped.onnx", "wb") as file:
            file.write(bad)
        for command in ["inspect model flipped.onnx --show layers attrs weights --stats", "inspect sparsity flipped.onnx",
                        "inspect diff typed.onnx flipped.onnx"]:
            result = run(binary, command, errors="replace")
            if result.returncode not in (0, 1, 2) or "Internal error" in result.stderr or (result.returncode == 2 and not result.stderr):
                return f"{command}: exit code {result.returncode}\n{bytes(bad)}\n{result.stderr}"
    return None


def check_names_act_on_nothing(binary, folder):
    """Names of a model that clear terminals and look like lines of the log are shown as text, by every command."""
    for command in ["inspect model escapes.onnx --show text", "inspect model escapes.onnx --show layers attrs weights --stats",
                    "inspect sparsity escapes.onnx", "inspect diff escapes.onnx identity.onnx", "check lint escapes.onnx --no-onnxrt",
                    "run escapes.onnx --ref -vvv", "run escapes.onnx --ref --onnx-outputs nowhere",
                    "surgeon extract escapes.onnx --outputs nowhere:auto -o out.onnx", "surgeon sanitize escapes.onnx --cleanup -o out.onnx -v",
                    "surgeon convert-opset escapes.onnx --to 1 -o out.onnx"]:
        result = subprocess.run(["assay"] + shlex.split(command), executable=binary, capture_output=True, timeout=TIMEOUT)
        for text in (result.stdout.decode(), result.stderr.decode()):
            acting = [c for c in text if c != "\n" and c != "\t" and (ord(c) < 32 or 127 <= ord(c) < 160 or 0x202A <= ord(c) <= 0x202E)]
            if acting or any(line.startswith("[I] PASSED") and "Runtime" not in line for line in text.split("\n")):
                return f"{command}: {acting}\n{text}"
    return None


def check_data_of_another(binary, folder):
    """A model beside data that were written with another is refused; with its own, it runs."""
    with open("typed.onnx", "rb") as file:
        typed = file.read()
    fixtures.write("typed_other.onnx", typed.replace(fixtures.struct.pack("<4f", 1, 0, 0, 2), fixtures.struct.pack("<4f", 3, 0, 0, 4)))

    def assay(*words):
        return subprocess.run(["assay", *words], executable=binary, capture_output=True, text=True, timeout=TIMEOUT)

    for model in ("typed", "typed_other"):
        os.mkdir(f"of_{model}")
        assay("surgeon", "sanitize", f"{model}.onnx", "-o", f"of_{model}/m.onnx", "--save-external-data", "m.bin",
              "--external-data-size-threshold", "0")
    if (result := assay("run", "of_typed/m.onnx", "--ref")).returncode != 0:
        return result.stderr
    shutil.copy("of_typed_other/m.bin", "of_typed/m.bin")
    result = assay("run", "of_typed/m.onnx", "--ref")
    if result.returncode != 1 or "m.bin are those of another model: they have the checksum" not in result.stderr:
        return f"exit code {result.returncode}\n{result.stderr}"
    return None


def check_patterns(binary, folder):
    """Lines with times and names of runners in them."""
    for command, status, pattern in cases.PATTERNS:
        result = run(binary, command)
        if result.returncode != status or not re.search(pattern, result.stdout, re.MULTILINE):
            return f"{command}: exit code {result.returncode}, no line fits {pattern}\n{result.stdout}{result.stderr}"
    return None


def check_lint(binary, folder):
    """check lint finds all that is wrong with each model of lint_cases.py, and nothing else."""
    for name, (text, status, expected) in lint_cases.CASES.items():
        with open("lint.onnxtxt", "w") as file:
            file.write(text)
        result = run(binary, "check lint lint.onnxtxt --no-onnxrt")
        found = [line[1] + " " + line.split("LINT | ", 1)[1] for line in result.stdout.splitlines() if "] LINT | " in line]
        if result.returncode != status or found != expected:
            return f"{name}: exit code {result.returncode}, found {found}\n{result.stderr}"
    return None


CHECKS = [check_data_of_another, check_lint, check_patterns, check_names_act_on_nothing, check_names, check_flipped_bytes, check_reader_that_leaves,
          check_closed_stdout, check_full_device, check_planted_library, check_planted_link, check_interrupt, check_version_speed]


def main():
    binary = os.path.abspath(sys.argv[1])
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        os.chdir(folder)
        fixtures.write_all()
        for case in cases.CASES:
            if problem := check_case(binary, folder, *case):
                failures.append(f"assay {case[0]}\n{problem}")
        for check in CHECKS:
            if problem := check(binary, folder):
                failures.append(f"{check.__name__}\n{problem}")
        os.chdir("/")
    for failure in failures:
        print(f"FAILED  {failure}\n")
    print(f"{len(cases.CASES) + len(CHECKS) - len(failures)} cases hold, {len(failures)} do not")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
