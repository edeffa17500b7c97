"""Evaluations over data sets: backends against labels, a golden backend or float64, in parts that merge to the same bytes."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ._library import follow_level, native

if TYPE_CHECKING:
    from ._compare import Runner

    Path = str | os.PathLike[str]

LABELS = "labels"


@dataclass(frozen=True)
class Metric:
    """A metric of an output of a backend.

    `value` is a proportion, a mean or a perplexity over `count` finite observations, with the 95 % interval `low` to
    `high`; None where there is none. `nan` and the infinities are counted apart. `worst`: samples with their values, the
    worst first.
    """

    metric: str
    backend: str
    output: str
    kind: str
    value: float | None
    low: float | None
    high: float | None
    deviation: float | None
    least: float | None
    greatest: float | None
    count: int
    nan: int
    negative_infinity: int
    positive_infinity: int
    worst: list[tuple[int, float]] = field(repr=False)


class Evaluation:
    """The result of an evaluation, of all samples or of some; `text` is what `assay eval -o` writes, byte for byte."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._content: dict[str, Any] = json.loads(text)

    @classmethod
    def load(cls, path: Path) -> Evaluation:
        """Reads and checks a file. Raises InvalidArgument for one that is damaged or no result."""
        return cls(native.merge_evaluation_files([os.fspath(path)], "", True))

    def save(self, path: Path) -> None:
        """Writes the file, whole or not at all."""
        folder, name = os.path.split(os.path.abspath(os.fspath(path)))
        with tempfile.NamedTemporaryFile("w", dir=folder, prefix=f".{name}.", delete=False, newline="") as file:
            try:
                file.write(self.text)
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, os.path.join(folder, name))
            except BaseException:
                os.unlink(file.name)
                raise

    @property
    def samples(self) -> int | None:
        """Of the whole data set; None as long as a stream has not ended."""
        count: int | None = self._content["samples"]
        return count

    @property
    def covered(self) -> list[tuple[int, int]]:
        """The samples that this result is of: ranges (first, end)."""
        return _ranges(self._content["covered"])

    @property
    def missing(self) -> list[tuple[int, int]]:
        """Those of the data set that it is not of."""
        missing, at = [], 0
        for first, end in [*self.covered, (self.samples or 0, 0)]:
            if first > at:
                missing.append((at, first))
            at = end
        return missing

    @property
    def metrics(self) -> list[Metric]:
        numbers = ("value", "low", "high", "deviation", "least", "greatest")
        counts = ("metric", "backend", "output", "kind", "count", "nan", "negative_infinity", "positive_infinity")
        return [
            Metric(
                **{name: row[name] for name in counts},
                **{name: row.get(name) for name in numbers},
                worst=[(w["sample"], w["value"]) for w in row["worst"]],
            )
            for row in self._content["metrics"]
        ]

    def metric(self, name: str, backend: str | None = None, output: str | None = None) -> Metric:
        """The first metric of this name, and of this backend and output. Raises KeyError."""
        for m in self.metrics:
            if m.metric == name and backend in (None, m.backend) and output in (None, m.output):
                return m
        raise KeyError((name, backend, output))

    @property
    def bad_samples(self) -> int:
        """How many were left out."""
        count: int = self._content["bad_samples"]["count"]
        return count

    @property
    def first_bad_samples(self) -> list[tuple[int, str]]:
        """The first hundred of them, each with the reason."""
        return [(b["sample"], b["reason"]) for b in self._content["bad_samples"]["first"]]

    @property
    def judged(self) -> list[dict[str, Any]]:
        """What the float64 reference says of the worst samples: sample, backend, verdict, output, node, op_type."""
        judged: list[dict[str, Any]] = self._content["judged"]
        return judged

    @property
    def timing(self) -> list[dict[str, Any]]:
        """Seconds a sample by backend: mean, p50, p90, p99. Empty unless times were measured."""
        timing: list[dict[str, Any]] = self._content.get("timing", [])
        return timing

    def __repr__(self) -> str:
        lines = [f"Evaluation of {sum(end - first for first, end in self.covered)} of {self.samples} samples"]
        for m in self.metrics:
            interval = "" if m.low is None else f" [{m.low:.6g}, {m.high:.6g}]"
            value = "none" if m.value is None else f"{m.value:.6g}"
            lines.append(f"  {m.metric} of {m.backend}, {m.output}: {value}{interval}")
        if self.bad_samples:
            lines.append(f"  {self.bad_samples} bad sample(s)")
        return "\n".join(lines)


def _ranges(text: str) -> list[tuple[int, int]]:
    pairs = (part.split(":") for part in text.split(",") if part)
    return [(int(first), int(end)) for first, end in pairs]


def feeds(data: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Samples that are pairs (inputs, label) as inputs with labels."""
    for sample in data:
        if isinstance(sample, tuple):
            import numpy as np

            feed, label = sample
            yield {**feed, LABELS: np.atleast_1d(np.asarray(label, dtype=np.int64))}
        else:
            yield sample


def name_interpreter() -> None:
    """Scripts run in this interpreter, which has the caller's packages, unless the environment names another."""
    if sys.executable and not os.environ.get("VIRTUAL_ENV"):
        os.environ.setdefault("ASSAY_PYTHON", sys.executable)


def evaluation_settings(
    model: Path, backends: Sequence[str | Runner], data: Path | Iterable[Any] | None, settings: dict[str, Any]
) -> dict[str, Any]:
    """The native module's form of an evaluation."""
    name_interpreter()
    run: dict[str, Any] = {"model": model, "runners": list(backends), **(settings.pop("run", None) or {})}
    for name in ("seed", "iterations", "shapes", "ranges", "threads", "providers", "build"):
        if name in settings:
            run[name] = settings.pop(name)
    if isinstance(data, (str, os.PathLike)):
        settings["data"] = os.fspath(data)
    elif data is not None:
        run["data"] = feeds(data)
        name = settings.pop("data_name", "iterable")
        settings["data_identity"] = [("kind", "iterable"), ("name", name)]
    return {"run": run, **settings}


def eval(
    model: Path,
    backends: Sequence[str | Runner],
    data: Path | Iterable[Any] | None = None,
    **settings: Any,
) -> Evaluation:
    """Evaluates backends over a data set, sample by sample in bounded memory, as ``assay eval``.

    `data`: a path (a folder of samples, ``.npz``, ``.npy``, ``.json`` of saved inputs, a data loader script), or an
    iterable of dicts from input names to arrays, or of pairs (dict, label). Without it ``iterations`` random samples are
    drawn.
    `settings`: ``labels`` (a file, or the name of an array that each sample has), ``tokens`` and ``interface``;
    ``metrics`` (``top1``, ``sqnr``, ``agreement:logits``, ...), ``metric_scripts``; ``golden`` (a backend) or
    ``exact=True`` (float64); ``worst``, ``save_worst``, ``judge``; ``samples``; ``shard`` (``"3/8"``) or ``only``
    (``"0:100"``); ``skip_bad_samples``, ``timing``, ``loader_timeout``; ``output``, ``resume``, ``checkpoint_seconds``;
    ``data_name`` (what identifies an iterable); ``seed``, ``iterations``, ``shapes``, ``ranges``, ``threads``,
    ``providers``, ``build`` and, in ``run``, others of ``assay.run``.

    Raises Error for what ends it, the first bad sample among others unless they are skipped; what is finished is then in
    OUTPUT.unfinished, with which ``resume=True`` goes on.
    """
    follow_level()
    if data is not None and not isinstance(data, (str, os.PathLike)):
        data = sampled(data, settings)
    return Evaluation(native.run_evaluation(evaluation_settings(model, backends, data, settings)))


def sampled(data: Iterable[Any], settings: dict[str, Any]) -> Iterator[Any]:
    """The samples; where they are pairs (dict, label), the settings say so."""
    iterator = iter(data)
    first = next(iterator, None)
    if isinstance(first, tuple):
        settings.setdefault("labels", LABELS)
    return _chain(first, iterator)


def _chain(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    if first is not None:
        yield first
        yield from rest


def merge(
    results: Sequence[Evaluation | Path],
    output: Path | None = None,
    *,
    incomplete: bool = False,
    metric_scripts: Sequence[str] = (),
) -> Evaluation:
    """Merges results of parts, in any order and grouping, to the bytes of one process, as ``assay merge``.

    `metric_scripts`: those of the evaluation that measure the whole set. Raises InvalidArgument for results of other versions, models, data or options, for overlapping ones and, unless
    `incomplete`, where samples are missing.
    """
    name_interpreter()
    texts = [r.text if isinstance(r, Evaluation) else Evaluation.load(r).text for r in results]
    merged = Evaluation(native.merge_evaluations(texts, incomplete, None, list(metric_scripts)))
    if output is not None:
        merged.save(output)
    return merged


__all__ = ["Evaluation", "Metric", "eval", "merge"]
