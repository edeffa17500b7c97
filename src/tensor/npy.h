// NumPy's .npy streams: versions 1 to 3, either byte order, either memory order.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "assay/tensor.h"

namespace assay {

/// The bytes of one element in a stream.
enum class NpyElement : uint8_t {
  kPlain,  ///< as in memory, except for the byte order
  kUcs4,   ///< '<U5': a fixed number of code points, 4 bytes each, padded with zeros
  kBytes,  ///< '|S5': a fixed number of bytes, padded with zeros
};

/// The header before the elements.
struct NpyHeader {
  DType dtype = DType::kUndefined;
  NpyElement element = NpyElement::kPlain;
  size_t element_bytes = 0;
  bool swapped = false;        ///< the byte order is not this machine's
  bool fortran_order = false;  ///< the first axis varies fastest
  Shape shape;
  size_t data_offset = 0;  ///< bytes before the first element
  size_t data_bytes = 0;   ///< bytes of all elements

  /// True when the stream has the elements in memory order.
  bool is_native() const;
};

/// Bytes that parse_npy_header() needs, found from the first 12 (or all) bytes of the stream. Throws Error
/// (kInvalidArgument) when they are not the beginning of an .npy stream.
size_t npy_header_bytes(std::string_view first_bytes);

/// Parses the header from bytes that contain all of it. Throws Error: kInvalidArgument for a malformed header
/// and sizes that overflow, kUnsupported for element types without a DType; arrays of Python objects, which
/// would need unpickling, are never read.
NpyHeader parse_npy_header(std::string_view bytes);

/// Copies bytes [offset, offset + count) of the elements, as they are in the stream, to `out`.
using NpyDataReader = std::function<void(size_t offset, size_t count, void* out)>;
/// The tensor that follows a header. Native elements are read by one call, straight into the tensor; strings
/// one by one. The caller has made sure that data_bytes are there.
Tensor read_npy_data(const NpyHeader& header, const NpyDataReader& read);

/// A whole stream in memory. With an owner that keeps the bytes alive, the tensor is a view where the
/// elements are native and aligned; else it is a copy. Bytes after the elements are ignored, as NumPy does.
Tensor read_npy(std::string_view bytes, std::shared_ptr<const void> owner = nullptr);
/// A file, mapped. Errors name it.
Tensor load_npy(const std::string& path);

/// The header that NumPy's save writes, byte for byte. Throws Error (kUnsupported) for a type that NumPy
/// lacks (bfloat16, float8, float4, packed integers).
std::string npy_header(const Tensor& t);
/// Code points of the longest string of a string tensor, at least 1: the length of its elements in a stream.
size_t npy_string_length(const Tensor& t);
/// False for the types npy_header() refuses.
bool npy_can_hold(DType dtype);
using NpySink = std::function<void(const void* data, size_t bytes)>;
/// The whole stream, in pieces. Strings must be UTF-8.
void write_npy(const Tensor& t, const NpySink& sink);
void save_npy(const Tensor& t, const std::string& path);

}  // namespace assay
