"""Where inputs come from."""

import contextlib
from collections import OrderedDict

from polygraphy import config, constants, func, mod, util
from polygraphy.comparator.struct import IterationResult, RunResults
from polygraphy.datatype import DataType
from polygraphy.exception import DataTypeConversionException, PolygraphyException
from polygraphy.json.serde import iterate_from_files, iterate_json_list
from polygraphy.logger import G_LOGGER, LogMode

np = mod.lazy_import("numpy")
torch = mod.lazy_import("torch>=1.13.0")

__all__ = ["DataLoader", "StreamingDataLoader"]


class _NumPy:
    """Random arrays of NumPy, the same for the same seed."""

    def __init__(self, seed):
        self._random = np.random.RandomState(seed)

    def integers(self, shape, dtype, low, high):
        return np.array(self._random.randint(low=low, high=high + 1, size=shape, dtype=dtype))

    def floats(self, shape, dtype, scale, shift):
        with np.errstate(invalid="ignore", over="ignore"):
            return np.array((self._random.random_sample(size=shape) * scale + shift).astype(dtype))

    def values(self, values, dtype):
        return np.array(values, dtype=dtype)


class _Torch:
    """Random tensors of PyTorch."""

    def __init__(self, seed):
        self._random = torch.Generator()
        self._random.manual_seed(seed)

    def integers(self, shape, dtype, low, high):
        return torch.randint(int(low), int(high) + 1, tuple(shape), generator=self._random, dtype=dtype)

    def floats(self, shape, dtype, scale, shift):
        return torch.rand(tuple(shape), generator=self._random, dtype=dtype) * scale + shift

    def values(self, values, dtype):
        return torch.tensor(list(values), dtype=dtype)


_SAMPLERS = {"numpy": _NumPy, "torch": _Torch}


class DataLoader:
    """Random inputs: an iterable, which also gives those of an iteration by its number."""

    def __init__(self, seed=None, iterations=None, input_metadata=None, val_range=None, data_loader_backend_module=None):
        """`seed`: of the first iteration (1); `iterations`: how many there are (1). `input_metadata`: types and shapes of inputs
        that are not left to the model, by name or pattern; of an integer input of rank 1 whose length is the number of
        extents, the extents are its values. `val_range`: (least, greatest), or these by name with "" for the others; 0 to 1
        otherwise. `data_loader_backend_module`: "numpy" or "torch"."""
        self.seed, self.iterations = util.default(seed, constants.DEFAULT_SEED), util.default(iterations, 1)
        self.user_input_metadata = util.default(input_metadata, {})
        self.data_loader_backend_module = util.default(data_loader_backend_module, "numpy")
        if self.data_loader_backend_module not in _SAMPLERS:
            G_LOGGER.critical(f"Invalid `data_loader_backend_module`: {self.data_loader_backend_module}; there are {list(_SAMPLERS)}")
        self.input_metadata = None
        """Of the model; whoever takes inputs sets it."""
        self.default_val_range = (0.0, 1.0)
        if isinstance(val_range, (tuple, list)):
            self.default_val_range = tuple(util.default(v, d) for v, d in zip(val_range, self.default_val_range))
            val_range = self.default_val_range
        self.val_range = util.default(val_range, self.default_val_range)
        if self.user_input_metadata:
            G_LOGGER.info(f"Will generate inference input data according to provided TensorMetadata: {self.user_input_metadata}")

    def __repr__(self):
        return util.make_repr("DataLoader", seed=self.seed, iterations=self.iterations, input_metadata=self.user_input_metadata or None,
                              val_range=self.val_range, data_loader_backend_module=self.data_loader_backend_module)[0]

    def _range(self, name, kind):
        return tuple(kind(v) for v in util.value_or_from_dict(self.val_range, name, self.default_val_range))

    def _native_type(self, name, dtype):
        if dtype is None:
            return None
        try:
            return DataType.to_dtype(DataType.from_dtype(dtype), self.data_loader_backend_module)
        except DataTypeConversionException:
            module = self.data_loader_backend_module
            G_LOGGER.critical(f"Could not convert data type: {dtype} to {module}, so the default data loader cannot generate a {module} array for input: {name}. "
                              "Please use a custom data loader to provide inputs. ")

    def _user_keys(self):
        """Which entry of the user's metadata an input has."""
        keys, unused = util.match_keys(list(self.user_input_metadata), list(self.input_metadata))
        for name in unused:
            if util.contains_wildcard(name):
                G_LOGGER.warning(f"Input tensor wildcard: {name} | Metadata was provided, but none of the matched inputs exist in one or more runners.")
                continue
            near = util.find_str_in_iterable(name, self.input_metadata.keys())
            G_LOGGER.warning(f"Input tensor: {name} | Metadata was provided, but the input does not exist in one or more runners."
                             + (f"\nMaybe you meant to set: {near}?" if near else ""))
        return keys

    def _are_values(self, dtype, shape, user_shape):
        """Whether the user's "shape" is what a shape tensor holds."""
        if user_shape is None or dtype is not None and not DataType.from_dtype(dtype).is_integral:
            return False
        return not util.is_shape_dynamic(shape) and len(shape) == 1 and not util.is_shape_dynamic(user_shape) and len(user_shape) == shape[0]

    def _closed(self, name, shape):
        """The shape with its open extents closed: at their lower bound, the upper one, or 1."""
        if not util.is_shape_dynamic(shape):
            return shape
        bounds = getattr(shape, "min", None), getattr(shape, "max", None)
        closed = next((b for b in bounds if b is not None), None)
        closed = util.override_dynamic_shape(shape) if closed is None else closed
        if not util.is_valid_shape_override(closed, shape):
            G_LOGGER.critical(f"Input tensor: {name} | Cannot override original shape: {shape} to {closed}")
        G_LOGGER.warning(f"Input tensor: {name} [shape={shape}] | Will generate data of shape: {closed}.\n"
                         "If this is incorrect, please provide a custom data loader.", mode=LogMode.ONCE)
        return closed

    def _sample(self, sampler, name, dtype, shape):
        ours = None if dtype is None else DataType.from_dtype(dtype)
        if ours is not None and (ours.is_integral or ours == DataType.BOOL):
            low, high = self._range(name, int if ours.is_integral else bool)
            G_LOGGER.verbose(f"Input tensor: {name} | Generating input data in range: [{low}, {high}]", mode=LogMode.ONCE)
            return sampler.integers(shape, dtype, low, high)
        low, high = self._range(name, float)
        G_LOGGER.verbose(f"Input tensor: {name} | Generating input data in range: [{low}, {high}]", mode=LogMode.ONCE)
        scale, shift = high - low, low
        if util.is_inf(low):  # which no number is added to
            scale, shift = low, 0
        return sampler.floats(shape, dtype, high if util.is_inf(high) else scale, shift)

    def _input(self, sampler, name, dtype, shape, user):
        dtype = self._native_type(name, dtype)
        if user is not None:
            user_dtype, user_shape = user
            dtype = util.default(self._native_type(name, user_dtype), dtype)
            if self._are_values(dtype, shape, user_shape) and list(user_shape) != list(shape):
                if all(v >= 0 for v in user_shape):
                    buffer = sampler.values(user_shape, dtype)
                    G_LOGGER.info(f"Assuming {name} is a shape tensor. Setting input values to: {buffer}. If these values are not correct, please set it correctly in "
                                  "'input_metadata' or by providing --input-shapes", mode=LogMode.ONCE)
                    return buffer
            if user_shape is None:
                pass
            elif util.is_shape_dynamic(user_shape):
                G_LOGGER.warning(f"Input tensor: {name} [shape={shape}] | Provided input shape: {user_shape} is dynamic, and data are of fixed shapes. "
                                 "Will use default shape instead.")
            elif util.is_valid_shape_override(user_shape, shape):
                shape = user_shape
            else:
                G_LOGGER.warning(f"Input tensor: {name} [shape={shape}] | Cannot use provided custom shape: {user_shape} to override tensor shape. "
                                 "Will use default shape instead.", mode=LogMode.ONCE)
        return self._sample(sampler, name, dtype, self._closed(name, shape))

    def __getitem__(self, index):
        """Arrays by name."""
        if index >= self.iterations:
            raise IndexError(index)
        G_LOGGER.verbose(lambda: f"Generating data using numpy seed: {self.seed + index}")
        sampler = _SAMPLERS[self.data_loader_backend_module](self.seed + index)
        if self.input_metadata is None:
            self.input_metadata = self.user_input_metadata
        keys, buffers = self._user_keys(), OrderedDict()
        for name, (dtype, shape) in self.input_metadata.items():
            user = self.user_input_metadata[keys[name]] if name in keys else None
            buffers[name] = self._input(sampler, name, dtype, shape, user)
        if isinstance(self.val_range, dict):
            util.check_sequence_contains(self.val_range.keys(), [*self.input_metadata.keys(), ""], name="val_range", log_func=G_LOGGER.warning,
                                         check_missing=False)
        return buffers


class StreamingDataLoader:
    """Inputs out of files and folders of files, one iteration after the other."""

    def __init__(self, paths, allow_dirs=True):
        self.paths, self.allow_dirs = paths, allow_dirs

    def __repr__(self):
        return util.make_repr("StreamingDataLoader", self.paths, allow_dirs=self.allow_dirs)[0]

    def __iter__(self):
        yield from iterate_from_files(self.paths, lambda path: iterate_json_list(path, description="input data"), allow_dirs=self.allow_dirs)


def _cast(buffer, name, dtype):
    there = util.array.dtype(buffer)
    if there == dtype:
        return buffer
    G_LOGGER.warning(f"Input tensor: {name} | Buffer dtype ({there}) does not match expected input dtype ({dtype}), attempting to cast.")
    with contextlib.suppress(DataTypeConversionException):
        theirs = DataType.to_dtype(dtype, "numpy")
        limits = np.iinfo(theirs) if dtype.is_integral else np.finfo(theirs) if dtype.is_floating else None
        if limits is not None and util.array.any((buffer < limits.min) | (buffer > limits.max)):
            G_LOGGER.warning(f"Some values in this input are out of range of {dtype}. Unexpected behavior may ensue!")
    return util.array.cast(buffer, dtype)


def coerce_buffer(buffer, name, dtype, shape):
    """An array as an input of that type and shape, cast and reshaped where it has to be."""
    if dtype is not None:
        buffer = _cast(buffer, name, dtype)
    if shape is not None and not util.is_valid_shape_override(util.array.shape(buffer), shape):
        G_LOGGER.warning(f"Input tensor: {name} | Buffer shape ({util.array.shape(buffer)}) does not match expected input shape ({shape}). "
                         "Attempting to transpose/reshape.")
        buffer = util.try_match_shape(buffer, shape)
        if not util.is_valid_shape_override(util.array.shape(buffer), shape):
            G_LOGGER.critical(f"Input tensor: {name} | Cannot reuse input data due to mismatch in shape or data type.\n"
                              f"Note: Provided input: [dtype={util.array.dtype(buffer)}, shape={util.array.shape(buffer)}], "
                              f"Requested input: [dtype={dtype}, shape={shape}]")
    return buffer


def coerce_feed_dict(feed_dict, input_metadata, fallback=None):
    """Arrays by name as the inputs of a model. `fallback`: gives an input by name that cannot be made of them."""
    inputs = OrderedDict()
    for index, (name, (dtype, shape)) in enumerate(input_metadata.items()):
        try:
            matched = util.find_str_in_iterable(name, feed_dict.keys(), index)
            if matched is None:
                G_LOGGER.critical(f"Input tensor: {name} | Does not exist in the provided input data.")
            if matched != name:
                G_LOGGER.warning(f"Input tensor: {name} | Buffer name ({matched}) does not match expected input name ({name}).")
            inputs[name] = coerce_buffer(feed_dict[matched], name, dtype, shape)
        except PolygraphyException:
            if fallback is None:
                raise
            G_LOGGER.warning(f"Could not use the provided buffer for input: {name}. Attempting to reload it from the data loader, which has to give "
                             "iterations by their number.")
            try:
                inputs[name] = fallback(name)
            except Exception as error:
                G_LOGGER.critical(f"Input tensor: {name} | The provided input does not fit, and the data loader gives no other: {error}\n"
                                  "If the runners run different models, use a data loader that has inputs for each.")
    return inputs


def check_feed_dict(obj, source="data loader"):
    """Throws where it is not arrays by name."""
    if not isinstance(obj, RunResults):
        with contextlib.suppress(Exception):
            if all(isinstance(name, str) for name, _ in obj.items()):
                return
    hint = "" if not isinstance(obj, RunResults) else (
        "\nHint: This is a `RunResults` object (e.g. generated with `--save-outputs`). Use the `data merge` tool to convert it to a feed_dict-compatible format.")
    G_LOGGER.critical(f"The {source} returned an object that cannot be recognized as a feed_dict (Dict[str, Union[np.ndarray, torch.Tensor, DeviceView]]):\n"
                      f"Note: The object was:\n{obj}.{hint}")


class DataLoaderCache:
    """The inputs of a data loader, for several runners; cast and reshaped for each."""

    def __init__(self, data_loader):
        self.data_loader, self.input_metadata, self.cache = data_loader, None, []

    @func.constantmethod
    def __len__(self):
        return len(self.cache)

    @func.constantmethod
    def __getitem__(self, iteration):
        if iteration >= len(self.cache):
            raise IndexError(iteration)
        again = {}

        def reload(name):
            if not again:
                again.update(self.data_loader[iteration])
            return again[name]

        return coerce_feed_dict(self.cache[iteration], self.input_metadata, reload)

    def set_input_metadata(self, input_metadata):
        """What the next runner takes. The first time the inputs are loaded."""
        self.input_metadata = input_metadata
        with contextlib.suppress(AttributeError):  # a list, or a generator
            self.data_loader.input_metadata = input_metadata
        if self.cache:
            return
        G_LOGGER.verbose("Loading inputs from data loader")
        for feed_dict in self.data_loader:
            check_feed_dict(feed_dict)
            # Large ones are kept on disk, as results are.
            self.cache.append(IterationResult(feed_dict) if config.ARRAY_SWAP_THRESHOLD_MB >= 0 else feed_dict)
        if not self.cache:
            G_LOGGER.warning("Data loader did not yield any input data.")
