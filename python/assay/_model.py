"""Models: reading, looking, editing, saving."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ._library import follow_level, native
from ._values import Extent, Feed, Path, Shape, TensorInfo, folded, infos, table, visible

if TYPE_CHECKING:
    import numpy as np

    from ._engine import Engine


class Finding(NamedTuple):
    """Something that is wrong with a model, or odd about it."""

    rule: str
    """Its name: ``damaged-file``, ``undefined-name``, ..."""
    level: str
    """``exception`` (the model is invalid), ``warning`` or ``info``."""
    source: str
    """Who complains: ``onnx_checker``, ``assay``, ..."""
    message: str
    node: str
    """Of the main graph; empty: it concerns the whole model."""
    op_type: str


class Findings(list["Finding"]):
    """What a check found, in order."""

    @property
    def is_valid(self) -> bool:
        """No finding makes the model invalid."""
        return all(f.level != "exception" for f in self)

    def __repr__(self) -> str:
        state = "valid" if self.is_valid else "INVALID"
        return f"<Findings: {state}, {len(self)} finding(s)>"

    def _repr_html_(self) -> str:
        rows = [(f.level, f.rule, f.node, f.op_type, f.message) for f in self]
        return table(("level", "rule", "node", "operator", "message"), rows, repr(self)[1:-1])


class Difference(NamedTuple):
    """Something that two models do not have in common."""

    kind: str
    """``metadata``, ``opset``, ``input``, ``output``, ``node``, ``attribute``, ``connection``, ``initializer``
    or ``function``."""
    change: str
    """``removed``, ``added`` or ``changed``."""
    what: str
    before: str
    after: str
    max_difference: float | None
    """Of constants: the largest absolute difference of elements."""


class Diff:
    """How two models differ. False when they do not."""

    differences: list[Difference]
    matched: int
    """Nodes that both have."""
    renamed_nodes: int
    renamed_values: int
    text: str

    def __init__(
        self, differences: list[Difference], matched: int, renamed_nodes: int, renamed_values: int, text: str
    ) -> None:
        self.differences, self.matched, self.text = differences, matched, text
        self.renamed_nodes, self.renamed_values = renamed_nodes, renamed_values

    def __bool__(self) -> bool:
        return bool(self.differences)

    def __len__(self) -> int:
        return len(self.differences)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def __repr__(self) -> str:
        return f"<Diff: {len(self.differences)} difference(s), {self.matched} node(s) in common>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        rows = [(d.change, d.what, d.before, d.after, d.max_difference) for d in self.differences]
        return table(("change", "what", "before", "after", "largest difference"), rows, repr(self)[1:-1])


class Refused(NamedTuple):
    """An edit that a proof left out of the model."""

    name: str
    node: str
    reason: str
    """The counterexample."""


class SimplifyReport(NamedTuple):
    """What a simplification did."""

    edits: dict[str, int]
    """By pass."""
    folded_nodes: int
    flattened_ifs: int
    elided_casts: int
    is_proved: bool
    trials: int
    """Of the whole model."""
    proved_edits: int
    """Edits that were compared by themselves."""
    refused: Sequence[Refused] = ()

    def __repr__(self) -> str:
        proof = f", proved in {self.trials} trial(s)" if self.is_proved else ""
        left_out = f", {len(self.refused)} left out" if self.refused else ""
        return f"<SimplifyReport: {sum(self.edits.values())} edit(s), {self.folded_nodes} folded{proof}{left_out}>"

    def _repr_html_(self) -> str:
        rows: list[tuple[object, ...]] = [("edit", name, n) for name, n in self.edits.items()]
        rows += [("left out", f"{r.name} at {r.node}", r.reason) for r in self.refused]
        return table(("", "what", ""), rows, repr(self)[1:-1])


class Initializers(Mapping[str, "np.ndarray[Any, Any]"]):
    """A model's constants by name. An array is made when it is asked for: a read-only view of the file."""

    def __init__(self, model: native.Model) -> None:
        self._model = model
        self._names: dict[str, None] = dict.fromkeys(model.initializer_names)

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        if name not in self._names:
            raise KeyError(name)
        return self._model.initializer(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<Initializers: {len(self)} tensor(s)>"


class Model:
    """An ONNX model. It never changes: what edits it gives another one, and weights are shared."""

    __slots__ = ("__weakref__", "_native")

    def __init__(self, source: Path | Any) -> None:
        """`source`: a path, the bytes of a file, or an ``onnx.ModelProto``."""
        if isinstance(source, native.Model):
            self._native = source
        elif hasattr(source, "SerializeToString"):
            self._native = native.parse_model(source.SerializeToString())
        elif isinstance(source, (bytes, bytearray, memoryview)):
            self._native = native.parse_model(source)
        elif isinstance(source, (str, os.PathLike)):
            self._native = native.load_model(source)
        else:
            raise TypeError(f"a model is a path, the bytes of a file or an onnx.ModelProto, not a {type(source).__name__}")

    @classmethod
    def load(
        cls, path: Path, *, external_data: Path | None = None, ignore_external_data: bool = False
    ) -> Model:
        """Reads a file (binary, or ONNX's text form). Weights stay in the file, which is mapped: nothing is
        copied. `external_data`: the folder of its external data, if they are not beside it."""
        return cls(native.load_model(path, external_data, ignore_external_data))

    @classmethod
    def from_bytes(cls, data: Any, *, name: str = "a model in memory", external_data: Path | None = None) -> Model:
        """From the bytes of a file (anything with the buffer protocol), which are kept, not copied, and must not
        change. `name` is what errors call it."""
        return cls(native.parse_model(data, name, external_data))

    @classmethod
    def from_onnx(cls, proto: Any) -> Model:
        """From an ``onnx.ModelProto``."""
        return cls(native.parse_model(proto.SerializeToString()))

    # ---- what it is ----

    @property
    def inputs(self) -> list[TensorInfo]:
        return infos(self._native.inputs)

    @property
    def outputs(self) -> list[TensorInfo]:
        return infos(self._native.outputs)

    @property
    def initializers(self) -> Initializers:
        """Constants of the main graph by name, as read-only arrays that are made when asked for."""
        return Initializers(self._native)

    @property
    def opsets(self) -> dict[str, int]:
        """Versions by domain; ``""`` is ai.onnx."""
        return self._native.opsets

    @property
    def opset(self) -> int:
        """The version of ai.onnx; 0 where it is not imported."""
        return self._native.opsets.get("", 0)

    @property
    def ir_version(self) -> int:
        return self._native.ir_version

    @property
    def name(self) -> str:
        """Of the graph."""
        return self._native.name

    @property
    def producer(self) -> str:
        """Name and version of the program that made it."""
        return f"{self._native.producer_name} {self._native.producer_version}".strip()

    @property
    def doc_string(self) -> str:
        return self._native.doc_string

    @property
    def metadata(self) -> dict[str, str]:
        return self._native.metadata

    @property
    def path(self) -> str:
        """The file it was read from; empty for one that was not."""
        return self._native.path

    @property
    def node_count(self) -> int:
        """Of the main graph."""
        return self._native.node_count

    def inspect(self, *, layers: bool = True, attributes: bool = True) -> dict[str, Any]:
        """The graph as data: ``inputs``, ``outputs``, ``opsets``, ``initializers`` and ``nodes``, each a dict with
        ``name``, ``op_type``, ``domain``, ``inputs``, ``outputs`` (names; None: left out) and ``attributes``."""
        graph = self._native.inspect(layers, attributes)
        _name_values(graph)
        return graph

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Of the main graph in order, as ``inspect()`` gives them."""
        return self.inspect()["nodes"]

    def stats(self) -> dict[str, Any]:
        """What it costs: parameters, multiplications, memory, by layer and operator."""
        import json

        return json.loads(self._native.stats_json())

    def text(self, *, layers: bool = False, attributes: bool = False, weights: bool = False) -> str:
        """As ``assay inspect model`` prints it."""
        return self._native.text(layers, attributes, weights)

    def unsupported(self) -> list[tuple[str, str, str]]:
        """Nodes that the engine cannot run: name, operator, reason."""
        return self._native.unsupported()

    def diff(self, other: Model | Path | Any) -> Diff:
        """How `other` differs from this. Names of inner values and the order of nodes make no difference."""
        d = native.diff_models(self._native, as_model(other)._native)
        return Diff(
            [Difference(*row) for row in d["differences"]],
            d["matched"],
            d["renamed_nodes"],
            d["renamed_values"],
            d["text"],
        )

    def check(self) -> Findings:
        """Everything that is wrong with it. A model that was loaded has passed most rules already; ``check(path)``
        of the package looks at a file that cannot be loaded, too."""
        import tempfile

        if self.path:
            return check(self.path)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/model.onnx"
            self.save(path)
            return check(path)

    # ---- what can be made of it ----

    def simplify(
        self,
        *,
        prove: bool = False,
        shapes: Mapping[str, Shape] | None = None,
        data: Iterable[Feed] | None = None,
        trials: int = 30,
        seconds: float = 20.0,
        keep_node_metadata: bool = False,
        size_threshold: int | None = None,
    ) -> Model:
        """A smaller model that computes the same up to rounding. With `prove` each edit and the result are compared
        with this one in float64 and in the declared types, on `trials` sets of generated data or on `data`; edits
        that fail are left out. `shapes`: of inputs with open extents, for the proof. `size_threshold`: results of
        more bytes stay computed."""
        return self.simplify_with_report(
            prove=prove,
            shapes=shapes,
            data=data,
            trials=trials,
            seconds=seconds,
            keep_node_metadata=keep_node_metadata,
            size_threshold=size_threshold,
        )[0]

    def simplify_with_report(
        self,
        *,
        prove: bool = False,
        shapes: Mapping[str, Shape] | None = None,
        data: Iterable[Feed] | None = None,
        trials: int = 30,
        seconds: float = 20.0,
        keep_node_metadata: bool = False,
        size_threshold: int | None = None,
    ) -> tuple[Model, SimplifyReport]:
        """``simplify()``, and what it did."""
        follow_level()
        model, report = self._native.simplify(
            prove, shapes and dict(shapes), data, trials, seconds, keep_node_metadata, size_threshold
        )
        report["refused"] = [Refused(*r) for r in report["refused"]]
        return Model(model), SimplifyReport(**report)

    def fold_constants(self, *, shapes: bool = True, size_threshold: int | None = None) -> Model:
        """With everything that depends on no input computed. `shapes`: Shape and Size of known extents, too."""
        follow_level()
        return Model(self._native.fold_constants(shapes, size_threshold)[0])

    def extract(
        self,
        inputs: Iterable[str | tuple[Any, ...]] | str | None = None,
        outputs: Iterable[str | tuple[Any, ...]] | str | None = None,
    ) -> Model:
        """The part between tensors: names, or (name, shape, dtype) where more is known of them; None: the model's
        own."""
        return Model(self._native.extract(inputs, outputs))

    def with_outputs(
        self,
        outputs: Iterable[str] | str | None = None,
        *,
        exclude: Iterable[str] | str | None = None,
        mark_all: bool = False,
    ) -> Model:
        """With other outputs: any selectors of tensors; `mark_all`: every tensor."""
        return Model(self._native.with_outputs(outputs, exclude, mark_all))

    def infer_shapes(self) -> Model:
        """With the types and shapes of every value that can be inferred; what cannot stays open."""
        return Model(self._native.infer_shapes())

    def convert_opset(self, version: int, *, domain: str = "") -> Model:
        """The same in another version of an operator set. Raises Unsupported naming every node that the version
        cannot say, and the nearest version that can."""
        return Model(self._native.convert_opset(version, domain)[0])

    def to_float16(self) -> Model:
        """With float32 tensors in float16, but for what must not be."""
        return Model(self._native.to_float16())

    def toposort(self) -> Model:
        """With nodes in topological order."""
        return Model(self._native.toposort())

    # ---- where it goes ----

    def save(
        self,
        path: Path,
        *,
        external_data: bool | str = False,
        external_data_threshold: int = 1024,
        one_file_per_tensor: bool = False,
    ) -> None:
        """Writes the file, whole or not at all; a path that ends in .onnxtxt gets ONNX's text form. `external_data`:
        weights of at least `external_data_threshold` bytes go to a file of their own, beside it (a str: of that
        name). What was read and not changed is written as it was read."""
        name = external_data if isinstance(external_data, str) else ""
        self._native.save(path, bool(external_data), name, external_data_threshold, one_file_per_tensor)

    def to_bytes(self) -> bytes:
        """The bytes of its file, weights included; below 2 GB."""
        return self._native.to_bytes()

    def to_onnx(self) -> Any:
        """An ``onnx.ModelProto``. Needs the package onnx."""
        import onnx

        return onnx.load_model_from_string(self.to_bytes())

    def build(self, **settings: Any) -> Engine:
        """``assay.build(self, ...)``."""
        from ._engine import build

        return build(self, **settings)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Model.from_bytes, (self.to_bytes(),))

    def __repr__(self) -> str:
        def names(values: list[TensorInfo]) -> str:
            shown = ", ".join(str(v) for v in values[:4])
            return shown + (f", ... ({len(values)})" if len(values) > 4 else "")

        return (
            f"<Model {self.name or self.path!r}: ({names(self.inputs)}) -> ({names(self.outputs)}), "
            f"{self.node_count} node(s), opset {self.opset}>"
        )

    def _repr_html_(self) -> str:
        graph = self.inspect(attributes=False)
        rows: list[tuple[object, ...]] = [("input", i.name, i.type) for i in self.inputs]
        rows += [("output", o.name, o.type) for o in self.outputs]
        rows += [("opset", d or "ai.onnx", v) for d, v in self.opsets.items()]
        rows += [("operator", name, f"{n} node(s)") for name, n in Counter(n["op_type"] for n in graph["nodes"]).most_common()]
        nodes = [(n["op_type"], n["name"], _names(n["inputs"]), _names(n["outputs"])) for n in graph["nodes"]]
        weights = [(i.name, i.type) for i in graph["initializers"]]
        return (
            table(("", "name", ""), rows, f"{self.name or self.path}: {self.node_count} node(s)")
            + folded("nodes", table(("operator", "name", "inputs", "outputs"), nodes))
            + folded("initializers", table(("name", "type"), weights))
        )


def _names(values: Iterable[str | None]) -> str:
    return ", ".join(v or "" for v in values)


def _name_values(graph: dict[str, Any]) -> None:
    for key in ("inputs", "outputs", "initializers"):
        graph[key] = infos(graph[key])
    for node in graph["nodes"]:
        for value in node["attributes"].values():
            if isinstance(value, dict):
                _name_values(value)


def as_model(source: Model | Path | Any) -> Model:
    """The model itself, or the one that `source` (path, bytes, ModelProto) means."""
    return source if isinstance(source, Model) else Model(source)


def load(path: Path, *, external_data: Path | None = None, ignore_external_data: bool = False) -> Model:
    """Reads a model. Raises NotFound, InvalidModel naming the file, node and rule."""
    return Model.load(path, external_data=external_data, ignore_external_data=ignore_external_data)


def save(model: Model | Any, path: Path, **options: Any) -> None:
    """``as_model(model).save(path, ...)``."""
    as_model(model).save(path, **options)


def check(
    path: Path, *, external_data: Path | None = None, shapes: Mapping[str, Shape] | None = None
) -> Findings:
    """Everything that is wrong with a model's file, as ``assay check lint``."""
    follow_level()
    return Findings(Finding(*row) for row in native.lint(path, external_data, shapes and dict(shapes)))


def diff(a: Model | Path | Any, b: Model | Path | Any) -> Diff:
    """How `b` differs from `a`."""
    return as_model(a).diff(b)


def evaluate(model: Model | bytes | Any, feeds: Feed | None, names: Iterable[str]) -> list[Any]:
    """The values of the named tensors of a model or its bytes, each operator rounded to its declared types, as
    constants are folded. Nothing else is computed. `feeds`: inputs that the values depend on."""
    source = model._native if isinstance(model, Model) else model
    if hasattr(source, "SerializeToString"):
        source = source.SerializeToString()
    return native.evaluate(source, feeds and dict(feeds), list(names))


__all__ = [
    "Diff",
    "Difference",
    "Extent",
    "Finding",
    "Findings",
    "Initializers",
    "Model",
    "Refused",
    "SimplifyReport",
    "check",
    "diff",
    "evaluate",
    "load",
    "save",
]
