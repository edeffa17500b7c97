"""An API to create and change ONNX models, for scripts that are written for ONNX-GraphSurgeon 0.6.1.

Graphs are plain Python objects: nodes and tensors know each other, may be changed in any order, and need
not be valid between import and export. Constants are folded by assay's own evaluator.
"""

from onnx_graphsurgeon.util.exception import OnnxGraphSurgeonException
from onnx_graphsurgeon.exporters.onnx_exporter import export_onnx
from onnx_graphsurgeon.graph_pattern.graph_pattern import GraphPattern, PatternMapping
from onnx_graphsurgeon.importers.onnx_importer import import_onnx
from onnx_graphsurgeon.ir.function import Function
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, Tensor, Variable

__version__ = "0.6.1"
__assay__ = True

__all__ = [
    "Constant",
    "Function",
    "Graph",
    "GraphPattern",
    "Node",
    "OnnxGraphSurgeonException",
    "PatternMapping",
    "Tensor",
    "Variable",
    "export_onnx",
    "import_onnx",
]
