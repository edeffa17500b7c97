"""Polygraphy's JSON files: arrays as .npy in base64, typed objects under "polygraphy_class"."""

import base64
import io
import json as _json
import os

from polygraphy.exception import PolygraphyException
from polygraphy.logger import G_LOGGER

_MARKER = "polygraphy_class"


def _array_to_json(array):
    import numpy
    stream = io.BytesIO()
    numpy.save(stream, array, allow_pickle=False)
    return {"array": base64.b64encode(stream.getvalue()).decode()}


def _array_from_json(values):
    import numpy
    return numpy.load(io.BytesIO(base64.b64decode(values["array"], validate=True)), allow_pickle=False)


class _Registry:
    """Types and how they are encoded or decoded."""

    def __init__(self):
        self.by_name = {}

    def register(self, kind, alias=None):
        def decorate(function):
            self.by_name[alias or kind.__name__] = (kind, function)
            return function
        return decorate


Encoder, Decoder = _Registry(), _Registry()


def _encode(value):
    module = type(value).__module__.split(".")[0]
    if module == "numpy" and hasattr(value, "shape"):
        if value.shape == () and type(value).__name__ != "ndarray":
            return value.item()
        return {**_array_to_json(value), _MARKER: "ndarray"}
    if module == "torch" and hasattr(value, "detach"):
        return {**_array_to_json(value.detach().cpu().numpy()), _MARKER: "ndarray"}
    for name, (kind, function) in Encoder.by_name.items():
        if type(value) is kind:
            return {**function(value), _MARKER: name}
    raise PolygraphyException(f"A value of type {type(value).__name__} cannot be written as JSON. Register an encoder: "
                              "@Encoder.register(TYPE).")


def _decode(values):
    name = values.pop(_MARKER, None)
    if name is None:
        return values
    if name == "ndarray":
        return _array_from_json(values)
    if name not in Decoder.by_name:
        raise PolygraphyException(
            f"Objects of type {name} are not known here. Register a decoder: @Decoder.register(TYPE).")
    return Decoder.by_name[name][1](values)


def to_json(obj):
    """A text from an object made of dictionaries, lists, numbers, arrays and registered types."""
    return _json.dumps(obj, default=_encode, indent="    ")


def from_json(src):
    """What to_json() was given."""
    return _json.loads(src, object_hook=_decode)


def save_json(obj, dest, description=None):
    """Writes an object to a path or file."""
    text = to_json(obj)
    if hasattr(dest, "write"):
        dest.write(text)
        return
    if description:
        G_LOGGER.info(f"Saving {description} to {dest}")
    os.makedirs(os.path.dirname(os.path.abspath(dest)), exist_ok=True)
    with open(dest, "w") as file:
        file.write(text)


def load_json(src, description=None):
    """Reads an object from a path or file."""
    if hasattr(src, "read"):
        return from_json(src.read())
    if description:
        G_LOGGER.info(f"Loading {description} from {src}")
    with open(src) as file:
        return from_json(file.read())


def add_json_methods(description=None):
    """A decorator for a class with registered encoder and decoder: to_json, from_json, save, load."""
    def decorate(kind):
        def checked(value):
            if not isinstance(value, kind):
                raise PolygraphyException(
                    f"These are no {kind.__name__}, but {type(value).__name__}.")
            return value

        kind.to_json = lambda self: to_json(self)
        kind.from_json = staticmethod(lambda src: checked(from_json(src)))
        kind.save = lambda self, dest: save_json(self, dest, description)
        kind.load = staticmethod(lambda src: checked(load_json(src, description)))
        return kind

    return decorate
