#!/usr/bin/env python3
"""Checks that every #include under src/ goes down the layers of layers.txt. Usage: layers_test.py ROOT"""
import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    layers, folders, headers = {}, {}, {}
    for line in (root / "layers.txt").read_text().splitlines():
        words = line.split()
        if words and words[0] == "module":
            layers[words[2]] = int(words[1])
            folders[words[3]] = words[2]
        elif words and words[0] == "header":
            headers[words[1]] = words[2]

    def module_of(path):
        """The module whose folder holds a file, given relative to the root."""
        best = max((f for f in folders if path.startswith(f + "/")), key=len, default=None)
        return folders.get(best)

    problems, checked = [], 0
    files = [*(root / "src").rglob("*.h"), *(root / "src").rglob("*.cpp"), *(root / "include").rglob("*.h")]
    for file in files:
        name = str(file.relative_to(root))
        public = file.parent.name == "assay" and file.parent.parent.name == "include"
        own = headers.get(file.name) if public else module_of(name)
        if own is None:
            problems.append(f"{name}: belongs to no module of layers.txt")
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            checked += 1
            target = match.group(1)
            if target.startswith("assay/"):
                module = headers.get(target[len("assay/"):])
            else:
                module = module_of("src/" + target)
            if module is None:
                problems.append(f"{name}:{number}: {target} belongs to no module of layers.txt")
            elif module != own and layers[module] >= layers[own]:
                problems.append(f"{name}:{number}: {own} (layer {layers[own]}) includes {target} of {module} (layer {layers[module]})")
    print("\n".join(problems))
    print(f"{checked} includes checked, {len(problems)} against the layers")
    sys.exit(1 if problems or checked == 0 else 0)


if __name__ == "__main__":
    main()
