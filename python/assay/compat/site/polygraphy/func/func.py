"""Functions that go on with what others give, and methods that leave their object alone."""

import copy
import functools
import inspect

from polygraphy import config
from polygraphy.logger import G_LOGGER


def _name(function):
    return getattr(function, "__name__", function)


def extend(extend_func):
    """A decorator. The new function calls `extend_func` and then the decorated one, with what that gave (the elements of a
    tuple; nothing for None), or with the arguments of the call and that. What the decorated one returns is the
    result; if it returns nothing, what `extend_func` gave."""

    def decorate(function):
        names = list(inspect.signature(function).parameters)

        @functools.wraps(function)
        def extended(*args, **kwargs):
            given = extend_func(*args, **kwargs)
            values = given if type(given) is tuple else (given,)
            if not names and given is None:
                result = function()
            elif len(names) == len(values):
                result = function(*values)
            elif len(names) == len(values) + len(args) + len(kwargs):
                result = function(*args, **kwargs, **dict(zip(names[-len(values):], values)))
            else:
                G_LOGGER.critical(
                    f"Function: {_name(function)} accepts {len(names)} parameter(s), but needs to accept {len(values)} parameter(s) "
                    f"from: {_name(extend_func)} instead.\nNote: Their types are: {tuple(map(type, values))}")
            return given if result is None else result

        return extended

    return decorate


def constantmethod(func):
    """A decorator for methods that change nothing in their object; with the internal checks switched on that is checked."""
    if not config.INTERNAL_CORRECTNESS_CHECKS:
        return func

    @functools.wraps(func)
    def checked(self, *args, **kwargs):
        before = copy.copy(vars(self))
        try:
            return func(self, *args, **kwargs)
        finally:
            if vars(self) != before:
                G_LOGGER.internal_error(
                    f"{self} was mutated in a constant method! Note:\nBefore: {before}\nAfter: {vars(self)}")

    return checked
