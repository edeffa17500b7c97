"""Searches for the cause of a failure.

    assay.debug.nan(model).cause                            # the node that makes NaN or infinity, and why
    assay.debug.diverge(model, ["engine", "onnxrt"])        # where two backends begin to differ
    assay.debug.range(model).overflowing("float16")         # what narrower types cannot hold
    assay.debug.reduce(model, lambda m: fails(m)).model     # the smallest part that still fails
    assay.debug.precision(model, "float16", "40dB").held    # what must stay in float32

The guide to debugging says what each looks for. Data are feeds, or how many are drawn at random.
"""

from __future__ import annotations

import builtins
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ._compare import random_inputs
from ._errors import Error, InternalError, InvalidArgument
from ._library import follow_level, native
from ._model import Model, as_model
from ._program import program
from ._values import Feed, Path, Shape, table, visible

Data = Iterable[Feed] | int


def _data(
    data: Data, seed: int, shapes: Mapping[str, Shape] | None, ranges: Mapping[str, tuple[float, float]] | None
) -> dict[str, Any]:
    """As settings of a run."""
    source: dict[str, Any] = {"seed": seed, "shapes": shapes and dict(shapes), "ranges": ranges and dict(ranges)}
    return source | ({"iterations": data} if isinstance(data, int) else {"data": data})


# ---- NaN and infinities ----


class Operand(NamedTuple):
    """What an element was computed from."""

    tensor: str
    at: tuple[int, ...] | None
    """Its index, of operators that compute element by element."""
    least: float
    """Of the operand, or of that element, as `largest`."""
    largest: float


class NonFiniteElement(NamedTuple):
    """An element that is no number."""

    at: tuple[int, ...]
    """Its index."""
    value: float
    reason: str
    """Such as ``division by 0``; empty: it is not known."""
    operands: list[Operand]
    exact: float | None
    """In float64, on the same operands; None where that is not finite either, or not known."""


class NonFiniteOrigin(NamedTuple):
    """A tensor in which NaN or infinities appear that were not there before."""

    kind: str
    """``made`` (its node makes them of numbers), ``made of infinity``, or ``given`` (an input or constant has them)."""
    tensor: str
    node: str
    """Its label; empty for what is given."""
    op_type: str
    dtype: str
    shape: tuple[int, ...]
    elements: list[NonFiniteElement]
    """One of each kind."""
    nan: int
    infinite: int
    size: int
    is_mask: bool
    """It is -infinity that is meant, and of which only numbers are left."""
    outputs: list[str]
    """Of the model, that it reaches."""
    first_iteration: int
    iterations: int
    carriers: int
    """Tensors behind it that hold what became of it."""
    ends_at: dict[str, str]
    """Nodes that had it as an operand and gave only numbers, with how: the first of them."""
    in_body: dict[str, Any] | None
    """Of a node with bodies: the node there that made the first one."""


@dataclass(frozen=True)
class NonFinite:
    """Where NaN and infinities come from. True when something that a node made reaches an output."""

    origins: list[NonFiniteOrigin]
    """In the order of the graph."""
    cause: NonFiniteOrigin | None
    """The first that a node made, of those that reach an output if there are any."""
    reaches_outputs: bool
    backend: str
    iterations: int
    tensors: int
    """That were looked at in each iteration."""

    def __bool__(self) -> bool:
        return self.reaches_outputs

    def __repr__(self) -> str:
        if self.cause is None:
            return f"<NonFinite: no node makes NaN or infinity, {self.tensors} tensor(s), {self.iterations} iteration(s)>"
        reasons = [e.reason for e in self.cause.elements if e.reason]
        reason = f": {reasons[0]}" if reasons else ""
        return visible(f"<NonFinite: {self.cause.tensor} of {self.cause.node}{reason}>")

    def _repr_html_(self) -> str:
        rows = [
            (o.tensor, o.node, o.kind, o.nan, o.infinite, o.size, next((e.reason for e in o.elements), ""), ", ".join(o.outputs))
            for o in self.origins
        ]
        headers = ("tensor", "node", "", "NaN", "infinite", "of", "reason", "reaches")
        return table(headers, rows, repr(self)[1:-1], bold=[i for i, o in enumerate(self.origins) if o is self.cause])


def _operand(d: Mapping[str, Any]) -> Operand:
    if "index" in d:
        return Operand(d["tensor"], tuple(d["index"]), d["value"], d["value"])
    return Operand(d["tensor"], None, d["least"], d["largest"])


def _element(d: Mapping[str, Any]) -> NonFiniteElement:
    operands = [_operand(o) for o in d["operands"]]
    return NonFiniteElement(tuple(d["index"]), d["value"], d.get("reason", ""), operands, d.get("exact"))


def _origin(d: Mapping[str, Any]) -> NonFiniteOrigin:
    return NonFiniteOrigin(
        d["kind"], d["tensor"], d.get("node", ""), d.get("op_type", ""), native.type_name(d["dtype"]), tuple(d["shape"]),
        [_element(e) for e in d["elements"]], d["nan"], d["infinite"], d["size"], d["is_mask"],
        [o["output"] for o in d["outputs"]], d["first_iteration"], d["iterations"], d["carriers"],
        {e["node"]: e["how"] for e in d["ends_at"]}, d.get("in_body"),
    )  # fmt: skip


def nan(
    model: Model | Path | Any,
    backend: str = "reference",
    data: Data = 1,
    *,
    seed: int = 1,
    shapes: Mapping[str, Shape] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    stored_types: bool = True,
    threads: int = 0,
) -> NonFinite:
    """The node that makes NaN or infinity, the element and the reason, and whether it reaches an output. `stored_types`:
    the reference rounds results to the model's types, in which overflows are seen."""
    follow_level()
    source = _data(data, seed, shapes, ranges)
    d = json.loads(native.find_non_finite(as_model(model)._native, backend, source, threads, stored_types))
    origins = [_origin(o) for o in d["origins"]]
    cause = next((o for o in origins if o.tensor == d.get("cause")), None)
    return NonFinite(origins, cause, d["reaches_outputs"], d["backend"], d["iterations"], d["tensors"])


# ---- ranges ----


class TensorRange(NamedTuple):
    """The numbers of a tensor, over all iterations."""

    tensor: str
    node: str
    """That makes it; empty: an input or a constant."""
    kind: str
    """``input``, ``weight`` or ``result``."""
    dtype: str
    smallest: float
    """Magnitude of what is not 0, as `largest`; 0 where there is nothing else."""
    largest: float
    elements: int
    zeros: int
    nan: int
    infinite: int
    formats: dict[str, dict[str, float]]
    """By NumPy's name of a type: how many elements ``overflow``, are ``flushed`` to 0 or ``subnormal``, and how many bits are left
    (``headroom_bits``, ``footroom_bits``); of int8 the share that is ``lost`` to 0 and ``noise_ratio_db``."""


@dataclass(frozen=True)
class Ranges:
    """What numbers a network has, against what narrower types can hold."""

    tensors: list[TensorRange]
    """The worst for `ranked_by` first."""
    ranked_by: str
    backend: str
    iterations: int

    def overflowing(self, dtype: Any) -> list[TensorRange]:
        """Those that have numbers beyond what a type holds, one of those that were asked about."""
        name = native.type_name(dtype)
        return [t for t in self.tensors if t.formats[name].get("overflow", 0) > 0]

    def __getitem__(self, tensor: str) -> TensorRange:
        for t in self.tensors:
            if t.tensor == tensor:
                return t
        raise KeyError(tensor)

    def __repr__(self) -> str:
        formats = self.tensors[0].formats if self.tensors else {}
        parts = [f"{len(self.overflowing(f))} overflow in {f}" for f in formats if f != "int8"]
        return visible(f"<Ranges: {', '.join([f'{len(self.tensors)} tensor(s)', *parts])}>")

    def _repr_html_(self) -> str:
        formats = list(self.tensors[0].formats) if self.tensors else []
        rows = [
            (t.tensor, t.node or t.kind, t.smallest, t.largest, *(_fit(t.formats[f]) for f in formats))
            for t in self.tensors
        ]
        return table(("tensor", "node", "smallest", "largest", *formats), rows, repr(self)[1:-1])


def _fit(fit: Mapping[str, float]) -> str:
    if "lost" in fit:
        return f"{100 * fit['lost']:.3g} % lost, {fit['noise_ratio_db']:.3g} dB"
    return f"{fit['overflow']} overflow, {fit['flushed']} become 0, {fit['headroom_bits']:.3g} bits left"


def range(
    model: Model | Path | Any,
    backend: str = "reference",
    data: Data = 1,
    *,
    types: Sequence[Any] = ("float16", "bfloat16", "int8"),
    weights: bool = True,
    seed: int = 1,
    shapes: Mapping[str, Shape] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    threads: int = 0,
) -> Ranges:
    """Where values leave what narrower types can hold. `types`: floating types of at most 16 bits, and int8; the first
    one ranks. `weights`: of constants, too."""
    follow_level()
    source = _data(data, seed, shapes, ranges)
    d = json.loads(native.measure_ranges(as_model(model)._native, backend, source, list(types), weights, threads, False))
    tensors = [
        TensorRange(
            t["tensor"], t.get("node", ""), t["kind"], native.type_name(t["dtype"]), t["smallest"], t["largest"], t["elements"], t["zeros"],
            t["nan"], t["infinite"], {native.type_name(f): fit for f, fit in t["formats"].items()},
        )
        for t in d["tensors"]
    ]  # fmt: skip
    return Ranges(tensors, native.type_name(d["ranked_by"]), d["backend"], d["iterations"])


# ---- divergence ----


class TensorDifference(NamedTuple):
    """How far a tensor of two runs is apart."""

    error: float
    """The largest, absolute."""
    scale: float
    """The largest finite number of both."""
    excess: float
    """The largest error by what is allowed there."""
    at: tuple[int, ...]
    """Index of that element."""
    first: float
    second: float
    beyond: int
    """Elements beyond the tolerance."""
    elements: int
    problem: str = ""
    """What makes elements incomparable, such as other shapes."""


class Divergence(NamedTuple):
    """A tensor that differs although what it is made of agrees."""

    first_tensor: str
    second_tensor: str
    first_nodes: list[str]
    """That make it of tensors that were compared."""
    second_nodes: list[str]
    difference: TensorDifference
    errs: str
    """What float64 says of the node's results: ``first``, ``second``, ``both``, ``neither``; empty: it is not known."""
    matched_by: str
    """``name``, ``computation``, ``place`` or ``values``."""
    outputs: dict[str, TensorDifference]
    """Of the model, that differ behind it."""
    followers: int
    """Tensors behind it that differ."""
    recovered: int
    """Tensors right behind such that agree again."""
    excess_of_operands: float
    first_own_error: float | None
    """How far the result is from what its node gives in float64 on its own operands, by the largest number."""
    second_own_error: float | None
    first_iteration: int
    iterations: int


@dataclass(frozen=True)
class Divergences:
    """Where two runs of a network begin to differ. True when they do."""

    divergences: list[Divergence]
    """In the order of the first model."""
    first: str
    second: str
    iterations: int
    compared: int
    """Tensors."""
    differing: int
    first_alone: int
    """Tensors that the other one does not have."""
    second_alone: int

    def __bool__(self) -> bool:
        return bool(self.divergences)

    def __repr__(self) -> str:
        if not self.divergences:
            return visible(f"<Divergences: none, {self.compared} tensor(s) of {self.first} and {self.second} agree>")
        d = self.divergences[0]
        errs = f", {d.errs} errs" if d.errs else ""
        return visible(f"<Divergences: {len(self.divergences)}, first at {d.first_tensor} ({', '.join(d.first_nodes)}{errs})>")

    def _repr_html_(self) -> str:
        rows = [
            (d.first_tensor, ", ".join(d.first_nodes), d.difference.error, d.difference.scale, d.errs, d.followers, ", ".join(d.outputs))
            for d in self.divergences
        ]
        headers = ("tensor", "nodes", "error", "largest number", "errs", "followers", "reaches")
        return table(headers, rows, repr(self)[1:-1])


def _difference(d: Mapping[str, Any]) -> TensorDifference:
    return TensorDifference(
        d["error"], d["scale"], d["excess"], tuple(d["index"]), d["first"], d["second"], d["beyond"], d["elements"],
        d.get("problem", ""),
    )  # fmt: skip


def _divergence(d: Mapping[str, Any]) -> Divergence:
    return Divergence(
        d["first_tensor"], d["second_tensor"], d["first_nodes"], d["second_nodes"], _difference(d["difference"]),
        d.get("errs", ""), d["matched_by"], {o["output"]: _difference(o["difference"]) for o in d["outputs"]}, d["followers"],
        d["recovered"], d["excess_of_operands"], d.get("first_own_error"), d.get("second_own_error"), d["first_iteration"],
        d["iterations"],
    )  # fmt: skip


def diverge(
    model: Model | Path | Any,
    backends: Sequence[str] | str = "engine",
    data: Data = 1,
    *,
    against: Model | Path | Any | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    match_values: bool = True,
    seed: int = 1,
    shapes: Mapping[str, Shape] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    threads: int = 0,
) -> Divergences:
    """The first tensors that differ although what they are made of agrees.

    `backends`: one or two; one is compared with the reference, or runs both models. `against`: another model, such as
    the same one after an edit; its tensors are found by what they compute where their names differ, and, with
    `match_values`, by their values. `atol`, `rtol`: what elements may differ by; without both a share of the tensor's
    largest number, 1e-4 for float32.
    """
    names = [backends] if isinstance(backends, str) else list(backends)
    if len(names) not in (1, 2):
        raise InvalidArgument(f"two backends are compared: name one or two, not {len(names)}")
    if len(names) == 1:
        names.append("reference" if against is None else names[0])
    if names[0] == names[1] and against is None:
        raise InvalidArgument("there is nothing to compare: name another backend, or another model (against=)")
    follow_level()
    first = as_model(model)._native
    second = first if against is None else as_model(against)._native
    source = _data(data, seed, shapes, ranges)
    d = json.loads(
        native.find_divergence(first, names[0], second, names[1], source, atol, rtol, match_values, threads)
    )
    return Divergences(
        [_divergence(x) for x in d["divergences"]], d["first"], d["second"], d["iterations"], d["compared"], d["differing"],
        d["first_alone"], d["second_alone"],
    )  # fmt: skip


# ---- reduction ----


@dataclass(frozen=True)
class Reduced:
    """The smallest part of a model that still fails."""

    model: Model
    failure: str
    """Of the whole model: what the check said."""
    nodes: int
    """Of the whole model."""
    checks: int
    is_flaky: bool
    """The result passed when it was checked once more."""
    has_own_names: bool
    """After anonymising."""
    own_weights: int
    """The same."""

    def __repr__(self) -> str:
        flaky = ", flaky" if self.is_flaky else ""
        return visible(f"<Reduced: {self.model.node_count} of {self.nodes} node(s) fail, {self.checks} check(s){flaky}: {self.failure}>")


def reduce(
    model: Model | Path | Any,
    check: Callable[[Model], object],
    *,
    shapes: Mapping[str, Shape] | None = None,
    data: Data = 1,
    seed: int = 1,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    any_failure: bool = False,
    repeat: int = 1,
    anonymise: bool = False,
    jobs: int = 1,
) -> Reduced:
    """The smallest part of a model that fails in the same way as the whole: any nodes, then bodies, outputs, attributes
    and extents.

    `check`: gets a candidate; a false value says that it passes, True that it fails, and a text how, in words that are
    the same for the same failure. What it raises ends the search. `any_failure`: every failure counts, not only that of
    the whole model. `repeat`: checks of each candidate, where the failure comes and goes. `shapes`: that the model's
    inputs get. `data`: on which the model runs where a reduction has to know values. `anonymise`: generated names and
    random weights in place of the model's own, as far as the failure stays.

    `jobs`: checks side by side, where `check` begins one and returns a future (``concurrent.futures.Future``, or another
    object with ``done()``, ``result()`` and ``cancel()``): candidates that the search expects to need are checked before it
    comes to them. The result is that of one check after the other. ``assay.cluster.checking`` makes such a check.
    """
    follow_level()
    source = _data(data if isinstance(data, int) else list(data), seed, shapes, ranges)
    made, report = native.reduce_model(
        as_model(model)._native, lambda candidate: check(Model(candidate)), source, shapes and dict(shapes), any_failure,
        repeat, anonymise, jobs,
    )  # fmt: skip
    return Reduced(Model(made), **report)


# ---- precision ----


class PrecisionPoint(NamedTuple):
    """A set of layers that are held in float32, and what it comes to."""

    float32: list[str]
    accuracy: dict[str, float]
    """``decibels``, ``absolute``, ``relative``."""
    milliseconds: float
    """Of the fastest run on all data."""
    is_best: bool
    """No other point is both as fast and as exact."""


@dataclass(frozen=True)
class Precision:
    """A small set of layers to hold in float32 so that all others may be computed in a narrower type."""

    answer: PrecisionPoint
    accuracy: str
    """That was asked for."""
    lowered: str
    layers: int
    """That could be lowered."""
    not_alone: list[str]
    """Layers of bodies, which stay in float32 since they cannot be held one by one."""
    sensitivities: dict[str, float]
    """The error that lowering a layer adds, in proportion to the goal."""
    points: list[PrecisionPoint]
    checks: int
    build: dict[str, Any] = field(repr=False)
    """Settings of ``assay.build`` that hold the answer's layers."""

    @property
    def held(self) -> list[str]:
        return self.answer.float32

    def __repr__(self) -> str:
        return visible(f"<Precision: {len(self.held)} of {self.layers} layer(s) in float32, others in {self.lowered}, for {self.accuracy}>")

    def _repr_html_(self) -> str:
        rows = [
            (len(p.float32), p.milliseconds, *p.accuracy.values(), "best" if p.is_best else "") for p in self.points
        ]
        headers = ("in float32", "ms", *(self.answer.accuracy), "")
        return table(headers, rows, repr(self)[1:-1], bold=[i for i, p in enumerate(self.points) if p.float32 == self.held])


def _point(d: Mapping[str, Any]) -> PrecisionPoint:
    known = ("float32", "milliseconds", "best")
    accuracy = {name: value for name, value in d.items() if name not in known}
    return PrecisionPoint(d["float32"], accuracy, d["milliseconds"], d["best"])


_LOWERED = {"float16": "fp16", "bfloat16": "bf16", "int8": "int8"}


def _build_settings(option_words: Sequence[str], lowered: str) -> dict[str, Any]:
    """What the program's options for a build are here."""
    build: dict[str, Any] = {_LOWERED[lowered]: True}
    if "--layer-precisions" in option_words:
        build["precision_constraints"] = option_words[option_words.index("--precision-constraints") + 1]
        words = option_words[option_words.index("--layer-precisions") + 1 :]
        build["layer_types"] = [(word.rpartition(":")[0], word.rpartition(":")[2]) for word in words]
    return build


def precision(
    model: Model | Path | Any,
    lowered: str,
    accuracy: str,
    data: Data = 1,
    *,
    seed: int = 1,
    shapes: Mapping[str, Shape] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    jobs: int = 1,
) -> Precision:
    """A small set of layers to hold in float32 so that outputs are as exact as `accuracy` says (``40dB``, ``abs:0.001``,
    ``rel:0.01``) while all others are computed in `lowered`: float16, bfloat16 or int8.

    Engines are built and run by the program, in processes of their own, `jobs` at a time. Ctrl-C ends it.
    """
    if lowered not in _LOWERED:
        raise InvalidArgument(f"layers are not lowered to '{lowered}': to float16, bfloat16 or int8")
    follow_level()
    source = as_model(model)
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        report = os.path.join(folder, "report.json")
        command = [
            program(), "debug", "precision", os.path.join(folder, "model.onnx"), f"--{_LOWERED[lowered]}", "--accuracy",
            accuracy, "--json", report, "--journal", os.path.join(folder, "journal"), "--jobs", str(jobs),
            *_data_words(source, data, seed, shapes, ranges, folder),
        ]  # fmt: skip
        source.save(command[3])
        done = subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", check=False, cwd=folder)
        if done.returncode != 0 or not os.path.exists(report):
            raise _error_of(done)
        with open(report, encoding="utf-8", errors="surrogateescape") as file:
            d = json.load(file)
    return Precision(
        _point(d["answer"]), d["accuracy"], d["lowered"], d["layers"], d["not_alone"], d["sensitivities"],
        [_point(p) for p in d["points"]], d["checks"], _build_settings(d["options"], lowered),
    )  # fmt: skip


def _data_words(
    model: Model,
    data: Data,
    seed: int,
    shapes: Mapping[str, Shape] | None,
    ranges: Mapping[str, tuple[float, float]] | None,
    folder: str,
) -> list[str]:
    """Options for data, which are in a file then."""
    if isinstance(data, int):
        drawn = builtins.range(data)
        feeds = [random_inputs(model, seed=seed, iteration=i, shapes=shapes, ranges=ranges) for i in drawn]
    else:
        feeds = [dict(feed) for feed in data]
    if not feeds:
        raise InvalidArgument("no iteration has data to run the model on")
    path = os.path.join(folder, "inputs.json")
    native.save_inputs(feeds, path)
    given = [f"{name}:[{','.join(map(str, shape))}]" for name, shape in (shapes or {}).items()]
    return ["--load-inputs", path, *(["--input-shapes", *given] if given else [])]


def _error_of(done: subprocess.CompletedProcess[str]) -> Error:
    """What the program said last; it says errors after ``[!]``."""
    if done.returncode < 0:
        return InternalError(f"the program was ended by signal {-done.returncode}", code="internal")
    said = done.stderr.rpartition("[!] ")[2].strip()
    return InvalidArgument(said or f"the program ended with {done.returncode}")


__all__ = [
    "Data",
    "Divergence",
    "Divergences",
    "NonFinite",
    "NonFiniteElement",
    "NonFiniteOrigin",
    "Operand",
    "Precision",
    "PrecisionPoint",
    "Ranges",
    "Reduced",
    "TensorDifference",
    "TensorRange",
    "diverge",
    "nan",
    "precision",
    "range",
    "reduce",
]
