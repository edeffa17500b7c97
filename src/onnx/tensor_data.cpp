#include "onnx/tensor_data.h"

#include <protozero/pbf_reader.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/bounds.h"
#include "base/input_file.h"
#include "base/wording.h"
#include "onnx/data_mark.h"
#include "tensor/packed_bits.h"

namespace assay::onnx {
namespace {

namespace fs = std::filesystem;
using protozero::pbf_wire_type;

/// A view of this size or less is copied so that it is aligned; above it, copying would cost more than it
/// helps.
constexpr size_t kCopyLimit = 1 << 16;
/// A dense tensor that a sparse one may expand to.
constexpr int64_t kDenseLimit = int64_t{1} << 30;

int64_t parse_offset(std::string_view text, const char* key) {
  int64_t value = -1;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(ec == std::errc() && end == text.data() + text.size() && value >= 0, ErrorCode::kInvalidModel,
          "the external data {} '{}' is not a non-negative number", key, text);
  return value;
}

/// Normalizes booleans: bytes other than 0 and 1 are invalid in C++; any non-zero byte is true.
Tensor clean_booleans(Shape shape, std::string_view bytes) {
  Tensor t = Tensor::allocate(DType::kBool, std::move(shape));
  bool* to = t.mutable_data<bool>();
  for (int64_t i = 0; i < t.numel(); ++i) to[i] = bytes[static_cast<size_t>(i)] != 0;
  return t;
}

UnalignedTensor view_or_copy(DType dtype, Shape shape, std::string_view bytes,
                             const std::shared_ptr<const void>& owner) {
  if (dtype == DType::kBool &&
      std::any_of(bytes.begin(), bytes.end(), [](char c) { return c != 0 && c != 1; }))
    return clean_booleans(std::move(shape), bytes);
  UnalignedTensor t = UnalignedTensor::view(dtype, std::move(shape), bytes.data(), owner);
  return bytes.size() <= kCopyLimit ? t.aligned() : t;
}

/// Appends typed elements to a tensor, checking that they fit.
template <typename T>
class Filler {
 public:
  explicit Filler(Tensor& t) : data_(static_cast<T*>(t.mutable_data())), capacity_(t.nbytes() / sizeof(T)) {}
  void push(T value) {
    if (count_ < capacity_) data_[count_] = value;
    ++count_;
  }
  size_t count() const { return count_; }
  size_t capacity() const { return capacity_; }

 private:
  T* data_;
  size_t capacity_;
  size_t count_ = 0;
};

/// The elements of float_data or double_data if they are contiguous, as all writers store them; empty
/// otherwise. Wire format and memory agree on little-endian machines.
std::string_view packed_bytes(const TensorMessage& m, DType dtype, size_t expected) {
  if (std::endian::native != std::endian::little) return {};
  const uint32_t field = dtype == DType::kFloat32 ? 4 : dtype == DType::kFloat64 ? 10 : 0;
  if (field == 0) return {};
  std::string_view found;
  protozero::pbf_reader r(m.bytes.data(), m.bytes.size());
  while (r.next()) {
    if (r.tag() != field) {
      r.skip();
      continue;
    }
    if (r.wire_type() != pbf_wire_type::length_delimited || !found.empty()) return {};
    const auto view = r.get_view();
    found = {view.data(), view.size()};
  }
  return found.size() == expected ? found : std::string_view();
}

/// The field of TensorProto with a type's elements if there is no raw_data (onnx.proto3).
uint32_t typed_field(DType t) {
  switch (t) {
    case DType::kFloat32:
    case DType::kComplex64:
      return 4;
    case DType::kString:
      return 6;
    case DType::kInt64:
      return 7;
    case DType::kFloat64:
    case DType::kComplex128:
      return 10;
    case DType::kUInt32:
    case DType::kUInt64:
      return 11;
    default:
      return 5;
  }
}

template <typename T, typename Get>
void fill(const TensorMessage& m, Tensor& out, uint32_t field, Get get) {
  Filler<T> filler(out);
  protozero::pbf_reader r(m.bytes.data(), m.bytes.size());
  while (r.next()) {
    if (r.tag() == field)
      get(r, filler);
    else
      r.skip();
  }
  require(filler.count() == filler.capacity(), ErrorCode::kInvalidModel,
          "it holds {} elements, but its shape {} needs {}", filler.count(), out.shape().str(),
          filler.capacity());
}

template <typename T>
void fill_integers(const TensorMessage& m, Tensor& out, uint32_t field) {
  fill<T>(m, out, field, [](protozero::pbf_reader& r, Filler<T>& f) {
    if (r.wire_type() == pbf_wire_type::varint) {
      f.push(static_cast<T>(r.get_int64()));
    } else if (r.wire_type() == pbf_wire_type::length_delimited) {
      for (const int64_t v : r.get_packed_int64()) f.push(static_cast<T>(v));
    } else {
      r.skip();
    }
  });
}

void fill_typed(const TensorMessage& m, Tensor& out) {
  const uint32_t field = typed_field(out.dtype());
  switch (field) {
    case 4:
      return fill<float>(m, out, field, [](protozero::pbf_reader& r, Filler<float>& f) {
        if (r.wire_type() == pbf_wire_type::fixed32) {
          f.push(r.get_float());
        } else if (r.wire_type() == pbf_wire_type::length_delimited) {
          for (const float v : r.get_packed_float()) f.push(v);
        } else {
          r.skip();
        }
      });
    case 10:
      return fill<double>(m, out, field, [](protozero::pbf_reader& r, Filler<double>& f) {
        if (r.wire_type() == pbf_wire_type::fixed64) {
          f.push(r.get_double());
        } else if (r.wire_type() == pbf_wire_type::length_delimited) {
          for (const double v : r.get_packed_double()) f.push(v);
        } else {
          r.skip();
        }
      });
    case 7:
      return fill_integers<int64_t>(m, out, field);
    case 11:
      return out.dtype() == DType::kUInt64 ? fill_integers<uint64_t>(m, out, field)
                                           : fill_integers<uint32_t>(m, out, field);
    default:
      break;
  }
  // int32_data: one element each, except that types that share bytes hold whole bytes.
  if (spans_bytes(out.dtype())) {
    Tensor codes = Tensor::allocate(DType::kUInt8, out.shape());
    fill_integers<uint8_t>(m, codes, field);
    return pack_bits(codes.span<uint8_t>(), bit_width(out.dtype()),
                     static_cast<uint8_t*>(out.mutable_data()));
  }
  switch (bit_width(out.dtype())) {
    case 32:
      return fill_integers<uint32_t>(m, out, field);
    case 16:
      return fill_integers<uint16_t>(m, out, field);
    default:
      return fill_integers<uint8_t>(m, out, field);
  }
}

void fill_strings(const TensorMessage& m, Tensor& out) {
  auto* strings = static_cast<std::string*>(out.mutable_data());
  int64_t count = 0;
  protozero::pbf_reader r(m.bytes.data(), m.bytes.size());
  while (r.next()) {
    if (r.tag() == 6 && r.wire_type() == pbf_wire_type::length_delimited) {
      const auto v = r.get_view();
      if (count < out.numel()) strings[count].assign(v.data(), v.size());
      ++count;
    } else {
      r.skip();
    }
  }
  require(count == out.numel(), ErrorCode::kInvalidModel, "it holds {} elements, but its shape {} needs {}",
          count, out.shape().str(), out.numel());
}

bool has_typed_data(const TensorMessage& t) {
  constexpr std::array<uint32_t, 6> kFields = {4, 5, 6, 7, 10, 11};
  protozero::pbf_reader r(t.bytes.data(), t.bytes.size());
  for (; r.next(); r.skip())
    if (std::find(kFields.begin(), kFields.end(), r.tag()) != kFields.end()) return true;
  return false;
}

}  // namespace

bool has_data(const TensorMessage& t) {
  return is_external(t) || !t.raw_data.empty() || (!t.has_raw_data && has_typed_data(t));
}

bool is_weightless(const TensorMessage& t) {
  return t.doc_string.find(kWeightlessMark) != std::string_view::npos &&
         std::find(t.dims.begin(), t.dims.end(), 0) == t.dims.end() && !has_data(t);
}

const ExternalData::File& ExternalData::open(const std::string& location) {
  if (const auto it = files_.find(location); it != files_.end()) return it->second;
  const fs::path relative(location);
  require(!location.empty(), ErrorCode::kInvalidModel, "its external data have no location");
  // The system would truncate the name at it.
  require(location.find('\0') == std::string::npos, ErrorCode::kInvalidModel,
          "the location of its external data contains a zero byte");
  require(relative.is_relative(), ErrorCode::kInvalidModel,
          "its external data are at the absolute path '{}'; they must lie in the model's folder", location);
  for (const fs::path& part : relative)
    require(part != "..", ErrorCode::kInvalidModel,
            "its external data are at '{}', outside the model's folder", location);
  const std::string folder = folder_.empty() ? "." : folder_;
  const std::string path = (fs::path(folder) / relative).string();
  const BeneathResult found = open_input_beneath(folder, location);
  require(found.status != BeneathResult::Status::kOutside, ErrorCode::kInvalidModel,
          "its external data '{}' are a link to '{}', outside the model's folder", location, found.link);
  if (found.status == BeneathResult::Status::kMissing) {
    Error e(ErrorCode::kNotFound, fmt::format("its external data file {} does not exist", path));
    set_remedy(e, Say::kExternalDataDir);
    throw e;
  }
  const auto file = MappedFile::map(found.file, path);
  return files_.emplace(location, File{file, marked_checksum(file->bytes())}).first->second;
}

std::pair<std::string_view, std::shared_ptr<const MappedFile>> ExternalData::bytes(const TensorMessage& t,
                                                                                   size_t expected) {
  std::string location;
  std::string_view checksum;
  int64_t offset = 0, length = -1;
  for (const auto& [key, value] : t.external_data) {
    if (key == "location") location = value;
    if (key == "offset") offset = parse_offset(value, "offset");
    if (key == "length") length = parse_offset(value, "length");
    if (key == "checksum") checksum = value;
  }
  const auto& [file, marked] = open(location);
  if (marked && !checksum.empty() && *marked != checksum) {
    Error e(
        ErrorCode::kInvalidModel,
        fmt::format("its external data in {} are those of another model: they have the checksum {}, and the "
                    "model says {}",
                    file->path(), *marked, checksum));
    e.set_remedy("Bring the model and its data from one place.");
    throw e;
  }
  if (file->names() > 1 && (!marked || *marked != checksum)) {
    Error e(ErrorCode::kInvalidModel,
            fmt::format("its external data file {} has {} names (hard links), so that it may be a file from "
                        "outside the model's folder",
                        file->path(), file->names()));
    e.set_remedy("Put a copy of it in its place.");
    throw e;
  }
  require(length < 0 || static_cast<size_t>(length) == expected, ErrorCode::kInvalidModel,
          "its external data are {} bytes long, but its type and shape need {}", length, expected);
  require(within(static_cast<uint64_t>(offset), expected, file->size()), ErrorCode::kInvalidModel,
          "its external data need bytes {} to {} of {}, which has only {}", offset,
          static_cast<uint64_t>(offset) + expected /* both below 2^63 */, file->path(), file->size());
  return {file->bytes().substr(static_cast<size_t>(offset), expected), file};
}

UnalignedTensor decode_tensor(const TensorMessage& t, const std::shared_ptr<const void>& owner,
                              ExternalData& external) {
  require(is_known_dtype(t.data_type), ErrorCode::kInvalidModel, "it has the unknown element type {}",
          t.data_type);
  const auto dtype = static_cast<DType>(t.data_type);
  Shape shape(t.dims);
  const int64_t count = shape.numel();
  require(count <= INT64_MAX / 16, ErrorCode::kInvalidModel, "its shape {} is absurd", shape.str());
  const size_t expected = storage_bytes(dtype, count);
  if (is_external(t)) {
    require(dtype != DType::kString, ErrorCode::kInvalidModel, "strings cannot be external data");
    const auto [bytes, file] = external.bytes(t, expected);
    return view_or_copy(dtype, std::move(shape), bytes, file);
  }
  if (t.has_raw_data) {
    require(dtype != DType::kString, ErrorCode::kInvalidModel, "strings cannot be raw data");
    require(t.raw_data.size() == expected, ErrorCode::kInvalidModel,
            "it has {} bytes of data, but {} of shape {} needs {}", t.raw_data.size(), dtype_name(dtype),
            shape.str(), expected);
    return view_or_copy(dtype, std::move(shape), t.raw_data, owner);
  }
  // A byte of the message holds at most one element (two or four packed), and a string takes two for its tag
  // and its length, so this bounds the cost of a hostile shape.
  const size_t most = dtype == DType::kString ? t.bytes.size() / 2 : 4 * t.bytes.size();
  require(static_cast<size_t>(count) <= most, ErrorCode::kInvalidModel,
          "it holds far fewer elements than its shape {} needs", shape.str());
  if (const std::string_view packed = packed_bytes(t, dtype, expected); !packed.empty())
    return view_or_copy(dtype, std::move(shape), packed, owner);
  Tensor out = Tensor::allocate(dtype, std::move(shape));
  try {
    if (dtype == DType::kString)
      fill_strings(t, out);
    else
      fill_typed(t, out);
  } catch (const protozero::exception& e) {
    fail(ErrorCode::kInvalidModel, "its data are damaged: {}", e.what());
  }
  return out;
}

Tensor decode_sparse_tensor(const SparseTensorMessage& s, const std::shared_ptr<const void>& owner,
                            ExternalData& external) {
  const Tensor values = decode_tensor(s.values, owner, external).aligned();
  const Tensor indices = decode_tensor(s.indices, owner, external).aligned();
  const Shape shape(s.dims);
  require(shape.numel() <= kDenseLimit, ErrorCode::kInvalidModel,
          "the sparse tensor's shape {} is too large to expand", shape.str());
  require(values.rank() == 1 && indices.dtype() == DType::kInt64, ErrorCode::kInvalidModel,
          "a sparse tensor needs a vector of values and int64 indices");
  const int64_t count = values.numel();
  const bool linear = indices.rank() == 1;
  const auto coordinates = static_cast<uint64_t>(linear ? 1 : shape.rank());
  require(
      checked_product({static_cast<uint64_t>(count), coordinates}) == static_cast<uint64_t>(indices.numel()),
      ErrorCode::kInvalidModel, "the sparse tensor has {} values but indices of shape {}", count,
      indices.shape().str());
  const auto bytes = static_cast<size_t>(bit_width(values.dtype()) / 8);
  require(bytes > 0, ErrorCode::kUnsupported, "sparse tensors of {} are not supported",
          dtype_name(values.dtype()));
  Tensor out = Tensor::zeros(values.dtype(), shape);
  auto* to = static_cast<char*>(out.mutable_data());
  const auto* from = static_cast<const char*>(values.data());
  const auto* at = indices.data<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = linear ? at[i] : 0;
    for (int d = 0; !linear && d < shape.rank(); ++d) {
      const int64_t k = at[i * shape.rank() + d];
      require(k >= 0 && k < shape[static_cast<size_t>(d)], ErrorCode::kInvalidModel,
              "the sparse index {} is outside {}", k, shape.str());
      position = position * shape[static_cast<size_t>(d)] + k;
    }
    require(position >= 0 && position < out.numel(), ErrorCode::kInvalidModel,
            "the sparse index {} is outside {}", position, shape.str());
    std::memcpy(to + static_cast<size_t>(position) * bytes, from + static_cast<size_t>(i) * bytes, bytes);
  }
  return out;
}

Tensor load_tensor_file(const std::string& path) {
  const auto file = MappedFile::open(path);
  return with_context([&] { return file_place(path); },
                      [&] {
                        ExternalData external(fs::path(path).parent_path().string());
                        return decode_tensor(read_tensor(file->bytes()), file, external).aligned();
                      });
}

}  // namespace assay::onnx
