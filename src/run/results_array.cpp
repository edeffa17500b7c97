#include "run/results_array.h"

#include <algorithm>

#include "assay/error.h"
#include "base/base64.h"
#include "base/bounds.h"
#include "base/utf8.h"
#include "tensor/npy.h"
#include "tensor/npz.h"

namespace assay::internal {
namespace {

constexpr std::string_view kZipMark = "PK";

/// An .npy stream as base64 in a mapped file.
class Base64Array : public StoredTensorSource {
 public:
  Base64Array(std::shared_ptr<const MappedFile> file, std::string_view text, NpyHeader header,
              std::string place)
      : file_(std::move(file)), text_(text), header_(std::move(header)), place_(std::move(place)) {}

  Tensor load() const override {
    return with_context([&] { return place_; },
                        [&] {
                          return read_npy_data(header_, [&](size_t offset, size_t count, void* out) {
                            read(header_.data_offset + offset, count, static_cast<char*>(out));
                          });
                        });
  }

 private:
  /// In pieces, whose pages are then released.
  void read(size_t first, size_t count, char* out) const {
    constexpr size_t kPiece = 12 << 20, kWorthDropping = 256 << 10;
    for (size_t done = 0; done < count; done += kPiece) {
      const size_t n = std::min(kPiece, count - done);
      base64_decode(text_, first + done, n, out + done);
      if (n >= kWorthDropping) file_->drop_pages(text_.data() + (first + done) / 3 * 4, n / 3 * 4);
    }
  }

  std::shared_ptr<const MappedFile> file_;
  std::string_view text_;
  NpyHeader header_;
  std::string place_;
};

/// Converts UTF-8 text of code points up to 255 to bytes.
std::string latin1_bytes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const char32_t point = take_code_point(text);
    require(point <= 0xff, ErrorCode::kInvalidArgument, "the array is neither base64 nor latin-1 text");
    out += static_cast<char>(point);
  }
  return out;
}

Tensor first_array(std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  if (!owner->starts_with(kZipMark)) return read_npy(*owner, owner);
  const NpzReader archive(*owner, owner);
  require(archive.size() > 0, ErrorCode::kInvalidArgument,
          "Array payload is empty or invalid (NPZ archive contains no arrays).");
  return archive.load(0);
}

std::string decode_some(std::string_view text, size_t count) {
  std::string out(count, '\0');
  base64_decode(text, 0, count, out.data());
  return out;
}

StoredTensor decode_base64(std::string_view text, const JsonDocument& document, const std::string& place) {
  constexpr size_t kPrefix = 12;
  const size_t size = base64_decoded_size(text);
  const std::string prefix = decode_some(text, std::min(size, kPrefix));
  if (prefix.starts_with(kZipMark)) return first_array(base64_decode(text));
  const size_t header_bytes = npy_header_bytes(prefix);
  require(header_bytes <= size, ErrorCode::kInvalidArgument, "the .npy array ends within its header");
  NpyHeader header = parse_npy_header(decode_some(text, header_bytes));
  require(within(header_bytes, header.data_bytes, size), ErrorCode::kInvalidArgument,
          "the .npy array is cut off: its header promises {} bytes of shape {}, {} follow", header.data_bytes,
          header.shape.str(), size - header_bytes);
  const DType dtype = header.dtype;
  const Shape shape = header.shape;
  return StoredTensor(dtype, shape,
                      std::make_shared<Base64Array>(document.file, text, std::move(header), place));
}

bool within(std::string_view text, std::string_view whole) {
  return !std::less<>()(text.data(), whole.data()) && std::less<>()(text.data(), whole.data() + whole.size());
}

}  // namespace

StoredTensor decode_ndarray(const JsonNode& object, const JsonDocument& document, const std::string& place) {
  const JsonNode* array = object.member("array");
  require(array != nullptr && array->is_string(), ErrorCode::kInvalidArgument,
          "the object of class ndarray has no text 'array'");
  // Base64 needs no escapes, so an escaped text is latin-1.
  if (!within(array->text, document.file->bytes())) return first_array(latin1_bytes(array->text));
  try {
    return decode_base64(array->text, document, place);
  } catch (const Error&) {
    const bool raw = array->text.starts_with("\xc2\x93NUMPY") || array->text.starts_with(kZipMark);
    if (!raw) throw;
  }
  return first_array(latin1_bytes(array->text));
}

namespace {

/// Reinterprets the bytes of a tensor as another type.
class Reinterpreted final : public StoredTensorSource {
 public:
  Reinterpreted(StoredTensor bytes, DType dtype, Shape shape)
      : bytes_(std::move(bytes)), dtype_(dtype), shape_(std::move(shape)) {}
  Tensor load() const override {
    Tensor raw = bytes_.load();
    if (!is_aligned_for(dtype_, raw.data())) raw.mutable_data();  // copies what is a view of the file
    const auto bytes = std::make_shared<const Tensor>(std::move(raw));
    return Tensor::view(dtype_, shape_, bytes->data(), bytes);
  }
  void release() const override { bytes_.release(); }

 private:
  StoredTensor bytes_;
  DType dtype_;
  Shape shape_;
};

Shape read_shape(const JsonNode* node) {
  require(node != nullptr && node->is_list(), ErrorCode::kInvalidArgument,
          "the NarrowArray has no list 'shape'");
  Shape shape;
  for (const JsonNode& extent : node->children) {
    const std::string text(extent.text);
    require(extent.kind == JsonNode::Kind::kNumber && !text.empty() && text.size() < 19 &&
                text.find_first_not_of("0123456789") == std::string::npos,
            ErrorCode::kInvalidArgument, "an extent of the NarrowArray is no whole number");
    shape.push_back(std::stoll(text));
  }
  return shape;
}

}  // namespace

StoredTensor decode_narrow_array(const JsonNode& object, const JsonDocument& document,
                                 const std::string& place) {
  const JsonNode *type = object.member("type"), *bytes = object.member("bytes");
  require(type != nullptr && type->is_string() && bytes != nullptr && bytes->class_name() == "ndarray",
          ErrorCode::kInvalidArgument, "the NarrowArray lacks type or bytes");
  const std::optional<DType> dtype = dtype_from_name(type->text);
  require(dtype && !npy_can_hold(*dtype) && !is_container(*dtype) && *dtype != DType::kUndefined,
          ErrorCode::kInvalidArgument, "the NarrowArray's type '{}' is not one that NumPy lacks", type->text);
  const Shape shape = read_shape(object.member("shape"));
  StoredTensor raw = decode_ndarray(*bytes, document, place);
  // Whether the shape's elements can be counted is checked first.
  const StoredTensor described(*dtype, shape, std::make_shared<Reinterpreted>(raw, *dtype, shape));
  require(raw.dtype() == DType::kUInt8 && raw.nbytes() == described.nbytes(), ErrorCode::kInvalidArgument,
          "the NarrowArray of shape {} has {} bytes of {}, not {} of uint8", shape.str(), raw.nbytes(),
          dtype_name(raw.dtype()), described.nbytes());
  return described;
}

}  // namespace assay::internal
