"""Where the program ``assay`` is."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

from ._errors import NotFound


def program() -> str:
    """The path of the program that came with this package. Raises NotFound."""
    here = Path(__file__).parent
    candidates = [here / "bin" / "assay", Path(sysconfig.get_path("scripts")) / "assay"]
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK) and path.read_bytes()[:4] == b"\x7fELF":
            return str(path)
    raise NotFound(
        f"the program assay is not where the package has it: {candidates[0]}. Install the package again.",
        code="not_found",
        remedy="Install the package again.",
    )
