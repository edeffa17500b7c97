"""Argument groups, as packages that extend `run` use them."""

from polygraphy.tools.args.base import BaseArgs, BaseRunnerArgs  # noqa: F401
from polygraphy.tools.args.backend.runner_select import RunnerSelectArgs  # noqa: F401
from polygraphy.tools.args.comparator.comparator import ComparatorCompareArgs, ComparatorRunArgs  # noqa: F401
from polygraphy.tools.args.comparator.compare import (  # noqa: F401
    CompareFuncCosineSimilarityArgs, CompareFuncIndicesArgs, CompareFuncL2Args, CompareFuncPerceptualMetricsArgs, CompareFuncPsnrArgs, CompareFuncSimpleArgs,
    CompareFuncSnrArgs)
from polygraphy.tools.args.comparator.data_loader import DataLoaderArgs  # noqa: F401
from polygraphy.tools.args.comparator.postprocess import ComparatorPostprocessArgs  # noqa: F401
from polygraphy.tools.args.backend.onnx import OnnxInferShapesArgs, OnnxLoadArgs, OnnxSaveArgs  # noqa: F401
from polygraphy.tools.args.backend.onnxrt import OnnxrtRunnerArgs, OnnxrtSessionArgs  # noqa: F401
from polygraphy.tools.args.backend.pluginref import PluginRefRunnerArgs  # noqa: F401
from polygraphy.tools.args.backend.trt import (  # noqa: F401
    TrtConfigArgs, TrtLoadEngineArgs, TrtLoadEngineBytesArgs, TrtLoadNetworkArgs, TrtLoadPluginsArgs, TrtOnnxFlagArgs, TrtRunnerArgs)
from polygraphy.tools.args.logger import LoggerArgs  # noqa: F401
from polygraphy.tools.args.model import ModelArgs  # noqa: F401


def __getattr__(name):
    if name.endswith("Args"):
        raise AttributeError(f"polygraphy.tools.args has no {name} here: files and TensorFlow are matters of the program `assay`, "
                             "whose groups are no classes of Python")
    raise AttributeError(f"module 'polygraphy.tools.args' has no attribute '{name}'")
