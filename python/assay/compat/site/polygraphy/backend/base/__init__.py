from polygraphy.backend.base.loader import BaseLoader  # noqa: F401
from polygraphy.backend.base.runner import BaseRunner  # noqa: F401
