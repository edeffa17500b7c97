"""Nodes: one application of an operator or function."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence

from onnx_graphsurgeon.util.synchronized_list import SynchronizedList

if TYPE_CHECKING:
    from onnx_graphsurgeon.ir.graph import Graph
    from onnx_graphsurgeon.ir.tensor import Tensor


class Node:
    """A node: an operator with its attributes, and the tensors it reads and writes.

    Nodes may carry further attributes of the user's own.
    """

    @dataclass
    class AttributeRef:
        """An attribute whose value is that of an attribute of the Function around the node."""

        name: str  # of the function's attribute
        type: type  # Python's, as convert_from_onnx_attr_type() gives it

    op: str
    name: str
    attrs: Dict[str, Any]
    domain: Optional[str]
    _inputs: SynchronizedList
    _outputs: SynchronizedList

    def __init__(
        self,
        op: str,
        name: Optional[str] = None,
        attrs: Optional[Mapping[str, Any]] = None,
        inputs: Optional[Sequence["Tensor"]] = None,
        outputs: Optional[Sequence["Tensor"]] = None,
        domain: Optional[str] = None,
    ) -> None:
        """
        op: the operator's or function's name.
        name: the node's name, empty if not given.
        attrs: names to numbers, strings, lists of these, Tensors, Graphs, or AttributeRefs.
        inputs, outputs: tensors; Variable.empty() for one that is left out.
        domain: where the operator is defined; None for ONNX itself.
        """
        self.op = op
        self.name = "" if name is None else name
        self.attrs = OrderedDict() if attrs is None else attrs  # type: ignore[assignment]
        self._inputs = SynchronizedList(self, "_outputs", () if inputs is None else inputs)
        self._outputs = SynchronizedList(self, "_inputs", () if outputs is None else outputs)
        self.domain = domain

    def _set_inputs(self, tensors: Sequence["Tensor"]) -> None:
        if tensors is not self._inputs:
            self._inputs.replace(tensors)

    def _set_outputs(self, tensors: Sequence["Tensor"]) -> None:
        if tensors is not self._outputs:
            self._outputs.replace(tensors)

    inputs = property(attrgetter("_inputs"), _set_inputs, doc="The tensors it reads, which know it as a consumer.")
    outputs = property(attrgetter("_outputs"), _set_outputs, doc="The tensors it writes, which know it as a producer.")

    def i(self, tensor_idx: int = 0, producer_idx: int = 0) -> "Node":
        """A node that produces an input of this one.

        tensor_idx: which input; producer_idx: which of its producers. An IndexError if there is none.
        """
        return self._inputs[tensor_idx].inputs[producer_idx]

    def o(self, consumer_idx: int = 0, tensor_idx: int = 0) -> "Node":
        """A node that consumes an output of this one.

        consumer_idx: which consumer; tensor_idx: of which output. An IndexError if there is none.
        """
        return self._outputs[tensor_idx].outputs[consumer_idx]

    def subgraphs(self, recursive: bool = False) -> Iterator["Graph"]:
        """The graphs among the attributes, each once; with `recursive` those inside of them, too."""
        from onnx_graphsurgeon.ir.graph import Graph

        seen = set()
        pending = [self]
        while pending:
            node = pending.pop()
            for value in node.attrs.values():
                if not isinstance(value, Graph) or id(value) in seen:
                    continue
                seen.add(id(value))
                if recursive:
                    pending.extend(value.nodes)
                yield value

    def copy(
        self,
        inputs: Optional[Sequence["Tensor"]] = None,
        outputs: Optional[Sequence["Tensor"]] = None,
        tensor_map: Optional[Mapping[str, "Tensor"]] = None,
    ) -> "Node":
        """A new node of the same operator.

        inputs, outputs: the copy's tensors, none if not given.
        tensor_map: names to tensors that copies of the graphs among its attributes use in place of those outside of
        them; other attributes are shared.
        """
        from onnx_graphsurgeon.ir.graph import Graph

        attrs: "OrderedDict[str, Any]" = OrderedDict()
        for name, value in self.attrs.items():
            attrs[name] = value.copy(tensor_map) if type(value) is Graph else value
        return Node(self.op, self.name, attrs, inputs=inputs, outputs=outputs, domain=self.domain)

    def __str__(self) -> str:
        lines = ["{:} ({:})".format(self.name, self.op)]
        for title, tensors in (("Inputs", self._inputs), ("Outputs", self._outputs)):
            lines.append("\t{:}: [".format(title))
            lines.extend("\t\t{:}".format(tensor) for tensor in tensors)
            lines.append("\t]")
        if self.attrs:
            lines.append("Attributes: {:}".format(self.attrs))
        if self.domain:
            lines.append("Domain: {:}".format(self.domain))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.__str__()

    def __eq__(self, other: Any) -> bool:
        """Whether name, operator, domain and attributes are equal, and the tensors' names. An AttributeError for
        what is no node."""
        if self is other:
            return True
        return bool(
            self.name == other.name
            and self.op == other.op
            and self.domain == other.domain
            and same_names(self._inputs, other.inputs)
            and same_names(self._outputs, other.outputs)
            and self.attrs == other.attrs
        )

    __hash__ = None  # type: ignore[assignment]


def same_names(first: List["Tensor"], second: List["Tensor"]) -> bool:
    """Whether two lists of tensors are of one length and have the same names in one order."""
    return len(first) == len(second) and all(a.name == b.name for a, b in zip(first, second))
