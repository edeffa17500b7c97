#!/usr/bin/env python3
"""Counts what makes the source hard to change, and fails where there is more of it than tests/house/budget.txt allows.

    tests/house/house_test.py ROOT [--show]

A figure that has become smaller is a failure, too: write the new one into the budget, so that it stays.
"""
import collections
import pathlib
import re
import sys


def sources(root):
    return [f for f in sorted((root / "src").rglob("*")) if f.suffix in (".cpp", ".h") and "_test" not in f.stem]


def stem(path):
    """A header and its source are one file to a reader."""
    return str(path.with_suffix(""))


def strongly_connected(graph):
    """Tarjan's algorithm, without recursion."""
    index, low, on_stack, stack, found, counter = {}, {}, set(), [], [], 0
    for start in graph:
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = counter
        counter += 1
        stack.append(start)
        on_stack.add(start)
        while work:
            node, edges = work[-1]
            for to in edges:
                if to not in index:
                    index[to] = low[to] = counter
                    counter += 1
                    stack.append(to)
                    on_stack.add(to)
                    work.append((to, iter(sorted(graph.get(to, ())))))
                    break
                if to in on_stack:
                    low[node] = min(low[node], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.remove(member)
                        component.append(member)
                        if member == node:
                            break
                    found.append(component)
    return [c for c in found if len(c) > 1]


def include_cycles(root, files):
    """Groups of header and source pairs that include each other in a circle."""
    graph = collections.defaultdict(set)
    public = {}
    for file in files:   # a public header's source has its name
        header = f"assay/{file.stem}.h"
        if file.suffix == ".cpp" and f'#include "{header}"' in file.read_text():
            public.setdefault(header, stem(file.relative_to(root / "src")))
    for file in files:
        own = stem(file.relative_to(root / "src"))
        for target in re.findall(r'^#include "([^"]+)"', file.read_text(), re.M):
            to = public.get(target) if target.startswith("assay/") else stem(pathlib.Path(target))
            if to and to != own:
                graph[own].add(to)
                graph[to]
    return [" ".join(sorted(c)) for c in strongly_connected(graph)]


def operator_names(root):
    return {name for f in (root / "src/ops").rglob("*.cpp") for name in re.findall(r'\.name = "(\w+)"', f.read_text())}


# Between the names of a list there is punctuation, and what belongs to each name.
BETWEEN = r'(?:[\s{},]|//[^\n]*\n|[&:\w.]+::\w+|k\w+|0x\w+|\d+)*'


def operator_lists(root, files):
    """Lists of three operators' names or more outside of the operators."""
    names = operator_names(root)
    pattern = re.compile(rf'"\w+"{BETWEEN}(?:"\w+"{BETWEEN}){{2,}}')
    for file in files:
        path = file.relative_to(root)
        if path.parts[1] == "ops":
            continue
        text = file.read_text()
        for match in pattern.finditer(text):
            listed = [n for n in re.findall(r'"(\w+)"', match.group()) if n in names]
            if len(listed) >= 3:
                yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {' '.join(listed[:6])}"


def lines_with(root, files, pattern, skip=()):
    for file in files:
        path = file.relative_to(root)
        if str(path).startswith(skip):
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if re.search(pattern, line):
                yield f"{path}:{number}: {line.strip()}"


def untested_tactics(root):
    """Tactics without a test beside them."""
    manifest = (root / "src/engine/tactics/tactics.def").read_text()
    for name in re.findall(r"^ASSAY_(?:NODE_)?TACTIC\((\w+)\)", manifest, re.M):
        if not list((root / "src/engine/tactics").rglob(f"{name}_test.cpp")):
            yield name


def misplaced_excuses(root):
    """Names that only one of the verdict's list of excuses and the tables of their sources has."""
    listed = set(re.findall(r'^ASSAY_EXCUSE\(\w+, "([\w-]+)"', (root / "src/arbiter/excuses.def").read_text(), re.M))
    page = (root / "docs/internals/numerics.md").read_text()
    tables = page[page.index("### What excuses a result"):page.index("## 4. ")]
    rows = {name for cell in re.findall(r"^\| (`[^|]*`) \|", tables, re.M) for name in re.findall(r"`([\w-]+)`", cell)}
    yield from (f"{name} has no row in docs/internals/numerics.md" for name in sorted(listed - rows))
    yield from (f"{name} is not in src/arbiter/excuses.def" for name in sorted(rows - listed))


def measure(root):
    files = sources(root)
    levels = "info|warning|error|critical|start|finish|verbose|extra_verbose|once|success"
    return {
        "include-cycles": include_cycles(root, files),
        "operator-lists": list(operator_lists(root, files)),
        "built-in-registries": list(lines_with(
            root, files, r"\bbuilt_in_(ops|passes|tactics|backends)\(\)(?! \{|;$)", ("src/extension/registries.cpp",))),
        "log-calls-below-cli": list(lines_with(root, files, rf"\blog::({levels})\(", ("src/cli/", "src/base/log"))),
        "options-named-below-cli": list(lines_with(root, files, r'"[^"]*--[a-z][a-z-]+', ("src/cli/",))),
        "tactics-without-test": list(untested_tactics(root)),
        "misplaced-excuses": list(misplaced_excuses(root)),
    }


def main():
    root = pathlib.Path(sys.argv[1])
    budget = dict(re.findall(r"^([\w-]+) +(\d+)", (root / "tests/house/budget.txt").read_text(), re.M))
    problems = 0
    for name, places in measure(root).items():
        allowed = int(budget.get(name, 0))
        print(f"{name}: {len(places)} of {allowed}")
        if "--show" in sys.argv or len(places) > allowed:
            print("".join(f"  {p}\n" for p in places), end="")
        if len(places) != allowed:
            problems += 1
            print(f"  {'more than the budget' if len(places) > allowed else 'less than the budget: write the new figure into it'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
