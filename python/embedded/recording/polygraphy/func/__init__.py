"""extend(): a function that goes on with what another one gives."""

import functools
import inspect

from polygraphy.exception import PolygraphyException


def _count(function):
    return len(inspect.signature(function).parameters)


def extend(extend_func):
    """A decorator. The new function calls `extend_func`, then the decorated one with what that gave (the elements of a
    tuple), or with its own arguments and that. What the decorated one returns counts; nothing: what the first gave."""

    def decorate(function):
        @functools.wraps(function)
        def extended(*args, **kwargs):
            given = extend_func(*args, **kwargs)
            values = list(given) if isinstance(given, tuple) else [] if given is None else [given]
            arguments = list(args) + list(kwargs.values())
            wanted = _count(function)
            if wanted == len(values):
                result = function(*values)
            elif wanted == len(arguments) + len(values):
                result = function(*arguments, *values)
            else:
                source = getattr(extend_func, "__name__", type(extend_func).__name__)
                raise PolygraphyException(
                    f"{function.__name__} takes {wanted} arguments, and what it extends, {source}, gives {len(values)}: "
                    f"({', '.join(type(v).__name__ for v in values)}). Let it take those, or the {len(arguments)} that {source} is called "
                    "with and those.")
            return given if result is None else result

        return extended

    return decorate


class constantmethod:
    """A decorator for methods; it only marks them here."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._function = function

    def __get__(self, instance, owner=None):
        return functools.partial(self._function, instance) if instance is not None else self
