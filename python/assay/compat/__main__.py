"""python -m assay.compat [--real NAME,...] [--only-missing] [--list] SCRIPT.py ARGUMENTS...
python -m assay.compat [...] -m MODULE ARGUMENTS...
python -m assay.compat [...] -c CODE ARGUMENTS..."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Sequence
from typing import Optional

from assay import Error

from . import install, listing


def parser(program: str) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog=program,
        description="Runs a script in which `import tensorrt`, `cuda`, `pycuda`, `polygraphy`, `onnx_graphsurgeon` are assay's, on the CPU.",
    )
    p.add_argument("--real", action="append", default=[], metavar="NAME", help="this package as it is installed; may be repeated")
    p.add_argument("--only-missing", action="store_true", help="installed packages come first")
    p.add_argument("--list", action="store_true", help="says which file each name comes from")
    what = p.add_mutually_exclusive_group()
    what.add_argument("-m", dest="module", metavar="MODULE", help="runs a module instead of a script")
    what.add_argument("-c", dest="code", metavar="CODE", help="runs text instead of a script")
    p.add_argument("arguments", nargs=argparse.REMAINDER, metavar="SCRIPT.py ARGUMENTS...")
    return p


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our options, and what belongs to the script: all behind -m MODULE or -c CODE, and from the script's name on."""
    at = 0
    while at < len(argv):
        argument = argv[at]
        if argument in ("-m", "-c"):
            return list(argv[: at + 2]), list(argv[at + 2 :])
        if argument == "--real":
            at += 2
        elif argument.startswith("-") and argument != "-":
            at += 1
        else:
            return list(argv[:at]), list(argv[at:])
    return list(argv), []


def _first_on_path(folder: str) -> None:
    """What Python itself would put first for what is run."""
    if not sys.flags.safe_path:
        sys.path.insert(0, folder)


def main(argv: Optional[Sequence[str]] = None, program: str = "python -m assay.compat") -> int:
    own, rest = _split(sys.argv[1:] if argv is None else argv)
    options = parser(program).parse_args(own)
    try:
        if options.list:
            rows = listing(options.real)
            width = max(len(name) for name, _ in rows)
            for name, file in rows:
                print(f"{name:{width}}  {file}")
            return 0
        if options.module is None and options.code is None and not rest:
            parser(program).error("a script is needed")
        install(real=options.real, only_missing=options.only_missing, inherit=True)
    except Error as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    if options.code is not None:
        sys.argv = ["-c", *rest]
        _first_on_path("")
        exec(compile(options.code, "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    elif options.module is not None:
        sys.argv = [options.module, *rest]
        _first_on_path(os.getcwd())
        runpy.run_module(options.module, run_name="__main__", alter_sys=True)
    else:
        if not os.path.exists(rest[0]):
            print(f"{program}: there is no script {rest[0]}", file=sys.stderr)
            return 2
        sys.argv = list(rest)
        _first_on_path(os.path.dirname(os.path.abspath(rest[0])))
        runpy.run_path(rest[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # this module's own
    sys.exit(main())
