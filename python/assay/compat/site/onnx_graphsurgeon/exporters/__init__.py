"""From graphs to models."""

from onnx_graphsurgeon.exporters.base_exporter import BaseExporter

__all__ = ["BaseExporter"]
