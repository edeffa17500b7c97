"""Results of runs, and what comparisons say of them."""

import os
import weakref
from collections import OrderedDict

from polygraphy import config, mod, util
from polygraphy.common.interface import TypedDict, TypedList
from polygraphy.json import Decoder, Encoder, add_json_methods
from polygraphy.json.serde import iterate_from_files
from polygraphy.logger import G_LOGGER

np = mod.lazy_import("numpy")
torch = mod.lazy_import("torch>=1.13.0")


def _remove(path):
    try:
        os.remove(path)
    except OSError:
        pass


class LazyArray:
    """An array that is on disk when it is larger than POLYGRAPHY_ARRAY_SWAP_THRESHOLD_MB, as long as this object lives."""

    def __init__(self, arr):
        self.arr, self.tmpfile = arr, None
        limit = config.ARRAY_SWAP_THRESHOLD_MB
        if limit >= 0 and util.array.nbytes(arr) > limit << 20:
            self.arr, self.tmpfile = None, util.NamedTemporaryFile(suffix=".npy")
            self._is_torch = util.array.is_torch(arr)
            np.save(self.tmpfile.name, util.array.to_numpy(arr), allow_pickle=False)
            weakref.finalize(self, _remove, self.tmpfile.name)

    def load(self):
        """The array."""
        if self.tmpfile is None:
            return self.arr
        array = np.load(self.tmpfile.name, allow_pickle=False)
        return util.array.to_torch(array) if self._is_torch else array

    def __deepcopy__(self, memo):
        import copy

        return LazyArray(copy.deepcopy(self.load(), memo))

    def __reduce__(self):
        return LazyArray, (self.load(),)


@Encoder.register(LazyArray, alias="LazyNumpyArray")
def _encode_lazy(lazy):
    return {"values": lazy.load()}


@Decoder.register(LazyArray, alias="LazyNumpyArray")
def _decode_lazy(dct):
    return LazyArray(dct["values"])


def _lazy(array):
    return array if isinstance(array, LazyArray) else LazyArray(array)


_LARGE = 1 << 30


class IterationResult(TypedDict(lambda: str, lambda: LazyArray)):
    """Outputs by name, `runtime` in seconds, and `runner_name`."""

    def __init__(self, outputs=None, runtime=None, runner_name=None):
        if outputs and config.ARRAY_SWAP_THRESHOLD_MB < 0:
            size = sum(util.array.nbytes(a) for a in outputs.values() if util.array.is_numpy(a) or util.array.is_torch(a))
            if size >= _LARGE:
                G_LOGGER.warning(f"The outputs are very large ({size / (1 << 30):.3f} GiB). POLYGRAPHY_ARRAY_SWAP_THRESHOLD_MB in the environment keeps "
                                 "arrays from a size on disk.")
        super().__init__(OrderedDict((name, _lazy(a)) for name, a in outputs.items()) if outputs else None)
        self.runtime, self.runner_name = runtime, util.default(runner_name, "custom_runner")

    def update(self, other):
        super().update({name: _lazy(a) for name, a in other.items()})

    def __setitem__(self, name, arr):
        super().__setitem__(name, _lazy(arr))

    def __getitem__(self, name):
        return super().__getitem__(name).load()

    def values(self):
        return (lazy.load() for lazy in self.dct.values())

    def items(self):
        return ((name, lazy.load()) for name, lazy in self.dct.items())

    def get(self, name, default=None):
        return self[name] if name in self else default

    def __eq__(self, other):
        if not isinstance(other, IterationResult) or (self.runtime, self.runner_name) != (other.runtime, other.runner_name):
            return False
        return self.dct.keys() == other.dct.keys() and all(util.array.equal(a, other[name]) for name, a in self.items())


@Encoder.register(IterationResult)
def _encode_iteration(result):
    return {"outputs": result.dct, "runtime": result.runtime, "runner_name": result.runner_name}


@Decoder.register(IterationResult)
def _decode_iteration(dct):
    return IterationResult(dct["outputs"], dct["runtime"], dct["runner_name"])


@add_json_methods("inference results")
class RunResults(TypedList(lambda: tuple)):
    """(name of a runner, list of IterationResult), in the order of runs; by number or by name."""

    def items(self):
        return ((name, results) for name, results in self.lst)

    def keys(self):
        return (name for name, _ in self.lst)

    def values(self):
        return (results for _, results in self.lst)

    def update(self, other):
        for name, results in other.items():
            self[name] = results
        return self

    def add(self, out_list, runtime=None, runner_name=None):
        """Dictionaries of outputs, one for each iteration, as the results of a runner."""
        name = util.default(runner_name, "custom_runner")
        self[name] = [IterationResult(outputs, runtime, name) for outputs in out_list]

    def _place(self, name):
        return next((i for i, (other, _) in enumerate(self.lst) if other == name), None)

    def __getitem__(self, key):
        if isinstance(key, int):
            return self.lst[key]
        place = self._place(key)
        if place is None:
            G_LOGGER.critical(f"{key} does not exist in this RunResults instance. Note: Available runners: {list(self.keys())}")
        return self.lst[place][1]

    def __setitem__(self, key, value):
        place = key if isinstance(key, int) else self._place(key)
        if isinstance(key, int):
            self.lst[place] = value
        elif place is None:
            self.append((key, value))
        else:
            self.lst[place] = (key, value)

    def __contains__(self, val):
        return self._place(val) is not None if isinstance(val, (str, bytes)) else val in self.lst

    def split(self):
        """Results of one iteration after the other; a runner that has no more is not in them."""
        for index in range(max(map(len, self.values()), default=0)):
            yield RunResults([(name, [results[index]]) for name, results in self.items() if index < len(results)])

    @staticmethod
    def concat(runs):
        """The iterations of several results, by the names of their runners."""
        joined = RunResults()
        for run in runs:
            for name, results in run.items():
                if name in joined:
                    joined[name].extend(results)
                else:
                    joined.append((name, list(results)))
        return joined

    @staticmethod
    def load_streaming(path, allow_dirs=True):
        """Results of one iteration after the other, out of a file or a folder of files."""
        yield from iterate_from_files(path, lambda file: RunResults.load(file).split(), allow_dirs=allow_dirs)


@Encoder.register(RunResults)
def _encode_results(results):
    return {"lst": results.lst}


@Decoder.register(RunResults)
def _decode_results(dct):
    return RunResults([tuple(pair) for pair in dct["lst"]])


def _is_plain(result):
    """Whether it is a mere yes or no."""
    return isinstance(result, (bool, np.bool_))


class AccuracyResult(TypedDict(lambda: tuple, lambda: list)):
    """One comparison function: pairs of runners to what it found of outputs, a dictionary for each iteration. `aggregation`:
    "per_sample", every iteration has to pass, or "average", the means of the metrics have to."""

    def __init__(self, dct=None, aggregation="per_sample"):
        super().__init__(dct)
        self.aggregation = aggregation

    def __bool__(self):
        if self.aggregation == "average":
            return all(all(map(bool, self.average_results(pair).values())) for pair in self.keys())
        return all(all(map(bool, found.values())) for iterations in self.values() for found in iterations)

    def _pair(self, pair):
        return next(iter(self.keys())) if pair is None else pair

    def stats(self, runner_pair=None):
        """(iterations that match, that do not, all) of a pair, the first where none is named."""
        iterations = self[self._pair(runner_pair)]
        matched = sum(all(map(bool, found.values())) for found in iterations)
        return matched, len(iterations) - matched, len(iterations)

    @mod.deprecate(remove_in="0.55.0", use_instead="stats", name="AccuracyResult.percentage")
    def percentage(self, runner_pair=None):
        """The part of iterations that match, 1 where there are none."""
        matched, _, total = self.stats(runner_pair) if len(self) else (0, 0, 0)
        return matched / total if total else 1.0

    def output_names(self):
        """All outputs that were compared."""
        return util.unique_list(name for iterations in self.values() for found in iterations for name in found)

    def metric_fields(self):
        """The metrics that results have; [] for those without."""
        results = (r for iterations in self.values() for found in iterations for r in found.values())
        return next((list(r.metric_fields()) for r in results if not _is_plain(r)), [])

    def average_results(self, runner_pair=None):
        """For each output a result whose metrics are means over the iterations."""
        iterations, fields, averages = self[self._pair(runner_pair)], self.metric_fields(), OrderedDict()
        for name in util.unique_list(n for found in iterations for n in found):
            results = [found[name] for found in iterations if name in found]
            if any(_is_plain(r) for r in results):
                G_LOGGER.critical(f"Output: {name} | Cannot compute an averaged comparison because at least one iteration produced no comparable metrics "
                                  "(e.g. a shape mismatch). A comparison without check_average shows each iteration.")
            means = {}
            for field in fields:
                values = [v for v in (getattr(r, field) for r in results) if v is not None]
                means[field] = sum(values) / len(values) if values else None
            averages[name] = type(results[0])(**means, thresholds=results[0].thresholds)
        return averages

    def describe_average(self, runner_pair=None):
        """(line, whether it passes) for each output whose threshold can say so."""
        lines = ((name, result.describe()) for name, result in self.average_results(runner_pair).items())
        return OrderedDict((name, line) for name, line in lines if line is not None)

    def reevaluate(self, thresholds, aggregation=None):
        """Holds the metrics against other thresholds: one for all outputs, or a dictionary by name with "" for the others."""
        self.aggregation = util.default(aggregation, self.aggregation)
        for iterations in self.values():
            for found in iterations:
                for name, result in found.items():
                    threshold = util.value_or_from_dict(thresholds, name)
                    if threshold is None:
                        G_LOGGER.critical(f"No threshold was provided for output: '{name}'.")
                    if _is_plain(result) or not result.metric_fields():
                        G_LOGGER.critical(f"Output: '{name}' has no re-thresholdable metrics (e.g. it was a shape mismatch or an 'indices' comparison), so it "
                                          "cannot be re-evaluated against new thresholds.\nNote: Compare saved outputs again instead.")
                    lacking = [f for f in threshold.metric_fields() if f not in result.metric_fields()]
                    if lacking:
                        G_LOGGER.critical(f"The results of output: '{name}' have no metric(s) {lacking}, which the threshold needs; "
                                          f"they have {result.metric_fields()}")
                    result.set_thresholds(threshold)
        return self


@add_json_methods("accuracy results")
class AccuracyResults(TypedList(lambda: AccuracyResult)):
    """An AccuracyResult for each comparison function."""

    def __bool__(self):
        return all(map(bool, self))

    def output_names(self):
        """All outputs that were compared."""
        return util.unique_list(name for result in self for name in result.output_names())

    def reevaluate(self, thresholds, aggregation=None):
        """Holds the metrics of one function each against a threshold (or a dictionary of them by output); which function is meant
        the threshold's metrics say. Others are dropped."""
        rest, kept = list(self), []
        for threshold in thresholds if util.is_sequence(thresholds) else [thresholds]:
            if isinstance(threshold, dict) and not threshold:
                G_LOGGER.critical("A per-output threshold dictionary cannot be empty.")
            sample = next(iter(threshold.values())) if isinstance(threshold, dict) else threshold
            fields = list(sample.metric_fields())
            match = next((r for r in rest if r.metric_fields() == fields), None)
            if match is None:
                G_LOGGER.critical(f"No saved comparison results match the requested threshold (metric fields: {fields}).\n"
                                  f"Note: the saved results contain these metric fields: {[r.metric_fields() for r in self]}")
            rest.remove(match)
            kept.append(match.reevaluate(threshold, aggregation))
        for result in rest:
            G_LOGGER.info(f"Ignoring saved comparison with metric fields {result.metric_fields()}: no matching threshold was requested.")
        self.lst = kept
        return self


@Encoder.register(AccuracyResult)
def _encode_accuracy(result):
    return {"lst": [[list(pair), iterations] for pair, iterations in result.items()], "aggregation": result.aggregation}


@Decoder.register(AccuracyResult)
def _decode_accuracy(dct):
    return AccuracyResult(OrderedDict((tuple(pair), iterations) for pair, iterations in dct["lst"]), dct["aggregation"])


@Encoder.register(AccuracyResults)
def _encode_accuracies(results):
    return {"lst": results.lst}


@Decoder.register(AccuracyResults)
def _decode_accuracies(dct):
    return AccuracyResults(dct["lst"])
