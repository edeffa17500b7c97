"""Comparison functions and thresholds for scripts, in NumPy. A function is called with two IterationResults and gives a result for each
output of the first that the second has; a result is true when it passed, and has its numbers as attributes."""

from collections import OrderedDict

from polygraphy.exception import PolygraphyException
from polygraphy.logger import G_LOGGER

# What a zero counts as in a relative error.
_ZERO = 2.0 ** -52
_STATISTICS = ("max", "mean", "median", "quantile")


def _numpy():
    import numpy
    return numpy


def _of_output(setting, output, default):
    """A setting for all outputs, or a dictionary with one for each and "" for the others."""
    if setting is None:
        return default
    if hasattr(setting, "items"):
        return setting.get(output, setting.get("", default))
    return setting


class Threshold:
    """What metrics are held against."""
    METRIC_FIELDS = ()

    @classmethod
    def metric_fields(cls):
        """Names of the metrics that it looks at."""
        return list(cls.METRIC_FIELDS)

    def passed(self, metric_values):
        """Whether they are met, by name of metric."""
        raise NotImplementedError

    def describe(self, metric_values):
        """(line, passed), or None."""
        return None


class SimpleThreshold(Threshold):
    """A statistic of the errors within either tolerance."""
    METRIC_FIELDS = tuple(f"{s}_{kind}diff" for s in _STATISTICS for kind in ("abs", "rel"))

    def __init__(self, check_error_stat, atol, rtol):
        self.check_error_stat, self.atol, self.rtol = check_error_stat, atol, rtol

    def passed(self, metric_values):
        if self.check_error_stat not in _STATISTICS:
            raise PolygraphyException(f"{self.check_error_stat!r} is not a statistic that numbers can be held against; there are "
                                      f"{', '.join(_STATISTICS)}.")
        absolute, relative = (metric_values.get(f"{self.check_error_stat}_{kind}diff") for kind in ("abs", "rel"))
        if absolute is None or relative is None:
            raise PolygraphyException(f"The results hold no statistic '{self.check_error_stat}'.")
        return bool(absolute <= self.atol or relative <= self.rtol)


class _MetricThreshold(Threshold):
    """One number, at most or at least."""
    _IS_LEAST = False

    def __init__(self, threshold):
        self.threshold = threshold

    def passed(self, metric_values):
        value = metric_values.get(self.METRIC_FIELDS[0])
        if value is None:
            return False
        return bool(value >= self.threshold if self._IS_LEAST else value <= self.threshold)

    def describe(self, metric_values):
        value = metric_values.get(self.METRIC_FIELDS[0])
        if value is None:
            return None
        passed = self.passed(metric_values)
        bound = "min required" if self._IS_LEAST else "tolerance"
        return f"{self.METRIC_FIELDS[0]}: {value:.5g} ({bound}: {self.threshold:.5g}) | {'PASSED' if passed else 'FAILED'}", passed


class L2Threshold(_MetricThreshold):
    METRIC_FIELDS = ("l2_norm",)


class CosineSimilarityThreshold(_MetricThreshold):
    METRIC_FIELDS, _IS_LEAST = ("cosine_similarity",), True


class PsnrThreshold(_MetricThreshold):
    METRIC_FIELDS, _IS_LEAST = ("psnr",), True


class SnrThreshold(_MetricThreshold):
    METRIC_FIELDS, _IS_LEAST = ("snr",), True


class LpipsThreshold(_MetricThreshold):
    METRIC_FIELDS = ("lpips",)


class CompareResult:
    """The numbers of one output."""
    _THRESHOLD = None

    def __init__(self, thresholds=None):
        self.thresholds = thresholds

    def set_thresholds(self, thresholds):
        self.thresholds = thresholds

    @classmethod
    def metric_fields(cls):
        return cls._THRESHOLD.metric_fields() if cls._THRESHOLD else []

    def metric_values(self):
        return {f: getattr(self, f) for f in self.metric_fields() if getattr(self, f) is not None}

    def describe(self):
        return self.thresholds.describe(self.metric_values()) if self.thresholds else None

    def __bool__(self):
        return self.thresholds is None or self.thresholds.passed(self.metric_values())


class OutputCompareResult(CompareResult):
    """Of SimpleCompareFunc. `passed` is the verdict where elements decide."""
    _THRESHOLD = SimpleThreshold

    def __init__(self, max_absdiff, max_reldiff, mean_absdiff, mean_reldiff, median_absdiff, median_reldiff, quantile_absdiff,
                 quantile_reldiff, thresholds=None, passed=None):
        super().__init__(thresholds)
        self.max_absdiff, self.max_reldiff, self.mean_absdiff, self.mean_reldiff = max_absdiff, max_reldiff, mean_absdiff, mean_reldiff
        self.median_absdiff, self.median_reldiff = median_absdiff, median_reldiff
        self.quantile_absdiff, self.quantile_reldiff = quantile_absdiff, quantile_reldiff
        self._passed = passed

    def set_thresholds(self, thresholds):
        super().set_thresholds(thresholds)
        self._passed = None

    def __bool__(self):
        return super().__bool__() if self._passed is None else bool(self._passed)


class _MetricResult(CompareResult):
    def __init__(self, value, thresholds=None):
        super().__init__(thresholds)
        setattr(self, self._THRESHOLD.METRIC_FIELDS[0], value)


class L2Result(_MetricResult):
    _THRESHOLD = L2Threshold


class CosineSimilarityResult(_MetricResult):
    _THRESHOLD = CosineSimilarityThreshold


class PsnrResult(_MetricResult):
    _THRESHOLD = PsnrThreshold


class SnrResult(_MetricResult):
    _THRESHOLD = SnrThreshold


class BaseCompareFunc:
    """A comparison function of one's own may derive from this: __call__(result0, result1), thresholds_for(output)."""

    def __call__(self, iter_result0, iter_result1):
        raise NotImplementedError

    def thresholds_for(self, output_name):
        raise NotImplementedError


class _PerOutput(BaseCompareFunc):
    """Goes through the outputs; a derived class has _compare(name, a, b)."""
    check_shapes, fail_fast, find_output_func = True, False, None

    def __call__(self, iter_result0, iter_result1):
        np = _numpy()
        results = OrderedDict()
        for name, first in iter_result0.items():
            other = self.find_output_func(name, list(iter_result0.keys()).index(name), iter_result1) if self.find_output_func else [name]
            for found in [other] if isinstance(other, str) else other or []:
                if found not in iter_result1:
                    G_LOGGER.warning(f"Output {name} of {iter_result0.runner_name} has no counterpart; it is left out.")
                    continue
                a, b = np.asarray(first), np.asarray(iter_result1[found])
                b = self._aligned(name, a, b)
                results[name] = False if b is None else self._compare(name, a, b)
                if not results[name] and self.fail_fast:
                    return results
        return results

    def _aligned(self, name, a, b):
        """b in a's shape; None when it cannot be brought there."""
        if a.shape == b.shape:
            return b
        if self.check_shapes or a.size != b.size:
            G_LOGGER.error(f"Output {name} has the shapes {a.shape} and {b.shape}.")
            return None
        return b.reshape(a.shape)


def _wide(a, b):
    """Both in a type in which their difference does not wrap."""
    np = _numpy()
    kind = np.result_type(a, b)
    if kind.kind in "biu":
        kind = np.dtype(np.float64)
    elif kind.itemsize < 4:
        kind = np.dtype(np.float32)
    return a.astype(kind), b.astype(kind)


class SimpleCompareFunc(_PerOutput):
    """Absolute and relative errors within tolerances: of each element, or of a statistic."""

    def __init__(self, check_shapes=None, rtol=None, atol=None, fail_fast=None, find_output_func=None, check_error_stat=None,
                 infinities_compare_equal=None, save_heatmaps=None, show_heatmaps=None, save_error_metrics_plot=None,
                 show_error_metrics_plot=None, error_quantile=None):
        if save_heatmaps or show_heatmaps or save_error_metrics_plot or show_error_metrics_plot:
            raise PolygraphyException("Pictures are drawn by `assay run` (--save-heatmaps, --save-error-metrics-plot), not in scripts.")
        self.check_shapes = check_shapes is None or check_shapes
        self.rtol, self.atol, self.fail_fast, self.find_output_func = rtol, atol, bool(fail_fast), find_output_func
        self.check_error_stat, self.error_quantile = check_error_stat, error_quantile
        self.infinities_compare_equal = bool(infinities_compare_equal)

    def thresholds_for(self, output_name):
        return SimpleThreshold(_of_output(self.check_error_stat, output_name, "elemwise"), _of_output(self.atol, output_name, 1e-5),
                               _of_output(self.rtol, output_name, 1e-5))

    def _compare(self, name, a, b):
        np = _numpy()
        threshold = self.thresholds_for(name)
        a, b = _wide(a, b)
        with np.errstate(all="ignore"):
            absolute = np.abs(a - b)
            if self.infinities_compare_equal:
                absolute = np.where(np.isinf(a) & (a == b), 0, absolute)
            relative = absolute / np.where(b == 0, _ZERO, np.abs(b))
        figures = {}
        for statistic, function in (("max", np.max), ("mean", np.mean), ("median", np.median)):
            for kind, errors in (("abs", absolute), ("rel", relative)):
                figures[f"{statistic}_{kind}diff"] = float(function(errors)) if errors.size else 0.0
        quantile = _of_output(self.error_quantile, name, 0.99)
        for kind, errors in (("abs", absolute), ("rel", relative)):
            wanted = threshold.check_error_stat == "quantile"
            figures[f"quantile_{kind}diff"] = (float(np.quantile(errors, quantile)) if errors.size else 0.0) if wanted else None
        passed = None
        if threshold.check_error_stat == "elemwise":
            passed = bool(np.all((absolute <= threshold.atol) | (relative <= threshold.rtol)))
        return OutputCompareResult(**figures, thresholds=threshold, passed=passed)


class IndicesCompareFunc(_PerOutput):
    """Each value may have moved by so many places along the last axis."""

    def __init__(self, index_tolerance=None, fail_fast=None):
        self.index_tolerance, self.fail_fast = index_tolerance, bool(fail_fast)

    def _compare(self, name, a, b):
        np = _numpy()
        tolerance = _of_output(self.index_tolerance, name, 0)
        for row0, row1 in zip(np.atleast_1d(a).reshape(-1, a.shape[-1] if a.ndim else 1),
                              np.atleast_1d(b).reshape(-1, b.shape[-1] if b.ndim else 1)):
            for at, value in enumerate(row0):
                places = np.flatnonzero(row1 == value)
                if places.size == 0 or np.min(np.abs(places - at)) > tolerance:
                    return False
        return True


class _MetricFunction(_PerOutput):
    """Functions whose metric is one number: _measure(a, b)."""
    _RESULT, _DEFAULT = None, 0.0

    def __init__(self, threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        self.threshold, self.check_shapes = threshold, check_shapes is None or check_shapes
        self.fail_fast, self.find_output_func = bool(fail_fast), find_output_func

    def thresholds_for(self, output_name):
        return self._RESULT._THRESHOLD(_of_output(self.threshold, output_name, self._DEFAULT))

    def _compare(self, name, a, b):
        np = _numpy()
        with np.errstate(all="ignore"):
            value = float(self._measure(a.astype(np.float64).reshape(-1), b.astype(np.float64).reshape(-1)))
        return self._RESULT(value, self.thresholds_for(name))


class L2CompareFunc(_MetricFunction):
    _RESULT, _DEFAULT = L2Result, 1e-5

    def __init__(self, l2_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        super().__init__(l2_threshold, check_shapes, fail_fast, find_output_func)

    def _measure(self, a, b):
        return _numpy().linalg.norm(a - b)


class CosineSimilarityCompareFunc(_MetricFunction):
    _RESULT, _DEFAULT = CosineSimilarityResult, 0.997

    def __init__(self, cosine_similarity_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        super().__init__(cosine_similarity_threshold, check_shapes, fail_fast, find_output_func)

    def _measure(self, a, b):
        np = _numpy()
        lengths = np.linalg.norm(a), np.linalg.norm(b)
        if 0 in lengths:
            return float(lengths == (0, 0))
        return np.clip(a @ b / (lengths[0] * lengths[1]), -1, 1)


class PsnrCompareFunc(_MetricFunction):
    _RESULT, _DEFAULT = PsnrResult, 30.0

    def __init__(self, psnr_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        super().__init__(psnr_threshold, check_shapes, fail_fast, find_output_func)

    def _measure(self, a, b):
        np = _numpy()
        error, peak = np.mean((a - b) ** 2), np.max(a, initial=0)
        return 20 * np.log10(peak or 1) - 10 * np.log10(error) if error else np.inf


class SnrCompareFunc(_MetricFunction):
    _RESULT, _DEFAULT = SnrResult, 20.0

    def __init__(self, snr_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        super().__init__(snr_threshold, check_shapes, fail_fast, find_output_func)

    def _measure(self, a, b):
        np = _numpy()
        error = np.mean((a - b) ** 2)
        return 10 * np.log10(np.mean(a ** 2) / error) if error else np.inf


class CompareFunc:
    """Makes comparison functions."""

    @staticmethod
    def simple(*args, **kwargs):
        return SimpleCompareFunc(*args, **kwargs)

    @staticmethod
    def indices(index_tolerance=None, fail_fast=None):
        return IndicesCompareFunc(index_tolerance, fail_fast)


class BasePostprocessFunc:
    """A function of one's own may derive from this: __call__(result)."""

    def __call__(self, iter_result):
        raise NotImplementedError


class TopKPostprocessFunc(BasePostprocessFunc):
    """Indices of the largest k elements along an axis (the last), largest first."""

    def __init__(self, k=None):
        self.k = 10 if k is None else k

    def __call__(self, iter_result):
        np = _numpy()
        for name, output in iter_result.items():
            k = _of_output(self.k, name, None)
            if k is None:
                continue
            count, axis = k if isinstance(k, (tuple, list)) else (k, -1)
            array = np.asarray(output)
            order = np.flip(np.argsort(array, axis=axis, kind="stable"), axis)
            iter_result[name] = np.take(order, range(min(count, array.shape[axis])), axis=axis)
        return iter_result


class PostprocessFunc:
    """Makes post-processing functions."""

    @staticmethod
    def top_k(k=None):
        return TopKPostprocessFunc(k)
