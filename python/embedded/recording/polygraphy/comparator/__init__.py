"""Results as files have them, and comparisons for scripts. Runners and data loaders are assay's own: `assay run`."""

from collections import OrderedDict

from polygraphy.comparator.compare import (  # noqa: F401
    BaseCompareFunc, BasePostprocessFunc, CompareFunc, CompareResult, CosineSimilarityCompareFunc, CosineSimilarityResult,
    CosineSimilarityThreshold, IndicesCompareFunc, L2CompareFunc, L2Result, L2Threshold, LpipsThreshold, OutputCompareResult,
    PostprocessFunc, PsnrCompareFunc, PsnrResult, PsnrThreshold, SimpleCompareFunc, SimpleThreshold, SnrCompareFunc, SnrResult,
    SnrThreshold, Threshold, TopKPostprocessFunc)
from polygraphy.exception import PolygraphyException
from polygraphy.json import Decoder, Encoder, add_json_methods
from recorded.refusal import refuser


class LazyArray:
    """An array, as results hold it."""

    def __init__(self, arr):
        self.arr = arr

    def load(self):
        return self.arr

    numpy = load


@Encoder.register(LazyArray)
def _encode_lazy(lazy):
    return {"values": lazy.arr}


@Decoder.register(LazyArray)
def _decode_lazy(values):
    return LazyArray(values["values"])


@Decoder.register(LazyArray, alias="LazyNumpyArray")
def _decode_old_lazy(values):
    return LazyArray(values["values"])


class IterationResult(OrderedDict):
    """The outputs of one run: name to array; `runtime` in seconds, `runner_name`."""

    def __init__(self, outputs=None, runtime=None, runner_name=None):
        OrderedDict.__init__(self, outputs or {})
        self.runtime, self.runner_name = runtime, runner_name or ""


@Encoder.register(IterationResult)
def _encode_iteration(result):
    outputs = OrderedDict((n, LazyArray(v)) for n, v in result.items())
    return {"outputs": outputs, "runtime": result.runtime, "runner_name": result.runner_name}


@Decoder.register(IterationResult)
def _decode_iteration(values):
    outputs = OrderedDict((n, v.load() if isinstance(v, LazyArray) else v) for n, v in values["outputs"].items())
    return IterationResult(outputs, values["runtime"], values["runner_name"])


# json calls an encoder only for what it does not know; dictionaries of our own it knows.
def _plain(result):
    return {**_encode_iteration(result), "polygraphy_class": "IterationResult"}


@add_json_methods("inference results")
class RunResults:
    """Pairs of a runner's name and its IterationResults, in order; also by name."""

    def __init__(self, lst=None):
        self.lst = list(lst or [])

    def add(self, out_list, runtime=None, runner_name="custom_runner"):
        """The outputs of several runs, a dictionary each, of one runner."""
        self.lst.append((runner_name, [IterationResult(dict(o), runtime, runner_name) for o in out_list]))

    def items(self):
        return iter(self.lst)

    def keys(self):
        return (name for name, _ in self.lst)

    def values(self):
        return (results for _, results in self.lst)

    def append(self, item):
        self.lst.append(item)

    def extend(self, items):
        self.lst.extend(items)

    def update(self, other):
        for name, results in other.items():
            self[name] = results

    def __getitem__(self, key):
        if isinstance(key, int):
            return self.lst[key]
        for name, results in self.lst:
            if name == key:
                return results
        raise PolygraphyException(f"There are no results of '{key}'; there are those of {list(self.keys())}.")

    def __setitem__(self, key, value):
        if isinstance(key, int):
            self.lst[key] = value
            return
        for i, (name, _) in enumerate(self.lst):
            if name == key:
                self.lst[i] = (key, value)
                return
        self.lst.append((key, value))

    def __contains__(self, key):
        return key in list(self.keys())

    def __len__(self):
        return len(self.lst)

    def __iter__(self):
        return iter(self.lst)


@Encoder.register(RunResults)
def _encode_results(results):
    return {"lst": [[name, [_plain(r) if isinstance(r, IterationResult) else r for r in runs]] for name, runs in results.lst]}


@Decoder.register(RunResults)
def _decode_results(values):
    return RunResults([(name, runs) for name, runs in values["lst"]])


__getattr__ = refuser("polygraphy.comparator", otherwise=" `assay run` runs and compares.")
