"""Data as people have them: images with borders and plain grounds, texts with padding, tables. In alike numbers roundings do not cancel,
so sums err more than in noise. Each entry of KINDS takes a generator and a shape; the last dimension is a picture's row, a token's
numbers or a table's columns."""
import numpy as np
from onnx import helper


def planes(shape):
    """The shape as (planes, rows, columns)."""
    shape = tuple(shape)
    if len(shape) < 2:
        return 1, 1, int(np.prod(shape))
    return int(np.prod(shape[:-2])), shape[-2], shape[-1]


def photo(r, s):
    p, h, w = planes(s)
    waves = np.add.outer(np.sin(7 * np.linspace(0, 1, h)), np.cos(5 * np.linspace(0, 1, w))) / 4 + 0.5
    return np.clip(waves + 0.05 * r.standard_normal((p, h, w)), 0, 1)


def boxed(inside, border):
    """A picture between bars above and below, or at both sides if it is but one row."""
    out = np.full(inside.shape, border)
    rows, columns = inside.shape[1:]
    if rows > 3:
        out[:, rows // 4:rows - rows // 4] = inside[:, rows // 4:rows - rows // 4]
    else:
        out[:, :, columns // 4:columns - columns // 4] = inside[:, :, columns // 4:columns - columns // 4]
    return out


def logo(r, s):
    p, h, w = planes(s)
    out = np.ones((p, h, w))
    colour = np.resize([0.9, 0.1, 0.05], p).reshape(p, 1, 1)
    out[:, h // 3:h // 3 + max(1, h // 5), w // 4:w // 4 + max(1, w // 3)] = colour
    return out


def spots(r, s):
    p, h, w = planes(s)
    return np.where(r.uniform(size=(p, h, w)) < 0.02, r.uniform(0.5, 1, (p, h, w)), 0.0)


def silu_map(r, s):
    """What an activation leaves of a flat picture: one value nearly everywhere, and spikes."""
    p, h, w = planes(s)
    x = np.where(r.uniform(size=(p, h, w)) < 0.05, r.uniform(20, 50, (p, h, w)), -0.11 + 1e-6 * r.standard_normal((p, h, w)))
    return x / (1 + np.exp(-x))


def repeated_tokens(r, s):
    p, h, w = planes(s)
    return r.standard_normal((4, w))[r.integers(0, 4, (p, h))]


def padded_text(r, s):
    p, h, w = planes(s)
    x = r.standard_normal((p, h, w))
    x[:, max(1, h // 3):] = 0
    return x


def positions(r, s):
    p, h, w = planes(s)
    return np.broadcast_to(np.sin(np.outer(np.arange(h), 10000 ** (-np.arange(w) / w))), (p, h, w))


def one_hot(r, s):
    p, h, w = planes(s)
    return np.eye(w)[r.integers(0, w, (p, h))]


def heavy_tailed(r, s):
    return np.clip(r.standard_cauchy(planes(s)), -1e4, 1e4)


def constant_columns(r, s):
    p, h, w = planes(s)
    x = r.standard_normal((p, h, w))
    x[..., ::2] = np.resize([0.1, 3.0, -7.3, 1e3], (w + 1) // 2)
    return x


def counts(r, s):
    p, h, w = planes(s)
    return r.integers(0, 12, (p, h, w)) * np.resize([1, 0.25, 1000, 0.1], w)


def with_gaps(r, s):
    x = r.standard_normal(planes(s)) * 3 + 20
    x[r.uniform(size=x.shape) < 0.3] = -1
    return x


KINDS = {
    # images
    "letterbox": lambda r, s: boxed(photo(r, s), 114 / 255),
    "letterbox_255": lambda r, s: np.round(boxed(photo(r, s) * 255, 114.0)),
    "logo_on_white": logo,
    "logo_normalised": lambda r, s: (logo(r, s) - 0.456) / 0.224,
    "flat_tenth": lambda r, s: np.full(planes(s), 0.1),
    "flat_255": lambda r, s: np.full(planes(s), 237.3),
    "photo": photo,
    "photo_255": lambda r, s: np.round(photo(r, s) * 255),
    "gradient": lambda r, s: np.broadcast_to(np.linspace(0, 1, planes(s)[2]), planes(s)),
    "stripes": lambda r, s: np.broadcast_to(np.where(np.arange(planes(s)[2]) % 8 < 4, 0.2, 0.7), planes(s)),
    "spots_on_black": spots,
    "silu_map": silu_map,
    # texts
    "repeated_tokens": repeated_tokens,
    "padded_text": padded_text,
    "positions": positions,
    "one_hot": one_hot,
    # tables
    "heavy_tailed": heavy_tailed,
    "constant_columns": constant_columns,
    "counts": counts,
    "with_gaps": with_gaps,
}


def whole_numbers(name, kind, rng, shape):
    """By the name of an input: masks are ones and then zeros, positions count up, all others are tokens."""
    if "mask" in name:
        keep = shape[-1] if kind in ("photo", "positions") else max(1, shape[-1] * 2 // 3)
        return np.broadcast_to(np.arange(shape[-1]) < keep, shape)
    if "position" in name:
        return np.broadcast_to(np.arange(shape[-1]) if shape else 5, shape)
    ids = rng.integers(1, 40, shape)
    if kind == "padded_text":
        ids[..., max(1, shape[-1] // 3):] = 0
    elif kind == "repeated_tokens":
        ids = rng.choice([3, 17], shape)
    elif kind.startswith("flat"):
        ids = np.full(shape, 7)
    return ids


def feed(model, kind, seed):
    """Inputs for a model, by name."""
    rng = np.random.default_rng(seed)
    data = {}
    weights = {w.name for w in model.graph.initializer}
    for v in model.graph.input:
        if v.name in weights:
            continue
        shape = [d.dim_value for d in v.type.tensor_type.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type)
        if np.issubdtype(dtype, np.floating) or dtype.name == "bfloat16":
            with np.errstate(over="ignore"):
                data[v.name] = np.ascontiguousarray(KINDS[kind](rng, shape)).reshape(shape).astype(dtype)
        else:
            data[v.name] = np.ascontiguousarray(whole_numbers(v.name, kind, rng, shape)).astype(dtype)
    return data
