"""TensorFlow 1. Loaders can be made, so that what names them can be imported; called they say what to do instead."""

from polygraphy import mod, util
from polygraphy.backend.base import BaseLoader, BaseRunner
from polygraphy.logger import G_LOGGER

_SENTENCE = ("{} needs TensorFlow 1 (before 2.0), for which there are no Python packages any more. Convert the model with tf2onnx and load it as ONNX.")


class _OfTensorFlow1(BaseLoader):
    def call_impl(self, *args, **kwargs):
        G_LOGGER.critical(_SENTENCE.format(type(self).__name__))


@mod.export(funcify=True)
class OptimizeGraph(_OfTensorFlow1):
    """A frozen and folded graph."""

    def __init__(self, graph):
        self._graph = graph

    def constfold(self, graphdef, output_names):
        G_LOGGER.critical(_SENTENCE.format("OptimizeGraph"))

    def call_impl(self):
        return super().call_impl()


def _loader(name, about, parameters):
    """A loader's class with these parameters, each with a default of None where it ends with '='."""
    import inspect

    signature = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for p in parameters.split():
        default = None if p.endswith("=") else inspect.Parameter.empty
        signature.append(inspect.Parameter(p.rstrip("="), inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    signature = inspect.Signature(signature)

    def __init__(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        vars(self).update({f"_{n}": v for n, v in list(bound.arguments.items())[1:]})

    def call_impl(self):
        return _OfTensorFlow1.call_impl(self)

    __init__.__signature__ = signature
    return mod.export(funcify=True)(type(name, (_OfTensorFlow1,), {"__doc__": about, "__init__": __init__, "call_impl": call_impl, "__module__": __name__}))


GraphFromKeras = _loader("GraphFromKeras", "A graph of a Keras model.", "path")
GraphFromFrozen = _loader("GraphFromFrozen", "A frozen graph.", "path")
GraphFromCkpt = _loader("GraphFromCkpt", "A graph of a checkpoint.", "dir name=")
UseTfTrt = _loader("UseTfTrt", "A graph with parts in TensorRT.", "graph max_workspace_size= fp16= int8= max_batch_size= is_dynamic_op= minimum_segment_size=")
ModifyGraphOutputs = _loader("ModifyGraphOutputs", "A graph with other outputs.", "graph outputs=")
SaveGraph = _loader("SaveGraph", "A graph, written to files.", "graph path= tensorboard_dir= engine_dir=")
CreateConfig = _loader("CreateConfig", "A configuration of sessions.", "gpu_memory_fraction= allow_growth= use_xla=")
SessionFromGraph = _loader("SessionFromGraph", "A session of a graph.", "graph config=")


@mod.export()
class TfRunner(BaseRunner):
    """Runs a session."""

    def __init__(self, sess, timeline_dir=None, name=None):
        super().__init__(name=name, prefix="tf-runner")
        self._sess, self.timeline_dir = sess, timeline_dir

    @util.check_called_by("activate")
    def activate_impl(self):
        G_LOGGER.critical(_SENTENCE.format("TfRunner"))


def register_logger_callback():
    """TensorFlow's messages would follow G_LOGGER's severity; without it there are none."""
