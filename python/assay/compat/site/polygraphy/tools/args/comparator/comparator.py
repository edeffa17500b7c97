"""Options of runs and of comparisons."""

import os

from polygraphy import util
from polygraphy.logger import G_LOGGER
from polygraphy.tools.args import util as args_util
from polygraphy.tools.args.backend.runner_select import RunnerSelectArgs
from polygraphy.tools.args.base import BaseArgs
from polygraphy.tools.args.comparator import compare
from polygraphy.tools.args.comparator.data_loader import DataLoaderArgs
from polygraphy.tools.args.comparator.postprocess import ComparatorPostprocessArgs
from polygraphy.tools.script import inline, make_invocable, safe


class ComparatorRunArgs(BaseArgs):
    """Comparator Inference: running inference"""

    def add_parser_args_impl(self):
        add = self.group.add_argument
        add("--warm-up", type=int, default=None, metavar="NUM", help="Runs before those that are timed; needs --sequential-runners")
        add("--use-subprocess", action="store_true", default=None, help="A process for each runner")
        add("--save-inputs", "--save-input-data", dest="save_inputs_path", default=None, help="Where to save inputs: a file, or a folder with one for each iteration")
        add("--save-input-blob", dest="save_input_blob_path", nargs="?", const=".", default=None, help="A folder for the bytes of each input")
        add("--save-outputs", "--save-results", dest="save_outputs_path", default=None, help="Where to save results: a file, or a folder with one for each iteration")

    def parse_impl(self, args):
        """Sets `warm_up`, `use_subprocess`, `save_inputs_path`, `save_input_blob_path`, `save_outputs_path`."""
        for name in ("warm_up", "use_subprocess", "save_inputs_path", "save_input_blob_path", "save_outputs_path"):
            setattr(self, name, args_util.get(args, name))

    def add_to_script_impl(self, script):
        script.add_import(["Comparator"], frm="polygraphy.comparator")
        if not self.arg_groups[RunnerSelectArgs].runners:
            return None
        streams = self.arg_groups[ComparatorCompareArgs].streaming
        name = inline(safe("run_stream" if streams else "results"))
        made = make_invocable("Comparator.run", script.get_runners(), warm_up=self.warm_up, data_loader=self.arg_groups[DataLoaderArgs].add_to_script(script),
                              use_subprocess=self.use_subprocess, save_inputs_path=self.save_inputs_path, save_outputs_path=self.save_outputs_path,
                              save_input_blob_path=self.save_input_blob_path, streaming=streams or None)  # fmt: skip
        script.append_suffix(safe("\n# Runner Execution\n{results} = {:}", made, results=name))
        return name


class ComparatorCompareArgs(BaseArgs):
    """Comparator Comparisons: comparing outputs. Comparison functions are those whose groups are there."""

    def __init__(self, allow_postprocessing: bool = None, allow_validate: bool = None, allow_load_outputs: bool = None, allow_sequential_runners: bool = None):
        super().__init__()
        self._allow_postprocessing = util.default(allow_postprocessing, True)
        self._allow_validate = util.default(allow_validate, True)
        self._allow_load_outputs = util.default(allow_load_outputs, True)
        self._allow_sequential_runners = util.default(allow_sequential_runners, True)

    def add_parser_args_impl(self):
        self._choices = {name: [self.arg_groups[g] for g in groups] for name, groups in compare.GROUPS.items() if all(g in self.arg_groups for g in groups)}
        add = self.group.add_argument
        switch = {"action": "store_true", "default": None}
        add("--no-shape-check", help="Shapes may differ", **switch)
        if self._allow_validate:
            add("--validate", help="Outputs must be free of NaN and infinity", **switch)
        add("--fail-fast", help="End with the first difference", **switch)
        add("--check-average", help="Thresholds hold for means over the iterations, not for each of them", **switch)
        if self._allow_sequential_runners:
            add("--sequential-runners", help="One runner after the other, instead of side by side", **switch)
        add("--compare", "--compare-func", nargs="+", choices=list(self._choices), default=["simple"], help="Comparison functions; all of them must pass")
        add("--compare-func-script", default=None, help="A comparison function of a script: PATH[:NAME], compare_outputs by default")
        if self._allow_load_outputs:
            add("--load-outputs", "--load-results", dest="load_outputs_paths", nargs="+", default=[], help="Saved results to compare with")
        add("--save-accuracy-results", dest="save_accuracy_results_path", default=None, help="Where to save what the comparison found")

    def _selected(self):
        return list(dict.fromkeys(g for name in self.compare_funcs for g in self._choices[name]))

    def _warn_of_unused(self, args):
        names = {}
        for name, groups in self._choices.items():
            for group in groups:
                names.setdefault(group, []).append(name)
        for group in names.keys() - set(self._selected()):
            for action in group.group._group_actions if group.group is not None else ():
                if args_util.get(args, action.dest) is not None:
                    G_LOGGER.warning(f"Option: {'/'.join(action.option_strings)} is only valid for comparison function(s): {names[group]}. "
                                     f"The selected comparison functions are: {self.compare_funcs}, so this option will be ignored.")  # fmt: skip

    def parse_impl(self, args):
        """Sets `no_shape_check`, `validate`, `fail_fast`, `check_average`, `streaming`, `compare_funcs`, `compare_func_script`,
        `compare_func_name`, `load_outputs_paths`, `save_accuracy_results_path`."""
        for name in ("no_shape_check", "validate", "fail_fast", "check_average", "save_accuracy_results_path"):
            setattr(self, name, args_util.get(args, name))
        self.load_outputs_paths = args_util.get(args, "load_outputs_paths", default=[])
        self.streaming = not args_util.get(args, "sequential_runners", default=False)
        self.compare_funcs = args_util.get(args, "compare")
        self.compare_func_script, self.compare_func_name = args_util.parse_script_and_func_name(
            args_util.get(args, "compare_func_script"), default_func_name="compare_outputs")
        self._warn_of_unused(args)

    # What concerns other groups is looked at when all of them have been parsed.

    def _check_average(self):
        if self.check_average and self.fail_fast:
            G_LOGGER.critical("--check-average cannot be combined with --fail-fast.")
        if self.check_average and self.compare_func_script is None and "simple" in self.compare_funcs:
            given = self.arg_groups[compare.CompareFuncSimpleArgs].check_error_stat or {}
            if given.get("", "elemwise") == "elemwise" or "elemwise" in given.values():
                G_LOGGER.critical("--check-average is not supported with check_error_stat='elemwise' (the default). "
                                  "Specify --check-error-stat max, mean, median, or quantile.")  # fmt: skip

    def _check_run(self):
        run = self.arg_groups[ComparatorRunArgs]
        loaded = [*self.arg_groups[DataLoaderArgs].load_inputs_paths, *self.load_outputs_paths]
        for saved in filter(None, (run.save_inputs_path, run.save_outputs_path, run.save_input_blob_path)):
            inside = os.path.abspath(saved) + os.sep
            for path in loaded:
                if (os.path.abspath(path) + os.sep).startswith(inside):
                    G_LOGGER.critical(f"The load path '{path}' overlaps the save path '{saved}'. Use distinct paths for loading and saving.")
        for option, is_given in (("--use-subprocess", run.use_subprocess), ("--warm-up", run.warm_up is not None)):
            if self.streaming and is_given:
                G_LOGGER.critical(f"{option} requires --sequential-runners.")

    def _functions(self, script):
        if self.compare_func_script is None:
            return [group.add_to_script(script) for group in self._selected()]
        script.add_import(["InvokeFromScript"], frm="polygraphy.backend.common")
        return [make_invocable("InvokeFromScript", self.compare_func_script, name=self.compare_func_name)]

    def _runs(self, script, results_name):
        """What is compared, as the text of a list."""
        runs = [results_name] if results_name is not None else []
        if self.load_outputs_paths:
            script.add_import(["RunResults"], frm="polygraphy.comparator")
        for path in self.load_outputs_paths:
            runs.append(make_invocable("RunResults.load_streaming", path, allow_dirs=True) if self.streaming else make_invocable("RunResults.load", path))
        return runs

    def add_to_script_impl(self, script, results_name):
        """Gives the name of the variable that says whether all passed."""
        self._check_average()
        self._check_run()
        script.add_import(["Comparator"], frm="polygraphy.comparator")
        runs, success, found = (inline(safe(name)) for name in ("runs", "success", "accuracy_results"))
        script.append_suffix(safe("\n# Comparison Inputs\n{runs} = {:}", self._runs(script, results_name), runs=runs))
        if self._allow_postprocessing and ComparatorPostprocessArgs in self.arg_groups:
            runs = self.arg_groups[ComparatorPostprocessArgs].add_to_script(script, runs)
        if self.validate and self.streaming:
            script.append_suffix(safe("\n# Output Validation\n{runs} = Comparator.validate({runs}, check_inf=True, check_nan=True)", runs=runs))
        made = make_invocable("Comparator.compare_accuracy", runs, compare_func=self._functions(script), fail_fast=self.fail_fast, check_average=self.check_average)
        if self.save_accuracy_results_path:
            script.append_suffix(safe("\n# Accuracy Comparison\n{found} = {:}", made, found=found))
            script.append_suffix(safe("{found}.save({:})\n{success} = bool({found})", self.save_accuracy_results_path, found=found, success=success))
        else:
            script.append_suffix(safe("\n# Accuracy Comparison\n{success} = bool({:})", made, success=success))
        if self.validate and not self.streaming:
            script.append_suffix(safe("{success} &= all(Comparator.validate({runs}, check_inf=True, check_nan=True))\n", success=success, runs=runs))
        return success

    def build_compare_funcs(self):
        """The comparison functions themselves."""
        return args_util.run_script(lambda script: script.add_var(safe("{:}", self._functions(script)), "compare_funcs", category="Comparison Functions"))
