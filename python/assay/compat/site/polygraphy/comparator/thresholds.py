"""What the results of two runners are held against, and what a comparison found."""

from collections import OrderedDict

from polygraphy import mod
from polygraphy.json import Decoder, Encoder
from polygraphy.logger import G_LOGGER

np = mod.lazy_import("numpy")

__all__ = [
    "CompareResult", "CosineSimilarityResult", "CosineSimilarityThreshold", "L2Result", "L2Threshold", "LpipsThreshold", "OutputCompareResult",
    "PerceptualMetricsResult", "PsnrResult", "PsnrThreshold", "STATISTICS", "SimpleThreshold", "SnrResult", "SnrThreshold", "Threshold",
]

STATISTICS = ("max", "mean", "median", "quantile")


# Thresholds.

class Threshold:
    """What metrics are held against."""

    METRIC_FIELDS = []

    @classmethod
    def metric_fields(cls):
        """The metrics that it needs."""
        return list(cls.METRIC_FIELDS)

    def passed(self, metric_values):
        """Whether metrics by name are good enough."""
        raise NotImplementedError(f"{type(self).__name__} has no passed()")

    def describe(self, metric_values):
        """(a line, whether it passes), or None."""
        return None


def _exceeds(error, tolerance):
    return error != error or error > tolerance


class SimpleThreshold(Threshold):
    """Tolerances for a statistic of the absolute and of the relative error; to be within one of them is enough."""

    METRIC_FIELDS = [f"{statistic}_{kind}" for statistic in STATISTICS for kind in ("absdiff", "reldiff")]

    def __init__(self, check_error_stat, atol, rtol):
        self.check_error_stat, self.atol, self.rtol = check_error_stat, atol, rtol

    def passed(self, metric_values):
        statistic = self.check_error_stat
        if statistic == "elemwise":
            G_LOGGER.critical("Cannot re-threshold an 'elemwise' comparison: it is a per-element check with no scalar statistic to threshold.\n"
                              f"Note: Choose one of {', '.join(STATISTICS)}, or compare saved outputs again.")
        if statistic not in STATISTICS:
            G_LOGGER.critical(f"Invalid choice for check_error_stat: {statistic}.\nNote: Valid choices are: {list(STATISTICS)}")
        absolute, relative = (metric_values.get(f"{statistic}_{kind}") for kind in ("absdiff", "reldiff"))
        if absolute is None or relative is None:
            G_LOGGER.critical(f"The saved results do not contain a '{statistic}' statistic, so they cannot be checked against it.\n"
                              "Note: Quantiles are only there when they were what was checked.")
        return not (_exceeds(absolute, self.atol) and _exceeds(relative, self.rtol))


class _MetricThreshold(Threshold):
    """A limit of one metric."""

    LABEL, UNIT, IS_LEAST = "", "", False
    """What the log calls the metric, its unit, and whether the limit is the least it may be, and not the most."""

    def __init__(self, threshold):
        self.threshold = threshold

    def _value(self, metric_values):
        return metric_values.get(self.METRIC_FIELDS[0])

    def passed(self, metric_values):
        value = self._value(metric_values)
        if value is None:
            return False
        return bool(value >= self.threshold if self.IS_LEAST else value <= self.threshold)

    def describe(self, metric_values):
        value = self._value(metric_values)
        if value is None:
            return None
        passed = self.passed(metric_values)
        # As many digits as tell the two apart, if they are apart.
        digits = next((d for d in range(5, 17) if value == self.threshold or f"{value:.{d}g}" != f"{self.threshold:.{d}g}"), 17)
        limit = "min required" if self.IS_LEAST else "tolerance"
        return (f"{self.LABEL}: {value:.{digits}g}{self.UNIT} ({limit}: {self.threshold:.{digits}g}{self.UNIT}) | "
                f"{'PASSED' if passed else 'FAILED'}"), passed


class L2Threshold(_MetricThreshold):
    """The greatest distance."""

    METRIC_FIELDS, LABEL = ["l2_norm"], "L2 Norm"


class CosineSimilarityThreshold(_MetricThreshold):
    """The least cosine."""

    METRIC_FIELDS, LABEL, IS_LEAST = ["cosine_similarity"], "Cosine Similarity", True


class PsnrThreshold(_MetricThreshold):
    """The least peak signal to noise ratio."""

    METRIC_FIELDS, LABEL, UNIT, IS_LEAST = ["psnr"], "PSNR", " dB", True


class SnrThreshold(_MetricThreshold):
    """The least signal to noise ratio."""

    METRIC_FIELDS, LABEL, UNIT, IS_LEAST = ["snr"], "SNR", " dB", True


class LpipsThreshold(_MetricThreshold):
    """The greatest perceptual distance; what could not be measured passes."""

    METRIC_FIELDS, LABEL = ["lpips"], "LPIPS"

    def passed(self, metric_values):
        return self._value(metric_values) is None or super().passed(metric_values)


# Results of one output.

class CompareResult:
    """The metrics of an output, which pass or not. `output0_name` and `output1_name` are set by who compares."""

    _THRESHOLD_CLASS = None

    def __init__(self, thresholds=None):
        self.thresholds = thresholds
        self.output0_name = self.output1_name = None

    def __bool__(self):
        return self.thresholds.passed(self.metric_values())

    def set_thresholds(self, thresholds):
        """Other thresholds decide from now on."""
        self.thresholds = thresholds

    @classmethod
    def metric_fields(cls):
        """The names of the metrics."""
        return [] if cls._THRESHOLD_CLASS is None else cls._THRESHOLD_CLASS.metric_fields()

    def metric_values(self):
        """The metrics by name."""
        return OrderedDict((field, getattr(self, field)) for field in self.metric_fields())

    def describe(self):
        """(a line, whether it passes), or None."""
        return self.thresholds.describe(self.metric_values())


class OutputCompareResult(CompareResult):
    """What SimpleCompareFunc measures; `passed` where elements decided and no statistic can."""

    _THRESHOLD_CLASS = SimpleThreshold

    def __init__(self, max_absdiff, max_reldiff, mean_absdiff, mean_reldiff, median_absdiff, median_reldiff, quantile_absdiff,
                 quantile_reldiff, thresholds=None, passed=None):
        super().__init__(thresholds)
        given = (max_absdiff, max_reldiff, mean_absdiff, mean_reldiff, median_absdiff, median_reldiff, quantile_absdiff, quantile_reldiff)
        for field, value in zip(self.metric_fields(), given):
            setattr(self, field, None if value is None else float(value))
        self._stored_passed = passed

    def __bool__(self):
        return super().__bool__() if self._stored_passed is None else bool(self._stored_passed)

    def set_thresholds(self, thresholds):
        super().set_thresholds(thresholds)
        self._stored_passed = None

    def __str__(self):
        return f"(atol={self.max_absdiff}, rtol={self.max_reldiff})"


class _OneMetric(CompareResult):
    def _set(self, value):
        setattr(self, self.metric_fields()[0], value)


class L2Result(_OneMetric):
    """A Euclidean distance."""

    _THRESHOLD_CLASS = L2Threshold

    def __init__(self, l2_norm, thresholds=None):
        super().__init__(thresholds)
        self._set(l2_norm)


class CosineSimilarityResult(_OneMetric):
    """The cosine of the angle between outputs."""

    _THRESHOLD_CLASS = CosineSimilarityThreshold

    def __init__(self, cosine_similarity, thresholds=None):
        super().__init__(thresholds)
        self._set(cosine_similarity)


class PsnrResult(_OneMetric):
    """A peak signal to noise ratio."""

    _THRESHOLD_CLASS = PsnrThreshold

    def __init__(self, psnr, thresholds=None):
        super().__init__(thresholds)
        self._set(psnr)


class SnrResult(_OneMetric):
    """A signal to noise ratio."""

    _THRESHOLD_CLASS = SnrThreshold

    def __init__(self, snr, thresholds=None):
        super().__init__(thresholds)
        self._set(snr)


class PerceptualMetricsResult(_OneMetric):
    """A perceptual distance, or None."""

    _THRESHOLD_CLASS = LpipsThreshold

    def __init__(self, lpips=None, thresholds=None):
        super().__init__(thresholds)
        self._set(lpips)


def _register(kind, fields, more=()):
    """JSON: fields that are arguments in their order, then such by name, each (argument, attribute)."""

    @Encoder.register(kind)
    def encode(obj):
        return {**{f: getattr(obj, f) for f in fields}, **{key: getattr(obj, attribute) for key, attribute in more}}

    @Decoder.register(kind)
    def decode(dct):
        return kind(*(dct[f] for f in fields), **{key: dct[key] for key, _ in more})


_register(SimpleThreshold, ["check_error_stat", "atol", "rtol"])
for _kind in (L2Threshold, CosineSimilarityThreshold, PsnrThreshold, SnrThreshold, LpipsThreshold):
    _register(_kind, ["threshold"])
_register(OutputCompareResult, SimpleThreshold.METRIC_FIELDS, [("thresholds", "thresholds"), ("passed", "_stored_passed")])
for _kind in (PerceptualMetricsResult, L2Result, CosineSimilarityResult, PsnrResult, SnrResult):
    _register(_kind, _kind.metric_fields(), [("thresholds", "thresholds")])
