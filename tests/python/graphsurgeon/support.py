"""What the tests of onnx_graphsurgeon have in common: where the module is, and what needs the native evaluator."""

import importlib
import os
import sys
import unittest
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PACKAGE = Path(os.environ.get("ASSAY_PACKAGE") or Path(__file__).resolve().parents[3] / "python")
for folder in (PACKAGE, PACKAGE / "assay" / "compat" / "site"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import onnx_graphsurgeon as gs  # noqa: E402
from onnx_graphsurgeon.logger import G_LOGGER  # noqa: E402

if not getattr(gs, "__assay__", False):
    raise RuntimeError("these tests are for assay's onnx_graphsurgeon, not for {:}".format(gs.__file__))


def _evaluator_missing():
    try:
        importlib.import_module("assay._native").evaluate
    except (ImportError, AttributeError) as error:
        return str(error)
    return ""


EVALUATOR_MISSING = _evaluator_missing()

needs_evaluator = unittest.skipIf(EVALUATOR_MISSING, "needs assay._native.evaluate: " + EVALUATOR_MISSING)


@contextmanager
def log():
    """Collects what is logged in a block."""
    text, old = StringIO(), sys.stdout
    sys.stdout = text
    try:
        yield text
    finally:
        sys.stdout = old


def variable(name, shape=(2, 3), dtype=np.float32):
    return gs.Variable(name, dtype, shape)


def constant(name, values, dtype=np.float32):
    return gs.Constant(name, np.array(values, dtype))


def chain(*ops):
    """A graph in which each operator reads what the one before wrote: x -> t0 -> t1 ..."""
    tensors = [variable("x")] + [variable("t{:}".format(i)) for i in range(len(ops))]
    nodes = [
        gs.Node(op, "n{:}".format(i), inputs=[tensors[i]], outputs=[tensors[i + 1]])
        for i, op in enumerate(ops)
    ]
    return gs.Graph(nodes, [tensors[0]], [tensors[-1]], opset=13, ir_version=8)


def model(nodes, inputs=(), outputs=(), initializers=(), value_info=(), opset=13):
    """A ModelProto; inputs and outputs are names of floats of shape [2, 3]."""

    def info(name):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3])

    graph = helper.make_graph(
        list(nodes),
        "g",
        [info(name) for name in inputs],
        [info(name) for name in outputs],
        [numpy_helper.from_array(np.asarray(values), name) for name, values in initializers],
        value_info=list(value_info),
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def names(items):
    return [item.name for item in items]


class Case(unittest.TestCase):
    """Says nothing on standard output unless a test asks for it."""

    def setUp(self):
        self._severity = G_LOGGER.severity
        self._quiet = log()
        self.said = self._quiet.__enter__()

    def tearDown(self):
        self._quiet.__exit__(None, None, None)
        G_LOGGER.severity = self._severity

    def assert_consistent(self, graph):
        """Nodes and tensors agree on who has whom."""
        for node in graph.nodes:
            for tensor in node.inputs:
                uses = sum(other is tensor for other in node.inputs)
                self.assertEqual(sum(other is node for other in tensor.outputs), uses)
            for tensor in node.outputs:
                self.assertTrue(any(other is node for other in tensor.inputs))

    def assert_round_trip(self, message):
        """Import and export change nothing."""
        self.assertEqual(gs.export_onnx(gs.import_onnx(message)).graph, message.graph)


onnx  # re-exported
