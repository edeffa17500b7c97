"""Arithmetic on shapes: tuples of extents, -1 for an open one, None where the rank is not known."""

from .errors import RecordingError


def ceil_div(a, b):
    return -(-a // b)


def volume(shape):
    """The product; None where an extent is open or the rank is not known."""
    if shape is None or any(d < 0 for d in shape):
        return None
    result = 1
    for d in shape:
        result *= d
    return result


def broadcast(shapes, what):
    """The common shape of operands of equal rank, as TensorRT asks for. Throws RecordingError."""
    if any(s is None for s in shapes):
        return None
    if len({len(s) for s in shapes}) > 1:
        raise RecordingError(f"{what} needs operands of equal rank, and these are {' and '.join(map(text, shapes))}. "
                             "Give the smaller one leading extents of 1 by a shuffle layer.")
    return tuple(_common(extents, shapes, what) for extents in zip(*shapes))


def _common(extents, shapes, what):
    known = {d for d in extents if d not in (1, -1)}
    if len(known) > 1:
        raise RecordingError(f"{what} cannot broadcast {' and '.join(map(text, shapes))}: extents must be equal or 1.")
    if known:
        return known.pop()
    return -1 if -1 in extents else 1


def onnx_broadcast(a, b):
    """As ONNX broadcasts, with ranks that differ; None where it does not fit or is not known."""
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    try:
        return broadcast([a, b], "")
    except RecordingError:
        return None


def axis_of(axis, rank, what):
    """An axis counted from 0. Throws RecordingError."""
    if not -rank <= axis < rank:
        raise RecordingError(f"{what} is axis {axis}, and the tensor has {rank} axes.")
    return axis % rank


def axes_of_mask(mask, rank, what):
    """The axes whose bits are set. Throws RecordingError where there is none, or one beyond the rank."""
    axes = [i for i in range(max(rank, mask.bit_length())) if mask >> i & 1]
    if not axes:
        raise RecordingError(f"{what} names no axis: it is a bit mask, and axis 1 is `1 << 1`.")
    if axes[-1] >= rank:
        raise RecordingError(f"{what} is the bit mask {mask:#b}, which names axis {axes[-1]}, and the tensor has {rank} "
                             "axes: axis 1 is `1 << 1`.")
    return axes


def reshaped(shape, dims, zero_is_placeholder=True):
    """The shape that a reshape gives. Throws RecordingError where it cannot be."""
    copied = {i for i, d in enumerate(dims) if d == 0} if zero_is_placeholder else set()
    inferred = [i for i, d in enumerate(dims) if d == -1]
    if len(inferred) > 1:
        raise RecordingError(f"A shuffle's reshape_dims {text(dims)} leave more than one extent to be inferred.")
    if shape is None:
        return tuple(-1 if i in copied else d for i, d in enumerate(dims))
    if copied and max(copied) >= len(shape):
        raise RecordingError(f"A shuffle's reshape_dims {text(dims)} copy extent {max(copied)}, which {text(shape)} lacks.")
    left = volume([e for i, e in enumerate(shape) if i not in copied])
    given = volume([d for i, d in enumerate(dims) if i not in copied and d != -1])
    result = [shape[i] if i in copied else d for i, d in enumerate(dims)]
    if left is not None and inferred:
        if not given or left % given:
            raise RecordingError(
                f"A shuffle cannot make {text(dims)} of {text(shape)}: {left} elements are no multiple of {given}.")
        result[inferred[0]] = left // given
    elif left is not None and left != given:
        raise RecordingError(f"A shuffle cannot make {text(dims)} of {text(shape)}: they hold {given} and {left} elements.")
    return tuple(result)


def text(shape):
    return "(rank not known)" if shape is None else "(" + ", ".join(map(str, shape)) + ")"
