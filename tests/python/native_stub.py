"""The types of assay._native, as its own signatures say them.

    native_stub.py [--write]   with the package on PYTHONPATH
"""

import os
import re
import sys

FILE = os.path.join(os.path.dirname(__file__), "../../python/assay/_native.pyi")
HEAD = '''"""The native module; written by tests/python/native_stub.py. The package around it is the interface."""

from collections.abc import Mapping, Sequence
from typing import Any

__version__: str

'''


def text():
    from nanobind.stubgen import StubGen

    import assay._native

    generator = StubGen(assay._native)
    generator.put(assay._native)
    body = generator.get()
    body = re.sub(r"^(import|from) .*\n", "", body, flags=re.MULTILINE)
    body = re.sub(r"^__version__.*\n", "", body, flags=re.MULTILINE)
    body = re.sub(r"\bobject \| None\b|\bobject\b", "Any", body)
    body = re.sub(r"\blist\b(?!\[)", "list[Any]", body)
    body = re.sub(r"\bdict\b(?!\[)", "dict[str, Any]", body)
    body = re.sub(r"\btuple\b(?!\[)", "tuple[Any, ...]", body)
    return HEAD + body.strip() + "\n"


def main():
    if sys.argv[1:] == ["--write"]:
        with open(FILE, "w") as file:
            file.write(text())
        return 0
    with open(FILE) as file:
        same = file.read() == text()
    if not same:
        print("python/assay/_native.pyi is not what the module says: tests/python/native_stub.py --write")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
