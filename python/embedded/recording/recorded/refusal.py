"""Names of modules that are not served."""

import opcode
import sys

from .errors import NotServedError


def refuser(module, reasons=None, otherwise=""):
    """A module's __getattr__, which says that a name is not served, also to `from module import name`."""
    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        text = f"{module}.{name} is not served by assay in a script.{(reasons or {}).get(name, otherwise)}"
        frame = sys._getframe(1)
        if opcode.opname[frame.f_code.co_code[frame.f_lasti]] == "IMPORT_FROM":
            raise ImportError(text)
        raise NotServedError(text)

    return __getattr__
