"""Versions."""

import re

_RANKS = {"dev": -4, "a": -3, "b": -2, "rc": -1, "post": 1}
_PART = re.compile(r"(\d*)(?:(dev|rc|post|a|b)(\d*))?")


def version(version_str):
    """A version as a tuple of numbers, which compare. What follows a plus sign does not count."""
    numbers = []
    for part in version_str.split("+")[0].strip().split("."):
        number, suffix, behind = _PART.match(part).groups()
        numbers.append(int(number or 0))
        if suffix:
            numbers += [_RANKS[suffix], int(behind or 0)]
    return tuple(numbers)
