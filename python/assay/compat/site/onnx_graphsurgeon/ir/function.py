"""Local functions: operators that the model itself defines."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple

from onnx_graphsurgeon.ir import copying
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Tensor
from onnx_graphsurgeon.logger import G_LOGGER

if TYPE_CHECKING:
    from onnx_graphsurgeon.util.synchronized_list import SynchronizedList


class Function(Graph):
    """A function that nodes call by its domain and name; called in Python, it adds such a node to a graph."""

    DEFAULT_DOMAIN = "onnx_graphsurgeon"

    domain: str
    attrs: Dict[str, Any]

    def __init__(
        self,
        name: str,
        domain: Optional[str] = None,
        nodes: Optional[Sequence[Node]] = None,
        inputs: Optional[Sequence[Tensor]] = None,
        outputs: Optional[Sequence[Tensor]] = None,
        doc_string: Optional[str] = None,
        opset: Optional[int] = None,
        import_domains: Optional[Sequence[Any]] = None,
        functions: Optional[Sequence["Function"]] = None,
        attrs: Optional[Mapping[str, Any]] = None,
        ir_version: Optional[int] = None,
    ) -> None:
        """
        name, domain: what nodes call it by; the domain is "onnx_graphsurgeon" if not given.
        attrs: names of its attributes to their default values, None for one that each call must give.
        The others are those of a Graph.
        """
        self.domain = Function.DEFAULT_DOMAIN if domain is None else domain
        self.attrs = {} if attrs is None else attrs  # type: ignore[assignment]
        super().__init__(
            nodes,
            inputs,
            outputs,
            name=name,
            doc_string=doc_string,
            opset=opset,
            import_domains=import_domains,
            functions=functions,
            ir_version=ir_version,
        )

    def _set_producer(self, producer_name: Optional[str], producer_version: Optional[str]) -> None:
        pass  # a function has none

    @property
    def unique_id(self) -> Tuple[str, str]:
        """Domain and name, which tell the functions of a model apart."""
        return (self.domain, self.name)

    def cleanup(  # type: ignore[override]
        self,
        remove_unused_node_outputs: bool = False,
        recurse_subgraphs: bool = True,
        remove_unused_graph_inputs: bool = False,
        recurse_functions: bool = False,
    ) -> "Function":
        """As Graph.cleanup(), but inputs are never removed: calls give them by their place."""
        super().cleanup(remove_unused_node_outputs, recurse_subgraphs, False, recurse_functions)
        return self

    def fold_constants(self, recurse_functions: bool = False, **kwargs: Any) -> "Function":  # type: ignore[override]
        """As Graph.fold_constants(). Nodes that use an attribute of the function stay."""
        super().fold_constants(recurse_functions=recurse_functions, **kwargs)
        return self

    def toposort(  # type: ignore[override]
        self, recurse_subgraphs: bool = True, recurse_functions: bool = False, mode: str = "nodes"
    ) -> "Function":
        """As Graph.toposort(), for this function's own nodes unless asked otherwise."""
        super().toposort(recurse_subgraphs, recurse_functions, mode)
        return self

    def __call__(
        self,
        graph: Graph,
        inputs: Optional[Sequence[Any]] = None,
        outputs: Optional[Sequence[Any]] = None,
        *args: Any,
        **kwargs: Any,
    ) -> "SynchronizedList":
        """Adds a node that calls this function to a graph, and returns its outputs.

        inputs, outputs: as for Graph.layer(); without `outputs` they are named after the function's. Outputs that are
            no tensors yet get the dtypes and shapes of the function's.
        args, kwargs: for the Node: `name` and `attrs`.

        A warning where the numbers of inputs or outputs, or a required attribute, do not fit.
        """
        if inputs is not None and len(inputs) != len(self._inputs):
            self._warn("has {:} inputs, but is called with {:}".format(len(self._inputs), len(inputs)))
        if outputs is not None and len(outputs) != len(self._outputs):
            self._warn("has {:} outputs, but is called with {:}".format(len(self._outputs), len(outputs)))
        for name in self._missing_attrs(kwargs.get("attrs")):
            self._warn("needs the attribute {!r}, which the call does not give".format(name))
        if outputs is None:
            outputs = [output.name for output in self._outputs]
        tensors = graph.layer(inputs, outputs, *args, op=self.name, domain=self.domain, **kwargs)
        for given, tensor, mine in zip(outputs, tensors, self._outputs):
            if not isinstance(given, Tensor):
                tensor.dtype = mine.dtype  # type: ignore[attr-defined]
                tensor.shape = mine.shape  # type: ignore[attr-defined]
        return tensors

    def _missing_attrs(self, given: Optional[Mapping[str, Any]]) -> List[str]:
        if given is None:
            return []
        return [name for name, default in self.attrs.items() if default is None and name not in given]

    def _warn(self, what: str) -> None:
        G_LOGGER.warning("Function {:} {:}".format(self.name, what))

    def copy(self) -> "Function":  # type: ignore[override]
        """A function of new nodes and tensors; the attributes' default values are copied, too."""
        return Function(
            self.name,
            domain=self.domain,
            doc_string=self.doc_string,
            opset=self.opset,
            import_domains=self.import_domains,
            functions=list(self._functions),
            attrs=copy.deepcopy(self.attrs),
            ir_version=self.ir_version,
            **copying.copy_contents(self, None),
        )

    def __eq__(self, other: Any) -> bool:
        """Whether domain, name and what Graphs compare are equal; default values do not count. An AttributeError for
        what is no function."""
        return bool(self.unique_id == other.unique_id and super().__eq__(other))

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        nodes = "\n".join([str(node) for node in self.nodes])
        return "Function {:}, Domain {:}, Opset {:}\nInputs: {:}\nNodes: {:}\nOutputs: {:}".format(
            self.name, self.domain, self.opset, self._inputs, nodes, self._outputs
        )
