"""Options of ONNX models."""

from polygraphy import util
from polygraphy.logger import G_LOGGER
from polygraphy.tools.args import util as args_util
from polygraphy.tools.args.base import BaseArgs
from polygraphy.tools.args.model import ModelArgs
from polygraphy.tools.script import make_invocable

_FROM = "polygraphy.backend.onnx"


class OnnxInferShapesArgs(BaseArgs):
    """ONNX Shape Inference: ONNX shape inference"""

    def __init__(self, default: bool = None, allow_force_fallback: bool = None):
        super().__init__()
        self._default = util.default(default, False)

    def add_parser_args_impl(self):
        if self._default:
            self.group.add_argument("--no-shape-inference", dest="do_shape_inference", action="store_false", default=True, help="Leaves shapes as they are")
        else:
            self.group.add_argument("--shape-inference", "--do-shape-inference", dest="do_shape_inference", action="store_true", default=None, help="Infers shapes")

    def parse_impl(self, args):
        """Sets `do_shape_inference`."""
        self.do_shape_inference = args_util.get(args, "do_shape_inference")

    def add_to_script_impl(self, script, loader_name):
        if not self.do_shape_inference:
            return loader_name
        script.add_import(["InferShapes"], frm=_FROM)
        return script.add_loader(make_invocable("InferShapes", loader_name), "infer_shapes")

    def infer_shapes(self, model, force=None):
        """A model with its shapes, where that is asked for."""
        with util.TempAttrChange(self, {"do_shape_inference": True if force else None}):
            loader = args_util.run_script(self.add_to_script, model)
        return util.invoke_if_callable(loader)[0]


class OnnxSaveArgs(BaseArgs):
    """ONNX Model Saving: saving ONNX models"""

    def __init__(self, allow_shape_inference: bool = None, output_opt: str = None, output_short_opt: str = None, output_opt_required: bool = None,
                 output_default_path: str = None, allow_multiple_models: bool = None):
        super().__init__()
        self._option, self._short = util.default(output_opt, "output"), util.default(output_short_opt, "-o")
        self._required, self._default_path = util.default(output_opt_required, False), output_default_path

    def add_parser_args_impl(self):
        if self._option:
            names = [self._short] * bool(self._short) + [f"--{self._option}"]
            self.group.add_argument(*names, dest="save_onnx", required=self._required, default=self._default_path, help="Where the model is written")
        self.group.add_argument("--save-external-data", "--external-data-path", dest="external_data_path", nargs="?", const="", default=None, help="The file for its weights")
        self.group.add_argument("--external-data-size-threshold", default=None, help="From how many bytes on weights go there")
        self.group.add_argument("--no-save-all-tensors-to-one-file", dest="all_tensors_to_one_file", action="store_false", default=None, help="Each weight into a file of its own")

    def parse_impl(self, args):
        """Sets `path`, `external_data_path`, `size_threshold`, `all_tensors_to_one_file`."""
        self.path, self.external_data_path, self.all_tensors_to_one_file = (
            args_util.get(args, n) for n in ("save_onnx", "external_data_path", "all_tensors_to_one_file"))
        self.size_threshold = args_util.parse_num_bytes(args_util.get(args, "external_data_size_threshold"))

    def add_to_script_impl(self, script, loader_name):
        if self.path is None:
            return loader_name
        script.add_import(["SaveOnnx"], frm=_FROM)
        return script.add_loader(make_invocable("SaveOnnx", loader_name, path=self.path, external_data_path=self.external_data_path,
                                                size_threshold=self.size_threshold, all_tensors_to_one_file=self.all_tensors_to_one_file), "save_onnx")

    def save_onnx(self, model, path: str = None):
        """Writes a model, where a path is given, and gives it."""
        with util.TempAttrChange(self, {"path": path}):
            loader = args_util.run_script(self.add_to_script, model)
        return util.invoke_if_callable(loader)[0]


class OnnxLoadArgs(BaseArgs):
    """ONNX Model Loading: loading ONNX models"""

    def __init__(self, allow_saving: bool = None, outputs_opt_prefix: str = None, allow_shape_inference: bool = None, allow_from_tf: bool = None,
                 allow_setting_upper_bounds: bool = None):
        super().__init__()
        self._saves, self._infers = util.default(allow_saving, True), util.default(allow_shape_inference, True)
        self._prefix = util.default(outputs_opt_prefix, "onnx-")
        self._bounds = util.default(allow_setting_upper_bounds, False)

    def add_parser_args_impl(self):
        add, prefix = self.group.add_argument, self._prefix
        add("--external-data-dir", "--load-external-data", default=None, help="The folder of the model's external data")
        add("--ignore-external-data", action="store_true", default=None, help="Loads the model without")
        if prefix is not False:
            add(f"--{prefix}outputs", nargs="+", default=None, dest="onnx_outputs", help="Names or patterns of tensors that become the outputs")
            add(f"--{prefix}outputs-by-type", nargs="+", default=None, dest="onnx_outputs_by_type", help="Operators whose tensors become the outputs")
            add(f"--{prefix}exclude-outputs", nargs="+", default=None, dest="onnx_exclude_outputs", help="Outputs that are none any more")
        add("--fp-to-fp16", action="store_true", default=None, help="float16 in place of float32")
        if self._bounds:
            add("--set-unbounded-dds-upper-bound", nargs="+", default=None, dest="upper_bounds", help="Bounds of variables that shapes depend on: [NAME:]BOUND")

    def parse_impl(self, args):
        """Sets `outputs`, `outputs_by_type`, `exclude_outputs`, `external_data_dir`, `ignore_external_data`, `convert_to_fp16`,
        `upper_bounds`."""
        self.outputs = args_util.get_outputs(args, "onnx_outputs")
        self.outputs_by_type, self.exclude_outputs, self.external_data_dir, self.ignore_external_data, self.convert_to_fp16 = (
            args_util.get(args, n) for n in ("onnx_outputs_by_type", "onnx_exclude_outputs", "external_data_dir", "ignore_external_data", "fp_to_fp16"))
        self.upper_bounds = args_util.parse_arglist_to_dict(args_util.get(args, "upper_bounds"))

    def _edit(self, script, loader):
        def add(kind, loader_id, *args, **kwargs):
            script.add_import([kind], frm=_FROM)
            return script.add_loader(make_invocable(kind, *args, **kwargs), loader_id)

        if self._infers and OnnxInferShapesArgs in self.arg_groups:
            loader = self.arg_groups[OnnxInferShapesArgs].add_to_script(script, loader)
        if self.outputs is not None or self.exclude_outputs is not None or self.outputs_by_type is not None:
            loader = add("ModifyOutputs", "modify_outputs", loader, outputs=args_util.get_outputs_for_script(script, self.outputs),
                         exclude_outputs=self.exclude_outputs, mark_types=self.outputs_by_type)
        if self.convert_to_fp16:
            loader = add("ConvertToFp16", "convert_to_fp16", loader)
        if self.upper_bounds is not None:
            loader = add("SetUpperBound", "set_upper_bound", loader, upper_bounds=self.upper_bounds)
        if self._saves and OnnxSaveArgs in self.arg_groups:
            loader = self.arg_groups[OnnxSaveArgs].add_to_script(script, loader)
        return loader

    def add_to_script_impl(self, script, disable_custom_outputs: bool = None, serialize_model: bool = None):
        model = self.arg_groups[ModelArgs]
        if model.model_type is None or not model.model_type.is_onnx():
            G_LOGGER.critical(f"Model type: {model.model_type} could not be converted to an ONNX model.")
        script.add_import(["OnnxFromPath"], frm=_FROM)
        loader = script.add_loader(make_invocable("OnnxFromPath", model.path, external_data_dir=self.external_data_dir,
                                                  ignore_external_data=self.ignore_external_data), "load_onnx")
        with_outputs = {"outputs": self.outputs, "exclude_outputs": self.exclude_outputs, "outputs_by_type": self.outputs_by_type}
        try:
            if disable_custom_outputs:
                vars(self).update(dict.fromkeys(with_outputs))
            loader = self._edit(script, loader)
        finally:
            vars(self).update(with_outputs)
        if serialize_model:
            script.add_import(["BytesFromOnnx"], frm=_FROM)
            loader = script.add_loader(make_invocable("BytesFromOnnx", loader), "serialize_onnx")
        return loader

    def must_use_onnx_loader(self, disable_custom_outputs: bool = None):
        """Whether the model's path alone is not enough."""
        edits = [self.convert_to_fp16, self.external_data_dir, self.upper_bounds]
        if not disable_custom_outputs:
            edits += [self.outputs, self.exclude_outputs, self.outputs_by_type]
        if OnnxInferShapesArgs in self.arg_groups:
            edits.append(self.arg_groups[OnnxInferShapesArgs].do_shape_inference)
        if OnnxSaveArgs in self.arg_groups:
            edits.append(self.arg_groups[OnnxSaveArgs].path)
        return any(edits)

    def load_onnx(self):
        """The model itself."""
        return args_util.run_script(self.add_to_script)()
