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


def has_reason(text, at):
    """Whether the comment above a list says why it is none of its operators' facts (src/ops/op_facts.h)."""
    return any(re.match(r"\s*///? A list: \w", line) for line in text[:at].splitlines()[-4:])


def operator_lists(root, files, reasoned):
    """Lists of three operators' names or more outside of the operators, those with or without a reason."""
    names = operator_names(root)
    pattern = re.compile(rf'"\w+"{BETWEEN}(?:"\w+"{BETWEEN}){{2,}}')
    for file in files:
        path = file.relative_to(root)
        if path.parts[1] == "ops":
            continue
        text = file.read_text()
        for match in pattern.finditer(text):
            listed = [n for n in re.findall(r'"(\w+)"', match.group()) if n in names]
            if len(listed) >= 3 and has_reason(text, match.start()) == reasoned:
                yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {' '.join(listed[:6])}"


def lines_with(root, files, pattern, skip=()):
    for file in files:
        path = file.relative_to(root)
        if str(path).startswith(skip):
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if re.search(pattern, line):
                yield f"{path}:{number}: {line.strip()}"


# Where the terminal is written to below the command line, and why.
TERMINAL_WRITERS = {
    "src/console/terminal.cpp": "the log of our own programs",
    "src/base/crash_report.cpp": "the last words of a process that crashes; only our own programs ask for them",
    "src/base/mapped_file.cpp": "the last words of a process whose mapped file became shorter: the signal is fatal",
    "src/kernels/simd_dispatch.cpp": "the last words of a check that ends the process",
}
# Options of other programs.
FOREIGN_OPTIONS = {"src/script/compiler.cpp": '"--version"'}


def terminal_writes(root, files):
    """Writes to standard output and standard error below the command line."""
    pattern = (r"std::(cout|cerr|clog)\b|(?<![\w:])(printf|puts|putchar)\(|f(printf|puts|write)\([^;]*\b(stdout|stderr)\b|fmt::print\("
               r"|\b(write|write_all|write_fully)\(STD(OUT|ERR)_FILENO|\bsay_at_once\(|\blog::(print|report_critical)\(")
    allowed = tuple(TERMINAL_WRITERS) + ("src/cli/", "src/console/failure.cpp", "src/base/log", "src/base/crash_report.h")
    return list(lines_with(root, files, pattern, allowed))


def named_options(root, files):
    """Options of the command line in texts below it, and in the library's own words. The table of a run's options is the place
    where they are named: the command line is made of it."""
    for line in lines_with(root, files, r'"[^"]*--[a-z][a-z-]+', ("src/cli/", "src/poly/run_table")):
        if FOREIGN_OPTIONS.get(line.split(":")[0], "--none") not in line:
            yield line
    manifests = sorted((root / "src").rglob("*.def"))
    yield from lines_with(root, manifests, r'"[^"]*--[a-z]', ("src/cli/", "src/console/"))


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


def undescribed_kernels(root):
    """Folders of kernels, and files of them, that only one of the source and its table in docs/internals/kernels.md has."""
    page = (root / "docs/internals/kernels.md").read_text()
    table = page[page.index("## Files and names"):page.index("## Attention")]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*)$", table, re.M))
    folders = {f.name: {p.name for p in f.iterdir()} for f in (root / "src/kernels").iterdir() if f.is_dir()}
    yield from (f"src/kernels/{name} has no row in docs/internals/kernels.md" for name in sorted(folders.keys() - rows.keys()))
    for name, row in sorted(rows.items()):
        named, there = set(re.findall(r"`([\w-]+\.\w+)`", row)), folders.get(name, set())
        needed = {f for f in there if re.search(r"_(test|bench|x86|aarch64)\.cpp$", f)}
        yield from (f"src/kernels/{name}/{f} is not there" for f in sorted(named - there))
        yield from (f"src/kernels/{name}/{f} is not in the row of {name} in docs/internals/kernels.md" for f in sorted(needed - named))


# Files that may read the registries of this build, and why: elsewhere what modules bring would not be seen.
READS_BUILT_INS = {
    "src/extension/registries.cpp": "where the program starts, and adds what modules bring",
    "src/ops/op_set.cpp": "ops_of(): the operators of a model that brings none",
    "src/ops/schema.cpp": "a schema's text may be that of another operator of this build",
    "src/poly/loaders.cpp": "SessionFromOnnx takes the name of a backend of this build",
    "src/poly/debug.cpp": "so does LayeredRun",
    "src/backends/engine_fixture.h": "a helper of tests",
    "src/cli/script_text_cpp.cpp": "text of programs that it writes",
}


def measure(root):
    files = sources(root)
    levels = "info|warning|error|critical|start|finish|verbose|extra_verbose|once|success"
    return {
        "include-cycles": include_cycles(root, files),
        "operator-lists": list(operator_lists(root, files, reasoned=False)),
        "operator-lists-with-reason": list(operator_lists(root, files, reasoned=True)),
        "built-in-registries": list(lines_with(
            root, files, r"\bbuilt_in_(ops|passes|tactics|backends)\(\)(?! \{|;$)", tuple(READS_BUILT_INS))),
        # console/ renders for the command line and for the programs that it writes; all else reports to observers, or through
        # base/diagnostics.h, which is silent until a program listens.
        "log-calls-below-cli": list(lines_with(root, files, rf"\blog::({levels})\(", ("src/cli/", "src/console/", "src/base/log"))),
        "messages-below-cli": list(lines_with(root, files, rf"\bdiag::({levels}|message)\(", ("src/cli/", "src/console/", "src/base/"))),
        "options-named-below-cli": list(named_options(root, files)),
        "terminal-writes-below-cli": terminal_writes(root, files),
        "tactics-without-test": list(untested_tactics(root)),
        "misplaced-excuses": list(misplaced_excuses(root)),
        "undescribed-kernels": list(undescribed_kernels(root)),
        # They touch whole vectors where there are no masks: load_first() and store_first() do not.
        "masked-vectors-in-kernels": list(lines_with(
            root, files, r"\b(MaskedLoad|MaskedStore|BlendedStore)\(", ("src/kernels/partial_vectors-inl.h",))),
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
