"""Options of TensorRT."""

import os

from polygraphy import util
from polygraphy.logger import G_LOGGER
from polygraphy.tools.args import util as args_util
from polygraphy.tools.args.backend.onnx import OnnxLoadArgs
from polygraphy.tools.args.base import BaseArgs, BaseRunnerArgs
from polygraphy.tools.args.comparator.data_loader import DataLoaderArgs
from polygraphy.tools.args.model import ModelArgs
from polygraphy.tools.script import inline, inline_identifier, make_invocable, make_invocable_if_nondefault_kwargs, safe

_FROM = "polygraphy.backend.trt"
_SWITCHES = ("tf32", "fp16", "bf16", "fp8", "int8", "sparse_weights", "version_compatible", "exclude_lean_runtime", "refittable", "strip_plan", "use_dla",
             "allow_gpu_fallback", "direct_io", "weight_streaming", "error_on_timing_cache_miss", "disable_compilation_cache")
_ENUMS = {"profiling_verbosity": "ProfilingVerbosity", "hardware_compatibility_level": "HardwareCompatibilityLevel", "runtime_platform": "RuntimePlatform",
          "tiling_optimization_level": "TilingOptimizationLevel", "engine_capability": "EngineCapability"}
_LISTS = {"tactic_sources": "TacticSource", "preview_features": "PreviewFeature", "quantization_flags": "QuantizationFlag"}
_NUMBERS = ("builder_optimization_level", "max_aux_streams")


def _enum(script, kind, name):
    """A value of an enumeration of TensorRT, as a program has it."""
    script.add_import(["lazy_import_trt"], frm="polygraphy.mod.trt_importer")
    return inline(safe(f"lazy_import_trt().{inline_identifier(kind)}.{inline_identifier(name.upper())}"))


class TrtConfigArgs(BaseArgs):
    """TensorRT Builder Configuration: creating the TensorRT BuilderConfig"""

    def __init__(self, precision_constraints_default: bool = None, allow_random_data_calib_warning: bool = None, allow_custom_input_shapes: bool = None,
                 allow_engine_capability: bool = None, allow_tensor_formats: bool = None, allow_compute_capabilities: bool = None):
        super().__init__()
        self._constraints = util.default(precision_constraints_default, "none")

    def add_parser_args_impl(self):
        add = self.group.add_argument
        for which in ("min", "opt", "max"):
            add(f"--trt-{which}-shapes", action="append", nargs="+", default=[], help=f"The {which} shapes of a profile; once for each profile")
        for name in _SWITCHES:
            add(f"--{name.replace('_', '-')}", action="store_true", default=None, help=f"Sets {name} of the configuration")
        for name in (*_ENUMS, *_LISTS):
            add(f"--{name.replace('_', '-')}", nargs="*" if name in _LISTS else None, default=None, help=f"Sets {name} of the configuration")
        for name in _NUMBERS:
            add(f"--{name.replace('_', '-')}", type=int, default=None, help=f"Sets {name} of the configuration")
        add("--precision-constraints", choices=["prefer", "obey", "none"], default=self._constraints, help="Whether layers compute in what they ask for")
        add("--calibration-cache", default=None, help="The file of a calibration")
        add("--load-timing-cache", default=None, help="The file of a timing cache")
        add("--pool-limit", "--memory-pool-limit", nargs="+", dest="memory_pool_limit", default=None, help="Bytes of memory pools: NAME:BYTES")
        add("--trt-config-script", default=None, help="A script with a configuration: PATH[:NAME], load_config by default")

    def parse_impl(self, args):
        """Sets an attribute for each option, and `profile_dicts`: shapes of profiles by input."""
        for name in (*_SWITCHES, *_ENUMS, *_LISTS, *_NUMBERS, "calibration_cache", "load_timing_cache"):
            setattr(self, name, args_util.get(args, name))
        constraints = args_util.get(args, "precision_constraints")
        self.precision_constraints = None if constraints == "none" else constraints
        self.memory_pool_limits = args_util.parse_arglist_to_dict(args_util.get(args, "memory_pool_limit"), cast_to=args_util.parse_num_bytes, allow_empty_key=False)
        self.trt_config_script, self.trt_config_func_name = args_util.parse_script_and_func_name(args_util.get(args, "trt_config_script"), "load_config")
        given = [args_util.get(args, f"trt_{which}_shapes", []) for which in ("min", "opt", "max")]
        defaults = self.arg_groups[ModelArgs].input_shapes if ModelArgs in self.arg_groups else {}
        self.profile_dicts = []
        for index in range(max(map(len, given))):
            by_bound = [args_util.parse_meta(g[index], includes_dtype=False) if index < len(g) else {} for g in given]
            names = util.unique_list(n for shapes in by_bound for n in shapes)
            self.profile_dicts.append({n: self._bounds(n, by_bound, defaults) for n in names})
        if not self.profile_dicts and len(defaults):
            self.profile_dicts = [{n: (tuple(m.shape),) * 3 for n, m in defaults.items()}]

    @staticmethod
    def _bounds(name, by_bound, defaults):
        shapes = [tuple(s[name].shape) if name in s else None for s in by_bound]
        fallback = tuple(defaults[name].shape) if name in defaults else next((s for s in (shapes[1], shapes[2], shapes[0]) if s is not None), None)
        return tuple(fallback if s is None else s for s in shapes)

    def _profiles(self, script):
        if not self.profile_dicts:
            return None
        script.add_import(["Profile"], frm=_FROM)
        texts = ["Profile()" + "".join(f".add({name!r}, min={least!r}, opt={best!r}, max={most!r})" for name, (least, best, most) in shapes.items())
                 for shapes in self.profile_dicts]
        text = f"[{', '.join(texts)}]".replace("{", "{{").replace("}", "}}")
        return script.add_loader(inline(safe(text)), "profiles")

    def _calibrator(self, script):
        if not self.int8 or DataLoaderArgs not in self.arg_groups:
            return None
        script.add_import(["Calibrator"], frm=_FROM)
        script.add_import(["DataLoader"], frm="polygraphy.comparator")
        data = self.arg_groups[DataLoaderArgs].add_to_script(script) or inline(safe("DataLoader()"))
        return make_invocable("Calibrator", data_loader=data, cache=self.calibration_cache)

    def add_to_script_impl(self, script, custom_loader_name=None):
        if self.trt_config_script is not None:
            script.add_import(["InvokeFromScript"], frm="polygraphy.backend.common")
            return script.add_loader(make_invocable("InvokeFromScript", self.trt_config_script, name=self.trt_config_func_name), "create_trt_config")
        options = {name: getattr(self, name) for name in (*_SWITCHES, *_NUMBERS, "precision_constraints", "load_timing_cache")}
        options.update({n: _enum(script, kind, getattr(self, n)) for n, kind in _ENUMS.items() if getattr(self, n) is not None})
        options.update({n: [_enum(script, kind, v) for v in getattr(self, n)] for n, kind in _LISTS.items() if getattr(self, n) is not None})
        if self.memory_pool_limits is not None:
            options["memory_pool_limits"] = {_enum(script, "MemoryPoolType", n): size for n, size in self.memory_pool_limits.items()}
        made = make_invocable_if_nondefault_kwargs("CreateConfig", **options, profiles=self._profiles(script), calibrator=self._calibrator(script))
        if made is None:
            return None
        script.add_import(["CreateConfig"], frm=_FROM)
        return script.add_loader(made, "create_trt_config")

    def create_config(self, builder, network):
        """The configuration itself."""
        from polygraphy.backend.trt import CreateConfig

        loader = args_util.run_script(self.add_to_script) or CreateConfig()
        return loader(builder, network)


class TrtLoadPluginsArgs(BaseArgs):
    """TensorRT Plugin Loading: loading TensorRT plugins"""

    def add_parser_args_impl(self):
        self.group.add_argument("--plugins", nargs="+", default=None, help="Libraries of plugins")

    def parse_impl(self, args):
        """Sets `plugins`."""
        self.plugins = args_util.get(args, "plugins")

    def add_to_script_impl(self, script, loader_name: str):
        if not self.plugins:
            return loader_name
        script.add_import(["LoadPlugins"], frm=_FROM)
        return script.add_loader(make_invocable("LoadPlugins", plugins=self.plugins, obj=loader_name), "load_plugins")


class TrtOnnxFlagArgs(BaseArgs):
    """ONNX-TRT Parser Flags: setting flags for TensorRT's ONNX parser"""

    def add_parser_args_impl(self):
        self.group.add_argument("--onnx-flags", nargs="+", default=[], help="Names of trt.OnnxParserFlag")
        self.group.add_argument("--plugin-instancenorm", action="store_true", default=None, help="InstanceNormalization is a plugin's matter")

    def parse_impl(self, args):
        """Sets `_flags`, `_plugin_instancenorm`; get_flags() gives them."""
        self._flags, self._plugin_instancenorm = args_util.get(args, "onnx_flags", []), args_util.get(args, "plugin_instancenorm")

    def get_flags(self, script=None):
        """(flags as a program has them, or None; whether InstanceNormalization is a plugin's matter)."""
        flags = [_enum(script, "OnnxParserFlag", f) if script is not None else f for f in self._flags]
        return flags or None, self._plugin_instancenorm


class TrtLoadNetworkArgs(BaseArgs):
    """TensorRT Network Loading: loading TensorRT networks"""

    def __init__(self, allow_custom_outputs: bool = None, allow_onnx_loading: bool = None, allow_tensor_formats: bool = None):
        super().__init__()
        self._outputs_allowed, self._onnx_allowed = util.default(allow_custom_outputs, True), util.default(allow_onnx_loading, True)

    def add_parser_args_impl(self):
        add = self.group.add_argument
        if self._outputs_allowed:
            add("--trt-outputs", nargs="+", default=None, help="Names or patterns of tensors that become the outputs")
            add("--trt-exclude-outputs", nargs="+", default=None, help="Outputs that are none any more")
            add("--trt-outputs-by-type", nargs="+", default=None, help="Layer types whose tensors become the outputs")
        add("--layer-precisions", nargs="+", default=None, help="What layers compute in: NAME:TYPE")
        add("--tensor-datatypes", "--tensor-dtypes", nargs="+", dest="tensor_datatypes", default=None, help="Types of inputs and outputs: NAME:TYPE")
        add("--strongly-typed", action="store_true", default=None, help="The network is strongly typed")
        add("--mark-debug", nargs="+", default=None, help="Names of debug tensors")

    def parse_impl(self, args):
        """Sets `outputs`, `exclude_outputs`, `outputs_by_type`, `layer_precisions`, `tensor_datatypes`, `strongly_typed`, `mark_debug`."""
        self.outputs = args_util.get_outputs(args, "trt_outputs")
        self.exclude_outputs, self.outputs_by_type = args_util.get(args, "trt_exclude_outputs"), args_util.get(args, "trt_outputs_by_type")
        self.layer_precisions, self.tensor_datatypes = (args_util.parse_arglist_to_dict(args_util.get(args, n), cast_to=str, allow_empty_key=False)
                                                        for n in ("layer_precisions", "tensor_datatypes"))
        self.strongly_typed, self.mark_debug = args_util.get(args, "strongly_typed"), args_util.get(args, "mark_debug")

    def _parse_model(self, script):
        model = self.arg_groups[ModelArgs]
        if model.model_type == "trt-network-script":
            script.add_import(["InvokeFromScript"], frm="polygraphy.backend.common")
            return script.add_loader(make_invocable("InvokeFromScript", model.path, name=model.extra_model_info), "load_network")
        load = self.arg_groups[OnnxLoadArgs] if self._onnx_allowed and OnnxLoadArgs in self.arg_groups else None
        flags, instancenorm = self.arg_groups[TrtOnnxFlagArgs].get_flags(script) if TrtOnnxFlagArgs in self.arg_groups else (None, None)
        by_bytes = load is not None and load.must_use_onnx_loader(disable_custom_outputs=True)
        kind = "NetworkFromOnnxBytes" if by_bytes else "NetworkFromOnnxPath"
        source = load.add_to_script(script, disable_custom_outputs=True, serialize_model=True) if by_bytes else model.path
        script.add_import([kind], frm=_FROM)
        return script.add_loader(make_invocable(kind, source, flags=flags, plugin_instancenorm=instancenorm, strongly_typed=self.strongly_typed), "parse_network_from_onnx")

    def add_to_script_impl(self, script):
        loader = self._parse_model(script)
        if TrtLoadPluginsArgs in self.arg_groups:
            loader = self.arg_groups[TrtLoadPluginsArgs].add_to_script(script, loader)

        def add(kind, loader_id, **kwargs):
            script.add_import([kind], frm=_FROM)
            return script.add_loader(make_invocable(kind, loader, **kwargs), loader_id)

        def types(by_name):
            script.add_import(["lazy_import_trt"], frm="polygraphy.mod.trt_importer")
            return {n: inline(safe(f"lazy_import_trt().{inline_identifier(t)}")) for n, t in by_name.items()}

        if any(x is not None for x in (self.outputs, self.exclude_outputs, self.outputs_by_type)):
            loader = add("ModifyNetworkOutputs", "set_network_outputs", outputs=args_util.get_outputs_for_script(script, self.outputs),
                         exclude_outputs=self.exclude_outputs, mark_layer_types=self.outputs_by_type)
        if self.layer_precisions:
            loader = add("SetLayerPrecisions", "set_layer_precisions", layer_precisions=types(self.layer_precisions))
        if self.tensor_datatypes:
            loader = add("SetTensorDatatypes", "set_tensor_datatypes", tensor_datatypes=types(self.tensor_datatypes))
        if self.mark_debug:
            loader = add("MarkDebug", "mark_debug", mark_debug=self.mark_debug)
        return loader

    def load_network(self):
        """The network itself."""
        return args_util.run_script(self.add_to_script)()


class TrtLoadEngineBytesArgs(BaseArgs):
    """TensorRT Engine: loading or building TensorRT engines"""

    def __init__(self, allow_saving: bool = None):
        super().__init__()

    def add_parser_args_impl(self):
        self.group.add_argument("--save-timing-cache", default=None, help="The file that a timing cache is written to")

    def parse_impl(self, args):
        """Sets `save_timing_cache`."""
        self.save_timing_cache = args_util.get(args, "save_timing_cache")

    def add_to_script_impl(self, script, network_name=None):
        model = self.arg_groups[ModelArgs]
        if network_name is None and model.model_type == "engine":
            script.add_import(["BytesFromPath"], frm="polygraphy.backend.common")
            return script.add_loader(make_invocable("BytesFromPath", model.path), "load_engine_bytes")
        network = network_name or self.arg_groups[TrtLoadNetworkArgs].add_to_script(script)
        config = self.arg_groups[TrtConfigArgs].add_to_script(script) if TrtConfigArgs in self.arg_groups else None
        script.add_import(["EngineBytesFromNetwork"], frm=_FROM)
        return script.add_loader(make_invocable("EngineBytesFromNetwork", network, config=config, save_timing_cache=self.save_timing_cache), "build_engine")

    def load_engine_bytes(self, network=None):
        """The plan itself."""
        return args_util.run_script(self.add_to_script, network)()


class TrtLoadEngineArgs(BaseArgs):
    """TensorRT Engine: loading TensorRT engines"""

    @property
    def save_timing_cache(self):
        return self.arg_groups[TrtLoadEngineBytesArgs].save_timing_cache

    def add_parser_args_impl(self):
        self.group.add_argument("--load-runtime", default=None, help="The library of a runtime")

    def parse_impl(self, args):
        """Sets `load_runtime`."""
        self.load_runtime = args_util.parse_path(args_util.get(args, "load_runtime"), "Runtime")

    def add_to_script_impl(self, script, network_name=None):
        plan = self.arg_groups[TrtLoadEngineBytesArgs].add_to_script(script, network_name)
        runtime = None
        if self.load_runtime is not None:
            script.add_import(["LoadRuntime"], frm=_FROM)
            runtime = script.add_loader(make_invocable("LoadRuntime", os.path.abspath(self.load_runtime)), "load_runtime")
        script.add_import(["EngineFromBytes"], frm=_FROM)
        return script.add_loader(make_invocable("EngineFromBytes", plan, runtime=runtime), "deserialize_engine")

    def load_engine(self, network=None):
        """The engine itself."""
        return args_util.run_script(self.add_to_script, network)()


class TrtRunnerArgs(BaseRunnerArgs):
    """TensorRT Inference: running inference with TensorRT"""

    def get_name_opt_impl(self):
        return "TensorRT", "trt"

    def add_parser_args_impl(self):
        self.group.add_argument("--optimization-profile", type=int, default=None, help="The profile that is used")
        self.group.add_argument("--allocation-strategy", choices=["static", "profile", "runtime"], default=None, help="How much memory a context has")
        self.group.add_argument("--weight-streaming-budget", default=None, help="Memory for weights: bytes, or a percentage")

    def parse_impl(self, args):
        """Sets `optimization_profile`, `allocation_strategy`, `weight_streaming_budget`, `weight_streaming_percent`."""
        self.optimization_profile, self.allocation_strategy = args_util.get(args, "optimization_profile"), args_util.get(args, "allocation_strategy")
        self.weight_streaming_budget = self.weight_streaming_percent = None
        given = args_util.get(args, "weight_streaming_budget")
        if given is not None and given.endswith("%"):
            self.weight_streaming_percent = float(given[:-1])
            if not 0 <= self.weight_streaming_percent <= 100:
                G_LOGGER.critical(f"Invalid percentage for --weight-streaming-budget: {given}")
        elif given is not None:
            self.weight_streaming_budget = args_util.parse_num_bytes(given)

    def add_to_script_impl(self, script):
        engine = self.arg_groups[TrtLoadEngineArgs].add_to_script(script)
        script.add_import(["TrtRunner"], frm=_FROM)
        script.add_runner(make_invocable("TrtRunner", engine, optimization_profile=self.optimization_profile, allocation_strategy=self.allocation_strategy,
                                         weight_streaming_budget=self.weight_streaming_budget, weight_streaming_percent=self.weight_streaming_percent))
