"""Polygraphy's modules and names, as of 0.53.6, over assay's library."""

import polygraphy.config  # noqa: F401

__version__ = "0.53.6"
__assay__ = True
