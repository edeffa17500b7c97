"""Statistics of outputs, as texts and pictures."""

import math
import os

from polygraphy import config, mod, util
from polygraphy.datatype import DataType
from polygraphy.logger import G_LOGGER

np = mod.lazy_import("numpy")
plt = mod.lazy_import("matplotlib.pyplot")
matplotlib = mod.lazy_import("matplotlib")

array = util.array

_WIDER = {DataType.FLOAT16: DataType.FLOAT32, DataType.INT8: DataType.INT32, DataType.UINT8: DataType.INT32, DataType.INT16: DataType.INT32,
          DataType.UINT16: DataType.INT32, DataType.UINT32: DataType.INT64}


def cast_up(buffer):
    """In a type in which differences do not overflow."""
    wider = _WIDER.get(array.dtype(buffer))
    return buffer if wider is None else array.cast(buffer, wider)


def _over_all(reduce, about):
    def compute(buffer):
        return 0 if util.is_empty_shape(array.shape(buffer)) else reduce(cast_up(buffer))

    compute.__doc__ = about
    return compute


compute_max = _over_all(array.max, "The greatest element; 0 without elements, as for all of these.")
compute_min = _over_all(array.min, "The least element.")
compute_std = _over_all(array.std, "The standard deviation.")
compute_variance = _over_all(array.var, "The variance.")
compute_median = _over_all(array.median, "The middle.")
compute_argmax = _over_all(lambda b: array.unravel_index(array.argmax(b), array.shape(b)), "Where the greatest element is.")
compute_argmin = _over_all(lambda b: array.unravel_index(array.argmin(b), array.shape(b)), "Where the least element is.")


def compute_mean(buffer):
    """The mean, in float32."""
    return array.mean(buffer, dtype=DataType.FLOAT32)


def compute_quantile(buffer, q):
    return array.quantile(buffer, q)


def compute_average_magnitude(buffer):
    """The mean of magnitudes, in float32."""
    return compute_mean(array.abs(buffer))


_BAR = 40


def str_histogram(output, hist_range=None):
    """Ten bins with bars; empty where there can be none."""
    if array.dtype(output) == DataType.BOOL:
        return ""
    try:
        counts, edges = array.histogram(output, range=hist_range)
        most = compute_max(counts)
        if not most:
            return None
        texts = [f"{float(e):.3g}" for e in edges]
        left, right = max(map(len, texts)), max(map(len, texts[1:]))
        rows = ["---- Histogram ----", f"{'Bin Range':{left + right + 5}}|  Num Elems | Visualization"]
        for count, begin, end in zip(counts, texts, texts[1:]):
            rows.append(f"({begin:<{left}}, {end:<{right}}) | {_number(count):10} | {'#' * int(_BAR * float(count) / float(most))}")
        return "\n".join(rows) + "\n"
    except Exception as error:
        G_LOGGER.verbose(f"Could not generate histogram. Note: Error was: {error}")
        return ""


def _number(value):
    return value.item() if hasattr(value, "item") else value


def str_output_stats(output, runner_name=None):
    """Mean, deviation and so on, in one line."""
    head = f"{runner_name} | Stats: " if runner_name else ""
    try:
        parts = [
            f"mean={compute_mean(output):.5g}", f"std-dev={compute_std(output):.5g}", f"var={compute_variance(output):.5g}",
            f"median={compute_median(output):.5g}", f"min={compute_min(output):.5g} at {compute_argmin(output)}",
            f"max={compute_max(output):.5g} at {compute_argmax(output)}", f"avg-magnitude={compute_average_magnitude(output):.5g}",
        ]
        if array.dtype(output) != DataType.BOOL:
            parts += [f"p{p}={compute_quantile(output, p / 100):.5g}" for p in (90, 95, 99)]
        return head + ", ".join(parts) + "\n"
    except Exception as error:
        G_LOGGER.verbose(f"Could not generate statistics. Note: Error was: {error}")
        if config.INTERNAL_CORRECTNESS_CHECKS:
            raise
        return head + "<Error while computing statistics>"


_FEW = 100
"""Arrays up to this size are shown whole."""


def is_shown(severity):
    """Whether messages of that severity of this package are said at all."""
    return severity >= G_LOGGER.module_severity.get("comparator")


def log_output_stats(output, info_hist=False, runner_name=None, hist_range=None):
    """Says them, with the values of a small array and the histogram, which `info_hist` shows."""
    severity = G_LOGGER.INFO if info_hist else G_LOGGER.VERBOSE
    G_LOGGER.info(lambda: str_output_stats(output, runner_name))
    with G_LOGGER.indent():
        if array.size(output) <= _FEW:
            G_LOGGER.log(lambda: f"---- Values ----\n{util.indent_block(output)}", severity=severity)
        G_LOGGER.log(lambda: str_histogram(output, hist_range), severity=severity)


def log_compared_output_stats(iter_result0, iter_result1, match_dicts, runner0_name, runner1_name):
    """Of all outputs that were compared; histograms of those that differ are shown, over the same range."""
    if not match_dicts or not is_shown(G_LOGGER.INFO):
        return
    for name0, result in match_dicts[0].items():
        name1 = getattr(result, "output1_name", None) or name0
        if name0 not in iter_result0 or name1 not in iter_result1:
            continue
        out0, out1 = iter_result0[name0], iter_result1[name1]
        differs = any(not found.get(name0, True) for found in match_dicts)
        both = min(compute_min(out0), compute_min(out1)), max(compute_max(out0), compute_max(out1))
        log_output_stats(out0, differs, f"{runner0_name}: {name0}", both)
        log_output_stats(out1, differs, f"{runner1_name}: {name1}", both)


_MOST_ROWS, _MOST_COLUMNS, _MOST_HEIGHT, _MOST_WIDTH = 14, 7, 1080, 1920


def _save_or_show(figure, what, path, show, **more):
    if path is not None:
        util.makedirs(path)
        G_LOGGER.info(f"Saving {what} to: '{path}'")
        figure.savefig(path, **more)
    if show:
        plt.show()
    plt.close(figure)


def build_heatmaps(arr, min_val, max_val, prefix, save_dir=None, show=None, use_lognorm=None):
    """Pictures of an array: its last two dimensions are an image, the others count images."""
    G_LOGGER.start(f"Building heatmaps for {prefix}. This may take a while...")
    values = array.to_numpy(arr)
    outer = ((1,) * (3 - values.ndim) + values.shape)[:-2]
    images = values.reshape((-1, *((1, 1) + values.shape)[-2:]))
    count, height, width = images.shape
    rows, columns = max(min(_MOST_HEIGHT // height, _MOST_ROWS), 1), max(min(_MOST_WIDTH // width, _MOST_COLUMNS), 1)
    columns = min(columns, count)
    rows = min(rows, math.ceil(count / columns))
    logarithmic = use_lognorm and min_val != max_val
    norm = (matplotlib.colors.LogNorm if logarithmic else matplotlib.colors.Normalize)(vmin=min_val, vmax=max_val)
    title = prefix + (" (Log Scale)" if logarithmic else "")

    def place(index):
        return f"({','.join(map(str, np.unravel_index(index, outer)))},0:{height},0:{width})"

    with G_LOGGER.indent():
        for first in range(0, count, rows * columns):
            last = min(first + rows * columns, count) - 1
            figure, axes = plt.subplots(rows, columns, squeeze=False, dpi=200, constrained_layout=True)
            heading = f"{title}: {place(first)} to {place(last)}"
            figure.suptitle(heading, fontsize="xx-small")
            for offset, axis in enumerate(axes.ravel()):
                index = first + offset
                axis.set_axis_off()
                axis.set_title(place(index) if index <= last else "Out Of Bounds", fontsize="xx-small")
                shown = axis.imshow(images[index] if index <= last else np.zeros((height, width)), cmap="plasma", norm=norm, filternorm=False, resample=False)
            figure.colorbar(shown, ax=axes, shrink=0.7)
            path = None if save_dir is None else os.path.join(save_dir, f"{util.sanitize_filename(heading)}.svg")
            _save_or_show(figure, f"'{title}' heatmap", path, show)


def scatter_plot_error_magnitude(absdiff, reldiff, reference_output, min_reldiff, max_reldiff, runner0_name, runner1_name, out0_name,
                                 out1_name, save_dir=None, show=None):
    """Errors over the magnitude of what they are errors of."""
    G_LOGGER.start(f"Building error metrics plot for {out0_name}. This may take a while...")
    magnitude = np.abs(array.to_numpy(reference_output)).ravel()
    figure, axes = plt.subplots(2, sharex=True, constrained_layout=True)
    figure.suptitle("Error metrics between output0 and output1\n"
                    f"output0: {runner0_name:35} | {out0_name}\noutput1: {runner1_name:35} | {out1_name}", fontsize=7)
    logarithmic = min_reldiff != max_reldiff
    for axis, errors, label in ((axes[0], absdiff, "Absolute error"), (axes[1], reldiff, f"Relative error{' (log scale)' * logarithmic}")):
        axis.scatter(magnitude, array.to_numpy(errors).ravel(), s=1)
        axis.set_ylabel(label, fontsize=7)
        axis.tick_params(axis="both", labelsize=6)
        axis.tick_params(axis="x", labelrotation=90)
        axis.grid(linestyle="--")
    if logarithmic:
        axes[1].set_yscale("log")
    axes[1].set_xlabel("output1 magnitude", fontsize=7)
    with G_LOGGER.indent():
        path = None if save_dir is None else os.path.join(save_dir, util.sanitize_filename(f"error_metrics_{out0_name}.png"))
        _save_or_show(figure, "error metrics plot", path, show, dpi=1200, bbox_inches="tight")
