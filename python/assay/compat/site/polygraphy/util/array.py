"""The same functions for NumPy's arrays, PyTorch's tensors and memory of a device.

What takes several arrays wants them of one kind; the first decides."""

import builtins
import functools

from polygraphy import mod
from polygraphy.datatype import DataType

np = mod.lazy_import("numpy")
torch = mod.lazy_import("torch>=1.13.0")


def is_torch(obj):
    """Whether it is a tensor of PyTorch."""
    return type(obj).__module__.split(".")[0] == "torch" and torch.is_importable() and isinstance(obj, torch.Tensor)


def is_numpy(obj):
    """Whether it is an array, or a scalar, of NumPy."""
    return np.is_importable() and isinstance(obj, (np.ndarray, np.generic))


def is_device_view(obj):
    """Whether it is a DeviceView or a DeviceArray."""
    from polygraphy.cuda import DeviceView

    return isinstance(obj, DeviceView)


def _kind(obj):
    for kind, check in (("numpy", is_numpy), ("torch", is_torch), ("view", is_device_view)):
        if check(obj):
            return kind
    return "number" if isinstance(obj, (int, float, bool)) else None


def _by_kind(function):
    """The decorated function gives a dictionary from the kind of array to what is done with one. A kind that it lacks
    is refused; a plain number counts as an array of NumPy."""
    ways = function()

    @functools.wraps(function)
    def call(obj, *args, **kwargs):
        kind = _kind(obj)
        if kind == "number":
            kind, obj = "numpy", np.asarray(obj)
        if kind not in ways:
            from polygraphy.logger import G_LOGGER

            G_LOGGER.critical(f"{function.__name__}() has no implementation for arrays of type: {type(obj)}")
        return ways[kind](obj, *args, **kwargs)

    return call


def _both(of_numpy, of_torch):
    return {"numpy": of_numpy, "torch": of_torch}


# Conversion.

@_by_kind
def to_torch():
    """As a tensor; numbers are shared where they can be."""
    return {"numpy": lambda a: torch.from_numpy(np.asarray(a)), "torch": lambda t: t, "view": lambda v: torch.from_numpy(v.numpy())}


@_by_kind
def to_numpy():
    """As an array; numbers are shared where they can be."""
    return {"numpy": lambda a: a, "torch": lambda t: t.detach().cpu().numpy(), "view": lambda v: v.numpy()}


# Attributes.

@_by_kind
def nbytes():
    return {"numpy": lambda a: a.nbytes, "torch": lambda t: t.nelement() * t.element_size(), "view": lambda v: v.nbytes}


@_by_kind
def size():
    """The number of elements."""
    from math import prod

    return {"numpy": lambda a: a.size, "torch": lambda t: t.nelement(), "view": lambda v: prod(v.shape)}


@_by_kind
def data_ptr():
    """The address of the first element."""
    return {"numpy": lambda a: a.ctypes.data, "torch": lambda t: t.data_ptr(), "view": lambda v: v.ptr}


@_by_kind
def is_on_cpu():
    return {"numpy": lambda a: True, "torch": lambda t: t.device.type == "cpu", "view": lambda v: False}


@_by_kind
def is_on_gpu():
    return {"numpy": lambda a: False, "torch": lambda t: t.device.type == "cuda", "view": lambda v: True}


@_by_kind
def dtype():
    """A DataType."""
    return {"numpy": lambda a: DataType.from_dtype(a.dtype, "numpy"), "torch": lambda t: DataType.from_dtype(t.dtype, "torch"),
            "view": lambda v: v._dtype}


@_by_kind
def shape():
    return dict.fromkeys(("numpy", "torch", "view"), lambda a: tuple(a.shape))


@_by_kind
def is_contiguous():
    """Whether elements lie in row-major order without gaps."""
    return {"numpy": lambda a: a.flags["C_CONTIGUOUS"], "torch": lambda t: t.is_contiguous(), "view": lambda v: True}


# Memory.

def view(obj, dtype, shape):
    """The same memory, in row-major order, as another type and shape."""
    if is_device_view(obj):
        return obj.view(shape=shape, dtype=dtype) if hasattr(obj, "view") else type(obj)(obj.ptr, shape, dtype)
    if not is_contiguous(obj):
        from polygraphy.logger import G_LOGGER

        G_LOGGER.critical("Input array to view() must be contiguous in memory; make_contiguous() gives one that is.")
    if is_torch(obj):
        wanted = DataType.to_dtype(dtype, "torch")
        shape = shape if isinstance(shape, int) else tuple(shape)
        # A tensor without axes cannot change the size of its elements.
        return (obj if obj.dtype == wanted else obj.reshape(-1).view(wanted)).reshape(shape)
    wanted = DataType.to_dtype(dtype, "numpy")
    obj = np.asarray(obj)
    return (obj if obj.dtype == wanted else obj.reshape(-1).view(wanted)).reshape(shape)


@_by_kind
def make_contiguous():
    """In row-major order without gaps; copied only where it is not."""
    return {"numpy": lambda a: a if a.flags["C_CONTIGUOUS"] else np.ascontiguousarray(a), "torch": lambda t: t.contiguous(),
            "view": lambda v: v}


@_by_kind
def resize_or_reallocate():
    """Another number of elements, in place where that can be done. What they are is open."""

    def of_numpy(array, shape):
        if array.shape == tuple(np.atleast_1d(shape)):
            return array
        try:
            array.resize(shape, refcheck=False)
        except ValueError:  # memory of another
            return np.empty(shape, dtype=array.dtype)
        return array

    return {"numpy": of_numpy, "torch": lambda t, shape: t.resize_(shape), "view": lambda v, shape: v.resize(shape)}


@_by_kind
def cast():
    """With elements of another DataType."""
    return _both(lambda a, dtype: np.array(a.astype(DataType.to_dtype(dtype, "numpy"))),
                 lambda t, dtype: t.to(DataType.to_dtype(dtype, "torch")))


@_by_kind
def reshape():
    return _both(lambda a, shape: a.reshape(shape), lambda t, shape: t.reshape(tuple(shape)))


@_by_kind
def transpose():
    """With its axes in another order."""
    return _both(lambda a, axes: a.transpose(axes), lambda t, axes: t.permute(tuple(axes)))


@_by_kind
def pad():
    """With values before and after, (before, after) for each of the axes (all where None are given)."""

    def widths(rank, pads, axes):
        all_axes = [(0, 0)] * rank
        for axis, amount in zip(range(rank) if axes is None else axes, pads):
            all_axes[axis] = tuple(amount)
        return all_axes

    def of_numpy(array, pads, axes=None, mode="constant", constant_val=0):
        more = {"constant_values": constant_val} if mode == "constant" else {}
        return np.pad(array, widths(array.ndim, pads, axes), mode=mode, **more)

    def of_torch(tensor, pads, axes=None, mode="constant", constant_val=0):
        flat = [n for pair in reversed(widths(tensor.dim(), pads, axes)) for n in pair]
        return torch.nn.functional.pad(tensor, flat, mode=mode, value=constant_val if mode == "constant" else None)

    return _both(of_numpy, of_torch)


@_by_kind
def ravel():
    """All elements, in one row."""
    return _both(lambda a: a.ravel(), lambda t: t.ravel())


# Questions.

@_by_kind
def any():
    return _both(lambda a: np.any(a), lambda t: torch.any(t))


@_by_kind
def all():
    return _both(lambda a: np.all(a), lambda t: torch.all(t))


def _as_kind(obj, like):
    """The second array as one of the first's kind."""
    if is_torch(like) and not is_torch(obj):
        return torch.as_tensor(np.asarray(obj))
    if is_numpy(like) and (is_torch(obj) or is_device_view(obj)):
        return to_numpy(obj)
    return obj


def _pairwise(name, of_numpy, of_torch, about):
    def function(lhs, rhs):
        return (of_torch if is_torch(lhs) else of_numpy)(lhs, _as_kind(rhs, lhs))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = about
    return function


def equal(lhs, rhs):
    """Whether shapes and all elements are equal."""
    if is_device_view(lhs):
        lhs = lhs.numpy()
    rhs = _as_kind(rhs, lhs)
    if is_torch(lhs):
        return tuple(lhs.shape) == tuple(rhs.shape) and bool(torch.all(lhs == rhs))
    return bool(np.array_equal(lhs, rhs))


def allclose(lhs, rhs, rtol=1e-05, atol=1e-08):
    """Whether all elements are nearly equal."""
    rhs = _as_kind(rhs, lhs)
    if is_torch(lhs):
        return bool(torch.allclose(lhs, rhs.to(lhs.dtype), rtol=rtol, atol=atol))
    return bool(np.allclose(lhs, rhs, rtol=rtol, atol=atol))


def unravel_index(index, shape):
    """Where the element with that number is."""
    return tuple(int(i) for i in np.unravel_index(int(index), tuple(shape)))


@_by_kind
def argwhere():
    """Where elements are not 0, a row each."""
    return _both(lambda a: np.argwhere(a), lambda t: torch.nonzero(t))


@_by_kind
def isfinite():
    return _both(lambda a: np.isfinite(a), lambda t: torch.isfinite(t))


@_by_kind
def isinf():
    return _both(lambda a: np.isinf(a), lambda t: torch.isinf(t))


@_by_kind
def isnan():
    return _both(lambda a: np.isnan(a), lambda t: torch.isnan(t))


@_by_kind
def logical_not():
    return _both(lambda a: np.logical_not(a), lambda t: torch.logical_not(t))


logical_xor = _pairwise("logical_xor", lambda a, b: np.logical_xor(a, b), lambda a, b: torch.logical_xor(a, b), "Which of two is true, not both.")
logical_and = _pairwise("logical_and", lambda a, b: np.logical_and(a, b), lambda a, b: torch.logical_and(a, b), "Where both are true.")
greater = _pairwise("greater", lambda a, b: np.greater(a, b), lambda a, b: torch.gt(a, b), "Where the first is greater.")


# Arithmetic.

subtract = _pairwise("subtract", lambda a, b: np.subtract(a, b), lambda a, b: a - b, "The difference.")
multiply = _pairwise("multiply", lambda a, b: np.multiply(a, b), lambda a, b: a * b, "The product.")


def _quotient(a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.array(np.divide(a, b))


divide = _pairwise("divide", _quotient, lambda a, b: a / b, "The quotient; by 0: infinite, or NaN.")


@_by_kind
def power():
    return _both(lambda a, exponent: np.power(a, exponent), lambda t, exponent: torch.pow(t, exponent))


@_by_kind
def sqrt():
    return _both(lambda a: np.sqrt(a), lambda t: torch.sqrt(t))


@_by_kind
def abs():
    return _both(lambda a: np.array(np.abs(a)), lambda t: t if t.dtype == torch.bool else torch.abs(t))


def where(cond, lhs, rhs):
    """Elements of the first where the condition holds, of the second elsewhere."""
    if is_torch(cond):
        return torch.where(cond, torch.as_tensor(lhs, dtype=rhs.dtype), rhs) if not is_torch(lhs) else torch.where(cond, lhs, rhs)
    return np.array(np.where(cond, lhs, rhs))


# Over all elements.

def _float(tensor):
    """Of PyTorch's types those in which means and the like are defined."""
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.to(torch.float32)


@_by_kind
def max():
    return _both(lambda a: np.amax(a), lambda t: torch.max(t))


@_by_kind
def argmax():
    """The number of the greatest element."""
    return _both(lambda a: int(np.argmax(a)), lambda t: int(torch.argmax(t.to(torch.uint8) if t.dtype == torch.bool else t)))


@_by_kind
def min():
    return _both(lambda a: np.amin(a), lambda t: torch.min(t))


@_by_kind
def argmin():
    """The number of the least element."""
    return _both(lambda a: int(np.argmin(a)), lambda t: int(torch.argmin(t.to(torch.uint8) if t.dtype == torch.bool else t)))


@_by_kind
def sum():
    return _both(lambda a: np.sum(a), lambda t: torch.sum(t))


@_by_kind
def mean():
    """The mean; `dtype`: what it is computed in."""

    def of_numpy(array, dtype=None):
        return np.mean(array, dtype=DataType.to_dtype(dtype, "numpy") if dtype is not None else None)

    def of_torch(tensor, dtype=None):
        wanted = DataType.to_dtype(dtype, "torch") if dtype is not None else None
        return torch.mean(tensor if wanted is not None else _float(tensor), dtype=wanted)

    return _both(of_numpy, of_torch)


@_by_kind
def std():
    """The standard deviation of just these numbers."""
    return _both(lambda a: np.std(a), lambda t: torch.std(_float(t), unbiased=False))


@_by_kind
def var():
    """The variance of just these numbers."""
    return _both(lambda a: np.var(a), lambda t: torch.var(_float(t), unbiased=False))


@_by_kind
def median():
    """The middle number, or the mean of the two in the middle."""

    def of_torch(tensor):
        if tensor.nelement() == 0:
            return torch.tensor(float("nan"))
        flat = torch.sort(_float(tensor).ravel()).values
        middle = flat.nelement() // 2
        return flat[middle] if flat.nelement() % 2 else (flat[middle - 1] + flat[middle]) / 2

    return _both(lambda a: np.median(a), of_torch)


@_by_kind
def quantile():
    """A number that the part `q` of all is not above; between two elements by their distance."""

    def of_numpy(array, q):
        return np.inf if array.size == 0 else np.quantile(array, q)

    def of_torch(tensor, q):
        return np.inf if tensor.nelement() == 0 else torch.quantile(_float(tensor), q)

    return _both(of_numpy, of_torch)


@_by_kind
def topk():
    """(the greatest `k` values along an axis, or as many as there are; their places)."""

    def of_numpy(array, k, axis):
        places = np.argsort(-array, axis=axis, kind="stable")
        places = np.take(places, np.arange(builtins.min(k, array.shape[axis])), axis=axis)
        return np.take_along_axis(array, places, axis=axis), places

    def of_torch(tensor, k, axis):
        k = builtins.min(k, tensor.shape[axis])
        # Half numbers have no such function on the CPU; equal elements in their order.
        places = torch.sort(_float(tensor), dim=axis, descending=True, stable=True).indices.narrow(axis, 0, k)
        return torch.gather(tensor, axis, places), places

    return _both(of_numpy, of_torch)


@_by_kind
def histogram():
    """(how many elements are in each of ten equal bins, the bins' edges)."""

    def of_numpy(array, range=None):
        counts, edges = np.histogram(array, bins=10, range=range)
        return counts.astype(np.asarray(array).dtype if np.asarray(array).dtype != np.bool_ else np.int64), edges

    def of_torch(tensor, range=None):
        counts, edges = np.histogram(tensor.detach().cpu().numpy(), bins=10, range=None if range is None else tuple(map(float, range)))
        return torch.from_numpy(counts), torch.from_numpy(edges.astype(np.float32))

    return _both(of_numpy, of_torch)
