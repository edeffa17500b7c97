"""What a module shows of itself, and loaders as functions that are evaluated at once."""

import functools
import inspect
import re
import sys
import warnings

from polygraphy.mod.util import version


def _calling_module(depth):
    return inspect.getmodule(sys._getframe(depth + 1))


def _show(name, module):
    vars(module).setdefault("__all__", []).append(name)


def _define(name, value, module):
    assert name not in vars(module), "This symbol is already defined!"
    setattr(module, name, value)
    _show(name, module)


def _parameters(kind, method):
    return list(inspect.signature(getattr(kind, method)).parameters.values())[1:]


def _is_variadic(parameter):
    return parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)


class _Immediate:
    """A loader's class as a function: its parameters are those of __init__ and of call_impl, required ones first."""

    def __init__(self, loader):
        self.loader = loader
        self.of_init, self.of_call = _parameters(loader, "__init__"), _parameters(loader, "call_impl")
        both = {p.name for p in self.of_init} & {p.name for p in self.of_call}
        assert not both, "Cannot funcify a type where call_impl and __init__ have the same argument names!"
        plain = [p.replace(kind=p.POSITIONAL_OR_KEYWORD) for p in self.of_init + self.of_call if not _is_variadic(p)]
        parameters = sorted(plain, key=lambda p: p.default is not p.empty)  # a stable order
        for kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            parameters += [p for p in self.of_init + self.of_call if p.kind == kind]
        self.signature = inspect.Signature(parameters)

    def split(self, arguments, parameters):
        positional, named = [], {}
        for p in parameters:
            if p.kind == p.VAR_POSITIONAL:
                positional += arguments.get(p.name, ())
            elif p.kind == p.VAR_KEYWORD:
                named.update(arguments.get(p.name, {}))
            elif p.name in arguments:
                named[p.name] = arguments[p.name]
        if positional:  # behind those that have names
            names = [p.name for p in parameters if not _is_variadic(p)]
            positional = [named.pop(n) for n in names if n in named] + positional
        return positional, named

    def __call__(self, *args, **kwargs):
        arguments = self.signature.bind(*args, **kwargs).arguments
        first, first_named = self.split(arguments, self.of_init)
        second, second_named = self.split(arguments, self.of_call)
        return self.loader(*first, **first_named)(*second, **second_named)


def _immediate(loader, name):
    call = _Immediate(loader)

    def function(*args, **kwargs):
        return call(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = loader.__module__
    function.__signature__ = call.signature
    function.__doc__ = f"Immediately evaluated functional variant of :class:`{loader.__name__}` .\n"
    for method in ("__init__", "call_impl"):
        text = getattr(loader, method).__doc__
        if inspect.isfunction(getattr(loader, method)) and text:
            function.__doc__ += inspect.cleandoc(text) + "\n"
    return function


def export(funcify=False, func_name=None):
    """A decorator that shows a class or function in its module's __all__; with `funcify` also the function of a loader, which
    makes the loader and calls it at once, under `func_name` or the loader's name in lower case with underscores."""
    module = _calling_module(1)

    def decorate(item):
        _show(item.__name__, module)
        if funcify:
            from polygraphy.backend.base import BaseLoader

            assert inspect.isclass(item), "Decorated type must be a loader to use funcify=True"
            assert issubclass(item, BaseLoader), "Decorated type must derive from BaseLoader to use funcify=True"
            name = func_name or re.sub(r"(?<!^)(?=[A-Z])", "_", item.__name__).lower()
            _define(name, _immediate(item, name), module)
        return item

    return decorate


def warn_deprecated(name, use_instead, remove_in, module_name=None, always_show_warning=False):
    """Says that something goes away in a version."""
    import polygraphy
    from polygraphy.logger import G_LOGGER

    if version(polygraphy.__version__) >= version(remove_in):
        G_LOGGER.internal_error(f"{name} was to be gone in version {remove_in}")
    text = f"{module_name + '.' if module_name else ''}{name} is deprecated and will be removed in Polygraphy {remove_in}."
    if use_instead is not None:
        text += f" Use {use_instead} instead."
    warnings.warn(text, DeprecationWarning, stacklevel=3)
    if always_show_warning:
        G_LOGGER.warning(text)


class _DeprecatedModule:
    def __init__(self, module, warn):
        vars(self).update(_module=module, _warn=warn)

    def __getattr__(self, name):
        self._warn()
        return getattr(self._module, name)

    def __setattr__(self, name, value):
        self._warn()
        setattr(self._module, name, value)


def deprecate(remove_in, use_instead, module_name=None, name=None):
    """A decorator for what goes away in a version; using it warns."""

    def decorate(item):
        shown = name or item.__name__

        def warn():
            warn_deprecated(shown, use_instead, remove_in, module_name)

        if inspect.ismodule(item):
            return _DeprecatedModule(item, warn)
        if inspect.isclass(item):
            def __init__(self, *args, **kwargs):
                warn()
                item.__init__(self, *args, **kwargs)

            return type(item.__name__, (item,), {"__init__": __init__, "__doc__": item.__doc__, "__module__": item.__module__})

        @functools.wraps(item)
        def function(*args, **kwargs):
            warn()
            return item(*args, **kwargs)

        return function

    return decorate


def export_deprecated_alias(name, remove_in, use_instead=None):
    """A decorator that gives a class or function (or, called by hand, a module) an older name, which warns."""
    module = _calling_module(1)

    def decorate(item):
        old = deprecate(remove_in, use_instead or item.__name__, module_name=module.__name__, name=name)(item)
        _define(name, old, module)
        return item

    return decorate
