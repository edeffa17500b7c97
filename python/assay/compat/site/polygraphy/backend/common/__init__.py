from polygraphy.backend.common.loader import *  # noqa: F401,F403
