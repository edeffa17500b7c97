"""Evaluations on a Ray cluster, whose results are the bytes of one process.

    import assay.cluster

    result = assay.cluster.eval("model.onnx", ["onnxrt", "engine"], "digits.npz", labels="labels", metrics=["top1"])

The samples are cut into tasks; a bounded number of them is under way at any time. The files are shipped through Ray's object
store, once to each node, where they have a name by their content and are mapped. A task whose worker dies is repeated, then
halved, until the sample that kills workers is alone: it is left out, counted and named. Needs ``pip install ray``.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._errors import InvalidArgument, Unsupported
from ._evaluate import Evaluation, evaluation_settings
from ._library import follow_level, native

if TYPE_CHECKING:
    Path = str | os.PathLike[str]

SHIPPED = ("data", "tokens", "labels")
"""Settings that name files of the evaluation besides the model."""


@dataclass(frozen=True)
class Part:
    """Samples [first, end), and how many times their worker has died."""

    first: int
    end: int
    deaths: int = 0

    @property
    def text(self) -> str:
        return f"{self.first}:{self.end}"

    def halves(self) -> list[Part]:
        middle = (self.first + self.end) // 2
        return [Part(self.first, middle), Part(middle, self.end)]


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
    from assay._library import native as own

    settings = {**settings, "run": dict(settings["run"]), "only": only}
    for name, file in shipped.items():
        path = file.on_node(_node_folder())
        if name == "model":
            settings["run"]["model"] = path
        else:
            settings[name] = path
    text: str = own.run_evaluation(settings)
    return text


class _Driver:
    """Keeps parts under way until all samples are covered."""

    def __init__(
        self,
        submit: Callable[[Part], Any],
        died: tuple[type[BaseException], ...],
        *,
        in_flight: int,
        retries: int,
        done: Evaluation | None,
        journal: str | None,
        progress: Callable[[int, int], None] | None,
        samples: int,
    ) -> None:
        self._submit, self._died = submit, died
        self._in_flight, self._retries = in_flight, retries
        self._merged, self._journal = done, journal
        self._progress, self._samples = progress, samples
        self._covered = sum(end - first for first, end in done.covered) if done else 0
        self._killers: list[int] = []
        self._fresh: list[str] = []
        self._saved = time.monotonic()

    def run(self, parts: Sequence[Part]) -> Evaluation:
        import ray

        waiting = deque(parts)
        running: dict[Any, Part] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self._in_flight:
                    part = waiting.popleft()
                    running[self._submit(part)] = part
                ready, _ = ray.wait(list(running), num_returns=1)
                for task in ready:
                    part = running.pop(task)
                    try:
                        self._take(ray.get(task), part)
                    except self._died:
                        waiting.extendleft(reversed(self._again(part)))
        except BaseException:
            for task in running:
                ray.cancel(task, force=True)
            self._save(now=True)
            raise
        self._merge()
        return self._without_killers()

    def _take(self, text: str, part: Part) -> None:
        self._fresh.append(text)
        self._covered += part.end - part.first
        if self._progress is not None:
            self._progress(self._covered, self._samples)
        self._save(now=False)

    def _again(self, part: Part) -> list[Part]:
        """A worker may die for reasons of its own: the part is tried again before it is halved."""
        if part.deaths < self._retries:
            return [Part(part.first, part.end, part.deaths + 1)]
        if part.end - part.first > 1:
            return part.halves()
        self._killers.append(part.first)
        return []

    def _merge(self) -> None:
        if self._fresh:
            texts = [*([self._merged.text] if self._merged else []), *self._fresh]
            self._merged = Evaluation(native.merge_evaluations(texts, True))
            self._fresh = []

    def _save(self, now: bool) -> None:
        if len(self._fresh) >= 256:
            self._merge()
        if self._journal is None or not (now or time.monotonic() - self._saved > 10):
            return
        self._merge()
        if self._merged is not None:
            self._merged.save(self._journal)
        self._saved = time.monotonic()

    def _without_killers(self) -> Evaluation:
        if self._merged is None:
            raise InvalidArgument(f"every sample kills the worker that evaluates it: {self._samples} of them")
        text = self._merged.text
        for sample in sorted(self._killers):
            reason = f"it kills the worker: {self._retries + 1} worker(s) died of this sample alone"
            text = native.leave_out_sample(text, sample, reason)
        return Evaluation(text)


def _cut(gaps: Sequence[tuple[int, int]], chunk: int) -> list[Part]:
    return [
        Part(at, min(at + chunk, end)) for first, end in gaps for at in range(first, end, chunk)
    ]


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
    data: Path | None = None,
    *,
    chunk: int | None = None,
    in_flight: int | None = None,
    num_cpus: float = 1,
    retries: int = 2,
    shared: bool = False,
    output: Path | None = None,
    resume: bool = False,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> Evaluation:
    """Evaluates backends over a data set on the Ray cluster of this process (``ray.init``), which is started if there is none.

    `model`, `backends`, `data` and further `settings` as for ``assay.eval``, but data are files: what is an iterable on one
    machine is a folder or an ``.npz`` on many. `chunk`: samples a task; by default eight tasks for each CPU. `in_flight`:
    tasks under way, by default twice the number of CPUs. `num_cpus`: of each task, which has as many threads unless
    ``threads`` says otherwise. `retries`: how often a task whose worker died is repeated before it is halved. `shared`: all
    nodes see the files under the same paths, so that nothing is shipped (folders, external data). `output`: the file of the
    result; what is finished is saved in OUTPUT.unfinished meanwhile, with which ``resume=True`` goes on. `progress` is called
    with the number of samples that are done and of all.

    Raises Error as ``assay.eval``; a sample that kills its worker is left out, and counted among the bad ones.
    """
    import ray
    from ray import exceptions

    follow_level()
    if data is not None and not isinstance(data, (str, os.PathLike)):
        raise Unsupported("data on a cluster are files: save an iterable as a folder of .npz files, or as one .npz")
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    settings.setdefault("threads", max(1, int(num_cpus)))
    task_settings = evaluation_settings(os.fspath(model), backends, data, settings)
    samples = native.count_samples(task_settings)
    if samples is None:
        raise Unsupported("a stream has no parts that workers could begin with: save its samples as a folder or as one .npz")
    shipped = {} if shared else {name: _ship(path) for name, path in _files(task_settings).items()}
    if not shared:
        for name in shipped:
            (task_settings["run"] if name == "model" else task_settings).pop(name)
        task_settings["run"].setdefault("model", None)
    cpus = max(1, int(ray.cluster_resources().get("CPU", 1) / max(num_cpus, 1e-9)))
    journal = f"{os.fspath(output)}.unfinished" if output is not None else None
    done = None
    if journal is not None and os.path.exists(journal):
        if not resume:
            raise InvalidArgument(
                f"{journal} has what an interrupted evaluation has finished: go on with it by resume=True, or remove it"
            )
        done = Evaluation.load(journal)
    gaps = done.missing if done else [(0, samples)]
    task = ray.remote(num_cpus=num_cpus, max_retries=0)(_evaluate_part)
    kept = ray.put(task_settings)
    driver = _Driver(
        lambda part: task.remote(kept, shipped, part.text),
        (exceptions.WorkerCrashedError, exceptions.NodeDiedError, exceptions.OutOfMemoryError, exceptions.ObjectLostError),
        in_flight=in_flight or 2 * cpus,
        retries=retries,
        done=done,
        journal=journal,
        progress=progress,
        samples=samples,
    )
    size = chunk or max(1, -(-samples // (8 * cpus)))
    try:
        result = driver.run(_cut(gaps, size))
    except exceptions.RayTaskError as e:
        raise e.cause if isinstance(e.cause, Exception) else e
    if output is not None:
        result.save(output)
        if journal is not None and os.path.exists(journal):
            os.unlink(journal)
    return result


__all__ = ["eval"]
