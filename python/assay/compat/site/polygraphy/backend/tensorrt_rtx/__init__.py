from polygraphy.backend.tensorrt_rtx.config import *  # noqa: F401,F403
