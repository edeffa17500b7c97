"""The earlier name of cuda.bindings.nvrtc: assay's stand-in."""

from cuda.bindings import nvrtc as _now

globals().update({n: v for n, v in vars(_now).items() if not n.startswith("__")})
__assay__ = True
