"""Neural networks in ONNX on the CPU: build, run, compare, and find out who is wrong.

    import assay

    model = assay.load("model.onnx")
    engine = assay.build(model)
    outputs = engine(x=array)
    print(assay.verdict(model, ["engine", "onnxrt"]))

Nothing is printed: what the library has to say goes to ``logging.getLogger("assay")``. Errors are ``assay.Error``.
Arrays are NumPy's where it is installed; it is imported when the first array is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._errors import (
    Cancelled,
    Error,
    FileError,
    InternalError,
    InvalidArgument,
    InvalidModel,
    NotFound,
    ResourceError,
    Unsupported,
)

if TYPE_CHECKING:
    from ._compare import BackendInfo as BackendInfo
    from ._compare import Comparison as Comparison
    from ._compare import Function as Function
    from ._compare import Iteration as Iteration
    from ._compare import OutputAccuracy as OutputAccuracy
    from ._compare import OutputVerdict as OutputVerdict
    from ._compare import Pair as Pair
    from ._compare import Results as Results
    from ._compare import Runner as Runner
    from ._compare import RunSummary as RunSummary
    from ._compare import Session as Session
    from ._compare import Verdict as Verdict
    from ._compare import backends as backends
    from ._compare import compare as compare
    from ._compare import functions as functions
    from ._compare import infer as infer
    from ._compare import judge as judge
    from ._compare import random_inputs as random_inputs
    from ._compare import run as run
    from ._compare import verdict as verdict
    from . import debug as debug
    from ._engine import Calibrator as Calibrator
    from ._engine import Context as Context
    from ._engine import Engine as Engine
    from ._engine import LayerTimes as LayerTimes
    from ._engine import Runtime as Runtime
    from ._engine import Stream as Stream
    from ._engine import TimingCache as TimingCache
    from ._engine import build as build
    from ._engine import zeros as zeros
    from ._generate import Agreement as Agreement
    from ._generate import Generated as Generated
    from ._generate import GeneratedBy as GeneratedBy
    from ._generate import GeneratedSequence as GeneratedSequence
    from ._generate import Parting as Parting
    from ._generate import PartingSide as PartingSide
    from ._generate import generate as generate
    from ._evaluate import Evaluation as Evaluation
    from ._evaluate import Metric as Metric
    from ._evaluate import eval as eval
    from ._evaluate import merge as merge
    from ._library import logger as logger
    from ._model import Diff as Diff
    from ._model import Difference as Difference
    from ._model import Finding as Finding
    from ._model import Findings as Findings
    from ._model import Initializers as Initializers
    from ._model import Model as Model
    from ._model import Refused as Refused
    from ._model import SimplifyReport as SimplifyReport
    from ._model import check as check
    from ._model import diff as diff
    from ._model import evaluate as evaluate
    from ._model import load as load
    from ._model import save as save
    from ._quantize import LayerCost as LayerCost
    from ._quantize import NarrowWeights as NarrowWeights
    from ._quantize import QuantizationCost as QuantizationCost
    from ._quantize import Quantized as Quantized
    from ._quantize import quantize as quantize
    from ._quantize import quantize_weights as quantize_weights
    from ._values import TensorInfo as TensorInfo

_HOMES = {
    "_compare": (
        "BackendInfo Comparison Function Iteration OutputAccuracy OutputVerdict Pair Results Runner RunSummary Session "
        "Verdict backends compare functions infer judge random_inputs run verdict"
    ),
    "_engine": "Calibrator Context Engine LayerTimes Runtime Stream TimingCache build zeros",
    "_generate": "Agreement Generated GeneratedBy GeneratedSequence Parting PartingSide generate",
    "_evaluate": "Evaluation Metric eval merge",
    "_library": "logger",
    "_model": (
        "Diff Difference Finding Findings Initializers Model Refused SimplifyReport check diff evaluate load save"
    ),
    "_quantize": "LayerCost NarrowWeights QuantizationCost Quantized quantize quantize_weights",
    "_values": "TensorInfo",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Cancelled",
    "Error",
    "FileError",
    "InternalError",
    "InvalidArgument",
    "InvalidModel",
    "NotFound",
    "ResourceError",
    "Unsupported",
    *_HOME_OF,
    "debug",
]


def __getattr__(name: str) -> object:
    """Modules are imported when something of them is asked for."""
    from importlib import import_module

    if name == "__version__":
        value: object = import_module("._library", __name__).native.__version__
    elif name == "debug":
        value = import_module(".debug", __name__)
    elif name in _HOME_OF:
        value = getattr(import_module("." + _HOME_OF[name], __name__), name)
    else:
        raise AttributeError(f"module 'assay' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
