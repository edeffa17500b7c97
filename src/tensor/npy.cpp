#include "tensor/npy.h"

#include <algorithm>
#include <cstring>

#include "base/atomic_file.h"
#include "base/bounds.h"
#include "base/mapped_file.h"
#include "base/parallel.h"
#include "base/utf8.h"

namespace assay {
namespace {

constexpr int64_t kWordGrain = 1 << 15;
constexpr size_t kPiece = 1 << 18;

/// Unit of byte swapping: each part of a complex number.
size_t swap_unit(const NpyHeader& h) {
  if (h.element == NpyElement::kUcs4) return 4;
  return is_complex(h.dtype) ? h.element_bytes / 2 : h.element_bytes;
}

template <typename Word, typename Swap>
void swap_words(void* data, size_t bytes, Swap swap) {
  auto* p = static_cast<char*>(data);
  parallel_for(static_cast<int64_t>(bytes / sizeof(Word)), kWordGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      Word w;
      std::memcpy(&w, p + i * static_cast<int64_t>(sizeof w), sizeof w);
      w = swap(w);
      std::memcpy(p + i * static_cast<int64_t>(sizeof w), &w, sizeof w);
    }
  });
}

void swap_bytes(void* data, size_t bytes, size_t unit) {
  if (unit == 2) swap_words<uint16_t>(data, bytes, [](uint16_t w) { return __builtin_bswap16(w); });
  if (unit == 4) swap_words<uint32_t>(data, bytes, [](uint32_t w) { return __builtin_bswap32(w); });
  if (unit == 8) swap_words<uint64_t>(data, bytes, [](uint64_t w) { return __builtin_bswap64(w); });
}

/// For each row of the last axis, in row-major order: calls f(row, index of its first element in column-major
/// order, step between its elements there).
template <typename F>
void for_each_fortran_row(const Shape& shape, F f) {
  const size_t inner = shape.size() - 1;
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = 1; i < shape.size(); ++i) strides[i] = strides[i - 1] * shape[i - 1];
  std::vector<int64_t> index(shape.size(), 0);
  int64_t at = 0;
  const int64_t rows = shape.numel(0, inner);
  for (int64_t row = 0; row < rows; ++row) {
    f(row, at, strides[inner]);
    for (size_t d = inner; d-- > 0;) {
      at += strides[d];
      if (++index[d] < shape[d]) break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

template <size_t kBytes>
void gather_fortran(const char* from, char* to, const Shape& shape) {
  const int64_t row_length = shape.back();
  for_each_fortran_row(shape, [&](int64_t row, int64_t first, int64_t step) {
    char* out = to + row * row_length * static_cast<int64_t>(kBytes);
    for (int64_t i = 0; i < row_length; ++i)
      std::memcpy(out + i * static_cast<int64_t>(kBytes),
                  from + (first + i * step) * static_cast<int64_t>(kBytes), kBytes);
  });
}

Tensor from_fortran(const Tensor& t, const Shape& shape) {
  Tensor out = Tensor::allocate(t.dtype(), shape);
  if (out.numel() == 0) return out;
  const auto* from = static_cast<const char*>(t.data());
  auto* to = static_cast<char*>(out.mutable_data());
  switch (bit_width(t.dtype()) / 8) {
    case 1:
      gather_fortran<1>(from, to, shape);
      break;
    case 2:
      gather_fortran<2>(from, to, shape);
      break;
    case 4:
      gather_fortran<4>(from, to, shape);
      break;
    case 8:
      gather_fortran<8>(from, to, shape);
      break;
    default:
      gather_fortran<16>(from, to, shape);
      break;
  }
  return out;
}

std::string decode_string(const NpyHeader& h, const char* raw) {
  std::string out;
  if (h.element == NpyElement::kBytes) {
    out.assign(raw, h.element_bytes);
    out.erase(out.find_last_not_of('\0') + 1);
    return out;
  }
  std::vector<uint32_t> points(h.element_bytes / 4);
  if (!points.empty()) std::memcpy(points.data(), raw, h.element_bytes);
  if (h.swapped) swap_bytes(points.data(), h.element_bytes, 4);
  while (!points.empty() && points.back() == 0) points.pop_back();
  for (const uint32_t p : points) {
    require(p <= 0x10ffff, ErrorCode::kInvalidArgument,
            "a string of the .npy array holds {:#x}, which is not a character", p);
    append_code_point(out, p);
  }
  return out;
}

Tensor read_strings(const NpyHeader& h, const NpyDataReader& read) {
  Tensor t = Tensor::allocate(DType::kString, h.shape);
  if (t.numel() == 0) return t;  // without elements, the presence of bytes was not checked
  auto* out = t.mutable_data<std::string>();
  std::string raw(h.element_bytes, '\0');
  const auto read_element = [&](int64_t from, int64_t to) {
    read(static_cast<size_t>(from) * h.element_bytes, h.element_bytes, raw.data());
    out[to] = decode_string(h, raw.data());
  };
  if (h.fortran_order && t.rank() > 1) {
    const int64_t length = h.shape.back();
    for_each_fortran_row(h.shape, [&](int64_t row, int64_t first, int64_t step) {
      for (int64_t i = 0; i < length; ++i) read_element(first + i * step, row * length + i);
    });
  } else {
    for (int64_t i = 0; i < t.numel(); ++i) read_element(i, i);
  }
  return t;
}

/// Any byte but 0 means true; C++ knows only 0 and 1.
void normalize_bools(Tensor& t) {
  auto* p = static_cast<unsigned char*>(t.mutable_data());
  for (int64_t i = 0; i < t.numel(); ++i) p[i] = p[i] != 0;
}

/// The code points of UTF-8 text into a buffer of zeros that is large enough.
void encode_ucs4(std::string_view s, uint32_t* out) {
  while (!s.empty()) {
    const char32_t point = take_code_point(s, Surrogates::kTaken);
    require(point != kNotUtf8, ErrorCode::kInvalidArgument,
            "a string that is not UTF-8 cannot be written as a NumPy string");
    *out++ = point;
  }
}

}  // namespace

Tensor read_npy_data(const NpyHeader& h, const NpyDataReader& read) {
  if (h.dtype == DType::kString) return read_strings(h, read);
  Tensor t = Tensor::allocate(h.dtype, h.shape);
  if (t.nbytes() > 0) read(0, t.nbytes(), t.mutable_data());
  if (h.swapped) swap_bytes(t.mutable_data(), t.nbytes(), swap_unit(h));
  if (h.dtype == DType::kBool) normalize_bools(t);
  return h.fortran_order && t.rank() > 1 ? from_fortran(t, h.shape) : t;
}

Tensor read_npy(std::string_view bytes, std::shared_ptr<const void> owner) {
  const NpyHeader h = parse_npy_header(bytes);
  require(within(h.data_offset, h.data_bytes, bytes.size()), ErrorCode::kInvalidArgument,
          "the .npy array is cut off: its header promises {} bytes of shape {}, {} follow", h.data_bytes,
          h.shape.str(), bytes.size() - h.data_offset);
  const char* data = bytes.data() + h.data_offset;
  const bool aligned = h.element_bytes == 0 || reinterpret_cast<uintptr_t>(data) % h.element_bytes == 0;
  if (owner != nullptr && h.is_native() && aligned)
    return Tensor::view(h.dtype, h.shape, data, std::move(owner));
  return read_npy_data(
      h, [&](size_t offset, size_t count, void* out) { std::memcpy(out, data + offset, count); });
}

Tensor load_npy(const std::string& path) {
  return with_context([&] { return file_place(path); },
                      [&] {
                        const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
                        return read_npy(file->bytes(), file);
                      });
}

void write_npy(const Tensor& t, const NpySink& sink) {
  const std::string header = npy_header(t);
  sink(header.data(), header.size());
  if (t.dtype() != DType::kString) {
    if (t.nbytes() > 0) sink(t.data(), t.nbytes());
    return;
  }
  const size_t length = npy_string_length(t);
  std::vector<uint32_t> points;
  const std::span<const std::string> strings = t.span<std::string>();
  const size_t at_once = std::max<size_t>(1, kPiece / (4 * length));
  for (size_t first = 0; first < strings.size(); first += at_once) {
    const size_t n = std::min(at_once, strings.size() - first);
    points.assign(n * length, 0);
    for (size_t i = 0; i < n; ++i) encode_ucs4(strings[first + i], points.data() + i * length);
    sink(points.data(), points.size() * sizeof(uint32_t));
  }
}

void save_npy(const Tensor& t, const std::string& path) {
  AtomicFile file(path);
  write_npy(t, [&](const void* data, size_t bytes) { file.write(data, bytes); });
  file.commit();
}

}  // namespace assay
