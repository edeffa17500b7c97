"""Engines: building, saving, running."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from ._library import follow_level, native
from ._model import Model, as_model
from ._values import Feed, Path, TensorInfo, infos, table

if TYPE_CHECKING:
    import numpy as np

Progress = Callable[[str, str, int, int, int], Optional[bool]]
"""``progress(phase, what, done, total, from_cache)``; False ends the build with Cancelled."""
Range = tuple[Sequence[int], Sequence[int], Sequence[int]]
"""The least, best and most extents of an input."""
Profile = Mapping[str, Union[Range, tuple[Sequence[int], Sequence[int], Sequence[int], bool]]]
"""Ranges by the names of inputs; a fourth element True: of the elements of a shape tensor."""


class Runtime:
    """What engines run on: threads. Engines keep theirs alive; several live side by side."""

    __slots__ = ("_native",)

    def __init__(self, *, threads: int = 0) -> None:
        """`threads`: of a run, the caller's included; 0: as many as the process may use processors."""
        self._native = native.runtime(threads)

    @property
    def threads(self) -> int:
        return self._native.threads

    @property
    def environment(self) -> str:
        """What plans depend on; a plan of another one is refused."""
        return self._native.environment

    def build(self, model: Model | Path | Any, *, progress: Progress | None = None, **settings: Any) -> Engine:
        """``assay.build()`` on this runtime."""
        return build(model, runtime=self, progress=progress, **settings)

    def load(self, path: Path) -> Engine:
        """An engine from a plan's file, which stays mapped."""
        follow_level()
        return Engine(self._native.load(path))

    def deserialize(self, plan: Any) -> Engine:
        """An engine from a plan's bytes."""
        follow_level()
        return Engine(self._native.deserialize(plan))

    def __repr__(self) -> str:
        return f"<Runtime: {self.threads} thread(s)>"


_default: Runtime | None = None


def default_runtime() -> Runtime:
    """The runtime of whoever names none."""
    global _default
    if _default is None:
        _default = Runtime()
    return _default


class TimingCache:
    """Times of candidates, kept from build to build."""

    __slots__ = ("_native",)

    def __init__(self, source: Path | bytes | None = None, *, runtime: Runtime | None = None) -> None:
        """`source`: a file, which need not be there yet, or what ``to_bytes()`` gave."""
        self._native = native.TimingCache((runtime or default_runtime())._native)
        if isinstance(source, (bytes, bytearray, memoryview)):
            self._native.read(source)
        elif source is not None and os.path.exists(source):
            self._native.load(source)

    def load(self, path: Path) -> None:
        """Adds what a file holds."""
        self._native.load(path)

    def save(self, path: Path) -> None:
        """Writes a file, whole or not at all."""
        self._native.save(path)

    def merge(self, other: TimingCache) -> None:
        """Adds what another cache knows; where both know a problem, the other's time holds."""
        self._native.merge(other._native)

    def to_bytes(self) -> bytes:
        return self._native.to_bytes()

    def __len__(self) -> int:
        """Problems that were measured in this environment."""
        return len(self._native)

    def __repr__(self) -> str:
        return f"<TimingCache: {len(self)} problem(s), {self._native.foreign_size} of other environments>"


class Calibrator:
    """Data for 8-bit integers: an iterable of feeds, or a function of the inputs that gives one."""

    def __init__(
        self,
        data: Iterable[Feed] | Callable[[list[TensorInfo]], Iterable[Feed]],
        *,
        cache: Path | None = None,
        algorithm: str = "entropy2",
        quantile: float = 0.9999,
    ) -> None:
        """`cache`: a file of scales, read where it is there (nothing is run then), else written. `algorithm`:
        ``entropy2``, ``entropy``, ``minmax``, ``mse``, or ``percentile`` (``legacy``), which clips what lies beyond `quantile`."""
        self._data = data
        self._cache = cache
        self.algorithm = algorithm
        self.quantile = quantile
        self._feeds: Iterator[Feed] | None = None

    def next_batch(self, inputs: list[Any]) -> dict[str, Any] | None:
        """The next feed; None when there are no more."""
        if self._feeds is None:
            data = self._data(infos(inputs)) if callable(self._data) else self._data
            self._feeds = iter(data)
        feed = next(self._feeds, None)
        if feed is None:
            self._feeds = None
            return None
        return dict(feed)

    def read_cache(self) -> bytes | None:
        """The text of the scales; None: there is none."""
        if self._cache is None or not os.path.exists(self._cache):
            return None
        with open(self._cache, "rb") as file:
            return file.read() or None

    def write_cache(self, text: bytes) -> None:
        """Gets the text of the scales that were found."""
        if self._cache is not None:
            with open(self._cache, "wb") as file:
                file.write(text)


class Engine:
    """A network made ready to run. May be used from many threads, each with a context of its own."""

    __slots__ = ("__weakref__", "_context", "_native", "explanation", "summary", "type_summary")

    def __init__(self, source: Any) -> None:
        """`source`: the path of a plan, or its bytes."""
        self._context: Context | None = None
        self.summary: str = ""
        self.explanation: str = ""
        self.type_summary: str = ""
        if isinstance(source, native.Engine):
            self._native = source
        elif isinstance(source, (bytes, bytearray, memoryview)):
            self._native = default_runtime()._native.deserialize(source)
        else:
            self._native = default_runtime()._native.load(source)

    @classmethod
    def load(cls, path: Path, *, runtime: Runtime | None = None) -> Engine:
        """From a plan's file. Raises Error for one that is damaged, or of another version or environment."""
        return (runtime or default_runtime()).load(path)

    def save(self, path: Path) -> None:
        """Writes the plan, whole or not at all."""
        self._native.save(path)

    def to_bytes(self) -> bytes:
        """The plan."""
        return self._native.serialize()

    @property
    def name(self) -> str:
        return self._native.name

    @property
    def inputs(self) -> list[TensorInfo]:
        return infos(self._native.inputs)

    @property
    def outputs(self) -> list[TensorInfo]:
        return infos(self._native.outputs)

    @property
    def profiles(self) -> list[dict[str, tuple[Any, ...]]]:
        """By input: min, opt, max, and whether these are elements of a shape tensor."""
        return self._native.profiles

    @property
    def is_refittable(self) -> bool:
        return self._native.is_refittable

    @property
    def lacks_weights(self) -> bool:
        """Weights were left out and not given yet: nothing can be run."""
        return self._native.lacks_weights

    @property
    def device_memory_size(self) -> int:
        """Bytes that a context needs for intermediate values."""
        return self._native.device_memory_size

    def create_context(self, *, profile: int = 0) -> Context:
        """For one run at a time."""
        context = Context(self)
        if profile:
            context.profile = profile
        return context

    def run(self, feed: Feed | None = None, /, **arrays: Any) -> dict[str, np.ndarray[Any, Any]]:
        """Runs on a context of the engine's own: ``engine.run({"x": a})`` or ``engine.run(x=a)``. For runs in several
        threads make contexts."""
        if self._context is None:
            self._context = self.create_context()
        return self._context.run({**(feed or {}), **arrays})

    __call__ = run

    def refit(self, weights: Mapping[str, Any]) -> None:
        """New weights by the names of initializers; contexts use them from their next run on. Raises Error naming
        those that are still missing, and changes nothing then."""
        refitter = native.Refitter(self._native)
        for name, array in weights.items():
            refitter.set_weights(name, array)
        refitter.refit()

    @property
    def weights(self) -> list[str]:
        """Names of what can be refitted."""
        return native.Refitter(self._native).all_weights()

    @property
    def missing_weights(self) -> list[str]:
        return native.Refitter(self._native).missing_weights()

    def inspect(self) -> dict[str, Any]:
        """What is inside: layers with tactics, inputs, outputs, and the ONNX nodes that they stand for."""
        import json

        return json.loads(self._native.information())

    def text(self, *, layers: bool = False) -> str:
        """As ``assay inspect model`` prints it."""
        return self._native.text(layers)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Engine, (self.to_bytes(),))

    def __repr__(self) -> str:
        def names(values: list[TensorInfo]) -> str:
            return ", ".join(str(v) for v in values[:4]) + (", ..." if len(values) > 4 else "")

        return f"<Engine {self.name!r}: ({names(self.inputs)}) -> ({names(self.outputs)})>"

    def _repr_html_(self) -> str:
        rows: list[tuple[object, ...]] = [("input", i.name, i.type) for i in self.inputs]
        rows += [("output", o.name, o.type) for o in self.outputs]
        for number, profile in enumerate(self.profiles):
            rows += [(f"profile {number}", name, f"{r[0]} to {r[2]}, best {r[1]}") for name, r in profile.items()]
        return table(("", "name", "type"), rows, f"engine {self.name}")


class LayerTimes(dict[str, float]):
    """Milliseconds by step of a run; a step goes by the names of its ONNX nodes."""

    @property
    def total(self) -> float:
        return sum(self.values())

    def __repr__(self) -> str:
        return f"<LayerTimes: {len(self)} step(s), {self.total:.3f} ms>"

    def _repr_html_(self) -> str:
        total = self.total or 1.0
        rows = [(f"{ms:.3f}", f"{100 * ms / total:.1f} %", name) for name, ms in sorted(self.items(), key=lambda x: -x[1])]
        return table(("ms", "share", "step"), rows, f"{len(self)} step(s), {self.total:.3f} ms")


class Context:
    """Runs an engine, one run at a time, with memory of its own. Another thread that uses it meanwhile gets
    InvalidArgument."""

    __slots__ = ("_run", "_native", "engine")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        self._native = engine._native.create_context()
        self._run = self._native.run

    def run(
        self, feed: Feed, *, out: Mapping[str, Any] | None = None
    ) -> dict[str, np.ndarray[Any, Any]]:
        """One run. Arrays that are row-major, aligned and in this machine's byte order are used where they lie;
        others are copied. Outputs are new arrays, except those that `out` names: they are written there. The
        interpreter's lock is free meanwhile, and Ctrl-C ends the run."""
        return self._run(feed if type(feed) is dict else dict(feed), out)

    __call__ = run

    def bind(self, name: str, array: Any) -> None:
        """Memory of an input or output for ``execute()``; the array must begin at a multiple of 64 bytes for
        outputs (``assay.zeros()`` does) and stays bound, and alive, until another one is."""
        self._native.bind(name, array)

    def execute(self) -> None:
        """Runs on what is bound; allocates nothing once it ran for these shapes."""
        self._native.execute()

    def cancel(self) -> None:
        """Ends a run that another thread is carrying out: that call raises Cancelled."""
        self._native.cancel()

    @property
    def profile(self) -> int:
        """The profile in whose ranges shapes must lie."""
        return self._native.profile

    @profile.setter
    def profile(self, index: int) -> None:
        self._native.set_profile(index)

    def set_input_shape(self, name: str, shape: Sequence[int]) -> None:
        self._native.set_input_shape(name, shape)

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Of an input or output; None as long as it is not known."""
        return self._native.tensor_shape(name)

    def run_with_times(self, feed: Feed) -> tuple[dict[str, np.ndarray[Any, Any]], LayerTimes]:
        """A run, and the time of each of its steps."""
        times = LayerTimes()

        def report(step: str, milliseconds: float) -> None:
            times[step] = times.get(step, 0.0) + milliseconds

        self._native.set_profiler(report)
        try:
            return self.run(feed), times
        finally:
            self._native.set_profiler(None)

    def run_with_values(self, feed: Feed) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
        """A run, and the intermediate values that are not inside what runs as one."""
        values: dict[str, Any] = {}
        self._native.set_tap(values.__setitem__)
        try:
            return self.run(feed), values
        finally:
            self._native.set_tap(None)

    def __repr__(self) -> str:
        return f"<Context of {self.engine!r}>"


class Stream:
    """Work that is done in order, beside the caller."""

    __slots__ = ("_native",)

    def __init__(self) -> None:
        self._native = native.Stream()

    def enqueue(self, work: Context | Callable[[], object]) -> None:
        """A run of a context on what is bound to it, or a function. What it raises, ``synchronize()`` raises."""
        self._native.enqueue(work._native if isinstance(work, Context) else work)

    def synchronize(self) -> None:
        """Waits for all work; Ctrl-C ends the waiting."""
        self._native.synchronize()

    @property
    def is_done(self) -> bool:
        return self._native.query()


def build(
    model: Model | Path | Any,
    *,
    runtime: Runtime | None = None,
    profiles: Sequence[Profile] | Profile | None = None,
    fp16: bool = False,
    bf16: bool = False,
    int8: bool = False,
    calibrator: Calibrator | Iterable[Feed] | None = None,
    timing_cache: TimingCache | Path | None = None,
    optimization_level: int = 3,
    refittable: bool = False,
    progress: Progress | None = None,
    **settings: Any,
) -> Engine:
    """Makes a model ready to run. Ctrl-C ends it.

    `profiles`: for inputs with open extents, by name: (min, opt, max) shapes; several for contexts to choose from.
    `fp16`, `bf16`, `int8`: what numbers may be rounded to; `calibrator`: data for int8's scales. `timing_cache`: kept
    from build to build; a path is read where it is there, and written. `optimization_level`: 0 (nothing is timed) to
    5. `settings`: what else a build may do: ``workspace_limit`` (bytes), ``strip_weights``, ``use_timing_cache_only``,
    ``layer_types`` ([(selector, dtype, output dtypes)]), ``precision_constraints`` (none, prefer, obey),
    ``float_nodes``, ``disabled_passes``, ``disabled_tactics``, ``pinned_tactics`` ({node: tactic}),
    ``algorithm_selector``, ``optimize``, ``verify_passes``, ``max_edits``. The engine's ``explanation`` says of each
    region what was chosen and why.
    """
    follow_level()
    runtime = runtime or default_runtime()
    cache_path: Path | None = None
    if timing_cache is not None and not isinstance(timing_cache, TimingCache):
        cache_path, timing_cache = timing_cache, TimingCache(timing_cache, runtime=runtime)
    if calibrator is not None and not hasattr(calibrator, "next_batch"):
        calibrator = Calibrator(calibrator)
    if isinstance(profiles, Mapping):
        profiles = [profiles]
    settings.update(
        profiles=[dict(p) for p in profiles] if profiles is not None else None,
        fp16=fp16,
        bf16=bf16,
        int8=int8,
        calibrator=calibrator,
        timing_cache=timing_cache._native if timing_cache is not None else None,
        optimization_level=optimization_level,
        refittable=refittable,
    )
    made, summary, explanation, type_summary = runtime._native.build(as_model(model)._native, settings, progress)
    if cache_path is not None and timing_cache is not None:
        timing_cache.save(cache_path)
    engine = Engine(made)
    engine.summary, engine.explanation, engine.type_summary = summary, explanation, type_summary
    return engine


def zeros(shape: Sequence[int], dtype: Any = "float32") -> np.ndarray[Any, Any]:
    """An array of zeros that begins at a multiple of 64 bytes, as ``Context.bind()`` wants it."""
    return native.zeros(shape, dtype)


__all__ = [
    "Calibrator",
    "Context",
    "Engine",
    "LayerTimes",
    "Profile",
    "Progress",
    "Runtime",
    "Stream",
    "TimingCache",
    "build",
    "default_runtime",
    "zeros",
]
