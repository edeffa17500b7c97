"""A stand-in of assay's for CUDA's Python bindings: its device is the host's memory and processors."""

__version__ = "13.0.0+assay"
__assay__ = True
