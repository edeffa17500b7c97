"""Options of comparison functions. Every one is None where it is not given: ComparatorCompareArgs warns of those of functions that were
not chosen."""

from polygraphy.logger import G_LOGGER
from polygraphy.tools.args import util as args_util
from polygraphy.tools.args.base import BaseArgs
from polygraphy.tools.script import make_invocable, make_invocable_if_nondefault

_STATISTICS = ["max", "mean", "median", "elemwise", "quantile"]


class _CompareFuncArgs(BaseArgs):
    """The rest of a group: its class, the name of its variable, and options with one value or one for each output."""

    FUNC = VARIABLE = ""
    BY_OUTPUT, PLAIN = {}, {}
    """Attribute: (options, help). BY_OUTPUT takes [NAME:]VALUE ..., PLAIN a switch (no metavar) or a text."""
    CHECKS_SHAPES = True
    ALWAYS = True
    """A variable is made even where nothing was chosen."""

    def add_parser_args_impl(self):
        for name, (options, text) in self.BY_OUTPUT.items():
            self.group.add_argument(*options, dest=name, nargs="+", default=None, help=f"{text}: [NAME:]VALUE, the rest of the outputs without a name")
        for name, (options, text, *metavar) in self.PLAIN.items():
            how = {"metavar": metavar[0]} if metavar else {"action": "store_true"}
            self.group.add_argument(*options, dest=name, default=None, help=text, **how)

    def parse_impl(self, args):
        """Sets an attribute for each option, those of outputs as dicts."""
        for name in self.BY_OUTPUT:
            setattr(self, name, args_util.parse_arglist_to_dict(args_util.get(args, name)))
        for name in self.PLAIN:
            setattr(self, name, args_util.get(args, name))

    def add_to_script_impl(self, script):
        from polygraphy.tools.args.comparator.comparator import ComparatorCompareArgs

        compare = self.arg_groups[ComparatorCompareArgs]
        given = {name: getattr(self, name) for name in (*self.BY_OUTPUT, *self.PLAIN)}
        if self.CHECKS_SHAPES:
            given["check_shapes"] = False if compare.no_shape_check else None
        make = make_invocable if self.ALWAYS else make_invocable_if_nondefault
        made = make(self.FUNC, **given, fail_fast=compare.fail_fast)
        if made is None:
            return None
        script.add_import([self.FUNC], frm="polygraphy.comparator")
        return script.add_var(made, self.VARIABLE, category="Comparison Functions")


class CompareFuncSimpleArgs(_CompareFuncArgs):
    """Comparison Function `simple`: absolute and relative errors"""

    FUNC, VARIABLE, ALWAYS = "SimpleCompareFunc", "simple_compare_func", False
    BY_OUTPUT = {
        "rtol": (("--rtol", "--rel-tol"), "Relative tolerance"),
        "atol": (("--atol", "--abs-tol"), "Absolute tolerance"),
        "check_error_stat": (("--check-error-stat",), f"What is compared with the tolerances ({', '.join(_STATISTICS)})"),
        "error_quantile": (("--error-quantile",), "The quantile that `--check-error-stat quantile` takes, from 0 to 1"),
    }
    PLAIN = {
        "infinities_compare_equal": (("--infinities-compare-equal",), "Equal infinities differ by 0"),
        "save_heatmaps": (("--save-heatmaps",), "Where to save heatmaps of errors", "FOLDER"),
        "show_heatmaps": (("--show-heatmaps",), "Show heatmaps of errors"),
        "save_error_metrics_plot": (("--save-error-metrics-plot",), "Where to save plots of errors", "FOLDER"),
        "show_error_metrics_plot": (("--show-error-metrics-plot",), "Show plots of errors"),
    }

    def parse_impl(self, args):
        super().parse_impl(args)
        for statistic in (self.check_error_stat or {}).values():
            if statistic not in _STATISTICS:
                G_LOGGER.critical(f"Invalid choice for check_error_stat: {statistic}.\nNote: Valid choices are: {_STATISTICS}")


class CompareFuncIndicesArgs(_CompareFuncArgs):
    """Comparison Function `indices`: places of indices"""

    FUNC, VARIABLE, CHECKS_SHAPES = "IndicesCompareFunc", "indices_compare_func", False
    BY_OUTPUT = {"index_tolerance": (("--index-tolerance",), "How many places an index may be off")}


class CompareFuncL2Args(_CompareFuncArgs):
    """Comparison Function `l2`: Euclidean distances"""

    FUNC, VARIABLE = "L2CompareFunc", "l2_compare_func"
    BY_OUTPUT = {"l2_threshold": (("--l2-threshold", "--l2-tolerance"), "Largest distance")}


class CompareFuncCosineSimilarityArgs(_CompareFuncArgs):
    """Comparison Function `cosine_similarity`: cosines of angles"""

    FUNC, VARIABLE = "CosineSimilarityCompareFunc", "cosine_similarity_compare_func"
    BY_OUTPUT = {"cosine_similarity_threshold": (("--cosine-similarity-threshold",), "Least cosine")}


class CompareFuncPsnrArgs(_CompareFuncArgs):
    """Comparison Function `psnr`: peak signal to noise ratios"""

    FUNC, VARIABLE = "PsnrCompareFunc", "psnr_compare_func"
    BY_OUTPUT = {"psnr_threshold": (("--psnr-threshold", "--psnr-tolerance"), "Least ratio in decibels")}


class CompareFuncSnrArgs(_CompareFuncArgs):
    """Comparison Function `snr`: signal to noise ratios"""

    FUNC, VARIABLE = "SnrCompareFunc", "snr_compare_func"
    BY_OUTPUT = {"snr_threshold": (("--snr-threshold", "--snr-tolerance"), "Least ratio in decibels")}


class CompareFuncPerceptualMetricsArgs(_CompareFuncArgs):
    """Comparison Function `perceptual_metrics`: how different pictures look"""

    FUNC, VARIABLE = "PerceptualMetricsCompareFunc", "perceptual_metrics_compare_func"
    BY_OUTPUT = {"lpips_threshold": (("--lpips-threshold", "--lpips-tolerance"), "Largest LPIPS")}


GROUPS = {
    "simple": [CompareFuncSimpleArgs],
    "indices": [CompareFuncIndicesArgs],
    "l2": [CompareFuncL2Args],
    "cosine_similarity": [CompareFuncCosineSimilarityArgs],
    "distance_metrics": [CompareFuncL2Args, CompareFuncCosineSimilarityArgs],
    "psnr": [CompareFuncPsnrArgs],
    "snr": [CompareFuncSnrArgs],
    "quality_metrics": [CompareFuncPsnrArgs, CompareFuncSnrArgs],
    "perceptual_metrics": [CompareFuncPerceptualMetricsArgs],
}
"""Groups by the choices of --compare."""
