"""Importing late, installing what is missing where that is allowed, and taking names out of scripts."""

import importlib
import importlib.util
import operator
import os
import re
import subprocess
import sys

from polygraphy.mod.util import version as _version

LATEST_VERSION = "==latest"
"""A version for lazy_import(): the newest there is."""

_all_external_lazy_imports = set()
_COMPARE = {"==": operator.eq, ">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}
_EXTRA_FLAGS = {}
"""Options of the installation by module."""


def _split(requirement):
    """(module, version with its operator or None)."""
    found = re.match(r"([^<>=]+)([<>=].*)?$", requirement)
    return found.group(1).strip(), found.group(2)


def _version_ok(ver, preferred):
    if preferred == LATEST_VERSION:
        return False
    sign, wanted = re.match(r"([<>=]+)\s*(.*)$", preferred.strip()).groups()
    return _COMPARE[sign](_version(ver), _version(wanted))


def _allowed_to_install(package, wanted):
    from polygraphy import config

    if not config.ASK_BEFORE_INSTALL:
        return True
    while True:
        answer = input(f"Install '{package}' (version: {wanted or 'any'}) now ([Y]/n)? ").strip()[:1].lower() or "y"
        if answer in "yn":
            return answer == "y"


class _Loader:
    """How one module is found, installed and checked."""

    def __init__(self, name, wanted, log, package, flags, requires):
        self.name, self.wanted, self.log, self.package, self.flags = name, wanted, log, package, flags
        self.needed = [*map(_split, requires), (name, wanted)]

    def install(self, name, wanted, must):
        from polygraphy import config
        from polygraphy.logger import G_LOGGER

        top = name.split(".")[0]
        package = self.package or top
        flags = list(self.flags if self.flags is not None else _EXTRA_FLAGS.get(top, []))

        def give_up():
            say = G_LOGGER.critical if must else G_LOGGER.warning
            say(f"Could not automatically install required module: {package}. Please install it manually.")

        if not _allowed_to_install(package, wanted):
            give_up()
            return importlib.import_module(name)
        if wanted == LATEST_VERSION:
            flags.append("--upgrade")
        command = [*config.INSTALL_CMD, package + ("" if wanted in (None, LATEST_VERSION) else wanted), *flags]
        G_LOGGER.info(f"Running installation command: {' '.join(command)}")
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            G_LOGGER.error(f"Error during installation:\n    {done.stderr.decode(errors='replace')}")
            give_up()
        importlib.invalidate_caches()
        return importlib.import_module(name)

    def first_import(self):
        from polygraphy import config
        from polygraphy.logger import G_LOGGER

        try:
            return importlib.import_module(self.name)
        except ImportError as error:
            if not config.AUTOINSTALL_DEPS:
                G_LOGGER.critical(
                    f"Module: '{self.name}' is required but could not be imported.\nNote: Error was: {error}\n"
                    f"Install it with: {' '.join(config.INSTALL_CMD)} {self.package or self.name.split('.')[0]}, or set "
                    "POLYGRAPHY_AUTOINSTALL_DEPS=1 to have missing modules installed.")
        module = None
        for name, wanted in self.needed:
            G_LOGGER.info(f"Module: '{name}' is required, but not installed. Attempting to install now.")
            module = self.install(name, wanted, True)
        return module

    def load(self):
        from polygraphy import config
        from polygraphy.logger import G_LOGGER, LogMode

        module = self.first_import()
        for name, wanted in self.needed:
            there = importlib.import_module(name)
            have = getattr(there, "__version__", None)
            if wanted is None or have is None or _version_ok(have, wanted):
                continue
            if config.AUTOINSTALL_DEPS:
                G_LOGGER.info(f"Module: '{name}' version '{have}' is installed, but version '{wanted}' is required.\n"
                              "Attempting to upgrade now.")
                there = self.install(name, wanted, False)
                module = there if name == self.name else module
            elif wanted != LATEST_VERSION:
                G_LOGGER.error(f"Module: '{name}' version '{have}' is installed, but version '{wanted}' is required. "
                               "What follows may fail for that reason.", mode=LogMode.ONCE)
        if self.log:
            G_LOGGER.module_info(module)
        return module


class LazyModule:
    """A module that is imported when something of it is first asked for."""

    def __init__(self, loader):
        vars(self).update(module=None, _loader=loader)

    def _get(self):
        if vars(self)["module"] is None:
            vars(self)["module"] = self._loader.load()
        return vars(self)["module"]

    def __getattr__(self, name):
        return getattr(self._get(), name)

    def __setattr__(self, name, value):
        setattr(self._get(), name, value)

    def is_installed(self):
        """Whether there is such a module; it is not imported for that."""
        name = self._loader.name
        try:
            return name in sys.modules or importlib.util.find_spec(name) is not None
        except (ImportError, ValueError):
            return False

    def is_importable(self):
        """Whether it can be imported."""
        try:
            importlib.import_module(self._loader.name)
        except Exception:
            return False
        return True


def lazy_import(name, log=None, pkg_name=None, install_flags=None, requires=None):
    """A module by its name, perhaps with the version that is needed ("onnx>=1.8"). `pkg_name`: the package that has it;
    `install_flags`: options of its installation; `requires`: what it needs without saying so."""
    bare, wanted = _split(name)
    if "polygraphy" not in bare:
        _all_external_lazy_imports.add(bare)
    return LazyModule(_Loader(bare, wanted, True if log is None else log, pkg_name, install_flags, requires or []))


def autoinstall(lazy_mod):
    """Installs the module, or a newer one, if packages may be installed."""
    from polygraphy import config

    if config.AUTOINSTALL_DEPS:
        try:
            lazy_mod._get()
        except Exception:  # whoever uses the module says what is wrong
            pass


def import_from_script(path, name):
    """A name of a script, which may import what lies beside it. The script is read anew each time."""
    from polygraphy.logger import G_LOGGER

    folder, file = os.path.split(path)
    module_name, suffix = os.path.splitext(file)
    before = sys.modules.pop(module_name, None)
    sys.path.insert(0, folder)
    try:
        importlib.invalidate_caches()
        return getattr(importlib.import_module(module_name), name)
    except Exception as error:
        hint = "" if suffix == ".py" else f"\nThe script's name has to end with '.py', not with '{suffix}'."
        G_LOGGER.critical(f"Could not import symbol: {name} from script: {path}{hint}\nNote: Error was: {error}")
    finally:
        sys.path.remove(folder)
        sys.modules.pop(module_name, None)
        if before is not None:
            sys.modules[module_name] = before
