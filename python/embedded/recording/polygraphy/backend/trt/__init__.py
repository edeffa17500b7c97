"""Loaders of networks and configurations."""

from polygraphy.backend.trt.config import CreateConfig, PostprocessConfig, create_config, postprocess_config
from polygraphy.backend.trt.calibrator import Calibrator
from polygraphy.backend.trt.loader import *  # noqa: F403
from polygraphy.backend.trt.profile import Profile, ShapeTuple
from recorded.refusal import refuser

_AFTERWARDS = " A script makes the network or the configuration; assay builds the engine and runs it."
_REASONS = {
    n: _AFTERWARDS
    for n in ("EngineFromNetwork", "EngineBytesFromNetwork", "EngineFromBytes", "EngineFromPath", "BytesFromEngine",
              "BufferFromEngine", "SaveEngine", "TrtRunner", "LoadRuntime", "OnnxLikeFromNetwork", "engine_from_network",
              "engine_bytes_from_network", "engine_from_bytes", "engine_from_path", "bytes_from_engine", "save_engine",
              "FileReader")
}
_REASONS.update({
    n: " Use --save-tactics and --load-tactics of assay."
    for n in ("TacticRecorder", "TacticReplayer", "TacticReplayData", "Algorithm", "TensorInfo")
})
_REASONS.update({n: " Plugins of TensorRT run on its devices only." for n in ("LoadPlugins", "load_plugins")})

__getattr__ = refuser("polygraphy.backend.trt", _REASONS)
