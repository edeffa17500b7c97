"""Values of constants that are still in the model's message."""

from __future__ import annotations

from typing import Any, List, Union

import numpy as np
import onnx

from onnx_graphsurgeon.logger import G_LOGGER
from onnx_graphsurgeon.util import misc, onnx_types


class LazyValues:
    """The values of a TensorProto, read when they are asked for.

    `tensor` is the message; it is kept, not copied. `dtype` is a NumPy dtype, or the type's number in ONNX where NumPy
    has none; `shape` is a list; `nbytes` is what the values take in the model.
    """

    tensor: Any
    dtype: Any
    shape: List[int]
    nbytes: Union[int, float]

    def __init__(self, tensor: Any) -> None:
        """`tensor`: a TensorProto; a ValueInfoProto will do for all but `load()`.

        A KeyError for an element type that this version of onnx does not know, an OnnxGraphSurgeonException for one
        without a size.
        """
        self.tensor = tensor
        elem_type = tensor.data_type if type(tensor) is onnx.TensorProto else element_type(tensor)
        dtype = onnx_types.known_numpy_types.get(elem_type)
        if dtype is None:
            dtype = onnx_types.import_dtype(elem_type)
            onnx_types.get_itemsize(dtype)
        self.dtype = dtype

    def __getattr__(self, name: str) -> Any:
        # Only what was not computed yet comes here.
        if name == "shape":
            self.shape = shape_of_message(self.tensor)
            return self.shape
        if name == "nbytes":
            self.nbytes = misc.volume(self.shape) * onnx_types.get_itemsize(self.dtype)
            return self.nbytes
        raise AttributeError("LazyValues has no attribute {!r}".format(name))

    def load(self) -> np.ndarray:
        """Reads the values.

        External data are looked for in the current folder, since a message does not say where its file was:
        onnx.load() reads them by itself.
        """
        tensor = self.tensor
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            return onnx.numpy_helper.to_array(tensor, "")
        if self.dtype == np.dtype(object) if isinstance(self.dtype, np.dtype) else False:
            return _strings(tensor)
        return np.array(onnx.numpy_helper.to_array(tensor))

    def __str__(self) -> str:
        return "LazyValues (shape={:}, dtype={:})".format(self.shape, self.dtype)

    def __repr__(self) -> str:
        return self.__str__()


class SparseValues(LazyValues):
    """The values of a SparseTensorProto, made dense when they are asked for."""

    def __init__(self, tensor: Any) -> None:
        """`tensor`: a SparseTensorProto, which is kept."""
        self.tensor = tensor
        self.dtype = onnx_types.import_dtype(tensor.values.data_type)
        onnx_types.get_itemsize(self.dtype)
        self.shape = list(tensor.dims)

    def load(self) -> np.ndarray:
        """The dense array.

        An OnnxGraphSurgeonException where the indices are not INT64, not of a form that ONNX has, or not within the
        tensor.
        """
        message = self.tensor
        if message.indices.data_type != onnx.TensorProto.INT64:
            G_LOGGER.critical(
                "sparse tensor {!r}: its indices must be INT64, not {:}".format(
                    message.values.name, onnx_types.get_dtype_name(message.indices.data_type)
                )
            )
        values = onnx.numpy_helper.to_array(message.values)
        dense = np.zeros(tuple(message.dims), values.dtype)
        places = self._places(onnx.numpy_helper.to_array(message.indices), values)
        try:
            dense.reshape(-1)[places] = values.reshape(-1)
        except IndexError:
            G_LOGGER.critical(
                "sparse tensor {!r}: an index is outside of shape {:}".format(message.values.name, self.shape)
            )
        return dense

    def _places(self, indices: np.ndarray, values: np.ndarray) -> np.ndarray:
        # Places in the flattened tensor: [NNZ] gives them, [NNZ, rank] their coordinates.
        dims = tuple(self.tensor.dims)
        if indices.ndim == 1 and len(indices) == values.size:
            return indices
        if indices.ndim == 2 and indices.shape == (values.size, len(dims)):
            try:
                return np.ravel_multi_index(tuple(indices.T), dims)
            except ValueError:
                G_LOGGER.critical(
                    "sparse tensor {!r}: an index is outside of shape {:}".format(self.tensor.values.name, self.shape)
                )
        G_LOGGER.critical(
            "sparse tensor {!r}: indices of shape {:} fit neither [NNZ] nor [NNZ, rank] for {:} values of a tensor of "
            "shape {:}".format(self.tensor.values.name, list(indices.shape), values.size, self.shape)
        )

    def __str__(self) -> str:
        return "SparseValues (shape={:}, dtype={:})".format(self.shape, self.dtype)


def element_type(message: Any) -> int:
    """The number of the element type of a TensorProto or of a ValueInfoProto of a tensor."""
    if isinstance(message, onnx.ValueInfoProto):
        return int(message.type.tensor_type.elem_type)
    return int(message.data_type)


def shape_of_message(message: Any) -> List[int]:
    """The extents of a TensorProto or of a ValueInfoProto of a tensor of a static shape."""
    if isinstance(message, onnx.ValueInfoProto):
        return [dim.dim_value for dim in message.type.tensor_type.shape.dim]
    return list(message.dims)


def _strings(tensor: Any) -> np.ndarray:
    texts = [text.decode("utf-8", "surrogateescape") for text in tensor.string_data]
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array.reshape(tuple(tensor.dims))
