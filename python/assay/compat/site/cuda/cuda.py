"""The earlier name of cuda.bindings.driver: assay's stand-in."""

from cuda.bindings import driver as _now

globals().update({n: v for n, v in vars(_now).items() if not n.startswith("__")})
__assay__ = True
