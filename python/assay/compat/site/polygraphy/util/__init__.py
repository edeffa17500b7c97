from polygraphy.util import array  # noqa: F401
from polygraphy.util.util import *  # noqa: F401,F403
