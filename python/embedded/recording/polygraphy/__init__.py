"""Polygraphy's Python API as far as scripts need it that make networks, configurations and data. docs/guide/network-scripts.md lists what
is served."""

from recorded.refusal import refuser as _refuser

__version__ = "0.53.6"
__getattr__ = _refuser("polygraphy",
                       {"cuda": " The engine runs on the processor; arrays are NumPy's.", "tools": " assay is the tool."})
