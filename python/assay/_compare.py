"""Backends side by side: results, comparisons, and who is wrong."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Protocol, Union, runtime_checkable

from ._errors import InvalidArgument
from ._library import follow_level, native
from ._model import Model, as_model
from ._values import Feed, Path, Shape, TensorInfo, infos, table, visible


class BackendInfo(NamedTuple):
    """A way to run models."""

    name: str
    """``engine``, ``onnxrt``, ``reference``."""
    human_name: str
    summary: str
    problem: str
    """Why it cannot be used here; empty: it can."""


def backends() -> list[BackendInfo]:
    """What models can be run on."""
    return [BackendInfo(*row) for row in native.backends()]


class Session:
    """A model made ready on a backend. One run at a time."""

    __slots__ = ("_native", "name")

    def __init__(
        self,
        model: Model | Path | Any,
        backend: str = "engine",
        *,
        threads: int = 0,
        providers: Sequence[str] = (),
        optimize: bool = True,
        stored_types: bool = False,
    ) -> None:
        """`providers`: of ONNX Runtime. `stored_types`: the reference rounds every result to its declared type,
        instead of computing all in float64."""
        follow_level()
        self.name: str = backend
        self._native = native.open_session(
            as_model(model)._native, backend, threads, list(providers), optimize, stored_types
        )

    @property
    def inputs(self) -> list[TensorInfo]:
        return infos(self._native.inputs)

    @property
    def outputs(self) -> list[TensorInfo]:
        return infos(self._native.outputs)

    @property
    def last_run_seconds(self) -> float:
        """What the backend itself took."""
        return self._native.last_run_seconds

    def infer(self, feed: Feed) -> dict[str, Any]:
        """Outputs by name."""
        return self._native.run(dict(feed))

    __call__ = infer

    def __repr__(self) -> str:
        return f"<Session on {self.name}>"


@runtime_checkable
class Runner(Protocol):
    """What may be compared besides backends: anything with ``infer(feed) -> outputs``, and a `name` if it likes."""

    def infer(self, feed: dict[str, Any], /) -> Mapping[str, Any]: ...


AnyRunner = Union[str, Runner, Callable[[dict[str, Any]], Mapping[str, Any]]]


class Iteration(NamedTuple):
    """What one inference gave."""

    outputs: dict[str, Any]
    seconds: float | None


class Results(dict[str, list[Iteration]]):
    """Results by runner, in the order in which they ran."""

    feeds: list[dict[str, Any]]
    """What they were made with; empty for results that were loaded."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.feeds = []

    def save(self, path: Path) -> None:
        """As ``assay run --save-outputs`` and Polygraphy write them."""
        native.save_results(_rows(self), path)

    @classmethod
    def load(cls, path: Path) -> Results:
        return cls((runner, [Iteration(*i) for i in iterations]) for runner, iterations in native.load_results(path))

    def __repr__(self) -> str:
        return visible(f"<Results: {', '.join(f'{k} ({len(v)})' for k, v in self.items())}>")

    def _repr_html_(self) -> str:
        rows = [
            (runner, i, name, getattr(array, "dtype", ""), getattr(array, "shape", ""), it.seconds and 1000 * it.seconds)
            for runner, iterations in self.items()
            for i, it in enumerate(iterations)
            for name, array in it.outputs.items()
        ]
        return table(("runner", "iteration", "output", "type", "shape", "ms"), rows, repr(self)[1:-1])


def _rows(results: Mapping[str, Sequence[Iteration]]) -> list[tuple[str, list[tuple[dict[str, Any], float | None]]]]:
    return [(name, [(dict(i[0]), i[1]) for i in iterations]) for name, iterations in results.items()]


def random_inputs(
    model: Model | Path | Any,
    *,
    seed: int = 1,
    iteration: int = 0,
    shapes: Mapping[str, Shape] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> dict[str, Any]:
    """Inputs drawn at random, the same for the same seed. `shapes`: of inputs with open extents (1 without). `ranges`:
    of an input's numbers; ``""``: of all others; without: 0 to 1."""
    return native.random_inputs(
        as_model(model)._native, seed, iteration, shapes and dict(shapes), ranges and dict(ranges)
    )


class Function(dict[str, Any]):
    """How outputs are compared; made by the functions of ``assay.functions``."""


class functions:
    """Comparison functions. A number holds for all outputs; a dict gives one by name (or pattern; ``""``: others)."""

    @staticmethod
    def simple(
        atol: Any = None,
        rtol: Any = None,
        *,
        check_error_stat: Any = None,
        error_quantile: Any = None,
        check_shapes: bool = True,
        infinities_compare_equal: bool = False,
    ) -> Function:
        """Absolute and relative errors (1e-5 where not said); an output fails when both are exceeded.
        `check_error_stat`: elemwise, max, mean, median or quantile."""
        return Function(
            kind="simple",
            atol=atol,
            rtol=rtol,
            check_error_stat=check_error_stat,
            error_quantile=error_quantile,
            check_shapes=check_shapes,
            infinities_compare_equal=infinities_compare_equal,
        )

    @staticmethod
    def indices(tolerance: Any = 0) -> Function:
        """Places of indices, such as those of a top-k."""
        return Function(kind="indices", index_tolerance=tolerance)

    @staticmethod
    def l2(threshold: Any = None, *, check_shapes: bool = True) -> Function:
        """Largest Euclidean distance (1e-5)."""
        return Function(kind="l2", threshold=threshold, check_shapes=check_shapes)

    @staticmethod
    def cosine_similarity(threshold: Any = None, *, check_shapes: bool = True) -> Function:
        """Least cosine of the angle (0.997)."""
        return Function(kind="cosine_similarity", threshold=threshold, check_shapes=check_shapes)

    @staticmethod
    def psnr(threshold: Any = None, *, check_shapes: bool = True) -> Function:
        """Least peak signal to noise ratio in decibels (30)."""
        return Function(kind="psnr", threshold=threshold, check_shapes=check_shapes)

    @staticmethod
    def snr(threshold: Any = None, *, check_shapes: bool = True) -> Function:
        """Least signal to noise ratio in decibels (20)."""
        return Function(kind="snr", threshold=threshold, check_shapes=check_shapes)

    @staticmethod
    def custom(function: Callable[[str, Any, Any], bool], name: str = "custom") -> Function:
        """``function(output, array0, array1)``: whether they agree."""
        return Function(kind="custom", function=function, name=name)


class OutputAccuracy(NamedTuple):
    """One output of two runners under one function, over all iterations."""

    output: str
    function: str
    iterations: int
    passed: int
    metrics: dict[str, float]
    """Means over the iterations: max_absdiff, max_reldiff, ...; ``metric`` of functions with one number."""


class Pair(NamedTuple):
    """Two runners."""

    runner0: str
    runner1: str
    iterations: int
    passed: int
    outputs: list[OutputAccuracy]


def _pairs(rows: Iterable[tuple[str, str, int, int, Iterable[Any]]]) -> list[Pair]:
    return [Pair(a, b, n, passed, [OutputAccuracy(*o) for o in outputs]) for a, b, n, passed, outputs in rows]


@dataclass(frozen=True)
class Comparison:
    """Results side by side. True when every iteration of every pair passed."""

    pairs: list[Pair]
    results: Results = field(repr=False)

    def __bool__(self) -> bool:
        return bool(self.pairs) and all(p.iterations > 0 and p.passed == p.iterations for p in self.pairs)

    def __repr__(self) -> str:
        parts = [f"{p.runner0} vs. {p.runner1}: {p.passed}/{p.iterations}" for p in self.pairs]
        return f"<Comparison {'PASSED' if self else 'FAILED'}: {visible(', '.join(parts))}>"

    def _repr_html_(self) -> str:
        outputs = [(p, o) for p in self.pairs for o in p.outputs]
        metrics = list(dict.fromkeys(m for _, o in outputs for m in o.metrics))
        rows = [
            (p.runner0, p.runner1, o.output, o.function, f"{o.passed}/{o.iterations}", *(o.metrics.get(m) for m in metrics))
            for p, o in outputs
        ]
        failed = [i for i, (_, o) in enumerate(outputs) if o.passed < o.iterations]
        return table(("runner", "runner", "output", "function", "passed", *metrics), rows, repr(self)[1:-1], bold=failed)


def name_of(runner: Any, taken: Mapping[str, Any]) -> str:
    name = runner if isinstance(runner, str) else getattr(runner, "name", None) or getattr(runner, "__name__", None)
    name = str(name or type(runner).__name__)
    if name not in taken:
        return name
    return next(f"{name}-{i}" for i in range(1, len(taken) + 2) if f"{name}-{i}" not in taken)


def infer(
    model: Model | Path | Any | None,
    runners: Sequence[AnyRunner],
    data: Iterable[Feed] | int = 1,
    *,
    seed: int = 1,
    shapes: Mapping[str, Shape] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    threads: int = 0,
) -> Results:
    """Every runner on the same data. `runners`: names of backends, objects with ``infer(feed)``, functions, engines
    and contexts. `data`: feeds, or how many are drawn at random. `model`: what backends run and data are drawn
    for."""
    source = as_model(model) if model is not None else None
    if isinstance(data, int):
        if source is None:
            raise InvalidArgument("data are drawn for a model, and none is given")
        feeds = [random_inputs(source, seed=seed, iteration=i, shapes=shapes, ranges=ranges) for i in range(data)]
    else:
        feeds = [dict(feed) for feed in data]
    results = Results()
    results.feeds = feeds
    for runner in runners:
        name = name_of(runner, results)
        if isinstance(runner, str):
            if source is None:
                raise InvalidArgument(f"the backend '{runner}' runs a model, and none is given")
            runner = Session(source, runner, threads=threads)
        call: Any = getattr(runner, "infer", None) or runner
        iterations = results[name] = []
        for feed in feeds:
            start = time.perf_counter()
            outputs = dict(call(dict(feed)))
            seconds = time.perf_counter() - start
            iterations.append(Iteration(outputs, getattr(runner, "last_run_seconds", seconds)))
    return results


def compare(
    model: Model | Path | Any | None,
    runners: Sequence[AnyRunner] | Results,
    data: Iterable[Feed] | int = 1,
    *,
    functions: Sequence[Function] | Function | None = None,
    fail_fast: bool = False,
    **options: Any,
) -> Comparison:
    """Runs all runners on the same data (``infer()`` takes the rest of the options), and compares each with the next.
    Results that are there already are compared as they are. `functions`: of ``assay.functions``; tolerances of 1e-5
    without."""
    follow_level()
    results = runners if isinstance(runners, Results) else infer(model, runners, data, **options)
    if isinstance(functions, Function):
        functions = [functions]
    rows = native.compare(_rows(results), functions, fail_fast)
    return Comparison(_pairs(rows), results)


@dataclass(frozen=True)
class OutputVerdict:
    """One output of one runner, judged. Indices are row-major positions."""

    runner: str
    output: str
    node: str
    """Label of the node that computes it; empty for what is fed."""
    op_type: str
    verdict: str
    """agrees, rounding only, open, inherited, unclear, not judged or WRONG."""
    is_wrong: bool
    is_certain: bool
    """It is wrong, and no order of additions can excuse it."""
    basis: str
    """What it was compared with: its ``node`` alone, on the runner's own inputs; the ``region`` from the nearest
    values of the runner that are known; the ``network`` from what is fed."""
    problem: str
    """A difference that no error measures: of shape, type or integers."""
    note: str
    pattern: str
    """What the wrong elements have in common."""
    inputs: list[str]
    region: list[str]
    body: str
    enclosing: str
    lacking: str
    from_feed: bool
    max_error: float
    exact: float
    own_error: float
    worst_ratio: float
    """Largest error by what rounding explains."""
    worst_error: float
    worst_explained: float
    worst_exact: float
    worst_result: float
    worst_at: int
    beyond: int
    """Elements that are not explained."""
    elements: int
    overflows: int
    dtype: str | None
    shape: tuple[int, ...]

    def __repr__(self) -> str:
        where = f" at {self.node}" if self.node else ""
        what = f", {self.beyond} of {self.elements} element(s) not explained" if self.is_wrong else ""
        more = f": {self.pattern or self.problem}" if self.is_wrong and (self.pattern or self.problem) else ""
        return visible(f"<{self.runner}/{self.output}{where}: {self.verdict}{what}{more}>")

    def _repr_html_(self) -> str:
        rows = [(f.name, getattr(self, f.name)) for f in fields(self)]
        return table(("", ""), [r for r in rows if r[1] not in ("", [], None)], repr(self)[1:-1])


@dataclass(frozen=True)
class Verdict:
    """Who is right, against the float64 reference. True when nothing is wrong."""

    outputs: list[OutputVerdict]
    """By output in topological order, then by runner."""
    all_right: bool
    samples: int
    lanes_lost: int

    def __bool__(self) -> bool:
        return self.all_right

    @property
    def wrong(self) -> list[OutputVerdict]:
        """What no rounding explains."""
        return [o for o in self.outputs if o.is_wrong]

    @property
    def makers(self) -> dict[str, OutputVerdict]:
        """By runner, the first output in topological order that is wrong: where it made its error."""
        found: dict[str, OutputVerdict] = {}
        for o in self.wrong:
            found.setdefault(o.runner, o)
        return found

    @property
    def patterns(self) -> dict[tuple[str, str], str]:
        """What wrong elements have in common, by runner and output."""
        return {(o.runner, o.output): o.pattern for o in self.wrong if o.pattern}

    def __getitem__(self, key: tuple[str, str]) -> OutputVerdict:
        """``verdict[runner, output]``."""
        for o in self.outputs:
            if (o.runner, o.output) == key:
                return o
        raise KeyError(key)

    def __repr__(self) -> str:
        if self.all_right:
            counts = Counter(o.verdict for o in self.outputs)
            return f"<Verdict: all right ({', '.join(f'{n} {v}' for v, n in counts.items())})>"
        makers = "; ".join(f"{r} at {o.node or o.output}" for r, o in self.makers.items())
        return visible(f"<Verdict: WRONG: {makers}>")

    def _repr_html_(self) -> str:
        shown = self.wrong + [o for o in self.outputs if not o.is_wrong]
        rows = [
            (o.runner, o.output, o.node, o.verdict, o.max_error, o.worst_ratio, f"{o.beyond}/{o.elements}",
             "; ".join(part for part in (o.pattern, o.problem, o.note) if part))
            for o in shown
        ]  # fmt: skip
        headers = ("runner", "output", "node", "verdict", "max error", "error / explained", "beyond", "what")
        return table(headers, rows, repr(self)[1:-1], bold=range(len(self.wrong)))


_VERDICT_FIELDS = {f.name for f in fields(OutputVerdict)}


def judge(
    model: Model | Path | Any,
    feed: Feed,
    results: Mapping[str, Mapping[str, Any]],
    *,
    samples: int = 3,
    most_samples: int = 15,
    seed: int = 1,
) -> Verdict:
    """Judges outputs by runner, for one feed. The more of the model's tensors are among them, the more exactly it is
    known where an error begins. `samples`: noisy evaluations; `most_samples` where the first leave it open."""
    follow_level()
    d = native.judge(
        as_model(model)._native, dict(feed), {k: dict(v) for k, v in results.items()}, samples, most_samples, seed
    )
    outputs = [OutputVerdict(**{k: v for k, v in o.items() if k in _VERDICT_FIELDS}) for o in d["outputs"]]
    return Verdict(outputs, d["all_right"], d["samples"], d["lanes_lost"])


def verdict(
    model: Model | Path | Any,
    runners: Sequence[AnyRunner] | Results,
    data: Iterable[Feed] | int = 1,
    *,
    trace: bool = False,
    **options: Any,
) -> Verdict:
    """Runs all runners, and judges the first iteration in which something is wrong (else the last). `trace`: backends
    give every tensor, so that the node where an error begins is known."""
    source = as_model(model)
    judged = source.with_outputs(mark_all=True) if trace else source
    results = runners if isinstance(runners, Results) else infer(judged, runners, data, **options)
    if not results.feeds:
        raise InvalidArgument("the results do not say what they were made with; judge() takes feeds and outputs")
    found: Verdict | None = None
    for i, feed in enumerate(results.feeds):
        found = judge(judged, feed, {name: iterations[i].outputs for name, iterations in results.items()})
        if not found:
            break
    assert found is not None
    return found


@dataclass(frozen=True)
class RunSummary:
    """What ``run()`` found. True when it passed."""

    outcome: str
    """``passed``, ``failed``, or ``unclear`` (nothing is wrong, but something could not be decided)."""
    exit_status: int
    """As of ``assay run``: 0, 1, 3."""
    runners: list[str]
    iterations: int
    accuracy: list[Pair]
    invalid: list[str]
    """Outputs with NaN or infinity, RUNNER/OUTPUT each: the first hundred."""
    verdicts: dict[str, int]
    """How often each verdict was given."""

    def __bool__(self) -> bool:
        return self.outcome == "passed"

    def __repr__(self) -> str:
        return visible(f"<RunSummary: {self.outcome.upper()}, {', '.join(self.runners)}, {self.iterations} iteration(s)>")

    def _repr_html_(self) -> str:
        rows: list[tuple[object, ...]] = [
            (p.runner0, p.runner1, o.output, f"{o.passed}/{o.iterations}") for p in self.accuracy for o in p.outputs
        ]
        rows += [("verdict", v, "", n) for v, n in self.verdicts.items()]
        rows += [("NaN or infinity", *name.split("/", 1), "") for name in self.invalid]
        return table(("runner", "runner", "output", "passed"), rows, repr(self)[1:-1])


def run(model: Path | None = None, runners: Sequence[str | Runner] = (), **settings: Any) -> RunSummary:
    """A run from end to end, as ``assay run``: every runner on the same data in bounded memory, results saved, compared,
    judged. Its lines go to the log.

    `runners`: names of backends (``engine``, ``onnxrt``, ``reference``, ``trt``) or objects with ``infer(feed)``.
    `settings`: ``settings`` (a file that ``assay run --save-settings`` wrote; all others replace what it says of the
    same), ``save_settings`` (such a file, written before the run); ``seed``, ``iterations``, ``shapes``, ``ranges``, ``data`` (feeds), ``load_inputs``, ``data_loader_script``;
    ``functions``, ``top_k``, ``validate``, ``fail_fast``, ``check_average``; ``verdict``, ``comparison_counts``;
    ``mark_all``, ``outputs``, ``exclude_outputs``, ``infer_shapes``, ``fp16_model``, ``model_format``,
    ``network_script``, ``external_data``; ``build`` (a dict as ``assay.build`` takes), ``calibration_cache``,
    ``load_timing_cache``, ``save_timing_cache``, ``load_tactics``, ``save_tactics``; ``load_outputs``, ``warm_up``,
    ``sequential_runners``, ``threads``, ``providers``, ``memory_limit``, ``extensions``; ``save_inputs``,
    ``save_outputs``, ``save_model``, ``save_engine``, ``save_verdict``, ``save_accuracy_results``, ``save_heatmaps``,
    ``save_error_plots`` (paths).
    """
    follow_level()
    functions_given = settings.get("functions")
    if isinstance(functions_given, Function):
        settings["functions"] = [functions_given]
    d = native.run({"model": model, "runners": list(runners), **settings})
    d["accuracy"] = _pairs(d["accuracy"])
    return RunSummary(**d)


__all__ = [
    "AnyRunner",
    "BackendInfo",
    "Comparison",
    "Function",
    "Iteration",
    "OutputAccuracy",
    "OutputVerdict",
    "Pair",
    "Results",
    "RunSummary",
    "Runner",
    "Session",
    "Verdict",
    "backends",
    "compare",
    "functions",
    "infer",
    "judge",
    "random_inputs",
    "run",
    "verdict",
]
