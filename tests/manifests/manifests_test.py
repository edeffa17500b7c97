#!/usr/bin/env python3
"""Checks that what a file defines is listed where the program looks for it. Usage: manifests_test.py ROOT

A line of a manifest without a file does not link; a file without a line would compile and never be used.
"""
import pathlib
import re
import sys

# Type of the definition, its name, and the line of the manifest that lists it.
MANIFESTS = [
    ("OpDef", r"op_([a-z]+)_(\w+)", "src/ops/ops.def", r"ASSAY_OP\((\w+), (\w+)\)"),
    ("PassDef", r"pass_(\w+)", "src/passes/passes.def", r"ASSAY_PASS\((\w+)\)"),
    ("TacticDef", r"tactic_(\w+)", "src/engine/tactics/tactics.def", r"ASSAY_(?:NODE_)?TACTIC\((\w+)\)"),
    ("Backend", r"backend_(\w+)", "src/backends/backends.def", r"ASSAY_BACKEND\((\w+)\)"),
    ("Adapter", r"adapter_(\w+)", "src/convert/adapters.def", r"ASSAY_ADAPTER\((\w+)\)"),
    ("Expansion", r"expansion_([a-z]+)_(\w+)", "src/convert/expansions.def", r"ASSAY_EXPANSION\((\w+), (\w+)\)"),
    ("ModelTemplate", r"template_(\w+)", "src/templates/templates.def", r"ASSAY_TEMPLATE\((\w+)\)"),
]


def definitions(root, kind):
    """(file, name) of every constant of the type that other files may use. `def` has the name of its namespace."""
    pattern = re.compile(rf"^constinit const {kind}&? (\w+)", re.MULTILINE)
    namespace = re.compile(r"^namespace (?:\w+::)*(\w+) \{", re.MULTILINE)
    for file in sorted((root / "src").rglob("*.cpp")):
        text = file.read_text()
        for match in pattern.finditer(text):
            name = match.group(1)
            yield file.relative_to(root), namespace.findall(text, 0, match.start())[-1] if name == "def" else name


def unlisted(root):
    """Problems, and the number of definitions that were looked at."""
    problems, count = [], 0
    for kind, name_pattern, manifest, line_pattern in MANIFESTS:
        listed = set(re.findall("^" + line_pattern, (root / manifest).read_text(), re.MULTILINE))
        found = list(definitions(root, kind))
        if not found:
            problems.append(f"no {kind} was found under src/: the pattern of this test is out of date")
        for file, name in found:
            count += 1
            match = re.fullmatch(name_pattern, name)
            parts = match.groups() if match else ()
            if (parts if len(parts) > 1 else "".join(parts)) not in listed:
                problems.append(f"{file}: {name} is not listed in {manifest}")
    # A command is listed in commands.def or among the subcommands of another.
    text = "\n".join(f.read_text() for f in (root / "src/cli").glob("*.cpp"))
    listed = set(re.findall(r"^ASSAY_COMMAND\((\w+)\)", (root / "src/cli/commands.def").read_text(), re.MULTILINE))
    for array in re.findall(r"kSubcommands\[\] = \{(.*?)\}", text, re.DOTALL):
        listed |= set(re.findall(r"&command_(\w+)::def", array))
    for file, name in definitions(root, "Command"):
        count += 1
        if name.removeprefix("command_") not in listed:
            problems.append(f"{file}: {name} is neither in commands.def nor among any kSubcommands")
    return problems, count


def main():
    problems, count = unlisted(pathlib.Path(sys.argv[1]))
    print("\n".join(problems))
    print(f"{count} definitions checked, {len(problems)} are not listed")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
