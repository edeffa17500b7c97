"""Small things that several modules use."""

from __future__ import annotations

import os
import re
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
        return visible(f"{self.name}: {self.type}")


def infos(rows: Iterable[tuple[str, str, Any, Any]]) -> list[TensorInfo]:
    return [TensorInfo(*row) for row in rows]


# What a terminal or a browser would act on: control characters, those that turn the direction of writing.
_ACTING = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Names of a file as they may be shown anywhere: what would be acted on appears as ``\\x1b``, ``\\u202e``, ..., as in
    the program's log."""

    def escaped(found: re.Match[str]) -> str:
        point = ord(found[0])
        if 0xDC80 <= point <= 0xDCFF:  # a byte that is not UTF-8
            point -= 0xDC00
        return {10: "\\n", 13: "\\r"}.get(point) or (f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}")

    return _ACTING.sub(escaped, text)


def table(headers: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "", *, bold: Iterable[int] = ()) -> str:
    """An HTML table for notebooks; every text is escaped. Rows after the first fifty are there, and folded away. `bold`: the
    positions of rows that stand out."""
    marked = set(bold)
    lines = [_line("td", row, i in marked) for i, row in enumerate(rows)]
    title = f"<caption>{_html(caption)}</caption>" if caption else ""
    head = f"<thead>{_line('th', headers)}</thead>" if headers else ""
    shown, rest = lines[:_SHOWN_ROWS], lines[_SHOWN_ROWS:]
    text = f"<table class='assay'>{title}{head}<tbody>{''.join(shown)}</tbody></table>"
    if rest:
        text += folded(f"{len(rest)} more", f"<table class='assay'>{head}<tbody>{''.join(rest)}</tbody></table>")
    return text


def folded(title: str, content: str) -> str:
    """HTML that a click on `title` opens."""
    return f"<details><summary>{_html(title)}</summary>{content}</details>"


_SHOWN_ROWS = 50


def _line(tag: str, row: Sequence[object], is_bold: bool = False) -> str:
    style = "text-align:left" + (";font-weight:bold" if is_bold else "")
    return f"<tr>{''.join(f'<{tag} style={style!r}>{_html(c)}</{tag}>' for c in row)}</tr>"


def _html(value: object) -> str:
    if value is None:
        return ""
    import html  # costs as much as a tenth of importing the package

    return html.escape(visible(f"{value:.4g}" if isinstance(value, float) else str(value)))
