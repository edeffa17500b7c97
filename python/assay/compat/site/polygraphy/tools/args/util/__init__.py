from polygraphy.tools.args.util.util import *  # noqa: F401,F403
