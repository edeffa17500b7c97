"""Programs in Python, put together by argument groups."""

import ast
import os
import sys
import time
from collections import OrderedDict, defaultdict

import polygraphy
from polygraphy import config, util
from polygraphy.logger import G_LOGGER

__all__ = ["Script", "inline", "make_invocable", "make_invocable_if_nondefault", "make_invocable_if_nondefault_kwargs", "safe"]


def safe(base_str, *args, **kwargs):
    """Text of a program, with values put into it by format(), as they are written in Python."""
    return Script.String(base_str.format(*map(repr, args), **{k: repr(v) for k, v in kwargs.items()}), safe=True)


def ensure_safe(inp):
    """The text; throws, with the internal checks switched on, where it is none that safe() or make_invocable() made."""
    if not isinstance(inp, Script.String) or not inp.safe:
        G_LOGGER.internal_error(f"{inp!r} may come from a user, and must not become a part of a program as it is")
    return inp


def inline(inp):
    """The text as a part of a program, and not as a literal in it."""
    return Script.String(ensure_safe(inp).s, safe=True, inline=True)


def inline_identifier(ident):
    """A name, as a part of a program."""
    if not ident.isidentifier():
        G_LOGGER.critical(f"This argument must be a valid identifier. Provided argument cannot be a Python identifier: {ident}")
    return inline(safe(ident))


def _call(type_str, args, kwargs):
    text, no_args, no_kwargs = util.make_repr(type_str, *args, **kwargs)
    if config.INTERNAL_CORRECTNESS_CHECKS:
        try:
            ast.parse(text, mode="eval")
        except SyntaxError:
            G_LOGGER.internal_error(f"This is not Python: {text}. Arguments whose repr() is none have to be inlined texts.")
    return Script.String(text, safe=True, inline=True), no_args, no_kwargs


def make_invocable(type_str, *args, **kwargs):
    """The text of a call, without arguments by name that are None."""
    return _call(type_str, args, kwargs)[0]


def make_invocable_if_nondefault(type_str, *args, **kwargs):
    """The text of a call, or None where all arguments are."""
    text, no_args, no_kwargs = _call(type_str, args, kwargs)
    return None if no_args and no_kwargs else text


def make_invocable_if_nondefault_kwargs(type_str, *args, **kwargs):
    """The text of a call, or None where all arguments by name are."""
    text, _, no_kwargs = _call(type_str, args, kwargs)
    return None if no_kwargs else text


class Script:
    """A program: imports, a data loader, variables (loaders above all), runners, and what follows."""

    class String:
        """A text: `safe` to be a part of a program or not, and `inline`, without quotes, or a literal."""

        def __init__(self, s, safe=False, inline=False):
            self.s, self.safe, self.inline = s, safe, inline

        def __str__(self):
            return str(self.s)

        def __repr__(self):
            return str(self.s) if self.inline else repr(self.s)

        def __iadd__(self, other):
            if not isinstance(other, Script.String) or self.safe != other.safe:
                G_LOGGER.internal_error(f"{other!r} cannot be added to {self.s!r}: only one of them is safe")
            self.s += str(other)
            return self

        def _key(self):
            return self.s, self.safe, self.inline

        def __eq__(self, other):
            return isinstance(other, Script.String) and self._key() == other._key()

        def __hash__(self):
            return hash(self._key())

        def unwrap(self):
            return self.s

    DATA_LOADER_NAME = String("data_loader", safe=True, inline=True)

    def __init__(self, summary=None, always_create_runners=True):
        self.summary, self.always_create_runners = summary, always_create_runners
        self.imports = {}
        self.vars, self.var_count = OrderedDict(), defaultdict(int)
        self.runners, self.preimport, self.suffix = [], [], []
        self.data_loader = ""

    def add_import(self, imports, frm=None, imp_as=None):
        """A module or names, perhaps out of a module, and under another name."""
        names = {imports} if isinstance(imports, str) else set(imports)
        if imp_as and len(names) > 1:
            G_LOGGER.internal_error(f"several names cannot all be called {imp_as}")
        self.imports.setdefault(frm, set()).update((name, imp_as) for name in names)

    def set_data_loader(self, data_loader_str):
        """What makes the data loader; gives its name, or None without."""
        if not data_loader_str:
            return None
        self.data_loader = ensure_safe(data_loader_str).unwrap()
        return Script.DATA_LOADER_NAME

    def add_var(self, var_str, var_id, category="Variables", force: bool = None):
        """A variable; gives its name, that of an earlier one which is the same unless `force`."""
        text = ensure_safe(var_str).unwrap()
        if text in self.vars and not force:
            return self.vars[text][0]
        count = self.var_count[var_id]
        self.var_count[var_id] += 1
        name = Script.String(f"{var_id}_{count}" if count else var_id, safe=True, inline=True)
        self.vars[text] = name, category
        return name

    def add_loader(self, loader_str, loader_id, force: bool = None):
        """A loader; as add_var()."""
        return self.add_var(loader_str, loader_id, "Loaders", force)

    def get_runners(self):
        """The name of the list of runners."""
        return Script.String("runners", safe=True, inline=True)

    def add_runner(self, runner_str):
        self.runners.append(ensure_safe(runner_str).unwrap())

    def append_preimport(self, line):
        """A line before the imports."""
        self.preimport.append(ensure_safe(line).unwrap())

    def append_suffix(self, line):
        """A line at the end."""
        self.suffix.append(ensure_safe(line).unwrap())

    def _import_lines(self):
        lines, lazy = [], False
        for frm, names in self.imports.items():
            shown = [name if alias is None else f"{name} as {alias}" for name, alias in sorted(names, key=str)]
            if frm is not None:
                lines.append(f"from {frm} import {', '.join(shown)}")
                continue
            for name, alias in names:
                if "polygraphy" in name:
                    lines.append(f"import {name}" + (f" as {alias}" if alias else ""))
                else:
                    lines.append(f"{alias or name} = mod.lazy_import({name!r})")
                    lazy = True
        return ["from polygraphy import mod"] * lazy + sorted(lines)

    def __str__(self):
        parts = [["#!/usr/bin/env python3",
                  f"# Template auto-generated by polygraphy [v{polygraphy.__version__}] on {time.strftime('%D')} at {time.strftime('%H:%M:%S')}",
                  f"# Generation Command: {' '.join(sys.argv)}", *(f"# {line}" for line in (self.summary or "").splitlines())],
                 self.preimport, self._import_lines()]
        if self.data_loader:
            parts.append(["# Data Loader", f"{Script.DATA_LOADER_NAME} = {self.data_loader}"])
        for category in util.unique_list(c for _, c in self.vars.values()):
            parts.append([f"# {category}", *(f"{name} = {text}" for text, (name, c) in self.vars.items() if c == category)])
        if self.runners or self.always_create_runners:
            inner = "".join(f"\n    {r}," for r in self.runners) + "\n" * bool(self.runners)
            parts.append(["# Runners", f"{self.get_runners()} = [{inner}]"])
        parts.append(self.suffix)
        return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"

    def save(self, dest):
        """Writes it to an open file, which becomes a program."""
        dest.write(str(self))
        dest.flush()
        if not dest.isatty() and dest.name not in ("<stdout>", "<stderr>"):
            G_LOGGER.info(f"Writing script to: {dest.name}")
            os.chmod(dest.name, os.stat(dest.name).st_mode | 0o111)
