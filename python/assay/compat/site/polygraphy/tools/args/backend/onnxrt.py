"""Options of ONNX Runtime."""

from polygraphy.tools.args import util as args_util
from polygraphy.tools.args.backend.onnx import OnnxLoadArgs
from polygraphy.tools.args.base import BaseArgs, BaseRunnerArgs
from polygraphy.tools.args.model import ModelArgs
from polygraphy.tools.script import inline_identifier, make_invocable


class OnnxrtSessionArgs(BaseArgs):
    """ONNX-Runtime Session Creation: creating an ONNX-Runtime Inference Session"""

    def add_parser_args_impl(self):
        self.group.add_argument("--providers", "--execution-providers", nargs="+", default=None, help="Execution providers, or parts of their names")
        self.group.add_argument("--graph-optimization-level", default=None, help="A name of onnxruntime.GraphOptimizationLevel")

    def parse_impl(self, args):
        """Sets `providers`, `graph_optimization_level`."""
        self.providers, self.graph_optimization_level = args_util.get(args, "providers"), args_util.get(args, "graph_optimization_level")

    def add_to_script_impl(self, script, onnx_name=None):
        if onnx_name is None:
            load = self.arg_groups[OnnxLoadArgs]
            onnx_name = load.add_to_script(script, serialize_model=True) if load.must_use_onnx_loader() else self.arg_groups[ModelArgs].path
        level = None
        if self.graph_optimization_level is not None:
            script.add_import("onnxruntime", imp_as="onnxrt")
            from polygraphy.tools.script import inline, safe

            level = inline(safe(f"onnxrt.GraphOptimizationLevel.{inline_identifier(self.graph_optimization_level)}"))
        script.add_import(["SessionFromOnnx"], frm="polygraphy.backend.onnxrt")
        return script.add_loader(make_invocable("SessionFromOnnx", onnx_name, providers=self.providers, graph_optimization_level=level), "build_onnxrt_session")

    def load_onnxrt_session(self, model=None):
        """The session itself."""
        return args_util.run_script(self.add_to_script, model)()


class OnnxrtRunnerArgs(BaseRunnerArgs):
    """ONNX-Runtime Inference: running inference with ONNX-Runtime"""

    def get_name_opt_impl(self):
        return "ONNX-Runtime", "onnxrt"

    def add_to_script_impl(self, script):
        script.add_import(["OnnxrtRunner"], frm="polygraphy.backend.onnxrt")
        script.add_runner(make_invocable("OnnxrtRunner", self.arg_groups[OnnxrtSessionArgs].add_to_script(script)))
