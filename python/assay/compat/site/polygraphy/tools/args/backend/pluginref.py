"""Options of references of single operators."""

from polygraphy.tools.args.backend.onnx import OnnxLoadArgs
from polygraphy.tools.args.base import BaseRunnerArgs
from polygraphy.tools.script import make_invocable


class PluginRefRunnerArgs(BaseRunnerArgs):
    """Plugin Reference Runner: running references of single operators"""

    def get_name_opt_impl(self):
        return "CPU plugin references", "pluginref"

    def add_to_script_impl(self, script):
        script.add_import(["GsFromOnnx"], frm="polygraphy.backend.onnx")
        script.add_import(["PluginRefRunner"], frm="polygraphy.backend.pluginref")
        graph = script.add_loader(make_invocable("GsFromOnnx", self.arg_groups[OnnxLoadArgs].add_to_script(script)), "pluginref_graph")
        script.add_runner(make_invocable("PluginRefRunner", graph))
