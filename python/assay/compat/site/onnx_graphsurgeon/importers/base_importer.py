"""What importers have in common."""

from __future__ import annotations

from typing import Any

from onnx_graphsurgeon.ir.graph import Graph


class BaseImporter:
    """Makes graphs of models of some framework."""

    @staticmethod
    def import_graph(graph: Any) -> Graph:
        """The Graph of a framework's graph. A NotImplementedError in this class."""
        raise NotImplementedError("BaseImporter reads no model; see OnnxImporter")
