"""The search for matches: a pattern is made flat, then its nodes are assigned one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from onnx_graphsurgeon.ir.graph import Graph
from onnx_graphsurgeon.ir.node import Node
from onnx_graphsurgeon.ir.tensor import Constant, Tensor

if TYPE_CHECKING:
    from onnx_graphsurgeon.graph_pattern.graph_pattern import GraphPattern

Path = Tuple[str, ...]


@dataclass
class PatternTensor:
    """A tensor of a pattern."""

    is_constant: bool
    constant_name: Optional[str] = None


@dataclass
class PatternNode:
    """An operator of a pattern, or a pattern in it; tensors by their numbers in the pattern."""

    name: str
    op: Any
    check_func: Optional[Callable[[Node], bool]]
    inputs: List[int]
    outputs: List[int]


@dataclass
class Match:
    """What the nodes and tensors of a flat pattern are assigned to, by their numbers in it."""

    nodes: Dict[int, Node] = field(default_factory=dict)
    tensors: Dict[int, Tensor] = field(default_factory=dict)


class FlatPattern:
    """The operators of a pattern and of those inside of it in one list, with common numbers of tensors."""

    def __init__(self, pattern: "GraphPattern") -> None:
        self.nodes: List[PatternNode] = []
        self.places: Dict[Path, int] = {}  # the number of each operator
        self.numbers: Dict[Path, List[int]] = {}  # of each pattern's tensors
        self.constants: Set[int] = set()
        self._count = 0
        self._add(pattern, (), {})
        numbers = self.numbers[()]
        self.outputs: Set[int] = {numbers[tensor] for tensor in pattern.output_tensors}
        self.produced: Set[int] = {tensor for node in self.nodes for tensor in node.outputs}
        first = numbers[pattern.input_tensors[0]] if pattern.input_tensors else None
        self.anchors = [place for place, node in enumerate(self.nodes) if first in node.inputs]
        self.order = self._order()

    def _add(self, pattern: "GraphPattern", path: Path, known: Dict[int, int]) -> None:
        # `known`: numbers of tensors that the pattern around has given.
        numbers: List[int] = []
        for tensor in range(len(pattern.tensors)):
            if tensor in known:
                numbers.append(known[tensor])
            else:
                numbers.append(self._count)
                self._count += 1
            if pattern.tensors[tensor].is_constant:
                self.constants.add(numbers[tensor])
        self.numbers[path] = numbers
        for name, node in pattern.nodes.items():
            inputs = [numbers[tensor] for tensor in node.inputs]
            outputs = [numbers[tensor] for tensor in node.outputs]
            if isinstance(node.op, str):
                self.places[path + (name,)] = len(self.nodes)
                self.nodes.append(PatternNode(name, node.op, node.check_func, inputs, outputs))
                continue
            inside = dict(zip(node.op.input_tensors, inputs))
            inside.update(zip(node.op.output_tensors, outputs))
            self._add(node.op, path + (name,), inside)

    def _order(self) -> List[int]:
        # From the anchor along tensors, so that each node but the first has a neighbour that is assigned before.
        if not self.anchors:
            return []
        order = [self.anchors[0]]
        rest = [place for place in range(len(self.nodes)) if place != order[0]]
        reached: Set[int] = set(self.nodes[order[0]].inputs + self.nodes[order[0]].outputs)
        while rest:
            place = next((p for p in rest if reached.intersection(self.nodes[p].inputs + self.nodes[p].outputs)), rest[0])
            rest.remove(place)
            order.append(place)
            reached.update(self.nodes[place].inputs + self.nodes[place].outputs)
        return order


def find_matches(pattern: FlatPattern, graph: Graph) -> Iterator[Match]:
    """The first match from each node of a graph at which one can begin, in the order of the nodes."""
    search = _Search(pattern, graph)
    for node in graph.nodes:
        match = search.start(node)
        if match is not None:
            yield match


class _Search:
    def __init__(self, pattern: FlatPattern, graph: Graph) -> None:
        self.pattern = pattern
        self.graph = graph
        self.output_ids = {id(tensor) for tensor in graph.outputs}
        self.match = Match()
        self.used: Set[int] = set()

    def start(self, node: Node) -> Optional[Match]:
        self.match = Match()
        self.used = set()
        return self.match if self._assign(0, [node]) else None

    def _assign(self, step: int, candidates: List[Node]) -> bool:
        place = self.pattern.order[step]
        for node in candidates:
            added = self._fit(place, node)
            if added is None:
                continue
            self.match.nodes[place] = node
            self.used.add(id(node))
            if self._assign_rest(step + 1):
                return True
            self.used.discard(id(node))
            del self.match.nodes[place]
            for tensor in added:
                del self.match.tensors[tensor]
        return False

    def _assign_rest(self, step: int) -> bool:
        if step == len(self.pattern.order):
            return self._closed()
        return self._assign(step, self._candidates(self.pattern.nodes[self.pattern.order[step]]))

    def _candidates(self, wanted: PatternNode) -> List[Node]:
        for tensor in wanted.outputs:
            if tensor in self.match.tensors:
                return _once(self.match.tensors[tensor].inputs)
        for tensor in wanted.inputs:
            if tensor in self.match.tensors:
                return _once(self.match.tensors[tensor].outputs)
        return list(self.graph.nodes)

    def _fit(self, place: int, node: Node) -> Optional[List[int]]:
        # The tensors that the node assigns, or None if it does not fit.
        wanted = self.pattern.nodes[place]
        if node.op != wanted.op or id(node) in self.used:
            return None
        if len(node.inputs) != len(wanted.inputs) or len(node.outputs) != len(wanted.outputs):
            return None
        added: List[int] = []
        pairs = list(zip(wanted.inputs, node.inputs)) + list(zip(wanted.outputs, node.outputs))
        if all([self._bind(number, tensor, added) for number, tensor in pairs]):
            if wanted.check_func is None or wanted.check_func(node):
                return added
        for number in added:
            del self.match.tensors[number]
        return None

    def _bind(self, number: int, tensor: Tensor, added: List[int]) -> bool:
        if number in self.pattern.constants and not isinstance(tensor, Constant):
            return False
        known = self.match.tensors.get(number)
        if known is not None:
            return known is tensor or known.name == tensor.name
        self.match.tensors[number] = tensor
        added.append(number)
        return True

    def _closed(self) -> bool:
        # Whether what the match makes inside is used only inside.
        for number, tensor in self.match.tensors.items():
            if number not in self.pattern.produced or number in self.pattern.outputs:
                continue
            if id(tensor) in self.output_ids or any(id(node) not in self.used for node in tensor.outputs):
                return False
        return True


def _once(nodes: List[Node]) -> List[Node]:
    found: Dict[int, Node] = {id(node): node for node in nodes}
    return list(found.values())
