from polygraphy.backend.trt.algorithm_selector import (  # noqa: F401
    Algorithm, TacticRecorder, TacticReplayData, TacticReplayer, TensorInfo)
from polygraphy.backend.trt.calibrator import Calibrator  # noqa: F401
from polygraphy.backend.trt.config import *  # noqa: F401,F403
from polygraphy.backend.trt.file_reader import FileReader  # noqa: F401
from polygraphy.backend.trt.loader import *  # noqa: F401,F403
from polygraphy.backend.trt.profile import Profile, ShapeTuple  # noqa: F401
from polygraphy.backend.trt.runner import TrtRunner  # noqa: F401
from polygraphy.backend.trt.util import get_trt_logger  # noqa: F401
from polygraphy.mod.trt_importer import lazy_import_trt, tensorrt_module_and_version_string  # noqa: F401
