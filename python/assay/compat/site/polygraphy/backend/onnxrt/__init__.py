from polygraphy.backend.onnxrt.loader import *  # noqa: F401,F403
from polygraphy.backend.onnxrt.runner import OnnxrtRunner  # noqa: F401
