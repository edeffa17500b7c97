"""Models in 8 and 4 bits, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ._engine import Profile, Runtime, default_runtime
from ._errors import InvalidArgument
from ._library import follow_level, native
from ._model import Model, as_model
from ._values import Feed, Path, Shape, table, visible


class LayerCost(NamedTuple):
    """What 8 bits cost in one layer, over the data."""

    layer: str
    """Name of the ONNX node."""
    op_type: str
    error_share: float
    """Of the outputs' squared errors that the layers cause one by one."""
    sqnr_db: float
    """Signal to noise of its result in 8 bits on its exact input; infinite without an error."""
    saturated: float
    """Share of the numbers of its input that are beyond the range."""
    seconds_gained: float
    """Of a run against float32, as a build's own costs have it."""
    multiply_adds: int
    float32: bool
    """It stays in float32."""


@dataclass(frozen=True)
class QuantizationCost:
    """What 8 bits cost, layer by layer: the largest share of the error first."""

    layers: list[LayerCost]
    sets: int
    """Of inputs that it was measured on."""
    is_timed: bool
    """The gains are measured, not estimated."""
    all_in_int8: dict[str, float]
    """Accuracy with every layer in 8 bits: ``decibels``, ``absolute``, ``relative``, the worst over inputs and outputs."""
    target: str = ""
    """The accuracy that was asked for."""
    answer: dict[str, float] = field(default_factory=dict[str, float])
    """Accuracy with what stays in float32 for it."""

    @property
    def float_nodes(self) -> list[str]:
        """The layers that stay in float32, as ``assay.build`` takes them."""
        return [layer.layer for layer in self.layers if layer.float32]

    def __repr__(self) -> str:
        held = f", {len(self.float_nodes)} in float32 for {self.target}" if self.target else ""
        return visible(f"<QuantizationCost: {len(self.layers)} layer(s){held}>")

    def _repr_html_(self) -> str:
        rows = [
            (c.layer, c.op_type, f"{100 * c.error_share:.2f} %", f"{c.sqnr_db:.1f} dB", f"{100 * c.saturated:.3f} %",
             1e6 * c.seconds_gained, "float32" if c.float32 else "int8")
            for c in self.layers
        ]  # fmt: skip
        headers = ("layer", "operator", "of the error", "own signal to noise", "saturated", "gain, µs", "type")
        return table(headers, rows, repr(self)[1:-1], bold=[i for i, c in enumerate(self.layers) if c.float32])


@dataclass(frozen=True)
class Quantized:
    """A model in 8 bits."""

    model: Model
    """With QuantizeLinear and DequantizeLinear."""
    summary: str
    """How many layers compute in 8 bits, and why others do not."""
    cost: QuantizationCost | None = None
    """None: it was not measured."""
    scales: bytes = field(default=b"", repr=False)
    """Where the cost was measured: the cache of scales, as calibrators read it."""


def _cost(report: Mapping[str, Any]) -> QuantizationCost:
    layers = [LayerCost(**{name: layer[name] for name in LayerCost._fields}) for layer in report["layers"]]
    return QuantizationCost(
        layers, report["sets"], report["timed"], report["all_in_int8"], report.get("target", ""), report.get("answer", {})
    )


def quantize(
    model: Model | Path | Any,
    data: Iterable[Feed] | int = 1,
    *,
    accuracy: str | None = None,
    measure_cost: bool = False,
    algorithm: str = "entropy2",
    quantile: float = 0.9999,
    cache: Path | None = None,
    profiles: Sequence[Profile] | Profile | None = None,
    float_nodes: Sequence[str] = (),
    seed: int = 1,
    shapes: Mapping[str, Shape] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    runtime: Runtime | None = None,
    progress: Callable[[str], object] | None = None,
    **settings: Any,
) -> Quantized:
    """The float32 model in 8 bits, for this and other runtimes: with QuantizeLinear and DequantizeLinear where an engine
    of these settings would compute in 8 bits.

    `data`: feeds that scales are found on, or how many are drawn at random. `accuracy`: how exact outputs must be on
    them (``30dB``, ``abs:0.001``, ``rel:0.01``); the layers that cost most stay in float32 for it. `measure_cost`: what
    each layer costs, which an accuracy measures in any case. `algorithm`, `quantile`, `cache`: as of
    ``assay.Calibrator``. `profiles`, `float_nodes` and other `settings`: as of ``assay.build``, and
    ``symmetric_int8``: what is multiplied is int8 with a zero point of 0, the only form that TensorRT reads. `progress`:
    called with what is being measured.
    """
    follow_level()
    source: dict[str, Any] = {"seed": seed, "shapes": shapes and dict(shapes), "ranges": ranges and dict(ranges)}
    if not isinstance(data, int):
        source["data"] = list(data)  # which are read several times
    elif data < 1:
        raise InvalidArgument("scales cannot be found without data: give at least one feed")
    else:
        source["iterations"] = data
    if isinstance(profiles, Mapping):
        profiles = [profiles]
    settings.update(
        int8=True,
        profiles=[dict(p) for p in profiles] if profiles is not None else None,
        float_nodes=list(float_nodes),
    )
    made, summary, cost, scales = native.quantize(
        (runtime or default_runtime())._native, as_model(model)._native, settings, source, (algorithm, quantile, cache),
        measure_cost, accuracy or "", progress,
    )  # fmt: skip
    if not cost:
        return Quantized(Model(made), summary)
    import json

    return Quantized(Model(made), summary, _cost(json.loads(cost)), scales.encode("utf-8", "surrogateescape"))


class NarrowWeights(NamedTuple):
    """A model whose weights have 4 bits."""

    model: Model
    quantized: int
    """Products whose weights have 4 bits now."""
    kept: list[tuple[str, str]]
    """Products with constant weights that stay as they are: node, reason."""


def quantize_weights(
    model: Model | Path | Any,
    *,
    block: int = 32,
    format: str = "dequantize-linear",
    float_nodes: Sequence[str] | str = (),
) -> NarrowWeights:
    """With the constant weights of MatMul and Gemm in 4 bits; everything is still computed in floating point.

    `block`: how many weights share a scale, a power of two from 16 to 4096. `format`: ``dequantize-linear`` (opset 21),
    or ``matmul-nbits`` (com.microsoft.MatMulNBits), which engines run from the narrow weights. `float_nodes`: selectors
    of nodes that stay as they are.
    """
    if format not in ("dequantize-linear", "matmul-nbits"):
        raise InvalidArgument(f"'{format}' is no format of weights: they are dequantize-linear and matmul-nbits")
    follow_level()
    names = [float_nodes] if isinstance(float_nodes, str) else list(float_nodes)
    made, quantized, kept = native.quantize_weights(as_model(model)._native, block, format == "matmul-nbits", names)
    return NarrowWeights(Model(made), quantized, kept)


__all__ = ["LayerCost", "NarrowWeights", "QuantizationCost", "Quantized", "quantize", "quantize_weights"]
