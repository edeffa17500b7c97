"""Options of inputs."""

from polygraphy import util
from polygraphy.common import TensorMetadata
from polygraphy.tools.args import util as args_util
from polygraphy.tools.args.base import BaseArgs
from polygraphy.tools.args.model import ModelArgs
from polygraphy.tools.script import inline, make_invocable, make_invocable_if_nondefault, safe


class DataLoaderArgs(BaseArgs):
    """Data Loader: loading input data for inference"""

    def __init__(self, allow_custom_input_shapes: bool = None):
        super().__init__()
        self._allow_shapes = util.default(allow_custom_input_shapes, True)

    def add_parser_args_impl(self):
        add = self.group.add_argument
        add("--seed", type=int, default=None, help="Seed of random inputs")
        add("--val-range", nargs="+", default=None, help="Range of random inputs: [NAME:][LEAST,GREATEST]")
        add("--iterations", "--iters", type=int, default=None, help="How many iterations of random inputs there are")
        add("--data-loader-backend-module", choices=["numpy", "torch"], default=None, help="Whose arrays are made")
        add("--load-inputs", "--load-input-data", nargs="+", default=[], dest="load_inputs_paths", help="Files or folders of inputs")
        add("--data-loader-script", default=None, help="A script with inputs: PATH[:NAME], load_data by default")

    def parse_impl(self, args):
        """Sets `seed`, `val_range`, `iterations`, `load_inputs_paths`, `data_loader_backend_module`, `data_loader_script`,
        `data_loader_func_name`."""
        for name in ("seed", "iterations", "load_inputs_paths", "data_loader_backend_module"):
            setattr(self, name, args_util.get(args, name))
        ranges = args_util.parse_arglist_to_dict(args_util.get(args, "val_range"))
        self.val_range = None if ranges is None else {name: tuple(r) for name, r in ranges.items()}
        self.data_loader_script, self.data_loader_func_name = args_util.parse_script_and_func_name(
            args_util.get(args, "data_loader_script"), default_func_name="load_data")

    def is_using_random_data(self):
        """Whether no inputs are given."""
        return not self.load_inputs_paths and self.data_loader_script is None

    def _text(self, script, metadata):
        if self.data_loader_script:
            script.add_import(["InvokeFromScript"], frm="polygraphy.backend.common")
            made = make_invocable("InvokeFromScript", self.data_loader_script, name=self.data_loader_func_name)
            return safe(f"{made}()".replace("{", "{{").replace("}", "}}"))
        if self.load_inputs_paths:
            script.add_import(["StreamingDataLoader"], frm="polygraphy.comparator")
            return make_invocable("StreamingDataLoader", self.load_inputs_paths)
        shapes = self.arg_groups[ModelArgs].input_shapes if self._allow_shapes and ModelArgs in self.arg_groups else TensorMetadata()
        if metadata is None and len(shapes):
            script.add_import(["TensorMetadata"], frm="polygraphy.common")
            metadata = inline(safe(repr(shapes).replace("{", "{{").replace("}", "}}")))
        made = make_invocable_if_nondefault("DataLoader", seed=self.seed, iterations=self.iterations, input_metadata=metadata, val_range=self.val_range,
                                            data_loader_backend_module=self.data_loader_backend_module)
        if made:
            script.add_import(["DataLoader"], frm="polygraphy.comparator")
        return made

    def add_to_script_impl(self, script, user_input_metadata_str=None):
        return script.set_data_loader(self._text(script, user_input_metadata_str))

    def get_data_loader(self, user_input_metadata=None):
        """The data loader itself."""
        from polygraphy.comparator import DataLoader

        needs = [False]

        def add(script, metadata):
            made = self.add_to_script(script, metadata)
            needs[0] = made is None
            return made

        made = args_util.run_script(add, user_input_metadata)
        return DataLoader() if needs[0] else made
