#include "inspect/element_preview.h"

#include <span>

#include "base/utf8.h"
#include "tensor/convert.h"
#include "tensor/print.h"

namespace assay {
namespace {

constexpr size_t kMaxCharacters = 140, kKeptCharacters = 137;
constexpr int64_t kEnd = 8, kMaxElements = 2 * kEnd;
/// The largest integer such that JavaScript represents all up to it.
constexpr int64_t kExactInteger = int64_t{1} << 53;

size_t bytes_of_characters(std::string_view text, size_t count) {
  size_t i = 0;
  for (; i < text.size(); ++i)
    if (begins_character(text[i]) && count-- == 0) break;
  return i;
}

void write_integer(JsonWriter& json, int64_t number) {
  if (number > kExactInteger || number < -kExactInteger)
    json.value(std::to_string(number));
  else
    json.value(number);
}

/// True when a JSON number can represent elements of the type of `t`.
void write_numbers(JsonWriter& json, const Tensor& t, size_t skipped) {
  if (is_float(t.dtype())) {
    const Tensor doubles = to_float64(t);
    for (const double x : doubles.span<double>().subspan(skipped)) json.value(x);
  } else if (t.dtype() == DType::kUInt64) {
    for (const uint64_t x : t.span<uint64_t>().subspan(skipped)) {
      if (x > static_cast<uint64_t>(kExactInteger))
        json.value(std::to_string(x));
      else
        json.value(static_cast<int64_t>(x));
    }
  } else {
    const Tensor integers = convert(t, DType::kInt64);
    for (const int64_t x : integers.span<int64_t>().subspan(skipped)) {
      if (t.dtype() == DType::kBool)
        json.value(x != 0);
      else
        write_integer(json, x);
    }
  }
}

/// A view of elements from `begin` on, where a byte begins.
UnalignedTensor elements_of(const UnalignedTensor& t, int64_t begin, Shape shape) {
  const auto* bytes = static_cast<const char*>(t.data()) + storage_bytes(t.dtype(), begin);
  // The view does not outlive the tensor.
  return UnalignedTensor::view(t.dtype(), std::move(shape), bytes,
                               std::shared_ptr<const void>(std::shared_ptr<void>(), bytes));
}

void write_elements(JsonWriter& json, const UnalignedTensor& t, int64_t begin, int64_t end) {
  if (begin == end) return;
  if (t.dtype() == DType::kString) {
    const Tensor strings = t.aligned();
    for (int64_t i = begin; i < end; ++i)
      json.value(shortened(strings.span<std::string>()[static_cast<size_t>(i)]));
  } else if (is_complex(t.dtype())) {
    for (int64_t i = begin; i < end; ++i) json.value(array_str(elements_of(t, i, Shape{}).aligned()));
  } else {
    const int64_t first = begin - begin % 8;  // eight elements are whole bytes, whatever their width
    write_numbers(json, elements_of(t, first, Shape{end - first}).aligned(),
                  static_cast<size_t>(begin - first));
  }
}

}  // namespace

std::string shortened(std::string_view text) {
  if (bytes_of_characters(text, kMaxCharacters) == text.size()) return std::string(text);
  return std::string(text.substr(0, bytes_of_characters(text, kKeptCharacters))) + "…";
}

void write_preview(JsonWriter& json, const UnalignedTensor& tensor) {
  const int64_t total = tensor.numel();
  const bool is_cut = total > kMaxElements;
  json.begin_object();
  json.key("values").begin_array();
  write_elements(json, tensor, 0, is_cut ? kEnd : total);
  if (is_cut) write_elements(json, tensor, total - kEnd, total);
  json.end_array();
  if (is_cut) json.key("split").value(kEnd);
  json.key("total").value(total);
  json.key("truncated").value(is_cut);
  json.end_object();
}

}  // namespace assay
