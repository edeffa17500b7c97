"""Options of the model."""

import os

from polygraphy import util
from polygraphy.common import TensorMetadata
from polygraphy.logger import G_LOGGER
from polygraphy.tools.args import util as args_util
from polygraphy.tools.args.base import BaseArgs


class ModelArgs(BaseArgs):
    """Model: the model"""

    EXT_MODEL_TYPE_MAPPING = {".hdf5": "keras", ".onnx": "onnx", ".engine": "engine", ".plan": "engine", ".graphdef": "frozen", ".py": "trt-network-script"}

    class ModelType(str):
        """What a model is."""

        TF_TYPES, ONNX_TYPES, TRT_TYPES = ["frozen", "keras", "ckpt"], ["onnx"], ["engine", "trt-network-script"]
        VALID_TYPES = TF_TYPES + ONNX_TYPES + TRT_TYPES

        def is_tf(self):
            return self in self.TF_TYPES

        def is_onnx(self):
            return self in self.ONNX_TYPES

        def is_trt(self):
            return self in self.TRT_TYPES

    def __init__(self, model_opt_required: bool = None, required_model_type: str = None, input_shapes_opt_name: str = None,
                 input_shapes_opt_doc: str = None, guess_model_type_from_runners: bool = None):
        super().__init__()
        self._required, self._only = util.default(model_opt_required, False), required_model_type
        self._shapes_name = util.default(input_shapes_opt_name, "inputs")
        self._shapes_help = util.default(input_shapes_opt_doc, "Shapes of the model's inputs")

    def add_parser_args_impl(self):
        self.group.add_argument("model_file", nargs=None if self._required else "?", help="Path to the model")
        if self._only is None:
            self.group.add_argument("--model-type", choices=self.ModelType.VALID_TYPES, default=None, help="What the model is")
        if self._shapes_name:
            name = f"--{self._shapes_name.rstrip('s')}-shapes"
            self.group.add_argument(name, f"--{self._shapes_name}", nargs="+", default=None, dest="input_shapes", help=f"{self._shapes_help}: {name} NAME:[EXTENTS]...")

    def parse_impl(self, args):
        """Sets `path`, `model_type`, `input_shapes`, `extra_model_info` (a name behind the path)."""
        shapes = args_util.get(args, "input_shapes")
        self.input_shapes = args_util.parse_meta(shapes, includes_dtype=False) if shapes else TensorMetadata()
        path, self.extra_model_info = args_util.parse_script_and_func_name(args_util.get(args, "model_file"))
        self.path = args_util.parse_path(path, "Model")
        kind = self._only or args_util.get(args, "model_type")
        if kind is None and self.path is not None:
            kind = "ckpt" if os.path.isdir(self.path) else self.EXT_MODEL_TYPE_MAPPING.get(os.path.splitext(self.path)[1])
            if kind is None:
                G_LOGGER.critical(f"Could not automatically determine model type for: {self.path}\nPlease explicitly specify the type with the --model-type option")
        self.model_type = None if kind is None else self.ModelType(kind)
        if kind == "trt-network-script":
            self.extra_model_info = util.default(self.extra_model_info, "load_network")
