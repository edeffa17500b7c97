"""Helpers: exceptions, small functions, lists that are kept in step, element types."""

from onnx_graphsurgeon.util.exception import *  # noqa: F401,F403
