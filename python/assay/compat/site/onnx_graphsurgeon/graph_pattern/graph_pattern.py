"""Patterns of nodes: how they are described, and what a match of one is."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from onnx_graphsurgeon.graph_pattern import matching
from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Tensor


class PatternMapping(dict):
    """A match: the names of a pattern's nodes with what they matched; `get()` gives the graph's nodes.

    inputs, outputs: the tensors of the pattern's variables and outputs, in their order.
    constants: the names of the pattern's constants with their tensors.
    """

    def __init__(self, onnx_node: Optional[Node] = None) -> None:
        """onnx_node: the node that a single operator matched; None for a pattern."""
        super().__init__()
        self.onnx_node = onnx_node
        self.inputs: List[Optional[Tensor]] = []
        self.outputs: List[Optional[Tensor]] = []
        self.constants: Dict[str, Tensor] = {}

    def set_input_onnx_tensor(self, onnx_tensor: Tensor, index: int) -> None:
        """Sets the tensor of a variable of the pattern."""
        _set_at(self.inputs, index, onnx_tensor)

    def set_output_onnx_tensor(self, onnx_tensor: Tensor, index: int) -> None:
        """Sets the tensor of an output of the pattern."""
        _set_at(self.outputs, index, onnx_tensor)

    def set_constant_onnx_tensor(self, onnx_tensor: Tensor, name: str) -> None:
        """Sets the tensor of a constant of the pattern."""
        self.constants[name] = onnx_tensor

    def _get_node(self) -> Optional[Node]:
        return self.onnx_node

    def get(self, name: str) -> Union[Node, "PatternMapping"]:  # type: ignore[override]
        """The Node that an operator of the pattern matched, or the PatternMapping of a pattern inside of it.

        name: the one given to `GraphPattern.add()`. A KeyError for another.
        """
        inner = self[name]
        node = inner._get_node()
        return inner if node is None else node

    def __str__(self) -> str:
        if self.onnx_node is not None:
            return self.onnx_node.name
        return "{:" + ", ".join("{:}: {:}".format(name, inner) for name, inner in self.items()) + "}"


def _set_at(tensors: List[Optional[Tensor]], index: int, tensor: Tensor) -> None:
    tensors.extend([None] * (index + 1 - len(tensors)))
    tensors[index] = tensor


class GraphPattern:
    """A pattern of operators, and of patterns inside of it, that is looked for in graphs.

    Tensors of a pattern are numbers that its methods give. A match has the operators, and exactly the inputs and
    outputs, of the pattern; only the pattern's outputs may be used outside of it.
    """

    def __init__(self) -> None:
        self.tensors: List[matching.PatternTensor] = []
        self.nodes: Dict[str, matching.PatternNode] = {}
        self.input_tensors: List[int] = []
        self.output_tensors: List[int] = []

    def _add_tensor(self, tensor: "matching.PatternTensor") -> int:
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def variable(self) -> int:
        """A tensor that comes from outside of the pattern: anything may match it."""
        tensor = self._add_tensor(matching.PatternTensor(is_constant=False))
        self.input_tensors.append(tensor)
        return tensor

    def constant(self, name: Optional[str] = None) -> int:
        """A tensor that must be a Constant; a node of operator Constant is no such tensor.

        name: under which a match has it in `constants`.
        """
        number = len(self.tensors)
        name = "unnamed_constant_tensor_{:}".format(number) if name is None else name
        return self._add_tensor(matching.PatternTensor(is_constant=True, constant_name=name))

    def set_output_tensors(self, output_tensors: Sequence[int]) -> None:
        """Says which tensors may be used outside of a match, as by other nodes or as outputs of the graph."""
        self.output_tensors = list(output_tensors)

    def add(
        self,
        name: str,
        op: Union["GraphPattern", str],
        check_func: Optional[Callable[[Node], bool]] = None,
        inputs: Optional[Sequence[int]] = None,
        num_output_tensors: int = 1,
    ) -> Union[int, Tuple[int, ...], None]:
        """Adds an operator, or a pattern, and returns its output tensor, a tuple of several, or None.

        name: under which a match has it.
        op: the operator's name, or the pattern.
        check_func: says of a node with that operator whether it fits.
        inputs: the tensors that it reads, none if not given.
        num_output_tensors: how many it writes.

        A ValueError for a name that the pattern has already, and for inputs or outputs that do not fit a pattern's.
        """
        input_ids = [] if inputs is None else list(inputs)
        if name in self.nodes:
            raise ValueError("the pattern has a node {!r} already".format(name))
        for tensor in input_ids:
            if not 0 <= tensor < len(self.tensors):
                raise ValueError("node {!r} of a pattern reads tensor {:}, which it does not have".format(name, tensor))
        if isinstance(op, GraphPattern):
            for what, given, needed in (
                ("inputs", len(input_ids), len(op.input_tensors)),
                ("outputs", num_output_tensors, len(op.output_tensors)),
            ):
                if given != needed:
                    raise ValueError(
                        "the pattern {!r} is given {:} {:}, but has {:}".format(name, given, what, needed)
                    )
        outputs = [self._add_tensor(matching.PatternTensor(is_constant=False)) for _ in range(num_output_tensors)]
        self.nodes[name] = matching.PatternNode(name, op, check_func, input_ids, outputs)
        if not outputs:
            return None
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def match_all(self, graph: Graph) -> List[PatternMapping]:
        """The matches among the nodes of a graph, not those of its subgraphs.

        Each node is tried in turn as the one that reads the pattern's first variable. Matches may share nodes. An
        AssertionError for a pattern without a variable that a node reads.
        """
        flat = matching.FlatPattern(self)
        assert flat.anchors, (
            "a pattern is looked for from the nodes that read its first variable: it needs variable(), and a node that "
            "reads it"
        )
        return [self._mapping(flat, match, ()) for match in matching.find_matches(flat, graph)]

    def _mapping(self, flat: "matching.FlatPattern", match: "matching.Match", path: Tuple[str, ...]) -> PatternMapping:
        mapping = PatternMapping()
        numbers = flat.numbers[path]
        for name, node in self.nodes.items():
            if isinstance(node.op, GraphPattern):
                mapping[name] = node.op._mapping(flat, match, path + (name,))
            else:
                mapping[name] = PatternMapping(match.nodes[flat.places[path + (name,)]])
        for index, tensor in enumerate(self.input_tensors):
            mapping.set_input_onnx_tensor(match.tensors.get(numbers[tensor]), index)  # type: ignore[arg-type]
        for index, tensor in enumerate(self.output_tensors):
            mapping.set_output_onnx_tensor(match.tensors.get(numbers[tensor]), index)  # type: ignore[arg-type]
        for tensor, described in enumerate(self.tensors):
            if described.is_constant and numbers[tensor] in match.tensors:
                mapping.set_constant_onnx_tensor(match.tensors[numbers[tensor]], str(described.constant_name))
        return mapping
