"""How the user's Python gets a package."""

import os
import sys
import sysconfig


def is_managed_by_the_system():
    """Whether pip refuses to install here (PEP 668), as Debian 12's and Ubuntu 24.04's interpreters have it."""
    in_environment = sys.prefix != sys.base_prefix
    return not in_environment and os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED"))


def install_command(package, options=""):
    """A line that works with this interpreter. One that may not be changed gets an environment beside it, which scripts then
    run in; they need NumPy there, too."""
    if not is_managed_by_the_system():
        return f"`{sys.executable} -m pip install {options}{package}`"
    packages = package if package == "numpy" else f"{package} numpy"
    folder = "$HOME/assay-python"
    return (f"`{sys.executable} -m venv {folder} && {folder}/bin/pip install {packages} && export ASSAY_PYTHON={folder}`, for pip "
            "may not change the system's Python")
