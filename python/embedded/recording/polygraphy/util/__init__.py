"""Small functions that scripts take from Polygraphy."""

import glob
import os
import tempfile

from polygraphy.json import load_json, save_json  # noqa: F401
from recorded.refusal import refuser


def default(value, default):
    """`value` unless it is None."""
    return default if value is None else value


def is_sequence(obj):
    """Whether it has a length and can be iterated, and is no text and no dictionary."""
    return hasattr(obj, "__iter__") and hasattr(obj, "__len__") and not isinstance(obj, (str, bytes, dict))


def unique_list(sequence):
    """Its elements, each once, in their order."""
    return list(dict.fromkeys(sequence))


def value_or_from_dict(obj, key, default=None):
    """A value for all keys, or from a dictionary whose key "" stands for the others."""
    return obj.get(key, obj.get("", default)) if isinstance(obj, dict) else obj


def volume(obj):
    """The product of extents."""
    product = 1
    for extent in obj:
        product *= extent
    return product


def is_dimension_dynamic(dim):
    """Whether an extent is open: a name, None, or negative."""
    return dim is None or isinstance(dim, str) or dim < 0


def is_shape_dynamic(shape):
    """Whether any extent is open."""
    return any(is_dimension_dynamic(d) for d in shape)


def override_dynamic_shape(shape, default_shape_value=1):
    """The shape with a number in place of each open extent."""
    return [default_shape_value if is_dimension_dynamic(d) else d for d in shape]


def find_in_dirs(name_glob, dirs):
    """Paths in these folders that fit the pattern."""
    return [path for folder in dirs for path in sorted(glob.glob(os.path.join(folder, name_glob)))]


def load_file(src, mode="rb", description=None):
    """What a file holds."""
    with open(src, mode) as file:
        return file.read()


def save_file(contents, dest, mode="wb", description=None):
    """Writes a file, in folders that are made for it."""
    os.makedirs(os.path.dirname(os.path.abspath(dest)), exist_ok=True)
    with open(dest, mode) as file:
        file.write(contents)
    return dest


def NamedTemporaryFile(mode="w+b", prefix=None, suffix=None):
    """One of tempfile's."""
    return tempfile.NamedTemporaryFile(mode=mode, prefix=prefix, suffix=suffix)


__getattr__ = refuser("polygraphy.util")
