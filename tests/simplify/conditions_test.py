"""The conditions of passes in docs/reference/simplify.md are those that the program prints.

    conditions_test.py ASSAY DOCUMENT
"""
import subprocess
import sys


def conditions(text):
    return [line.strip() for line in text.splitlines() if line.strip().startswith("* `") and "`: " in line]


def main():
    program, document = sys.argv[1:]
    printed = subprocess.run([program, "inspect", "builder", "--conditions"], capture_output=True, text=True, check=True).stdout
    with open(document, encoding="utf-8") as f:
        written = conditions(f.read().split("## When an edit holds")[1].split("\n## ")[0])
    said = conditions(printed.split("When the edits of a pass hold")[1].split("==== Tactics")[0])
    assert said, printed
    for line in said:
        assert not line.rstrip().endswith(":"), f"{line} states no conditions"
        assert line in written, f"docs/reference/simplify.md lacks:\n{line}"
    for line in written:
        assert line in said, f"docs/reference/simplify.md has, and no pass says:\n{line}"


if __name__ == "__main__":
    main()
