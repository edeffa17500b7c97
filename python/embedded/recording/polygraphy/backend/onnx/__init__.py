"""Loaders of ONNX models."""

from polygraphy.backend.onnx.loader import *  # noqa: F403
from recorded.refusal import refuser

_REASONS = {
    n: " Use onnx_graphsurgeon.import_onnx on a model that the package onnx loaded."
    for n in ("GsFromOnnx", "gs_from_onnx")
}
_REASONS.update({n: " Run `assay surgeon` on the file first." for n in (
    "FoldConstants", "fold_constants", "SetUpperBound", "set_upper_bound", "ExtractSubgraph", "extract_subgraph")})

__getattr__ = refuser("polygraphy.backend.onnx", _REASONS)
