"""Metrics of arrays, computed by assay's library."""

from polygraphy import util

_KINDS = "fiu"
"""NumPy's kinds of numbers that it takes here."""


def measure(kind, out0, out1, **options):
    """(whether it passes, metrics by name), or None where these are no arrays for it."""
    for output in (out0, out1):
        if not util.array.is_numpy(output) or output.dtype.kind not in _KINDS or not output.size:
            return None
    try:
        from assay import _native
    except ImportError:  # these modules alone
        return None
    runs = [(name, [({"output": output}, None)]) for name, output in (("0", out0), ("1", out1))]
    (_, _, _, _, outputs), = _native.compare(runs, [{"kind": kind, **options}])
    (_, _, _, passed, metrics), = outputs
    return bool(passed), dict(metrics)
