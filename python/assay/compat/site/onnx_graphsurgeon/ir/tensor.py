"""Tensors: variables, whose values are known only at run time, and constants."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Union

import numpy as np

from onnx_graphsurgeon.ir.values import LazyValues, SparseValues
from onnx_graphsurgeon.logger import G_LOGGER
from onnx_graphsurgeon.util.synchronized_list import SynchronizedList

if TYPE_CHECKING:
    from onnx_graphsurgeon.ir.node import Node

__all__ = ["Constant", "LazyValues", "SparseValues", "Tensor", "Variable"]

Extent = Union[int, str, None]


class Tensor:
    """What tensors have in common. It is not made itself: see Variable and Constant.

    Tensors are equal when their names are; they cannot be keys of dictionaries.
    """

    DYNAMIC = -1

    name: str
    _inputs: SynchronizedList
    _outputs: SynchronizedList

    def __init__(self) -> None:
        raise NotImplementedError("a Tensor is a Variable or a Constant: make one of these")

    def _start(self, name: str) -> None:
        self.name = name
        self._inputs = SynchronizedList(self, "_outputs", ())
        self._outputs = SynchronizedList(self, "_inputs", ())

    def _set_inputs(self, nodes: Sequence["Node"]) -> None:
        if nodes is not self._inputs:
            self._inputs.replace(nodes)

    def _set_outputs(self, nodes: Sequence["Node"]) -> None:
        if nodes is not self._outputs:
            self._outputs.replace(nodes)

    inputs = property(attrgetter("_inputs"), _set_inputs, doc="The nodes that produce it: one in a valid model.")
    outputs = property(attrgetter("_outputs"), _set_outputs, doc="The nodes that consume it, once for each use.")

    def is_empty(self) -> bool:
        """Whether it stands for an optional input or output that is left out, which has an empty name."""
        return self.name == ""

    def to_constant(self, values: Any, data_location: Optional[int] = None, export_dtype: Any = None) -> "Constant":
        """Turns this very object into a Constant; whoever refers to it sees one.

        values: a NumPy array, LazyValues or SparseValues.
        data_location: TensorProto.EXTERNAL for values that are to be written into another file.
        export_dtype: the element type in the model, if it is not that of the values.
        """
        self.__class__ = Constant  # type: ignore[assignment]
        constant: Constant = self  # type: ignore[assignment]
        constant._values = values
        constant.data_location = data_location
        constant._export_dtype = export_dtype
        return constant

    def to_variable(self, dtype: Any = None, shape: Optional[Sequence[Extent]] = []) -> "Variable":
        """Turns this very object into a Variable; whoever refers to it sees one.

        dtype: None keeps that of the values.
        shape: without it the tensor is a scalar.
        """
        kept = dtype if dtype is not None else self._exported_dtype()
        self.__class__ = Variable  # type: ignore[assignment]
        variable: Variable = self  # type: ignore[assignment]
        self.__dict__.pop("_values", None)
        variable.dtype = kept
        variable.shape = list(shape) if isinstance(shape, list) else shape  # type: ignore[assignment]
        variable.type = "tensor_type"
        return variable

    def _exported_dtype(self) -> Any:
        return self.export_dtype  # type: ignore[attr-defined]

    def i(self, tensor_idx: int = 0, producer_idx: int = 0) -> "Tensor":
        """An input of a node that produces this tensor.

        tensor_idx: which input of the node; producer_idx: which producer. An IndexError if there is none.
        """
        return self._inputs[producer_idx].inputs[tensor_idx]

    def o(self, consumer_idx: int = 0, tensor_idx: int = 0) -> "Tensor":
        """An output of a node that consumes this tensor.

        consumer_idx: which consumer; tensor_idx: which output of the node. An IndexError if there is none.
        """
        return self._outputs[consumer_idx].outputs[tensor_idx]

    def __str__(self) -> str:
        return "{:} ({:}): (shape={:}, dtype={:})".format(type(self).__name__, self.name, self.shape, self.dtype)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return self.__str__()

    def __eq__(self, other: Any) -> bool:
        """Whether the names are equal. An AttributeError for what has no name."""
        return self.name == other.name

    __hash__ = None  # type: ignore[assignment]


class Variable(Tensor):
    """A tensor whose values are not known before the model runs."""

    dtype: Any
    shape: Optional[List[Extent]]
    type: Any

    @staticmethod
    def empty() -> "Variable":
        """A tensor without a name: an optional input or output that is left out."""
        return Variable(name="")

    def __init__(
        self, name: str, dtype: Any = None, shape: Optional[Sequence[Extent]] = None, type: str = "tensor_type"
    ) -> None:
        """
        name: the tensor's name; empty for one that is left out.
        dtype: a NumPy type, or a number of ONNX; None if unknown.
        shape: extents as numbers, names, or None for an unknown one; None if the rank is unknown, too.
        type: which field of a TypeProto it is: "tensor_type", "sequence_type" or "sparse_tensor_type".
        """
        self._start(name)
        self.dtype = dtype
        self.shape = shape  # type: ignore[assignment]
        self.type = type

    def to_constant(self, values: Any, export_dtype: Any = None) -> "Constant":  # type: ignore[override]
        """Turns this very object into a Constant with `values`: a NumPy array, LazyValues or SparseValues.

        export_dtype: the element type in the model, if it is not that of the values.
        """
        return super().to_constant(values, export_dtype=export_dtype)

    def copy(self) -> "Variable":
        """A new Variable of the same name, type, dtype and shape, which is shared; it belongs to no node."""
        return Variable(self.name, self.dtype, self.shape, getattr(self, "type", "tensor_type"))


class Constant(Tensor):
    """A tensor whose values are known: an initializer of the model."""

    _values: Any
    data_location: Optional[int]
    _export_dtype: Any

    def __init__(
        self, name: str, values: Any, data_location: Optional[int] = None, export_dtype: Any = None
    ) -> None:
        """
        name: the tensor's name.
        values: a NumPy array, LazyValues or SparseValues; an OnnxGraphSurgeonException for anything else.
        data_location: TensorProto.EXTERNAL for values that are to be written into another file.
        export_dtype: the element type in the model, if it is not that of the values.
        """
        if not isinstance(values, (np.ndarray, LazyValues)):
            G_LOGGER.critical(
                "Constant {!r}: values must be a NumPy array, LazyValues or SparseValues, not {:}; "
                "numpy.array() makes an array of lists and numbers. They were: {:}".format(
                    name, type(values).__name__, values
                )
            )
        self._start(name)
        self._values = values
        self.data_location = data_location
        self._export_dtype = export_dtype

    def copy(self) -> "Constant":
        """A new Constant of the same name with the same values, which are shared; it belongs to no node."""
        constant = Constant(self.name, self._values)
        constant._export_dtype = self._export_dtype
        return constant

    @property
    def values(self) -> np.ndarray:
        """The values as an array; those that are still in the model's message are read now."""
        if isinstance(self._values, LazyValues):
            self._values = self._values.load()
        return self._values

    @values.setter
    def values(self, values: Any) -> None:
        self._values = values

    @property
    def shape(self) -> Any:
        """The shape of the values."""
        return self._values.shape

    @property
    def dtype(self) -> Any:
        """The element type of the values: a NumPy dtype, or the number in ONNX of a type that is not loaded yet."""
        return self._values.dtype

    @property
    def export_dtype(self) -> Any:
        """The element type that the model gets: that of the values unless another was set.

        Set it to TensorProto.BFLOAT16 or a FLOAT8 type to have values of float32 converted at export, where a type that
        values cannot be converted to is refused.
        """
        return self.dtype if self._export_dtype is None else self._export_dtype

    @export_dtype.setter
    def export_dtype(self, dtype: Any) -> None:
        self._export_dtype = dtype

    def __repr__(self) -> str:
        return self.__str__() + "\n{:}".format(self._values)
