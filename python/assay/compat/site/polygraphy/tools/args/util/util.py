"""What options are written in."""

import os

from polygraphy import constants, mod, util
from polygraphy.common import TensorMetadata
from polygraphy.datatype import DataType
from polygraphy.logger import G_LOGGER
from polygraphy.tools.script import Script, ensure_safe, inline, safe

__all__ = ["cast", "get", "get_outputs", "get_outputs_for_script", "parse_arg_to_tuple", "parse_arglist_to_dict", "parse_arglist_to_tuple_list",
           "parse_meta", "parse_num_bytes", "parse_path", "parse_script_and_func_name", "run_script"]


def cast(val):
    """A list in brackets, a number, or the text without quotes."""
    text = str(val).strip()
    if text[:1] == "[" or text[-1:] == "]":
        return [cast(part) for part in text.strip("[]").split(",")]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text.strip("\"'")


def run_script(script_func, *args):
    """Calls `script_func(script, *names)`, which adds to a program and gives a name in it; runs the program, in which each name
    stands for an argument, and gives what that name is."""
    script, values, names = Script(), {}, []
    for index, value in enumerate(args):
        name = None if value is None else inline(safe(f"__arg{index}"))
        names.append(name)
        if name is not None:
            values[name.unwrap()] = value
    made = script_func(script, *names)
    exec(str(script), values)
    return None if made is None else values.get(ensure_safe(made).unwrap())


def get(args, attr, default=None):
    """An option's value, or what stands for an option that is not there."""
    return getattr(args, attr, default)


def get_outputs(args, name):
    """Outputs that an option names; constants.MARK_ALL for all."""
    given = get(args, name)
    if given == ["*"]:
        return constants.MARK_ALL
    if given == ["mark", "all"]:
        mod.warn_deprecated("'mark all'", "'*'", remove_in="0.55.0", always_show_warning=True)
        return constants.MARK_ALL
    return given


def get_outputs_for_script(script, outputs):
    """These, as a program has them."""
    if outputs != constants.MARK_ALL:
        return outputs
    script.add_import(["constants"], frm="polygraphy")
    return inline(safe("constants.MARK_ALL"))


def parse_arglist_to_tuple_list(arg_lst, cast_to=None, sep=None, allow_empty_key=None, treat_missing_sep_as_val=None,
                                treat_unspecified_as_none=None):
    """(key, value) of each "key:value"; without a separator it is a value with the key "", or a key without a value."""
    if arg_lst is None:
        return None
    sep, cast_to, pairs = util.default(sep, ":"), util.default(cast_to, cast), []
    for text in arg_lst:
        key, found, value = text.rpartition(sep)
        if not found and not util.default(treat_missing_sep_as_val, True):
            key, value = value, key
        if not key and not util.default(allow_empty_key, True):
            G_LOGGER.critical(f"Could not parse argument: {text}. Expected an argument in the format: `key{sep}value`.")
        value = cast_to(value)
        pairs.append((key or None, value or None) if treat_unspecified_as_none else (key, value))
    return pairs


def parse_arg_to_tuple(arg, *args, **kwargs):
    """(key, value) of one."""
    return None if arg is None else parse_arglist_to_tuple_list([arg], *args, **kwargs)[0]


def parse_arglist_to_dict(arg_lst, *args, **kwargs):
    """Values by their keys."""
    pairs = parse_arglist_to_tuple_list(arg_lst, *args, **kwargs)
    return None if pairs is None else dict(pairs)


def parse_script_and_func_name(arg, default_func_name=None):
    """(path, name) of "path:name"."""
    if arg is None:
        return None, None
    path, name = parse_arg_to_tuple(arg, treat_missing_sep_as_val=False, treat_unspecified_as_none=True)
    return path, util.default(name, default_func_name)


def _data_type(name):
    if name.upper() not in DataType.__members__:
        G_LOGGER.critical(f"Could not understand data type: {name}. Please use one of: {list(DataType.__members__)} or `auto`.")
    return DataType.__members__[name.upper()]


def parse_meta(meta_args, includes_shape=True, includes_dtype=True):
    """TensorMetadata of "name:shape:type" each, or without one of these; `auto` stands for what is not said."""
    metadata = TensorMetadata()
    for text in meta_args:
        found = {}
        for what, wanted in (("dtype", includes_dtype), ("shape", includes_shape)):
            if wanted:
                text, _, value = text.rpartition(":")
                value = cast(value)
                found[what] = None if isinstance(value, str) and value.lower() == "auto" else value
        shape, dtype = found.get("shape"), found.get("dtype")
        if shape is not None:
            shape = tuple(e for e in (shape if isinstance(shape, list) else [shape]) if e != "")
        metadata.add(text, None if dtype is None else _data_type(dtype), shape)
    return metadata


_SUFFIXES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_num_bytes(num_bytes_arg):
    """A number of bytes: 16000000, 16e6, 16M."""
    if num_bytes_arg is None:
        return None
    unit = _SUFFIXES.get(num_bytes_arg[-1:].upper(), 1)
    try:
        return int(float(num_bytes_arg if unit == 1 else num_bytes_arg[:-1]) * unit)
    except ValueError:
        G_LOGGER.critical(f"Could not convert {num_bytes_arg} to a number of bytes. It is an integer (16000000), a number (16e6), or one with K, M, or G (16M).")


def parse_path(path, name):
    """An absolute path, with a warning where there is nothing."""
    if path is None or os.path.exists(path):
        return None if path is None else os.path.abspath(path)
    G_LOGGER.warning(f"{name} path does not exist: {path}")
    return path
