#!/usr/bin/env python3
"""Checks that every #include under src/ is an edge of layers.txt, that every edge is needed, and that a module uses only
modules above it in the list. Usage: layers_test.py ROOT"""
import pathlib
import re
import sys


class Layers:
    def __init__(self, lines):
        self.folders, self.uses, self.tests_use, self.files, self.headers, self.problems = {}, {}, {}, {}, {}, []
        for line in lines:
            words = line.split()
            if words[:1] == ["module"]:
                self.problems += [f"layers.txt: {words[1]} uses {m}, which does not stand above it"
                                  for m in words[3:] if m not in self.uses]
                self.folders[words[2]] = words[1]
                self.uses[words[1]] = set(words[3:])
            elif words[:1] == ["tests"]:
                self.tests_use[words[1]] = set(words[2:])
            elif words[:1] == ["file"]:
                self.files[words[1]] = words[2]
            elif words[:1] == ["header"]:
                self.headers[words[1]] = words[2]
        self.needed = set()

    def of_file(self, path):
        """The module whose folder holds a file, given relative to the root."""
        if path in self.files:
            return self.files[path]
        def holds(folder):
            folder, _, end = folder.partition("/*")
            return path.startswith(folder + "/") and pathlib.PurePath(path).stem.endswith(end)
        best = max((f for f in self.folders if holds(f)), key=len, default=None)
        return self.folders.get(best)

    def of_include(self, target):
        return self.headers.get(target[len("assay/"):]) if target.startswith("assay/") else self.of_file("src/" + target)

    def check(self, file, own, target):
        """What is wrong with an include, or nothing."""
        module = self.of_include(target)
        if module is None:
            return f"{target} belongs to no module of layers.txt"
        if module == own:
            return None
        test = file.stem.endswith(("_test", "_fixture", "_test_util"))
        if module in self.uses[own]:
            self.needed |= set() if test else {(own, module)}
            return None
        if test and module in self.tests_use.get(own, ()):
            self.needed.add(("tests", own, module))
            return None
        return f"{own} includes {target} of {module}, which layers.txt does not say of {own}"

    def idle_edges(self):
        for own, modules in self.uses.items():
            yield from (f"layers.txt: {own} includes nothing of {m}" for m in sorted(modules) if (own, m) not in self.needed)
        for own, modules in self.tests_use.items():
            yield from (f"layers.txt: tests of {own} include nothing of {m}, or all of {own} may"
                        for m in sorted(modules) if ("tests", own, m) not in self.needed)


def main():
    root = pathlib.Path(sys.argv[1])
    layers = Layers((root / "layers.txt").read_text().splitlines())
    problems, checked = layers.problems, 0
    for file in [*(root / "src").rglob("*.h"), *(root / "src").rglob("*.cpp"), *(root / "include").rglob("*.h")]:
        name = str(file.relative_to(root))
        own = layers.headers.get(file.name) if name.startswith("include/") else layers.of_file(name)
        if own is None:
            problems.append(f"{name}: belongs to no module of layers.txt")
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if match:
                checked += 1
                problem = layers.check(file, own, match.group(1))
                if problem:
                    problems.append(f"{name}:{number}: {problem}")
    problems += layers.idle_edges()
    print("\n".join(problems))
    print(f"{checked} includes checked, {len(problems)} problems")
    sys.exit(1 if problems or checked == 0 else 0)


if __name__ == "__main__":
    main()
