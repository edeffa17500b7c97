"""Small things that several modules use."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Union

Path = Union[str, "os.PathLike[str]"]
Extent = Union[int, str, None]
"""A number, the name of a symbol, or None for one that is not known."""
Shape = Sequence[Extent]
Feed = Mapping[str, Any]
"""Arrays by the names of inputs: NumPy's, anything with the buffer protocol or DLPack on the CPU."""


class TensorInfo(NamedTuple):
    """An input, output or initializer, as a model declares it."""

    name: str
    type: str
    """For people: ``float32[1, 'batch', ?]``, ``seq(float32)``."""
    dtype: str | None
    """NumPy's name of the element type (``float32``, ``bfloat16``, ``string``); None where it is not known."""
    shape: tuple[Extent, ...] | None
    """Extents: numbers, names of symbols, None for unknown ones; None where even the rank is unknown."""

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


def infos(rows: Iterable[tuple[str, str, Any, Any]]) -> list[TensorInfo]:
    return [TensorInfo(*row) for row in rows]


def table(headers: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """An HTML table for notebooks; every text is escaped."""

    def cells(tag: str, row: Sequence[object]) -> str:
        return "".join(f"<{tag} style='text-align:left'>{html.escape(_text(c))}</{tag}>" for c in row)

    head = f"<thead><tr>{cells('th', headers)}</tr></thead>" if headers else ""
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table class='assay'>{title}{head}<tbody>{body}</tbody></table>"


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
