"""Patterns of nodes that are looked for in graphs."""

from onnx_graphsurgeon.graph_pattern.graph_pattern import GraphPattern, PatternMapping

__all__ = ["GraphPattern", "PatternMapping"]
