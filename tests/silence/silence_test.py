#!/usr/bin/env python3
"""The library writes nothing: neither to standard output nor to standard error, whatever a program does with it.

    tests/silence/silence_test.py PROGRAM

PROGRAM is tests/silence/silent_library.cpp. That it would write if it were asked to shows that there is something to be silent about.
"""
import pathlib
import subprocess
import sys
import tempfile


def run(program, *mode):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, *mode], cwd=folder, capture_output=True, text=True)
        failures = pathlib.Path(folder, "failures.txt")
        failures = failures.read_text() if failures.exists() else ""
    assert done.returncode == 0, (mode, done.returncode, failures, done.stdout[-3000:], done.stderr[-3000:])
    return done


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    for mode in ((), ("sink",)):
        done = run(program, *mode)
        assert (done.stdout, done.stderr) == ("", ""), (mode, done.stdout[-3000:], done.stderr[-3000:])
    shown = run(program, "shown").stdout
    for line in ("Comparing Output: 'y'", "Float64 Verdict", "Saving inference results to", "FAILED | "):
        assert line in shown, (line, shown[-3000:])
    assert "--" not in "".join(shown.split("----")), "an option is named"
    print("silent")


if __name__ == "__main__":
    main()
