#!/usr/bin/env python3
"""Checks that no two files define a type of one qualified name: the linker would keep the inline functions of either one for
both. Tests are programs of their own and may. Usage: one_definition_test.py ROOT"""
import pathlib
import re
import sys

IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|R"\((?:.*?)\)"|\'(?:\\.|[^\'\\\n])\'', re.S)
SCOPE = re.compile(r"\b(?:inline )?namespace(?: ASSAY_API)?(?P<namespace>(?: \w+(?:::\w+)*)?) \{"
                   r"|\b(?:class|struct|union)(?: ASSAY_API)? (?P<type>\w+)(?: final)?(?: ?: (?!:)[^;{]*)? \{|(?P<open>\{)|\}")


def types(text):
    """Qualified names of the types that are defined outside of functions, types and unnamed namespaces."""
    scopes = []
    for m in SCOPE.finditer(IGNORED.sub(" ", text)):
        if m.group() == "}":
            if scopes:
                scopes.pop()
        elif m.group("open"):
            scopes.append(None)
        elif m.group("type"):
            if all(scopes):
                yield "::".join([*scopes, m.group("type")])
            scopes.append(None)
        else:
            scopes.append(m.group("namespace").strip() or None)


def main():
    root = pathlib.Path(sys.argv[1])
    places = {}
    for folder in ("src", "include"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".h", ".cpp") and "test" not in file.stem:
                for name in types(file.read_text()):
                    places.setdefault(name, []).append(str(file.relative_to(root)))
    twice = {name: files for name, files in places.items() if len(files) > 1}
    for name, files in twice.items():
        print(f"{name} is defined in {' and in '.join(files)}")
    print(f"{len(places)} types, {len(twice)} defined twice")
    sys.exit(1 if twice or len(places) < 500 else 0)


if __name__ == "__main__":
    main()
