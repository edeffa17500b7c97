"""From models to graphs."""

from onnx_graphsurgeon.importers.base_importer import BaseImporter

__all__ = ["BaseImporter"]
