from polygraphy.backend.onnx.loader import *  # noqa: F401,F403
