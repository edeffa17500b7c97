"""What exporters have in common."""

from __future__ import annotations

from typing import Any

from onnx_graphsurgeon.ir.graph import Graph


class BaseExporter:
    """Makes models of some framework of graphs."""

    @staticmethod
    def export_graph(graph: Graph) -> Any:
        """A framework's graph of a Graph. A NotImplementedError in this class."""
        raise NotImplementedError("BaseExporter writes no model; see OnnxExporter")
