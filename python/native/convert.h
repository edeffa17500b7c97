// Between Python's objects and assay's: arrays, shapes, types, names.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/backend.h"
#include "assay/graph.h"
#include "assay/tensor.h"

namespace assay::python {

namespace nb = nanobind;

/// A tensor of what Python calls an array: anything with the buffer protocol or DLPack on the CPU, arrays of
/// ml_dtypes, arrays and lists of texts. Row-major, aligned arrays in this machine's byte order are borrowed
/// (the tensor keeps them alive); others are copied. `wanted` is the type that plain numbers and lists get;
/// kUndefined: NumPy's choice. Throws Error (kInvalidArgument) that begins with `what`.
Tensor to_tensor(nb::handle object, const std::string& what, DType wanted = DType::kUndefined);

/// A tensor over the memory of a writable, row-major, aligned array on the CPU, never a copy: anything with
/// the buffer protocol or DLPack. Throws Error (kInvalidArgument) that begins with `what`.
Tensor to_memory(nb::handle object, const std::string& what);

/// A NumPy array over the tensor's storage: bfloat16, float8 and types below 8 bits as ml_dtypes' where that
/// is installed, else as unsigned integers of their bits (below 8 bits: one element a byte); texts as
/// objects; a sequence as a list, an optional as None or its element, a map as a dict.
nb::object to_array(const Tensor& tensor, bool read_only = false);
/// The same for constants of models, which may begin at any address.
nb::object to_array(const UnalignedTensor& tensor);

/// The dict's tensors in its order.
TensorList to_tensors(nb::handle dict, const std::string& what);

/// NumPy's name of an element type, or that of ml_dtypes, which is not always the library's.
std::string_view array_type_name(DType dtype);

/// By such a name, the library's or ONNX's. Throws Error (kInvalidArgument) for a name of no type. NumPy's
/// dtypes and types do, too.
DType to_dtype(nb::handle object);

/// From a tuple of ints, names and None. Throws Error (kInvalidArgument).
Dims to_dims(nb::handle object, const std::string& what);
Shape to_shape(nb::handle object, const std::string& what);
nb::object from_dims(const std::optional<Dims>& dims);
nb::tuple from_shape(const Shape& shape);

/// (name, type as text, element type or None, shape or None).
nb::tuple describe_value(const std::string& name, const Type& type);
nb::list describe_values(const std::vector<TensorInfo>& infos);

/// The parts of a tuple or list with at least so many. Throws Error (kInvalidArgument) that says that it is
/// no `expected`, such as "a range (smallest, largest)".
nb::tuple to_parts(nb::handle object, size_t least, const std::string& expected);

/// A list of texts from any iterable of str; one str is one text.
std::vector<std::string> to_names(nb::handle object, const std::string& what);
/// Of str, bytes or os.PathLike.
std::string to_path(nb::handle object);
/// One such, or any iterable of them.
std::vector<std::string> to_paths(nb::handle object, const std::string& what);
/// A file's bytes in whatever encoding, as text.
nb::str to_text(std::string_view text);

/// `object` kept alive by C++ code that runs without the interpreter's lock.
std::shared_ptr<const void> keep(nb::handle object);
/// Any object with the buffer protocol, as bytes that `owner` keeps.
struct BorrowedBytes {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};
BorrowedBytes borrow_bytes(nb::handle object, const std::string& what);

}  // namespace assay::python
