"""A stand-in of assay's for CUDA's Python modules: its device is the host's memory and processors."""

__assay__ = True
