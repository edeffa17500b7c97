"""Evaluations and calibrations on a Ray cluster, whose results are the bytes of one process.

    import assay.cluster

    result = assay.cluster.eval("model.onnx", ["onnxrt", "engine"], "digits.npz", labels="labels", metrics=["top1"])
    scales = assay.cluster.calibrate("model.onnx", images)

The samples are cut into tasks; a bounded number of them is under way at any time. The files are shipped through Ray's object
store, once to each node, where they have a name by their content and are mapped. A task whose worker dies is repeated, then
halved, until the sample that kills workers is alone: it is left out, counted and named. Data may also be an iterable: its
samples are taken as tasks become free, and go to the workers. Needs ``pip install ray``.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ._engine import default_runtime
from ._errors import InvalidArgument, Unsupported
from ._evaluate import Evaluation, evaluation_settings, sampled
from ._library import follow_level, native

if TYPE_CHECKING:
    from ._values import Feed

    Path = str | os.PathLike[str]

SHIPPED = ("data", "tokens", "labels")
"""Settings that name files of the evaluation besides the model."""


@dataclass(frozen=True)
class Part:
    """Samples [first, end), and how many times their worker has died."""

    first: int
    end: int
    deaths: int = 0
    items: tuple[Any, ...] | None = field(default=None, repr=False, compare=False)
    """The samples themselves, where they are not in a file."""

    @property
    def text(self) -> str:
        return f"{self.first}:{self.end}"

    def halves(self) -> list[Part]:
        middle = (self.first + self.end) // 2
        left, right = (None, None) if self.items is None else (self.items[: middle - self.first], self.items[middle - self.first :])
        return [Part(self.first, middle, items=left), Part(middle, self.end, items=right)]


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


@dataclass(frozen=True)
class Shipped:
    """A file by its content: where it is on a node follows from the digest."""

    name: str
    digest: str
    content: Any
    """Its bytes in the object store."""

    def on_node(self, folder: str) -> str:
        """The path on this node. The first task there writes the file; another that comes at the same time writes the same."""
        import ray

        place = os.path.join(folder, self.digest)
        path = os.path.join(place, self.name)
        if not os.path.exists(path):
            os.makedirs(place, mode=0o700, exist_ok=True)
            content = ray.get(self.content)
            with tempfile.NamedTemporaryFile(dir=place, delete=False) as file:
                file.write(content)
            os.replace(file.name, path)
        return path


def _ship(path: str) -> Shipped:
    import numpy as np
    import ray

    # An array is read from the object store without a copy.
    content = ray.put(np.fromfile(path, dtype=np.uint8))
    return Shipped(os.path.basename(path), _digest(path), content)


def _node_folder() -> str:
    return os.path.join(tempfile.gettempdir(), f"assay-{os.getuid()}")


def _evaluate_part(settings: dict[str, Any], shipped: dict[str, Shipped], only: str) -> str:
    """The task: the JSON of a part."""
    from assay._evaluate import name_interpreter
    from assay._library import native as own

    name_interpreter()

    settings = {**settings, "run": dict(settings["run"]), "only": only}
    for name, file in shipped.items():
        path = file.on_node(_node_folder())
        if name == "model":
            settings["run"]["model"] = path
        else:
            settings[name] = path
    text: str = own.run_evaluation(settings)
    return text


def _evaluate_piece(settings: dict[str, Any], shipped: dict[str, Shipped], first: int, items: Sequence[Any]) -> str:
    """The task over samples that come with it."""
    from assay._evaluate import feeds, name_interpreter
    from assay._library import native as own

    name_interpreter()

    settings = {**settings, "run": {**settings["run"], "data": feeds(items)}, "first_sample": first}
    for name, file in shipped.items():
        (settings["run"] if name == "model" else settings)[name] = file.on_node(_node_folder())
    text: str = own.run_evaluation(settings)
    return text


def _calibrate_piece(
    settings: dict[str, Any], shipped: dict[str, Shipped], scales: tuple[str, float, None], first: int, items: Sequence[Any]
) -> str:
    """The task of a calibration: the JSON of a part."""
    from assay._engine import Runtime
    from assay._library import native as own
    from assay._model import as_model

    model = shipped["model"]
    runtime = Runtime(threads=settings["threads"])
    text: str = own.calibration_part(
        runtime._native, as_model(model.on_node(_node_folder()))._native, settings["build"], {"data": list(items)}, scales, first,
        model.digest,
    )  # fmt: skip
    return text


def _apply(function: Callable[[Any], Any], first: int, items: Sequence[Any]) -> dict[int, Any]:
    """The task of map(): results by number."""
    return {first + i: function(item) for i, item in enumerate(items)}


class _Driver:
    """Keeps parts under way until all samples are covered. `parts` are asked for as tasks become free."""

    def __init__(
        self,
        submit: Callable[[Part], Any],
        merge: Callable[[list[Any]], Any],
        *,
        in_flight: int,
        retries: int,
        done: Evaluation | None = None,
        journal: str | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        samples: int | None = None,
    ) -> None:
        self._submit, self._merge_texts = submit, merge
        self._in_flight, self._retries = in_flight, retries
        self._merged: Any = done.text if done else None
        self._journal = journal
        self._progress, self._samples = progress, samples
        self._covered = sum(end - first for first, end in done.covered) if done else 0
        self.killers: list[int] = []
        self._fresh: list[Any] = []
        self._saved = time.monotonic()

    def run(self, parts: Iterator[Part]) -> Any:
        """What tasks gave, merged, without the samples that killed workers; None: nothing was done."""
        import ray
        from ray import exceptions

        died = (
            exceptions.WorkerCrashedError, exceptions.NodeDiedError, exceptions.OutOfMemoryError, exceptions.ObjectLostError,
        )  # fmt: skip
        again: deque[Part] = deque()
        running: dict[Any, Part] = {}
        try:
            while True:
                while len(running) < self._in_flight and (part := again.popleft() if again else next(parts, None)):
                    running[self._submit(part)] = part
                if not running:
                    break
                ready, _ = ray.wait(list(running), num_returns=1)
                for task in ready:
                    part = running.pop(task)
                    try:
                        self._take(ray.get(task), part)
                    except died:
                        again.extendleft(reversed(self._again(part)))
        except BaseException:
            for task in running:
                ray.cancel(task, force=True)
            self._save(now=True)
            raise
        self._merge()
        return self._merged

    def _take(self, made: Any, part: Part) -> None:
        self._fresh.append(made)
        self._covered += part.end - part.first
        if self._progress is not None:
            self._progress(self._covered, self._samples)
        self._save(now=False)

    def _again(self, part: Part) -> list[Part]:
        """A worker may die for reasons of its own: the part is tried again before it is halved."""
        if part.deaths < self._retries:
            return [replace(part, deaths=part.deaths + 1)]
        if part.end - part.first > 1:
            return part.halves()
        self.killers.append(part.first)
        return []

    def _merge(self) -> None:
        if self._fresh:
            self._merged = self._merge_texts([*([self._merged] if self._merged else []), *self._fresh])
            self._fresh = []

    def _save(self, now: bool) -> None:
        if len(self._fresh) >= 256:
            self._merge()
        if self._journal is None or not (now or time.monotonic() - self._saved > 10):
            return
        self._merge()
        if self._merged is not None:
            Evaluation(self._merged).save(self._journal)
        self._saved = time.monotonic()


def _without_killers(text: str | None, driver: _Driver, retries: int) -> str:
    if text is None:
        raise InvalidArgument(f"every sample kills the worker that evaluates it: {len(driver.killers)} of them")
    for sample in sorted(driver.killers):
        reason = f"it kills the worker: {retries + 1} worker(s) died of this sample alone"
        text = native.leave_out_sample(text, sample, reason)
    return text


class _Pieces:
    """The samples of an iterable in parts, taken one by one; those that are done already are left out."""

    def __init__(self, data: Iterable[Any], chunk: int, done: Sequence[tuple[int, int]], most: int | None) -> None:
        self._data, self._chunk, self._done, self._most = iter(data), chunk, done, most
        self.count = 0
        """Samples that were taken."""

    def __iter__(self) -> Iterator[Part]:
        held: list[Any] = []
        for item in self._data:
            if self._most is not None and self.count >= self._most:
                break
            index = self.count
            self.count += 1
            is_done = any(first <= index < end for first, end in self._done)
            if not is_done:
                held.append(item)
            if held and (is_done or len(held) == self._chunk):
                end = index if is_done else index + 1
                yield Part(end - len(held), end, items=tuple(held))
                held = []
        if held:
            yield Part(self.count - len(held), self.count, items=tuple(held))


def _cut(gaps: Sequence[tuple[int, int]], chunk: int) -> Iterator[Part]:
    for first, end in gaps:
        for at in range(first, end, chunk):
            yield Part(at, min(at + chunk, end))


def _files(settings: dict[str, Any]) -> dict[str, str]:
    """The files that a worker needs, by setting. Raises Unsupported for what cannot be shipped."""
    files = {"model": os.fspath(settings["run"]["model"])}
    for name in SHIPPED:
        path = settings.get(name)
        if path is None or (name == "labels" and not os.path.exists(path)):
            continue
        if not os.path.isfile(path):
            raise Unsupported(
                f"{path} is no single file, so it cannot be shipped to the nodes: give shared=True where all nodes see it"
            )
        files[name] = path
    return files


def eval(
    model: Path,
    backends: Sequence[str],
    data: Path | Iterable[Any] | None = None,
    *,
    chunk: int | None = None,
    in_flight: int | None = None,
    num_cpus: float = 1,
    retries: int = 2,
    shared: bool = False,
    output: Path | None = None,
    resume: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
    **settings: Any,
) -> Evaluation:
    """Evaluates backends over a data set on the Ray cluster of this process (``ray.init``), which is started if there is none.

    `model`, `backends`, `data` and further `settings` as for ``assay.eval``. The samples of an iterable go to the workers
    with their tasks, so that the driver moves them all: a folder or an ``.npz`` moves once to each node. `chunk`: samples a
    task; by default eight tasks for each CPU, and 16 samples of an iterable. `in_flight`: tasks under way, by default twice
    the number of CPUs; no more samples than these have are taken from an iterable. `num_cpus`: of each task, which has as many threads unless
    ``threads`` says otherwise. `retries`: how often a task whose worker died is repeated before it is halved. `shared`: all
    nodes see the files under the same paths, so that nothing is shipped (folders, external data). `output`: the file of the
    result; what is finished is saved in OUTPUT.unfinished meanwhile, with which ``resume=True`` goes on. `progress` is called
    with the number of samples that are done and of all (None: not known yet).

    Raises Error as ``assay.eval``; a sample that kills its worker is left out, and counted among the bad ones.
    """
    import ray

    follow_level()
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    settings.setdefault("threads", max(1, int(num_cpus)))
    journal = f"{os.fspath(output)}.unfinished" if output is not None else None
    done = _unfinished(journal, resume)
    if data is None or isinstance(data, (str, os.PathLike)):
        task_settings = evaluation_settings(os.fspath(model), backends, data, settings)
        samples = native.count_samples(task_settings)
        if samples is None:
            raise Unsupported(
                "a stream has no parts that workers could begin with: give an iterable, or save its samples as a folder or as one .npz"
            )
        size = chunk or max(1, -(-samples // (8 * _workers(num_cpus))))
        parts, pieces = _cut(done.missing if done else [(0, samples)], size), None
    else:
        data, name = sampled(data, settings), settings.pop("data_name", "iterable")
        task_settings = evaluation_settings(os.fspath(model), backends, None, settings)
        task_settings["data_identity"] = [("kind", "iterable"), ("name", name)]
        pieces = _Pieces(data, chunk or 16, done.covered if done else [], settings.get("samples"))
        samples, parts = None, iter(pieces)
    shipped = {} if shared else {name: _ship(path) for name, path in _files(task_settings).items()}
    for name in shipped:
        (task_settings["run"] if name == "model" else task_settings).pop(name)
    task_settings["run"].setdefault("model", None)
    kept = ray.put(task_settings)
    of_range = ray.remote(num_cpus=num_cpus, max_retries=0)(_evaluate_part)
    of_items = ray.remote(num_cpus=num_cpus, max_retries=0)(_evaluate_piece)

    def submit(part: Part) -> Any:
        if part.items is None:
            return of_range.remote(kept, shipped, part.text)
        return of_items.remote(kept, shipped, part.first, part.items)

    driver = _Driver(
        submit,
        lambda texts: native.merge_evaluations(texts, True),
        in_flight=in_flight or 2 * _workers(num_cpus),
        retries=retries,
        done=done,
        journal=journal,
        progress=progress,
        samples=samples,
    )
    text = _run(driver, parts)
    if pieces is not None and pieces.count == 0:
        raise InvalidArgument("there are no samples")
    text = _without_killers(text, driver, retries)
    scripts = list(settings.get("metric_scripts", ()))
    result = Evaluation(native.merge_evaluations([text], False, pieces.count if pieces is not None else None, scripts))
    if output is not None:
        result.save(output)
        if journal is not None and os.path.exists(journal):
            os.unlink(journal)
    return result


def _workers(num_cpus: float) -> int:
    """Tasks that the cluster runs at a time."""
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1) / max(num_cpus, 1e-9)))


def _unfinished(journal: str | None, resume: bool) -> Evaluation | None:
    if journal is None or not os.path.exists(journal):
        return None
    if not resume:
        raise InvalidArgument(
            f"{journal} has what an interrupted evaluation has finished: go on with it by resume=True, or remove it"
        )
    return Evaluation.load(journal)


def _run(driver: _Driver, parts: Iterator[Part]) -> Any:
    """Raises the error of a task as on one machine."""
    from ray import exceptions

    try:
        return driver.run(parts)
    except exceptions.RayTaskError as e:
        raise e.cause if isinstance(e.cause, Exception) else e


def calibrate(
    model: Path,
    data: Iterable[Feed],
    *,
    algorithm: str = "entropy2",
    quantile: float = 0.9999,
    output: Path | None = None,
    chunk: int = 16,
    in_flight: int | None = None,
    num_cpus: float = 1,
    retries: int = 2,
    progress: Callable[[int, int | None], None] | None = None,
    **settings: Any,
) -> bytes:
    """Finds the scales of a model in 8 bits on the Ray cluster: the cache, byte for byte as one process finds it over all
    `data`, for ``assay.Calibrator(cache=...)``, ``assay.quantize(cache=...)`` and ``assay convert --calibration-cache``.

    `data`: feeds, of which `chunk` go to each task; `in_flight` tasks at a time (by default twice the number of CPUs) bound
    how many feeds are taken ahead. `algorithm` and `quantile` as of ``assay.Calibrator``; `output`: the file of the cache;
    other `settings` as of ``assay.build``. Raises Error as a calibration on one machine, and for a feed that kills its worker.
    """
    import ray

    follow_level()
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    runtime = default_runtime()._native
    shipped = {"model": _ship(os.fspath(model))}
    kept = ray.put({"threads": max(1, int(num_cpus)), "build": {**settings, "int8": True}})
    task = ray.remote(num_cpus=num_cpus, max_retries=0)(_calibrate_piece)
    driver = _Driver(
        lambda part: task.remote(kept, shipped, (algorithm, quantile, None), part.first, part.items),
        lambda texts: native.merge_calibration_parts(runtime, texts, None),
        in_flight=in_flight or 2 * _workers(num_cpus),
        retries=retries,
        progress=progress,
    )
    pieces = _Pieces(data, chunk, [], None)
    text = _run(driver, iter(pieces))
    if driver.killers:
        raise InvalidArgument(f"the sets of inputs {sorted(driver.killers)} kill the worker that calibrates on them: leave them out")
    if text is None:
        raise InvalidArgument("there are no data to calibrate with")
    cache: bytes = native.merge_calibration_parts(runtime, [text], pieces.count).encode("utf-8", "surrogateescape")
    if output is not None:
        folder, name = os.path.split(os.path.abspath(os.fspath(output)))
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{name}.", delete=False) as file:
            file.write(cache)
        os.replace(file.name, os.path.join(folder, name))
    return cache


@dataclass(frozen=True)
class Killed:
    """In place of a result: the item kills the worker that gets it."""

    deaths: int
    """Workers that died of it alone."""


def map(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    chunk: int = 1,
    in_flight: int | None = None,
    num_cpus: float = 1,
    retries: int = 2,
    progress: Callable[[int, int | None], None] | None = None,
) -> list[Any]:
    """Calls `function` with each item on the Ray cluster and returns the results in order: the candidates of a search, such
    as one build for each layer that might stay in float32, side by side.

    `chunk` items go to each task; `in_flight` tasks at a time bound how many items are taken ahead. A task whose worker dies
    is repeated, then halved; an item that kills workers has ``Killed`` for its result. An exception of `function` is raised.
    """
    import ray

    follow_level()
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    kept = ray.put(function)
    task = ray.remote(num_cpus=num_cpus, max_retries=0)(_apply)
    driver = _Driver(
        lambda part: task.remote(kept, part.first, part.items),
        lambda results: {number: result for some in results for number, result in some.items()},
        in_flight=in_flight or 2 * _workers(num_cpus),
        retries=retries,
        progress=progress,
    )
    pieces = _Pieces(items, chunk, [], None)
    results = _run(driver, iter(pieces)) or {}
    return [results.get(i, Killed(retries + 1)) for i in range(pieces.count)]


__all__ = ["Killed", "calibrate", "eval", "map"]
