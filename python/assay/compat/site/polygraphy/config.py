"""Switches, each set by a variable of the environment."""

import os
import sys


def _is_on(name: str) -> bool:
    return os.environ.get(name, "0") != "0"


INTERNAL_CORRECTNESS_CHECKS: bool = _is_on("POLYGRAPHY_INTERNAL_CORRECTNESS_CHECKS")
"""More checks of what loaders and runners do; warnings go through the module warnings, too."""

AUTOINSTALL_DEPS: bool = _is_on("POLYGRAPHY_AUTOINSTALL_DEPS")
"""Whether packages that are missing or too old are installed."""

ASK_BEFORE_INSTALL: bool = _is_on("POLYGRAPHY_ASK_BEFORE_INSTALL")
"""Whether the user is asked before that."""

INSTALL_CMD: list = os.environ.get("POLYGRAPHY_INSTALL_CMD", f"{sys.executable} -m pip install").split()
"""How packages are installed."""

ARRAY_SWAP_THRESHOLD_MB: int = int(os.environ.get("POLYGRAPHY_ARRAY_SWAP_THRESHOLD_MB", "-1"))
"""Results larger than this are kept on disk; negative: none are."""

USE_TENSORRT_RTX: bool = _is_on("POLYGRAPHY_USE_TENSORRT_RTX")
"""Whether tensorrt_rtx takes the place of tensorrt."""
