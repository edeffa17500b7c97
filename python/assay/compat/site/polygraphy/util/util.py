"""Small functions that the other modules, and scripts, use."""

import contextlib
import fcntl
import functools
import glob
import inspect
import math
import os
import pickle
import queue as _queue
import sys
import tempfile
import zlib
from fnmatch import fnmatchcase

from polygraphy import constants
from polygraphy.logger import G_LOGGER

__all__ = [
    "LockFile", "NamedTemporaryFile", "TempAttrChange", "add_file_suffix", "check_called_by", "check_sequence_contains",
    "contains_wildcard", "default", "find_in_dirs", "find_str_in_iterable", "get_file_size", "getattr_nested", "indent_block",
    "invert_dict", "invoke_if_callable", "is_empty_shape", "is_inf", "is_nan", "is_sequence", "is_shape_dynamic",
    "is_valid_shape_override", "load_file", "make_repr", "makedirs", "match_keys", "override_dynamic_shape", "sanitize_filename",
    "save_file", "str_from_layer", "try_getattr", "try_match_shape", "try_receive_on_queue", "try_send_on_queue", "unique_list",
    "unpack_args", "value_or_from_dict", "volume",
]


# Values, names and sequences.

def is_nan(obj):
    return isinstance(obj, float) and obj != obj


def is_inf(obj):
    return isinstance(obj, float) and math.isinf(obj)


def default(value, default):
    """`default` for None."""
    return default if value is None else value


def is_sequence(obj):
    """Whether it can be iterated and is no text, dictionary or set."""
    return hasattr(obj, "__iter__") and not isinstance(obj, (str, dict, set))


def unique_list(sequence):
    """Its elements, each where it is first."""
    return list(dict.fromkeys(sequence))


def invert_dict(dct):
    """Keys by value."""
    return {value: key for key, value in dct.items()}


def unpack_args(args, num):
    """`num` values out of a tuple, None where it has too few."""
    values = tuple(args) if is_sequence(args) else (args,)
    return (values + (None,) * num)[:num]


def find_str_in_iterable(name, seq, index=None):
    """The text that is the name; else the first that contains it, or is contained in it, whatever the case of letters; else
    the one at `index`; else None."""
    texts = list(seq)
    if name in texts:
        return name
    lower = name.lower()
    for text in texts:
        if lower in text.lower() or text.lower() in lower:
            return text
    return texts[index] if index is not None and index < len(texts) else None


def check_sequence_contains(sequence, items, name=None, items_name=None, log_func=None, check_missing=None, check_extra=None):
    """Says which items the sequence lacks, and which it has besides them; by default that is critical. Returns both sets."""
    say = default(log_func, G_LOGGER.critical)
    name, what = default(name, "the sequence"), default(items_name, "items")
    there, wanted = set(sequence), set(items)
    missing, extra = wanted - there, there - wanted
    note = f"\nNote: {what} requested were: {wanted}, but all {what} are: {there}"
    if missing and default(check_missing, True):
        say(f"The following {what} were not found in {name}: {missing}.{note}")
    if extra and default(check_extra, True):
        say(f"Extra {what} in {name}: {extra}.{note}")
    return missing, extra


def value_or_from_dict(obj, key, default=None):
    """A value that holds for all keys, or that of one key from a dictionary, in which "" stands for all others."""
    if not isinstance(obj, dict):
        return obj
    return obj.get(key, obj.get("", default))


def contains_wildcard(target):
    """Whether a name has signs that patterns are made of."""
    return any(sign in target for sign in "*?[]!")


def match_keys(keys, targets):
    """Which of the keys, names or patterns, fits each target (the last that does); and the keys that fit none."""
    keys = list(keys)
    fits = {key: [t for t in targets if fnmatchcase(t, key)] for key in keys}
    return {t: key for key in keys for t in fits[key]}, [key for key in keys if not fits[key]]


def getattr_nested(obj, attr):
    """An attribute of an attribute: "a.b.c"."""
    return functools.reduce(getattr, attr.split("."), obj)


def try_getattr(obj, attr, default=None):
    """An attribute, or what stands for one that is not there."""
    return getattr(obj, attr, default)


class TempAttrChange:
    """In this block attributes have other values; None leaves one as it is."""

    def __init__(self, arg_group, attr_values):
        self.arg_group, self.new_values, self.old_values = arg_group, attr_values, {}

    def __enter__(self):
        for name, value in self.new_values.items():
            if value is not None:
                self.old_values[name] = getattr(self.arg_group, name)
                setattr(self.arg_group, name, value)

    def __exit__(self, exc_type, exc_value, traceback):
        for name, value in self.old_values.items():
            setattr(self.arg_group, name, value)


# Files.

def sanitize_filename(path):
    """A path as the name of one file."""
    return path.replace(os.path.sep, "_")


def add_file_suffix(path: str, suffix: str):
    """The path with something between its stem and its extension."""
    stem, extension = os.path.splitext(path)
    return stem + suffix + extension


def makedirs(path):
    """Makes the folders that a file is to lie in."""
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        G_LOGGER.verbose(f"{os.path.realpath(folder)} does not exist, creating now.")
        os.makedirs(folder, exist_ok=True)


def find_in_dirs(name_glob, dirs):
    """Paths that fit a pattern, in the first of the folders that has any."""
    for folder in dirs:
        found = glob.glob(os.path.join(folder, name_glob))
        if found:
            return found
    return []


def is_file_like(obj):
    return hasattr(obj, "read") and hasattr(obj, "write")


def get_file_size(src):
    """The size of a file, or of an open one; 0 where there is none."""
    if hasattr(src, "fileno"):
        return os.fstat(src.fileno()).st_size
    return os.path.getsize(src) if os.path.exists(src) else 0


class NamedTemporaryFile:
    """A new file in the folder for such; it stays. `name` is its path, a block opens it."""

    def __init__(self, mode=None, prefix=None, suffix=None):
        self.mode = default(mode, "wb+")
        descriptor, self.name = tempfile.mkstemp(prefix=default(prefix, ""), suffix=default(suffix, ""))
        os.close(descriptor)
        self._fhandle = None

    def __enter__(self):
        self._fhandle = open(self.name, self.mode)
        return self._fhandle

    def __exit__(self, exc_type, exc_val, exc_tb):
        with contextlib.suppress(ValueError, OSError):  # closed already, or never written to
            self._fhandle.flush()
            os.fsync(self._fhandle.fileno())
        self._fhandle.close()


class LockFile:
    """In this block no other process has the lock of the path, a file beside it. Of an open file there is none."""

    def __init__(self, path):
        self.is_file_like = is_file_like(path)
        self.lock_path = None if self.is_file_like else f"{path}.lock"
        self._fhandle = None

    def __enter__(self):
        if self.lock_path is not None:
            self._fhandle = open(self.lock_path, "wb+")
            fcntl.lockf(self._fhandle.fileno(), fcntl.LOCK_EX)

    def __exit__(self, exc_type, exc_val, exc_tb):
        if self._fhandle is not None:  # the file stays: others may wait for the lock of this very one
            fcntl.lockf(self._fhandle.fileno(), fcntl.LOCK_UN)
            self._fhandle.close()


def warn_if_wrong_mode(file_like, mode):
    """Says that an open file cannot be used as it is going to be."""
    has = getattr(file_like, "mode", mode)
    needs_read, needs_write = "r" in mode or "+" in mode, any(c in mode for c in "wa+")
    can_read, can_write = "r" in has or "+" in has, any(c in has for c in "wa+")
    if ("b" in has) != ("b" in mode) or (needs_read and not can_read) or (needs_write and not can_write):
        G_LOGGER.warning("File-like object has a different mode than requested!\n"
                         f"Note: Requested mode was: {mode} but file-like object has mode: {has}")


def load_file(src, mode="rb", description=None):
    """What a path or an open file holds; the open file stays where it was."""
    if description is not None:
        G_LOGGER.info(f"Loading {description} from {src}")
    if not is_file_like(src):
        with open(src, mode) as file:
            return file.read()
    warn_if_wrong_mode(src, mode)
    if not src.seekable():
        return src.read()
    place = src.tell()
    src.seek(0)
    contents = src.read()
    src.seek(place)
    return contents


def _get_num_bytes(contents):
    if isinstance(contents, str):
        return len(contents.encode())
    try:
        return memoryview(contents).nbytes
    except Exception:
        raise TypeError(f"`contents` is {contents}, which is not bytes-like. Cannot get number of bytes.") from None


def save_file(contents, dest, mode="wb", description=None):
    """Writes to a path, whose folders are made, or to an open file; returns it."""
    if description is not None:
        G_LOGGER.info(f"Saving {description} to {dest}")
    if not is_file_like(dest):
        makedirs(dest)
        with open(dest, mode) as file:
            file.write(contents)
        return dest
    warn_if_wrong_mode(dest, mode)
    written = dest.write(contents)
    dest.flush()
    with contextlib.suppress(OSError, AttributeError):  # what is no file of the system
        os.fsync(dest.fileno())
    try:
        wanted = len(contents) if isinstance(contents, str) else _get_num_bytes(contents)
    except TypeError:
        G_LOGGER.warning("The contents do not say how many bytes they are; whether all were written is unknown.")
    else:
        if written is not None and written != wanted:
            G_LOGGER.warning(f"Could not write entire file: {written} of {wanted} bytes were written")
    return dest


# Between processes.

PIPE_MAX_SEND_BYTES = 1 << 31
"""What goes through a queue at once; larger objects are compressed."""


class Compressed:
    """An object, pickled and compressed."""

    def __init__(self, cobj):
        self.bytes = cobj


def is_compressed(obj):
    return isinstance(obj, Compressed)


def compress(obj):
    return Compressed(zlib.compress(pickle.dumps(obj)))


def decompress(compressed):
    return pickle.loads(zlib.decompress(compressed.bytes))


def try_send_on_queue(queue, obj):
    """Sends an object, or None where it cannot be sent."""
    try:
        pickle.dumps(obj)  # the queue's own thread would fail unheard
        queue.put(compress(obj) if sys.getsizeof(obj) > PIPE_MAX_SEND_BYTES else obj)
    except Exception as error:
        G_LOGGER.warning(f"Could not send object on queue: {error}\nSending None instead.")
        queue.put(None)


def try_receive_on_queue(queue, timeout=None):
    """The next object of the queue. Throws queue.Empty when there is none in time; None is what could not be sent."""
    try:
        obj = queue.get(block=True, timeout=timeout)
    except _queue.Empty:
        raise
    except Exception as error:
        G_LOGGER.warning(f"Could not receive on queue: {error}\nA run without a subprocess (use_subprocess=False) needs none.")
        return None
    return decompress(obj) if is_compressed(obj) else obj


# Functions.

def invoke_if_callable(func, *args, **kwargs):
    """(what a function gives, True), or (the object itself, False)."""
    return (func(*args, **kwargs), True) if callable(func) else (func, False)


def check_called_by(expected_caller_name):
    """A decorator for what only that function is to call; others are warned."""

    def decorate(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            frame = sys._getframe(1)
            inside = frame.f_globals.get("__name__", "").split(".")[0] == "polygraphy"
            if not inside and frame.f_code.co_name != expected_caller_name:
                G_LOGGER.warning(f"Calling '{func.__qualname__}()' directly is not recommended. "
                                 f"Please use '{expected_caller_name}()' instead.")
            return func(*args, **kwargs)

        return wrapped

    return decorate


# Shapes.

def is_dimension_dynamic(dim):
    """Whether an extent is open: a name, None, or negative."""
    return not hasattr(dim, "__index__") or dim < 0


def num_dynamic_dimensions(shape):
    return sum(map(is_dimension_dynamic, shape))


def is_shape_dynamic(shape):
    return any(map(is_dimension_dynamic, shape))


def is_valid_shape_override(new_shape, original_shape):
    """Whether a shape has the other's rank and its closed extents."""
    return len(new_shape) == len(original_shape) and all(
        is_dimension_dynamic(old) or old == new for new, old in zip(new_shape, original_shape))


def override_dynamic_shape(shape, default_shape_value=None):
    """The shape with a number in place of each open extent."""
    value = default(default_shape_value, constants.DEFAULT_SHAPE_VALUE)
    return [value if is_dimension_dynamic(extent) else extent for extent in shape]


def volume(obj):
    """The product of extents."""
    return functools.reduce(lambda a, b: a * b, obj, 1)


def is_empty_shape(shape):
    return volume(shape) == 0


def _closed_shape(have, wanted):
    """`wanted` with extents of an array of shape `have` where it is open: from the volume, or from the same place."""
    if num_dynamic_dimensions(wanted) == 1:
        rest = volume(d for d in wanted if not is_dimension_dynamic(d))
        return override_dynamic_shape(wanted, volume(have) // rest if rest else 0)
    if len(have) == len(wanted):
        return [h if is_dimension_dynamic(w) else w for h, w in zip(have, wanted)]
    return wanted


def _permutation(have, wanted):
    """Which axis each extent of `wanted` comes from, the first that is free; None where the extents are others."""
    free, order = list(enumerate(have)), []
    for extent in wanted:
        place = next((i for i, (_, h) in enumerate(free) if h == extent), None)
        if place is None:
            return None
        order.append(free.pop(place)[0])
    return order


def try_match_shape(arr, shape):
    """The array permuted or reshaped to a shape, which may have open extents; as it is where neither can be done."""
    from polygraphy.util import array

    def reshaped(arr, wanted):
        before = array.shape(arr)
        if before == tuple(wanted):
            return arr
        try:
            arr = array.view(array.make_contiguous(arr), array.dtype(arr), wanted)
        except (ValueError, RuntimeError):
            G_LOGGER.warning(f"Could not reshape array from shape: {before} to {wanted}. Skipping reshape.")
        else:
            G_LOGGER.info(f"Reshaped array from shape: {before} to: {array.shape(arr)}")
        return arr

    if tuple(shape) == array.shape(arr):
        return arr
    shape = _closed_shape(array.shape(arr), shape)
    if len(shape) != len(array.shape(arr)):
        arr = reshaped(arr, shape)
    before = array.shape(arr)
    order = _permutation(before, shape) if len(shape) == len(before) else None
    if order is not None and order != sorted(order):
        arr = array.transpose(arr, order)
        if array.shape(arr) != before:
            G_LOGGER.info(f"Permuted array of shape: {before} to: {array.shape(arr)} using permutation {order}")
    return reshaped(arr, shape)


# Texts.

def indent_block(block, level=1):
    """The lines of a text, each further to the right."""
    tab = constants.TAB * level
    return tab + ("\n" + tab).join(str(block).splitlines())


def str_from_layer(prefix, index, name, op, input_names, input_meta, output_names, output_meta):
    """A layer or node as listings show it."""

    def tensors(names, meta):
        return "{" + ",\n ".join(f"{n} {meta[n]}".strip() for n in names) + "}"

    both = 1 if input_names and output_names else 0
    text = f"{prefix} {index:<4} | {name} [Op: {op}]\n" + indent_block(tensors(input_names, input_meta)) + "\n" * both
    outputs = indent_block(tensors(output_names, output_meta), both).strip()
    return text + indent_block(f" -> {outputs}", both) + "\n"


class _Text(str):
    """A text that is its own representation."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


def _showable(obj):
    """The object, with numbers that Python's repr() does not write as Python reads them replaced, at any depth."""
    if is_nan(obj) or is_inf(obj):
        return _Text(f"float('{obj}')")
    if type(obj) in (list, tuple, set):
        return type(obj)(_showable(e) for e in obj)
    if type(obj) is dict:
        return {_showable(k): _showable(v) for k, v in obj.items()}
    return obj


def make_repr(type_str, *args, **kwargs):
    """A call as text, without named arguments that are None; whether all positional ones are None, and all named ones."""
    positional = [repr(_showable(a)) for a in args]
    named = {k: repr(_showable(v)) for k, v in kwargs.items() if v is not None}
    text = f"{type_str}({', '.join(positional + [f'{k}={v}' for k, v in named.items()])})"
    return text, all(a is None for a in args), not named
