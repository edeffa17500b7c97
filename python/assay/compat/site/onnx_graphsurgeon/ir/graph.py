"""Graphs: nodes with the graph's inputs and outputs, and what can be done with all of them."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Union

from onnx_graphsurgeon.ir import calls, cleaning, copying, sorting, traversal
from onnx_graphsurgeon.ir.node import Node, same_names
from onnx_graphsurgeon.ir.tensor import Tensor
from onnx_graphsurgeon.util.collection import without_garbage_collection

if TYPE_CHECKING:
    from onnx_graphsurgeon.ir.function import Function
    from onnx_graphsurgeon.util.synchronized_list import SynchronizedList


class NodeIDAdder:
    """A ``with`` block in which each node of a graph has its place in the graph as `id`; made by `Graph.node_ids()`."""

    def __init__(self, graph: "Graph") -> None:
        self.graph = graph

    def __enter__(self) -> "NodeIDAdder":
        for index, node in enumerate(self.graph.nodes):
            node.id = index  # type: ignore[attr-defined]
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        for node in self.graph.nodes:
            node.__dict__.pop("id", None)


class Graph:
    """A graph of nodes and tensors: a model, or a subgraph among the attributes of a node.

    Functions that are registered with `Graph.register()`, and the graph's local functions, can be called as methods.
    Graphs are equal when their opsets, functions, inputs, outputs and nodes are; they cannot be keys of dictionaries.
    """

    DEFAULT_OPSET = 11
    OPSET_FUNC_MAP: Dict[int, Dict[str, Callable[..., Any]]] = defaultdict(dict)
    GLOBAL_FUNC_MAP: Dict[str, Callable[..., Any]] = {}

    nodes: List[Node]
    _inputs: List[Tensor]
    _outputs: List[Tensor]
    _functions: List["Function"]

    @staticmethod
    def register(opsets: Optional[Sequence[int]] = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator that makes a function a method of all graphs, or of those of some opsets.

        The function gets the graph, then the arguments of the call; it ends, as a rule, in `graph.layer()`.

        opsets: the opsets whose graphs have it; all, if None.
        """

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            calls.register(Graph, function, opsets)
            return function

        return decorate

    def __init__(
        self,
        nodes: Optional[Sequence[Node]] = None,
        inputs: Optional[Sequence[Tensor]] = None,
        outputs: Optional[Sequence[Tensor]] = None,
        name: Optional[str] = None,
        doc_string: Optional[str] = None,
        opset: Optional[int] = None,
        import_domains: Optional[Sequence[Any]] = None,
        producer_name: Optional[str] = None,
        producer_version: Optional[str] = None,
        functions: Optional[Sequence["Function"]] = None,
        ir_version: Optional[int] = None,
    ) -> None:
        """
        nodes: the nodes, in a list that is kept; the order is that of the model.
        inputs, outputs: the graph's own, which are copied into lists.
        name, doc_string: of the graph.
        opset: the version of ONNX's operators, 11 if not given.
        import_domains: OperatorSetIdProtos of all domains; None for `opset` alone.
        producer_name, producer_version: what made the model.
        functions: local functions that nodes may call; subgraphs and functions get the same list.
        ir_version: of the model; None leaves it to the package onnx.
        """
        self.nodes = [] if nodes is None else nodes  # type: ignore[assignment]
        self._inputs = [] if inputs is None else list(inputs)
        self._outputs = [] if outputs is None else list(outputs)
        self.name = "onnx_graphsurgeon_graph" if name is None else name
        self.__name__ = self.name
        self.doc_string = "" if doc_string is None else doc_string
        self.opset = Graph.DEFAULT_OPSET if opset is None else opset
        self._set_producer(producer_name, producer_version)
        self.import_domains = import_domains
        self.ir_version = ir_version
        self.name_idx = 0
        self._functions = [] if functions is None else list(functions)
        self._merge_subgraph_functions()

    def _set_producer(self, producer_name: Optional[str], producer_version: Optional[str]) -> None:
        self.producer_name = "" if producer_name is None else producer_name
        self.producer_version = "" if producer_version is None else producer_version

    def _set_inputs(self, tensors: Sequence[Tensor]) -> None:
        self._inputs = list(tensors)

    def _set_outputs(self, tensors: Sequence[Tensor]) -> None:
        self._outputs = list(tensors)

    inputs = property(attrgetter("_inputs"), _set_inputs, doc="The graph's inputs; what is assigned is copied.")
    outputs = property(attrgetter("_outputs"), _set_outputs, doc="The graph's outputs; what is assigned is copied.")

    @property
    def functions(self) -> List["Function"]:
        """The local functions: one list for a graph, its subgraphs and functions. Assignment refills that list."""
        return self._functions

    @functions.setter
    def functions(self, functions: Sequence["Function"]) -> None:
        functions = list(functions)
        self._functions[:] = functions

    def _merge_subgraph_functions(self) -> None:
        # One list for all: this graph's functions, then those that only subgraphs or functions have.
        for scope in traversal.scopes(self):
            if scope._functions is self._functions:
                continue
            known = {function.unique_id for function in self._functions}
            self._functions.extend(f for f in scope._functions if f.unique_id not in known)
            scope._functions = self._functions

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") or "_functions" not in self.__dict__:
            raise AttributeError("{!r} object has no attribute {!r}".format(type(self).__name__, name))
        return calls.find(self, name)

    def __eq__(self, other: Any) -> bool:
        """Whether opset, domains, functions, inputs, outputs and nodes are equal; names and producers do not count.
        An AttributeError for what is no graph."""
        if self is other:
            return True
        mine = {function.unique_id for function in self._functions}
        return bool(
            mine == {function.unique_id for function in other.functions}
            and self.opset == other.opset
            and self.import_domains == other.import_domains
            and self.ir_version == other.ir_version
            and same_names(self._inputs, other.inputs)
            and same_names(self._outputs, other.outputs)
            and len(self.nodes) == len(other.nodes)
            and all(mine == theirs for mine, theirs in zip(self.nodes, other.nodes))
        )

    __hash__ = None  # type: ignore[assignment]

    def node_ids(self) -> NodeIDAdder:
        """A ``with`` block in which each node has its place in `nodes` as attribute `id`."""
        return NodeIDAdder(self)

    def _get_node_id(self, node: Node) -> int:
        return traversal.node_id(node)

    def _local_tensors(self) -> Dict[str, Tensor]:
        return {tensor.name: tensor for tensor in traversal.local_tensors(self)}

    def _foreign_tensors(self) -> Dict[str, Tensor]:
        return {tensor.name: tensor for tensor in traversal.foreign_tensors(self)}

    def _get_used_node_ids(self) -> Tuple[Set[int], List[Tensor]]:
        used = traversal.used_nodes(self)
        ids = {node.id for node in self.nodes if id(node) in used}  # type: ignore[attr-defined]
        return ids, traversal.reached_tensors(self, used)

    def subgraphs(self, recursive: bool = False) -> Iterator["Graph"]:
        """The graphs among the attributes of the nodes; with `recursive` those inside of them, too."""
        for node in self.nodes:
            yield from node.subgraphs(recursive=recursive)

    def cleanup(
        self,
        remove_unused_node_outputs: bool = False,
        recurse_subgraphs: bool = True,
        remove_unused_graph_inputs: bool = False,
        recurse_functions: bool = True,
    ) -> "Graph":
        """Removes the nodes and tensors that contribute to no output of the graph, and returns the graph.

        The order of the nodes stays, and so do the graph's outputs. What produced a graph input is cut off.

        remove_unused_node_outputs: whether outputs of the remaining nodes that nobody uses are removed.
        recurse_subgraphs, recurse_functions: whether subgraphs and local functions are cleaned, too.
        remove_unused_graph_inputs: whether inputs of the graph that nobody uses are removed.
        """
        cleaning.cleanup(
            self, remove_unused_node_outputs, recurse_subgraphs, remove_unused_graph_inputs, recurse_functions
        )
        return self

    def toposort(self, recurse_subgraphs: bool = True, recurse_functions: bool = True, mode: str = "full") -> "Graph":
        """Sorts the nodes and functions so that each stands behind those it needs, and returns the graph.

        recurse_subgraphs, recurse_functions: whether subgraphs and local functions are sorted inside, too.
        mode: "nodes", "functions", or "full" for both.

        An OnnxGraphSurgeonException for a cycle, and for another mode.
        """
        sorting.toposort(self, recurse_subgraphs, recurse_functions, mode)
        return self

    def tensors(self, check_duplicates: bool = False) -> "OrderedDict[str, Tensor]":
        """The tensors that the graph or its nodes have, by name; not those inside of subgraphs alone.

        check_duplicates: whether two tensors of one name are an OnnxGraphSurgeonException. Otherwise they are a warning,
        and the last of them counts.
        """
        return OrderedDict(traversal.tensor_map(self, check_duplicates))

    def fold_constants(
        self,
        fold_shapes: bool = True,
        recurse_subgraphs: bool = True,
        partitioning: Optional[str] = None,
        error_ok: bool = True,
        flatten_subgraphs: bool = True,
        size_threshold: Optional[int] = None,
        should_exclude_node: Optional[Callable[[Node], bool]] = None,
        recurse_functions: bool = True,
    ) -> "Graph":
        """Computes what depends on constants alone, puts Constants in its place, and returns the graph.

        The nodes that were computed stay without outputs until `cleanup()`. Call `toposort()` before if the nodes are
        in no order. Nodes that quantize and dequantize, or draw random numbers, are left.

        fold_shapes: whether Shape, and Gather and Slice of Shape, are folded where the extents are known, and casts
            to float and back around arithmetic of shapes are left out.
        recurse_subgraphs, recurse_functions: whether subgraphs and local functions are folded, too.
        partitioning: None evaluates all at once: one node that cannot be computed leaves everything as it is. "basic"
            evaluates the nodes behind each last constant by themselves; "recursive" also keeps what can be computed
            before a node that cannot.
        error_ok: whether a failing evaluation is a warning; else it is raised.
        flatten_subgraphs: whether an If of a constant condition is replaced by its branch.
        size_threshold: values of more bytes are not folded; None folds all.
        should_exclude_node: says of a node whether it must stay.

        An OnnxGraphSurgeonException for another `partitioning`.
        """
        from onnx_graphsurgeon.folding.fold import FoldOptions, fold_constants

        options = FoldOptions(
            fold_shapes=fold_shapes,
            recurse_subgraphs=recurse_subgraphs,
            partitioning=partitioning,
            error_ok=error_ok,
            flatten_subgraphs=flatten_subgraphs,
            size_threshold=size_threshold,
            should_exclude_node=should_exclude_node,
            recurse_functions=recurse_functions,
        )
        with without_garbage_collection():
            fold_constants(self, options)
        return self

    def _generate_name(self, prefix: str, existing_names: Union[Set[str], Mapping[str, Any]]) -> str:
        return calls.generate_name(self, prefix, existing_names)

    def layer(
        self,
        inputs: Optional[Sequence[Any]] = None,
        outputs: Optional[Sequence[Any]] = None,
        *args: Any,
        **kwargs: Any,
    ) -> "SynchronizedList":
        """Makes a node, puts it at the end of the graph, and returns its outputs.

        inputs, outputs: tensors, or what they are made of: a string names a new Variable, with a number behind it; an
            array, a number or a list of numbers makes a Constant. An OnnxGraphSurgeonException for anything else.
        args, kwargs: for the Node: `op`, `name`, `attrs`, `domain`.
        """
        return calls.layer(self, inputs, outputs, args, kwargs)

    def copy(self, tensor_map: Optional[Mapping[str, Tensor]] = None) -> "Graph":
        """A graph of new nodes and tensors; values of constants, and attributes that are no graphs, are shared.

        tensor_map: names to tensors outside of the graph, which the copy uses where this one uses others of the name.
        """
        with without_garbage_collection():
            return copying.copy_graph(self, tensor_map)

    def __copy__(self) -> "Graph":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "Graph":
        return self.copy()

    def __str__(self) -> str:
        nodes = "\n".join([str(node) for node in self.nodes])
        functions = [function.name for function in self._functions]
        return "Graph {:} (Opset {:})\nLocal Functions: {:}\nInputs: {:}\nNodes: {:}\nOutputs: {:}".format(
            self.name, self.opset, functions, self._inputs, nodes, self._outputs
        )

    def __repr__(self) -> str:
        return self.__str__()


traversal.set_graph_class(Graph)
