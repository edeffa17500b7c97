"""Language models: tokens, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ._compare import AnyRunner, name_of
from ._errors import InvalidArgument
from ._library import follow_level, native
from ._model import Model, as_model
from ._values import Path, table, visible


class GeneratedSequence(NamedTuple):
    """What one runner generated for one prompt."""

    prompt: list[int]
    tokens: list[int]
    """Those that were generated."""
    seconds: list[float]
    """Of the step that each was chosen by; the first one processed the prompt."""
    ended: bool
    """By a token that ends sequences."""
    plans: list[int] | None = None
    """How many plans of the network were built for each step; None where the runner does not count them."""


class GeneratedBy(NamedTuple):
    """What one runner generated."""

    name: str
    sequences: list[GeneratedSequence]
    """By prompt."""
    open_seconds: float
    first_token_seconds: float
    """Of the first prompt."""
    median_step_seconds: float
    """Without first tokens."""
    tokens_per_second: float
    """The same; 0 where there are no others."""
    peak_memory_bytes: int
    """Of the process, while it ran."""


class PartingSide(NamedTuple):
    """One of two runners that choose different tokens."""

    runner: str
    token: int
    logits: dict[int, float]
    """Of its two most likely tokens."""
    logit_of_the_other: float
    """That it gives the other's token."""
    exact: float
    """The logit of its token in float64, where it was judged."""
    error: float
    """The largest error of its logits, where it was judged."""


class Parting(NamedTuple):
    """Where two runners choose different tokens for the first time."""

    prompt: int
    step: int
    """Position of the generated token."""
    sides: list[PartingSide]
    explanation: str
    """``rounding only``, ``first wrong``, ``second wrong``, ``both wrong`` or ``not judged``."""
    explained: float
    """How far rounding may move a logit."""
    reason: str = ""
    """Why it was not judged."""


class Agreement(NamedTuple):
    """A runner against the first one."""

    first: str
    second: str
    equal_tokens: int
    """Of all prompts, up to the parting."""
    largest_difference: float
    """Of logits, in the steps on the same tokens."""
    partings: list[Parting]
    """At most one a prompt."""


@dataclass(frozen=True)
class Generated:
    """What was generated. True when no runners part, or rounding explains it."""

    runners: list[GeneratedBy]
    agreements: list[Agreement]
    """Of each runner but the first."""
    interface: dict[str, Any]
    """Names of inputs and outputs by what they are: ``tokens``, ``mask``, ``logits``, ``caches``, ..."""

    def __bool__(self) -> bool:
        return all(p.explanation == "rounding only" for a in self.agreements for p in a.partings)

    @property
    def tokens(self) -> list[list[int]]:
        """By prompt, what the first runner generated."""
        return [s.tokens for s in self.runners[0].sequences]

    def __repr__(self) -> str:
        parts = [f"{r.name}: {sum(len(s.tokens) for s in r.sequences)} token(s)" for r in self.runners]
        parts += [f"{a.second} parts from {a.first} in {len(a.partings)} prompt(s)" for a in self.agreements if a.partings]
        return visible(f"<Generated: {', '.join(parts)}>")

    def _repr_html_(self) -> str:
        rows = [
            (r.name, i, " ".join(map(str, s.tokens)), 1000 * r.first_token_seconds, r.tokens_per_second)
            for r in self.runners
            for i, s in enumerate(r.sequences)
        ]
        headers = ("runner", "prompt", "tokens", "first token, ms", "tokens a second")
        return table(headers, rows, repr(self)[1:-1])


def _sequence(d: Mapping[str, Any]) -> GeneratedSequence:
    return GeneratedSequence(d["prompt"], d["tokens"], d["seconds"], d["ended"], d.get("plans"))


def _runner(d: Mapping[str, Any]) -> GeneratedBy:
    sequences = [_sequence(s) for s in d["sequences"]]
    return GeneratedBy(
        d["name"], sequences, d["open_seconds"], d["first_token_seconds"], d["median_step_seconds"],
        d["tokens_per_second"], d["peak_memory_bytes"],
    )  # fmt: skip


def _parting(d: Mapping[str, Any]) -> Parting:
    sides = [
        PartingSide(
            s["backend"], s["token"], {r["token"]: r["logit"] for r in s["logits"]}, s["logit_of_the_other"], s["exact"],
            s["error"],
        )
        for s in d["sides"]
    ]  # fmt: skip
    return Parting(d["prompt"], d["index"], sides, d["explanation"], d["explained"], d.get("reason", ""))


def _agreement(d: Mapping[str, Any]) -> Agreement:
    partings = [_parting(p) for p in d["partings"]]
    return Agreement(d["first"], d["second"], d["equal_tokens"], d["largest_difference"], partings)


def _prompts(prompts: Iterable[int] | Iterable[Iterable[int]]) -> list[list[int]]:
    """Of one prompt or several."""
    given: list[Any] = list(prompts)
    if all(hasattr(p, "__index__") for p in given):
        given = [given]
    try:
        return [[int(token.__index__()) for token in prompt] for prompt in given]
    except (AttributeError, TypeError):
        raise InvalidArgument("a prompt is a sequence of tokens, which are integers") from None


def generate(
    model: Model | Path | Any,
    prompts: Iterable[int] | Iterable[Iterable[int]],
    runners: Sequence[AnyRunner] | AnyRunner = "engine",
    *,
    max_tokens: int = 32,
    eos: int | Iterable[int] = (),
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int = 1,
    interface: Mapping[str, Any] | None = None,
    judge: bool = True,
    threads: int = 0,
    on_token: Callable[[str, int, int, float], object] | None = None,
) -> Generated:
    """Generates tokens with a language model, which processes each prompt in one step and then a token a step, with its
    caches fed back. Ctrl-C ends it before the next token.

    `prompts`: tokens of one prompt or of several. `runners`: one or several; where a runner parts from the first one,
    the model is evaluated in float64 to say which is right (`judge`). `eos`: tokens that end a sequence.
    `temperature`, `top_k`, `top_p`: tokens are drawn, every runner with the same random numbers; without all of them the
    most likely token follows. `interface`: inputs and outputs whose names do not tell what they are, as in
    ``{"tokens": "ids", "cache": {"past_0": "present_0"}}``; roles are tokens, mask, positions, segments, use-cache and
    logits. `on_token`: called with each token as soon as it is there: runner, prompt's index, token, seconds; what it
    raises ends the work.
    """
    follow_level()
    source = as_model(model)
    if isinstance(runners, str) or not isinstance(runners, Sequence):
        runners = [runners]
    named: dict[str, Any] = {}
    for runner in runners:
        named[name_of(runner, named)] = runner if isinstance(runner, str) else _Infer.of(runner)
    draws = temperature is not None or top_k is not None or top_p is not None
    sampling = (1.0 if temperature is None else temperature, top_k or 0, 1.0 if top_p is None else top_p, seed)
    ends = [eos] if isinstance(eos, int) else list(eos)
    d = native.generate(
        source._native, _prompts(prompts), list(named.items()), max_tokens, ends,
        sampling if draws else (0.0, 0, 1.0, 1), _interface(interface or {}), judge and len(named) > 1, threads,
        on_token,
    )  # fmt: skip
    import json

    report = json.loads(d)
    return Generated(
        [_runner(r) for r in report["backends"]], [_agreement(a) for a in report["agreements"]], report["interface"]
    )


class _Infer:
    """A function as a runner."""

    def __init__(self, function: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
        self.infer = function

    @staticmethod
    def of(runner: Any) -> Any:
        return runner if hasattr(runner, "infer") else _Infer(runner)


def _interface(interface: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Names by roles, and caches: (input, output)."""
    roles = dict(interface)
    caches = roles.pop("cache", {})
    if not isinstance(caches, Mapping):
        raise InvalidArgument("the caches of an interface are a dict: inputs, each with the output that it is fed from")
    return list(roles.items()), list(caches.items())


__all__ = [
    "Agreement",
    "Generated",
    "GeneratedBy",
    "GeneratedSequence",
    "Parting",
    "PartingSide",
    "generate",
]
