"""Evaluations and calibrations on a Ray cluster, whose results are the bytes of one process.

    import assay.cluster

    result = assay.cluster.eval("model.onnx", ["onnxrt", "engine"], "digits.npz", labels="labels", metrics=["top1"])
    scales = assay.cluster.calibrate("model.onnx", images)

The samples are cut into tasks; a bounded number of them is under way at any time. The files are shipped through Ray's object
store, once to each node, where they have a name by their content and are mapped. A worker opens models, backends and scripts
for its first task, and keeps them for the next ones. A task whose worker dies is repeated, then
halved, until the sample that kills workers is alone: it is left out, counted and named. Data may also be an iterable: its
samples are taken as tasks become free, and go to the workers. Needs ``pip install ray``.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ._engine import Runtime, default_runtime
from ._errors import InvalidArgument, Unsupported
from ._evaluate import Evaluation, evaluation_settings, feeds, name_interpreter, sampled
from ._library import follow_level, native
from ._model import Model, as_model

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


class _Open:
    """The evaluation that a worker has open between two of its tasks: one, which is closed after a while without any."""

    SECONDS = 30.0
    """How long it stays open without a task."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: str | None = None
        self._evaluation: Any = None
        self._timer: threading.Timer | None = None

    def use(self, key: str, make: Callable[[], Any], task: Callable[[Any], str]) -> str:
        """What the task makes of the evaluation of this key, which is closed where the task fails."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._key != key:
                self._close()
                self._evaluation, self._key = make(), key
            try:
                text = task(self._evaluation)
            except BaseException:
                self._close()
                raise
            self._timer = threading.Timer(self.SECONDS, self._expire, [key])
            self._timer.daemon = True
            self._timer.start()
            return text

    def _close(self) -> None:
        self._key = self._evaluation = None

    def _expire(self, key: str) -> None:
        # A task that holds the lock uses it.
        if self._lock.acquire(blocking=False):
            try:
                if self._key == key:
                    self._close()
            finally:
                self._lock.release()


_open = _Open()


def _evaluate_part(settings: dict[str, Any], shipped: dict[str, Shipped], key: str, part: Part) -> str:
    """The task: the JSON of a part. `key` names the evaluation."""

    def make() -> Any:
        name_interpreter()
        here = {**settings, "run": dict(settings["run"])}
        for name, file in shipped.items():
            (here["run"] if name == "model" else here)[name] = file.on_node(_node_folder())
        return native.OpenEvaluation(here)

    def task(evaluation: Any) -> str:
        text: str = evaluation.of_range(part.text) if part.items is None else evaluation.of_items(feeds(part.items), part.first)
        return text

    return _open.use(key, make, task)


def _calibrate_piece(
    settings: dict[str, Any], shipped: dict[str, Shipped], scales: tuple[str, float, None], first: int, items: Sequence[Any]
) -> str:
    """The task of a calibration: the JSON of a part."""
    model = shipped["model"]
    runtime = Runtime(threads=settings["threads"])
    text: str = native.calibration_part(
        runtime._native, as_model(model.on_node(_node_folder()))._native, settings["build"], {"data": list(items)}, scales, first,
        model.digest,
    )  # fmt: skip
    return text


def _apply(function: Callable[[Any], Any], first: int, items: Sequence[Any]) -> dict[int, Any]:
    """The task of map(): results by number."""
    return {first + i: function(item) for i, item in enumerate(items)}


def _deadly() -> tuple[type[Exception], ...]:
    """What a task whose worker dies raises."""
    from ray import exceptions

    return (exceptions.WorkerCrashedError, exceptions.NodeDiedError, exceptions.OutOfMemoryError, exceptions.ObjectLostError)


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

        died = _deadly()
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
            # The tasks under way end by themselves: where a task ends while it is cancelled, Ray aborts the driver (its
            # issue 54846).
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


def _deal(gaps: Sequence[tuple[int, int]], most: int) -> Iterator[Part]:
    """At most this many parts for each gap, as long as each other but for a sample: no worker waits for a last, long one."""
    for first, end in gaps:
        count = min(most, end - first)
        for i in range(count):
            yield Part(first + (end - first) * i // count, first + (end - first) * (i + 1) // count)


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
        gaps = done.missing if done else [(0, samples)]
        parts, pieces = _cut(gaps, chunk) if chunk else _deal(gaps, 8 * _workers(num_cpus)), None
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
    task, key = ray.remote(num_cpus=num_cpus, max_retries=0)(_evaluate_part), uuid.uuid4().hex
    driver = _Driver(
        lambda part: task.remote(kept, shipped, key, part),
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


def _check(function: Callable[[Model], object], content: bytes) -> object:
    """The task of a check."""
    said = function(Model.from_bytes(content))
    return said if isinstance(said, str) else bool(said)


class _Check:
    """A check on the cluster, as a future. Dead workers are the candidate's failure once they are too many."""

    def __init__(self, submit: Callable[[], Any], retries: int) -> None:
        self._submit, self._retries = submit, retries
        self._task = submit()
        self._deaths = 0
        self._said: object = None
        self._raised: Exception | None = None
        self._is_done = False

    def done(self) -> bool:
        import ray
        from ray import exceptions

        if self._is_done or not ray.wait([self._task], timeout=0)[0]:
            return self._is_done
        try:
            self._said = ray.get(self._task)
        except _deadly():
            self._deaths += 1
            if self._deaths <= self._retries:
                self._task = self._submit()
                return False
            self._said = "it kills the worker that checks it"
        except exceptions.RayTaskError as e:
            self._raised = e.cause if isinstance(e.cause, Exception) else e
        self._is_done = True
        return True

    def result(self) -> object:
        while not self.done():
            time.sleep(0.001)
        if self._raised is not None:
            raise self._raised
        return self._said

    def cancel(self) -> None:
        """The task ends by itself, as those of an evaluation."""


def checking(function: Callable[[Model], object], *, num_cpus: float = 1, retries: int = 2) -> Callable[[Model], Any]:
    """A check of candidates on the Ray cluster, for ``assay.debug.reduce`` with as many ``jobs`` as tasks may run at a time:

        assay.debug.reduce(model, assay.cluster.checking(fails), jobs=16)

    `function` gets a model and says how it fails, as a check of ``assay.debug.reduce``. `retries`: how often a check whose
    worker died is repeated; a candidate whose workers die further fails by "it kills the worker that checks it". A check that
    the search gives up runs to its end, and is forgotten.
    """
    import ray

    follow_level()
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    kept = ray.put(function)
    task = ray.remote(num_cpus=num_cpus, max_retries=0)(_check)

    def begin(candidate: Model) -> _Check:
        content = ray.put(candidate.to_bytes())
        return _Check(lambda: task.remote(kept, content), retries)

    return begin


__all__ = ["Killed", "calibrate", "checking", "eval", "map"]
