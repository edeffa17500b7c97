"""JSON with arrays and objects of Python in it: their type is under "polygraphy_class", an array is its .npy file in base64."""

import base64
import copy
import functools
import glob
import io
import json
import os
from collections import OrderedDict

from polygraphy import constants, mod, util
from polygraphy.logger import G_LOGGER

np = mod.lazy_import("numpy")
torch = mod.lazy_import("torch>=1.13.0")

_SHOWN_NAMES = {"Tensor": "torch.Tensor", "ndarray": "np.ndarray"}
_OLD_MARKER = "__polygraphy_encoded_"


def _register(known, key, function):
    if key in known:
        G_LOGGER.critical(f"Duplicate serialization function for type: {key}: there is {known[key]} already")
    known[key] = function


class BaseCustomImpl:
    """What Encoder and Decoder share."""

    polygraphy_registered = {}

    @classmethod
    def register(cls, typ, alias=None):
        """A decorator for a function that makes a dictionary of an object (Encoder), or the object of the dictionary (Decoder).
        `alias`: another name of the type, which older files have."""
        return functools.partial(cls._register, typ, alias)


class Encoder(BaseCustomImpl, json.JSONEncoder):
    """Writes objects of registered types as dictionaries."""

    polygraphy_registered = {}

    @classmethod
    def _register(cls, typ, alias, function):
        def encode(obj):
            return {**function(obj), constants.TYPE_MARKER: typ.__name__}

        _register(cls.polygraphy_registered, typ, encode)
        return encode

    def default(self, o):
        encode = self.polygraphy_registered.get(type(o))
        if encode is not None:
            return encode(o)
        if util.array.is_numpy(o):  # a number of NumPy's
            return o.item()
        return super().default(o)


class Decoder(BaseCustomImpl):
    """Makes objects again out of the dictionaries."""

    polygraphy_registered = {}

    @classmethod
    def _register(cls, typ, alias, function):
        def decode(dct):
            dct.pop(constants.TYPE_MARKER, None)
            dct.pop(_OLD_MARKER + typ.__name__, None)
            return function(dct)

        for name in (_OLD_MARKER + typ.__name__, typ.__name__, alias):
            if name is not None:
                _register(cls.polygraphy_registered, name, decode)
        return decode

    def __call__(self, pairs):
        dct = OrderedDict(pairs)
        for key, value in pairs:  # the oldest files have the type's name as a key
            if isinstance(value, str) and value == constants.LEGACY_TYPE_MARKER and key in self.polygraphy_registered:
                return self.polygraphy_registered[key](dct)
        name = dct.get(constants.TYPE_MARKER)
        if name is None:
            return dct
        if name not in self.polygraphy_registered:
            G_LOGGER.critical(f"Could not decode serialized type: {_SHOWN_NAMES.get(name, name)}. This could be because a required "
                              "module is missing. ")
        return self.polygraphy_registered[name](dct)


def _encode_array(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return {"array": base64.b64encode(stream.getvalue()).decode()}


def _decode_array(dct):
    def load(data):
        return np.load(io.BytesIO(data), allow_pickle=False)

    text = dct["array"]
    try:
        array = load(base64.b64decode(text, validate=True))
    except Exception:  # the first files have the bytes themselves
        array = load(text.encode("latin-1"))
    if isinstance(array, np.ndarray):
        return array
    arrays = list(array.values())  # an .npz, which early files have
    if not arrays:
        G_LOGGER.critical("Array payload is empty or invalid (NPZ archive contains no arrays).")
    return arrays[0]


def _encode_tensor(tensor):
    stream = io.BytesIO()
    torch.save(tensor, stream)
    return {"tensor": base64.b64encode(stream.getvalue()).decode()}


def _decode_tensor(dct):
    return torch.load(io.BytesIO(base64.b64decode(dct["tensor"], validate=True)), weights_only=True)


_there = set()


def _register_common():
    """Types of packages, as soon as these can be imported, and our own."""
    for package, kind, encode, decode in ((np, "ndarray", _encode_array, _decode_array), (torch, "Tensor", _encode_tensor, _decode_tensor)):
        if kind not in _there and package.is_installed() and package.is_importable():
            _there.add(kind)
            Encoder.register(getattr(package, kind))(encode)
            Decoder.register(getattr(package, kind))(decode)
    if "ours" not in _there:
        _there.add("ours")
        import polygraphy.common  # noqa: F401
        import polygraphy.comparator  # noqa: F401


def to_json(obj):
    """The text of an object."""
    _register_common()
    return json.dumps(obj, cls=Encoder, indent=constants.TAB)


def from_json(src):
    """The object of a text."""
    _register_common()
    return json.loads(src, object_pairs_hook=Decoder())


def save_json(obj, dest, description=None):
    """Writes an object to a path or an open file."""
    util.save_file(to_json(obj), dest, mode="w", description=description)


def load_json(src, description=None):
    """Reads an object from a path or an open file."""
    return from_json(util.load_file(src, mode="r", description=description))


# Iterations in files: a path with an extension is one file, one without a folder with a file for each.

ITERATION_FILE_INDEX_WIDTH = 10
"""Digits of a file's number, so that the order of names is that of numbers."""


def iteration_name(index):
    return f"{index:0{ITERATION_FILE_INDEX_WIDTH}d}"


def list_iteration_files(dir_path):
    """The files of a folder, in their order."""
    return sorted(glob.glob(os.path.join(glob.escape(dir_path), "*.json")))


def is_single_file(path):
    """Whether the path is one of a file; nothing on disk is asked."""
    return path is not None and os.path.splitext(path)[1] != ""


class IterationWriter:
    """Writes an object for each iteration: at once into files of a folder, which has to be empty; or in the end, by flush(),
    all into one file, as `combine` makes them one object."""

    def __init__(self, path, combine=None, copy_on_accumulate=False, description=None):
        self.path, self.single_file = path, is_single_file(path)
        self._combine, self._copies, self._what = combine or (lambda items: items), copy_on_accumulate, description
        self._kept, self._index = [], 0
        if path is None:
            return
        what = description or "data"
        if self.single_file:
            G_LOGGER.info(f"Saving {what} to a single file: {path}")
            return
        G_LOGGER.info(f"Saving {what} to a directory of per-iteration files: {path}")
        if os.path.exists(path) and not os.path.isdir(path):
            G_LOGGER.critical(f"Cannot save {what} to '{path}': a file already exists there, but a path without an extension is a "
                              "directory of per-iteration files. Give it an extension, or choose another directory.")
        if os.path.isdir(path) and os.listdir(path):
            G_LOGGER.critical(f"Cannot save {what} to '{path}': the directory is not empty. Choose another one, or remove what is in it: "
                              "files of iterations never overwrite anything.")
        os.makedirs(path, exist_ok=True)

    def append(self, item):
        """The next iteration's."""
        if self.path is None:
            return
        if self.single_file:
            self._kept.append(copy.deepcopy(item) if self._copies else item)
            return
        save_json(item, os.path.join(self.path, iteration_name(self._index) + ".json"), description=self._what)
        self._index += 1

    def flush(self):
        """Writes the one file."""
        if self.single_file:
            save_json(self._combine(self._kept), self.path, description=self._what)

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.flush()


def iterate_from_files(paths, load_file, allow_dirs=True):
    """The iterations in files and folders, one after the other; `load_file` gives those of one file."""
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        if not os.path.isdir(path):
            yield from load_file(path)
            continue
        if not allow_dirs:
            G_LOGGER.critical(f"Could not load '{path}': it is a directory, but a file was expected. Directories of per-iteration files are "
                              "read by StreamingDataLoader and RunResults.load_streaming.")
        for file in list_iteration_files(path):
            yield from load_file(file)


def iterate_json_list(path, description=None):
    """The elements of the list that a file holds, or the one object."""
    found = load_json(path, description=description)
    yield from found if isinstance(found, list) else [found]


def add_json_methods(description=None):
    """A decorator for classes with an encoder and a decoder: to_json(), from_json(), save() and load(). `description`: what the
    log calls such an object."""

    def decorate(cls):
        def checked(found):
            if not isinstance(found, cls):
                G_LOGGER.critical(f"Provided JSON cannot be decoded into a {cls.__name__}.\nNote: JSON was decoded into a {type(found)}:\n{found}")
            return found

        def to_json_method(self):
            """The object as text."""
            return to_json(self)

        def from_json_method(src):
            """The object of a text; an exception where that is another one's."""
            return checked(from_json(src))

        def save(self, dest):
            """Writes the object to a path or an open file."""
            save_json(self, dest, description=description)

        def load(src):
            """The object in a file; an exception where that has another one."""
            return checked(load_json(src, description=description))

        cls.to_json, cls.save = to_json_method, save
        cls.from_json, cls.load = staticmethod(from_json_method), staticmethod(load)
        return cls

    return decorate
