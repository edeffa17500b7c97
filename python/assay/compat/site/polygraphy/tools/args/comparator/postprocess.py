"""Options of what is done with outputs before they are compared."""

from polygraphy.logger import G_LOGGER
from polygraphy.tools.args import util as args_util
from polygraphy.tools.args.base import BaseArgs
from polygraphy.tools.script import make_invocable, safe


def _top_k(text):
    """`top-5` is 5, `top-5,axis=1` is (5, 1)."""
    count, _, axis = text.removeprefix("top-").partition(",axis=")
    try:
        if not text.startswith("top-"):
            raise ValueError(text)
        return (int(count), int(axis)) if axis else int(count)
    except ValueError:
        G_LOGGER.critical(f"Invalid post-processing function: {text}. Note: Valid choices are: ['top-<K>'].")


class ComparatorPostprocessArgs(BaseArgs):
    """Comparator Postprocessing: what is done with outputs before they are compared"""

    def add_parser_args_impl(self):
        add = self.group.add_argument
        add("--postprocess", "--postprocess-func", nargs="+", default=None, help="[NAME:]top-K[,axis=AXIS]: the places of the K largest numbers")
        add("--postprocess-func-script", default=None, help="A function of a script: PATH[:NAME], postprocess_outputs by default")

    def parse_impl(self, args):
        """Sets `postprocess` (by output: K, or (K, axis)), `postprocess_func_script`, `postprocess_func_name`."""
        self.postprocess_func_script, self.postprocess_func_name = args_util.parse_script_and_func_name(
            args_util.get(args, "postprocess_func_script"), default_func_name="postprocess_outputs")
        given = args_util.parse_arglist_to_dict(args_util.get(args, "postprocess")) or {}
        self.postprocess = {name: _top_k(str(text)) for name, text in given.items()}
        if self.postprocess_func_script is not None and self.postprocess:
            G_LOGGER.warning("Argument: '--postprocess/--postprocess-func' will be ignored since '--postprocess-func-script' was provided.")

    def make_postprocess_func(self, script):
        """The text of the function; None where there is nothing to do."""
        if self.postprocess_func_script is not None:
            script.add_import(["InvokeFromScript"], frm="polygraphy.backend.common")
            return make_invocable("InvokeFromScript", self.postprocess_func_script, name=self.postprocess_func_name)
        if not self.postprocess:
            return None
        script.add_import(["TopKPostprocessFunc"], frm="polygraphy.comparator")
        return make_invocable("TopKPostprocessFunc", self.postprocess)

    def add_to_script_impl(self, script, results_name):
        made = self.make_postprocess_func(script)
        if made is not None:
            script.append_suffix(safe("\n# Postprocessing\n{results} = Comparator.postprocess({results}, {:})", made, results=results_name))
        return results_name
