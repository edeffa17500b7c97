"""Running, comparing and checking."""

import contextlib
import copy
import itertools
import multiprocessing
import os
import queue
from collections import OrderedDict

from polygraphy import config, mod, util
from polygraphy.common import TensorMetadata
from polygraphy.comparator import util as comp_util
from polygraphy.comparator.compare import SimpleCompareFunc, SimpleThreshold, metric_fields_for_func
from polygraphy.comparator.data_loader import DataLoader, DataLoaderCache, check_feed_dict, coerce_feed_dict
from polygraphy.comparator.struct import AccuracyResult, AccuracyResults, IterationResult, RunResults
from polygraphy.json.serde import IterationWriter, is_single_file, iteration_name
from polygraphy.logger import G_LOGGER, LogMode

np = mod.lazy_import("numpy")

__all__ = ["Comparator"]

_INPUTS, _OUTPUTS = "inference input data", "inference results"


class _BlobWriter:
    """Inputs as files of bytes, a folder for each iteration."""

    def __init__(self, path):
        self._path, self._index = path, 0
        if path is None:
            return
        G_LOGGER.info(f"Saving raw inference input tensors to: {path}")
        if os.path.exists(path) and not os.path.isdir(path):
            G_LOGGER.critical(f"Cannot save raw inputs to '{path}': a file already exists there, but this path is a directory of per-iteration subdirectories.")
        os.makedirs(path, exist_ok=True)

    def append(self, feed_dict):
        if self._path is None:
            return
        folder = os.path.realpath(os.path.join(self._path, iteration_name(self._index)))
        os.makedirs(folder, exist_ok=True)
        self._index += 1
        for name, array in feed_dict.items():
            file = os.path.realpath(os.path.join(folder, f"{name}.bin"))
            if os.path.commonpath([file, folder]) != folder:
                G_LOGGER.critical(f"Cannot save raw input tensor named '{name}': the name resolves to a path outside of '{folder}'.")
            os.makedirs(os.path.dirname(file), exist_ok=True)  # a name may have slashes
            np.asarray(util.array.to_numpy(array)).tofile(file)


def _close(stream):
    if hasattr(stream, "close"):
        stream.close()


def _log_tensors(runner, what, arrays):
    G_LOGGER.info(lambda: f"{runner.name:35}\n---- Inference {what}(s) ----\n{TensorMetadata.from_feed_dict(arrays)}", mode=LogMode.ONCE)


def _infer(runner, feed_dict, copies):
    """An IterationResult; runners may use their memory again, so that what is kept is copied."""
    outputs = runner.infer(feed_dict=feed_dict)
    seconds = runner.last_inference_time()
    _log_tensors(runner, "Output", outputs)
    G_LOGGER.extra_verbose(lambda: f"{runner.name:35} | Inference Time: {(seconds or 0) * 1000:.3f} ms | Received outputs:\n{util.indent_block(dict(outputs))}")
    if copies and config.ARRAY_SWAP_THRESHOLD_MB != 0:
        outputs = copy.deepcopy(outputs)
    return IterationResult(outputs=outputs, runtime=seconds, runner_name=runner.name)


class _Run:
    """What one call of Comparator.run() does."""

    def __init__(self, runners, data_loader, save_inputs_path, save_outputs_path, save_input_blob_path):
        self.runners, self.data_loader = runners, data_loader
        self.inputs_path, self.outputs_path, self.blobs_path = save_inputs_path, save_outputs_path, save_input_blob_path
        real = [os.path.realpath(p) for p in (save_inputs_path, save_outputs_path, save_input_blob_path) if p is not None]
        twice = next((p for p in real if real.count(p) > 1), None)
        if twice is not None:
            G_LOGGER.critical(f"Two of save_inputs_path, save_outputs_path, and save_input_blob_path resolve to the same path ('{twice}'). Use distinct paths.")

    def stream(self):
        """Results of one iteration after the other, of all runners side by side."""
        if not self.runners:
            G_LOGGER.warning("No runners were provided to Comparator.run(streaming=True). Inference will not be run.")
            return
        with contextlib.ExitStack() as stack:
            for runner in self.runners:
                G_LOGGER.start(f"{runner.name:35} | Activating and starting inference")
                stack.enter_context(runner)
            metadata = [runner.get_input_metadata(use_numpy_dtypes=False) for runner in self.runners]
            with contextlib.suppress(AttributeError):
                self.data_loader.input_metadata = metadata[0]
            inputs = IterationWriter(self.inputs_path, copy_on_accumulate=True, description=_INPUTS)
            outputs = IterationWriter(self.outputs_path, combine=RunResults.concat, copy_on_accumulate=True, description=_OUTPUTS)
            blobs = _BlobWriter(self.blobs_path)
            # What there is when a run is abandoned is written, too.
            stack.callback(outputs.flush)
            stack.callback(inputs.flush)
            for index, feed_dict in enumerate(self.data_loader):
                check_feed_dict(feed_dict)
                G_LOGGER.info(lambda: f"Streaming iteration {index}\n---- Inference Input(s) ----\n{TensorMetadata.from_feed_dict(feed_dict)}")
                if index == 1 and (inputs.single_file or outputs.single_file):
                    G_LOGGER.warning("Saving streamed results to a single file accumulates every iteration in memory; pass a directory to "
                                     "--save-inputs/--save-outputs (read back with --load-inputs/--load-outputs) to keep memory constant.")
                inputs.append(feed_dict)
                blobs.append(feed_dict)
                single = RunResults([(runner.name, [_infer(runner, coerce_feed_dict(feed_dict, wanted), False)])
                                     for runner, wanted in zip(self.runners, metadata)])
                outputs.append(single)
                yield single

    def _warm_up(self, runner, cache, count):
        G_LOGGER.start(f"{runner.name:35} | Running {count} warm-up run(s)")
        if not len(cache):
            G_LOGGER.warning(f"{count} warm-up run(s) were requested, but data loader did not supply any data. Skipping warm-up run(s)")
        else:
            feed_dict = cache[0]
            for _ in range(count):
                runner.infer(feed_dict=feed_dict)
        G_LOGGER.finish(f"{runner.name:35} | Finished {count} warm-up run(s)")

    def execute(self, runner, cache, warm_up):
        """The results of one runner."""
        with runner as active:
            cache.set_input_metadata(active.get_input_metadata(use_numpy_dtypes=False))
            if warm_up:
                self._warm_up(active, cache, warm_up)
            results = []
            for index in range(len(cache)):
                feed_dict = cache[index]
                _log_tensors(active, "Input", feed_dict)
                results.append(_infer(active, feed_dict, True))
            total = sum(r.runtime or 0 for r in results) * 1000
            G_LOGGER.finish(f"{active.name:35} | Completed {len(results)} iteration(s) in {total:.4g} ms | Average inference time: "
                            f"{total / max(len(results), 1):.4g} ms.")
            return results

    def execute_in_subprocess(self, runner, cache, warm_up, timeout, interval):
        """(results, cache), out of a process of its own."""
        context = multiprocessing.get_context("fork")  # runners cannot be sent
        answers = context.Queue()

        def child():
            results = None
            try:
                results = self.execute(runner, cache, warm_up)
            except BaseException:
                G_LOGGER.backtrace()
                import traceback

                traceback.print_exc()
            util.try_send_on_queue(answers, results)
            util.try_send_on_queue(answers, cache)

        process = context.Process(target=child)
        process.start()

        def receive():
            while True:
                try:
                    return util.try_receive_on_queue(answers, timeout=min(interval / 2, 1))
                except queue.Empty:
                    if not process.is_alive() and answers.empty():
                        return None

        try:
            results = receive()
            if results is None:
                G_LOGGER.critical(f"{runner.name:35} | Terminated prematurely. Check the exception logged above. Without the --use-subprocess flag, or with "
                                  "use_subprocess=False, the runner is run in this process.")
            cache = receive()
            if cache is None:
                G_LOGGER.critical("The inputs could not be taken from the runner's process. use_subprocess=False runs it in this one.")
            process.join(timeout)
            return results, cache
        finally:
            process.terminate()

    def save(self, cache, results):
        if self.inputs_path is not None and self.runners:
            with IterationWriter(self.inputs_path, description=_INPUTS) as writer:
                for feed_dict in cache.cache:
                    writer.append(OrderedDict(feed_dict.items()))
        if self.blobs_path is not None and self.runners:
            blobs = _BlobWriter(self.blobs_path)
            for feed_dict in cache.cache:
                blobs.append(feed_dict)
        if is_single_file(self.outputs_path):
            results.save(self.outputs_path)
        elif self.outputs_path is not None:
            with IterationWriter(self.outputs_path, description=_OUTPUTS) as writer:
                for single in results.split():
                    writer.append(single)


class _Comparison:
    """What one call of Comparator.compare_accuracy() does."""

    def __init__(self, funcs, fail_fast, comparisons, check_average):
        self.funcs, self.fail_fast, self.comparisons, self.check_average = funcs, fail_fast, comparisons, check_average
        self.names = self.indices = None
        self.pairs = []
        self.found = [AccuracyResult(aggregation="average" if check_average else "per_sample") for _ in funcs]

    def check(self):
        """Throws where means cannot be checked."""
        if not self.check_average:
            return
        if self.fail_fast:
            G_LOGGER.critical("check_average and fail_fast cannot be used together.")
        for func in self.funcs:
            fields = metric_fields_for_func(func)
            if fields is None:
                G_LOGGER.critical("The provided compare_func does not support average comparison. Use a compare_func that produces averageable metrics (sets "
                                  "_RESULT_CLASS and implements thresholds_for) with check_average=True.")
            if not fields:
                G_LOGGER.critical("The selected compare_func does not produce averageable metrics and cannot be used with check_average=True.")
            threshold = func.thresholds_for("")
            if isinstance(threshold, SimpleThreshold) and threshold.check_error_stat == "elemwise":
                G_LOGGER.critical("check_average is not supported with check_error_stat='elemwise': it is a per-element check with no scalar statistic to average. "
                                  "Specify max, mean, median, or quantile.")

    def _begin(self, names):
        self.names = names
        self.indices = util.default(self.comparisons, Comparator.default_comparisons(names))
        self.pairs = [(names[i], names[j]) for i, j in self.indices]
        for result in self.found:
            for pair in self.pairs:
                result[pair] = []
        for first, second in self.pairs:
            G_LOGGER.start(f"Accuracy Comparison | {first} vs. {second}")

    def add(self, index, results):
        """Compares an iteration; whether the rest is to be compared, too."""
        names = list(results.keys())
        if self.names is None:
            self._begin(names)
        elif names != self.names:
            G_LOGGER.critical(f"Streamed iteration {index} contains a different set of runners than the first ({names} vs. {self.names}). Every iteration must "
                              "contain the same runners in the same order.")
        G_LOGGER.info(f"Iteration: {index}")
        for (i, j), pair in zip(self.indices, self.pairs):
            first, second = results[i][1][0], results[j][1][0]
            with G_LOGGER.indent():
                matches = [func(first, second) for func in self.funcs]
                comp_util.log_compared_output_stats(first, second, matches, *pair)
            for result, match in zip(self.found, matches):
                result[pair].append(match)
            if self.fail_fast and not all(all(map(bool, match.values())) for match in matches):
                return False
        return True

    @staticmethod
    def _say(text, passed):
        G_LOGGER.log(text, G_LOGGER.FINISH if passed else G_LOGGER.ERROR)

    def _summarize_iterations(self, pair):
        per_iteration = list(zip(*(result[pair] for result in self.found)))
        passed, total = sum(all(all(map(bool, match.values())) for match in matches) for matches in per_iteration), len(per_iteration)
        rate = passed / total if total else 1.0
        self._say(f"Accuracy Summary | {pair[0]} vs. {pair[1]} | Passed: {passed}/{total} iterations | Pass Rate: {rate * 100:.2f}%", passed == total)

    def _summarize_averages(self, pair):
        averages, lines = [result.average_results(pair) for result in self.found], [result.describe_average(pair) for result in self.found]
        passes = {}
        for average in averages:
            for name, result in average.items():
                passes[name] = passes.get(name, True) and bool(result)
        passed, total = sum(passes.values()), len(passes)
        self._say(f"Accuracy Summary | {pair[0]} vs. {pair[1]} | Passed: {passed}/{total} outputs", passed == total)
        with G_LOGGER.indent():
            for name, good in passes.items():
                self._say(f"{name} | {'PASSED' if good else 'FAILED'}:", good)
                with G_LOGGER.indent():
                    for of_function in lines:
                        if name in of_function:
                            self._say(*of_function[name])

    def summarize(self):
        for pair in self.pairs:
            (self._summarize_averages if self.check_average else self._summarize_iterations)(pair)


def _one_by_one(name, results):
    for result in results:
        yield RunResults([(name, [result])])


def _merged(streams):
    """What several streams give, an iteration after the other, until one of them ends."""
    end, index = object(), 0
    try:
        for group in itertools.zip_longest(*streams, fillvalue=end):
            out = [i for i, single in enumerate(group) if single is end]
            if out:
                G_LOGGER.warning(f"The provided streams have different numbers of iterations. Only the first {index} iteration(s) -- present in all "
                                 f"{len(streams)} streams -- were compared; stream(s) at index {out} ran out first.")
                return
            yield RunResults([pair for single in group for pair in single])
            index += 1
    finally:
        for stream in streams:
            _close(stream)


_NOT_FINITE_NOTE = "Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display non-finite values"
_NAN_NOTE = "Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display locations of NaNs"


def _is_valid(output, check_inf, check_nan):
    valid = True
    if check_nan:
        nans = util.array.isnan(output)
        if util.array.any(nans):
            G_LOGGER.error("NaN Detected | One or more NaNs were encountered in this output")
            G_LOGGER.info(_NAN_NOTE, mode=LogMode.ONCE)
            G_LOGGER.extra_verbose(lambda: f"Note: NaNs at:\n{nans}")
            valid = False
    if check_inf:
        others = util.array.logical_not(util.array.isfinite(output))
        if util.array.any(others):
            G_LOGGER.error("Inf Detected | One or more non-finite values were encountered in this output")
            G_LOGGER.info(_NOT_FINITE_NOTE, mode=LogMode.ONCE)
            G_LOGGER.extra_verbose(lambda: f"Note: non-finite values at:\n{others}\nNote: non-finite values:\n{output[others]}")
            valid = False
    return valid


def _validate(results, check_inf, check_nan, fail_fast, prefix=""):
    """Whether all outputs of all runners and iterations are valid; which are not is said."""
    all_valid = True
    for runner, iterations in results.items():
        for name, output in ((n, o) for result in iterations for n, o in result.items()):
            G_LOGGER.start(f"{runner:35} | {prefix}Validating output: {name} (check_inf={check_inf}, check_nan={check_nan})")
            with G_LOGGER.indent():
                comp_util.log_output_stats(output)
                if _is_valid(output, check_inf, check_nan):
                    G_LOGGER.finish(f"PASSED | Output: {name} is valid")
                    continue
                G_LOGGER.error(f"FAILED | Errors detected in output: {name}")
            all_valid = False
            if fail_fast:
                return False
    return all_valid


class Comparator:
    """Runs runners over the same inputs, and compares what they give."""

    @staticmethod
    def run(runners, data_loader=None, warm_up=None, use_subprocess=None, subprocess_timeout=None, subprocess_polling_interval=None,
            save_inputs_path=None, save_outputs_path=None, save_input_blob_path=None, streaming=None):
        """RunResults of runners, one after the other; with `streaming`, a generator of results of single iterations, of all runners
        side by side, whose arrays the next iteration uses again. `data_loader`: an iterable of arrays by name.
        `warm_up`: runs before those that count. `use_subprocess`: each runner in a process of its own. `save_..._path`: a file,
        or without an extension a folder with a file for each iteration; `save_input_blob_path`: a folder for bytes."""
        run = _Run(runners, DataLoader() if data_loader is None else data_loader, save_inputs_path, save_outputs_path, save_input_blob_path)
        if streaming:
            if warm_up or use_subprocess:
                G_LOGGER.critical("streaming=True does not support warm_up or use_subprocess. Set streaming=False to use them.")
            return run.stream()
        if not runners:
            G_LOGGER.warning("No runners were provided to Comparator.run(). Inference will not be run, and run results will be empty.")
        cache, results = DataLoaderCache(run.data_loader), RunResults()
        for runner in runners:
            G_LOGGER.start(f"{runner.name:35} | Activating and starting inference")
            if use_subprocess:
                found, cache = run.execute_in_subprocess(runner, cache, warm_up, subprocess_timeout, util.default(subprocess_polling_interval, 30))
            else:
                found = run.execute(runner, cache, warm_up)
            results.append((runner.name, found))
        G_LOGGER.verbose(f"Successfully ran: {[r.name for r in runners]}")
        run.save(cache, results)
        return results

    @staticmethod
    def postprocess(run_results, postprocess_func):
        """Results, a stream of them, or a list of such, with each iteration replaced by what the function makes of it."""
        if isinstance(run_results, (list, tuple)):
            return [Comparator.postprocess(run, postprocess_func) for run in run_results]
        name = getattr(postprocess_func, "__name__", type(postprocess_func).__name__)

        def apply(results):
            for _, iterations in results.items():
                iterations[:] = map(postprocess_func, iterations)
            return results

        def apply_to_stream():
            G_LOGGER.verbose(f"Will apply post-processing to streamed outputs: {name}")
            try:
                yield from map(apply, run_results)
            finally:
                _close(run_results)

        if not isinstance(run_results, RunResults):
            return apply_to_stream()
        G_LOGGER.start(f"Applying post-processing to outputs: {name}")
        apply(run_results)
        G_LOGGER.finish("Finished applying post-processing")
        return run_results

    @staticmethod
    def default_comparisons(run_results):
        """Each with the next: pairs of numbers."""
        return [(i, i + 1) for i in range(len(run_results) - 1)]

    @staticmethod
    def compare_accuracy(run_results, fail_fast=False, comparisons=None, compare_func=None, check_average=False):
        """AccuracyResults. `run_results`: results, a stream of them, or a list of such, whose runners count on. `comparisons`: pairs of
        numbers of runners, each with the next where none are given; `compare_func`: one, or a list; `fail_fast`: ends with the
        first mismatch; `check_average`: means over iterations decide."""
        funcs = compare_func if util.is_sequence(compare_func) else [compare_func]
        comparison = _Comparison([SimpleCompareFunc() if f is None else f for f in funcs], fail_fast, comparisons, check_average)
        comparison.check()
        streams = []
        for run in run_results if isinstance(run_results, (list, tuple)) else [run_results]:
            streams += [_one_by_one(*pair) for pair in run] if isinstance(run, RunResults) else [run]
        merged = _merged(streams)
        try:
            for index, results in enumerate(merged):
                if not comparison.add(index, results):
                    break
            else:
                comparison.summarize()
        finally:
            merged.close()
        return AccuracyResults(comparison.found)

    @staticmethod
    def validate(run_results, check_inf=None, check_nan=None, fail_fast=None):
        """Whether results have no NaN (unless `check_nan` is False), and with `check_inf` nothing that is not finite. A stream is handed
        on, and ends with an exception; of a list, a list of these."""
        if isinstance(run_results, (list, tuple)):
            return [Comparator.validate(run, check_inf, check_nan, fail_fast) for run in run_results]
        check_inf, check_nan = util.default(check_inf, False), util.default(check_nan, True)

        def validate_stream():
            try:
                for index, single in enumerate(run_results):
                    if not _validate(single, check_inf, check_nan, True, f"Iteration {index} | "):
                        G_LOGGER.critical(f"Output validation failed: iteration {index} contains invalid values (NaNs/Infs). See the errors above.")
                    yield single
            finally:
                _close(run_results)

        if not isinstance(run_results, RunResults):
            return validate_stream()
        G_LOGGER.start(f"Output Validation | Runners: {list(run_results.keys())}")
        with G_LOGGER.indent():
            valid = _validate(run_results, check_inf, check_nan, util.default(fail_fast, False))
            if valid:
                G_LOGGER.finish("PASSED | Output Validation")
            else:
                G_LOGGER.error("FAILED | Output Validation")
        return valid
