"""Comparison functions: what two results have to have in common."""

import functools
import math
from collections import OrderedDict

from polygraphy import mod, util
from polygraphy.comparator import util as comp_util
from polygraphy.comparator._native import measure
from polygraphy.comparator.thresholds import (  # noqa: F401
    STATISTICS, CompareResult, CosineSimilarityResult, CosineSimilarityThreshold, L2Result, L2Threshold, LpipsThreshold, OutputCompareResult,
    PerceptualMetricsResult, PsnrResult, PsnrThreshold, SimpleThreshold, SnrResult, SnrThreshold, Threshold,
)
from polygraphy.datatype import DataType
from polygraphy.logger import G_LOGGER, LogMode

np = mod.lazy_import("numpy")
torch = mod.lazy_import("torch>=1.13.0")
lpips = mod.lazy_import("lpips")

array = util.array

__all__ = [
    "BaseCompareFunc", "CompareFunc", "CompareResult", "CosineSimilarityCompareFunc", "CosineSimilarityResult", "CosineSimilarityThreshold",
    "IndicesCompareFunc", "L2CompareFunc", "L2Result", "L2Threshold", "LpipsThreshold", "OutputCompareResult",
    "PerceptualMetricsCompareFunc", "PerceptualMetricsResult", "PsnrCompareFunc", "PsnrResult", "PsnrThreshold", "SimpleCompareFunc",
    "SimpleThreshold", "SnrCompareFunc", "SnrResult", "SnrThreshold", "Threshold",
]


# The walk over outputs.

def default_find_output_func(output_name, index, iter_result, base_iter_result):
    """[the output of the second result that belongs to one of the first], by name or else by place; None: there is none."""
    found = util.find_str_in_iterable(output_name, iter_result.keys(), index)
    if found is None or found == output_name:
        return None if found is None else [found]
    if found in base_iter_result:
        G_LOGGER.verbose(f"Will not compare {found} with {output_name}, since the former already has an exact match: {found}")
        return None
    G_LOGGER.warning(f"Output names did not match exactly. Assuming {iter_result.runner_name} output: {found} corresponds to output: {output_name}")
    return [found]


def _shown(name, values):
    return f"'{name}' (dtype={array.dtype(values)}, shape={array.shape(values)})"


def run_comparison(func, fail_fast, iter_result0, iter_result1, find_output_func, func_name=None):
    """Calls `func` with each pair of outputs (name, array, name, array); a dictionary from the first's names to what it gave."""
    label, found = f"{func_name} | " if func_name else "", OrderedDict()
    for index, (name0, output0) in enumerate(iter_result0.items()):
        names1 = list(find_output_func(name0, index, iter_result1) or ())
        if len(names1) > 1:
            G_LOGGER.info(f"Will attempt to compare output: '{name0}' [{iter_result0.runner_name}] with multiple outputs: '{names1}' [{iter_result1.runner_name}]")
        for name1 in names1:
            if name1 is None or name1 not in iter_result1:
                G_LOGGER.warning(f"For output: '{name0}' [{iter_result0.runner_name}], skipping '{name1}', which is not there [{iter_result1.runner_name}]")
                continue
            output1 = iter_result1[name1]
            G_LOGGER.start(f"{label}Comparing Output: {_shown(name0, output0)} with {_shown(name1, output1)}")
            with G_LOGGER.indent():
                result = func(name0, output0, name1, output1)
            if isinstance(result, CompareResult):
                result.output0_name, result.output1_name = name0, name1
            found[name0] = result
            if fail_fast and not result:
                return found
    _conclude(label, found, iter_result0, iter_result1)
    return found


def _conclude(label, found, iter_result0, iter_result1):
    wrong = [name for name, result in found.items() if not result]
    if wrong:
        G_LOGGER.error(f"FAILED | {label}Mismatched outputs: {wrong}")
    else:
        G_LOGGER.finish(f"PASSED | {label}All outputs matched | Outputs: {list(found)}")
    if not found and (len(iter_result0) or len(iter_result1)):
        lists = "\n".join(f"{r.runner_name} outputs: {list(r.keys())}" for r in (iter_result0, iter_result1))
        G_LOGGER.critical(f"All outputs were skipped, no common outputs found! Note:\n{lists}")


class BaseCompareFunc:
    """An object that compares two IterationResults when it is called: a dictionary from outputs to results (anything that is true
    or false). With thresholds_for(), which gives an output's Threshold, it can be averaged and checked again."""

    _RESULT_CLASS = None
    _LABEL = None
    check_shapes, fail_fast, find_output_func = True, False, None

    def __call__(self, iter_result0, iter_result1):
        raise NotImplementedError(f"{type(self).__name__} has no __call__()")

    def thresholds_for(self, output_name):
        raise NotImplementedError(f"{type(self).__name__} has no thresholds_for()")

    @staticmethod
    def _warn_on_unknown_keys(options, name, iter_result0, iter_result1):
        if isinstance(options, dict):
            known = {*iter_result0.keys(), *iter_result1.keys(), ""}
            util.check_sequence_contains(options.keys(), known, name=name, log_func=G_LOGGER.warning, check_missing=False)

    def _same_shape(self, name, output0, output1):
        """Both with the same shape, or None where they cannot be, which is said."""
        shapes = array.shape(output0), array.shape(output1)
        if shapes[0] == shapes[1]:
            return output0, output1
        if self.check_shapes:
            G_LOGGER.error(f"FAILED | Output: `{name}` | Will not compare outputs of different shapes.\nNote: Output shapes are {shapes[0]} and {shapes[1]}.")
            G_LOGGER.error("Note: Use --no-shape-check or set check_shapes=False to attempt to compare values anyway.", mode=LogMode.ONCE)
            return None
        output1 = util.try_match_shape(output1, shapes[0])
        return array.view(array.make_contiguous(output0), array.dtype(output0), array.shape(output1)), output1

    def _walk(self, compare, iter_result0, iter_result1):
        """Calls `compare` with the names and arrays of each pair of outputs of one shape."""
        if not self.check_shapes:
            G_LOGGER.info("Strict shape checking disabled. Will attempt to match output shapes before comparisons", mode=LogMode.ONCE)

        def both(name0, output0, name1, output1):
            G_LOGGER.extra_verbose(f"Note: Comparing {iter_result0.runner_name} vs. {iter_result1.runner_name}")
            pair = self._same_shape(name0, output0, output1)
            return False if pair is None else compare(name0, pair[0], name1, pair[1])

        find = self.find_output_func or functools.partial(default_find_output_func, base_iter_result=iter_result0)
        return run_comparison(both, self.fail_fast, iter_result0, iter_result1, find, self._LABEL)


def metric_fields_for_func(func):
    """The metrics that a comparison function gives; [] without, None where it does not say."""
    if not hasattr(func, "thresholds_for"):
        return None
    try:
        return list(func.thresholds_for("").metric_fields())
    except NotImplementedError:
        return []


# simple.

_EPSILON = 2.220446049250313e-16


def _errors(out0, out1, infinities_compare_equal):
    """(absolute, relative) errors of each element; whether a divisor was 0."""
    if array.dtype(out0) == DataType.BOOL and array.dtype(out1) == DataType.BOOL:
        absolute = array.logical_xor(out0, out1)
    else:
        absolute = array.abs(array.subtract(comp_util.cast_up(out0), comp_util.cast_up(out1)))
        if infinities_compare_equal:
            absolute = array.where(array.logical_and(array.isinf(out0), out0 == out1), 0, absolute)
    divisor, had_zeros = array.abs(comp_util.cast_up(out1)), False
    if array.dtype(divisor).is_floating:
        zeros = divisor == 0
        had_zeros = bool(array.any(zeros))
        if had_zeros:  # the greater of it and 0 is itself
            divisor = divisor + zeros * divisor.dtype.type(_EPSILON) if array.is_numpy(divisor) else divisor + zeros.to(divisor.dtype) * _EPSILON
    return absolute, array.divide(absolute, divisor), had_zeros


class SimpleCompareFunc(BaseCompareFunc):
    """Absolute and relative errors against tolerances."""

    _RESULT_CLASS, _LABEL = OutputCompareResult, "simple"
    _DEFAULTS = {"rtol": 1e-5, "atol": 1e-5, "check_error_stat": "elemwise", "error_quantile": 0.99}

    def __init__(self, check_shapes=None, rtol=None, atol=None, fail_fast=None, find_output_func=None, check_error_stat=None,
                 infinities_compare_equal=None, save_heatmaps=None, show_heatmaps=None, save_error_metrics_plot=None,
                 show_error_metrics_plot=None, error_quantile=None):
        """`rtol`, `atol`, `check_error_stat` ("elemwise": every element; "max", "mean", "median", "quantile"), `error_quantile`: for all
        outputs, or a dictionary by name with "" for the others. An output passes when one of the two errors is within its
        tolerance; with "elemwise", for each element. `find_output_func(name, index, result)`: the outputs of the second
        result that one of the first is compared with. `save_...`: folders for pictures."""
        given = {"rtol": rtol, "atol": atol, "check_error_stat": check_error_stat, "error_quantile": error_quantile}
        for name, standard in self._DEFAULTS.items():
            setattr(self, name, util.default(given[name], standard))
        self.check_shapes, self.fail_fast, self.find_output_func = util.default(check_shapes, True), util.default(fail_fast, False), find_output_func
        self.infinities_compare_equal = util.default(infinities_compare_equal, False)
        self.save_heatmaps, self.show_heatmaps = save_heatmaps, util.default(show_heatmaps, False)
        self.save_error_metrics_plot, self.show_error_metrics_plot = save_error_metrics_plot, util.default(show_error_metrics_plot, False)

    def _options(self, output_name):
        return {name: util.value_or_from_dict(getattr(self, name), output_name, standard) for name, standard in self._DEFAULTS.items()}

    def thresholds_for(self, output_name):
        options = self._options(output_name)
        return SimpleThreshold(options["check_error_stat"], options["atol"], options["rtol"])

    def _measure(self, out0, out1, options):
        """An OutputCompareResult, and the errors where they are to be shown."""
        threshold = SimpleThreshold(options["check_error_stat"], options["atol"], options["rtol"])
        pictures = self.save_heatmaps or self.show_heatmaps or self.save_error_metrics_plot or self.show_error_metrics_plot
        # assay gives no quantiles; what is shown needs the errors themselves.
        if not pictures and not comp_util.is_shown(G_LOGGER.INFO) and threshold.check_error_stat != "quantile":
            found = measure("simple", out0, out1, infinities_compare_equal=self.infinities_compare_equal, **options)
            if found is not None:
                passed, metrics = found
                values = [metrics.get(f) for f in SimpleThreshold.METRIC_FIELDS]
                return OutputCompareResult(*values, thresholds=threshold, passed=passed if threshold.check_error_stat == "elemwise" else None), None
        absolute, relative, had_zeros = _errors(out0, out1, self.infinities_compare_equal)
        values = []
        for compute in (comp_util.compute_max, comp_util.compute_mean, comp_util.compute_median):
            values += [compute(absolute), compute(relative)]
        if threshold.check_error_stat == "quantile":
            values += [comp_util.compute_quantile(e, options["error_quantile"]) for e in (absolute, relative)]
        else:
            values += [None, None]
        passed = None
        if threshold.check_error_stat == "elemwise":
            passed = not bool(array.any(self._mismatches(absolute, relative, options)))
        return OutputCompareResult(*values, thresholds=threshold, passed=passed), (absolute, relative, had_zeros)

    @staticmethod
    def _mismatches(absolute, relative, options):
        def beyond(errors, tolerance):
            return array.isnan(errors) | (errors > tolerance)

        return beyond(absolute, options["atol"]) & beyond(relative, options["rtol"])

    def _show(self, name0, out0, name1, out1, runners, options, result, errors):
        absolute, relative, had_zeros = errors
        statistic = options["check_error_stat"]
        if had_zeros:
            G_LOGGER.warning(f"{runners[1]:35} | Output: {name1}: Some values are 0. Will add a small epsilon quantity to these when computing relative difference. "
                             "Note that this may cause some relative differences to be extremely high. ", mode=LogMode.ONCE)
        if statistic == "elemwise":
            with G_LOGGER.indent():
                wrong = self._mismatches(absolute, relative, options)
                G_LOGGER.super_verbose(lambda: f"Mismatched indices:\n{array.argwhere(wrong)}")
                for runner, output in zip(runners, (out0, out1)):
                    G_LOGGER.extra_verbose(lambda: f"{runner:35} | Mismatched values:\n{output[wrong]}")
        G_LOGGER.info(f"Error Metrics: {name0}")
        with G_LOGGER.indent():
            field = "max" if statistic == "elemwise" else statistic
            more = {"elemwise": " (requirements may be lower if both abs/rel tolerances are set)",
                    "quantile": f" (quantile={options['error_quantile']:.4g})"}.get(statistic, "")
            G_LOGGER.info(f"Minimum Required Tolerance: {statistic} error | [abs={getattr(result, field + '_absdiff'):.5g}] OR "
                          f"[rel={getattr(result, field + '_reldiff'):.5g}]{more}")
            if self.save_error_metrics_plot or self.show_error_metrics_plot:
                comp_util.scatter_plot_error_magnitude(
                    absolute, relative, comp_util.cast_up(out1), comp_util.compute_min(relative), comp_util.compute_max(relative), *runners,
                    name0, name1, save_dir=self.save_error_metrics_plot, show=self.show_error_metrics_plot)
            for kind, values in (("Absolute", absolute), ("Relative", relative)):
                comp_util.log_output_stats(values, not result, f"{kind} Difference")
                if self.save_heatmaps or self.show_heatmaps:
                    comp_util.build_heatmaps(values, comp_util.compute_min(values), comp_util.compute_max(values), f"{kind} Error | {name0}",
                                             save_dir=self.save_heatmaps, show=self.show_heatmaps, use_lognorm=kind == "Relative")

    def __call__(self, iter_result0, iter_result1):
        for name in self._DEFAULTS:
            self._warn_on_unknown_keys(getattr(self, name), f"the {name} dictionary", iter_result0, iter_result1)
        runners = iter_result0.runner_name, iter_result1.runner_name

        def compare(name0, out0, name1, out1):
            options = self._options(name0)
            atol, rtol, statistic = options["atol"], options["rtol"], options["check_error_stat"]
            if statistic not in ("elemwise", *STATISTICS):
                G_LOGGER.critical(f"Invalid choice for check_error_stat: {statistic}.\nNote: Valid choices are: {['elemwise', *STATISTICS]}")
            G_LOGGER.info(f"Tolerance: [abs={atol:.5g}, rel={rtol:.5g}] | Checking {statistic} error")
            for runner, name, output in ((runners[0], name0, out0), (runners[1], name1, out1)):
                G_LOGGER.super_verbose(lambda: f"{runner:35} | Output: {_shown(name, output)}:\n{util.indent_block(output)}")
            result, errors = self._measure(out0, out1, options)
            if errors is not None:
                self._show(name0, out0, name1, out1, runners, options, result, errors)
            if result:
                G_LOGGER.finish(f"PASSED | Output: '{name0}' | Difference is within tolerance (rel={rtol}, abs={atol})")
            else:
                G_LOGGER.error(f"FAILED | Output: '{name0}' | Difference exceeds tolerance (rel={rtol}, abs={atol})")
            return result

        return self._walk(compare, iter_result0, iter_result1)


# indices.

class IndicesCompareFunc(BaseCompareFunc):
    """Places of indices, along the last dimension: each index of the first is looked for in the second. `index_tolerance`: how far
    it may have moved, for all outputs or by name; the last so many are not looked for."""

    _LABEL = "indices"

    def __init__(self, index_tolerance=None, fail_fast=None):
        self.index_tolerance, self.fail_fast = util.default(index_tolerance, 0), util.default(fail_fast, False)

    def _row_passes(self, row0, row1, tolerance):
        places = {}
        for place, value in enumerate(row1):
            places.setdefault(value, place)
        passed = True
        for place, value in enumerate(row0[:-tolerance] if tolerance else row0):
            if row1[place] == value:
                continue
            if value not in places:
                G_LOGGER.error(f"FAILED | Value: {value} not found in output")
            elif abs(places[value] - place) > tolerance:
                G_LOGGER.error(f"FAILED | Difference exceeds index tolerance ({tolerance})")
            else:
                continue
            passed = False
            if self.fail_fast:
                break
        return passed

    def __call__(self, iter_result0, iter_result1):
        def compare(name0, output0, name1, output1):
            tolerance = util.value_or_from_dict(self.index_tolerance, name0, 0)
            if array.shape(output0) != array.shape(output1):
                G_LOGGER.error("Cannot compare outputs of different shapes.")
                return False
            rows0, rows1 = (np.atleast_1d(array.to_numpy(o)) for o in (output0, output1))
            passed = True
            if not np.array_equal(rows0, rows1):
                for batch in np.ndindex(rows0.shape[:-1]):
                    passed = self._row_passes(rows0[batch].tolist(), rows1[batch].tolist(), tolerance) and passed
                    if self.fail_fast and not passed:
                        return False
            if passed:
                G_LOGGER.finish(f"PASSED | Difference is within index tolerance ({tolerance})")
            return passed

        find = functools.partial(default_find_output_func, base_iter_result=iter_result0)
        return run_comparison(compare, self.fail_fast, iter_result0, iter_result1, find, self._LABEL)


# One metric.

class _SingleMetricCompareFunc(BaseCompareFunc):
    _KIND, _OPTION, _DEFAULT = "", "threshold", None
    """What assay calls the metric, what the threshold's option is called, and its value where nobody says."""

    def __init__(self, threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        self.threshold = util.default(threshold, self._DEFAULT)
        self.check_shapes, self.fail_fast, self.find_output_func = util.default(check_shapes, True), util.default(fail_fast, False), find_output_func

    @property
    def _LABEL(self):
        return self._RESULT_CLASS._THRESHOLD_CLASS.LABEL

    def thresholds_for(self, output_name):
        return self._RESULT_CLASS._THRESHOLD_CLASS(util.value_or_from_dict(self.threshold, output_name, self._DEFAULT))

    def _compute(self, out0, out1):
        """The metric of arrays that assay does not take."""
        raise NotImplementedError(f"{type(self).__name__} has no _compute()")

    def _metric(self, out0, out1):
        found = measure(self._KIND, out0, out1) if self._KIND else None
        if found is not None and found[1]:
            return next(iter(found[1].values()))
        return float(self._compute(comp_util.cast_up(out0), comp_util.cast_up(out1)))

    def __call__(self, iter_result0, iter_result1):
        self._warn_on_unknown_keys(self.threshold, f"the {self._OPTION} dictionary", iter_result0, iter_result1)

        def compare(name0, out0, name1, out1):
            result = self._RESULT_CLASS(self._metric(out0, out1), thresholds=self.thresholds_for(name0))
            described = result.describe()
            if described is None:
                G_LOGGER.warning(f"{self._LABEL} could not be computed (see the warning above); this output is being treated as a PASS, so its accuracy was "
                                 "NOT verified.")
            else:
                (G_LOGGER.finish if described[1] else G_LOGGER.error)(described[0])
            return result

        return self._walk(compare, iter_result0, iter_result1)


def _norm(values):
    return array.sqrt(array.sum(array.power(values, 2)))


def _mean_square(values):
    return array.mean(array.power(values, 2))


class L2CompareFunc(_SingleMetricCompareFunc):
    """Euclidean distances; up to `l2_threshold` they pass."""

    _RESULT_CLASS, _KIND, _OPTION, _DEFAULT = L2Result, "l2", "l2_threshold", 1e-5

    def __init__(self, l2_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        super().__init__(l2_threshold, check_shapes, fail_fast, find_output_func)

    def _compute(self, out0, out1):
        return _norm(array.subtract(out0, out1))


class CosineSimilarityCompareFunc(_SingleMetricCompareFunc):
    """Cosines of the angles between outputs; from `cosine_similarity_threshold` they pass."""

    _RESULT_CLASS, _KIND, _OPTION, _DEFAULT = CosineSimilarityResult, "cosine_similarity", "cosine_similarity_threshold", 0.997

    def __init__(self, cosine_similarity_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        super().__init__(cosine_similarity_threshold, check_shapes, fail_fast, find_output_func)

    def _compute(self, out0, out1):
        lengths = float(_norm(out0)), float(_norm(out1))
        if 0.0 in lengths:
            return 1.0 if lengths == (0.0, 0.0) else 0.0
        cosine = float(array.sum(array.multiply(out0, out1))) / (lengths[0] * lengths[1])
        return cosine if math.isnan(cosine) else max(-1.0, min(1.0, cosine))


class PsnrCompareFunc(_SingleMetricCompareFunc):
    """Peak signal to noise ratios, in decibels; from `psnr_threshold` they pass."""

    _RESULT_CLASS, _KIND, _OPTION, _DEFAULT = PsnrResult, "psnr", "psnr_threshold", 30.0

    def __init__(self, psnr_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        super().__init__(psnr_threshold, check_shapes, fail_fast, find_output_func)

    def _compute(self, out0, out1):
        noise, peak = float(_mean_square(array.subtract(out0, out1))), float(comp_util.compute_max(out0))
        return math.inf if noise == 0 else 20 * np.log10(peak if peak > 0 else 1.0) - 10 * np.log10(noise)


class SnrCompareFunc(_SingleMetricCompareFunc):
    """Signal to noise ratios, in decibels; from `snr_threshold` they pass."""

    _RESULT_CLASS, _KIND, _OPTION, _DEFAULT = SnrResult, "snr", "snr_threshold", 20.0

    def __init__(self, snr_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        super().__init__(snr_threshold, check_shapes, fail_fast, find_output_func)

    def _compute(self, out0, out1):
        noise, signal = float(_mean_square(array.subtract(out0, out1))), float(_mean_square(out0))
        if noise == 0 or signal == 0:
            return math.inf if noise == 0 else -math.inf
        return 10 * np.log10(signal / noise)


def _as_picture(values):
    """Values as the metric takes them: images of three channels, channels first, from -1 to 1."""
    picture = np.asarray(values, dtype=np.float32)
    if picture.shape[-1] <= 3:
        picture = np.moveaxis(picture, -1, -3)
    picture = picture.reshape((-1, *picture.shape[-3:]))
    if picture.max() > 1.0:
        picture = picture / 255.0
    if picture.min() >= 0.0:
        picture = picture * 2.0 - 1.0
    channels = [min(c, picture.shape[1] - 1) for c in range(3)]
    return np.ascontiguousarray(picture[:, channels])


class PerceptualMetricsCompareFunc(_SingleMetricCompareFunc):
    """Learned perceptual distances of images, by the package lpips; up to `lpips_threshold` they pass. What cannot be measured passes
    with a warning."""

    _RESULT_CLASS, _OPTION, _DEFAULT = PerceptualMetricsResult, "lpips_threshold", 0.1

    def __init__(self, lpips_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        super().__init__(lpips_threshold, check_shapes, fail_fast, find_output_func)
        self._model = None

    def _metric(self, out0, out1):
        if len(array.shape(out0)) < 3:
            G_LOGGER.warning(f"LPIPS is of images; an output of shape {array.shape(out0)} is none.")
            return None
        if not (torch.is_importable() and lpips.is_importable()):
            G_LOGGER.warning("LPIPS needs the packages torch and lpips.")
            return None
        try:
            if self._model is None:
                self._model = lpips.LPIPS(net="alex", version="0.1").eval()
            pictures = [torch.from_numpy(_as_picture(array.to_numpy(comp_util.cast_up(o)))) for o in (out0, out1)]
            with torch.no_grad():
                return float(self._model(*pictures).mean())
        except Exception as error:
            G_LOGGER.warning(f"LPIPS was not computed: {error}")
            return None


class _Together(list):
    """Several functions in the place of one: compare_accuracy() takes it as the list that it is; called, it gives the results of all of
    them by output, in a list that is true when all are."""

    class _All(list):
        def __bool__(self):
            return all(self)

    def __call__(self, iter_result0, iter_result1):
        together = OrderedDict()
        for func in self:
            for name, result in func(iter_result0, iter_result1).items():
                together.setdefault(name, self._All()).append(result)
        return together


class CompareFunc:
    """The older names."""

    @staticmethod
    def distance_metrics(l2_tolerance=None, cosine_similarity_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        """Of 0.49: Euclidean distance and cosine."""
        rest = (check_shapes, fail_fast, find_output_func)
        return _Together([L2CompareFunc(l2_tolerance, *rest), CosineSimilarityCompareFunc(cosine_similarity_threshold, *rest)])

    @staticmethod
    def quality_metrics(psnr_tolerance=None, snr_tolerance=None, check_shapes=None, fail_fast=None, find_output_func=None):
        """Of 0.49: both ratios of signal to noise."""
        rest = (check_shapes, fail_fast, find_output_func)
        return _Together([PsnrCompareFunc(psnr_tolerance, *rest), SnrCompareFunc(snr_tolerance, *rest)])

    @staticmethod
    @mod.deprecate(remove_in="0.60.0", use_instead="SimpleCompareFunc", name="CompareFunc.simple")
    def simple(check_shapes=None, rtol=None, atol=None, fail_fast=None, find_output_func=None, check_error_stat=None,
               infinities_compare_equal=None, save_heatmaps=None, show_heatmaps=None, save_error_metrics_plot=None,
               show_error_metrics_plot=None, error_quantile=None):
        return SimpleCompareFunc(**locals())

    @staticmethod
    @mod.deprecate(remove_in="0.60.0", use_instead="IndicesCompareFunc", name="CompareFunc.indices")
    def indices(index_tolerance=None, fail_fast=None):
        return IndicesCompareFunc(index_tolerance, fail_fast)

    @staticmethod
    @mod.deprecate(remove_in="0.60.0", use_instead="PerceptualMetricsCompareFunc", name="CompareFunc.perceptual_metrics")
    def perceptual_metrics(lpips_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None):
        return PerceptualMetricsCompareFunc(lpips_threshold, check_shapes, fail_fast, find_output_func)
